//! Zonotope rows once more, where Euclidean norms bound what the functions of each step add to the difference
//! ([`EuclideanNorms`]).
//!
//! A record of a proof has no place for that, so where one is kept it is left out. Where all bounds are within a few times what is
//! claimed, as of one network exported twice, norms come before the first attack, which costs as much: they are 2 to 3.5 times
//! less than zonotope rows where differences are small. These first ones bound only generators of the inputs together,
//! which is half of the work; what they leave open is bounded with all of it in front of the backward bounds.

use super::rows::ZonotopeRows;
use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::domain::{AbstractDomain, EuclideanNorms, Together};
use crate::property::Violation;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::profile::Activity;

/// How far the largest bound may be above what is claimed, in units of that, for norms to come before the first attack.
const NEAR: f64 = 4.0;

/// Bounds violations by norms on the first box, where all of them are nearly excluded.
pub struct NearlyExcluded;

impl Stage for NearlyExcluded {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        // Where values are rounded the box may be propagated again before the norms are wanted.
        if workspace.context.pair.rounds() || !worth_bounding(workspace, node) || !nearly_excluded(workspace) {
            return StageResult::Open;
        }
        let opened = node.open.len();
        close_by_norms(workspace, node, Together::Inputs);
        // The attack is told of the worst violation that is left.
        if node.open.len() < opened { ZonotopeRows.run(workspace, node) } else { StageResult::Open }
    }
}

/// Whether the largest bound is only a few times what is claimed.
fn nearly_excluded(workspace: &Workspace<'_>) -> bool {
    let worst = workspace.current.worst;
    let allowed = |o: usize| match &workspace.context.property.obligations[o].violation {
        Violation::Linear { equivalents, .. } => equivalents.iter().map(|f| f.constant.abs()).fold(0.0, f64::max),
        Violation::Distance { .. } => 0.0,
    };
    worst.bound <= NEAR * allowed(worst.obligation)
}

/// Whether this is the first box of a graph, or of many inputs, and its proof is not recorded. It may be the first box of a
/// probe, which leaves contraction out: often these bounds prove it.
pub fn worth_bounding(workspace: &Workspace<'_>, node: &Node) -> bool {
    let Context { pair, settings, record, .. } = workspace.context;
    let whole = workspace.current.first && node.violation_bounds.is_none() && node.possibly_active.is_none();
    whole
        && settings.root_bounds
        && (!pair.is_chain() || pair.inputs() > settings.wide_above)
        && settings.contract
        && settings.domain == AbstractDomain::Reduced
        && !record.on()
}

/// Closes what the norms of the last propagation exclude, and returns them; there are none where they are not wanted.
pub fn close_by_norms(workspace: &mut Workspace<'_>, node: &mut Node, together: Together) -> EuclideanNorms {
    let context = workspace.context;
    let reduced = context.settings.domain == AbstractDomain::Reduced;
    if !(reduced && context.settings.euclidean_norms) || context.record.on() {
        return EuclideanNorms::default();
    }
    workspace.enter(Activity::Rows);
    let Workspace { propagation, row, statistics, .. } = workspace;
    let stop = || context.shared.stopping();
    let norms = EuclideanNorms::of(context.pair, propagation.layers(), (context.pair.inputs(), together), stop);
    if norms.is_empty() {
        return norms;
    }
    let output = output_of(propagation, &context);
    for o in node.open.clone().iter() {
        let violation = &context.property.obligations[o].violation;
        let Violation::Linear { equivalents, .. } = violation else { continue };
        for functional in equivalents {
            output.row(functional.terms.iter().copied(), functional.constant, row);
            if violation.excluded_by(norms.upper(row)) {
                statistics.stages.zonotope += 1;
                node.open.close(o);
                break;
            }
        }
    }
    norms
}
