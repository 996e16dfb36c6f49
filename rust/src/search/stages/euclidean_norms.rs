//! Zonotope rows once more, where Euclidean norms bound what the functions of each step add to the difference
//! ([`EuclideanNorms`]).
//!
//! A record of a proof has no place for that, so where one is kept it is left out.

use super::workspace::{Workspace, output_of};
use crate::domain::{AbstractDomain, EuclideanNorms};
use crate::property::Violation;
use crate::search::Node;
use crate::search::profile::Activity;

/// Closes what the norms of the last propagation exclude, and returns them; there are none where they are not wanted.
pub fn close_by_norms(workspace: &mut Workspace<'_>, node: &mut Node) -> EuclideanNorms {
    let context = workspace.context;
    let reduced = context.settings.domain == AbstractDomain::Reduced;
    if !(reduced && context.settings.euclidean_norms) || context.record.on() {
        return EuclideanNorms::default();
    }
    workspace.enter(Activity::Rows);
    let Workspace { propagation, row, statistics, .. } = workspace;
    let stop = || context.shared.stopping();
    let norms = EuclideanNorms::of(context.pair, propagation.layers(), context.pair.inputs(), stop);
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
