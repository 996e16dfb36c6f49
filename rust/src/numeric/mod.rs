//! The rounding model, and the few kernels that do arithmetic in bulk.
//!
//! Whatever a bound rests on is binary64 rounded to nearest, unit roundoff `U = 2^-53`. A sum of n products, in any order, fused or
//! not, differs from the exact one by at most `gamma(n) * sum |terms|`, plus `n` times the smallest subnormal where
//! products underflow. A chain of few operations on non-negative numbers is instead rounded up step by step. Overflow
//! gives infinities or NaN, which no comparison in this crate takes for a proof: a bound proves something only through
//! a comparison that is false for NaN. Only the search for multipliers may run in singles ([`real`]).

pub mod arctangent;
pub mod eigenvalue;
pub mod erf;
pub mod exp;
mod interleaving;
pub mod kernels;
pub mod log;
pub mod near;
pub mod pair_sums;
pub mod real;
pub mod registers;
pub mod round;
pub mod spectral;
pub mod trigonometric;
mod turning;
pub mod vectorised;
mod window_columns;
mod window_index;
mod window_lanes;
mod window_product;
mod window_rows;
#[cfg(test)]
mod window_tests;
pub mod windows;
