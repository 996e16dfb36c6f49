//! Candidates: inputs that might be counterexamples, such as box centres, corners that bounds point to, points of
//! linear programs and ends of ascents.
//!
//! A candidate is evaluated in plain binary64, then with error bounds, and only then sent to the host for an exact
//! replay, which alone makes it a witness. So nothing that finds candidates has to be trusted.

use crate::network::eval::{Evaluation, Evaluator};
use crate::property::{Certainty, ObligationSet};
use crate::search::Node;
use crate::search::context::Context;
use crate::search::host::Request;
use crate::search::statistics::WorkerStatistics;
use std::sync::mpsc;

/// After so many refusals by the exact replay a worker sends no more candidates: the box then lies on a boundary that
/// binary64 cannot resolve.
const MOST_REFUSALS: u64 = 1000;

/// A worker sends at most so many candidates that only the error of their evaluation makes violating.
const MOST_DOUBTFUL: u64 = 64;

/// A worker's tools for testing points.
pub struct Candidates<'a> {
    context: Context<'a>,
    requests: &'a mpsc::Sender<Request>,
    evaluator: Evaluator,
    evaluation: Evaluation,
    point: Vec<f64>,
}

impl<'a> Candidates<'a> {
    /// The candidates of one worker.
    pub fn new(context: Context<'a>, requests: &'a mpsc::Sender<Request>) -> Self {
        Self {
            context,
            requests,
            evaluator: Evaluator::default(),
            evaluation: Evaluation::default(),
            point: Vec::new(),
        }
    }

    /// Tests the point that `coordinate` gives per free input; true if it became the witness.
    pub fn test(&mut self, statistics: &mut WorkerStatistics, node: &Node, coordinate: impl Fn(usize) -> f64) -> bool {
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
        // Without error bounds the outputs count as exact, so this misses points that only an error makes violating.
        let certainly = property.violated(&node.open, &self.evaluation, Certainty::Certain);
        // Ties and limits that are met exactly need such points. A replay takes long, so a worker sends a limited
        // number of them.
        let near = !certainly && property.violated(&node.open, &self.evaluation, Certainty::WithinError);
        let possibly = near && statistics.doubtful < MOST_DOUBTFUL && {
            self.evaluator.at_with_error(pair, &self.point, &mut self.evaluation);
            property.violated(&node.open, &self.evaluation, Certainty::WithinError)
        };
        if !(certainly || possibly) || statistics.refused >= MOST_REFUSALS {
            return false;
        }
        if possibly {
            statistics.doubtful += 1;
        } else {
            self.evaluator.at_with_error(pair, &self.point, &mut self.evaluation);
            if !property.violated(&node.open, &self.evaluation, Certainty::Certain) {
                // Violated by less than the error of the evaluation: doubtful as well.
                if statistics.doubtful >= MOST_DOUBTFUL {
                    return false;
                }
                statistics.doubtful += 1;
            }
        }
        let input = whole.complete(free, &self.point);
        let (reply, answer) = mpsc::sync_channel(1);
        if self.requests.send(Request::Confirm(input.clone(), reply)).is_ok() && answer.recv() == Ok(true) {
            shared.found(input);
            return true;
        }
        statistics.refused += 1;
        false
    }

    /// Whether an obligation is within rounding of being violated at a point of the region. Then no bound can exclude
    /// it there, however small the box is.
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
}

/// The centre of a node's box, at input i.
pub fn centre(node: &Node, i: usize) -> f64 {
    node.lower[i] + 0.5 * (node.upper[i] - node.lower[i])
}

/// The corner of a node's box where a row with these coefficients is largest, at input i.
pub fn corner(node: &Node, coefficients: &[f64], i: usize) -> f64 {
    if coefficients[i] >= 0.0 { node.upper[i] } else { node.lower[i] }
}
