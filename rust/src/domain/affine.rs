//! An affine layer on a differential zonotope ([VD], Prop. "affine" and Lemma "soundness of Affine_Delta"), and the
//! rounding in it.
//!
//! x' = W1 x + b1 and y' = W2 y + b2 act column by column; the difference is
//!     d' = W1 x - W2 y + b1 - b2 = W1 d + (W1 - W2) y + (b1 - b2),
//! so its columns over `z2`'s generators get W1 d_common + (W1 - W2) z2 and the others W1 d_rest.
//!
//! Only a part of each matrix matters on a box: the columns of neurons that may be nonzero. It is gathered once
//! ([`ActiveColumns`]) and serves the products, the fresh generators and the errors.
//!
//! Rounding. With M = |centre| + sum |generators| of the input form, a product over k inputs is off by at most gamma(k)
//! |W| M, summed over all columns; W1 - W2 and b1 - b2 are rounded once more; errors of the input are stretched by |W|.
//! If W itself is uncertain, |W error| (M + err) is added.
//!
//! Of the difference, rows that are shared (the exact rows of both layers are one and the same, see
//! [`crate::network::pair`]) have W1 - W2 = 0 and b1 - b2 = 0, so that d' = W1 d: there the uncertainty of W1 acts on d
//! alone, and where d = 0 exactly, d' = 0 exactly. On other rows it acts on x and on y.

use crate::network::{Affine, pair::Difference};
use crate::numeric::kernels::{add_absolute_product, add_product, gather};
use crate::numeric::round::{TINY, U, add_up, gamma, inflate};
use crate::numeric::vectorised::vectorised;

/// The k columns of a layer's matrices whose inputs may be nonzero on a box.
#[derive(Debug, Clone, Copy)]
pub struct ActiveColumns<'a> {
    /// The number of columns of the whole matrix.
    pub of: usize,
    /// The columns that enter.
    pub columns: &'a [usize],
}

impl ActiveColumns<'_> {
    /// k, the number of columns that enter.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// These columns of a matrix with m rows: gathered into `buffer`, unless they are all of its columns.
    #[must_use]
    pub fn of<'b>(&self, matrix: &'b [f64], m: usize, buffer: &'b mut Vec<f64>) -> &'b [f64] {
        if self.width() == self.of {
            return matrix;
        }
        gather(buffer, matrix, m, None, self.columns);
        buffer
    }
}

/// How large a form is on each of its rows: what its rounding in later products is measured by, and its own error.
#[derive(Debug, Clone, Default)]
pub struct Extent {
    /// An upper bound of |centre| + sum |generators|, fresh generators included. Of a form before ReLU, without the
    /// centre.
    pub magnitude: Vec<f64>,
    /// The error radius: how far the exact value may lie from the form.
    pub err: Vec<f64>,
}

impl Extent {
    /// Sets the extents of m rows to zero.
    pub fn clear(&mut self, m: usize) {
        self.magnitude.clear();
        self.magnitude.resize(m, 0.0);
        self.err.clear();
        self.err.resize(m, 0.0);
    }
}

/// A form that enters a product: its extents, and which of its rows enter, which are the columns of the
/// [`ActiveColumns`].
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// The extents of all rows.
    pub extent: &'a Extent,
    /// The row of each column that enters.
    pub rows: &'a [usize],
}

impl Operand<'_> {
    /// What |W| multiplies in the error of a product: the error radius of the form, and the rounding of products with
    /// it. `TINY` stands for what underflows here, which a large weight could make noticeable. A form that is exactly
    /// zero costs nothing.
    fn scaled_error(&self, rounding: f64, out: &mut Vec<f64>) {
        let Extent { magnitude, err } = self.extent;
        out.clear();
        out.extend(self.rows.iter().map(|&i| {
            let exact = err[i] == 0.0 && magnitude[i] == 0.0;
            if exact { 0.0 } else { err[i] + rounding * magnitude[i] + TINY }
        }));
    }

    /// The largest absolute values that the rows can take, which multiply the errors of W.
    fn sizes(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.rows.iter().map(|&i| self.extent.magnitude[i] + self.extent.err[i]));
    }

    fn is_zero(&self) -> bool {
        self.rows.iter().all(|&i| self.extent.err[i] == 0.0 && self.extent.magnitude[i] == 0.0)
    }
}

/// Buffers that are reused from layer to layer.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    values: Vec<f64>,
    part: Vec<f64>,
    apart: Vec<f64>,
    together: Vec<f64>,
}

impl Scratch {
    /// Adds |W error| (magnitude + err) to `out`.
    fn add_uncertain(
        &mut self,
        out: &mut [f64],
        part: ActiveColumns<'_>,
        weight_error: Option<&[f64]>,
        form: Operand<'_>,
    ) {
        if let Some(w) = weight_error {
            form.sizes(&mut self.values);
            add_product(out, part.of(w, out.len(), &mut self.part), &self.values);
        }
    }
}

/// Writes the error of W z + b to `out` (m). The form z has this number of `columns`; `weight` has the active columns
/// of W.
pub fn error(
    out: &mut Vec<f64>,
    layer: &Affine,
    (part, weight): (ActiveColumns<'_>, &[f64]),
    form: Operand<'_>,
    columns: usize,
    scratch: &mut Scratch,
) {
    let terms = part.width();
    out.clear();
    out.resize(layer.rows, 0.0);
    form.scaled_error(gamma(terms + 2), &mut scratch.values);
    add_absolute_product(out, weight, &scratch.values);
    scratch.add_uncertain(out, part, layer.weight_error.as_deref(), form);
    let errors = [layer.bias_error.as_deref(), None];
    add_bias_error(out, terms, columns, &layer.bias, errors);
    for (i, o) in out.iter_mut().enumerate().filter(|&(i, _)| layer.zero_rows[i]) {
        *o = layer.bias_error.as_ref().map_or(0.0, |e| e[i]);
    }
}

/// The two layers of a pair, the difference of their weights, and the active columns of W1 and of W1 - W2.
#[derive(Debug, Clone, Copy)]
pub struct Layers<'a> {
    /// Of f1.
    pub first: &'a Affine,
    /// Of f2.
    pub second: &'a Affine,
    /// W1 - W2 and b1 - b2.
    pub difference: &'a Difference,
    /// The active columns of W1.
    pub weight: &'a [f64],
    /// The active columns of W1 - W2; not read where all of W1 - W2 is zero.
    pub between: &'a [f64],
}

/// Writes the error of W1 d + (W1 - W2) y + (b1 - b2) to `out`. The extents of x and y also matter where weights are
/// uncertain.
pub fn difference_error(
    out: &mut Vec<f64>,
    layers: Layers<'_>,
    part: ActiveColumns<'_>,
    [x, y, d]: [Operand<'_>; 3],
    columns: usize,
    scratch: &mut Scratch,
) {
    let Layers { first, second, difference, weight, between } = layers;
    let terms = 2 * part.width() + 2;
    out.clear();
    out.resize(first.rows, 0.0);
    let shared = &difference.shared;
    let equal_so_far = d.is_zero();
    if equal_so_far && shared.iter().all(|&s| s) {
        // Equal so far and equal here: d' = 0 exactly.
        return;
    }
    d.scaled_error(gamma(terms), &mut scratch.values);
    add_absolute_product(out, weight, &scratch.values);
    if !difference.zero {
        // One more unit: the difference of the weights is rounded.
        y.scaled_error(gamma(terms + 2), &mut scratch.values);
        scratch.values.iter_mut().zip(y.rows).for_each(|(v, &i)| *v += 2.0 * U * y.extent.err[i]);
        add_absolute_product(out, between, &scratch.values);
    }
    let errors = [first.bias_error.as_deref(), second.bias_error.as_deref()];
    if errors.iter().any(Option::is_some) || first.weight_error.is_some() || second.weight_error.is_some() {
        let (mut apart, mut together) = (std::mem::take(&mut scratch.apart), std::mem::take(&mut scratch.together));
        for sums in [&mut apart, &mut together] {
            sums.clear();
            sums.resize(first.rows, 0.0);
        }
        scratch.add_uncertain(&mut apart, part, first.weight_error.as_deref(), x);
        scratch.add_uncertain(&mut apart, part, second.weight_error.as_deref(), y);
        for error in errors.iter().flatten() {
            apart.iter_mut().zip(*error).for_each(|(o, e)| *o += e);
        }
        scratch.add_uncertain(&mut together, part, first.weight_error.as_deref(), d);
        for (i, o) in out.iter_mut().enumerate() {
            *o += if shared[i] { together[i] } else { apart[i] };
        }
        (scratch.apart, scratch.together) = (apart, together);
    }
    add_bias_error(out, terms + 2, columns, &difference.bias, [None, None]);
    for (i, o) in out.iter_mut().enumerate() {
        if shared[i] && (equal_so_far || first.zero_rows[i]) {
            *o = 0.0;
        } else if first.zero_rows[i] && second.zero_rows[i] {
            let biases = errors.iter().flatten().fold(0.0, |sum, e| if e[i] == 0.0 { sum } else { add_up(sum, e[i]) });
            let rounding = U * difference.bias[i].abs();
            *o = if rounding == 0.0 { biases } else { add_up(biases, rounding) };
        }
    }
}

/// Units of roundoff of a sum with a bias, relative to |bias|: the sum is rounded once, and gamma(k + 2) on the product
/// covers the product's share of that. One unit is enough; the others are spare.
const BIAS_UNITS: f64 = 4.0;

/// What underflow can cost a row of a product of this number of terms, over all columns and the centre: at most two
/// products for each term.
#[allow(clippy::cast_precision_loss)]
fn product_underflow(terms: usize, columns: usize) -> f64 {
    2.0 * TINY * (terms * (columns + 1)) as f64
}

/// Roundings in the error of a row of a product of this number of terms, as it is computed: sums over the terms of
/// products with |W| and with the errors of W, which are computed with three roundings each beforehand, and a handful
/// of sums afterwards.
fn error_roundings(terms: usize) -> usize {
    2 * terms + 16
}

/// Adds the rounding and the errors of the bias, underflow, and the rounding of the computation of the error itself.
fn add_bias_error(out: &mut [f64], terms: usize, columns: usize, bias: &[f64], bias_errors: [Option<&[f64]>; 2]) {
    for errors in bias_errors.iter().flatten() {
        out.iter_mut().zip(*errors).for_each(|(o, e)| *o += e);
    }
    round_up(out, bias, product_underflow(terms, columns), error_roundings(terms));
}

vectorised! {
    /// Adds what the bias and underflow cost and rounds the errors up. `TINY` twice keeps an error positive where it
    /// underflows itself.
    fn round_up<'a>(out: &'a mut [f64], bias: &'a [f64], underflow: f64, operations: usize) {
        for (o, b) in out.iter_mut().zip(bias) {
            *o = add_up(inflate(*o + BIAS_UNITS * U * b.abs() + underflow, operations), 2.0 * TINY);
        }
    }
}
