//! Splitting what contraction left of an obligation: along an input, or at the sign of a neuron or of a difference.
//!
//! Sound because the two parts cover the whole: one assumes a sign to be non-negative, the other one non-positive
//! ([`Split::halves`]).

use crate::bound::Contraction;
use crate::bound::split_candidates::Split;
use crate::search::Node;
use std::sync::Arc;

/// The two parts of `node`, of which contraction left `left`.
pub fn halves(node: &Node, left: &Contraction, split: Split) -> [Node; 2] {
    split.halves(&left.bounds).map(|known| Node {
        lower: known.lower.clone().into(),
        upper: known.upper.clone().into(),
        depth: node.depth + 1,
        bound: left.bound,
        number: 0,
        label: 0,
        open: node.open.clone(),
        inherited: node.inherited.clone(),
        violation_bounds: Some(Arc::new(known)),
        possibly_active: None,
        warm_start: left.warm.clone(),
        hint: None,
    })
}
