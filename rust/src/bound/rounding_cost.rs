//! What rounding can cost a backward bound: in the affine layers, per unit of the coefficients that pass, and the
//! constants of the whole account.
//!
//! # The inequality
//! The coefficients of X_j are one sum over all readers r of step j and all their terms t:
//!     p_j = sum over r, t of A_rt^T p_r,
//! and the computed vector misses it in entry i by at most
//!     gamma(N_j) sum over r, t, k of |A_rt\[k, i\]| |p_r\[k\]|,
//! where N_j counts the products and sums that one product passes: with the most entries that a column of a tile has,
//! summed over all readers and terms, and over the two products A2^T q and (A1 - A2)^T s of each. An error of a
//! coefficient costs as much times the size z of the variable that it multiplies. By Hoelder's inequality the total is
//! at most
//!     sum over r of |p_r|_1 times sum over t of gamma(N_j) sum over i of (max over k of |A_rt\[k, i\]|) z_j\[i\],
//! one number for each reader r, which pays for its own terms whatever else is summed up in the same coefficients. The
//! sizes come from the bounds of the neurons. The same holds of the errors of the weights themselves. In rows that both
//! networks share, d = A1 times the D before it, exactly, so the uncertainty of A1 acts there on that D alone, which is
//! 0 at the inputs.

use super::relax::Relaxation;
use crate::domain::intermediate_bounds::IntermediateBounds;
use crate::network::{Function, Origin, Pair, Step, Tile};
use crate::numeric::round::{TINY, U, gamma};

/// Covers the rounding of the account of errors itself. A sum of non-negative terms that is computed with n roundings
/// to nearest is at least (1 - n U) times the exact sum, and 1.01 (1 - n U) (1 - U) >= 1 as long as n U <= 0.0098,
/// which is so for every n below 2^46: more operations than any network here has. Terms that underflow are covered by
/// the terms in [`TINY`] and `f64::MIN_POSITIVE` beside it.
pub(super) const ACCOUNT: f64 = 1.01;

/// Units of roundoff that one pass through a layer of ReLUs can cost, relative to the absolute sum N that
/// [`super::relu_kernels::relu_sums`] returns, plus 1 for a functional that joins below. With d = s - g, the
/// coefficient x = p + g + d fold is off by U (|p + g| + |d| + |x|), its product with a slope of at most 1 by U |x|
/// more; likewise y = q - g - d fold, and d with its slope by 2 U |d|. Folds and masks are 0 or 1, so products with
/// them are exact. Together that is at most 2 U N; an error of x also counts once with an intercept, which is no larger
/// than the layer's largest bound: 4 U N. Joining adds 1 to a coefficient, which is off by at most U (N + 1). Eight
/// units cover all of it.
pub(super) const RELU_UNITS: f64 = 8.0;

/// Units of roundoff that subtracting the multiplier of a phase constraint can cost, relative to |result| +
/// |multiplier|: the subtraction is off by at most U |result|, so four units are more than enough.
pub(super) const PHASE_UNITS: f64 = 4.0;

/// Roundings of one product in a coefficient, beyond the number N of all products of that coefficient. The sums are
///     A2^T q + (A1 - A2)^T s  over all readers,  and at the inputs  A1^T (p + q) + (A1 - A2)^T (s - q),
/// so that a term passes one product and N - 1 sums. Its weight A1 - A2 is rounded once, and so is its coefficient
/// p + q or s - q. That makes at most N + 2 roundings, which gamma(N + 6) covers.
const AFFINE_EXTRA: usize = 6;

/// Roundings of one term of a bound's constant, beyond two for every row of a layer, every input and every constraint.
/// A term is a product of at most two factors that are rounded once each. At its own layer of m rows it passes at most
/// m + 3 sums, and at most 8 more where sums run in lanes; at the outputs, where guard rows and entropy terms join, at
/// most two for each output. Every other layer adds to the constant twice, which two for each of its rows cover; the
/// inputs take two products and one sum each. What is left is a fixed number below 64.
const CONSTANT_EXTRA: usize = 64;

/// At the outputs, the number of products that may underflow in all coefficients together, at least; see
/// [`output_underflow`].
const OUTPUT_PRODUCTS: f64 = 1e6;

/// The relative error of a coefficient at the outputs, per unit of the absolute sum of its terms: one product and one
/// sum for each guard row, and six more for the violation and the link.
#[inline(always)]
pub(super) fn output_rounding(guard_rows: usize) -> f64 {
    gamma(guard_rows + 6)
}

/// What the coefficients of the outputs can lose by underflow: each of them is a sum of at most R + 6 products for R
/// guard rows, and a product that underflows loses at most [`TINY`].
#[inline(always)]
#[allow(clippy::cast_precision_loss)]
pub(super) fn output_underflow(guard_rows: usize, outputs: usize) -> f64 {
    TINY * OUTPUT_PRODUCTS.max((outputs * (guard_rows + 6)) as f64)
}

/// What one pass through m ReLUs can lose by underflow where the largest bound in the layer is `size`: fewer than eight
/// products for each of the three coefficients of a neuron, of which each loses at most [`TINY`] times what it
/// multiplies, a variable or an intercept.
#[inline(always)]
#[allow(clippy::cast_precision_loss)]
pub(super) fn relu_underflow(m: usize, size: f64) -> f64 {
    TINY * (24 * m) as f64 * (size + 1.0)
}

/// The relative error of the argument lam / |lam| of a logarithm in the entropy term for R guard rows: the sum of R
/// multipliers and the quotient are rounded, at most R + 2 times; twice as much covers the derivative of the logarithm,
/// since ln(1 + t) <= 2 |t| for |t| <= 1/2.
#[inline(always)]
#[allow(clippy::cast_precision_loss)]
pub(super) fn entropy_argument(guard_rows: usize) -> f64 {
    2.0 * U * (guard_rows + 2) as f64
}

/// The relative error of a bound's constant, with respect to the absolute sum of all terms that ever joined it.
pub(super) fn constant_rounding(pair: &Pair, constraints: usize) -> f64 {
    let rows = pair.first.iter().map(|l| l.rows).sum::<usize>();
    gamma(2 * (pair.inputs() + constraints + rows) + CONSTANT_EXTRA)
}

/// For every origin, the inputs first, the most products that one of its coefficients is a sum of, over all readers.
pub(super) fn products_of_coefficients(pair: &Pair) -> Vec<usize> {
    let mut products = vec![0; pair.depth() + 1];
    for term in pair.difference.iter().flat_map(|d| &d.terms) {
        let twice = 1 + usize::from(term.first.is_some() && term.second.is_some());
        products[place(term.origin)] += twice * term.tile.longest_column();
    }
    products
}

/// The place of an origin in such a list.
fn place(origin: Origin) -> usize {
    match origin {
        Origin::Inputs => 0,
        Origin::Step(j) => j + 1,
    }
}

/// The largest absolute number in each column of a tile's matrix, and what the columns belong to.
type Maxima = (Origin, Vec<f64>);

/// The largest absolute entry of each column of a matrix, over some rows. An entry is the sum of the weights of all taps
/// of the row that read this column: no more than the largest of them times their number.
#[allow(clippy::cast_precision_loss)]
fn maxima_of(tile: &Tile, matrix: &[f64], counted: &dyn Fn(usize) -> bool) -> Vec<f64> {
    let repeats = tile.repeats();
    let mut maxima = tile.column_maxima(matrix, counted);
    if repeats > 1 {
        for m in &mut maxima {
            *m *= repeats as f64;
        }
    }
    maxima
}

/// The maxima of one term of the difference.
#[derive(Debug, Clone)]
struct TermMaxima {
    origin: Origin,
    /// The maxima of A1 and of A2, where the networks have the term.
    own: [Option<Vec<f64>>; 2],
    /// The maxima of A1 - A2.
    apart: Vec<f64>,
    /// The relative error of a coefficient that the term is part of.
    rounding: f64,
}

/// What rounding depends on in the weights of one step.
#[derive(Debug, Clone)]
pub(super) struct ColumnMaxima {
    /// The maxima of every term of the difference.
    terms: Vec<TermMaxima>,
    /// The maxima of the errors of A1 and of A2, where they have any.
    errors: [Vec<Maxima>; 2],
    /// The same in the rows that are not shared.
    errors_apart: [Vec<Maxima>; 2],
    /// The maxima of the errors of A1 in the rows that are shared.
    errors_shared: Vec<Maxima>,
    /// The largest absolute entry of b1, b2 and b1 - b2.
    bias: f64,
    /// The largest error of an entry of b1 or b2.
    bias_error: f64,
    /// The largest error of an entry of b1 or b2 in the rows that are not shared.
    bias_error_apart: f64,
    /// What one unit of a coefficient can lose by underflow.
    underflow: f64,
}

impl ColumnMaxima {
    /// The maxima of step s, where `products` are those of [`products_of_coefficients`].
    pub(super) fn of(pair: &Pair, s: usize, products: &[usize]) -> Self {
        let largest = |v: &[f64]| v.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let (a, b, d) = (&pair.first[s], &pair.second[s], &pair.difference[s]);
        let every = |_: usize| true;
        let all = |tile: &Tile| maxima_of(tile, &tile.weight, &every);
        let terms = d.terms.iter().map(|t| {
            let own = [t.first.map(|i| all(&a.terms[i].tile)), t.second.map(|i| all(&b.terms[i].tile))];
            let rounding = gamma(products[place(t.origin)] + AFFINE_EXTRA);
            TermMaxima { origin: t.origin, own, apart: all(&t.tile), rounding }
        });
        let among = |step: &Step, counted: &dyn Fn(usize) -> bool| {
            let uncertain = step.terms.iter().filter_map(|t| Some((t.origin, &t.tile, t.tile.weight_error.as_ref()?)));
            uncertain.map(|(origin, tile, e)| (origin, maxima_of(tile, e, counted))).collect::<Vec<Maxima>>()
        };
        let (apart, shared) = (|i: usize| !d.shared[i], |i: usize| d.shared[i]);
        let bias_error = |step: &Step| step.bias_error.as_deref().map_or(0.0, largest);
        let bias_error_apart = |step: &Step| {
            let errors = step.bias_error.iter().flat_map(|e| e.iter().zip(&d.shared));
            errors.filter(|(_, s)| !**s).fold(0.0, |a: f64, (e, _)| a.max(*e))
        };
        let columns: usize = d.terms.iter().map(|t| t.tile.columns).sum();
        let m = a.rows.max(d.terms.iter().map(|t| t.tile.longest_column()).sum());
        // A coefficient of this step goes into at most 2 m products of each coefficient below, and the constant is a sum
        // of 3 m; per unit of a coefficient, fewer than 8 (m + n + 4) underflow.
        #[allow(clippy::cast_precision_loss)]
        let underflow = TINY * (8 * (m + columns + 4)) as f64;
        Self {
            terms: terms.collect(),
            errors: [among(a, &every), among(b, &every)],
            errors_apart: [among(a, &apart), among(b, &apart)],
            errors_shared: among(a, &shared),
            bias: largest(&a.bias).max(largest(&b.bias)).max(largest(&d.bias)),
            bias_error: bias_error(a).max(bias_error(b)),
            bias_error_apart: bias_error_apart(a).max(bias_error_apart(b)),
            underflow,
        }
    }
}

/// What rounding and uncertain weights of one step can cost a bound, per unit of |p|_1, |q|_1 and |s|_1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RoundingCost {
    /// Per unit of |p|_1.
    pub(super) first: f64,
    /// Per unit of |q|_1.
    pub(super) second: f64,
    /// Per unit of |s|_1.
    pub(super) difference: f64,
    /// Per functional: what underflow of coefficients can cost.
    pub(super) underflow: f64,
}

/// The largest absolute values of what steps read, from the bounds of the neurons, or from the centre and the radius of
/// the box.
#[derive(Clone, Copy)]
pub(super) struct SizesRead<'a> {
    pub(super) pair: &'a Pair,
    pub(super) bounds: &'a IntermediateBounds,
    pub(super) centre: &'a [f64],
    pub(super) radius: &'a [f64],
    /// The relaxations of the steps that are read, at least.
    pub(super) relaxations: &'a [Relaxation],
}

impl SizesRead<'_> {
    /// The largest absolute value of variable i: of X, of Y, of D.
    #[inline(always)]
    fn of(self, origin: Origin, i: usize, which: usize) -> f64 {
        let Origin::Step(j) = origin else {
            return self.centre[i].abs() + self.radius[i];
        };
        let before = &self.bounds.layers[j];
        let own = [&before.x, &before.y, &before.d][which];
        match (self.pair.function(j), which) {
            (Function::Relu, 0 | 1) => own.upper[i].max(0.0),
            (Function::Curves(_), _) => self.relaxations[j].lines.behind[which][i],
            // A difference does not grow behind ReLU.
            _ => own.upper[i].abs().max(own.lower[i].abs()),
        }
    }

    /// The sum over the columns of a matrix.
    fn sum(self, origin: Origin, column: &[f64], which: usize) -> f64 {
        column.iter().enumerate().map(|(i, w)| w * self.of(origin, i, which)).sum::<f64>()
    }
}

impl RoundingCost {
    /// The cost of a step.
    pub(super) fn of(maxima: &ColumnMaxima, sizes: SizesRead<'_>) -> Self {
        let uncertain =
            |list: &[Maxima], which: usize| list.iter().map(|(o, e)| sizes.sum(*o, e, which)).fold(0.0, |a, b| a + b);
        let (e1, e2) = (uncertain(&maxima.errors[0], 0), uncertain(&maxima.errors[1], 1));
        let apart = uncertain(&maxima.errors_apart[0], 0) + uncertain(&maxima.errors_apart[1], 1);
        let inner = maxima.errors_shared.iter().filter(|(o, _)| *o != Origin::Inputs);
        let shared = inner.map(|(o, e)| sizes.sum(*o, e, 2)).fold(0.0, |a, b| a + b);
        let tiny = maxima.underflow;
        let (mut first, mut second, mut difference, mut underflow) = (0.0, 0.0, 0.0, 0.0);
        for TermMaxima { origin, own: [of_first, of_second], apart, rounding } in &maxima.terms {
            let sum = |column: &Option<Vec<f64>>, which| column.as_ref().map_or(0.0, |c| sizes.sum(*origin, c, which));
            first += rounding * sum(of_first, 0);
            second += rounding * sum(of_second, 1);
            difference += rounding * (sum(of_first, 2) + sizes.sum(*origin, apart, 1));
            let ones = vec![1.0; apart.len()];
            let all = |which| sizes.sum(*origin, &ones, which);
            underflow += all(0) + all(1) + all(2) + ones.iter().sum::<f64>();
        }
        // The rounding of p.b1 + q.b2 + s.(b1 - b2) is counted with the constant; here only what is uncertain about the
        // biases themselves, and the rounding of b1 - b2.
        Self {
            first: ACCOUNT * (first + e1 + maxima.bias_error) + tiny,
            second: ACCOUNT * (second + e2 + maxima.bias_error) + tiny,
            difference: ACCOUNT * (difference + apart + shared + 2.0 * maxima.bias_error_apart)
                + 2.0 * U * maxima.bias
                + tiny,
            underflow: tiny * underflow,
        }
    }
}
