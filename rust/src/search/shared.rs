//! What the workers share: the boxes that one of them donates to another, the flags that stop or pause the search, and
//! the counters.
//!
//! A worker takes boxes from its own queue and looks here only when that is empty, or when another worker is idle. So
//! the lock is not on the hot path.
//!
//! Soundness rests on two counts. A search is complete when no box is outstanding, so a box leaves this count
//! ([`Shared::retire`]) only after it was proved, replaced by parts that are counted before, or put away as unresolved;
//! and an unresolved box rules out the verdict `equivalent`. That no box was lost or counted twice on its way from one
//! owner to the next is looked at besides, whenever the workers have ended ([`Shared::has_all_boxes`]): the boxes that
//! they leave are those that are outstanding, and with what is proved they add up to what was begun.

use super::Node;
use super::balance::Balance;
use super::certified_share::CertifiedShare;
use super::open_sample::OpenSampler;
use super::payoff::Payoff;
use super::snapshot::Snapshot;
use super::solution::{Progress, Reason, Solution, Verdict};
use super::split::gain::SplitGain;
use super::statistics::{SearchStatistics, WorkerStatistics};
use crate::settings::Settings;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// State common to all workers of one search.
pub struct Shared {
    start: Instant,
    /// What was open or proved at the beginning.
    balance: Balance,
    /// When the search stops, if it has a limit.
    pub deadline: Option<Instant>,
    /// When the workers are to return their boxes, so that a snapshot can be taken.
    pause: Option<Duration>,
    paused: AtomicBool,
    box_limit: u64,
    /// Whether so many boxes were taken up as are allowed.
    enough: AtomicBool,
    memory: usize,
    pub(super) stopped: Arc<AtomicBool>,
    /// The code of the first reason to stop; 0 before there is one.
    reason: AtomicU8,
    /// Boxes that wait or are being bounded; the search is complete when there is none.
    outstanding: AtomicU64,
    /// Boxes bounded by probes before this search.
    probed: u64,
    boxes: AtomicU64,
    /// Bytes that open boxes hold.
    bytes: AtomicUsize,
    /// Workers that wait for a box.
    idle: AtomicUsize,
    guard_met: AtomicBool,
    arithmetic_failed: AtomicBool,
    /// Whether a worker has begun the first random search.
    random_search_begun: AtomicBool,
    proved: CertifiedShare,
    /// Boxes that any idle worker may take.
    donated: Mutex<Vec<Node>>,
    /// How many boxes are donated.
    donations: AtomicUsize,
    wake: Condvar,
    witness: Mutex<Option<Vec<f64>>>,
    initial_bound: Mutex<f64>,
    statistics: Mutex<WorkerStatistics>,
    learned: Mutex<(SplitGain, Payoff)>,
    /// Open boxes that workers returned when they ended.
    open: Mutex<Vec<Node>>,
    /// Boxes that are undecided and cannot be split.
    unresolved: Mutex<Vec<Node>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic in a worker is propagated by the pool; the data are plain values either way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// For a search that goes on from `snapshot`, whose open boxes the caller gives to the workers.
    pub fn new(settings: &Settings, start: Instant, pause: Option<Duration>, snapshot: &mut Snapshot) -> Self {
        let counts = &snapshot.statistics;
        Self {
            start,
            balance: Balance::of(snapshot),
            deadline: Duration::try_from_secs_f64(settings.timeout).ok().and_then(|limit| start.checked_add(limit)),
            pause,
            paused: AtomicBool::new(false),
            box_limit: if settings.boxes == 0 { u64::MAX } else { settings.boxes.saturating_sub(counts.probed) },
            probed: counts.probed,
            memory: settings.memory,
            enough: AtomicBool::new(false),
            stopped: Arc::default(),
            reason: AtomicU8::new(0),
            outstanding: AtomicU64::new(snapshot.open.len() as u64),
            boxes: AtomicU64::new(counts.boxes),
            bytes: AtomicUsize::new(snapshot.open.iter().chain(&snapshot.unresolved).map(Node::bytes).sum()),
            idle: AtomicUsize::new(0),
            guard_met: AtomicBool::new(counts.guard_met),
            arithmetic_failed: AtomicBool::new(false),
            random_search_begun: AtomicBool::new(false),
            proved: CertifiedShare::of(&counts.proved),
            donated: Mutex::new(Vec::new()),
            donations: AtomicUsize::new(0),
            wake: Condvar::new(),
            witness: Mutex::new(None),
            initial_bound: Mutex::new(counts.initial_bound),
            statistics: Mutex::new(counts.workers.clone()),
            learned: Mutex::new((counts.gain, counts.payoff)),
            open: Mutex::new(Vec::new()),
            unresolved: Mutex::new(std::mem::take(&mut snapshot.unresolved)),
        }
    }

    /// Ends the search. The first reason is the one that is reported.
    pub fn stop(&self, reason: Reason) {
        let _ = self.reason.compare_exchange(0, reason.code(), Ordering::SeqCst, Ordering::SeqCst);
        self.stopped.store(true, Ordering::SeqCst);
        self.wake.notify_all();
    }

    /// Ends the search with a confirmed counterexample.
    pub fn found(&self, witness: Vec<f64>) {
        lock(&self.witness).get_or_insert(witness);
        self.stopped.store(true, Ordering::SeqCst);
        self.wake.notify_all();
    }

    /// Whether the workers should end at once, also in the middle of a box. Looks at the clock.
    pub fn stopping(&self) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        if self.deadline.is_some_and(|time| Instant::now() >= time) {
            self.stop(Reason::Timeout);
            return true;
        }
        false
    }

    /// Whether no other box is to be taken up. Looks at the clock and at the limit on boxes; the last box that it
    /// allows is bounded like any other.
    pub fn ending(&self) -> bool {
        if self.stopping() {
            return true;
        }
        let enough = self.boxes.load(Ordering::Relaxed) >= self.box_limit;
        if enough && !self.enough.swap(true, Ordering::SeqCst) {
            let _ = self.reason.compare_exchange(0, Reason::Boxes.code(), Ordering::SeqCst, Ordering::SeqCst);
            self.wake.notify_all();
        }
        enough
    }

    /// Seconds until the search stops.
    pub fn seconds_left(&self) -> f64 {
        self.deadline.map_or(f64::INFINITY, |time| time.saturating_duration_since(Instant::now()).as_secs_f64())
    }

    /// Whether the workers should return their boxes now, to be given them again once a snapshot is taken.
    pub fn pausing(&self) -> bool {
        if !self.paused.load(Ordering::Relaxed) && self.pause.is_some_and(|at| self.start.elapsed() >= at) {
            self.paused.store(true, Ordering::SeqCst);
            self.wake.notify_all();
        }
        self.paused.load(Ordering::Relaxed)
    }

    /// Counts a bounded box. Returns how many were counted before it: in this search, and together with those of the
    /// probes.
    pub fn count_box(&self) -> (u64, u64) {
        let before = self.boxes.fetch_add(1, Ordering::Relaxed);
        (before, self.probed + before)
    }

    pub fn set_initial_bound(&self, bound: f64) {
        *lock(&self.initial_bound) = bound;
    }

    /// Ends the search because a worker found its processor in a mode in which no bound holds.
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

    /// True for exactly one caller, the worker that is to begin the first random search.
    pub fn begins_random_search(&self) -> bool {
        !self.random_search_begun.load(Ordering::Relaxed) && !self.random_search_begun.swap(true, Ordering::Relaxed)
    }

    pub fn guard_seen(&self) -> bool {
        self.guard_met.load(Ordering::Relaxed)
    }

    /// Counts obligations that were proved on a node of this depth.
    pub fn prove(&self, depth: usize, obligations: usize) {
        self.proved.add(depth, obligations);
    }

    /// Takes `done` boxes out of the count of outstanding ones, after `new` ones were counted that replace them.
    pub fn retire(&self, done: u64, new: u64) {
        self.outstanding.fetch_add(new, Ordering::SeqCst);
        if self.outstanding.fetch_sub(done, Ordering::SeqCst) == done {
            self.wake.notify_all();
        }
    }

    /// Accounts for an open box held in memory; returns whether the budget is exceeded.
    pub fn reserve_memory(&self, bytes: usize) -> bool {
        self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > self.memory
    }

    /// Accounts for an open box that is no longer held.
    pub fn release_memory(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether another worker is idle and finds no donated box.
    pub fn has_idle_worker(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0 && self.donations.load(Ordering::Relaxed) == 0
    }

    /// Gives boxes to idle workers.
    pub fn donate(&self, nodes: impl IntoIterator<Item = Node>) {
        let mut donated = lock(&self.donated);
        donated.extend(nodes);
        self.donations.store(donated.len(), Ordering::Relaxed);
        drop(donated);
        self.wake.notify_all();
    }

    /// Takes a donated box, waiting for one; `None` when the search ends or pauses.
    pub fn take(&self) -> Option<Node> {
        let mut donated = lock(&self.donated);
        loop {
            if let Some(node) = donated.pop() {
                self.donations.store(donated.len(), Ordering::Relaxed);
                return Some(node);
            }
            if self.complete() || self.ending() || self.pausing() {
                return None;
            }
            self.idle.fetch_add(1, Ordering::SeqCst);
            // The timeout only guards against a wake-up that fell between the check and the wait.
            donated =
                self.wake.wait_timeout(donated, Duration::from_millis(5)).unwrap_or_else(PoisonError::into_inner).0;
            self.idle.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Whether no box is outstanding.
    pub fn complete(&self) -> bool {
        self.outstanding.load(Ordering::SeqCst) == 0
    }

    /// The estimates that a worker starts with.
    pub fn learned(&self) -> (SplitGain, Payoff) {
        *lock(&self.learned)
    }

    /// Adds what a worker counted and learned, when it ends.
    pub fn add_statistics(&self, statistics: &WorkerStatistics, learned: (SplitGain, Payoff)) {
        lock(&self.statistics).add(statistics);
        *lock(&self.learned) = learned;
    }

    /// Takes the open boxes of a worker that ends.
    pub fn return_open(&self, nodes: impl Iterator<Item = Node>) {
        lock(&self.open).extend(nodes);
    }

    /// Puts away a box that is undecided and cannot be split. Where it lies is kept as long as there is memory.
    pub fn put_away_unresolved(&self, node: Node) {
        let node = Node { inherited: None, possibly_active: None, violation_bounds: None, warm_start: None, ..node };
        let bytes = node.bytes();
        if self.reserve_memory(bytes) {
            self.release_memory(bytes);
        } else {
            lock(&self.unresolved).push(node);
        }
    }

    /// The search as it stands, after all workers have ended.
    pub fn snapshot(&self) -> Snapshot {
        let mut open = std::mem::take(&mut *lock(&self.open));
        open.append(&mut lock(&self.donated));
        let (gain, payoff) = self.learned();
        let statistics = SearchStatistics {
            proved: self.proved.counts(),
            probed: self.probed,
            boxes: self.boxes.load(Ordering::Relaxed),
            initial_bound: *lock(&self.initial_bound),
            guard_met: self.guard_met.load(Ordering::SeqCst),
            workers: lock(&self.statistics).clone(),
            gain,
            payoff,
        };
        Snapshot { statistics, open, unresolved: std::mem::take(&mut lock(&self.unresolved)) }
    }

    /// Whether no box was lost, counted twice or put in since the beginning, after all workers have ended and left
    /// `snapshot`. The box where a witness was found is not looked for.
    pub fn has_all_boxes(&self, snapshot: &Snapshot) -> bool {
        lock(&self.witness).is_some() || self.balance.holds(snapshot, self.outstanding.load(Ordering::SeqCst))
    }

    /// Whether the workers ended only because of a pause: no witness was found, no limit was met, and boxes are
    /// outstanding.
    pub fn only_paused(&self) -> bool {
        let ended = self.stopped.load(Ordering::SeqCst) || self.enough.load(Ordering::SeqCst);
        self.paused.load(Ordering::SeqCst) && !ended && !self.complete()
    }

    /// What the search knows so far, for a claim of so many obligations.
    pub fn progress(&self, obligations: usize) -> Progress {
        let (proved, depth) = self.proved.sum();
        #[allow(clippy::cast_precision_loss)]
        let certified = if obligations == 0 { 1.0 } else { proved / obligations as f64 };
        Progress {
            certified,
            boxes: self.probed + self.boxes.load(Ordering::Relaxed),
            open_boxes: self.outstanding.load(Ordering::Relaxed),
            depth,
            seconds: self.start.elapsed().as_secs_f64(),
        }
    }

    /// The result for a claim of so many obligations, after all workers have ended and left `snapshot`.
    pub fn into_solution(self, obligations: usize, snapshot: &Snapshot) -> Solution {
        let progress = self.progress(obligations);
        let counted = lock(&self.statistics).clone();
        let witness = lock(&self.witness).take();
        let mut sampler = OpenSampler::default();
        snapshot.open.iter().chain(&snapshot.unresolved).for_each(|node| sampler.push(node));
        let verdict = if witness.is_some() {
            Verdict::Different
        } else if obligations == 0 || (progress.open_boxes == 0 && counted.unresolved == 0) {
            Verdict::Equivalent
        } else {
            let stopped = Reason::from_code(self.reason.load(Ordering::SeqCst));
            Verdict::Unknown(stopped.unwrap_or_else(|| why_unresolved(&counted)))
        };
        Solution {
            verdict,
            vacuous: verdict == Verdict::Equivalent && !self.guard_met.load(Ordering::SeqCst),
            witness,
            boxes: progress.boxes,
            splits: counted.splits,
            lps: counted.lps,
            milps: counted.milps,
            rests_on_solver: counted.rests_on_solver,
            initial_bound: *lock(&self.initial_bound),
            certified_fraction: progress.certified,
            open_boxes: progress.open_boxes,
            worst_open: sampler.worst.take(),
            open_sample: match verdict {
                Verdict::Unknown(_) => sampler.into_sample(1.0 - progress.certified),
                Verdict::Equivalent | Verdict::Different => Vec::new(),
            },
            seconds: progress.seconds,
            stages: counted.stages,
            profile: counted.profile,
            reused: None,
        }
    }
}

/// Why a search that met no limit left boxes undecided.
fn why_unresolved(counted: &WorkerStatistics) -> Reason {
    if counted.unresolved > 0 && counted.rests_on_solver == counted.unresolved {
        Reason::Solver
    } else if counted.within_rounding > 0 {
        Reason::FloatOnly
    } else if counted.refused > 0 {
        Reason::Spurious
    } else {
        Reason::Incomplete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::ObligationSet;

    fn shared() -> Shared {
        let mut root = Snapshot::start(Node::root(vec![0.0], vec![1.0], ObligationSet::all(1)), 1, 0);
        Shared::new(&Settings::default(), Instant::now(), None, &mut root)
    }

    #[test]
    fn a_box_that_nobody_has_is_noticed() {
        let node = || Node { depth: 1, ..Node::root(vec![0.0], vec![1.0], ObligationSet::all(1)) };
        let complete = |returned: usize, donated: usize, witness: bool| {
            let shared = shared();
            shared.retire(1, 2);
            shared.return_open((0..returned).map(|_| node()));
            shared.donate((0..donated).map(|_| node()));
            if witness {
                shared.found(vec![0.5]);
            }
            shared.has_all_boxes(&shared.snapshot())
        };
        assert!(complete(2, 0, false));
        assert!(complete(1, 1, false), "what is donated is open");
        assert!(!complete(1, 0, false));
        assert!(!complete(2, 1, false));
        assert!(complete(1, 0, true), "the box of a witness is not looked for");
    }
}
