//! Sums whose terms have one sign: no rounding carries their intervals to the other side of the bias.
//!
//! A sum of k products in binary64 is off by its rounding, so that the interval of a sum of squares begins a little below
//! 0, where its root has no value. Where no term of `A v + b` can be negative the sum is at least b, and where none can be
//! positive at most b, in real numbers and whatever was rounded. Asked of the rows alone whose interval passes b by
//! rounding: where all terms have one sign it does so by no more.

use super::intermediate_bounds::IntermediateBounds;
use super::phase::Bounds;
use crate::network::{Origin, Pair, Step, Tile};
use crate::numeric::round::{add_up, sub_down};

/// What rounding may be of the width of an interval, which is far more than it is.
const ROUNDING: f64 = 1e-9;
/// The same where all is 0 but for what is added for underflows, some 1e-270 a product.
const UNDERFLOW: f64 = 1e-200;

/// Moves ends that lie beyond the bias by rounding to it, in the rows of one network's step whose terms have one sign.
pub fn meet(pair: &Pair, which: usize, step: usize, known: &IntermediateBounds, bounds: &mut Bounds) {
    let own = if which == 0 { &pair.first[step] } else { &pair.second[step] };
    for i in 0..own.rows {
        let (bias, error) = (own.bias[i], own.bias_error.as_ref().map_or(0.0, |e| e[i]));
        // An exact bias stays what it is: a number just below 0 has no root.
        let (least, most) = if error == 0.0 { (bias, bias) } else { (sub_down(bias, error), add_up(bias, error)) };
        let (l, u) = (bounds.lower[i], bounds.upper[i]);
        let rounding = ROUNDING * (u - l) + UNDERFLOW;
        let above = |(l, _): (f64, f64)| l >= 0.0;
        let below = |(_, u): (f64, f64)| u <= 0.0;
        if l < least && least - l <= rounding && all_terms(pair, which, own, i, known, above) {
            bounds.lower[i] = least;
        }
        if u > most && u - most <= rounding && all_terms(pair, which, own, i, known, below) {
            bounds.upper[i] = most;
        }
    }
}

/// Whether this holds of the interval of each term of a row, of which only signs are right.
fn all_terms(
    pair: &Pair,
    which: usize,
    own: &Step,
    row: usize,
    known: &IntermediateBounds,
    holds: impl Fn((f64, f64)) -> bool,
) -> bool {
    let mut all = true;
    for term in &own.terms {
        term.tile.row(row, |column, place| {
            all =
                all && signs(&term.tile, place, || behind(pair, which, known, term.origin, column)).is_some_and(&holds);
        });
    }
    all
}

/// An interval with the signs of a product; none where the sign of its weight is not known.
fn signs(tile: &Tile, place: usize, value: impl Fn() -> (f64, f64)) -> Option<(f64, f64)> {
    let (weight, error) = (tile.weight[place], tile.weight_error.as_ref().map_or(0.0, |e| e[place]));
    if weight == 0.0 && error == 0.0 {
        return Some((0.0, 0.0));
    }
    let (l, u) = value();
    if weight >= error {
        Some((l, u))
    } else if -weight >= error {
        Some((-u, -l))
    } else {
        None
    }
}

/// The range of one value that a step reads, behind its function.
fn behind(pair: &Pair, which: usize, known: &IntermediateBounds, origin: Origin, i: usize) -> (f64, f64) {
    let Origin::Step(j) = origin else { return (known.lower[i], known.upper[i]) };
    let of = if which == 0 { &known.layers[j].x } else { &known.layers[j].y };
    let (l, u) = (of.lower[i], of.upper[i]);
    match pair.curves(j) {
        Some(curves) => curves[which].of(i).range(l, u),
        None if pair.function(j).is_identity() => (l, u),
        None => (l.max(0.0), u.max(0.0)),
    }
}
