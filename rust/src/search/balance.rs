//! The balance of a search: whether the boxes that its workers leave are those that they were given.
//!
//! A box has one owner after another: a queue, the hands of a worker, programs that are under way, what is donated. If
//! one of them lost a box, a search could run out of boxes before the claim is proved, and if one counted a box as
//! proved that another still has, it could end too early. So the sums are held against each other whenever the workers
//! have ended, exactly: what is open and what is proved are what was open and proved at the beginning.

use super::account::Account;
use super::snapshot::Snapshot;
use std::cmp::Ordering;

/// What a search began with; `None` if that cannot be counted.
pub struct Balance(Option<Account>);

impl Balance {
    /// The balance of a search that begins with this.
    pub fn of(begun: &Snapshot) -> Self {
        Self(begun.account())
    }

    /// Whether this is what is left, where so many boxes are said to be open. Boxes that were put away and not kept for
    /// want of memory may be missing: they are counted, and rule out a proof.
    pub fn holds(&self, left: &Snapshot, outstanding: u64) -> bool {
        let (Some(whole), Some(now)) = (&self.0, left.account()) else { return false };
        let sums = match (left.unresolved.len() as u64).cmp(&left.statistics.workers.unresolved) {
            Ordering::Equal => now == *whole,
            Ordering::Less => whole.minus(&now).is_some(),
            Ordering::Greater => false,
        };
        sums && left.open.len() as u64 == outstanding
    }
}

#[cfg(test)]
mod tests {
    use super::super::Node;
    use super::super::account::DEPTHS;
    use super::*;
    use crate::property::ObligationSet;

    fn nodes(depths: &[usize]) -> Vec<Node> {
        let node = |&depth: &usize| Node { depth, ..Node::root(vec![0.0], vec![1.0], ObligationSet::all(1)) };
        depths.iter().map(node).collect()
    }

    /// Of a whole box, open parts of these depths and obligations proved by depth; a number of boxes is put away, of
    /// which the `unresolved` are kept.
    fn holds(open: &[usize], proved: &[u64], (put_away, unresolved): (u64, &[usize]), outstanding: u64) -> bool {
        let root = Node::root(vec![0.0], vec![1.0], ObligationSet::all(1));
        let begun = Snapshot::start(root, 1, 0);
        let mut left = Snapshot { open: nodes(open), unresolved: nodes(unresolved), ..begun.clone() };
        left.statistics.proved = proved.to_vec();
        left.statistics.workers.unresolved = put_away;
        Balance::of(&begun).holds(&left, outstanding)
    }

    #[test]
    fn nothing_may_be_missing_twice_or_put_in() {
        let none = (0, &[][..]);
        assert!(holds(&[1, 2], &[0, 0, 1], none, 2));
        assert!(holds(&[], &[0, 1, 2], none, 0));
        assert!(!holds(&[1, 2], &[0, 0, 1], none, 3), "one that is outstanding is missing");
        assert!(!holds(&[1, 2], &[0, 0, 0], none, 2), "a part is neither open nor proved");
        assert!(!holds(&[1, 2], &[0, 1], none, 2), "a part is open and proved");
        assert!(!holds(&[1, 3], &[0, 0, 1], none, 2), "a smaller one in its place");
        assert!(!holds(&[DEPTHS], &[], none, 1), "too deep to be counted");
    }

    #[test]
    fn what_is_put_away_may_be_forgotten() {
        assert!(holds(&[1], &[], (1, &[1]), 1));
        assert!(holds(&[1], &[], (1, &[]), 1));
        assert!(!holds(&[1], &[], (1, &[2]), 1));
        assert!(!holds(&[1], &[], (0, &[1]), 1), "put away and not counted");
        assert!(!holds(&[1], &[2], (1, &[]), 1), "more than there was");
    }
}
