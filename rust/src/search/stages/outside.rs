//! First stage: a box that the region's constraints exclude holds no input that counts; what they cut off a box is cut.

use super::workspace::{Stage, StageResult, Workspace};
use crate::search::Node;

/// See the head of this file.
pub struct Outside;

impl Stage for Outside {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        if workspace.context.region.contract(&mut node.lower, &mut node.upper) {
            return StageResult::Open;
        }
        workspace.statistics.stages.outside += 1;
        StageResult::Proved
    }
}
