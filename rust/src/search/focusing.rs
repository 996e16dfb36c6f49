//! Contraction in the search: each open obligation of a node is assumed violated, and what is not contradicted goes on alone.
//!
//! From here on a node belongs to one obligation, and carries the bounds that hold under its violation. Such a node is split along an input, or at the phase
//! of a neuron, whose sign then joins the assumption.

use super::attempt::{Attempt, Outcome};
use super::worker::Context;
use super::{Node, split};
use crate::bound::{Assumption, Contraction, Effort, Fate};
use crate::domain::reach::Failure;
use crate::domain::{Domain, Knowledge};
use crate::property::{Open, Violation};
use std::sync::Arc;

/// Up to so many free inputs, halving them beats contracting bounds: on ACAS Xu (5 inputs) a contraction saved a dozen boxes and cost hundreds, on jets (16)
/// it replaced a hundred thousand boxes by thirty.
const FEW_INPUTS: usize = 8;

/// Beyond so many free inputs halving one of them changes next to nothing, and neurons are split instead.
const MANY_INPUTS: usize = 64;

impl Attempt<'_> {
    /// Whether contraction is expected to pay on this node.
    pub(super) fn worth_contracting(&self, node: &Node) -> bool {
        let Context { settings, pair, property, .. } = self.context;
        let linear = |o: usize| matches!(property.obligations[o].violation, Violation::Linear { .. });
        let strong = settings.contract && settings.domain == Domain::Shared;
        strong && pair.inputs() > FEW_INPUTS && node.open.iter().all(linear)
    }

    /// Contracts the bounds under each open violation in turn.
    pub(super) fn contract(&mut self, mut node: Node) -> Outcome {
        let Context { pair, property, shared, .. } = self.context;
        let opened = node.open.len();
        // The workspace may have gone on to other boxes since.
        let reached = match &node.focus {
            Some(known) => self.reach.propagate_within(pair, known).map(drop),
            None => self.reach.propagate(pair, &node.lower, &node.upper).map(drop).ok_or(Failure::Overflow),
        };
        let start = match (reached, &node.focus) {
            (Err(Failure::Overflow), _) => return Outcome::Split(node, None),
            (Ok(()), None) => Some(Knowledge::of(self.reach.layers(), &node.lower, &node.upper)),
            (Ok(()), Some(known)) => {
                let mut known = Knowledge::clone(known);
                known.intersect(self.reach.layers()).is_ok().then_some(known)
            }
            (Err(Failure::Contradiction), _) => None,
        };
        let Some(start) = start else {
            self.candidates.tally.stages.contraction += opened as u64;
            return self.proved(&node, opened);
        };
        let mut children = Vec::new();
        for o in node.open.clone().iter() {
            let Some(assumption) = Assumption::new(property, &property.obligations[o], pair.outputs()) else {
                // Not linear: it cannot be contracted, and must not be lost.
                return Outcome::Split(node, None);
            };
            if shared.stopping() {
                return Outcome::Closed;
            }
            let Self { contractor, reach, .. } = self;
            match contractor.contract(start.clone(), &assumption, Effort::default(), reach, || shared.stopping()) {
                Fate::Proved => {
                    self.candidates.tally.stages.contraction += 1;
                    node.open.close(o);
                }
                Fate::Open(left) => {
                    let within = |i: usize, x: f64| x.clamp(node.lower[i], node.upper[i]);
                    let corner = |i: usize| left.corner.get(i).map_or(node.lower[i], |&x| within(i, x));
                    if self.candidates.attempt(&node, corner) {
                        return Outcome::Closed;
                    }
                    match self.take_apart(&node, o, *left) {
                        Some(halves) => children.extend(halves),
                        None => self.candidates.tally.stuck += 1,
                    }
                }
            }
        }
        shared.prove(node.depth, opened - node.open.len());
        Outcome::Branch(children)
    }

    /// The two halves of what is left of an obligation; `None` if nothing can be split.
    fn take_apart(&mut self, node: &Node, obligation: usize, left: Contraction) -> Option<[Node; 2]> {
        let Contraction { knowledge, bound, neuron, .. } = left;
        let mut halves = [knowledge.clone(), knowledge];
        let many = self.context.pair.inputs() > MANY_INPUTS;
        if let Some(neuron) = neuron.filter(|_| many) {
            for (half, positive) in halves.iter_mut().zip([false, true]) {
                half.assume(neuron.side(positive));
            }
        } else {
            // The score belongs to the last propagation, which was the contraction's own.
            let score = self.influence.score(self.reach.layers(), self.context.pair.inputs());
            let (input, middle) = split::choose(score, &halves[0].lower, &halves[0].upper)?;
            halves[0].upper[input] = middle;
            halves[1].lower[input] = middle;
        }
        let open = Open::only(obligation, self.context.property.obligations.len());
        Some(halves.map(|known| Node {
            lower: known.lower.clone().into(),
            upper: known.upper.clone().into(),
            depth: node.depth + 1,
            bound,
            number: 0,
            open: open.clone(),
            inherited: node.inherited.clone(),
            focus: Some(Arc::new(known)),
        }))
    }
}
