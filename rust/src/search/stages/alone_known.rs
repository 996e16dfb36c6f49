//! What is known of each network by itself before questions about it are dealt out ([`super::alone_pool`]), and which of
//! them that answers; one network to a thread.
//!
//! Most questions are answered by one bound of what they assume. Where some are not, the neurons of the network are
//! bounded once for all of them ([`crate::bound`], `alone_root`), and what is left is looked at again.

use super::alone_questions::{Question, budget, contractor, stops};
use crate::bound::{Alone, Contractor};
use crate::domain::{IntermediateBounds, Quantity};
use crate::network::Pair;
use crate::numeric::round::arithmetic_is_ieee;
use crate::search::context::Context;
use crate::search::policy::POLICY;

/// What is known of both networks.
#[derive(Default)]
pub(super) struct Known {
    /// Bounds of x of either network paired with itself, without an assumption.
    pub(super) bounds: [IntermediateBounds; 2],
    /// What one bound says of every question.
    pub(super) found: Vec<Alone>,
    /// The operations that it took.
    pub(super) flops: u64,
}

impl Known {
    /// Looks at all questions; `bounds` are those of both networks, and `left` the seconds that there are. Neurons are
    /// bounded where a question stays open, or where `always` says so.
    pub(super) fn of(
        context: &Context<'_>,
        twins: &[Pair; 2],
        questions: &[Question],
        bounds: &IntermediateBounds,
        (left, always): (f64, bool),
    ) -> Self {
        let of = |network: Quantity, twins: &Pair| Look { context, twins, questions, network, left }.at(bounds, always);
        let [first, second] = twins;
        let looks = if context.settings.workers() > 1 {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| of(Quantity::Second, second));
                let first = of(Quantity::First, first);
                [first, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
            })
        } else {
            [of(Quantity::First, first), of(Quantity::Second, second)]
        };
        let [(first, of_first, a), (second, of_second, b)] = looks;
        let both = questions.iter().zip(of_first.into_iter().zip(of_second));
        let found = both.map(|(q, (a, b))| if q.network == Quantity::First { a } else { b }).collect();
        Self { bounds: [first, second], found, flops: a + b }
    }
}

/// Takes what is known of each network by itself into bounds of both. False if they contradict.
pub(super) fn join(bounds: &mut IntermediateBounds, [first, second]: &[IntermediateBounds; 2]) -> bool {
    let of_both = first.layers.iter().zip(&second.layers);
    let joined = bounds.layers.iter_mut().zip(of_both).try_for_each(|(both, (first, second))| {
        both.x.intersect(&first.x)?;
        both.y.intersect(&second.x)
    });
    bounds.reduce();
    joined.is_ok()
}

/// The questions about one network.
struct Look<'l, 'c> {
    context: &'l Context<'c>,
    twins: &'l Pair,
    questions: &'l [Question],
    network: Quantity,
    left: f64,
}

impl Look<'_, '_> {
    /// Bounds of the network, what they say of each question about it, and the operations that it took.
    fn at(&self, bounds: &IntermediateBounds, always: bool) -> (IntermediateBounds, Vec<Alone>, u64) {
        let before = arithmetic_is_ieee();
        let stop = || stops(self.context, self.left, POLICY.alone_shares.0);
        let begun = bounds.of_twins(self.network);
        let mut found = vec![Alone::Open(f64::INFINITY); self.questions.len()];
        let mut contractor = contractor(self.context, self.twins);
        let mut known = begun.clone();
        let open = self.look(&mut contractor, &known, &mut found, &stop);
        if (open || always) && self.twins.is_chain() {
            known = contractor.tighten_alone(known, budget(self.context, 0), stop);
            self.look(&mut contractor, &known, &mut found, &stop);
        }
        let flops = contractor.flops();
        if before && arithmetic_is_ieee() {
            return (known, found, flops);
        }
        (begun, vec![Alone::Open(f64::INFINITY); self.questions.len()], flops)
    }

    /// Bounds what is assumed in each question that is open; whether one stays so.
    fn look(
        &self,
        contractor: &mut Contractor<'_>,
        known: &IntermediateBounds,
        found: &mut [Alone],
        stop: &impl Fn() -> bool,
    ) -> bool {
        let mut open = false;
        for (question, found) in self.questions.iter().zip(found) {
            if question.network != self.network || *found == Alone::Excluded {
                continue;
            }
            if stop() {
                return true;
            }
            *found = contractor.look_alone(known, &question.assumption, budget(self.context, 0), stop);
            open |= *found != Alone::Excluded;
        }
        open
    }
}
