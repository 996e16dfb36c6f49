//! The floats that a computation may run in: f64, and f32 where no bound rests on what comes out of it.
//!
//! In f64 every function here is the identity or the float's own operation, so that generic code computes what code
//! written for f64 would, bit for bit.

use super::registers::Registers;
use faer::traits::ComplexField;
use std::borrow::Cow;
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A float.
pub trait Real:
    ComplexField
    + Registers
    + Copy
    + Default
    + PartialOrd
    + Debug
    + Send
    + Sync
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The float nearest to a number; infinite beyond the largest one.
    fn of(value: f64) -> Self;
    /// The same number, exactly.
    fn wide(self) -> f64;
    /// The float nearest to a single, which is that single.
    fn of_single(value: f32) -> Self;
    /// The single nearest to this number.
    fn single(self) -> f32;
    /// The absolute value.
    #[must_use]
    fn abs(self) -> Self;
    /// The larger of two numbers, and the other one of a NaN.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// The smaller of two numbers, and the other one of a NaN.
    #[must_use]
    fn min(self, other: Self) -> Self;
    /// The nearest number in [-limit, limit]; a NaN stays one.
    #[must_use]
    fn capped(self, limit: Self) -> Self;
    /// Numbers as floats of this type, without a copy where they are already.
    fn all_of(values: &[f64]) -> Cow<'_, [Self]>;
}

/// What both floats have under the same name.
macro_rules! shared {
    () => {
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        #[inline(always)]
        fn abs(self) -> Self {
            self.abs()
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            self.max(other)
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            self.min(other)
        }
        #[inline(always)]
        fn capped(self, limit: Self) -> Self {
            self.clamp(-limit, limit)
        }
    };
}

impl Real for f64 {
    shared!();
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn of_single(value: f32) -> Self {
        Self::from(value)
    }
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn single(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn all_of(values: &[f64]) -> Cow<'_, [Self]> {
        Cow::Borrowed(values)
    }
}

impl Real for f32 {
    shared!();
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    fn of(value: f64) -> Self {
        value as Self
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn of_single(value: f32) -> Self {
        value
    }
    #[inline(always)]
    fn single(self) -> f32 {
        self
    }
    fn all_of(values: &[f64]) -> Cow<'_, [Self]> {
        Cow::Owned(values.iter().map(|&v| Self::of(v)).collect())
    }
}
