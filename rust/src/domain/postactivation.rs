//! The forms of a step behind its function, on the rows that may be nonzero, or on all where few are 0: picking rows of
//! forms and columns of matrices costs more than products with some zeros. Fresh generators become columns only in later
//! products.
//!
//! The transformers ([`super::transformer`]) say what becomes of each neuron; here they are applied to whole forms, column by
//! column.

use super::abstract_domain::AbstractDomain;
use super::affine::Extent;
use super::carried_errors::Taken;
use super::columns::Columns;
use super::input_products::InputProducts;
use super::layer_state::{Generators, LayerState, Postactivation, Source};
use super::phase::{Phase, reduce};
use super::possibly_active::worth_leaving_out;
use super::transformer::{self, Transformer, propagate_error};
use crate::network::Function;
use crate::numeric::kernels::scale_rows;
use crate::numeric::round::{add_up, up};
use crate::numeric::vectorised::vectorised;

impl LayerState {
    /// Chooses the transformers of this step's function and applies them. With `planes` differences may lie beside planes, and
    /// with `takes_up` errors may become parts of generators ([`super::carried_errors`]).
    pub(super) fn apply_function(
        &mut self,
        (function, other): (&Function, &Function),
        (domain, planes, takes_up): (AbstractDomain, bool, bool),
        (generators, products): (&mut Generators, Option<&InputProducts>),
    ) {
        if domain == AbstractDomain::Reduced {
            reduce(&mut self.x, &mut self.y, &mut self.d);
        }
        let curves = function.curves().zip(other.curves()).map(|(first, second)| [first, second]);
        self.curved = curves.is_some();
        match (curves, function) {
            (Some([first, second]), _) => {
                self.transformer1.set_curves(first, &self.x, None);
                self.transformer2.set_curves(second, &self.y, Some((&self.transformer1, &self.x)));
            }
            (None, Function::Relu) => {
                self.transformer1.set_relu(&self.x);
                self.transformer2.set_relu(&self.y);
            }
            (None, _) => {
                self.transformer1.pass(self.x.lower.len());
                self.transformer2.pass(self.x.lower.len());
            }
        }
        let (mut taken1, mut taken2) = (Taken::new(), Taken::new());
        let rows = [&mut self.transformer1.with_errors, &mut self.transformer2.with_errors];
        rows.into_iter().chain([&mut self.transformer_d.with_errors]).for_each(Vec::clear);
        let takes_up = takes_up && self.curved && products.is_none();
        if takes_up {
            taken1 = self.transformer1.take_up_errors(&self.extent1, &self.x);
            taken2 = self.transformer2.take_up_errors(&self.extent2, &self.y);
        }
        if domain != AbstractDomain::Independent {
            let (transformers, share) = ((&self.transformer1, &self.transformer2), domain == AbstractDomain::Reduced);
            match curves {
                Some(curves) => {
                    let bounds = (&self.x, &self.y, &self.d);
                    self.transformer_d.set_curves(curves, transformers, bounds, (share, share && planes));
                }
                None => self.transformer_d.set_relu(transformers.0, transformers.1, &self.d, share),
            }
            if takes_up {
                let extents = [&self.extent_d, &self.extent1, &self.extent2];
                let networks = [(&self.transformer1, &taken1[..]), (&self.transformer2, &taken2[..])];
                self.transformer_d.take_up_errors(extents, [&self.d, &self.x, &self.y], networks);
            }
        }
        let products = products.filter(|_| self.curved);
        if let (Some(products), Some(curves)) = (products, curves) {
            products.choose(self, curves);
        }
        let (phase1, phase2, after) = (&self.transformer1.phase, &self.transformer2.phase, &mut self.after);
        let (m, inactive) = (phase1.len(), |i: usize| phase1[i] == Phase::Inactive && phase2[i] == Phase::Inactive);
        after.nonzero.clear();
        after.nonzero.extend((0..m).filter(|&i| !inactive(i)));
        after.rows.clear();
        if domain == AbstractDomain::Reduced && !worth_leaving_out(m - after.nonzero.len(), m) {
            after.rows.extend(0..m);
        } else {
            after.rows.extend_from_slice(&after.nonzero);
        }
        (after.from1, after.from2) = (generators.columns1(), generators.columns2());
        let Postactivation { rows, first, second, fresh1, fresh2, extent1, extent2, factors, .. } = after;
        self.extent1.without(&taken1);
        self.extent2.without(&taken2);
        apply((first, fresh1, extent1), &self.z1, &self.transformer1, &self.extent1, rows, factors);
        apply((second, fresh2, extent2), &self.z2, &self.transformer2, &self.extent2, rows, factors);
        self.extent1.restore(&taken1);
        self.extent2.restore(&taken2);
        if let Some(products) = products {
            products.add_squares((first, extent1), (&self.z1, &self.extent1), &self.transformer1, rows);
            products.add_squares((second, extent2), (&self.z2, &self.extent2), &self.transformer2, rows);
        }
        generators.first += fresh1.len();
        generators.second += fresh2.len();
        if domain != AbstractDomain::Independent {
            self.apply_difference(generators);
            if let Some(products) = products {
                products.add_products_of_difference(self);
            }
        }
    }

    fn apply_difference(&mut self, generators: &mut Generators) {
        let inputs = generators.inputs;
        let (r, Postactivation { rows, common, rest, additions, factors, .. }) = (&self.transformer_d, &mut self.after);
        let (k, m) = (rows.len(), r.of_d.len());
        factors.clear();
        factors.extend(rows.iter().map(|&i| r.of_d[i]));
        common.reshape(k, self.d_common.len());
        scale_rows(common.all_mut(), self.d_common.all(), m, rows, factors);
        rest.reshape(k, self.d_rest.len());
        scale_rows(rest.all_mut(), self.d_rest.all(), m, rows, factors);
        list_additions(additions, rows, &r.of_y);
        if !additions.is_empty() {
            (0..common.len()).for_each(|j| add_scaled(common.column_mut(j), self.z2.column(j), additions));
        }
        list_additions(additions, rows, &r.of_x);
        if !additions.is_empty() {
            (0..=inputs).for_each(|j| add_scaled(common.column_mut(j), self.z1.column(j), additions));
            // Rows to which x is added use every a1 that x has.
            for (a, x) in (1 + inputs..self.z1.len()).map(|j| self.z1.column(j)).enumerate() {
                let column = match generators.columns[a] {
                    Some(column) => column,
                    None => generators.push(Source::First(a)),
                };
                while rest.len() <= column {
                    rest.push().fill(0.0);
                }
                add_scaled(rest.column_mut(column), x, additions);
            }
        }
        common.column_mut(0).iter_mut().zip(rows.iter()).for_each(|(o, &i)| *o += r.shift[i]);
        self.list_fresh_rest(generators);
        self.propagate_difference_error();
    }

    /// The fresh generators of the difference: those of f1 that it uses, and its own.
    fn list_fresh_rest(&mut self, generators: &mut Generators) {
        let (factors, own) = (&self.transformer_d.fresh1, &self.transformer_d.fresh_own);
        let Postactivation { rows, fresh1, fresh_rest, from_rest, own_before, .. } = &mut self.after;
        (*from_rest, *own_before) = (generators.sources.len(), generators.own);
        fresh_rest.clear();
        for &(j, _) in fresh1.iter() {
            generators.columns.push(None);
            let factor = factors[rows[j]];
            if factor != 0.0 {
                generators.push(Source::First(generators.columns.len() - 1));
                fresh_rest.push((j, factor));
            }
        }
        for (j, &i) in rows.iter().enumerate().filter(|&(_, &i)| own[i] != 0.0) {
            generators.push(Source::Own);
            fresh_rest.push((j, own[i]));
        }
    }

    /// The extent of the difference behind the function.
    fn propagate_difference_error(&mut self) {
        let columns = self.after.common.len() + self.after.rest.len();
        self.after.extent_d.clear(self.z1.rows());
        propagate_three(
            &mut self.after.extent_d,
            [
                (&self.transformer_d.of_d, &self.extent_d, self.d_common.column(0)),
                (&self.transformer_d.of_x, &self.extent1, self.z1.column(0)),
                (&self.transformer_d.of_y, &self.extent2, self.z2.column(0)),
            ],
            &self.transformer_d.shift,
            [&self.transformer_d.fresh1, &self.transformer_d.fresh2, &self.transformer_d.fresh_own],
            transformer::underflow(columns),
        );
        loosen(&mut self.after.extent_d, &self.transformer_d.loose);
        self.propagate_rows_with_errors();
    }

    /// The extents of rows of the difference whose errors are taken up: as they would be of forms without errors.
    fn propagate_rows_with_errors(&mut self) {
        let r = &self.transformer_d;
        let columns = self.after.common.len() + self.after.rest.len();
        for &i in &r.with_errors {
            let size = |extent: &Extent, form: &Columns| up(extent.magnitude[i] + form.column(0)[i].abs());
            let terms = [
                (r.of_d[i], size(&self.extent_d, &self.d_common), 0.0),
                (r.of_x[i], size(&self.extent1, &self.z1), 0.0),
                (r.of_y[i], size(&self.extent2, &self.z2), 0.0),
            ];
            let fresh = r.fresh1[i].abs() + r.fresh2[i].abs() + r.fresh_own[i];
            let out = &mut self.after.extent_d;
            (out.err[i], out.magnitude[i]) = propagate_error(terms, r.shift[i], fresh, transformer::underflow(columns));
        }
    }
}

/// Where a form is added to the difference with a nonzero coefficient: index in `rows`, row, coefficient.
fn list_additions(additions: &mut Vec<(usize, usize, f64)>, rows: &[usize], coefficients: &[f64]) {
    additions.clear();
    additions.extend(rows.iter().enumerate().map(|(j, &i)| (j, i, coefficients[i])).filter(|&(_, _, c)| c != 0.0));
}

/// Adds coefficient * column to `out` on a few rows.
fn add_scaled(out: &mut [f64], column: &[f64], entries: &[(usize, usize, f64)]) {
    for &(row, i, coefficient) in entries {
        out[row] += coefficient * column[i];
    }
}

/// Applies X = slope x + shift + fresh a on `rows`; the fresh generators become a list.
fn apply(
    (after, fresh, out): (&mut Columns, &mut Vec<(usize, f64)>, &mut Extent),
    form: &Columns,
    transformer: &Transformer,
    extent: &Extent,
    rows: &[usize],
    factors: &mut Vec<f64>,
) {
    factors.clear();
    factors.extend(rows.iter().map(|&i| transformer.slope[i]));
    after.reshape(rows.len(), form.len());
    scale_rows(after.all_mut(), form.all(), form.rows(), rows, factors);
    after.column_mut(0).iter_mut().zip(rows).for_each(|(o, &i)| *o += transformer.shift[i]);
    fresh.clear();
    fresh.extend(rows.iter().enumerate().map(|(j, &i)| (j, transformer.fresh[i])).filter(|&(_, mu)| mu != 0.0));
    out.clear(form.rows());
    let own = (transformer.shift.as_slice(), transformer.fresh.as_slice());
    propagate_one(out, (&transformer.slope, extent, form.column(0)), own, transformer::underflow(form.len()));
    loosen(out, &transformer.loose);
}

/// Adds to the error radii what makes no generator.
fn loosen(extent: &mut Extent, loose: &[f64]) {
    for (err, off) in extent.err.iter_mut().zip(loose).filter(|(_, off)| **off != 0.0) {
        *err = add_up(*err, *off);
    }
}

/// A coefficient for every row, and what it multiplies: the extent and the centre of a form.
type Term<'a> = (&'a [f64], &'a Extent, &'a [f64]);

vectorised! {
    /// The extent of the form of one network behind the function.
    fn propagate_one<'a>(out: &'a mut Extent, term: Term<'a>, own: (&'a [f64], &'a [f64]), underflow: f64) {
        let ((slope, extent, centre), (shift, fresh)) = (term, own);
        let m = centre.len();
        let (slope, magnitude, err) = (&slope[..m], &extent.magnitude[..m], &extent.err[..m]);
        let (shift, fresh) = (&shift[..m], &fresh[..m]);
        let (new_magnitude, new_err) = (&mut out.magnitude[..m], &mut out.err[..m]);
        for i in 0..m {
            let terms = [(slope[i], up(magnitude[i] + centre[i].abs()), err[i]), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)];
            (new_err[i], new_magnitude[i]) = propagate_error(terms, shift[i], fresh[i], underflow);
        }
    }
}

vectorised! {
    /// The extent of a combination of three forms behind the function.
    fn propagate_three<'a>(
        out: &'a mut Extent,
        terms: [Term<'a>; 3],
        shift: &'a [f64],
        fresh: [&'a [f64]; 3],
        underflow: f64,
    ) {
        let m = shift.len();
        let [(a, ma, ca), (b, mb, cb), (c, mc, cc)] = terms.map(|(k, extent, centre)| (&k[..m], extent, &centre[..m]));
        let [(ma, ea), (mb, eb), (mc, ec)] = [ma, mb, mc].map(|extent| (&extent.magnitude[..m], &extent.err[..m]));
        let [fresh1, fresh2, own] = fresh.map(|k| &k[..m]);
        let (new_magnitude, new_err) = (&mut out.magnitude[..m], &mut out.err[..m]);
        for i in 0..m {
            let size = |extent: &[f64], centre: &[f64]| up(extent[i] + centre[i].abs());
            let terms = [(a[i], size(ma, ca), ea[i]), (b[i], size(mb, cb), eb[i]), (c[i], size(mc, cc), ec[i])];
            let fresh = fresh1[i].abs() + fresh2[i].abs() + own[i];
            (new_err[i], new_magnitude[i]) = propagate_error(terms, shift[i], fresh, underflow);
        }
    }
}
