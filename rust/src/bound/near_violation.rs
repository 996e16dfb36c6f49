//! Contraction of the few neurons that a violation rests on, within fixed bounds of all others.
//!
//! A bound of a violation from the outputs may miss by a few hundredths what is to be excluded, since bounds of inner neurons
//! were computed with fixed slopes and without any assumption. Here those that cost the violation most are bounded again, under
//! the violation and with multipliers of their own, and the violation with what this gives, as long as a round pays. It is
//! a contraction ([`super::contract`]) without a propagation and of few neurons, which takes a small part of one.
//!
//! Sound because every bound holds at all inputs of the box at which guard and violation hold. What is found rests on the
//! violation, and so it stays with it: the bounds that others start from are not touched.

use super::assumption::Assumption;
use super::contract::{ContractionBudget, Contractor};
use super::functional::Functional;
use super::parameters::Parameters;
use super::selection::costliest;
use crate::domain::intermediate_bounds::IntermediateBounds;
use crate::domain::phase::Bounds;

/// What these contractions may take.
#[derive(Debug, Clone, Copy)]
pub struct NearBudget {
    /// Operations for one violation.
    pub work: u64,
    /// The most functionals in one round, and the fewest that are worth one.
    pub functionals: (usize, usize),
    /// Steps of their multipliers in a round.
    pub steps: i32,
    /// The most that a round may leave of the violation, as a share, for another one to follow.
    pub gain: f64,
}

/// What is known of a violation that is still possible.
#[derive(Debug, Clone)]
pub struct Near {
    /// Bounds where it holds.
    pub bounds: IntermediateBounds,
    /// Its multipliers within these bounds, which have been set.
    pub multipliers: Parameters,
}

impl Contractor<'_> {
    /// Contracts what costs a violation most, from a bound of it that was found within `known`, whose bounds have been set.
    /// None if it is excluded; each later bound of the violation takes so many steps.
    pub fn contract_costliest(
        &mut self,
        (mut bound, known): (f64, &Near),
        assumption: &Assumption,
        (budget, steps): (NearBudget, i32),
        stop: impl Fn() -> bool,
    ) -> Option<Near> {
        // Neither inputs nor neurons of f2 that f1 and the difference say all of.
        let effort = ContractionBudget { steps: budget.steps, inputs: 0, looks: false, ..ContractionBudget::default() };
        let begun = self.flops();
        let (mut near, mut before) = (known.clone(), f64::INFINITY);
        loop {
            let from = self.flops();
            self.backward.evaluate(&[Functional::Target], assumption, &near.multipliers);
            // One step of one functional: backwards, and forwards again.
            let step = 2 * (self.flops() - from) + 1;
            let left = budget.work.saturating_sub(self.flops() - begun);
            let affordable = left / (step * u64::from(budget.steps.max(1).unsigned_abs()));
            let most = budget.functionals.0.min(usize::try_from(affordable).unwrap_or(usize::MAX));
            let most = most.min(self.most_at_once().saturating_sub(1));
            let pays = bound <= budget.gain * before;
            if stop() || !pays || most < budget.functionals.1 {
                return Some(near);
            }
            before = bound;
            let own = &mut near.bounds;
            let chosen = costliest(&self.backward, own, &self.functionals(own, effort), most);
            self.singles.follow((&self.backward, self.pair), &chosen, assumption, true);
            let mut current = self.start(None, &chosen, assumption);
            current.relative_links = true;
            self.best.clear();
            self.best.resize(chosen.len(), f64::NEG_INFINITY);
            if self.improve((0, &chosen), assumption, (&mut current, None), effort, &mut 0, &stop)
                || self.enter(own, &chosen).is_err()
            {
                return None;
            }
            own.reduce();
            let empty = |b: &Bounds| b.lower.iter().zip(&b.upper).any(|(l, u)| l > u);
            if own.layers.iter().any(|known| empty(&known.x) || empty(&known.y) || empty(&known.d)) {
                return None;
            }
            (bound, near.multipliers) = self.bound_violation(&near.bounds, assumption, steps, &stop);
            if assumption.contradicted_by(-bound) {
                return None;
            }
        }
    }
}
