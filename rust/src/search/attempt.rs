//! One box: bound it, try to prove what is open there, look for a counterexample on the way.
//!
//! Stages by cost: the region's constraints, bounds of f1 against the guards, zonotope rows, multipliers inherited from the parent and then better ones
//! ([`super::weighing`]), a linear program where these are not the best ([`super::asking`]), contraction under the assumed violation
//! ([`super::focusing`]). What is proved in one stage is not looked at in the next.

use super::asking::Asked;
use super::candidates::Candidates;
use super::effort::Part;
use super::foresight::Foresight;
use super::refuting::Refuting;
use super::split::Plan;
use super::weighing::{self, Descent};
use super::worker::Context;
use super::{Node, Request};
use crate::bound::Contractor;
use crate::domain::output::GeneratorRow;
use crate::domain::propagation::Failure;
use crate::domain::published_score::PublishedScore;
use crate::domain::sensitivity::Sensitivity;
use crate::domain::{AbstractDomain, Output, Propagation, RestrictedPair};
use crate::lp::certified::Scratch;
use crate::lp::{Dual, Multipliers, RegionRow};
use crate::numeric::log::exp_below;
use crate::numeric::round::add_down;
use crate::property::Obligation;
use std::sync::{Arc, mpsc};

/// What became of a box.
pub enum Outcome {
    /// Everything is proved, or the search is over.
    Closed,
    /// Not proved: to be halved by a plan, which is empty where it cannot be.
    Split(Node, Plan),
    /// Not proved, and already taken apart.
    Branch(Vec<Node>),
    /// Not proved, but a solver says that nothing violates the claim there: put away as undecided.
    Believed(Node),
    /// Linear programs might prove it.
    Ask(Box<Asked>),
}

/// A worker's tools for bounding boxes.
pub struct Attempt<'a> {
    pub(super) context: Context<'a>,
    pub(super) requests: &'a mpsc::Sender<Request>,
    pub(super) reach: Propagation,
    pub(super) narrowed: RestrictedPair<'a>,
    pub(super) influence: PublishedScore,
    pub(super) sensitivity: Sensitivity,
    pub(super) row: GeneratorRow,
    pub(super) scratch: Scratch,
    pub(super) dual: Dual,
    pub(super) multipliers: Multipliers,
    pub(super) ray: Multipliers,
    pub(super) generators: Vec<f64>,
    pub(super) contractor: Contractor<'a>,
    pub(super) foresight: Foresight,
    pub(super) refuting: Refuting,
    /// Tries points, and counts.
    pub candidates: Candidates<'a>,
}

impl<'a> Attempt<'a> {
    pub fn new(context: Context<'a>, requests: &'a mpsc::Sender<Request>) -> Self {
        Self {
            context,
            requests,
            reach: Propagation::new(context.settings.domain, context.pair.depth()),
            narrowed: RestrictedPair::new(context.pair),
            influence: PublishedScore::default(),
            sensitivity: Sensitivity::default(),
            row: GeneratorRow::default(),
            scratch: Scratch::default(),
            dual: Dual::default(),
            multipliers: Multipliers::default(),
            ray: Multipliers::default(),
            generators: Vec::new(),
            contractor: Contractor::new(context.pair).recording(context.record.on()),
            foresight: context.shared.foresight(),
            refuting: Refuting::new(&context),
            candidates: Candidates::new(context, requests),
        }
    }

    /// Takes up a box.
    pub fn examine(&mut self, node: Node) -> Outcome {
        let part_of_a_plan = node.depth > 0 && node.focus.is_none();
        let outcome = self.bound(node);
        if part_of_a_plan {
            self.foresight.learn(matches!(outcome, Outcome::Closed));
        }
        outcome
    }

    /// Bounds a box, and tries one stage after the other.
    fn bound(&mut self, mut node: Node) -> Outcome {
        let Context { pair, region, property, settings, shared, .. } = self.context;
        let (before, seed) = shared.count_box();
        let first = before == 0;
        let opened = node.open.len();
        self.candidates.tally.effort.take_up(&node);
        if !region.contract(&mut node.lower, &mut node.upper) {
            self.candidates.tally.stages.outside += 1;
            return self.proved(&node, opened);
        }
        let reached = match &node.focus {
            Some(known) => self.reach.propagate_within(pair, known).map(drop),
            None => self
                .reach
                .propagate(self.narrowed.restrict_to(node.alive.as_deref()), &node.lower, &node.upper)
                .map(drop)
                .ok_or(Failure::Overflow),
        };
        match reached {
            Ok(()) => {}
            Err(Failure::Overflow) if opened == 0 => return self.proved(&node, 0),
            Err(Failure::Overflow) => {
                self.candidates.tally.stages.overflow += 1;
                let plan = Plan::once(&[], &node.lower, &node.upper);
                return Outcome::Split(node, plan);
            }
            Err(Failure::Contradiction) => {
                self.candidates.tally.stages.contraction += opened as u64;
                return self.proved(&node, opened);
            }
        }
        if first {
            let output = output_of(&self.reach, &self.context);
            shared.set_initial_bound(output.largest_difference(property.reported.iter().copied()));
        }
        if !shared.guard_seen() {
            // The centre tells whether guards are ever met, also where everything is proved.
            self.enter(Part::Candidates);
            if self.candidates.attempt(&node, |i| centre(&node, i)) {
                return Outcome::Closed;
            }
        }
        self.enter(Part::Rows);
        self.exclude_guards(&mut node);
        let mut worst = self.exclude_violations(&mut node);
        if node.open.is_empty() {
            return self.proved(&node, opened);
        }
        node.bound = worst.bound;
        self.enter(Part::Candidates);
        if self.refute(&node, &worst, first, seed) {
            return Outcome::Closed;
        }
        if worst.within_rounding && self.touches(&node, &worst) {
            shared.prove(node.depth, opened - node.open.len());
            self.candidates.tally.limited += 1;
            return Outcome::Split(node, Plan::default());
        }
        let rows = region.rows(self.reach.centre(), self.reach.radius());
        if let Some(inherited) = node.inherited.clone() {
            self.enter(Part::Inherited);
            self.inherit(&mut node, &inherited, &rows, &mut worst);
            if node.open.is_empty() {
                return self.proved(&node, opened);
            }
        }
        let programs = settings.lp && (!property.guards.is_empty() || !rows.is_empty());
        // Under an assumption backward bounds see more than programs over the outputs.
        let done = programs
            && settings.dual
            && node.focus.is_none()
            && match self.descend(&mut node, &rows, &mut worst) {
                Descent::Refuted => return Outcome::Closed,
                Descent::Done => true,
                Descent::Unfinished => false,
            };
        if node.open.is_empty() {
            return self.proved(&node, opened);
        }
        shared.prove(node.depth, opened - node.open.len());
        if self.worth_contracting(&node) {
            // Stronger than programs over the outputs alone, and needs no solver.
            let whole = node.alive.is_none();
            return self.contract(node, whole);
        }
        self.enter(Part::Splitting);
        let plan = worst.plan.unwrap_or_else(|| self.plan(&node, &worst, &rows));
        if self.hands_down(&node) {
            node.alive = Some(Arc::new(self.narrowed.possibly_active(&self.reach)));
        }
        if programs && !done {
            return Outcome::Ask(Box::new(self.ask(node, rows, plan)));
        }
        Outcome::Split(node, plan)
    }

    /// Whether children are told which neurons are inactive here: not what rests on an assumption; and the published algorithm and the auditor of
    /// certificates bound every box by itself, and may find less.
    fn hands_down(&self, node: &Node) -> bool {
        node.focus.is_none() && self.context.settings.domain == AbstractDomain::Reduced && !self.context.record.on()
    }

    /// From now on time belongs to `part`.
    pub(super) fn enter(&mut self, part: Part) {
        self.candidates.tally.effort.enter(part);
    }

    /// A node is done: so many obligations were open on it when it was taken up.
    pub(super) fn proved(&self, node: &Node, opened: usize) -> Outcome {
        self.context.record.leaf(node);
        self.context.shared.prove(node.depth, opened);
        self.context.shared.leave(1, 0);
        Outcome::Closed
    }

    /// Closes the obligations whose guard f1 cannot meet on this box.
    fn exclude_guards(&mut self, node: &mut Node) {
        let Context { property, settings, .. } = self.context;
        let exact = settings.entropy;
        let output = output_of(&self.reach, &self.context);
        for (g, guard) in property.guards.iter().enumerate() {
            let concerned: Vec<usize> =
                node.open.iter().filter(|&o| property.obligations[o].guard == Some(g)).collect();
            if concerned.is_empty() {
                continue;
            }
            let mut below = 0.0;
            let mut excluded = false;
            for (l, row) in guard.rows.iter().enumerate() {
                let upper = output.upper(row, &mut self.row);
                excluded |= upper < 0.0;
                if exact && guard.confidence.as_ref().is_some_and(|c| c.rows.contains(&l)) {
                    below = add_down(below, exp_below(-upper));
                }
            }
            // z_k - LSE(z_l) >= t means that the sum of exp(-(z_k - z_l - t)) is at most 1.
            if excluded || below > 1.0 {
                self.candidates.tally.stages.guard += 1;
                for o in concerned {
                    node.open.close(o);
                }
            }
        }
    }

    /// Closes the obligations whose violation a zonotope row excludes; tells about the worst of the others.
    fn exclude_violations(&mut self, node: &mut Node) -> Worst {
        let property = self.context.property;
        let output = output_of(&self.reach, &self.context);
        let mut worst = Worst { bound: f64::NEG_INFINITY, obligation: 0, within_rounding: true, plan: None };
        for o in node.open.clone().iter() {
            let violation = &property.obligations[o].violation;
            let (bound, err) = violation.bound(&output, &mut self.row);
            if violation.excluded_by(bound) {
                self.candidates.tally.stages.zonotope += 1;
                node.open.close(o);
                continue;
            }
            worst.within_rounding &= violation.is_linear() && bound <= 4.0 * err;
            let bound = if bound.is_nan() { f64::INFINITY } else { bound };
            if bound > worst.bound {
                (worst.bound, worst.obligation) = (bound, o);
            }
        }
        worst
    }

    /// Where to halve a box: what is worst decides, as one row with guard and constraints by its multipliers. Under a guard the violation alone misleads; where
    /// there are no multipliers the outputs of both networks serve better.
    fn plan(&mut self, node: &Node, worst: &Worst, region: &[RegionRow]) -> Plan {
        let Context { pair, property, settings, .. } = self.context;
        let layers = self.reach.layers();
        let output = output_of(&self.reach, &self.context);
        let Obligation { guard, violation } = &property.obligations[worst.obligation];
        let multipliers = node.inherited.as_ref().and_then(|list| weighing::of(list, worst.obligation));
        let (bound, row) = match multipliers {
            _ if settings.domain != AbstractDomain::Reduced || !violation.is_linear() => (f64::NAN, None),
            Some(m) => {
                let bound = property.certified(worst.obligation, &output, region, m, &mut self.scratch);
                (bound, Some(self.scratch.row()))
            }
            None if guard.is_none() => (violation.upper(&output, &mut self.row), Some(&self.row)),
            None => (f64::NAN, None),
        };
        match row {
            None => Plan::once(self.influence.score(layers, pair.inputs()), &node.lower, &node.upper),
            Some(row) => {
                let score = self.sensitivity.score(layers, pair.inputs(), row);
                Plan::until_it_may_close(bound, self.foresight.share(), score, &node.lower, &node.upper)
            }
        }
    }

    /// Whether the limit is met, up to rounding, inside the box: where the worst row points to, or at the centre.
    fn touches(&mut self, node: &Node, worst: &Worst) -> bool {
        self.context.property.obligations[worst.obligation]
            .violation
            .upper(&output_of(&self.reach, &self.context), &mut self.row);
        let side = &self.row.generators;
        self.candidates.touches(worst.obligation, |i| corner(node, side, i))
            || self.candidates.touches(worst.obligation, |i| centre(node, i))
    }
}

/// The open obligation with the largest bound.
pub(super) struct Worst {
    pub(super) bound: f64,
    pub(super) obligation: usize,
    /// Whether all open bounds miss their limit by no more than rounding, which halving does not shrink.
    within_rounding: bool,
    /// Where to halve because of it, if that is known already.
    pub(super) plan: Option<Plan>,
}

/// The outputs of the last propagation.
pub(super) fn output_of<'r>(reach: &'r Propagation, context: &Context<'_>) -> Output<'r> {
    Output::new(&reach.layers()[context.pair.depth() - 1], context.pair.inputs(), context.settings.domain)
}

pub(super) fn centre(node: &Node, i: usize) -> f64 {
    node.lower[i] + 0.5 * (node.upper[i] - node.lower[i])
}

/// The corner where a row with these coefficients is largest.
pub(super) fn corner(node: &Node, side: &[f64], i: usize) -> f64 {
    if side[i] >= 0.0 { node.upper[i] } else { node.lower[i] }
}
