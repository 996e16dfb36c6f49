//! Splitting what contraction left, by the best split that look-ahead found: along an input, or at the sign of a neuron
//! or of a difference (as in filtered smart branching: De Palma et al., *Improved branch and bound for neural network
//! verification via Lagrangian decomposition*, 2021).
//!
//! A sign that is split on joins the assumption of both parts with a multiplier of its own (beta-CROWN: Wang et al.,
//! NeurIPS 2021).

use super::contraction::rounds;
use super::workspace::{Stage, StageResult, Workspace};
use crate::search::Node;
use crate::search::split::sign::halves;

/// The last stage of a node that was contracted.
pub struct SignSplit;

impl Stage for SignSplit {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        let Some(contracted) = workspace.current.contracted.take() else { return StageResult::Open };
        let (Some(&split), Some(o)) = (contracted.splits.first(), node.open.iter().next()) else {
            return StageResult::Halve;
        };
        let mut halves = halves(node, &contracted.left, split);
        let record = workspace.context.record;
        record.contracted_and_split((node.label, o, rounds(workspace)), split, &mut halves);
        StageResult::Branch(halves.into())
    }
}
