//! The obligations still open on a box, a small bit set. What is proved on a box stays proved on its sub-boxes.

use serde::{Deserialize, Serialize};

/// Indices of open obligations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObligationSet {
    words: Box<[u64]>,
}

impl ObligationSet {
    /// The first n obligations.
    #[must_use]
    pub fn all(n: usize) -> Self {
        let mut open = Self { words: vec![0; n.div_ceil(64)].into_boxed_slice() };
        for i in 0..n {
            open.words[i / 64] |= 1 << (i % 64);
        }
        open
    }

    /// Obligation i alone, of n.
    #[must_use]
    pub fn only(i: usize, n: usize) -> Self {
        let mut open = Self { words: vec![0; n.div_ceil(64)].into_boxed_slice() };
        open.words[i / 64] |= 1 << (i % 64);
        open
    }

    /// Marks obligation i as proved.
    pub fn close(&mut self, i: usize) {
        self.words[i / 64] &= !(1 << (i % 64));
    }

    /// Whether i is open.
    #[must_use]
    pub fn contains(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Whether these are obligations of n.
    #[must_use]
    pub fn fit(&self, n: usize) -> bool {
        self.words.len() == n.div_ceil(64) && self.iter().all(|i| i < n)
    }

    /// Whether everything is proved.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// How many are open.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The open ones in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(k, &word)| (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| 64 * k + b))
    }
}
