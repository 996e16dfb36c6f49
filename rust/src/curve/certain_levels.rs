//! Levels of many numbers at once, each of which may be off by so much: certain, or said to be open.
//!
//! A number t in levels stands for an exact one within `slack` of it. Rounding is monotone, so the exact one has level k
//! if both t - slack and t + slack have it. With a slack of 0 t is the exact number itself, and a tie is no doubt.
//!
//! Where exact numbers are either multiples of a half or more than twice `snap` away from them, and t is off by at most
//! `snap`, t stands for the next multiple if that is so near, and else on the same side of it as the exact number. All
//! levels change at multiples of a half, so no more is to be known.

use super::rounding::Rounding;
use super::staircase::Staircase;

/// How far numbers may be off, in levels.
#[derive(Debug, Clone, Copy, Default)]
pub struct Doubt<'a> {
    /// Of each.
    pub slack: &'a [f64],
    /// Of each, where it is a multiple of a half or far from one; else 0.
    pub snap: &'a [f64],
}

/// What is to be said of the levels of several numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Levels {
    /// One of them is not certain; what is put in its place means nothing.
    pub open: bool,
    /// One of them lies, or may lie, outside of the type.
    pub outside: bool,
}

impl Staircase {
    /// Whether levels outside of the type are counted modulo their number instead of being cut off.
    #[must_use]
    pub fn wraps(&self) -> bool {
        self.wraps
    }

    /// Replaces numbers, each at most so many levels from the exact one, by what their levels stand for.
    ///
    /// Levels, those before they are brought into the type included, must be below 2^50: they are integers, and so is
    /// all that is computed of them, but for the quotient whose integral part is asked for. That is right, as a quotient
    /// of integers below 2^51 is an integer or further from one than it is rounded.
    #[inline(always)]
    pub fn put_levels(&self, values: &mut [f64], doubt: Doubt<'_>) -> Levels {
        match self.rounding {
            Rounding::HalfEven => self.put(values, doubt, |t| Rounding::HalfEven.of(t)),
            Rounding::HalfUp => self.put(values, doubt, |t| Rounding::HalfUp.of(t)),
            Rounding::Floor => self.put(values, doubt, |t| Rounding::Floor.of(t)),
            Rounding::Zero => self.put(values, doubt, |t| Rounding::Zero.of(t)),
            other => self.put(values, doubt, |t| other.of(t)),
        }
    }

    #[inline(always)]
    fn put(&self, values: &mut [f64], doubt: Doubt<'_>, round: impl Fn(f64) -> f64) -> Levels {
        let (mut certain, mut inside) = (true, true);
        for ((value, slack), snap) in values.iter_mut().zip(doubt.slack).zip(doubt.snap) {
            let t = *value / self.scale + self.zero;
            let next = (2.0 * t).round_ties_even() * 0.5;
            let t = if (t - next).abs() <= *snap { next } else { t };
            let (least, most) = (round(t - slack), round(t + slack));
            certain &= least == most; // not so for what is no number
            inside &= least >= self.low && most <= self.high;
            let level = if self.wraps {
                least - ((least - self.low) / self.span()).floor() * self.span()
            } else {
                least.max(self.low).min(self.high)
            };
            *value = self.unit * (level - self.base);
        }
        Levels { open: !certain, outside: !inside }
    }
}
