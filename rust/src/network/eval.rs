//! The networks at one point, in plain binary64, with a bound on the rounding.
//!
//! This finds candidates for a counterexample; what counts is decided by an exact replay outside the core.

use super::{Affine, Pair};
use crate::numeric::kernels::{add_absolute_product, add_columns};
use crate::numeric::round::{gamma, inflate};
use crate::numeric::vectorised;

/// Outputs of both networks at one input, and how far each may be from the exact value.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    /// f1(x), shape (O).
    pub first: Vec<f64>,
    /// f2(x), shape (O).
    pub second: Vec<f64>,
    /// Error of `first`; empty unless asked for.
    pub first_error: Vec<f64>,
    /// Error of `second`; empty unless asked for.
    pub second_error: Vec<f64>,
}

/// Reusable buffers for evaluations.
#[derive(Debug, Default)]
pub struct Evaluator {
    input: Vec<f64>,
    output: Vec<f64>,
    magnitude: Vec<f64>,
    error: Vec<f64>,
}

impl Evaluator {
    /// Both networks at x, without error bounds.
    pub fn at(&mut self, pair: &Pair, x: &[f64], result: &mut Evaluation) {
        vectorised::run(Forward(self, &pair.first, x));
        result.first.clone_from(&self.output);
        vectorised::run(Forward(self, &pair.second, x));
        result.second.clone_from(&self.output);
        result.first_error.clear();
        result.second_error.clear();
    }

    /// Both networks at x with rigorous error bounds.
    pub fn at_with_error(&mut self, pair: &Pair, x: &[f64], result: &mut Evaluation) {
        self.run_with_error(&pair.first, x);
        result.first.clone_from(&self.output);
        result.first_error.clone_from(&self.error);
        self.run_with_error(&pair.second, x);
        result.second.clone_from(&self.output);
        result.second_error.clone_from(&self.error);
    }

    #[inline(always)]
    fn run(&mut self, layers: &[Affine], x: &[f64]) {
        self.output.clear();
        self.output.extend_from_slice(x);
        for (l, layer) in layers.iter().enumerate() {
            std::mem::swap(&mut self.input, &mut self.output);
            if l > 0 {
                self.input.iter_mut().for_each(|v| *v = v.max(0.0));
            }
            self.output.clone_from(&layer.bias);
            add_columns(&mut self.output, &layer.weight, self.input.iter().copied().enumerate());
        }
    }

    fn run_with_error(&mut self, layers: &[Affine], x: &[f64]) {
        self.output.clear();
        self.output.extend_from_slice(x);
        self.error.clear();
        self.error.resize(x.len(), 0.0);
        for (l, layer) in layers.iter().enumerate() {
            std::mem::swap(&mut self.input, &mut self.output);
            if l > 0 {
                // ReLU does not stretch an error, and leaves none where the exact value is certainly not positive.
                for (v, e) in self.input.iter_mut().zip(&mut self.error) {
                    if *v <= -*e {
                        *e = 0.0;
                    }
                    *v = v.max(0.0);
                }
            }
            self.output.clone_from(&layer.bias);
            add_columns(&mut self.output, &layer.weight, self.input.iter().copied().enumerate());
            // A term passes one product and as many sums as there are columns, the bias included.
            let rounding = gamma(layer.columns + 1);
            // |W| (error + gamma |x|) + gamma |b| + the layer's own errors.
            self.magnitude.clear();
            self.magnitude.extend(layer.bias.iter().map(|b| rounding * b.abs() + f64::MIN_POSITIVE));
            if let Some(error) = &layer.weight_error {
                let columns = self.input.iter().zip(&self.error).map(|(v, e)| v.abs() + e);
                add_columns(&mut self.magnitude, error, columns.enumerate());
            }
            self.error.iter_mut().zip(&self.input).for_each(|(e, v)| *e += rounding * v.abs());
            add_absolute_product(&mut self.magnitude, &layer.weight, &self.error);
            if let Some(error) = &layer.bias_error {
                self.magnitude.iter_mut().zip(error).for_each(|(m, e)| *m += e);
            }
            // Per column one sum for the errors of the weights and one for |W|, each of a product; before and after
            // them a handful of operations.
            self.error.clear();
            self.error.extend(self.magnitude.iter().map(|&m| inflate(m, 2 * layer.columns + 6)));
        }
    }
}

/// One network at one point.
struct Forward<'a>(&'a mut Evaluator, &'a [Affine], &'a [f64]);

impl vectorised::Task for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.run(self.1, self.2);
    }
}
