//! Programs of steps: a network is a straight line of steps, each an elementwise function of a sum of structured affine
//! terms of earlier steps,
//!     v_s = sum over terms (j, A) of A X_j + b_s,     X_s = f_s(v_s),     j < s, or j the inputs.
//! A chain of dense layers with ReLU between them is the case of one term each that reads the step before.

use super::function::Function;
use super::tile::{Tile, radius};
use crate::error::{Error, finite, same_size};
use crate::numeric::round::{U, add_up};
use ndarray::{ArrayView1, ArrayView2};

/// What a term reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The inputs of the network.
    Inputs,
    /// What a step gives, behind its function.
    Step(usize),
}

/// One term of a sum.
#[derive(Debug, Clone)]
pub struct Term {
    /// What it reads.
    pub origin: Origin,
    /// What it makes of that.
    pub tile: Tile,
}

/// A dense layer x -> W x + b as it is given: arrays with their elementwise errors.
#[derive(Debug, Clone)]
pub struct Affine {
    tile: Tile,
    bias: Vec<f64>,
    bias_error: Option<Vec<f64>>,
}

impl Affine {
    /// A layer from its arrays. Errors name the array; NaN, infinities and negative errors are refused.
    #[allow(clippy::needless_pass_by_value)] // views are handed over as such
    pub fn new(
        weight: ArrayView2<'_, f64>,
        bias: ArrayView1<'_, f64>,
        weight_error: Option<ArrayView2<'_, f64>>,
        bias_error: Option<ArrayView1<'_, f64>>,
    ) -> Result<Self, Error> {
        let tile = Tile::dense(&weight, weight_error.as_ref())?;
        let (bias, bias_error) = checked_bias(tile.rows(), &bias, bias_error.as_ref())?;
        Ok(Self { tile, bias, bias_error })
    }

    /// m, the number of outputs.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.tile.outputs
    }

    /// n, the number of inputs.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.tile.columns
    }
}

fn checked_bias(
    rows: usize,
    bias: &ArrayView1<'_, f64>,
    bias_error: Option<&ArrayView1<'_, f64>>,
) -> Result<(Vec<f64>, Option<Vec<f64>>), Error> {
    same_size("bias", bias.len(), rows)?;
    finite("bias", bias.iter())?;
    if let Some(error) = bias_error {
        same_size("bias_error", error.len(), rows)?;
        radius("bias_error", error.iter())?;
    }
    Ok((bias.to_vec(), bias_error.map(|e| e.to_vec())))
}

/// One step of a network.
#[derive(Debug, Clone)]
pub struct Step {
    /// m, the number of its values.
    pub rows: usize,
    /// The terms of the sum; none where every value is the bias.
    pub terms: Vec<Term>,
    /// b (m).
    pub bias: Vec<f64>,
    /// Elementwise error of b (m), or none where b is exact.
    pub bias_error: Option<Vec<f64>>,
    /// Which values are b alone, exactly: every weight of theirs is 0, as for neurons that were pruned away. Their
    /// products are 0 without rounding.
    pub zero_rows: Vec<bool>,
    /// The function that follows.
    pub function: Function,
}

impl Step {
    /// A step from its arrays. Errors name the array.
    pub fn new(
        terms: Vec<Term>,
        bias: &ArrayView1<'_, f64>,
        bias_error: Option<&ArrayView1<'_, f64>>,
        function: Function,
    ) -> Result<Self, Error> {
        let (bias, bias_error) = checked_bias(bias.len(), bias, bias_error)?;
        for term in &terms {
            same_size("rows of a term", term.tile.rows(), bias.len())?;
        }
        Ok(Self::of(terms, bias, bias_error, function))
    }

    fn of(terms: Vec<Term>, bias: Vec<f64>, bias_error: Option<Vec<f64>>, function: Function) -> Self {
        let rows = bias.len();
        let zero_rows = zero_rows(rows, &terms);
        Self { rows, terms, bias, bias_error, zero_rows, function }
    }

    /// A chain of dense layers with ReLU between them.
    #[must_use]
    pub fn chain(layers: Vec<Affine>) -> Vec<Self> {
        let last = layers.len().saturating_sub(1);
        let step = |(l, Affine { tile, bias, bias_error }): (usize, Affine)| {
            let origin = if l == 0 { Origin::Inputs } else { Origin::Step(l - 1) };
            let function = if l == last { Function::Identity } else { Function::Relu };
            Self::of(vec![Term { origin, tile }], bias, bias_error, function)
        };
        layers.into_iter().enumerate().map(step).collect()
    }

    /// The one dense matrix of a step of a chain.
    #[must_use]
    pub fn dense(&self) -> Option<&Tile> {
        match self.terms.as_slice() {
            [Term { tile, .. }] if tile.index.is_none() => Some(tile),
            _ => None,
        }
    }

    /// The most products that are summed up for one value.
    #[must_use]
    pub fn taps(&self) -> usize {
        self.terms.iter().map(|t| t.tile.taps).sum()
    }

    /// Products that one evaluation takes.
    #[must_use]
    pub fn products(&self) -> usize {
        self.terms.iter().map(|t| t.tile.products()).sum()
    }

    /// The same step when the inputs outside `free` are fixed to `values`: what it reads of them moves into the bias,
    /// with the rounding that this costs.
    #[must_use]
    pub fn specialise(&self, free: &[usize], values: &[f64]) -> Self {
        if self.terms.iter().all(|t| t.origin != Origin::Inputs) {
            return self.clone();
        }
        let m = self.rows;
        let mut is_free = vec![false; values.len()];
        for &j in free {
            is_free[j] = true;
        }
        let mut bias = self.bias.clone();
        let mut error = self.bias_error.clone().unwrap_or_else(|| vec![0.0; m]);
        let mut exact = self.bias_error.is_none();
        let mut terms = Vec::with_capacity(self.terms.len());
        for Term { origin, tile } in &self.terms {
            if *origin != Origin::Inputs {
                terms.push(Term { origin: *origin, tile: tile.clone() });
                continue;
            }
            for j in (0..tile.columns).filter(|&j| !is_free[j] && values[j] != 0.0) {
                exact = false;
                tile.entries_of(j, |i, at| {
                    if self.zero_rows[i] {
                        return;
                    }
                    let product = tile.weight[at] * values[j];
                    bias[i] += product;
                    // One rounding of the product, one of the sum; two units cover them and the product's underflow.
                    let step = add_up(U * product.abs(), U * bias[i].abs());
                    error[i] = add_up(add_up(error[i], step), 2.0 * f64::MIN_POSITIVE);
                    if let Some(e) = &tile.weight_error {
                        error[i] = add_up(error[i], (e[at] * values[j].abs()).next_up());
                    }
                });
            }
            terms.push(Term { origin: Origin::Inputs, tile: tile.over_free(free) });
        }
        let bias_error = if exact { None } else { Some(error) };
        Self::of(terms, bias, bias_error, self.function.clone())
    }
}

/// Which of m rows have no weight but 0 in any term.
fn zero_rows(m: usize, terms: &[Term]) -> Vec<bool> {
    let mut zero = vec![true; m];
    for Term { tile, .. } in terms {
        let kernels = tile.zero_kernels();
        zero.iter_mut().enumerate().for_each(|(i, z)| *z = *z && kernels[tile.kernel(i)]);
    }
    zero
}
