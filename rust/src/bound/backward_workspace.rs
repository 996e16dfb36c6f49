//! The workspace of backward bounds: what follows from a pair and from the bounds of its neurons, and the coefficients
//! that a pass has under way. What is computed with it is in [`super::backward`]; arrays are functional-major.

use super::functional::Coefficients;
use super::live::{Lifetimes, Live};
use super::own_relaxations::OwnRelaxation;
use super::relax::Relaxation;
use super::rounding_cost::{ColumnMaxima, RoundingCost, products_of_coefficients};
use super::shared_inputs::SharedInputs;
use super::weights::{StepWeights, weights};
use crate::domain::intermediate_bounds::PhaseConstraint;
use crate::network::Pair;
use crate::numeric::real::Real;
use crate::numeric::windows::Panels;
use std::borrow::Cow;

/// What follows from the bounds of all neurons: the relaxations, the box, and what rounding can cost.
#[derive(Debug, Default)]
pub(super) struct RelaxedPair<T = f64> {
    /// Per step but the last; those of identity steps have no neurons.
    pub(super) relaxations: Vec<Relaxation<T>>,
    /// What single functionals of a batch have instead; empty but for parts of a tree of signs. A neuron is there at most once
    /// for a functional.
    pub(super) own: Vec<OwnRelaxation<T>>,
    /// Per step; none where no bound is computed.
    pub(super) rounding_costs: Vec<RoundingCost>,
    /// The centre of the box.
    pub(super) centre: Vec<T>,
    /// The radius of the box, rounded up.
    pub(super) radius: Vec<T>,
    /// The largest absolute output or difference of outputs.
    pub(super) output_size: f64,
    /// The assumed signs of neurons.
    pub(super) phase_constraints: Vec<PhaseConstraint>,
}

/// What accumulates for each functional of a batch on its way to the inputs.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) constant: Vec<f64>,
    /// The absolute sum of the terms of the constant.
    pub(super) magnitude: Vec<f64>,
    /// What the rounding of coefficients can cost.
    pub(super) err: Vec<f64>,
    /// The lower bounds found.
    pub(super) bounds: Vec<f64>,
    /// The first three as they were above the first step's functions, where one network alone is looked at.
    pub(super) above_first: AboveFirst,
}

/// What has accumulated above the first step's functions ([`super::box_hull`]).
#[derive(Debug, Default)]
pub(super) struct AboveFirst {
    pub(super) constant: Vec<f64>,
    pub(super) magnitude: Vec<f64>,
    pub(super) err: Vec<f64>,
}

impl Totals {
    pub(super) fn reset(&mut self, count: usize) {
        for v in [&mut self.constant, &mut self.magnitude, &mut self.err, &mut self.bounds] {
            v.clear();
            v.resize(count, 0.0);
        }
        let above = &mut self.above_first;
        [&mut above.constant, &mut above.magnitude, &mut above.err].into_iter().for_each(Vec::clear);
    }

    /// Keeps what has accumulated so far as what comes from above the first step.
    pub(super) fn keep_above_first(&mut self) {
        self.above_first.constant.clone_from(&self.constant);
        self.above_first.magnitude.clone_from(&self.magnitude);
        self.above_first.err.clone_from(&self.err);
    }
}

/// Bytes of coefficients that a batch may have under way at once.
const COEFFICIENTS: usize = 64 << 20;

/// Bytes of multipliers, with their moments and the coefficients that gradients need, that a batch may have.
const MULTIPLIERS: usize = 512 << 20;

/// A workspace for batches of functionals on one pair.
pub struct Backward<'a, T: Real = f64> {
    /// The pair, or in singles a restriction of it.
    pub(super) pair: Cow<'a, Pair>,
    pub(super) weights: Vec<StepWeights<'a, T>>,
    /// What rounding depends on, per step; none where no bound is computed.
    pub(super) maxima: Vec<ColumnMaxima>,
    pub(super) lifetimes: Lifetimes,
    pub(super) shared_inputs: SharedInputs<T>,
    pub(super) relaxed: RelaxedPair<T>,
    /// Per step but the last, the coefficients of X, Y and D behind the ReLUs, after links and folds: their signs choose
    /// the relaxations. Empty for identity steps.
    pub(super) behind_relu: Vec<Coefficients<T>>,
    /// Per step but the last, the coefficients of D before links, if links are measured in them.
    pub(super) link_units: Vec<Vec<T>>,
    /// Whether f1 alone is looked at: then the coefficients of Y and D are 0 throughout, and nobody reads y and d.
    pub(super) alone: bool,
    /// Per step, whether the last pass met it.
    pub(super) met: Vec<bool>,
    /// The coefficients of steps that a pass has under way, or the values there in a pass forwards.
    pub(super) live: Live<T>,
    /// Coefficients of the inputs, I x F, and whether anything has been written there.
    pub(super) inputs: Vec<T>,
    pub(super) inputs_written: bool,
    /// The corner of the box that minimises each functional, I x F.
    pub(super) corners: Vec<T>,
    /// The natural sizes of the multipliers of the region's constraints, Q x F.
    pub(super) units: Vec<T>,
    pub(super) totals: Totals,
    /// Gradients of one kind of multipliers at a time, and of another.
    pub(super) gradients: [Vec<T>; 2],
    /// Gradients of the multipliers of assumed signs, S x F.
    pub(super) phase_gradient: Vec<T>,
    /// A buffer: the coefficients of one functional behind the ReLUs, and its links.
    pub(super) column: (Coefficients<T>, Vec<T>),
    pub(super) panels: Panels<T>,
    /// Additions and multiplications in matrix products so far.
    pub(super) flops: u64,
}

impl<'a> Backward<'a> {
    /// A workspace for bounds on one pair.
    #[must_use]
    pub fn new(pair: &'a Pair) -> Self {
        let depth = pair.depth();
        let products = products_of_coefficients(pair);
        let mut backward = Self::without_bounds(pair);
        backward.maxima = (0..depth).map(|s| ColumnMaxima::of(pair, s, &products)).collect();
        backward.relaxed.rounding_costs = vec![RoundingCost::default(); depth];
        backward
    }
}

impl<'a, T: Real> Backward<'a, T> {
    /// A workspace for coefficients and steps of multipliers on one pair, which knows nothing of rounding.
    pub(super) fn without_bounds(pair: &'a Pair) -> Self {
        let (depth, hidden) = (pair.depth(), pair.depth() - 1);
        Self {
            pair: Cow::Borrowed(pair),
            weights: weights(pair),
            maxima: Vec::new(),
            lifetimes: Lifetimes::of(pair),
            shared_inputs: SharedInputs::of(pair),
            relaxed: RelaxedPair { relaxations: vec![Relaxation::default(); hidden], ..RelaxedPair::default() },
            behind_relu: vec![Coefficients::default(); hidden],
            link_units: vec![Vec::new(); hidden],
            alone: false,
            met: vec![false; depth],
            live: Live::default(),
            inputs: Vec::new(),
            inputs_written: false,
            corners: Vec::new(),
            units: Vec::new(),
            totals: Totals::default(),
            gradients: [Vec::new(), Vec::new()],
            phase_gradient: Vec::new(),
            column: (Coefficients::default(), Vec::new()),
            panels: Panels::default(),
            flops: 0,
        }
    }

    /// The numbers of neurons of all steps but the last; 0 where the function is the identity.
    #[must_use]
    pub fn hidden(&self) -> Vec<usize> {
        let steps = &self.pair.first[..self.pair.depth() - 1];
        steps.iter().map(|s| if s.function.is_identity() { 0 } else { s.rows }).collect()
    }

    /// The most functionals in a batch without multipliers of their own: their coefficients are capped.
    #[must_use]
    pub fn most_plain(&self) -> usize {
        let numbers = 3 * self.lifetimes.widest + 2 * self.pair.inputs();
        (COEFFICIENTS / (8 * numbers)).max(8)
    }

    /// The most functionals in a batch whose multipliers are improved.
    #[must_use]
    pub fn most(&self) -> usize {
        // Three multipliers a neuron, each a double and a single with two moments in singles, and three coefficients in
        // both.
        let numbers = 12 * self.hidden().iter().sum::<usize>();
        self.most_plain().min(MULTIPLIERS / (8 * numbers.max(1))).max(8)
    }
}
