//! Rating the inputs of a box by what halving along each of them would bring to the bound of one violation.
//!
//! Two scores exist: the published one, by the influence of an input on the outputs of both networks ([VD]), and ours,
//! by the sensitivity of the one row that bounds the violation ([`crate::domain::sensitivity`]). Ours is used where
//! there is such a row.

use super::gain::SplitGain;
use super::halving;
use super::plan::Plan;
use crate::domain::Reach;
use crate::domain::influence::Influence;
use crate::domain::output::Row;
use crate::domain::sensitivity::Sensitivity;
use crate::search::Node;

/// A worker's means to rate inputs.
#[derive(Default)]
pub struct Scores {
    influence: Influence,
    sensitivity: Sensitivity,
    /// How much of its predicted effect a split brings.
    pub gain: SplitGain,
}

impl Scores {
    /// With a gain that other workers have learned.
    pub fn new(gain: SplitGain) -> Self {
        Self { gain, ..Self::default() }
    }

    /// The plan by the row that bounds a violation by `bound`: several halvings where one is not expected to close the
    /// box.
    pub fn plan_by_row(&mut self, reach: &Reach, row: &Row, bound: f64, node: &Node) -> Plan {
        let score = self.sensitivity.score(reach.layers(), node.lower.len(), row);
        Plan::until_expected_closed(bound, self.gain.share(), score, &node.lower, &node.upper)
    }

    /// The plan by the published score: one halving.
    pub fn plan_by_influence(&mut self, reach: &Reach, node: &Node) -> Plan {
        Plan::once(self.influence.score(reach.layers(), node.lower.len()), &node.lower, &node.upper)
    }

    /// The input to halve by the published score within tighter ends, and where.
    pub fn choose_by_influence(&mut self, reach: &Reach, lower: &[f64], upper: &[f64]) -> Option<(usize, f64)> {
        // Where the last bounds of a contraction overflowed no input has a score, and the widest is halved.
        halving::choose(self.influence.score(reach.layers(), lower.len()), lower, upper)
    }
}
