//! Square, square root, reciprocal, any power, and softsign.

use crate::numeric::exp::{exp, exp_near};
use crate::numeric::log::ln;
use crate::numeric::near::Near;

use super::function::{Bend, Function, Piece, count, no_parameters};

/// x^2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Square;

impl Function for Square {
    const NAME: &'static str = "square";

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        crate::numeric::near::product(x, x)
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        let slope = 2.0 * x;
        if slope.is_finite() { Near::exact(slope) } else { Near::UNKNOWN }
    }

    #[inline]
    fn piece(&self, _x: f64) -> Piece {
        Piece::last(Bend::Convex)
    }

    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, _rising: bool) -> f64 {
        lam / 2.0
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
}

/// The square root, for x >= 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sqrt;

impl Function for Sqrt {
    const NAME: &'static str = "sqrt";
    const PARTIAL: bool = true;

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        if x > 0.0 {
            Near::relative(x.sqrt(), 1.0)
        } else if x == 0.0 {
            Near::exact(0.0)
        } else {
            Near::UNKNOWN
        }
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        if x > 0.0 {
            Near::relative(0.5 / x.sqrt(), 3.0)
        } else if x == 0.0 {
            Near { value: f64::INFINITY, error: f64::INFINITY }
        } else {
            Near::UNKNOWN
        }
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x < 0.0 { Piece::outside() } else { Piece::last(Bend::Concave) }
    }

    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, _rising: bool) -> f64 {
        if lam <= 0.0 { f64::INFINITY } else { 0.25 / (lam * lam) }
    }

    fn increasing(&self) -> bool {
        true
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
}

/// 1 / x, for x other than 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reciprocal;

impl Function for Reciprocal {
    const NAME: &'static str = "reciprocal";
    const JUMPS: bool = true;
    const PARTIAL: bool = true;

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        if x == 0.0 { Near::UNKNOWN } else { Near::relative(1.0 / x, 1.0) }
    }

    /// Three roundings; squared after the division, since x^2 overflows where 1 / x^2 is not yet 0.
    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        let inverse = 1.0 / x;
        if x == 0.0 { Near::UNKNOWN } else { Near::relative(-(inverse * inverse), 4.0) }
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x < 0.0 { Piece { end: 0.0, bend: Bend::Concave, jump: true } } else { Piece::last(Bend::Convex) }
    }

    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, rising: bool) -> f64 {
        // Not the larger of -lam and 0, which may be -0, and then the size is no size.
        let size = if lam < 0.0 { 1.0 / (-lam).sqrt() } else { f64::INFINITY };
        if rising { size } else { -size }
    }

    fn domain_point(&self) -> f64 {
        1.0
    }
}

/// x / (1 + |x|): convex left of 0, concave right of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Softsign;

impl Function for Softsign {
    const NAME: &'static str = "softsign";

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        Near::relative(x / (1.0 + x.abs()), 3.0)
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        let inverse = 1.0 / (1.0 + x.abs());
        Near::relative(inverse * inverse, 6.0)
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x < 0.0 { Piece::to(0.0, Bend::Convex) } else { Piece::last(Bend::Concave) }
    }

    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, rising: bool) -> f64 {
        let size = (1.0 / lam.max(0.0).sqrt() - 1.0).max(0.0);
        if rising { -size } else { size }
    }

    fn increasing(&self) -> bool {
        true
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (-1.0, 1.0)
    }
}

/// x^p: for x > 0; for every x where p is an integer >= 0; for x other than 0 where p is a negative integer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    p: f64,
    integer: bool,
    even: bool,
    /// 2 p, where that is an integer of at most 64: products of roots are more precise than e^(p ln x) then.
    halves: Option<i32>,
}

/// |x|^(halves / 2); the reciprocal is taken first, since an overflow would lose everything.
#[inline]
fn of_halves(size: f64, halves: i32) -> Near {
    let mut base = Near::exact(size);
    if halves < 0 {
        base = Near::exact(1.0) / base;
    }
    let mut left = halves.unsigned_abs();
    if left % 2 == 1 {
        base = base.sqrt();
    } else {
        left /= 2;
    }
    let mut power: Option<Near> = None;
    while left > 0 {
        if left % 2 == 1 {
            power = Some(power.map_or(base, |power| power * base));
        }
        left /= 2;
        if left > 0 {
            base = base * base;
        }
    }
    power.unwrap_or(Near::exact(1.0))
}

impl Power {
    /// x^p for x > 0.
    #[inline]
    fn of_size(&self, size: f64) -> Near {
        if let Some(halves) = self.halves {
            return of_halves(size, halves);
        }
        let (value, error) = ln(size);
        exp_near(Near::exact(self.p) * Near { value, error })
    }

    /// Whether x^p is defined.
    #[inline]
    fn defined(&self, x: f64) -> bool {
        x.is_finite() && (x > 0.0 || (self.integer && (x < 0.0 || self.p >= 0.0)))
    }
}

impl Function for Power {
    const NAME: &'static str = "power";
    const JUMPS: bool = true;
    const PARTIAL: bool = true;

    fn build(parameters: &[f64]) -> Result<Self, String> {
        count(parameters, 1)?;
        let p = parameters[0];
        let integer = p.fract() == 0.0;
        #[allow(clippy::cast_possible_truncation)]
        let halves = (p.abs() <= 32.0 && (2.0 * p).fract() == 0.0).then_some((2.0 * p) as i32);
        Ok(Self { p, integer, even: integer && (p / 2.0).fract() == 0.0, halves })
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.p]
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        if !self.defined(x) {
            return Near::UNKNOWN;
        }
        if self.p == 0.0 || self.p == 1.0 {
            return Near::exact(if self.p == 0.0 { 1.0 } else { x });
        }
        if x == 0.0 {
            return Near::exact(0.0);
        }
        let size = self.of_size(x.abs());
        if x < 0.0 && !self.even { -size } else { size }
    }

    /// p x^(p - 1).
    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        if !self.defined(x) {
            return Near::UNKNOWN;
        }
        if self.p == 0.0 || self.p == 1.0 {
            return Near::exact(self.p);
        }
        if x == 0.0 {
            return Near::exact(0.0);
        }
        let size = x.abs();
        let slope = match self.halves {
            Some(halves) => Near::exact(self.p) * of_halves(size, halves - 2),
            None => Near::exact(self.p) * (self.of_size(size) / Near::exact(size)),
        };
        if x < 0.0 && self.even { -slope } else { slope }
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if self.p == 0.0 || self.p == 1.0 {
            return Piece::last(Bend::Straight);
        }
        let right = if self.p < 0.0 || self.p > 1.0 { Bend::Convex } else { Bend::Concave };
        if x >= 0.0 {
            return Piece::last(right);
        }
        match (self.integer, self.even, self.p < 0.0) {
            (false, _, _) => Piece::outside(),
            (true, true, false) => Piece::last(Bend::Convex),
            (true, false, false) => Piece::to(0.0, Bend::Concave),
            (true, even, true) => Piece { end: 0.0, bend: if even { Bend::Convex } else { Bend::Concave }, jump: true },
        }
    }

    /// |x| = (lam / p)^(1 / (p - 1)), on the side on which [a, b] lies; with no such x, an end.
    #[inline]
    fn touch(&self, lam: f64, _a: f64, b: f64, _rising: bool) -> f64 {
        let left = b <= 0.0;
        let size = |ratio: f64| {
            if ratio <= 0.0 {
                if self.p > 1.0 { 0.0 } else { f64::INFINITY }
            } else {
                exp(ln(ratio).0 / (self.p - 1.0)).value
            }
        };
        if self.even && self.p > 0.0 {
            return size(lam.abs() / self.p).copysign(lam);
        }
        let size = size(if left && self.even { -lam / self.p } else { lam / self.p });
        if left { -size } else { size }
    }

    fn increasing(&self) -> bool {
        self.p >= 0.0 && !(self.even && self.p > 0.0)
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (if self.integer && !self.even { f64::NEG_INFINITY } else { 0.0 }, f64::INFINITY)
    }

    fn domain_point(&self) -> f64 {
        if self.defined(0.0) { 0.0 } else { 1.0 }
    }
}
