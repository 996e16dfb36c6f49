//! What backward bounds are asked for: the quantities whose lower bounds are sought, and the coefficients that
//! represent them at a step.

use crate::domain::Quantity;
use crate::numeric::real::Real;
use std::ops::Range;

/// Coefficients, or values, of X, Y and D, to be changed.
pub(super) type TripleMut<'a, T = f64> = (&'a mut [T], &'a mut [T], &'a mut [T]);
/// Coefficients, or values, of X, Y and D.
pub(super) type Triple<'a, T = f64> = (&'a [T], &'a [T], &'a [T]);

/// A quantity whose lower bound is sought. The lower bound of the negated quantity is minus its upper bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Functional {
    /// Minus the violation.
    Target,
    /// The value of a neuron before ReLU in f1 or f2, or the difference of the two.
    Neuron {
        /// x, y or d.
        quantity: Quantity,
        /// The step.
        layer: usize,
        /// The neuron in this step.
        neuron: usize,
        /// Whether the value is negated.
        negative: bool,
    },
    /// An input.
    Input {
        /// The number of the input.
        input: usize,
        /// Whether the value is negated.
        negative: bool,
    },
}

/// The factor of a quantity that may be negated.
#[inline(always)]
pub(super) fn sign(negative: bool) -> f64 {
    if negative { -1.0 } else { 1.0 }
}

/// The three quantities, in the order of the arrays.
pub(super) const QUANTITIES: [Quantity; 3] = [Quantity::First, Quantity::Second, Quantity::Difference];

/// Coefficients of F functionals at one step of m neurons, or values of x, y and d there. Each array has m x F
/// entries, functional-major.
#[derive(Debug, Clone, Default)]
pub(super) struct Coefficients<T = f64> {
    /// Coefficients of f1's neurons: p in the formulas.
    pub(super) first: Vec<T>,
    /// Coefficients of f2's neurons: q.
    pub(super) second: Vec<T>,
    /// Coefficients of the differences: s.
    pub(super) difference: Vec<T>,
}

impl<T: Real> Coefficients<T> {
    /// Gives all three arrays n entries; entries that existed keep their values.
    pub(super) fn resize(&mut self, n: usize) {
        for v in [&mut self.first, &mut self.second, &mut self.difference] {
            v.resize(n, T::ZERO);
        }
    }

    /// Gives all three arrays n zeros.
    pub(super) fn clear(&mut self, n: usize) {
        for v in [&mut self.first, &mut self.second, &mut self.difference] {
            v.clear();
            v.resize(n, T::ZERO);
        }
    }

    /// Which of the three arrays have an entry that is not 0.
    #[inline(always)]
    pub(super) fn nonzero(&self) -> [bool; 3] {
        [&self.first, &self.second, &self.difference].map(|v| v.iter().any(|c| *c != T::ZERO))
    }

    /// Whether there are no entries at all.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.second.is_empty() && self.difference.is_empty()
    }

    /// The array of one quantity, to be changed.
    #[inline(always)]
    pub(super) fn of_mut(&mut self, quantity: Quantity) -> &mut Vec<T> {
        match quantity {
            Quantity::First => &mut self.first,
            Quantity::Second => &mut self.second,
            Quantity::Difference => &mut self.difference,
        }
    }

    /// All three arrays over a range of entries, to be changed.
    #[inline(always)]
    pub(super) fn range_mut(&mut self, range: Range<usize>) -> TripleMut<'_, T> {
        let (p, q, s) = (&mut self.first[range.clone()], &mut self.second[range.clone()], &mut self.difference[range]);
        (p, q, s)
    }

    /// All three arrays over a range of entries.
    #[inline(always)]
    pub(super) fn range(&self, range: Range<usize>) -> Triple<'_, T> {
        (&self.first[range.clone()], &self.second[range.clone()], &self.difference[range])
    }

    /// The array of one quantity.
    pub(super) fn of(&self, quantity: Quantity) -> &[T] {
        match quantity {
            Quantity::First => &self.first,
            Quantity::Second => &self.second,
            Quantity::Difference => &self.difference,
        }
    }
}
