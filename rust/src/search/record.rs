//! The record of a proof, written to a file while the search runs: what certificates are made from.
//!
//! Nothing here is trusted: an auditor derives every bound again. Events come in the order in which workers meet them;
//! nodes are told apart by labels. A file that lacks the last event is no record of a proof.
//!
//! A trail is the same in memory, without leaves and multipliers of programs: what the next search of a pair like this
//! one starts from ([`super::hints`]). Unlike a record it changes nothing about the search that leaves it.
//!
//! Little endian: `L` label: everything open was proved. `C` label, input, cut, labels of both halves, open
//! obligations. `X` label, obligation, rounds, then `v`, or `o` label of an own node, or `s` kind, layer, index, place,
//! labels of both halves. `M`, `G` label, obligation or guard, multipliers. `Z`: the end.

use super::Node;
use crate::bound::contraction_log::{ContractionLog, Logging};
use crate::bound::split_candidates::Split;
use crate::lp::Multipliers;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes beyond which a trail is given up: reading it would take longer than it saves.
const LONGEST_TRAIL: usize = 24 << 20;

/// Where events go.
#[derive(Debug)]
enum Sink {
    /// The record is written to a file, for a certificate.
    File(BufWriter<File>),
    /// The record is kept in memory, for the next search.
    Memory(Vec<u8>),
}

/// The events of one search.
#[derive(Debug)]
pub struct Recorder {
    sink: Mutex<Sink>,
    labels: AtomicU64,
    failed: AtomicBool,
    trail: bool,
}

impl Recorder {
    /// A new file, in which new nodes are labelled from `first` on.
    pub fn create(path: &Path, first: u64) -> std::io::Result<Self> {
        let sink = Mutex::new(Sink::File(BufWriter::with_capacity(1 << 18, File::create(path)?)));
        Ok(Self { sink, labels: AtomicU64::new(first), failed: AtomicBool::new(false), trail: false })
    }

    /// A trail, in memory, in which new nodes are labelled from `first` on.
    pub fn trail(first: u64) -> Self {
        let sink = Mutex::new(Sink::Memory(Vec::new()));
        Self { sink, labels: AtomicU64::new(first), failed: AtomicBool::new(false), trail: true }
    }

    fn write(&self, event: &[u8]) {
        let written = match &mut *self.sink.lock().unwrap_or_else(PoisonError::into_inner) {
            Sink::File(file) => file.write_all(event).is_ok(),
            Sink::Memory(bytes) if bytes.len() + event.len() > LONGEST_TRAIL => {
                *bytes = Vec::new();
                false
            }
            Sink::Memory(bytes) => {
                bytes.extend_from_slice(event);
                true
            }
        };
        if !written {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    /// Writes the last event, if nothing was lost.
    pub fn finish(&self) {
        if !self.failed.load(Ordering::Relaxed) {
            self.write(b"Z");
            if let Sink::File(file) = &mut *self.sink.lock().unwrap_or_else(PoisonError::into_inner) {
                let _ = file.flush();
            }
        }
    }

    /// The events of a trail that lacks nothing.
    pub fn into_trail(self) -> Option<Vec<u8>> {
        match self.sink.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Sink::Memory(bytes) if !self.failed.into_inner() => Some(bytes),
            Sink::Memory(_) | Sink::File(_) => None,
        }
    }
}

/// A worker's access to the recorder, if there is one.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a>(pub Option<&'a Recorder>);

/// An event under construction.
struct Event(Vec<u8>);

impl Event {
    fn new(kind: u8, label: u64) -> Self {
        let mut event = Self(vec![kind]);
        event.0.extend_from_slice(&label.to_le_bytes());
        event
    }
    fn whole(&mut self, value: usize) {
        self.0.extend_from_slice(&u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes());
    }
    fn floats<'v>(&mut self, values: impl IntoIterator<Item = &'v f64>) {
        values.into_iter().for_each(|v| self.0.extend_from_slice(&v.to_le_bytes()));
    }
    fn label(&mut self, child: &mut Node, recorder: &Recorder) {
        child.label = recorder.labels.fetch_add(1, Ordering::Relaxed);
        self.0.extend_from_slice(&child.label.to_le_bytes());
    }
    fn contracted(label: u64, obligation: usize, rounds: &[u8]) -> Self {
        let mut event = Self::new(b'X', label);
        event.whole(obligation);
        event.whole(rounds.len());
        event.0.extend_from_slice(rounds);
        event
    }
}

impl<'a> Record<'a> {
    /// Whether a record is written that a certificate is to be made from.
    pub fn on(self) -> bool {
        self.proof().is_some()
    }

    /// What is logged of a contraction.
    pub fn logging(self) -> Option<Logging> {
        self.0.map(|recorder| if recorder.trail { Logging::Trail } else { Logging::Proof })
    }

    fn proof(self) -> Option<&'a Recorder> {
        self.0.filter(|recorder| !recorder.trail)
    }

    /// Records that everything open on a node was proved.
    pub fn leaf(self, node: &Node) {
        if let Some(recorder) = self.proof() {
            recorder.write(&Event::new(b'L', node.label).0);
        }
    }

    /// Records that a node was halved.
    pub fn halved(self, parent: u64, (input, cut): (usize, f64), children: &mut [Node; 2]) {
        let Some(recorder) = self.0 else { return };
        let mut event = Event::new(b'C', parent);
        event.whole(input);
        event.floats(&[cut]);
        for child in children.iter_mut() {
            event.label(child, recorder);
        }
        if recorder.trail {
            event.whole(0);
        } else {
            event.whole(children[0].open.len());
            children[0].open.iter().for_each(|o| event.whole(o));
        }
        recorder.write(&event.0);
    }

    /// Records multipliers that may serve an obligation on a node and below.
    pub fn multipliers(self, node: &Node, obligation: usize, m: &Multipliers) {
        self.hint(b'M', node, obligation, m);
    }

    /// Records multipliers that may exclude a guard (none: the region) on a node and below.
    pub fn ray(self, node: &Node, guard: Option<usize>, m: &Multipliers) {
        self.hint(b'G', node, guard.unwrap_or(usize::MAX), m);
    }

    fn hint(self, kind: u8, node: &Node, number: usize, m: &Multipliers) {
        let Some(recorder) = self.proof() else { return };
        let mut event = Event::new(kind, node.label);
        event.whole(number);
        event.whole(m.guard.len() + m.link.len() + m.region.len());
        event.floats(m.guard.iter().chain(&m.link).chain(&m.region));
        recorder.write(&event.0);
    }

    /// Records the rounds that contracted the bounds of a node under the violation of an obligation. They contradict
    /// it, or the obligation goes on in a node of its own.
    pub fn contracted(self, label: u64, obligation: usize, rounds: &[u8], on: Option<&mut Node>) {
        let Some(recorder) = self.0 else { return };
        let mut event = Event::contracted(label, obligation, rounds);
        match on {
            None => event.0.push(b'v'),
            Some(child) => {
                event.0.push(b'o');
                event.label(child, recorder);
            }
        }
        recorder.write(&event.0);
    }

    /// Records the rounds of a contraction, after which the node was split in two.
    pub fn contracted_and_split(
        self,
        (label, obligation, rounds): (u64, usize, &[u8]),
        split: Split,
        halves: &mut [Node; 2],
    ) {
        let Some(recorder) = self.0 else { return };
        let mut event = Event::contracted(label, obligation, rounds);
        event.0.push(b's');
        ContractionLog::write_split(&mut event.0, split);
        for half in halves.iter_mut() {
            event.label(half, recorder);
        }
        recorder.write(&event.0);
    }
}
