//! Inputs that might be counterexamples: box centres, corners that bounds point to, points of linear programs, ends of gradient ascents.
//!
//! A candidate is tried in plain binary64, then with error bounds, and only then sent out for an exact replay, which alone makes it a witness.

use super::attack::{Attack, Zeal};
use super::counts::Tally;
use super::scatter::Scatter;
use super::worker::Context;
use super::{Node, Request};
use crate::bound::Assumption;
use crate::network::eval::{Evaluation, Evaluator};
use crate::property::{Certainty, ObligationSet};
use std::sync::mpsc;

/// After so many refusals by the exact replay a worker stops asking: it is then stuck on a boundary that binary64 cannot resolve.
const PATIENCE: u64 = 1000;

/// So many points that may violate the claim only within the error of their evaluation are replayed.
const DOUBTFUL: u64 = 64;

/// A worker's tools for trying points.
pub struct Candidates<'a> {
    context: Context<'a>,
    requests: &'a mpsc::Sender<Request>,
    attack: Attack,
    scatter: Scatter,
    evaluator: Evaluator,
    evaluation: Evaluation,
    point: Vec<f64>,
    /// Counters of the worker.
    pub tally: Tally,
}

impl<'a> Candidates<'a> {
    pub fn new(context: Context<'a>, requests: &'a mpsc::Sender<Request>) -> Self {
        Self {
            context,
            requests,
            attack: Attack::default(),
            scatter: Scatter::default(),
            evaluator: Evaluator::default(),
            evaluation: Evaluation::default(),
            point: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Tries the point that `coordinate` gives per free input; true if it became the witness.
    pub fn attempt(&mut self, node: &Node, coordinate: impl Fn(usize) -> f64) -> bool {
        let Context { pair, property, shared, whole, free, region, .. } = self.context;
        self.point.clear();
        self.point.extend((0..free.len()).map(coordinate));
        self.evaluator.at(pair, &self.point, &mut self.evaluation);
        if !region.holds(&self.point) {
            return false;
        }
        if property.guard_met(&self.evaluation) {
            shared.saw_guard();
        }
        // Without error bounds the outputs count as exact, so this passes over what only an error could make violating...
        let certainly = property.violated(&node.open, &self.evaluation, Certainty::Certain);
        // ...which ties and limits met exactly need; but the replay is dear, so a worker asks for such points only so often.
        let near = !certainly && property.violated(&node.open, &self.evaluation, Certainty::WithinError);
        let possibly = near && self.tally.doubtful < DOUBTFUL && {
            self.evaluator.at_with_error(pair, &self.point, &mut self.evaluation);
            property.violated(&node.open, &self.evaluation, Certainty::WithinError)
        };
        if !(certainly || possibly) || self.tally.refused >= PATIENCE {
            return false;
        }
        if possibly {
            self.tally.doubtful += 1;
        } else {
            self.evaluator.at_with_error(pair, &self.point, &mut self.evaluation);
            if !property.violated(&node.open, &self.evaluation, Certainty::Certain) {
                // Violated by less than the error of the evaluation: doubtful as well.
                if self.tally.doubtful >= DOUBTFUL {
                    return false;
                }
                self.tally.doubtful += 1;
            }
        }
        let input = whole.complete(free, &self.point);
        let (reply, answer) = mpsc::sync_channel(1);
        if self.requests.send(Request::Confirm(input.clone(), reply)).is_ok() && answer.recv() == Ok(true) {
            shared.found(input);
            return true;
        }
        self.tally.refused += 1;
        false
    }

    /// Whether an obligation is, at a point of the region, within rounding of being violated: then no bound can exclude it there, however small the box.
    pub fn touches(&mut self, obligation: usize, coordinate: impl Fn(usize) -> f64) -> bool {
        let Context { pair, property, free, region, .. } = self.context;
        self.point.clear();
        self.point.extend((0..free.len()).map(coordinate));
        if !region.holds(&self.point) {
            return false;
        }
        self.evaluator.at_with_error(pair, &self.point, &mut self.evaluation);
        let only = ObligationSet::only(obligation, property.obligations.len());
        property.violated(&only, &self.evaluation, Certainty::WithinError)
    }

    /// Additions and multiplications that attacks took so far.
    pub fn attack_flops(&self) -> u64 {
        self.attack.flops() + self.scatter.flops()
    }

    /// Of these obligations the few that attacks came nearest to violating.
    pub fn nearest(&self, obligations: impl Iterator<Item = usize>, few: usize) -> Vec<usize> {
        self.attack.nearest(obligations, few)
    }

    /// Attacks obligations on a node; true if a witness was found.
    pub fn attack(&mut self, node: &Node, obligations: impl Iterator<Item = usize>, zeal: &Zeal) -> bool {
        let mut attack = std::mem::take(&mut self.attack);
        let context = self.context;
        let found = attack.run(&context, node, obligations, zeal, |point| self.attempt(node, |i| point[i]));
        self.attack = attack;
        found
    }

    /// Scatters points on a node, to violate any of these obligations; true if a witness was found.
    pub fn scatter(&mut self, node: &Node, obligations: impl Iterator<Item = usize>, seed: u64) -> bool {
        let context = self.context;
        let goals: Vec<Assumption> = obligations.filter_map(|o| context.assumption(o)).collect();
        let mut scatter = std::mem::take(&mut self.scatter);
        let found = scatter.run(&context, node, &goals, seed, |point| self.attempt(node, |i| point[i]));
        self.scatter = scatter;
        found
    }
}
