//! A node of the search tree: a sub-box as two short vectors, and what is known there.

use crate::bound::WarmStart;
use crate::domain::{IntermediateBounds, PossiblyActive};
use crate::lp::Multipliers;
use crate::property::ObligationSet;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::sync::Arc;

/// Multipliers by obligation, shared by the children of a box.
pub type Inherited = Arc<[(usize, Multipliers)]>;

/// A sub-box lower <= x <= upper of the free inputs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Node {
    /// Lower corner.
    pub lower: Box<[f64]>,
    /// Upper corner.
    pub upper: Box<[f64]>,
    /// Number of halvings that made it: its share of the whole is 2^-depth.
    pub depth: usize,
    /// Largest upper bound of an open violation on the parent.
    pub bound: f64,
    /// Order of creation, for ties.
    pub number: u64,
    /// What a recorded proof calls it.
    pub label: u64,
    /// What is still to prove.
    pub open: ObligationSet,
    /// Multipliers that served the parent; [`super::saved`] writes them once for all that share them.
    #[serde(skip)]
    pub inherited: Option<Inherited>,
    /// Hidden neurons that may be nonzero on the parent; the others need not be computed here. Found anew after a stop.
    #[serde(skip)]
    pub alive: Option<Arc<PossiblyActive>>,
    /// Bounds under the assumption that the one open obligation is violated.
    pub focus: Option<Arc<IntermediateBounds>>,
    /// Multipliers to start from on a node with a focus; a hint, which is not saved.
    #[serde(skip)]
    pub warm: Option<Arc<WarmStart>>,
}

impl Node {
    /// The whole box.
    #[must_use]
    pub fn root(lower: Vec<f64>, upper: Vec<f64>, open: ObligationSet) -> Self {
        Self {
            lower: lower.into(),
            upper: upper.into(),
            depth: 0,
            bound: f64::INFINITY,
            number: 0,
            label: 0,
            open,
            inherited: None,
            alive: None,
            focus: None,
            warm: None,
        }
    }

    /// Bytes this node holds, for the memory budget; shared multipliers are counted by half.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let multipliers = self.inherited.as_ref().map_or(0, |list| {
            list.iter().map(|(_, m)| 8 * (m.guard.len() + m.link.len() + m.region.len()) + 96).sum::<usize>() / 2
        });
        let focus = self
            .focus
            .as_ref()
            .map_or(0, |k| 48 * k.layers.iter().map(|l| l.x.lower.len()).sum::<usize>() + 16 * k.lower.len());
        std::mem::size_of::<Self>()
            + 16 * self.lower.len()
            + 16
            + multipliers
            + focus
            + self.alive.as_ref().map_or(0, |a| a.bytes() / 2)
            + self.warm.as_ref().map_or(0, |w| w.bytes() / 2)
    }
}

/// Best first: the largest bound is the likeliest place of a counterexample; among equals the older box.
impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then_with(|| other.number.cmp(&self.number))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}
