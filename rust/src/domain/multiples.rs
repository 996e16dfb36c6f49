//! Of which powers of two the values of a network are integer multiples on a box: what quantisers give, and exact sums of
//! it with weights that are floats.
//!
//! A value is described by an exponent e, and is an integer times 2^e ([`crate::curve::lowest_bit`]). A product of
//! multiples of 2^a and 2^b is one of 2^(a + b), a sum one of the smallest of its terms'. Numbers that no float holds
//! exactly, and the inputs, are multiples of nothing. All of it is integers: nothing is rounded.

use super::phase::Bounds;
use crate::curve::{UNKNOWN, ZERO, lowest_bit};
use crate::network::{Function, Origin, Step};

/// For every step of one network the exponents of its values, before its function and behind it.
#[derive(Debug, Clone, Default)]
pub(super) struct Multiples {
    /// Before the function.
    pub before: Vec<Vec<i32>>,
    /// Behind it.
    pub after: Vec<Vec<i32>>,
}

impl Multiples {
    /// Those of a network in whose steps values before the functions lie within these bounds.
    pub fn of<'a>(steps: &[Step], bounds: impl Fn(usize) -> &'a Bounds) -> Self {
        let mut found = Self::default();
        for (s, step) in steps.iter().enumerate() {
            let known = bounds(s);
            let before: Vec<i32> = (0..step.rows).map(|i| found.of_sum(step, i)).collect();
            let after = before.iter().enumerate().map(|(i, &sum)| match &step.function {
                Function::Identity | Function::Relu => sum,
                Function::Curves(curves) => curves.of(i).multiples(sum, known.lower[i], known.upper[i]),
            });
            found.after.push(after.collect());
            found.before.push(before);
        }
        found
    }

    /// Of row i of a step before its function.
    fn of_sum(&self, step: &Step, i: usize) -> i32 {
        if step.bias_error.as_ref().is_some_and(|error| error[i] != 0.0) {
            return UNKNOWN;
        }
        let mut least = lowest_bit(step.bias[i]);
        for term in &step.terms {
            let error = term.tile.weight_error.as_ref();
            term.tile.row(i, |j, at| {
                let weight = term.tile.weight[at];
                let exact = error.is_none_or(|error| error[at] == 0.0);
                let factor = match term.origin {
                    _ if exact && weight == 0.0 => ZERO,
                    Origin::Step(s) if exact => self.after[s][j],
                    _ => UNKNOWN,
                };
                // A sum with one of the two would leave the integers.
                let product = if factor == ZERO || factor == UNKNOWN { factor } else { factor + lowest_bit(weight) };
                least = least.min(product);
            });
        }
        least
    }
}
