//! What backward bounds are asked for: the quantities whose lower bounds are sought, and the coefficients that
//! represent them at a layer.

use crate::domain::Quantity;

/// A quantity whose lower bound is sought. The lower bound of the negated quantity is minus its upper bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Functional {
    /// Minus the violation.
    Target,
    /// The value before ReLU of a hidden neuron in f1 or f2, or the difference of the two.
    Neuron {
        /// x, y or d.
        quantity: Quantity,
        /// The hidden layer.
        layer: usize,
        /// The neuron in this layer.
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

/// Coefficients of F functionals at one layer of m neurons, or values of x, y and d there. Each array has m x F
/// entries, functional-major.
#[derive(Debug, Clone, Default)]
pub(super) struct Coefficients {
    /// Coefficients of f1's neurons: p in the formulas.
    pub(super) first: Vec<f64>,
    /// Coefficients of f2's neurons: q.
    pub(super) second: Vec<f64>,
    /// Coefficients of the differences: s.
    pub(super) difference: Vec<f64>,
}

impl Coefficients {
    /// Gives all three arrays n entries; entries that existed keep their values.
    pub(super) fn resize(&mut self, n: usize) {
        for v in [&mut self.first, &mut self.second, &mut self.difference] {
            v.resize(n, 0.0);
        }
    }

    /// The array of one quantity.
    pub(super) fn of(&self, quantity: Quantity) -> &[f64] {
        match quantity {
            Quantity::First => &self.first,
            Quantity::Second => &self.second,
            Quantity::Difference => &self.difference,
        }
    }
}
