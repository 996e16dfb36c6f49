//! Sine and cosine with proven errors, for |x| <= 10^6; beyond, only that they lie between -1 and 1.

use super::near::Near;
use super::round::U;

/// pi / 2 to 33 bits, so that k times it is exact for |k| < 2^20 (a multiple of 2^-32), and the rest rounded.
const HALF_PI_HIGH: f64 = f64::from_bits(0x3ff9_21fb_5440_0000);
const HALF_PI_LOW: f64 = f64::from_bits(0x3dd0_b461_1a62_6331);

/// Up to where arguments are reduced.
pub const REDUCED: f64 = 1e6;

/// 1.5 * 2^52: adding and taking it away rounds to an integer.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// k pi / 2 for an integer |k| < 2^20: a rounding each for the two products' sum and the constants' rest, 2 U claimed.
#[must_use]
#[inline]
pub fn half_turns(k: f64) -> Near {
    if k == 0.0 { Near::exact(0.0) } else { Near::relative(k * HALF_PI_HIGH + k * HALF_PI_LOW, 2.0) }
}

/// sin r for |r| <= 0.786 to 3 U relatively: Taylor's series up to r^17; r^19 / 19! < 1e-19. The part behind r is below
/// 0.115 of the sum and has 6 U, the sum one.
#[inline]
fn sine(r: f64) -> f64 {
    let square = r * r;
    let mut sum = 1.0 / 355_687_428_096_000.0;
    for inverse in [
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
    ] {
        sum = sum * square + inverse;
    }
    r + r * (square * sum)
}

/// cos r for |r| <= 0.786 to 4 U: up to r^16; r^18 / 18! < 2.1e-18. The part behind 1 is below 0.31 and has 5 U.
#[inline]
fn cosine(r: f64) -> f64 {
    let square = r * r;
    let mut sum = 1.0 / 20_922_789_888_000.0;
    for inverse in [
        -1.0 / 87_178_291_200.0,
        1.0 / 479_001_600.0,
        -1.0 / 3_628_800.0,
        1.0 / 40_320.0,
        -1.0 / 720.0,
        1.0 / 24.0,
        -1.0 / 2.0,
    ] {
        sum = sum * square + inverse;
    }
    1.0 + square * sum
}

/// sin(x + turns pi / 2).
///
/// x = k pi / 2 + r with k an integer and |r| <= 0.786. k HALF_PI_HIGH is exact, and so is its difference from x where
/// k is not 0 (both are multiples of 2^-53, the difference is below 1). k HALF_PI_LOW < 7e-5 has a rounding below 7e-21
/// and lacks less than 2^-87 k < 8e-21; the last difference has one rounding. Sine and cosine move no further than r.
#[must_use]
#[inline]
pub fn wave(x: f64, turns: i64) -> Near {
    if x.abs() > REDUCED || x.is_nan() {
        return if x.is_nan() { Near::UNKNOWN } else { Near { value: 0.0, error: 1.0 } };
    }
    let k = (x * std::f64::consts::FRAC_2_PI + TO_INTEGER) - TO_INTEGER;
    let r = (x - k * HALF_PI_HIGH) - k * HALF_PI_LOW;
    let reduction = if k == 0.0 { 0.0 } else { r.abs() * U + 2e-20 };
    #[allow(clippy::cast_possible_truncation)]
    let quarter = (k as i64 + turns) & 3;
    let value = match quarter & 1 {
        0 => Near::relative(sine(r), 3.0),
        _ => Near { value: cosine(r), error: 4.0 * U },
    };
    let near = if reduction == 0.0 { value } else { value.wider(reduction) };
    if quarter & 2 == 0 { near } else { -near }
}
