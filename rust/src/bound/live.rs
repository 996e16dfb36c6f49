//! The numbers of a batch of functionals at the steps that a pass has under way: coefficients on the way backwards,
//! which all readers of a step add up, or values on the way forwards. Backwards a step's coefficients are complete when
//! its turn comes, since its readers come later in the program; they are dropped when they have been read, and their
//! memory serves the next step. A chain needs two sets in turn.

use super::functional::{Coefficients, QUANTITIES};
use crate::domain::Quantity;
use crate::network::{Origin, Pair};
use crate::numeric::kernels::Accumulate;
use crate::numeric::real::Real;

/// Coefficients or values by step.
#[derive(Debug, Default)]
pub(super) struct Live<T = f64> {
    steps: Vec<Coefficients<T>>,
    /// Whether p, q and s of a step have been written.
    written: Vec<[bool; 3]>,
    spare: Vec<Coefficients<T>>,
}

impl<T: Real> Live<T> {
    /// Forgets everything, for a pass through so many steps.
    #[inline(always)]
    pub(super) fn begin(&mut self, depth: usize) {
        self.steps.resize_with(depth, Coefficients::default);
        for step in self.steps.iter_mut().filter(|step| !step.is_empty()) {
            self.spare.push(std::mem::take(step));
        }
        self.written.clear();
        self.written.resize(depth, [false; 3]);
    }

    /// Where to write n coefficients of one quantity of a step, and whether earlier ones are there.
    #[inline(always)]
    pub(super) fn slot(&mut self, step: usize, quantity: Quantity, n: usize) -> (&mut [T], Accumulate) {
        let (of_step, written) = (&mut self.steps[step], &mut self.written[step]);
        if *written == [false; 3] && of_step.is_empty() {
            *of_step = self.spare.pop().unwrap_or_default();
        }
        let written = &mut written[quantity as usize];
        let accumulate = if *written { Accumulate::Add } else { Accumulate::Replace };
        *written = true;
        let values = of_step.of_mut(quantity);
        values.resize(n, T::ZERO);
        (values, accumulate)
    }

    /// Where to add n coefficients of one quantity of a step, which are 0 where none were written.
    #[inline(always)]
    pub(super) fn zeros(&mut self, step: usize, quantity: Quantity, n: usize) -> &mut [T] {
        let (values, accumulate) = self.slot(step, quantity, n);
        if accumulate == Accumulate::Replace {
            values.fill(T::ZERO);
        }
        values
    }

    /// Makes sure that all three quantities of a step have been written.
    pub(super) fn write_zeros(&mut self, step: usize, n: usize) {
        for quantity in QUANTITIES {
            self.zeros(step, quantity, n);
        }
    }

    /// Takes the n coefficients of a step, with 0 where nothing was written, and says which quantities were. `None` if
    /// none was.
    #[inline(always)]
    pub(super) fn take(&mut self, step: usize, n: usize) -> Option<(Coefficients<T>, [bool; 3])> {
        let written = self.written[step];
        if written == [false; 3] {
            return None;
        }
        let mut coefficients = std::mem::take(&mut self.steps[step]);
        for (quantity, _) in QUANTITIES.into_iter().zip(written).filter(|(_, written)| !written) {
            let values = coefficients.of_mut(quantity);
            values.clear();
            values.resize(n, T::ZERO);
        }
        Some((coefficients, written))
    }

    /// Space for n numbers of each quantity, with anything in them.
    #[inline(always)]
    pub(super) fn space(&mut self, n: usize) -> Coefficients<T> {
        let mut space = self.spare.pop().unwrap_or_default();
        space.resize(n);
        space
    }

    /// Gives space back.
    #[inline(always)]
    pub(super) fn free(&mut self, coefficients: Coefficients<T>) {
        self.spare.push(coefficients);
    }

    /// Keeps the values of a step for its readers.
    #[inline(always)]
    pub(super) fn keep(&mut self, step: usize, values: Coefficients<T>) {
        self.steps[step] = values;
    }

    /// The numbers of a step, to be changed.
    #[inline(always)]
    pub(super) fn of_mut(&mut self, step: usize) -> &mut Coefficients<T> {
        &mut self.steps[step]
    }

    /// The values of a step that were kept.
    #[inline(always)]
    pub(super) fn of(&self, step: usize) -> &Coefficients<T> {
        &self.steps[step]
    }

    /// Frees the values of a step.
    #[inline(always)]
    pub(super) fn forget(&mut self, step: usize) {
        let values = std::mem::take(&mut self.steps[step]);
        self.spare.push(values);
    }
}

/// How long the numbers of each step live.
#[derive(Debug, Clone)]
pub(super) struct Lifetimes {
    /// The last step that reads a step, or the step itself if none does.
    pub(super) last_reader: Vec<usize>,
    /// The most rows of all steps that are under way at once, in a pass backwards.
    pub(super) widest: usize,
}

impl Lifetimes {
    pub(super) fn of(pair: &Pair) -> Self {
        let depth = pair.depth();
        let mut last_reader: Vec<usize> = (0..depth).collect();
        for (s, difference) in pair.difference.iter().enumerate() {
            for term in &difference.terms {
                if let Origin::Step(j) = term.origin {
                    last_reader[j] = last_reader[j].max(s);
                }
            }
        }
        let rows = |s: usize| pair.first[s].rows;
        // When step s is read backwards, the steps before it that s or a later step reads are there as well.
        let under_way = |s: usize| rows(s) + (0..s).filter(|&j| last_reader[j] >= s).map(rows).sum::<usize>();
        let widest = (0..depth).map(under_way).max().unwrap_or(0);
        Self { last_reader, widest }
    }
}
