//! Contraction under an assumed violation.
//!
//! Suppose an obligation is violated somewhere in a box: its guard and its violation hold there. Under these two linear facts about the outputs the bounds of
//! inner neurons, of their differences and of the inputs shrink; shrunken bounds make better relaxations; and so on, until something becomes impossible
//! (then nothing is violated: proved) or the rounds stop paying.
//!
//! Sound because every bound is valid for every input that satisfies the assumption and lies in the box. What is contracted is worth nothing outside the proof
//! that assumed it: bounds goes in and out by value, for one obligation.

use super::assumption::Assumption;
use super::backward::{Backward, Functional};
use super::branching::SplitCandidates;
use super::contraction_log::{ContractionLog, shorten};
use super::parameters::Parameters;
use crate::domain::Propagation;
use crate::domain::intermediate_bounds::{Contradiction, IntermediateBounds};
use crate::domain::phase::Bounds;
use crate::domain::propagation::Failure;
use crate::network::Pair;
use std::sync::Arc;

/// How much to spend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContractionBudget {
    /// At most so many rounds.
    pub rounds: usize,
    /// Steps per round.
    pub steps: i32,
    /// Step size of the multipliers; large steps hardly move a batch.
    pub rate: f64,
    /// Inputs are contracted too if there are at most so many, and so are both networks' neurons rather than one's and the differences.
    pub inputs: usize,
    /// Rounds go on while the violation's bound falls at least by this factor.
    pub gain: f64,
    /// Whether links may move.
    pub link: bool,
}

impl Default for ContractionBudget {
    fn default() -> Self {
        Self { rounds: 8, steps: 60, rate: 0.02, inputs: 64, gain: 0.9, link: true }
    }
}

/// Bounds are taken at every so many steps; between them only the gradient is.
const BOUND_EVERY: i32 = 3;

/// A bound is worth keeping in a recorded proof if it cuts off this share of what was possible.
const NOTICEABLE_SHARE: f64 = 0.005;

/// What is left of a violation.
#[derive(Debug, Clone)]
pub struct Contraction {
    /// Bounds under the assumption.
    pub bounds: IntermediateBounds,
    /// An upper bound of the violation.
    pub bound: f64,
    /// Ways to split what is left, the most promising first.
    pub candidates: SplitCandidates,
    /// The input at which the last bound of the violation is attained by the relaxation.
    pub minimiser: Vec<f64>,
    /// The multipliers of the last round: a good start on any part of what is left.
    pub warm: Option<Arc<WarmStart>>,
}

/// Multipliers of earlier functionals. Any values are valid anywhere; near the place they were tuned for they are good.
#[derive(Debug, Clone, Default)]
pub struct WarmStart {
    functionals: Vec<Functional>,
    parameters: Parameters,
}

impl WarmStart {
    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        std::mem::size_of_val(self.functionals.as_slice()) + self.parameters.bytes()
    }
}

/// The outcome for one obligation.
#[derive(Debug, Clone)]
pub enum ContractionResult {
    /// No violation in the box.
    Proved,
    /// Still possible.
    Open(Box<Contraction>),
}

/// Contracts bounds for one pair; reusable.
pub struct Contractor<'a> {
    pub(super) pair: &'a Pair,
    pub(super) backward: Backward<'a>,
    best: Vec<f64>,
    /// What was bounded since it was last emptied, if that is to be kept.
    pub log: Option<ContractionLog>,
}

impl<'a> Contractor<'a> {
    /// For a pair.
    #[must_use]
    pub fn new(pair: &'a Pair) -> Self {
        Self { pair, backward: Backward::new(pair), best: Vec::new(), log: None }
    }

    /// Additions and multiplications in matrix products so far.
    #[must_use]
    pub fn flops(&self) -> u64 {
        self.backward.flops
    }

    /// The same, keeping what is bounded or not.
    #[must_use]
    pub fn recording(mut self, kept: bool) -> Self {
        self.log = kept.then(ContractionLog::default);
        self
    }

    /// Contracts `bounds` under `assumption` until contradiction or until the effort is spent; `stop` may end it early.
    pub fn contract(
        &mut self,
        mut bounds: IntermediateBounds,
        warm: Option<&WarmStart>,
        assumption: &Assumption,
        effort: ContractionBudget,
        reach: &mut Propagation,
        stop: impl Fn() -> bool,
    ) -> ContractionResult {
        let mut latest: Option<WarmStart> = None;
        let mut taken = 0;
        let mut bound = f64::INFINITY;
        let (mut candidates, mut minimiser) = (SplitCandidates::default(), Vec::new());
        for _ in 0..effort.rounds {
            let functionals = Self::functionals(&bounds, effort);
            self.backward.set_bounds(&bounds);
            let mut current = self.start(latest.as_ref().or(warm), &functionals, assumption);
            current.optimise_links = effort.link;
            self.best.clear();
            self.best.resize(functionals.len(), f64::NEG_INFINITY);
            for step in 1..=effort.steps {
                if step % BOUND_EVERY == 0 || step == effort.steps || step == 1 {
                    let bounds = self.backward.evaluate(&functionals, assumption, &current);
                    self.best.iter_mut().zip(bounds).for_each(|(b, v)| *b = b.max(*v));
                    if assumption.contradicted_by(self.best[0]) {
                        if self.record_target(assumption, &current) {
                            return ContractionResult::Proved;
                        }
                        // The workspace goes on from the whole batch.
                        self.best[0] = f64::NEG_INFINITY;
                        self.backward.evaluate(&functionals, assumption, &current);
                    }
                    if step == effort.steps || stop() {
                        break;
                    }
                } else {
                    self.backward.evaluate_coefficients(&functionals, assumption, &current);
                }
                taken += 1;
                self.backward.ascend(&functionals, assumption, &mut current, effort.rate, taken);
            }
            self.record_round(&bounds, &functionals, assumption, &mut current);
            candidates = self.backward.candidates(&bounds);
            minimiser = self.backward.minimiser();
            let before = bound;
            bound = bound.min(-self.best[0]);
            if self.tighten(&mut bounds, &functionals).is_err() {
                return ContractionResult::Proved;
            }
            bounds.reduce();
            match reach.propagate_within(self.pair, &bounds) {
                Err(Failure::Contradiction) => return ContractionResult::Proved,
                Err(Failure::Overflow) => break,
                Ok(_) => {
                    if bounds.intersect(reach.layers()).is_err() {
                        return ContractionResult::Proved;
                    }
                    bounds.reduce();
                }
            }
            latest = Some(WarmStart { functionals, parameters: current });
            if stop() || bound > effort.gain * before {
                break;
            }
        }
        let warm = latest.map(|mut warm| {
            warm.parameters.drop_moments();
            Arc::new(warm)
        });
        ContractionResult::Open(Box::new(Contraction { bounds, bound, candidates, minimiser, warm }))
    }

    /// The target first, then both bounds of everything that is not settled.
    fn functionals(bounds: &IntermediateBounds, effort: ContractionBudget) -> Vec<Functional> {
        let mut list = vec![Functional::Target];
        let hidden = bounds.layers.len() - 1;
        // On wide networks y is left to x and d, of which it is the difference: a third less to do, which buys more than y's own bounds.
        let wide = bounds.lower.len() > effort.inputs;
        for (layer, known) in bounds.layers[..hidden].iter().enumerate() {
            for neuron in 0..known.x.lower.len() {
                let unstable = |lower: f64, upper: f64| lower < 0.0 && upper > 0.0;
                let x = unstable(known.x.lower[neuron], known.x.upper[neuron]);
                let y = unstable(known.y.lower[neuron], known.y.upper[neuron]);
                for negative in [false, true] {
                    if x {
                        list.push(Functional::First { layer, neuron, negative });
                    }
                    if y && !(x && wide) {
                        list.push(Functional::Second { layer, neuron, negative });
                    }
                    if x && y {
                        list.push(Functional::Difference { layer, neuron, negative });
                    }
                }
            }
        }
        if bounds.lower.len() <= effort.inputs {
            for input in 0..bounds.lower.len() {
                if bounds.lower[input] < bounds.upper[input] {
                    list.push(Functional::Input { input, negative: false });
                    list.push(Functional::Input { input, negative: true });
                }
            }
        }
        list
    }

    /// Multipliers for these functionals: earlier ones where there are any, fresh ones otherwise.
    pub(super) fn start(
        &self,
        earlier: Option<&WarmStart>,
        functionals: &[Functional],
        assumption: &Assumption,
    ) -> Parameters {
        let mut parameters = self.backward.start(functionals, assumption);
        self.backward.start_slopes(&mut parameters);
        if let Some(earlier) = earlier {
            // Both lists are in the same order, so the next one is mostly the next one.
            let mut next = 0;
            for (f, functional) in functionals.iter().enumerate() {
                let (before, after) = earlier.functionals.split_at(next);
                let ahead = after.iter().position(|e| e == functional).map(|i| next + i);
                if let Some(from) = ahead.or_else(|| before.iter().position(|e| e == functional)) {
                    parameters.copy(f, &earlier.parameters, from);
                    next = from + 1;
                }
            }
        }
        parameters
    }

    /// Keeps the target's multipliers, the first of a batch, shortened, if a proof is recorded; false if they then prove nothing any more.
    pub(super) fn record_target(&mut self, assumption: &Assumption, current: &Parameters) -> bool {
        let Some(log) = &mut self.log else { return true };
        let target = [Functional::Target];
        let mut short = self.backward.start(&target, assumption);
        short.copy(0, current, 0);
        shorten(&mut short);
        let proved = assumption.contradicted_by(self.backward.evaluate(&target, assumption, &short)[0]);
        if proved {
            log.round(&target, &[0], &short, &self.backward.relaxations);
        }
        proved
    }

    /// Keeps the bounds that teach something, with their multipliers shortened, if a proof is recorded; only these are learned then.
    fn record_round(
        &mut self,
        bounds: &IntermediateBounds,
        functionals: &[Functional],
        assumption: &Assumption,
        current: &mut Parameters,
    ) {
        let Some(log) = &mut self.log else { return };
        shorten(current);
        self.best.copy_from_slice(self.backward.evaluate(functionals, assumption, current));
        for (functional, v) in functionals.iter().zip(&mut self.best) {
            if *functional != Functional::Target && !improves(bounds, *functional, *v) {
                *v = f64::NEG_INFINITY;
            }
        }
        let mut chosen: Vec<usize> = (1..functionals.len()).filter(|&f| self.best[f] > f64::NEG_INFINITY).collect();
        if chosen.is_empty() {
            // Bounds are propagated once more all the same.
            chosen.push(0);
        }
        log.round(functionals, &chosen, current, &self.backward.relaxations);
    }

    /// Enters the bounds found.
    fn tighten(&self, bounds: &mut IntermediateBounds, functionals: &[Functional]) -> Result<(), Contradiction> {
        for (functional, &v) in functionals.iter().zip(&self.best) {
            let (lower, upper, negative) = match *functional {
                Functional::Target => continue,
                Functional::Input { input, negative } => (&mut bounds.lower[input], &mut bounds.upper[input], negative),
                Functional::First { layer, neuron, negative } => {
                    let b = &mut bounds.layers[layer].x;
                    (&mut b.lower[neuron], &mut b.upper[neuron], negative)
                }
                Functional::Second { layer, neuron, negative } => {
                    let b = &mut bounds.layers[layer].y;
                    (&mut b.lower[neuron], &mut b.upper[neuron], negative)
                }
                Functional::Difference { layer, neuron, negative } => {
                    let b = &mut bounds.layers[layer].d;
                    (&mut b.lower[neuron], &mut b.upper[neuron], negative)
                }
            };
            // A bound that is not a number improves nothing: max and min pass it over.
            if negative {
                *upper = upper.min(-v);
            } else {
                *lower = lower.max(v);
            }
            if *lower > *upper {
                return Err(Contradiction);
            }
        }
        Ok(())
    }
}

/// Whether a lower bound of a functional says noticeably more than what is known: part of the width, or a sign.
fn improves(bounds: &IntermediateBounds, functional: Functional, bound: f64) -> bool {
    let ends = |b: &Bounds, i: usize, negative: bool| {
        if negative { (-b.upper[i], -b.lower[i]) } else { (b.lower[i], b.upper[i]) }
    };
    let (lower, upper) = match functional {
        Functional::Target => return true,
        Functional::First { layer, neuron, negative } => ends(&bounds.layers[layer].x, neuron, negative),
        Functional::Second { layer, neuron, negative } => ends(&bounds.layers[layer].y, neuron, negative),
        Functional::Difference { layer, neuron, negative } => ends(&bounds.layers[layer].d, neuron, negative),
        Functional::Input { input, negative: false } => (bounds.lower[input], bounds.upper[input]),
        Functional::Input { input, negative: true } => (-bounds.upper[input], -bounds.lower[input]),
    };
    bound > lower + NOTICEABLE_SHARE * (upper - lower) || (lower < 0.0 && bound >= 0.0)
}
