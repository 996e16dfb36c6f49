//! Bounds of the neurons of all steps without any assumption, and of a violation with them.
//!
//! Step by step, in order: interval arithmetic from what is known of the steps before ([`crate::domain::intervals`]), then
//! backward bounds of what stays open, with fixed slopes, on relaxations that are as tight as they will get. A backward
//! bound begins at its own step, and costs what lies below it. This is how CROWN bounds inner neurons (Zhang et al.,
//! NeurIPS 2018); where intervals settle most signs it is CROWN-IBP (Zhang et al., ICLR 2020); here x, y and d of two
//! networks are bounded and exchanged at every step. Neither these bounds nor those of a zonotope contain the other, so
//! they are intersected.
//!
//! Of a neuron that is open the end of its range that is nearer to 0 is asked for first: where that settles the sign,
//! the other end is not needed. Differences are asked for where both neurons are open, for only there their bounds
//! matter to a relaxation. Batches are capped in memory.

use super::assumption::Assumption;
use super::contract::Contractor;
use super::functional::Functional;
use super::parameters::Parameters;
use crate::domain::intermediate_bounds::{Contradiction, IntermediateBounds};
use crate::domain::phase::reduce;
use crate::domain::{Quantity, intervals};
use crate::network::Origin;

/// The size of the steps of multipliers that improve the bound of a violation.
const RATE: f64 = 0.05;

impl Contractor<'_> {
    /// Tightens the bounds of all neurons and outputs, which must hold without any assumption but their assumed signs.
    /// They may come from a propagation or from [`intervals::enclose`]; what is tightened by the time that `stop` says so
    /// is kept.
    pub fn tighten(&mut self, bounds: &mut IntermediateBounds, stop: impl Fn() -> bool) -> Result<(), Contradiction> {
        let pair = self.pair;
        self.backward.set_box(bounds);
        for step in 0..pair.depth() {
            if stop() {
                break;
            }
            let found = intervals::of_step(pair, step, bounds);
            let known = &mut bounds.layers[step];
            known.x.intersect(&found.x)?;
            known.y.intersect(&found.y)?;
            known.d.intersect(&found.d)?;
            reduce(&mut known.x, &mut known.y, &mut known.d);
            self.backward.set_step(step, bounds);
            let output = step + 1 == pair.depth();
            // What reads the inputs alone is known by intervals as well as it can be.
            let terms = pair.first[step].terms.iter().chain(&pair.second[step].terms);
            let bent = terms.map(|t| t.origin).any(|origin| origin != Origin::Inputs);
            if !bent || (!output && pair.function(step).is_identity()) {
                continue;
            }
            // Of a function that bends everywhere both ends of every range matter.
            let every = output || pair.curves(step).is_some();
            for question in [Question::Nearer, Question::Other, Question::Difference] {
                for quantity in question.quantities() {
                    let functionals = question.functionals(bounds, step, *quantity, every);
                    self.bound_plain(bounds, step, &functionals, &stop)?;
                }
                let known = &mut bounds.layers[step];
                reduce(&mut known.x, &mut known.y, &mut known.d);
            }
            self.backward.set_step(step, bounds);
        }
        Ok(())
    }

    /// Bounds functionals of one step and of one quantity, in batches that fit.
    fn bound_plain(
        &mut self,
        bounds: &mut IntermediateBounds,
        step: usize,
        functionals: &[Functional],
        stop: &impl Fn() -> bool,
    ) -> Result<(), Contradiction> {
        for chunk in functionals.chunks(self.plain_at_once()) {
            if stop() {
                break;
            }
            self.best.clear();
            self.best.extend_from_slice(self.backward.evaluate_plain(step, chunk));
            self.enter(bounds, chunk)?;
        }
        Ok(())
    }

    /// An upper bound of the violation where the guard holds and the neurons are within these bounds, by so many steps
    /// of the multipliers; and the multipliers that gave it. It ends early once there is no violation.
    ///
    /// There are two starts, of which the better one counts: all by the difference, and all by the two networks side by
    /// side. Links are shares of the coefficient of D, which differs from step to step by orders of magnitude.
    pub fn bound_violation(
        &mut self,
        bounds: &IntermediateBounds,
        assumption: &Assumption,
        steps: i32,
        stop: impl Fn() -> bool,
    ) -> (f64, Parameters) {
        let functionals = [Functional::Target; 2];
        self.backward.set_bounds(bounds);
        let mut parameters = self.backward.start(&functionals, assumption);
        self.backward.start_slopes(&mut parameters);
        parameters.relative_links = true;
        for layer in &mut parameters.layers {
            let m = layer.link.value.len() / 2;
            layer.link.value[m..].fill(1.0);
        }
        let mut kept = self.backward.start(&functionals[..1], assumption);
        kept.relative_links = true;
        kept.copy(0, &parameters, 0);
        let mut best = f64::NEG_INFINITY;
        if stop() {
            return (-best, kept);
        }
        for step in 1..=steps.max(1) {
            let found = self.backward.evaluate(&functionals, assumption, &parameters);
            for (f, bound) in found.iter().enumerate() {
                if *bound > best {
                    best = *bound;
                    kept.copy(0, &parameters, f);
                }
            }
            if assumption.contradicted_by(best) || step == steps || stop() {
                break;
            }
            // The first slopes suit no sign; those that follow are a better start. (Moments begin one step late, which makes
            // the first of their steps a little shorter.)
            if step == 1 && self.backward.start_at_nearest(&mut parameters) {
                continue;
            }
            self.backward.ascend(&functionals, assumption, &mut parameters, RATE, step);
        }
        (-best, kept)
    }
}

/// What is asked of the neurons of a step, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    /// The end of x and y that is nearer to 0.
    Nearer,
    /// Their other end, where both signs are still possible.
    Other,
    /// Both ends of d, where both neurons can have both signs.
    Difference,
}

impl Question {
    fn quantities(self) -> &'static [Quantity] {
        match self {
            Self::Nearer | Self::Other => &[Quantity::First, Quantity::Second],
            Self::Difference => &[Quantity::Difference],
        }
    }

    /// The functionals of a quantity of a step: of open neurons, or of `every` one.
    fn functionals(self, bounds: &IntermediateBounds, step: usize, quantity: Quantity, every: bool) -> Vec<Functional> {
        let known = &bounds.layers[step];
        let of = known.of(quantity);
        let mut list = Vec::new();
        for neuron in 0..of.lower.len() {
            let (l, u) = (of.lower[neuron], of.upper[neuron]);
            let open = match quantity {
                Quantity::Difference => known.x.unstable(neuron) && known.y.unstable(neuron),
                _ => of.unstable(neuron),
            };
            if l == u || !(open || every) {
                continue;
            }
            for negative in [false, true] {
                let nearer = (-l < u) != negative;
                let asked = match self {
                    Self::Nearer => nearer,
                    Self::Other => !nearer,
                    Self::Difference => true,
                };
                if asked {
                    list.push(Functional::Neuron { quantity, layer: step, neuron, negative });
                }
            }
        }
        list
    }
}
