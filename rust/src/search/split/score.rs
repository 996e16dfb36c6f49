//! Rating the inputs of a box by what halving along each of them would bring to the bound of one violation.
//!
//! Two scores exist: the published one, by the influence of an input on the outputs of both networks ([VD]), and ours,
//! by the sensitivity of the one row that bounds the violation ([`crate::domain::sensitivity`]). Ours is used where
//! there is such a row.

use super::gain::SplitGain;
use super::halving;
use super::plan::Plan;
use crate::domain::Propagation;
use crate::domain::output::GeneratorRow;
use crate::domain::published_score::PublishedScore;
use crate::domain::sensitivity::Sensitivity;
use crate::search::Node;

/// A worker's means to rate inputs.
#[derive(Default)]
pub struct Scores {
    published_score: PublishedScore,
    sensitivity: Sensitivity,
    /// How much of its predicted effect a split brings.
    pub gain: SplitGain,
}

impl Scores {
    /// Scores of a worker that begins with the gain that others have learned.
    pub fn new(gain: SplitGain) -> Self {
        Self { gain, ..Self::default() }
    }

    /// The plan by the row that bounds a violation by `bound`: several halvings where one is not expected to close the
    /// box.
    pub fn plan_by_row(&mut self, propagation: &Propagation, row: &GeneratorRow, bound: f64, node: &Node) -> Plan {
        let score = self.sensitivity.score(propagation.layers(), node.lower.len(), row);
        Plan::until_expected_closed(bound, self.gain.share(), score, &node.lower, &node.upper)
    }

    /// The plan by the published score: one halving.
    pub fn plan_by_published_score(&mut self, propagation: &Propagation, node: &Node) -> Plan {
        Plan::once(self.published_score.score(propagation.layers(), node.lower.len()), &node.lower, &node.upper)
    }

    /// The input to halve by the published score within tighter ends, and where.
    pub fn choose_by_published_score(
        &mut self,
        propagation: &Propagation,
        lower: &[f64],
        upper: &[f64],
    ) -> Option<(usize, f64)> {
        // Where the last bounds of a contraction overflowed no input has a score, and the widest is halved.
        halving::choose(self.published_score.score(propagation.layers(), lower.len()), lower, upper)
    }
}
