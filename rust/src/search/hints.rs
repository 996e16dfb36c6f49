//! What an earlier proof did, as hints for the proof of a pair that has changed a little since: which boxes were halved
//! where, which signs were split, and the multipliers of every contraction ([`super::record`] writes it as a trail).
//!
//! Nothing in it is believed. A box of the new search is halved where the old one was, so that the parts cover it
//! whatever the cut is; boxes of the file are never taken. Every part is bounded again on the pair at hand, and where
//! that is not enough the search goes on below it as if there were no hint. So a trail of another pair, or one that is
//! damaged, costs time and changes no verdict.
//!
//! On a cluster every share takes along the part of the hints that is about its boxes ([`Hints::part`]).

use crate::bound::replay::{SPLIT, read_split};
use crate::bound::split_candidates::Split;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

/// Bytes of a part beyond which what lies deepest is left out. No trail of ours is as long.
const LARGEST_PART: usize = 24 << 20;

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

impl Event {
    /// The nodes that came of it.
    fn children(&self) -> &[u64] {
        match self {
            Self::Halved(_, _, halves) | Self::Contracted(_, _, After::Split(_, halves)) => halves,
            Self::Contracted(_, _, After::Own(own)) => std::slice::from_ref(own),
            Self::Contracted(_, _, After::Proved) => &[],
        }
    }

    /// Whether it brought something.
    fn is_step(&self) -> bool {
        !matches!(self, Self::Contracted(_, log, _) if log.is_empty())
    }
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
    /// What was done to each node, and where that is written.
    events: HashMap<u64, Vec<(Event, Range<usize>)>>,
    leaves: HashMap<u64, u64>,
    whole: Whole,
}

/// What is known of the whole proof, which a part of its hints takes along.
#[derive(Debug, Clone, Copy, Default)]
struct Whole {
    leaves: u64,
    steps: u64,
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
        let mut hints = Self::events(bytes, 0)?;
        let events = hints.events.values().flatten().map(|(event, _)| event);
        hints.whole.steps = events.filter(|event| event.is_step()).count() as u64;
        hints.whole.leaves = hints.leaves(ROOT);
        Some(hints)
    }

    /// The part of the hints that is about the boxes of these nodes, for another process: what is known of the whole,
    /// and their events, the highest first.
    #[must_use]
    pub fn part(&self, labels: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let Whole { leaves, steps, contracts } = self.whole;
        let mut part = [&leaves.to_le_bytes()[..], &steps.to_le_bytes(), &[u8::from(contracts)]].concat();
        let mut waiting: VecDeque<u64> = labels.into_iter().collect();
        let mut seen = HashSet::new();
        while let Some(label) = waiting.pop_front() {
            if !seen.insert(label) {
                continue;
            }
            for (event, place) in self.events.get(&label).into_iter().flatten() {
                if part.len() + place.len() < LARGEST_PART {
                    part.extend_from_slice(&self.bytes[place.clone()]);
                    waiting.extend(event.children());
                }
            }
        }
        part.push(b'Z');
        part
    }

    /// The hints that [`Hints::part`] wrote; `None` if these bytes are none.
    #[must_use]
    pub fn read_part(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes, 0);
        let (leaves, steps, [contracts]) = (reader.label()?, reader.label()?, reader.take()?);
        let hints = Self::events(bytes, reader.1)?;
        Some(Self { whole: Whole { leaves, steps, contracts: contracts != 0 }, ..hints })
    }

    /// The events that begin at a place and end with the bytes.
    fn events(bytes: &[u8], from: usize) -> Option<Self> {
        let mut hints = Self { bytes: bytes.to_vec(), ..Self::default() };
        let mut seen = HashSet::new();
        let mut reader = Reader(bytes, from);
        loop {
            let begin = reader.1;
            let [kind] = reader.take()?;
            if kind == b'Z' {
                break;
            }
            let label = reader.label()?;
            let event = match kind {
                b'C' => Self::halved(&mut reader)?,
                b'X' => hints.contracted(&mut reader)?,
                _ => return None,
            };
            // Nodes get their numbers in order, and each is part of one other: so this is a tree, no larger than the
            // file.
            if !event.children().iter().all(|&child| child > label && seen.insert(child)) {
                return None;
            }
            hints.events.entry(label).or_default().push((event, begin..reader.1));
        }
        if reader.1 != bytes.len() {
            return None;
        }
        hints.count();
        Some(hints)
    }

    fn halved(reader: &mut Reader<'_>) -> Option<Event> {
        let (input, cut) = (reader.whole()?, f64::from_le_bytes(reader.take()?));
        let halves = [reader.label()?, reader.label()?];
        let open = reader.whole()?;
        reader.skip(open.checked_mul(4)?)?;
        Some(Event::Halved(input, cut, halves))
    }

    fn contracted(&mut self, reader: &mut Reader<'_>) -> Option<Event> {
        self.whole.contracts = true;
        let (obligation, size) = (reader.whole()?, reader.whole()?);
        let log = reader.skip(size)?;
        let [outcome] = reader.take()?;
        let after = match outcome {
            b'v' => After::Proved,
            b'o' => After::Own(reader.label()?),
            b's' => After::Split(read_split(&self.bytes[reader.skip(SPLIT)?])?, [reader.label()?, reader.label()?]),
            _ => return None,
        };
        Some(Event::Contracted(obligation, log, after))
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
        self.whole.contracts
    }

    /// How many steps the earlier proof took: boxes that were halved, and contractions that brought something.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.whole.steps
    }

    /// How many boxes the whole region was halved into in the end.
    #[must_use]
    pub fn all_leaves(&self) -> u64 {
        self.whole.leaves
    }

    /// How many boxes a box was halved into in the end; 1 if it never was.
    #[must_use]
    pub fn leaves(&self, label: u64) -> u64 {
        self.leaves.get(&label).copied().unwrap_or(1)
    }

    /// Where a box was halved.
    #[must_use]
    pub fn halving(&self, label: u64) -> Option<Cut> {
        self.events.get(&label)?.iter().find_map(|(event, _)| match event {
            Event::Halved(input, cut, halves) => Some((*input, *cut, *halves)),
            Event::Contracted(..) => None,
        })
    }

    /// The log of the contraction of a box under the violation of an obligation, and what followed.
    #[must_use]
    pub fn contraction(&self, label: u64, obligation: usize) -> Option<(&[u8], After)> {
        self.events.get(&label)?.iter().find_map(|(event, _)| match event {
            Event::Contracted(o, log, after) if *o == obligation => Some((&self.bytes[log.clone()], *after)),
            _ => None,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn halved(label: u64, low: u64, high: u64) -> Vec<u8> {
        let numbers = [&label.to_le_bytes()[..], &0u32.to_le_bytes(), &0.5f64.to_le_bytes()].concat();
        [&b"C"[..], &numbers, &low.to_le_bytes(), &high.to_le_bytes(), &0u32.to_le_bytes()].concat()
    }

    #[test]
    fn what_is_no_tree_is_no_hint() {
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

    #[test]
    fn a_part_says_of_its_boxes_what_the_whole_says() {
        let contracted = |label: u64, own: u64| {
            let numbers = [&label.to_le_bytes()[..], &3u32.to_le_bytes(), &2u32.to_le_bytes(), b"ab"].concat();
            [&b"X"[..], &numbers, b"o", &own.to_le_bytes()].concat()
        };
        let events = [halved(0, 1, 2), halved(1, 3, 4), halved(2, 5, 6), contracted(5, 7), halved(7, 8, 9)];
        let whole = Hints::read(&[events.concat(), b"Z".to_vec()].concat()).unwrap();
        assert_eq!((whole.all_leaves(), whole.steps(), whole.contracts()), (4, 5, true));
        // A node that is there twice, and one below another, are written once.
        for labels in [vec![2], vec![2, 2, 7], vec![7, 2]] {
            let part = Hints::read_part(&whole.part(labels)).unwrap();
            assert_eq!((part.all_leaves(), part.steps(), part.contracts()), (4, 5, true));
            assert_eq!([0, 1, 2, 7].map(|label| part.leaves(label)), [1, 1, 2, 2]);
            assert_eq!([0, 1, 2, 7].map(|label| part.halving(label).is_some()), [false, false, true, true]);
            assert_eq!(part.contraction(5, 3).unwrap().0, b"ab");
            assert!(part.contraction(5, 2).is_none());
        }
        let all = Hints::read_part(&whole.part([ROOT])).unwrap();
        assert_eq!(all.events.len(), whole.events.len());
        let nothing = Hints::read_part(&whole.part([77])).unwrap();
        assert_eq!((nothing.events.len(), nothing.all_leaves()), (0, 4));
        assert!(Hints::read_part(b"").is_none() && Hints::read_part(&whole.part([2])[..40]).is_none());
    }
}
