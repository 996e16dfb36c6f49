//! Backward bounds of all neurons on the first box, without any assumption ([`crate::bound::intermediate`]; CROWN), and
//! with them a second propagation and backward bounds of the violations that are still open.
//!
//! On graphs of convolutions, and on chains with many inputs, the bounds of inner neurons are what is loose, and they cost
//! less than a propagation. (On chains with few inputs each box has bounds of each network by itself already.) What
//! is found holds on every part of the box, since later stages start from the bounds of the last propagation. A record
//! of a proof has no place for these bounds, so where one is kept the stage is left out.

use super::rows::ZonotopeRows;
use super::workspace::{Stage, StageResult, Workspace};
use crate::domain::IntermediateBounds;
use crate::domain::propagation::Failure;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::policy::POLICY;
use crate::search::profile::Activity;
use crate::search::split::Plan;

/// See the head of this file.
pub struct BackwardBounds;

impl Stage for BackwardBounds {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        if !worth_bounding(workspace, node) {
            return StageResult::Open;
        }
        workspace.enter(Activity::Contraction);
        let Workspace { context, propagation, contractor, .. } = workspace;
        let Context { pair, shared, .. } = *context;
        let stop = || shared.stopping();
        let mut bounds = IntermediateBounds::of(propagation.layers(), &node.lower, &node.upper);
        let tightened = contractor.tighten(&mut bounds, stop).map_err(Failure::from);
        match tightened.and_then(|()| propagation.propagate_within(pair, &bounds).map(drop)) {
            Ok(()) => {}
            Err(Failure::Contradiction) => {
                workspace.statistics.stages.contraction += node.open.len() as u64;
                return StageResult::Proved;
            }
            // Nothing is left of the first propagation, which the later stages need.
            Err(Failure::Overflow | Failure::TooLarge | Failure::Stopped) => {
                workspace.current.plan = Plan::once(&[], &node.lower, &node.upper);
                return StageResult::Halve;
            }
        }
        if bounds.intersect(propagation.layers()).is_err() {
            workspace.statistics.stages.contraction += node.open.len() as u64;
            return StageResult::Proved;
        }
        workspace.enter(Activity::Rows);
        if matches!(ZonotopeRows.run(workspace, node), StageResult::Proved) {
            return StageResult::Proved;
        }
        bound_violations(workspace, node, &bounds);
        StageResult::of(node)
    }
}

/// Whether this is the first box of a graph, or of many inputs, and its proof is not recorded.
fn worth_bounding(workspace: &Workspace<'_>, node: &Node) -> bool {
    let Context { pair, settings, record, .. } = workspace.context;
    let whole = workspace.current.first && node.violation_bounds.is_none() && node.possibly_active.is_none();
    whole
        && settings.root_bounds
        && (!pair.is_chain() || pair.inputs() > settings.wide_above)
        && settings.contracts(usize::MAX)
        && !record.on()
}

/// Closes what backward bounds from the outputs exclude.
pub fn bound_violations(workspace: &mut Workspace<'_>, node: &mut Node, bounds: &IntermediateBounds) {
    workspace.enter(Activity::Contraction);
    let Workspace { context, contractor, statistics, .. } = workspace;
    let stop = || context.shared.stopping();
    for o in node.open.clone().iter() {
        if stop() {
            break;
        }
        let Some(assumption) = context.violation(o) else { continue };
        let bound = contractor.bound_violation(bounds, &assumption, POLICY.backward.steps, stop);
        if assumption.contradicted_by(-bound) {
            statistics.stages.contraction += 1;
            node.open.close(o);
        }
    }
}
