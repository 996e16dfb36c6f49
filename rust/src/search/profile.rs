//! Where a search's time and arithmetic go, measured.
//!
//! Each worker keeps a profile of its own and adds it to the total when it ends. The clock is read where one activity
//! ends and another begins, a handful of times per box, which takes less than a hundredth of the time of the cheapest
//! box.

use super::Node;
use serde::{Deserialize, Serialize};
use std::time::Instant;

macro_rules! activities {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal,)*) => {
        /// What a worker spends its time on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Activity { $($(#[doc = $doc])* $name,)* }

        /// The names of all activities, in order.
        pub const ACTIVITIES: &[&str] = &[$($word,)*];

        const COUNT: usize = [$($word,)*].len();
    };
}

activities! {
    /// Enclosing a box.
    Propagation = "propagation",
    /// Bounding guards and violations by zonotope rows.
    Rows = "rows",
    /// Bounding violations by the parent's multipliers.
    Inherited = "inherited",
    /// Seeking better multipliers by a descent in the dual.
    Dual = "dual",
    /// Setting up linear programs and certifying their answers.
    Programs = "programs",
    /// Backward bounds and contraction.
    Contraction = "contraction",
    /// Trying points: centres, corners, gradient ascents, exact replays.
    Candidates = "candidates",
    /// Choosing splits.
    Splitting = "splitting",
    /// Keeping the queue of boxes, and everything that belongs nowhere else.
    Queue = "queue",
    /// Waiting for answers of the LP solver, or for boxes.
    Waiting = "waiting",
}

/// Time by activity, and counted work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    nanoseconds: [u64; COUNT],
    #[serde(skip)]
    since: Option<(Activity, Instant)>,
    /// Additions and multiplications of the networks' layers: matrix products over active rows and columns, and scaled
    /// columns. What bounds rounding is not counted.
    pub flops: u64,
    /// Obligations that were open, summed over the boxes bounded.
    pub obligations: u64,
    /// Boxes for which linear programs were sent to the solver.
    pub asked: u64,
    /// Boxes that were contracted.
    pub contracted: u64,
    /// Depth of the deepest box bounded.
    pub depth: usize,
}

impl Profile {
    /// From now on time is spent on `activity`.
    pub fn enter(&mut self, activity: Activity) {
        let now = Instant::now();
        self.close(now);
        self.since = Some((activity, now));
    }

    /// Stops the clock.
    pub fn end(&mut self) {
        self.close(Instant::now());
        self.since = None;
    }

    fn close(&mut self, now: Instant) {
        if let Some((activity, since)) = self.since {
            self.nanoseconds[activity as usize] += u64::try_from((now - since).as_nanos()).unwrap_or(u64::MAX);
        }
    }

    /// A worker begins to bound a box.
    pub fn begin_box(&mut self, node: &Node) {
        self.enter(Activity::Propagation);
        self.obligations += node.open.len() as u64;
        self.depth = self.depth.max(node.depth);
    }

    /// The names of all activities, each with the seconds that all workers spent on it.
    pub fn seconds(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        #[allow(clippy::cast_precision_loss)]
        ACTIVITIES.iter().copied().zip(self.nanoseconds.iter().map(|&n| n as f64 * 1e-9))
    }

    /// Sets all times to zero, so that what is left is equal from run to run.
    pub fn forget_times(&mut self) {
        self.nanoseconds = [0; COUNT];
        self.since = None;
    }

    /// Adds another worker's profile.
    pub fn add(&mut self, other: &Self) {
        self.nanoseconds.iter_mut().zip(&other.nanoseconds).for_each(|(a, b)| *a += b);
        self.flops += other.flops;
        self.obligations += other.obligations;
        self.asked += other.asked;
        self.contracted += other.contracted;
        self.depth = self.depth.max(other.depth);
    }
}
