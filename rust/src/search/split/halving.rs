//! Halving a box along one input, as in branch and bound for networks by input splitting (Bunel et al., *Branch and
//! bound for piecewise linear neural network verification*, JMLR 2020).
//!
//! Sound because the two halves share the plane through the rounded middle: they cover the box exactly, whatever
//! rounding did to the middle.

use crate::domain::IntermediateBounds;
use crate::search::Node;
use std::sync::Arc;

/// The middle of an interval if it lies strictly inside.
pub fn middle(lower: f64, upper: f64) -> Option<f64> {
    let middle = lower + 0.5 * (upper - lower);
    (lower < middle && middle < upper).then_some(middle)
}

/// The input of the highest score whose interval can still be halved, and the middle of that interval; among equal
/// scores, the widest.
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
        if let Some(bounds) = &child.violation_bounds {
            let mut known = IntermediateBounds::clone(bounds);
            (known.lower, known.upper) = (child.lower.to_vec(), child.upper.to_vec());
            child.violation_bounds = Some(Arc::new(known));
        }
    }
    [low, high]
}

#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;
    use crate::property::ObligationSet;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn end() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), -2.0f64..2.0, -1e300f64..1e300, Just(5e-324), Just(1.0), Just(1.0f64.next_up())]
    }

    fn boxes() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
        vec((end(), end()), 1..5).prop_map(|ends| ends.into_iter().map(|(a, b)| (a.min(b), a.max(b))).unzip())
    }

    proptest! {
        #[test]
        fn halves_cover_the_box_and_share_only_a_plane(
            (lower, upper) in boxes(), score in vec(0.0f64..1.0, 5), shares in vec(0.0f64..=1.0, 5),
        ) {
            let node = Node::root(lower.clone(), upper.clone(), ObligationSet::all(3));
            let Some((input, middle)) = choose(&score, &lower, &upper) else {
                // Only boxes without any number strictly inside cannot be halved.
                prop_assert!(lower.iter().zip(&upper).all(|(l, u)| l.next_up() >= *u || !(u - l).is_finite()));
                return Ok(());
            };
            prop_assert!(lower[input] < middle && middle < upper[input]);
            let mut number = 7;
            let [low, high] = halves(node, input, middle, &mut number);
            prop_assert_eq!((low.depth, high.depth, low.number, high.number, number), (1, 1, 7, 8, 9));
            prop_assert!(low.open.len() == 3 && high.open.len() == 3);
            prop_assert_eq!((low.upper[input], high.lower[input]), (middle, middle));
            let inside = |n: &Node, x: &[f64]| (0..x.len()).all(|i| n.lower[i] <= x[i] && x[i] <= n.upper[i]);
            let coordinate = |i: usize| (lower[i] + shares[i] * (upper[i] - lower[i])).clamp(lower[i], upper[i]);
            let point: Vec<f64> = (0..lower.len()).map(coordinate).collect();
            prop_assert_eq!(inside(&low, &point), point[input] <= middle);
            prop_assert_eq!(inside(&high, &point), point[input] >= middle);
            prop_assert_eq!((&*low.lower, &*high.upper), (&*lower, &*upper));
        }
    }

    #[test]
    fn the_highest_score_is_halved_if_it_can_be() {
        let (lower, upper) = ([0.0, 0.0, 1.0], [1.0, 4.0, 1.0f64.next_up()]);
        assert_eq!(choose(&[2.0, 1.0, 9.0], &lower, &upper), Some((0, 0.5)));
        assert_eq!(choose(&[0.0, 0.0, 9.0], &lower, &upper), Some((1, 2.0)));
        assert_eq!(choose(&[], &lower, &upper), Some((1, 2.0)));
        assert_eq!(choose(&[1.0], &[1.0], &[1.0]), None);
        assert_eq!(choose(&[], &[], &[]), None);
    }
}
