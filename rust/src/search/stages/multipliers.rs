//! What the stages share that bound violations by multipliers of a linear program: the multipliers of an obligation,
//! and the largest bound that is left.

use super::workspace::Worst;
use crate::lp::Multipliers;
use crate::search::Node;

/// The multipliers of an obligation.
pub fn of(list: &[(usize, Multipliers)], obligation: usize) -> Option<&Multipliers> {
    list.iter().find(|(o, _)| *o == obligation).map(|(_, m)| m)
}

/// The largest bound of the obligations that stay open.
pub struct Largest {
    bound: f64,
    obligation: usize,
}

impl Default for Largest {
    fn default() -> Self {
        Self { bound: f64::NEG_INFINITY, obligation: 0 }
    }
}

impl Largest {
    /// Takes the bound of an obligation that stays open.
    pub fn add(&mut self, obligation: usize, bound: f64) {
        if bound > self.bound || bound.is_nan() {
            *self = Self { bound, obligation };
        }
    }

    /// Lowers the bound of the node, and replaces the worst obligation, unless some obligation has no bound by
    /// multipliers.
    pub fn improve(&self, node: &mut Node, worst: &mut Worst) {
        if self.bound.is_finite() {
            node.bound = node.bound.min(self.bound);
            (worst.bound, worst.obligation) = (self.bound, self.obligation);
        }
    }
}
