//! First stage: a box that the region's constraints exclude holds no input that counts; what they cut off a box is cut.

use super::workspace::{Stage, StageResult, Workspace};
use crate::search::Node;

/// See the head of this file.
pub struct Outside;

impl Stage for Outside {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        let region = workspace.context.region;
        let meets = match &node.violation_bounds {
            None => region.contract(&mut node.lower, &mut node.upper),
            // Such a box is not cut: its parts are made of its bounds, and would no longer lie in it.
            Some(known) => region.contract(&mut known.lower.clone(), &mut known.upper.clone()),
        };
        if meets {
            return StageResult::Open;
        }
        workspace.statistics.stages.outside += 1;
        StageResult::Proved
    }
}
