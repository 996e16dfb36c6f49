//! Contraction: each open obligation is assumed violated, bounds are tightened under that assumption, and a
//! contradiction proves the obligation ([`crate::bound`], output-constrained bound tightening).
//!
//! From here on a node belongs to one obligation. It carries the bounds that hold under the violation of that
//! obligation, and multipliers from which the next contraction starts. Look-ahead settles signs of neurons or rates
//! splits, which the later stages use.

use super::workspace::{Contracted, Stage, StageResult, Workspace};
use crate::bound::branching::{Candidates, Glimpse};
use crate::bound::{Assumption, Effort, Fate};
use crate::domain::Knowledge;
use crate::domain::reach::Failure;
use crate::property::Open;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::policy::POLICY;
use crate::search::profile::Activity;
use std::sync::Arc;

/// Where contraction is expected to pay. It is stronger than programs over the outputs alone, and needs no solver.
pub struct ContractionUnderViolation;

impl Stage for ContractionUnderViolation {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        if !worth_contracting(&workspace.context, node) {
            return StageResult::Open;
        }
        workspace.enter(Activity::Contraction);
        let (bounds, open) = match known_bounds(workspace, node) {
            Err(Failure::Overflow) => return StageResult::Halve,
            Err(Failure::Contradiction) => {
                workspace.statistics.stages.contraction += node.open.len() as u64;
                return StageResult::Proved;
            }
            Ok(bounds) => (bounds, node.open.iter().next()),
        };
        let (Some(o), true) = (open, node.violation_bounds.is_some()) else {
            return StageResult::Branch(one_node_for_each(workspace, node, bounds));
        };
        match assumption(&workspace.context, o) {
            Some(assumption) => contract(workspace, node, bounds, o, assumption),
            // A violation that is not linear cannot be contracted, and must not be lost.
            None => StageResult::Halve,
        }
    }
}

/// Whether contraction is expected to pay on this node.
fn worth_contracting(context: &Context<'_>, node: &Node) -> bool {
    let Context { settings, pair, property, .. } = *context;
    settings.contracts(pair.inputs()) && node.open.iter().all(|o| property.obligations[o].violation.is_linear())
}

/// The violation of an obligation somewhere in the region, as the settings let it be used; `None` where it is not
/// linear.
fn assumption(context: &Context<'_>, o: usize) -> Option<Assumption> {
    let mut assumption = context.assumption(o)?;
    if !context.settings.entropy {
        assumption.entropy = 0..0;
    }
    context.region.constraints.iter().for_each(|c| assumption.region.push(&c.coefficients, c.bound));
    Some(assumption)
}

/// The bounds of all neurons that are known on a node, its violation bounds included.
fn known_bounds(workspace: &mut Workspace<'_>, node: &Node) -> Result<Knowledge, Failure> {
    let Workspace { context, reach, .. } = workspace;
    if node.possibly_active.is_some() {
        // The propagation left out neurons that are inactive here, but contraction needs the bounds of all of them.
        match &node.violation_bounds {
            Some(known) => reach.propagate_within(context.pair, known).map(drop)?,
            None => {
                reach.propagate(context.pair, &node.lower, &node.upper).map(drop).ok_or(Failure::Overflow)?;
            }
        }
    }
    let Some(known) = &node.violation_bounds else {
        return Ok(Knowledge::of(reach.layers(), &node.lower, &node.upper));
    };
    let mut known = Knowledge::clone(known);
    known.intersect(reach.layers()).map_err(|_| Failure::Contradiction)?;
    Ok(known)
}

/// A node for each open obligation, which starts from the bounds that hold without any assumption.
fn one_node_for_each(workspace: &Workspace<'_>, node: &Node, bounds: Knowledge) -> Vec<Node> {
    let Context { property, record, .. } = workspace.context;
    let bounds = Arc::new(bounds);
    let own = |o: usize| Node {
        open: Open::only(o, property.obligations.len()),
        violation_bounds: Some(Arc::clone(&bounds)),
        ..node.clone()
    };
    let mut owned: Vec<Node> = node.open.iter().map(own).collect();
    for (o, child) in node.open.iter().zip(&mut owned) {
        record.contracted(node.label, o, &[], Some(child));
    }
    owned
}

/// Contracts `bounds` under the violation of the one obligation of a node, and looks ahead; again while look-ahead
/// settles signs of neurons.
fn contract(
    workspace: &mut Workspace<'_>,
    node: &mut Node,
    mut bounds: Knowledge,
    o: usize,
    assumption: Assumption,
) -> StageResult {
    let Context { region, settings, shared, record, .. } = workspace.context;
    workspace.statistics.profile.contracted += 1;
    if let Some(chain) = &mut workspace.contractor.chain {
        chain.bytes.clear();
    }
    let mut warm_start = node.warm_start.take();
    let mut effort = Effort { link: settings.link, ..Effort::default() };
    let stop = || shared.stopping();
    for _ in 0..POLICY.contraction.looks_ahead {
        let Workspace { contractor, reach, .. } = workspace;
        let mut left = match contractor.contract(bounds, warm_start.as_deref(), &assumption, effort, reach, stop) {
            Fate::Proved => return proved(workspace, node, o),
            Fate::Open(left) => left,
        };
        region.approach(&mut left.corner, &node.lower, &node.upper);
        let corner = |i: usize| left.corner.get(i).copied().unwrap_or(node.lower[i]);
        workspace.enter(Activity::Candidates);
        let Workspace { falsifier, statistics, .. } = workspace;
        if falsifier.candidates.test(statistics, node, corner) {
            return StageResult::Falsified;
        }
        workspace.enter(Activity::Contraction);
        if !settings.phases {
            left.candidates = Candidates::default();
        }
        let Workspace { contractor, reach, scores, .. } = workspace;
        let halving = scores.choose_by_influence(reach, &left.knowledge.lower, &left.knowledge.upper);
        match contractor.look_ahead(&mut left, &assumption, halving, reach, stop) {
            Glimpse::Proved => return proved(workspace, node, o),
            Glimpse::Settled(_) => {
                (bounds, warm_start) = (left.knowledge, left.warm);
                effort.rounds = POLICY.contraction.rounds_again;
            }
            Glimpse::Ranked(splits) => {
                workspace.current.contracted = Some(Contracted { left, assumption, splits });
                return StageResult::Open;
            }
        }
    }
    // Signs are still being settled: the node goes on later, with the bounds that it has now.
    node.violation_bounds = Some(Arc::new(bounds));
    node.warm_start = warm_start;
    let label = node.label;
    record.contracted(label, o, rounds(workspace), Some(node));
    StageResult::Requeue
}

/// The one obligation of a node is proved.
fn proved(workspace: &mut Workspace<'_>, node: &Node, o: usize) -> StageResult {
    workspace.statistics.stages.contraction += 1;
    workspace.context.record.contracted(node.label, o, rounds(workspace), None);
    StageResult::Proved
}

/// The recorded rounds of this contraction; none where no record is kept.
pub fn rounds<'w>(workspace: &'w Workspace<'_>) -> &'w [u8] {
    workspace.contractor.chain.as_ref().map_or(&[], |c| &c.bytes)
}
