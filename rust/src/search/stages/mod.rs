//! Bounding a box: one file per stage, run in the order that [`super::policy::STAGES`] sets.
//!
//! A stage takes the workspace and the node, closes the obligations it can prove, and says whether the next stage is to
//! go on. Sound because an obligation is closed by a valid bound only, and because [`finish`] counts what was closed,
//! and nothing else, as proved.

mod alone;
mod alone_known;
mod alone_pool;
mod alone_questions;
mod backward_bounds;
mod contraction;
mod dual;
mod euclidean_norms;
mod falsification;
mod guards;
mod inherited;
mod joint_roundings;
pub mod lp;
mod milp;
mod multipliers;
mod outside;
mod planning;
mod propagation;
mod rows;
mod second_order;
mod sign_split;
mod without_forms;
pub mod workspace;

use super::Node;
use super::policy::{STAGES, StageName};
use super::split::Plan;
use crate::lp::Answer;
use lp::PendingBox;
use workspace::{Current, Stage, StageResult, Workspace};

/// What became of a box.
pub enum Outcome {
    /// Everything is proved, or the search is over.
    Closed,
    /// The box is open and is to be halved by a plan, which is empty where it cannot be halved.
    Split(Node, Plan),
    /// The box is open and replaced by these nodes.
    Branch(Vec<Node>),
    /// The box is open, and halving it would not help: it is put away as undecided.
    Undecided(Node),
    /// The box is open, but a solver says that nothing violates the claim there: it is put away as undecided.
    RestsOnSolver(Node),
    /// Linear programs might prove the box.
    Ask(Box<PendingBox>),
}

/// Takes up a box and bounds it.
pub fn examine(workspace: &mut Workspace<'_>, mut node: Node) -> Outcome {
    let (before, seed) = workspace.context.shared.count_box();
    workspace.current = Current::new(node.open.len(), before == 0, seed);
    workspace.statistics.profile.begin_box(&node);
    let part_of_a_plan = node.depth > 0 && node.violation_bounds.is_none() && node.hint.is_none();
    let result = run_stages(workspace, &mut node);
    let outcome = finish(workspace, node, result);
    if part_of_a_plan {
        workspace.scores.gain.observe(matches!(outcome, Outcome::Closed));
    }
    outcome
}

/// Goes on with a box whose linear programs were answered.
pub fn conclude(workspace: &mut Workspace<'_>, pending: PendingBox, answers: &[Answer]) -> Outcome {
    let (node, result) = lp::conclude(workspace, pending, answers);
    finish(workspace, node, result)
}

/// Runs one stage after the other until one of them decides what becomes of the box.
fn run_stages(workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
    for stage in STAGES {
        if is_long(stage) && workspace.context.shared.stopping() {
            return stopped(node);
        }
        let result = match stage {
            StageName::Outside => outside::Outside.run(workspace, node),
            StageName::Propagation => propagation::Propagation.run(workspace, node),
            StageName::GuardSample => guards::GuardSample.run(workspace, node),
            StageName::Guards => guards::Guards.run(workspace, node),
            StageName::ZonotopeRows => rows::ZonotopeRows.run(workspace, node),
            StageName::NearlyExcluded => euclidean_norms::NearlyExcluded.run(workspace, node),
            StageName::Falsification => falsification::Falsification.run(workspace, node),
            StageName::JointRoundings => joint_roundings::JointRoundings.run(workspace, node),
            StageName::RoundingLimit => rows::RoundingLimit.run(workspace, node),
            StageName::SecondOrder => second_order::SecondOrder.run(workspace, node),
            StageName::BackwardBounds => backward_bounds::BackwardBounds.run(workspace, node),
            StageName::EachNetworkAlone => alone::EachNetworkAlone.run(workspace, node),
            StageName::InheritedMultipliers => inherited::InheritedMultipliers.run(workspace, node),
            StageName::DualBounds => dual::DualBounds.run(workspace, node),
            StageName::Contraction => contraction::ContractionUnderViolation.run(workspace, node),
            StageName::MixedPrograms => milp::MixedPrograms.run(workspace, node),
            StageName::SignSplit => sign_split::SignSplit.run(workspace, node),
            StageName::Planning => planning::Planning.run(workspace, node),
            StageName::LinearPrograms => lp::LinearPrograms.run(workspace, node),
        };
        if !matches!(result, StageResult::Open) {
            return result;
        }
    }
    StageResult::Halve
}

/// What becomes of a box when the time of the search is over: without a plan it goes back to the queue as it is. Where
/// nothing is open, as of two networks that are one function, bounds add nothing.
fn stopped(node: &Node) -> StageResult {
    if node.open.is_empty() { StageResult::Proved } else { StageResult::Halve }
}

/// Whether a stage may take long on one box of large networks, and does not look at the clock before it is well under way.
fn is_long(stage: StageName) -> bool {
    matches!(
        stage,
        StageName::SecondOrder | StageName::BackwardBounds | StageName::EachNetworkAlone | StageName::Contraction
    )
}

/// Counts what was proved on a box, and tells the worker what is left.
fn finish(workspace: &mut Workspace<'_>, node: Node, result: StageResult) -> Outcome {
    let (shared, record, opened) = (workspace.context.shared, workspace.context.record, workspace.current.opened);
    if !matches!(result, StageResult::Proved | StageResult::Falsified) {
        shared.prove(node.depth, opened - node.open.len());
    }
    match result {
        StageResult::Proved => {
            record.leaf(&node);
            shared.prove(node.depth, opened);
            shared.retire(1, 0);
            Outcome::Closed
        }
        StageResult::Falsified => Outcome::Closed,
        StageResult::Branch(nodes) => Outcome::Branch(nodes),
        StageResult::Requeue => Outcome::Branch(vec![node]),
        StageResult::Undecided => Outcome::Undecided(node),
        StageResult::RestsOnSolver => Outcome::RestsOnSolver(node),
        StageResult::Ask(programs) => Outcome::Ask(Box::new(PendingBox::new(workspace, node, programs))),
        StageResult::Open | StageResult::Halve => Outcome::Split(node, workspace.current.plan),
    }
}
