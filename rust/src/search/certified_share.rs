//! How much of the region is proved: obligations proved on boxes of each depth of the tree of splits, counted by all
//! workers at once.
//!
//! A box of depth k has the share 2^-k of the region, so the share of all proved boxes is a sum of powers of two. It is
//! added up digit by binary digit, so that a whole tree has exactly the share 1, however deep.

use super::account::DEPTHS;
use std::sync::atomic::{AtomicU64, Ordering};

/// Obligations proved on boxes of each depth below [`DEPTHS`]. Deeper ones are not counted, so that the share is never
/// too large.
pub struct CertifiedShare(Vec<AtomicU64>);

impl CertifiedShare {
    /// What was proved before, by depth.
    pub fn of(counts: &[u64]) -> Self {
        Self((0..DEPTHS).map(|depth| AtomicU64::new(counts.get(depth).copied().unwrap_or(0))).collect())
    }

    /// Counts obligations that were proved on a box of this depth.
    pub fn add(&self, depth: usize, obligations: usize) {
        if let Some(count) = self.0.get(depth) {
            count.fetch_add(obligations as u64, Ordering::Relaxed);
        }
    }

    /// What is proved, by depth.
    pub fn counts(&self) -> Vec<u64> {
        self.0.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }

    /// The sum of 2^-depth over the proved obligations, and the largest depth. Two of one depth make one of the depth
    /// above, so the sum is computed digit by binary digit, exactly.
    pub fn sum(&self) -> (f64, usize) {
        let (mut carry, mut fraction, mut deepest) = (0u64, 0.0f64, 0);
        for (depth, count) in self.0.iter().enumerate().rev() {
            let total = count.load(Ordering::Relaxed) + carry;
            if total > 0 && deepest == 0 {
                deepest = depth;
            }
            if depth == 0 {
                #[allow(clippy::cast_precision_loss)]
                return (total as f64 + fraction, deepest);
            }
            fraction = (fraction + if total % 2 == 1 { 1.0 } else { 0.0 }) * 0.5;
            carry = total / 2;
        }
        (fraction, deepest)
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// The depths of a binary tree's leaves, as a search leaves them: each number splits a leaf.
    fn leaves(splits: &[usize]) -> Vec<usize> {
        let mut leaves = vec![0usize];
        for &split in splits {
            // Mostly the newest leaf, so that trees get deep.
            let at = if split % 3 == 0 { split % leaves.len() } else { leaves.len() - 1 };
            let depth = leaves.swap_remove(at) + 1;
            leaves.extend([depth, depth]);
        }
        leaves
    }

    proptest! {
        #[test]
        fn a_whole_tree_is_certified_to_the_last_digit(
            splits in vec(0usize..1000, 0..1500), obligations in 1usize..40,
        ) {
            let share = CertifiedShare::of(&[]);
            let leaves = leaves(&splits);
            for &depth in &leaves {
                share.add(depth, obligations);
            }
            prop_assert_eq!(share.sum(), (obligations as f64, leaves.iter().copied().max().unwrap()));
        }

        #[test]
        fn a_part_of_a_tree_is_certified_by_its_exact_share(
            splits in vec(0usize..1000, 1..1500), proved in vec(0usize..4, 1501),
        ) {
            let share = CertifiedShare::of(&[]);
            let mut exact = BigUint::default();
            for (&depth, &obligations) in leaves(&splits).iter().zip(&proved) {
                share.add(depth, obligations);
                exact += BigUint::from(obligations) << (DEPTHS - depth);
            }
            let (certified, _) = share.sum();
            // Both to 80 binary digits after the point.
            let digits = |x: f64| BigUint::from((x * 2f64.powi(60)).round() as u128) << 20;
            let (a, b) = (digits(certified), exact >> (DEPTHS - 80));
            let off = if a > b { a - &b } else { &b - a };
            // One rounding to 53 digits of numbers below 2^13.
            prop_assert!(off <= (b >> 52) + (BigUint::from(1u32) << 21));
        }
    }

    #[test]
    fn nothing_proved_is_no_share() {
        assert_eq!(CertifiedShare::of(&[]).sum(), (0.0, 0));
        // Deeper than is counted: less than can be shown.
        let share = CertifiedShare::of(&[]);
        share.add(DEPTHS + 5, 1);
        assert_eq!(share.sum(), (0.0, 0));
    }
}
