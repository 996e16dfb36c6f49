//! The first layer, where both networks read the same inputs: by far the widest of many networks, and mostly the same in both.
//!
//! With y = x - d a functional p.x + q.y + s.d of the first layer is (p + q).x + (s - q).d, and d = (W1 - W2) inputs + (b1 - b2). So one product with W1 and one
//! with the rows in which the networks differ do the work of three. A pruned neuron is one such row.

use super::backward::Backward;
use crate::network::Pair;
use crate::numeric::kernels::{Accumulate, product, transposed_product};

/// The rows in which the first layers differ.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedInputLayer {
    rows: Vec<usize>,
    /// W1 - W2 in these rows, column-major.
    weight: Vec<f64>,
    gathered: Vec<f64>,
    made: Vec<f64>,
}

impl SharedInputLayer {
    pub(super) fn of(pair: &Pair) -> Self {
        let m = pair.first[0].rows;
        let columns = || pair.difference[0].weight.chunks_exact(m.max(1));
        let rows: Vec<usize> = (0..m).filter(|&i| columns().any(|c| c[i] != 0.0)).collect();
        let weight = columns().flat_map(|c| rows.iter().map(|&i| c[i])).collect();
        Self { rows, weight, gathered: Vec::new(), made: Vec::new() }
    }
}

impl Backward<'_> {
    /// Coefficients of the inputs, I x F, from those of x, y and d of the first layer, which are used up.
    ///
    /// p + q and s - q are rounded: one unit of each, within what the caller pays for |p| + |q| and |s| + |q|.
    #[inline(always)]
    pub(super) fn first_backwards(&mut self, count: usize) {
        let layer = &self.pair.first[0];
        let (m, n) = (layer.rows, layer.columns);
        let input_layer = &mut self.input_layer;
        let r = input_layer.rows.len();
        input_layer.gathered.clear();
        for f in 0..count {
            let at = f * m;
            input_layer
                .gathered
                .extend(input_layer.rows.iter().map(|i| self.now.difference[at + i] - self.now.second[at + i]));
        }
        self.now.first.iter_mut().zip(&self.now.second).for_each(|(p, q)| *p += q);
        self.next.resize(n * count);
        transposed_product(&mut self.next.first, &layer.weight, &self.now.first, (m, n, count), Accumulate::Replace);
        if r > 0 {
            let shape = (r, n, count);
            transposed_product(
                &mut self.next.first,
                &input_layer.weight,
                &input_layer.gathered,
                shape,
                Accumulate::Add,
            );
        }
        self.flops += (2 * n * count * (m + r)) as u64;
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// Values of x, y and d of the first layer, m x F each, at the inputs held in `now.first`.
    #[inline(always)]
    pub(super) fn first_forwards(&mut self, count: usize) {
        let (layer, difference) = (&self.pair.first[0], &self.pair.difference[0]);
        let (m, n) = (layer.rows, layer.columns);
        let input_layer = &mut self.input_layer;
        let r = input_layer.rows.len();
        self.next.resize(m * count);
        for f in 0..count {
            let range = f * m..(f + 1) * m;
            self.next.first[range.clone()].copy_from_slice(&layer.bias);
            self.next.difference[range].copy_from_slice(&difference.bias);
        }
        product(&mut self.next.first, &layer.weight, &self.now.first, (m, n, count), Accumulate::Add);
        if r > 0 {
            input_layer.made.resize(r * count, 0.0);
            product(&mut input_layer.made, &input_layer.weight, &self.now.first, (r, n, count), Accumulate::Replace);
            for (f, made) in input_layer.made.chunks_exact(r).enumerate() {
                input_layer.rows.iter().zip(made).for_each(|(i, v)| self.next.difference[f * m + i] += v);
            }
        }
        let pairs = self.next.first.iter().zip(&self.next.difference);
        self.next.second.iter_mut().zip(pairs).for_each(|(y, (x, d))| *y = x - d);
        self.flops += (2 * n * count * (m + r)) as u64;
        std::mem::swap(&mut self.now, &mut self.next);
    }
}
