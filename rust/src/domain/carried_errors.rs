//! Error radii that have grown become parts of generators.
//!
//! An error radius passes a step by the sizes of its weights, where generators cancel: along a recurrent network rounding of
//! 1e-16 grows by the sum of a row's sizes from place to place, and comes to more than everything else after some twenty
//! places. So where a function other than ReLU carries over an error that is not nothing beside the reach of its row, it is
//! counted with what the function adds, in the fresh generator, whose sign later steps know.
//!
//! # Soundness
//! Let x = form + e with |e| <= err, and F(x) = slope x + shift + t with |t| <= fresh + loose on the range of the row, which
//! holds for x itself. Then F(x) - slope form - shift = t + slope e is at most fresh + loose + |slope| err in size, and the
//! fresh generator is this over its size, by definition: nothing is left of the error of the row but the rounding of its new
//! entries.
//!
//! A difference that is a strip or a plane uses no generator of the networks, and its error is taken up by its own one in the
//! same way. One that is the difference of both rows, slope1 x - slope2 y + shift + t1 - t2, holds t1 + slope1 e1 where it
//! uses the generator of x, and so is off by |slope1| err1 more than its own errors say, and likewise for y: that is added to its
//! own generator.
//!
//! The own generator of such a difference is not what the strip adds alone, as Euclidean norms have it
//! ([`super::euclidean`]), which leave these rows out; and roundings that are taken together ([`super::joint_rounding`]) say what
//! generators are themselves, so that errors of networks that round stay.

use super::affine::Extent;
use super::phase::Bounds;
use super::transformer::{DifferenceTransformer, Transformer};
use crate::numeric::round::{add_up, mul_up};

/// The share of the reach of a row from which on an error is taken up.
const SHARE: f64 = 1e-9;

/// Errors that were taken up: rows, and what the error of their form is.
pub(super) type Taken = Vec<(usize, f64)>;

/// The error radius that a row with these coefficients, errors and bounds carries over, if it is to be taken up.
fn carried<'a>(terms: impl Iterator<Item = (f64, &'a Extent, &'a Bounds)> + Clone, i: usize) -> Option<f64> {
    let parts = |(error, reach), (coefficient, extent, bounds): (f64, &Extent, &Bounds)| {
        let size = coefficient.abs();
        (error + size * extent.err[i], reach + size * (0.5 * bounds.upper[i] - 0.5 * bounds.lower[i]))
    };
    let (about, reach) = terms.clone().fold((0.0, 0.0), parts);
    // Where nothing is carried over the row may be exact, and stays so.
    if about <= SHARE * reach || !about.is_finite() {
        return None;
    }
    Some(terms.fold(0.0, |sum, (coefficient, extent, _)| add_up(sum, mul_up(coefficient.abs(), extent.err[i]))))
}

impl Transformer {
    /// Takes up errors of the form of one network.
    pub(super) fn take_up_errors(&mut self, extent: &Extent, bounds: &Bounds) -> Taken {
        let mut taken = Taken::new();
        for i in 0..self.slope.len() {
            if let Some(error) = carried(std::iter::once((self.slope[i], extent, bounds)), i) {
                self.fresh[i] = add_up(add_up(self.fresh[i], self.loose[i]), error);
                self.loose[i] = 0.0;
                self.with_errors.push(i);
                taken.push((i, extent.err[i]));
            }
        }
        taken
    }
}

impl DifferenceTransformer {
    /// Takes up errors of the forms of d, x and y; the rows are kept. `networks` are those whose own errors were taken up.
    pub(super) fn take_up_errors(
        &mut self,
        extents: [&Extent; 3],
        bounds: [&Bounds; 3],
        networks: [(&Transformer, &[(usize, f64)]); 2],
    ) {
        for i in 0..self.of_d.len() {
            let coefficients = [self.of_d[i], self.of_x[i], self.of_y[i]];
            let terms =
                coefficients.into_iter().zip(extents).zip(bounds).map(|((c, extent), bounds)| (c, extent, bounds));
            if let Some(error) = carried(terms, i) {
                self.fresh_own[i] = add_up(add_up(self.fresh_own[i], self.loose[i]), error);
                self.loose[i] = 0.0;
                self.with_errors.push(i);
            }
        }
        for ((transformer, taken), used) in networks.into_iter().zip([&self.fresh1, &self.fresh2]) {
            for &(i, error) in taken.iter().filter(|(i, _)| used[*i] != 0.0) {
                self.fresh_own[i] = add_up(self.fresh_own[i], mul_up(transformer.slope[i].abs(), error));
            }
        }
    }
}

impl Extent {
    /// Sets the errors of these rows to 0.
    pub(super) fn without(&mut self, taken: &[(usize, f64)]) {
        for &(i, _) in taken {
            self.err[i] = 0.0;
        }
    }

    /// Sets the errors of these rows to what they were.
    pub(super) fn restore(&mut self, taken: &[(usize, f64)]) {
        for &(i, error) in taken {
            self.err[i] = error;
        }
    }
}
