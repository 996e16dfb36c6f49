//! What rounding can cost a backward bound: in the affine layers, per unit of the coefficients that pass, and the
//! constants of the whole account.
//!
//! A computed product W^T p misses the exact one by at most gamma |W|^T |p| per entry, and an error of a coefficient
//! costs as much times the size of the variable that it multiplies. By Hoelder's inequality the total is at most |p|_1
//! times one number per layer: the largest |W| of each column, times the size of the column's variable, summed over the
//! columns. The sizes come from the bounds of the neurons. The same holds of the errors of the weights themselves. In
//! rows that both networks share, d = W1 times the d before it, exactly, so the uncertainty of W1 acts there on that d
//! alone, which is 0 at the inputs.

use crate::domain::intermediate_bounds::IntermediateBounds;
use crate::network::{Affine, Pair};
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

/// Roundings of one term of a coefficient behind an affine layer of m rows, beyond 2 m. The longest sums are
///     W2^T q + (W1 - W2)^T s,  and in the first layer  W1^T (p + q) + (W1 - W2)^T (s - q),
/// of at most 2 m terms, so that a term passes one product and 2 m - 1 sums. Its weight W1 - W2 is rounded once, and so
/// is its coefficient p + q or s - q. That makes at most 2 m + 2 roundings, which gamma(2 m + 6) covers.
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

/// Per affine layer: the largest absolute number in each column of its matrices.
#[derive(Debug, Clone)]
pub(super) struct ColumnMaxima {
    /// Of W1.
    first: Vec<f64>,
    /// Of W2.
    second: Vec<f64>,
    /// Of W1 - W2.
    difference: Vec<f64>,
    /// Of the errors of W1 and of W2, where they have any.
    errors: [Option<Vec<f64>>; 2],
    /// Of the errors of W1 and of W2 in the rows that are not shared.
    errors_apart: [Option<Vec<f64>>; 2],
    /// Of the errors of W1 in the rows that are shared.
    errors_shared: Option<Vec<f64>>,
    /// The largest absolute entry of b1, b2 and b1 - b2.
    bias: f64,
    /// The largest error of an entry of b1 or b2.
    bias_error: f64,
    /// The largest error of an entry of b1 or b2 in the rows that are not shared.
    bias_error_apart: f64,
}

fn column_maxima(matrix: &[f64], m: usize) -> Vec<f64> {
    matrix.chunks_exact(m.max(1)).map(|c| c.iter().fold(0.0, |a: f64, w| a.max(w.abs()))).collect()
}

impl ColumnMaxima {
    /// The maxima of layer l.
    pub(super) fn of(pair: &Pair, l: usize) -> Self {
        let largest = |v: &[f64]| v.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let (a, b, d) = (&pair.first[l], &pair.second[l], &pair.difference[l]);
        let error = |layer: &Affine| layer.weight_error.as_ref().map(|e| column_maxima(e, layer.rows));
        let among = |layer: &Affine, shared: bool| {
            let part = |c: &[f64]| {
                c.iter().zip(&d.shared).filter(|(_, s)| **s == shared).fold(0.0, |a: f64, (w, _)| a.max(w.abs()))
            };
            layer.weight_error.as_ref().map(|e| e.chunks_exact(layer.rows.max(1)).map(part).collect::<Vec<_>>())
        };
        let bias_error = |layer: &Affine| layer.bias_error.as_deref().map_or(0.0, largest);
        let bias_error_apart = |layer: &Affine| {
            let errors = layer.bias_error.iter().flat_map(|e| e.iter().zip(&d.shared));
            errors.filter(|(_, s)| !**s).fold(0.0, |a: f64, (e, _)| a.max(*e))
        };
        ColumnMaxima {
            first: column_maxima(&a.weight, a.rows),
            second: column_maxima(&b.weight, a.rows),
            difference: column_maxima(&d.weight, a.rows),
            errors: [error(a), error(b)],
            errors_apart: [among(a, false), among(b, false)],
            errors_shared: among(a, true),
            bias: largest(&a.bias).max(largest(&b.bias)).max(largest(&d.bias)),
            bias_error: bias_error(a).max(bias_error(b)),
            bias_error_apart: bias_error_apart(a).max(bias_error_apart(b)),
        }
    }
}

/// What rounding and uncertain weights of one affine layer can cost a bound, per unit of |p|_1, |q|_1 and |s|_1.
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

impl RoundingCost {
    /// The cost of layer l, from the bounds of the neurons before it or, for the first layer, the box with this centre
    /// and radius.
    pub(super) fn of(
        pair: &Pair,
        l: usize,
        maxima: &ColumnMaxima,
        bounds: &IntermediateBounds,
        (centre, radius): (&[f64], &[f64]),
    ) -> Self {
        // The largest absolute value of variable i that enters: of X, of Y, of D.
        let magnitude = |i: usize, which: usize| {
            if l == 0 {
                return centre[i].abs() + radius[i];
            }
            let before = &bounds.layers[l - 1];
            match which {
                0 => before.x.upper[i].max(0.0),
                1 => before.y.upper[i].max(0.0),
                _ => before.d.upper[i].abs().max(before.d.lower[i].abs()),
            }
        };
        let sum =
            |column: &[f64], which: usize| column.iter().enumerate().map(|(i, w)| w * magnitude(i, which)).sum::<f64>();
        let (m, n) = (pair.first[l].rows, pair.first[l].columns);
        let rounding = gamma(2 * m + AFFINE_EXTRA);
        let uncertain = |e: &Option<Vec<f64>>, which: usize| e.as_ref().map_or(0.0, |v| sum(v, which));
        let (e1, e2) = (uncertain(&maxima.errors[0], 0), uncertain(&maxima.errors[1], 1));
        let apart = uncertain(&maxima.errors_apart[0], 0) + uncertain(&maxima.errors_apart[1], 1);
        let shared = if l == 0 { 0.0 } else { uncertain(&maxima.errors_shared, 2) };
        // A coefficient is a sum of at most 2 m products, and the constant one of 3 m; per unit of a coefficient, fewer
        // than 8 (m + n + 4) underflow.
        #[allow(clippy::cast_precision_loss)]
        let tiny = TINY * (8 * (m + n + 4)) as f64;
        let ones = vec![1.0; n];
        let sizes = sum(&ones, 0) + sum(&ones, 1) + sum(&ones, 2) + ones.iter().sum::<f64>();
        // The rounding of p.b1 + q.b2 + s.(b1 - b2) is counted with the constant; here only what is uncertain about the
        // biases themselves, and the rounding of b1 - b2.
        Self {
            first: ACCOUNT * (rounding * sum(&maxima.first, 0) + e1 + maxima.bias_error) + tiny,
            second: ACCOUNT * (rounding * sum(&maxima.second, 1) + e2 + maxima.bias_error) + tiny,
            difference: ACCOUNT
                * (rounding * (sum(&maxima.first, 2) + sum(&maxima.difference, 1))
                    + apart
                    + shared
                    + 2.0 * maxima.bias_error_apart)
                + 2.0 * U * maxima.bias
                + tiny,
            underflow: tiny * sizes,
        }
    }
}
