//! Top-1 equivalence, plain, with a margin, or where f1 is confident ([VD], Def. "delta-Top-1" and the Top-1 Violation
//! LP).
//!
//! Violated at x iff for some classes k != j: f1_k - f1_l >= t for all l != k, and f2_j > f2_k. Plain Top-1 has t = 0. With
//! t = ln(delta / (1 - delta)) the guard is a polytope that contains every input of confidence delta: softmax_k >= delta
//! means z_k - LSE(z_l, l != k) >= t, and LSE is at least each z_l. The class k is a maximum of f1 whatever t is, so a
//! negative t counts as 0 there; the rows with t itself are then kept as well, for the exact confidence.

use super::{Confidence, Guard, Obligation, Property, Violation};
use crate::domain::{LinearFunctional, Quantity};

/// `margin` is t, rounded down; `delta` the confidence demanded of a counterexample, if any.
#[must_use]
pub fn property(classes: usize, margin: f64, delta: Option<f64>) -> Property {
    let guards = (0..classes)
        .map(|k| {
            let lead = |least: f64| {
                let terms = move |l| vec![(Quantity::First, k, 1.0), (Quantity::First, l, -1.0)];
                (0..classes)
                    .filter(move |&l| l != k)
                    .map(move |l| LinearFunctional { terms: terms(l), constant: -least })
            };
            let mut rows: Vec<_> = lead(margin.max(0.0)).collect();
            let mut exact = 0..rows.len();
            if delta.is_some() && margin < 0.0 {
                rows.extend(lead(margin));
                exact = exact.end..rows.len();
            }
            Guard { class: k, rows, confidence: delta.map(|d| Confidence { log_delta: d.ln(), rows: exact }) }
        })
        .collect();
    let obligations = (0..classes)
        .flat_map(|k| (0..classes).filter(move |&j| j != k).map(move |j| (k, j)))
        .map(|(k, j)| Obligation {
            guard: Some(k),
            violation: Violation::Linear { equivalents: lead(j, k), strict: false },
        })
        .collect();
    Property { guards, obligations, reported: (0..classes).collect() }
}

/// f2_j - f2_k: from f2 alone, and as f1 - D.
fn lead(j: usize, k: usize) -> Vec<LinearFunctional> {
    vec![
        LinearFunctional { terms: vec![(Quantity::Second, j, 1.0), (Quantity::Second, k, -1.0)], constant: 0.0 },
        LinearFunctional {
            terms: vec![
                (Quantity::First, j, 1.0),
                (Quantity::First, k, -1.0),
                (Quantity::Difference, j, -1.0),
                (Quantity::Difference, k, 1.0),
            ],
            constant: 0.0,
        },
    ]
}
