//! One box: bound it, try to prove what is open there, look for a counterexample on the way.
//!
//! Stages by cost: the region's constraints, bounds of f1 against the guards, zonotope rows, multipliers inherited from the parent, a linear program.

use super::attack::{Attack, Zeal};
use super::candidates::Candidates;
use super::node::Inherited;
use super::shared::Tally;
use super::worker::Context;
use super::{Node, Request, split};
use crate::bound::{Assumption, Contraction, Contractor, Effort, Fate};
use crate::domain::influence::Influence;
use crate::domain::output::Row;
use crate::domain::reach::{Failure, Layer};
use crate::domain::{Domain, Knowledge, Output, Reach};
use crate::lp::certified::{self, Scratch};
use crate::lp::{Answer, LinearProgram, Multipliers, RegionRow, program};
use crate::property::{Certainty, Open, Violation};
use std::sync::{Arc, mpsc};

/// Up to so many free inputs, halving them beats contracting bounds: on ACAS Xu (5 inputs) a contraction saved a dozen boxes and cost hundreds, on jets (16)
/// it replaced a hundred thousand boxes by thirty.
const FEW_INPUTS: usize = 8;

/// What became of a box.
pub enum Outcome {
    /// Everything is proved, or the search is over.
    Closed,
    /// Not proved: halve it.
    Split(Node, Option<(usize, f64)>),
    /// Not proved, and already taken apart.
    Branch(Vec<Node>),
    /// Linear programs might prove it.
    Ask(Box<Asked>),
}

/// A box that waits for linear programs.
pub struct Asked {
    node: Node,
    layer: Layer,
    centre: Vec<f64>,
    radius: Vec<f64>,
    region: Vec<RegionRow>,
    /// Guard and obligations of each program, in order.
    groups: Vec<(Option<usize>, Vec<usize>)>,
    halving: Option<(usize, f64)>,
    /// The programs, taken when they are sent.
    pub programs: Vec<LinearProgram>,
}

impl Asked {
    /// How many programs this box sent.
    pub fn programs_sent(&self) -> usize {
        self.groups.len()
    }
}

/// A worker's tools for bounding boxes.
pub struct Attempt<'a> {
    context: Context<'a>,
    reach: Reach,
    influence: Influence,
    row: Row,
    scratch: Scratch,
    candidates: Candidates,
    attack: Attack,
    contractor: Contractor<'a>,
    requests: &'a mpsc::Sender<Request>,
    /// Counters.
    pub tally: Tally,
}

impl<'a> Attempt<'a> {
    pub fn new(context: Context<'a>, requests: &'a mpsc::Sender<Request>) -> Self {
        Self {
            reach: Reach::new(context.settings.domain, context.pair.depth()),
            influence: Influence::default(),
            row: Row::default(),
            scratch: Scratch::default(),
            candidates: Candidates::default(),
            attack: Attack::default(),
            contractor: Contractor::new(context.pair),
            requests,
            tally: Tally::default(),
            context,
        }
    }

    /// Bounds a box.
    pub fn examine(&mut self, mut node: Node) -> Outcome {
        let Context {
            pair,
            region,
            property,
            settings,
            shared,
            ..
        } = self.context;
        let first = shared.count_box();
        if !region.contract(&mut node.lower, &mut node.upper) {
            self.tally.stages.outside += 1;
            return self.proved(&node, node.open.len());
        }
        let reached = match &node.focus {
            Some(known) => self.reach.propagate_within(pair, known),
            None => self
                .reach
                .propagate(pair, &node.lower, &node.upper)
                .ok_or(Failure::Overflow),
        };
        let output = match reached {
            Ok(output) => output,
            Err(Failure::Overflow) => {
                self.tally.stages.overflow += 1;
                let halving = split::choose(&[], &node.lower, &node.upper);
                return Outcome::Split(node, halving);
            }
            Err(Failure::Contradiction) => {
                self.tally.stages.contraction += node.open.len() as u64;
                return self.proved(&node, node.open.len());
            }
        };
        let opened = node.open.len();
        if first {
            shared.set_initial_bound(output.largest_difference(property.reported.iter().copied()));
        }
        // The centre first: it is free, and it tells whether guards are ever met.
        let (lower, upper) = (&node.lower, &node.upper);
        let middle = |i: usize| lower[i] + 0.5 * (upper[i] - lower[i]);
        if self.candidates.attempt(
            &self.context,
            &node.open,
            middle,
            Certainty::Beyond,
            self.requests,
            &mut self.tally,
        ) {
            return Outcome::Closed;
        }
        for (g, guard) in property.guards.iter().enumerate() {
            let concerned = |o: &usize| property.obligations[*o].guard == Some(g);
            if !node.open.iter().any(|o| concerned(&o)) {
                continue;
            }
            if guard.rows.iter().any(|r| output.upper(r, &mut self.row) < 0.0) {
                self.tally.stages.guard += 1;
                for o in node.open.iter().filter(concerned).collect::<Vec<_>>() {
                    node.open.close(o);
                }
            }
        }
        let mut worst = (f64::NEG_INFINITY, 0);
        let mut within_rounding = true;
        for o in node.open.clone().iter() {
            let violation = &property.obligations[o].violation;
            let bound = violation.upper(&output, &mut self.row);
            if violation.excluded_by(bound) {
                self.tally.stages.zonotope += 1;
                node.open.close(o);
                continue;
            }
            // Splitting shrinks neither rounding nor what is decided only by it.
            within_rounding &= matches!(violation, Violation::Linear { .. }) && bound <= 4.0 * self.row.err;
            if bound > worst.0 || bound.is_nan() {
                worst = (if bound.is_nan() { f64::INFINITY } else { bound }, o);
            }
            if first {
                let corner = corner_of(&self.row, violation, &node);
                if corner.is_some_and(|x| {
                    self.candidates.attempt(
                        &self.context,
                        &node.open,
                        x,
                        Certainty::Beyond,
                        self.requests,
                        &mut self.tally,
                    )
                }) {
                    return Outcome::Closed;
                }
            }
        }
        if node.open.is_empty() {
            return self.proved(&node, opened);
        }
        node.bound = worst.0;
        if within_rounding {
            let violation = &property.obligations[worst.1].violation;
            violation.upper(&output, &mut self.row);
            let (row, lower, upper) = (&self.row, &node.lower, &node.upper);
            let Self {
                context,
                candidates,
                requests,
                tally,
                ..
            } = self;
            let mut possible = |x: &dyn Fn(usize) -> f64| {
                candidates.attempt(context, &node.open, x, Certainty::Possible, requests, tally)
            };
            let corner = |i: usize| if row.generators[i] >= 0.0 { upper[i] } else { lower[i] };
            if possible(&middle) || possible(&corner) {
                return Outcome::Closed;
            }
            shared.prove(node.depth, opened - node.open.len());
            self.tally.limited += 1;
            return Outcome::Split(node, None);
        }
        let zeal = match (settings.domain == Domain::Shared, first) {
            (true, true) => Some(Zeal { starts: 8, steps: 40 }),
            (true, false) => node.focus.is_some().then_some(Zeal { starts: 1, steps: 20 }),
            // The published algorithm, to compare with.
            (false, _) => None,
        };
        if let Some(zeal) = zeal {
            let Self {
                context,
                candidates,
                requests,
                tally,
                attack,
                ..
            } = self;
            if attack.run(context, &node, zeal, candidates, requests, tally) {
                return Outcome::Closed;
            }
        }
        if !first {
            let violation = &property.obligations[worst.1].violation;
            let output = Output::new(&self.reach.layers()[pair.depth() - 1], pair.inputs(), settings.domain);
            violation.upper(&output, &mut self.row);
            let corner = corner_of(&self.row, violation, &node);
            if corner.is_some_and(|x| {
                self.candidates.attempt(
                    &self.context,
                    &node.open,
                    x,
                    Certainty::Beyond,
                    self.requests,
                    &mut self.tally,
                )
            }) {
                return Outcome::Closed;
            }
        }
        let rows = region.rows(self.reach.centre(), self.reach.radius());
        if let Some(inherited) = node.inherited.clone() {
            self.inherit(&mut node, &inherited, &rows);
            if node.open.is_empty() {
                return self.proved(&node, opened);
            }
        }
        shared.prove(node.depth, opened - node.open.len());
        let contract = self.worth_contracting(&node);
        if contract && node.focus.is_some() {
            return self.contract(node);
        }
        let halving = split::choose(
            self.influence.score(self.reach.layers(), pair.inputs()),
            &node.lower,
            &node.upper,
        );
        if settings.lp && (!property.guards.is_empty() || !rows.is_empty()) {
            return Outcome::Ask(Box::new(self.ask(node, rows, halving)));
        }
        if contract {
            self.contract(node)
        } else {
            Outcome::Split(node, halving)
        }
    }

    /// A node is done: so many obligations were open on it when it was taken up.
    fn proved(&self, node: &Node, opened: usize) -> Outcome {
        self.context.shared.prove(node.depth, opened);
        self.context.shared.leave(1, 0);
        Outcome::Closed
    }

    /// Whether contraction is expected to pay on this node.
    ///
    /// Halving inputs is right for few of them and hopeless for many; what decides is how many boxes a contraction (a thousand times as dear) would save.
    fn worth_contracting(&self, node: &Node) -> bool {
        let linear = |o: usize| matches!(self.context.property.obligations[o].violation, Violation::Linear { .. });
        let Context { settings, pair, .. } = self.context;
        settings.contract
            && settings.domain == Domain::Shared
            && pair.inputs() > FEW_INPUTS
            && node.open.iter().all(linear)
    }

    /// Contracts the bounds under each open violation in turn. What is not contradicted goes on alone, with its own bounds.
    fn contract(&mut self, mut node: Node) -> Outcome {
        let Context {
            pair, property, shared, ..
        } = self.context;
        let opened = node.open.len();
        let start = match &node.focus {
            Some(known) => {
                let mut known = Knowledge::clone(known);
                if known.intersect(self.reach.layers()).is_err() {
                    self.tally.stages.contraction += opened as u64;
                    return self.proved(&node, opened);
                }
                known
            }
            None => {
                // The workspace may have gone on to other boxes since.
                if self.reach.propagate(pair, &node.lower, &node.upper).is_none() {
                    return Outcome::Split(node, None);
                }
                Knowledge::of(self.reach.layers(), &node.lower, &node.upper)
            }
        };
        let mut children = Vec::new();
        for o in node.open.clone().iter() {
            let Some(assumption) = Assumption::new(property, &property.obligations[o], pair.outputs()) else {
                continue;
            };
            if shared.stopping() {
                return Outcome::Closed;
            }
            match self
                .contractor
                .contract(start.clone(), &assumption, Effort::default(), &mut self.reach, || {
                    shared.stopping()
                }) {
                Fate::Proved => {
                    self.tally.stages.contraction += 1;
                    node.open.close(o);
                }
                Fate::Open(left) => {
                    let Contraction {
                        knowledge,
                        bound,
                        corner,
                        ..
                    } = *left;
                    let at = |i: usize| {
                        corner
                            .get(i)
                            .map_or(node.lower[i], |x| x.clamp(node.lower[i], node.upper[i]))
                    };
                    if self.candidates.attempt(
                        &self.context,
                        &node.open,
                        at,
                        Certainty::Beyond,
                        self.requests,
                        &mut self.tally,
                    ) {
                        return Outcome::Closed;
                    }
                    // The score belongs to the last propagation, which was the contraction's own.
                    let score = self.influence.score(self.reach.layers(), pair.inputs());
                    let Some((input, middle)) = split::choose(score, &knowledge.lower, &knowledge.upper) else {
                        self.tally.stuck += 1;
                        continue;
                    };
                    let mut alone = node.clone();
                    alone.open = Open::only(o, property.obligations.len());
                    alone.bound = bound;
                    alone.depth += 1;
                    for low in [true, false] {
                        let mut child = alone.clone();
                        let mut known = knowledge.clone();
                        if low {
                            known.upper[input] = middle;
                        } else {
                            known.lower[input] = middle;
                        }
                        child.lower = known.lower.clone().into();
                        child.upper = known.upper.clone().into();
                        child.focus = Some(Arc::new(known));
                        children.push(child);
                    }
                }
            }
        }
        shared.prove(node.depth, opened - node.open.len());
        Outcome::Branch(children)
    }

    /// The parent's multipliers on this box: one row per obligation.
    fn inherit(&mut self, node: &mut Node, inherited: &Inherited, rows: &[RegionRow]) {
        let Context {
            pair,
            property,
            settings,
            ..
        } = self.context;
        let output = Output::new(&self.reach.layers()[pair.depth() - 1], pair.inputs(), settings.domain);
        let mut worst = f64::NEG_INFINITY;
        for o in node.open.clone().iter() {
            let bound = inherited
                .iter()
                .find(|(i, _)| *i == o)
                .map_or(f64::INFINITY, |(_, multipliers)| {
                    bound_of(&output, &self.context, o, rows, multipliers, &mut self.scratch)
                });
            if property.obligations[o].violation.excluded_by(bound) {
                self.tally.stages.inherited += 1;
                node.open.close(o);
            } else {
                worst = worst.max(bound);
            }
        }
        if worst.is_finite() {
            node.bound = node.bound.min(worst);
        }
    }

    /// Programs for everything that is open, one per guard.
    fn ask(&mut self, node: Node, region: Vec<RegionRow>, halving: Option<(usize, f64)>) -> Asked {
        let Context {
            pair,
            property,
            settings,
            ..
        } = self.context;
        let output = Output::new(&self.reach.layers()[pair.depth() - 1], pair.inputs(), settings.domain);
        let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
        for o in node
            .open
            .iter()
            .filter(|&o| matches!(property.obligations[o].violation, Violation::Linear { .. }))
        {
            let guard = property.obligations[o].guard;
            match groups.iter_mut().find(|(g, _)| *g == guard) {
                Some((_, members)) => members.push(o),
                None => groups.push((guard, vec![o])),
            }
        }
        let programs = groups
            .iter()
            .map(|(guard, members)| {
                let violations = members.iter().map(|&o| &property.obligations[o].violation);
                program(
                    &output,
                    guard.map(|g| &property.guards[g]),
                    &region,
                    violations,
                    &mut self.row,
                )
            })
            .collect();
        self.tally.lps += groups.iter().map(|(_, members)| members.len() as u64).sum::<u64>();
        Asked {
            layer: self.reach.layers()[pair.depth() - 1].snapshot(),
            centre: self.reach.centre().to_vec(),
            radius: self.reach.radius().to_vec(),
            node,
            region,
            groups,
            halving,
            programs,
        }
    }

    /// Uses the answers to a box's programs: multipliers to prove, points to refute.
    pub fn conclude(&mut self, asked: Asked, answers: &[Answer]) -> Outcome {
        let Context {
            pair,
            property,
            settings,
            shared,
            ..
        } = self.context;
        let Asked {
            mut node,
            layer,
            centre,
            radius,
            region,
            groups,
            halving,
            ..
        } = asked;
        let output = Output::new(&layer, pair.inputs(), settings.domain);
        let opened = node.open.len();
        let mut kept: Vec<(usize, Multipliers)> = Vec::new();
        let mut worst = f64::NEG_INFINITY;
        for ((guard, members), answer) in groups.iter().zip(answers) {
            let guard = guard.map(|g| &property.guards[g]);
            let guard_rows = guard.map_or(0, |g| g.rows.len());
            let rows = guard_rows + output.outputs() + region.len();
            if let Some(ray) = answer
                .ray
                .as_ref()
                .filter(|r| r.len() == rows)
                .and_then(|r| Multipliers::from_duals(r, guard_rows, output.outputs()))
            {
                let nothing = crate::domain::Combination::default();
                if certified::bound(&output, &nothing, guard, &region, &ray, &mut self.scratch) < 0.0 {
                    self.tally.stages.program += members.len() as u64;
                    members.iter().for_each(|&o| node.open.close(o));
                    continue;
                }
            }
            for (n, &o) in members.iter().enumerate() {
                let duals = answer.duals.get(n * rows..(n + 1) * rows);
                if let Some(multipliers) = duals.and_then(|y| Multipliers::from_duals(y, guard_rows, output.outputs()))
                {
                    let bound = bound_of(&output, &self.context, o, &region, &multipliers, &mut self.scratch);
                    if property.obligations[o].violation.excluded_by(bound) {
                        self.tally.stages.program += 1;
                        node.open.close(o);
                        continue;
                    }
                    worst = worst.max(bound);
                    kept.push((o, multipliers));
                }
                let columns = output.generators();
                if let Some(point) = answer
                    .points
                    .get(n * columns..(n + 1) * columns)
                    .filter(|p| p.iter().all(|v| v.is_finite()))
                {
                    let at = |i: usize| (centre[i] + radius[i] * point[i]).clamp(node.lower[i], node.upper[i]);
                    if self.candidates.attempt(
                        &self.context,
                        &node.open,
                        at,
                        Certainty::Beyond,
                        self.requests,
                        &mut self.tally,
                    ) {
                        return Outcome::Closed;
                    }
                }
            }
        }
        if node.open.is_empty() {
            return self.proved(&node, opened);
        }
        shared.prove(node.depth, opened - node.open.len());
        if worst.is_finite() {
            node.bound = node.bound.min(worst);
        }
        if !kept.is_empty() {
            node.inherited = Some(kept.into());
        }
        if self.worth_contracting(&node) {
            self.contract(node)
        } else {
            Outcome::Split(node, halving)
        }
    }
}

/// The corner of a box at which the row of a violation just bounded is largest; none for violations that are no functionals.
fn corner_of<'b>(row: &'b Row, violation: &Violation, node: &'b Node) -> Option<impl Fn(usize) -> f64 + use<'b>> {
    let linear = matches!(violation, Violation::Linear { .. });
    linear.then_some(move |i: usize| {
        if row.generators[i] >= 0.0 {
            node.upper[i]
        } else {
            node.lower[i]
        }
    })
}

/// The certified bound of obligation `o` by these multipliers; infinite for violations that are no functionals.
fn bound_of(
    output: &Output<'_>,
    context: &Context<'_>,
    o: usize,
    rows: &[RegionRow],
    multipliers: &Multipliers,
    scratch: &mut Scratch,
) -> f64 {
    let obligation = &context.property.obligations[o];
    let Violation::Linear { writings, .. } = &obligation.violation else {
        return f64::INFINITY;
    };
    let guard = obligation.guard.map(|g| &context.property.guards[g]);
    certified::bound(output, &writings[0], guard, rows, multipliers, scratch)
}

/// The two halves of a box.
pub fn halves(node: Node, input: usize, middle: f64, number: &mut u64) -> [Node; 2] {
    let mut low = node;
    low.depth += 1;
    low.number = *number;
    let mut high = low.clone();
    high.number = *number + 1;
    *number += 2;
    low.upper[input] = middle;
    high.lower[input] = middle;
    for child in [&mut low, &mut high] {
        if let Some(focus) = &child.focus {
            let mut known = Knowledge::clone(focus);
            (known.lower, known.upper) = (child.lower.to_vec(), child.upper.to_vec());
            child.focus = Some(Arc::new(known));
        }
    }
    [low, high]
}
