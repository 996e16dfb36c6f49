//! What the workers share: the open boxes that someone else may take, the stop flag, and the counters.
//!
//! A worker lives off its own heap and looks here only when that is empty, or when another worker waits. So the lock is not on the hot path.

use super::counts::{Counts, Tally};
use super::foresight::Foresight;
use super::remainder::Remainder;
use super::saved::Saved;
use super::{Node, Progress, Reason, Solution, Verdict};
use crate::settings::Settings;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Nodes deeper than this do not count towards the certified share: less than 2^-DEPTHS of the whole each.
pub const DEPTHS: usize = 2048;

/// State common to all workers of one search.
pub struct Shared {
    start: Instant,
    deadline: Option<Duration>,
    /// When the workers are to hand in what they have, so that it can be kept.
    pause: Option<Duration>,
    paused: AtomicBool,
    box_limit: u64,
    memory: usize,
    stopped: AtomicBool,
    reason: AtomicU8,
    /// Boxes waiting anywhere or in work; the search is over when none is left.
    outstanding: AtomicU64,
    tried: u64,
    boxes: AtomicU64,
    bytes: AtomicUsize,
    waiting: AtomicUsize,
    guard_met: AtomicBool,
    arithmetic_failed: AtomicBool,
    /// Whether a worker has scattered points over the region unasked.
    scattered: AtomicBool,
    closed: Vec<AtomicU64>,
    offered: Mutex<Vec<Node>>,
    offers: AtomicUsize,
    wake: Condvar,
    witness: Mutex<Option<Vec<f64>>>,
    initial_bound: Mutex<f64>,
    tally: Mutex<Tally>,
    foresight: Mutex<Foresight>,
    /// Boxes that workers handed in when they ended.
    open: Mutex<Vec<Node>>,
    stuck: Mutex<Vec<Node>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic in a worker is propagated by the pool; the data are plain values either way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// For a search that goes on from `saved`, whose open boxes the workers are given.
    pub fn new(settings: &Settings, start: Instant, pause: Option<Duration>, saved: &mut Saved) -> Self {
        let counts = &saved.counts;
        let closed = |depth: usize| AtomicU64::new(counts.closed.get(depth).copied().unwrap_or(0));
        Self {
            start,
            deadline: Duration::try_from_secs_f64(settings.timeout).ok(),
            pause,
            paused: AtomicBool::new(false),
            box_limit: if settings.boxes == 0 { u64::MAX } else { settings.boxes.saturating_sub(counts.tried) },
            tried: counts.tried,
            memory: settings.memory,
            stopped: AtomicBool::new(false),
            reason: AtomicU8::new(0),
            outstanding: AtomicU64::new(saved.open.len() as u64),
            boxes: AtomicU64::new(counts.boxes),
            bytes: AtomicUsize::new(saved.open.iter().chain(&saved.stuck).map(Node::bytes).sum()),
            waiting: AtomicUsize::new(0),
            guard_met: AtomicBool::new(counts.guard_met),
            arithmetic_failed: AtomicBool::new(false),
            scattered: AtomicBool::new(false),
            closed: (0..DEPTHS).map(closed).collect(),
            offered: Mutex::new(Vec::new()),
            offers: AtomicUsize::new(0),
            wake: Condvar::new(),
            witness: Mutex::new(None),
            initial_bound: Mutex::new(counts.initial_bound),
            tally: Mutex::new(counts.tally.clone()),
            foresight: Mutex::new(counts.foresight),
            open: Mutex::new(Vec::new()),
            stuck: Mutex::new(std::mem::take(&mut saved.stuck)),
        }
    }

    /// Ends the search; the first reason counts.
    pub fn stop(&self, reason: Reason) {
        let code = match reason {
            Reason::Timeout => 1,
            Reason::Boxes => 2,
            Reason::Interrupted => 3,
            Reason::Incomplete | Reason::Spurious | Reason::FloatOnly | Reason::Solver => 4,
        };
        let _ = self.reason.compare_exchange(0, code, Ordering::SeqCst, Ordering::SeqCst);
        self.stopped.store(true, Ordering::SeqCst);
        self.wake.notify_all();
    }

    /// Ends the search with a confirmed counterexample.
    pub fn found(&self, witness: Vec<f64>) {
        lock(&self.witness).get_or_insert(witness);
        self.stopped.store(true, Ordering::SeqCst);
        self.wake.notify_all();
    }

    /// Whether workers should end; looks at the clock.
    pub fn stopping(&self) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        if self.deadline.is_some_and(|d| self.start.elapsed() >= d) {
            self.stop(Reason::Timeout);
        } else if self.boxes.load(Ordering::Relaxed) >= self.box_limit {
            self.stop(Reason::Boxes);
        } else {
            return false;
        }
        true
    }

    /// Seconds until the search stops.
    pub fn left(&self) -> f64 {
        self.deadline.map_or(f64::INFINITY, |d| d.saturating_sub(self.start.elapsed()).as_secs_f64())
    }

    /// Whether workers should hand in what they have, and soon go on.
    pub fn pausing(&self) -> bool {
        if !self.paused.load(Ordering::Relaxed) && self.pause.is_some_and(|at| self.start.elapsed() >= at) {
            self.paused.store(true, Ordering::SeqCst);
            self.wake.notify_all();
        }
        self.paused.load(Ordering::Relaxed)
    }

    /// Counts a bounded box; returns how many were before it, in this search, and with those of trials before it.
    pub fn count_box(&self) -> (u64, u64) {
        let before = self.boxes.fetch_add(1, Ordering::Relaxed);
        (before, self.tried + before)
    }

    pub fn set_initial_bound(&self, bound: f64) {
        *lock(&self.initial_bound) = bound;
    }

    /// A worker found its processor in a mode in which no bound holds.
    pub fn fail_arithmetic(&self) {
        self.arithmetic_failed.store(true, Ordering::SeqCst);
        self.stop(Reason::Interrupted);
    }

    pub fn arithmetic_failed(&self) -> bool {
        self.arithmetic_failed.load(Ordering::SeqCst)
    }

    pub fn saw_guard(&self) {
        self.guard_met.store(true, Ordering::Relaxed);
    }

    /// Whether the caller is the one worker that begins to scatter points.
    pub fn begins_to_scatter(&self) -> bool {
        !self.scattered.load(Ordering::Relaxed) && !self.scattered.swap(true, Ordering::Relaxed)
    }

    pub fn guard_seen(&self) -> bool {
        self.guard_met.load(Ordering::Relaxed)
    }

    /// Obligations were proved on a node.
    pub fn prove(&self, depth: usize, obligations: usize) {
        if let Some(count) = self.closed.get(depth) {
            count.fetch_add(obligations as u64, Ordering::Relaxed);
        }
    }

    /// `done` boxes left the search and `new` ones came in their place.
    pub fn leave(&self, done: u64, new: u64) {
        self.outstanding.fetch_add(new, Ordering::SeqCst);
        if self.outstanding.fetch_sub(done, Ordering::SeqCst) == done {
            self.wake.notify_all();
        }
    }

    /// Accounts for open boxes held in memory; returns whether the budget is exceeded.
    pub fn hold(&self, bytes: usize) -> bool {
        self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > self.memory
    }

    pub fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether another worker has nothing to do and nothing to take.
    pub fn hungry(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0 && self.offers.load(Ordering::Relaxed) == 0
    }

    /// Gives boxes to whoever waits.
    pub fn offer(&self, nodes: impl IntoIterator<Item = Node>) {
        let mut offered = lock(&self.offered);
        offered.extend(nodes);
        self.offers.store(offered.len(), Ordering::Relaxed);
        drop(offered);
        self.wake.notify_all();
    }

    /// Takes an offered box, waiting for one; `None` when the search is over.
    pub fn take(&self) -> Option<Node> {
        let mut offered = lock(&self.offered);
        loop {
            if let Some(node) = offered.pop() {
                self.offers.store(offered.len(), Ordering::Relaxed);
                return Some(node);
            }
            if self.over() || self.stopped.load(Ordering::SeqCst) || self.pausing() {
                return None;
            }
            self.waiting.fetch_add(1, Ordering::SeqCst);
            // The timeout only guards against a wake-up that fell between the check and the wait.
            offered =
                self.wake.wait_timeout(offered, Duration::from_millis(5)).unwrap_or_else(PoisonError::into_inner).0;
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            let _ = self.stopping();
        }
    }

    /// Whether no box is left anywhere.
    pub fn over(&self) -> bool {
        self.outstanding.load(Ordering::SeqCst) == 0
    }

    /// What a worker is to expect of halving at first.
    pub fn foresight(&self) -> Foresight {
        *lock(&self.foresight)
    }

    pub fn hand_in(&self, tally: &Tally, foresight: Foresight) {
        lock(&self.tally).add(tally);
        *lock(&self.foresight) = foresight;
    }

    /// A worker ends and leaves these boxes open.
    pub fn leave_open(&self, nodes: impl Iterator<Item = Node>) {
        lock(&self.open).extend(nodes);
    }

    /// A box that is undecided and cannot be split: where it lies is kept as long as there is memory.
    pub fn strand(&self, node: Node) {
        let node = Node { inherited: None, alive: None, focus: None, warm: None, ..node };
        let bytes = node.bytes();
        if self.hold(bytes) {
            self.release(bytes);
        } else {
            lock(&self.stuck).push(node);
        }
    }

    /// After all workers have ended: the search as it stands.
    pub fn as_saved(&self) -> Saved {
        let mut open = std::mem::take(&mut *lock(&self.open));
        open.append(&mut lock(&self.offered));
        let counts = Counts {
            closed: self.closed.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            tried: self.tried,
            boxes: self.boxes.load(Ordering::Relaxed),
            initial_bound: *lock(&self.initial_bound),
            guard_met: self.guard_met.load(Ordering::SeqCst),
            tally: lock(&self.tally).clone(),
            foresight: *lock(&self.foresight),
        };
        Saved { counts, open, stuck: std::mem::take(&mut lock(&self.stuck)) }
    }

    /// Whether the workers ended for a pause only: nobody found a witness or hit a limit, and there is something to go on with.
    pub fn only_paused(&self) -> bool {
        self.paused.load(Ordering::SeqCst) && !self.stopped.load(Ordering::SeqCst) && !self.over()
    }

    /// Sum of 2^-depth over the proved obligations, and the largest depth: two of a depth make one of the depth above, so the binary digits are exact.
    fn certified(&self) -> (f64, usize) {
        let (mut carry, mut fraction, mut deepest) = (0u64, 0.0f64, 0);
        for (depth, count) in self.closed.iter().enumerate().rev() {
            let total = count.load(Ordering::Relaxed) + carry;
            if total > 0 && deepest == 0 {
                deepest = depth;
            }
            if depth == 0 {
                #[allow(clippy::cast_precision_loss)]
                return (total as f64 + fraction, deepest);
            }
            fraction = (fraction + if total % 2 == 1 { 1.0 } else { 0.0 }) * 0.5;
            carry = total / 2;
        }
        (fraction, deepest)
    }

    pub fn progress(&self, obligations: usize) -> Progress {
        let (proved, depth) = self.certified();
        #[allow(clippy::cast_precision_loss)]
        let certified = if obligations == 0 { 1.0 } else { proved / obligations as f64 };
        Progress {
            certified,
            boxes: self.tried + self.boxes.load(Ordering::Relaxed),
            open_boxes: self.outstanding.load(Ordering::Relaxed),
            depth,
            seconds: self.start.elapsed().as_secs_f64(),
        }
    }

    /// The result after all workers have ended and left `saved`, for a claim of so many obligations.
    pub fn into_solution(self, obligations: usize, saved: &Saved) -> Solution {
        let trivial = obligations == 0;
        let progress = self.progress(obligations);
        let mut tally = lock(&self.tally).clone();
        let witness = lock(&self.witness).take();
        let mut remainder = Remainder::default();
        for node in saved.open.iter().chain(&saved.stuck) {
            tally.effort.leave_open(node);
            remainder.push(node);
        }
        let undecided = match (tally.refused > 0, tally.limited > 0) {
            _ if tally.stuck > 0 && tally.believed == tally.stuck => Reason::Solver,
            (_, true) => Reason::FloatOnly,
            (true, _) => Reason::Spurious,
            _ => Reason::Incomplete,
        };
        let verdict = if witness.is_some() {
            Verdict::Different
        } else if trivial || (progress.open_boxes == 0 && tally.stuck == 0) {
            Verdict::Equivalent
        } else {
            Verdict::Unknown(match self.reason.load(Ordering::SeqCst) {
                1 => Reason::Timeout,
                2 => Reason::Boxes,
                3 => Reason::Interrupted,
                _ => undecided,
            })
        };
        Solution {
            verdict,
            vacuous: verdict == Verdict::Equivalent && !self.guard_met.load(Ordering::SeqCst),
            witness,
            boxes: progress.boxes,
            splits: tally.splits,
            lps: tally.lps,
            milps: tally.milps,
            believed: tally.believed,
            initial_bound: *lock(&self.initial_bound),
            certified_fraction: progress.certified,
            open_boxes: progress.open_boxes,
            open_sample: match verdict {
                Verdict::Unknown(_) => remainder.into_sample(1.0 - progress.certified),
                Verdict::Equivalent | Verdict::Different => Vec::new(),
            },
            seconds: progress.seconds,
            stages: tally.stages,
            effort: tally.effort,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests {
    use super::*;
    use crate::property::ObligationSet;
    use num_bigint::BigUint;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// The depths of a binary tree's leaves, as a search leaves them: each number splits a leaf.
    fn leaves(splits: &[usize]) -> Vec<usize> {
        let mut leaves = vec![0usize];
        for &split in splits {
            // Mostly the newest leaf, so that trees get deep.
            let at = if split % 3 == 0 { split % leaves.len() } else { leaves.len() - 1 };
            let depth = leaves.swap_remove(at) + 1;
            leaves.extend([depth, depth]);
        }
        leaves
    }

    fn shared() -> Shared {
        let mut root = Saved::start(Node::root(vec![0.0], vec![1.0], ObligationSet::all(1)), 1, 0);
        Shared::new(&Settings::default(), Instant::now(), None, &mut root)
    }

    proptest! {
        #[test]
        fn a_whole_tree_is_certified_to_the_last_digit(splits in vec(0usize..1000, 0..1500), obligations in 1usize..40) {
            let shared = shared();
            let leaves = leaves(&splits);
            for &depth in &leaves {
                shared.prove(depth, obligations);
            }
            let progress = shared.progress(obligations);
            prop_assert_eq!((progress.certified, progress.depth), (1.0, leaves.iter().copied().max().unwrap()));
        }

        #[test]
        fn a_part_of_a_tree_is_certified_by_its_exact_share(
            splits in vec(0usize..1000, 1..1500), proved in vec(0usize..4, 1501),
        ) {
            let shared = shared();
            let mut exact = BigUint::default();
            for (&depth, &obligations) in leaves(&splits).iter().zip(&proved) {
                shared.prove(depth, obligations);
                exact += BigUint::from(obligations) << (DEPTHS - depth);
            }
            let (certified, _) = shared.certified();
            // Both to 80 binary digits after the point.
            let digits = |x: f64| BigUint::from((x * 2f64.powi(60)).round() as u128) << 20;
            let (a, b) = (digits(certified), exact >> (DEPTHS - 80));
            let off = if a > b { a - &b } else { &b - a };
            // One rounding to 53 digits of numbers below 2^13.
            prop_assert!(off <= (b >> 52) + (BigUint::from(1u32) << 21));
        }
    }

    #[test]
    fn nothing_proved_is_no_share() {
        assert_eq!(shared().certified(), (0.0, 0));
        assert_eq!(shared().progress(3).certified, 0.0);
        // Deeper than is counted: less than can be shown.
        let shared = shared();
        shared.prove(DEPTHS + 5, 1);
        assert_eq!(shared.certified().0, 0.0);
    }
}
