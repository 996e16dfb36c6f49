//! Inputs that might be counterexamples: box centres, corners that bounds point to, points of linear programs, ends of gradient ascents.
//!
//! A candidate is tried in plain binary64, then with error bounds, and only then sent out for an exact replay, which alone makes it a witness.

use super::attack::{Attack, Zeal};
use super::shared::Tally;
use super::worker::Context;
use super::{Node, Request};
use crate::network::eval::{Evaluation, Evaluator};
use crate::property::Certainty;
use std::sync::mpsc;

/// After so many refusals by the exact replay a worker stops asking: it is then stuck on a boundary that binary64 cannot resolve.
const PATIENCE: u64 = 1000;

/// A worker's tools for trying points.
pub struct Candidates<'a> {
    context: Context<'a>,
    requests: &'a mpsc::Sender<Request>,
    attack: Attack,
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
            evaluator: Evaluator::default(),
            evaluation: Evaluation::default(),
            point: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Tries the point that `coordinate` gives per free input; true if it became the witness.
    pub fn attempt(&mut self, node: &Node, certainty: Certainty, coordinate: impl Fn(usize) -> f64) -> bool {
        let Context { pair, property, shared, whole, free, .. } = self.context;
        self.point.clear();
        self.point.extend((0..free.len()).map(coordinate));
        self.evaluator.at(pair, &self.point, &mut self.evaluation);
        if property.guard_met(&self.evaluation) {
            shared.saw_guard();
        }
        // Without error bounds the outputs count as exact; where an error may decide, they are taken with theirs at once.
        let promising =
            certainty == Certainty::Possible || property.violated(&node.open, &self.evaluation, Certainty::Beyond);
        if !promising || self.tally.refused >= PATIENCE {
            return false;
        }
        self.evaluator.at_with_error(pair, &self.point, &mut self.evaluation);
        if !property.violated(&node.open, &self.evaluation, certainty) {
            return false;
        }
        let mut input = whole.lower.clone();
        for (&i, &x) in free.iter().zip(&self.point) {
            input[i] = x;
        }
        let (reply, answer) = mpsc::sync_channel(1);
        if self.requests.send(Request::Confirm(input.clone(), reply)).is_ok() && answer.recv() == Ok(true) {
            shared.found(input);
            return true;
        }
        self.tally.refused += 1;
        false
    }

    /// Attacks a node by gradients; true if a witness was found.
    pub fn attack(&mut self, node: &Node, zeal: Zeal) -> bool {
        let mut attack = std::mem::take(&mut self.attack);
        let context = self.context;
        let found = attack.run(&context, node, zeal, |point| self.attempt(node, Certainty::Beyond, |i| point[i]));
        self.attack = attack;
        found
    }
}
