//! Zonotope rows: the upper bound of each open violation as one row over the outputs of the propagation ([VD] section
//! 4).
//!
//! What no row excludes is open for the later stages, which are told of the obligation with the largest bound. A second
//! stage stops at boxes where every bound misses its limit by no more than rounding while some point of the box meets
//! the limit: no bound in binary64 can exclude that, however small the box is.

use super::workspace::{Stage, StageResult, Workspace, Worst, output_of};
use crate::search::Node;
use crate::search::falsify::candidates::{centre, corner};

/// A bound within so many times its own rounding error counts as equal to the limit.
const ROUNDING_FACTOR: f64 = 4.0;

/// Bounds violations by zonotope rows.
pub struct ZonotopeRows;

impl Stage for ZonotopeRows {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        let Workspace { context, propagation, row, statistics, current, .. } = workspace;
        let output = output_of(propagation, context);
        let mut worst = Worst::default();
        for o in node.open.clone().iter() {
            let violation = &context.property.obligations[o].violation;
            let (bound, err) = violation.bound(&output, row);
            if violation.excluded_by(bound) {
                statistics.stages.zonotope += 1;
                node.open.close(o);
                continue;
            }
            current.within_rounding &= violation.is_linear() && bound <= ROUNDING_FACTOR * err;
            let bound = if bound.is_nan() { f64::INFINITY } else { bound };
            if bound > worst.bound {
                (worst.bound, worst.obligation) = (bound, o);
            }
        }
        current.worst = worst;
        if node.open.is_empty() {
            return StageResult::Proved;
        }
        node.bound = worst.bound;
        StageResult::Open
    }
}

/// Gives up a box whose bounds miss their limit by no more than rounding.
pub struct RoundingLimit;

impl Stage for RoundingLimit {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        if !workspace.current.within_rounding || !touches_limit(workspace, node) {
            return StageResult::Open;
        }
        workspace.statistics.within_rounding += 1;
        StageResult::Undecided
    }
}

/// Whether the limit is met, up to rounding, at the corner that the worst row points to or at the centre.
fn touches_limit(workspace: &mut Workspace<'_>, node: &Node) -> bool {
    let Workspace { context, propagation, row, falsifier, current, .. } = workspace;
    let o = current.worst.obligation;
    context.property.obligations[o].violation.upper(&output_of(propagation, context), row);
    let coefficients = &row.generators;
    falsifier.candidates.touches(o, |i| corner(node, coefficients, i))
        || falsifier.candidates.touches(o, |i| centre(node, i))
}
