//! Backward bounds: a linear functional of both outputs and their difference is pulled back to the inputs, layer by layer, with free multipliers.
//!
//! Stronger than what the output zonotopes alone can tell, because the relaxations of all layers work for the functional at hand.
//!
//! [`assumption`]: what is assumed to be violated, and [`constraints`] of the region with it. [`relax`]: the linear relaxations that follow from bounds of every neuron.
//! [`backward`]: a batch of functionals and their bounds; `ascent`: steps that improve them. [`contract`]: bounds tightened under an assumed violation until they contradict.
//! [`branching`]: where to split what that leaves. [`encoding`]: the same as a mixed-integer program.

mod ascent;
pub mod assumption;
pub mod backward;
pub mod branching;
pub mod constraints;
pub mod contract;
pub mod contraction_log;
pub mod encoding;
pub mod parameters;
pub mod relax;
mod relu_kernels;
mod rounding_cost;
mod shared_input_layer;

pub use assumption::Assumption;
pub use contract::{Contraction, ContractionBudget, ContractionResult, Contractor, WarmStart};
