//! Splits at the signs of neurons of one network by itself, where rounds under an assumption about it stop paying.
//!
//! What stops the rounds of [`super::alone`] is that a few neurons of the first layers are open, not that bounds behind
//! them are loose: with the right signs assumed of a few of them, rounds fall into the descent again in which bounds
//! tighten bounds until they contradict. So this is branch and bound (Bunel et al., "Branch and bound for piecewise linear
//! neural network verification", JMLR 2020) in which every node is contracted by a few whole rounds under the
//! assumption *and* its signs, whose multipliers are those of beta-CROWN (Wang et al., NeurIPS 2021). Contracting all
//! neurons at every node is what makes tens of nodes do the work of more than a million with fixed inner bounds.
//!
//! A split is chosen by filtered smart branching (De Palma et al., 2021): the neurons with the highest scores are looked
//! at, both signs of all of them in one batch, without steps. Relaxations of a batch are shared, so the half of one
//! neuron is written as multipliers: let a be the coefficient of its ReLU and s v + h its chord. Where a >= 0 its lower
//! line is 0 for v <= 0 and v for v >= 0, a slope like any other. Where a < 0 the multiplier of the assumed sign takes
//! the coefficient a s of v to 0, or to a, and what is left of the chord is the constant a h, which is given back. This
//! is an estimate by which a neuron is chosen, and nothing else follows from it.
//!
//! Sound because the halves of a split cover the part ([`Split::halves`]), and a part is closed only where a contradiction
//! under the assumption and the signs of the part is proved.

use super::alone::{Alone, AloneBudget};
use super::assumption::Assumption;
use super::contract::{Contractor, WarmStart};
use super::functional::Functional;
use super::split_candidates::{Neuron, Split, SplitCandidates};
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::IntermediateBounds;
use std::sync::Arc;

/// The most neurons of a layer, and of all layers, that are looked at.
const LOOKED_AT: (usize, usize) = (16, 32);

/// What is left of a bound b is expected to take a number of parts that grows like b to this power.
const GROWTH: i32 = 3;

/// A part of a box, by assumed signs, in which an assumption about f1 is still to be excluded.
#[derive(Debug, Clone)]
pub struct PartAlone {
    /// Bounds that hold under the assumption and the signs.
    pub bounds: IntermediateBounds,
    /// The number of splits that made it; its share of the whole is 2^-depth.
    pub depth: i32,
    /// An upper bound of what the assumption says is not negative.
    pub bound: f64,
    /// Multipliers of the violation that served the whole of which it is a part.
    target: Option<Arc<WarmStart>>,
}

/// What became of a part.
#[derive(Debug, Clone)]
pub enum PartResult {
    /// The assumption holds nowhere in it.
    Excluded,
    /// It is covered by these two.
    Open(Box<[PartAlone; 2]>),
    /// It may hold somewhere, and nothing can be split.
    Stuck,
}

impl PartAlone {
    /// The whole box, within bounds that hold without an assumption.
    #[must_use]
    pub fn whole(bounds: IntermediateBounds) -> Self {
        Self { bounds, depth: 0, bound: f64::INFINITY, target: None }
    }
}

impl Contractor<'_> {
    /// Contracts a part of a box under an assumption about f1, and splits it if the assumption is not excluded there.
    pub fn exclude_part(
        &mut self,
        mut part: PartAlone,
        assumption: &Assumption,
        budget: AloneBudget,
        stop: impl Fn() -> bool,
    ) -> PartResult {
        let mut target = part.target.as_deref().cloned().unwrap_or_default();
        match self.contract_alone(&mut part.bounds, &mut target, assumption, budget, &stop) {
            Alone::Excluded => return PartResult::Excluded,
            Alone::Open(found) => part.bound = part.bound.min(found),
        }
        let relu = |layer: usize| self.pair.curves(layer).is_none();
        if assumption.speaks_of() != Some(Quantity::First) || !(0..self.pair.depth()).all(relu) {
            return PartResult::Stuck;
        }
        self.backward.alone = true;
        let split = self.split_alone(&mut part, &mut target, assumption, budget, &stop);
        self.backward.alone = false;
        match split {
            Err(Alone::Excluded) => PartResult::Excluded,
            Err(Alone::Open(_)) => PartResult::Stuck,
            Ok(neuron) => {
                let target = Arc::new(target);
                let half = |bounds| PartAlone {
                    bounds,
                    depth: part.depth + 1,
                    bound: part.bound,
                    target: Some(Arc::clone(&target)),
                };
                PartResult::Open(Box::new(Split::Sign(neuron).halves(&part.bounds).map(half)))
            }
        }
    }

    /// The neuron whose signs promise most. An error says what became of the part without a split.
    fn split_alone(
        &mut self,
        part: &mut PartAlone,
        target: &mut WarmStart,
        assumption: &Assumption,
        budget: AloneBudget,
        stop: &impl Fn() -> bool,
    ) -> Result<Neuron, Alone> {
        // Within the bounds of the last round.
        self.backward.set_bounds(&part.bounds);
        match self.bound_alone(&[Functional::Target], assumption, budget, target, stop) {
            Alone::Excluded => return Err(Alone::Excluded),
            Alone::Open(found) => part.bound = part.bound.min(found),
        }
        let backward = &self.backward;
        let all = SplitCandidates::all(&backward.behind_relu, &backward.relaxed.relaxations, &part.bounds).signs;
        let mut of_layer = vec![0; part.bounds.layers.len()];
        let mut taken = |neuron: &Neuron| {
            let open = neuron.quantity == Quantity::First && neuron.cost > 0.0 && of_layer[neuron.layer] < LOOKED_AT.0;
            of_layer[neuron.layer] += usize::from(open);
            open
        };
        let candidates: Vec<Neuron> = all.into_iter().filter(|n| taken(n)).take(LOOKED_AT.1).collect();
        let estimates = self.estimates(&candidates, target, assumption);
        let work = |halves: &[f64]| halves.iter().map(|b| (b / part.bound).clamp(0.0, 1.0).powi(GROWTH)).sum::<f64>();
        let ranked = candidates.iter().zip(estimates.chunks_exact(2).map(work));
        ranked.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(neuron, _)| *neuron).ok_or(Alone::Open(part.bound))
    }

    /// What may be left of the violation where each of these neurons is not positive, and where it is not negative. The
    /// violation was bounded last, with the multipliers of `target`.
    fn estimates(&mut self, candidates: &[Neuron], target: &WarmStart, assumption: &Assumption) -> Vec<f64> {
        let known = self.backward.relaxed.phase_constraints.len();
        let halves: Vec<(Neuron, bool)> = candidates.iter().flat_map(|n| [(*n, false), (*n, true)]).collect();
        let coefficient = |n: &Neuron| self.backward.behind_relu[n.layer].first[n.index];
        let behind: Vec<f64> = halves.iter().map(|(n, _)| coefficient(n)).collect();
        let constraints = halves.iter().map(|(neuron, positive)| neuron.constraint(*positive));
        self.backward.relaxed.phase_constraints.extend(constraints);
        let functionals = vec![Functional::Target; halves.len()];
        let mut parameters = self.start(None, &functionals, assumption);
        let phases = self.backward.relaxed.phase_constraints.len();
        let mut given_back = Vec::new();
        for (f, ((neuron, positive), a)) in halves.iter().zip(&behind).enumerate() {
            parameters.copy(f, &target.parameters, 0);
            let side = &self.backward.relaxed.relaxations[neuron.layer].first;
            let (slope, height) = (side.slope[neuron.index], side.height[neuron.index]);
            let chord = *a < 0.0;
            if chord {
                let rest = if *positive { 1.0 - slope } else { slope };
                parameters.phases.value[f * phases + known + f] = -a * rest;
            } else {
                let alpha = &mut parameters.layers[neuron.layer].alpha1.value;
                let width = alpha.len() / functionals.len();
                alpha[f * width + neuron.index] = f64::from(u8::from(*positive));
            }
            given_back.push(if chord { -a * height } else { 0.0 });
        }
        let found = self.backward.evaluate(&functionals, assumption, &parameters);
        let estimates = found.iter().zip(&given_back).map(|(lower, back)| -(lower + back)).collect();
        self.backward.relaxed.phase_constraints.truncate(known);
        estimates
    }
}
