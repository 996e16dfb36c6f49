//! A linear inequality between the outputs of both networks: candidate . f2 + reference . f1 <= bound, or < if strict.

use super::{Obligation, Property, Violation};
use crate::domain::{LinearFunctional, Quantity};

/// `bound` rounded down. The functional is written over f1 and f2, and with as much of it as possible moved to the
/// difference on either side: a.f1 + b.f2 = (a + b).f1 - b.D = (a + b).f2 + a.D.
#[must_use]
pub fn property(candidate: &[f64], reference: &[f64], bound: f64, strict: bool) -> Property {
    let outputs = || reference.iter().zip(candidate).enumerate();
    let write = |terms: Vec<(Quantity, usize, f64)>| LinearFunctional {
        terms: terms.into_iter().filter(|t| t.2 != 0.0).collect(),
        constant: -bound,
    };
    let mut equivalents =
        vec![write(outputs().flat_map(|(o, (&a, &b))| [(Quantity::First, o, a), (Quantity::Second, o, b)]).collect())];
    // Only where a + b is exact: otherwise the other equivalents would be another functional.
    if outputs().all(|(_, (&a, &b))| sum_is_exact(a, b)) {
        equivalents.push(write(
            outputs().flat_map(|(o, (&a, &b))| [(Quantity::First, o, a + b), (Quantity::Difference, o, -b)]).collect(),
        ));
        equivalents.push(write(
            outputs().flat_map(|(o, (&a, &b))| [(Quantity::Second, o, a + b), (Quantity::Difference, o, a)]).collect(),
        ));
    }
    Property {
        guards: Vec::new(),
        obligations: vec![Obligation { guard: None, violation: Violation::Linear { equivalents, strict } }],
        reported: (0..reference.len()).collect(),
    }
}

/// Whether a + b is representable: the residual of the rounded sum (TwoSum) is zero.
fn sum_is_exact(a: f64, b: f64) -> bool {
    let sum = a + b;
    let part = sum - a;
    (a - (sum - part)) + (b - part) == 0.0
}
