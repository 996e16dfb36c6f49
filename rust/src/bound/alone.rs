//! Contraction of one network of a pair by itself, under an assumption that speaks of it alone.
//!
//! A claim about two networks often follows from what each of them does by itself. Where f1 has one label in the whole
//! box and f2 has the same, their labels agree, whatever their neurons have in common. That f1 never has another label,
//! and that f2 never prefers one, are assumptions about one network, and excluding them needs neither the other network
//! nor the difference: a pass costs a quarter, and there are half as many neurons to bound. So each network is paired
//! with itself ([`Pair::twins`]), and every question is one about f1 of such a pair, whose y is its x and whose d is 0. The
//! steps of multipliers then leave out y and d altogether; bounds are computed as of any pair.
//!
//! This is output-constrained bound tightening (INVPROP; Kotha et al., NeurIPS 2023), as in [`super::contract`], in
//! another rhythm. There a round takes long steps for few neurons. Here a round takes few steps for all neurons whose
//! sign is open, step by step of the network, so that the relaxations of a step are as tight as the round made
//! them before the next one is bounded. Wide networks need that: what a few neurons are worth is soon used up, and only
//! all of them together begin the descent in which bounds tighten bounds until they contradict. Where rounds stop
//! paying, the neurons that cost most are split ([`super::alone_parts`]). How deep rounds go is in [`super::reach`], and
//! with what bounds they begin in [`super::alone_root`].
//!
//! Sound as a contraction is: every bound holds for every input of the box at which the assumption holds, whatever the
//! multipliers. Nothing of them is left when the assumption is not excluded.

use super::assumption::Assumption;
use super::contract::{ContractionBudget, Contractor, WarmStart};
use super::functional::Functional;
use super::parameters::Parameters;
use super::reach::{Reach, slack};
use super::selection::costliest;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::{IntermediateBounds, LayerBounds};
use crate::domain::phase::Bounds;

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
    /// Whether every round goes through all layers, from the first one upwards.
    pub whole: bool,
    /// Planes for each functional from the hulls of the first step's ReLUs over the box ([`super::box_hull`]).
    pub hulls: usize,
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

    /// The same, if it speaks of one network alone, about f1 of this network paired with itself. A guard speaks of f1, so
    /// what is said of f2 loses it.
    #[must_use]
    pub fn of_twins(self) -> Option<Self> {
        if self.speaks_of()? == Quantity::First {
            return Some(self);
        }
        let mut own = self.without_guard();
        std::mem::swap(&mut own.first, &mut own.second);
        Some(own)
    }

    /// The same without the guard, which speaks of f1: it assumes less.
    #[must_use]
    pub fn without_guard(mut self) -> Self {
        self.guard.clear();
        self.constants.clear();
        self.entropy = 0..0;
        self
    }

    /// That f1 meets a row of the guard, which is what a bound is sought of. The other rows are left out, so that less is
    /// assumed: nine more multipliers for every neuron gained nothing and made few steps worse. Only the rows of an exact
    /// confidence, which count together, stay the guard.
    #[must_use]
    pub fn of_guard_row(mut self, row: usize) -> Self {
        let outputs = self.outputs();
        self.first = self.guard[row * outputs..(row + 1) * outputs].to_vec();
        self.second = vec![0.0; outputs];
        self.difference = vec![0.0; outputs];
        self.constant = self.constants[row];
        // A row that is exactly 0 is met.
        self.strict = true;
        if self.entropy.is_empty() { self.without_guard() } else { self }
    }
}

impl IntermediateBounds {
    /// The bounds of one network, x or y of these, paired with itself: nothing differs there.
    #[must_use]
    pub fn of_twins(&self, network: Quantity) -> Self {
        let twins = |layer: &LayerBounds| {
            let own = layer.of(network).clone();
            let zeros = vec![0.0; own.lower.len()];
            LayerBounds { x: own.clone(), y: own, d: Bounds { lower: zeros.clone(), upper: zeros } }
        };
        Self {
            lower: self.lower.clone(),
            upper: self.upper.clone(),
            layers: self.layers.iter().map(twins).collect(),
            phase_constraints: Vec::new(),
        }
    }
}

impl Contractor<'_> {
    /// Contracts the bounds of one network under an assumption that speaks of it alone, until it is excluded or until
    /// the budget is spent. `bounds` must hold without an assumption, but for their assumed signs. Nothing is logged, so a
    /// recorded proof cannot use it.
    pub fn exclude_alone(
        &mut self,
        mut bounds: IntermediateBounds,
        assumption: &Assumption,
        budget: AloneBudget,
        stop: impl Fn() -> bool,
    ) -> Alone {
        self.contract_alone(&mut bounds, &mut WarmStart::default(), assumption, budget, &stop)
    }

    /// One bound of what an assumption about f1 says, without another bound of a neuron.
    pub fn look_alone(
        &mut self,
        bounds: &IntermediateBounds,
        assumption: &Assumption,
        budget: AloneBudget,
        stop: &impl Fn() -> bool,
    ) -> Alone {
        if assumption.speaks_of() != Some(Quantity::First) || self.log.is_some() {
            return Alone::Open(f64::INFINITY);
        }
        self.backward.alone = true;
        self.backward.set_bounds(bounds);
        let found = self.bound_alone(&[Functional::Target], assumption, budget, &mut WarmStart::default(), stop);
        self.backward.alone = false;
        found
    }

    /// [`Self::exclude_alone`], which leaves the bounds that hold under the assumption. `target` has multipliers of the violation to begin
    /// with, if there are any, and those that were reached.
    pub(super) fn contract_alone(
        &mut self,
        bounds: &mut IntermediateBounds,
        target: &mut WarmStart,
        assumption: &Assumption,
        budget: AloneBudget,
        stop: &impl Fn() -> bool,
    ) -> Alone {
        let Some(network) = assumption.speaks_of().filter(|_| self.log.is_none()) else {
            return Alone::Open(f64::INFINITY);
        };
        self.backward.alone = network == Quantity::First;
        let result = self.rounds_alone((bounds, network), target, assumption, budget, stop);
        self.backward.alone = false;
        result
    }

    fn rounds_alone(
        &mut self,
        (bounds, network): (&mut IntermediateBounds, Quantity),
        target: &mut WarmStart,
        assumption: &Assumption,
        budget: AloneBudget,
        stop: &impl Fn() -> bool,
    ) -> Alone {
        let hidden = bounds.layers.len() - 1;
        let mut warm: Vec<WarmStart> = vec![WarmStart::default(); hidden];
        let mut bound = f64::INFINITY;
        let mut reach = if budget.whole { Reach::whole() } else { Reach::default() };
        for _ in 0..budget.rounds {
            let (before, spent) = (bound, self.flops());
            self.backward.set_bounds(bounds);
            // The violation alone at first: often it is enough, and it shows what a functional costs.
            match self.bound_alone(&[Functional::Target], assumption, budget, target, stop) {
                Alone::Excluded => return Alone::Excluded,
                Alone::Open(found) => bound = bound.min(found),
            }
            let cost = (self.flops() - spent).max(1);
            let most = usize::try_from(budget.work / cost).unwrap_or(usize::MAX).max(1);
            let chosen = self.chosen(bounds, network, most);
            for layer in reach.layers(hidden) {
                let here = |f: &Functional| match f {
                    Functional::Neuron { layer: l, .. } => *l == layer,
                    Functional::Target | Functional::Input { .. } => true,
                };
                let functionals: Vec<Functional> = chosen.iter().copied().filter(here).collect();
                if functionals.len() == 1 {
                    continue;
                }
                let curved = self.pair.curves(layer).is_some();
                let slack_before = slack(bounds.layers[layer].of(network), curved);
                self.backward.set_bounds(bounds);
                match self.bound_alone(&functionals, assumption, budget, &mut warm[layer], stop) {
                    Alone::Excluded => return Alone::Excluded,
                    Alone::Open(found) => bound = bound.min(found),
                }
                if self.enter(bounds, &functionals).is_err() {
                    return Alone::Excluded;
                }
                if stop() {
                    return Alone::Open(bound);
                }
                let left = slack(bounds.layers[layer].of(network), curved) / slack_before;
                if reach.ends(layer, left) {
                    break;
                }
            }
            if !reach.next_round(bound > budget.gain * before) {
                break;
            }
        }
        Alone::Open(bound)
    }

    /// What a round bounds: the target and everything that is open in a network, or the costliest of it. The target was
    /// bounded last, within these bounds.
    fn chosen(&self, bounds: &IntermediateBounds, network: Quantity, most: usize) -> Vec<Functional> {
        let layers = 0..bounds.layers.len() - 1;
        let mut chosen: Vec<Functional> = vec![Functional::Target];
        chosen.extend(layers.flat_map(|layer| self.open_of(bounds, network, layer)));
        if chosen.len() > most {
            chosen = costliest(&self.backward, bounds, &chosen, most);
        }
        chosen
    }

    /// Both ends of the neurons of a network in a layer whose sign is open, or, behind a function that bends everywhere,
    /// whose value is.
    pub(super) fn open_of(&self, bounds: &IntermediateBounds, network: Quantity, layer: usize) -> Vec<Functional> {
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
    pub(super) fn bound_alone(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        budget: AloneBudget,
        warm: &mut WarmStart,
        stop: &impl Fn() -> bool,
    ) -> Alone {
        self.singles.follow((&self.backward, self.pair), functionals, assumption, false);
        self.best.clear();
        self.best.resize(functionals.len(), f64::NEG_INFINITY);
        let steps = ContractionBudget {
            steps: budget.steps,
            rate: budget.rate,
            link: false,
            looks: false,
            ..Default::default()
        };
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
            self.raise_by_hulls(place, assumption, &current, budget.hulls);
            if number == 0 && assumption.contradicted_by(self.best[0]) {
                return Alone::Excluded;
            }
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
