//! Propagation: both networks and their difference on the box by differential zonotopes ([VD] section 4), which all
//! later stages use.
//!
//! A node with violation bounds is propagated within them. If they turn out to contradict the propagation, no input of
//! the box violates its one obligation, which is a proof. Where the arithmetic overflows, as it does where a quotient
//! may divide by 0, nothing is concluded from it: the region is attacked, and the box is halved, because that may help.
//! Where the zonotopes would not fit in memory, the box is bounded without them ([`super::without_forms`]).
//!
//! Whether each network is bounded by itself, too, is learned from boxes that are propagated both ways
//! ([`crate::search::payoff`]). The last propagation is the one that counts.

use super::falsification::without_bounds;
use super::without_forms;
use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::domain::propagation::Failure;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::payoff::{Propagated, Way};
use crate::search::split::Plan;

/// See the head of this file.
pub struct Propagation;

impl Stage for Propagation {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        let reached = propagate(workspace, node);
        let opened = workspace.current.opened;
        match reached {
            Ok(()) => {}
            Err(Failure::Overflow) if opened == 0 => return StageResult::Proved,
            Err(Failure::Overflow) => {
                workspace.statistics.stages.overflow += 1;
                if without_bounds(workspace, node) {
                    return StageResult::Falsified;
                }
                workspace.current.plan = Plan::once(&[], &node.lower, &node.upper);
                return StageResult::Halve;
            }
            Err(Failure::Stopped) => return super::stopped(node),
            Err(Failure::TooLarge) => return without_forms::bound(workspace, node),
            Err(Failure::Contradiction) => {
                workspace.statistics.stages.contraction += opened as u64;
                return StageResult::Proved;
            }
        }
        let Workspace { context, propagation, current, .. } = workspace;
        let Context { property, shared, .. } = *context;
        if current.first {
            let output = output_of(propagation, context);
            shared.set_initial_bound(output.largest_difference(property.reported.iter().copied()));
        }
        StageResult::Open
    }
}

/// Propagates a box, within its violation bounds if it has some. Otherwise it may be propagated both ways, to learn
/// whether bounds of each network by itself pay.
fn propagate(workspace: &mut Workspace<'_>, node: &Node) -> Result<(), Failure> {
    let Workspace { context, propagation, restricted_pair, payoff, .. } = workspace;
    let Context { pair, property, .. } = *context;
    if let Some(known) = &node.violation_bounds {
        return propagation.propagate_within(pair, known).map(drop);
    }
    let part = restricted_pair.restrict_to(node.possibly_active.as_deref());
    let way = if propagation.substitutes(part) { payoff.next() } else { Way::With };
    let mut once = |substituting: bool| {
        let before = propagation.flops();
        propagation.substitute(substituting);
        let reached = propagation.enclose(part, &node.lower, &node.upper)?;
        let compared = way == Way::Both;
        let bound = if compared { reached.largest_difference(property.reported.iter().copied()) } else { 0.0 };
        Ok(Propagated { bound, flops: propagation.flops() - before })
    };
    let last = if way == Way::Both {
        let (without, with) = (once(false), once(true));
        if let (Ok(without), Ok(with)) = (without, with) {
            payoff.observe(without, with);
        }
        with
    } else {
        once(way == Way::With)
    };
    last.map(drop)
}
