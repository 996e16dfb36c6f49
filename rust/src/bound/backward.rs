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
//! and the right side is p.f1 + q.f2 + s.(f1 - f2) + constant at the outputs, with h itself joining at its own layer.
//! Because X - Y - D = 0, any link multiplier g is allowed:
//!     p.X + q.Y + s.D = (p + g).X + (q - g).Y + (s - g).D.
//! Through ReLU each coefficient takes the upper or the lower relaxation by its sign ([`super::relax`]); through an
//! affine layer
//!     p' = W1^T p,  q' = W2^T q + (W1 - W2)^T s,  s' = W1^T s,  constant += p.b1 + q.b2 + s.(b1 - b2).
//! At the inputs X = Y and D = 0, and the constraints of the region join ([`super::constraints`]). With a for p + q and
//! what the constraints add, the bound is a.centre - |a|.radius + constant.
//!
//! Where a sign v >= 0 (or v <= 0) of a neuron's x, y or d is assumed, beta v is subtracted (added) below its ReLU with
//! a multiplier beta >= 0.
//!
//! # Rounding
//! Each computed vector of coefficients is taken as the functional from there on. What it misses of the exact one is at
//! most gamma sum |W||p| per entry, and costs that times the size of the variable ([`super::rounding_cost`]). So every
//! iterate is rigorous, for one scalar more.
//!
//! Arrays are functional-major: column f, of m entries, belongs to functional f.

use super::assumption::Assumption;
use super::functional::{Coefficients, Functional, sign};
use super::parameters::{Parameters, Sizes};
use super::relax::{OneSided, Relaxation};
use super::relu_kernels::{relu_column, relu_sums};
use super::rounding_cost::{
    ACCOUNT, ColumnMaxima, PHASE_UNITS, RELU_UNITS, RoundingCost, constant_rounding, entropy_argument, output_rounding,
    output_underflow, relu_underflow,
};
use super::shared_input_layer::SharedInputLayer;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::{IntermediateBounds, PhaseConstraint};
use crate::domain::phase::Bounds;
use crate::network::Pair;
use crate::numeric::kernels::{Accumulate, transposed_product};
use crate::numeric::log::ln;
use crate::numeric::round::{U, down};
use crate::numeric::vectorised;

/// What follows from the bounds of all neurons: the relaxations, the box, and what rounding can cost.
#[derive(Debug, Default)]
pub(super) struct RelaxedPair {
    /// Per hidden layer.
    pub(super) relaxations: Vec<Relaxation>,
    /// Per affine layer.
    rounding_costs: Vec<RoundingCost>,
    /// The centre of the box.
    pub(super) centre: Vec<f64>,
    /// The radius of the box, rounded up.
    pub(super) radius: Vec<f64>,
    /// The largest absolute output or difference of outputs.
    output_size: f64,
    /// The assumed signs of neurons.
    pub(super) phase_constraints: Vec<PhaseConstraint>,
}

/// What accumulates for each functional of a batch on its way to the inputs.
#[derive(Debug, Default)]
struct Totals {
    constant: Vec<f64>,
    /// The absolute sum of the terms of the constant.
    magnitude: Vec<f64>,
    /// What the rounding of coefficients can cost.
    err: Vec<f64>,
    /// The lower bounds found.
    bounds: Vec<f64>,
}

/// A workspace for batches of functionals on one pair.
pub struct Backward<'a> {
    pub(super) pair: &'a Pair,
    maxima: Vec<ColumnMaxima>,
    pub(super) input_layer: SharedInputLayer,
    pub(super) relaxed: RelaxedPair,
    /// Per hidden layer, the coefficients of X, Y and D behind the ReLUs, after links and folds: their signs choose the
    /// relaxations.
    pub(super) behind_relu: Vec<Coefficients>,
    /// The coefficients of the layer that the pass has reached, or the values there in a pass forwards.
    pub(super) now: Coefficients,
    /// A buffer for those of the next layer.
    pub(super) next: Coefficients,
    /// Coefficients of the inputs, I x F.
    pub(super) inputs: Vec<f64>,
    /// The natural sizes of the multipliers of the region's constraints, Q x F.
    pub(super) units: Vec<f64>,
    totals: Totals,
    /// Gradients of one kind of multipliers at a time.
    pub(super) gradient: Vec<f64>,
    /// Gradients of the multipliers of assumed signs, S x F.
    pub(super) phase_gradient: Vec<f64>,
    /// Additions and multiplications in matrix products so far.
    pub(super) flops: u64,
}

impl<'a> Backward<'a> {
    /// A workspace for one pair.
    #[must_use]
    pub fn new(pair: &'a Pair) -> Self {
        let hidden = pair.depth() - 1;
        Self {
            pair,
            maxima: (0..pair.depth()).map(|l| ColumnMaxima::of(pair, l)).collect(),
            input_layer: SharedInputLayer::of(pair),
            relaxed: RelaxedPair { relaxations: vec![Relaxation::default(); hidden], ..RelaxedPair::default() },
            behind_relu: vec![Coefficients::default(); hidden],
            now: Coefficients::default(),
            next: Coefficients::default(),
            inputs: Vec::new(),
            units: Vec::new(),
            totals: Totals::default(),
            gradient: Vec::new(),
            phase_gradient: Vec::new(),
            flops: 0,
        }
    }

    /// Widths of the hidden layers.
    #[must_use]
    pub fn hidden(&self) -> Vec<usize> {
        self.pair.first[..self.pair.depth() - 1].iter().map(|l| l.rows).collect()
    }

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
                for column in values.chunks_exact_mut(m) {
                    column.iter_mut().zip(&side.slope).for_each(|(a, s)| *a = f64::from(u8::from(*s > 0.5)));
                }
            };
            fill(&mut layer.alpha1.value, &relaxation.first);
            fill(&mut layer.alpha2.value, &relaxation.second);
        }
    }

    /// Takes new bounds of all neurons: relaxations, the box and the costs of rounding follow from them.
    pub fn set_bounds(&mut self, bounds: &IntermediateBounds) {
        let Self { pair, maxima, relaxed, .. } = self;
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
        for (relaxation, layer) in relaxed.relaxations.iter_mut().zip(&bounds.layers) {
            relaxation.set(layer);
        }
        let largest = |b: &Bounds| b.lower.iter().chain(&b.upper).fold(0.0, |a: f64, v| a.max(v.abs()));
        relaxed.output_size = bounds.layers.last().map_or(0.0, |k| largest(&k.x).max(largest(&k.y)).max(largest(&k.d)));
        relaxed.rounding_costs.clear();
        for (l, maxima) in maxima.iter().enumerate() {
            let inputs = (relaxed.centre.as_slice(), relaxed.radius.as_slice());
            relaxed.rounding_costs.push(RoundingCost::of(pair, l, maxima, bounds, inputs));
        }
    }

    /// Lower bounds of all functionals for the current multipliers, rounding included.
    pub fn evaluate(&mut self, functionals: &[Functional], assumption: &Assumption, parameters: &Parameters) -> &[f64] {
        vectorised::run(Evaluate::<true> { backward: self, functionals, assumption, parameters });
        &self.totals.bounds
    }

    /// Computes the coefficients that [`Self::ascend`] needs, without the bounds: their sums run in a fixed order, not
    /// in vector registers, and cost more than all the rest.
    pub fn evaluate_coefficients(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &Parameters,
    ) {
        vectorised::run(Evaluate::<false> { backward: self, functionals, assumption, parameters });
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

    #[inline(always)]
    fn evaluate_all<const BOUND: bool>(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &Parameters,
    ) {
        let count = functionals.len();
        let Totals { constant, magnitude, err, bounds } = &mut self.totals;
        for v in [constant, magnitude, err, bounds] {
            v.clear();
            v.resize(count, 0.0);
        }
        self.outputs(functionals, assumption, parameters);
        for l in (0..self.pair.depth()).rev() {
            self.affine::<BOUND>(l, count);
            if l > 0 {
                self.relu::<BOUND>(l - 1, functionals, parameters);
            }
        }
        let (inputs, constraints) = (self.pair.inputs(), assumption.region.rows());
        self.inputs.resize(inputs * count, 0.0);
        self.units.resize(constraints * count, 0.0);
        let rounding = constant_rounding(self.pair, constraints);
        let (RelaxedPair { centre, radius, .. }, totals) = (&self.relaxed, &mut self.totals);
        for (f, functional) in functionals.iter().enumerate() {
            let range = f * inputs..(f + 1) * inputs;
            let a = &mut self.inputs[range.clone()];
            a.copy_from_slice(&self.now.first[range]);
            if let Functional::Input { input, negative } = *functional {
                a[input] += sign(negative);
            }
            if constraints > 0 {
                let range = f * constraints..(f + 1) * constraints;
                let (mu, units) = (&parameters.region.value[range.clone()], &mut self.units[range]);
                let joined = assumption.region.join(a, mu, units, (centre, radius));
                totals.constant[f] += joined.constant;
                totals.magnitude[f] += joined.magnitude;
                totals.err[f] += joined.underflow;
            }
            if !BOUND {
                continue;
            }
            let (mut value, mut size) = (0.0, 0.0);
            for ((a, c), r) in a.iter().zip(centre).zip(radius) {
                value += a * c - a.abs() * r;
                size += a.abs() * (c.abs() + r);
            }
            let err = ACCOUNT * (totals.err[f] + rounding * (totals.magnitude[f] + size)) + f64::MIN_POSITIVE;
            totals.bounds[f] = down(down(totals.constant[f] + value) - err);
        }
    }

    /// Coefficients at the outputs.
    #[inline(always)]
    fn outputs(&mut self, functionals: &[Functional], assumption: &Assumption, parameters: &Parameters) {
        let (outputs, rows, count) = (assumption.outputs(), assumption.rows(), functionals.len());
        let totals = &mut self.totals;
        self.now.resize(outputs * count);
        for (f, functional) in functionals.iter().enumerate() {
            let lam = &parameters.guard.value[f * rows..(f + 1) * rows];
            let nu = if *functional == Functional::Target { 1.0 } else { parameters.violation.value[f] };
            let links = &parameters.output.value[f * outputs..(f + 1) * outputs];
            let (mut constant, mut magnitude) = (-nu * assumption.constant, (nu * assumption.constant).abs());
            for (l, &lam) in lam.iter().enumerate() {
                constant -= lam * assumption.constants[l];
                magnitude += (lam * assumption.constants[l]).abs();
            }
            if !assumption.entropy.is_empty() {
                let lam = &lam[assumption.entropy.clone()];
                let total: f64 = lam.iter().sum();
                for &lam in lam.iter().filter(|&&lam| lam > 0.0 && total > 0.0) {
                    let (value, error) = ln(lam / total);
                    constant -= lam * value;
                    magnitude += (lam * value).abs();
                    totals.err[f] += lam * (error + entropy_argument(rows));
                }
            }
            let mut norm = 0.0;
            for (o, &link) in links.iter().enumerate() {
                let guarded: f64 = lam.iter().enumerate().map(|(l, lam)| lam * assumption.guard[l * outputs + o]).sum();
                let p = -guarded - nu * assumption.first[o] + link;
                let q = -nu * assumption.second[o] - link;
                let s = -nu * assumption.difference[o] - link;
                let sum: f64 =
                    lam.iter().enumerate().map(|(l, lam)| lam * assumption.guard[l * outputs + o].abs()).sum();
                norm += sum
                    + nu * (assumption.first[o].abs() + assumption.second[o].abs() + assumption.difference[o].abs())
                    + 3.0 * link.abs();
                let at = f * outputs + o;
                (self.now.first[at], self.now.second[at], self.now.difference[at]) = (p, q, s);
            }
            totals.constant[f] = constant;
            totals.magnitude[f] = magnitude;
            totals.err[f] +=
                (output_rounding(rows) * norm + output_underflow(rows, outputs)) * (self.relaxed.output_size + 1.0);
        }
    }

    /// Through the affine layer l, backwards.
    #[inline(always)]
    fn affine<const BOUND: bool>(&mut self, l: usize, count: usize) {
        let (a, b, d) = (&self.pair.first[l], &self.pair.second[l], &self.pair.difference[l]);
        let (m, n) = (a.rows, a.columns);
        let (cost, totals) = (self.relaxed.rounding_costs[l], &mut self.totals);
        for f in 0..if BOUND { count } else { 0 } {
            let range = f * m..(f + 1) * m;
            let (p, q, s) =
                (&self.now.first[range.clone()], &self.now.second[range.clone()], &self.now.difference[range]);
            let mut sums = [0.0f64; 5];
            for i in 0..m {
                let (x, y, z) = (p[i] * a.bias[i], q[i] * b.bias[i], s[i] * d.bias[i]);
                sums[0] += x + y + z;
                sums[1] += x.abs() + y.abs() + z.abs();
                sums[2] += p[i].abs();
                sums[3] += q[i].abs();
                sums[4] += s[i].abs();
            }
            totals.constant[f] += sums[0];
            totals.magnitude[f] += sums[1];
            if l == 0 {
                // p + q travels with W1, s - q with W1 - W2.
                (sums[2], sums[4]) = (sums[2] + sums[3], sums[4] + sums[3]);
            }
            totals.err[f] += sums[2] * cost.first + sums[3] * cost.second + sums[4] * cost.difference + cost.underflow;
        }
        if l == 0 {
            self.flops += self.input_layer.backwards(self.pair, &mut self.now, &mut self.next, count);
        } else {
            self.next.resize(n * count);
            let shape = (m, n, count);
            self.flops += flops(shape, !d.zero);
            transposed_product(&mut self.next.first, &a.weight, &self.now.first, shape, Accumulate::Replace);
            transposed_product(&mut self.next.second, &b.weight, &self.now.second, shape, Accumulate::Replace);
            if !d.zero {
                transposed_product(&mut self.next.second, &d.weight, &self.now.difference, shape, Accumulate::Add);
            }
            transposed_product(&mut self.next.difference, &a.weight, &self.now.difference, shape, Accumulate::Replace);
        }
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// Through the ReLUs of hidden layer h, backwards; functionals of this layer join below them.
    #[inline(always)]
    fn relu<const BOUND: bool>(&mut self, h: usize, functionals: &[Functional], parameters: &Parameters) {
        let (r, layer) = (&self.relaxed.relaxations[h], &parameters.layers[h]);
        let m = r.keep.len();
        let (behind, totals) = (&mut self.behind_relu[h], &mut self.totals);
        behind.resize(m * functionals.len());
        let underflow = relu_underflow(m, r.size);
        for (f, functional) in functionals.iter().enumerate() {
            let range = f * m..(f + 1) * m;
            let (p, q, s) = (
                &mut self.now.first[range.clone()],
                &mut self.now.second[range.clone()],
                &mut self.now.difference[range.clone()],
            );
            let kept = (
                &mut behind.first[range.clone()],
                &mut behind.second[range.clone()],
                &mut behind.difference[range.clone()],
            );
            let (link, alpha1, alpha2) =
                (&layer.link.value[range.clone()], &layer.alpha1.value[range.clone()], &layer.alpha2.value[range]);
            let v = r.view(m);
            let (constant, magnitude, norm) = if BOUND { relu_sums((p, q, s), link, v) } else { (0.0, 0.0, 0.0) };
            relu_column((p, q, s), kept, (link, alpha1, alpha2), v);
            totals.constant[f] += constant;
            totals.magnitude[f] += magnitude;
            totals.err[f] += RELU_UNITS * U * (norm + 1.0) * r.size + underflow;
            let phases = &self.relaxed.phase_constraints;
            for (k, phase) in phases.iter().enumerate().filter(|(_, phase)| phase.layer == h) {
                // Minus beta times what is assumed to be >= 0.
                let beta = parameters.phases.value[f * phases.len() + k];
                let coefficient = match phase.quantity {
                    Quantity::First => &mut p[phase.index],
                    Quantity::Second => &mut q[phase.index],
                    Quantity::Difference => &mut s[phase.index],
                };
                *coefficient -= if phase.positive { beta } else { -beta };
                if BOUND {
                    totals.err[f] += PHASE_UNITS * U * (coefficient.abs() + beta) * r.size;
                }
            }
            match *functional {
                Functional::Neuron { quantity, layer, neuron, negative } if layer == h => match quantity {
                    Quantity::First => p[neuron] += sign(negative),
                    Quantity::Second => q[neuron] += sign(negative),
                    Quantity::Difference => s[neuron] += sign(negative),
                },
                _ => {}
            }
        }
    }
}

/// Additions and multiplications of the products of a layer behind the first: three, and one for the difference of the
/// weights where there is one.
#[inline(always)]
pub(super) fn flops((m, n, count): (usize, usize, usize), weights_differ: bool) -> u64 {
    (2 * m * n * count * (3 + usize::from(weights_differ))) as u64
}

struct Evaluate<'b, 'a, const BOUND: bool> {
    backward: &'b mut Backward<'a>,
    functionals: &'b [Functional],
    assumption: &'b Assumption,
    parameters: &'b Parameters,
}

impl<const BOUND: bool> vectorised::Task for Evaluate<'_, '_, BOUND> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.backward.evaluate_all::<BOUND>(self.functionals, self.assumption, self.parameters);
    }
}
