//! Bounds of a function on a range, once for all functions: the strip between two parallel lines that encloses its
//! graph, the hull of its slopes, its range.
//!
//! Let h(x) = f(x) - lam x on a piece [a, b]. Where f is convex, h is at most the larger of h(a) and h(b), and for any t
//! of [a, b] the one-sided derivatives give
//!     h(x) >= h(t) - max(0, lam - f'(t+)) (b - t)  for x >= t,    h(x) >= h(t) - max(0, f'(t-) - lam) (t - a)  for x <= t,
//! so t need not be where the slope is lam, only near to it for a tight bound. Concave: mirrored. Where only slopes in
//! [m, M] are known, h lies above lines of slope m - lam from its value at a and M - lam from that at b. A function that
//! jumps contributes its limits at the ends of its pieces and its values there. All of it is rounded outward; a bound
//! that is NaN becomes infinite.

use crate::numeric::near::{Near, product, sum};
use crate::numeric::round::{down, mul_up, sub_up};

use super::function::{Bend, Function};
use super::offset::{Offset, is_range, rest};

/// At least max(0, a - b) * width.
#[inline]
fn shortfall(a: f64, b: f64, width: f64) -> f64 {
    if a <= b || width <= 0.0 { 0.0 } else { mul_up(sub_up(a, b), width) }
}

/// Bounds of f(x) - lam x over [l, u], infinite where there are none.
#[inline]
pub(super) fn offset<F: Function>(f: &F, lam: f64, l: f64, u: f64) -> Offset {
    if let Some(staircase) = f.staircase() {
        return staircase.offset(lam, l, u);
    }
    if !is_range(lam, l, u) {
        return Offset::unbounded(l);
    }
    let mut found = Offset::empty(l);
    if let Some(band) = f.band(l, u) {
        for x in [l, u] {
            let turned = sum(product(band.slope, x), -product(lam, x));
            found.lower(sum(turned, Near::exact(band.low)).low(), x);
            found.raise(sum(turned, Near::exact(band.high)).high(), x);
        }
        return found;
    }
    if f.straight_on(l, u) {
        piece_offset(f, Bend::Straight, lam, l, u, &mut found);
        return found;
    }
    if f.corners(l, u, |x, value| found.take(rest(value, lam, x), x)) {
        return found;
    }
    if F::JUMPS {
        found.take(rest(f.value(l), lam, l), l);
    }
    let mut a = l;
    loop {
        let piece = f.piece(a);
        let b = piece.end.min(u);
        piece_offset(f, piece.bend, lam, a, b, &mut found);
        if F::JUMPS {
            found.take(rest(f.value(b), lam, b), b);
        }
        if piece.end >= u {
            break;
        }
        a = piece.end;
    }
    found
}

/// The same on one piece.
#[inline]
fn piece_offset<F: Function>(f: &F, bend: Bend, lam: f64, a: f64, b: f64, found: &mut Offset) {
    if let Bend::Straight = bend {
        let (slope, intercept) = f.straight(a);
        let turned = sum(slope, Near::exact(-lam));
        for x in [a, b] {
            let rise = if turned.error == 0.0 { product(turned.value, x) } else { turned * Near::exact(x) };
            found.take(sum(rise, intercept), x);
        }
        return;
    }
    if a >= b {
        found.take(rest(f.value(a), lam, a), a);
        return;
    }
    let (at_a, at_b) = (rest(f.limit_right(a), lam, a), rest(f.limit_left(b), lam, b));
    // A point near to where the slope is lam, and h there.
    let touching = |rising: bool| {
        let t = within(f.touch(lam, a, b, rising), a, b);
        let at_t = if t == a {
            at_a
        } else if t == b {
            at_b
        } else {
            rest(f.value(t), lam, t)
        };
        (t, at_t)
    };
    match bend {
        Bend::Convex => {
            found.raise(at_a.high(), a);
            found.raise(at_b.high(), b);
            let (t, at_t) = touching(true);
            let right = if t < b { shortfall(lam, f.slope_right(t).low(), sub_up(b, t)) } else { 0.0 };
            let left = if t > a { shortfall(f.slope_left(t).high(), lam, sub_up(t, a)) } else { 0.0 };
            found.lower(less(at_t.low(), larger(left, right)), t);
        }
        Bend::Concave => {
            found.lower(at_a.low(), a);
            found.lower(at_b.low(), b);
            let (t, at_t) = touching(false);
            let right = if t < b { shortfall(f.slope_right(t).high(), lam, sub_up(b, t)) } else { 0.0 };
            let left = if t > a { shortfall(lam, f.slope_left(t).low(), sub_up(t, a)) } else { 0.0 };
            found.raise(-less(-at_t.high(), larger(left, right)), t);
        }
        Bend::Between(least, most) => {
            let width = sub_up(b, a);
            let falls = (shortfall(lam, least, width), shortfall(most, lam, width));
            found.lower(
                less(at_a.low(), falls.0).max(less(at_b.low(), falls.1)),
                if at_a.value < at_b.value { a } else { b },
            );
            let high = (-less(-at_a.high(), falls.1)).min(-less(-at_b.high(), falls.0));
            found.raise(high, if at_a.value > at_b.value { a } else { b });
        }
        Bend::Straight => {}
    }
}

/// At most value - loss; the value itself where nothing is lost, so that a bound without rounding stays one.
#[inline]
fn less(value: f64, loss: f64) -> f64 {
    if loss == 0.0 { value } else { down(value - loss) }
}

/// The larger; NaN where one is.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

/// Clamped to [a, b]; a for NaN.
#[inline]
fn within(t: f64, a: f64, b: f64) -> f64 {
    if t > a { t.min(b) } else { a }
}

/// The hull of all secant slopes of f on [l, u], and of its one-sided derivatives where l = u.
#[inline]
pub(super) fn slopes<F: Function>(f: &F, l: f64, u: f64) -> (f64, f64) {
    const UNBOUNDED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    if let Some(staircase) = f.staircase() {
        return staircase.slopes(l, u);
    }
    if !is_range(0.0, l, u) {
        return UNBOUNDED;
    }
    if let Some(band) = f.band(l, u) {
        return band.slopes;
    }
    if F::JUMPS && (f.value(l) != f.limit_right(l) || f.value(u) != f.limit_left(u)) {
        return UNBOUNDED;
    }
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut a = l;
    loop {
        let piece = f.piece(a);
        if piece.jump && piece.end <= u {
            return UNBOUNDED;
        }
        let b = piece.end.min(u);
        let (low, high) = match piece.bend {
            Bend::Straight | Bend::Convex | Bend::Concave if a >= b => {
                let (left, right) = (f.slope_left(a), f.slope_right(a));
                (left.low().min(right.low()), left.high().max(right.high()))
            }
            Bend::Straight => (f.slope_right(a).low(), f.slope_right(a).high()),
            Bend::Convex => (f.slope_right(a).low(), f.slope_left(b).high()),
            Bend::Concave => (f.slope_left(b).low(), f.slope_right(a).high()),
            Bend::Between(low, high) => (low, high),
        };
        (least, most) = (least.min(low), most.max(high));
        if piece.end >= u {
            return (least, most);
        }
        a = piece.end;
    }
}

/// The range of f over [l, u]; infinite on both sides where it has no value.
#[inline]
pub(super) fn range<F: Function>(f: &F, l: f64, u: f64) -> (f64, f64) {
    let (low, high) = if f.increasing() && l <= u {
        let (least, most) = (f.value(l), f.value(u));
        if least.value.is_nan() || most.value.is_nan() {
            return (f64::NEG_INFINITY, f64::INFINITY);
        }
        (least.low(), most.high())
    } else {
        let found = offset(f, 0.0, l, u);
        (found.low, found.high)
    };
    if low == f64::NEG_INFINITY && high == f64::INFINITY {
        return (low, high);
    }
    let (least, most) = f.bounds();
    (low.max(least), high.min(most))
}

/// How many intervals a range of several pieces is sampled with for its line.
const INTERVALS: u8 = 16;
const SAMPLES: usize = INTERVALS as usize + 1;

/// A slope that makes the strip thin. The chord's is the best on a convex or concave piece; else the best one for the
/// sampled points, whose strip is about one part in a hundred thicker than the thinnest.
#[inline]
pub(super) fn line<F: Function>(f: &F, l: f64, u: f64) -> f64 {
    let finite = |slope: f64| if slope.is_finite() { slope } else { 0.0 };
    if let Some(staircase) = f.staircase() {
        return staircase.line(l, u);
    }
    if let Some(band) = f.band(l, u) {
        return band.slope;
    }
    if f.is_level(l, u) {
        return 0.0;
    }
    let piece = f.piece(l);
    if l >= u || f.straight_on(l, u) {
        return finite(f.slope_right(l).value);
    }
    if piece.end >= u {
        return finite(match piece.bend {
            Bend::Straight => f.slope_right(l).value,
            Bend::Between(least, most) => least / 2.0 + most / 2.0,
            Bend::Convex | Bend::Concave => {
                // On a narrow range the chord is made of rounding: it lies between the slopes at the ends.
                let chord = (f.limit_left(u).value - f.limit_right(l).value) / (u - l);
                let (a, b) = (f.slope_right(l).value, f.slope_left(u).value);
                chord.max(a.min(b)).min(a.max(b))
            }
        });
    }
    let mut points = [(0.0, 0.0); SAMPLES];
    for (i, point) in (0..=INTERVALS).zip(&mut points) {
        point.0 = if i == INTERVALS { u } else { l + (u - l) * (f64::from(i) / f64::from(INTERVALS)) };
    }
    // The sample next to a knot moves there: a kink shows nowhere else.
    let mut knot = piece.end;
    while knot < u {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let nearest = ((knot - l) / (u - l) * f64::from(INTERVALS)).round() as usize;
        points[nearest.clamp(1, SAMPLES - 2)].0 = knot;
        knot = f.piece(knot).end;
    }
    for point in &mut points {
        point.1 = f.value(point.0).value;
    }
    finite(thinnest(&points))
}

/// The slope of the thinnest strip around points: its height is convex and piecewise linear in the slope, so the least
/// lies where supporting lines from both sides meet.
#[inline]
fn thinnest(points: &[(f64, f64); SAMPLES]) -> f64 {
    // The height at a slope, and its derivative there.
    let height = |lam: f64| {
        let (mut low, mut high) = ((f64::INFINITY, 0.0), (f64::NEG_INFINITY, 0.0));
        for &(x, y) in points {
            let h = y - lam * x;
            if h < low.0 {
                low = (h, x);
            }
            if h > high.0 {
                high = (h, x);
            }
        }
        (high.0 - low.0, low.1 - high.1)
    };
    let (mut a, mut b) = (f64::INFINITY, f64::NEG_INFINITY);
    for pair in points.windows(2) {
        let slope = (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
        (a, b) = (a.min(slope), b.max(slope));
    }
    let ((mut at_a, mut grows_a), (mut at_b, mut grows_b)) = (height(a), height(b));
    for _ in 0..10 {
        if grows_a >= 0.0 || grows_a.is_nan() {
            return a;
        }
        if grows_b <= 0.0 || grows_b.is_nan() {
            return b;
        }
        let lam = ((at_b - at_a + grows_a * a - grows_b * b) / (grows_a - grows_b)).max(a).min(b);
        let (at, grows) = height(lam);
        // No better than the two supporting lines promise: their meeting point is the least.
        if at <= (at_a + grows_a * (lam - a)) * (1.0 + 1e-9) || lam == a || lam == b {
            return lam;
        }
        if grows < 0.0 {
            (a, at_a, grows_a) = (lam, at, grows);
        } else {
            (b, at_b, grows_b) = (lam, at, grows);
        }
    }
    if at_a < at_b { a } else { b }
}
