//! Mixed-integer programs: the last resort for what contraction left, where the settings allow it.
//!
//! A solution is a candidate like any other and needs no trust. The solver's word that there is none is not taken for a
//! proof: such a box is put away as undecided, with a mark, so that nothing that rests on it can become `equivalent`.
//! If nothing but such boxes is left, the search says so ([`crate::search::Reason::Solver`]).

use super::workspace::{Contracted, Stage, StageResult, Workspace};
use crate::bound::encoding::Encoding;
use crate::lp::{MixedAnswer, MixedProgram};
use crate::search::Node;
use crate::search::context::Context;
use crate::search::host::Request;
use crate::search::policy::POLICY;
use crate::search::profile::Activity;
use std::sync::mpsc;

/// Where a contracted node cannot be split further, or was split often enough.
pub struct MixedPrograms;

impl Stage for MixedPrograms {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        let Some(contracted) = workspace.current.contracted.take() else { return StageResult::Open };
        let often_split = node.depth > 0 && node.depth.is_multiple_of(POLICY.mixed.splits);
        let hard = contracted.splits.is_empty() || often_split;
        let small =
            contracted.left.bounds.unstable() <= POLICY.mixed.binaries && !Encoding::impossible(workspace.context.pair);
        let result = if workspace.context.settings.milp && hard && small {
            ask(workspace, node, &contracted)
        } else {
            StageResult::Open
        };
        workspace.current.contracted = Some(contracted);
        result
    }
}

/// Asks the solver for an input that violates, again while cuts exclude the point that it found.
fn ask(workspace: &mut Workspace<'_>, node: &Node, contracted: &Contracted) -> StageResult {
    let Context { pair, region, shared, .. } = workspace.context;
    let Contracted { left, assumption, .. } = contracted;
    workspace.enter(Activity::Programs);
    let mut encoding = Encoding::new(pair, &left.bounds, assumption);
    let mut result = StageResult::Open;
    for _ in 0..POLICY.mixed.programs {
        if shared.stopping() {
            break;
        }
        encoding.program.seconds = shared.seconds_left().min(POLICY.mixed.seconds);
        let answer = solve(workspace, &encoding.program);
        let Some(point) = answer.point else {
            if answer.infeasible {
                result = StageResult::RestsOnSolver;
            }
            break;
        };
        let mut inputs = encoding.inputs(&point).to_vec();
        if inputs.len() != node.lower.len() || !inputs.iter().all(|v| v.is_finite()) {
            break;
        }
        region.approach(&mut inputs, &node.lower, &node.upper);
        let Workspace { falsifier, statistics, .. } = workspace;
        if falsifier.candidates.test(statistics, node, |i| inputs[i]) {
            result = StageResult::Falsified;
            break;
        }
        if !encoding.cut(assumption, &point) {
            break;
        }
    }
    workspace.enter(Activity::Contraction);
    result
}

/// Sends a program to the calling thread and waits for the answer.
fn solve(workspace: &mut Workspace<'_>, program: &MixedProgram) -> MixedAnswer {
    let (reply, answer) = mpsc::sync_channel(1);
    workspace.statistics.milps += 1;
    let sent = workspace.requests.send(Request::Mixed(program.clone(), reply)).is_ok();
    workspace.enter(Activity::Waiting);
    // No answer at all only means that nothing is learned from it.
    let answer = if sent { answer.recv().unwrap_or_default() } else { MixedAnswer::default() };
    workspace.enter(Activity::Programs);
    answer
}
