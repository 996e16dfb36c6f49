//! Boxes on which zonotopes would take more memory than is allowed: all neurons by intervals and backward bounds, and
//! the violations from the outputs ([`crate::bound::intermediate`]).
//!
//! Backward bounds need vectors as wide as the steps, in batches of a bounded size, and no generators. Violations are first bounded
//! within intervals, which takes little time and proves wide distances; then the box is attacked, and all neurons are bounded.
//! Where that settles so many of them that the zonotopes fit after all, the later stages go on with those; otherwise the box is
//! halved along its widest input. Sound for the same reason as [`super::backward_bounds`]: every bound holds on the
//! whole box without any assumption.
//!
//! A record of a proof has no place for these bounds, and the published domains do not have them: there the box is put
//! away as undecided.

use super::backward_bounds::{Effort, PATIENCE, bound_violations};
use super::falsification::without_bounds;
use super::workspace::{StageResult, Workspace};
use crate::domain::intervals;
use crate::domain::propagation::Failure;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::split::Plan;
use std::time::Instant;

/// Bounds a box without zonotopes. `Open` says that the last propagation is one of this box.
pub fn bound(workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
    let Context { pair, property, settings, shared, record, .. } = workspace.context;
    if node.open.is_empty() {
        return StageResult::Proved;
    }
    // A single point has no backward bounds.
    if record.on() || !settings.contracts(usize::MAX) || pair.inputs() == 0 {
        let found = without_bounds(workspace, node);
        return if found { StageResult::Falsified } else { StageResult::Undecided };
    }
    workspace.current.plan = Plan::once(&[], &node.lower, &node.upper);
    if node.violation_bounds.is_some() {
        return if without_bounds(workspace, node) { StageResult::Falsified } else { StageResult::Halve };
    }
    let mut bounds = intervals::enclose(pair, &node.lower, &node.upper);
    if workspace.current.first
        && let Some(outputs) = bounds.layers.last()
    {
        let sizes = property.reported.iter().map(|o| outputs.d.size(*o));
        shared.set_initial_bound(sizes.fold(0.0, |a: f64, b| if b.is_nan() { b } else { a.max(b) }));
    }
    // Before attacks, which may take all the time of a network that is so large.
    bound_violations(workspace, node, &bounds, Effort { patience: PATIENCE, signs: false });
    if node.open.is_empty() {
        return StageResult::Proved;
    }
    if without_bounds(workspace, node) {
        return StageResult::Falsified;
    }
    if shared.stopping() {
        return StageResult::Halve;
    }
    // Bounds of neurons are of use only if there is time left to use them.
    let share = 0.5 * shared.seconds_left();
    let Workspace { propagation, contractor, .. } = workspace;
    let started = Instant::now();
    let stop = || shared.stopping() || started.elapsed().as_secs_f64() > share;
    let tightened = contractor.tighten(&mut bounds, stop).map_err(Failure::from);
    let reached = tightened.and_then(|()| propagation.propagate_within(pair, &bounds).map(drop));
    let contradicted = match reached {
        Err(Failure::Contradiction) => true,
        Err(Failure::Overflow | Failure::TooLarge | Failure::Stopped) => false,
        Ok(()) => bounds.intersect(propagation.layers()).is_err(),
    };
    if contradicted {
        workspace.statistics.stages.contraction += node.open.len() as u64;
        return StageResult::Proved;
    }
    bound_violations(workspace, node, &bounds, Effort { patience: usize::MAX, signs: true });
    match StageResult::of(node) {
        StageResult::Open if reached.is_err() => StageResult::Halve,
        result => result,
    }
}
