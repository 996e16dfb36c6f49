//! What is counted in a search: by each worker for itself, and in all, as it is saved when a search stops.

use super::foresight::Foresight;
use super::{Effort, Stages};
use serde::{Deserialize, Serialize};

/// Counters a worker keeps for itself and hands in at the end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Boxes halved.
    pub splits: u64,
    /// LP objectives.
    pub lps: u64,
    /// Boxes that cannot be split and are undecided.
    pub stuck: u64,
    /// Of these, boxes whose bounds are within rounding of the limit.
    pub limited: u64,
    /// Of these, boxes that a solver calls free of violations.
    pub believed: u64,
    /// Mixed-integer programs.
    pub milps: u64,
    /// Candidates that failed only the exact replay.
    pub refused: u64,
    /// Candidates replayed though only the error of their evaluation made them violating.
    pub doubtful: u64,
    /// By stage.
    pub stages: Stages,
    /// Time and arithmetic.
    pub effort: Effort,
}

impl Tally {
    /// Adds what another worker counted.
    pub fn add(&mut self, other: &Self) {
        self.splits += other.splits;
        self.lps += other.lps;
        self.stuck += other.stuck;
        self.limited += other.limited;
        self.believed += other.believed;
        self.milps += other.milps;
        self.refused += other.refused;
        let (mine, theirs) = (&mut self.stages, other.stages);
        mine.outside += theirs.outside;
        mine.guard += theirs.guard;
        mine.zonotope += theirs.zonotope;
        mine.inherited += theirs.inherited;
        mine.dual += theirs.dual;
        mine.program += theirs.program;
        mine.contraction += theirs.contraction;
        mine.overflow += theirs.overflow;
        self.effort.add(&other.effort);
    }
}

/// What has been counted in a search, from its beginning.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Counts {
    /// Obligations proved on boxes of each depth.
    pub closed: Vec<u64>,
    /// Boxes bounded by trials before.
    pub tried: u64,
    /// Boxes bounded.
    pub boxes: u64,
    /// See [`super::Solution::initial_bound`].
    pub initial_bound: f64,
    /// Whether an input was seen that meets a guard.
    pub guard_met: bool,
    /// What the workers counted.
    pub tally: Tally,
    /// What the worker that ended last expects of halving.
    pub foresight: Foresight,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            closed: Vec::new(),
            tried: 0,
            boxes: 0,
            initial_bound: f64::NAN,
            guard_met: false,
            tally: Tally::default(),
            foresight: Foresight::default(),
        }
    }
}
