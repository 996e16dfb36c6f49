//! Bounds of each network by itself, by back-substitution: before the function of a hidden step, the neurons that the
//! zonotope leaves unstable are bounded once more, by pulling each of them back to the inputs through one linear
//! relaxation of every function below (DeepPoly: Singh, Gehr, Püschel, Vechev, "An abstract domain for certifying neural
//! networks", POPL 2019; CROWN: Zhang, Weng, Chen, Hsieh, Daniel, NeurIPS 2018).
//!
//! Neither such a bound nor that of a zonotope contains the other, so they are intersected. On deep networks with few
//! inputs nearly all that a box lacks is bounds of x and y, not of d: most neurons that look unstable are not, and each
//! of them adds a generator to every step that follows.
//!
//! * Before ReLU, only the end of the range that is nearer to 0 is asked for, since it is the one that may decide the
//!   phase. Before other functions both ends are, unless what the function is but for its rounding is straight there.
//! * Above ReLU, a relaxation is the chord of the zonotope's transformer: lam x + h, with h twice its fresh generator.
//!   Below it is a x, with a = 1 if u > -l and 0 otherwise, which has the smaller area, or with a slope for each functional
//!   by where that is expected to be least ([`super::corner_slopes`]).
//! * Below another function it is the highest in the middle of the range of three lines: that of the zonotope's strip,
//!   and those with the slopes that the function has at the ends of the range. For ReLU that is the rule above. Above it
//!   is the lowest one. A line of any slope a below f is a x + min (f - a x) ([`crate::curve::Curve::offset`]). Where lines
//!   of many slopes go through one point one is chosen for each functional, too ([`super::fan_slopes`]).
//! * Besides at the inputs a functional is bounded by the ranges of the values that its own step reads, and the better
//!   bound counts. That is interval arithmetic, which knows that X >= 0 where a zonotope does not. Ranges of the steps
//!   between them add nothing: on ACAS Xu they settle one neuron in a thousand.
//!
//! # Shapes
//! A batch has f functionals: +x or -x of one neuron each, of one network. Coefficients are functional-minor: row j of a
//! step holds the f numbers that the functionals have there side by side, so that a step down is one product
//! (f, m) W (m, n). There are always a multiple of [`LANES`] of them, the last ones perhaps zero, so that whatever is
//! done row by row fills vector registers and keeps its sums there.
//!
//! # Rounding
//! Each computed vector of coefficients is taken as the functional from there on. What it misses is a cost of the bound,
//! counted for each functional. At a step with m rows let a be the coefficients of X = f(x), and t = fl(a slope)
//! those of x = W v + b, where n values v enter. Let s_j be the larger absolute slope of row j, for ReLU at most 1.
//! * A product with a slope is off by U |a_j| s_j, which costs U |a_j| s_j |x_j|. Nothing else is lost there: every slope
//!   in [0, 1] is sound below ReLU, and the chord's height is rounded up for the slope that is stored; of other functions
//!   the intercept is rounded outward.
//! * A sum of W^T t has m products and is off by gamma(m) |W|^T |t|, and the true weights and biases are off by E and
//!   e. That costs at most sum_j |t_j| (sum_i (gamma(m) |W_ji| + E_ji) |v_i| + e_j). The error radius r_j of the
//!   zonotope's row j is at least sum_i (gamma(n + 2) |W_ji| + E_ji) |v_i| + e_j ([`super::affine::error`]), so
//!   max(1, gamma(m) / gamma(n + 2)) |t_j| r_j covers it.
//! * The constant and the final sum have N terms of one product each: gamma(N) times the sum of their absolute values.
//!
//! Since |t_j| <= (1 + U) s_j |a_j|, all of it is |a_j| times one number for each neuron, [`Relaxation::cost`]. Where a
//! tile is no matrix, sums have as many products as one number is read by, and a row of it at least one. A product that
//! underflows loses at most [`crate::numeric::round::TINY`] times what it multiplies. A coefficient that leaves the range of binary64 makes
//! every later bound infinite or NaN, and such a bound is not used.

use super::affine::Extent;
use super::columns::Columns;
use super::corner_slopes::{CornerSlopes, aim, relax_by_corners};
use super::fan_slopes::{FanSlopes, relax_by_fans};
use super::layer_state::LayerState;
use super::phase::Bounds;
use super::relaxation::{LANES, Relaxation, relax};
use super::transformer::Transformer;
use crate::network::{Function, Pair, Step};
use crate::numeric::kernels::{Accumulate, product};
use crate::numeric::round::{gamma, inflate, sub_down};
use crate::numeric::vectorised::vectorised;

/// The box: the ends of the range of every input.
pub(super) type Input<'a> = (&'a [f64], &'a [f64]);

/// A workspace, which allocates nothing once the largest shapes have been seen.
#[derive(Debug, Clone, Default)]
pub(super) struct BackSubstitution {
    /// Of every step that was taken so far, in f1 and in f2.
    relaxations: Vec<[Relaxation; 2]>,
    /// Slopes below ReLU for each functional, of the same steps, where they are wanted.
    slopes: Vec<[CornerSlopes; 2]>,
    /// The same for other functions than ReLU.
    fans: Vec<[FanSlopes; 2]>,
    batch: Batch,
    by_corners: bool,
}

/// Functionals under way.
#[derive(Debug, Clone, Default)]
struct Batch {
    /// The neuron of each functional; of those that only fill lanes any.
    neurons: Vec<usize>,
    /// 1 for a lower bound of the neuron, -1 for an upper one, 0 for a functional that is 0.
    signs: Vec<f64>,
    /// Row by row, the functionals side by side.
    coefficients: Vec<f64>,
    /// A buffer for the coefficients one step below.
    below: Vec<f64>,
    constant: Vec<f64>,
    cost: Vec<f64>,
    underflow: f64,
    /// The best lower bound of each functional.
    best: Vec<f64>,
    /// The corner at which each functional is expected to be least; empty where slopes do not depend on that.
    corners: Vec<f64>,
    /// Buffers: a bound by ranges, and its cost.
    value: Vec<f64>,
    miss: Vec<f64>,
}

/// Which of the two networks.
#[derive(Debug, Clone, Copy)]
enum Side {
    First,
    Second,
}

impl Side {
    const BOTH: [Self; 2] = [Self::First, Self::Second];

    fn steps(self, pair: &Pair) -> &[Step] {
        match self {
            Self::First => &pair.first,
            Self::Second => &pair.second,
        }
    }

    /// The bounds before a step's function, the error radii of the form there, and the transformer.
    fn of(self, layer: &LayerState) -> (&Bounds, &Extent, &Transformer) {
        match self {
            Self::First => (&layer.x, &layer.extent1, &layer.transformer1),
            Self::Second => (&layer.y, &layer.extent2, &layer.transformer2),
        }
    }

    /// The form before a step's function.
    fn form(self, layer: &LayerState) -> &Columns {
        match self {
            Self::First => &layer.z1,
            Self::Second => &layer.z2,
        }
    }

    fn bounds(self, layer: &mut LayerState) -> &mut Bounds {
        match self {
            Self::First => &mut layer.x,
            Self::Second => &mut layer.y,
        }
    }
}

impl BackSubstitution {
    /// A workspace in which slopes below ReLU depend on where a functional is expected to be least
    /// ([`super::corner_slopes`]), or do not.
    pub fn new(by_corners: bool) -> Self {
        Self { by_corners, ..Self::default() }
    }

    /// Takes over what functionals of later steps meet at step s, the last one of `layers`, once its transformers are
    /// set.
    pub fn take_step(&mut self, pair: &Pair, s: usize, layers: &[LayerState], input: Input<'_>) {
        if self.relaxations.len() <= s {
            self.relaxations.resize_with(s + 1, Default::default);
            self.slopes.resize_with(s + 1, Default::default);
            self.fans.resize_with(s + 1, Default::default);
        }
        let entering = if s == 0 { pair.inputs() } else { layers[s - 1].entering() };
        let (before, now) = self.relaxations.split_at_mut(s);
        for side in Side::BOTH {
            let step = &side.steps(pair)[s];
            let (least, most) = match before.last() {
                None => input,
                Some(below) => (&below[side as usize].least[..], &below[side as usize].most[..]),
            };
            let sizes = least.iter().zip(most).map(|(l, u)| l.abs().max(u.abs())).sum::<f64>();
            let tile = &step.terms[0].tile;
            let products = if tile.index.is_some() { 1 } else { entering };
            let share = (gamma(tile.longest_column()) / gamma(products + 2)).max(1.0);
            let (relaxation, of_layer) = (&mut now[0][side as usize], side.of(&layers[s]));
            relaxation.set(step, of_layer, (share, gamma(terms(pair))), (sizes, self.by_corners));
            match step.function {
                Function::Relu if self.by_corners => self.slopes[s][side as usize].set(of_layer.0),
                Function::Curves(_) if self.by_corners => self.fans[s][side as usize].set(of_layer.0, relaxation),
                _ => {}
            }
        }
    }

    /// Tightens the bounds of x and y before the function of step s, which has steps below it. Returns the number of
    /// operations of the products.
    pub fn tighten(
        &mut self,
        pair: &Pair,
        s: usize,
        (before, layer): (&[LayerState], &mut LayerState),
        input: Input<'_>,
    ) -> usize {
        let (batch, terms) = (&mut self.batch, terms(pair));
        let mut operations = 0;
        for side in Side::BOTH {
            let ((bounds, extent, _), steps) = (side.of(layer), side.steps(pair));
            batch.choose(bounds, &steps[s].function);
            if batch.neurons.is_empty() {
                continue;
            }
            batch.begin(&steps[s], &extent.err, gamma(terms));
            if self.by_corners {
                aim(&mut batch.corners, side.form(layer), pair.inputs(), (&batch.neurons, &batch.signs));
            }
            let below = &self.relaxations[s - 1][side as usize];
            batch.bound((&below.least, &below.most), terms);
            for j in (0..s).rev() {
                let relaxation = &self.relaxations[j][side as usize];
                let slopes = (&self.slopes[j][side as usize], &self.fans[j][side as usize]);
                operations += batch.pass(&steps[j], relaxation, (slopes, side.form(&before[j])));
            }
            batch.bound(input, terms);
            batch.enter(side.bounds(layer));
        }
        operations
    }
}

/// At least the number of terms that a bound is a sum of, and of the roundings that one of them passes: a bias of its
/// own, a bias and a height for every neuron below, and the range of every value at the end.
fn terms(pair: &Pair) -> usize {
    pair.first.iter().map(|step| 2 * step.rows).sum::<usize>() + 2 * pair.inputs() + 8
}

impl Batch {
    /// Lists the unstable neurons: before ReLU each with the end of its range that is nearer to 0, before other
    /// functions with both ends.
    fn choose(&mut self, bounds: &Bounds, function: &Function) {
        self.neurons.clear();
        self.signs.clear();
        for (i, (&l, &u)) in bounds.lower.iter().zip(&bounds.upper).enumerate() {
            match function {
                Function::Identity => {}
                Function::Relu => {
                    if l < 0.0 && u > 0.0 {
                        self.neurons.push(i);
                        self.signs.push(if -l < u { 1.0 } else { -1.0 });
                    }
                }
                Function::Curves(curves) => {
                    let (least, most) = curves.of(i).trend(l, u).slopes;
                    if l < u && least != most {
                        self.neurons.extend([i, i]);
                        self.signs.extend([1.0, -1.0]);
                    }
                }
            }
        }
        let lanes = self.neurons.len().next_multiple_of(LANES);
        self.neurons.resize(lanes, 0);
        self.signs.resize(lanes, 0.0);
    }

    /// The functionals over what their step reads: rows of its weights, which are not rounded. What is uncertain about
    /// weights and biases is part of the error radii.
    fn begin(&mut self, step: &Step, err: &[f64], rounding: f64) {
        let Self { neurons, signs, coefficients, constant, cost, best, .. } = self;
        let chosen = || neurons.iter().zip(signs.iter());
        constant.clear();
        cost.clear();
        best.clear();
        let tile = &step.terms[0].tile;
        if tile.index.is_some() {
            coefficients.clear();
            coefficients.resize(tile.columns * neurons.len(), 0.0);
            for (q, (&i, sign)) in chosen().enumerate() {
                tile.row(i, |j, at| coefficients[j * neurons.len() + q] = sign * tile.weight[at]);
            }
        } else {
            coefficients.resize(tile.columns * neurons.len(), 0.0);
            pick(coefficients, &tile.weight, step.rows, neurons, signs);
        }
        constant.extend(chosen().map(|(&i, sign)| sign * step.bias[i]));
        cost.extend(neurons.iter().map(|&i| err[i] + rounding * step.bias[i].abs()));
        best.resize(neurons.len(), f64::NEG_INFINITY);
        self.underflow = f64::MIN_POSITIVE;
    }

    /// Bounds the functionals by the ranges of what they have coefficients for.
    fn bound(&mut self, (least, most): (&[f64], &[f64]), terms: usize) {
        self.value.clone_from(&self.constant);
        self.miss.clone_from(&self.cost);
        within(&mut self.value, &mut self.miss, &self.coefficients, (least, most), gamma(terms));
        for ((best, &value), &miss) in self.best.iter_mut().zip(&self.value).zip(&self.miss) {
            // A cost is a sum of products of at most ten roundings each.
            let found = sub_down(value, inflate(miss + self.underflow, terms + 16));
            if found > *best && found.is_finite() {
                *best = found;
            }
        }
    }

    /// Takes the functionals through the function of a step and its affine part. Returns the number of operations.
    fn pass(
        &mut self,
        step: &Step,
        relaxation: &Relaxation,
        ((slopes, fans), form): ((&CornerSlopes, &FanSlopes), &Columns),
    ) -> usize {
        let (f, m, tile) = (self.neurons.len(), step.rows, &step.terms[0].tile);
        let sums = (&mut self.constant[..], &mut self.cost[..]);
        let mut operations = 2 * f * tile.products();
        let coefficients = &mut self.coefficients;
        match step.function {
            Function::Relu if !self.corners.is_empty() => {
                relax_by_corners(coefficients, sums, (relaxation, slopes, form), &step.bias, &self.corners);
                operations += 2 * self.corners.len() * relaxation.unstable();
            }
            // Where no row has such lines, those of the relaxation are all there are, and cost less.
            Function::Curves(_) if !self.corners.is_empty() && fans.count() > 0 => {
                relax_by_fans(coefficients, sums, (fans, &relaxation.cost, form), &step.bias, &self.corners);
                operations += 2 * self.corners.len() * fans.count();
            }
            _ => relax(coefficients, sums, relaxation, &step.bias),
        }
        self.underflow += relaxation.underflow;
        self.below.resize(f * tile.columns, 0.0);
        if tile.index.is_some() {
            self.below.fill(0.0);
            for (i, from) in self.coefficients.chunks_exact(f).enumerate() {
                tile.row(i, |j, at| add_scaled(&mut self.below[j * f..][..f], from, tile.weight[at]));
            }
        } else {
            product(&mut self.below, &self.coefficients, &tile.weight, (f, m, tile.columns), Accumulate::Replace);
        }
        std::mem::swap(&mut self.below, &mut self.coefficients);
        operations
    }

    /// Intersects with the bounds that were found. Both hold at every input of the box, so they meet; should they not,
    /// nothing is concluded.
    fn enter(&self, bounds: &mut Bounds) {
        for ((&i, &sign), &best) in self.neurons.iter().zip(&self.signs).zip(&self.best) {
            let (lower, upper) = (&mut bounds.lower[i], &mut bounds.upper[i]);
            if sign > 0.0 && best <= *upper {
                *lower = lower.max(best);
            } else if sign < 0.0 && -best >= *lower {
                *upper = upper.min(-best);
            }
        }
    }
}

vectorised! {
    /// One column of `out` for every column of `matrix`, which has m rows: its entries on these rows, times the factors.
    fn pick<'a>(out: &'a mut [f64], matrix: &'a [f64], m: usize, rows: &'a [usize], factors: &'a [f64]) {
        for (out, column) in out.chunks_exact_mut(rows.len()).zip(matrix.chunks_exact(m)) {
            for (o, (&i, factor)) in out.iter_mut().zip(rows.iter().zip(factors)) {
                *o = factor * column[i];
            }
        }
    }
}

vectorised! {
    /// out += factor from.
    fn add_scaled<'a>(out: &'a mut [f64], from: &'a [f64], factor: f64) {
        out.iter_mut().zip(from).for_each(|(o, v)| *o += factor * v);
    }
}

vectorised! {
    /// Adds to `value` the minima of the functionals over the ranges of what their coefficients stand for, and to `miss`
    /// what rounding can change in them.
    fn within<'a>(
        value: &'a mut [f64],
        miss: &'a mut [f64],
        coefficients: &'a [f64],
        ranges: (&'a [f64], &'a [f64]),
        rounding: f64,
    ) {
        let f = value.len();
        for from in (0..f).step_by(LANES) {
            let (mut sum, mut off) = ([0.0; LANES], [0.0; LANES]);
            for (row, (&least, &most)) in coefficients.chunks_exact(f).zip(ranges.0.iter().zip(ranges.1)) {
                let unit = rounding * least.abs().max(most.abs());
                for (q, &a) in row[from..from + LANES].iter().enumerate() {
                    sum[q] += a * (if a < 0.0 { most } else { least });
                    off[q] += a.abs() * unit;
                }
            }
            value[from..].iter_mut().zip(sum).for_each(|(v, sum)| *v += sum);
            miss[from..].iter_mut().zip(off).for_each(|(v, off)| *v += off);
        }
    }
}
