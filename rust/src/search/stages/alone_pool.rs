//! Questions about one network each, dealt out to threads: every question begins with its whole box, and goes on with
//! the parts that are left of it.
//!
//! First all questions are asked of the whole box. Then parts are contracted, those of the question with the smallest
//! bound first, and the newest part of it first, so that few parts wait. A question is given up where the share that is
//! closed of it says that it will take too many parts.
//!
//! A question is answered only when no part of it is open: a part counts as open from the moment that it exists until it
//! is excluded, or replaced by two that cover it, and a question that lost a part is never answered.

use super::alone_known::Known;
use super::alone_questions::{Question, budget, contractor, stops};
use crate::bound::{Alone, Contractor, PartAlone, PartResult};
use crate::domain::Quantity;
use crate::network::Pair;
use crate::numeric::round::arithmetic_is_ieee;
use crate::search::context::Context;
use crate::search::policy::POLICY;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a thread waits for a part before it looks whether it should stop.
const PATIENCE: Duration = Duration::from_millis(20);

/// How far a question has got.
struct Progress {
    /// Parts that are not excluded.
    open: usize,
    /// Parts that were contracted.
    contracted: u32,
    /// The share of the box that is closed.
    closed: f64,
    /// The bound of the whole box, by which questions are ordered.
    bound: f64,
    given_up: bool,
}

impl Progress {
    /// A question of which one bound of the whole box says this.
    fn of(found: Alone) -> Self {
        let (open, bound) = match found {
            Alone::Excluded => (0, f64::NEG_INFINITY),
            Alone::Open(bound) => (1, bound),
        };
        Self { open, contracted: 0, closed: 1.0 - f64::from(u8::from(open > 0)), bound, given_up: false }
    }
}

struct State {
    progress: Vec<Progress>,
    /// Parts that wait, and the questions that they belong to.
    waiting: Vec<(usize, PartAlone)>,
    /// Threads that have a part.
    working: usize,
    flops: u64,
}

/// The parts of all questions. See the head of this file.
pub(super) struct Pool<'q> {
    questions: &'q [Question],
    state: Mutex<State>,
    changed: Condvar,
}

/// A thread has a part until this is dropped.
struct Working<'p, 'q>(&'p Pool<'q>);

impl Drop for Working<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().working -= 1;
        self.0.changed.notify_all();
    }
}

impl<'q> Pool<'q> {
    /// All questions that are open, each with its whole box, the nearest to an answer first.
    pub(super) fn new(questions: &'q [Question], known: &Known) -> Self {
        let progress: Vec<Progress> = known.found.iter().map(|found| Progress::of(*found)).collect();
        let mut order: Vec<usize> = (0..progress.len()).filter(|number| progress[*number].open > 0).collect();
        order.sort_by(|a, b| progress[*a].bound.total_cmp(&progress[*b].bound));
        let bounds = |number: usize| &known.bounds[usize::from(questions[number].network != Quantity::First)];
        let waiting = order.into_iter().map(|number| (number, PartAlone::whole(bounds(number).clone()))).collect();
        Self {
            questions,
            state: Mutex::new(State { progress, waiting, working: 0, flops: 0 }),
            changed: Condvar::new(),
        }
    }

    /// The numbers of the questions whose assumptions hold nowhere, and the operations that it took to find them. `left`
    /// are the seconds that there were when each network was first looked at.
    pub(super) fn answers(self, context: &Context<'_>, twins: &[Pair; 2], left: f64) -> (Vec<usize>, u64) {
        let work = || {
            let mut contractors = [None, None];
            while let Some((number, part, _working)) = self.next(context, left) {
                let question = &self.questions[number];
                let which = usize::from(question.network != Quantity::First);
                let before = arithmetic_is_ieee();
                let contractor: &mut Contractor<'_> =
                    contractors[which].get_or_insert_with(|| contractor(context, &twins[which]));
                let (depth, share) = (part.depth, self.lock().share());
                let stop = || stops(context, left, share);
                let result = contractor.exclude_part(part, &question.assumption, budget(context, depth), stop);
                let trusted = before && arithmetic_is_ieee();
                let result = if trusted { result } else { PartResult::Stuck };
                self.take(number, depth, result, context.settings.phases);
            }
            self.lock().flops += contractors.iter().flatten().map(Contractor::flops).sum::<u64>();
        };
        let threads = context.settings.workers().min(2 * self.questions.len());
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            work();
            for other in others {
                if let Err(panic) = other.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
        (self.answered(), self.lock().flops)
    }

    /// The questions of which no part is open.
    fn answered(&self) -> Vec<usize> {
        let state = self.lock();
        let answered = |&number: &usize| state.progress[number].open == 0 && !state.progress[number].given_up;
        (0..self.questions.len()).filter(answered).collect()
    }

    /// A part to contract; waits for one while other threads may still make some.
    fn next(&self, context: &Context<'_>, left: f64) -> Option<(usize, PartAlone, Working<'_, 'q>)> {
        let mut state = self.lock();
        loop {
            if let Some(place) = state.best() {
                if stops(context, left, state.share()) {
                    return None;
                }
                let (number, part) = state.waiting.remove(place);
                state.working += 1;
                return Some((number, part, Working(self)));
            }
            if state.working == 0 || context.shared.stopping() {
                return None;
            }
            state = self.changed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes what became of a part of this depth. `splits` says whether neurons may be split.
    fn take(&self, number: usize, depth: i32, result: PartResult, splits: bool) {
        let mut state = self.lock();
        let State { progress, waiting, .. } = &mut *state;
        let question = &mut progress[number];
        question.contracted += 1;
        match result {
            PartResult::Excluded => {
                question.open -= 1;
                question.closed += 0.5f64.powi(depth);
            }
            PartResult::Open(_) if !splits => question.given_up = true,
            PartResult::Open(halves) => {
                if depth == 0 {
                    question.bound = question.bound.min(halves[0].bound);
                }
                question.open += 1;
                waiting.extend(halves.into_iter().map(|half| (number, half)));
            }
            PartResult::Stuck => question.given_up = true,
        }
        let expected = f64::from(question.contracted) / question.closed;
        question.given_up |= question.contracted >= POLICY.alone_parts.0 && expected > POLICY.alone_parts.1;
        if question.given_up {
            waiting.retain(|(of, _)| *of != number);
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in a thread is passed on by `answers`; the data are plain values either way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The share of the time after which no part is contracted: most of it where most questions have their answer, for
    /// then the others are what is left to decide.
    fn share(&self) -> f64 {
        let answered = self.progress.iter().filter(|question| question.open == 0 && !question.given_up).count();
        if 2 * answered >= self.progress.len() { POLICY.alone_shares.1 } else { POLICY.alone_shares.0 }
    }

    /// The place of the part that comes next: whole boxes first, in the order of the questions.
    fn best(&self) -> Option<usize> {
        if let Some(place) = self.waiting.iter().position(|(_, part)| part.depth == 0) {
            return Some(place);
        }
        let bound = |place: &usize| self.progress[self.waiting[*place].0].bound;
        (0..self.waiting.len()).rev().min_by(|a, b| bound(a).total_cmp(&bound(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Pool, Question};
    use crate::bound::constraints::Constraints;
    use crate::bound::{Alone, Assumption, PartAlone, PartResult};
    use crate::domain::{IntermediateBounds, Quantity};

    fn question() -> Question {
        let assumption = Assumption {
            guard: Vec::new(),
            constants: Vec::new(),
            entropy: 0..0,
            first: vec![1.0],
            second: vec![0.0],
            difference: vec![0.0],
            constant: 0.0,
            strict: false,
            region: Constraints::default(),
        };
        Question { network: Quantity::First, assumption, proves: vec![0] }
    }

    fn halves(depth: i32) -> PartResult {
        let mut part = PartAlone::whole(IntermediateBounds::default());
        part.depth = depth;
        PartResult::Open(Box::new([part.clone(), part]))
    }

    #[test]
    fn a_question_is_answered_when_every_part_is_excluded_and_never_when_one_was_lost() {
        let questions = [question(), question(), question(), question()];
        let open = Known { found: vec![Alone::Open(1.0); 4], ..Known::default() };
        let pool = Pool::new(&questions, &open);
        assert_eq!(pool.answered(), Vec::<usize>::new());
        pool.take(0, 0, PartResult::Excluded, true);
        (1..4).for_each(|number| pool.take(number, 0, halves(1), true));
        assert_eq!(pool.answered(), [0]);
        (1..4).for_each(|number| pool.take(number, 1, PartResult::Excluded, true));
        assert_eq!(pool.answered(), [0], "the other half is open");
        pool.take(1, 1, halves(2), true);
        pool.take(1, 2, PartResult::Excluded, true);
        assert_eq!(pool.answered(), [0]);
        pool.take(1, 2, PartResult::Excluded, true);
        pool.take(2, 1, PartResult::Stuck, true);
        pool.take(3, 1, halves(2), false);
        assert_eq!(pool.answered(), [0, 1]);
        let waiting = &pool.lock().waiting;
        assert!(waiting.iter().all(|(number, _)| *number != 2 && *number != 3), "parts of a question given up");
    }
}
