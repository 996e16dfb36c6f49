//! What is claimed, in the one form the search knows: obligations, each a violation that must not happen where its
//! guard holds.
//!
//! Everything about particular properties is in this module: how a claim unfolds into obligations ([`epsilon`],
//! [`top1`], [`linear`]), and when a concrete pair of outputs violates it. Numbers come rounded to the safe side:
//! thresholds of guards and allowed distances rounded down.

pub mod epsilon;
pub mod linear;
pub mod obligation_set;
pub mod top1;

use crate::domain::{LinearFunctional, Output, Quantity, output::GeneratorRow};
use crate::network::eval::Evaluation;
pub use epsilon::Norm;
pub use obligation_set::ObligationSet;

/// The part of the region on which an obligation counts: functionals of f1's outputs that must all be >= 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    /// The class that f1 decides for.
    pub class: usize,
    /// Functionals that are all >= 0 wherever the guard holds.
    pub rows: Vec<LinearFunctional>,
    /// The exact confidence, if f1 must give the class a softmax of at least delta.
    pub confidence: Option<Confidence>,
}

/// An exact confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// ln(delta), rounded to nearest.
    pub log_delta: f64,
    /// The guard rows z_k - z_l - t, one per l != k with the same t = ln(delta / (1 - delta)): together they stand for
    /// z_k - LSE(z_l) >= t.
    pub rows: std::ops::Range<usize>,
}

/// How certain the violation at a candidate must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// The violation exceeds the error of its evaluation.
    Certain,
    /// The violation may exist only within that error.
    WithinError,
}

/// How an obligation can fail.
#[derive(Debug, Clone, PartialEq)]
pub enum Violation {
    /// A functional that must not become positive, and if `strict` not even zero. `equivalents` write the same
    /// functional with different shares of the difference; a bound of any of them is valid.
    Linear {
        /// Functionals that are equal on every input.
        equivalents: Vec<LinearFunctional>,
        /// Whether zero already violates.
        strict: bool,
    },
    /// A norm of f1 - f2 over some outputs that must not exceed eps.
    Distance {
        /// The norm.
        norm: Norm,
        /// The outputs over which it is taken.
        outputs: Vec<usize>,
        /// The allowed distance, rounded down.
        eps: f64,
    },
}

/// One violation that must not happen.
#[derive(Debug, Clone, PartialEq)]
pub struct Obligation {
    /// The guard under which it counts; `None` if it counts everywhere.
    pub guard: Option<usize>,
    /// How it can fail.
    pub violation: Violation,
}

/// A claim as guards and obligations; it holds if no obligation fails anywhere in the region.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Guards that obligations refer to.
    pub guards: Vec<Guard>,
    /// What must not happen.
    pub obligations: Vec<Obligation>,
    /// The outputs whose first bound is reported.
    pub reported: Vec<usize>,
}

impl Violation {
    /// Whether it is one linear inequality, as programs, backward bounds and attacks need it.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        matches!(self, Self::Linear { .. })
    }

    /// An upper bound of the violation over the box. NaN proves nothing.
    pub fn upper(&self, output: &Output<'_>, row: &mut GeneratorRow) -> f64 {
        match self {
            Self::Linear { equivalents, .. } => equivalents
                .iter()
                .map(|w| output.upper(w, row))
                .fold(f64::INFINITY, |best, v| if v < best { v } else { best }),
            Self::Distance { norm, outputs, eps } => epsilon::distance_upper(*norm, outputs, *eps, output),
        }
    }

    /// The same bound, and the error in it, without a row where none is needed. Equivalent functionals are bounded one
    /// after the other until one of them rules the violation out.
    pub fn bound(&self, output: &Output<'_>, row: &mut GeneratorRow) -> (f64, f64) {
        let Self::Linear { equivalents, .. } = self else {
            return (self.upper(output, row), 0.0);
        };
        let mut best = (f64::INFINITY, 0.0);
        for functional in equivalents {
            let (upper, err) = output.bound(functional, row);
            if upper < best.0 {
                best = (upper, err);
            }
            if self.excluded_by(best.0) {
                break;
            }
        }
        best
    }

    /// Whether an upper bound rules the violation out.
    #[must_use]
    pub fn excluded_by(&self, upper: f64) -> bool {
        match self {
            Self::Linear { strict: true, .. } => upper < 0.0,
            _ => upper <= 0.0,
        }
    }

    /// The violation at concrete outputs, and how far it may be off.
    #[must_use]
    pub fn at(&self, outputs: &Evaluation) -> (f64, f64) {
        match self {
            Self::Linear { equivalents, .. } => value(&equivalents[0], outputs),
            Self::Distance { norm, outputs: indices, eps } => epsilon::distance_at(*norm, indices, *eps, outputs),
        }
    }
}

impl Guard {
    /// Whether concrete outputs of f1 satisfy the guard, the true softmax included.
    #[must_use]
    pub fn met(&self, outputs: &Evaluation, certainty: Certainty) -> bool {
        let room = |e: f64| if certainty == Certainty::Certain { e } else { -e };
        let linear = self.rows.iter().all(|row| {
            let (v, e) = value(row, outputs);
            v >= room(e)
        });
        // Softmax in plain binary64 is good to a few units in the last place; the replay decides.
        linear
            && self
                .confidence
                .as_ref()
                .is_none_or(|c| log_softmax(&outputs.first, self.class) >= c.log_delta + room(1e-12))
    }
}

/// z_k - ln sum exp z, in plain binary64.
#[must_use]
pub fn log_softmax(z: &[f64], k: usize) -> f64 {
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    z[k] - top - z.iter().map(|v| (v - top).exp()).sum::<f64>().ln()
}

/// A functional at concrete outputs, and a bound on its error from the outputs' own.
fn value(functional: &LinearFunctional, outputs: &Evaluation) -> (f64, f64) {
    let (mut v, mut e) = (functional.constant, 0.0);
    let error = |errors: &[f64], o: usize| errors.get(o).copied().unwrap_or(0.0);
    for &(quantity, o, c) in &functional.terms {
        let (x, y) = (outputs.first[o], outputs.second[o]);
        let (ex, ey) = (error(&outputs.first_error, o), error(&outputs.second_error, o));
        let (term, err) = match quantity {
            Quantity::First => (x, ex),
            Quantity::Second => (y, ey),
            Quantity::Difference => (x - y, ex + ey),
        };
        v += c * term;
        e += c.abs() * (err + f64::EPSILON * term.abs());
    }
    (v, e + f64::EPSILON * v.abs())
}

impl Property {
    /// Whether these outputs violate an obligation among `open`.
    #[must_use]
    pub fn violated(&self, open: &ObligationSet, outputs: &Evaluation, certainty: Certainty) -> bool {
        open.iter().any(|o| {
            let obligation = &self.obligations[o];
            let (v, e) = obligation.violation.at(outputs);
            let strict = matches!(obligation.violation, Violation::Linear { strict: true, .. });
            let room = if certainty == Certainty::Certain { e } else { -e };
            (v > room || (strict && v >= room))
                && obligation.guard.is_none_or(|g| self.guards[g].met(outputs, certainty))
        })
    }

    /// The obligations that are open before anything is bounded: all, unless the networks are one function that is
    /// defined on the whole region, for which a violation may contradict itself or its guard. With f2 = f1 and D = 0 it
    /// reads v.f1 + v0; excluded if v = 0 and v0 <= 0, or if a guard row g.f1 + c >= 0 has g = -v and c + v0 <= 0.
    #[must_use]
    pub fn open(&self, one_function: bool) -> ObligationSet {
        let mut open = ObligationSet::all(self.obligations.len());
        for (o, obligation) in self.obligations.iter().enumerate() {
            if one_function && self.excluded_for_one_function(obligation) {
                open.close(o);
            }
        }
        open
    }

    fn excluded_for_one_function(&self, obligation: &Obligation) -> bool {
        let excludes = |bound: f64| obligation.violation.excluded_by(bound);
        match &obligation.violation {
            Violation::Distance { eps, .. } => excludes(-eps),
            Violation::Linear { equivalents, .. } => {
                let on_f1 = |c: &LinearFunctional| {
                    let mut v: Vec<(usize, f64)> = Vec::new();
                    for &(_, o, k) in c.terms.iter().filter(|t| t.0 != Quantity::Difference) {
                        match v.iter_mut().find(|(i, _)| *i == o) {
                            Some((_, total)) => *total += k,
                            None => v.push((o, k)),
                        }
                    }
                    v.retain(|&(_, k)| k != 0.0);
                    v.sort_by_key(|&(o, _)| o);
                    v
                };
                let first = &equivalents[0];
                let violation = on_f1(first);
                let opposite: Vec<_> = violation.iter().map(|&(o, k)| (o, -k)).collect();
                let rows = obligation.guard.iter().flat_map(|&g| &self.guards[g].rows);
                // At most two terms share an output, and a rounded sum of two numbers is zero only if the exact one is.
                (violation.is_empty() && excludes(first.constant))
                    || rows.into_iter().any(|r| first.constant == 0.0 && on_f1(r) == opposite && excludes(r.constant))
            }
        }
    }

    /// Whether some guard holds at these outputs; true for a property without guards.
    #[must_use]
    pub fn guard_met(&self, outputs: &Evaluation) -> bool {
        self.guards.is_empty() || self.guards.iter().any(|g| g.met(outputs, Certainty::Certain))
    }

    /// The claim that no guard is ever met, or for a property without guards that the region is empty: obligations that
    /// fail everywhere, so that only an impossible guard or region proves them.
    #[must_use]
    pub fn vacuity(&self) -> Self {
        let equivalents = vec![LinearFunctional { terms: Vec::new(), constant: 1.0 }];
        let always = Violation::Linear { equivalents, strict: false };
        let anywhere = self.guards.is_empty().then_some(None);
        let guards = anywhere.into_iter().chain((0..self.guards.len()).map(Some));
        Self {
            guards: self.guards.clone(),
            obligations: guards.map(|guard| Obligation { guard, violation: always.clone() }).collect(),
            reported: self.reported.clone(),
        }
    }
}
