//! Epsilon equivalence ([VD], Def. and Lemma): the outputs differ by at most eps, in the maximum, sum or Euclidean
//! norm, on all or some outputs.
//!
//! In the maximum norm each output and sign is an obligation of its own, bounded by the difference zonotope's row. The
//! other norms are convex: the norm of the outputs' largest absolute differences bounds them. For a sum over few
//! outputs each pattern of signs is a functional, which also sees cancellation between outputs.

use super::{Obligation, Property, Violation};
use crate::domain::{AbstractDomain, LinearFunctional, Output, Quantity};
use crate::network::eval::Evaluation;
use crate::numeric::round::max_propagating_nan;
use crate::numeric::round::{add_up, mul_up};

/// How a difference of outputs is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// The largest absolute difference.
    Max,
    /// The sum of absolute differences.
    Sum,
    /// The Euclidean length.
    Euclid,
}

/// A sum over at most this number of outputs is unfolded into patterns of signs.
const PATTERNS: usize = 6;

/// `eps` rounded down, `outputs` distinct.
#[must_use]
pub fn property(eps: f64, norm: Norm, outputs: &[usize], domain: AbstractDomain) -> Property {
    let linear = |signs: &[(usize, f64)]| {
        let write = |parts: &[(Quantity, f64)]| LinearFunctional {
            terms: signs
                .iter()
                .flat_map(|&(o, s)| parts.iter().map(move |&(quantity, c)| (quantity, o, s * c)))
                .collect(),
            constant: -eps,
        };
        let mut equivalents = vec![write(&[(Quantity::Difference, 1.0)])];
        if domain == AbstractDomain::Reduced {
            equivalents.push(write(&[(Quantity::First, 1.0), (Quantity::Second, -1.0)]));
        }
        Obligation { guard: None, violation: Violation::Linear { equivalents, strict: false } }
    };
    let obligations = match norm {
        Norm::Max => outputs.iter().flat_map(|&o| [linear(&[(o, 1.0)]), linear(&[(o, -1.0)])]).collect(),
        Norm::Sum if outputs.len() <= PATTERNS => (0..1usize << outputs.len())
            .map(|bits| {
                let signs = outputs.iter().enumerate().map(|(i, &o)| (o, if bits >> i & 1 == 1 { 1.0 } else { -1.0 }));
                linear(&signs.collect::<Vec<_>>())
            })
            .collect(),
        _ => vec![Obligation { guard: None, violation: Violation::Distance { norm, outputs: outputs.to_vec(), eps } }],
    };
    Property { guards: Vec::new(), obligations, reported: outputs.to_vec() }
}

/// An upper bound of norm(f1 - f2) - eps from the bounds of the single differences.
#[must_use]
pub fn distance_upper(norm: Norm, outputs: &[usize], eps: f64, output: &Output<'_>) -> f64 {
    let d = &output.layer().d;
    let sizes = outputs.iter().map(|&o| d.size(o));
    let length = match norm {
        Norm::Max => sizes.fold(0.0, max_propagating_nan),
        Norm::Sum => sizes.fold(0.0, add_up),
        // The square root is correctly rounded, so the next number up is safe.
        Norm::Euclid => sizes.fold(0.0, |s, v| add_up(s, mul_up(v, v))).sqrt().next_up(),
    };
    add_up(length, -eps)
}

/// norm(f1 - f2) - eps at concrete outputs, with a bound on the error.
#[must_use]
pub fn distance_at(norm: Norm, indices: &[usize], eps: f64, outputs: &Evaluation) -> (f64, f64) {
    let error = |errors: &[f64], o: usize| errors.get(o).copied().unwrap_or(0.0);
    let sizes = indices.iter().map(|&o| (outputs.first[o] - outputs.second[o]).abs());
    let length = match norm {
        Norm::Max => sizes.fold(0.0, f64::max),
        Norm::Sum => sizes.sum(),
        Norm::Euclid => sizes.map(|v| v * v).sum::<f64>().sqrt(),
    };
    // Every norm here changes by at most the sum of the changes of its arguments; the factor covers the rounding of the
    // norm with room to spare, for a candidate only, which the replay decides.
    let err: f64 = indices.iter().map(|&o| error(&outputs.first_error, o) + error(&outputs.second_error, o)).sum();
    #[allow(clippy::cast_precision_loss)]
    (length - eps, err + 4.0 * f64::EPSILON * (indices.len() as f64 + 2.0) * (length + eps.abs()))
}
