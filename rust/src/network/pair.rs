//! Two networks in lock-step: same depth, same width in every layer, and the difference of their weights.

use super::Affine;
use crate::error::{Error, same_size};

/// W1 - W2 and b1 - b2 of one layer, each entry rounded once (the enclosure pays a unit roundoff for it).
#[derive(Debug, Clone)]
pub struct Difference {
    /// W1 - W2, column-major.
    pub weight: Vec<f64>,
    /// b1 - b2.
    pub bias: Vec<f64>,
    /// Whether W1 = W2 exactly, so that products with the difference can be left out.
    pub zero: bool,
}

/// A reference network f1 and a candidate f2 with equal widths.
#[derive(Debug, Clone)]
pub struct Pair {
    /// Layers of f1.
    pub first: Vec<Affine>,
    /// Layers of f2.
    pub second: Vec<Affine>,
    /// W1 - W2 per layer.
    pub difference: Vec<Difference>,
}

impl Pair {
    /// Pairs two aligned networks; depth and widths must agree.
    pub fn new(first: Vec<Affine>, second: Vec<Affine>) -> Result<Self, Error> {
        same_size("candidate (number of layers)", second.len(), first.len())?;
        let Some(input) = first.first() else {
            return Err(Error::EmptyNetwork);
        };
        if input.columns == 0 || first.iter().any(|a| a.rows == 0) {
            return Err(Error::EmptyNetwork);
        }
        for (l, (a, b)) in first.iter().zip(&second).enumerate() {
            same_size(format!("rows of candidate layer {l}"), b.rows, a.rows)?;
            same_size(format!("columns of candidate layer {l}"), b.columns, a.columns)?;
            if l > 0 {
                same_size(format!("columns of layer {l}"), a.columns, first[l - 1].rows)?;
            }
        }
        Ok(Self::with_difference(first, second))
    }

    fn with_difference(first: Vec<Affine>, second: Vec<Affine>) -> Self {
        let subtract = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x - y).collect::<Vec<_>>();
        let difference = first
            .iter()
            .zip(&second)
            .map(|(a, b)| {
                let weight = subtract(&a.weight, &b.weight);
                Difference {
                    // Subtraction underflows gradually: a zero difference means equal weights.
                    zero: weight.iter().all(|&w| w == 0.0),
                    weight,
                    bias: subtract(&a.bias, &b.bias),
                }
            })
            .collect();
        Self { first, second, difference }
    }

    /// I.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.first[0].columns
    }

    /// O.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.first[self.first.len() - 1].rows
    }

    /// Whether both networks are the same function because every weight and bias is the same, exactly.
    #[must_use]
    pub fn identical(&self) -> bool {
        let certain = |l: &Affine| l.weight_error.is_none() && l.bias_error.is_none();
        let equal = self.difference.iter().all(|d| d.zero && d.bias.iter().all(|&b| b == 0.0));
        equal && self.first.iter().chain(&self.second).all(certain)
    }

    /// Number of affine layers.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.first.len()
    }

    /// The pair as a function of the `free` inputs alone, the others fixed to `values`. Inputs of zero width cost nothing from here on.
    #[must_use]
    pub fn specialise(&self, free: &[usize], values: &[f64]) -> Self {
        let (mut first, mut second) = (self.first.clone(), self.second.clone());
        first[0] = first[0].specialise(free, values);
        second[0] = second[0].specialise(free, values);
        Self::with_difference(first, second)
    }
}
