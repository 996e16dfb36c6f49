//! The forms of a layer after ReLU, on the rows that may be nonzero; fresh generators wait for the next product.
//!
//! Recipes ([`super::relu`]) say what becomes of each neuron; here they are applied to whole forms, column by column.

use super::abstract_domain::AbstractDomain;
use super::affine::Extent;
use super::columns::Columns;
use super::layer_state::{LayerState, OWN, Postactivation};
use super::phase::{Phase, reduce};
use super::relu::{self, ReluTransformer, propagate_error};
use crate::numeric::kernels::scale_rows;
use crate::numeric::round::up;
use crate::numeric::vectorised::vectorised;

impl LayerState {
    /// Chooses the recipes and applies them.
    pub(super) fn relu(&mut self, domain: AbstractDomain, inputs: usize) {
        if domain == AbstractDomain::Reduced {
            reduce(&mut self.x, &mut self.y, &mut self.d);
        }
        self.relu1.set(&self.x);
        self.relu2.set(&self.y);
        let (phase1, phase2, after) = (&self.relu1.phase, &self.relu2.phase, &mut self.after);
        after.rows.clear();
        let inactive = |i: usize| phase1[i] == Phase::Inactive && phase2[i] == Phase::Inactive;
        after.rows.extend((0..phase1.len()).filter(|&i| !inactive(i)));
        let Postactivation { rows, first, second, fresh1, fresh2, extent1, extent2, factors, .. } = after;
        apply((first, fresh1, extent1), &self.z1, &self.relu1, &self.extent1, rows, factors);
        apply((second, fresh2, extent2), &self.z2, &self.relu2, &self.extent2, rows, factors);
        if domain != AbstractDomain::Independent {
            self.relu_d.set(&self.relu1, &self.relu2, &self.d, domain == AbstractDomain::Reduced);
            self.apply_difference(inputs);
        }
    }

    fn apply_difference(&mut self, inputs: usize) {
        let (r, Postactivation { rows, common, rest, copies, factors, .. }) = (&self.relu_d, &mut self.after);
        let (k, m) = (rows.len(), r.keep.len());
        factors.clear();
        factors.extend(rows.iter().map(|&i| r.keep[i]));
        common.reshape(k, self.d_common.len());
        scale_rows(common.all_mut(), self.d_common.all(), m, rows, factors);
        rest.reshape(k, self.d_rest.len());
        scale_rows(rest.all_mut(), self.d_rest.all(), m, rows, factors);
        list_copies(copies, rows, &r.second);
        if !copies.is_empty() {
            (0..common.len()).for_each(|j| add_scaled(common.column_mut(j), self.z2.column(j), copies));
        }
        list_copies(copies, rows, &r.first);
        if !copies.is_empty() {
            (0..=inputs).for_each(|j| add_scaled(common.column_mut(j), self.z1.column(j), copies));
            let x = |a: usize| self.z1.column(1 + inputs + a);
            for (j, &source) in self.source.iter().enumerate().filter(|&(_, &s)| s != OWN) {
                add_scaled(rest.column_mut(j), x(source as usize), copies);
            }
            // Rows that copy x bring in every a1 that x has.
            for (a, place) in self.place.iter_mut().enumerate().filter(|(_, p)| **p == OWN) {
                *place = u32::try_from(rest.len()).unwrap_or(OWN - 1);
                self.source.push(u32::try_from(a).unwrap_or(OWN - 1));
                let out = rest.push();
                out.fill(0.0);
                add_scaled(out, x(a), copies);
            }
        }
        common.column_mut(0).iter_mut().zip(rows.iter()).for_each(|(o, &i)| *o += r.shift[i]);
        self.propagate_difference_error();
    }

    /// The masses of the difference behind ReLU.
    fn propagate_difference_error(&mut self) {
        let columns = self.after.common.len() + self.after.rest.len();
        self.after.extent_d.clear(self.z1.rows());
        propagate_three(
            &mut self.after.extent_d,
            [
                (&self.relu_d.keep, &self.extent_d, self.d_common.column(0)),
                (&self.relu_d.first, &self.extent1, self.z1.column(0)),
                (&self.relu_d.second, &self.extent2, self.z2.column(0)),
            ],
            &self.relu_d.shift,
            [&self.relu_d.k1, &self.relu_d.k2, &self.relu_d.kd],
            relu::underflow(columns),
        );
    }
}

/// The rows that copy something of another form: (index in `rows`, row, coefficient).
fn list_copies(copies: &mut Vec<(usize, usize, f64)>, rows: &[usize], coefficients: &[f64]) {
    copies.clear();
    copies.extend(rows.iter().enumerate().map(|(j, &i)| (j, i, coefficients[i])).filter(|&(_, _, c)| c != 0.0));
}

/// out += coefficient * column on a few rows.
fn add_scaled(out: &mut [f64], column: &[f64], entries: &[(usize, usize, f64)]) {
    for &(row, i, coefficient) in entries {
        out[row] += coefficient * column[i];
    }
}

/// X = slope x + fresh (1 + a) on `rows`, the fresh generators as a list.
fn apply(
    (after, fresh, out): (&mut Columns, &mut Vec<(usize, f64)>, &mut Extent),
    form: &Columns,
    transformer: &ReluTransformer,
    mass: &Extent,
    rows: &[usize],
    factors: &mut Vec<f64>,
) {
    factors.clear();
    factors.extend(rows.iter().map(|&i| transformer.slope[i]));
    after.reshape(rows.len(), form.len());
    scale_rows(after.all_mut(), form.all(), form.rows(), rows, factors);
    after.column_mut(0).iter_mut().zip(rows).for_each(|(o, &i)| *o += transformer.fresh[i]);
    fresh.clear();
    fresh.extend(rows.iter().enumerate().map(|(j, &i)| (j, transformer.fresh[i])).filter(|&(_, mu)| mu != 0.0));
    out.clear(form.rows());
    propagate_one(out, (&transformer.slope, mass, form.column(0)), &transformer.fresh, relu::underflow(form.len()));
}

/// A coefficient per row, and what it multiplies: masses and centre.
type Term<'a> = (&'a [f64], &'a Extent, &'a [f64]);

vectorised! {
    /// Masses behind the ReLU of one network.
    fn propagate_one<'a>(out: &'a mut Extent, term: Term<'a>, fresh: &'a [f64], underflow: f64) {
        let (slope, mass, centre) = term;
        let m = centre.len();
        let (slope, fresh, magnitude, err) = (&slope[..m], &fresh[..m], &mass.magnitude[..m], &mass.err[..m]);
        let (new_magnitude, new_err) = (&mut out.magnitude[..m], &mut out.err[..m]);
        for i in 0..m {
            let terms = [(slope[i], up(magnitude[i] + centre[i].abs()), err[i]), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)];
            (new_err[i], new_magnitude[i]) = propagate_error(terms, fresh[i], fresh[i], underflow);
        }
    }
}

vectorised! {
    /// Masses behind ReLU of a combination of three forms.
    fn propagate_three<'a>(out: &'a mut Extent, terms: [Term<'a>; 3], shift: &'a [f64], fresh: [&'a [f64]; 3], underflow: f64) {
        let m = shift.len();
        let [(a, ma, ca), (b, mb, cb), (c, mc, cc)] = terms.map(|(k, mass, centre)| (&k[..m], mass, &centre[..m]));
        let [(ma, ea), (mb, eb), (mc, ec)] = [ma, mb, mc].map(|mass| (&mass.magnitude[..m], &mass.err[..m]));
        let [k1, k2, kd] = fresh.map(|k| &k[..m]);
        let (new_magnitude, new_err) = (&mut out.magnitude[..m], &mut out.err[..m]);
        for i in 0..m {
            let size = |mass: &[f64], centre: &[f64]| up(mass[i] + centre[i].abs());
            let terms = [(a[i], size(ma, ca), ea[i]), (b[i], size(mb, cb), eb[i]), (c[i], size(mc, cc), ec[i])];
            (new_err[i], new_magnitude[i]) = propagate_error(terms, shift[i], k1[i].abs() + k2[i].abs() + kd[i], underflow);
        }
    }
}
