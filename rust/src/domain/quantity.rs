//! Which of the three quantities of a pair of networks is meant: of f1, of f2, or their difference.

use serde::{Deserialize, Serialize};

/// A value of f1, of f2, or the difference of both, at a neuron or an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantity {
    /// x, a value in f1.
    First,
    /// y, a value in f2.
    Second,
    /// d = x - y.
    Difference,
}
