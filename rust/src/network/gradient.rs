//! Derivatives of linear functionals of both outputs with respect to the input, in plain binary64: only for finding candidates.

use super::{Affine, Pair};
use crate::numeric::kernels::add_columns;
use crate::numeric::vectorised;

/// Buffers for one network's forward and backward pass.
#[derive(Debug, Default)]
struct Tape {
    /// Values before ReLU per layer; the last are the outputs.
    values: Vec<Vec<f64>>,
    forward: Vec<f64>,
    cotangent: Vec<f64>,
    next: Vec<f64>,
}

impl Tape {
    #[inline(always)]
    fn forward(&mut self, layers: &[Affine], x: &[f64]) {
        self.values.resize(layers.len(), Vec::new());
        self.forward.clear();
        self.forward.extend_from_slice(x);
        for (layer, value) in layers.iter().zip(&mut self.values) {
            value.clone_from(&layer.bias);
            add_columns(value, &layer.weight, self.forward.iter().copied().enumerate());
            self.forward.clear();
            self.forward.extend(value.iter().map(|v| v.max(0.0)));
        }
    }

    /// Adds the derivative of c . outputs to `gradient`.
    #[inline(always)]
    fn backward(&mut self, layers: &[Affine], c: &[f64], gradient: &mut [f64]) {
        self.cotangent.clear();
        self.cotangent.extend_from_slice(c);
        for (l, layer) in layers.iter().enumerate().rev() {
            self.next.clear();
            let dot = |column: &[f64]| column.iter().zip(&self.cotangent).map(|(w, v)| w * v).sum::<f64>();
            self.next.extend(layer.weight.chunks_exact(layer.rows).map(dot));
            if l > 0 {
                self.next.iter_mut().zip(&self.values[l - 1]).for_each(|(g, v)| *g = if *v > 0.0 { *g } else { 0.0 });
            }
            std::mem::swap(&mut self.cotangent, &mut self.next);
        }
        gradient.iter_mut().zip(&self.cotangent).for_each(|(g, v)| *g += v);
    }
}

/// Both networks at one point, and derivatives there.
#[derive(Debug, Default)]
pub struct Differentiator {
    first: Tape,
    second: Tape,
}

impl Differentiator {
    /// Evaluates both networks at x; returns their outputs.
    pub fn at(&mut self, pair: &Pair, x: &[f64]) -> (&[f64], &[f64]) {
        vectorised::run(Forward(&mut self.first, &pair.first, x));
        vectorised::run(Forward(&mut self.second, &pair.second, x));
        let last = pair.depth() - 1;
        (&self.first.values[last], &self.second.values[last])
    }

    /// gradient = derivative of a.f1 + b.f2 at the point last evaluated.
    pub fn gradient(&mut self, pair: &Pair, a: &[f64], b: &[f64], gradient: &mut Vec<f64>) {
        gradient.clear();
        gradient.resize(pair.inputs(), 0.0);
        if a.iter().any(|&c| c != 0.0) {
            vectorised::run(Backward(&mut self.first, &pair.first, a, gradient));
        }
        if b.iter().any(|&c| c != 0.0) {
            vectorised::run(Backward(&mut self.second, &pair.second, b, gradient));
        }
    }
}

struct Forward<'a>(&'a mut Tape, &'a [Affine], &'a [f64]);

impl vectorised::Task for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.forward(self.1, self.2);
    }
}

struct Backward<'a>(&'a mut Tape, &'a [Affine], &'a [f64], &'a mut [f64]);

impl vectorised::Task for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.backward(self.1, self.2, self.3);
    }
}
