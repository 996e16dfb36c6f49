//! Linear programs for a box: one per guard, their multipliers to prove, their points to refute.
//!
//! A box waits with a copy of its output forms; nothing of an answer is believed but what [`crate::lp::certified`] recomputes on that copy.

use super::Node;
use super::attempt::{Attempt, Outcome, output_of};
use super::effort::Part;
use super::split::Plan;
use super::worker::Context;
use crate::domain::layer_state::LayerState;
use crate::domain::{LinearFunctional, Output};
use crate::lp::{Answer, LinearProgram, Multipliers, RegionRow, certified, program};

/// A box that waits for linear programs.
pub struct Asked {
    node: Node,
    layer: LayerState,
    centre: Vec<f64>,
    radius: Vec<f64>,
    region: Vec<RegionRow>,
    /// Guard and obligations of each program, in order.
    groups: Vec<(Option<usize>, Vec<usize>)>,
    plan: Plan,
    /// The programs, taken when they are sent.
    pub programs: Vec<LinearProgram>,
}

impl Asked {
    /// How many programs this box sent.
    pub fn programs_sent(&self) -> usize {
        self.groups.len()
    }

    /// The box itself, if nobody answers any more.
    pub fn into_node(self) -> Node {
        self.node
    }
}

impl Attempt<'_> {
    /// Programs for everything that is open, one per guard.
    pub(super) fn ask(&mut self, node: Node, region: Vec<RegionRow>, plan: Plan) -> Asked {
        self.enter(Part::Programs);
        let property = self.context.property;
        let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
        let linear = |o: &usize| property.obligations[*o].violation.is_linear();
        for o in node.open.iter().filter(linear) {
            let guard = property.obligations[o].guard;
            match groups.iter_mut().find(|(g, _)| *g == guard) {
                Some((_, members)) => members.push(o),
                None => groups.push((guard, vec![o])),
            }
        }
        self.candidates.tally.effort.asked += u64::from(!groups.is_empty());
        let output = output_of(&self.reach, &self.context);
        let mut programs = Vec::with_capacity(groups.len());
        for (guard, members) in &groups {
            let violations = members.iter().map(|&o| &property.obligations[o].violation);
            let guard = guard.map(|g| &property.guards[g]);
            programs.push(program(&output, guard, &region, violations, &mut self.row));
            self.candidates.tally.lps += members.len() as u64;
        }
        Asked {
            layer: output.layer().snapshot(),
            centre: self.reach.centre().to_vec(),
            radius: self.reach.radius().to_vec(),
            node,
            region,
            groups,
            plan,
            programs,
        }
    }

    /// Uses the answers to a box's programs.
    pub fn conclude(&mut self, asked: Asked, answers: &[Answer]) -> Outcome {
        let Context { pair, property, settings, shared, .. } = self.context;
        let Asked { mut node, layer, centre, radius, region, groups, plan, .. } = asked;
        let output = Output::new(&layer, pair.inputs(), settings.domain);
        let opened = node.open.len();
        let columns = output.generators();
        let mut kept: Vec<(usize, Multipliers)> = Vec::new();
        let mut worst = f64::NEG_INFINITY;
        for ((guard, members), answer) in groups.iter().zip(answers) {
            let guard = guard.map(|g| &property.guards[g]);
            let guard_rows = guard.map_or(0, |g| g.rows.len());
            let rows = guard_rows + output.outputs() + region.len();
            let read = |y: &[f64]| Multipliers::from_duals(y, guard_rows, output.outputs());
            if let Some(ray) = answer.ray.as_deref().filter(|r| r.len() == rows).and_then(read) {
                // Nothing is asked of the outputs: a negative bound of zero means that guard and region exclude each other.
                let nothing = LinearFunctional::default();
                if certified::bound(&output, &nothing, guard, &region, &ray, &mut self.scratch) < 0.0 {
                    self.context.record.ray(&node, property.obligations[members[0]].guard, &ray);
                    self.candidates.tally.stages.program += members.len() as u64;
                    for &o in members {
                        node.open.close(o);
                    }
                    continue;
                }
            }
            for (n, &o) in members.iter().enumerate() {
                if let Some(multipliers) = answer.duals.get(n * rows..(n + 1) * rows).and_then(read) {
                    self.context.record.multipliers(&node, o, &multipliers);
                    let bound = property.certified(o, &output, &region, &multipliers, &mut self.scratch);
                    if property.obligations[o].violation.excluded_by(bound) {
                        self.candidates.tally.stages.program += 1;
                        node.open.close(o);
                        continue;
                    }
                    worst = worst.max(bound);
                    kept.push((o, multipliers));
                }
                let point = answer.points.get(n * columns..(n + 1) * columns);
                if let Some(e) = point.filter(|p| p.iter().all(|v| v.is_finite())) {
                    let at = |i: usize| (centre[i] + radius[i] * e[i]).clamp(node.lower[i], node.upper[i]);
                    if self.candidates.attempt(&node, at) {
                        return Outcome::Closed;
                    }
                }
            }
        }
        if node.open.is_empty() {
            return self.proved(&node, opened);
        }
        shared.prove(node.depth, opened - node.open.len());
        // Only if nothing is open without a bound of its own.
        if worst.is_finite() && kept.len() == node.open.len() {
            node.bound = node.bound.min(worst);
        }
        if !kept.is_empty() {
            node.inherited = Some(kept.into());
        }
        if self.worth_contracting(&node) { self.contract(node, false) } else { Outcome::Split(node, plan) }
    }
}
