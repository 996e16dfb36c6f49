//! The first affine layer, where both networks read the same inputs. It is by far the widest layer of many networks,
//! and mostly equal in both.
//!
//! With y = x - d a functional p.x + q.y + s.d of the first layer is (p + q).x + (s - q).d, and d = (W1 - W2) inputs +
//! (b1 - b2). So one product with W1 and one with the rows in which the networks differ replace three products. A
//! neuron that was pruned away is one such row.
//!
//! Arrays are functional-major, as in [`super::backward`].

use super::functional::Coefficients;
use crate::network::Pair;
use crate::numeric::kernels::{Accumulate, product, transposed_product};

/// The rows in which the first layers of a pair differ, and buffers for the coefficients and values of these rows.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedInputLayer {
    /// The neurons whose weights differ (r of them).
    rows: Vec<usize>,
    /// W1 - W2 in these rows, column-major (r, I).
    weight: Vec<f64>,
    /// s - q on these rows, r x F.
    coefficients: Vec<f64>,
    /// (W1 - W2) inputs on these rows, r x F.
    values: Vec<f64>,
}

impl SharedInputLayer {
    /// Finds the rows of the first layers that differ.
    pub(super) fn of(pair: &Pair) -> Self {
        let m = pair.first[0].rows;
        let columns = || pair.difference[0].weight.chunks_exact(m.max(1));
        let rows: Vec<usize> = (0..m).filter(|&i| columns().any(|c| c[i] != 0.0)).collect();
        let weight = columns().flat_map(|c| rows.iter().map(|&i| c[i])).collect();
        Self { rows, weight, coefficients: Vec::new(), values: Vec::new() }
    }

    /// Writes the coefficients of the inputs, I x F, to `inputs.first`, from those of x, y and d of the first layer, of
    /// which `layer.first` is overwritten. Returns the number of operations.
    ///
    /// p + q and s - q are rounded: one unit of each, which the rounding cost of |p| + |q| and of |s| + |q| covers in
    /// the caller.
    #[inline(always)]
    pub(super) fn backwards(
        &mut self,
        pair: &Pair,
        layer: &mut Coefficients,
        inputs: &mut Coefficients,
        count: usize,
    ) -> u64 {
        let affine = &pair.first[0];
        let (m, n, r) = (affine.rows, affine.columns, self.rows.len());
        self.coefficients.clear();
        for f in 0..count {
            let at = f * m;
            self.coefficients.extend(self.rows.iter().map(|i| layer.difference[at + i] - layer.second[at + i]));
        }
        layer.first.iter_mut().zip(&layer.second).for_each(|(p, q)| *p += q);
        inputs.resize(n * count);
        transposed_product(&mut inputs.first, &affine.weight, &layer.first, (m, n, count), Accumulate::Replace);
        if r > 0 {
            transposed_product(&mut inputs.first, &self.weight, &self.coefficients, (r, n, count), Accumulate::Add);
        }
        (2 * n * count * (m + r)) as u64
    }

    /// Writes the values of x, y and d of the first layer, m x F each, to `layer`, at the inputs in `inputs.first`.
    /// Returns the number of operations.
    #[inline(always)]
    pub(super) fn forwards(
        &mut self,
        pair: &Pair,
        inputs: &Coefficients,
        layer: &mut Coefficients,
        count: usize,
    ) -> u64 {
        let (affine, difference) = (&pair.first[0], &pair.difference[0]);
        let (m, n, r) = (affine.rows, affine.columns, self.rows.len());
        layer.resize(m * count);
        for f in 0..count {
            let range = f * m..(f + 1) * m;
            layer.first[range.clone()].copy_from_slice(&affine.bias);
            layer.difference[range].copy_from_slice(&difference.bias);
        }
        product(&mut layer.first, &affine.weight, &inputs.first, (m, n, count), Accumulate::Add);
        if r > 0 {
            self.values.resize(r * count, 0.0);
            product(&mut self.values, &self.weight, &inputs.first, (r, n, count), Accumulate::Replace);
            for (f, values) in self.values.chunks_exact(r).enumerate() {
                self.rows.iter().zip(values).for_each(|(i, v)| layer.difference[f * m + i] += v);
            }
        }
        let pairs = layer.first.iter().zip(&layer.difference);
        layer.second.iter_mut().zip(pairs).for_each(|(y, (x, d))| *y = x - d);
        (2 * n * count * (m + r)) as u64
    }
}
