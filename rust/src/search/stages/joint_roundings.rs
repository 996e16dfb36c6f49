//! Zonotope rows once more, where products of one value are rounded: these roundings are taken together
//! ([`JointRounding`]), so that a bound may come below the noise of roundings that know nothing of each other.
//!
//! A record of a proof has no place for that, so where one is kept the stage is left out.

use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::domain::{AbstractDomain, JointRounding};
use crate::property::Violation;
use crate::search::Node;
use crate::search::profile::Activity;

/// See the head of this file.
pub struct JointRoundings;

impl Stage for JointRoundings {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        let context = workspace.context;
        let reduced = context.settings.domain == AbstractDomain::Reduced;
        if !(reduced && context.pair.rounds() && context.settings.joint_rounding) || context.record.on() {
            return StageResult::Open;
        }
        workspace.enter(Activity::Rows);
        let Workspace { propagation, row, statistics, current, .. } = workspace;
        let roundings = JointRounding::of(context.pair, propagation.layers(), context.pair.inputs());
        if roundings.is_empty() {
            return StageResult::Open;
        }
        let output = output_of(propagation, &context);
        for o in node.open.clone().iter() {
            let violation = &context.property.obligations[o].violation;
            let Violation::Linear { equivalents, .. } = violation else { continue };
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
                    break;
                }
                current.within_rounding = false;
            }
        }
        StageResult::of(node)
    }
}
