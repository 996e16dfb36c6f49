//! Forward propagation of a box through a pair ([VD], Algorithm `Reach_Delta`): step by step the affine terms, their
//! bounds, and the transformers of the step's function. One [`Propagation`] is one worker's workspace.
//!
//! Nothing is allocated per box once the largest shapes have been seen. The states of all steps are kept, because the
//! split score walks back through them; but of forms behind functions, where nothing rounds ([`super::value_form`]), only the memory,
//! for later steps: of the first box of a graph half of the time went into memory that was never written to. Where memory is short
//! forms in front of functions are given up, too, as soon as the next step would not fit beside them.

use super::abstract_domain::AbstractDomain;
use super::back_substitution::BackSubstitution;
use super::clock::Clock;
use super::columns::Columns;
use super::input_products::InputProducts;
use super::intermediate_bounds::{Contradiction, IntermediateBounds, LayerBounds};
use super::intervals;
use super::kept_memory::States;
use super::layer_state::{Generators, LayerState, SpareForms};
use super::output::Output;
use super::preactivation::{Buffers, Input};
use crate::network::{Origin, Pair};

/// Why a propagation gave no enclosure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Numbers left the range of binary64, so that nothing is known.
    Overflow,
    /// The forms of a step would take more memory than is allowed, so that they were not made.
    TooLarge,
    /// The time of the search was over before the last step.
    Stopped,
    /// What was known before excludes what was found, so that no input satisfies the assumption.
    Contradiction,
}

impl From<Contradiction> for Failure {
    fn from(_: Contradiction) -> Self {
        Self::Contradiction
    }
}

/// A workspace for propagating boxes through one pair.
#[derive(Debug)]
pub struct Propagation {
    domain: AbstractDomain,
    states: States,
    generators: Generators,
    input: Input,
    buffers: Buffers,
    back_substitution: Option<BackSubstitution>,
    substituting: bool,
    audited: bool,
    flops: u64,
    memory: usize,
    products: Option<InputProducts>,
    whole: bool,
    finished: usize,
}

impl Propagation {
    /// A workspace for pairs of this depth.
    #[must_use]
    pub fn new(domain: AbstractDomain, depth: usize) -> Self {
        Self {
            domain,
            states: States::new(depth),
            generators: Generators::default(),
            input: Input::default(),
            buffers: Buffers::default(),
            back_substitution: None,
            substituting: true,
            audited: false,
            flops: 0,
            memory: usize::MAX,
            products: None,
            whole: false,
            finished: 0,
        }
    }

    /// The same workspace, whose forms take at most about so many bytes: a propagation that needs more gives up
    /// ([`Failure::TooLarge`]) before it takes them.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// The same workspace, which gives up in front of or within a step with large forms once the clock is over
    /// ([`Failure::Stopped`]).
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.buffers.parts.clock = clock;
        self
    }

    /// The same workspace, in which each network of a sequence is also bounded by itself ([`super::back_substitution`]) where
    /// nothing is assumed; only in the domain with the reduced product, since the others are as published.
    #[must_use]
    pub fn with_back_substitution(self, wanted: bool) -> Self {
        let wanted = wanted && self.domain == AbstractDomain::Reduced;
        Self { back_substitution: wanted.then(BackSubstitution::default), ..self }
    }

    /// The same workspace, in which the slopes of such bounds depend on where each of them is expected to be attained
    /// ([`super::corner_slopes`]), or do not.
    #[must_use]
    pub fn with_corner_slopes(self, wanted: bool) -> Self {
        Self { back_substitution: self.back_substitution.map(|_| BackSubstitution::new(wanted)), ..self }
    }

    /// The same workspace, for a certificate or not: its auditor neither asks for intervals where a function is not defined on all
    /// of a range, nor knows planes around a difference ([`super::difference_plane`]).
    #[must_use]
    pub fn for_certificate(self, audited: bool) -> Self {
        Self { audited, ..self }
    }

    /// The same workspace, in which forms are of second order behind functions other than ReLU ([`super::input_products`]), in
    /// the domain with the reduced product. Splits of inputs cannot be rated by them.
    #[must_use]
    pub fn of_second_order(self) -> Self {
        Self { products: (self.domain == AbstractDomain::Reduced).then(InputProducts::default), ..self }
    }

    /// Whether each network is also bounded by itself on a box without assumptions; if it is, that can be switched off
    /// for a while ([`Self::substitute`]).
    #[must_use]
    pub fn substitutes(&self, pair: &Pair) -> bool {
        self.back_substitution.is_some() && pair.is_sequence()
    }

    /// Whether the next propagations bound each network by itself where they can.
    pub fn substitute(&mut self, wanted: bool) {
        self.substituting = wanted;
    }

    /// The states of all steps after the last propagation. The forms of the last step are those of the outputs. There
    /// are none after a propagation that gave no enclosure, because the states are then those of two propagations.
    #[must_use]
    pub fn layers(&self) -> &[LayerState] {
        if self.whole { &self.states.layers } else { &[] }
    }

    /// The states of the steps that the last propagation has done, also where it gave no enclosure in the end.
    #[must_use]
    pub fn finished(&self) -> &[LayerState] {
        &self.states.layers[..self.finished]
    }

    /// Additions and multiplications of all propagations so far that the terms themselves need: products over active
    /// rows, and scaled columns; not the bounds of rounding.
    #[must_use]
    pub fn flops(&self) -> u64 {
        self.flops
    }

    /// The centre of the last box.
    #[must_use]
    pub fn centre(&self) -> &[f64] {
        &self.input.centre
    }

    /// The radius of the last box, rounded up, so that |x - centre| <= radius.
    #[must_use]
    pub fn radius(&self) -> &[f64] {
        &self.input.radius
    }

    /// Propagates the box lower <= x <= upper. Returns `None` if nothing is known, as [`Self::enclose`] says why.
    pub fn propagate(&mut self, pair: &Pair, lower: &[f64], upper: &[f64]) -> Option<Output<'_>> {
        self.enclose(pair, lower, upper).ok()
    }

    /// Propagates the box lower <= x <= upper, with nothing else known or assumed.
    pub fn enclose(&mut self, pair: &Pair, lower: &[f64], upper: &[f64]) -> Result<Output<'_>, Failure> {
        self.run(pair, (lower, upper), None)?;
        Ok(Output::new(&self.states.layers[pair.depth() - 1], self.generators.inputs, self.domain))
    }

    /// Propagates a box on which bounds are known or assumed. They help to choose the phases, and where they exclude
    /// what is found there is a contradiction.
    pub fn propagate_within(&mut self, pair: &Pair, known: &IntermediateBounds) -> Result<Output<'_>, Failure> {
        self.run(pair, (&known.lower, &known.upper), Some(known))?;
        Ok(Output::new(&self.states.layers[pair.depth() - 1], self.generators.inputs, self.domain))
    }

    fn run(
        &mut self,
        pair: &Pair,
        (lower, upper): (&[f64], &[f64]),
        known: Option<&IntermediateBounds>,
    ) -> Result<(), Failure> {
        (self.whole, self.finished) = (false, 0);
        self.input.set(lower, upper);
        let (depth, difference) = (pair.depth(), self.domain != AbstractDomain::Independent);
        if let Some(products) = &mut self.products {
            *products = InputProducts::of((lower, upper));
        }
        self.generators.reset(pair.inputs() + self.products.as_ref().map_or(0, InputProducts::count));
        let keep = bytes(pair) <= KEPT && self.products.is_none();
        let keep_behind = keep && pair.rounds();
        let takes_up = self.domain == AbstractDomain::Reduced && !self.audited && !pair.rounds();
        let mut back_substitution =
            self.back_substitution.as_mut().filter(|_| self.substituting && known.is_none() && pair.is_sequence());
        let States { layers, spare } = &mut self.states;
        for l in 0..depth {
            let (before, after) = layers.split_at_mut(l);
            let needed = LayerState::bytes_needed((before, &self.input), &self.generators, (pair, l));
            if held(before, spare).saturating_add(needed) > self.memory {
                // No later step reads what is in front of functions.
                before.iter_mut().for_each(LayerState::drop_forms);
                spare.clear();
                if held(before, spare).saturating_add(needed) > self.memory {
                    return Err(Failure::TooLarge);
                }
            }
            let (layer, from) = (&mut after[0], (&*before, &self.input));
            self.buffers.parts.over = needed > LARGE && self.buffers.parts.clock.over();
            if self.buffers.parts.over {
                return Err(Failure::Stopped);
            }
            let made = layer.apply_affine(from, &self.generators, (pair, l), difference, &mut self.buffers);
            let operations = made.ok_or(Failure::Stopped)?;
            self.flops += operations as u64;
            layer.bound(difference);
            if !(layer.x.finite() && layer.y.finite() && layer.d.finite()) {
                return Err(Failure::Overflow);
            }
            if let Some(known) = known.map(|k| &k.layers[l]) {
                layer.x.intersect(&known.x)?;
                layer.y.intersect(&known.y)?;
                layer.d.intersect(&known.d)?;
            }
            if !self.audited && l + 1 < depth && intervals::leaves_domain(pair, l, &layer.x, &layer.y) {
                let met = meet_intervals(pair, l, before, layer, (lower, upper));
                // Two enclosures of one box have a point in common; only under an assumption may they have none.
                met.map_err(|none| if known.is_some() { none.into() } else { Failure::Overflow })?;
            }
            if l + 1 < depth {
                let is_function = !pair.function(l).is_identity();
                if let Some(back_substitution) = back_substitution.as_deref_mut().filter(|_| l > 0 && is_function) {
                    self.flops += back_substitution.tighten(pair, l, (from.0, layer), (lower, upper)) as u64;
                }
                let functions = (pair.function(l), &pair.second[l].function);
                layer.after.reuse(spare);
                let generators = (&mut self.generators, self.products.as_ref());
                layer.apply_function(functions, (self.domain, !self.audited, takes_up), generators);
            }
            if let Some(back_substitution) = back_substitution.as_deref_mut().filter(|_| l + 2 < depth) {
                back_substitution.take_step(pair, l, &layers[..=l], (lower, upper));
            }
            if !keep && l + 1 < depth {
                layers[l].drop_forms();
            }
            if !keep_behind {
                release(layers, pair, l, keep.then_some(&mut *spare));
            }
            self.finished = l + 1;
        }
        if !difference {
            layers[depth - 1].difference_of_outputs(pair.inputs());
        }
        self.whole = true;
        Ok(())
    }
}

/// The bytes of the forms of these steps, and of what is kept for later ones.
fn held(before: &[LayerState], spare: &[SpareForms]) -> usize {
    let forms = before.iter().map(LayerState::bytes);
    forms.chain(spare.iter().flatten().map(Columns::bytes)).sum()
}

/// Intersects the bounds of a step, which are finite, with what intervals of the steps that it reads say.
fn meet_intervals(
    pair: &Pair,
    l: usize,
    before: &[LayerState],
    layer: &mut LayerState,
    (lower, upper): (&[f64], &[f64]),
) -> Result<(), Contradiction> {
    let read = |j: usize| pair.difference[l].terms.iter().any(|term| term.origin == Origin::Step(j));
    let known = |(j, state): (usize, &LayerState)| {
        if !read(j) {
            return LayerBounds::default();
        }
        LayerBounds { x: state.x.clone(), y: state.y.clone(), d: state.d.clone() }
    };
    let layers = before.iter().enumerate().map(known).collect();
    let bounds = IntermediateBounds { lower: lower.to_vec(), upper: upper.to_vec(), layers, ..Default::default() };
    let found = intervals::of_step(pair, l, &bounds);
    layer.x.intersect(&found.x)?;
    layer.y.intersect(&found.y)?;
    layer.d.intersect(&found.d)
}

/// Frees the forms behind the functions of the steps of which step l, which is done, was the last reader; their memory is kept
/// for later steps where it is asked for.
fn release(layers: &mut [LayerState], pair: &Pair, l: usize, mut spare: Option<&mut Vec<SpareForms>>) {
    for term in &pair.difference[l].terms {
        if let Origin::Step(j) = term.origin
            && pair.last_reader(j) == l
        {
            let forms = layers[j].after.take_forms();
            if let Some(spare) = spare.as_deref_mut() {
                spare.push(forms);
            }
        }
    }
}

/// The bytes of the forms of a step in front of which it is worth a look at the clock.
const LARGE: usize = 1 << 20;

/// Forms that take more memory than this are freed as soon as no step reads them any more. Then splits of inputs are
/// rated without them, which matters little where inputs are so many that forms are so large.
const KEPT: usize = 256 << 20;

/// About how much memory the forms of all steps take, with the generators of the inputs alone: three forms before and
/// three behind each function.
fn bytes(pair: &Pair) -> usize {
    6 * 8 * (1 + pair.inputs()) * pair.first.iter().map(|step| step.rows).sum::<usize>()
}
