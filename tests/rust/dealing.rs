//! Searches that are dealt out in shares: the same verdicts in any order of answers, whatever is lost on the way, and no
//! answer that anything has changed.

use crate::claims::Solver;
use crate::line::{self, Truth};
use crate::random::{any_scale, cases, for_all};
use crate::resuming::{Keeping, run};
use crate::search::{Question, lines, questions};
use eqspec::error::Error;
use eqspec::search::{Ledger, Reason, ShareName, Solution, Verdict, work_on};
use eqspec::settings::Settings;
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// One move of whoever deals: with which share, and by how much.
#[derive(Debug, Clone)]
enum Move {
    Deal(usize),
    Work(prop::sample::Index, u64),
    Withdraw(prop::sample::Index),
    DealAgain(prop::sample::Index),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let place = any::<prop::sample::Index>;
    let one = prop_oneof![
        3 => (1usize..6).prop_map(Move::Deal),
        4 => (place(), 1u64..6).prop_map(|(place, boxes)| Move::Work(place, boxes)),
        1 => place().prop_map(Move::Withdraw),
        1 => place().prop_map(Move::DealAgain),
    ];
    prop::collection::vec(one, 0..40)
}

fn ledger(question: &Question, state: Option<&[u8]>) -> Ledger {
    let classes = question.case.layers.last().map_or(0, |l| l[0].bias.len());
    let property = question.claim.property(classes, question.settings.domain);
    Ledger::new(&question.case.pair(), question.region.clone(), property, &question.settings, state).unwrap()
}

/// Works on a share for so many boxes: the answer, or the witness that was found.
fn work(question: &Question, share: &[u8], boxes: u64) -> Result<(Solution, Option<Vec<u8>>), Error> {
    let classes = question.case.layers.last().map_or(0, |l| l[0].bias.len());
    let property = question.claim.property(classes, question.settings.domain);
    let settings = Settings { boxes, ..question.settings.clone() };
    let mut host = Keeping { host: question.host(), every: Duration::ZERO, states: Vec::new() };
    let solution = work_on(&question.case.pair(), &question.region, &property, &settings, share, &mut host)?;
    assert!(host.states.len() <= 1);
    Ok((solution, host.states.pop()))
}

/// Deals a whole search as the moves say, and what they leave in shares of one box.
fn dealt(question: &Question, state: Option<&[u8]>, moves: &[Move]) -> Result<Solution, TestCaseError> {
    let (mut ledger, mut out) = (ledger(question, state), Vec::<(ShareName, Vec<u8>)>::new());
    let answered = |ledger: &mut Ledger, (name, share): (ShareName, Vec<u8>), boxes| {
        let (solution, answer) = work(question, &share, boxes).unwrap();
        prop_assert_eq!(answer.is_none(), solution.verdict == Verdict::Different);
        if let Some(answer) = &answer {
            prop_assert_eq!(ledger.accept(answer), Ok(name));
            prop_assert!(ledger.accept(answer).is_err(), "the same answer again");
        }
        Ok(solution.witness.map(|witness| (witness, solution.boxes)))
    };
    for step in moves {
        match step {
            Move::Deal(boxes) => out.extend(ledger.deal(*boxes).unwrap()),
            _ if out.is_empty() => {}
            Move::Work(place, boxes) => {
                let share = out.swap_remove(place.index(out.len()));
                if let Some(witness) = answered(&mut ledger, share, *boxes)? {
                    return Ok(ledger.solution(None, Some(witness), Instant::now()).unwrap());
                }
            }
            Move::Withdraw(place) => ledger.withdraw(&out.swap_remove(place.index(out.len())).0).unwrap(),
            Move::DealAgain(place) => {
                let (name, share) = out.swap_remove(place.index(out.len()));
                out.push(ledger.deal_again(&name).unwrap());
                let (_, late) = work(question, &share, 2).unwrap();
                prop_assert!(late.is_none_or(|late| ledger.accept(&late).is_err()), "the answer came too late");
            }
        }
        if let Some(state) = ledger.state() {
            // Whoever goes on from here misses nothing, and has nothing proved that was not.
            let again = self::ledger(question, Some(&state));
            prop_assert_eq!(again.progress(0.0).certified, ledger.progress(0.0).certified);
            prop_assert_eq!(again.waiting() as u64, ledger.progress(0.0).open_boxes);
        }
    }
    for (name, _) in out {
        ledger.withdraw(&name).unwrap();
    }
    while let Some(share) = ledger.deal(3).unwrap() {
        if ledger.progress(0.0).boxes > 400 {
            return Ok(ledger.solution(Some(Reason::Boxes), None, Instant::now()).unwrap());
        }
        if let Some(witness) = answered(&mut ledger, share, 8)? {
            return Ok(ledger.solution(None, Some(witness), Instant::now()).unwrap());
        }
    }
    Ok(ledger.solution(None, None, Instant::now()).unwrap())
}

#[test]
fn a_search_that_is_dealt_out_is_never_wrong() {
    let decided = std::cell::Cell::new(0);
    for_all(200, (lines(), moves()), |(mut question, moves)| {
        question.solver = Solver::Silent;
        question.settings.memory = 1 << 30;
        // From the beginning, and from where a search stopped after a box.
        let opening = Question { settings: Settings { boxes: 1, ..question.settings.clone() }, ..question.clone() };
        let (begun, states) = run(&opening, None, Duration::MAX);
        let mut solutions = vec![dealt(&question, None, &moves)?];
        if let (Verdict::Unknown(_), Some(state)) = (begun.unwrap().verdict, states.last()) {
            solutions.push(dealt(&question, Some(state), &moves)?);
        }
        for solution in solutions {
            match line::decide(&question.claim, &question.case) {
                Truth::Holds => prop_assert!(solution.verdict != Verdict::Different, "{solution:?}"),
                Truth::Fails => prop_assert!(solution.verdict != Verdict::Equivalent, "{solution:?}"),
                Truth::Close => {}
            }
            decided.set(decided.get() + usize::from(!matches!(solution.verdict, Verdict::Unknown(_))));
        }
        Ok(())
    });
    assert!(decided.get() > 100, "{}", decided.get());
}

#[test]
fn what_is_proved_in_shares_holds_at_samples() {
    for_all(80, (questions(cases(1..=3, 1..=3, 1..=4, any_scale(), 40), 60), moves()), |(mut question, moves)| {
        question.settings.memory = 1 << 30;
        let solution = dealt(&question, None, &moves)?;
        let host = question.host();
        prop_assert!(solution.witness.as_ref().is_none_or(|x| host.refutes(x)));
        if solution.verdict == Verdict::Equivalent {
            prop_assert!(solution.certified_fraction == 1.0 && solution.open_boxes == 0);
            prop_assert!(question.case.samples().iter().all(|x| !host.refutes(x)));
        }
        Ok(())
    });
}

#[test]
fn a_changed_share_or_answer_is_refused() {
    let tried = std::cell::Cell::new(0);
    for_all(150, (lines(), any::<prop::sample::Index>(), 0u8..8), |(mut question, place, bit)| {
        question.settings.attack = false;
        let mut ledger = ledger(&question, None);
        let Some((_, share)) = ledger.deal(1).unwrap() else { return Ok(()) };
        let Ok((_, Some(answer))) = work(&question, &share, 1) else { return Ok(()) };
        let flipped = |bytes: &[u8]| {
            let mut flipped = bytes.to_vec();
            flipped[place.index(bytes.len())] ^= 1 << bit;
            flipped
        };
        let changes =
            |bytes: &[u8]| [flipped(bytes), bytes[..place.index(bytes.len())].to_vec(), [bytes, &[0]].concat()];
        for changed in changes(&share) {
            prop_assert!(matches!(work(&question, &changed, 1), Err(Error::Share(_))));
        }
        for changed in changes(&answer) {
            prop_assert!(matches!(ledger.accept(&changed), Err(Error::Share(_))));
        }
        let mut other = question.clone();
        other.region.upper[0] = other.region.upper[0].next_up();
        let mut elsewhere = self::ledger(&other, None);
        let (_, same) = elsewhere.deal(1).unwrap().unwrap();
        prop_assert!(matches!(elsewhere.accept(&answer), Err(Error::Share(_))), "of another question");
        prop_assert!(matches!(work(&question, &same, 1), Err(Error::Share(_))), "of another question");
        prop_assert!(ledger.accept(&answer).is_ok());
        tried.set(tried.get() + 1);
        Ok(())
    });
    assert!(tried.get() > 50, "{}", tried.get());
}
