//! Linear constraints of the region in backward bounds, at the inputs, where all functionals arrive.
//!
//! Only inputs with A x <= b count, and on them, for any mu >= 0,
//!     a.x >= a.x + sum_q mu_q (A_q x - b_q) = (a + A^T mu).x - mu.b.
//! So the rows join the coefficients of a functional as the rows of the guard do, and the derivative with respect to
//! mu_q is A_q x - b_q at the minimising corner of the box. Multipliers of linear constraints in a backward bound are
//! known from GCP-CROWN (Zhang et al., NeurIPS 2022), which adds cutting planes over the neurons; here the constraints
//! are those of the region, over the inputs alone.
//!
//! Shapes: Q rows over I inputs, F functionals; coefficients row-major (Q, I), multipliers functional-major (Q per
//! functional).
//!
//! Rounding: a coefficient is a sum of at most Q + 1 terms, off by gamma(2 Q) of their absolute sum and by one
//! underflow per product, times the size of the input.

use crate::numeric::real::Real;
use crate::numeric::round::TINY;

/// Rows A x <= b that every input of interest satisfies.
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    /// Coefficients, row-major (Q, I).
    pub coefficients: Vec<f64>,
    /// Right sides (Q).
    pub bounds: Vec<f64>,
}

/// What the constraints add to a functional.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Joined {
    /// Minus mu.b, to be added to the functional's constant.
    pub(super) constant: f64,
    /// The absolute sum of the terms of all coefficients, each times the size of its input, and of the constant.
    pub(super) magnitude: f64,
    /// What underflow of products can cost.
    pub(super) underflow: f64,
}

impl Constraints {
    /// Appends a row.
    pub fn push(&mut self, coefficients: &[f64], bound: f64) {
        self.coefficients.extend_from_slice(coefficients);
        self.bounds.push(bound);
    }

    /// The number of constraints, Q.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.bounds.len()
    }

    #[inline(always)]
    fn row(&self, q: usize, inputs: usize) -> &[f64] {
        &self.coefficients[q * inputs..(q + 1) * inputs]
    }

    /// Adds mu times the rows to the coefficients `a` of a functional. `units` is set to the natural size of each
    /// multiplier: how much the functional varies over the box, divided by how much the row varies.
    #[inline(always)]
    pub(super) fn join<T: Real>(
        &self,
        a: &mut [T],
        mu: &[T],
        units: &mut [T],
        (centre, radius): (&[T], &[T]),
    ) -> Joined {
        let inputs = a.len();
        let varies = variation(a, radius);
        // For each input a product with mu in each row, and for the constant as many; twice that, to spare.
        #[allow(clippy::cast_precision_loss)]
        let products = (2 * (self.rows() + 1)) as f64;
        let underflow = TINY * products * (1.0 + sizes(centre, radius).sum::<f64>());
        let mut joined = Joined { constant: 0.0, magnitude: size(a, (centre, radius)), underflow };
        for (q, (&mu, unit)) in mu.iter().zip(units).enumerate() {
            let row = self.row(q, inputs);
            *unit = T::of(varies / variation(row, radius).max(f64::MIN_POSITIVE));
            let mu = mu.wide();
            if mu > 0.0 {
                a.iter_mut().zip(row).for_each(|(a, r)| *a += T::of(mu * r));
                joined.constant -= mu * self.bounds[q];
                joined.magnitude += mu * (size(row, (centre, radius)) + self.bounds[q].abs());
            }
        }
        joined
    }

    /// Appends A_q x - b_q for every constraint, at one input: the derivatives of a bound with respect to mu.
    #[inline(always)]
    pub(super) fn push_excess<T: Real>(&self, x: &[T], gradient: &mut Vec<T>) {
        let excess = |q: usize| {
            let row = self.row(q, x.len());
            T::of(row.iter().zip(x).map(|(a, x)| a * x.wide()).sum::<f64>() - self.bounds[q])
        };
        gradient.extend((0..self.rows()).map(excess));
    }
}

/// How much a functional with these coefficients varies over the box, to either side.
#[inline(always)]
fn variation<V: Real, T: Real>(coefficients: &[V], radius: &[T]) -> f64 {
    coefficients.iter().zip(radius).map(|(v, r)| v.wide().abs() * r.wide()).sum()
}

/// The largest absolute values of the inputs.
#[inline(always)]
fn sizes<T: Real>(centre: &[T], radius: &[T]) -> impl Iterator<Item = f64> {
    centre.iter().zip(radius).map(|(c, r)| c.wide().abs() + r.wide())
}

/// The sum of the largest absolute values of all terms of a functional.
#[inline(always)]
fn size<V: Real, T: Real>(coefficients: &[V], (centre, radius): (&[T], &[T])) -> f64 {
    coefficients.iter().zip(sizes(centre, radius)).map(|(v, s)| v.wide().abs() * s).sum()
}
