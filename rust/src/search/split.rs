//! Halving a box along an input, or along several one after the other.
//!
//! The two halves share the plane through the rounded middle and cover the box exactly, whatever rounding did to the middle.

use super::Node;
use crate::domain::IntermediateBounds;
use std::sync::Arc;

/// The middle of an interval if it lies strictly inside.
pub fn middle(lower: f64, upper: f64) -> Option<f64> {
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

/// Halvings in a row, at most: a node becomes at most 2^6 parts at once.
const MOST: usize = 6;

/// Inputs at which a box, and then every part of it, is to be halved in turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plan {
    inputs: [u32; MOST],
    count: usize,
}

impl Plan {
    /// The inputs; none if the box cannot be halved.
    pub fn inputs(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.inputs[..self.count].iter().map(|&i| i as usize)
    }

    /// Halving once, along the input of the highest score.
    #[must_use]
    pub fn once(score: &[f64], lower: &[f64], upper: &[f64]) -> Self {
        let mut plan = Self::default();
        plan.extend(choose(score, lower, upper).map(|(i, _)| i));
        plan
    }

    /// Halving as often as the bound of a violation is expected to stay positive, and once more: bounding parts that stay open anyway is wasted.
    ///
    /// Halving input i is predicted to lower the bound by half of its score ([`crate::domain::sensitivity`]), and halves the score; expected is `share` of it
    /// ([`super::foresight`]).
    #[must_use]
    pub fn until_it_may_close(mut bound: f64, share: f64, score: &mut [f64], lower: &[f64], upper: &[f64]) -> Self {
        let mut plan = Self::default();
        while let Some((input, _)) = choose(score, lower, upper) {
            plan.extend([input]);
            score[input] *= 0.5;
            bound -= share * score[input];
            // Where nothing is known, nothing is predicted.
            let stays_open = bound > 0.0 && bound.is_finite() && score[input] > 0.0;
            if !stays_open || plan.count == MOST {
                break;
            }
        }
        plan
    }

    fn extend(&mut self, inputs: impl IntoIterator<Item = usize>) {
        for input in inputs {
            self.inputs[self.count] = u32::try_from(input).unwrap_or(u32::MAX);
            self.count += 1;
        }
    }
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
            let mut known = IntermediateBounds::clone(focus);
            (known.lower, known.upper) = (child.lower.to_vec(), child.upper.to_vec());
            child.focus = Some(Arc::new(known));
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
    fn a_box_is_halved_until_its_bound_may_fall_to_zero() {
        let (lower, upper) = ([0.0; 3], [1.0; 3]);
        let expecting = |share: f64, bound: f64, mut score: [f64; 3]| {
            Plan::until_it_may_close(bound, share, &mut score, &lower, &upper).inputs().collect::<Vec<_>>()
        };
        let plan = |bound, score| expecting(1.0, bound, score);
        // 8 / 2, 6 / 2 and 4 / 2 are taken off in turn.
        assert_eq!(plan(4.0, [6.0, 8.0, 1.0]), [1]);
        assert_eq!(plan(4.1, [6.0, 8.0, 1.0]), [1, 0]);
        assert_eq!(plan(7.1, [6.0, 8.0, 1.0]), [1, 0, 1]);
        assert_eq!(plan(1e9, [6.0, 8.0, 1.0]).len(), MOST);
        // Half of it is expected, or twice as much.
        assert_eq!(expecting(0.5, 2.1, [6.0, 8.0, 1.0]), [1, 0]);
        assert_eq!(expecting(2.0, 7.9, [6.0, 8.0, 1.0]), [1]);
        // Nothing is predicted from what is not known.
        assert_eq!(plan(f64::INFINITY, [6.0, 8.0, 1.0]), [1]);
        assert_eq!(plan(f64::NAN, [6.0, 8.0, 1.0]), [1]);
        assert_eq!(plan(3.0, [0.0; 3]).len(), 1);
        assert_eq!(plan(3.0, [f64::NAN; 3]).len(), 1);
        assert_eq!(Plan::until_it_may_close(9.0, 1.0, &mut [1.0], &[1.0], &[1.0]), Plan::default());
        assert_eq!(Plan::once(&[2.0, 3.0, 1.0], &lower, &upper).inputs().collect::<Vec<_>>(), [1]);
        assert_eq!(Plan::once(&[], &[0.5], &[0.5]), Plan::default());
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
