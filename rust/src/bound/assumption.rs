//! The assumption of a proof by contradiction: some obligation is violated at an input of the region.
//!
//! Both parts of a violation are linear in the outputs: guard rows G f1 + c >= 0, and the violation v1.f1 + v2.f2 +
//! vd.(f1 - f2) + v0 >= 0.
//!
//! The entropy term, which is eqspec's own, makes the guard of an exact confidence delta as strong as the softmax
//! itself. The guard is z_k - LSE(z_l, l != k) >= t, and LSE(z) is the maximum over weights w of w.z + H(w), with the
//! entropy H. So multipliers lam >= 0 of the rows give not only sum lam_l (z_k - z_l - t) >= 0 but the stronger sum
//! lam_l (z_k - z_l - t) - |lam| H(lam / |lam|) >= 0: the polytope's constants and an entropy term.

use super::constraints::Constraints;
use crate::domain::{LinearFunctional, Quantity};
use crate::property::{Guard, Obligation, Property, Violation};
use smallvec::SmallVec;
use std::ops::Range;

/// A violated obligation, as coefficients over O outputs.
#[derive(Debug, Clone)]
pub struct Assumption {
    /// Guard rows, row-major (R, O).
    pub guard: Vec<f64>,
    /// Constants of the guard rows (R).
    pub constants: Vec<f64>,
    /// The guard rows that stand for an exact confidence, for which the entropy term counts; empty if there are none.
    pub entropy: Range<usize>,
    /// Coefficients of f1 in the violation (O).
    pub first: Vec<f64>,
    /// Coefficients of f2 in the violation (O).
    pub second: Vec<f64>,
    /// Coefficients of f1 - f2 in the violation (O).
    pub difference: Vec<f64>,
    /// The violation's constant, rounded up.
    pub constant: f64,
    /// Whether a violation of exactly zero counts.
    pub strict: bool,
    /// The constraints of the region on the inputs, beside their box; none by default.
    pub region: Constraints,
}

impl Assumption {
    /// The negation of an obligation; `None` where it is not linear.
    #[must_use]
    pub fn new(property: &Property, obligation: &Obligation, outputs: usize) -> Option<Self> {
        let Violation::Linear { equivalents, strict } = &obligation.violation else {
            return None;
        };
        let dense = |functional: &LinearFunctional, quantity: Quantity| {
            let mut v = vec![0.0; outputs];
            functional.terms.iter().filter(|t| t.0 == quantity).for_each(|&(_, o, c)| v[o] += c);
            v
        };
        let guard = obligation.guard.map(|g| &property.guards[g]);
        let rows: &[LinearFunctional] = guard.map_or(&[], |g: &Guard| &g.rows);
        Some(Self {
            guard: rows.iter().flat_map(|r| dense(r, Quantity::First)).collect(),
            constants: rows.iter().map(|r| r.constant).collect(),
            entropy: guard.and_then(|g| g.confidence.as_ref()).map_or(0..0, |c| c.rows.clone()),
            first: dense(&equivalents[0], Quantity::First),
            second: dense(&equivalents[0], Quantity::Second),
            difference: dense(&equivalents[0], Quantity::Difference),
            constant: equivalents[0].constant,
            strict: *strict,
            region: Constraints::default(),
        })
    }

    /// R, the number of guard rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.constants.len()
    }

    /// O, the number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.first.len()
    }

    /// The violation at concrete outputs.
    #[must_use]
    pub fn violation_at(&self, first: &[f64], second: &[f64]) -> f64 {
        let terms = (0..first.len()).map(|o| {
            self.first[o] * first[o] + self.second[o] * second[o] + self.difference[o] * (first[o] - second[o])
        });
        terms.sum::<f64>() + self.constant
    }

    /// How far f1 is inside the guard (negative: outside), and the derivative with respect to its outputs; infinite
    /// without a guard.
    pub fn slack_at(&self, first: &[f64], slope: &mut Vec<f64>) -> f64 {
        let outputs = first.len();
        slope.clear();
        slope.resize(outputs, 0.0);
        let row = |l: usize| &self.guard[l * outputs..(l + 1) * outputs];
        let value = |l: usize| row(l).iter().zip(first).map(|(g, z)| g * z).sum::<f64>() + self.constants[l];
        let values: SmallVec<[f64; 16]> = (0..self.rows()).map(value).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        // z_k - LSE(z_l) - t is the soft minimum of the exact rows.
        let exact = &values[self.entropy.clone()];
        let top = exact.iter().copied().fold(f64::INFINITY, f64::min);
        let total: f64 = exact.iter().map(|v| (top - v).exp()).sum();
        let soft = top - total.ln();
        if exact.is_empty() || least < soft {
            if let Some(l) = values.iter().position(|&v| v == least) {
                slope.copy_from_slice(row(l));
            }
            return least;
        }
        for (l, v) in self.entropy.clone().zip(exact) {
            let weight = (top - v).exp() / total;
            slope.iter_mut().zip(row(l)).for_each(|(s, g)| *s += weight * g);
        }
        soft
    }

    /// Whether both have the same guard.
    #[must_use]
    pub fn has_guard_of(&self, other: &Self) -> bool {
        self.entropy == other.entropy && self.constants == other.constants && self.guard == other.guard
    }

    /// What a search for a counterexample maximises: the violation, less a cost for missing the guard. Without a guard
    /// the slack is infinite.
    #[must_use]
    pub fn merit(violation: f64, slack: f64) -> f64 {
        violation + 3.0 * slack.min(0.0)
    }

    /// Whether a lower bound of minus the violation contradicts it.
    #[must_use]
    pub fn contradicted_by(&self, lower: f64) -> bool {
        if self.strict { lower > 0.0 } else { lower >= 0.0 }
    }
}
