//! The forms of a layer after ReLU, on the rows that may be nonzero; fresh generators wait for the next product.
//!
//! Recipes ([`super::relu`]) say what becomes of each neuron; here they are applied to whole forms, column by column.

use super::affine::Mass;
use super::columns::Columns;
use super::layer::{After, Layer, OWN};
use super::phase::{Phase, exchange};
use super::reach::Domain;
use super::relu::{self, Recipe, carry};
use crate::numeric::kernels::scale_rows;
use crate::numeric::round::up;
use crate::numeric::vectorised::vectorised;

impl Layer {
    /// Chooses the recipes and applies them.
    pub(super) fn relu(&mut self, domain: Domain, inputs: usize) {
        if domain == Domain::Shared {
            exchange(&mut self.x, &mut self.y, &mut self.d);
        }
        self.recipe1.set(&self.x);
        self.recipe2.set(&self.y);
        let (phase1, phase2, after) = (&self.recipe1.phase, &self.recipe2.phase, &mut self.after);
        after.rows.clear();
        let inactive = |i: usize| phase1[i] == Phase::Inactive && phase2[i] == Phase::Inactive;
        after.rows.extend((0..phase1.len()).filter(|&i| !inactive(i)));
        let After { rows, first, second, fresh1, fresh2, mass1, mass2, factors, .. } = after;
        apply((first, fresh1, mass1), &self.z1, &self.recipe1, &self.mass1, rows, factors);
        apply((second, fresh2, mass2), &self.z2, &self.recipe2, &self.mass2, rows, factors);
        if domain != Domain::Naive {
            self.reciped.set(&self.recipe1, &self.recipe2, &self.d, domain == Domain::Shared);
            self.apply_difference(inputs);
        }
    }

    fn apply_difference(&mut self, inputs: usize) {
        let (r, After { rows, common, rest, copies, factors, .. }) = (&self.reciped, &mut self.after);
        let (k, m) = (rows.len(), r.keep.len());
        factors.clear();
        factors.extend(rows.iter().map(|&i| r.keep[i]));
        common.reshape(k, self.dp.len());
        scale_rows(common.all_mut(), self.dp.all(), m, rows, factors);
        rest.reshape(k, self.dq.len());
        scale_rows(rest.all_mut(), self.dq.all(), m, rows, factors);
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
        self.carry_difference();
    }

    /// The masses of the difference behind ReLU.
    fn carry_difference(&mut self) {
        let columns = self.after.common.len() + self.after.rest.len();
        self.after.massd.clear(self.z1.rows());
        carry_three(
            &mut self.after.massd,
            [
                (&self.reciped.keep, &self.massd, self.dp.column(0)),
                (&self.reciped.first, &self.mass1, self.z1.column(0)),
                (&self.reciped.second, &self.mass2, self.z2.column(0)),
            ],
            &self.reciped.shift,
            [&self.reciped.k1, &self.reciped.k2, &self.reciped.kd],
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
    (after, fresh, out): (&mut Columns, &mut Vec<(usize, f64)>, &mut Mass),
    form: &Columns,
    recipe: &Recipe,
    mass: &Mass,
    rows: &[usize],
    factors: &mut Vec<f64>,
) {
    factors.clear();
    factors.extend(rows.iter().map(|&i| recipe.slope[i]));
    after.reshape(rows.len(), form.len());
    scale_rows(after.all_mut(), form.all(), form.rows(), rows, factors);
    after.column_mut(0).iter_mut().zip(rows).for_each(|(o, &i)| *o += recipe.fresh[i]);
    fresh.clear();
    fresh.extend(rows.iter().enumerate().map(|(j, &i)| (j, recipe.fresh[i])).filter(|&(_, mu)| mu != 0.0));
    out.clear(form.rows());
    carry_one(out, (&recipe.slope, mass, form.column(0)), &recipe.fresh, relu::underflow(form.len()));
}

/// A coefficient per row, and what it multiplies: masses and centre.
type Term<'a> = (&'a [f64], &'a Mass, &'a [f64]);

vectorised! {
    /// Masses behind the ReLU of one network.
    fn carry_one<'a>(out: &'a mut Mass, term: Term<'a>, fresh: &'a [f64], underflow: f64) {
        let (slope, mass, centre) = term;
        let m = centre.len();
        let (slope, fresh, magnitude, err) = (&slope[..m], &fresh[..m], &mass.magnitude[..m], &mass.err[..m]);
        let (new_magnitude, new_err) = (&mut out.magnitude[..m], &mut out.err[..m]);
        for i in 0..m {
            let terms = [(slope[i], up(magnitude[i] + centre[i].abs()), err[i]), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)];
            (new_err[i], new_magnitude[i]) = carry(terms, fresh[i], fresh[i], underflow);
        }
    }
}

vectorised! {
    /// Masses behind ReLU of a combination of three forms.
    fn carry_three<'a>(out: &'a mut Mass, terms: [Term<'a>; 3], shift: &'a [f64], fresh: [&'a [f64]; 3], underflow: f64) {
        let m = shift.len();
        let [(a, ma, ca), (b, mb, cb), (c, mc, cc)] = terms.map(|(k, mass, centre)| (&k[..m], mass, &centre[..m]));
        let [(ma, ea), (mb, eb), (mc, ec)] = [ma, mb, mc].map(|mass| (&mass.magnitude[..m], &mass.err[..m]));
        let [k1, k2, kd] = fresh.map(|k| &k[..m]);
        let (new_magnitude, new_err) = (&mut out.magnitude[..m], &mut out.err[..m]);
        for i in 0..m {
            let size = |mass: &[f64], centre: &[f64]| up(mass[i] + centre[i].abs());
            let terms = [(a[i], size(ma, ca), ea[i]), (b[i], size(mb, cb), eb[i]), (c[i], size(mc, cc), ec[i])];
            (new_err[i], new_magnitude[i]) = carry(terms, shift[i], k1[i].abs() + k2[i].abs() + kd[i], underflow);
        }
    }
}
