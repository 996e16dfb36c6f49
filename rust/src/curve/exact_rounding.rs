//! Quantisers whose rounding is exact in floats: levels of a power of two, and nothing added or cut off. There
//! Q(v) = v + u (R(v / u) - v / u), and whatever v is an integer multiple of, what is computed of it is exact as long as
//! the integers are small enough. And what multiples the values of any quantiser are.

use super::rounding::Rounding;
use super::staircase::Staircase;

/// Q(v) = v + unit (R(v / unit) - v / unit), with a unit that is a power of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExactRounding {
    /// The distance of two levels.
    pub unit: f64,
    /// How v / unit becomes an integer.
    pub rounding: Rounding,
}

/// Of numbers that are multiples of no known power of two.
pub const UNKNOWN: i32 = i32::MIN;

/// Of 0, which is a multiple of all of them.
pub const ZERO: i32 = i32::MAX;

/// The largest e such that a number is a multiple of 2^e; [`ZERO`] for 0, [`UNKNOWN`] for what is no number. Of several
/// numbers, and of their sums, it is the least one.
#[must_use]
pub fn lowest_bit(v: f64) -> i32 {
    if v == 0.0 {
        return ZERO;
    }
    if !v.is_finite() {
        return UNKNOWN;
    }
    let (exponent, fraction) = (v.to_bits() >> 52 & 0x7ff, v.to_bits() & ((1 << 52) - 1));
    let (mantissa, exponent) = if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 52, exponent) };
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    let found = exponent as i32 - 1075 + mantissa.trailing_zeros() as i32;
    found
}

impl Staircase {
    /// Whether it is x, rounded, wherever it is neither saturated nor wrapped, with levels of a power of two.
    pub(super) fn rounds_exactly(&self) -> bool {
        let power_of_two = self.unit.is_normal() && self.unit.to_bits() & ((1 << 52) - 1) == 0;
        power_of_two && self.unit == self.scale && self.zero == 0.0 && self.base == 0.0
    }

    /// Whether no number of [l, u] is cut off or wrapped.
    fn keeps(&self, l: f64, u: f64) -> bool {
        // The rounding of what lies between two levels lies between them, too.
        let [from, to] = self.kinks();
        l >= from.high() && u <= to.low()
    }

    /// What it is on [l, u], if that is rounding alone, and exact in floats.
    pub(super) fn exactly(&self, l: f64, u: f64) -> Option<ExactRounding> {
        let alone = self.rounds_exactly() && self.keeps(l, u);
        alone.then_some(ExactRounding { unit: self.unit, rounding: self.rounding })
    }

    /// An e such that all its values on [l, u] are multiples of 2^e, where the numbers there are multiples of 2^before.
    pub(super) fn multiples(&self, before: i32, l: f64, u: f64) -> i32 {
        if !self.rounds_exactly() {
            return UNKNOWN;
        }
        let of_levels = lowest_bit(self.unit);
        // Multiples of a level are levels, and stay what they are.
        if before >= of_levels && self.keeps(l, u) { before } else { of_levels }
    }
}
