//! Backward bound propagation: a linear functional of both outputs and their difference is pulled back to the inputs,
//! step by step in reverse, with free multipliers. The bounds are stronger than what the output zonotopes alone can
//! tell, because the relaxations of all steps work for the functional.
//!
//! | file | what it does | known as |
//! |---|---|---|
//! | [`backward`], `backward_workspace`, `descent`, `relu_kernels` | lower bounds of a batch of functionals | CROWN, DeepPoly |
//! | [`relax`] | relaxations of ReLU on x, y and their difference | triangle relaxation; [VD] |
//! | [`lines`] | linear bounds of other functions, and a pass through them | CROWN, auto_LiRPA |
//! | [`parameters`], `ascent` | free slopes, multipliers of assumed signs, their steps | alpha-CROWN, beta-CROWN |
//! | `restriction` | the neurons that steps in singles are about | |
//! | `improvement`, `singles` | the steps of a batch, in f64 or in single precision; bounds are in f64 always | |
//! | [`assumption`] | the assumed violation, with the entropy term of an exact confidence | eqspec's own |
//! | [`constraints`] | constraints of the region | as the cutting planes of GCP-CROWN, over the inputs |
//! | [`contract`], `contraction_budget` | bounds tightened under the assumed violation until they contradict | INVPROP, OBBT |
//! | `selection` | which neurons are worth a bound where there are many | scores as in BaBSR |
//! | `alone_root` | what all questions about one network by itself begin with | alpha-CROWN |
//! | `alone`, `reach` | the same for one network of the pair by itself, and how deep its rounds go | INVPROP |
//! | `box_hull`, `hull_planes` | bounds of one network by the hulls of the first ReLUs over the box of the inputs | the convex barrier, active sets |
//! | `alone_parts` | splits at the signs of neurons of one network by itself | BaBSR, filtered smart branching |
//! | [`split_candidates`], [`branching`] | scores of splits, and look-ahead | BaBSR, filtered smart branching |
//! | `sign_tree`, `own_relaxations` | splits at signs and knots within fixed bounds, many parts in one batch | BaBSR |
//! | `difference_lines` | lines and planes of the difference of functions other than ReLU | |
//! | `near_violation` | contraction of the few neurons that a violation rests on | INVPROP |
//! | [`contraction_log`], [`replay`] | what a contraction did, for a certificate; the same on another pair | |
//! | [`encoding`] | what is left as a mixed-integer program | big-M encoding |
//! | [`functional`] | what is bounded, and coefficients at a step | |
//! | [`intermediate`] | bounds of all neurons without any assumption | CROWN-IBP, DeepPoly |
//! | `live`, `weights`, `shared_inputs`, `rounding_cost` | what is under way; weights as floats of a pass; terms of the inputs; the account of rounding | eqspec's own |
//!
//! Each file cites its sources. The link multipliers between two networks, the entropy term, and the contraction of a
//! pair under a violation are eqspec's own.

mod alone;
mod alone_parts;
mod alone_root;
mod ascent;
pub mod assumption;
pub mod backward;
mod backward_workspace;
mod box_hull;
pub mod branching;
pub mod constraints;
pub mod contract;
mod contraction_budget;
pub mod contraction_log;
mod descent;
mod difference_lines;
pub mod encoding;
pub mod functional;
mod hull_planes;
mod improvement;
pub mod intermediate;
pub mod lines;
mod live;
mod near_violation;
pub mod own_relaxations;
pub mod parameters;
mod reach;
pub mod relax;
mod relu_kernels;
pub mod replay;
mod restriction;
mod rounding_cost;
mod selection;
mod shared_inputs;
mod sign_tree;
mod singles;
pub mod split_candidates;
mod weights;

pub use alone::{Alone, AloneBudget};
pub use alone_parts::{PartAlone, PartResult};
pub use assumption::Assumption;
pub use contract::{Contraction, ContractionBudget, ContractionResult, Contractor, WarmStart};
pub use near_violation::{Near, NearBudget};
pub use sign_tree::{Side, SignTreeBudget};
