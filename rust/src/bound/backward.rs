//! Lower bounds of many functionals at once, under an assumed violation, by pulling them back to the inputs.
//!
//! # The bound
//! For a functional h (a neuron's x, y or d before ReLU, an input, each with a sign, or minus the violation itself) and multipliers lam, nu >= 0,
//!     h >= h - sum lam_l guard_l - nu violation        wherever guard and violation hold,
//! and the right side is p.f1 + q.f2 + s.(f1 - f2) + constant at the outputs, with h itself joining at its own layer. Because X - Y - D = 0, for any link g
//!     p.X + q.Y + s.D = (p + g).X + (q - g).Y + (s - g).D.
//! Through ReLU each coefficient takes its side of the relaxation ([`super::relax`]); through an affine layer
//!     p' = W1^T p,  q' = W2^T q + (W1 - W2)^T s,  s' = W1^T s,  constant += p.b1 + q.b2 + s.(b1 - b2).
//! At the inputs X = Y and D = 0, the constraints of the region join ([`super::constraints`]), and with a for p + q and what they add the bound is
//! a.centre - |a|.radius + constant.
//!
//! Where the sign of a neuron is assumed, beta x >= 0 (or <= 0) is subtracted (added) below its ReLU with a multiplier beta >= 0.
//!
//! # Rounding
//! Each computed coefficient vector is taken as the functional from there on; what it misses of the exact one is at most gamma sum |W||p| per entry, and costs
//! that times the size of the variable. By Hoelder the total is gamma |p|_1 times a number per layer, so every iterate is rigorous for one scalar more.
//!
//! Arrays are functional-major: column f, of m entries, belongs to functional f.

use super::assumption::Assumption;
use super::parameters::{Parameters, Sizes};
use super::relax::{OneSided, Relaxation};
use super::relu_kernels::{relu_column, relu_sums};
use super::rounding_cost::{ColumnMaxima, RoundingCost};
use super::shared_input_layer::SharedInputLayer;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::{IntermediateBounds, PhaseConstraint};
use crate::domain::phase::Bounds;
use crate::network::Pair;
use crate::numeric::kernels::{Accumulate, transposed_product};
use crate::numeric::log::ln;
use crate::numeric::round::{TINY, U, down, gamma};
use crate::numeric::vectorised;

/// A quantity whose lower bound is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Functional {
    /// Minus the violation.
    Target,
    /// Sign * x of a hidden neuron, before ReLU.
    First {
        /// Hidden layer.
        layer: usize,
        /// Neuron.
        neuron: usize,
        /// Whether the sign is minus.
        negative: bool,
    },
    /// Sign * y.
    Second {
        /// Hidden layer.
        layer: usize,
        /// Neuron.
        neuron: usize,
        /// Whether the sign is minus.
        negative: bool,
    },
    /// Sign * d.
    Difference {
        /// Hidden layer.
        layer: usize,
        /// Neuron.
        neuron: usize,
        /// Whether the sign is minus.
        negative: bool,
    },
    /// Sign * input.
    Input {
        /// Which.
        input: usize,
        /// Whether the sign is minus.
        negative: bool,
    },
}

/// Coefficients of all functionals at one layer, each m x F.
#[derive(Debug, Clone, Default)]
pub(super) struct Coefficients {
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    pub(super) difference: Vec<f64>,
}

impl Coefficients {
    pub(super) fn resize(&mut self, n: usize) {
        for v in [&mut self.first, &mut self.second, &mut self.difference] {
            v.resize(n, 0.0);
        }
    }
}

/// A workspace for batches on one pair.
pub struct Backward<'a> {
    pub(super) pair: &'a Pair,
    pub(super) maxima: Vec<ColumnMaxima>,
    pub(super) relaxations: Vec<Relaxation>,
    pub(super) rounding_costs: Vec<RoundingCost>,
    pub(super) input_layer: SharedInputLayer,
    pub(super) centre: Vec<f64>,
    pub(super) radius: Vec<f64>,
    /// Largest absolute output or difference of outputs.
    pub(super) output_size: f64,
    /// Assumed signs of neurons.
    pub(super) signs: Vec<PhaseConstraint>,
    /// Gradient of their multipliers, S x F.
    pub(super) sign_gradient: Vec<f64>,
    /// After the link and the folds, before the relaxation, per hidden layer: the sides taken.
    pub(super) sides: Vec<Coefficients>,
    /// Travelling coefficients, and the next ones.
    pub(super) now: Coefficients,
    pub(super) next: Coefficients,
    /// Coefficients of the inputs, I x F.
    pub(super) inputs: Vec<f64>,
    /// Natural sizes of the multipliers of the region's constraints, Q x F.
    pub(super) units: Vec<f64>,
    pub(super) constant: Vec<f64>,
    pub(super) mass: Vec<f64>,
    pub(super) err: Vec<f64>,
    pub(super) bounds: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    /// Additions and multiplications in matrix products so far.
    pub(super) flops: u64,
}

impl<'a> Backward<'a> {
    /// For one pair.
    #[must_use]
    pub fn new(pair: &'a Pair) -> Self {
        let hidden = pair.depth() - 1;
        Self {
            pair,
            maxima: (0..pair.depth()).map(|l| ColumnMaxima::of(pair, l)).collect(),
            relaxations: vec![Relaxation::default(); hidden],
            rounding_costs: vec![RoundingCost::default(); pair.depth()],
            input_layer: SharedInputLayer::of(pair),
            centre: Vec::new(),
            radius: Vec::new(),
            output_size: 0.0,
            signs: Vec::new(),
            sign_gradient: Vec::new(),
            sides: vec![Coefficients::default(); hidden],
            now: Coefficients::default(),
            next: Coefficients::default(),
            inputs: Vec::new(),
            units: Vec::new(),
            constant: Vec::new(),
            mass: Vec::new(),
            err: Vec::new(),
            bounds: Vec::new(),
            gradient: Vec::new(),
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
        let mut parameters = Parameters::new(
            functionals.len(),
            &Sizes {
                rows,
                outputs,
                hidden: &self.hidden(),
                phases: self.signs.len(),
                region: assumption.region.rows(),
            },
            violation,
        );
        for (f, functional) in functionals.iter().enumerate() {
            if *functional == Functional::Target {
                // Entirely by the difference: -v2.f2 = -v2.f1 + v2.D, and the guard row that speaks of -v2.f1 takes that part.
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
        for (relaxation, layer) in self.relaxations.iter().zip(&mut parameters.layers) {
            let fill = |values: &mut [f64], side: &OneSided| {
                let m = side.slope.len();
                for column in values.chunks_exact_mut(m) {
                    column.iter_mut().zip(&side.slope).for_each(|(a, s)| *a = f64::from(u8::from(*s > 0.5)));
                }
            };
            fill(&mut layer.first.value, &relaxation.first);
            fill(&mut layer.second.value, &relaxation.second);
        }
    }

    /// Takes up bounds: relaxations, the box and the rounding_costs of rounding follow from them.
    pub fn set_bounds(&mut self, bounds: &IntermediateBounds) {
        self.signs.clone_from(&bounds.phase_constraints);
        self.centre.clear();
        self.radius.clear();
        for (&l, &u) in bounds.lower.iter().zip(&bounds.upper) {
            let c = l + 0.5 * (u - l);
            self.centre.push(c);
            // Rounded up, so that the box is covered.
            self.radius.push(((u - c).max(c - l) * (1.0 + 4.0 * U) + f64::MIN_POSITIVE).max(0.0));
        }
        for (relaxation, known) in self.relaxations.iter_mut().zip(&bounds.layers) {
            relaxation.set(known);
        }
        let largest = |b: &Bounds| b.lower.iter().chain(&b.upper).fold(0.0, |a: f64, v| a.max(v.abs()));
        self.output_size = bounds.layers.last().map_or(0.0, |k| largest(&k.x).max(largest(&k.y)).max(largest(&k.d)));
        self.set_rounding_costs(bounds);
    }

    /// Lower bounds of all functionals for the current multipliers, rounding included.
    pub fn evaluate(&mut self, functionals: &[Functional], assumption: &Assumption, parameters: &Parameters) -> &[f64] {
        vectorised::run(Evaluate::<true> { backward: self, functionals, assumption, parameters });
        &self.bounds
    }

    /// The coefficients that [`Self::ascend`] needs, without the bounds: sums in order cannot run in vector registers and cost more than all the rest.
    pub fn evaluate_coefficients(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &Parameters,
    ) {
        vectorised::run(Evaluate::<false> { backward: self, functionals, assumption, parameters });
    }

    /// The corner of the box that minimises the first functional, as last evaluated: where its bound points to.
    #[must_use]
    pub fn minimiser(&self) -> Vec<f64> {
        let side = |i: usize| {
            if self.inputs[i] >= 0.0 { -self.radius[i] } else { self.radius[i] }
        };
        (0..self.centre.len()).map(|i| self.centre[i] + side(i)).collect()
    }

    #[inline(always)]
    fn evaluate_all<const BOUND: bool>(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &Parameters,
    ) {
        let count = functionals.len();
        for v in [&mut self.constant, &mut self.mass, &mut self.err, &mut self.bounds] {
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
        let rounding = gamma(2 * (inputs + constraints + self.pair.first.iter().map(|l| l.rows).sum::<usize>()) + 64);
        for (f, functional) in functionals.iter().enumerate() {
            let range = f * inputs..(f + 1) * inputs;
            let a = &mut self.inputs[range.clone()];
            a.copy_from_slice(&self.now.first[range]);
            if let Functional::Input { input, negative } = *functional {
                a[input] += if negative { -1.0 } else { 1.0 };
            }
            if constraints > 0 {
                let range = f * constraints..(f + 1) * constraints;
                let (mu, units) = (&parameters.region.value[range.clone()], &mut self.units[range]);
                let joined = assumption.region.join(a, mu, units, (&self.centre, &self.radius));
                self.constant[f] += joined.constant;
                self.mass[f] += joined.mass;
                self.err[f] += joined.underflow;
            }
            if !BOUND {
                continue;
            }
            let (mut value, mut size) = (0.0, 0.0);
            for ((a, c), r) in a.iter().zip(&self.centre).zip(&self.radius) {
                value += a * c - a.abs() * r;
                size += a.abs() * (c.abs() + r);
            }
            let err = 1.01 * (self.err[f] + rounding * (self.mass[f] + size)) + f64::MIN_POSITIVE;
            self.bounds[f] = down(down(self.constant[f] + value) - err);
        }
    }

    /// Coefficients at the outputs.
    #[inline(always)]
    fn outputs(&mut self, functionals: &[Functional], assumption: &Assumption, parameters: &Parameters) {
        let (outputs, rows, count) = (assumption.outputs(), assumption.rows(), functionals.len());
        self.now.resize(outputs * count);
        for (f, functional) in functionals.iter().enumerate() {
            let lam = &parameters.guard.value[f * rows..(f + 1) * rows];
            let nu = if *functional == Functional::Target { 1.0 } else { parameters.violation.value[f] };
            let go = &parameters.output.value[f * outputs..(f + 1) * outputs];
            let (mut constant, mut mass, mut norm) = (-nu * assumption.constant, (nu * assumption.constant).abs(), 0.0);
            for (l, &lam) in lam.iter().enumerate() {
                constant -= lam * assumption.constants[l];
                mass += (lam * assumption.constants[l]).abs();
            }
            if !assumption.entropy.is_empty() {
                let lam = &lam[assumption.entropy.clone()];
                let total: f64 = lam.iter().sum();
                for &lam in lam.iter().filter(|&&lam| lam > 0.0 && total > 0.0) {
                    let (value, error) = ln(lam / total);
                    constant -= lam * value;
                    mass += (lam * value).abs();
                    // The total and the quotient are rounded: at most rows + 2 units of the argument.
                    #[allow(clippy::cast_precision_loss)]
                    let argument = 2.0 * U * (rows + 2) as f64;
                    self.err[f] += lam * (error + argument);
                }
            }
            for (o, &link) in go.iter().enumerate() {
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
            self.constant[f] = constant;
            self.mass[f] = mass;
            self.err[f] += (gamma(rows + 6) * norm + TINY * 1e6) * (self.output_size + 1.0);
        }
    }

    /// Through the affine layer l, backwards.
    #[inline(always)]
    fn affine<const BOUND: bool>(&mut self, l: usize, count: usize) {
        let (a, b, d) = (&self.pair.first[l], &self.pair.second[l], &self.pair.difference[l]);
        let (m, n) = (a.rows, a.columns);
        let cost = self.rounding_costs[l];
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
            self.constant[f] += sums[0];
            self.mass[f] += sums[1];
            if l == 0 {
                // p + q travels with W1, s - q with W1 - W2.
                (sums[2], sums[4]) = (sums[2] + sums[3], sums[4] + sums[3]);
            }
            self.err[f] += sums[2] * cost.first + sums[3] * cost.second + sums[4] * cost.difference + cost.underflow;
        }
        if l == 0 {
            return self.first_backwards(count);
        }
        self.next.resize(n * count);
        let shape = (m, n, count);
        self.flops += flops(shape, !d.zero);
        transposed_product(&mut self.next.first, &a.weight, &self.now.first, shape, Accumulate::Replace);
        transposed_product(&mut self.next.second, &b.weight, &self.now.second, shape, Accumulate::Replace);
        if !d.zero {
            transposed_product(&mut self.next.second, &d.weight, &self.now.difference, shape, Accumulate::Add);
        }
        transposed_product(&mut self.next.difference, &a.weight, &self.now.difference, shape, Accumulate::Replace);
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// Through the ReLUs of hidden layer h, backwards; functionals of this layer join below them.
    #[inline(always)]
    fn relu<const BOUND: bool>(&mut self, h: usize, functionals: &[Functional], parameters: &Parameters) {
        let (r, layer) = (&self.relaxations[h], &parameters.layers[h]);
        let m = r.keep.len();
        let side = &mut self.sides[h];
        side.resize(m * functionals.len());
        #[allow(clippy::cast_precision_loss)]
        let relu_underflow = TINY * (24 * m) as f64 * (r.size + 1.0);
        for (f, functional) in functionals.iter().enumerate() {
            let range = f * m..(f + 1) * m;
            let (p, q, s) = (
                &mut self.now.first[range.clone()],
                &mut self.now.second[range.clone()],
                &mut self.now.difference[range.clone()],
            );
            let (sp, sq, ss) =
                (&mut side.first[range.clone()], &mut side.second[range.clone()], &mut side.difference[range.clone()]);
            let (link, alpha, beta) =
                (&layer.link.value[range.clone()], &layer.first.value[range.clone()], &layer.second.value[range]);
            let v = r.view(m);
            let (constant, mass, norm) = if BOUND { relu_sums((p, q, s), link, v) } else { (0.0, 0.0, 0.0) };
            relu_column((p, q, s), (sp, sq, ss), (link, alpha, beta), v);
            self.constant[f] += constant;
            self.mass[f] += mass;
            // One more unit for the functional that may join here; underflow in each of the 3 m coefficients.
            self.err[f] += 8.0 * U * (norm + 1.0) * r.size + relu_underflow;
            let sides = self.signs.len();
            for (k, side) in self.signs.iter().enumerate().filter(|(_, side)| side.layer == h) {
                // Minus beta times what is known to be >= 0.
                let beta = parameters.phases.value[f * sides + k];
                let coefficient = match side.quantity {
                    Quantity::First => &mut p[side.index],
                    Quantity::Second => &mut q[side.index],
                    Quantity::Difference => &mut s[side.index],
                };
                *coefficient -= if side.positive { beta } else { -beta };
                if BOUND {
                    self.err[f] += 4.0 * U * (coefficient.abs() + beta) * r.size;
                }
            }
            let unit = |negative: bool| if negative { -1.0 } else { 1.0 };
            match *functional {
                Functional::First { layer, neuron, negative } if layer == h => p[neuron] += unit(negative),
                Functional::Second { layer, neuron, negative } if layer == h => q[neuron] += unit(negative),
                Functional::Difference { layer, neuron, negative } if layer == h => s[neuron] += unit(negative),
                _ => {}
            }
        }
    }
}

/// Additions and multiplications of the products of a layer behind the first: three, and one for the difference of the weights where there is one.
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
