//! Backward bounds of all neurons on the first box, without any assumption ([`crate::bound::intermediate`]; CROWN), and
//! with them a second propagation and backward bounds of the violations that are still open.
//!
//! On graphs of convolutions, and on chains with many inputs, the bounds of inner neurons are what is loose, and they cost
//! less than a propagation. (On chains with few inputs each box has bounds of each network by itself already.) What
//! is found holds on every part of the box, since later stages start from the bounds of the last propagation. A record
//! of a proof has no place for these bounds, so where one is kept the stage is left out.

use super::alone_questions::bounds_again;
use super::euclidean_norms::{close_by_norms, worth_bounding};
use super::rows::ZonotopeRows;
use super::workspace::{Stage, StageResult, Workspace};
use crate::bound::parameters::Parameters;
use crate::bound::{Assumption, Contractor, Near, NearBudget, SignTreeBudget};
use crate::domain::propagation::Failure;
use crate::domain::{IntermediateBounds, Together};
use crate::search::Node;
use crate::search::policy::POLICY;
use crate::search::probe::multiplications;
use crate::search::profile::Activity;
use crate::search::split::Plan;

/// See the head of this file.
pub struct BackwardBounds;

impl Stage for BackwardBounds {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        if !worth_bounding(workspace, node) {
            return StageResult::Open;
        }
        let norms = close_by_norms(workspace, node, Together::All);
        if node.open.is_empty() {
            return StageResult::Proved;
        }
        workspace.enter(Activity::Contraction);
        let Workspace { context, propagation, contractor, .. } = workspace;
        let shared = context.shared;
        let stop = || shared.stopping();
        let mut bounds = IntermediateBounds::of(propagation.layers(), &node.lower, &node.upper);
        let narrowed = norms.narrow(&mut bounds).and_then(|()| contractor.tighten(&mut bounds, stop));
        let tightened = narrowed.map_err(Failure::from);
        let patience = if bounds_again(workspace, node) { PATIENCE } else { usize::MAX };
        propagate_again(workspace, node, bounds, (tightened, patience))
    }
}

/// If violations are bounded a second time, with better bounds of the neurons, the first pass ends once so many of them in a row
/// stay open. Otherwise all ninety violations of ten classes would be bounded in vain where only the second pass can close them.
pub const PATIENCE: usize = 3;

/// Propagates the first box within bounds that were tightened, and bounds the violations that are open with what both
/// found, until so many of them in a row stay open. `tightened` says what became of the bounds.
pub(super) fn propagate_again(
    workspace: &mut Workspace<'_>,
    node: &mut Node,
    mut bounds: IntermediateBounds,
    (tightened, patience): (Result<(), Failure>, usize),
) -> StageResult {
    let Workspace { context, propagation, .. } = workspace;
    match tightened.and_then(|()| propagation.propagate_within(context.pair, &bounds).map(drop)) {
        Ok(()) => {}
        Err(Failure::Contradiction) => {
            workspace.statistics.stages.contraction += node.open.len() as u64;
            return StageResult::Proved;
        }
        // Nothing is left of the first propagation, which the later stages need.
        Err(Failure::Overflow | Failure::TooLarge | Failure::Stopped) => {
            workspace.current.plan = Plan::once(&[], &node.lower, &node.upper);
            return StageResult::Halve;
        }
    }
    if bounds.intersect(propagation.layers()).is_err() {
        workspace.statistics.stages.contraction += node.open.len() as u64;
        return StageResult::Proved;
    }
    workspace.enter(Activity::Rows);
    if matches!(ZonotopeRows.run(workspace, node), StageResult::Proved) {
        return StageResult::Proved;
    }
    close_by_norms(workspace, node, Together::All);
    bound_violations(workspace, node, &bounds, Effort { patience, signs: true });
    StageResult::of(node)
}

/// How far [`bound_violations`] goes.
#[derive(Clone, Copy)]
pub struct Effort {
    /// So many violations in a row may stay open.
    pub patience: usize,
    /// Whether signs are split.
    pub signs: bool,
}

/// Closes what backward bounds from the outputs exclude, by themselves or, if signs are to be split, part by part
/// ([`crate::bound::SignTreeBudget`]).
pub fn bound_violations(workspace: &mut Workspace<'_>, node: &mut Node, bounds: &IntermediateBounds, effort: Effort) {
    workspace.enter(Activity::Contraction);
    let Workspace { context, contractor, statistics, .. } = workspace;
    let stop = || context.shared.stopping();
    // A record of a proof has no place for splits at signs.
    let signs = effort.signs && context.settings.sign_trees && !context.record.on();
    let mut means = Means { trees: POLICY.sign_tree, near: POLICY.near };
    if context.pair.is_chain() {
        // Contraction of the whole box follows there, which has rounds of its own.
        means.near.work = 0;
    }
    let inputs = context.pair.inputs();
    if !context.settings.contracts(inputs) {
        // Boxes are halved next, of which hundreds may take a hundredth of what a tree does.
        let work = POLICY.halved_first.saturating_mul(multiplications(context.pair, inputs));
        means.trees.work = means.trees.work.min(work);
        means.near.work = means.near.work.min(work);
    }
    let mut in_vain = 0;
    for o in node.open.clone().iter() {
        if stop() || in_vain >= effort.patience {
            break;
        }
        let Some(assumption) = context.violation(o) else { continue };
        let (bound, multipliers) = contractor.bound_violation(bounds, &assumption, POLICY.backward.steps, stop);
        in_vain += 1;
        let excluded = assumption.contradicted_by(-bound)
            || (signs && means.exclude(contractor, &assumption, (bound, bounds, multipliers), stop));
        if excluded {
            in_vain = 0;
            statistics.stages.contraction += 1;
            node.open.close(o);
        }
    }
}

/// A violation whose bound exceeds 0 by more than this share of what the claim allows is not contracted: all rounds together lower
/// it by about a third, and take a second.
const NEAR: f64 = 0.25;

/// The work that may be spent on violations that a bound leaves open: one budget for all of them.
struct Means {
    trees: SignTreeBudget,
    near: NearBudget,
}

impl Means {
    /// Excludes a violation, with this bound and its multipliers within bounds that have been set, by splits at signs; else by
    /// a contraction of what costs it most, and splits within that.
    fn exclude(
        &mut self,
        contractor: &mut Contractor<'_>,
        assumption: &Assumption,
        (bound, bounds, multipliers): (f64, &IntermediateBounds, Parameters),
        stop: impl Fn() -> bool,
    ) -> bool {
        let whole = Near { bounds: bounds.clone(), multipliers };
        if self.split(contractor, assumption, &whole, &stop) {
            return true;
        }
        // What the claim allows is the constant, where there is one.
        let allowed = assumption.constant.abs();
        if self.near.work == 0 || (allowed > 0.0 && bound > NEAR * allowed) {
            return false;
        }
        let before = contractor.flops();
        let budget = (self.near, POLICY.backward.steps);
        let near = contractor.contract_costliest((bound, &whole), assumption, budget, &stop);
        let Some(near) = near else { return true };
        let excluded = self.split(contractor, assumption, &near, &stop);
        // Where one violation is left open the box is not closed, whatever becomes of the others.
        self.near.work = if excluded { self.near.work.saturating_sub(contractor.flops() - before) } else { 0 };
        excluded
    }

    fn split(
        &mut self,
        contractor: &mut Contractor<'_>,
        assumption: &Assumption,
        known: &Near,
        stop: impl Fn() -> bool,
    ) -> bool {
        let before = contractor.flops();
        let excluded = contractor.split_signs(&known.bounds, assumption, &known.multipliers, self.trees, stop);
        if !excluded {
            self.trees.work = self.trees.work.saturating_sub(contractor.flops() - before);
        }
        excluded
    }
}
