//! Functions other than ReLU on a differential zonotope: a strip around the graph of each network's function, and for
//! the difference that of several rules which loses least.
//!
//! One network, x in [l, u]: for *any* slope lam, h(x) = f(x) - lam x lies in [low, high] ([`Curve::offset`]), so
//! f(x) = lam x + shift + fresh a, with the middle and half the width of that interval, defines the fresh generator a.
//! [`Curve::line`] gives the slope of the thinnest strip. ReLU is the case of DeepZ.
//!
//! The difference D = f(x) - f(y), where x, y and d = x - y lie in known intervals:
//! - *Side by side*: D = X - Y = lam1 x - lam2 y + shift1 - shift2 + fresh1 a1 - fresh2 a2. The slope that is smaller in
//!   absolute value multiplies d, so that what is known of d serves, and the rest of the other one x or y.
//! - *Strip of d*: the mean slope of f between x and y lies in the hull [m, M] of the slopes of f on both ranges (mean
//!   value theorem; for secants across kinks, one-sided slopes), so D lies between min(m d, M d) and max(m d, M d). The
//!   first is concave in d and the second convex, also after lam d is subtracted, so that their extremes are at the ends
//!   of d. Besides, D - lam d = h(x) - h(y), which lies in [low_x - high_y, high_x - low_y]. The smaller interval counts,
//!   with a fresh generator of the difference alone.
//! - Functions that round go up in steps and have no slopes. They are f = phi + r with a continuous phi and a small r
//!   ([`crate::curve::Trend`]), so D = (phi(x) - phi(y)) + r(x) + (phi(y) - f(y)), of which the first is a strip of d. And
//!   between x and y are at most so many steps, none where x = y.
//! - *Plane* in d and y, where d is far from 0 ([`super::difference_plane`]), with a fresh generator of the difference alone.
//!
//! All are sound for any lam. Where x = y, D = 0, whatever f is.
//!
//! The networks may have different functions f and g there, as where one is a cheap approximation of the other, or a
//! slope was retrained. Side by side nothing changes; of the strip, f(x) - g(y) = (phi(x) - phi(y)) + r(x) + (phi(y) -
//! g(y)) with phi of f or, the other way round, of g ([`Rise`]).
//!
//! A strip that is thin against what it surrounds goes into the error radius and makes no generator: functions that are
//! saturated would have thousands of them otherwise.

use super::difference_plane::{Ends, Plane};
use super::phase::{Bounds, Phase};
use super::transformer::{DifferenceRow, DifferenceTransformer, Transformer};
use crate::curve::{Curve, Near, Trend};
use crate::network::Curves;
use crate::numeric::round::{add_down, add_up, max_propagating_nan, mul_down, mul_up, sub_down, sub_up};

/// A strip that is thinner than this share of the values around which it lies makes no generator.
pub(super) const THIN: f64 = 1e-11;

/// Ranges whose ends differ by less than this share of their width are taken for the same when a slope is chosen.
const ALIKE: f64 = 0.05;

/// The middle of an interval and half its width, rounded up; neither is a number where an end is none.
pub(super) fn centred(low: f64, high: f64) -> (f64, f64) {
    if low == high {
        return (low, 0.0);
    }
    let middle = 0.5 * low + 0.5 * high;
    (middle, max_propagating_nan(sub_up(high, middle), sub_up(middle, low)))
}

impl Transformer {
    /// Chooses strips from bounds of the pre-activations. Where they are about those of the other network, whose strips
    /// are chosen, its slopes are taken: that is cheaper than to seek own ones, and makes the strips cancel better.
    pub fn set_curves(&mut self, curves: &Curves, bounds: &Bounds, other: Option<(&Self, &Bounds)>) {
        self.phase.clear();
        for v in [&mut self.slope, &mut self.shift, &mut self.fresh, &mut self.loose, &mut self.bend] {
            v.clear();
        }
        for (i, (&l, &u)) in bounds.lower.iter().zip(&bounds.upper).enumerate() {
            let curve = curves.of(i);
            let about =
                |(_, b): &(&Self, &Bounds)| (b.lower[i] - l).abs().max((b.upper[i] - u).abs()) < ALIKE * (u - l);
            let slope = match other.filter(about) {
                _ if l == u => 0.0,
                Some((transformer, _)) => transformer.slope[i],
                None => curve.line(l, u),
            };
            let offset = curve.offset(slope, l, u);
            let (shift, half) = centred(offset.low, offset.high);
            let thin = half <= THIN * (slope.abs() * (0.5 * u - 0.5 * l) + shift.abs());
            let (fresh, loose) = if thin { (0.0, half) } else { (half, 0.0) };
            let nothing = shift == 0.0 && half == 0.0;
            self.phase.push(match slope {
                0.0 if nothing => Phase::Inactive,
                1.0 if nothing => Phase::Active,
                _ => Phase::Unstable,
            });
            self.slope.push(slope);
            self.shift.push(shift);
            self.fresh.push(fresh);
            self.loose.push(loose);
        }
    }

    fn row(&self, i: usize) -> Strip {
        Strip { slope: self.slope[i], shift: self.shift[i], fresh: self.fresh[i], loose: self.loose[i] }
    }
}

/// One row of a [`Transformer`].
#[derive(Clone, Copy)]
struct Strip {
    slope: f64,
    shift: f64,
    fresh: f64,
    loose: f64,
}

impl Strip {
    /// Whether the function is 0 on the whole range.
    fn is_zero(&self) -> bool {
        self.slope == 0.0 && self.shift == 0.0 && self.fresh == 0.0 && self.loose == 0.0
    }
}

impl DifferenceTransformer {
    /// Sets the rows of a whole step from those of both networks and from all bounds; `share_fresh` allows to use the
    /// networks' own fresh generators.
    pub fn set_curves(
        &mut self,
        curves: [&Curves; 2],
        (first, second): (&Transformer, &Transformer),
        (x, y, d): (&Bounds, &Bounds, &Bounds),
        (share_fresh, planes): (bool, bool),
    ) {
        let Self { of_d, of_x, of_y, shift, fresh1, fresh2, fresh_own, loose, product, .. } = self;
        product.clear();
        let columns = [of_d, of_x, of_y, shift, fresh1, fresh2, fresh_own, loose];
        let [of_d, of_x, of_y, shift, fresh1, fresh2, fresh_own, loose] = columns.map(|v| {
            v.clear();
            v
        });
        let ends = |b: &Bounds, i: usize| (b.lower[i], b.upper[i]);
        for i in 0..x.lower.len() {
            let strips = (first.row(i), second.row(i));
            let both = curves.map(|c| c.of(i));
            let ranges = (ends(x, i), ends(y, i), ends(d, i));
            let (mut row, mut off) = difference_row(both, strips, ranges, share_fresh);
            if planes {
                (row, off) = in_plane(both, ranges, (row, off));
            }
            of_d.push(row.of_d);
            of_x.push(row.of_x);
            of_y.push(row.of_y);
            shift.push(row.shift);
            fresh1.push(row.fresh1);
            fresh2.push(row.fresh2);
            fresh_own.push(row.fresh_own);
            loose.push(off);
        }
    }
}

/// The row of one neuron, and what goes into its error radius.
fn difference_row(
    curves: [&Curve; 2],
    (first, second): (Strip, Strip),
    (x, y, d): (Ends, Ends, Ends),
    share_fresh: bool,
) -> (DifferenceRow, f64) {
    // Where both are 0 on their ranges no row is kept, and so no generator may be counted.
    if (d == (0.0, 0.0) && curves[0] == curves[1]) || (first.is_zero() && second.is_zero()) {
        return (DifferenceRow::default(), 0.0);
    }
    let row = side_by_side((first, second));
    if share_fresh && curves[0] != curves[1] && says_all(&first, &second) {
        return (row, add_up(first.loose, second.loose));
    }
    let (own, off, reach) = strip_of_difference(curves, (x, y, d));
    // Without the generators of the networks the sum of the two strips is one of its own.
    let row = if share_fresh {
        row
    } else {
        DifferenceRow { fresh1: 0.0, fresh2: 0.0, fresh_own: add_up(first.fresh, second.fresh), ..row }
    };
    let loose = add_up(first.loose, second.loose);
    let shares = if curves.iter().any(|c| c.is_stepped()) { IN_STEPS } else { CONTINUOUS };
    // Slopes that are unbounded say nothing, whatever the numbers of their row are.
    let better = reach.is_finite() && lost((&own, off), (x, y, d), shares) <= lost((&row, loose), (x, y, d), shares);
    if better { (own, off) } else { (row, loose) }
}

/// What shares of their ranges the parts of a row in d, and in x and y, are taken to lose.
type Shares = (f64, f64);

/// Continuous functions. The part in d is as exact as d itself is known, and every row needs about the same one: where it is
/// smaller, a row reaches less far, and has lost more.
const CONTINUOUS: Shares = (0.0, 0.25);

/// Functions that go up in steps. Rows with very different parts in d are compared there, as that without any which counts steps.
const IN_STEPS: Shares = (1.0, 1.0);

/// What a row loses: its generators, what goes into its error radius, and shares of its parts.
fn lost((row, off): (&DifferenceRow, f64), (x, y, d): (Ends, Ends, Ends), (of_d, of_inputs): Shares) -> f64 {
    let half = |(l, u): Ends| 0.5 * u - 0.5 * l;
    let inputs = row.of_x.abs() * half(x) + row.of_y.abs() * half(y);
    let parts = of_d * (row.of_d.abs() * half(d)) + of_inputs * inputs;
    parts + row.fresh1.abs() + row.fresh2.abs() + row.fresh_own + off
}

/// The row of a plane in d and y in place of this one, and what goes into its error radius, where less is lost so.
fn in_plane(
    curves: [&Curve; 2],
    (x, y, d): (Ends, Ends, Ends),
    (row, off): (DifferenceRow, f64),
) -> (DifferenceRow, f64) {
    let own = row.fresh1.abs() + row.fresh2.abs() + row.fresh_own + off;
    if own == 0.0 || curves[0] != curves[1] {
        return (row, off);
    }
    let Some(plane) = Plane::around(curves[0], (x, y, d)) else { return (row, off) };
    let (shift, fresh_own) = centred(plane.low, plane.high);
    let made = DifferenceRow { of_d: plane.of_d, of_y: plane.of_y, shift, fresh_own, ..DifferenceRow::default() };
    let less = lost((&made, 0.0), (x, y, d), CONTINUOUS) < lost((&row, off), (x, y, d), CONTINUOUS);
    if less { (made, 0.0) } else { (row, off) }
}

/// Whether one network is 0 or is a line on its range, and the other one has a strip along the same line: then D is what
/// the other one's strip says, over its own generator, and a strip of d would only say it once more. As before ReLU, where
/// one network is inactive or active.
fn says_all(first: &Strip, second: &Strip) -> bool {
    let line = |s: &Strip| s.fresh == 0.0 && s.loose == 0.0;
    first.is_zero() || second.is_zero() || (first.slope == second.slope && (line(first) || line(second)))
}

/// D = X - Y by the strips of both networks.
fn side_by_side((first, second): (Strip, Strip)) -> DifferenceRow {
    let (lam1, lam2) = (first.slope, second.slope);
    let (of_d, of_x, of_y) = if lam1.abs() <= lam2.abs() { (lam1, 0.0, lam1 - lam2) } else { (lam2, lam1 - lam2, 0.0) };
    let shift = first.shift - second.shift;
    DifferenceRow { of_d, of_x, of_y, shift, fresh1: first.fresh, fresh2: -second.fresh, fresh_own: 0.0 }
}

/// D between min(m d, M d) and max(m d, M d): the row, what goes into its error radius, and how far it reaches.
fn strip_of_difference(curves: [&Curve; 2], (x, y, d): (Ends, Ends, Ends)) -> (DifferenceRow, f64, f64) {
    let rise = Rise::of(curves, (x, y));
    let (m, most) = rise.slopes;
    let share = if d.0 >= 0.0 {
        1.0
    } else if d.1 <= 0.0 {
        0.0
    } else {
        d.1 / (d.1 - d.0)
    };
    // Where d is never negative D is between m d and M d, with the chord of either through 0: the middle is thinnest.
    let lam = if d.0 < 0.0 && d.1 > 0.0 { m + (most - m) * share } else { 0.5 * m + 0.5 * most };
    let made = row_around(curves, lam, &rise, (x, y, d));
    // Steps are counted best without a slope.
    if rise.in_steps {
        let level = row_around(curves, 0.0, &rise, (x, y, d));
        if level.2 < made.2 || made.2.is_nan() {
            return level;
        }
    }
    made
}

/// D with the slope lam: the row, what goes into its error radius, and how far it reaches.
fn row_around(curves: [&Curve; 2], lam: f64, rise: &Rise, (x, y, d): (Ends, Ends, Ends)) -> (DifferenceRow, f64, f64) {
    let (low, high) = rise.strip_around(curves, lam, (x, y, d));
    let (shift, half) = centred(low, high);
    let size = lam.abs() * (0.5 * d.1 - 0.5 * d.0);
    let thin = half <= THIN * (size + shift.abs());
    let row = DifferenceRow { of_d: lam, shift, fresh_own: if thin { 0.0 } else { half }, ..DifferenceRow::default() };
    (row, if thin { half } else { 0.0 }, size + half)
}

/// What is known of D by slopes: it lies between min(m d, M d) + rest.0 and max(m d, M d) + rest.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    /// m and M.
    pub slopes: Ends,
    rest: Ends,
    /// Whether it is the difference of one function that goes up in steps.
    in_steps: bool,
}

impl Rise {
    /// For x and y in these ranges: along the function of the first network, or along that of the second if the first
    /// has no slopes.
    #[must_use]
    pub fn of([f, g]: [&Curve; 2], (x, y): (Ends, Ends)) -> Self {
        let (l, u) = (x.0.min(y.0), x.1.max(y.1));
        let of_f = f.trend(l, u);
        // f(x) - g(y) = (phi(x) - phi(y)) + r(x) + (phi(y) - g(y)), and r(x) - r(y) where g is f.
        if f == g {
            let (low, high) = of_f.rest;
            let rest = (sub_down(low, high), sub_up(high, low));
            return Self { slopes: of_f.slopes, rest, in_steps: f.steps_apart(0.0, 0.0).is_some() };
        }
        let of_g = g.trend(l, u);
        let known = |(m, most): Ends| m.is_finite() && most.is_finite();
        let (slopes, (low, high)) = if known(of_f.slopes) || !known(of_g.slopes) {
            (of_f.slopes, apart((f, &of_f), (g, &of_g), y))
        } else {
            (of_g.slopes, apart((f, &of_f), (g, &of_g), x))
        };
        let rest = (sub_down(of_f.rest.0, of_g.rest.1), sub_up(of_f.rest.1, of_g.rest.0));
        Self { slopes, rest: (add_down(low, rest.0), add_up(high, rest.1)), in_steps: false }
    }

    /// The interval of D - lam d, rounded outward.
    #[must_use]
    pub fn strip_around(&self, [first, second]: [&Curve; 2], lam: f64, (x, y, d): (Ends, Ends, Ends)) -> Ends {
        let (m, most) = self.slopes;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for end in [d.0, d.1] {
            for (least, greatest) in [(sub_down(m, lam), sub_up(m, lam)), (sub_down(most, lam), sub_up(most, lam))] {
                low = lesser(low, lesser(mul_down(least, end), mul_down(greatest, end)));
                high = max_propagating_nan(high, max_propagating_nan(mul_up(least, end), mul_up(greatest, end)));
            }
        }
        (low, high) = (add_down(low, self.rest.0), add_up(high, self.rest.1));
        let (of_x, of_y) = (first.offset(lam, x.0, x.1), second.offset(lam, y.0, y.1));
        let mut found = narrowed((low, high), (sub_down(of_x.low, of_y.high), sub_up(of_x.high, of_y.low)));
        if self.in_steps
            && let Some((low, high)) = first.steps_apart(d.0, d.1)
        {
            let ends = [mul_up(lam, d.0).max(mul_up(lam, d.1)), mul_down(lam, d.0).min(mul_down(lam, d.1))];
            found = narrowed(found, (sub_down(low, ends[0]), sub_up(high, ends[1])));
        }
        found
    }
}

/// What two intervals have in common; `max` and `min` pass over what is not a number, and of intervals that rounding
/// has moved apart the first counts.
fn narrowed(first: Ends, second: Ends) -> Ends {
    let both = (first.0.max(second.0), first.1.min(second.1));
    if both.0 <= both.1 { both } else { first }
}

/// Parts of a range on each of which two functions are compared.
const PARTS: u32 = 8;

/// So many points where two functions bend are looked at one by one.
const MOST_BENDS: usize = 24;

/// The range of phi(t) - psi(t) for t in [l, u], rounded outward, for the trends of two functions on a range around
/// [l, u]. Where both are affine between few points it is found at these; else part by part, where both lie in strips of
/// the same slope.
#[must_use]
pub fn apart((f, of_f): (&Curve, &Trend), (g, of_g): (&Curve, &Trend), (l, u): Ends) -> Ends {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut take = |(least, most): Ends, (of_least, of_most): Ends| {
        low = lesser(low, sub_down(least, of_most));
        high = max_propagating_nan(high, sub_up(most, of_least));
    };
    let on = |lam: f64, from: f64, to: f64| {
        let (phi, psi) = (f.trend_offset(of_f, lam, from, to), g.trend_offset(of_g, lam, from, to));
        ((phi.low, phi.high), (psi.low, psi.high))
    };
    let (mut bends, mut count) = ([(0.0, 0.0); MOST_BENDS], 0);
    let mut list = |bend: Near| {
        let (from, to) = (bend.low().max(l), bend.high().min(u));
        if from <= to {
            if let Some(place) = bends.get_mut(count) {
                *place = (from, to);
            }
            count += 1;
        }
    };
    if f.bends(of_f, &mut list) && g.bends(of_g, &mut list) && count <= MOST_BENDS {
        for &(from, to) in [(l, l), (u, u)].iter().chain(&bends[..count]) {
            let (phi, psi) = if from < to {
                on(0.0, from, to)
            } else {
                let (phi, psi) = (f.trend_value(of_f, from), g.trend_value(of_g, from));
                ((phi.low(), phi.high()), (psi.low(), psi.high()))
            };
            take(phi, psi);
        }
    } else {
        let place = |k: u32| if k == PARTS { u } else { l + (u - l) * (f64::from(k) / f64::from(PARTS)) };
        for k in 0..PARTS {
            let (from, to) = (place(k).clamp(l, u), place(k + 1).clamp(l, u));
            let (phi, psi) = on(f.line(from, to), from, to);
            take(phi, psi);
        }
    }
    (low, high)
}

/// The smaller of two numbers; not a number if one of them is not.
fn lesser(a: f64, b: f64) -> f64 {
    -max_propagating_nan(-a, -b)
}
