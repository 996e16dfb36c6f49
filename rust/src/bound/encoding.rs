//! What is left of an assumed violation as a mixed-integer program: both networks exactly, with a binary variable for
//! every unstable neuron. This is the big-M encoding of ReLU (Tjeng, Xiao, Tedrake, "Evaluating robustness of neural
//! networks with mixed integer programming", ICLR 2019).
//!
//! Every input that violates, with the values of all neurons there, solves the program, so a program without solutions
//! means that there is no such input. Whoever concludes that believes the solver; we can check no more than its
//! solutions.
//!
//! The columns are the inputs; for every step x and y before its function, within their bounds; and where a neuron is unstable
//! its value after ReLU with the binary z:  X >= x,  X <= x - lower (1 - z),  0 <= X <= upper z. An active neuron is
//! its own value after ReLU, an inactive one has none. The other rows are the bounds of d = x - y, the chords of D, the
//! region's constraints, the guard and the violation. Errors of weights, and of sums that are computed here, widen
//! rows.

use super::Assumption;
use super::relax::Relaxation;
use crate::domain::intermediate_bounds::IntermediateBounds;
use crate::domain::phase::{Bounds, Phase};
use crate::lp::MixedProgram;
use crate::network::{Curves, Function, Origin, Pair, Step, Term};

/// The column of a neuron's value after ReLU.
#[derive(Debug, Clone, Copy)]
struct PostactivationColumn {
    /// The column; `None` where the value is 0.
    column: Option<usize>,
    /// The largest absolute value.
    size: f64,
}

/// A program, with the columns of the inputs and of f1's outputs.
#[derive(Debug, Clone)]
pub struct Encoding {
    /// The program.
    pub program: MixedProgram,
    inputs: usize,
    first: Vec<usize>,
}

/// The most numbers in the rows of a program that is worth making.
pub const LARGEST: usize = 4_000_000;

/// The share of its absolute size by which a sum computed here may be off: room for nine hundred roundings.
const ROUNDING: f64 = 1e-13;

/// A point must violate an entropy cut by more than this for the cut to be added.
const NOTICEABLE: f64 = 1e-6;

impl Encoding {
    /// The program of both networks and everything that is assumed, in which the violation is maximised.
    #[must_use]
    pub fn new(pair: &Pair, bounds: &IntermediateBounds, assumption: &Assumption) -> Self {
        let mut program = MixedProgram::default();
        let ends = || bounds.lower.iter().zip(&bounds.upper);
        let mut inputs = Vec::new();
        for (&l, &u) in ends() {
            inputs.push(PostactivationColumn { column: Some(program.column(l, u)), size: l.abs().max(u.abs()) });
        }
        constrain(&mut program, assumption, pair.inputs(), &inputs);
        // What every step gives, behind its function, in both networks.
        let mut after: [Vec<Vec<PostactivationColumn>>; 2] = Default::default();
        let mut before: [Vec<usize>; 2] = Default::default();
        for (s, known) in bounds.layers.iter().enumerate() {
            before = [
                affine(&mut program, &pair.first[s], (&inputs, &after[0]), &known.x),
                affine(&mut program, &pair.second[s], (&inputs, &after[1]), &known.y),
            ];
            for (i, (&x, &y)) in before[0].iter().zip(&before[1]).enumerate() {
                program.row([(x, 1.0), (y, -1.0)], known.d.lower[i], known.d.upper[i]);
            }
            if s + 1 < pair.depth() {
                let now = match (pair.curves(s), pair.function(s)) {
                    (Some([first, second]), _) => {
                        [anywhere(&mut program, first, &known.x), anywhere(&mut program, second, &known.y)]
                    }
                    (None, Function::Identity) => [identity(&before[0], &known.x), identity(&before[1], &known.y)],
                    (None, _) => {
                        let now = [relu(&mut program, &before[0], &known.x), relu(&mut program, &before[1], &known.y)];
                        let mut chords = Relaxation::default();
                        chords.set(known);
                        differences(&mut program, &chords, &before, &now);
                        now
                    }
                };
                after.iter_mut().zip(now).for_each(|(after, now)| after.push(now));
            }
        }
        let [first, second] = before;
        violate(&mut program, assumption, bounds, [&first, &second]);
        Self { program, inputs: bounds.lower.len(), first }
    }

    /// Whether there is no such program, because a function is neither ReLU nor the identity, or it would have more than
    /// [`LARGEST`] numbers in its rows, so that no solver would be done with it.
    #[must_use]
    pub fn impossible(pair: &Pair) -> bool {
        let curved = (0..pair.depth()).any(|s| pair.curves(s).is_some());
        curved || pair.first.iter().chain(&pair.second).map(Step::products).sum::<usize>() > LARGEST
    }

    /// The inputs of a solution.
    #[must_use]
    pub fn inputs<'p>(&self, point: &'p [f64]) -> &'p [f64] {
        &point[..self.inputs.min(point.len())]
    }

    /// Adds a cut if a solution violates the exact confidence, although it meets the rows of its polytope. Returns
    /// whether it did.
    ///
    /// For any lam >= 0 the exact confidence implies sum lam_l guard_l + sum lam_l ln(lam_l / |lam|) >= 0; the best lam
    /// is the softmax of the other classes.
    pub fn cut(&mut self, assumption: &Assumption, point: &[f64]) -> bool {
        let outputs = assumption.outputs();
        let rows = assumption.entropy.clone();
        if rows.is_empty() || point.len() != self.program.cost.len() {
            return false;
        }
        let z: Vec<f64> = self.first.iter().map(|&c| point[c]).collect();
        let row = |l: usize| &assumption.guard[l * outputs..(l + 1) * outputs];
        let value = |l: usize| row(l).iter().zip(&z).map(|(g, z)| g * z).sum::<f64>() + assumption.constants[l];
        let values: Vec<f64> = rows.clone().map(value).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> = values.iter().map(|v| (least - v).exp()).collect();
        let total: f64 = weights.iter().sum();
        let soft = least - total.ln();
        if soft.is_nan() || soft >= -NOTICEABLE {
            return false;
        }
        let mut terms = vec![0.0; outputs];
        let (mut constant, mut magnitude) = (0.0, 0.0);
        for (l, weight) in rows.zip(&weights).map(|(l, w)| (l, w / total)).filter(|(_, w)| *w > 0.0) {
            terms.iter_mut().zip(row(l)).for_each(|(t, g)| *t += weight * g);
            let entropy = weight * weight.ln();
            constant += weight * assumption.constants[l] + entropy;
            magnitude += (weight * assumption.constants[l]).abs() + entropy.abs();
            magnitude += weight * row(l).iter().zip(&self.first).map(|(g, &c)| (g * self.size(c)).abs()).sum::<f64>();
        }
        self.program.row(self.first.iter().copied().zip(terms), -constant - ROUNDING * magnitude, f64::INFINITY);
        true
    }

    fn size(&self, column: usize) -> f64 {
        self.program.lower[column].abs().max(self.program.upper[column].abs())
    }
}

/// Adds the constraints A x <= b over the inputs.
fn constrain(program: &mut MixedProgram, assumption: &Assumption, width: usize, inputs: &[PostactivationColumn]) {
    let rows = assumption.region.coefficients.chunks_exact(width.max(1)).zip(&assumption.region.bounds);
    for (row, &bound) in rows {
        let terms = inputs.iter().zip(row).filter_map(|(x, &a)| x.column.map(|c| (c, a)));
        program.row(terms, f64::NEG_INFINITY, bound);
    }
}

/// Adds the sums of a step, sum of A v - x = -b up to the step's errors, over the inputs and what the steps before give.
fn affine(
    program: &mut MixedProgram,
    step: &Step,
    (inputs, steps): (&[PostactivationColumn], &[Vec<PostactivationColumn>]),
    bounds: &Bounds,
) -> Vec<usize> {
    let columns: Vec<usize> = (0..step.rows).map(|i| program.column(bounds.lower[i], bounds.upper[i])).collect();
    let mut terms: Vec<(usize, f64)> = Vec::new();
    for (i, &column) in columns.iter().enumerate() {
        let of_bias = step.bias_error.as_ref().map_or(0.0, |e| e[i]);
        let mut of_weights = 0.0;
        terms.clear();
        for Term { origin, tile } in &step.terms {
            let values = match origin {
                Origin::Inputs => inputs,
                Origin::Step(j) => &steps[*j],
            };
            tile.row(i, |j, at| {
                terms.extend(values[j].column.map(|c| (c, tile.weight[at])));
                of_weights += tile.weight_error.as_ref().map_or(0.0, |e| e[at] * values[j].size);
            });
        }
        let error = (1.0 + ROUNDING) * (of_bias + of_weights) + rounding_of_repeats(step, &mut terms, program);
        let products = terms.iter().copied().chain([(column, -1.0)]);
        program.row(products, -step.bias[i] - error, -step.bias[i] + error);
    }
    columns
}

/// Adds up the numbers of columns that a row has several times, as solvers want it, and returns what this rounds.
fn rounding_of_repeats(step: &Step, terms: &mut Vec<(usize, f64)>, program: &MixedProgram) -> f64 {
    if step.dense().is_some() {
        return 0.0;
    }
    terms.sort_by_key(|t| t.0);
    let mut error = 0.0;
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            let size = program.lower[kept.0].abs().max(program.upper[kept.0].abs());
            error += ROUNDING * (next.1.abs() + kept.1.abs()) * size;
            kept.1 += next.1;
        }
        same
    });
    error
}

/// The values behind a step without a function.
fn identity(before: &[usize], bounds: &Bounds) -> Vec<PostactivationColumn> {
    let ends = bounds.lower.iter().zip(&bounds.upper);
    before
        .iter()
        .zip(ends)
        .map(|(&x, (l, u))| PostactivationColumn { column: Some(x), size: l.abs().max(u.abs()) })
        .collect()
}

/// Adds the values behind other functions, of which only the ranges are known to the program.
fn anywhere(program: &mut MixedProgram, curves: &Curves, bounds: &Bounds) -> Vec<PostactivationColumn> {
    let ends = bounds.lower.iter().zip(&bounds.upper).enumerate();
    ends.map(|(i, (&l, &u))| {
        let (low, high) = curves.of(i).range(l, u);
        PostactivationColumn { column: Some(program.column(low, high)), size: low.abs().max(high.abs()) }
    })
    .collect()
}

/// Adds the values behind a layer of ReLUs.
fn relu(program: &mut MixedProgram, before: &[usize], bounds: &Bounds) -> Vec<PostactivationColumn> {
    let ends = bounds.lower.iter().zip(&bounds.upper);
    let one = |(&x, (&lower, &upper)): (&usize, (&f64, &f64))| match Phase::of(lower, upper) {
        Phase::Inactive => PostactivationColumn { column: None, size: 0.0 },
        Phase::Active => PostactivationColumn { column: Some(x), size: upper },
        Phase::Unstable => {
            let (value, active) = (program.column(0.0, upper), program.binary());
            program.row([(value, 1.0), (x, -1.0)], 0.0, f64::INFINITY);
            program.row([(value, 1.0), (x, -1.0), (active, -lower)], f64::NEG_INFINITY, -lower);
            program.row([(value, 1.0), (active, -upper)], f64::NEG_INFINITY, 0.0);
            PostactivationColumn { column: Some(value), size: upper }
        }
    };
    before.iter().zip(ends).map(one).collect()
}

/// Adds low_slope d + low <= D <= high_slope d + high where both neurons are unstable; slopes are in [0, 1] and
/// intercepts rounded outward.
fn differences(
    program: &mut MixedProgram,
    chords: &Relaxation,
    before: &[Vec<usize>; 2],
    after: &[Vec<PostactivationColumn>; 2],
) {
    for i in 0..before[0].len() {
        let (x, y) = (before[0][i], before[1][i]);
        let (Some(a), Some(b)) = (after[0][i].column, after[1][i].column) else { continue };
        if a != x && b != y {
            let (low, high) = (chords.low_slope[i], chords.high_slope[i]);
            program.row([(a, 1.0), (b, -1.0), (x, -low), (y, low)], chords.low[i], f64::INFINITY);
            program.row([(a, 1.0), (b, -1.0), (x, -high), (y, high)], f64::NEG_INFINITY, chords.high[i]);
        }
    }
}

/// Adds the guard's rows and a violation of at least zero, which is maximised.
fn violate(program: &mut MixedProgram, assumption: &Assumption, bounds: &IntermediateBounds, outputs: [&[usize]; 2]) {
    let count = assumption.outputs();
    for (l, &constant) in assumption.constants.iter().enumerate() {
        let row = &assumption.guard[l * count..(l + 1) * count];
        program.row(outputs[0].iter().copied().zip(row.iter().copied()), -constant, f64::INFINITY);
    }
    let mut slack = 0.0;
    let mut terms = Vec::with_capacity(2 * count);
    for (o, (&x, &y)) in outputs[0].iter().zip(outputs[1]).enumerate() {
        let (p, q, s) = (assumption.first[o], assumption.second[o], assumption.difference[o]);
        let size = bounds
            .layers
            .last()
            .map_or(0.0, |k| [&k.x, &k.y].iter().fold(0.0, |a: f64, b| a.max(b.lower[o].abs()).max(b.upper[o].abs())));
        slack += ROUNDING * (p.abs() + q.abs() + 2.0 * s.abs()) * size;
        terms.extend([(x, p + s), (y, q - s)]);
    }
    for &(column, value) in &terms {
        program.cost[column] = value;
    }
    program.row(terms, -assumption.constant - slack, f64::INFINITY);
}
