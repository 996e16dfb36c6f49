//! An affine layer on a differential zonotope ([VD], Prop. "affine" and Lemma "soundness of Affine_Delta").
//!
//! x' = W1 x + b1 and y' = W2 y + b2 act column by column; the difference is
//!     d' = W1 x - W2 y + b1 - b2 = W1 d + (W1 - W2) y + (b1 - b2),
//! so its columns over `z2`'s generators get W1 dp + (W1 - W2) z2 and the others W1 dq.
//!
//! Rounding. With M = |centre| + sum |generators| of the input form, a product over k inputs is off by at most gamma(k) |W| M, summed over all columns;
//! W1 - W2 and b1 - b2 are rounded once more; errors of the input are stretched by |W|. If W itself is uncertain, |W error| (M + err) is added.

use super::columns::Columns;
use crate::network::{Affine, pair::Difference};
use crate::numeric::kernels::{self, Into, add_columns, pack_columns};
use crate::numeric::round::{TINY, U, add_up, gamma, inflate};

/// The rows of a layer that can be nonzero in some form, and that form after ReLU on just these rows.
#[derive(Debug, Clone, Default)]
pub struct Compact {
    /// Neuron of each row.
    pub rows: Vec<usize>,
    /// Centre and generators on these rows, without fresh generators.
    pub form: Columns,
    /// What a form is scaled by on each row: side by side, since these are read once a column.
    pub factors: Vec<f64>,
}

/// Columns of a weight matrix that belong to some rows, packed only when some are missing.
pub struct Packed<'a> {
    data: &'a [f64],
}

impl<'a> Packed<'a> {
    /// `matrix` has m rows and as many columns as the layer has inputs.
    #[inline(always)]
    pub fn new(buffer: &'a mut Vec<f64>, matrix: &'a [f64], m: usize, rows: &[usize]) -> Self {
        if rows.len() * m == matrix.len() {
            return Self { data: matrix };
        }
        pack_columns(buffer, matrix, m, rows);
        Self { data: buffer }
    }

    /// The columns, column-major.
    #[must_use]
    #[inline(always)]
    pub fn data(&self) -> &[f64] {
        self.data
    }
}

/// out = or += W form, where `out` already has its final width and the product fills its first columns.
#[inline(always)]
pub fn transform(out: &mut Columns, weight: &Packed<'_>, compact: &Compact, into: Into) {
    let (m, k, n) = (out.rows(), compact.rows.len(), compact.form.len());
    kernels::product(out.all_mut(), weight.data, compact.form.all(), (m, k, n), into);
}

/// Appends W[:, i] * factor as columns for the listed (neuron, factor).
#[inline(always)]
pub fn append_fresh(out: &mut Columns, layer: &Affine, fresh: impl IntoIterator<Item = (usize, f64)>) {
    for (i, factor) in fresh {
        for (o, w) in out.push().iter_mut().zip(layer.column(i)) {
            *o = w * factor;
        }
    }
}

/// What the error of a form needs to know about it on the rows that enter a product.
#[derive(Debug, Clone, Default)]
pub struct Mass {
    /// |centre| + sum |generators|, fresh ones included, an upper bound.
    pub magnitude: Vec<f64>,
    /// Error radius.
    pub err: Vec<f64>,
}

impl Mass {
    /// Sizes for m neurons, all zero.
    #[inline(always)]
    pub fn clear(&mut self, m: usize) {
        self.magnitude.clear();
        self.magnitude.resize(m, 0.0);
        self.err.clear();
        self.err.resize(m, 0.0);
    }
}

/// What |W| multiplies: the error radius, and the rounding of products with the form. `TINY` stands for what underflows here, where a large weight would
/// otherwise multiply nothing; a form that is exactly zero costs nothing.
#[inline(always)]
fn weighed(mass: &Mass, i: usize, rounding: f64) -> f64 {
    let exact = mass.err[i] == 0.0 && mass.magnitude[i] == 0.0;
    if exact { 0.0 } else { mass.err[i] + rounding * mass.magnitude[i] + TINY }
}

/// The error of W z + b, for `columns` generators, into `out` (m).
#[inline(always)]
pub fn error(out: &mut Vec<f64>, layer: &Affine, rows: &[usize], mass: &Mass, columns: usize) {
    let rounding = gamma(rows.len() + 2);
    out.clear();
    out.resize(layer.rows, 0.0);
    add_columns(out, &layer.absolute, rows.iter().map(|&i| (i, weighed(mass, i, rounding))));
    if let Some(w) = &layer.weight_error {
        add_columns(out, w, rows.iter().map(|&i| (i, mass.magnitude[i] + mass.err[i])));
    }
    finish(out, rows.len(), columns, &layer.bias, [layer.bias_error.as_deref(), None]);
    for i in (0..out.len()).filter(|&i| layer.zero_rows[i]) {
        out[i] = layer.bias_error.as_ref().map_or(0.0, |e| e[i]);
    }
}

/// The error of W1 d + (W1 - W2) y + (b1 - b2), into `out`; `first` and `second` are x and y, needed where weights are uncertain.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub fn difference_error(
    out: &mut Vec<f64>,
    (layer1, layer2, difference): (&Affine, &Affine, &Difference),
    (rows1, first): (&[usize], &Mass),
    (rows2, second): (&[usize], &Mass),
    (rowsd, mass): (&[usize], &Mass),
    columns: usize,
) {
    let terms = rowsd.len() + rows2.len() + 2;
    let rounding = gamma(terms);
    out.clear();
    out.resize(layer1.rows, 0.0);
    let certain = |layer: &Affine| layer.weight_error.is_none() && layer.bias_error.is_none();
    let settled = rowsd.iter().all(|&i| mass.err[i] == 0.0 && mass.magnitude[i] == 0.0);
    if settled && difference.zero && difference.bias.iter().all(|&b| b == 0.0) && certain(layer1) && certain(layer2) {
        // Equal so far and equal here: d' = 0 exactly.
        return;
    }
    add_columns(out, &layer1.absolute, rowsd.iter().map(|&i| (i, weighed(mass, i, rounding))));
    if !difference.zero {
        // One more unit: the difference of the weights is rounded.
        let rounding = gamma(terms + 2);
        add_columns(
            out,
            &difference.absolute,
            rows2.iter().map(|&i| (i, weighed(second, i, rounding) + 2.0 * U * second.err[i])),
        );
    }
    if let Some(w) = &layer1.weight_error {
        add_columns(out, w, rows1.iter().map(|&i| (i, first.magnitude[i] + first.err[i])));
    }
    if let Some(w) = &layer2.weight_error {
        add_columns(out, w, rows2.iter().map(|&i| (i, second.magnitude[i] + second.err[i])));
    }
    let errors = [layer1.bias_error.as_deref(), layer2.bias_error.as_deref()];
    finish(out, terms, columns, &difference.bias, errors);
    for i in (0..out.len()).filter(|&i| layer1.zero_rows[i] && layer2.zero_rows[i]) {
        let biases = errors.iter().flatten().fold(0.0, |sum, e| if e[i] == 0.0 { sum } else { add_up(sum, e[i]) });
        let rounding = U * difference.bias[i].abs();
        out[i] = if rounding == 0.0 { biases } else { add_up(biases, rounding) };
    }
}

/// Adds the bias's rounding and errors, underflow of every product in every column, and the rounding of the error computation itself.
#[inline(always)]
fn finish(out: &mut [f64], terms: usize, columns: usize, bias: &[f64], bias_errors: [Option<&[f64]>; 2]) {
    #[allow(clippy::cast_precision_loss)]
    let underflow = 2.0 * TINY * (terms * (columns + 1)) as f64;
    for (i, o) in out.iter_mut().enumerate() {
        // The sum with the bias is rounded once: gamma(k + 2) on the product part covers that part's share, this the bias's own.
        let mut e = *o + 4.0 * U * bias[i].abs() + underflow;
        for b in bias_errors.iter().flatten() {
            e += b[i];
        }
        *o = add_up(inflate(e, 2 * terms + 16), 2.0 * TINY);
    }
}
