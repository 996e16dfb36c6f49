//! What an earlier proof did, as hints for the proof of a pair that has changed a little since: which boxes were halved
//! where, which signs were split, and the multipliers of every contraction ([`super::record`] writes it as a trail).
//!
//! Nothing in it is believed. A box of the new search is halved where the old one was, so that the parts cover it
//! whatever the cut is; boxes of the file are never taken. Every part is bounded again on the pair at hand, and where
//! that is not enough the search goes on below it as if there were no hint. So a trail of another pair, or one that is
//! damaged, costs time and changes no verdict.

use crate::bound::replay::{SPLIT, read_split};
use crate::bound::split_candidates::Split;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Hints are not followed below this depth: no proof that is worth taking up is as deep.
pub const DEEPEST: usize = 512;

/// What was done to a node.
#[derive(Debug, Clone)]
enum Event {
    /// It was halved: input, cut, both halves.
    Halved(usize, f64, [u64; 2]),
    /// An obligation was assumed violated: its number, where the log of the contraction is, and what followed.
    Contracted(usize, Range<usize>, After),
}

/// What followed a contraction.
#[derive(Debug, Clone, Copy)]
pub enum After {
    /// Nothing: the obligation was proved.
    Proved,
    /// It went on in a node of its own.
    Own(u64),
    /// What was left was split in two.
    Split(Split, [u64; 2]),
}

/// Where a box was halved: input, cut, and the nodes that the halves are.
pub type Cut = (usize, f64, [u64; 2]);

/// An earlier proof.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    bytes: Vec<u8>,
    events: HashMap<u64, Vec<Event>>,
    leaves: HashMap<u64, u64>,
    contracts: bool,
}

/// The first node of every trail.
pub const ROOT: u64 = 0;

/// Little-endian numbers, one after the other.
struct Reader<'a>(&'a [u8], usize);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let found = self.0.get(self.1..self.1.checked_add(N)?)?.try_into().ok()?;
        self.1 += N;
        Some(found)
    }
    fn label(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
    fn whole(&mut self) -> Option<usize> {
        self.take().map(|b| u32::from_le_bytes(b) as usize)
    }
    fn skip(&mut self, size: usize) -> Option<Range<usize>> {
        let end = self.1.checked_add(size).filter(|&end| end <= self.0.len())?;
        let range = self.1..end;
        self.1 = end;
        Some(range)
    }
}

impl Hints {
    /// The hints of a trail; `None` if these bytes are none.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut hints = Self { bytes: bytes.to_vec(), ..Self::default() };
        let mut seen = HashSet::new();
        let mut reader = Reader(bytes, 0);
        loop {
            let [kind] = reader.take()?;
            if kind == b'Z' {
                break;
            }
            let label = reader.label()?;
            let (event, children) = match kind {
                b'C' => Self::halved(&mut reader)?,
                b'X' => hints.contracted(&mut reader)?,
                _ => return None,
            };
            // Nodes get their numbers in order, and each is part of one other: so this is a tree, no larger than the
            // file.
            if !children.iter().all(|&child| child > label && seen.insert(child)) {
                return None;
            }
            hints.events.entry(label).or_default().push(event);
        }
        if reader.1 != bytes.len() {
            return None;
        }
        hints.count();
        Some(hints)
    }

    fn halved(reader: &mut Reader<'_>) -> Option<(Event, Vec<u64>)> {
        let (input, cut) = (reader.whole()?, f64::from_le_bytes(reader.take()?));
        let halves = [reader.label()?, reader.label()?];
        let open = reader.whole()?;
        reader.skip(open.checked_mul(4)?)?;
        Some((Event::Halved(input, cut, halves), halves.to_vec()))
    }

    fn contracted(&mut self, reader: &mut Reader<'_>) -> Option<(Event, Vec<u64>)> {
        self.contracts = true;
        let (obligation, size) = (reader.whole()?, reader.whole()?);
        let log = reader.skip(size)?;
        let [outcome] = reader.take()?;
        let (after, children) = match outcome {
            b'v' => (After::Proved, Vec::new()),
            b'o' => {
                let own = reader.label()?;
                (After::Own(own), vec![own])
            }
            b's' => {
                let split = read_split(&self.bytes[reader.skip(SPLIT)?])?;
                let halves = [reader.label()?, reader.label()?];
                (After::Split(split, halves), halves.to_vec())
            }
            _ => return None,
        };
        Some((Event::Contracted(obligation, log, after), children))
    }

    /// Counts the boxes below every box that was halved.
    fn count(&mut self) {
        let mut labels: Vec<u64> = self.events.keys().copied().collect();
        labels.sort_unstable_by(|a, b| b.cmp(a));
        for label in labels {
            if let Some((_, _, halves)) = self.halving(label) {
                let leaves = halves.iter().fold(0u64, |sum, half| sum.saturating_add(self.leaves(*half)));
                self.leaves.insert(label, leaves);
            }
        }
    }

    /// Whether anything was contracted.
    #[must_use]
    pub fn contracts(&self) -> bool {
        self.contracts
    }

    /// How many steps the earlier proof took: boxes that were halved, and contractions that brought something.
    #[must_use]
    pub fn steps(&self) -> u64 {
        let is_step = |event: &&Event| !matches!(event, Event::Contracted(_, log, _) if log.is_empty());
        self.events.values().flatten().filter(is_step).count() as u64
    }

    /// How many boxes a box was halved into in the end; 1 if it never was.
    #[must_use]
    pub fn leaves(&self, label: u64) -> u64 {
        self.leaves.get(&label).copied().unwrap_or(1)
    }

    /// Where a box was halved.
    #[must_use]
    pub fn halving(&self, label: u64) -> Option<Cut> {
        self.events.get(&label)?.iter().find_map(|event| match event {
            Event::Halved(input, cut, halves) => Some((*input, *cut, *halves)),
            Event::Contracted(..) => None,
        })
    }

    /// The log of the contraction of a box under the violation of an obligation, and what followed.
    #[must_use]
    pub fn contraction(&self, label: u64, obligation: usize) -> Option<(&[u8], After)> {
        self.events.get(&label)?.iter().find_map(|event| match event {
            Event::Contracted(o, log, after) if *o == obligation => Some((&self.bytes[log.clone()], *after)),
            _ => None,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_tree_is_no_hint() {
        let halved = |label: u64, low: u64, high: u64| {
            let numbers = [&label.to_le_bytes()[..], &0u32.to_le_bytes(), &0.5f64.to_le_bytes()].concat();
            [&b"C"[..], &numbers, &low.to_le_bytes(), &high.to_le_bytes(), &0u32.to_le_bytes()].concat()
        };
        let read = |events: &[Vec<u8>]| Hints::read(&[events.concat(), b"Z".to_vec()].concat());
        let good = read(&[halved(0, 1, 2), halved(2, 3, 4)]).unwrap();
        assert_eq!((good.leaves(0), good.leaves(1), good.leaves(2), good.leaves(9)), (3, 1, 2, 1));
        assert_eq!(good.steps(), 2);
        assert!(read(&[]).is_some_and(|nothing| nothing.leaves(0) == 1));
        for bad in [
            vec![halved(0, 1, 1)],
            vec![halved(0, 0, 1)],
            vec![halved(3, 1, 2)],
            vec![halved(0, 1, 2), halved(1, 2, 3)],
            vec![b"Z".to_vec()],
            vec![b"L".to_vec()],
            vec![halved(0, 1, 2)[..9].to_vec()],
        ] {
            assert!(read(&bad).is_none(), "{bad:?}");
        }
        assert!(Hints::read(b"").is_none() && Hints::read(&halved(0, 1, 2)).is_none());
    }
}
