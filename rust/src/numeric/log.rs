//! The natural logarithm with a proven error, and a lower bound of the exponential, from the four operations alone.

use super::round::{U, add_down, div_down, mul_down};

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

/// ln x and a bound on its error, for finite x > 0; (NaN, NaN) otherwise.
///
/// x = m 2^e with m in [sqrt 1/2, sqrt 2]; ln m = 2 atanh z, z = (m - 1) / (m + 1), |z| <= 0.1716. m - 1 is exact, so z
/// carries at most two roundings and the Horner form of eleven odd terms at most 40 U relatively; the terms left out
/// sum to less than 2 z^23 / (23 (1 - z^2)) < 3e-19. e ln 2 carries two roundings and the final sum one. Together at
/// most 64 U (|e| + 1).
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
    let square = z * z;
    let mut sum = 1.0 / 21.0;
    for k in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * square + 1.0 / k;
    }
    (e * std::f64::consts::LN_2 + 2.0 * z * sum, 64.0 * U * (e.abs() + 1.0))
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
