//! Zonotope rows once more, where products of one value are rounded: these roundings are taken together
//! ([`JointRounding`]), so that a bound may come below the noise of roundings that know nothing of each other. On the
//! first box, what stays open is bounded again within bounds of the differences inside, which are found the same way
//! ([`tighten_differences`]).
//!
//! A record of a proof has no place for that, so where one is kept the stage is left out.

use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::domain::joint_bounds::tighten_differences;
use crate::domain::propagation::Failure;
use crate::domain::{AbstractDomain, IntermediateBounds, JointRounding};
use crate::property::Violation;
use crate::search::Node;
use crate::search::policy::POLICY;
use crate::search::profile::Activity;
use crate::search::split::Plan;

/// See the head of this file.
pub struct JointRoundings;

impl Stage for JointRoundings {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        let context = workspace.context;
        let reduced = context.settings.domain == AbstractDomain::Reduced;
        if !(reduced && context.pair.rounds_exactly() && context.settings.joint_rounding) || context.record.on() {
            return StageResult::Open;
        }
        workspace.enter(Activity::Rows);
        let mut near = close_rows(workspace, node);
        if !workspace.current.first || node.violation_bounds.is_some() {
            return StageResult::of(node);
        }
        for _ in 0..POLICY.joint_passes {
            if !near || context.shared.stopping() {
                break;
            }
            match propagate_within_differences(workspace, node) {
                Ok(true) => near = close_rows(workspace, node),
                Ok(false) => break,
                Err(result) => return result,
            }
        }
        StageResult::of(node)
    }
}

/// Closes the violations that rows exclude; whether one that they leave open is one that roundings alone may keep open.
fn close_rows(workspace: &mut Workspace<'_>, node: &mut Node) -> bool {
    let Workspace { context, propagation, row, statistics, current, .. } = workspace;
    let roundings = JointRounding::of(context.pair, propagation.layers(), context.pair.inputs());
    if roundings.is_empty() {
        return false;
    }
    let output = output_of(propagation, context);
    let mut near = false;
    for o in node.open.clone().iter() {
        let violation = &context.property.obligations[o].violation;
        let Violation::Linear { equivalents, .. } = violation else { continue };
        let mut of_roundings = false;
        for functional in equivalents {
            let alone = output.upper(functional, row);
            // Roundings of 0 on average do not bring a bound below what all else comes to.
            if alone - roundings.share(row, propagation.layers()) > 0.0 {
                continue;
            }
            let bound = roundings.upper(row, propagation.layers());
            if violation.excluded_by(bound) {
                statistics.stages.zonotope += 1;
                node.open.close(o);
                of_roundings = false;
                break;
            }
            (current.within_rounding, of_roundings) = (false, true);
        }
        near |= of_roundings;
    }
    near
}

/// Propagates the box again within narrower bounds of differences; false where none became narrower.
fn propagate_within_differences(workspace: &mut Workspace<'_>, node: &Node) -> Result<bool, StageResult> {
    let Workspace { context, propagation, row, .. } = workspace;
    let (pair, shared) = (context.pair, context.shared);
    let mut bounds = IntermediateBounds::of(propagation.layers(), &node.lower, &node.upper);
    let of = (pair.inputs(), context.settings.domain);
    if !tighten_differences(pair, propagation.layers(), of, &mut bounds, row, || shared.stopping()) {
        return Ok(false);
    }
    match propagation.propagate_within(pair, &bounds) {
        Ok(_) => Ok(true),
        Err(Failure::Contradiction) => {
            workspace.statistics.stages.contraction += node.open.len() as u64;
            Err(StageResult::Proved)
        }
        // Nothing is left of the first propagation, which the later stages need.
        Err(Failure::Overflow | Failure::TooLarge | Failure::Stopped) => {
            workspace.current.plan = Plan::once(&[], &node.lower, &node.upper);
            Err(StageResult::Halve)
        }
    }
}
