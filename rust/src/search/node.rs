//! A node of the search tree: a sub-box as two short vectors, and what is known about it.

use crate::bound::WarmStart;
use crate::domain::{IntermediateBounds, PossiblyActive};
use crate::lp::Multipliers;
use crate::property::ObligationSet;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::sync::Arc;

/// Multipliers by obligation, shared by the children of a box.
pub type Inherited = Arc<[(usize, Multipliers)]>;

/// Bytes of a float.
const FLOAT: usize = std::mem::size_of::<f64>();

/// Bytes of one entry of a list of multipliers beside its floats.
const LIST_ENTRY: usize = 96;

/// Bytes of a small set of open obligations.
const OPEN_SET: usize = 16;

/// Lower and upper bounds of x, y and d = x - y.
const BOUNDS_PER_NEURON: usize = 6;

/// A sub-box lower <= x <= upper of the free inputs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Node {
    /// Lower corner.
    pub lower: Box<[f64]>,
    /// Upper corner.
    pub upper: Box<[f64]>,
    /// The number of splits that made it; its share of the whole is 2^-depth.
    pub depth: usize,
    /// Largest upper bound of an open violation on the parent.
    pub bound: f64,
    /// Order of creation, for ties.
    pub number: u64,
    /// The label of this node in the record of a proof.
    pub label: u64,
    /// The obligations that are still to be proved.
    pub open: ObligationSet,
    /// Multipliers that served the parent. [`super::snapshot`] writes them once for all nodes that share them.
    #[serde(skip)]
    pub inherited: Option<Inherited>,
    /// Hidden neurons that may be nonzero on the parent. The others are zero here too and need not be computed. They
    /// are found anew after a stop.
    #[serde(skip)]
    pub possibly_active: Option<Arc<PossiblyActive>>,
    /// Bounds that hold if the one open obligation is violated; only a node with exactly one open obligation has them.
    pub violation_bounds: Option<Arc<IntermediateBounds>>,
    /// Multipliers from which contraction starts on a node with violation bounds. They are a hint and are not saved.
    #[serde(skip)]
    pub warm_start: Option<Arc<WarmStart>>,
    /// The node of an earlier proof that this one stands for ([`super::hints`]). Shares take it along; a search that
    /// goes on later forgets it.
    pub hint: Option<u64>,
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
            possibly_active: None,
            violation_bounds: None,
            warm_start: None,
            hint: None,
        }
    }

    /// Bytes that this node holds, for the memory budget; what two halves share counts half for each.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let multipliers = self.inherited.as_ref().map_or(0, |list| {
            let floats = |m: &Multipliers| m.guard.len() + m.link.len() + m.region.len();
            list.iter().map(|(_, m)| FLOAT * floats(m) + LIST_ENTRY).sum::<usize>() / 2
        });
        let violation_bounds = self.violation_bounds.as_ref().map_or(0, |known| {
            let neurons = known.layers.iter().map(|l| l.x.lower.len()).sum::<usize>();
            FLOAT * (BOUNDS_PER_NEURON * neurons + 2 * known.lower.len())
        });
        std::mem::size_of::<Self>()
            + FLOAT * 2 * self.lower.len()
            + OPEN_SET
            + multipliers
            + violation_bounds
            + self.possibly_active.as_ref().map_or(0, |a| a.bytes() / 2)
            + self.warm_start.as_ref().map_or(0, |w| w.bytes() / 2)
    }
}

/// The largest bound comes first, as the likeliest place of a counterexample; among equal bounds the older node.
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
