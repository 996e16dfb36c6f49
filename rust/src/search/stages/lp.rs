//! Linear programs for an LP solver: one per guard, whose multipliers may prove and whose points may falsify.
//!
//! The worker goes on with other boxes while the solver works. A box waits with a copy of its output forms, and nothing
//! of an answer is trusted but what [`crate::lp::certified`] recomputes on that copy.

use super::workspace::{Current, Programs, Stage, StageResult, Workspace, output_of};
use crate::domain::layer_state::LayerState;
use crate::domain::{LinearFunctional, Output};
use crate::lp::{Answer, LinearProgram, Multipliers, RegionRow, certified, program};
use crate::search::Node;
use crate::search::context::Context;
use crate::search::profile::Activity;
use crate::search::split::Plan;

/// Where programs might prove more than what is known, and the dual bounds were not the best ones already.
pub struct LinearPrograms;

impl Stage for LinearPrograms {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        if !workspace.uses_programs() || workspace.current.multipliers_are_best {
            return StageResult::Open;
        }
        workspace.enter(Activity::Programs);
        let Workspace { context, propagation, row, statistics, current, .. } = workspace;
        let property = context.property;
        let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
        let linear = |o: &usize| property.obligations[*o].violation.is_linear();
        for o in node.open.iter().filter(linear) {
            let guard = property.obligations[o].guard;
            match groups.iter_mut().find(|(g, _)| *g == guard) {
                Some((_, members)) => members.push(o),
                None => groups.push((guard, vec![o])),
            }
        }
        statistics.profile.asked += u64::from(!groups.is_empty());
        let output = output_of(propagation, context);
        let mut programs = Vec::with_capacity(groups.len());
        for (guard, members) in &groups {
            let violations = members.iter().map(|&o| &property.obligations[o].violation);
            let guard = guard.map(|g| &property.guards[g]);
            programs.push(program(&output, guard, &current.region, violations, row));
            statistics.lps += members.len() as u64;
        }
        StageResult::Ask(Programs { groups, programs })
    }
}

/// A box that waits for the answers to its linear programs.
pub struct PendingBox {
    node: Node,
    layer: LayerState,
    centre: Vec<f64>,
    radius: Vec<f64>,
    region: Vec<RegionRow>,
    groups: Vec<(Option<usize>, Vec<usize>)>,
    plan: Plan,
    /// The programs, which are taken when they are sent.
    pub programs: Vec<LinearProgram>,
}

impl PendingBox {
    /// The box that the workspace holds, with its programs.
    pub fn new(workspace: &mut Workspace<'_>, node: Node, programs: Programs) -> Self {
        let Workspace { context, propagation, current, .. } = workspace;
        Self {
            layer: output_of(propagation, context).layer().snapshot(),
            centre: propagation.centre().to_vec(),
            radius: propagation.radius().to_vec(),
            node,
            region: std::mem::take(&mut current.region),
            groups: programs.groups,
            plan: current.plan,
            programs: programs.programs,
        }
    }

    /// How many programs this box sent.
    pub fn programs_sent(&self) -> usize {
        self.groups.len()
    }

    /// The box itself, if nobody answers any more.
    pub fn into_node(self) -> Node {
        self.node
    }
}

/// Uses the answers to a box's programs. What stays open is halved: a box that asks a solver is none that contraction
/// is used for.
pub fn conclude(workspace: &mut Workspace<'_>, pending: PendingBox, answers: &[Answer]) -> (Node, StageResult) {
    let PendingBox { mut node, layer, centre, radius, region, groups, plan, .. } = pending;
    workspace.current = Current::new(node.open.len(), false, 0);
    workspace.current.plan = plan;
    let Workspace { context, scratch, falsifier, statistics, .. } = workspace;
    let Context { pair, property, settings, record, .. } = *context;
    let output = Output::new(&layer, pair.inputs(), settings.domain);
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
            if certified::bound(&output, &nothing, guard, &region, &ray, scratch) < 0.0 {
                record.ray(&node, property.obligations[members[0]].guard, &ray);
                statistics.stages.program += members.len() as u64;
                for &o in members {
                    node.open.close(o);
                }
                continue;
            }
        }
        for (n, &o) in members.iter().enumerate() {
            if let Some(multipliers) = answer.duals.get(n * rows..(n + 1) * rows).and_then(read) {
                record.multipliers(&node, o, &multipliers);
                let bound = property.certified(o, &output, &region, &multipliers, scratch);
                if property.obligations[o].violation.excluded_by(bound) {
                    statistics.stages.program += 1;
                    node.open.close(o);
                    continue;
                }
                worst = worst.max(bound);
                kept.push((o, multipliers));
            }
            let point = answer.points.get(n * columns..(n + 1) * columns);
            if let Some(e) = point.filter(|p| p.iter().all(|v| v.is_finite())) {
                let at = |i: usize| (centre[i] + radius[i] * e[i]).clamp(node.lower[i], node.upper[i]);
                if falsifier.candidates.test(statistics, &node, at) {
                    return (node, StageResult::Falsified);
                }
            }
        }
    }
    if node.open.is_empty() {
        return (node, StageResult::Proved);
    }
    // The bound of the node is the worst one only if every open obligation has a bound of its own.
    if worst.is_finite() && kept.len() == node.open.len() {
        node.bound = node.bound.min(worst);
    }
    if !kept.is_empty() {
        node.inherited = Some(kept.into());
    }
    (node, StageResult::Halve)
}
