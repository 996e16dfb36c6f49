//! Differential zonotopes: two networks and their difference, enclosed over shared generators ([VD], sections 3 and 4).
//! A zonotope is the set of values of affine forms over generators in [-1, 1] (Ghorbal, Goubault, Putot, "The zonotope
//! abstract domain Taylor1+", CAV 2009), for networks DeepZ (Singh et al., NeurIPS 2018). Eqspec adds the reduced
//! product of the bounds of x, y and d ([`phase`]), fresh generators that the networks share with their difference
//! ([`relu`]), other functions than ReLU ([`strip`]), bounds of each network by itself (`back_substitution`), the
//! restriction to possibly active neurons, and the account of rounding.
//!
//! # Letters
//! x, y are the values of a row of a step in f1 and f2 before the step's function, d = x - y; X, Y, D the same after
//! it. A row of a step with a function is a neuron. m is the number of rows of a step, I the number of (free) inputs. Every
//! generator is a variable in [-1, 1]:
//!
//! | generators | number | enter |
//! |---|---|---|
//! | `e` | I | with the input box |
//! | `a1` | p1 | one per unstable neuron of f1: one whose function is bent on its range |
//! | `a2` | p2 | one per unstable neuron of f2 |
//! | `ad` | pd | one per relaxed difference |
//!
//! # Invariant
//! For every input of the box there is *one* assignment of all generators such that, at every row of every step, x lies
//! within `err1` of `Z1(e, a1)`, y within `err2` of `Z2(e, a2)` and d within `errd` of `ZD(e, a1, a2, ad)`.
//! ([VD], definition of differential containment; it prints e' for the difference where it must be e^Delta.)
//! The errors carry all rounding, so the invariant holds for the exact networks.
//!
//! # Storage
//! All forms are column-major with one row for each row of a step. Generators are appended in the order of the steps,
//! so that the columns of an earlier step are the first ones of a later step, and a term is a product into a prefix of
//! columns. Column 0 is the centre, so that products take it along. `z1` holds [centre, e, a1]; `z2` holds [centre, e,
//! a2]; the difference is split in `d_common`, over the very columns of `z2`, and `d_rest`, over `ad` and over those
//! `a1` that it uses (a neuron unstable in both networks puts none of its `a1` into the difference). Rows of inactive
//! neurons are left out of what enters the next product, and fresh generators, one nonzero each, become columns only
//! there. What is behind a function is kept at least until the last step that reads it is done.

pub mod abstract_domain;
pub mod affine;
mod back_substitution;
mod carried_errors;
pub mod clock;
pub mod columns;
mod corner_slopes;
pub mod difference_plane;
pub mod euclidean;
mod euclidean_sums;
mod euclidean_weights;
pub mod factors;
mod fan_slopes;
pub mod input_products;
pub mod intermediate_bounds;
pub mod intervals;
pub mod joint_bounds;
pub mod joint_rounding;
mod kept_memory;
pub mod layer_state;
mod multiples;
pub mod output;
pub mod parabola;
pub mod phase;
pub mod possibly_active;
pub mod postactivation;
pub mod preactivation;
pub mod propagation;
pub mod published_score;
pub mod quantity;
mod relaxation;
pub mod relu;
pub mod restricted_pair;
pub mod sensitivity;
mod signs;
pub mod strip;
pub mod transformer;
mod value_form;

pub use abstract_domain::AbstractDomain;
pub use euclidean::{EuclideanNorms, Together};
pub use input_products::InputProducts;
pub use intermediate_bounds::{Contradiction, IntermediateBounds};
pub use joint_rounding::JointRounding;
pub use output::{LinearFunctional, Output};
pub use possibly_active::PossiblyActive;
pub use propagation::Propagation;
pub use quantity::Quantity;
pub use restricted_pair::RestrictedPair;
