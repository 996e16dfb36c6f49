//! Guards: an obligation that only holds where a guard does is proved if f1 cannot meet the guard on this box.
//!
//! Two stages. The first one tries the centre of the box until some input was seen that meets a guard, because a claim
//! whose guards nothing meets holds vacuously, and users are told. The second one excludes guards by bounds of f1
//! alone. An exact confidence softmax_k >= delta is excluded in two ways: by one of its rows, or by their sum, since
//! z_k - LSE(z_l) >= t means that the sum of exp(-(z_k - z_l - t)) over l is at most 1.

use super::workspace::{Stage, StageResult, Workspace, output_of};
use crate::numeric::log::exp_below;
use crate::numeric::round::add_down;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::falsify::candidates::centre;
use crate::search::profile::Activity;

/// Tries the centre, until an input was seen that meets a guard.
pub struct GuardSample;

impl Stage for GuardSample {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        if workspace.context.shared.guard_seen() {
            return StageResult::Open;
        }
        workspace.enter(Activity::Candidates);
        let Workspace { falsifier, statistics, .. } = workspace;
        if falsifier.candidates.test(statistics, node, |i| centre(node, i)) {
            return StageResult::Falsified;
        }
        StageResult::Open
    }
}

/// Excludes guards that f1 cannot meet.
pub struct Guards;

impl Stage for Guards {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        workspace.enter(Activity::Rows);
        let Workspace { context, propagation, row: space, statistics, .. } = workspace;
        let Context { property, settings, .. } = *context;
        let output = output_of(propagation, context);
        for (g, guard) in property.guards.iter().enumerate() {
            let concerned: Vec<usize> =
                node.open.iter().filter(|&o| property.obligations[o].guard == Some(g)).collect();
            if concerned.is_empty() {
                continue;
            }
            let mut sum_below = 0.0;
            let mut excluded = false;
            for (l, row) in guard.rows.iter().enumerate() {
                let upper = output.upper(row, space);
                excluded |= upper < 0.0;
                if settings.entropy && guard.confidence.as_ref().is_some_and(|c| c.rows.contains(&l)) {
                    sum_below = add_down(sum_below, exp_below(-upper));
                }
            }
            if excluded || sum_below > 1.0 {
                statistics.stages.guard += 1;
                for o in concerned {
                    node.open.close(o);
                }
            }
        }
        StageResult::Open
    }
}
