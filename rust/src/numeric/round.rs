//! Scalar operations rounded to the safe side.
//!
//! Round to nearest is off by at most half a unit in the last place, so the next representable number is on the safe
//! side; this holds for subnormal results and at overflow (an upper bound may become +inf or NaN, never smaller than
//! the truth) as well.

/// Unit roundoff of binary64, 2^-53.
pub const U: f64 = f64::EPSILON / 2.0;

/// 2^-900: bounds the error of one product that underflows, which is at most the smallest positive number, 2^-1074.
///
/// What it is multiplied by leaves it a normal number. Processors take some hundred cycles for a product with a subnormal
/// one, and there is one in nearly every vector of a box: of each neuron whose bound is 0.
pub const TINY: f64 = f64::from_bits((1023 - 900) << 52);

/// An upper bound of n*U / (1 - n*U), for n up to 2^26: (n + 2) * U, because n (n + 2) U <= 2 there. Exact as a product
/// by a power of two.
#[must_use]
#[inline(always)]
#[allow(clippy::cast_precision_loss)]
pub fn gamma(n: usize) -> f64 {
    debug_assert!(n < 1 << 26);
    (n + 2) as f64 * U
}

/// Whether this thread rounds to nearest and keeps subnormal numbers, as every bound here supposes. Code in the same
/// process can change both (a library built with `-ffast-math` does when it is loaded), and threads inherit it.
#[must_use]
pub fn arithmetic_is_ieee() -> bool {
    use std::hint::black_box;
    let (one, half_unit, smallest) = (black_box(1.0), black_box(U), black_box(f64::MIN_POSITIVE));
    let least = black_box(f64::from_bits(1));
    let nearest = one + half_unit == 1.0
        && -one - half_unit == -1.0
        && one + 1.5 * half_unit > 1.0
        && -one - 1.5 * half_unit < -1.0;
    let gradual = smallest * black_box(0.5) > 0.0 && least + least > 0.0 && least != 0.0;
    nearest && gradual
}

/// At least the next representable number: at least the exact result of an operation that was rounded to `x`.
///
/// The product |x| * 2^-52 is at least one unit in the last place of x, also where it is subnormal (rounding is monotone
/// and the unit representable), and `TINY` serves where it vanishes. Unlike `next_up` this has no branch, so loops over
/// it run in vector registers. For -inf the result is NaN, which proves nothing.
#[must_use]
#[inline(always)]
pub fn up(x: f64) -> f64 {
    x + (x.abs() * f64::EPSILON + TINY)
}

/// At most the previous representable number.
#[must_use]
#[inline(always)]
pub fn down(x: f64) -> f64 {
    x - (x.abs() * f64::EPSILON + TINY)
}

/// At least a + b.
#[must_use]
#[inline(always)]
pub fn add_up(a: f64, b: f64) -> f64 {
    up(a + b)
}

/// At most a + b.
#[must_use]
#[inline(always)]
pub fn add_down(a: f64, b: f64) -> f64 {
    down(a + b)
}

/// At least a - b.
#[must_use]
#[inline(always)]
pub fn sub_up(a: f64, b: f64) -> f64 {
    up(a - b)
}

/// At most a - b.
#[must_use]
#[inline(always)]
pub fn sub_down(a: f64, b: f64) -> f64 {
    down(a - b)
}

/// At least a * b.
#[must_use]
#[inline(always)]
pub fn mul_up(a: f64, b: f64) -> f64 {
    up(a * b)
}

/// At most a * b.
#[must_use]
#[inline(always)]
pub fn mul_down(a: f64, b: f64) -> f64 {
    down(a * b)
}

/// At least a / b for b > 0.
#[must_use]
#[inline(always)]
pub fn div_up(a: f64, b: f64) -> f64 {
    up(a / b)
}

/// At most a / b for b > 0.
#[must_use]
#[inline(always)]
pub fn div_down(a: f64, b: f64) -> f64 {
    down(a / b)
}

/// An upper bound of the exact value of a non-negative expression that was computed with at most `operations`
/// roundings: each loses at most a factor 1 - U, and 1 / (1-U)^n <= 1 + gamma(n); the other gamma pays for this
/// function's own two roundings, `TINY` for underflow.
#[must_use]
#[inline(always)]
pub fn inflate(value: f64, operations: usize) -> f64 {
    value * (1.0 + 2.0 * gamma(operations)) + TINY
}

/// The larger of two numbers; not a number if one of them is not, unlike `f64::max`, which would pass over it.
#[inline(always)]
#[must_use]
pub fn max_propagating_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gamma_covers_its_definition() {
        for n in [1usize, 2, 10, 1000, 1 << 20] {
            // In exact arithmetic with denominators 2^53: n / (2^53 - n) <= (n + 2) / 2^53.
            let (n, d) = (n as u128, 1u128 << 53);
            assert!(n * d <= (n + 2) * (d - n));
        }
    }

    #[test]
    fn the_arithmetic_of_tests_is_ieee() {
        assert!(arithmetic_is_ieee());
    }

    #[test]
    fn what_stands_for_underflow_stays_normal() {
        assert!(TINY > f64::from_bits(1));
        for x in [TINY, up(0.0), up(up(0.0)), -down(0.0), inflate(0.0, 7), mul_up(0.0, -1.0)] {
            assert!(x >= TINY && (x * U * 1e-9).is_normal(), "{x:e}");
        }
    }

    #[test]
    fn up_reaches_the_next_number() {
        let mut x = f64::from_bits(1);
        while x < f64::MAX / 4.0 {
            for v in [x, x * 1.999_999, -x, -x * 1.999_999] {
                assert!(up(v) >= v.next_up() && down(v) <= v.next_down(), "{v:e}");
            }
            x *= 1.5_f64.max(if x < 1e-300 { 2.0 } else { 1.5 });
        }
        assert!(up(0.0) > 0.0 && down(0.0) < 0.0);
    }

    proptest! {
        #[test]
        fn directed_operations_enclose(a in -1e6f64..1e6, b in -1e6f64..1e6) {
            // The residual of a rounded sum is exact (TwoSum), so the enclosure can be checked without more precision.
            let s = a + b;
            let t = s - a;
            let residual = (a - (s - t)) + (b - t);
            prop_assert!(add_up(a, b) - s >= residual && s - add_down(a, b) >= -residual);
            let p = a * b;
            let rest = a.mul_add(b, -p);
            prop_assert!(mul_up(a, b) - p >= rest && p - mul_down(a, b) >= -rest);
        }
    }
}
