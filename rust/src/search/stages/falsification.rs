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

/// The same of a box of which no bounds are known: only the search over the whole region. True if a witness was found.
pub fn without_bounds(workspace: &mut Workspace<'_>, node: &Node) -> bool {
    workspace.enter(Activity::Candidates);
    let flops = workspace.flops();
    let Workspace { falsifier, statistics, current, .. } = workspace;
    let worst = node.open.iter().next().unwrap_or(0);
    falsifier.search(statistics, node, worst, (current.first, current.seed), flops)
}
