//! Halving a box along an input.
//!
//! The two halves share the plane through the rounded middle and cover the box exactly, whatever rounding did to the middle.

use super::Node;
use crate::domain::Knowledge;
use std::sync::Arc;

/// The middle of an interval if it lies strictly inside.
fn middle(lower: f64, upper: f64) -> Option<f64> {
    let middle = lower + 0.5 * (upper - lower);
    (lower < middle && middle < upper).then_some(middle)
}

/// The input of the highest score whose interval can still be halved, and its middle; the widest where no score counts.
#[must_use]
pub fn choose(score: &[f64], lower: &[f64], upper: &[f64]) -> Option<(usize, f64)> {
    let width = |i: usize| upper[i] - lower[i];
    let candidates = (0..lower.len()).filter_map(|i| middle(lower[i], upper[i]).map(|m| (i, m)));
    candidates.max_by(|&(i, _), &(j, _)| {
        let (a, b) = (score.get(i).copied().unwrap_or(0.0), score.get(j).copied().unwrap_or(0.0));
        a.total_cmp(&b).then_with(|| width(i).total_cmp(&width(j))).then_with(|| j.cmp(&i))
    })
}

/// The two halves of a box.
pub fn halves(node: Node, input: usize, middle: f64, number: &mut u64) -> [Node; 2] {
    let mut low = node;
    low.depth += 1;
    low.number = *number;
    let mut high = low.clone();
    high.number = *number + 1;
    *number += 2;
    low.upper[input] = middle;
    high.lower[input] = middle;
    for child in [&mut low, &mut high] {
        if let Some(focus) = &child.focus {
            let mut known = Knowledge::clone(focus);
            (known.lower, known.upper) = (child.lower.to_vec(), child.upper.to_vec());
            child.focus = Some(Arc::new(known));
        }
    }
    [low, high]
}
