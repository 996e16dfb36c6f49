//! Inherited multipliers: those that served the parent box, as they are. Valid by weak duality for any box, since the
//! bound is computed anew; they cost one row and often are good enough.

use super::multipliers::{Largest, of};
use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::search::Node;
use crate::search::profile::Activity;

/// See the head of this file.
pub struct InheritedMultipliers;

impl Stage for InheritedMultipliers {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        let region = workspace.context.region;
        // This and the later stages use the constraints over the generators of this box.
        workspace.current.region = region.rows(workspace.propagation.centre(), workspace.propagation.radius());
        let Some(inherited) = node.inherited.clone() else { return StageResult::Open };
        workspace.enter(Activity::Inherited);
        let Workspace { context, propagation, scratch, statistics, current, .. } = workspace;
        let property = context.property;
        let output = output_of(propagation, context);
        let mut left = Largest::default();
        for o in node.open.clone().iter() {
            let bound = of(&inherited, o)
                .map_or(f64::INFINITY, |m| property.certified(o, &output, &current.region, m, scratch));
            if property.obligations[o].violation.excluded_by(bound) {
                statistics.stages.inherited += 1;
                node.open.close(o);
            } else {
                left.add(o, bound);
            }
        }
        left.improve(node, &mut current.worst);
        StageResult::of(node)
    }
}
