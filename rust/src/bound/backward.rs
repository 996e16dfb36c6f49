//! Backward bound propagation through a pair of networks: lower bounds of many functionals at once, under an assumed
//! violation.
//!
//! # Sources
//! A linear functional is pulled back from the outputs to the inputs through linear relaxations of the ReLUs, as in
//! CROWN (Zhang, Weng, Chen, Hsieh, Daniel, "Efficient neural network robustness certification with general activation
//! functions", NeurIPS 2018) and DeepPoly (Singh, Gehr, Püschel, Vechev, "An abstract domain for certifying neural
//! networks", POPL 2019). The slopes of lower relaxations are free and improved by gradients, as in alpha-CROWN (Xu et
//! al., "Fast and complete", ICLR 2021). The assumed sign of a neuron joins with a multiplier, as in beta-CROWN (Wang
//! et al., "Beta-CROWN", NeurIPS 2021). Multipliers of constraints on the outputs, in bounds of inner neurons and of
//! inputs, are those of INVPROP (Kotha, Brix, Kolter, Dvijotham, Zhang, "Provably bounding neural network preimages",
//! NeurIPS 2023). Eqspec's own are: functionals over two networks *and* their difference, with the relaxation of the
//! difference; the link multipliers that move coefficients between the three; the entropy term of an exact confidence
//! ([`super::assumption`]); and the account of rounding.
//!
//! # The bound
//! Let h be a functional: x, y or d of a neuron before ReLU, an input, each perhaps negated, or minus the violation
//! itself. For lam, nu >= 0
//!     h >= h - sum lam_l guard_l - nu violation        wherever guard and violation hold,
//! and the right side is p.f1 + q.f2 + s.(f1 - f2) + constant at the outputs, with h itself joining at its own step.
//! Because X - Y - D = 0, any link multiplier g is allowed:
//!     p.X + q.Y + s.D = (p + g).X + (q - g).Y + (s - g).D.
//! Through ReLU each coefficient takes the upper or the lower relaxation by its sign ([`super::relax`]); through the
//! affine terms of a step, to each step j that it reads,
//!     p_j += A1^T p,  q_j += A2^T q + (A1 - A2)^T s,  s_j += A1^T s,  constant += p.b1 + q.b2 + s.(b1 - b2),
//! where a term that only one network has counts as 0 in the other one. Steps are taken in reverse, so that the
//! coefficients of a step are complete, summed over all its readers, when its turn comes. A step whose function is the
//! identity passes them unchanged; it has no relaxation, no slopes and no links.
//! At the inputs X = Y and D = 0, and the constraints of the region join ([`super::constraints`]). With a for p + q and
//! what the constraints add, the bound is a.centre - |a|.radius + constant.
//!
//! Where a sign v >= 0 (or v <= 0) of a neuron's x, y or d is assumed, beta v is subtracted (added) below its ReLU with
//! a multiplier beta >= 0.
//!
//! Without any assumption a batch of functionals of one step begins at that step ([`super::intermediate`]): its
//! coefficients there are 1 or -1 for one row, and what they give to the steps below are rows of the tiles.
//!
//! # Rounding
//! Each computed vector of coefficients is taken as the functional from there on. What it misses of the exact one is at
//! most gamma sum |W||p| per entry, and costs that times the size of the variable ([`super::rounding_cost`]). So every
//! iterate is rigorous, for one scalar more.
//!
//! Arrays are functional-major: column f, of m entries, belongs to functional f.

use super::assumption::Assumption;
use super::backward_workspace::RelaxedPair;
use super::functional::{Functional, QUANTITIES, sign};
use super::lines::Neuron;
use super::parameters::{Parameters, Sizes};
use super::relax::OneSided;
use super::rounding_cost::{
    ACCOUNT, RoundingCost, SizesRead, constant_rounding, entropy_argument, output_rounding, output_underflow,
};
use crate::domain::intermediate_bounds::{IntermediateBounds, LayerBounds};
use crate::domain::phase::Bounds;
use crate::network::Function;
use crate::numeric::log::ln;
use crate::numeric::real::Real;
use crate::numeric::round::{U, down};
use crate::numeric::vectorised;

pub use super::backward_workspace::Backward;

impl Backward<'_> {
    /// Starting multipliers for these functionals.
    #[must_use]
    pub fn start(&self, functionals: &[Functional], assumption: &Assumption) -> Parameters {
        let (rows, outputs) = (assumption.rows(), assumption.outputs());
        let violation = if rows == 0 { 0.2 } else { 0.05 };
        let phases = self.relaxed.phase_constraints.len();
        let mut parameters = Parameters::new(
            functionals.len(),
            &Sizes { rows, outputs, hidden: &self.hidden(), phases, region: assumption.region.rows() },
            violation,
        );
        for (f, functional) in functionals.iter().enumerate() {
            if *functional == Functional::Target {
                // Entirely by the difference: -v2.f2 = -v2.f1 + v2.D, and the guard row that speaks of -v2.f1 takes
                // that part.
                for o in 0..outputs {
                    parameters.output.value[f * outputs + o] = -assumption.second[o];
                }
                for l in 0..rows {
                    let row = &assumption.guard[l * outputs..(l + 1) * outputs];
                    if row.iter().zip(&assumption.second).all(|(g, v)| *g == -v) {
                        parameters.guard.value[f * rows + l] = 1.0;
                    }
                }
            }
        }
        parameters
    }

    /// Sets slopes that suit the bounds: the start for new batches.
    pub fn start_slopes(&self, parameters: &mut Parameters) {
        for (relaxation, layer) in self.relaxed.relaxations.iter().zip(&mut parameters.layers) {
            let fill = |values: &mut [f64], side: &OneSided| {
                let m = side.slope.len();
                for column in values.chunks_exact_mut(m.max(1)) {
                    column.copy_from_slice(&side.start);
                }
            };
            fill(&mut layer.alpha1.value, &relaxation.first);
            fill(&mut layer.alpha2.value, &relaxation.second);
        }
    }

    /// Sets the slopes at functions other than ReLU to those of the nearest lines, by the signs that coefficients had when these
    /// functionals were last evaluated. Whether any of these differs from the slopes of a start.
    pub(super) fn start_at_nearest(&self, parameters: &mut Parameters) -> bool {
        let mut any = false;
        let steps = self.behind_relu.iter().zip(&self.relaxed.relaxations);
        for ((behind, relaxation), layer) in steps.zip(&mut parameters.layers) {
            let neurons = &relaxation.lines.neurons;
            any |= neurons.iter().any(Neuron::starts_elsewhere);
            let sides = [(&mut layer.alpha1, &behind.first), (&mut layer.alpha2, &behind.second)];
            for (which, (alpha, coefficients)) in sides.into_iter().enumerate() {
                let values = alpha.value.iter_mut().zip(coefficients).zip(neurons.iter().cycle());
                values.for_each(|((value, &coefficient), neuron)| *value = neuron.nearest(which, coefficient));
            }
        }
        any
    }

    /// Takes new bounds of all neurons: relaxations, the box and the costs of rounding follow from them.
    pub fn set_bounds(&mut self, bounds: &IntermediateBounds) {
        self.set_box(bounds);
        for step in 0..self.pair.depth() {
            self.set_step(step, bounds);
        }
    }

    /// Takes the box and the assumed signs alone.
    pub(super) fn set_box(&mut self, bounds: &IntermediateBounds) {
        let relaxed = &mut self.relaxed;
        relaxed.own.clear();
        relaxed.phase_constraints.clone_from(&bounds.phase_constraints);
        relaxed.centre.clear();
        relaxed.radius.clear();
        for (&l, &u) in bounds.lower.iter().zip(&bounds.upper) {
            let c = l + 0.5 * (u - l);
            relaxed.centre.push(c);
            // The differences are rounded: the factor and the smallest normal number make up for it, so that the box is
            // covered.
            relaxed.radius.push(((u - c).max(c - l) * (1.0 + 4.0 * U) + f64::MIN_POSITIVE).max(0.0));
        }
    }

    /// Takes the bounds of one step and of those that it reads: its relaxations and what rounding in its terms can cost.
    pub(super) fn set_step(&mut self, step: usize, bounds: &IntermediateBounds) {
        let RelaxedPair { relaxations, rounding_costs, centre, radius, output_size, .. } = &mut self.relaxed;
        let sizes = SizesRead { pair: &self.pair, bounds, centre, radius, relaxations };
        rounding_costs[step] = RoundingCost::of(&self.maxima[step], sizes);
        let known = &bounds.layers[step];
        let Some(relaxation) = relaxations.get_mut(step) else {
            *output_size = largest(known);
            return;
        };
        match (self.pair.curves(step), self.pair.function(step)) {
            (Some(curves), _) => relaxation.set_curves(curves, known),
            (None, Function::Relu) => relaxation.set(known),
            (None, _) => relaxation.size = largest(known),
        }
    }

    /// Lower bounds of all functionals for the current multipliers, rounding included.
    pub fn evaluate(&mut self, functionals: &[Functional], assumption: &Assumption, parameters: &Parameters) -> &[f64] {
        vectorised::run(Pull::<f64, true> { backward: self, functionals, assumption, parameters });
        vectorised::run(Arrive { backward: self, count: functionals.len(), constraints: assumption.region.rows() });
        &self.totals.bounds
    }

    /// The corner of the box that minimises the relaxation of the first functional, as last evaluated.
    #[must_use]
    pub fn minimiser(&self) -> Vec<f64> {
        let RelaxedPair { centre, radius, .. } = &self.relaxed;
        let offset = |i: usize| {
            if self.inputs[i] >= 0.0 { -radius[i] } else { radius[i] }
        };
        (0..centre.len()).map(|i| centre[i] + offset(i)).collect()
    }

    /// Lower bounds, without any assumption, of functionals of one step, all of the same quantity: the pass begins at
    /// their own step, with fixed slopes and without links.
    pub(super) fn evaluate_plain(&mut self, step: usize, functionals: &[Functional]) -> &[f64] {
        vectorised::run(Plain { backward: self, step, functionals });
        &self.totals.bounds
    }

    #[inline(always)]
    fn evaluate_plain_all(&mut self, step: usize, functionals: &[Functional]) {
        self.totals.reset(functionals.len());
        self.live.begin(self.pair.depth());
        self.begin_at(step, functionals);
        self.descend::<true>(step, functionals, None);
        self.arrive(functionals.len(), 0);
    }

    /// The bounds, from the coefficients of the inputs and what has accumulated.
    #[inline(always)]
    fn arrive(&mut self, count: usize, constraints: usize) {
        let inputs = self.pair.inputs();
        let rounding = constant_rounding(&self.pair, constraints);
        let (RelaxedPair { centre, radius, .. }, totals) = (&self.relaxed, &mut self.totals);
        for f in 0..count {
            let a = &self.inputs[f * inputs..(f + 1) * inputs];
            let (mut value, mut size) = (0.0, 0.0);
            for ((a, c), r) in a.iter().zip(centre).zip(radius) {
                value += a * c - a.abs() * r;
                size += a.abs() * (c.abs() + r);
            }
            let err = ACCOUNT * (totals.err[f] + rounding * (totals.magnitude[f] + size)) + f64::MIN_POSITIVE;
            totals.bounds[f] = down(down(totals.constant[f] + value) - err);
        }
    }
}

impl<T: Real> Backward<'_, T> {
    /// Computes the coefficients that [`Self::ascend`] needs, without the bounds: their sums run in a fixed order, not
    /// in vector registers, with logarithms for an exact confidence, and cost more than all the rest.
    pub fn evaluate_coefficients(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &Parameters<T>,
    ) {
        vectorised::run(Pull::<T, false> { backward: self, functionals, assumption, parameters });
    }

    /// Pulls all functionals back to the inputs.
    #[inline(always)]
    fn pull<const BOUND: bool>(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &Parameters<T>,
    ) {
        let count = functionals.len();
        self.totals.reset(count);
        self.live.begin(self.pair.depth());
        self.outputs(functionals, assumption, parameters);
        if BOUND {
            self.constants_at_outputs(functionals, assumption, parameters);
        }
        self.descend::<BOUND>(self.pair.depth(), functionals, Some(parameters));
        let (inputs, constraints) = (self.pair.inputs(), assumption.region.rows());
        self.units.resize(constraints * count, T::ZERO);
        let (RelaxedPair { centre, radius, .. }, totals) = (&self.relaxed, &mut self.totals);
        for (f, functional) in functionals.iter().enumerate() {
            let a = &mut self.inputs[f * inputs..(f + 1) * inputs];
            if let Functional::Input { input, negative } = *functional {
                a[input] += T::of(sign(negative));
            }
            if constraints > 0 {
                let range = f * constraints..(f + 1) * constraints;
                let (mu, units) = (&parameters.region.value[range.clone()], &mut self.units[range]);
                let joined = assumption.region.join(a, mu, units, (centre, radius));
                totals.constant[f] += joined.constant;
                totals.magnitude[f] += joined.magnitude;
                totals.err[f] += joined.underflow;
            }
        }
    }

    /// Coefficients at the outputs.
    #[inline(always)]
    fn outputs(&mut self, functionals: &[Functional], assumption: &Assumption, parameters: &Parameters<T>) {
        let (outputs, rows, count) = (assumption.outputs(), assumption.rows(), functionals.len());
        let (last, n) = (self.pair.depth() - 1, outputs * count);
        for quantity in QUANTITIES {
            self.live.slot(last, quantity, n);
        }
        let now = self.live.of_mut(last);
        for (f, functional) in functionals.iter().enumerate() {
            let (lam, nu, links) = at_outputs(f, *functional, parameters, (rows, outputs));
            for (o, link) in links.iter().map(|link| link.wide()).enumerate() {
                let weighed = |(l, lam): (usize, &T)| lam.wide() * assumption.guard[l * outputs + o];
                let guarded: f64 = lam.iter().enumerate().map(weighed).sum();
                let p = -guarded - nu * assumption.first[o] + link;
                let q = -nu * assumption.second[o] - link;
                let s = -nu * assumption.difference[o] - link;
                let at = f * outputs + o;
                (now.first[at], now.second[at], now.difference[at]) = (T::of(p), T::of(q), T::of(s));
            }
        }
    }

    /// What guard, violation and entropy give to the constants, and what rounding of the coefficients at the outputs can
    /// cost.
    #[inline(always)]
    fn constants_at_outputs(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &Parameters<T>,
    ) {
        let (outputs, rows) = (assumption.outputs(), assumption.rows());
        let totals = &mut self.totals;
        for (f, functional) in functionals.iter().enumerate() {
            let (lam, nu, links) = at_outputs(f, *functional, parameters, (rows, outputs));
            let (mut constant, mut magnitude) = (-nu * assumption.constant, (nu * assumption.constant).abs());
            for (l, lam) in lam.iter().map(|lam| lam.wide()).enumerate() {
                constant -= lam * assumption.constants[l];
                magnitude += (lam * assumption.constants[l]).abs();
            }
            if !assumption.entropy.is_empty() {
                let lam = &lam[assumption.entropy.clone()];
                let total: f64 = lam.iter().map(|lam| lam.wide()).sum();
                for lam in lam.iter().map(|lam| lam.wide()).filter(|&lam| lam > 0.0 && total > 0.0) {
                    let (value, error) = ln(lam / total);
                    constant -= lam * value;
                    magnitude += (lam * value).abs();
                    totals.err[f] += lam * (error + entropy_argument(rows));
                }
            }
            let mut norm = 0.0;
            for (o, link) in links.iter().map(|link| link.wide()).enumerate() {
                let size = |(l, lam): (usize, &T)| lam.wide() * assumption.guard[l * outputs + o].abs();
                let sum: f64 = lam.iter().enumerate().map(size).sum();
                norm += sum
                    + nu * (assumption.first[o].abs() + assumption.second[o].abs() + assumption.difference[o].abs())
                    + 3.0 * link.abs();
            }
            totals.constant[f] = constant;
            totals.magnitude[f] = magnitude;
            totals.err[f] +=
                (output_rounding(rows) * norm + output_underflow(rows, outputs)) * (self.relaxed.output_size + 1.0);
        }
    }
}

/// The multipliers at the outputs of functional f: of the guard rows, of the violation, and the links.
#[inline(always)]
fn at_outputs<T: Real>(
    f: usize,
    functional: Functional,
    parameters: &Parameters<T>,
    (rows, outputs): (usize, usize),
) -> (&[T], f64, &[T]) {
    let nu = if functional == Functional::Target { 1.0 } else { parameters.violation.value[f].wide() };
    let links = &parameters.output.value[f * outputs..(f + 1) * outputs];
    (&parameters.guard.value[f * rows..(f + 1) * rows], nu, links)
}

/// The largest absolute bound.
fn largest(known: &LayerBounds) -> f64 {
    let of = |b: &Bounds| b.lower.iter().chain(&b.upper).fold(0.0, |a: f64, v| a.max(v.abs()));
    of(&known.x).max(of(&known.y)).max(of(&known.d))
}

struct Pull<'b, 'a, T: Real, const BOUND: bool> {
    backward: &'b mut Backward<'a, T>,
    functionals: &'b [Functional],
    assumption: &'b Assumption,
    parameters: &'b Parameters<T>,
}

impl<T: Real, const BOUND: bool> vectorised::Task for Pull<'_, '_, T, BOUND> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.backward.pull::<BOUND>(self.functionals, self.assumption, self.parameters);
    }
}

struct Arrive<'b, 'a> {
    backward: &'b mut Backward<'a>,
    count: usize,
    constraints: usize,
}

impl vectorised::Task for Arrive<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.backward.arrive(self.count, self.constraints);
    }
}

struct Plain<'b, 'a> {
    backward: &'b mut Backward<'a>,
    step: usize,
    functionals: &'b [Functional],
}

impl vectorised::Task for Plain<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.backward.evaluate_plain_all(self.step, self.functionals);
    }
}
