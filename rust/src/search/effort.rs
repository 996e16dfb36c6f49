//! Where a search's time and arithmetic go, and what it leaves: counted, so that nobody has to guess.
//!
//! Each worker keeps its own and hands it in at the end. The clock is read where one part of the work ends and another begins, a handful of times per box: less
//! than a hundredth of the cheapest box.

use super::Node;
use serde::{Deserialize, Serialize};
use std::time::Instant;

macro_rules! parts {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal,)*) => {
        /// A part of a worker's time.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Part { $($(#[doc = $doc])* $name,)* }

        /// The names of all parts, in order.
        pub const PARTS: &[&str] = &[$($word,)*];

        const COUNT: usize = [$($word,)*].len();
    };
}

parts! {
    /// Enclosing a box.
    Propagation = "propagation",
    /// Bounding guards and violations by zonotope rows.
    Rows = "rows",
    /// Bounding violations by the parent's multipliers.
    Inherited = "inherited",
    /// Seeking better multipliers.
    Dual = "dual",
    /// Setting up linear programs and certifying their answers.
    Programs = "programs",
    /// Backward bounds and contraction.
    Contraction = "contraction",
    /// Trying points: centres, corners, gradient ascents, exact replays.
    Candidates = "candidates",
    /// Choosing splits.
    Splitting = "splitting",
    /// Keeping the heap, and everything else.
    Queue = "queue",
    /// Waiting for answers of the LP solver, or for boxes.
    Waiting = "waiting",
}

/// The open box with the largest bound, when a search ends undecided.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstBox {
    /// The largest upper bound of an open violation; infinite where none is known.
    pub bound: f64,
    /// Halvings that made that box.
    pub depth: usize,
    /// Its lower corner, of the free inputs within a search, of all inputs in a solution.
    pub lower: Vec<f64>,
    /// Its upper corner.
    pub upper: Vec<f64>,
    /// Obligations open on it.
    pub obligations: Vec<usize>,
}

impl WorstBox {
    fn of(node: &Node) -> Self {
        Self {
            bound: node.bound,
            depth: node.depth,
            lower: node.lower.to_vec(),
            upper: node.upper.to_vec(),
            obligations: node.open.iter().collect(),
        }
    }
}

/// Counted work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    nanoseconds: [u64; COUNT],
    #[serde(skip)]
    since: Option<(Part, Instant)>,
    /// Additions and multiplications of the networks' layers: matrix products over active rows and columns and scaled columns, not the bounds of rounding.
    pub flops: u64,
    /// Obligations that were open, summed over the boxes bounded.
    pub obligations: u64,
    /// Boxes for which a linear program was asked for.
    pub asked: u64,
    /// Boxes that were contracted.
    pub contracted: u64,
    /// Depth of the deepest box bounded.
    pub depth: usize,
    /// The worst of the open boxes, once a search has ended.
    #[serde(skip)]
    pub worst: Option<WorstBox>,
}

impl Effort {
    /// From now on time belongs to `part`.
    pub fn enter(&mut self, part: Part) {
        let now = Instant::now();
        self.close(now);
        self.since = Some((part, now));
    }

    /// Stops the clock.
    pub fn end(&mut self) {
        self.close(Instant::now());
        self.since = None;
    }

    fn close(&mut self, now: Instant) {
        if let Some((part, since)) = self.since {
            self.nanoseconds[part as usize] += u64::try_from((now - since).as_nanos()).unwrap_or(u64::MAX);
        }
    }

    /// A box is taken up.
    pub fn take_up(&mut self, node: &Node) {
        self.enter(Part::Propagation);
        self.obligations += node.open.len() as u64;
        self.depth = self.depth.max(node.depth);
    }

    /// A box stays open.
    pub fn leave_open(&mut self, node: &Node) {
        if self.worst.as_ref().is_none_or(|r| node.bound > r.bound) {
            self.worst = Some(WorstBox::of(node));
        }
    }

    /// Seconds of all workers by part, with its name.
    pub fn seconds(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        #[allow(clippy::cast_precision_loss)]
        PARTS.iter().copied().zip(self.nanoseconds.iter().map(|&n| n as f64 * 1e-9))
    }

    /// Sets all times to zero: what is left repeats from run to run.
    pub fn forget_times(&mut self) {
        self.nanoseconds = [0; COUNT];
        self.since = None;
    }

    /// Adds another worker's.
    pub fn add(&mut self, other: &Self) {
        self.nanoseconds.iter_mut().zip(&other.nanoseconds).for_each(|(a, b)| *a += b);
        self.flops += other.flops;
        self.obligations += other.obligations;
        self.asked += other.asked;
        self.contracted += other.contracted;
        self.depth = self.depth.max(other.depth);
    }
}
