//! Ways to split what contraction has left of a violation, and an estimate of what each may gain.
//!
//! A box can be split along an input, or at the sign of x, y or d of an unstable neuron: of both halves each assumes
//! one sign, so together they cover what was split. The score of a neuron is what its relaxation costs the bound of the
//! violation at most, as in BaBSR (Bunel et al., "Branch and bound for piecewise linear neural network verification",
//! JMLR 2020). It tells which splits deserve a closer look ([`super::branching`]).

use super::functional::Coefficients;
use super::relax::Relaxation;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::{IntermediateBounds, PhaseConstraint};

/// x, y or d of a neuron before its function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neuron {
    /// Which of the three.
    pub quantity: Quantity,
    /// The hidden layer.
    pub layer: usize,
    /// The neuron in this layer.
    pub index: usize,
    /// What its relaxation costs the bound, at most.
    pub cost: f64,
}

impl Neuron {
    /// The assumption that the value is >= 0, or <= 0.
    #[must_use]
    pub fn constraint(self, positive: bool) -> PhaseConstraint {
        PhaseConstraint { quantity: self.quantity, layer: self.layer, index: self.index, positive }
    }
}

/// One way to split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Split {
    /// At the sign of a neuron's value, or of the difference of two.
    Sign(Neuron),
    /// Along an input, at a number strictly inside its interval.
    Input(usize, f64),
}

impl Split {
    /// The bounds of both halves, the lower one first.
    #[must_use]
    pub fn halves(self, bounds: &IntermediateBounds) -> [IntermediateBounds; 2] {
        let mut halves = [bounds.clone(), bounds.clone()];
        match self {
            Self::Sign(neuron) => {
                halves[0].assume(neuron.constraint(false));
                halves[1].assume(neuron.constraint(true));
            }
            Self::Input(input, place) => {
                halves[0].upper[input] = place;
                halves[1].lower[input] = place;
            }
        }
        halves
    }
}

/// The splits that deserve a closer look, those with the highest score of each kind first.
#[derive(Debug, Clone, Default)]
pub struct SplitCandidates {
    /// At the signs of x or y.
    pub signs: Vec<Neuron>,
    /// At the signs of d.
    pub differences: Vec<Neuron>,
}

/// How many candidates are kept: signs of x and y, and signs of d.
const KEPT: (usize, usize) = (32, 8);

impl SplitCandidates {
    /// The neurons whose relaxations cost a functional most, from its coefficients behind the ReLUs of every hidden
    /// layer (the first functional of a batch). The score of a difference counts for the signs of both of its neurons,
    /// too, since these also decide how it is relaxed.
    #[must_use]
    pub(super) fn of(behind_relu: &[Coefficients], relaxations: &[Relaxation], bounds: &IntermediateBounds) -> Self {
        let mut all = Self::all(behind_relu, relaxations, bounds);
        // Functions other than ReLU are relaxed where a sign is known, too, which a split at signs does not change.
        for list in [&mut all.signs, &mut all.differences] {
            list.retain(|n| bounds.layers[n.layer].of(n.quantity).unstable(n.index));
        }
        all.signs.truncate(KEPT.0);
        all.differences.truncate(KEPT.1);
        all
    }

    /// The same for all neurons whose relaxations cost the functional anything.
    #[must_use]
    pub(super) fn all(behind_relu: &[Coefficients], relaxations: &[Relaxation], bounds: &IntermediateBounds) -> Self {
        let (mut signs, mut differences) = (Vec::new(), Vec::new());
        for (layer, (behind, r)) in behind_relu.iter().zip(relaxations).enumerate() {
            let known = &bounds.layers[layer];
            for (index, neuron) in r.lines.neurons.iter().enumerate() {
                let gaps = neuron.gaps(known, index);
                for (quantity, gap) in [Quantity::First, Quantity::Second, Quantity::Difference].into_iter().zip(gaps) {
                    let cost = behind.of(quantity)[index].abs() * gap;
                    let list = if quantity == Quantity::Difference { &mut differences } else { &mut signs };
                    if cost > 0.0 {
                        list.push(Neuron { quantity, layer, index, cost });
                    }
                }
            }
            if !r.lines.neurons.is_empty() {
                continue;
            }
            for index in 0..r.keep.len() {
                let coefficient = behind.difference[index].abs() * r.keep[index];
                let of_difference = coefficient * chord_gap(known.d.lower[index], known.d.upper[index]);
                if of_difference > 0.0 {
                    differences.push(Neuron { quantity: Quantity::Difference, layer, index, cost: of_difference });
                }
                for (quantity, coefficient, one, bounds) in [
                    (Quantity::First, behind.first[index], &r.first, &known.x),
                    (Quantity::Second, behind.second[index], &r.second, &known.y),
                ] {
                    if one.unstable[index] == 0.0 {
                        continue;
                    }
                    // The upper relaxation is off by at most the height of the chord, the lower one by at most the
                    // smaller side of the triangle.
                    let below = bounds.upper[index].min(-bounds.lower[index]);
                    let gap = if coefficient < 0.0 { one.height[index] } else { below };
                    let cost = coefficient.abs() * gap + of_difference;
                    signs.push(Neuron { quantity, layer, index, cost });
                }
            }
        }
        for list in [&mut signs, &mut differences] {
            list.sort_by(|a: &Neuron, b| b.cost.total_cmp(&a.cost));
        }
        Self { signs, differences }
    }
}

/// How far the chord of max(0, d) or min(0, d) on [lower, upper] is from it at most; 0 if the sign of d is known.
fn chord_gap(lower: f64, upper: f64) -> f64 {
    if lower < 0.0 && upper > 0.0 { -lower * (upper / (upper - lower)) } else { 0.0 }
}
