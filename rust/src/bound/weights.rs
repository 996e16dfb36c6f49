//! The weights of a pair in the floats of a pass: those of the pair itself in f64, a copy of them in f32.

use crate::network::pair::Difference;
use crate::network::{Pair, Step};
use crate::numeric::real::Real;
use std::borrow::Cow;

/// The numbers of one step.
#[derive(Debug, Clone)]
pub(super) struct StepWeights<'a, T: Real> {
    /// The weights of f1's terms.
    pub(super) first: Vec<Cow<'a, [T]>>,
    /// The weights of f2's terms.
    pub(super) second: Vec<Cow<'a, [T]>>,
    /// A1 - A2, of the terms of the difference.
    pub(super) difference: Vec<Cow<'a, [T]>>,
    /// b1, b2 and b1 - b2.
    pub(super) biases: [Cow<'a, [T]>; 3],
}

/// The weights of all steps.
pub(super) fn weights<T: Real>(pair: &Pair) -> Vec<StepWeights<'_, T>> {
    let steps = pair.first.iter().zip(&pair.second).zip(&pair.difference);
    steps.map(|((first, second), difference)| StepWeights::of(first, second, difference)).collect()
}

impl<'a, T: Real> StepWeights<'a, T> {
    fn of(first: &'a Step, second: &'a Step, difference: &'a Difference) -> Self {
        let of_step = |step: &'a Step| step.terms.iter().map(|term| T::all_of(&term.tile.weight)).collect();
        Self {
            first: of_step(first),
            second: of_step(second),
            difference: difference.terms.iter().map(|term| T::all_of(&term.tile.weight)).collect(),
            biases: [&first.bias, &second.bias, &difference.bias].map(|bias| T::all_of(bias)),
        }
    }

    /// The same numbers, which do not depend on the pair any more.
    pub(super) fn into_owned(self) -> StepWeights<'static, T> {
        let of_terms = |terms: Vec<Cow<'a, [T]>>| terms.into_iter().map(|w| Cow::Owned(w.into_owned())).collect();
        StepWeights {
            first: of_terms(self.first),
            second: of_terms(self.second),
            difference: of_terms(self.difference),
            biases: self.biases.map(|bias| Cow::Owned(bias.into_owned())),
        }
    }

    /// Whether no number has become infinite in these floats.
    pub(super) fn finite(&self) -> bool {
        let matrices = self.first.iter().chain(&self.second).chain(&self.difference);
        matrices.chain(&self.biases).flat_map(|numbers| numbers.iter()).all(|v| v.wide().is_finite())
    }
}
