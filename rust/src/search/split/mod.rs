//! Splitting a box that is not proved.
//!
//! `score` rates the inputs, `plan` says along which of them and how often a box is halved, `halving` makes the halves,
//! and `gain` learns how much a split really brings. Where bounds were contracted, look-ahead
//! ([`crate::bound::branching`]) rates splits at the sign of a neuron as well, and `sign` makes the two parts of such a
//! split.

pub mod gain;
pub mod halving;
pub mod plan;
pub mod score;
pub mod sign;

pub use plan::Plan;
