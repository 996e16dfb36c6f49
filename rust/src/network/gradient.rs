//! Derivatives of linear functionals of both outputs with respect to the input, at many points at once, in plain
//! binary64: only for finding candidates.
//!
//! Arrays are point-major: the numbers of one point are contiguous, so that every layer is one matrix product.

use super::{Affine, Pair};
use crate::numeric::kernels::{Accumulate, product, transposed_product};
use crate::numeric::vectorised;

/// Buffers for one network's forward and backward pass.
#[derive(Debug, Default)]
struct Tape {
    /// Values before ReLU per layer, m x P; the last are the outputs.
    values: Vec<Vec<f64>>,
    forward: Vec<f64>,
    cotangent: Vec<f64>,
    next: Vec<f64>,
}

impl Tape {
    #[inline(always)]
    fn forward(&mut self, layers: &[Affine], x: &[f64], points: usize) {
        self.values.resize(layers.len(), Vec::new());
        self.forward.clear();
        self.forward.extend_from_slice(x);
        for (layer, value) in layers.iter().zip(&mut self.values) {
            value.clear();
            (0..points).for_each(|_| value.extend_from_slice(&layer.bias));
            product(value, &layer.weight, &self.forward, (layer.rows, layer.columns, points), Accumulate::Add);
            self.forward.clear();
            self.forward.extend(value.iter().map(|v| v.max(0.0)));
        }
    }

    /// Adds the derivatives of c . outputs to `gradient` (I x P).
    #[inline(always)]
    fn backward(&mut self, layers: &[Affine], c: &[f64], gradient: &mut [f64], points: usize) {
        self.cotangent.clear();
        self.cotangent.extend_from_slice(c);
        for (l, layer) in layers.iter().enumerate().rev() {
            let shape = (layer.rows, layer.columns, points);
            if l == 0 {
                transposed_product(gradient, &layer.weight, &self.cotangent, shape, Accumulate::Add);
                break;
            }
            self.next.resize(layer.columns * points, 0.0);
            transposed_product(&mut self.next, &layer.weight, &self.cotangent, shape, Accumulate::Replace);
            self.next.iter_mut().zip(&self.values[l - 1]).for_each(|(g, v)| *g = if *v > 0.0 { *g } else { 0.0 });
            std::mem::swap(&mut self.cotangent, &mut self.next);
        }
    }
}

/// Both networks at P points, and derivatives there.
#[derive(Debug, Default)]
pub struct Differentiator {
    first: Tape,
    second: Tape,
    points: usize,
    flops: u64,
}

impl Differentiator {
    /// Evaluates both networks at x (I x P); returns their outputs (O x P).
    pub fn at(&mut self, pair: &Pair, x: &[f64], points: usize) -> (&[f64], &[f64]) {
        self.points = points;
        for (tape, layers) in [(&mut self.first, &pair.first), (&mut self.second, &pair.second)] {
            vectorised::run(Forward(tape, layers, x, points));
            self.flops += flops(layers, points);
        }
        let last = pair.depth() - 1;
        (&self.first.values[last], &self.second.values[last])
    }

    /// gradient (I x P) = derivatives of a.f1 + b.f2, with coefficients (O x P), at the points last evaluated.
    pub fn gradient(&mut self, pair: &Pair, a: &[f64], b: &[f64], gradient: &mut Vec<f64>) {
        gradient.clear();
        gradient.resize(pair.inputs() * self.points, 0.0);
        for (tape, layers, c) in [(&mut self.first, &pair.first, a), (&mut self.second, &pair.second, b)] {
            if c.iter().any(|&c| c != 0.0) {
                vectorised::run(Backward(tape, layers, c, gradient, self.points));
                self.flops += flops(layers, self.points);
            }
        }
    }

    /// Additions and multiplications at one point without derivatives.
    #[must_use]
    pub fn cost(pair: &Pair) -> u64 {
        flops(&pair.first, 1) + flops(&pair.second, 1)
    }

    /// Additions and multiplications so far.
    #[must_use]
    pub fn flops(&self) -> u64 {
        self.flops
    }
}

fn flops(layers: &[Affine], points: usize) -> u64 {
    layers.iter().map(|l| 2 * (l.rows * l.columns * points) as u64).sum()
}

struct Forward<'a>(&'a mut Tape, &'a [Affine], &'a [f64], usize);

impl vectorised::Task for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.forward(self.1, self.2, self.3);
    }
}

struct Backward<'a>(&'a mut Tape, &'a [Affine], &'a [f64], &'a mut [f64], usize);

impl vectorised::Task for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.backward(self.1, self.2, self.3, self.4);
    }
}
