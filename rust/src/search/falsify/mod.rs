//! Falsification: looking for counterexamples while the search proves.
//!
//! `schedule` says when and where, `gradient` ascends along derivatives, `random` searches without them,
//! `coordinates` where networks round, and `candidates` tests every point found.

pub mod candidates;
mod coordinates;
mod gradient;
mod random;
mod schedule;

pub use schedule::Falsifier;
