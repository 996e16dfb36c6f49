//! A set of obligations, as bits: those that are still open on a box. What is proved on a box stays proved on its
//! sub-boxes.

use serde::{Deserialize, Serialize};

/// The indices of the open obligations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObligationSet {
    words: Box<[u64]>,
}

impl ObligationSet {
    /// The set of all n obligations.
    #[must_use]
    pub fn all(n: usize) -> Self {
        let mut open = Self { words: vec![0; n.div_ceil(64)].into_boxed_slice() };
        for i in 0..n {
            open.words[i / 64] |= 1 << (i % 64);
        }
        open
    }

    /// The set of obligation i alone, of n obligations.
    #[must_use]
    pub fn only(i: usize, n: usize) -> Self {
        let mut open = Self { words: vec![0; n.div_ceil(64)].into_boxed_slice() };
        open.words[i / 64] |= 1 << (i % 64);
        open
    }

    /// Takes obligation i out, because it is proved.
    pub fn close(&mut self, i: usize) {
        self.words[i / 64] &= !(1 << (i % 64));
    }

    /// Whether obligation i is open.
    #[must_use]
    pub fn contains(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Whether this is a set of obligations out of n.
    #[must_use]
    pub fn fit(&self, n: usize) -> bool {
        self.words.len() == n.div_ceil(64) && self.iter().all(|i| i < n)
    }

    /// Whether everything is proved.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// The number of open obligations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The open obligations in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(k, &word)| (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| 64 * k + b))
    }
}
