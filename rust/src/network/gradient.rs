//! Derivatives of linear functionals of both outputs with respect to the input, at many points at once, in plain
//! binary64: only for finding candidates.
//!
//! Arrays are point-major: the numbers of one point are contiguous, so that every term is one matrix product.

use super::{Origin, Pair, Step};
use crate::numeric::kernels::Accumulate;
use crate::numeric::vectorised;
use crate::numeric::windows::Panels;

/// Buffers for one network's forward and backward pass.
#[derive(Debug, Default)]
struct Tape {
    /// The inputs, I x P.
    inputs: Vec<f64>,
    /// What every step gives behind its function, m x P; the last are the outputs.
    values: Vec<Vec<f64>>,
    /// The slopes of the functions at these points, m x P; empty for ReLU and the identity.
    slopes: Vec<Vec<f64>>,
    /// Derivatives with respect to what every step gives, m x P; empty for steps that nothing depends on.
    cotangents: Vec<Vec<f64>>,
    panels: Panels,
}

impl Tape {
    /// Values at P points; slopes of functions other than ReLU, too, where derivatives are wanted.
    #[inline(always)]
    fn forward(&mut self, steps: &[Step], x: &[f64], points: usize, derivable: bool) {
        self.values.resize(steps.len(), Vec::new());
        self.slopes.resize(steps.len(), Vec::new());
        self.inputs.clear();
        self.inputs.extend_from_slice(x);
        for (s, step) in steps.iter().enumerate() {
            let (before, now) = self.values.split_at_mut(s);
            let value = &mut now[0];
            value.clear();
            (0..points).for_each(|_| value.extend_from_slice(&step.bias));
            for term in &step.terms {
                let from = match term.origin {
                    Origin::Inputs => &self.inputs,
                    Origin::Step(j) => &before[j],
                };
                let shape = (term.tile.columns, points);
                term.tile.shape().product(value, &term.tile.weight, from, shape, Accumulate::Add, &mut self.panels);
            }
            let slopes = &mut self.slopes[s];
            slopes.clear();
            if let Some(curves) = step.function.curves().filter(|_| derivable) {
                slopes.extend(value.iter_mut().enumerate().map(|(i, v)| {
                    let (behind, slope) = curves.of(i % step.rows).value_and_climb(*v);
                    *v = behind;
                    slope
                }));
            } else {
                step.function.apply(value);
            }
        }
    }

    /// Adds the derivatives of c . outputs to `gradient` (I x P).
    #[inline(always)]
    fn backward(&mut self, steps: &[Step], c: &[f64], gradient: &mut [f64], points: usize) {
        self.cotangents.resize(steps.len(), Vec::new());
        self.cotangents.iter_mut().for_each(Vec::clear);
        if let Some(last) = self.cotangents.last_mut() {
            last.extend_from_slice(c);
        }
        for (s, step) in steps.iter().enumerate().rev() {
            let (before, now) = self.cotangents.split_at_mut(s);
            let cotangent = &mut now[0];
            if cotangent.is_empty() {
                continue;
            }
            if step.function.is_relu() {
                // Behind ReLU a value is positive exactly where it was before.
                let values = cotangent.iter_mut().zip(&self.values[s]);
                values.for_each(|(g, v)| *g = if *v > 0.0 { *g } else { 0.0 });
            }
            cotangent.iter_mut().zip(&self.slopes[s]).for_each(|(g, slope)| *g *= slope);
            for term in &step.terms {
                let shape = (term.tile.columns, points);
                let (out, accumulate) = match term.origin {
                    Origin::Inputs => (&mut *gradient, Accumulate::Add),
                    Origin::Step(j) => {
                        let first = before[j].is_empty();
                        before[j].resize(term.tile.columns * points, 0.0);
                        (before[j].as_mut_slice(), if first { Accumulate::Replace } else { Accumulate::Add })
                    }
                };
                let (tile, panels) = (&term.tile, &mut self.panels);
                tile.shape().transposed_product(out, &tile.weight, cotangent, shape, accumulate, panels);
            }
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
        self.forward(pair, x, points, true)
    }

    /// The same where no derivatives are needed.
    pub fn outputs(&mut self, pair: &Pair, x: &[f64], points: usize) -> (&[f64], &[f64]) {
        self.forward(pair, x, points, false)
    }

    fn forward(&mut self, pair: &Pair, x: &[f64], points: usize, derivable: bool) -> (&[f64], &[f64]) {
        self.points = points;
        for (tape, steps) in [(&mut self.first, &pair.first), (&mut self.second, &pair.second)] {
            vectorised::run(Forward(tape, steps, x, (points, derivable)));
            self.flops += flops(steps, points);
        }
        let last = pair.depth() - 1;
        (&self.first.values[last], &self.second.values[last])
    }

    /// gradient (I x P) = derivatives of a.f1 + b.f2, with coefficients (O x P), at the points last evaluated.
    pub fn gradient(&mut self, pair: &Pair, a: &[f64], b: &[f64], gradient: &mut Vec<f64>) {
        gradient.clear();
        gradient.resize(pair.inputs() * self.points, 0.0);
        for (tape, steps, c) in [(&mut self.first, &pair.first, a), (&mut self.second, &pair.second, b)] {
            if c.iter().any(|&c| c != 0.0) {
                vectorised::run(Backward(tape, steps, c, gradient, self.points));
                self.flops += flops(steps, self.points);
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

fn flops(steps: &[Step], points: usize) -> u64 {
    steps.iter().map(|step| 2 * (step.products() * points) as u64).sum()
}

struct Forward<'a>(&'a mut Tape, &'a [Step], &'a [f64], (usize, bool));

impl vectorised::Task for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (points, derivable) = self.3;
        self.0.forward(self.1, self.2, points, derivable);
    }
}

struct Backward<'a>(&'a mut Tape, &'a [Step], &'a [f64], &'a mut [f64], usize);

impl vectorised::Task for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.backward(self.1, self.2, self.3, self.4);
    }
}
