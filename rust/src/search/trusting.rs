//! The last resort: what proofs could not settle is asked of a mixed-integer solver.
//!
//! Its solutions are candidates like any others and need no trust. Its word that there is none is not believed as a proof: such a box is put away as undecided,
//! with a mark, so that nothing that rests on it can become `equivalent`. If nothing but such boxes is left, the search says so ([`super::Reason::Solver`]).

use super::attempt::{Attempt, Outcome};
use super::effort::Part;
use super::policy::POLICY;
use super::worker::Context;
use super::{Node, Request};
use crate::bound::encoding::Encoding;
use crate::bound::{Assumption, Contraction};
use crate::lp::MixedAnswer;
use std::sync::mpsc;

impl Attempt<'_> {
    /// Asks about what contraction left of a node that cannot be split further, or was split often enough; `None` if that settled nothing.
    pub(super) fn ask_solver(
        &mut self,
        node: &Node,
        left: &Contraction,
        assumption: &Assumption,
        indivisible: bool,
    ) -> Option<Outcome> {
        let Context { pair, region, settings, shared, .. } = self.context;
        let stuck = indivisible || (node.depth > 0 && node.depth.is_multiple_of(POLICY.mixed.splits));
        if !settings.milp || !stuck || left.bounds.unstable() > POLICY.mixed.binaries {
            return None;
        }
        self.enter(Part::Programs);
        let mut encoding = Encoding::new(pair, &left.bounds, assumption);
        let mut settled = None;
        for _ in 0..POLICY.mixed.cuts {
            if shared.stopping() {
                break;
            }
            encoding.program.seconds = shared.left().min(POLICY.mixed.seconds);
            let answer = self.answer(&encoding);
            let Some(point) = answer.point else {
                if answer.infeasible {
                    settled = Some(Outcome::Believed(node.clone()));
                }
                break;
            };
            let mut inputs = encoding.inputs(&point).to_vec();
            if inputs.len() != node.lower.len() || !inputs.iter().all(|v| v.is_finite()) {
                break;
            }
            region.approach(&mut inputs, &node.lower, &node.upper);
            if self.candidates.attempt(node, |i| inputs[i]) {
                settled = Some(Outcome::Closed);
                break;
            }
            if !encoding.cut(assumption, &point) {
                break;
            }
        }
        self.enter(Part::Contraction);
        settled
    }

    fn answer(&mut self, encoding: &Encoding) -> MixedAnswer {
        let (reply, answer) = mpsc::sync_channel(1);
        self.candidates.tally.milps += 1;
        let sent = self.requests.send(Request::Mixed(encoding.program.clone(), reply)).is_ok();
        self.enter(Part::Waiting);
        // No answer at all only means that nothing is learned from it.
        let answer = if sent { answer.recv().unwrap_or_default() } else { MixedAnswer::default() };
        self.enter(Part::Programs);
        answer
    }
}
