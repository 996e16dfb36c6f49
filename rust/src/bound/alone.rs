//! Contraction of one network of a pair by itself, under an assumption that speaks of it alone.
//!
//! A claim about two networks often follows from what each of them does by itself. Where f1 has one label in the whole
//! box and f2 has the same, their labels agree, whatever their neurons have in common. That f1 never has another label,
//! and that f2 never prefers one, are assumptions about one network, and excluding them needs neither the other network
//! nor the difference: a pass costs a quarter, and there are half as many neurons to bound.
//!
//! This is output-constrained bound tightening (INVPROP; Kotha et al., NeurIPS 2023), as in [`super::contract`], in
//! another rhythm. There a round takes long steps for few neurons. Here a round takes few steps for all neurons whose
//! sign is open, step by step of the network in order, so that the relaxations of a step are as tight as the round made
//! them before the next one is bounded. Wide networks need that: what a few neurons are worth is soon used up, and only
//! all of them together begin the descent in which bounds tighten bounds until they contradict. Where rounds stop
//! paying, nothing follows; they do so after three or four.
//!
//! Sound as a contraction is: every bound holds for every input of the box at which the assumption holds, whatever the
//! multipliers. Nothing of them is left when the assumption is not excluded.

use super::assumption::Assumption;
use super::contract::{ContractionBudget, Contractor, WarmStart};
use super::functional::Functional;
use super::parameters::Parameters;
use super::selection::costliest;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::IntermediateBounds;

/// How much work it may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AloneBudget {
    /// The largest number of rounds.
    pub rounds: usize,
    /// Steps of the multipliers for the neurons of a layer in each round.
    pub steps: i32,
    /// The size of a step; large, because there are few.
    pub rate: f64,
    /// Rounds go on while a round multiplies the bound by at most this factor.
    pub gain: f64,
    /// Multiplications of one round. Where all neurons would take more, those that cost the violation most are bounded.
    pub work: u64,
}

/// What became of an assumption.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Alone {
    /// It holds nowhere in the box.
    Excluded,
    /// It may hold; this is an upper bound of what it says is not negative.
    Open(f64),
}

impl Assumption {
    /// Which network the violation speaks of, if it is one alone: x for f1, y for f2.
    #[must_use]
    pub fn speaks_of(&self) -> Option<Quantity> {
        let zero = |v: &[f64]| v.iter().all(|c| *c == 0.0);
        match (zero(&self.first), zero(&self.second), zero(&self.difference)) {
            (false, true, true) => Some(Quantity::First),
            (true, false, true) => Some(Quantity::Second),
            _ => None,
        }
    }

    /// The same without the guard, which speaks of f1: it assumes less.
    #[must_use]
    pub fn without_guard(mut self) -> Self {
        self.guard.clear();
        self.constants.clear();
        self.entropy = 0..0;
        self
    }

    /// That f1 meets the guard: all rows stay the guard, and this one is what a bound is sought of.
    #[must_use]
    pub fn of_guard_row(mut self, row: usize) -> Self {
        let outputs = self.outputs();
        self.first = self.guard[row * outputs..(row + 1) * outputs].to_vec();
        self.second = vec![0.0; outputs];
        self.difference = vec![0.0; outputs];
        self.constant = self.constants[row];
        // A row that is exactly 0 is met.
        self.strict = true;
        self
    }
}

impl Contractor<'_> {
    /// Contracts the bounds of one network under an assumption that speaks of it alone, until it is excluded or until
    /// the budget is spent. `bounds` must hold without an assumption. Nothing is logged, so a recorded proof cannot use
    /// it.
    pub fn exclude_alone(
        &mut self,
        bounds: IntermediateBounds,
        assumption: &Assumption,
        budget: AloneBudget,
        stop: impl Fn() -> bool,
    ) -> Alone {
        let Some(network) = assumption.speaks_of().filter(|_| self.log.is_none()) else {
            return Alone::Open(f64::INFINITY);
        };
        self.backward.wanted = [network == Quantity::First, network == Quantity::Second, false];
        let result = self.rounds_alone(bounds, assumption, network, budget, &stop);
        self.backward.wanted = [true; 3];
        result
    }

    fn rounds_alone(
        &mut self,
        mut bounds: IntermediateBounds,
        assumption: &Assumption,
        network: Quantity,
        budget: AloneBudget,
        stop: &impl Fn() -> bool,
    ) -> Alone {
        let hidden = bounds.layers.len() - 1;
        let mut warm: Vec<WarmStart> = vec![WarmStart::default(); hidden + 1];
        let mut bound = f64::INFINITY;
        for _ in 0..budget.rounds {
            let (before, spent) = (bound, self.flops());
            self.backward.set_bounds(&bounds);
            // The violation alone at first: often it is enough, and it shows what a functional costs.
            match self.bound_alone(&[Functional::Target], assumption, budget, &mut warm[hidden], stop) {
                Alone::Excluded => return Alone::Excluded,
                Alone::Open(found) => bound = bound.min(found),
            }
            let cost = (self.flops() - spent).max(1);
            let most = usize::try_from(budget.work / cost).unwrap_or(usize::MAX).max(1);
            let mut chosen: Vec<Functional> = vec![Functional::Target];
            chosen.extend((0..hidden).flat_map(|layer| self.open_of(&bounds, network, layer)));
            if chosen.len() > most {
                chosen = costliest(&self.backward, &bounds, &chosen, most);
            }
            for (layer, begun) in warm.iter_mut().enumerate().take(hidden) {
                let here = |f: &Functional| match f {
                    Functional::Neuron { layer: l, .. } => *l == layer,
                    Functional::Target | Functional::Input { .. } => true,
                };
                let functionals: Vec<Functional> = chosen.iter().copied().filter(here).collect();
                if functionals.len() == 1 {
                    continue;
                }
                self.backward.set_bounds(&bounds);
                match self.bound_alone(&functionals, assumption, budget, begun, stop) {
                    Alone::Excluded => return Alone::Excluded,
                    Alone::Open(found) => bound = bound.min(found),
                }
                if self.enter(&mut bounds, &functionals).is_err() {
                    return Alone::Excluded;
                }
                if stop() {
                    return Alone::Open(bound);
                }
            }
            if bound > budget.gain * before {
                break;
            }
        }
        Alone::Open(bound)
    }

    /// Both ends of the neurons of a network in a layer whose sign is open, or, behind a function that bends everywhere,
    /// whose value is.
    fn open_of(&self, bounds: &IntermediateBounds, network: Quantity, layer: usize) -> Vec<Functional> {
        if self.pair.function(layer).is_identity() {
            return Vec::new();
        }
        let (known, curved) = (bounds.layers[layer].of(network), self.pair.curves(layer).is_some());
        let open = |&neuron: &usize| {
            if curved { known.lower[neuron] < known.upper[neuron] } else { known.unstable(neuron) }
        };
        let ends =
            |neuron| [false, true].map(|negative| Functional::Neuron { quantity: network, layer, neuron, negative });
        (0..known.lower.len()).filter(open).flat_map(ends).collect::<Vec<_>>()
    }

    /// Improves the bounds of some functionals, the target first, and leaves them in `best`.
    fn bound_alone(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        budget: AloneBudget,
        warm: &mut WarmStart,
        stop: &impl Fn() -> bool,
    ) -> Alone {
        self.singles.follow((&self.backward, self.pair), functionals, false);
        self.best.clear();
        self.best.resize(functionals.len(), f64::NEG_INFINITY);
        let steps = ContractionBudget { steps: budget.steps, rate: budget.rate, link: false, ..Default::default() };
        let mut reached = WarmStart { functionals: functionals.to_vec(), parameters: Parameters::default() };
        let most = self.most_at_once();
        for (number, chunk) in functionals.chunks(most).enumerate() {
            let mut current = self.start(Some(&*warm), chunk, assumption);
            // Neither the difference nor the other network has a part in it.
            current.output.value.fill(0.0);
            current.optimise_links = false;
            current.reset_moments();
            let place = (number * most, chunk);
            if self.improve(place, assumption, (&mut current, None), steps, &mut 0, stop) {
                return Alone::Excluded;
            }
            current.drop_moments();
            if number == 0 {
                reached.parameters = current;
            } else {
                reached.parameters.append(current);
            }
            if stop() {
                break;
            }
        }
        reached.functionals.truncate(reached.parameters.count);
        *warm = reached;
        Alone::Open(-self.best[0])
    }
}
