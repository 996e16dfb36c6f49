//! An affine layer on a differential zonotope ([VD], Prop. "affine" and Lemma "soundness of Affine_Delta").
//!
//! x' = W1 x + b1 and y' = W2 y + b2 act column by column; the difference is
//!     d' = W1 x - W2 y + b1 - b2 = W1 d + (W1 - W2) y + (b1 - b2),
//! so its columns over `z2`'s generators get W1 d_common + (W1 - W2) z2 and the others W1 d_rest.
//!
//! Only a part of each matrix matters on a box: the columns of neurons that may be nonzero. It is gathered once ([`ActiveColumns`]) and serves the products, the fresh
//! generators and the errors.
//!
//! Rounding. With M = |centre| + sum |generators| of the input form, a product over k inputs is off by at most gamma(k) |W| M, summed over all columns;
//! W1 - W2 and b1 - b2 are rounded once more; errors of the input are stretched by |W|. If W itself is uncertain, |W error| (M + err) is added.
//!
//! Of the difference, rows that are shared (the exact rows of both layers are one and the same, see [`crate::network::pair`]) have W1 - W2 = 0 and b1 - b2 = 0,
//! so that d' = W1 d: there the uncertainty of W1 acts on d alone, and where d = 0 exactly, d' = 0 exactly. On other rows it acts on x and on y.

use crate::network::{Affine, pair::Difference};
use crate::numeric::kernels::{add_absolute_product, add_product, gather};
use crate::numeric::round::{TINY, U, add_up, gamma, inflate};
use crate::numeric::vectorised::vectorised;

/// The k columns of a layer's matrices whose inputs may be nonzero on a box.
#[derive(Debug, Clone, Copy)]
pub struct ActiveColumns<'a> {
    /// Columns of the whole matrix.
    pub of: usize,
    /// Those that enter.
    pub columns: &'a [usize],
}

impl ActiveColumns<'_> {
    /// k.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// These columns of a matrix with m rows, in `buffer` unless it is the whole.
    #[must_use]
    pub fn of<'b>(&self, matrix: &'b [f64], m: usize, buffer: &'b mut Vec<f64>) -> &'b [f64] {
        if self.width() == self.of {
            return matrix;
        }
        gather(buffer, matrix, m, None, self.columns);
        buffer
    }
}

/// What the error of a form needs to know about it on the rows that enter a product.
#[derive(Debug, Clone, Default)]
pub struct Extent {
    /// |centre| + sum |generators|, fresh ones included, an upper bound.
    pub magnitude: Vec<f64>,
    /// Error radius.
    pub err: Vec<f64>,
}

impl Extent {
    /// Sizes for m neurons, all zero.
    pub fn clear(&mut self, m: usize) {
        self.magnitude.clear();
        self.magnitude.resize(m, 0.0);
        self.err.clear();
        self.err.resize(m, 0.0);
    }
}

/// A form that enters a product: its masses, and on which of its rows, which are the columns of the [`ActiveColumns`].
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// Per row.
    pub mass: &'a Extent,
    /// Row of each column.
    pub rows: &'a [usize],
}

impl Operand<'_> {
    /// What |W| multiplies: the error radius, and the rounding of products with the form. `TINY` stands for what underflows here, where a large weight would
    /// otherwise multiply nothing; a form that is exactly zero costs nothing.
    fn scaled_error(&self, rounding: f64, out: &mut Vec<f64>) {
        let Extent { magnitude, err } = self.mass;
        out.clear();
        out.extend(self.rows.iter().map(|&i| {
            let exact = err[i] == 0.0 && magnitude[i] == 0.0;
            if exact { 0.0 } else { err[i] + rounding * magnitude[i] + TINY }
        }));
    }

    /// The largest absolute values that the inputs can take, which multiply what is uncertain about W.
    fn sizes(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.rows.iter().map(|&i| self.mass.magnitude[i] + self.mass.err[i]));
    }

    fn is_zero(&self) -> bool {
        self.rows.iter().all(|&i| self.mass.err[i] == 0.0 && self.mass.magnitude[i] == 0.0)
    }
}

/// Reusable buffers.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    values: Vec<f64>,
    part: Vec<f64>,
    apart: Vec<f64>,
    together: Vec<f64>,
}

impl Scratch {
    /// out += |W error| (magnitude + err).
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

/// The error of W z + b, for `columns` generators, into `out` (m); `weight` is the part of W.
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
    finish(out, terms, columns, &layer.bias, errors);
    for (i, o) in out.iter_mut().enumerate().filter(|&(i, _)| layer.zero_rows[i]) {
        *o = layer.bias_error.as_ref().map_or(0.0, |e| e[i]);
    }
}

/// The two layers of a pair and the difference of their weights, and the parts of W1 and of W1 - W2.
#[derive(Debug, Clone, Copy)]
pub struct Layers<'a> {
    /// Of f1.
    pub first: &'a Affine,
    /// Of f2.
    pub second: &'a Affine,
    /// W1 - W2 and b1 - b2.
    pub difference: &'a Difference,
    /// ActiveColumns of W1.
    pub weight: &'a [f64],
    /// ActiveColumns of W1 - W2; not looked at where all of that is zero.
    pub between: &'a [f64],
}

/// The error of W1 d + (W1 - W2) y + (b1 - b2), into `out`; x and y are also needed where weights are uncertain.
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
        scratch.values.iter_mut().zip(y.rows).for_each(|(v, &i)| *v += 2.0 * U * y.mass.err[i]);
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
    finish(out, terms + 2, columns, &difference.bias, [None, None]);
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

/// Adds the bias's rounding and errors, underflow of every product in every column, and the rounding of the error computation itself.
fn finish(out: &mut [f64], terms: usize, columns: usize, bias: &[f64], bias_errors: [Option<&[f64]>; 2]) {
    for errors in bias_errors.iter().flatten() {
        out.iter_mut().zip(*errors).for_each(|(o, e)| *o += e);
    }
    #[allow(clippy::cast_precision_loss)]
    let underflow = 2.0 * TINY * (terms * (columns + 1)) as f64;
    round_up(out, bias, underflow, 2 * terms + 16);
}

vectorised! {
    /// The sum with the bias is rounded once: gamma(k + 2) on the product part covers that part's share, this the bias's own.
    fn round_up<'a>(out: &'a mut [f64], bias: &'a [f64], underflow: f64, operations: usize) {
        for (o, b) in out.iter_mut().zip(bias) {
            *o = add_up(inflate(*o + 4.0 * U * b.abs() + underflow, operations), 2.0 * TINY);
        }
    }
}
