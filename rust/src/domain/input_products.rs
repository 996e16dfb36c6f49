//! Forms of second order: zonotopes whose generators are, besides those of the inputs, the products of two of them.
//!
//! A smooth function of a form x = c + l(e) + r, with l linear in the generators e of the inputs and |r| <= rho, is a strip
//! around a line everywhere else in this domain: what it bends by becomes a generator of its own for each neuron, although it
//! follows from e. Here it is a strip around a parabola ([`Parabola`]):
//!     X = s x + b l^2 + (what is left),       l^2 = sum over i < j of 2 l_i l_j e_i e_j + sum over i of l_i^2 e_i^2,
//! and e_i e_j in [-1, 1] and 2 e_i^2 - 1 in [-1, 1] are generators that all neurons share. So later steps add up what many
//! neurons bend by, with its signs. What is left is that of the parabola, and b ((l + r)^2 - l^2), at most
//! |b| (|l| + |x - c|) rho.
//!
//! Of the difference, with the slopes of f along a line around the centre c of y ([`SlopeLine`]) and d = k + q(e) + r_d,
//! y = c + p(e) + r_y,
//!     D = (S + B (y - c) + B d / 2) d = (S + B k) d + B k (y - c) + B (p + q / 2) q - B k^2 / 2 + (what is left),
//! of which what is left is at most |B| ((|p| + |q|) rho_d + rho_y (|q| + rho_d) + rho_d^2 / 2), and how far slopes are from the line times
//! |d|. Planes ([`super::difference_plane`]) have the same terms without the product of p and q, which each neuron loses by itself.
//!
//! To every other part of the domain these products are generators like those of the inputs, of which they are the last
//! columns. That forgets that they follow from e, which is sound. See Makino and Berz, "Taylor models and other validated functional inclusion
//! methods", 2003, and Kochdumper et al., "Open- and closed-loop neural network verification using polynomial zonotopes",
//! NFM 2023, for single networks; the difference is eqspec's own.

use super::affine::Extent;
use super::columns::Columns;
use super::difference_plane::Ends;
use super::layer_state::LayerState;
use super::parabola::{Parabola, SlopeLine};
use super::phase::Bounds;
use super::strip::{THIN, centred};
use super::transformer::{DifferenceTransformer, Transformer, underflow};
use crate::network::Curves;
use crate::numeric::kernels::{Accumulate, absolute_row_sums};
use crate::numeric::round::{U, add_up, gamma, inflate, mul_up};
use crate::numeric::vectorised::vectorised;

/// What share of their sizes products of inputs are taken to lose when a parabola is compared with a line.
const SHARE_OF_PRODUCTS: f64 = 0.25;

/// What share of its reach a part in y is taken to lose.
const SHARE_OF_Y: f64 = 0.5;

/// Numbers beyond this are left to lines, so that no product of them leaves the range of binary64.
const LARGE: f64 = 1e60;

/// Roundings in sums of a few sizes.
const CHAIN: usize = 16;

/// The products of two free inputs, as columns behind those of the inputs.
#[derive(Debug, Clone, Default)]
pub struct InputProducts {
    /// The inputs that are free.
    free: Vec<usize>,
    /// The number of all inputs.
    inputs: usize,
}

impl InputProducts {
    /// Those of a box.
    #[must_use]
    pub fn of((lower, upper): (&[f64], &[f64])) -> Self {
        let free = (0..lower.len()).filter(|&i| lower[i] < upper[i]).collect();
        Self { free, inputs: lower.len() }
    }

    /// The number of columns.
    #[must_use]
    pub fn count(&self) -> usize {
        self.free.len() * (self.free.len() + 1) / 2
    }

    /// Sizes of a form, and of what else belongs to it, row by row.
    fn sizes(&self, form: &Columns, more: &[f64], extent: &Extent) -> Sizes {
        let m = form.rows();
        let mut sizes = Sizes { linear: vec![0.0; m], rest: vec![0.0; m] };
        absolute_row_sums(&mut sizes.linear, &form.all()[m..m * (1 + self.inputs)], Accumulate::Replace);
        absolute_row_sums(&mut sizes.rest, form.from(1 + self.inputs), Accumulate::Replace);
        absolute_row_sums(&mut sizes.rest, more, Accumulate::Add);
        let columns = form.len() + more.len() / m.max(1);
        for i in 0..m {
            sizes.linear[i] = inflate(sizes.linear[i], columns);
            sizes.rest[i] = add_up(inflate(sizes.rest[i], columns), extent.err[i]);
        }
        sizes
    }

    /// Takes parabolas in place of strips, and rows with products in place of others, where they leave less; strips are chosen.
    pub(super) fn choose(&self, layer: &mut LayerState, curves: [&Curves; 2]) {
        let LayerState { transformer1, transformer2, transformer_d, .. } = layer;
        self.bend(transformer1, curves[0], (&layer.z1, &layer.extent1, &layer.x));
        self.bend(transformer2, curves[1], (&layer.z2, &layer.extent2, &layer.y));
        // The generator of a parabola is another one than that of the strip which the difference has taken.
        let bent = |t: &Transformer, i: usize| t.bend[i] != 0.0;
        for i in (0..layer.z1.rows()).filter(|&i| bent(transformer1, i) || bent(transformer2, i)) {
            let of_networks = add_up(transformer_d.fresh1[i].abs(), transformer_d.fresh2[i].abs());
            if (transformer_d.fresh1[i], transformer_d.fresh2[i]) != (0.0, 0.0) {
                transformer_d.fresh_own[i] = add_up(transformer_d.fresh_own[i], of_networks);
                (transformer_d.fresh1[i], transformer_d.fresh2[i]) = (0.0, 0.0);
            }
        }
        self.bend_difference(layer, curves);
    }

    /// Takes parabolas in place of strips where they leave less.
    fn bend(
        &self,
        transformer: &mut Transformer,
        curves: &Curves,
        (form, extent, bounds): (&Columns, &Extent, &Bounds),
    ) {
        let sizes = self.sizes(form, &[], extent);
        let m = form.rows();
        transformer.bend.clear();
        transformer.bend.resize(m, 0.0);
        for i in 0..m {
            let (ends, centre) = ((bounds.lower[i], bounds.upper[i]), form.column(0)[i]);
            let (linear, rest) = (sizes.linear[i], sizes.rest[i]);
            if transformer.fresh[i] == 0.0 || linear == 0.0 || !(linear < LARGE && rest < LARGE) {
                continue;
            }
            let Some(parabola) = Parabola::around(curves.of(i), ends, centre).filter(|p| p.bend.abs() < LARGE) else {
                continue;
            };
            let size = parabola.bend.abs();
            let reach =
                add_up(linear, rest).min((ends.1 - centre).abs().max((ends.0 - centre).abs()) * (1.0 + 4.0 * U));
            let apart = inflate(size * (linear + reach) * rest, CHAIN);
            let (shift, half) = centred(parabola.low, parabola.high);
            let half = add_up(half, apart);
            if half + SHARE_OF_PRODUCTS * size * linear * linear < transformer.fresh[i] {
                (transformer.slope[i], transformer.shift[i]) = (parabola.slope, shift);
                (transformer.fresh[i], transformer.bend[i]) = (half, parabola.bend);
            }
        }
    }

    /// Takes rows with products in place of others where less is lost so.
    fn bend_difference(&self, of: &mut LayerState, curves: [&Curves; 2]) {
        let m = of.z2.rows();
        let made = &mut of.transformer_d;
        made.product.clear();
        made.product.resize(m, 0.0);
        let of_y = self.sizes(&of.z2, &[], &of.extent2);
        let of_d = self.sizes(&of.d_common, of.d_rest.all(), &of.extent_d);
        for i in 0..m {
            let curve = curves[0].of(i);
            let own = made.fresh1[i].abs() + made.fresh2[i].abs() + made.fresh_own[i] + made.loose[i];
            if own == 0.0 || curve != curves[1].of(i) {
                continue;
            }
            let at = |b: &Bounds| (b.lower[i], b.upper[i]);
            let (x, y, d) = (at(&of.x), at(&of.y), at(&of.d));
            let centres = (of.z2.column(0)[i], of.d_common.column(0)[i]);
            let sizes = ((of_y.linear[i], of_y.rest[i]), (of_d.linear[i], of_d.rest[i]));
            let Some(slopes) = SlopeLine::around(curve, (x.0.min(y.0), x.1.max(y.1)), centres.0) else { continue };
            let Some(row) = Row::of(slopes, (y, d), centres, sizes) else { continue };
            let half = |(l, u): Ends| 0.5 * u - 0.5 * l;
            let lost = own
                + made.of_d[i].abs() * half(d)
                + SHARE_OF_Y * (made.of_x[i].abs() * half(x) + made.of_y[i].abs() * half(y));
            let left = row.half
                + row.of_d.abs() * half(d)
                + SHARE_OF_Y * row.of_y.abs() * half(y)
                + SHARE_OF_PRODUCTS * row.product.abs() * (sizes.0.0 + 0.5 * sizes.1.0) * sizes.1.0;
            if left < lost {
                row.write(made, i, half(d));
            }
        }
    }

    /// Adds b l^2 to a form behind a function, on `rows`, and what that costs to its extent; `form` is the one before it.
    pub(super) fn add_squares(
        &self,
        (after, extent): (&mut Columns, &mut Extent),
        (form, before): (&Columns, &Extent),
        transformer: &Transformer,
        rows: &[usize],
    ) {
        if transformer.bend.iter().all(|&b| b == 0.0) {
            return;
        }
        let linear = self.gathered(form, rows, |_, entry| entry);
        let scaled = self.gathered(form, rows, |i, entry| transformer.bend[i] * entry);
        self.add_products(after, &scaled, &linear);
        let sizes = self.sizes(form, &[], before);
        let roundings = gamma(self.free.len() + CHAIN);
        for &i in rows.iter().filter(|&&i| transformer.bend[i] != 0.0) {
            let size = transformer.bend[i].abs() * sizes.linear[i] * sizes.linear[i];
            let carried = transformer.slope[i].abs() * (before.magnitude[i] + form.column(0)[i].abs());
            let off = roundings * (size + carried + transformer.shift[i].abs()) + underflow(after.len());
            extent.magnitude[i] = inflate(extent.magnitude[i] + size, CHAIN);
            extent.err[i] = add_up(extent.err[i], inflate(off, CHAIN));
        }
    }

    /// Adds B (p + q / 2) q to the difference behind a function, and what that costs to its extent.
    pub(super) fn add_products_of_difference(&self, of: &mut LayerState) {
        let made = &of.transformer_d;
        if made.product.iter().all(|&b| b == 0.0) {
            return;
        }
        let rows = std::mem::take(&mut of.after.rows);
        let q = self.gathered(&of.d_common, &rows, |_, entry| entry);
        let mut p = self.gathered(&of.z2, &rows, |_, entry| entry);
        let k = rows.len();
        for (column, of_d) in p.chunks_exact_mut(k.max(1)).zip(q.chunks_exact(k.max(1))) {
            for ((p, q), &i) in column.iter_mut().zip(of_d).zip(&rows) {
                *p = made.product[i] * (*p + 0.5 * q);
            }
        }
        self.add_products(&mut of.after.common, &p, &q);
        let of_y = self.sizes(&of.z2, &[], &of.extent2);
        let of_d = self.sizes(&of.d_common, of.d_rest.all(), &of.extent_d);
        let roundings = gamma(self.free.len() + CHAIN);
        let columns = of.after.common.len() + of.after.rest.len();
        for &i in rows.iter().filter(|&&i| made.product[i] != 0.0) {
            let size = made.product[i].abs() * (of_y.linear[i] + of_d.linear[i]) * of_d.linear[i];
            let carried = made.of_d[i].abs() * (of.extent_d.magnitude[i] + of.d_common.column(0)[i].abs())
                + made.of_y[i].abs() * (of.extent2.magnitude[i] + of.z2.column(0)[i].abs());
            let off = roundings * (size + carried + made.shift[i].abs()) + underflow(columns);
            let extent = &mut of.after.extent_d;
            extent.magnitude[i] = inflate(extent.magnitude[i] + size, CHAIN);
            extent.err[i] = add_up(extent.err[i], inflate(off, CHAIN));
        }
        of.after.rows = rows;
    }

    /// The columns of the free inputs of a form on some rows, each entry changed.
    fn gathered(&self, form: &Columns, rows: &[usize], change: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let of_column = |&j: &usize| {
            let column = form.column(1 + j);
            rows.iter().map(|&i| change(i, column[i])).collect::<Vec<_>>()
        };
        self.free.iter().flat_map(of_column).collect()
    }

    /// Adds the product of two linear forms, row by row; both have a column for every free input.
    fn add_products(&self, out: &mut Columns, p: &[f64], q: &[f64]) {
        let (k, rows) = (self.free.len(), out.rows());
        if rows == 0 {
            return;
        }
        let of = |v: &[f64], a: usize| -> std::ops::Range<usize> {
            debug_assert!(v.len() >= (a + 1) * rows);
            a * rows..(a + 1) * rows
        };
        let mut column = 1 + self.inputs;
        for a in 0..k {
            let (pa, qa) = (&p[of(p, a)], &q[of(q, a)]);
            let all = out.all_mut();
            let (centre, behind) = all.split_at_mut(rows);
            let from = (column - 1) * rows;
            add_square(centre, &mut behind[from..from + rows], pa, qa);
            for b in a + 1..k {
                let at = column + b - a;
                add_crossed(out.column_mut(at), (pa, qa), (&p[of(p, b)], &q[of(q, b)]));
            }
            column += k - a;
        }
    }
}

vectorised! {
    /// p_a q_a e_a^2 = p_a q_a (1 + (2 e_a^2 - 1)) / 2: half of it to the centre and half to the generator.
    fn add_square<'a>(centre: &'a mut [f64], out: &'a mut [f64], p: &'a [f64], q: &'a [f64]) {
        let m = out.len();
        let (centre, p, q) = (&mut centre[..m], &p[..m], &q[..m]);
        for i in 0..m {
            let half = 0.5 * (p[i] * q[i]);
            centre[i] += half;
            out[i] += half;
        }
    }
}

vectorised! {
    /// (p_a q_b + p_b q_a) e_a e_b.
    fn add_crossed<'a>(out: &'a mut [f64], first: (&'a [f64], &'a [f64]), second: (&'a [f64], &'a [f64])) {
        let m = out.len();
        let ((pa, qa), (pb, qb)) = ((&first.0[..m], &first.1[..m]), (&second.0[..m], &second.1[..m]));
        for i in 0..m {
            out[i] += pa[i] * qb[i] + pb[i] * qa[i];
        }
    }
}

/// Sizes of a form row by row: of its part that is linear in the inputs, and of all else but its centre, the error included.
struct Sizes {
    linear: Vec<f64>,
    rest: Vec<f64>,
}

/// D = of_d d + of_y y + product (p + q / 2) q + shift, within `half`.
struct Row {
    of_d: f64,
    of_y: f64,
    product: f64,
    shift: f64,
    half: f64,
}

impl Row {
    /// With slopes along a line around the centre of y; sizes of y and d as in [`Sizes`]. None where numbers are too large.
    fn of(slopes: SlopeLine, (y, d): (Ends, Ends), (c, k): (f64, f64), (of_y, of_d): (Ends, Ends)) -> Option<Self> {
        let SlopeLine { rise, low, high } = slopes;
        let most = |(l, u): Ends| l.abs().max(u.abs());
        let numbers = [rise, low, high, c, k, most(y), most(d), of_y.0, of_y.1, of_d.0, of_d.1];
        if !numbers.iter().all(|v| v.abs() < LARGE) {
            return None;
        }
        let (at, spread) = centred(low, high);
        let by_mean = rise * k;
        let (a, shift) = (at + by_mean, -(by_mean * c) - 0.5 * (by_mean * k));
        let forms = rise.abs() * ((of_y.0 + of_d.0) * of_d.1 + of_y.1 * (of_d.0 + of_d.1) + 0.5 * of_d.1 * of_d.1);
        // Each coefficient is off by at most two roundings of its terms, the constant by four.
        let sizes = (at.abs() + 2.0 * by_mean.abs()) * most(d) + by_mean.abs() * (most(y) + c.abs() + k.abs());
        let half = inflate(mul_up(spread, most(d)) + forms + 8.0 * U * sizes, CHAIN);
        Some(Self { of_d: a, of_y: by_mean, product: rise, shift, half }).filter(|row| row.half.is_finite())
    }

    /// Sets row i; a strip that is thin makes no generator.
    fn write(&self, made: &mut DifferenceTransformer, i: usize, half_of_d: f64) {
        (made.of_d[i], made.of_x[i], made.of_y[i]) = (self.of_d, 0.0, self.of_y);
        (made.fresh1[i], made.fresh2[i]) = (0.0, 0.0);
        let thin = self.half <= THIN * (self.of_d.abs() * half_of_d + self.shift.abs());
        (made.fresh_own[i], made.loose[i]) = if thin { (0.0, self.half) } else { (self.half, 0.0) };
        (made.shift[i], made.product[i]) = (self.shift, self.product);
    }
}
