//! Probes: short searches by plain bisection, before contraction is used.
//!
//! One contraction saves about a thousand boxes and costs as much as they do. Where bisection closes boxes it is the
//! faster way, and a few hundred boxes show whether it does: a query that zonotopes and multipliers decide must not
//! wait for stronger means.
//!
//! A probe goes on with the boxes that the one before has left. As long as it closes most of them there is another one,
//! twice as long: between the queries that a thousand boxes decide and those that nothing but contraction does lie
//! networks of 16 inputs or so that take ten or a hundred thousand cheap boxes, while a contraction of each of their
//! large boxes ends with nothing. What a search by probes has left when they end is thrown away, and contraction begins
//! with the whole region, because few large boxes are what it is good at.
//!
//! How many boxes are open after so many depends on the order in which they are taken, and that on the number of workers:
//! on jets (near, .99) one leaves 1 831 after 1 024 boxes and two leave 617, so that two went on for 4 096 boxes that
//! proved nothing. So the first probe is made by one worker, where it is no longer than `work`; the others would save it
//! some hundredths of a second.
//!
//! On graphs the first box of a probe is bounded backwards, as that of the whole search is: often nothing is left to probe.

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
    /// bisection is hopeless. What is done may be `kept`, as a record or a trail, which has no place for backward bounds.
    pub fn budgets(&self, settings: &Settings, kept: bool) -> Vec<u64> {
        let inputs = self.region.free().len();
        let linear = self.property.obligations.iter().all(|o| o.violation.is_linear());
        let policy = &POLICY.probes;
        let bounded = !self.pair.is_chain() && settings.root_bounds && !kept;
        let most_inputs = if bounded { policy.inputs_of_graph } else { policy.inputs };
        // Where the settings want every box contracted, however few its inputs are, there is no probe either.
        if !linear || !settings.contracts(inputs) || inputs > most_inputs || settings.contract_above == 0 {
            return Vec::new();
        }
        let (first, second) = (policy.work / multiplications(self.pair, inputs), policy.second);
        // The proof of a hundred thousand boxes would take its auditor longer than anyone waits.
        let most = if settings.record.is_some() { 0 } else { policy.longest / multiplications(self.pair, inputs) };
        // Without multipliers a guard is seldom used, so that bisection closes little of a recorded proof.
        let again = settings.record.is_none() || self.property.guards.is_empty();
        let doubled = std::iter::successors(Some(second), |boxes| boxes.checked_mul(2));
        std::iter::once(first.clamp(policy.first.0, policy.first.1))
            .chain(again.then_some(second))
            .chain(doubled.take_while(|&boxes| boxes <= most))
            .collect()
    }

    /// The settings of a probe that ends when so many boxes are counted, those of earlier probes included; after so many
    /// seconds of the search. It asks no solver. Where a proof is recorded it uses no multipliers either, since checking
    /// some for each of a thousand boxes takes far longer than checking a dozen contractions.
    pub fn settings(&self, settings: &Settings, (number, boxes): (usize, u64), seconds: f64) -> Settings {
        let multipliers = settings.lp && settings.dual && settings.record.is_none();
        let lp = multipliers && self.rows() <= POLICY.multipliers.rows;
        let most = seconds.max(POLICY.probes.share * settings.timeout);
        let timeout = if number < SHORT { settings.timeout } else { most.min(settings.timeout) };
        let work = boxes.saturating_mul(multiplications(self.pair, self.region.free().len()));
        let threads = if number == 0 && work <= POLICY.probes.work { 1 } else { settings.threads };
        Settings { threads, contract_above: usize::MAX, lp, boxes, timeout, ..settings.clone() }
    }

    /// The rows of the largest program: one for each output, those of a guard, and the constraints.
    fn rows(&self) -> usize {
        let guard = self.property.guards.iter().map(|g| g.rows.len()).max().unwrap_or(0);
        self.pair.outputs() + guard + self.region.constraints.len()
    }
}

/// About how many multiplications it takes to bound a box of so many free inputs: every neuron before a step adds a
/// generator for each network.
pub fn multiplications(pair: &Pair, inputs: usize) -> u64 {
    let (mut generators, mut sum) = (inputs, 1);
    for step in &pair.first {
        let reads_inputs = step.terms.iter().all(|t| t.origin == Origin::Inputs);
        let products = if reads_inputs { step.rows * inputs } else { step.products() };
        sum += 2 * products as u64 * generators as u64;
        generators += if step.function.is_identity() { 0 } else { 2 * step.rows };
    }
    sum
}

/// So many probes come whatever is left of the time.
const SHORT: usize = 2;

/// Whether a probe answers the question; and if not, whether another probe is worth its time. `before` counts the boxes
/// of earlier probes that it does not go on from; the settings are those of the probe and of the whole search.
pub fn evaluate(
    solution: &Solution,
    before: u64,
    (number, plain, settings): (usize, &Settings, &Settings),
) -> (bool, bool) {
    let early = plain.timeout < settings.timeout && solution.verdict == Verdict::Unknown(Reason::Timeout);
    let cut_off = solution.verdict == Verdict::Unknown(Reason::Boxes);
    // Boxes that cannot be halved further may fall to contraction.
    let unresolved =
        matches!(solution.verdict, Verdict::Unknown(Reason::Incomplete | Reason::FloatOnly | Reason::Spurious));
    let policy = &POLICY.probes;
    let open = if number + 1 < SHORT { policy.open } else { policy.open_long };
    #[allow(clippy::cast_precision_loss)]
    let closes = solution.open_boxes as f64 <= open * (solution.boxes - before) as f64;
    (!cut_off && !unresolved && !early, cut_off && closes)
}
