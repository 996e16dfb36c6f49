//! Where to split what contraction has left of a violation: by look-ahead.
//!
//! Costs of single relaxations tell which splits are worth a look, not which is best: the sign of a neuron also moves everything behind it, in both networks.
//! So both halves of a few candidates are bounded for a few steps each, from the multipliers at hand, and the split whose halves gain most is taken.
//! A choice costs no soundness: every split covers what it splits.

use super::Assumption;
use super::backward::{Backward, Functional};
use super::contract::{Contraction, Contractor};
use crate::domain::intermediate_bounds::{IntermediateBounds, PhaseConstraint};
use crate::domain::propagation::Failure;
use crate::domain::{Propagation, Quantity};

/// x, y or d of a neuron before ReLU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neuron {
    /// Which of them.
    pub quantity: Quantity,
    /// Hidden layer.
    pub layer: usize,
    /// Which neuron.
    pub index: usize,
    /// What its relaxation costs the bound, at most.
    pub cost: f64,
}

impl Neuron {
    /// The assumption that the value is >= 0, or <= 0.
    #[must_use]
    pub fn side(self, positive: bool) -> PhaseConstraint {
        PhaseConstraint { quantity: self.quantity, layer: self.layer, index: self.index, positive }
    }
}

/// A way to split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Split {
    /// At the sign of a neuron's value, or of the difference of two.
    Sign(Neuron),
    /// Along an input, at a place strictly inside its interval.
    Input(usize, f64),
}

impl Split {
    /// Both parts.
    #[must_use]
    pub fn halves(self, bounds: &IntermediateBounds) -> [IntermediateBounds; 2] {
        let mut halves = [bounds.clone(), bounds.clone()];
        match self {
            Self::Sign(neuron) => {
                halves[0].assume(neuron.side(false));
                halves[1].assume(neuron.side(true));
            }
            Self::Input(input, place) => {
                halves[0].upper[input] = place;
                halves[1].lower[input] = place;
            }
        }
        halves
    }
}

/// Splits worth a look, the most promising of each kind first.
#[derive(Debug, Clone, Default)]
pub struct SplitCandidates {
    /// Of neurons.
    pub signs: Vec<Neuron>,
    /// Of differences.
    pub differences: Vec<Neuron>,
}

/// Candidates that are looked at: signs of x and y, signs of d.
const LOOKED_AT: (usize, usize) = (32, 8);

/// Steps for each half, and their size: larger than in contraction, since there are few.
const STEPS: i32 = 10;
const RATE: f64 = 0.05;

/// What is left of a violation of bound b takes about b to this power in boxes.
const GROWTH: i32 = 3;

/// What looking ahead found.
#[derive(Debug)]
pub enum LookaheadResult {
    /// Some neuron can have neither sign: no violation.
    Proved,
    /// So many signs are settled, since the other one is impossible; they have joined what is known.
    Settled(usize),
    /// Splits by what they promise, the most promising first.
    Ranked(Vec<Split>),
}

impl Backward<'_> {
    /// Neurons whose splitting could help the first functional, as last evaluated: by what their relaxation costs, the costliest first.
    #[must_use]
    pub fn candidates(&self, bounds: &IntermediateBounds) -> SplitCandidates {
        let (mut own, mut both) = (Vec::new(), Vec::new());
        for (layer, (side, r)) in self.sides.iter().zip(&self.relaxations).enumerate() {
            let known = &bounds.layers[layer];
            for index in 0..r.keep.len() {
                let coefficient = side.difference[index].abs() * r.keep[index];
                let shared = coefficient * chord_gap(known.d.lower[index], known.d.upper[index]);
                if shared > 0.0 {
                    both.push(Neuron { quantity: Quantity::Difference, layer, index, cost: shared });
                }
                for (quantity, coefficient, one, bounds) in [
                    (Quantity::First, side.first[index], &r.first, &known.x),
                    (Quantity::Second, side.second[index], &r.second, &known.y),
                ] {
                    if one.unstable[index] == 0.0 {
                        continue;
                    }
                    // Above: the chord's height. Below: at most the smaller side of the triangle. The difference's chord weighs in for both networks.
                    let below = bounds.upper[index].min(-bounds.lower[index]);
                    let relaxed =
                        coefficient.abs() * if coefficient < 0.0 { one.height[index] } else { below } + shared;
                    own.push(Neuron { quantity, layer, index, cost: relaxed });
                }
            }
        }
        for (list, most) in [(&mut own, LOOKED_AT.0), (&mut both, LOOKED_AT.1)] {
            list.sort_by(|a, b| b.cost.total_cmp(&a.cost));
            list.truncate(most);
        }
        SplitCandidates { signs: own, differences: both }
    }
}

/// How far the chord of max(0, d) or min(0, d) on [lower, upper] is from it at most; 0 if the sign of d is known.
fn chord_gap(lower: f64, upper: f64) -> f64 {
    if lower < 0.0 && upper > 0.0 { -lower * (upper / (upper - lower)) } else { 0.0 }
}

impl Contractor<'_> {
    /// Looks at both halves of every candidate, and of an input cut at a place.
    pub fn look_ahead(
        &mut self,
        left: &mut Contraction,
        assumption: &Assumption,
        halving: Option<(usize, f64)>,
        reach: &mut Propagation,
        stop: impl Fn() -> bool,
    ) -> LookaheadResult {
        let candidates = std::mem::take(&mut left.candidates);
        let neurons = candidates.signs.iter().chain(&candidates.differences).copied().map(Split::Sign);
        let mut settled = 0;
        let mut ranked = Vec::new();
        for split in neurons.chain(halving.map(|(input, place)| Split::Input(input, place))) {
            if stop() {
                break;
            }
            let halves = split.halves(&left.bounds);
            let mut bounds = [0.0; 2];
            let mut proofs = [Vec::new(), Vec::new()];
            for ((bound, proof), half) in bounds.iter_mut().zip(&mut proofs).zip(halves) {
                let before = self.log.as_ref().map_or(0, |c| c.bytes.len());
                *bound = self.glimpse(half, left, assumption, reach);
                if let Some(log) = &mut self.log {
                    *proof = log.bytes.split_off(before);
                }
            }
            match (split, bounds.map(|b| b == f64::NEG_INFINITY)) {
                (_, [true, true]) => {
                    if let Some(log) = &mut self.log {
                        log.exclude(split, 2, &proofs);
                    }
                    return LookaheadResult::Proved;
                }
                (Split::Sign(neuron), [false, true] | [true, false]) => {
                    let which = usize::from(bounds[1] == f64::NEG_INFINITY);
                    if let Some(log) = &mut self.log {
                        #[allow(clippy::cast_possible_truncation)]
                        log.exclude(split, which as u8, &proofs[which..=which]);
                    }
                    left.bounds.assume(neuron.side(bounds[0] == f64::NEG_INFINITY));
                    settled += 1;
                }
                _ => {
                    let work = bounds.iter().map(|b| (b / left.bound).clamp(0.0, 1.0).powi(GROWTH)).sum::<f64>();
                    ranked.push((work, split));
                }
            }
        }
        if settled > 0 {
            return LookaheadResult::Settled(settled);
        }
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        LookaheadResult::Ranked(ranked.into_iter().map(|(_, split)| split).collect())
    }

    /// A quick bound of the violation on a half; minus infinity where it is impossible.
    fn glimpse(
        &mut self,
        mut half: IntermediateBounds,
        left: &Contraction,
        assumption: &Assumption,
        reach: &mut Propagation,
    ) -> f64 {
        let reached = reach.propagate_within(self.pair, &half).map(drop);
        if reached == Err(Failure::Contradiction) || (reached.is_ok() && half.intersect(reach.layers()).is_err()) {
            return f64::NEG_INFINITY;
        }
        half.reduce();
        self.backward.set_bounds(&half);
        let target = [Functional::Target];
        let mut parameters = self.start(left.warm.as_deref(), &target, assumption);
        let mut bound = f64::INFINITY;
        for step in 1..=STEPS {
            let lower = self.backward.evaluate(&target, assumption, &parameters)[0];
            if assumption.contradicted_by(lower) {
                if self.record_target(assumption, &parameters) {
                    return f64::NEG_INFINITY;
                }
                self.backward.evaluate(&target, assumption, &parameters);
            }
            bound = bound.min(-lower);
            self.backward.ascend(&target, assumption, &mut parameters, RATE, step);
        }
        bound
    }
}
