//! eqspec's core: does a candidate network behave like its reference on a whole region of inputs?
//!
//! The method is differential verification (Teuber, Kern, Janzen, Beckert, "Revisiting Differential Verification",
//! TACAS 2025, cited as [VD]): zonotopes run through both networks in lock-step together with a zonotope of their
//! difference; a property is decided on the result by bounds and certified linear programs; what stays undecided is
//! split.
//!
//! Reading order: [`network`] (what is compared), [`curve`] (functions of one variable), [`domain`] (the abstract domain and why it is sound), [`property`]
//! (what is claimed), [`lp`] (linear programs, and the bound that is certified from multipliers), [`bound`] (backward
//! bounds and what is built on them), [`search`] (branch and bound; a verdict rests on it only in that its boxes cover
//! the region). Arithmetic is binary64, round to nearest; [`numeric`] says how every bound covers its own rounding.
//!
//! The core never prints and knows no Python; `python` (behind a feature of that name) is a thin boundary.

pub mod bound;
pub mod curve;
pub mod domain;
pub mod error;
pub mod lp;
pub mod network;
pub mod numeric;
pub mod property;
pub mod search;
pub mod settings;

#[cfg(feature = "python")]
mod python;
