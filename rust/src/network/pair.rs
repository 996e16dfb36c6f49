//! Two networks in lock-step: same depth, same width in every layer, and the difference of their weights.
//!
//! A row of a layer may be *shared*: the exact weights and the exact bias of that row are the same real numbers in both
//! networks. That is so where both store them exactly and equally, and where the caller says so of numbers that floats
//! cannot hold (both files define them in the same way). Then the errors of the two rows are not independent: W1 - W2
//! and b1 - b2 are exactly zero there, and of the difference of the networks only W1 d is left.

use super::Affine;
use crate::error::{Error, same_size};

/// W1 - W2 and b1 - b2 of one layer, each entry rounded once (the enclosure pays a unit roundoff for it).
#[derive(Debug, Clone)]
pub struct Difference {
    /// W1 - W2, column-major.
    pub weight: Vec<f64>,
    /// b1 - b2.
    pub bias: Vec<f64>,
    /// Whether the stored W1 and W2 are equal, so that products with the difference can be left out.
    pub zero: bool,
    /// Which rows are shared: the exact row of W1 and entry of b1 are those of W2 and b2.
    pub shared: Vec<bool>,
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
        Self::sharing(first, second, Vec::new())
    }

    /// Pairs two aligned networks of which the caller knows that some rows are the same real numbers: one list per
    /// layer, empty for a layer without any, or no list at all. What is stored for such rows, errors included, must be
    /// equal.
    pub fn sharing(first: Vec<Affine>, second: Vec<Affine>, shared: Vec<Vec<bool>>) -> Result<Self, Error> {
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
        let mut shared = shared;
        if shared.is_empty() {
            shared.resize(first.len(), Vec::new());
        }
        same_size("shared (number of layers)", shared.len(), first.len())?;
        for (l, (rows, (a, b))) in shared.iter_mut().zip(first.iter().zip(&second)).enumerate() {
            if rows.is_empty() {
                rows.resize(a.rows, false);
            }
            same_size(format!("shared rows of layer {l}"), rows.len(), a.rows)?;
            if (0..a.rows).any(|i| rows[i] && !stored_equally(a, b, i)) {
                let accepted = "rows whose numbers and errors are equal in both networks";
                return Err(Error::Value { name: "shared", value: format!("a row of layer {l}"), accepted });
            }
        }
        Ok(Self::with_difference(first, second, shared))
    }

    /// Rows that are equal and exact are shared, whether or not `shared` names them.
    fn with_difference(first: Vec<Affine>, second: Vec<Affine>, shared: Vec<Vec<bool>>) -> Self {
        let subtract = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x - y).collect::<Vec<_>>();
        let difference = first
            .iter()
            .zip(&second)
            .zip(shared)
            .map(|((a, b), mut shared)| {
                for (i, s) in shared.iter_mut().enumerate() {
                    *s = *s || (is_exact(a, i) && is_exact(b, i) && stored_equally(a, b, i));
                }
                let weight = subtract(&a.weight, &b.weight);
                Difference {
                    // Subtraction underflows gradually: a zero difference means equal weights.
                    zero: weight.iter().all(|&w| w == 0.0),
                    weight,
                    bias: subtract(&a.bias, &b.bias),
                    shared,
                }
            })
            .collect();
        Self { first, second, difference }
    }

    /// I, the number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.first[0].columns
    }

    /// O, the number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.first[self.first.len() - 1].rows
    }

    /// Whether both networks are the same function because every exact weight and bias is the same.
    #[must_use]
    pub fn identical(&self) -> bool {
        self.difference.iter().all(|d| d.shared.iter().all(|&s| s))
    }

    /// The number of affine layers.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.first.len()
    }

    /// The pair as a function of the `free` inputs alone, the others fixed to `values`. Inputs of zero width cost
    /// nothing from here on.
    #[must_use]
    pub fn specialise(&self, free: &[usize], values: &[f64]) -> Self {
        let (mut first, mut second) = (self.first.clone(), self.second.clone());
        first[0] = first[0].specialise(free, values);
        second[0] = second[0].specialise(free, values);
        // The same weights times the same values join the same bias, and are rounded alike: what is shared stays so.
        let shared = self.difference.iter().map(|d| d.shared.clone()).collect();
        Self::with_difference(first, second, shared)
    }
}

/// Row i of W and entry i of b, and of their errors, as they are stored; without errors they count as zero.
fn row(layer: &Affine, i: usize) -> impl Iterator<Item = f64> + '_ {
    let of = move |matrix: Option<&[f64]>, j: usize| matrix.map_or(0.0, |m| m[j * layer.rows + i]);
    let weights = (0..layer.columns).flat_map(move |j| [layer.column(j)[i], of(layer.weight_error.as_deref(), j)]);
    weights.chain([layer.bias[i], of(layer.bias_error.as_deref(), 0)])
}

fn stored_equally(a: &Affine, b: &Affine, i: usize) -> bool {
    row(a, i).eq(row(b, i))
}

fn is_exact(layer: &Affine, i: usize) -> bool {
    let zero =
        |matrix: Option<&[f64]>, width: usize| matrix.is_none_or(|m| (0..width).all(|j| m[j * layer.rows + i] == 0.0));
    zero(layer.weight_error.as_deref(), layer.columns) && zero(layer.bias_error.as_deref(), 1)
}
