//! Contraction of the bounds of a pair of networks under an assumed violation.
//!
//! Suppose an obligation is violated somewhere in a box: its guard and its violation hold there. Under these linear
//! facts about the outputs the bounds of inner neurons, of their differences and of the inputs shrink. Smaller bounds
//! give tighter relaxations, and so on, until something becomes impossible, which proves that nothing is violated, or
//! until the rounds stop paying.
//!
//! For one network this is output-constrained bound tightening as in INVPROP (Kotha et al., "Provably bounding neural
//! network preimages", NeurIPS 2023), here with the violation as the constraint; tightening one bound after another by
//! optimisation is OBBT (optimisation-based bound tightening) in mixed-integer programming, and a propagation through
//! the network with the new bounds, which follows every round, plays the part of FBBT (feasibility-based bound
//! tightening). Eqspec's own is the contraction of two networks together with their difference, under a violation that
//! speaks of both, with links between the three.
//!
//! Functionals are bounded in batches whose numbers fit in memory, the target in the first of them; which batch they are
//! in makes no difference to their bounds.
//!
//! Sound because every bound is valid for every input of the box that satisfies the assumption. What is contracted is
//! worth nothing outside the proof that assumed the violation: bounds go in and come out by value, for one obligation.

use super::assumption::Assumption;
use super::backward::Backward;
pub use super::contraction_budget::ContractionBudget;
use super::contraction_log::{ContractionLog, Logging, shorten};
use super::functional::Functional;
use super::parameters::Parameters;
use super::selection::costliest;
use super::singles::Singles;
use super::split_candidates::SplitCandidates;
use crate::domain::intermediate_bounds::{Contradiction, IntermediateBounds};
use crate::domain::phase::Bounds;
use crate::domain::propagation::Failure;
use crate::domain::{Propagation, Quantity};
use crate::network::Pair;
use std::sync::Arc;

/// Bytes of multipliers of a round that the next one begins with; beyond it those of the first batch alone are kept.
const WARM_BYTES: usize = 512 << 20;

/// Steps of the multipliers of a violation before the neurons that cost it most are chosen, and their size.
const APPROACH: (i32, f64) = (5, 0.02);

/// In a recorded proof a bound is kept if it cuts off at least this share of the interval known before, or settles a
/// sign.
const NOTICEABLE_SHARE: f64 = 0.005;

/// The same for hints, where a bound that is left out is missed later on, when others are to follow from it.
const HINTED_SHARE: f64 = 0.0005;

/// What is left of a violation.
#[derive(Debug, Clone)]
pub struct Contraction {
    /// The bounds under the assumption.
    pub bounds: IntermediateBounds,
    /// An upper bound of the violation.
    pub bound: f64,
    /// Ways to split what is left.
    pub candidates: SplitCandidates,
    /// The input at which the relaxation attains the last bound of the violation.
    pub minimiser: Vec<f64>,
    /// The multipliers of the last round: a good start on any part of what is left.
    pub warm: Option<Arc<WarmStart>>,
}

/// Multipliers of earlier functionals, to start others from. Any values give valid bounds everywhere; near the box they
/// were optimised for they give good ones.
#[derive(Debug, Clone, Default)]
pub struct WarmStart {
    pub(super) functionals: Vec<Functional>,
    pub(super) parameters: Parameters,
}

impl WarmStart {
    /// The number of bytes that these multipliers take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        std::mem::size_of_val(self.functionals.as_slice()) + self.parameters.bytes()
    }
}

/// What one round of a contraction leaves, besides the bounds.
#[derive(Default)]
struct Round {
    reached: WarmStart,
    candidates: SplitCandidates,
    minimiser: Vec<f64>,
}

/// The outcome for one obligation.
#[derive(Debug, Clone)]
pub enum ContractionResult {
    /// There is no violation in the box.
    Proved,
    /// A violation is still possible.
    Open(Box<Contraction>),
}

/// Contracts bounds for one pair, as often as asked.
pub struct Contractor<'a> {
    pub(super) pair: &'a Pair,
    pub(super) backward: Backward<'a>,
    pub(super) best: Vec<f64>,
    pub(super) singles: Singles<'a>,
    chunk: Option<usize>,
    /// A log of what was bounded since the log was last emptied, for a certificate, if one is to be written.
    pub log: Option<ContractionLog>,
}

impl<'a> Contractor<'a> {
    /// A contractor for one pair, without a log.
    #[must_use]
    pub fn new(pair: &'a Pair) -> Self {
        Self {
            pair,
            backward: Backward::new(pair),
            best: Vec::new(),
            singles: Singles::default(),
            chunk: None,
            log: None,
        }
    }

    /// The same contractor with batches of at most so many functionals, instead of as many as fit.
    #[must_use]
    pub fn in_batches_of(mut self, most: usize) -> Self {
        self.chunk = Some(most.max(1));
        self
    }

    /// Additions and multiplications in matrix products so far.
    #[must_use]
    pub fn flops(&self) -> u64 {
        self.backward.flops + self.singles.flops()
    }

    /// The same contractor, whose steps run in singles, or in f64 as the bounds do.
    #[must_use]
    pub fn in_singles(mut self, wanted: bool) -> Self {
        self.singles = Singles::new(wanted);
        self
    }

    /// The same contractor, whose steps in singles leave out stable neurons of chains, or take all.
    #[must_use]
    pub fn leaving_out_stable(mut self, wanted: bool) -> Self {
        self.singles = self.singles.leaving_out(wanted);
        self
    }

    /// The same contractor, with or without a log of what is bounded.
    #[must_use]
    pub fn recording(mut self, logging: Option<Logging>) -> Self {
        let proof = matches!(logging, Some(Logging::Proof));
        self.backward.relaxed.relaxations.iter_mut().for_each(|r| r.lines.without_planes = proof);
        self.log = logging.map(ContractionLog::new);
        self
    }

    /// Contracts `bounds` under `assumption` until a contradiction or until the budget is spent; `stop` may end it
    /// early.
    pub fn contract(
        &mut self,
        mut bounds: IntermediateBounds,
        warm: Option<&WarmStart>,
        assumption: &Assumption,
        budget: ContractionBudget,
        propagation: &mut Propagation,
        stop: impl Fn() -> bool,
    ) -> ContractionResult {
        let mut latest: Option<WarmStart> = None;
        let mut taken = 0;
        let mut bound = f64::INFINITY;
        let (mut candidates, mut minimiser) = (SplitCandidates::default(), Vec::new());
        let mut selected = budget.selects(bounds.lower.len());
        for number in 0..budget.short.0 + budget.rounds {
            let short = number < budget.short.0;
            let steps = if short { budget.short.1 } else { budget.steps };
            let mut functionals = self.functionals(&bounds, budget);
            self.backward.set_bounds(&bounds);
            let before = bound;
            let all = functionals.len();
            if let Some(most) = selected.filter(|most| all > 1 + most) {
                let Some(lower) = self.approach_target(latest.as_ref().or(warm), assumption) else {
                    return ContractionResult::Proved;
                };
                bound = bound.min(-lower);
                functionals = costliest(&self.backward, &bounds, &functionals, most);
            }
            let whole = functionals.len() == all;
            self.singles.follow((&self.backward, self.pair), &functionals, assumption, budget.link);
            let earlier = latest.as_ref().or(warm);
            let effort = ContractionBudget { steps, ..budget };
            let Some(round) =
                self.bound_in_batches(&functionals, earlier, (&bounds, assumption), effort, &mut taken, &stop)
            else {
                return ContractionResult::Proved;
            };
            (candidates, minimiser) = (round.candidates, round.minimiser);
            bound = bound.min(-self.best[0]);
            if self.enter(&mut bounds, &functionals).is_err() {
                return ContractionResult::Proved;
            }
            bounds.reduce();
            match propagation.propagate_within(self.pair, &bounds) {
                Err(Failure::Contradiction) => return ContractionResult::Proved,
                Err(Failure::Overflow | Failure::TooLarge | Failure::Stopped) => break,
                Ok(_) => {
                    if bounds.intersect(propagation.layers()).is_err() {
                        return ContractionResult::Proved;
                    }
                    bounds.reduce();
                }
            }
            latest = Some(round.reached);
            let little = bound > budget.gain * before;
            if stop() || (little && whole && !short) {
                break;
            }
            if little {
                selected = selected.map(|most| 2 * most);
            }
        }
        let warm = latest.map(|mut warm| {
            warm.parameters.drop_moments();
            Arc::new(warm)
        });
        ContractionResult::Open(Box::new(Contraction { bounds, bound, candidates, minimiser, warm }))
    }

    /// Bounds these functionals, the target first, batch by batch, and leaves the bounds in `best`. None if the target
    /// contradicts the assumption. Bounds have been set, and taken over by the workspace in singles.
    fn bound_in_batches(
        &mut self,
        functionals: &[Functional],
        earlier: Option<&WarmStart>,
        (bounds, assumption): (&IntermediateBounds, &Assumption),
        budget: ContractionBudget,
        taken: &mut i32,
        stop: &impl Fn() -> bool,
    ) -> Option<Round> {
        self.best.clear();
        self.best.resize(functionals.len(), f64::NEG_INFINITY);
        let mut round = Round::default();
        let (most, begun) = (self.most_at_once(), *taken);
        for (number, chunk) in functionals.chunks(most).enumerate() {
            let from = number * most;
            let mut current = self.start(earlier, chunk, assumption);
            current.optimise_links = budget.link;
            let mut kept = self.is_proof().then(|| current.clone());
            *taken = begun;
            if self.improve((from, chunk), assumption, (&mut current, kept.as_mut()), budget, taken, stop) {
                return None;
            }
            self.record_round(bounds, (from, chunk), assumption, kept.as_mut().unwrap_or(&mut current));
            let reached = &mut round.reached;
            if from == 0 {
                let backward = &self.backward;
                round.candidates = SplitCandidates::of(&backward.behind_relu, &backward.relaxed.relaxations, bounds);
                round.minimiser = backward.minimiser();
                *reached = WarmStart { functionals: chunk.to_vec(), parameters: current };
            } else if reached.functionals.len() == from && reached.bytes() + current.bytes() <= WARM_BYTES {
                reached.functionals.extend_from_slice(chunk);
                reached.parameters.append(current);
            }
            if from > 0 && stop() {
                break;
            }
        }
        Some(round)
    }

    /// A lower bound of the target by a few steps, whose coefficients tell what the relaxation of each neuron costs it.
    /// None if it contradicts the assumption. Bounds have been set.
    fn approach_target(&mut self, earlier: Option<&WarmStart>, assumption: &Assumption) -> Option<f64> {
        let target = [Functional::Target];
        let mut parameters = self.start(earlier, &target, assumption);
        parameters.reset_moments();
        let mut best = f64::NEG_INFINITY;
        for step in 1..=APPROACH.0 {
            best = best.max(self.backward.evaluate(&target, assumption, &parameters)[0]);
            if assumption.contradicted_by(best) {
                if self.record_target(assumption, &parameters) {
                    return None;
                }
                best = f64::NEG_INFINITY;
                self.backward.evaluate(&target, assumption, &parameters);
            }
            if step < APPROACH.0 {
                self.backward.ascend(&target, assumption, &mut parameters, APPROACH.1, step);
            }
        }
        Some(best)
    }

    /// The most functionals in one batch. What is logged is one batch, since its bounds are used together.
    pub(super) fn most_at_once(&self) -> usize {
        if self.is_proof() { usize::MAX } else { self.chunk.unwrap_or_else(|| self.backward.most()) }
    }

    /// Whether what is logged becomes a certificate.
    fn is_proof(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.logging == Logging::Proof)
    }

    /// The same for batches without multipliers.
    pub(super) fn plain_at_once(&self) -> usize {
        self.chunk.unwrap_or_else(|| self.backward.most_plain())
    }

    /// The target first, then both bounds of everything whose sign or value is not settled.
    pub(super) fn functionals(&self, bounds: &IntermediateBounds, budget: ContractionBudget) -> Vec<Functional> {
        let mut list = vec![Functional::Target];
        let hidden = bounds.layers.len() - 1;
        // On wide networks y is left to x and d, of which it is the difference: a third less to do, which buys more
        // than y's own bounds.
        let wide = bounds.lower.len() > budget.inputs;
        let neurons = |(step, _): &(usize, _)| !self.pair.function(*step).is_identity();
        for (layer, known) in bounds.layers[..hidden].iter().enumerate().filter(neurons) {
            let curved = self.pair.curves(layer).is_some();
            for neuron in 0..known.x.lower.len() {
                let open = |b: &Bounds| if curved { b.lower[neuron] < b.upper[neuron] } else { b.unstable(neuron) };
                let (x, y) = (open(&known.x), open(&known.y));
                let wanted =
                    [(Quantity::First, x), (Quantity::Second, y && !(x && wide)), (Quantity::Difference, x && y)];
                for negative in [false, true] {
                    for (quantity, _) in wanted.iter().filter(|(_, wanted)| *wanted) {
                        list.push(Functional::Neuron { quantity: *quantity, layer, neuron, negative });
                    }
                }
            }
        }
        if !wide {
            for input in (0..bounds.lower.len()).filter(|&i| bounds.lower[i] < bounds.upper[i]) {
                list.push(Functional::Input { input, negative: false });
                list.push(Functional::Input { input, negative: true });
            }
        }
        list
    }

    /// Multipliers for these functionals: earlier ones where there are any, and otherwise those of a first start.
    pub(super) fn start(
        &self,
        earlier: Option<&WarmStart>,
        functionals: &[Functional],
        assumption: &Assumption,
    ) -> Parameters {
        let mut parameters = self.backward.start(functionals, assumption);
        self.backward.start_slopes(&mut parameters);
        if let Some(earlier) = earlier {
            // Both lists are in the same order, so the search begins behind the last functional that was found.
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

    /// Shortens the multipliers of the target, the first of a batch, and logs them if there is a log. Returns false if
    /// the shortened ones prove nothing.
    pub(super) fn record_target(&mut self, assumption: &Assumption, current: &Parameters) -> bool {
        let Some(log) = &mut self.log else { return true };
        let target = [Functional::Target];
        let mut short = self.backward.start(&target, assumption);
        short.copy(0, current, 0);
        shorten(&mut short);
        if log.logging == Logging::Trail {
            log.round(&target, &[0], &short, &self.backward.relaxed.relaxations);
            return true;
        }
        let proved = assumption.contradicted_by(self.backward.evaluate(&target, assumption, &short)[0]);
        if proved {
            log.round(&target, &[0], &short, &self.backward.relaxed.relaxations);
        }
        proved
    }

    /// If there is a log, shortens the multipliers, logs the bounds that improve on `bounds` and forgets the others, so
    /// that only logged bounds are used.
    fn record_round(
        &mut self,
        bounds: &IntermediateBounds,
        (from, functionals): (usize, &[Functional]),
        assumption: &Assumption,
        current: &mut Parameters,
    ) {
        let Some(log) = &mut self.log else { return };
        if log.logging == Logging::Trail {
            let best = &self.best[from..from + functionals.len()];
            let improved = |f: &usize| {
                functionals[*f] != Functional::Target && improves(bounds, functionals[*f], best[*f], HINTED_SHARE)
            };
            let chosen: Vec<usize> = (0..functionals.len()).filter(improved).collect();
            if !chosen.is_empty() {
                let mut short = current.clone();
                short.drop_moments();
                shorten(&mut short);
                log.round(functionals, &chosen, &short, &self.backward.relaxed.relaxations);
            }
            return;
        }
        shorten(current);
        let best = &mut self.best[from..from + functionals.len()];
        best.copy_from_slice(self.backward.evaluate(functionals, assumption, current));
        for (functional, v) in functionals.iter().zip(&mut *best) {
            if *functional != Functional::Target && !improves(bounds, *functional, *v, NOTICEABLE_SHARE) {
                *v = f64::NEG_INFINITY;
            }
        }
        let mut chosen: Vec<usize> = (1..functionals.len()).filter(|&f| best[f] > f64::NEG_INFINITY).collect();
        if chosen.is_empty() {
            // A round is logged all the same, because bounds are propagated once more after it.
            chosen.push(0);
        }
        log.round(functionals, &chosen, current, &self.backward.relaxed.relaxations);
    }

    /// Intersects the bounds with those found.
    pub(super) fn enter(
        &self,
        bounds: &mut IntermediateBounds,
        functionals: &[Functional],
    ) -> Result<(), Contradiction> {
        for (functional, &v) in functionals.iter().zip(&self.best) {
            let (lower, upper, negative) = match *functional {
                Functional::Target => continue,
                Functional::Input { input, negative } => (&mut bounds.lower[input], &mut bounds.upper[input], negative),
                Functional::Neuron { quantity, layer, neuron, negative } => {
                    let b = bounds.layers[layer].of_mut(quantity);
                    (&mut b.lower[neuron], &mut b.upper[neuron], negative)
                }
            };
            // A bound that is not a number changes nothing: max and min pass it over.
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

/// Whether a lower bound of a functional says noticeably more than what is known: it cuts off a share of the interval,
/// or settles a sign.
fn improves(bounds: &IntermediateBounds, functional: Functional, bound: f64, share: f64) -> bool {
    let (lower, upper, negative) = match functional {
        Functional::Target => return true,
        Functional::Neuron { quantity, layer, neuron, negative } => {
            let known = bounds.layers[layer].of(quantity);
            (known.lower[neuron], known.upper[neuron], negative)
        }
        Functional::Input { input, negative } => (bounds.lower[input], bounds.upper[input], negative),
    };
    let (lower, upper) = if negative { (-upper, -lower) } else { (lower, upper) };
    bound > lower + share * (upper - lower) || (lower < 0.0 && bound >= 0.0)
}
