//! Falsification: corners that rows point to on every box, and now and then a search over the whole region
//! (`search/falsify`).

use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::search::Node;
use crate::search::profile::Activity;

/// See the head of this file.
pub struct Falsification;

impl Stage for Falsification {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        workspace.enter(Activity::Candidates);
        let flops = workspace.flops();
        let Workspace { context, propagation, row, falsifier, statistics, current, .. } = workspace;
        let output = output_of(propagation, context);
        let found = falsifier.try_corners(statistics, node, current.worst.obligation, current.first, &output, row)
            || falsifier.search(statistics, node, current.worst.obligation, (current.first, current.seed), flops);
        if found { StageResult::Falsified } else { StageResult::Open }
    }
}
