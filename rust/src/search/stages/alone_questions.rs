//! The questions about one network each ([`super::alone`]): when any are asked, which, and what each may take.

use super::workspace::Workspace;
use crate::bound::{AloneBudget, Assumption, Contractor};
use crate::domain::Quantity;
use crate::network::Pair;
use crate::network::eval::{Evaluation, Evaluator};
use crate::search::Node;
use crate::search::context::Context;
use crate::search::falsify::candidates::centre;
use crate::search::policy::POLICY;

/// An assumption about one network, and the obligations that are proved if it holds nowhere.
pub(super) struct Question {
    /// x for f1, y for f2.
    pub(super) network: Quantity,
    /// About f1 of that network paired with itself.
    pub(super) assumption: Assumption,
    pub(super) proves: Vec<usize>,
}

/// Whether this is the first box of two chains, there are many inputs, and the proof is not recorded. What it brings on
/// graphs, of which a round costs much more, was not measured.
pub(super) fn worth_asking(workspace: &Workspace<'_>, node: &Node) -> bool {
    let Context { pair, settings, record, .. } = workspace.context;
    let whole = workspace.current.first && node.violation_bounds.is_none() && node.possibly_active.is_none();
    let wide = pair.is_chain() && pair.inputs() > settings.wide_above;
    whole && wide && settings.alone && settings.contracts(usize::MAX) && !record.on()
}

/// Whether violations that are open are bounded once more behind this stage.
pub(super) fn bounds_again(workspace: &Workspace<'_>, node: &Node) -> bool {
    workspace.context.settings.hulls && worth_asking(workspace, node)
}

/// What is to be asked about each network: of a guard that f1 does not meet in the middle of the box, whether it meets it
/// anywhere; of the obligations of the other guards, whether one network violates them by itself.
pub(super) fn questions(context: &Context<'_>, node: &Node) -> Vec<Question> {
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

/// A contractor of a network paired with itself.
pub(super) fn contractor<'p>(context: &Context<'_>, twins: &'p Pair) -> Contractor<'p> {
    let made = Contractor::new(twins).in_singles(context.settings.singles);
    made.leaving_out_stable(context.settings.stable_left_out)
}

/// What a part of this depth may take.
pub(super) fn budget(context: &Context<'_>, depth: i32) -> AloneBudget {
    let budget = if depth == 0 { POLICY.alone } else { POLICY.alone_part };
    AloneBudget { hulls: if context.settings.hulls { budget.hulls } else { 0 }, ..budget }
}

/// Whether the search stops, or so large a share of the time that there was is over.
pub(super) fn stops(context: &Context<'_>, left: f64, share: f64) -> bool {
    context.shared.stopping() || context.shared.seconds_left() < (1.0 - share) * left
}
