//! What is compared: a network is a chain of affine layers with ReLU between them; a [`Pair`] is two of them, aligned.
//!
//! Letters: a layer maps n inputs to m outputs; matrices are stored column-major, so that the weights leaving one
//! neuron are contiguous.

pub mod eval;
pub mod gradient;
pub mod pair;

pub use pair::Pair;

use crate::error::{Error, finite, same_size};
use crate::numeric::round::{U, add_up};
use ndarray::{ArrayView1, ArrayView2};

/// x -> W x + b, where the exact W and b lie elementwise within the errors of the stored ones.
#[derive(Debug, Clone)]
pub struct Affine {
    /// m, the number of outputs.
    pub rows: usize,
    /// n, the number of inputs.
    pub columns: usize,
    /// W, column-major (m, n).
    pub weight: Vec<f64>,
    /// Which rows of W are zero, exactly: there W x is 0 without rounding, as for neurons that were pruned away.
    pub zero_rows: Vec<bool>,
    /// b (m).
    pub bias: Vec<f64>,
    /// Elementwise error of W, column-major, or none where W is exact.
    pub weight_error: Option<Vec<f64>>,
    /// Elementwise error of b (m), or none where b is exact.
    pub bias_error: Option<Vec<f64>>,
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
        let (rows, columns) = weight.dim();
        same_size("bias", bias.len(), rows)?;
        finite("weight", weight.iter())?;
        finite("bias", bias.iter())?;
        let not_negative = |what: &'static str, ok: bool| {
            if ok {
                Ok(())
            } else {
                Err(Error::Value { name: what, value: "negative".into(), accepted: "an error bound is at least 0" })
            }
        };
        if let Some(error) = &weight_error {
            same_size("weight_error", error.len(), weight.len())?;
            same_size("rows of weight_error", error.nrows(), rows)?;
            finite("weight_error", error.iter())?;
            not_negative("weight_error", error.iter().all(|&e| e >= 0.0))?;
        }
        if let Some(error) = &bias_error {
            same_size("bias_error", error.len(), rows)?;
            finite("bias_error", error.iter())?;
            not_negative("bias_error", error.iter().all(|&e| e >= 0.0))?;
        }
        let column_major = |a: ArrayView2<'_, f64>| a.t().iter().copied().collect::<Vec<_>>();
        let weight = column_major(weight);
        let weight_error = weight_error.map(column_major);
        Ok(Self {
            rows,
            columns,
            zero_rows: zero_rows(rows, &weight, weight_error.as_deref()),
            weight,
            bias: bias.to_vec(),
            weight_error,
            bias_error: bias_error.map(|b| b.to_vec()),
        })
    }

    /// Column j of W.
    #[must_use]
    pub fn column(&self, j: usize) -> &[f64] {
        &self.weight[j * self.rows..(j + 1) * self.rows]
    }

    /// The same map when the inputs outside `free` are fixed to `values`: their columns move into the bias, with the
    /// rounding that this costs.
    #[must_use]
    pub fn specialise(&self, free: &[usize], values: &[f64]) -> Self {
        let m = self.rows;
        let columns =
            |matrix: &[f64]| free.iter().flat_map(|&j| matrix[j * m..(j + 1) * m].iter().copied()).collect::<Vec<_>>();
        let mut is_free = vec![false; self.columns];
        for &j in free {
            is_free[j] = true;
        }
        let mut bias = self.bias.clone();
        let mut error = self.bias_error.clone().unwrap_or_else(|| vec![0.0; m]);
        let mut exact = self.bias_error.is_none();
        for j in (0..self.columns).filter(|&j| !is_free[j] && values[j] != 0.0) {
            exact = false;
            for i in (0..m).filter(|&i| !self.zero_rows[i]) {
                let product = self.weight[j * m + i] * values[j];
                bias[i] += product;
                // One rounding of the product, one of the sum; two units cover them and the product's underflow.
                let step = add_up(U * product.abs(), U * bias[i].abs());
                error[i] = add_up(add_up(error[i], step), 2.0 * f64::MIN_POSITIVE);
                if let Some(e) = &self.weight_error {
                    error[i] = add_up(error[i], (e[j * m + i] * values[j].abs()).next_up());
                }
            }
        }
        let (weight, weight_error) = (columns(&self.weight), self.weight_error.as_deref().map(columns));
        Self {
            rows: m,
            columns: free.len(),
            zero_rows: zero_rows(m, &weight, weight_error.as_deref()),
            weight,
            bias,
            weight_error,
            bias_error: if exact { None } else { Some(error) },
        }
    }
}

/// Which of m rows of a column-major matrix, and of its error, are zero throughout.
fn zero_rows(m: usize, weight: &[f64], error: Option<&[f64]>) -> Vec<bool> {
    let zero = |matrix: &[f64], i: usize| matrix.iter().skip(i).step_by(m.max(1)).all(|&w| w == 0.0);
    (0..m).map(|i| zero(weight, i) && error.is_none_or(|e| zero(e, i))).collect()
}
