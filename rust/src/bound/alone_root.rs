//! Bounds of one network by itself without any assumption: what all questions about it begin with ([`super::alone`]).
//!
//! Step by step, with slopes of its own for every end of the range of an open neuron (alpha-CROWN, Xu et al., ICLR 2021),
//! and then with the hulls of the first step's ReLUs over the box of the inputs ([`super::box_hull`]). A step that is
//! bounded so leaves fewer neurons open and thinner relaxations to all steps behind it, and questions would have to find
//! the same once each.
//!
//! Sound because a bound that assumes nothing holds everywhere in the box: what is assumed here is that 0 >= 0.

use super::alone::{Alone, AloneBudget};
use super::assumption::Assumption;
use super::constraints::Constraints;
use super::contract::{Contractor, WarmStart};
use super::functional::Functional;
use super::parameters::Parameters;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::IntermediateBounds;

impl Assumption {
    /// An assumption that holds everywhere.
    #[must_use]
    fn nothing(outputs: usize) -> Self {
        Self {
            guard: Vec::new(),
            constants: Vec::new(),
            entropy: 0..0,
            first: vec![0.0; outputs],
            second: vec![0.0; outputs],
            difference: vec![0.0; outputs],
            constant: 0.0,
            strict: true,
            region: Constraints::default(),
        }
    }
}

impl Contractor<'_> {
    /// Tightens the bounds of a network that is paired with itself, which hold without an assumption. What is tightened by
    /// the time that `stop` says so is kept.
    #[must_use]
    pub fn tighten_alone(
        &mut self,
        mut bounds: IntermediateBounds,
        budget: AloneBudget,
        stop: impl Fn() -> bool,
    ) -> IntermediateBounds {
        if self.log.is_some() || !bounds.phase_constraints.is_empty() {
            return bounds;
        }
        let nothing = Assumption::nothing(self.pair.first.last().map_or(0, |step| step.rows));
        self.backward.alone = true;
        let hidden = bounds.layers.len().saturating_sub(1);
        let most = self.affordable(&bounds, &nothing, budget, &stop) / hidden.max(1);
        // The first step is known by intervals as well as it can be.
        for layer in 1..hidden {
            let mut functionals = vec![Functional::Target];
            functionals.extend(self.open_of(&bounds, Quantity::First, layer).into_iter().take(most));
            if functionals.len() == 1 {
                continue;
            }
            self.backward.set_bounds(&bounds);
            let found = self.bound_alone(&functionals, &nothing, budget, &mut WarmStart::default(), &stop);
            let before = bounds.clone();
            if found == Alone::Excluded || self.enter(&mut bounds, &functionals).is_err() {
                // Something is always possible.
                bounds = before;
                break;
            }
            bounds.layers[layer].y = bounds.layers[layer].x.clone();
            if stop() {
                break;
            }
        }
        self.backward.alone = false;
        bounds
    }

    /// How many functionals the budget of a round is enough for, by what one of them takes.
    fn affordable(
        &mut self,
        bounds: &IntermediateBounds,
        assumption: &Assumption,
        budget: AloneBudget,
        stop: &impl Fn() -> bool,
    ) -> usize {
        let before = self.flops();
        self.backward.set_bounds(bounds);
        self.bound_alone(&[Functional::Target], assumption, budget, &mut WarmStart::default(), stop);
        usize::try_from(budget.work / (self.flops() - before).max(1)).unwrap_or(usize::MAX)
    }

    /// Raises the bounds of a batch, whose functionals begin at place `from` among all, by the hulls of the first ReLUs.
    pub(super) fn raise_by_hulls(
        &mut self,
        (from, functionals): (usize, &[Functional]),
        assumption: &Assumption,
        current: &Parameters,
        planes: usize,
    ) {
        if planes > 0 && self.backward.alone && assumption.region.rows() == 0 {
            self.backward.evaluate(functionals, assumption, current);
            let best = &mut self.best[from..from + functionals.len()];
            self.backward.raise_by_hulls(functionals, current, planes, best);
        }
    }
}
