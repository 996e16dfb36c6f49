//! The form of one value behind a function, over the generators of a row of the outputs ([`GeneratorRow`]): at the
//! assignment of the generators that an input gives, the value lies within the form's error radius of it, and so slope
//! times the form may stand for slope times the value in any sum over the same generators.

use super::layer_state::LayerState;
use super::output::GeneratorRow;
use crate::numeric::round::{TINY, add_up, gamma, inflate};

/// Which value it is, and where generators lie in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValuePlace {
    /// Whether it is one of the second network.
    pub second: bool,
    /// Its step.
    pub step: usize,
    /// Its row there.
    pub row: usize,
    /// The number of generators of the inputs.
    pub inputs: usize,
    /// Where the generators of its network begin in a row.
    pub own: usize,
}

impl ValuePlace {
    /// Calls `visit` with every generator of the form and its coefficient; gives the centre. Rows that enter no later
    /// product are 0.
    fn visit(&self, layers: &[LayerState], mut visit: impl FnMut(usize, f64)) -> f64 {
        let after = &layers[self.step].after;
        let Ok(place) = after.rows.binary_search(&self.row) else { return 0.0 };
        let (form, fresh, from) = if self.second {
            (&after.second, &after.fresh2, after.from2)
        } else {
            (&after.first, &after.fresh1, after.from1)
        };
        let number =
            |column: usize| if column <= self.inputs { column - 1 } else { self.own + column - 1 - self.inputs };
        for column in 1..form.len() {
            visit(number(column), form.column(column)[place]);
        }
        if let Ok(k) = fresh.binary_search_by_key(&place, |&(at, _)| at) {
            visit(number(from + k), fresh[k].1);
        }
        if form.is_empty() { 0.0 } else { form.column(0)[place] }
    }

    /// Whether the form was freed, as large ones are once no step reads them any more ([`super::propagation`]).
    pub fn freed(&self, layers: &[LayerState]) -> bool {
        let after = &layers[self.step].after;
        if self.second { after.second.is_empty() } else { after.first.is_empty() }
    }

    /// The first number that is beyond all generators of the form.
    pub fn end(&self, layers: &[LayerState]) -> usize {
        let after = &layers[self.step].after;
        let columns = if self.second {
            after.second.len().max(after.columns2())
        } else {
            after.first.len().max(after.columns1())
        };
        self.own + columns.saturating_sub(1 + self.inputs)
    }

    /// By how much the sum of absolute values of a row grows if slope times the form is added, without rounding.
    pub fn change(&self, row: &GeneratorRow, slope: f64, layers: &[LayerState]) -> f64 {
        let mut change = 0.0;
        self.visit(layers, |number, of_form| {
            let before = row.generators[number];
            change += (before + slope * of_form).abs() - before.abs();
        });
        change
    }

    /// At least the sum of absolute values of the form, the centre included.
    pub fn size(&self, layers: &[LayerState]) -> f64 {
        let after = &layers[self.step].after;
        (if self.second { &after.extent2 } else { &after.extent1 }).magnitude[self.row]
    }

    /// Adds slope times the form to a row: centre, generators, and error with what is rounded here.
    pub fn add(&self, row: &mut GeneratorRow, slope: f64, layers: &[LayerState]) {
        let (mut size, mut count) = (0.0, 1.0);
        let generators = &mut row.generators;
        let centre = self.visit(layers, |number, of_form| {
            let product = slope * of_form;
            generators[number] += product;
            size += product.abs() + generators[number].abs();
            count += 1.0;
        });
        row.centre += slope * centre;
        size += (slope * centre).abs() + row.centre.abs();
        let after = &layers[self.step].after;
        let err = (if self.second { &after.extent2 } else { &after.extent1 }).err[self.row];
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let roundings = 2 * count as usize + 8;
        row.err = add_up(row.err, inflate(slope.abs() * err + gamma(4) * size + TINY * count, roundings));
    }
}
