//! The natural logarithm with a proven error, and a lower bound of the exponential, from the four operations alone.

use super::near::Near;
use super::round::{TINY, U, add_down, div_down, mul_down};

/// At most e^x, to about five parts in a million for moderate x: (1 + x / n)^n <= e^x for every x >= -n, here n = 2^20,
/// rounded down at every step.
#[must_use]
pub fn exp_below(x: f64) -> f64 {
    let n = f64::from(1u32 << 20);
    // 1 + x / n must not be negative, and e^x is next to nothing long before.
    if x.is_nan() || x <= -1000.0 {
        return 0.0;
    }
    let mut power = add_down(1.0, div_down(x.min(700.0), n));
    for _ in 0..20 {
        power = mul_down(power, power);
    }
    power.max(0.0)
}

/// atanh z / z = 1 + z^2 / 3 + z^4 / 5 + .. for |z| <= 0.1716, eleven terms, `square` = z^2.
///
/// The terms left out sum to less than z^22 / (23 (1 - z^2)) < 7e-19. The part behind 1 is below 0.011, so even with ten
/// units of its own and five of the square the sum has 1.2 units U.
#[inline]
fn odd_series(square: f64) -> f64 {
    let mut sum = 1.0 / 21.0;
    for inverse in
        [1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0]
    {
        sum = sum * square + inverse;
    }
    sum
}

/// ln x and a bound on its error, for finite x > 0; (NaN, NaN) otherwise.
///
/// x = m 2^e with m in [sqrt 1/2, sqrt 2]; ln m = 2 atanh z, z = (m - 1) / (m + 1), |z| <= 0.1716. m - 1 is exact, so z
/// carries two roundings, and 2 z times the series 4.2 U relatively. e ln 2 carries two roundings, and the final sum one.
/// Together at most 3 U |e ln 2| + 5.2 U |ln m|; claimed are 8 U (|e ln 2| + |ln m|).
#[must_use]
pub fn ln(x: f64) -> (f64, f64) {
    if !(x > 0.0 && x < f64::INFINITY) {
        return (f64::NAN, f64::NAN);
    }
    // Subnormal numbers are scaled up first, which is exact.
    let (scaled, shift) = if x < f64::MIN_POSITIVE { (x * 4_503_599_627_370_496.0, -52.0) } else { (x, 0.0) };
    let bits = scaled.to_bits();
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]
    let mut e = ((bits >> 52) as i64 - 1023) as f64 + shift;
    let mut m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if m > std::f64::consts::SQRT_2 {
        m *= 0.5;
        e += 1.0;
    }
    let z = (m - 1.0) / (m + 1.0);
    let (power, mantissa) = (e * std::f64::consts::LN_2, 2.0 * z * odd_series(z * z));
    (power + mantissa, 8.0 * U * (power.abs() + mantissa.abs()))
}

/// ln(1 + e) for an exact e near to one between 0 and 1, 16 U off relatively and as far as e.
///
/// For e <= 0.4 it is 2 atanh z with z = e / (2 + e) <= 0.1716: 4.2 U as above. Else ln 2 + 2 atanh z with
/// z = (e - 1) / (e + 3), three roundings: 5.2 U of 0.36, 0.3 U for ln 2 and one rounding: 2.6 U of at least 0.33.
/// The derivative is at most 1 (for an exact e just below 0 as well, up to rounding).
#[must_use]
#[inline]
pub fn ln_1p(e: Near) -> Near {
    let low = e.value <= 0.4;
    let z = if low { e.value / (2.0 + e.value) } else { (e.value - 1.0) / (e.value + 3.0) };
    let part = 2.0 * z * odd_series(z * z);
    Near::relative(if low { part } else { std::f64::consts::LN_2 + part }, 16.0).wider(e.error + 4.0 * TINY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_bounded_closely_from_below() {
        for x in [-900.0, -30.0, -3.0, -1e-9, 0.0, 1e-9, 0.5, 3.0, 30.0, 699.0, 1e300] {
            let (below, true_value) = (exp_below(x), x.exp());
            assert!(below <= true_value * (1.0 + 4.0 * U), "{x}");
            assert!(x.abs() > 3.0 || below >= true_value * (1.0 - 1e-5), "{x}");
        }
        assert!(exp_below(f64::NAN) == 0.0 && exp_below(f64::NEG_INFINITY) == 0.0);
    }

    #[test]
    fn agrees_with_the_library_within_its_error() {
        let mut x = 1e-320;
        while x < 1e307 {
            for v in [x, x * 1.37, x * 0.999_9] {
                let (value, error) = ln(v);
                // The library's own error is below one unit in the last place.
                assert!((value - v.ln()).abs() <= error + 2.0 * U * value.abs(), "{v:e}");
                assert!(error < 1e-11);
            }
            x *= 3.7;
        }
        assert!(ln(0.0).0.is_nan() && ln(-1.0).0.is_nan() && ln(f64::INFINITY).0.is_nan());
    }
}
