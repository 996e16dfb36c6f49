//! The networks at one point, in plain binary64, with a bound on the rounding.
//!
//! This finds candidates for a counterexample; what counts is decided by an exact replay outside the core.

use super::{Function, Origin, Pair, Step};
use crate::numeric::round::{add_up, gamma, inflate, max_propagating_nan, sub_down, sub_up};

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

/// Reusable buffers for evaluations of one pair after the other.
#[derive(Debug, Default)]
pub struct Evaluator {
    /// What every step gives, behind its function.
    values: Vec<Vec<f64>>,
    /// How far each of these may be from the exact value.
    errors: Vec<Vec<f64>>,
    no_error: Vec<f64>,
    magnitude: Vec<f64>,
    sizes: Vec<f64>,
}

impl Evaluator {
    /// Both networks at x, without error bounds.
    pub fn at(&mut self, pair: &Pair, x: &[f64], result: &mut Evaluation) {
        self.run(&pair.first, x);
        self.take(&mut result.first);
        self.run(&pair.second, x);
        self.take(&mut result.second);
        result.first_error.clear();
        result.second_error.clear();
    }

    /// Both networks at x with rigorous error bounds.
    pub fn at_with_error(&mut self, pair: &Pair, x: &[f64], result: &mut Evaluation) {
        self.run_with_error(&pair.first, x);
        self.take(&mut result.first);
        result.first_error.clone_from(self.errors.last().unwrap_or(&self.no_error));
        self.run_with_error(&pair.second, x);
        self.take(&mut result.second);
        result.second_error.clone_from(self.errors.last().unwrap_or(&self.no_error));
    }

    fn take(&self, outputs: &mut Vec<f64>) {
        outputs.clone_from(self.values.last().unwrap_or(&self.no_error));
    }

    /// The sums of step s, before its function.
    fn sum(&mut self, step: &Step, s: usize, x: &[f64]) {
        let (before, now) = self.values.split_at_mut(s);
        now[0].clone_from(&step.bias);
        for term in &step.terms {
            term.tile.add_product(&mut now[0], &term.tile.weight, read(before, term.origin, x));
        }
    }

    fn run(&mut self, steps: &[Step], x: &[f64]) {
        self.values.resize(steps.len(), Vec::new());
        for (s, step) in steps.iter().enumerate() {
            self.sum(step, s, x);
            step.function.apply(&mut self.values[s]);
        }
    }

    fn run_with_error(&mut self, steps: &[Step], x: &[f64]) {
        self.values.resize(steps.len(), Vec::new());
        self.errors.resize(steps.len(), Vec::new());
        self.no_error.clear();
        self.no_error.resize(x.len(), 0.0);
        for (s, step) in steps.iter().enumerate() {
            self.sum(step, s, x);
            // A term passes one product and as many sums as there are terms, the bias included.
            let terms = step.taps();
            let rounding = gamma(terms + 1);
            // |W| (error + gamma |x|) + gamma |b| + the step's own errors.
            self.magnitude.clear();
            self.magnitude.extend(step.bias.iter().map(|b| rounding * b.abs() + f64::MIN_POSITIVE));
            for term in &step.terms {
                let value = read(&self.values, term.origin, x);
                let error = read(&self.errors, term.origin, &self.no_error);
                if let Some(uncertain) = &term.tile.weight_error {
                    self.sizes.clear();
                    self.sizes.extend(value.iter().zip(error).map(|(v, e)| v.abs() + e));
                    term.tile.add_product(&mut self.magnitude, uncertain, &self.sizes);
                }
                self.sizes.clear();
                self.sizes.extend(value.iter().zip(error).map(|(v, e)| e + rounding * v.abs()));
                term.tile.add_absolute_product(&mut self.magnitude, &term.tile.weight, &self.sizes);
            }
            if let Some(error) = &step.bias_error {
                self.magnitude.iter_mut().zip(error).for_each(|(m, e)| *m += e);
            }
            // Per product one sum for the errors of the weights and one for |W|, each of a product; before and after
            // them a handful of operations.
            let errors = &mut self.errors[s];
            errors.clear();
            errors.extend(self.magnitude.iter().map(|&m| inflate(m, 2 * terms + 6)));
            behind(&step.function, &mut self.values[s], errors);
        }
    }
}

/// Values and their errors behind a function.
fn behind(function: &Function, values: &mut [f64], errors: &mut [f64]) {
    for (row, (v, e)) in values.iter_mut().zip(errors).enumerate() {
        match function {
            Function::Identity => {}
            Function::Relu => {
                // ReLU does not stretch an error, and leaves none where the exact value is certainly not positive.
                if *v <= -*e {
                    *e = 0.0;
                }
                *v = v.max(0.0);
            }
            Function::Curves(curves) => {
                let curve = curves.of(row);
                let (low, high) = curve.range(sub_down(*v, *e), add_up(*v, *e));
                *v = curve.value(*v).value;
                *e = max_propagating_nan(sub_up(high, *v), sub_up(*v, low));
            }
        }
    }
}

/// What an origin gives, of all steps' numbers.
fn read<'a>(steps: &'a [Vec<f64>], origin: Origin, inputs: &'a [f64]) -> &'a [f64] {
    match origin {
        Origin::Inputs => inputs,
        Origin::Step(j) => &steps[j],
    }
}
