//! Contraction in the search: each open obligation of a node is assumed violated, and what is not contradicted goes on alone.
//!
//! From here on a node belongs to one obligation, and carries the bounds that hold under its violation and multipliers to start from. Looking ahead settles
//! signs of neurons, or tells where to split: along an input, or at the sign of a neuron or of a difference, which then joins the assumption.

use super::Node;
use super::attempt::{Attempt, Outcome};
use super::effort::Part;
use super::policy::POLICY;
use super::split::{self, Plan};
use super::worker::Context;
use crate::bound::branching::LookaheadResult;
use crate::bound::split_candidates::{Split, SplitCandidates};
use crate::bound::{Assumption, Contraction, ContractionBudget, ContractionResult};
use crate::domain::IntermediateBounds;
use crate::domain::propagation::Failure;
use crate::property::ObligationSet;
use std::sync::Arc;

impl Attempt<'_> {
    /// Whether contraction is expected to pay on this node.
    pub(super) fn worth_contracting(&self, node: &Node) -> bool {
        let Context { settings, pair, property, .. } = self.context;
        settings.contracts(pair.inputs()) && node.open.iter().all(|o| property.obligations[o].violation.is_linear())
    }

    /// The violation of an obligation somewhere in the region, as settings let it be used; `None` where it is not linear.
    fn assumption(&self, o: usize) -> Option<Assumption> {
        let Context { region, settings, .. } = self.context;
        let mut assumption = self.context.assumption(o)?;
        if !settings.entropy {
            assumption.entropy = 0..0;
        }
        region.constraints.iter().for_each(|c| assumption.region.push(&c.coefficients, c.bound));
        Some(assumption)
    }

    /// Contracts bounds under the one open violation of a node; a node with several is first taken apart into one for each.
    ///
    /// `current` says that the workspace still holds the propagation of this node.
    pub(super) fn contract(&mut self, mut node: Node, current: bool) -> Outcome {
        let Context { pair, region, property, settings, shared, .. } = self.context;
        let opened = node.open.len();
        self.enter(Part::Contraction);
        let reached = match &node.focus {
            _ if current => Ok(()),
            Some(known) => self.reach.propagate_within(pair, known).map(drop),
            None => self.reach.propagate(pair, &node.lower, &node.upper).map(drop).ok_or(Failure::Overflow),
        };
        let start = match (reached, &node.focus) {
            (Err(Failure::Overflow), _) => return Outcome::Split(node, Plan::default()),
            (Ok(()), None) => Some(IntermediateBounds::of(self.reach.layers(), &node.lower, &node.upper)),
            (Ok(()), Some(known)) => {
                let mut known = IntermediateBounds::clone(known);
                known.intersect(self.reach.layers()).is_ok().then_some(known)
            }
            (Err(Failure::Contradiction), _) => None,
        };
        let record = self.context.record;
        let Some(start) = start else {
            self.candidates.tally.stages.contraction += opened as u64;
            return self.proved(&node, opened);
        };
        let (Some(o), true) = (node.open.iter().next(), node.focus.is_some()) else {
            let focus = Arc::new(start);
            let own = |o: usize| Node {
                open: ObligationSet::only(o, property.obligations.len()),
                focus: Some(Arc::clone(&focus)),
                ..node.clone()
            };
            let mut owned: Vec<Node> = node.open.iter().map(own).collect();
            for (o, child) in node.open.iter().zip(&mut owned) {
                record.contracted(node.label, o, &[], Some(child));
            }
            return Outcome::Branch(owned);
        };
        let Some(assumption) = self.assumption(o) else {
            // Not linear: it cannot be contracted, and must not be lost.
            return Outcome::Split(node, Plan::default());
        };
        self.candidates.tally.effort.contracted += 1;
        if let Some(log) = &mut self.contractor.log {
            log.bytes.clear();
        }
        let (mut start, mut warm) = (start, node.warm.take());
        let mut effort = ContractionBudget { link: settings.link, ..ContractionBudget::default() };
        for _ in 0..POLICY.contraction.looks {
            let Self { contractor, reach, .. } = self;
            let stop = || shared.stopping();
            let mut left = match contractor.contract(start, warm.as_deref(), &assumption, effort, reach, stop) {
                ContractionResult::Proved => {
                    self.candidates.tally.stages.contraction += 1;
                    record.contracted(node.label, o, self.rounds(), None);
                    return self.proved(&node, opened);
                }
                ContractionResult::Open(left) => left,
            };
            region.approach(&mut left.minimiser, &node.lower, &node.upper);
            let corner = |i: usize| left.minimiser.get(i).copied().unwrap_or(node.lower[i]);
            self.enter(Part::Candidates);
            if self.candidates.attempt(&node, corner) {
                return Outcome::Closed;
            }
            self.enter(Part::Contraction);
            if !settings.phases {
                left.candidates = SplitCandidates::default();
            }
            let Self { contractor, reach, influence, .. } = self;
            // Where the last bounds of the contraction overflowed no input scores, and the widest is halved.
            let score = influence.score(reach.layers(), pair.inputs());
            let halving = split::choose(score, &left.bounds.lower, &left.bounds.upper);
            let splits = match contractor.look_ahead(&mut left, &assumption, halving, reach, stop) {
                LookaheadResult::Proved => {
                    self.candidates.tally.stages.contraction += 1;
                    record.contracted(node.label, o, self.rounds(), None);
                    return self.proved(&node, opened);
                }
                LookaheadResult::Settled(_) => {
                    (start, warm) = (left.bounds, left.warm);
                    effort.rounds = POLICY.contraction.again;
                    continue;
                }
                LookaheadResult::Ranked(splits) => splits,
            };
            if let Some(outcome) = self.ask_solver(&node, &left, &assumption, splits.is_empty()) {
                return outcome;
            }
            return match splits.first() {
                Some(&split) => {
                    let mut halves = Self::halves(&node, &left, split);
                    record.taken_apart((node.label, o, self.rounds()), split, &mut halves);
                    Outcome::Branch(halves.into())
                }
                None => Outcome::Split(node, Plan::default()),
            };
        }
        node.focus = Some(Arc::new(start));
        node.warm = warm;
        let label = node.label;
        record.contracted(label, o, self.rounds(), Some(&mut node));
        Outcome::Branch(vec![node])
    }

    /// The rounds of this contraction, if they are kept.
    fn rounds(&self) -> &[u8] {
        self.contractor.log.as_ref().map_or(&[], |c| &c.bytes)
    }

    /// The halves of what is left of an obligation.
    fn halves(node: &Node, left: &Contraction, split: Split) -> [Node; 2] {
        split.halves(&left.bounds).map(|known| Node {
            lower: known.lower.clone().into(),
            upper: known.upper.clone().into(),
            depth: node.depth + 1,
            bound: left.bound,
            number: 0,
            label: 0,
            open: node.open.clone(),
            inherited: node.inherited.clone(),
            focus: Some(Arc::new(known)),
            alive: None,
            warm: left.warm.clone(),
        })
    }
}
