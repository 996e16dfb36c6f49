//! Contraction: each open obligation is assumed violated, bounds are tightened under that assumption, and a
//! contradiction proves the obligation ([`crate::bound`], output-constrained bound tightening).
//!
//! From here on a node belongs to one obligation. It carries the bounds that hold under the violation of that
//! obligation, and multipliers from which the next contraction starts. Look-ahead settles signs of neurons or rates
//! splits, which the later stages use.

use super::workspace::{Contracted, Stage, StageResult, Workspace};
use crate::bound::branching::LookaheadResult;
use crate::bound::replay::Replay;
use crate::bound::split_candidates::SplitCandidates;
use crate::bound::{Assumption, ContractionBudget, ContractionResult, WarmStart};
use crate::domain::IntermediateBounds;
use crate::domain::propagation::Failure;
use crate::property::ObligationSet;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::hints::{After, DEEPEST};
use crate::search::policy::POLICY;
use crate::search::profile::Activity;
use crate::search::split::Plan;
use crate::search::split::sign::halves;
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
            Err(Failure::Overflow | Failure::TooLarge | Failure::Stopped) => {
                workspace.current.plan = Plan::once(&[], &node.lower, &node.upper);
                return StageResult::Halve;
            }
            Err(Failure::Contradiction) => {
                workspace.statistics.stages.contraction += node.open.len() as u64;
                return StageResult::Proved;
            }
            Ok(bounds) => (bounds, node.open.iter().next()),
        };
        let (Some(o), true) = (open, node.violation_bounds.is_some()) else {
            return StageResult::Branch(one_node_for_each(workspace, node, bounds));
        };
        match workspace.context.violation(o) {
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

/// The bounds of all neurons that are known on a node, its violation bounds included.
fn known_bounds(workspace: &mut Workspace<'_>, node: &Node) -> Result<IntermediateBounds, Failure> {
    let Workspace { context, propagation, .. } = workspace;
    if node.possibly_active.is_some() {
        // The propagation left out neurons that are inactive here, but contraction needs the bounds of all of them.
        match &node.violation_bounds {
            Some(known) => propagation.propagate_within(context.pair, known).map(drop)?,
            None => {
                propagation.enclose(context.pair, &node.lower, &node.upper).map(drop)?;
            }
        }
    }
    let Some(known) = &node.violation_bounds else {
        return Ok(IntermediateBounds::of(propagation.layers(), &node.lower, &node.upper));
    };
    let mut known = IntermediateBounds::clone(known);
    known.intersect(propagation.layers()).map_err(|_| Failure::Contradiction)?;
    Ok(known)
}

/// A node for each open obligation, which starts from the bounds that hold without any assumption.
fn one_node_for_each(workspace: &Workspace<'_>, node: &Node, bounds: IntermediateBounds) -> Vec<Node> {
    let Context { property, record, .. } = workspace.context;
    let bounds = Arc::new(bounds);
    let hint = |o: usize| match workspace.context.hints?.contraction(node.hint?, o)?.1 {
        After::Own(label) => Some(label),
        After::Proved | After::Split(..) => None,
    };
    let own = |o: usize| Node {
        hint: hint(o),
        open: ObligationSet::only(o, property.obligations.len()),
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
    mut bounds: IntermediateBounds,
    o: usize,
    assumption: Assumption,
) -> StageResult {
    let Context { region, settings, shared, record, .. } = workspace.context;
    workspace.statistics.profile.contracted += 1;
    if let Some(log) = &mut workspace.contractor.log {
        log.bytes.clear();
    }
    let mut warm_start = node.warm_start.take();
    let mut effort = ContractionBudget {
        link: settings.link,
        inputs: settings.wide_above,
        selected: settings.selected,
        ..ContractionBudget::default()
    };
    match taken_up(workspace, node, bounds, o, &assumption) {
        TakenUp::Decided(result) => return result,
        TakenUp::Open(left, Some(warm)) => {
            (bounds, warm_start) = (left, Some(warm));
            // Part of what rounds bring is there already.
            effort.rounds = POLICY.contraction.rounds_taken_up;
            effort.short = POLICY.contraction.short_taken_up;
        }
        TakenUp::Open(left, None) => bounds = left,
    }
    let stop = || shared.stopping();
    for _ in 0..POLICY.contraction.looks_ahead {
        let Workspace { contractor, propagation, .. } = workspace;
        let mut left = match contractor.contract(bounds, warm_start.as_deref(), &assumption, effort, propagation, stop)
        {
            ContractionResult::Proved => return proved(workspace, node, o),
            ContractionResult::Open(left) => left,
        };
        region.approach(&mut left.minimiser, &node.lower, &node.upper);
        let corner = |i: usize| left.minimiser.get(i).copied().unwrap_or(node.lower[i]);
        workspace.enter(Activity::Candidates);
        let Workspace { falsifier, statistics, .. } = workspace;
        if falsifier.candidates.test(statistics, node, corner) {
            return StageResult::Falsified;
        }
        workspace.enter(Activity::Contraction);
        if !settings.phases {
            left.candidates = SplitCandidates::default();
        }
        let Workspace { contractor, propagation, scores, .. } = workspace;
        let halving = scores.choose_by_published_score(propagation, &left.bounds.lower, &left.bounds.upper);
        match contractor.look_ahead(&mut left, &assumption, halving, propagation, stop) {
            LookaheadResult::Proved => return proved(workspace, node, o),
            LookaheadResult::Settled(_) => {
                (bounds, warm_start) = (left.bounds, left.warm);
                effort.rounds = POLICY.contraction.rounds_again;
            }
            LookaheadResult::Ranked(splits) => {
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

/// What came of an earlier contraction of a node.
enum TakenUp {
    /// The node is proved, or goes on as it did then.
    Decided(StageResult),
    /// Bounds and multipliers from which it is contracted.
    Open(IntermediateBounds, Option<Arc<WarmStart>>),
}

/// Takes up what an earlier proof did with this node, if there is any. What it did may not be enough any more: then the
/// node is contracted from where that led.
fn taken_up(
    workspace: &mut Workspace<'_>,
    node: &mut Node,
    bounds: IntermediateBounds,
    o: usize,
    assumption: &Assumption,
) -> TakenUp {
    let Context { shared, record, hints, .. } = workspace.context;
    let hint = node.hint.take().filter(|_| node.depth < DEEPEST);
    let Some((log, after)) = hints.zip(hint).and_then(|(hints, label)| hints.contraction(label, o)) else {
        return TakenUp::Open(bounds, None);
    };
    let Workspace { contractor, propagation, .. } = workspace;
    let (left, whole) = match contractor.replay(bounds, log, assumption, propagation, || shared.stopping()) {
        Replay::Proved => {
            workspace.statistics.taken_up += 1;
            return TakenUp::Decided(proved(workspace, node, o));
        }
        Replay::Open { left, whole } => (left, whole),
    };
    match after {
        After::Split(split, labels) if whole && contractor.splits(split, &left.bounds) => {
            let mut halves = halves(node, &left, split);
            workspace.statistics.taken_up += 1;
            record.contracted_and_split((node.label, o, rounds(workspace)), split, &mut halves);
            halves.iter_mut().zip(labels).for_each(|(half, label)| half.hint = Some(label));
            TakenUp::Decided(StageResult::Branch(halves.into()))
        }
        After::Own(label) if whole => {
            node.violation_bounds = Some(Arc::new(left.bounds));
            node.warm_start = left.warm;
            workspace.statistics.taken_up += 1;
            let parent = node.label;
            record.contracted(parent, o, rounds(workspace), Some(node));
            node.hint = Some(label);
            TakenUp::Decided(StageResult::Requeue)
        }
        After::Proved | After::Own(_) | After::Split(..) => TakenUp::Open(left.bounds, left.warm),
    }
}

/// The one obligation of a node is proved.
fn proved(workspace: &mut Workspace<'_>, node: &Node, o: usize) -> StageResult {
    workspace.statistics.stages.contraction += 1;
    workspace.context.record.contracted(node.label, o, rounds(workspace), None);
    StageResult::Proved
}

/// The recorded rounds of this contraction; none where no record is kept.
pub fn rounds<'w>(workspace: &'w Workspace<'_>) -> &'w [u8] {
    workspace.contractor.log.as_ref().map_or(&[], |c| &c.bytes)
}
