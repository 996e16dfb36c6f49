//! A function of one variable beside a parabola, and its slopes beside a line: what is left of it behind terms of second
//! order ([`super::input_products`]).
//!
//! *Parabola.* For any slope s, bend b and centre c, f(x) - s x - b (x - c)^2 lies in an interval that is found part by part of
//! the range of x. On a part with the middle t, the parabola is its tangent at t plus b (x - t)^2, so
//!     f(x) - s x - b (x - c)^2 = (f(x) - lam x) + b (t - c) (t + c) - b (x - t)^2,      lam = s + 2 b (t - c),
//! of which the first is known of every function ([`Curve::offset`]), and the last is between 0 and b times half the width
//! squared.
//!
//! *Slopes.* The mean slope of f between p and q is the mean of its derivative there, where f has finite secant slopes and
//! so is absolutely continuous. If f'(w) - r (w - c) lies in some interval almost everywhere on the range, the mean slope lies
//! in that interval plus r ((p + q) / 2 - c), the mean of the line. On a part of the range the derivative is within the hull of
//! secant slopes ([`Curve::slopes`]).

use super::difference_plane::Ends;
use crate::curve::Curve;
use crate::numeric::round::{TINY, U, add_down, add_up, max_propagating_nan, sub_down, sub_up};

/// Parts of a range on which a parabola is compared with a function: what they leave is a thousandth of what the bend is.
const PARTS: u32 = 16;

/// Parts on which slopes are compared with a line: what they leave is a thirtieth of what slopes vary by.
const PARTS_OF_SLOPES: u32 = 64;

/// f(x) - slope x - bend (x - centre)^2 lies in [low, high].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parabola {
    /// The slope at the centre.
    pub slope: f64,
    /// The bend.
    pub bend: f64,
    /// What is left at least.
    pub low: f64,
    /// What is left at most.
    pub high: f64,
}

impl Parabola {
    /// Through the three places of a range where a polynomial of second degree is nearest to most functions (Chebyshev). None
    /// where nothing is known of the function, or where numbers are none.
    #[must_use]
    pub fn around(curve: &Curve, (l, u): Ends, centre: f64) -> Option<Self> {
        let (middle, half) = (0.5 * l + 0.5 * u, 0.5 * u - 0.5 * l);
        let away = half * (0.75_f64).sqrt();
        let at = |x: f64| curve.value(x.clamp(l, u)).value;
        let (before, between, behind) = (at(middle - away), at(middle), at(middle + away));
        let bend = (behind + before - 2.0 * between) / (2.0 * away * away);
        let slope = (behind - before) / (2.0 * away) + 2.0 * bend * (centre - middle);
        let mut made = Self { slope, bend, low: f64::INFINITY, high: f64::NEG_INFINITY };
        if !(slope.is_finite() && bend.is_finite() && centre.is_finite()) {
            return None;
        }
        for part in parts((l, u), PARTS) {
            made.include(curve, part, centre);
        }
        (made.low.is_finite() && made.high.is_finite()).then_some(made)
    }

    /// Moves the ends apart until they hold for a part. The two padded sums hold for the numbers in front of them: lam is off
    /// by three roundings of its terms, b (t - c) (t + c) by four.
    fn include(&mut self, curve: &Curve, (a, b): Ends, centre: f64) {
        let middle = 0.5 * a + 0.5 * b;
        let half = sub_up(b, middle).max(sub_up(middle, a));
        let lam = self.slope + 2.0 * self.bend * (middle - centre);
        let constant = self.bend * (middle - centre) * (middle + centre);
        let size = a.abs().max(b.abs());
        let reach = size + centre.abs();
        let pad = 32.0 * U * ((lam.abs() + self.slope.abs()) * size + 4.0 * self.bend.abs() * reach * reach) + TINY;
        let curl = self.bend.abs() * half * half * (1.0 + 8.0 * U) + TINY;
        let (under, over) = if self.bend >= 0.0 { (curl, 0.0) } else { (0.0, curl) };
        let offset = curve.offset(lam, a, b);
        let low = add_down(add_down(offset.low, constant), -(under + pad) * (1.0 + 4.0 * U));
        let high = add_up(add_up(offset.high, constant), (over + pad) * (1.0 + 4.0 * U));
        self.low = -max_propagating_nan(-self.low, -low);
        self.high = max_propagating_nan(self.high, high);
    }
}

/// The mean slope between p and q lies in [low, high] + rise ((p + q) / 2 - centre).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlopeLine {
    /// How fast slopes grow.
    pub rise: f64,
    /// The slope at the centre, at least.
    pub low: f64,
    /// The slope at the centre, at most.
    pub high: f64,
}

impl SlopeLine {
    /// For p and q in a range. None where slopes are unbounded, or where numbers are none.
    #[must_use]
    pub fn around(curve: &Curve, (l, u): Ends, centre: f64) -> Option<Self> {
        let (middle, half) = (0.5 * l + 0.5 * u, 0.5 * u - 0.5 * l);
        let away = half * (0.5_f64).sqrt();
        let at = |x: f64| curve.climb(x.clamp(l, u));
        let rise = (at(middle + away) - at(middle - away)) / (2.0 * away);
        if !(rise.is_finite() && centre.is_finite()) {
            return None;
        }
        let mut made = Self { rise, low: f64::INFINITY, high: f64::NEG_INFINITY };
        for (a, b) in parts((l, u), PARTS_OF_SLOPES) {
            let (m, most) = curve.slopes(a, b);
            let line = |w: f64| rise * (w - centre);
            let pad = 8.0 * U * rise.abs() * (a.abs().max(b.abs()) + centre.abs()) + TINY;
            let low = sub_down(m, add_up(line(a).max(line(b)), pad));
            let high = sub_up(most, add_down(line(a).min(line(b)), -pad));
            made.low = -max_propagating_nan(-made.low, -low);
            made.high = max_propagating_nan(made.high, high);
        }
        (made.low.is_finite() && made.high.is_finite()).then_some(made)
    }
}

/// The parts of a range, one behind the other: each begins where the last one ended, and the last one ends with the range.
fn parts((l, u): Ends, count: u32) -> impl Iterator<Item = Ends> {
    let step = (u - l) / f64::from(count);
    let mut from = l;
    (1..=count).map(move |k| {
        let to = if k == count { u } else { (l + f64::from(k) * step).clamp(from, u) };
        let part = (from, to);
        from = to;
        part
    })
}
