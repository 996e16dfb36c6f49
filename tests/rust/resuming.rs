//! Searches that stop and go on: nothing is lost, nothing is done twice, and no state but the search's own is taken.

use crate::claims::{Replay, Solver};
use crate::line::{self, Truth};
use crate::random::{any_scale, cases, for_all};
use crate::search::{Question, lines, questions, spread};
use eqspec::error::Error;
use eqspec::lp::{Answer, LinearProgram};
use eqspec::search::{Host, Progress, Reason, Solution, Verdict, resume, solve};
use eqspec::settings::Settings;
use proptest::prelude::*;
use std::time::Duration;

/// A host that keeps what it is given.
pub struct Keeping<'q> {
    pub host: Replay<'q>,
    pub every: Duration,
    pub states: Vec<Vec<u8>>,
}

impl Host for Keeping<'_> {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        self.host.answer(programs)
    }
    fn confirm(&mut self, input: &[f64]) -> bool {
        self.host.confirm(input)
    }
    fn progress(&mut self, progress: &Progress) -> bool {
        self.host.progress(progress)
    }
    fn snapshot_interval(&self) -> Option<Duration> {
        Some(self.every)
    }
    fn keep_snapshot(&mut self, state: Vec<u8>) {
        self.states.push(state);
    }
}

/// Runs from a state, or from the start: the answer, and the states it left.
pub fn run(question: &Question, state: Option<&[u8]>, every: Duration) -> (Result<Solution, Error>, Vec<Vec<u8>>) {
    let classes = question.case.layers.last().map_or(0, |l| l[0].bias.len());
    let property = question.claim.property(classes, question.settings.domain);
    let mut host = Keeping { host: question.host(), every, states: Vec::new() };
    let (pair, region, settings) = (question.case.pair(), &question.region, &question.settings);
    let solution = match state {
        None => solve(&pair, region, &property, settings, &mut host),
        Some(state) => resume(&pair, region, &property, settings, state, &mut host),
    };
    (solution, host.states)
}

/// Runs in legs of so many boxes until it is decided, or every open box is unresolved, or the limit of the question is reached.
fn in_legs(question: &Question, step: u64) -> Result<(Solution, usize), TestCaseError> {
    let (mut state, mut legs, limit) = (None::<Vec<u8>>, 0, question.settings.boxes);
    loop {
        legs += 1;
        let boxes = limit.min(step * legs);
        let leg = Question { settings: Settings { boxes, ..question.settings.clone() }, ..question.clone() };
        let (solution, mut states) = run(&leg, state.as_deref(), Duration::MAX);
        let solution = solution.unwrap();
        prop_assert!(solution.boxes >= boxes || solution.verdict != Verdict::Unknown(Reason::Boxes));
        if solution.verdict != Verdict::Unknown(Reason::Boxes) || boxes == limit {
            return Ok((solution, usize::try_from(legs).unwrap()));
        }
        // Every search that a limit ends leaves a state.
        prop_assert_eq!(states.len(), 1);
        state = states.pop();
    }
}

/// What does not depend on the order in which boxes are taken, if the whole box is proved. A box whose programs were under way when the search stopped
/// is bounded once more, so the number of boxes does.
fn tree(solution: &Solution) -> impl PartialEq + std::fmt::Debug + use<> {
    (solution.splits, solution.stages, solution.certified_fraction, solution.initial_bound.to_bits())
}

#[test]
fn a_proof_in_legs_is_the_same_tree() {
    let mut several = 0;
    let several = std::cell::RefCell::new(&mut several);
    for_all(600, (lines(), 1u64..3), |(mut question, step)| {
        question.solver = Solver::Silent;
        // A contraction or a program that every leg cuts short would never end.
        question.settings.contract = false;
        question.settings.lp = false;
        // Attacks start afresh in every leg, and may find one time what they miss the other.
        question.settings.attack = false;
        question.settings.memory = 1 << 30;
        let straight = run(&question, None, Duration::MAX).0.unwrap();
        let (legs, number) = in_legs(&question, step)?;
        match line::decide(&question.claim, &question.case) {
            Truth::Holds => prop_assert!(legs.verdict != Verdict::Different, "{legs:?}"),
            Truth::Fails => prop_assert!(legs.verdict != Verdict::Equivalent, "{legs:?}"),
            Truth::Close => return Ok(()),
        }
        prop_assert_eq!(legs.verdict, straight.verdict);
        // Whether any input meets a guard is asked with the limit of the last leg.
        prop_assert!(!legs.vacuous || straight.vacuous);
        if legs.verdict == Verdict::Equivalent {
            prop_assert_eq!(tree(&legs), tree(&straight));
            **several.borrow_mut() += usize::from(number > 1);
        }
        Ok(())
    });
    assert!(**several.borrow() > 5, "{}", several.borrow());
}

#[test]
fn what_is_proved_in_legs_holds_at_samples() {
    let pairs = || cases(1..=3, 1..=3, 1..=4, any_scale(), 40);
    for_all(500, (questions(pairs(), 60), 1u64..10), |(mut question, step)| {
        // Where unresolved boxes lie is kept only as long as there is memory.
        question.settings.memory = 1 << 30;
        let (solution, _) = in_legs(&question, step)?;
        let host = question.host();
        prop_assert!(solution.witness.as_ref().is_none_or(|x| host.refutes(x)));
        prop_assert!((0.0..=1.0).contains(&solution.certified_fraction));
        if solution.verdict == Verdict::Equivalent {
            prop_assert!(question.case.samples().iter().all(|x| !host.refutes(x)));
        }
        Ok(())
    });
}

#[test]
fn a_search_that_is_kept_on_the_way_goes_on_as_if_nothing_was() {
    let mut kept = 0;
    let kept = std::cell::RefCell::new(&mut kept);
    let shares = proptest::collection::vec(prop_oneof![Just(1.0), Just(-1.0), Just(0.5)], 9..=10);
    for_all(60, (lines(), shares, any::<bool>()), |(question, shares, wide)| {
        // Many inputs are contracted, which nodes with assumed signs come from.
        let mut question = if wide { spread(&question, &shares).contracting(150) } else { question };
        question.solver = Solver::Silent;
        question.settings.threads = 1;
        let straight = run(&question, None, Duration::MAX).0.unwrap();
        let (paused, states) = run(&question, None, Duration::ZERO);
        let paused = paused.unwrap();
        prop_assert_eq!(paused.verdict, straight.verdict);
        if paused.verdict == Verdict::Equivalent {
            prop_assert_eq!(tree(&paused), tree(&straight));
        }
        **kept.borrow_mut() += states.len();
        // From any of them, by any number of threads.
        if let Some(state) = states.get(states.len() / 2) {
            question.settings.threads = 3;
            let again = run(&question, Some(state), Duration::MAX).0.unwrap();
            let decided = |v| matches!(v, Verdict::Equivalent | Verdict::Different);
            prop_assert!(!decided(again.verdict) || !decided(straight.verdict) || again.verdict == straight.verdict);
            // What a contraction starts from is a hint and not saved.
            if again.verdict == Verdict::Equivalent && !wide {
                prop_assert_eq!(tree(&again), tree(&straight));
            }
        }
        Ok(())
    });
    assert!(**kept.borrow() > 20, "{}", kept.borrow());
}

#[test]
fn only_a_whole_state_of_the_same_question_is_taken() {
    let mut refused = 0;
    let refused = std::cell::RefCell::new(&mut refused);
    for_all(300, (lines(), any::<prop::sample::Index>(), 0u8..8), |(mut question, place, bit)| {
        question.settings.boxes = 1;
        let (_, states) = run(&question, None, Duration::MAX);
        let Some(state) = states.last() else { return Ok(()) };
        let taken = |question: &Question, state: &[u8]| {
            !matches!(run(question, Some(state), Duration::MAX).0, Err(Error::Saved(_)))
        };
        prop_assert!(taken(&question, state));
        let mut flipped = state.clone();
        flipped[place.index(state.len())] ^= 1 << bit;
        prop_assert!(!taken(&question, &flipped));
        prop_assert!(!taken(&question, &state[..place.index(state.len())]));
        prop_assert!(!taken(&question, &[state.as_slice(), &[0]].concat()));

        let mut other = question.clone();
        other.region.upper[0] = other.region.upper[0].next_up();
        prop_assert!(!taken(&other, state), "another region");
        let mut other = question.clone();
        other.case.layers[0][1].bias[0] = other.case.layers[0][1].bias[0].next_up();
        prop_assert!(!taken(&other, state), "other networks");
        let mut other = question.clone();
        other.case.layers[0][0].uncertain = None;
        prop_assert!(question.case.layers[0][0].uncertain.is_none() || !taken(&other, state), "other errors");
        let mut other = question.clone();
        other.claim = line::tightened(&question.claim, &question.case, 0.123);
        let same = format!("{:?}", other.claim) == format!("{:?}", question.claim);
        prop_assert!(same || !taken(&other, state), "another claim");
        let mut other = question.clone();
        other.settings.lp = !other.settings.lp;
        prop_assert!(!taken(&other, state), "other settings");
        let mut other = question.clone();
        other.settings.threads += 1;
        other.settings.boxes += 3;
        other.settings.memory = 0;
        prop_assert!(taken(&other, state), "another budget");
        **refused.borrow_mut() += 1;
        Ok(())
    });
    assert!(**refused.borrow() > 15, "{}", refused.borrow());
}
