//! Planes in d and y around the difference D of one bent function.
//!
//! D = s d with the mean slope s of f between y and x = y + d (mean value theorem; for secants across kinks, one-sided slopes).
//! A strip of d ([`super::strip`]) allows every s of [m, M] anywhere, and so may be wide by (M - m) |d|. But where d hardly
//! varies on the box, as behind weights that were rounded, s depends on y nearly alone, and D is about s(y) c with the
//! middle c of d. So D is bounded here by of_d d + of_y y + low and of_d d + of_y y + high, where of_y is c times the
//! slope of a line through s(y). The width that is left comes from how far s(y) is from that line, and from how much d
//! varies.
//!
//! The range of y is cut into parts. For y in [a, b] both x and y lie in [a + min(0, l), b + max(0, u)], whose slopes are
//! within some [m, M], and (s - of_d) d - of_y y is bilinear in s and d, and linear in y: its extremes are at the ends of [m, M],
//! of [l, u] and of [a, b]. That is sound for any of_d and of_y.

use crate::curve::Curve;
use crate::numeric::round::{add_down, add_up, max_propagating_nan, mul_down, mul_up, sub_down, sub_up};

/// An interval.
pub type Ends = (f64, f64);

/// D lies between of_d d + of_y y + low and of_d d + of_y y + high.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Plane {
    /// The coefficient of d.
    pub of_d: f64,
    /// The coefficient of y.
    pub of_y: f64,
    /// What is added below.
    pub low: f64,
    /// What is added above.
    pub high: f64,
}

/// Parts of the range of y.
const PARTS: usize = 16;

/// The middle of d is far from 0 if it is more than this share of half the range of d.
const FAR: f64 = 0.1;

/// A part of the range of y, and the slopes between y and x there.
#[derive(Clone, Copy, Default)]
struct Part {
    y: Ends,
    slopes: Ends,
}

impl Plane {
    /// A plane for these ranges, where both networks have the function. None where it is no better than a strip: where the middle
    /// of d is about 0, or where slopes are known exactly or not at all.
    #[must_use]
    pub fn around(curve: &Curve, (x, y, d): (Ends, Ends, Ends)) -> Option<Self> {
        let (centre, radius) = (0.5 * d.0 + 0.5 * d.1, 0.5 * d.1 - 0.5 * d.0);
        let bends = !curve.is_piecewise_linear() && !curve.is_stepped();
        if !(bends && y.0 < y.1 && centre.abs() > FAR * radius) {
            return None;
        }
        let parts = parts(curve, (x, y, d))?;
        #[allow(clippy::cast_precision_loss)]
        let count = PARTS as f64;
        // The line by least squares through the middles of the slopes.
        let (mut sum, mut moment) = (0.0, 0.0);
        let mut place = 0.5 - 0.5 * count;
        for part in &parts {
            let slope = 0.5 * part.slopes.0 + 0.5 * part.slopes.1;
            (sum, moment) = (sum + slope, moment + place * slope);
            place += 1.0;
        }
        let rise = 12.0 * moment / (count * (count * count - 1.0)) * count / (y.1 - y.0);
        let (of_d, of_y) = (sum / count, rise * centre);
        if !(of_d.is_finite() && of_y.is_finite()) || of_y == 0.0 {
            return None;
        }
        let mut plane = Self { of_d, of_y, low: f64::INFINITY, high: f64::NEG_INFINITY };
        for part in &parts {
            plane.include(part, d);
        }
        (plane.low.is_finite() && plane.high.is_finite()).then_some(plane)
    }

    /// The range of (s - of_d) c - of_y y, with s the slope between y and x: so D - of_d d - of_y y is a number of it and
    /// (s - of_d) (d - c). None where slopes are unbounded.
    #[must_use]
    pub fn range_at(curve: &Curve, ranges: (Ends, Ends, Ends), (of_d, of_y): (f64, f64), centre: f64) -> Option<Ends> {
        let mut plane = Self { of_d, of_y, low: f64::INFINITY, high: f64::NEG_INFINITY };
        for part in parts(curve, ranges)? {
            plane.include(&part, (centre, centre));
        }
        (plane.low.is_finite() && plane.high.is_finite()).then_some((plane.low, plane.high))
    }

    /// Moves the bounds `low` and `high` apart until they hold for a part.
    fn include(&mut self, part: &Part, d: Ends) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for slope in [part.slopes.0, part.slopes.1] {
            let (least, greatest) = (sub_down(slope, self.of_d), sub_up(slope, self.of_d));
            for end in [d.0, d.1] {
                for factor in [least, greatest] {
                    low = lesser(low, mul_down(factor, end));
                    high = max_propagating_nan(high, mul_up(factor, end));
                }
            }
        }
        for end in [part.y.0, part.y.1] {
            self.low = lesser(self.low, sub_down(low, mul_up(self.of_y, end)));
            self.high = max_propagating_nan(self.high, sub_up(high, mul_down(self.of_y, end)));
        }
    }
}

/// The lesser of two numbers; not a number where one of them is none.
fn lesser(a: f64, b: f64) -> f64 {
    -max_propagating_nan(-a, -b)
}

/// The parts of the range of y with their slopes; none where slopes are unbounded.
fn parts(curve: &Curve, (x, y, d): (Ends, Ends, Ends)) -> Option<[Part; PARTS]> {
    let whole = (x.0.min(y.0), x.1.max(y.1));
    #[allow(clippy::cast_precision_loss)]
    let step = (y.1 - y.0) / PARTS as f64;
    let mut parts = [Part::default(); PARTS];
    let (mut from, mut number) = (y.0, 0.0);
    for (i, part) in parts.iter_mut().enumerate() {
        number += 1.0;
        let to = if i + 1 == PARTS { y.1 } else { (y.0 + number * step).clamp(from, y.1) };
        let (l, u) = (add_down(from, d.0.min(0.0)).max(whole.0), add_up(to, d.1.max(0.0)).min(whole.1));
        part.y = (from, to);
        part.slopes = curve.slopes(l, u);
        if !(part.slopes.0.is_finite() && part.slopes.1.is_finite()) {
            return None;
        }
        from = to;
    }
    Some(parts)
}
