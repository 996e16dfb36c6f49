//! What each network does by itself, on the first box of many inputs: guards that f1 never meets, and violations that f2
//! never commits whatever f1 does ([`crate::bound::Alone`], [`crate::bound::PartAlone`]).
//!
//! For Top-1 this is the proof by cases that both networks have one and the same label in the whole box. A guard that is
//! excluded closes all obligations behind it, so ten questions about f1 and ten about f2 may replace a hundred about
//! both. What stays open is contracted as always, within the bounds that each network has by itself.
//!
//! The questions do not depend on each other, and there is no other box yet, so they and their parts are dealt out to as
//! many threads as the search has ([`super::alone_pool`]). Each answer counts only if floats were rounded to nearest before
//! and after it.
//!
//! A record of a proof has no place for bounds of one network, so where one is kept the stage is left out.

use super::alone_known::{Known, join};
use super::alone_pool::Pool;
use super::alone_questions::{questions, worth_asking};
use super::backward_bounds::propagate_again;
use super::workspace::{Stage, StageResult, Workspace};
use crate::domain::IntermediateBounds;
use crate::search::Node;
use crate::search::profile::Activity;

/// See the head of this file.
pub struct EachNetworkAlone;

impl Stage for EachNetworkAlone {
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult {
        if !worth_asking(workspace, node) {
            return StageResult::Open;
        }
        workspace.enter(Activity::Contraction);
        let questions = questions(&workspace.context, node);
        let mut bounds = IntermediateBounds::of(workspace.propagation.layers(), &node.lower, &node.upper);
        let context = &workspace.context;
        let Ok(twins) = context.pair.twins() else { return StageResult::Open };
        let left = context.shared.seconds_left();
        let asked: usize = questions.iter().map(|question| question.proves.len()).sum();
        let joint = context.settings.hulls && asked < node.open.len();
        let known = Known::of(context, &twins, &questions, &bounds, (left, joint));
        let (excluded, flops) = Pool::new(&questions, &known).answers(context, &twins, left);
        workspace.elsewhere += known.flops + flops;
        for question in excluded.into_iter().map(|number| &questions[number]) {
            workspace.statistics.stages.contraction += question.proves.len() as u64;
            question.proves.iter().for_each(|o| node.open.close(*o));
        }
        if node.open.is_empty()
            || !context.settings.hulls
            || context.shared.stopping()
            || !join(&mut bounds, &known.bounds)
        {
            return StageResult::of(node);
        }
        propagate_again(workspace, node, bounds, (Ok(()), usize::MAX))
    }
}
