//! Falsification: looking for counterexamples while the search proves.
//!
//! `schedule` says when and where, `gradient` ascends along derivatives, `random` searches without them,
//! `coordinates` where networks round (`thresholds` of inputs), and `candidates` tests every point found. `clearer` goes
//! on from a witness.

pub mod candidates;
mod clearer;
mod coordinates;
mod gradient;
mod random;
mod schedule;
mod thresholds;

pub use clearer::clearer;
pub use schedule::Falsifier;
