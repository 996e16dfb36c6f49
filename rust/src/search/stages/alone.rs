//! What each network does by itself, on the first box of many inputs: guards that f1 never meets, and violations that f2
//! never commits whatever f1 does ([`crate::bound::Alone`], [`crate::bound::PartAlone`]).
//!
//! For Top-1 this is the proof by cases that both networks have one and the same label in the whole box. A guard that is
//! excluded closes all obligations behind it, so ten questions about f1 and ten about f2 may replace a hundred about
//! both. What stays open is contracted as always.
//!
//! The questions do not depend on each other, and there is no other box yet, so they and their parts are dealt out to as
//! many threads as the search has ([`super::alone_pool`]). Each answer counts only if floats were rounded to nearest before
//! and after it.
//!
//! A record of a proof has no place for bounds of one network, so where one is kept the stage is left out.

use super::alone_pool::{Pool, Question};
use super::workspace::{Stage, StageResult, Workspace};
use crate::bound::Assumption;
use crate::domain::{IntermediateBounds, Quantity};
use crate::network::eval::{Evaluation, Evaluator};
use crate::search::Node;
use crate::search::context::Context;
use crate::search::falsify::candidates::centre;
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
        let bounds = IntermediateBounds::of(workspace.propagation.layers(), &node.lower, &node.upper);
        let (excluded, flops) = Pool::new(&questions, &bounds).answers(&workspace.context);
        workspace.elsewhere += flops;
        for question in excluded.into_iter().map(|number| &questions[number]) {
            workspace.statistics.stages.contraction += question.proves.len() as u64;
            question.proves.iter().for_each(|o| node.open.close(*o));
        }
        StageResult::of(node)
    }
}

/// Whether this is the first box of two chains, there are many inputs, and the proof is not recorded. What it brings on
/// graphs, of which a round costs much more, was not measured.
fn worth_asking(workspace: &Workspace<'_>, node: &Node) -> bool {
    let Context { pair, settings, record, .. } = workspace.context;
    let whole = workspace.current.first && node.violation_bounds.is_none() && node.possibly_active.is_none();
    let wide = pair.is_chain() && pair.inputs() > settings.wide_above;
    whole && wide && settings.alone && settings.contracts(usize::MAX) && !record.on()
}

/// What is to be asked about each network: of a guard that f1 does not meet in the middle of the box, whether it meets it
/// anywhere; of the obligations of the other guards, whether one network violates them by itself.
fn questions(context: &Context<'_>, node: &Node) -> Vec<Question> {
    let Context { pair, property, .. } = *context;
    let middle: Vec<f64> = (0..pair.inputs()).map(|i| centre(node, i)).collect();
    let mut reached = Evaluation::default();
    Evaluator::default().at(pair, &middle, &mut reached);
    let mut list: Vec<Question> = Vec::new();
    let mut asked: Vec<Option<usize>> = vec![None; property.guards.len()];
    for o in node.open.iter() {
        let Some(assumption) = context.violation(o) else { continue };
        let Some(guard) = property.obligations[o].guard else {
            list.extend(of_violation(assumption, o));
            continue;
        };
        if let Some(place) = asked[guard] {
            list[place].proves.push(o);
        } else if let Some(row) = missed(&assumption, &reached.first) {
            asked[guard] = Some(list.len());
            let assumption = assumption.of_guard_row(row);
            list.push(Question { network: Quantity::First, assumption, proves: vec![o] });
        } else {
            list.extend(of_violation(assumption, o));
        }
    }
    list
}

/// The row of a guard that outputs of f1 miss by most, if they miss one.
fn missed(assumption: &Assumption, first: &[f64]) -> Option<usize> {
    let outputs = assumption.outputs();
    let value = |row: usize| {
        let coefficients = &assumption.guard[row * outputs..(row + 1) * outputs];
        coefficients.iter().zip(first).map(|(g, z)| g * z).sum::<f64>() + assumption.constants[row]
    };
    let least = (0..assumption.rows()).min_by(|a, b| value(*a).total_cmp(&value(*b)))?;
    (value(least) < 0.0).then_some(least)
}

/// A violation that speaks of one network alone.
fn of_violation(assumption: Assumption, obligation: usize) -> Option<Question> {
    let network = assumption.speaks_of()?;
    Some(Question { network, assumption: assumption.of_twins()?, proves: vec![obligation] })
}
