//! Claims with their meaning, and a host that replays candidates without rounding.

use crate::exact::{Exact, exact};
use crate::random::{Case, Truth, point};
use eqspec::domain::AbstractDomain;
use eqspec::lp::{Answer, LinearProgram};
use eqspec::property::{Norm, Property, epsilon, linear, top1};
use eqspec::search::{Constraint, Host, Progress, Region};
use proptest::collection::vec;
use proptest::prelude::*;

/// What is claimed, as a user means it. A class that the reference decides for is a largest output of it, whatever the
/// margin or confidence.
#[derive(Debug, Clone)]
pub enum Claim {
    Epsilon { eps: f64, norm: Norm, outputs: Vec<usize> },
    Top1 { margin: f64 },
    Confidence { delta: f64 },
    Linear { candidate: Vec<f64>, reference: Vec<f64>, bound: f64, strict: bool },
}

impl Claim {
    pub fn property(&self, classes: usize, domain: AbstractDomain) -> Property {
        match self {
            Self::Epsilon { eps, norm, outputs } => epsilon::property(*eps, *norm, outputs, domain),
            Self::Top1 { margin } => top1::property(classes, *margin, None),
            // The threshold of the polytope, rounded down for sure.
            Self::Confidence { delta } => top1::property(classes, (delta / (1.0 - delta)).ln() - 1e-12, Some(*delta)),
            Self::Linear { candidate, reference, bound, strict } => {
                linear::property(candidate, reference, *bound, *strict)
            }
        }
    }

    /// Whether outputs x of the reference and y of the candidate violate the claim, exactly; for a confidence, surely.
    pub fn violated(&self, x: &[Exact], y: &[Exact]) -> bool {
        let difference = |o: usize| (&x[o] - &y[o]).abs();
        match self {
            Self::Epsilon { eps, norm: Norm::Max, outputs } => outputs.iter().any(|&o| difference(o) > *eps),
            Self::Epsilon { eps, norm: Norm::Sum, outputs } => {
                outputs.iter().map(|&o| difference(o)).sum::<Exact>() > *eps
            }
            Self::Epsilon { eps, norm: Norm::Euclid, outputs } => {
                let square: Exact = outputs.iter().map(|&o| &difference(o) * &difference(o)).sum();
                square > &exact(*eps) * &exact(*eps)
            }
            Self::Top1 { margin } => (0..x.len()).any(|k| {
                let leads = |l: usize| &x[k] - &x[l] >= margin.max(0.0);
                (0..x.len()).all(|l| l == k || leads(l)) && (0..x.len()).any(|j| y[j] > y[k])
            }),
            Self::Confidence { delta } => {
                let z: Vec<f64> = x.iter().map(Exact::upward).collect();
                let sure =
                    |k: usize| lead(&z, k) >= (delta / (1.0 - delta)).ln() + 1e-9 && x.iter().all(|v| *v <= x[k]);
                (0..x.len()).any(|k| sure(k) && y.iter().any(|v| *v > y[k]))
            }
            Self::Linear { candidate, reference, bound, strict } => {
                let of = |weights: &[f64], values: &[Exact]| -> Exact {
                    weights.iter().zip(values).map(|(&w, v)| v * w).sum()
                };
                let left = &of(candidate, y) + &of(reference, x);
                if *strict { left >= *bound } else { left > *bound }
            }
        }
    }
}

/// z_k - ln sum over l != k of exp z_l: at least ln(delta / (1 - delta)) where the softmax of k is at least delta.
pub fn lead(z: &[f64], k: usize) -> f64 {
    let others = || z.iter().enumerate().filter(|&(l, _)| l != k).map(|(_, v)| *v);
    let top = others().fold(f64::NEG_INFINITY, f64::max);
    z[k] - top - others().map(|v| (v - top).exp()).sum::<f64>().ln()
}

/// Claims about so many outputs, with thresholds around the values that random networks have.
pub fn claims(outputs: usize) -> impl Strategy<Value = Claim> {
    let norm = prop_oneof![Just(Norm::Max), Just(Norm::Sum), Just(Norm::Euclid)];
    let chosen = proptest::sample::subsequence((0..outputs).collect::<Vec<_>>(), 1..=outputs);
    let eps = prop_oneof![Just(0.0), 0.0f64..0.1, 0.0f64..3.0];
    let weights = || vec(prop_oneof![Just(0.0), Just(1.0), Just(-1.0), -1.0f64..1.0], outputs);
    prop_oneof![
        (eps, norm, chosen).prop_map(|(eps, norm, outputs)| Claim::Epsilon { eps, norm, outputs }),
        prop_oneof![Just(0.0), -0.2f64..1.0].prop_map(|margin| Claim::Top1 { margin }),
        prop_oneof![Just(0.5), 0.2f64..0.9].prop_map(|delta| Claim::Confidence { delta }),
        (weights(), weights(), -1.0f64..3.0, any::<bool>()).prop_map(|(candidate, reference, bound, strict)| {
            Claim::Linear { candidate, reference, bound, strict }
        }),
    ]
}

/// How linear programs are answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Solver {
    /// Not at all.
    Silent,
    /// With anything: wrong lengths, numbers of any size, NaN.
    Mad(u64),
}

/// A host that knows the truth.
pub struct Replay<'a> {
    truths: [Truth; 2],
    region: &'a Region,
    claim: &'a Claim,
    solver: Solver,
    /// Programs answered.
    pub programs: usize,
    /// Candidates believed.
    pub confirmed: usize,
}

impl<'a> Replay<'a> {
    pub fn new(case: &Case, region: &'a Region, claim: &'a Claim, solver: Solver) -> Self {
        Self { truths: case.truths(), region, claim, solver, programs: 0, confirmed: 0 }
    }

    /// Whether an input lies in the region and violates the claim.
    pub fn refutes(&self, input: &[f64]) -> bool {
        let exactly = point(input);
        let [first, second] = &self.truths;
        inside(self.region, input) && self.claim.violated(&first.outputs(&exactly), &second.outputs(&exactly))
    }
}

/// Exact membership.
pub fn inside(region: &Region, input: &[f64]) -> bool {
    let left = |c: &Constraint| -> Exact { c.coefficients.iter().zip(input).map(|(&a, &x)| &exact(a) * x).sum() };
    let (lower, upper) = (region.lower.iter(), region.upper.iter());
    input.iter().zip(lower.zip(upper)).all(|(x, (l, u))| l <= x && x <= u)
        && region.constraints.iter().all(|c| left(c) <= c.bound)
}

/// Any number: good ones, wild ones, none.
fn wild(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let unit = f64::from(u32::try_from(*state >> 40).unwrap()) / f64::from(1u32 << 23) - 1.0;
    match *state >> 33 & 63 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => -1e300,
        3..6 => 1e9 * unit,
        6..26 => 0.0,
        _ => unit,
    }
}

impl Host for Replay<'_> {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        self.programs += programs.len();
        let Solver::Mad(state) = &mut self.solver else {
            return vec![Answer::default(); programs.len()];
        };
        let answer = |lp: &LinearProgram| {
            let (rows, objectives) = (lp.lower.len(), lp.objectives.len() / lp.columns.max(1));
            let mut numbers = |n: usize| {
                let n = if wild(state) > 0.9 { n / 2 } else { n };
                // Most answers are finite, or they would all be thrown away for the same reason.
                let finite = wild(state) > -0.8;
                (0..n).map(|_| wild(state)).map(|v| if finite && !v.is_finite() { 1.0 } else { v }).collect::<Vec<_>>()
            };
            let ray = numbers(rows);
            Answer { duals: numbers(rows * objectives), points: numbers(lp.columns * objectives), ray: Some(ray) }
        };
        let mut answers: Vec<Answer> = programs.iter().map(answer).collect();
        if wild(state) > 0.95 {
            answers.pop();
        }
        answers
    }

    fn confirm(&mut self, input: &[f64]) -> bool {
        let refuted = self.refutes(input);
        self.confirmed += usize::from(refuted);
        refuted
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        assert!((0.0..=1.0).contains(&progress.certified), "{progress:?}");
        true
    }
}
