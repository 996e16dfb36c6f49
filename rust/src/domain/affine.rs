//! The affine terms of a step on a differential zonotope ([VD], Prop. "affine" and Lemma "soundness of Affine_Delta"),
//! and the rounding in it.
//!
//! x' = sum A1 X + b1 and y' = sum A2 Y + b2 act column by column, over the terms of the step; the difference is
//!     d' = sum A1 X - sum A2 Y + b1 - b2 = sum (A1 D + (A1 - A2) Y) + (b1 - b2),
//! where a term that one network does not have counts as 0. So its columns over `z2`'s generators get A1 d_common +
//! (A1 - A2) z2 and the others A1 d_rest.
//!
//! Only a part of each matrix matters on a box: the columns of neurons that may be nonzero. Of a dense matrix they are
//! gathered once ([`ActiveTile`]) and serve the products, the fresh generators and the errors; of other tiles the index
//! is numbered anew.
//!
//! Rounding. With M = |centre| + sum |generators| of the input forms, a sum over k products in all terms is off by at
//! most gamma(k) |A| M, summed over all columns; A1 - A2 and b1 - b2 are rounded once more; errors of the input are
//! stretched by |A|. If A itself is uncertain, |A error| (M + err) is added.
//!
//! Of the difference, rows that are shared (the exact rows of both steps are one and the same, see
//! [`crate::network::pair`]) have A1 - A2 = 0 and b1 - b2 = 0, so that d' = A1 D: there the uncertainty of A1 acts on D
//! alone, and where D = 0 exactly, d' = 0 exactly. On other rows it acts on X and on Y.

use super::clock::Clock;
use crate::network::{Step, Tile, pair::Difference};
use crate::numeric::kernels::{
    Accumulate, add_absolute_product, add_product, add_scaled_columns, gather, scale_columns,
};
use crate::numeric::round::{TINY, U, add_up, gamma, inflate};
use crate::numeric::vectorised::vectorised;
use crate::numeric::windows::{NONE, Panels, Shape};

/// Buffers for a tile's weights, or for its index, over the rows that may be nonzero.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    weight: Vec<f64>,
    number: Vec<u32>,
    places: Vec<u32>,
}

/// Products that a part of a product usually takes at most, so that a clock is looked at several times a second.
const PART: usize = 1 << 28;

/// The fewest columns of a part: as many as fill registers.
const FEWEST: usize = 16;

/// Space for products, and a clock that is looked at between parts of them. Once it is over no more products are made:
/// what they were to set is then of no use, and `over` says so.
#[derive(Debug)]
pub struct Parts {
    /// When to give up.
    pub clock: Clock,
    /// Whether products were left out.
    pub over: bool,
    /// Products that a part takes at most, unless a few columns have more.
    pub most: usize,
    panels: Panels,
}

impl Default for Parts {
    fn default() -> Self {
        Self { clock: Clock::default(), over: false, most: PART, panels: Panels::default() }
    }
}

/// A tile over those of the numbers it reads that may be nonzero on a box: the k rows of a form.
#[derive(Debug, Clone, Copy)]
pub struct ActiveTile<'a> {
    tile: &'a Tile,
    rows: &'a [usize],
    shape: Shape<'a>,
    weight: &'a [f64],
}

impl<'a> ActiveTile<'a> {
    /// A tile over some of the rows that it reads, in order.
    #[must_use]
    pub fn new(tile: &'a Tile, rows: &'a [usize], buffers: &'a mut Gathered) -> Self {
        if rows.len() == tile.columns {
            return Self { tile, rows, shape: tile.shape(), weight: &tile.weight };
        }
        let Some(index) = &tile.index else {
            gather(&mut buffers.weight, &tile.weight, tile.outputs, None, rows);
            return Self { tile, rows, shape: tile.shape(), weight: &buffers.weight };
        };
        buffers.number.clear();
        buffers.number.resize(tile.columns, NONE);
        for (new, &old) in rows.iter().enumerate() {
            buffers.number[old] = u32::try_from(new).unwrap_or(NONE);
        }
        let number = &buffers.number;
        buffers.places.clear();
        // A place that reads nothing is beyond all numbers.
        buffers.places.extend(index.places.iter().map(|&p| number.get(p as usize).copied().unwrap_or(NONE)));
        Self { tile, rows, shape: Shape::Windows(tile.over(&buffers.places)), weight: &tile.weight }
    }

    /// The most products that are summed up for one value.
    #[must_use]
    pub fn terms(&self) -> usize {
        match self.shape {
            Shape::Dense(_) => self.rows.len(),
            Shape::Windows(windows) => windows.taps,
        }
    }

    /// Products for one column.
    #[must_use]
    pub fn products(&self) -> usize {
        self.shape.products(self.rows.len())
    }

    /// Sets out (m, n) to the product with a form (k, n), or adds it, unless the clock is over.
    pub fn product(&self, out: &mut [f64], form: &[f64], n: usize, accumulate: Accumulate, parts: &mut Parts) {
        let (m, k) = (self.shape.rows(), self.rows.len());
        let wide = (parts.most / self.products().max(1)).max(FEWEST);
        if n <= wide && !parts.over {
            self.shape.product(out, self.weight, form, (k, n), accumulate, &mut parts.panels);
            return;
        }
        for first in (0..n).step_by(wide) {
            parts.over |= parts.clock.over();
            if parts.over {
                return;
            }
            let last = n.min(first + wide);
            let (out, form) = (&mut out[first * m..last * m], &form[first * k..last * k]);
            self.shape.product(out, self.weight, form, (k, last - first), accumulate, &mut parts.panels);
        }
    }

    /// One column of `out` for every (row of the form, factor): the column of the matrix times the factor, set or
    /// added.
    pub fn scale_columns(&self, out: &mut [f64], list: &[(usize, f64)], accumulate: Accumulate) {
        let m = self.shape.rows();
        match (self.shape, accumulate) {
            (Shape::Dense(_), Accumulate::Replace) => scale_columns(out, self.weight, m, list),
            (Shape::Dense(_), Accumulate::Add) => add_scaled_columns(out, self.weight, m, list),
            (Shape::Windows(_), _) => {
                for (out, &(j, factor)) in out.chunks_exact_mut(m.max(1)).zip(list) {
                    if accumulate == Accumulate::Replace {
                        out.fill(0.0);
                    }
                    self.tile.add_column(out, &self.tile.weight, self.rows[j], factor);
                }
            }
        }
    }

    /// The weights of a dense tile over the rows; `None` of other tiles.
    #[must_use]
    pub fn dense(&self) -> Option<&'a [f64]> {
        matches!(self.shape, Shape::Dense(_)).then_some(self.weight)
    }

    /// out (m) += matrix * x for one vector over the rows.
    pub fn add_product(&self, out: &mut [f64], x: &[f64]) {
        match self.shape {
            Shape::Dense(_) => add_product(out, self.weight, x),
            Shape::Windows(windows) => windows.add_product(out, self.weight, x),
        }
    }

    /// out (m) += |matrix| * x for one vector over the rows.
    fn add_absolute_product(&self, out: &mut [f64], x: &[f64]) {
        match self.shape {
            Shape::Dense(_) => add_absolute_product(out, self.weight, x),
            Shape::Windows(windows) => windows.add_absolute_product(out, self.weight, x),
        }
    }

    /// out (m) += errors of the weights * x for one vector over the rows.
    fn add_uncertain(&self, out: &mut [f64], x: &[f64], buffer: &mut Vec<f64>) {
        let Some(error) = &self.tile.weight_error else {
            return;
        };
        match self.shape {
            Shape::Dense(_) if self.rows.len() == self.tile.columns => add_product(out, error, x),
            Shape::Dense(_) => {
                gather(buffer, error, self.tile.outputs, None, self.rows);
                add_product(out, buffer, x);
            }
            Shape::Windows(windows) => windows.add_product(out, error, x),
        }
    }
}

/// How large a form is on each of its rows: what its rounding in later products is measured by, and its own error.
#[derive(Debug, Clone, Default)]
pub struct Extent {
    /// An upper bound of |centre| + sum |generators|, fresh generators included. Of a form before the function,
    /// without the centre.
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

/// A form that enters a product: its extents, and which of its rows enter, which are those of the [`ActiveTile`].
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

    /// Whether every row that enters is exactly 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.rows.iter().all(|&i| self.extent.err[i] == 0.0 && self.extent.magnitude[i] == 0.0)
    }
}

/// Buffers that are reused from step to step.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    values: Vec<f64>,
    part: Vec<f64>,
    apart: Vec<f64>,
    together: Vec<f64>,
}

impl Scratch {
    /// Adds |A error| (magnitude + err) to `out`.
    fn add_uncertain(&mut self, out: &mut [f64], tile: ActiveTile<'_>, form: Operand<'_>) {
        if tile.tile.weight_error.is_some() {
            form.sizes(&mut self.values);
            tile.add_uncertain(out, &self.values, &mut self.part);
        }
    }
}

/// One term of a step, with the form that it multiplies.
pub type ActiveTerm<'a> = (ActiveTile<'a>, Operand<'a>);

/// Writes the error of sum A z + b to `out` (m). The result has this number of `columns`.
pub fn error(out: &mut Vec<f64>, step: &Step, terms: &[ActiveTerm<'_>], columns: usize, scratch: &mut Scratch) {
    let products = terms.iter().map(|(tile, _)| tile.terms()).sum::<usize>();
    out.clear();
    out.resize(step.rows, 0.0);
    for &(tile, form) in terms {
        form.scaled_error(gamma(products + 2), &mut scratch.values);
        tile.add_absolute_product(out, &scratch.values);
    }
    for &(tile, form) in terms {
        scratch.add_uncertain(out, tile, form);
    }
    let errors = [step.bias_error.as_deref(), None];
    add_bias_error(out, products, columns, &step.bias, errors);
    for (i, o) in out.iter_mut().enumerate().filter(|&(i, _)| step.zero_rows[i]) {
        *o = step.bias_error.as_ref().map_or(0.0, |e| e[i]);
    }
}

/// One term of the difference of two steps: the tiles of A1, A2 and A1 - A2 where there are such, and the forms of X, Y
/// and D that they multiply.
#[derive(Debug, Clone, Copy)]
pub struct ActiveDifference<'a> {
    /// A1.
    pub first: Option<ActiveTile<'a>>,
    /// A2, which is used for its errors alone.
    pub second: Option<ActiveTile<'a>>,
    /// A1 - A2, unless it is zero.
    pub between: Option<ActiveTile<'a>>,
    /// The form of X.
    pub x: Operand<'a>,
    /// The form of Y.
    pub y: Operand<'a>,
    /// The form of D.
    pub d: Operand<'a>,
}

/// Writes the error of sum (A1 D + (A1 - A2) Y) + (b1 - b2) to `out`. The extents of X and Y also matter where weights
/// are uncertain.
pub fn difference_error(
    out: &mut Vec<f64>,
    (first, second, difference): (&Step, &Step, &Difference),
    list: &[ActiveDifference<'_>],
    columns: usize,
    scratch: &mut Scratch,
) {
    let count = |t: &ActiveDifference<'_>| {
        let tiles = [t.first, t.second, t.between].into_iter().flatten();
        tiles.map(|tile| tile.terms()).max().unwrap_or(0)
    };
    let terms = 2 * list.iter().map(count).sum::<usize>() + 2;
    out.clear();
    out.resize(first.rows, 0.0);
    let shared = &difference.shared;
    let equal_so_far = list.iter().all(|t| t.d.is_zero());
    if equal_so_far && shared.iter().all(|&s| s) {
        // Equal so far and equal here: d' = 0 exactly.
        return;
    }
    for ActiveDifference { first, between, y, d, .. } in list {
        if let Some(tile) = first {
            d.scaled_error(gamma(terms), &mut scratch.values);
            tile.add_absolute_product(out, &scratch.values);
        }
        if let Some(tile) = between {
            // One more unit: the difference of the weights is rounded.
            y.scaled_error(gamma(terms + 2), &mut scratch.values);
            scratch.values.iter_mut().zip(y.rows).for_each(|(v, &i)| *v += 2.0 * U * y.extent.err[i]);
            tile.add_absolute_product(out, &scratch.values);
        }
    }
    let errors = [first.bias_error.as_deref(), second.bias_error.as_deref()];
    let uncertain = |tile: &Option<ActiveTile<'_>>| tile.is_some_and(|t| t.tile.weight_error.is_some());
    if errors.iter().any(Option::is_some) || list.iter().any(|t| uncertain(&t.first) || uncertain(&t.second)) {
        let (mut apart, mut together) = (std::mem::take(&mut scratch.apart), std::mem::take(&mut scratch.together));
        for sums in [&mut apart, &mut together] {
            sums.clear();
            sums.resize(first.rows, 0.0);
        }
        for ActiveDifference { first, second, x, y, .. } in list {
            for (tile, form) in [(first, x), (second, y)] {
                if let Some(tile) = tile {
                    scratch.add_uncertain(&mut apart, *tile, *form);
                }
            }
        }
        for error in errors.iter().flatten() {
            apart.iter_mut().zip(*error).for_each(|(o, e)| *o += e);
        }
        for ActiveDifference { first, d, .. } in list {
            if let Some(tile) = first {
                scratch.add_uncertain(&mut together, *tile, *d);
            }
        }
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
