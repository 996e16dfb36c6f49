//! How much of a claim something is: a sum of 2^-depth over obligations, exact to the last binary digit.
//!
//! Each obligation on a node of some depth is 2^-depth of that obligation on the whole box. What is proved, what is
//! open and what others work on are such sums, and no box is lost or counted twice only if they add up to the number of
//! obligations. So nothing here rounds: sums are kept digit by digit, two of one depth being one of the depth above,
//! and whatever does not fit is refused rather than cut off.

use super::Node;

/// Depths that are counted: a deeper node is less than 2^-DEPTHS of the whole.
pub const DEPTHS: usize = 2048;

/// An exact sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Digit d counts for 2^-d. All but the first are 0 or 1, and the last one is not 0.
    digits: Vec<u64>,
}

impl Account {
    /// So many obligations on the whole box.
    pub fn whole(obligations: usize) -> Self {
        Self { digits: if obligations == 0 { Vec::new() } else { vec![obligations as u64] } }
    }

    /// What is open on these nodes, and so many obligations more on each depth. `None` if a node is too deep to be
    /// counted, or there are more than can be.
    pub fn of<'n>(nodes: impl IntoIterator<Item = &'n Node>, more: &[u64]) -> Option<Self> {
        if more.len() > DEPTHS {
            return None;
        }
        let mut counts = vec![0u64; DEPTHS];
        counts[..more.len()].copy_from_slice(more);
        for node in nodes {
            let count = counts.get_mut(node.depth)?;
            *count = count.checked_add(node.open.len() as u64)?;
        }
        Self::carried(counts)
    }

    /// The sum of two of them; `None` if it is more than can be counted.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let digit = |account: &Self, depth: usize| account.digits.get(depth).copied().unwrap_or(0);
        let depths = self.digits.len().max(other.digits.len());
        let sum =
            (0..depths).map(|depth| digit(self, depth).checked_add(digit(other, depth))).collect::<Option<_>>()?;
        Self::carried(sum)
    }

    /// What is left of it without the other; `None` if the other is more.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        let mut digits = self.digits.clone();
        digits.resize(digits.len().max(other.digits.len()), 0);
        let mut borrowed = 0;
        for depth in (0..digits.len()).rev() {
            let taken = other.digits.get(depth).copied().unwrap_or(0).checked_add(borrowed)?;
            borrowed = u64::from(depth > 0 && digits[depth] < taken);
            digits[depth] = (digits[depth] + 2 * borrowed).checked_sub(taken)?;
        }
        Self::carried(digits)
    }

    /// The obligations by depth that it stands for.
    pub fn by_depth(&self) -> &[u64] {
        &self.digits
    }

    /// About how much it is, for what is shown.
    #[allow(clippy::cast_precision_loss)]
    pub fn estimate(&self) -> f64 {
        self.digits.iter().rev().fold(0.0, |sum, &digit| 0.5 * sum + digit as f64)
    }

    fn carried(mut counts: Vec<u64>) -> Option<Self> {
        for depth in (1..counts.len()).rev() {
            counts[depth - 1] = counts[depth - 1].checked_add(counts[depth] / 2)?;
            counts[depth] %= 2;
        }
        let used = counts.iter().rposition(|&count| count != 0).map_or(0, |last| last + 1);
        counts.truncate(used);
        Some(Self { digits: counts })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// The same sum as a whole number of 2^-DEPTHS.
    fn exactly(by_depth: &[u64]) -> BigUint {
        by_depth.iter().enumerate().map(|(depth, &count)| BigUint::from(count) << (DEPTHS - depth)).sum()
    }

    fn account(by_depth: &[u64]) -> Account {
        Account::of([], by_depth).unwrap()
    }

    proptest! {
        #[test]
        fn sums_and_differences_are_exact(a in vec(0u64..1000, 0..200), b in vec(0u64..1000, 0..200)) {
            let (x, y) = (account(&a), account(&b));
            prop_assert_eq!(exactly(x.by_depth()), exactly(&a));
            prop_assert_eq!(exactly(x.plus(&y).unwrap().by_depth()), exactly(&a) + exactly(&b));
            let less = x.minus(&y).map(|left| exactly(left.by_depth()));
            prop_assert_eq!(less, (exactly(&a) >= exactly(&b)).then(|| exactly(&a) - exactly(&b)));
            prop_assert_eq!(x == y, exactly(&a) == exactly(&b));
        }
    }

    #[test]
    fn equal_sums_are_equal_however_they_are_written() {
        assert_eq!(account(&[1]), account(&[0, 2, 0, 0]));
        assert_eq!(account(&[1]), account(&[0, 1, 1, 2]));
        assert_ne!(account(&[1]), account(&[0, 1, 1, 1]));
        assert_eq!(account(&[0, 0]), Account::whole(0));
        assert_eq!(Account::whole(3), account(&[1, 4]));
    }

    #[test]
    fn what_cannot_be_counted_is_refused() {
        assert!(Account::of([], &vec![0; DEPTHS + 1]).is_none());
        assert!(Account::of([], &[u64::MAX, 2]).is_none());
        assert!(account(&[u64::MAX]).plus(&account(&[1])).is_none());
        assert!(account(&[0, 1]).minus(&account(&[1])).is_none());
        assert!(account(&[]).minus(&account(&[0, 0, 1])).is_none());
    }
}
