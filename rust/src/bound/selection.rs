//! Which neurons a contraction bounds where there are many: those whose relaxations cost the violation most.
//!
//! A functional costs as much as the violation itself, and on wide networks there are thousands of them, most of which
//! change next to nothing. What a relaxation costs the violation at most is known from one pass
//! ([`super::split_candidates`], as in BaBSR), and costs are unequal. So a round bounds the few neurons with the highest
//! cost, and the bounds of the others follow from the propagation behind it. Rounds are many times cheaper then, and
//! each chooses anew; where a round brings little, the next one bounds twice as many.
//!
//! No choice costs soundness: a functional that is left out only keeps the bound that it has.

use super::assumption::Assumption;
use super::contract::{Contractor, WarmStart};
use super::functional::Functional;
use super::split_candidates::SplitCandidates;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::IntermediateBounds;

/// Steps of the multipliers of the violation before its costs are read off, and their size.
const STEPS: i32 = 5;
const RATE: f64 = 0.02;

/// What is chosen, or that there is nothing left to do.
pub(super) enum Selection {
    /// The violation is impossible.
    Proved,
    /// The functionals, and a lower bound of the target, the first of them.
    Chosen(Vec<Functional>, f64),
}

impl Contractor<'_> {
    /// Of all functionals, the target first, the target and at most `most` others: those that cost it most. Bounds have
    /// been set.
    pub(super) fn select(
        &mut self,
        functionals: Vec<Functional>,
        most: usize,
        bounds: &IntermediateBounds,
        earlier: Option<&WarmStart>,
        assumption: &Assumption,
    ) -> Selection {
        let target = [Functional::Target];
        let mut parameters = self.start(earlier, &target, assumption);
        parameters.reset_moments();
        let mut best = f64::NEG_INFINITY;
        for step in 1..=STEPS {
            best = best.max(self.backward.evaluate(&target, assumption, &parameters)[0]);
            if assumption.contradicted_by(best) {
                if self.record_target(assumption, &parameters) {
                    return Selection::Proved;
                }
                best = f64::NEG_INFINITY;
                self.backward.evaluate(&target, assumption, &parameters);
            }
            if step < STEPS {
                self.backward.ascend(&target, assumption, &mut parameters, RATE, step);
            }
        }
        let costs = self.costs(bounds);
        let mut others: Vec<(f64, usize)> =
            functionals.iter().enumerate().skip(1).map(|(place, f)| (costs.of(*f), place)).collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        others.truncate(most);
        // Multipliers are taken over from list to list in one order.
        let mut chosen: Vec<usize> = others.into_iter().map(|(_, place)| place).collect();
        chosen.sort_unstable();
        let chosen = std::iter::once(0).chain(chosen).map(|place| functionals[place]).collect();
        Selection::Chosen(chosen, best)
    }

    /// What the relaxation of every neuron costs the functional that was bounded last.
    fn costs(&self, bounds: &IntermediateBounds) -> Costs {
        let relaxations = &self.backward.relaxed.relaxations;
        let found = SplitCandidates::all(&self.backward.behind_relu, relaxations, bounds);
        let mut costs = Costs { layers: bounds.layers.iter().map(|l| vec![[0.0; 3]; l.x.lower.len()]).collect() };
        for neuron in found.signs.iter().chain(&found.differences) {
            costs.layers[neuron.layer][neuron.index][place(neuron.quantity)] = neuron.cost;
        }
        costs
    }
}

/// Costs by layer, neuron and quantity.
struct Costs {
    layers: Vec<Vec<[f64; 3]>>,
}

impl Costs {
    /// What a functional stands for; inputs come first, since whatever is behind them depends on them.
    fn of(&self, functional: Functional) -> f64 {
        match functional {
            Functional::Neuron { quantity, layer, neuron, .. } => self.layers[layer][neuron][place(quantity)],
            Functional::Target | Functional::Input { .. } => f64::INFINITY,
        }
    }
}

fn place(quantity: Quantity) -> usize {
    match quantity {
        Quantity::First => 0,
        Quantity::Second => 1,
        Quantity::Difference => 2,
    }
}
