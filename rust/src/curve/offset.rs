//! Bounds of f(x) - lam x, gathered from points and pieces.

use crate::numeric::near::{Near, product, sum};

/// Bounds of f(x) - lam x, with (nearly) where it is least and largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offset {
    /// At most the least.
    pub low: f64,
    /// About where it is least.
    pub at_low: f64,
    /// At least the largest.
    pub high: f64,
    /// About where it is largest.
    pub at_high: f64,
}

impl Offset {
    /// Where nothing is known.
    #[inline]
    pub(super) fn unbounded(at: f64) -> Self {
        Self { low: f64::NEG_INFINITY, at_low: at, high: f64::INFINITY, at_high: at }
    }

    /// The bounds of no point yet.
    #[inline]
    pub(super) fn empty(at: f64) -> Self {
        Self { low: f64::INFINITY, at_low: at, high: f64::NEG_INFINITY, at_high: at }
    }

    /// Lowers the lower bound; NaN counts as no bound.
    #[inline]
    pub(super) fn lower(&mut self, bound: f64, at: f64) {
        let bound = if bound.is_nan() { f64::NEG_INFINITY } else { bound };
        if bound < self.low {
            (self.low, self.at_low) = (bound, at);
        }
    }

    /// Raises the upper bound; NaN counts as no bound.
    #[inline]
    pub(super) fn raise(&mut self, bound: f64, at: f64) {
        let bound = if bound.is_nan() { f64::INFINITY } else { bound };
        if bound > self.high {
            (self.high, self.at_high) = (bound, at);
        }
    }

    /// Takes a value of f(x) - lam x in.
    #[inline]
    pub(super) fn take(&mut self, h: Near, at: f64) {
        self.lower(h.low(), at);
        self.raise(h.high(), at);
    }
}

/// Whether [l, u] is a bounded range, and lam a slope.
#[inline]
pub(super) fn is_range(lam: f64, l: f64, u: f64) -> bool {
    l <= u && l > f64::NEG_INFINITY && u < f64::INFINITY && lam.is_finite()
}

/// f - lam x; without error where nothing is rounded.
#[inline]
pub(super) fn rest(f: Near, lam: f64, x: f64) -> Near {
    sum(f, -product(lam, x))
}
