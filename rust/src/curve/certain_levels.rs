//! Levels of many numbers at once, each of which may be off by so much: certain, or said to be open.
//!
//! A number t in levels stands for an exact one within `slack` of it. Rounding is monotone, so the exact one has level k
//! if both t - slack and t + slack have it. With a slack of 0 t is the exact number itself, and a tie is no doubt.
//! Quotients are exact where floats hold them, so it is also the exact number wherever that is a multiple of a half; and
//! one that stays far enough from all of these lies between the same two, where every level is the same.

use super::rounding::Rounding;
use super::staircase::Staircase;

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
    pub fn put_levels(&self, values: &mut [f64], slack: &[f64]) -> Levels {
        match self.rounding {
            Rounding::HalfEven => self.put(values, slack, |t| Rounding::HalfEven.of(t)),
            Rounding::HalfUp => self.put(values, slack, |t| Rounding::HalfUp.of(t)),
            Rounding::Floor => self.put(values, slack, |t| Rounding::Floor.of(t)),
            Rounding::Zero => self.put(values, slack, |t| Rounding::Zero.of(t)),
            other => self.put(values, slack, |t| other.of(t)),
        }
    }

    #[inline(always)]
    fn put(&self, values: &mut [f64], slack: &[f64], round: impl Fn(f64) -> f64) -> Levels {
        let (mut certain, mut inside) = (true, true);
        for (value, slack) in values.iter_mut().zip(slack) {
            let t = *value / self.scale + self.zero;
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
