//! The arctangent with a proven error, from the four operations and the square root alone.

use super::near::Near;
use super::round::TINY;

/// atan s / s = 1 - s^2 / 3 + s^4 / 5 - .. for 0 <= s <= 0.199, twelve terms, `square` = s^2.
///
/// The terms left out sum to less than s^24 / 25 < 1e-18. The part behind 1 is below 0.0133 in size, so even with ten
/// units of its own and eighteen of the square the sum has 1.4 units U.
#[inline]
fn odd_series(square: f64) -> f64 {
    let mut sum = -1.0 / 23.0;
    for inverse in [
        1.0 / 21.0,
        -1.0 / 19.0,
        1.0 / 17.0,
        -1.0 / 15.0,
        1.0 / 13.0,
        -1.0 / 11.0,
        1.0 / 9.0,
        -1.0 / 7.0,
        1.0 / 5.0,
        -1.0 / 3.0,
        1.0,
    ] {
        sum = sum * square + inverse;
    }
    sum
}

/// tan(a / 2) of t = tan a in [0, 1]: t / (1 + sqrt(1 + t^2)).
#[inline]
fn of_half(t: f64) -> f64 {
    t / (1.0 + (1.0 + t * t).sqrt())
}

/// The arctangent, off by at most 24 U relatively.
///
/// t = |x|, or 1 / |x| beyond 1, which is off by one unit. Halving the angle twice gives s <= tan(pi / 16) < 0.199. If t
/// is off by e U, then 1 + t^2 by (2 e + 1) t^2 / (1 + t^2) + 1, its root by half of that and 1, the sum by less than six
/// tenths of that and 1, and the quotient by e more and 1. From e = 1 these are 2.5, 2.25, 2.4 and 4.4; from e = 4.4 and
/// t^2 <= 0.172, 2.5, 2.3, 2.4 and 7.8. So s^2 is off by 17 units, the series by 1.4, and 4 s times it by 10.2. An
/// arctangent is relatively off by no more than its argument. Beyond 1 it is taken from pi / 2, whose float is off by
/// 0.6 U: 0.79 times 10.2, 0.6 and the rounding of at most 1.58 make less than 11 U, of at least pi / 4: 14 U.
#[must_use]
#[inline]
pub fn atan(x: f64) -> Near {
    let size = x.abs();
    if size == 0.0 {
        return Near::exact(x);
    }
    let t = if size > 1.0 { 1.0 / size } else { size };
    let s = of_half(of_half(t));
    let angle = 4.0 * (s * odd_series(s * s));
    let found = if size > 1.0 { std::f64::consts::FRAC_PI_2 - angle } else { angle };
    Near::relative(found.copysign(x), 24.0).wider(16.0 * TINY)
}

/// 1 / (1 + x^2), which is below 2^-1022 where the square is not finite.
#[must_use]
#[inline]
pub fn atan_slope(x: f64) -> Near {
    let square = x * x;
    if square.is_infinite() {
        return Near { value: 0.0, error: f64::MIN_POSITIVE };
    }
    Near::relative(1.0 / (1.0 + square), 6.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::round::U;

    #[test]
    fn agrees_with_the_library_within_its_error() {
        let mut x = 1e-320;
        while x < 1e307 {
            for v in [x, x * 1.37, -x * 0.999_9] {
                let near = atan(v);
                // The library's own error is below one unit in the last place.
                assert!((near.value - v.atan()).abs() <= near.error + 2.0 * U * near.value.abs(), "{v:e}");
                assert!(near.error <= 26.0 * U * near.value.abs() + 64.0 * TINY, "{v:e}");
                let (slope, exact) = (atan_slope(v), 1.0 / (1.0 + v * v));
                assert!((slope.value - exact).abs() <= slope.error + 3.0 * U * exact, "{v:e}");
            }
            x *= 1.7;
        }
        assert!(atan(0.0) == Near::exact(0.0) && atan(f64::INFINITY).value == std::f64::consts::FRAC_PI_2);
        assert!(atan(f64::NAN).value.is_nan());
    }
}
