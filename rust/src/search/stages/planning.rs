//! Planning: where to halve a box that is still open, and what its halves are told.
//!
//! The worst obligation decides, as one row with guard and constraints by its multipliers. Under a guard the violation
//! alone misleads; where there are no multipliers for it, the published score of the inputs serves better.

use super::multipliers::of;
use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::domain::AbstractDomain;
use crate::property::Obligation;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::profile::Activity;
use crate::search::split::Plan;
use std::sync::Arc;

/// See the head of this file.
pub struct Planning;

impl Stage for Planning {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        workspace.enter(Activity::Splitting);
        workspace.current.plan = match workspace.current.worst.plan {
            Some(plan) => plan,
            None => plan(workspace, node),
        };
        if hands_down(&workspace.context, node) {
            node.possibly_active = workspace.restricted_pair.possibly_active(&workspace.propagation).map(Arc::new);
        }
        StageResult::Open
    }
}

/// Where to halve because of the worst obligation.
fn plan(workspace: &mut Workspace<'_>, node: &Node) -> Plan {
    let Workspace { context, propagation, row: space, scratch, scores, current, .. } = workspace;
    let Context { property, settings, .. } = *context;
    let output = output_of(propagation, context);
    let o = current.worst.obligation;
    let Obligation { guard, violation } = &property.obligations[o];
    let multipliers = node.inherited.as_ref().and_then(|list| of(list, o));
    let (bound, row) = match multipliers {
        _ if settings.domain != AbstractDomain::Reduced || !violation.is_linear() => (f64::NAN, None),
        Some(m) => {
            let bound = property.certified(o, &output, &current.region, m, scratch);
            (bound, Some(scratch.row()))
        }
        None if guard.is_none() => (violation.upper(&output, space), Some(&*space)),
        None => (f64::NAN, None),
    };
    match row {
        None => scores.plan_by_published_score(propagation, node),
        Some(row) => scores.plan_by_row(propagation, row, bound, node),
    }
}

/// Whether the halves are told which neurons are inactive on the whole box, so that they need not compute them.
///
/// What rests on an assumed violation is not handed down. Nor is anything for the published algorithm and for a
/// recorded proof: both bound every box by itself, and the auditor may find fewer neurons inactive.
fn hands_down(context: &Context<'_>, node: &Node) -> bool {
    node.violation_bounds.is_none() && context.settings.domain == AbstractDomain::Reduced && !context.record.on()
}
