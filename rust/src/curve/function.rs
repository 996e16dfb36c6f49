//! What a function of one variable says about itself: value, one-sided slopes, and pieces on which it is straight,
//! convex or concave. Everything else (`strip`) follows from this.

use super::staircase::Staircase;
use crate::numeric::near::Near;

/// How a function bends on a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bend {
    /// It is affine.
    Straight,
    /// It lies below its chords.
    Convex,
    /// It lies above its chords.
    Concave,
    /// Neither is known; every slope (secants included) lies between these two. (Tiny pieces around knots that are no
    /// floats.)
    Between(f64, f64),
}

/// A piece [.., end] of the range of a function; continuous across ends, unless `jump` says that it may jump at `end`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Where it ends; infinity for the last.
    pub end: f64,
    /// How the function bends on it.
    pub bend: Bend,
    /// Whether the function may jump (or have no value) at `end`.
    pub jump: bool,
}

impl Piece {
    /// A piece at whose end the function is continuous.
    #[inline]
    pub(super) const fn to(end: f64, bend: Bend) -> Self {
        Self { end, bend, jump: false }
    }

    /// Left of 0, for a function that has no values there.
    #[inline]
    pub(super) const fn outside() -> Self {
        Self { end: 0.0, bend: Bend::Between(f64::NEG_INFINITY, f64::INFINITY), jump: true }
    }

    /// The last piece.
    #[inline]
    pub(super) const fn last(bend: Bend) -> Self {
        Self::to(f64::INFINITY, bend)
    }
}

/// Two parallel lines, slope x + low and slope x + high, between which a function lies on a range of very many pieces,
/// and the hull of its secant slopes there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Band {
    pub slope: f64,
    pub low: f64,
    pub high: f64,
    pub slopes: (f64, f64),
}

/// A function R -> R, or from a part of R.
pub(super) trait Function: Sized {
    /// Its name, as networks have it.
    const NAME: &'static str;
    /// Whether it may jump somewhere.
    const JUMPS: bool = false;
    /// Whether it may have no value somewhere.
    const PARTIAL: bool = false;

    /// From parameters that are finite; an error says what is accepted.
    fn build(parameters: &[f64]) -> Result<Self, String>;

    /// The parameters that it was built from.
    fn parameters(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Its value at x with the error of evaluation; `Near::UNKNOWN` outside of its domain.
    fn value(&self, x: f64) -> Near;

    /// What the values tend to from the left; only functions that jump differ here from their value.
    #[inline]
    fn limit_left(&self, x: f64) -> Near {
        self.value(x)
    }

    /// What the values tend to from the right.
    #[inline]
    fn limit_right(&self, x: f64) -> Near {
        self.value(x)
    }

    /// Its derivative from the left.
    fn slope_left(&self, x: f64) -> Near;

    /// Its derivative from the right.
    #[inline]
    fn slope_right(&self, x: f64) -> Near {
        self.slope_left(x)
    }

    /// Its value in plain floats, of which nothing is proven: what attacks evaluate. Next to a jump the level may be the other
    /// one, as it may be wherever a sum was rounded before.
    #[inline]
    fn plain_value(&self, x: f64) -> f64 {
        self.value(x).value
    }

    /// Value and derivative from the right in plain floats, of which nothing is proven: what both take is computed once.
    #[inline]
    fn plain(&self, x: f64) -> (f64, f64) {
        (self.value(x).value, self.slope_right(x).value)
    }

    /// The piece that begins at x or on which x lies with x < end.
    fn piece(&self, x: f64) -> Piece;

    /// Whether it is known to be straight on [l, u] although it lies on a bent piece.
    #[inline]
    fn straight_on(&self, _l: f64, _u: f64) -> bool {
        false
    }

    /// Shows its values at all knots inside of [l, u] and at the ends, if it is continuous and straight between these
    /// and they are few; says whether it is.
    #[inline]
    fn corners(&self, _l: f64, _u: f64, _show: impl FnMut(f64, Near)) -> bool {
        false
    }

    /// Slope and intercept of the straight piece right of x.
    #[inline]
    fn straight(&self, x: f64) -> (Near, Near) {
        let (value, slope) = (self.limit_right(x), self.slope_right(x));
        let rise =
            if slope.error == 0.0 { crate::numeric::near::product(slope.value, x) } else { slope * Near::exact(x) };
        (slope, crate::numeric::near::sum(value, -rise))
    }

    /// A point of [a, b], which lies on one convex (`rising` slope) or concave piece, near to where the slope is `lam`.
    /// Any point is sound, even NaN. By default regula falsi with the Illinois rule.
    #[inline]
    fn touch(&self, lam: f64, a: f64, b: f64, rising: bool) -> f64 {
        let sign = if rising { 1.0 } else { -1.0 };
        let gap = |x: f64| sign * (self.slope_right(x).value - lam);
        let (mut a, mut b, mut at_a, mut at_b) = (a, b, gap(a), gap(b));
        if at_a >= 0.0 {
            return a;
        }
        if at_b <= 0.0 {
            return b;
        }
        let small = 1e-11 * (at_b - at_a);
        let mut below = None;
        for step in 0..20 {
            // Every fourth step halves, for slopes that are nearly constant on most of the piece.
            let guess = (a * at_b - b * at_a) / (at_b - at_a);
            let x = if step % 4 == 3 || !(guess > a && guess < b) { a + (b - a) / 2.0 } else { guess };
            let at_x = gap(x);
            if at_x.abs() <= small {
                return x;
            }
            // An end that stays twice counts half.
            if at_x < 0.0 {
                (a, at_a) = (x, at_x);
                at_b /= if below == Some(true) { 2.0 } else { 1.0 };
            } else {
                (b, at_b) = (x, at_x);
                at_a /= if below == Some(false) { 2.0 } else { 1.0 };
            }
            below = Some(at_x < 0.0);
        }
        a + (b - a) / 2.0
    }

    /// Whether it is non-decreasing everywhere.
    fn increasing(&self) -> bool {
        false
    }

    /// Numbers that no value exceeds.
    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    /// Whether the slope 0 makes the thinnest strip on [l, u], where the shape of the function tells.
    #[inline]
    fn is_level(&self, _l: f64, _u: f64) -> bool {
        false
    }

    /// For ranges of so many pieces that they are not visited one by one.
    #[inline]
    fn band(&self, _l: f64, _u: f64) -> Option<Band> {
        None
    }

    /// Its closed form, where it goes up in equal steps.
    #[inline]
    fn staircase(&self) -> Option<&Staircase> {
        None
    }

    /// A point where it is defined.
    fn domain_point(&self) -> f64 {
        0.0
    }
}

/// Refuses parameters of a function that has none.
pub(super) fn no_parameters(parameters: &[f64]) -> Result<(), String> {
    count(parameters, 0)
}

/// Refuses another number of parameters.
pub(super) fn count(parameters: &[f64], expected: usize) -> Result<(), String> {
    if parameters.len() == expected {
        Ok(())
    } else {
        Err(format!("it has {} parameters, expected {expected}", parameters.len()))
    }
}
