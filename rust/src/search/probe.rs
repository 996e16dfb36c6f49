//! Probes: short searches by plain bisection, before contraction is used.
//!
//! One contraction saves about a thousand boxes and costs as much as they do. Where bisection closes boxes it is the
//! faster way, and a few hundred boxes show whether it does: a query that zonotopes and multipliers decide must not
//! wait for stronger means. What a probe that decides nothing has learned is thrown away.

use super::Region;
use super::policy::POLICY;
use super::solution::{Reason, Solution, Verdict};
use crate::network::{Origin, Pair};
use crate::property::Property;
use crate::settings::Settings;

/// The question that is probed.
pub struct Probe<'a> {
    /// The pair over all inputs.
    pub pair: &'a Pair,
    /// The region over all inputs.
    pub region: &'a Region,
    /// The claim.
    pub property: &'a Property,
}

impl Probe<'_> {
    /// How many boxes each probe may take, in order. There is none where contraction is not used anyway, or where
    /// bisection is hopeless.
    pub fn budgets(&self, settings: &Settings) -> Vec<u64> {
        let inputs = self.region.free().len();
        let linear = self.property.obligations.iter().all(|o| o.violation.is_linear());
        let policy = &POLICY.probes;
        // Where the settings want every box contracted, however few its inputs are, there is no probe either.
        if !linear || !settings.contracts(inputs) || inputs > policy.inputs || settings.contract_above == 0 {
            return Vec::new();
        }
        vec![(policy.work / self.multiplications(inputs)).clamp(policy.first.0, policy.first.1), policy.second]
    }

    /// About how many multiplications it takes to bound a box of so many free inputs: every neuron before a step adds a
    /// generator for each network.
    fn multiplications(&self, inputs: usize) -> u64 {
        let (mut generators, mut sum) = (inputs, 1);
        for step in &self.pair.first {
            let reads_inputs = step.terms.iter().all(|t| t.origin == Origin::Inputs);
            let products = if reads_inputs { step.rows * inputs } else { step.products() };
            sum += 2 * products as u64 * generators as u64;
            generators += if step.function.is_identity() { 0 } else { 2 * step.rows };
        }
        sum
    }

    /// The settings of a probe that ends when so many boxes are counted, those of earlier probes included. It asks no
    /// solver. Where a proof is recorded it uses no multipliers either, since checking some for each of a thousand
    /// boxes takes far longer than checking a dozen contractions.
    pub fn settings(&self, settings: &Settings, boxes: u64) -> Settings {
        let multipliers = settings.lp && settings.dual && settings.record.is_none();
        let lp = multipliers && self.rows() <= POLICY.multipliers.rows;
        Settings { contract: false, lp, boxes, ..settings.clone() }
    }

    /// The rows of the largest program: one for each output, those of a guard, and the constraints.
    fn rows(&self) -> usize {
        let guard = self.property.guards.iter().map(|g| g.rows.len()).max().unwrap_or(0);
        self.pair.outputs() + guard + self.region.constraints.len()
    }
}

/// Whether a probe answers the question; and if not, whether another probe is worth its time. `before` counts the boxes
/// of earlier probes.
pub fn evaluate(solution: &Solution, before: u64) -> (bool, bool) {
    let cut_off = solution.verdict == Verdict::Unknown(Reason::Boxes);
    // Boxes that cannot be halved further may fall to contraction.
    let unresolved =
        matches!(solution.verdict, Verdict::Unknown(Reason::Incomplete | Reason::FloatOnly | Reason::Spurious));
    #[allow(clippy::cast_precision_loss)]
    let closes = solution.open_boxes as f64 <= POLICY.probes.open * (solution.boxes - before) as f64;
    (!cut_off && !unresolved, cut_off && closes)
}
