//! The elementwise function of a step: the identity, ReLU, or one of the functions of [`crate::curve`] for every row.
//!
//! ReLU is by far the most frequent one and has transformers, relaxations and kernels of its own. All other functions
//! are treated alike: what is needed of them follows from their values, their slopes, and how they bend.

use crate::curve::Curve;
use crate::error::{Error, same_size};
use std::sync::Arc;

/// The function of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// The value itself: no neuron.
    Identity,
    /// max(0, x).
    Relu,
    /// Another function, which may differ from row to row.
    Curves(Arc<Curves>),
}

/// The functions of the rows of a step.
#[derive(Debug, Clone)]
pub struct Curves {
    kinds: Vec<Curve>,
    of_row: Vec<u32>,
}

impl PartialEq for Curves {
    /// Whether every row has the same function.
    fn eq(&self, other: &Self) -> bool {
        self.of_row.len() == other.of_row.len() && (0..self.of_row.len()).all(|row| self.of(row) == other.of(row))
    }
}

impl Curves {
    /// The functions that there are, and which of them each row has; the first one for all of them if that is not said.
    pub fn new(kinds: Vec<Curve>, rows: usize, of_row: Option<Vec<u32>>) -> Result<Self, Error> {
        let of_row = of_row.unwrap_or_else(|| vec![0; rows]);
        same_size("functions of rows", of_row.len(), rows)?;
        if let Some(kind) = of_row.iter().find(|&&k| k as usize >= kinds.len()) {
            let accepted = "the number of one of the functions that are given";
            return Err(Error::Value { name: "function of a row", value: kind.to_string(), accepted });
        }
        Ok(Self { kinds, of_row })
    }

    /// The function of a row.
    #[must_use]
    #[inline(always)]
    pub fn of(&self, row: usize) -> &Curve {
        &self.kinds[self.of_row[row] as usize]
    }

    /// The functions that there are.
    #[must_use]
    pub fn kinds(&self) -> &[Curve] {
        &self.kinds
    }

    /// Which of them each row has.
    #[must_use]
    pub fn of_rows(&self) -> &[u32] {
        &self.of_row
    }
}

impl Function {
    /// Whether it is the identity.
    #[must_use]
    #[inline(always)]
    pub fn is_identity(&self) -> bool {
        matches!(self, Self::Identity)
    }

    /// Whether it is ReLU.
    #[must_use]
    #[inline(always)]
    pub fn is_relu(&self) -> bool {
        matches!(self, Self::Relu)
    }

    /// Whether both are the identity, both are ReLU, or both are other functions.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// The functions of the rows where it is neither the identity nor ReLU.
    #[must_use]
    #[inline(always)]
    pub fn curves(&self) -> Option<&Curves> {
        match self {
            Self::Curves(curves) => Some(curves),
            _ => None,
        }
    }

    /// Replaces the values of all rows, once or for several points, by those of the function, in plain rounding.
    #[inline(always)]
    pub fn apply(&self, values: &mut [f64]) {
        match self {
            Self::Identity => {}
            Self::Relu => values.iter_mut().for_each(|v| *v = v.max(0.0)),
            Self::Curves(curves) => match &*curves.kinds {
                [one] => one.replace(values),
                _ => {
                    for rows in values.chunks_exact_mut(curves.of_row.len()) {
                        let of_rows = rows.iter_mut().enumerate();
                        of_rows.for_each(|(row, v)| curves.of(row).replace(std::slice::from_mut(v)));
                    }
                }
            },
        }
    }
}
