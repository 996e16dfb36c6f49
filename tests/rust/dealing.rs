//! Searches that are dealt out in shares: the same verdicts in any order of answers, whatever is lost on the way, and no
//! answer that anything has changed. The same where they start from earlier proofs, of whatever question.

use crate::claims::{Replay, Solver};
use crate::line;
use crate::random::{any_scale, cases, for_all};
use crate::resuming::run;
use crate::search::{Question, lines, questions, spread};
use eqspec::error::Error;
use eqspec::lp::{Answer, LinearProgram};
use eqspec::search::hints::Hints;
use eqspec::search::{Host, Ledger, Progress, Reason, ShareName, Solution, Verdict, work_on};
use eqspec::settings::Settings;
use proptest::prelude::*;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// A host that keeps what came of a share, and what was done to it.
struct Working<'q> {
    host: Replay<'q>,
    answers: Vec<Vec<u8>>,
    trails: Vec<Vec<u8>>,
}

impl Host for Working<'_> {
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
        Some(Duration::ZERO)
    }
    fn keep_snapshot(&mut self, answer: Vec<u8>) {
        self.answers.push(answer);
    }
    fn wants_trail(&self) -> bool {
        true
    }
    fn keep_trail(&mut self, trail: Vec<u8>) {
        self.trails.push(trail);
    }
}

/// A trail that is put together of what was done to shares.
fn whole(parts: &[Vec<u8>]) -> Vec<u8> {
    let events = parts.iter().flat_map(|part| part.strip_suffix(b"Z").unwrap_or(part)).copied();
    events.chain(*b"Z").collect()
}

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
    warm(question, state, None)
}

fn warm(question: &Question, state: Option<&[u8]>, hints: Option<Hints>) -> Ledger {
    let classes = question.case.layers.last().map_or(0, |l| l[0].bias.len());
    let property = question.claim.property(classes, question.settings.domain);
    Ledger::new(&question.case.pair(), question.region.clone(), property, &question.settings, state, hints).unwrap()
}

/// Works on a share for so many boxes: the answer and what was done, or the witness that was found.
fn work(question: &Question, share: &[u8], boxes: u64) -> Result<(Solution, Option<(Vec<u8>, Vec<u8>)>), Error> {
    let classes = question.case.layers.last().map_or(0, |l| l[0].bias.len());
    let property = question.claim.property(classes, question.settings.domain);
    let settings = Settings { boxes, ..question.settings.clone() };
    let mut host = Working { host: question.host(), answers: Vec::new(), trails: Vec::new() };
    let solution = work_on(&question.case.pair(), &question.region, &property, &settings, share, &mut host)?;
    assert!(host.answers.len() <= 1 && host.trails.len() == host.answers.len());
    Ok((solution, host.answers.pop().zip(host.trails.pop())))
}

/// Deals a whole search as the moves say, and what they leave in shares of some boxes.
fn dealt(question: &Question, state: Option<&[u8]>, moves: &[Move]) -> Result<Solution, TestCaseError> {
    dealt_like(question, ledger(question, state), moves).map(|(solution, _)| solution)
}

/// The same with a ledger, and what was done.
fn dealt_like(question: &Question, mut ledger: Ledger, moves: &[Move]) -> Result<(Solution, Vec<u8>), TestCaseError> {
    let (mut out, mut trail) = (Vec::<(ShareName, Vec<u8>)>::new(), Vec::new());
    let mut answered = |ledger: &mut Ledger, (name, share): (ShareName, Vec<u8>), boxes| {
        let (solution, answer) = work(question, &share, boxes).unwrap();
        prop_assert_eq!(answer.is_none(), solution.verdict == Verdict::Different);
        if let Some((answer, part)) = answer {
            prop_assert_eq!(ledger.accept(&answer), Ok(name));
            prop_assert!(ledger.accept(&answer).is_err(), "the same answer again");
            trail.push(part);
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
                    return Ok((ledger.solution(None, Some(witness), Instant::now()).unwrap(), Vec::new()));
                }
            }
            Move::Withdraw(place) => ledger.withdraw(&out.swap_remove(place.index(out.len())).0).unwrap(),
            Move::DealAgain(place) => {
                let (name, share) = out.swap_remove(place.index(out.len()));
                out.push(ledger.deal_again(&name).unwrap());
                let (_, late) = work(question, &share, 2).unwrap();
                prop_assert!(late.is_none_or(|(late, _)| ledger.accept(&late).is_err()), "the answer came too late");
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
            return Ok((ledger.solution(Some(Reason::Boxes), None, Instant::now()).unwrap(), Vec::new()));
        }
        if let Some(witness) = answered(&mut ledger, share, 8)? {
            return Ok((ledger.solution(None, Some(witness), Instant::now()).unwrap(), Vec::new()));
        }
    }
    Ok((ledger.solution(None, None, Instant::now()).unwrap(), whole(&trail)))
}

#[test]
fn a_search_that_is_dealt_out_is_never_wrong() {
    let decided = Cell::new(0);
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
            prop_assert!(line::decide(&question.claim, &question.case).allows(solution.verdict), "{solution:?}");
            decided.set(decided.get() + usize::from(!matches!(solution.verdict, Verdict::Unknown(_))));
        }
        Ok(())
    });
    assert!(decided.get() > 100, "{}", decided.get());
}

/// From the trail of the question itself, of another one and of none, as it was left or damaged: no verdict is wrong,
/// and what the shares of a proof did together is the trail of a proof that is all taken up by the next one.
#[test]
fn no_trail_makes_a_search_that_is_dealt_out_wrong() {
    let (used, proofs) = (Cell::new(0), Cell::new(0));
    let shares = prop::collection::vec(prop_oneof![Just(1.0), Just(-1.0), Just(0.5), Just(0.25)], 9..=10);
    let damage = (any::<prop::sample::Index>(), any::<u8>());
    let given = (lines(), lines(), shares, damage, moves(), any::<bool>());
    for_all(200, given, |(question, other, shares, (place, byte), moves, contracts)| {
        let truth = line::decide(&question.claim, &question.case);
        let [question, other] = [question, other].map(|mut question| {
            question.solver = Solver::Silent;
            question.settings.memory = 1 << 30;
            if contracts { spread(&question, &shares).contracting(50) } else { question }
        });
        let mut trails = Vec::new();
        for one in [&question, &other] {
            let (solution, trail) = dealt_like(one, ledger(one, None), &moves)?;
            if solution.verdict == Verdict::Equivalent {
                prop_assert!(Hints::read(&trail).is_some(), "what was done is no trail");
                let mut damaged = trail.clone();
                damaged[place.index(trail.len())] = byte;
                trails.extend([trail, damaged]);
            }
        }
        for hints in trails.iter().filter_map(|trail| Hints::read(trail)) {
            let (solution, trail) = dealt_like(&question, warm(&question, None, Some(hints)), &moves)?;
            prop_assert!(truth.allows(solution.verdict), "{solution:?}");
            if solution.verdict == Verdict::Equivalent {
                prop_assert!(solution.certified_fraction == 1.0 && solution.open_boxes == 0);
                prop_assert!(Hints::read(&trail).is_some());
                proofs.set(proofs.get() + 1);
            }
            used.set(used.get() + solution.reused.map_or(0, |(taken_up, _)| taken_up));
        }
        Ok(())
    });
    assert!(proofs.get() > 50 && used.get() > 0, "{} {}", proofs.get(), used.get());
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
    let tried = Cell::new(0);
    for_all(150, (lines(), any::<prop::sample::Index>(), 0u8..8), |(mut question, place, bit)| {
        question.settings.attack = false;
        let mut ledger = warm(&question, None, Hints::read(b"Z"));
        let Some((_, share)) = ledger.deal(1).unwrap() else { return Ok(()) };
        let Ok((_, Some((answer, _)))) = work(&question, &share, 1) else { return Ok(()) };
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
