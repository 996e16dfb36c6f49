//! What is compared: a network is a program of steps ([`step`]), each a function of affine terms of earlier steps,
//! whose matrices are structured ([`tile`]); a [`Pair`] is two of them in step.
//!
//! Letters: a term maps n numbers to m; dense matrices are stored column-major, so that the weights leaving one neuron
//! are contiguous.

pub mod cells;
pub mod eval;
pub mod function;
pub mod gradient;
pub mod pair;
pub mod step;
pub mod tile;

pub use function::{Curves, Function};
pub use pair::Pair;
pub use step::{Affine, Origin, Step, Term};
pub use tile::Tile;
