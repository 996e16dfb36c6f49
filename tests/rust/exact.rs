//! Exact numbers: digits * 2^exponent with integers of any length.
//!
//! Every binary64 number is one, and sums and products of them are again, so a network of stored weights at a stored
//! input is evaluated without any rounding. This is the oracle for everything that claims to cover its own rounding.
//! Only quotients are not closed; [`Exact::over`] keeps 256 digits and rounds towards zero, and who uses it allows for
//! 2^-200.

use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul, Neg, Sub};

/// A dyadic number.
#[derive(Clone, Default)]
pub struct Exact {
    digits: BigInt,
    exponent: i64,
}

/// The number itself; panics on NaN and infinities, which stand for no number.
pub fn exact(value: f64) -> Exact {
    assert!(value.is_finite(), "{value} is not a number to compute with");
    let bits = value.to_bits();
    let (fraction, scale) = (bits & ((1 << 52) - 1), i64::try_from(bits >> 52 & 0x7ff).expect("eleven bits"));
    let (digits, exponent) = if scale == 0 { (fraction, -1074) } else { (fraction | 1 << 52, scale - 1075) };
    if digits == 0 {
        return Exact::default();
    }
    let spare = digits.trailing_zeros();
    let digits = BigInt::from(digits >> spare);
    Exact { digits: if value < 0.0 { -digits } else { digits }, exponent: exponent + i64::from(spare) }
}

/// An integer.
pub fn integer(value: &BigInt) -> Exact {
    Exact { digits: value.clone(), exponent: 0 }
}

/// 2^power.
pub fn power_of_two(power: i64) -> Exact {
    Exact { digits: BigInt::from(1), exponent: power }
}

impl Exact {
    pub fn is_zero(&self) -> bool {
        self.digits.sign() == Sign::NoSign
    }

    pub fn abs(&self) -> Self {
        Self { digits: BigInt::from(self.digits.magnitude().clone()), exponent: self.exponent }
    }

    /// max(0, self).
    pub fn relu(&self) -> Self {
        if self.digits.sign() == Sign::Minus { Self::default() } else { self.clone() }
    }

    /// The largest integer not above self / divisor, for positive divisors.
    pub fn floor_over(&self, divisor: &Self) -> BigInt {
        let shift = self.exponent - divisor.exponent;
        let up = |digits: &BigInt, by: i64| digits << by.max(0);
        let (n, d) = (up(&self.digits, shift), up(&divisor.digits, -shift));
        let (quotient, rest) = (&n / &d, &n % &d);
        if rest.sign() == Sign::Minus { quotient - 1 } else { quotient }
    }

    /// self / divisor to 256 digits, rounded towards zero: never larger in size than the true quotient.
    pub fn over(&self, divisor: &Self) -> Self {
        assert!(!divisor.is_zero());
        let bits = |x: &Self| i64::try_from(x.digits.bits()).expect("not that long");
        let shift = (256 + bits(divisor) - bits(self)).max(0);
        Self { digits: (&self.digits << shift) / &divisor.digits, exponent: self.exponent - divisor.exponent - shift }
    }

    /// The smallest binary64 number that is not below this one.
    pub fn upward(&self) -> f64 {
        let spare = self.digits.bits().saturating_sub(53);
        let leading: f64 = (&self.digits >> spare).to_string().parse().expect("an integer");
        let power = self.exponent + i64::try_from(spare).expect("not that long");
        let step = 2f64.powi(i32::try_from(power.clamp(-2000, 2000) / 2).expect("clamped"));
        let rest = 2f64.powi(i32::try_from(power.clamp(-2000, 2000) - power.clamp(-2000, 2000) / 2).expect("clamped"));
        let mut near = (leading * step * rest).clamp(f64::MIN, f64::MAX);
        while *self > near {
            near = near.next_up();
        }
        while near.next_down().is_finite() && *self <= near.next_down() {
            near = near.next_down();
        }
        near
    }

    /// The digits over a common exponent.
    fn aligned(&self, exponent: i64) -> BigInt {
        &self.digits << (self.exponent - exponent)
    }

    fn common(&self, other: &Self) -> i64 {
        match (self.is_zero(), other.is_zero()) {
            (true, _) => other.exponent,
            (_, true) => self.exponent,
            _ => self.exponent.min(other.exponent),
        }
    }
}

impl Add for &Exact {
    type Output = Exact;
    fn add(self, other: &Exact) -> Exact {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let exponent = self.common(other);
        Exact { digits: self.aligned(exponent) + other.aligned(exponent), exponent }
    }
}

impl Neg for &Exact {
    type Output = Exact;
    fn neg(self) -> Exact {
        Exact { digits: -&self.digits, exponent: self.exponent }
    }
}

impl Sub for &Exact {
    type Output = Exact;
    fn sub(self, other: &Exact) -> Exact {
        self + &-other
    }
}

impl Mul for &Exact {
    type Output = Exact;
    fn mul(self, other: &Exact) -> Exact {
        Exact { digits: &self.digits * &other.digits, exponent: self.exponent + other.exponent }
    }
}

impl Mul<f64> for &Exact {
    type Output = Exact;
    fn mul(self, other: f64) -> Exact {
        self * &exact(other)
    }
}

impl Sum for Exact {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::default(), |total, term| &total + &term)
    }
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Exact {}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.digits.sign(), other.digits.sign());
        if a != b || a == Sign::NoSign {
            return a.cmp(&b);
        }
        let exponent = self.common(other);
        self.aligned(exponent).cmp(&other.aligned(exponent))
    }
}

impl PartialEq<f64> for Exact {
    fn eq(&self, other: &f64) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

/// Against a bound, which may be infinite but not NaN: a comparison with NaN holds for nothing.
impl PartialOrd<f64> for Exact {
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        match *other {
            v if v.is_nan() => None,
            f64::INFINITY => Some(Ordering::Less),
            f64::NEG_INFINITY => Some(Ordering::Greater),
            v => Some(self.cmp(&exact(v))),
        }
    }
}

/// Roughly, for messages: the leading digits, cut off.
impl fmt::Debug for Exact {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spare = self.digits.bits().saturating_sub(53);
        let leading: f64 = (&self.digits >> spare).to_string().parse().map_err(|_| fmt::Error)?;
        let power = self.exponent + i64::try_from(spare).map_err(|_| fmt::Error)?;
        match i32::try_from(power) {
            Ok(p) if (-1000..=900).contains(&p) => write!(out, "{:e}", leading * 2f64.powi(p)),
            _ => write!(out, "{leading}*2^{power}"),
        }
    }
}

/// sum of a_i * b_i.
pub fn dot<'a>(a: impl IntoIterator<Item = &'a Exact>, b: impl IntoIterator<Item = &'a Exact>) -> Exact {
    a.into_iter().zip(b).filter(|(x, y)| !x.is_zero() && !y.is_zero()).map(|(x, y)| x * y).sum()
}

/// All of them.
pub fn all_exact<'a>(values: impl IntoIterator<Item = &'a f64>) -> Vec<Exact> {
    values.into_iter().copied().map(exact).collect()
}

#[test]
fn exact_numbers_are_exact() {
    let third = exact(1.0).over(&exact(3.0));
    assert!(&third * 3.0 < 1.0 && &(&third * 3.0) + &power_of_two(-250) > exact(1.0));
    assert_eq!(exact(-1.0).over(&exact(4.0)), -0.25);
    assert!(&exact(0.1) + &exact(0.2) > exact(0.3));
    assert_eq!(&exact(f64::MAX) + &exact(-f64::MAX), Exact::default());
    assert_eq!(&exact(1e300) * &exact(1e-300), &exact(1e-300) * &exact(1e300));
    assert!(&exact(f64::from_bits(1)) * 0.5 > Exact::default());
    assert!(exact(-3.0) < exact(-2.0) && exact(-2.0) < exact(0.0) && exact(0.0) < exact(1e-320));
    assert_eq!(exact(-2.5).relu(), 0.0);
    assert_eq!(exact(-2.5).abs(), 2.5);
    assert!(exact(1e308) < f64::INFINITY && exact(1.0).partial_cmp(&f64::NAN).is_none());
    for (v, up) in [(0.3, 0.3), (-0.1, -0.1), (0.0, 0.0), (5e-324, 5e-324), (1e308, 1e308)] {
        assert_eq!(exact(v).upward(), up);
        assert_eq!((&exact(v) + &power_of_two(-2000)).upward(), up.next_up());
        assert_eq!((&exact(v) - &power_of_two(-2000)).upward(), up);
    }
    assert_eq!(third.upward(), 1.0 / 3.0_f64.next_down());
    assert_eq!(format!("{:?} {:?}", exact(0.375), exact(-5e-324)), "3.75e-1 -1*2^-1074");
}
