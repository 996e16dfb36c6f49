//! Lines below and above the difference D of functions other than ReLU.
//!
//! D lies between min(m d, M d) and max(m d, M d), where [m, M] are all slopes of f on both ranges, and so between the
//! chords of these, as in [`crate::domain::strip`], which also says when h(x) - h(y) is known better.
//!
//! Where x is on one piece of a function, y may still be beyond a knot by as much as d, so that more than one slope is possible.
//! But with the slope sigma of f at x, h(t) = f(t) - sigma t is constant on the range of x, and D - sigma d = h(x) - h(y) lies between
//! the least h(x) minus the greatest h(y) and the greatest minus the least, which are ends of strips
//! ([`crate::domain::strip::Rise`]). So lines with the slopes of f at x and of g at y are tried beside the chords, and on each
//! side that one is taken which is nearer to D in the middle of the range of d. (ReLU: [`super::own_relaxations`].)
//!
//! Where d is far from 0, D varies more with the slope of f, which depends on y, than with d. A plane in d and y
//! ([`crate::domain::difference_plane`]) is taken there on each side on which it is nearer to D in the middle of all
//! ranges, even if a share ([`SHARE_OF_Y`]) of what its term in y ranges over is lost when that is bounded in the steps
//! below.

use crate::curve::Curve;
use crate::domain::difference_plane::{Ends, Plane};
use crate::domain::strip::Rise;

/// A line or a plane below or above the difference, of_d d + of_y y + cut.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AffineBound {
    /// The coefficient of d.
    pub of_d: f64,
    /// The coefficient of y.
    pub of_y: f64,
    /// What is added.
    pub cut: f64,
}

/// What is below the difference, and what is above it; `planes` allows planes in d and y.
pub(super) fn difference(curves: [&Curve; 2], [x, y, d]: [Ends; 3], planes: bool) -> [AffineBound; 2] {
    let (low, high) = lines(curves, x, y, d);
    let mut found = [low, high].map(|(of_d, cut)| AffineBound { of_d, of_y: 0.0, cut });
    if planes
        && curves[0] == curves[1]
        && let Some(plane) = Plane::around(curves[0], (x, y, d))
    {
        let middle = |(l, u): Ends| 0.5 * l + 0.5 * u;
        let at = |line: &AffineBound| line.of_d * middle(d) + line.of_y * middle(y) + line.cut;
        let lost = SHARE_OF_Y * plane.of_y.abs() * (0.5 * y.1 - 0.5 * y.0);
        for (line, (cut, sign)) in found.iter_mut().zip([(plane.low, -1.0), (plane.high, 1.0)]) {
            let other = AffineBound { of_d: plane.of_d, of_y: plane.of_y, cut };
            if sign * (at(&other) - at(line)) + lost < 0.0 {
                *line = other;
            }
        }
    }
    found
}

/// The share of half the range of a plane's term in y that is expected to be lost in the steps below.
const SHARE_OF_Y: f64 = 0.25;

/// The lines below and above the difference, each a slope and an intercept.
fn lines(curves: [&Curve; 2], x: Ends, y: Ends, d: Ends) -> (Ends, Ends) {
    let rise = Rise::of(curves, (x, y));
    let (m, most) = rise.slopes;
    if !(m.is_finite() && most.is_finite()) {
        let (of_x, of_y) = (curves[0].range(x.0, x.1), curves[1].range(y.0, y.1));
        let (low, high) = ((of_x.0 - of_y.1).next_down(), (of_x.1 - of_y.0).next_up());
        return ((0.0, low), (0.0, high));
    }
    let (falling, rising) = if d.0 >= 0.0 {
        (m, most)
    } else if d.1 <= 0.0 {
        (most, m)
    } else {
        let share = d.1 / (d.1 - d.0);
        (most - (most - m) * share, m + (most - m) * share)
    };
    let low = rise.strip_around(curves, falling, (x, y, d)).0;
    let high = rise.strip_around(curves, rising, (x, y, d)).1;
    let mut lines = ((falling, low), (rising, high));
    // On the pieces of a function h is often constant; of bent ones only on ranges that are hardly wider than that of d.
    let straight = curves.iter().all(|curve| curve.is_piecewise_linear());
    let width = |(l, u): (f64, f64)| u - l;
    if m < most && (straight || width(d) > SHARE_OF_WIDTH * width(x).min(width(y))) {
        narrow(&mut lines, &rise, curves, (x, y, d));
    }
    lines
}

/// The range of d is wide if it is wider than this share of the ranges of x and y.
const SHARE_OF_WIDTH: f64 = 0.25;

/// Takes lines with the slopes that the functions have in the middle of the ranges of x and y, on each side on which these are
/// nearer to D in the middle of the range of d.
fn narrow(
    (lower, upper): &mut ((f64, f64), (f64, f64)),
    rise: &Rise,
    curves: [&Curve; 2],
    (x, y, d): ((f64, f64), (f64, f64), (f64, f64)),
) {
    let middle = |(l, u): (f64, f64)| 0.5 * l + 0.5 * u;
    let at = |line: (f64, f64)| line.0 * middle(d) + line.1;
    let [first, second] = [(curves[0], x), (curves[1], y)].map(|(curve, range)| curve.slope_right(middle(range)).value);
    for slope in [first, second].into_iter().take(if first == second { 1 } else { 2 }).filter(|s| s.is_finite()) {
        let (low, high) = rise.strip_around(curves, slope, (x, y, d));
        if low.is_finite() && at((slope, low)) > at(*lower) {
            *lower = (slope, low);
        }
        if high.is_finite() && at((slope, high)) < at(*upper) {
            *upper = (slope, high);
        }
    }
}
