//! A number with a bound on its error, and the four operations on such numbers.
//!
//! |exact - value| <= error, where `exact` is what a formula means over the reals. Every operation adds to the errors
//! that come in (by the triangle inequality) its own rounding, at most U |result| and, for products and quotients, half
//! the smallest subnormal. Errors are sums of few non-negative terms, each rounded; a factor 1 + 16 U covers those
//! roundings, and a few times `TINY` what underflows in them. Where nothing is known the error is infinite or NaN.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::round::{TINY, U, down, up};

/// A number, and how far the exact one may lie from it (infinite or NaN where nothing is known).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The number.
    pub value: f64,
    /// At least the distance to the exact one.
    pub error: f64,
}

/// At least a sum of at most eight non-negative terms that was rounded at every step.
#[inline(always)]
fn total(sum: f64) -> f64 {
    sum * (1.0 + 16.0 * U)
}

impl Near {
    /// Nothing is known: outside of a domain.
    pub const UNKNOWN: Self = Self { value: f64::NAN, error: f64::INFINITY };

    /// A number without error.
    #[must_use]
    #[inline(always)]
    pub const fn exact(value: f64) -> Self {
        Self { value, error: 0.0 }
    }

    /// A number that is off by at most `units` U relatively (to itself, not to the exact one), and the smallest
    /// subnormal besides.
    #[must_use]
    #[inline(always)]
    pub fn relative(value: f64, units: f64) -> Self {
        Self { value, error: total(value.abs() * (units * U)) + 2.0 * TINY }
    }

    /// The same with the error larger by `more`.
    #[must_use]
    #[inline(always)]
    pub fn wider(self, more: f64) -> Self {
        Self { value: self.value, error: total(self.error + more) }
    }

    /// At most the exact number; -inf where nothing is known.
    #[must_use]
    #[inline(always)]
    pub fn low(self) -> f64 {
        let low = if self.error == 0.0 { self.value } else { down(self.value - self.error) };
        if low.is_nan() { f64::NEG_INFINITY } else { low }
    }

    /// At least the exact number; +inf where nothing is known.
    #[must_use]
    #[inline(always)]
    pub fn high(self) -> f64 {
        let high = if self.error == 0.0 { self.value } else { up(self.value + self.error) };
        if high.is_nan() { f64::INFINITY } else { high }
    }

    /// At least the absolute value of the exact number.
    #[must_use]
    #[inline(always)]
    pub fn magnitude(self) -> f64 {
        if self.error == 0.0 { self.value.abs() } else { up(self.value.abs() + self.error) }
    }

    /// Its product with a power of two, which is exact but for underflow.
    #[must_use]
    #[inline(always)]
    pub fn scaled(self, power: f64) -> Self {
        let error = if power.abs() >= 1.0 && self.error == 0.0 { 0.0 } else { self.error * power.abs() + 2.0 * TINY };
        Self { value: self.value * power, error }
    }

    /// The square root. For the exact y >= 0 near x > 0: |sqrt y - sqrt x| = |y - x| / (sqrt y + sqrt x) <= error / sqrt x.
    #[must_use]
    #[inline]
    pub fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        if self.value > 0.0 && self.low() >= 0.0 {
            Self { value: root, error: total(self.error / root + root * U) + 2.0 * TINY }
        } else if self.value == 0.0 && self.error == 0.0 {
            Self::exact(0.0)
        } else {
            Self::UNKNOWN
        }
    }

    /// Clamped to [low, high]: the clamp moves no two numbers further apart. Exact where every number near is clamped.
    #[must_use]
    #[inline]
    pub fn clamp(self, low: f64, high: f64) -> Self {
        if self.high() <= low {
            Self::exact(low)
        } else if self.low() >= high {
            Self::exact(high)
        } else {
            Self { value: self.value.clamp(low, high), error: self.error }
        }
    }
}

/// a + b rounded, and the rest that rounding took, exactly (Knuth's TwoSum); NaN at overflow.
#[must_use]
#[inline(always)]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// a * b, exactly where one of them is 0, 1 or -1.
#[must_use]
#[inline(always)]
pub fn product(a: f64, b: f64) -> Near {
    let value = a * b;
    let plain = |x: f64| x == 0.0 || x.abs() == 1.0;
    if (plain(a) || plain(b)) && value.is_finite() { Near::exact(value) } else { Near::relative(value, 1.0) }
}

/// a + b with the rest of the rounding counted exactly, so that a sum without rounding keeps no error.
#[must_use]
#[inline(always)]
pub fn sum(a: Near, b: Near) -> Near {
    let (value, rest) = two_sum(a.value, b.value);
    Near { value, error: total(a.error + b.error + rest.abs()) }
}

impl Neg for Near {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { value: -self.value, error: self.error }
    }
}

/// A sum that is subnormal is exact, so underflow adds nothing.
impl Add for Near {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let value = self.value + other.value;
        Self { value, error: total(self.error + other.error + value.abs() * U) }
    }
}

impl Sub for Near {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Near {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let value = self.value * other.value;
        let passed = self.value.abs() * other.error + other.value.abs() * self.error + self.error * other.error;
        Self { value, error: total(passed + value.abs() * U) + 8.0 * TINY }
    }
}

/// a' / b' - a / b = ((a' - a) - (a / b) (b' - b)) / b', and |b'| >= |b| - error.
impl Div for Near {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let least = down(other.value.abs() - other.error);
        if least <= 0.0 || least.is_nan() {
            return Self { value, error: f64::INFINITY };
        }
        let passed = (self.error + up(value.abs()) * other.error + 2.0 * TINY) / least;
        Self { value, error: total(passed + value.abs() * U) + 8.0 * TINY }
    }
}
