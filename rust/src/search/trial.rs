//! A short search by halving boxes, before contraction is called in.
//!
//! Contraction is worth a thousand boxes and costs about as many. Where halving goes far it is the faster way, and a few hundred boxes tell: a query
//! that zonotopes and multipliers decide must not wait for stronger means. What a trial that decides nothing has learned is thrown away.

use super::policy::POLICY;
use super::{Reason, Search, Solution, Verdict};
use crate::settings::Settings;

impl Search<'_> {
    /// How many boxes each trial may take, in order; none where contraction is not used anyway, or where halving is hopeless.
    pub(super) fn trials(&self, settings: &Settings) -> Vec<u64> {
        let inputs = self.region.free().len();
        let linear = self.property.obligations.iter().all(|o| o.violation.is_linear());
        let policy = &POLICY.trials;
        // Who wants every box contracted, however few its inputs, wants no trial either.
        if !linear || !settings.contracts(inputs) || inputs > policy.inputs || settings.contract_above == 0 {
            return Vec::new();
        }
        vec![(policy.work / self.multiplications(inputs)).clamp(policy.first.0, policy.first.1), policy.second]
    }

    /// About what it takes to bound a box of so many free inputs: every neuron before a layer brings a generator.
    fn multiplications(&self, inputs: usize) -> u64 {
        let (mut columns, mut generators, mut sum) = (inputs, inputs, 1);
        for layer in &self.pair.first {
            sum += 2 * layer.rows as u64 * columns as u64 * generators as u64;
            columns = layer.rows;
            generators += 2 * layer.rows;
        }
        sum
    }

    /// The settings of a trial that ends when so many boxes are counted, those of earlier trials included. It asks no solver, and where a proof is recorded it
    /// does without multipliers: to check some for each of a thousand boxes takes far longer than to check a dozen contractions.
    pub(super) fn trial(&self, settings: &Settings, boxes: u64) -> Settings {
        let multipliers = settings.lp && settings.dual && settings.record.is_none();
        let lp = multipliers && self.rows() <= POLICY.multipliers.rows;
        Settings { contract: false, lp, boxes, ..settings.clone() }
    }

    /// Rows of the largest program: a link for each output, a guard's rows, constraints.
    fn rows(&self) -> usize {
        let guard = self.property.guards.iter().map(|g| g.rows.len()).max().unwrap_or(0);
        self.pair.outputs() + guard + self.region.constraints.len()
    }
}

/// Whether the trial is the answer; and if not, whether another trial is worth its while. `before`: boxes of earlier trials.
pub fn judge(solution: &Solution, before: u64) -> (bool, bool) {
    let cut_off = solution.verdict == Verdict::Unknown(Reason::Boxes);
    // Boxes that cannot be halved further may fall to contraction.
    let stuck = matches!(solution.verdict, Verdict::Unknown(Reason::Incomplete | Reason::FloatOnly | Reason::Spurious));
    #[allow(clippy::cast_precision_loss)]
    let closes = solution.open_boxes as f64 <= POLICY.trials.open * (solution.boxes - before) as f64;
    (!cut_off && !stuck, cut_off && closes)
}
