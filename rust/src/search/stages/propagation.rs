//! Propagation: both networks and their difference on the box by differential zonotopes ([VD] section 4), which all
//! later stages use.
//!
//! A node with violation bounds is propagated within them. If they turn out to contradict the propagation, no input of
//! the box violates its one obligation, which is a proof. Where the arithmetic overflows the box is halved, because
//! that may help; nothing is concluded from it. Where the zonotopes would not fit in memory, the box is bounded without
//! them ([`super::without_forms`]).

use super::without_forms;
use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::domain::propagation::Failure;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::split::Plan;

/// See the head of this file.
pub struct Propagation;

impl Stage for Propagation {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        let Workspace { context, propagation, restricted_pair, statistics, current, .. } = workspace;
        let Context { pair, property, shared, .. } = *context;
        let reached = match &node.violation_bounds {
            Some(known) => propagation.propagate_within(pair, known).map(drop),
            None => propagation
                .enclose(restricted_pair.restrict_to(node.possibly_active.as_deref()), &node.lower, &node.upper)
                .map(drop),
        };
        match reached {
            Ok(()) => {}
            Err(Failure::Overflow) if current.opened == 0 => return StageResult::Proved,
            Err(Failure::Overflow) => {
                statistics.stages.overflow += 1;
                current.plan = Plan::once(&[], &node.lower, &node.upper);
                return StageResult::Halve;
            }
            Err(Failure::TooLarge) => return without_forms::bound(workspace, node),
            Err(Failure::Contradiction) => {
                statistics.stages.contraction += current.opened as u64;
                return StageResult::Proved;
            }
        }
        if current.first {
            let output = output_of(propagation, context);
            shared.set_initial_bound(output.largest_difference(property.reported.iter().copied()));
        }
        StageResult::Open
    }
}
