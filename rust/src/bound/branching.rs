//! Where to split what contraction has left of a violation: filtered smart branching, by look-ahead.
//!
//! The scores of single relaxations ([`super::split_candidates`]) tell which splits deserve a look, not which is best:
//! the sign of a neuron also moves everything behind it, in both networks. So both halves of a few candidates are
//! bounded for a few steps each, from the multipliers at hand, and the split whose halves gain most is taken. This is
//! filtered smart branching (De Palma et al., "Improved branch and bound for neural network verification via Lagrangian
//! decomposition", 2021) in the framework of Bunel et al. (JMLR 2020). What eqspec adds are splits at the signs of
//! differences of two networks, and that a half which is impossible under the assumed violation fixes the sign for the
//! other half.
//!
//! A choice costs no soundness: the halves of every split cover what is split.

use super::Assumption;
use super::contract::{Contraction, Contractor};
use super::contraction_log::Excluded;
use super::functional::Functional;
use super::split_candidates::Split;
use crate::domain::Propagation;
use crate::domain::intermediate_bounds::IntermediateBounds;
use crate::domain::propagation::Failure;

/// Steps of the multipliers for each half.
const STEPS: i32 = 10;
/// The size of these steps: larger than in contraction, because there are few.
const RATE: f64 = 0.05;

/// What is left of a violation of bound b is expected to take a number of boxes that grows like b to this power.
const GROWTH: i32 = 3;

/// What looking ahead found.
#[derive(Debug)]
pub enum LookaheadResult {
    /// Some neuron can have neither sign, so there is no violation.
    Proved,
    /// This many signs are settled, since the other sign is impossible. They have joined the phase constraints.
    Settled(usize),
    /// The splits in the order of what they promise, the most promising first.
    Ranked(Vec<Split>),
}

impl Contractor<'_> {
    /// Bounds both halves of every candidate, and of an input cut at a number.
    pub fn look_ahead(
        &mut self,
        left: &mut Contraction,
        assumption: &Assumption,
        halving: Option<(usize, f64)>,
        propagation: &mut Propagation,
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
                let before = self.log.as_ref().map_or(0, |log| log.bytes.len());
                *bound = self.bound_half(half, left, assumption, propagation);
                if let Some(log) = &mut self.log {
                    *proof = log.bytes.split_off(before);
                }
            }
            match (split, bounds.map(|b| b == f64::NEG_INFINITY)) {
                (_, [true, true]) => {
                    if let Some(log) = &mut self.log {
                        log.exclude(split, Excluded::Both, &proofs);
                    }
                    return LookaheadResult::Proved;
                }
                (Split::Sign(neuron), [false, true] | [true, false]) => {
                    let lower = bounds[0] == f64::NEG_INFINITY;
                    let (excluded, proof) =
                        if lower { (Excluded::Lower, &proofs[..1]) } else { (Excluded::Upper, &proofs[1..]) };
                    if let Some(log) = &mut self.log {
                        log.exclude(split, excluded, proof);
                    }
                    left.bounds.assume(neuron.constraint(lower));
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

    /// An upper bound of the violation on one half, by a few steps; minus infinity if the half is impossible.
    fn bound_half(
        &mut self,
        mut half: IntermediateBounds,
        left: &Contraction,
        assumption: &Assumption,
        propagation: &mut Propagation,
    ) -> f64 {
        let propagated = propagation.propagate_within(self.pair, &half).map(drop);
        if propagated == Err(Failure::Contradiction)
            || (propagated.is_ok() && half.intersect(propagation.layers()).is_err())
        {
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
