//! Which hidden neurons may be nonzero somewhere in a box, in either network.
//!
//! The others are inactive in both: there x <= 0 and y <= 0 on the whole box, so on every part of it as well, whatever
//! a propagation of the part finds. Their rows of W1 and W2 need not be multiplied on any part, nor their columns in
//! the next layer. A node of the search carries the set as bits, and a worker gathers the smaller matrices from it
//! ([`super::restricted_pair`]). This is done for chains of dense layers; of graphs nothing is left out.

use crate::network::Pair;

const BITS: usize = u64::BITS as usize;

/// The set of hidden neurons that may be nonzero. Each layer begins at a word of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossiblyActive {
    words: Box<[u64]>,
}

fn words(neurons: usize) -> usize {
    neurons.div_ceil(BITS)
}

/// The width of every hidden layer.
fn hidden(pair: &Pair) -> impl Iterator<Item = usize> + '_ {
    pair.first[..pair.depth() - 1].iter().map(|layer| layer.rows)
}

impl PossiblyActive {
    /// The set of these neurons, given for every hidden layer in turn.
    pub fn of(pair: &Pair, layers: impl IntoIterator<Item = impl IntoIterator<Item = usize>>) -> Self {
        let mut set = vec![0; hidden(pair).map(words).sum()];
        let mut from = 0;
        for (neurons, width) in layers.into_iter().zip(hidden(pair)) {
            for i in neurons {
                set[from + i / BITS] |= 1 << (i % BITS);
            }
            from += words(width);
        }
        Self { words: set.into() }
    }

    /// Appends the neurons of a layer, in order, to a list.
    pub fn list(&self, pair: &Pair, layer: usize, neurons: &mut Vec<usize>) {
        let from: usize = hidden(pair).take(layer).map(words).sum();
        for (k, &word) in self.words[from..from + words(pair.first[layer].rows)].iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                neurons.push(k * BITS + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }

    /// The number of bytes that this set takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        8 * self.words.len() + 32
    }
}

/// Whether it pays to leave out this number of m rows: gathering the others costs as much as computing a few that are
/// known to be zero.
pub(super) fn worth_leaving_out(rows: usize, m: usize) -> bool {
    8 * rows >= m
}
