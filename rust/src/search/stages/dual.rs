//! Dual bounds: the best multipliers for the violations that are open, found by a descent in the dual of the linear
//! program ([`crate::lp::dual`]).
//!
//! It costs microseconds and needs no solver. Only what [`crate::lp::certified`] computes from the multipliers counts.
//! They serve the children, the point where the bound is met is a candidate, and the worst violation with its
//! multipliers, as one row, tells where to halve.

use super::multipliers::{Largest, of};
use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::domain::{AbstractDomain, LinearFunctional};
use crate::lp::dual::{DescentEnd, StoppingRule};
use crate::lp::{Multipliers, certified};
use crate::property::{Obligation, Violation};
use crate::search::Node;
use crate::search::context::Context;
use crate::search::policy::POLICY;
use crate::search::profile::Activity;
use crate::search::split::Plan;

/// Where linear programs can prove more than rows, and are small enough for a descent.
pub struct DualBounds;

/// What the multipliers of one violation came to.
enum Bounded {
    /// A counterexample was found on the way.
    Falsified,
    /// The violation is excluded, or its guard is, and with it everything that needs the guard.
    Closed,
    /// It stays open, with this bound by [`Workspace::multipliers`]; the flag says that no multipliers give a lower
    /// one.
    Open(f64, bool),
    /// It stays open, and no multipliers bound it.
    Unknown,
}

impl Stage for DualBounds {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        // Under an assumed violation backward bounds see more than programs over the outputs.
        if !workspace.uses_programs() || !workspace.context.settings.dual || node.violation_bounds.is_some() {
            return StageResult::Open;
        }
        let property = workspace.context.property;
        let most = property.guards.iter().map(|g| g.rows.len()).max().unwrap_or(0);
        let outputs = output_of(&workspace.propagation, &workspace.context).outputs();
        if outputs + most + workspace.current.region.len() > POLICY.multipliers.rows {
            return StageResult::Open;
        }
        if descend(workspace, node) { StageResult::Falsified } else { StageResult::of(node) }
    }
}

/// Seeks the best multipliers, from the parent's where there are some, for the worst violation first; true if a
/// counterexample was found on the way.
///
/// Where one halving is not expected to close the worst violation, the box will be halved again whatever the others
/// come to, and these keep the multipliers that they have.
fn descend(workspace: &mut Workspace<'_>, node: &mut Node) -> bool {
    workspace.enter(Activity::Dual);
    let inherited = node.inherited.take();
    let before = |o: usize| inherited.as_ref().and_then(|list| of(list, o));
    let mut kept: Vec<(usize, Multipliers)> = Vec::new();
    let (mut best, mut far, mut left, mut entered, mut plan) = (true, false, Largest::default(), None, None);
    workspace.dual.set_box(&output_of(&workspace.propagation, &workspace.context), &mut workspace.row);
    let open = node.open.clone();
    let first = workspace.current.worst.obligation;
    for o in open.iter().filter(|&o| o == first).chain(open.iter().filter(|&o| o != first)) {
        if !node.open.contains(o) {
            continue;
        }
        if far {
            kept.extend(before(o).map(|m| (o, m.clone())));
            continue;
        }
        match bound(workspace, node, o, before(o), &mut entered) {
            Bounded::Falsified => return true,
            Bounded::Closed => {}
            Bounded::Unknown => {
                best = false;
                left.add(o, f64::INFINITY);
            }
            Bounded::Open(bound, least) => {
                best &= least;
                left.add(o, bound);
                if o == first {
                    plan = plan_for_last(workspace, node, bound);
                    far = plan.is_some_and(|p| p.inputs().nth(1).is_some());
                }
                kept.push((o, workspace.multipliers.clone()));
            }
        }
    }
    let current = &mut workspace.current;
    left.improve(node, &mut current.worst);
    current.worst.plan = plan.filter(|_| current.worst.obligation == first);
    current.multipliers_are_best = best;
    node.inherited = (!kept.is_empty()).then(|| kept.into());
    false
}

/// Seeks the best multipliers for one violation. `entered` is the last obligation whose guard the dual was given.
fn bound(
    workspace: &mut Workspace<'_>,
    node: &mut Node,
    o: usize,
    from: Option<&Multipliers>,
    entered: &mut Option<usize>,
) -> Bounded {
    let Workspace { context, propagation, row, scratch, dual, multipliers, ray, statistics, current, .. } = workspace;
    let Context { property, shared, record, .. } = *context;
    let region = &current.region;
    let Obligation { guard: number, violation } = &property.obligations[o];
    let Violation::Linear { equivalents, .. } = violation else { return Bounded::Unknown };
    if shared.stopping() {
        return Bounded::Unknown;
    }
    let output = output_of(propagation, context);
    let guard = number.map(|g| &property.guards[g]);
    if entered.replace(o).is_none_or(|last| property.obligations[last].guard != *number) {
        dual.set_guard(&output, guard, region, row);
    }
    output.row(equivalents[0].terms.iter().copied(), equivalents[0].constant, row);
    let steps = POLICY.multipliers.steps * dual.rows();
    let mut end = dual.descend(row, from, steps, StoppingRule::Negative);
    dual.write(multipliers);
    let mut bound = property.certified(o, &output, region, multipliers, scratch);
    if end == DescentEnd::Negative && !violation.excluded_by(bound) {
        // The bound is below zero by less than its rounding: farther down there may be room for it.
        end = dual.descend(row, Some(multipliers), steps, StoppingRule::Optimum);
        dual.write(multipliers);
        bound = property.certified(o, &output, region, multipliers, scratch);
    }
    if end == DescentEnd::Unbounded {
        dual.write_ray(ray);
        let nothing = LinearFunctional::default();
        if certified::bound(&output, &nothing, guard, region, ray, scratch) < 0.0 {
            // Guard and region exclude each other, whatever the violation is.
            record.ray(node, *number, ray);
            for other in node.open.clone().iter().filter(|&other| property.obligations[other].guard == *number) {
                statistics.stages.dual += 1;
                node.open.close(other);
            }
            return Bounded::Closed;
        }
    }
    if !bound.is_finite() {
        return Bounded::Unknown;
    }
    record.multipliers(node, o, multipliers);
    if violation.excluded_by(bound) {
        statistics.stages.dual += 1;
        node.open.close(o);
        return Bounded::Closed;
    }
    if end == DescentEnd::Optimum && test_optimum(workspace, node) {
        return Bounded::Falsified;
    }
    Bounded::Open(bound, end != DescentEnd::StepLimit)
}

/// Whether the point where the last bound is met is a counterexample.
fn test_optimum(workspace: &mut Workspace<'_>, node: &Node) -> bool {
    workspace.enter(Activity::Candidates);
    let Workspace { propagation, dual, generators, falsifier, statistics, .. } = workspace;
    dual.write_point(generators);
    let (centre, radius) = (propagation.centre(), propagation.radius());
    let at = |i: usize| (centre[i] + radius[i] * generators[i]).clamp(node.lower[i], node.upper[i]);
    let found = falsifier.candidates.test(statistics, node, at);
    workspace.enter(Activity::Dual);
    found
}

/// Where to halve because of the violation that was bounded last, as a row with guard and constraints by its
/// multipliers.
fn plan_for_last(workspace: &mut Workspace<'_>, node: &Node, bound: f64) -> Option<Plan> {
    let Workspace { context, propagation, scratch, scores, .. } = workspace;
    (context.settings.domain == AbstractDomain::Reduced)
        .then(|| scores.plan_by_row(propagation, scratch.row(), bound, node))
}
