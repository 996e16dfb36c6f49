//! Backward bounds: a linear functional of both outputs and their difference is pulled back to the inputs, layer by layer, with free multipliers.
//!
//! Stronger than what the output zonotopes alone can tell, because the relaxations of all layers work for the functional at hand.
//!
//! [`assumption`]: what is assumed to be violated. [`relax`]: the linear relaxations that follow from bounds of every neuron.
//! [`backward`]: a batch of functionals, their bounds and gradients. [`contract`]: bounds tightened under an assumed violation until they contradict.

pub mod assumption;
pub mod backward;
pub mod contract;
pub mod parameters;
pub mod relax;

pub use assumption::Assumption;
pub use contract::{Contraction, Contractor, Effort, Fate, Neuron};
