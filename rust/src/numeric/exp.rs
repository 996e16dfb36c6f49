//! The exponential and what is made of it at once, with proven errors, from the four operations alone.
//!
//! Errors are relative in units of U = 2^-53 and to first order; what is left out is below 1e-14 of them, and every
//! claim has at least a tenth to spare.

use super::near::Near;
use super::round::{TINY, up};

/// ln 2 to 32 bits, so that k times it is exact for |k| < 2^21 (a multiple of 2^-32), and the rest rounded.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// 1.5 * 2^52: adding and taking it away rounds to an integer.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// The error of [`exp`] and [`expm1`] in units.
const UNITS: f64 = 4.0;

/// x = k ln 2 + r: (k, r) for |x| <= 746.
///
/// k is x / ln 2 rounded to an integer, up to 1e-9, so |r| <= 0.3466. k = 0 leaves x as it is. Else |x| > 0.34, so x and
/// k LN_2_HIGH are multiples of 2^-54 whose difference is below 1/2: it is exact. k LN_2_LOW is below 2.1e-7, its rounding
/// and the bits that the two constants lack (2^-86 k) below 1e-22. So r is off by at most half a unit of its own, 0.35 U.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    let k = (x * std::f64::consts::LOG2_E + TO_INTEGER) - TO_INTEGER;
    (k, (x - k * LN_2_HIGH) - k * LN_2_LOW)
}

/// e^r - 1 - r for |r| <= 0.3466, off by at most 7 units of itself.
///
/// Taylor's series up to r^13 as r^2 Q(r), Q split into even and odd powers. What is left out is below
/// e^|r| |r|^14 / 14! < 6e-18, 0.06 U, which is charged to e^r below. The even part starts with the exact 1/2 and has
/// |r^2 / 24| < 0.01 behind it: 1.2 units. The odd part has 2.2 units and is below 0.17; times r, 3.2 units of 0.058.
/// So Q >= 0.44 has at most 3 units with its own sum, r^2 has 1 and the product 1: 5, claimed are 7.
#[inline(always)]
fn tail(r: f64) -> f64 {
    let square = r * r;
    let even = 1.0 / 2.0
        + square
            * (1.0 / 24.0
                + square
                    * (1.0 / 720.0
                        + square * (1.0 / 40_320.0 + square * (1.0 / 3_628_800.0 + square * (1.0 / 479_001_600.0)))));
    let odd = 1.0 / 6.0
        + square
            * (1.0 / 120.0
                + square
                    * (1.0 / 5_040.0
                        + square
                            * (1.0 / 362_880.0 + square * (1.0 / 39_916_800.0 + square * (1.0 / 6_227_020_800.0)))));
    square * (even + r * odd)
}

/// 2^k for an integer k between -1022 and 1023.
#[inline(always)]
#[allow(clippy::cast_sign_loss)]
fn power_of_two(k: i64) -> f64 {
    f64::from_bits(((k + 1023) as u64) << 52)
}

/// e^x without its error, which is at most 4 units of the value and `TINY`. NaN stays NaN, overflow gives infinity.
///
/// 1 + (r + tail): at r = 0.3466 the tail is 0.068 with 7 units, the inner sum 0.414 and the outer 1.414 with one each,
/// 2.31 U together; at r = -0.3466 they are 0.054, 0.293 and 0.707: 1.38 U. Relative to e^r: 1.64 and 1.96 units, then
/// 0.35 for r and 0.06 U for what was left out: at most 2.4 units. The factor 2^k is exact in its first half; the second
/// rounds where the result is subnormal, by at most half of `TINY`. Below -746 the exact value is less than 2^-1075.
#[inline(always)]
fn exp_value(x: f64) -> f64 {
    let (k, r) = reduce(x.clamp(-746.0, 710.0));
    #[allow(clippy::cast_possible_truncation)]
    let k = k as i64;
    let half = k >> 1;
    (1.0 + (r + tail(r))) * power_of_two(half) * power_of_two(k - half)
}

/// e^x; at most 4 U off relatively. Infinite where it overflows, with an infinite error.
#[must_use]
#[inline]
pub fn exp(x: f64) -> Near {
    Near::relative(exp_value(x), UNITS)
}

/// Whether e^y is certainly below 2^-1075 for every y near x.
#[inline(always)]
fn vanishes(x: Near) -> bool {
    x.high() <= -746.0
}

/// e^x of a number near x. |e^y - e^x| = e^x |e^(y - x) - 1| <= e^x d (1 + d) for d = |y - x| <= 1.
#[must_use]
#[inline]
pub fn exp_near(x: Near) -> Near {
    if vanishes(x) {
        return Near::relative(0.0, 0.0);
    }
    let power = exp(x.value);
    if x.error > 1.0 || x.error.is_nan() {
        return Near { value: power.value, error: f64::INFINITY };
    }
    if x.error == 0.0 { power } else { power.wider(power.magnitude() * (x.error * (1.0 + x.error)) + TINY) }
}

/// e^x - 1; at most 4 U off relatively for |x| <= 0.34.
///
/// There k = 0, so r = x without error; x + tail: the tail is at most 0.184 of the sum, with 7 units, the sum has one:
/// 2.3 units; left out is at most 6e-18 of 0.29. (A square that underflows loses less than `TINY`.) Elsewhere by
/// subtraction of 1, |e^x - 1| > 0.28.
#[must_use]
#[inline]
pub fn expm1(x: f64) -> Near {
    if x.abs() <= 0.34 { Near::relative(x + tail(x), UNITS) } else { exp(x) - Near::exact(1.0) }
}

/// e^x - 1 of a number near x: the difference is as that of e^x, which is 1 more than the result.
#[must_use]
#[inline]
pub fn expm1_near(x: Near) -> Near {
    if vanishes(x) {
        return Near::relative(-1.0, 0.0);
    }
    let power = expm1(x.value);
    if x.error > 1.0 || x.error.is_nan() {
        return Near { value: power.value, error: f64::INFINITY };
    }
    let above = up(1.0 + power.value) + power.error;
    if x.error == 0.0 { power } else { power.wider(above * (x.error * (1.0 + x.error)) + TINY) }
}

/// 1 / (1 + e^-x), 10 units. With e = e^-|x| it is 1 / (1 + e) or e / (1 + e): e has 4 units, 1 + e at most
/// 1 + 4 e / (1 + e) <= 3, the quotient 1.
#[must_use]
#[inline]
pub fn sigmoid(x: f64) -> Near {
    let e = exp_value(-x.abs());
    Near::relative((if x < 0.0 { e } else { 1.0 }) / (1.0 + e), 10.0)
}

/// The derivative of the sigmoid, e / (1 + e)^2 with e = e^-|x|: 4 units, twice 3, one for the square and one for the
/// quotient: 12, claimed are 14.
#[must_use]
#[inline]
pub fn sigmoid_slope(x: f64) -> Near {
    let e = exp_value(-x.abs());
    Near::relative(e / ((1.0 + e) * (1.0 + e)), 14.0)
}

/// tanh x, 16 units: of t = e^(-2|x|) - 1 it is -t / (2 + t), whose relative change is 2 / (2 + t) times that of t.
///
/// For |2x| <= 0.34: t > -0.29 has 4 units, so 4.7, one for the sum and one for the quotient. Else t = e - 1 with
/// e <= 0.712: e has 4 units, so t has 4 e / (1 - e) + 1, and with 2 / (1 + e) that is at most
/// 8 e / (1 - e^2) + 2 / (1 + e) <= 11.6 + 1.2, then two more: 14.8. Where e vanishes t = -1 and the claim holds as well.
#[must_use]
#[inline]
pub fn tanh(x: f64) -> Near {
    let doubled = -2.0 * x.abs();
    let t = if doubled >= -0.34 { doubled + tail(doubled) } else { exp_value(doubled) - 1.0 };
    Near::relative((-t / (2.0 + t)).copysign(x), 16.0)
}

/// The derivative of tanh, 4 e / (1 + e)^2 with e = e^(-2|x|): as that of the sigmoid, and four times what underflows.
#[must_use]
#[inline]
pub fn tanh_slope(x: f64) -> Near {
    let e = exp_value(-2.0 * x.abs());
    Near::relative(4.0 * (e / ((1.0 + e) * (1.0 + e))), 14.0).wider(4.0 * TINY)
}

/// The sigmoid of a number near x: its derivative changes by a factor of at most e^d over a distance d <= 1.
#[must_use]
#[inline]
pub fn sigmoid_near(x: Near) -> Near {
    let value = sigmoid(x.value);
    if x.error > 1.0 || x.error.is_nan() {
        return Near { value: 0.5, error: 0.5 };
    }
    value.wider(sigmoid_slope(x.value).magnitude() * (x.error * (1.0 + 2.0 * x.error)) + TINY)
}

/// The derivative of the sigmoid at a number near x: it changes by a factor of at most e^d over a distance d <= 1.
#[must_use]
#[inline]
pub fn sigmoid_slope_near(x: Near) -> Near {
    let slope = sigmoid_slope(x.value);
    if x.error > 1.0 || x.error.is_nan() {
        return Near { value: 0.125, error: 0.125 };
    }
    slope.wider(slope.magnitude() * (x.error * (1.0 + x.error)) + TINY)
}
