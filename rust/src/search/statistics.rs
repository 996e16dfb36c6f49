//! What a search counts: each worker for itself, the search as a whole, and what a snapshot keeps of it.
//!
//! Counters are for reports and never decide anything, with two exceptions, on which `equivalent` depends: the
//! obligations proved by depth in [`SearchStatistics`], which must add up to the whole claim, and
//! [`WorkerStatistics::unresolved`], which must be zero.

use super::payoff::Payoff;
use super::profile::Profile;
use super::split::gain::SplitGain;
use serde::{Deserialize, Serialize};

/// Declares a struct of counters once: its fields, their names, their sum. Fields after `with` are of other types and
/// are added by their own `add`.
macro_rules! counters {
    (
        $(#[$about:meta])* $struct:ident {
            $($(#[doc = $doc:literal])* $name:ident,)*
        } with {
            $($(#[doc = $other_doc:literal])* $other:ident: $type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        pub struct $struct {
            $($(#[doc = $doc])* pub $name: u64,)*
            $($(#[doc = $other_doc])* pub $other: $type,)*
        }

        impl $struct {
            /// Adds what another worker counted.
            pub fn add(&mut self, other: &Self) {
                $(self.$name += other.$name;)*
                $(self.$other.add(&other.$other);)*
            }

            /// Every counter with its name, in order.
            #[allow(dead_code, reason = "those of a worker are listed in tests alone")]
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// How often each stage of bounding a box decided something.
    #[derive(Copy, Eq)]
    Stages {
        /// Boxes that the region's constraints exclude.
        outside,
        /// Guards that the bounds of f1 alone exclude.
        guard,
        /// Obligations proved by a row of the zonotope.
        zonotope,
        /// Obligations proved by multipliers of the parent box.
        inherited,
        /// Obligations proved by multipliers that a descent in the dual found on the box.
        dual,
        /// Obligations proved by multipliers of a solved linear program.
        program,
        /// Obligations proved by contracting bounds under their violation.
        contraction,
        /// Boxes on which the arithmetic overflowed, so that they were halved unseen.
        overflow,
    } with {}
}

counters! {
    /// What a worker counts and adds to the total of the search when it ends.
    WorkerStatistics {
        /// Boxes that were split.
        splits,
        /// Objectives handed to the LP solver.
        lps,
        /// Boxes that cannot be split and are undecided for good.
        unresolved,
        /// Unresolved boxes whose bounds miss the limit by no more than rounding.
        within_rounding,
        /// Unresolved boxes of which a mixed-integer solver says that they hold no violation.
        rests_on_solver,
        /// Mixed-integer programs handed to a solver.
        milps,
        /// Candidates that the exact replay refused.
        refused,
        /// Candidates replayed although only the error of their evaluation made them violating.
        doubtful,
        /// Steps of an earlier proof that were taken up.
        taken_up,
    } with {
        /// What each stage decided.
        stages: Stages,
        /// Where the time and the arithmetic went.
        profile: Profile,
    }
}

/// What has been counted in a search from its beginning, stops included.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchStatistics {
    /// Obligations proved on boxes of each depth.
    pub proved: Vec<u64>,
    /// Boxes bounded by probes before this search.
    pub probed: u64,
    /// Boxes bounded by this search.
    pub boxes: u64,
    /// See [`super::Solution::initial_bound`].
    pub initial_bound: f64,
    /// Whether an input was seen that meets a guard.
    pub guard_met: bool,
    /// The sum over all workers.
    pub workers: WorkerStatistics,
    /// The split gain that the worker that ended last had learned.
    pub gain: SplitGain,
    /// What that worker had learned of bounds of each network by itself.
    pub payoff: Payoff,
}

impl Default for SearchStatistics {
    fn default() -> Self {
        Self {
            proved: Vec::new(),
            probed: 0,
            boxes: 0,
            initial_bound: f64::NAN,
            guard_met: false,
            workers: WorkerStatistics::default(),
            gain: SplitGain::default(),
            payoff: Payoff::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_added() {
        let mut one = WorkerStatistics::default();
        (one.splits, one.lps, one.unresolved, one.within_rounding) = (1, 2, 3, 4);
        (one.rests_on_solver, one.milps, one.refused, one.doubtful, one.taken_up) = (5, 6, 7, 8, 9);
        one.stages = Stages {
            outside: 1,
            guard: 2,
            zonotope: 3,
            inherited: 4,
            dual: 5,
            program: 6,
            contraction: 7,
            overflow: 8,
        };
        (one.profile.flops, one.profile.obligations, one.profile.asked, one.profile.contracted) = (9, 10, 11, 12);
        let mut total = one.clone();
        total.add(&one);
        assert!(one.iter().all(|(_, count)| count > 0));
        assert!(total.iter().zip(one.iter()).all(|(sum, part)| sum == (part.0, 2 * part.1)));
        assert!(total.stages.iter().zip(one.stages.iter()).all(|(sum, part)| sum == (part.0, 2 * part.1)));
        let counted = |p: &Profile| [p.flops, p.obligations, p.asked, p.contracted];
        assert_eq!(counted(&total.profile), counted(&one.profile).map(|count| 2 * count));
    }
}
