//! One box: bound it, try to prove what is open there, look for a counterexample on the way.
//!
//! Stages by cost: the region's constraints, bounds of f1 against the guards, zonotope rows, multipliers inherited from the parent, a linear program.

use super::candidates::Candidates;
use super::node::Inherited;
use super::shared::Tally;
use super::worker::Context;
use super::{Node, Request, split};
use crate::domain::influence::Influence;
use crate::domain::output::Row;
use crate::domain::reach::Layer;
use crate::domain::{Output, Reach};
use crate::lp::certified::{self, Scratch};
use crate::lp::{Answer, LinearProgram, Multipliers, RegionRow, program};
use crate::property::Violation;
use std::sync::mpsc;

/// What became of a box.
pub enum Outcome {
    /// Everything is proved, or the search is over.
    Closed,
    /// Not proved: halve it.
    Split(Node, Option<(usize, f64)>),
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
            requests,
            tally: Tally::default(),
            context,
        }
    }

    /// Bounds a box.
    pub fn examine(&mut self, mut node: Node) -> Outcome {
        let Context { pair, region, property, settings, shared, .. } = self.context;
        let first = shared.count_box();
        if !region.contract(&mut node.lower, &mut node.upper) {
            self.tally.stages.outside += 1;
            shared.close(node.depth);
            return Outcome::Closed;
        }
        let Some(output) = self.reach.propagate(pair, &node.lower, &node.upper) else {
            self.tally.stages.overflow += 1;
            let halving = split::choose(&[], &node.lower, &node.upper);
            return Outcome::Split(node, halving);
        };
        if first {
            shared.set_initial_bound(output.largest_difference(property.reported.iter().copied()));
        }
        // The centre first: it is free, and it tells whether guards are ever met.
        let (lower, upper) = (&node.lower, &node.upper);
        let middle = |i: usize| lower[i] + 0.5 * (upper[i] - lower[i]);
        if self.candidates.attempt(&self.context, &node.open, middle, self.requests, &mut self.tally) {
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
        for o in node.open.clone().iter() {
            let violation = &property.obligations[o].violation;
            let bound = violation.upper(&output, &mut self.row);
            if violation.excluded_by(bound) {
                self.tally.stages.zonotope += 1;
                node.open.close(o);
                continue;
            }
            if bound > worst.0 || bound.is_nan() {
                worst = (if bound.is_nan() { f64::INFINITY } else { bound }, o);
            }
            if first {
                let corner = corner_of(&self.row, violation, &node);
                if corner.is_some_and(|x| self.candidates.attempt(&self.context, &node.open, x, self.requests, &mut self.tally)) {
                    return Outcome::Closed;
                }
            }
        }
        if node.open.is_empty() {
            shared.close(node.depth);
            return Outcome::Closed;
        }
        node.bound = worst.0;
        if !first {
            let violation = &property.obligations[worst.1].violation;
            let output = Output::new(&self.reach.layers()[pair.depth() - 1], pair.inputs(), settings.domain);
            violation.upper(&output, &mut self.row);
            let corner = corner_of(&self.row, violation, &node);
            if corner.is_some_and(|x| self.candidates.attempt(&self.context, &node.open, x, self.requests, &mut self.tally)) {
                return Outcome::Closed;
            }
        }
        let rows = region.rows(self.reach.centre(), self.reach.radius());
        if let Some(inherited) = node.inherited.clone() {
            self.inherit(&mut node, &inherited, &rows);
            if node.open.is_empty() {
                shared.close(node.depth);
                return Outcome::Closed;
            }
        }
        let halving = split::choose(self.influence.score(self.reach.layers(), pair.inputs()), &node.lower, &node.upper);
        if settings.lp && (!property.guards.is_empty() || !rows.is_empty()) {
            return Outcome::Ask(Box::new(self.ask(node, rows, halving)));
        }
        Outcome::Split(node, halving)
    }

    /// The parent's multipliers on this box: one row per obligation.
    fn inherit(&mut self, node: &mut Node, inherited: &Inherited, rows: &[RegionRow]) {
        let Context { pair, property, settings, .. } = self.context;
        let output = Output::new(&self.reach.layers()[pair.depth() - 1], pair.inputs(), settings.domain);
        let mut worst = f64::NEG_INFINITY;
        for o in node.open.clone().iter() {
            let bound = inherited.iter().find(|(i, _)| *i == o).map_or(f64::INFINITY, |(_, multipliers)| {
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
        let Context { pair, property, settings, .. } = self.context;
        let output = Output::new(&self.reach.layers()[pair.depth() - 1], pair.inputs(), settings.domain);
        let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
        for o in node.open.iter().filter(|&o| matches!(property.obligations[o].violation, Violation::Linear { .. })) {
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
                program(&output, guard.map(|g| &property.guards[g]), &region, violations, &mut self.row)
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
        let Context { pair, property, settings, shared, .. } = self.context;
        let Asked { mut node, layer, centre, radius, region, groups, halving, .. } = asked;
        let output = Output::new(&layer, pair.inputs(), settings.domain);
        let mut kept: Vec<(usize, Multipliers)> = Vec::new();
        let mut worst = f64::NEG_INFINITY;
        for ((guard, members), answer) in groups.iter().zip(answers) {
            let guard = guard.map(|g| &property.guards[g]);
            let guard_rows = guard.map_or(0, |g| g.rows.len());
            let rows = guard_rows + output.outputs() + region.len();
            if let Some(ray) = answer.ray.as_ref().filter(|r| r.len() == rows).and_then(|r| Multipliers::from_duals(r, guard_rows, output.outputs())) {
                let nothing = crate::domain::Combination::default();
                if certified::bound(&output, &nothing, guard, &region, &ray, &mut self.scratch) < 0.0 {
                    self.tally.stages.program += members.len() as u64;
                    members.iter().for_each(|&o| node.open.close(o));
                    continue;
                }
            }
            for (n, &o) in members.iter().enumerate() {
                let duals = answer.duals.get(n * rows..(n + 1) * rows);
                if let Some(multipliers) = duals.and_then(|y| Multipliers::from_duals(y, guard_rows, output.outputs())) {
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
                if let Some(point) = answer.points.get(n * columns..(n + 1) * columns).filter(|p| p.iter().all(|v| v.is_finite())) {
                    let at = |i: usize| (centre[i] + radius[i] * point[i]).clamp(node.lower[i], node.upper[i]);
                    if self.candidates.attempt(&self.context, &node.open, at, self.requests, &mut self.tally) {
                        return Outcome::Closed;
                    }
                }
            }
        }
        if node.open.is_empty() {
            shared.close(node.depth);
            return Outcome::Closed;
        }
        if worst.is_finite() {
            node.bound = node.bound.min(worst);
        }
        if !kept.is_empty() {
            node.inherited = Some(kept.into());
        }
        Outcome::Split(node, halving)
    }
}

/// The corner of a box at which the row of a violation just bounded is largest; none for violations that are no functionals.
fn corner_of<'b>(row: &'b Row, violation: &Violation, node: &'b Node) -> Option<impl Fn(usize) -> f64 + use<'b>> {
    let linear = matches!(violation, Violation::Linear { .. });
    linear.then_some(move |i: usize| if row.generators[i] >= 0.0 { node.upper[i] } else { node.lower[i] })
}

/// The certified bound of obligation `o` by these multipliers; infinite for violations that are no functionals.
fn bound_of(output: &Output<'_>, context: &Context<'_>, o: usize, rows: &[RegionRow], multipliers: &Multipliers, scratch: &mut Scratch) -> f64 {
    let obligation = &context.property.obligations[o];
    let Violation::Linear { writings, .. } = &obligation.violation else { return f64::INFINITY };
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
    [low, high]
}
