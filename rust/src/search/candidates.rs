//! Inputs that might be counterexamples: box centres, corners that bounds point to, points of linear programs.
//!
//! A candidate is tried in plain binary64, then with error bounds, and only then sent out for an exact replay, which alone makes it a witness.

use super::worker::Context;
use super::{Request, shared::Tally};
use crate::network::eval::{Evaluation, Evaluator};
use crate::property::{Certainty, Open};
use std::sync::mpsc;

/// After so many refusals by the exact replay a worker stops asking: it is then stuck on a boundary that binary64 cannot resolve.
const PATIENCE: u64 = 1000;

/// A worker's buffers for trying points.
#[derive(Default)]
pub struct Candidates {
    evaluator: Evaluator,
    evaluation: Evaluation,
    point: Vec<f64>,
}

impl Candidates {
    /// Tries the point that `coordinate` gives per free input; true if it became the witness.
    pub fn attempt(
        &mut self,
        context: &Context<'_>,
        open: &Open,
        coordinate: impl Fn(usize) -> f64,
        certainty: Certainty,
        requests: &mpsc::Sender<Request>,
        tally: &mut Tally,
    ) -> bool {
        self.point.clear();
        self.point.extend((0..context.free.len()).map(coordinate));
        self.evaluator.at(context.pair, &self.point, &mut self.evaluation);
        if context.property.guard_met(&self.evaluation) {
            context.shared.saw_guard();
        }
        // Without error bounds the outputs count as exact; where an error may decide, they are taken with theirs at once.
        let promising =
            certainty == Certainty::Possible || context.property.violated(open, &self.evaluation, Certainty::Beyond);
        if !promising || tally.refused >= PATIENCE {
            return false;
        }
        self.evaluator
            .at_with_error(context.pair, &self.point, &mut self.evaluation);
        if !context.property.violated(open, &self.evaluation, certainty) {
            return false;
        }
        let mut whole = context.whole.lower.clone();
        for (&i, &x) in context.free.iter().zip(&self.point) {
            whole[i] = x;
        }
        let (reply, answer) = mpsc::sync_channel(1);
        if requests.send(Request::Confirm(whole.clone(), reply)).is_ok() && answer.recv() == Ok(true) {
            context.shared.found(whole);
            return true;
        }
        tally.refused += 1;
        false
    }
}
