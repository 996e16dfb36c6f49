//! The forms of a layer before ReLU, which come from the box or from the forms of the layer before, and their bounds.
//!
//! Letters as in [`super`]: m rows, of the layer before k rows that may be nonzero. The active columns of the matrices
//! are gathered once for a layer and serve products, fresh generators and errors alike.

use super::affine::{self, ActiveColumns, Extent, Layers, Operand};
use super::columns::Columns;
use super::layer_state::{LayerState, Postactivation, Source};
use super::phase::Bounds;
use crate::network::Pair;
use crate::numeric::kernels::{Accumulate, absolute_row_sums, add_product, combine_columns, product, scale_columns};
use crate::numeric::round::{add_up, gamma, inflate, sub_down, sub_up};

/// Buffers that serve one layer after another.
#[derive(Debug, Default)]
pub struct Buffers {
    first: Vec<f64>,
    second: Vec<f64>,
    between: Vec<f64>,
    scaled: Vec<(usize, f64)>,
    combined: Vec<(usize, f64, f64)>,
    scratch: affine::Scratch,
}

/// A box as a form without an error: its centre, its radii, and its extent.
#[derive(Debug, Default)]
pub struct Input {
    /// The centre of every input.
    pub centre: Vec<f64>,
    /// The radius of every input, rounded up, so that |x - centre| <= radius.
    pub radius: Vec<f64>,
    extent: Extent,
    zero: Extent,
    all: Vec<usize>,
}

impl Input {
    /// Encloses the box lower <= x <= upper.
    pub fn set(&mut self, lower: &[f64], upper: &[f64]) {
        self.centre.clear();
        self.radius.clear();
        self.extent.clear(lower.len());
        self.zero.clear(lower.len());
        self.all.clear();
        self.all.extend(0..lower.len());
        for (i, (&l, &u)) in lower.iter().zip(upper).enumerate() {
            let c = l + 0.5 * (u - l);
            let r = sub_up(u, c).max(sub_up(c, l)).max(0.0);
            self.centre.push(c);
            self.radius.push(r);
            self.extent.magnitude[i] = add_up(c.abs(), r);
        }
    }
}

impl LayerState {
    /// The first layer: x = W centre + b, and one generator W[:, i] * radius_i per input; the inputs are equal, so d =
    /// (W1 - W2) x + b1 - b2. Returns the number of operations.
    pub(super) fn enclose_box(&mut self, pair: &Pair, input: &Input, difference: bool, buffers: &mut Buffers) -> usize {
        let (layer1, layer2, between) = (&pair.first[0], &pair.second[0], &pair.difference[0]);
        let part = ActiveColumns { of: layer1.columns, columns: &input.all };
        let (m, inputs, scratch) = (layer1.rows, input.centre.len(), &mut buffers.scratch);
        let x = Operand { extent: &input.extent, rows: &input.all };
        buffers.scaled.clear();
        buffers.scaled.extend(input.radius.iter().copied().enumerate());
        let write = |out: &mut Columns, weight: &[f64], bias: &[f64]| {
            out.reshape(m, 1 + inputs);
            let (centre, generators) = out.all_mut().split_at_mut(m);
            centre.copy_from_slice(bias);
            add_product(centre, weight, &input.centre);
            scale_columns(generators, weight, m, &buffers.scaled);
        };
        let (first, second) = (layer1.weight.as_slice(), layer2.weight.as_slice());
        write(&mut self.z1, first, &layer1.bias);
        affine::error(&mut self.extent1.err, layer1, (part, first), x, inputs, scratch);
        write(&mut self.z2, second, &layer2.bias);
        affine::error(&mut self.extent2.err, layer2, (part, second), x, inputs, scratch);
        self.rest_sources.clear();
        self.rest_columns.clear();
        self.d_rest.reshape(m, 0);
        if difference {
            let weight = between.weight.as_slice();
            write(&mut self.d_common, weight, &between.bias);
            let layers = Layers { first: layer1, second: layer2, difference: between, weight: first, between: weight };
            let d = Operand { extent: &input.zero, rows: &input.all };
            affine::difference_error(&mut self.extent_d.err, layers, part, [x, x, d], inputs, scratch);
        }
        // The centre's product, and one scaling per generator.
        (if difference { 3 } else { 2 }) * 3 * m * inputs
    }

    /// A layer behind another one. Returns the number of operations.
    pub(super) fn apply_affine(
        &mut self,
        from: &Self,
        pair: &Pair,
        l: usize,
        difference: bool,
        buffers: &mut Buffers,
    ) -> usize {
        let (layer1, layer2, between) = (&pair.first[l], &pair.second[l], &pair.difference[l]);
        let after = &from.after;
        let part = ActiveColumns { of: layer1.columns, columns: &after.rows };
        let (m, k) = (layer1.rows, part.width());
        let first = part.of(&layer1.weight, m, &mut buffers.first);
        let second = part.of(&layer2.weight, m, &mut buffers.second);
        let entering = |extent| Operand { extent, rows: &after.rows };
        let (x, y) = (entering(&after.extent1), entering(&after.extent2));
        let scratch = &mut buffers.scratch;

        transform_form(&mut self.z1, first, (m, k), &after.first, &after.fresh1);
        affine::error(&mut self.extent1.err, layer1, (part, first), x, self.z1.len(), scratch);
        transform_form(&mut self.z2, second, (m, k), &after.second, &after.fresh2);
        affine::error(&mut self.extent2.err, layer2, (part, second), y, self.z2.len(), scratch);
        let mut flops = 2 * k * (after.first.len() + after.second.len()) + after.fresh1.len() + after.fresh2.len();
        if difference {
            let weight = if between.zero { &[] } else { part.of(&between.weight, m, &mut buffers.between) };
            transform_common(&mut self.d_common, from, (first, weight), (m, k), &mut buffers.combined);
            transform_rest(
                (&mut self.d_rest, &mut self.rest_sources, &mut self.rest_columns),
                from,
                first,
                (m, k),
                &mut buffers.scaled,
            );
            let layers = Layers { first: layer1, second: layer2, difference: between, weight: first, between: weight };
            let columns = self.d_common.len() + self.d_rest.len();
            let entering = [x, y, entering(&after.extent_d)];
            affine::difference_error(&mut self.extent_d.err, layers, part, entering, columns, scratch);
            flops += 2 * k * (after.common.len() + after.rest.len());
            flops += if between.zero { 0 } else { 2 * k * after.second.len() };
            flops += 3 * after.fresh2.len() + (self.d_rest.len() - after.rest.len());
        }
        // Centres get their bias last.
        let shift = |out: &mut Columns, bias: &[f64]| {
            out.column_mut(0).iter_mut().zip(bias).for_each(|(c, b)| *c += b);
        };
        shift(&mut self.z1, &layer1.bias);
        shift(&mut self.z2, &layer2.bias);
        if difference {
            shift(&mut self.d_common, &between.bias);
        }
        m * flops
    }

    /// Sets the bounds of x, y and d. Without a zonotope of the difference, those of d follow from those of x and y.
    pub(super) fn bound(&mut self, difference: bool) {
        bound(&mut self.x, &mut self.extent1, &self.z1, &[]);
        bound(&mut self.y, &mut self.extent2, &self.z2, &[]);
        if difference {
            bound(&mut self.d, &mut self.extent_d, &self.d_common, self.d_rest.all());
        } else {
            self.d.lower.clear();
            self.d.upper.clear();
            self.d.lower.extend(self.x.lower.iter().zip(&self.y.upper).map(|(x, y)| sub_down(*x, *y)));
            self.d.upper.extend(self.x.upper.iter().zip(&self.y.lower).map(|(x, y)| sub_up(*x, *y)));
        }
    }

    /// Takes z1 - z2 as the form of the difference of the outputs.
    pub(super) fn difference_of_outputs(&mut self, inputs: usize) {
        let m = self.z1.rows();
        self.d_common.reshape(m, self.z2.len());
        for j in 0..self.z2.len() {
            let y = self.z2.column(j);
            if j <= inputs {
                let x = self.z1.column(j);
                self.d_common.column_mut(j).iter_mut().zip(x.iter().zip(y)).for_each(|(o, (a, b))| *o = a - b);
            } else {
                self.d_common.column_mut(j).iter_mut().zip(y).for_each(|(o, b)| *o = -b);
            }
        }
        let p1 = self.z1.len() - 1 - inputs;
        self.d_rest.reshape(m, p1);
        self.d_rest.all_mut().copy_from_slice(self.z1.from(1 + inputs));
        self.rest_sources.clear();
        self.rest_sources.extend((0..p1).map(Source::First));
        self.rest_columns.clear();
        self.rest_columns.extend((0..p1).map(Some));
        self.extent_d.clear(m);
        for i in 0..m {
            // Every entry is one subtraction, of which gamma(2) covers one rounding; the sum of sizes is computed with
            // four roundings, of eight allowed.
            let rounding = gamma(2)
                * (self.extent1.magnitude[i]
                    + self.extent2.magnitude[i]
                    + self.z1.column(0)[i].abs()
                    + self.z2.column(0)[i].abs());
            self.extent_d.err[i] = add_up(add_up(self.extent1.err[i], self.extent2.err[i]), inflate(rounding, 8));
        }
        bound(&mut self.d, &mut self.extent_d, &self.d_common, self.d_rest.all());
    }
}

/// Multiplies a form by W, and appends a column for each fresh generator.
fn transform_form(out: &mut Columns, weight: &[f64], (m, k): (usize, usize), form: &Columns, fresh: &[(usize, f64)]) {
    out.reshape(m, form.len() + fresh.len());
    product(out.all_mut(), weight, form.all(), (m, k, form.len()), Accumulate::Replace);
    scale_columns(out.from_mut(form.len()), weight, m, fresh);
}

/// The difference over the columns of `z2`: W1 d_common + (W1 - W2) z2, where f2's fresh generators are columns of
/// their own. Without `between`, W1 = W2.
fn transform_common(
    out: &mut Columns,
    from: &LayerState,
    (weight, between): (&[f64], &[f64]),
    (m, k): (usize, usize),
    list: &mut Vec<(usize, f64, f64)>,
) {
    let (Postactivation { rows, second, common, fresh2, .. }, factors) = (&from.after, &from.relu_d.fresh2);
    let old = common.len();
    out.reshape(m, old + fresh2.len());
    product(out.all_mut(), weight, common.all(), (m, k, old), Accumulate::Replace);
    let equal = between.is_empty();
    if !equal {
        product(out.all_mut(), between, second.all(), (m, k, old), Accumulate::Add);
    }
    list.clear();
    list.extend(fresh2.iter().map(|&(j, mu)| (j, factors[rows[j]], if equal { 0.0 } else { mu })));
    combine_columns(out.from_mut(old), weight, if equal { weight } else { between }, m, list);
}

/// The difference over its other generators: W1 d_rest, then the fresh generators of f1 that it uses, then its own.
/// Lists the generators of the columns, and the column of every a1.
fn transform_rest(
    (out, sources, rest_columns): (&mut Columns, &mut Vec<Source>, &mut Vec<Option<usize>>),
    from: &LayerState,
    weight: &[f64],
    (m, k): (usize, usize),
    list: &mut Vec<(usize, f64)>,
) {
    let Postactivation { rows, rest, fresh1, .. } = &from.after;
    let (factors, own) = (&from.relu_d.fresh1, &from.relu_d.fresh_own);
    let old = rest.len();
    sources.clone_from(&from.rest_sources);
    rest_columns.clone_from(&from.rest_columns);
    list.clear();
    for &(j, _) in fresh1 {
        let factor = factors[rows[j]];
        if factor == 0.0 {
            rest_columns.push(None);
        } else {
            sources.push(Source::First(rest_columns.len()));
            rest_columns.push(Some(old + list.len()));
            list.push((j, factor));
        }
    }
    for (j, &i) in rows.iter().enumerate().filter(|&(_, &i)| own[i] != 0.0) {
        sources.push(Source::Own);
        list.push((j, own[i]));
    }
    out.reshape(m, old + list.len());
    product(out.all_mut(), weight, rest.all(), (m, k, old), Accumulate::Replace);
    scale_columns(out.from_mut(old), weight, m, list);
}

/// Sets bounds from the centre, the generators behind it, and `more` of them.
fn bound(bounds: &mut Bounds, extent: &mut Extent, form: &Columns, more: &[f64]) {
    extent.magnitude.resize(form.rows(), 0.0);
    absolute_row_sums(&mut extent.magnitude, form.from(1), Accumulate::Replace);
    absolute_row_sums(&mut extent.magnitude, more, Accumulate::Add);
    let columns = form.len() + more.len() / form.rows().max(1);
    bounds.set(form.column(0), &mut extent.magnitude, &extent.err, columns);
}
