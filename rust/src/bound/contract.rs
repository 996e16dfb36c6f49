//! Contraction under an assumed violation.
//!
//! Suppose an obligation is violated somewhere in a box: its guard and its violation hold there. Under these two linear facts about the outputs the bounds of
//! inner neurons, of their differences and of the inputs shrink; shrunken bounds make better relaxations; and so on, until something becomes impossible
//! (then nothing is violated: proved) or the rounds stop paying.
//!
//! Sound because every bound is valid for every input that satisfies the assumption and lies in the box. What is contracted is worth nothing outside the proof
//! that assumed it: knowledge goes in and out by value, for one obligation.

use super::assumption::Assumption;
use super::backward::{Backward, Functional};
use super::parameters::Parameters;
use crate::domain::Reach;
use crate::domain::knowledge::{Contradiction, Knowledge, Side};
use crate::domain::reach::Failure;
use crate::network::Pair;

/// How much to spend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// At most so many rounds.
    pub rounds: usize,
    /// Steps per round.
    pub steps: i32,
    /// Step size of the multipliers; large steps hardly move a batch.
    pub rate: f64,
    /// Inputs are contracted too if there are at most so many.
    pub inputs: usize,
    /// Rounds go on while the violation's bound falls at least by this factor.
    pub gain: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { rounds: 8, steps: 60, rate: 0.02, inputs: 64, gain: 0.9 }
    }
}

/// Bounds are taken at every so many steps; between them only the gradient is.
const BOUND_EVERY: i32 = 3;

/// What is left of a violation.
#[derive(Debug, Clone)]
pub struct Contraction {
    /// Bounds under the assumption.
    pub knowledge: Knowledge,
    /// An upper bound of the violation.
    pub bound: f64,
    /// The unstable neuron whose relaxation costs the target most.
    pub neuron: Option<Neuron>,
    /// The input at which the last bound of the violation is attained by the relaxation.
    pub corner: Vec<f64>,
}

/// A neuron of one of the networks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neuron {
    /// Whether of f2.
    pub second: bool,
    /// Hidden layer.
    pub layer: usize,
    /// Which.
    pub index: usize,
    /// What its relaxation costs the bound, at most.
    pub cost: f64,
}

impl Neuron {
    /// The assumption that the neuron's value is >= 0, or <= 0.
    #[must_use]
    pub fn side(self, positive: bool) -> Side {
        Side { second: self.second, layer: self.layer, index: self.index, positive }
    }
}

/// The outcome for one obligation.
#[derive(Debug, Clone)]
pub enum Fate {
    /// No violation in the box.
    Proved,
    /// Still possible.
    Open(Box<Contraction>),
}

/// Contracts bounds for one pair; reusable.
pub struct Contractor<'a> {
    pair: &'a Pair,
    backward: Backward<'a>,
    best: Vec<f64>,
}

impl<'a> Contractor<'a> {
    /// For a pair.
    #[must_use]
    pub fn new(pair: &'a Pair) -> Self {
        Self { pair, backward: Backward::new(pair), best: Vec::new() }
    }

    /// Contracts `knowledge` under `assumption` until contradiction or until the effort is spent; `stop` may end it early.
    pub fn contract(
        &mut self,
        mut knowledge: Knowledge,
        assumption: &Assumption,
        effort: Effort,
        reach: &mut Reach,
        stop: impl Fn() -> bool,
    ) -> Fate {
        let mut parameters: Option<(Vec<Functional>, Parameters)> = None;
        let mut bound = f64::INFINITY;
        let (mut neuron, mut corner) = (None, Vec::new());
        for _ in 0..effort.rounds {
            let functionals = Self::functionals(&knowledge, effort);
            self.backward.take_up(&knowledge);
            let mut current = self.warm(parameters.take(), &functionals, assumption, knowledge.sides.len());
            self.best.clear();
            self.best.resize(functionals.len(), f64::NEG_INFINITY);
            for step in 1..=effort.steps {
                if step % BOUND_EVERY == 0 || step == effort.steps || step == 1 {
                    let bounds = self.backward.evaluate(&functionals, assumption, &current);
                    self.best.iter_mut().zip(bounds).for_each(|(b, v)| *b = b.max(*v));
                    if assumption.contradicted_by(self.best[0]) {
                        return Fate::Proved;
                    }
                    if step == effort.steps || stop() {
                        break;
                    }
                } else {
                    self.backward.prepare(&functionals, assumption, &current);
                }
                self.backward.ascend(&functionals, assumption, &mut current, effort.rate, step);
            }
            neuron = self.backward.costliest(&knowledge);
            corner = self.backward.corner();
            let before = bound;
            bound = bound.min(-self.best[0]);
            if self.learn(&mut knowledge, &functionals).is_err() {
                return Fate::Proved;
            }
            knowledge.exchange();
            match reach.propagate_within(self.pair, &knowledge) {
                Err(Failure::Contradiction) => return Fate::Proved,
                Err(Failure::Overflow) => break,
                Ok(_) => {
                    if knowledge.intersect(reach.layers()).is_err() {
                        return Fate::Proved;
                    }
                    knowledge.exchange();
                }
            }
            parameters = Some((functionals, current));
            if stop() || bound > effort.gain * before {
                break;
            }
        }
        Fate::Open(Box::new(Contraction { knowledge, bound, neuron, corner }))
    }

    /// The target first, then both bounds of everything that is not settled.
    fn functionals(knowledge: &Knowledge, effort: Effort) -> Vec<Functional> {
        let mut list = vec![Functional::Target];
        let hidden = knowledge.layers.len() - 1;
        for (layer, known) in knowledge.layers[..hidden].iter().enumerate() {
            for neuron in 0..known.x.lower.len() {
                let unstable = |lower: f64, upper: f64| lower < 0.0 && upper > 0.0;
                let x = unstable(known.x.lower[neuron], known.x.upper[neuron]);
                let y = unstable(known.y.lower[neuron], known.y.upper[neuron]);
                for negative in [false, true] {
                    if x {
                        list.push(Functional::First { layer, neuron, negative });
                    }
                    if y {
                        list.push(Functional::Second { layer, neuron, negative });
                    }
                    if x && y {
                        list.push(Functional::Difference { layer, neuron, negative });
                    }
                }
            }
        }
        if knowledge.lower.len() <= effort.inputs {
            for input in 0..knowledge.lower.len() {
                if knowledge.lower[input] < knowledge.upper[input] {
                    list.push(Functional::Input { input, negative: false });
                    list.push(Functional::Input { input, negative: true });
                }
            }
        }
        list
    }

    /// Multipliers for these functionals: the previous round's where it had them, fresh ones otherwise.
    fn warm(
        &self,
        previous: Option<(Vec<Functional>, Parameters)>,
        functionals: &[Functional],
        assumption: &Assumption,
        sides: usize,
    ) -> Parameters {
        if let Some((old, mut parameters)) = previous {
            let keep: Vec<usize> = functionals.iter().filter_map(|f| old.iter().position(|o| o == f)).collect();
            if keep.len() == functionals.len() {
                parameters.select(&keep, assumption.rows(), assumption.outputs(), sides);
                return parameters;
            }
        }
        let mut parameters = self.backward.start(functionals, assumption);
        self.backward.start_slopes(&mut parameters);
        parameters
    }

    /// Enters the bounds found.
    fn learn(&self, knowledge: &mut Knowledge, functionals: &[Functional]) -> Result<(), Contradiction> {
        for (functional, &v) in functionals.iter().zip(&self.best) {
            let (lower, upper, negative) = match *functional {
                Functional::Target => continue,
                Functional::Input { input, negative } => {
                    (&mut knowledge.lower[input], &mut knowledge.upper[input], negative)
                }
                Functional::First { layer, neuron, negative } => {
                    let b = &mut knowledge.layers[layer].x;
                    (&mut b.lower[neuron], &mut b.upper[neuron], negative)
                }
                Functional::Second { layer, neuron, negative } => {
                    let b = &mut knowledge.layers[layer].y;
                    (&mut b.lower[neuron], &mut b.upper[neuron], negative)
                }
                Functional::Difference { layer, neuron, negative } => {
                    let b = &mut knowledge.layers[layer].d;
                    (&mut b.lower[neuron], &mut b.upper[neuron], negative)
                }
            };
            // A bound that is not a number teaches nothing: max and min pass it over.
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
