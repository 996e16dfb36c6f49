//! Linear constraints of the region in backward bounds, at the inputs, where all functionals arrive.
//!
//! Only inputs with A x <= b count, and on them, for any mu >= 0,
//!     a.x >= a.x + sum_q mu_q (A_q x - b_q) = (a + A^T mu).x - mu.b.
//! So the rows join a functional's coefficients like everything else that is assumed, and the derivative with respect to mu_q is A_q x - b_q at the
//! minimising corner.
//!
//! Shapes: Q rows over I inputs, F functionals; coefficients row-major (Q, I), multipliers functional-major (Q per functional).
//!
//! Rounding: a coefficient is a sum of at most Q + 1 terms, off by gamma(2 Q) of their absolute sum and by one underflow per product, times the size of the input.

use super::backward::Backward;
use super::parameters::Parameters;
use crate::numeric::round::TINY;

/// Rows A x <= b that every input of interest satisfies.
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    /// Coefficients, row-major (Q, I).
    pub coefficients: Vec<f64>,
    /// Right sides (Q).
    pub bounds: Vec<f64>,
}

/// What joining a functional adds: to its constant, and to what its rounding is counted on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Joined {
    pub(super) constant: f64,
    /// Sum of the absolute terms of all coefficients, each times the size of its input, and of the constant.
    pub(super) mass: f64,
    /// Products that underflow, times what they multiply.
    pub(super) underflow: f64,
}

/// A multiplier's steps are this much larger than those of the others, for it starts from nothing and has far to go.
const PACE: f64 = 4.0;

impl Constraints {
    /// Appends a row.
    pub fn push(&mut self, coefficients: &[f64], bound: f64) {
        self.coefficients.extend_from_slice(coefficients);
        self.bounds.push(bound);
    }

    /// Q.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.bounds.len()
    }

    #[inline(always)]
    fn row(&self, q: usize, inputs: usize) -> &[f64] {
        &self.coefficients[q * inputs..(q + 1) * inputs]
    }

    /// Adds mu times the rows to a functional's coefficients `a`. `units` is set to what the functional varies over the box, by what each row does: the
    /// multipliers' natural size.
    #[inline(always)]
    pub(super) fn join(
        &self,
        a: &mut [f64],
        mu: &[f64],
        units: &mut [f64],
        (centre, radius): (&[f64], &[f64]),
    ) -> Joined {
        let inputs = a.len();
        let weigh = |v: &[f64]| v.iter().zip(radius).map(|(v, r)| v.abs() * r).sum::<f64>();
        let sizes = || centre.iter().zip(radius).map(|(c, r)| c.abs() + r);
        let sized = |v: &[f64]| v.iter().zip(sizes()).map(|(v, s)| v.abs() * s).sum::<f64>();
        let varies = weigh(a);
        #[allow(clippy::cast_precision_loss)]
        let products = (2 * (self.rows() + 1)) as f64;
        let mut joined =
            Joined { constant: 0.0, mass: sized(a), underflow: TINY * products * (1.0 + sizes().sum::<f64>()) };
        for (q, (&mu, unit)) in mu.iter().zip(units).enumerate() {
            let row = self.row(q, inputs);
            *unit = varies / weigh(row).max(f64::MIN_POSITIVE);
            if mu > 0.0 {
                a.iter_mut().zip(row).for_each(|(a, r)| *a += mu * r);
                joined.constant -= mu * self.bounds[q];
                joined.mass += mu * (sized(row) + self.bounds[q].abs());
            }
        }
        joined
    }
}

impl Backward<'_> {
    /// One step of the multipliers of the constraints, at the minimising corners held in `now.first`.
    #[inline(always)]
    pub(super) fn ascend_constraints(
        &mut self,
        constraints: &Constraints,
        parameters: &mut Parameters,
        rate: f64,
        step: i32,
    ) {
        if constraints.rows() == 0 {
            return;
        }
        let inputs = self.pair.inputs();
        self.gradient.clear();
        for f in 0..parameters.count {
            let x = &self.now.first[f * inputs..(f + 1) * inputs];
            let excess = |q: usize| {
                let row = constraints.row(q, inputs);
                row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - constraints.bounds[q]
            };
            self.gradient.extend((0..constraints.rows()).map(excess));
        }
        parameters.region.ascend_in(&self.units, &self.gradient, PACE * rate, step, (0.0, f64::INFINITY));
    }
}
