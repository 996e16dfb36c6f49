//! Which neurons a contraction bounds where there are many: those whose relaxations cost the violation most.
//!
//! A functional costs as much as the violation itself, and on wide networks there are thousands of them, most of which
//! change next to nothing. What a relaxation costs the violation at most is known from one pass
//! ([`super::split_candidates`], as in BaBSR), and costs are unequal. So a round bounds the few neurons with the highest
//! cost, and the bounds of the others follow from the propagation behind it. Rounds are many times cheaper then, and
//! each chooses anew; where a round brings little, the next one bounds twice as many.
//!
//! No choice costs soundness: a functional that is left out only keeps the bound that it has.

use super::backward::Backward;
use super::functional::Functional;
use super::split_candidates::SplitCandidates;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::IntermediateBounds;

/// Of all functionals, the target first, the target and at most `most` others: those that cost the target most. It was
/// the first functional in the last evaluation, within these bounds.
pub(super) fn costliest(
    backward: &Backward<'_>,
    bounds: &IntermediateBounds,
    functionals: &[Functional],
    most: usize,
) -> Vec<Functional> {
    let costs = Costs::of_last(backward, bounds);
    let mut others: Vec<(f64, usize)> =
        functionals.iter().enumerate().skip(1).map(|(place, f)| (costs.of(*f), place)).collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    others.truncate(most);
    // Multipliers are taken over from list to list in one order.
    let mut chosen: Vec<usize> = others.into_iter().map(|(_, place)| place).collect();
    chosen.sort_unstable();
    std::iter::once(0).chain(chosen).map(|place| functionals[place]).collect()
}

/// Costs by layer, neuron and quantity.
struct Costs {
    layers: Vec<Vec<[f64; 3]>>,
}

impl Costs {
    /// What the relaxation of every neuron costs the first functional that was bounded last.
    fn of_last(backward: &Backward<'_>, bounds: &IntermediateBounds) -> Self {
        let found = SplitCandidates::all(&backward.behind_relu, &backward.relaxed.relaxations, bounds);
        let mut layers: Vec<_> = bounds.layers.iter().map(|l| vec![[0.0; 3]; l.x.lower.len()]).collect();
        for neuron in found.signs.iter().chain(&found.differences) {
            layers[neuron.layer][neuron.index][place(neuron.quantity)] = neuron.cost;
        }
        Self { layers }
    }

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
