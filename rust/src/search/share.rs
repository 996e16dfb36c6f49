//! Shares of a search: some of its open boxes as bytes, for another process to work on, and the answer to them.
//!
//! A share says of which question it is, bears a name that no other share of its search bears, and is sealed with its
//! digest; so is the answer, under the name of the share that it answers. A share of a search that starts from an earlier
//! proof takes along what that did to its boxes, and the answer says of what is left which boxes of that proof it is. What an answer claims is held against the
//! boxes that were dealt in [`super::Ledger`]; here bytes are only read whole or refused.

use super::account::Account;
use super::hints::Hints;
use super::snapshot::{DIGEST, Question, Snapshot, fits};
use super::statistics::SearchStatistics;
use crate::error::Error;
use crate::settings::Settings;
use sha2::{Digest, Sha256};

/// What a share bears as its name: the digest of its number and its boxes.
pub type ShareName = [u8; DIGEST];

const SHARE: &[u8] = b"eqspec share 2\n";
const ANSWER: &[u8] = b"eqspec answer 2\n";

/// Bytes of a number in the head of a share.
const NUMBER: usize = 8;

/// The most shares of one search: their numbers stand in the upper half of what counts boxes and labels nodes.
const MOST: u64 = 1 << 31;

/// Boxes to work on.
#[derive(Debug)]
pub struct Share {
    /// Its name.
    pub name: ShareName,
    /// Its place among the shares of its search, from 1.
    pub number: u64,
    /// The digest of its question.
    fingerprint: [u8; DIGEST],
    /// The boxes, with what the search had learned when it was dealt and nothing counted yet.
    pub snapshot: Snapshot,
    /// What an earlier proof did to the boxes.
    pub hints: Option<Hints>,
}

/// What became of a share.
#[derive(Debug)]
pub struct Answer {
    /// The share that it answers.
    pub name: ShareName,
    /// What is still open of it, and what was counted.
    pub snapshot: Snapshot,
}

/// Where the boxes and labels of a share begin to be counted: every share has a range of its own, so that attacks
/// differ and the parts of a record name different nodes.
pub fn first_of(number: u64) -> u64 {
    number << 32
}

impl Share {
    /// The share of this number as its name and bytes; `None` if it cannot be written.
    pub fn write(
        number: u64,
        snapshot: &Snapshot,
        hints: Option<&Hints>,
        question: &Question<'_>,
    ) -> Option<(ShareName, Vec<u8>)> {
        if number == 0 || number >= MOST {
            return None;
        }
        let payload = snapshot.payload()?;
        let name = name(number, &payload);
        let hints = hints.map(|hints| hints.part(snapshot.open.iter().filter_map(|node| node.hint)));
        let head = [&number.to_le_bytes()[..], &name, &(payload.len() as u64).to_le_bytes()].concat();
        let content = [payload, hints.unwrap_or_default()].concat();
        Some((name, seal(SHARE, &question.fingerprint, &head, &content)))
    }

    /// The share of these bytes, if it is one of this question.
    pub fn read(bytes: &[u8], question: &Question<'_>) -> Result<Self, Error> {
        let damaged = || refused("it is damaged");
        let (head, content) = open(SHARE, bytes, question, NUMBER + DIGEST + NUMBER)?;
        let (number, rest) = number(head).ok_or_else(damaged)?;
        let (named, rest) = rest.split_at(DIGEST);
        let (size, _) = self::number(rest).ok_or_else(damaged)?;
        let size = usize::try_from(size).map_err(|_| damaged())?;
        let (payload, part) = content.split_at_checked(size).ok_or_else(damaged)?;
        let mut snapshot = boxes(payload, question)?;
        if number == 0 || number >= MOST || *named != name(number, payload) {
            return Err(refused("its name is not that of its boxes"));
        }
        // What cannot be read is no hint.
        let hints = Hints::read_part(part);
        if hints.is_none() {
            snapshot.forget_hints();
        }
        Ok(Self { name: name(number, payload), number, fingerprint: question.fingerprint, snapshot, hints })
    }

    /// Whether it is the whole search before its first box, probes included.
    pub fn is_whole(&self) -> bool {
        self.snapshot.statistics.probed == 0 && matches!(&self.snapshot.open[..], [node] if node.depth == 0)
    }

    /// The search from which it is worked on, after so many boxes of probes if it is the whole search.
    pub fn begin(&self, probed: u64) -> Snapshot {
        let mut snapshot = self.snapshot.clone();
        if self.is_whole() {
            snapshot.statistics.probed = probed;
        }
        snapshot
    }

    /// The settings with which it is worked on: their limit on boxes is meant for this share, its probes included.
    pub fn settings(&self, settings: &Settings) -> Settings {
        let before = first_of(self.number) + if self.is_whole() { 0 } else { self.snapshot.statistics.probed };
        let boxes = if settings.boxes == 0 { 0 } else { settings.boxes.saturating_add(before) };
        Settings { boxes, ..settings.clone() }
    }

    /// What is left of it after it was worked on, as bytes. That is refused if it does not add up to the share, as
    /// where boxes that cannot be split were not kept for want of memory.
    pub fn answer(&self, left: &Snapshot) -> Result<Vec<u8>, Error> {
        let complete = left.statistics.workers.unresolved == left.unresolved.len() as u64;
        let all = left.account();
        if !complete || all.is_none() || all != Account::of(&self.snapshot.open, &[]) {
            return Err(refused("not all of its boxes were kept; give its worker more memory"));
        }
        let payload = left.payload().ok_or_else(|| refused("its answer cannot be written"))?;
        Ok(seal(ANSWER, &self.fingerprint, &self.name, &payload))
    }
}

impl Answer {
    /// The answer of these bytes, if it is one to a share of this question.
    pub fn read(bytes: &[u8], question: &Question<'_>) -> Result<Self, Error> {
        let (head, payload) = open(ANSWER, bytes, question, DIGEST)?;
        let name = head.try_into().map_err(|_| refused("it is damaged"))?;
        Ok(Self { name, snapshot: boxes(payload, question)? })
    }
}

/// The statistics with which a share begins: what the search has learned, and nothing counted but where it begins.
pub fn beginning(learned: &SearchStatistics, number: u64) -> SearchStatistics {
    SearchStatistics {
        probed: learned.probed,
        boxes: first_of(number),
        initial_bound: learned.initial_bound,
        guard_met: learned.guard_met,
        gain: learned.gain,
        ..SearchStatistics::default()
    }
}

/// The refusal of a share or of an answer.
pub fn refused(why: &str) -> Error {
    Error::Share(why.to_owned())
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    bytes.split_first_chunk::<NUMBER>().map(|(number, rest)| (u64::from_le_bytes(*number), rest))
}

fn name(number: u64, payload: &[u8]) -> ShareName {
    let mut sum = Sha256::new();
    sum.update(number.to_le_bytes());
    sum.update(payload);
    sum.finalize().into()
}

/// Mark, fingerprint, head and boxes, and before the boxes the digest of everything else.
fn seal(mark: &[u8], fingerprint: &[u8; DIGEST], head: &[u8], payload: &[u8]) -> Vec<u8> {
    let digest = digest(&[mark, fingerprint, head, payload]);
    [mark, fingerprint, head, &digest, payload].concat()
}

/// Head and boxes of what was sealed for this question.
fn open<'b>(mark: &[u8], bytes: &'b [u8], question: &Question<'_>, size: usize) -> Result<(&'b [u8], &'b [u8]), Error> {
    let damaged = || refused("it is damaged");
    let rest = bytes.strip_prefix(mark).ok_or_else(|| refused("it is none, or of another version"))?;
    let (fingerprint, rest) = rest.split_at_checked(DIGEST).ok_or_else(damaged)?;
    let (head, rest) = rest.split_at_checked(size).ok_or_else(damaged)?;
    let (seal, payload) = rest.split_at_checked(DIGEST).ok_or_else(damaged)?;
    if *seal != digest(&[mark, fingerprint, head, payload]) {
        return Err(damaged());
    }
    if *fingerprint != question.fingerprint {
        return Err(refused("it belongs to another question"));
    }
    Ok((head, payload))
}

fn digest(parts: &[&[u8]]) -> [u8; DIGEST] {
    let mut sum = Sha256::new();
    for part in parts {
        sum.update(part);
    }
    sum.finalize().into()
}

/// Boxes that fit the question.
fn boxes(payload: &[u8], question: &Question<'_>) -> Result<Snapshot, Error> {
    let snapshot = Snapshot::of_payload(payload).ok_or_else(|| refused("it is damaged"))?;
    if !snapshot.open.iter().chain(&snapshot.unresolved).all(|node| fits(node, question)) {
        return Err(refused("a box in it does not fit the question"));
    }
    Ok(snapshot)
}

/// An answer as it is written, whatever is in it.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub fn sealed_answer(name: &ShareName, left: &Snapshot, question: &Question<'_>) -> Vec<u8> {
    seal(ANSWER, &question.fingerprint, name, &left.payload().unwrap())
}
