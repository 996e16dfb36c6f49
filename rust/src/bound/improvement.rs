//! Better multipliers for a batch of functionals, step by step, and the best of the bounds that they give.
//!
//! A bound is computed in f64 with its rounding ([`super::backward`]) and is valid whatever the multipliers are, so steps
//! may run in singles ([`super::singles`]). Steps in f64 are all of one size, and the best of many bounds counts. In
//! singles a bound is work by itself, so steps become smaller towards the end, as in SGDR (Loshchilov and Hutter, "Stochastic gradient
//! descent with warm restarts", ICLR 2017; every round is a restart), and the last multipliers are good by themselves:
//! one bound is computed, at the end. Multipliers that are not finite are not taken over; the steps are then taken in
//! f64.

use super::assumption::Assumption;
use super::contract::{ContractionBudget, Contractor};
use super::functional::Functional;
use super::parameters::Parameters;
use std::f64::consts::PI;

/// In f64, bounds are computed at every third step, and at the first and the last one; at the others only the gradients
/// are. In singles the same is done for the violation alone, whose bound may end the round.
const BOUND_EVERY: i32 = 3;

/// What became of steps in singles.
enum InSingles {
    /// The violation is impossible.
    Proved,
    /// The bounds have been computed.
    Done,
    /// Nothing: the steps are to be taken in f64.
    Refused,
}

/// The size of a step in singles: twice the rate at first, and nothing in the end.
fn cooled(rate: f64, step: i32, steps: i32) -> f64 {
    rate * (1.0 + (PI * f64::from(step) / f64::from(steps)).cos())
}

impl Contractor<'_> {
    /// Improves the multipliers of a batch, whose functionals begin at place `from` among all, and keeps the best bounds,
    /// and, where they are wanted, the multipliers of each functional that gave them. Returns whether the target, the
    /// first of all functionals, contradicts the assumption.
    pub(super) fn improve(
        &mut self,
        (from, functionals): (usize, &[Functional]),
        assumption: &Assumption,
        (current, mut kept): (&mut Parameters, Option<&mut Parameters>),
        budget: ContractionBudget,
        taken: &mut i32,
        stop: &impl Fn() -> bool,
    ) -> bool {
        match self.improve_in_singles((from, functionals), assumption, current, budget, taken, stop) {
            InSingles::Proved => return true,
            InSingles::Done => {
                // One bound was computed of each, with the last multipliers.
                if let Some(kept) = kept {
                    (0..functionals.len()).for_each(|f| kept.copy(f, current, f));
                }
                return false;
            }
            InSingles::Refused => {}
        }
        for step in 1..=budget.steps {
            if step % BOUND_EVERY == 0 || step == budget.steps || step == 1 {
                let found = self.backward.evaluate(functionals, assumption, current);
                for (f, (best, &v)) in self.best[from..].iter_mut().zip(found).enumerate() {
                    if v > *best {
                        *best = v;
                        if let Some(kept) = kept.as_deref_mut() {
                            kept.copy(f, current, f);
                        }
                    }
                }
                if from == 0 && assumption.contradicted_by(self.best[0]) {
                    if self.record_target(assumption, current) {
                        return true;
                    }
                    // Recording evaluated the target alone; the steps go on from the whole batch.
                    self.best[0] = f64::NEG_INFINITY;
                    self.backward.evaluate(functionals, assumption, current);
                }
                if step == budget.steps || stop() {
                    break;
                }
            } else {
                self.backward.evaluate_coefficients(functionals, assumption, current);
            }
            *taken += 1;
            self.backward.ascend(functionals, assumption, current, budget.rate, *taken);
        }
        false
    }

    /// The same with steps in singles, unless they do not serve.
    fn improve_in_singles(
        &mut self,
        (from, functionals): (usize, &[Functional]),
        assumption: &Assumption,
        current: &mut Parameters,
        budget: ContractionBudget,
        taken: &mut i32,
        stop: &impl Fn() -> bool,
    ) -> InSingles {
        if !self.singles.ready() {
            return InSingles::Refused;
        }
        self.singles.place(functionals);
        let (target, begun) = ([Functional::Target], *taken);
        let mut of_target = self.backward.start(&target, assumption);
        let mut singles = current.restricted_singles(self.singles.restriction.as_ref());
        for step in 1..=budget.steps {
            let due = step % BOUND_EVERY == 0 || step == budget.steps || step == 1;
            if due && budget.looks && from == 0 && of_target.take(&singles) {
                let lower = self.backward.evaluate(&target, assumption, &of_target)[0];
                self.best[0] = self.best[0].max(lower);
                if assumption.contradicted_by(self.best[0]) {
                    if self.record_target(assumption, &of_target) {
                        return InSingles::Proved;
                    }
                    self.best[0] = f64::NEG_INFINITY;
                }
            }
            if step == budget.steps || (due && stop()) {
                break;
            }
            let Some((workspace, functionals)) = self.singles.workspace() else { break };
            *taken += 1;
            workspace.evaluate_coefficients(functionals, assumption, &singles);
            let rate = cooled(budget.rate, step, budget.steps);
            workspace.ascend(functionals, assumption, &mut singles, rate, *taken);
        }
        if !current.take(&singles) {
            // Moments that are not finite would stay so.
            current.reset_moments();
            *taken = begun;
            return InSingles::Refused;
        }
        current.take_moments(singles);
        let found = self.backward.evaluate(functionals, assumption, current);
        self.best[from..].iter_mut().zip(found).for_each(|(b, v)| *b = b.max(*v));
        InSingles::Done
    }
}
