//! Forms of second order ([`crate::domain::input_products`]): the first box once more, with zonotopes that know which parts of
//! what smooth functions bend by follow from the same inputs.
//!
//! They have a column for every two free inputs, and cost as many times more than zonotopes do. So they are made on the first
//! box alone, where it would be bounded backwards or halved otherwise, and where they are not too large. What is still open
//! goes on within the narrower bounds of neurons. A record of a proof has no place for them: where one is kept the stage is
//! left out.

use super::rows::ZonotopeRows;
use super::workspace::{Stage, StageResult, Workspace};
use crate::domain::clock::Clock;
use crate::domain::{AbstractDomain, InputProducts, IntermediateBounds, Propagation};
use crate::network::Curves;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::policy::POLICY;
use crate::search::profile::Activity;
use crate::search::split::Plan;
use std::sync::Arc;

/// See the head of this file.
pub struct SecondOrder;

impl Stage for SecondOrder {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        if !worth_making(workspace, node) {
            return StageResult::Open;
        }
        workspace.enter(Activity::Propagation);
        let Workspace { context, propagation, row, statistics, .. } = workspace;
        let Context { pair, settings, shared, property, .. } = *context;
        let known = IntermediateBounds::of(propagation.layers(), &node.lower, &node.upper);
        let clock = Clock { deadline: shared.deadline, stopped: Some(Arc::clone(&shared.stopped)) };
        let mut forms = Propagation::new(settings.domain, pair.depth())
            .with_memory(settings.zonotope_memory)
            .with_clock(clock)
            .of_second_order();
        // Without an enclosure nothing is concluded, whatever the cause: the box goes on as it came.
        let Ok(output) = forms.propagate_within(pair, &known) else { return StageResult::Open };
        for o in node.open.clone().iter() {
            let violation = &property.obligations[o].violation;
            if violation.excluded_by(violation.bound(&output, row).0) {
                statistics.stages.zonotope += 1;
                node.open.close(o);
            }
        }
        if node.open.is_empty() {
            return StageResult::Proved;
        }
        let narrower = IntermediateBounds::of(forms.layers(), &node.lower, &node.upper);
        drop(forms);
        if propagation.propagate_within(pair, &narrower).is_err() {
            // Nothing is left of the first propagation, which the later stages need.
            workspace.current.plan = Plan::once(&[], &node.lower, &node.upper);
            return StageResult::Halve;
        }
        ZonotopeRows.run(workspace, node)
    }
}

/// Whether this is the first box of networks with smooth functions, with few enough free inputs and neurons, and its proof is
/// not recorded.
fn worth_making(workspace: &Workspace<'_>, node: &Node) -> bool {
    let Context { pair, settings, record, .. } = workspace.context;
    let whole = workspace.current.first && node.violation_bounds.is_none() && node.possibly_active.is_none();
    let wanted = settings.second_order && settings.root_bounds && settings.domain == AbstractDomain::Reduced;
    if !(whole && wanted) || record.on() {
        return false;
    }
    let products = InputProducts::of((&node.lower, &node.upper)).count();
    let rows = pair.first.iter().map(|step| step.rows).sum::<usize>();
    let curves = pair.first.iter().filter_map(|step| step.function.curves());
    let smooth = curves.flat_map(Curves::kinds).any(|curve| !curve.is_piecewise_linear() && !curve.is_stepped());
    smooth && products > 0 && products.saturating_mul(rows) <= POLICY.products
}
