//! Branch and bound (Bunel et al., *Branch and bound for piecewise linear neural network verification*, JMLR 2020):
//! cover the region by boxes on which the property is proved, or find an input that violates it.
//!
//! | files | idea |
//! |---|---|
//! | `solve`, `probe` | from question to solution: probes by plain bisection, then the search with its snapshots |
//! | `worker`, `shared`, `host` | threads: queues of boxes, what workers share, and the calling thread |
//! | `stages` | bounding a box: one file per stage, in the order that `policy` sets |
//! | `falsify` | falsification: gradient ascent and random search for counterexamples, and when they are made |
//! | `split` | branching: which input or which sign to split at, and how often |
//! | `payoff` | whether bounds of each network by itself are worth their cost |
//! | `snapshot`, `fingerprint` | stopping a search and resuming it |
//! | `balance` | whether any box was lost on its way from one owner to the next |
//! | `account`, `share`, `ledger` | dealing a search out to other processes: what adds up, and nothing else |
//! | `record`, `hints` | the record of a proof, from which certificates are made; what the next proof takes from it |
//! | `lift`, `trust` | which boxes of an earlier proof are bounded, and whether its cuts are followed |
//! | `solution`, `statistics`, `profile`, `open_sample` | what is reported |
//!
//! This is control only: which box is next, which stage is next, where to split, when to stop. A verdict depends on
//! this module in one respect: every box that is taken up is closed by a proof, replaced by parts that cover it, or
//! counted as undecided.
//!
//! Workers run in a pool of their own that lives as long as the call. They never call out: linear programs and
//! candidate counterexamples travel to the calling thread, where a [`Host`] answers.

mod account;
mod balance;
mod certified_share;
mod context;
mod falsify;
mod fingerprint;
mod generator;
pub mod hints;
mod host;
mod ledger;
mod lift;
mod node;
mod open_sample;
mod payoff;
mod policy;
mod probe;
pub mod profile;
mod record;
mod region;
mod share;
mod shared;
mod snapshot;
mod solution;
mod solve;
mod split;
mod stages;
mod statistics;
mod trust;
mod worker;

pub use falsify::clearer;
pub use fingerprint::fingerprint;
pub use host::{Host, NoHost};
pub use ledger::Ledger;
pub use node::Node;
pub use open_sample::{OpenBox, WorstBox};
pub use profile::Profile;
pub use region::{Constraint, Region};
pub use share::ShareName;
pub use solution::{Progress, Reason, Solution, Verdict};
pub use solve::{resume, solve, solve_like, work_on};
pub use statistics::Stages;
