//! Two networks in lock-step: the same steps, with the same number of values, and the difference of their weights. The
//! functions of a step are ReLU in both networks, or the identity in both, or others, which may differ.
//!
//! Steps that belong to one network alone stand beside a step of the other one that has no terms and no bias: all its
//! values are 0, and nothing reads them.
//!
//! For every origin that the two steps read, the difference d = x - y is
//!     d_s = sum over origins of A1 D + (A1 - A2) Y,  and b1 - b2,
//! where a term that only one network has counts as 0 in the other.
//!
//! A row of a step may be *shared*: the exact weights and the exact bias of that row are the same real numbers in both
//! networks. That is so where both store them exactly and equally, and where the caller says so of numbers that floats
//! cannot hold (both files define them in the same way). Then the errors of the two rows are not independent: A1 - A2
//! and b1 - b2 are exactly zero there, and of the difference of the networks only A1 D is left.

use super::function::{Curves, Function};
use super::step::{Affine, Origin, Step, Term};
use super::tile::Tile;
use crate::curve::Curve;
use crate::error::{Error, same_size};

/// What the terms of one origin give to a difference.
#[derive(Debug, Clone)]
pub struct DifferenceTerm {
    /// What is read.
    pub origin: Origin,
    /// The number of f1's term, if f1 has one: its tile multiplies D.
    pub first: Option<usize>,
    /// The number of f2's term, if f2 has one.
    pub second: Option<usize>,
    /// A1 - A2, each entry rounded once (the enclosure pays a unit roundoff for it): it multiplies Y.
    pub tile: Tile,
    /// Whether the stored A1 and A2 are equal, so that products with the difference can be left out.
    pub zero: bool,
}

/// The difference of two steps.
#[derive(Debug, Clone)]
pub struct Difference {
    /// Terms by origin.
    pub terms: Vec<DifferenceTerm>,
    /// b1 - b2, each entry rounded once.
    pub bias: Vec<f64>,
    /// Which rows are shared.
    pub shared: Vec<bool>,
}

/// A reference network f1 and a candidate f2 in step.
#[derive(Debug, Clone)]
pub struct Pair {
    inputs: usize,
    chain: bool,
    sequence: bool,
    last_readers: Vec<usize>,
    /// Steps of f1.
    pub first: Vec<Step>,
    /// Steps of f2.
    pub second: Vec<Step>,
    /// The difference of each step.
    pub difference: Vec<Difference>,
}

impl Pair {
    /// Pairs two chains of dense layers; depth and widths must agree.
    pub fn new(first: Vec<Affine>, second: Vec<Affine>) -> Result<Self, Error> {
        Self::sharing(first, second, Vec::new())
    }

    /// Pairs two chains of which the caller knows that some rows are the same real numbers; see [`Self::of_steps`].
    pub fn sharing(first: Vec<Affine>, second: Vec<Affine>, shared: Vec<Vec<bool>>) -> Result<Self, Error> {
        same_size("candidate (number of layers)", second.len(), first.len())?;
        let Some(inputs) = first.first().map(Affine::columns) else {
            return Err(Error::EmptyNetwork);
        };
        for (l, (a, b)) in first.iter().zip(&second).enumerate() {
            same_size(format!("columns of candidate layer {l}"), b.columns(), a.columns())?;
            if l > 0 {
                same_size(format!("columns of layer {l}"), a.columns(), first[l - 1].rows())?;
            }
        }
        Self::of_steps(inputs, Step::chain(first), Step::chain(second), shared)
    }

    /// Pairs two programs over the same inputs, of which the caller knows that some rows are the same real numbers: one
    /// list per step, empty for a step without any, or no list at all. What is stored for such rows, errors included,
    /// must be equal, and so must be what their terms read, in the same order.
    pub fn of_steps(inputs: usize, first: Vec<Step>, second: Vec<Step>, shared: Vec<Vec<bool>>) -> Result<Self, Error> {
        same_size("candidate (number of steps)", second.len(), first.len())?;
        if inputs == 0 || first.is_empty() || first.iter().any(|step| step.rows == 0) {
            return Err(Error::EmptyNetwork);
        }
        for (s, (a, b)) in first.iter().zip(&second).enumerate() {
            same_size(format!("rows of candidate step {s}"), b.rows, a.rows)?;
            let fitting_function = s + 1 < first.len() || a.function.is_identity();
            if !fitting_function || !a.function.is_like(&b.function) {
                let accepted = "ReLU in both networks, or no function, or others; the last step has none";
                return Err(Error::Value { name: "function", value: format!("{:?}", b.function), accepted });
            }
            for (network, step) in [(&first, a), (&second, b)] {
                fitting(inputs, &network[..s], step)?;
            }
        }
        let mut shared = shared;
        if shared.is_empty() {
            shared.resize(first.len(), Vec::new());
        }
        same_size("shared (number of steps)", shared.len(), first.len())?;
        for (s, (rows, (a, b))) in shared.iter_mut().zip(first.iter().zip(&second)).enumerate() {
            if rows.is_empty() {
                rows.resize(a.rows, false);
            }
            same_size(format!("shared rows of step {s}"), rows.len(), a.rows)?;
            if rows.contains(&true) {
                let equal = stored_equally(a, b);
                if (0..a.rows).any(|i| rows[i] && !equal[i]) {
                    let accepted = "rows whose numbers and errors are equal in both networks";
                    return Err(Error::Value { name: "shared", value: format!("a row of step {s}"), accepted });
                }
            }
        }
        Ok(Self::with_difference(inputs, first, second, shared))
    }

    /// Rows that are equal and exact are shared, whether or not `shared` names them.
    fn with_difference(inputs: usize, first: Vec<Step>, second: Vec<Step>, shared: Vec<Vec<bool>>) -> Self {
        let steps = first.iter().zip(&second).zip(shared);
        let difference = steps.map(|((a, b), shared)| Difference::of(a, b, shared)).collect();
        let chain = is_chain(&first) && is_chain(&second);
        let sequence = is_sequence(&first) && is_sequence(&second);
        let mut last_readers: Vec<usize> = (0..first.len()).collect();
        for (s, steps) in first.iter().zip(&second).enumerate() {
            for term in steps.0.terms.iter().chain(&steps.1.terms) {
                if let Origin::Step(j) = term.origin {
                    last_readers[j] = s;
                }
            }
        }
        Self { inputs, chain, sequence, last_readers, first, second, difference }
    }

    /// Whether any function goes up in steps.
    #[must_use]
    pub fn rounds(&self) -> bool {
        self.kinds().any(Curve::is_stepped)
    }

    /// Whether one of them has quantisers whose rounding is exact in floats.
    #[must_use]
    pub fn rounds_exactly(&self) -> bool {
        self.kinds().any(Curve::rounds_exactly)
    }

    /// The functions other than ReLU of both networks.
    fn kinds(&self) -> impl Iterator<Item = &Curve> {
        let curves = self.first.iter().chain(&self.second).filter_map(|step| step.function.curves());
        curves.flat_map(Curves::kinds)
    }

    /// Each of the two networks paired with itself, f1 first.
    pub fn twins(&self) -> Result<[Self; 2], Error> {
        let twins = |steps: &Vec<Step>| Self::of_steps(self.inputs, steps.clone(), steps.clone(), Vec::new());
        Ok([twins(&self.first)?, twins(&self.second)?])
    }

    /// I, the number of inputs.
    #[must_use]
    #[inline(always)]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Sets the number of inputs, for whoever selects columns of the first layer of a chain.
    pub(crate) fn set_inputs(&mut self, inputs: usize) {
        self.inputs = inputs;
    }

    /// O, the number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.first[self.first.len() - 1].rows
    }

    /// Whether both networks are chains of dense layers with ReLU between them.
    #[must_use]
    #[inline(always)]
    pub fn is_chain(&self) -> bool {
        self.chain
    }

    /// Whether each step of both networks is one term of the step before it, of which no number is read twice for a row.
    /// Every chain is such a sequence.
    #[must_use]
    #[inline(always)]
    pub fn is_sequence(&self) -> bool {
        self.sequence
    }

    /// Whether both networks are the same function because every exact weight and bias is the same.
    #[must_use]
    pub fn identical(&self) -> bool {
        let alike = |(a, b): (&Step, &Step)| a.function == b.function;
        self.difference.iter().all(|d| d.shared.iter().all(|&s| s)) && self.first.iter().zip(&self.second).all(alike)
    }

    /// The number of steps.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.first.len()
    }

    /// The function of step s in f1; that of f2 is ReLU or the identity where this is.
    #[must_use]
    #[inline(always)]
    pub fn function(&self, s: usize) -> &Function {
        &self.first[s].function
    }

    /// The functions of step s in both networks, where they are neither ReLU nor the identity.
    #[must_use]
    #[inline(always)]
    pub fn curves(&self, s: usize) -> Option<[&Curves; 2]> {
        Some([self.first[s].function.curves()?, self.second[s].function.curves()?])
    }

    /// The last step that reads step s in either network; s itself if none does.
    #[must_use]
    #[inline(always)]
    pub fn last_reader(&self, s: usize) -> usize {
        self.last_readers[s]
    }

    /// The number of values that an origin has.
    #[must_use]
    #[inline(always)]
    pub fn width(&self, origin: Origin) -> usize {
        match origin {
            Origin::Inputs => self.inputs,
            Origin::Step(s) => self.first[s].rows,
        }
    }

    /// The pair as a function of the `free` inputs alone, the others fixed to `values`. Inputs of zero width cost
    /// nothing from here on.
    #[must_use]
    pub fn specialise(&self, free: &[usize], values: &[f64]) -> Self {
        let specialised = |steps: &[Step]| steps.iter().map(|step| step.specialise(free, values)).collect();
        // The same weights times the same values join the same bias, and are rounded alike: what is shared stays so.
        let shared = self.difference.iter().map(|d| d.shared.clone()).collect();
        Self::with_difference(free.len(), specialised(&self.first), specialised(&self.second), shared)
    }
}

impl Difference {
    fn of(a: &Step, b: &Step, mut shared: Vec<bool>) -> Self {
        let equal = stored_equally(a, b);
        let (exact_a, exact_b) = (exact_rows(a), exact_rows(b));
        for (i, s) in shared.iter_mut().enumerate() {
            *s = *s || (exact_a[i] && exact_b[i] && equal[i]);
        }
        let bias = subtract(&a.bias, &b.bias);
        Self { terms: difference_terms(&a.terms, &b.terms), bias, shared }
    }
}

/// Pairs the terms of two steps that read the same in the same way; the others stand alone.
fn difference_terms(first: &[Term], second: &[Term]) -> Vec<DifferenceTerm> {
    let mut taken = vec![false; second.len()];
    let mut terms = Vec::with_capacity(first.len());
    for (i, Term { origin, tile }) in first.iter().enumerate() {
        let alike = |(k, other): (usize, &Term)| {
            (!taken[k] && other.origin == *origin && other.tile.reads_like(tile)).then_some(k)
        };
        let partner = second.iter().enumerate().find_map(alike);
        let weight = match partner {
            Some(k) => {
                taken[k] = true;
                subtract(&tile.weight, &second[k].tile.weight)
            }
            None => tile.weight.clone(),
        };
        // Subtraction underflows gradually: a zero difference means equal weights.
        let zero = weight.iter().all(|&w| w == 0.0);
        let tile = tile.with_weight(weight);
        terms.push(DifferenceTerm { origin: *origin, first: Some(i), second: partner, tile, zero });
    }
    for (k, Term { origin, tile }) in second.iter().enumerate().filter(|(k, _)| !taken[*k]) {
        let weight: Vec<f64> = tile.weight.iter().map(|w| -w).collect();
        let zero = weight.iter().all(|&w| w == 0.0);
        let tile = tile.with_weight(weight);
        terms.push(DifferenceTerm { origin: *origin, first: None, second: Some(k), tile, zero });
    }
    terms
}

fn subtract(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

/// Whether a step reads only what comes before it, and as much as there is.
fn fitting(inputs: usize, before: &[Step], step: &Step) -> Result<(), Error> {
    for Term { origin, tile } in &step.terms {
        let width = match *origin {
            Origin::Inputs => inputs,
            Origin::Step(j) => before.get(j).map_or(0, |step| step.rows),
        };
        same_size(format!("columns of a term of step {}", before.len()), tile.columns, width)?;
    }
    Ok(())
}

/// Whether steps are dense, each reads the one before it, and ReLU stands between them.
fn is_chain(steps: &[Step]) -> bool {
    let last = steps.len() - 1;
    steps.iter().enumerate().all(|(l, step)| {
        let origin = if l == 0 { Origin::Inputs } else { Origin::Step(l - 1) };
        let function = if l == last { Function::Identity } else { Function::Relu };
        step.dense().is_some() && step.terms[0].origin == origin && step.function == function
    })
}

/// Whether each step is one term of the one before it, of which no number is read twice for a row.
fn is_sequence(steps: &[Step]) -> bool {
    steps.iter().enumerate().all(|(s, step)| {
        let origin = if s == 0 { Origin::Inputs } else { Origin::Step(s - 1) };
        matches!(&step.terms[..], [term] if term.origin == origin && term.tile.repeats() <= 1)
    })
}

/// For every row whether its numbers are stored equally in both steps, errors included; without errors they count as
/// zero.
fn stored_equally(a: &Step, b: &Step) -> Vec<bool> {
    let alike = a.terms.len() == b.terms.len()
        && a.terms.iter().zip(&b.terms).all(|(x, y)| x.origin == y.origin && x.tile.reads_like(&y.tile));
    if !alike {
        return vec![false; a.rows];
    }
    let error = |e: &Option<Vec<f64>>, i: usize| e.as_ref().map_or(0.0, |e| e[i]);
    let bias = |i: usize| a.bias[i] == b.bias[i] && error(&a.bias_error, i) == error(&b.bias_error, i);
    let mut equal: Vec<bool> = (0..a.rows).map(bias).collect();
    for (x, y) in a.terms.iter().zip(&b.terms) {
        let (x, y) = (&x.tile, &y.tile);
        let kernel =
            |i: usize| x.of_kernel(&x.weight, i).eq(y.of_kernel(&y.weight, i)) && error_of(x, i).eq(error_of(y, i));
        let kernels: Vec<bool> = (0..x.groups * x.outputs).map(kernel).collect();
        equal.iter_mut().enumerate().for_each(|(i, e)| *e = *e && kernels[x.kernel(i)]);
    }
    equal
}

/// The errors of a kernel's weights, 0 where there are none.
fn error_of(tile: &Tile, kernel: usize) -> impl Iterator<Item = f64> + '_ {
    let errors = tile.weight_error.as_deref();
    let zeros = if errors.is_none() { tile.taps } else { 0 };
    errors.into_iter().flat_map(move |e| tile.of_kernel(e, kernel)).chain(std::iter::repeat_n(0.0, zeros))
}

/// For every row whether its numbers are exact.
fn exact_rows(step: &Step) -> Vec<bool> {
    let mut exact: Vec<bool> = match &step.bias_error {
        None => vec![true; step.rows],
        Some(errors) => errors.iter().map(|&e| e == 0.0).collect(),
    };
    for tile in step.terms.iter().map(|t| &t.tile).filter(|tile| tile.weight_error.is_some()) {
        let kernels: Vec<bool> = (0..tile.groups * tile.outputs).map(|i| error_of(tile, i).all(|e| e == 0.0)).collect();
        exact.iter_mut().enumerate().for_each(|(i, e)| *e = *e && kernels[tile.kernel(i)]);
    }
    exact
}
