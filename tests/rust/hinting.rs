//! Searches that start from the trail of an earlier proof: whatever stands in it, no verdict is wrong.

use crate::claims::{Replay, Solver};
use crate::line::{self, Truth};
use crate::random::for_all;
use crate::search::{Question, lines, spread};
use eqspec::lp::{Answer, LinearProgram};
use eqspec::search::hints::Hints;
use eqspec::search::{Host, Progress, Solution, Verdict, solve_like};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::cell::Cell;

/// A host that wants the trail of a proof.
struct Trailing<'q> {
    host: Replay<'q>,
    trail: Option<Vec<u8>>,
    /// Whether it denies all witnesses.
    denies: bool,
}

impl Host for Trailing<'_> {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        self.host.answer(programs)
    }
    fn confirm(&mut self, input: &[f64]) -> bool {
        !self.denies && self.host.confirm(input)
    }
    fn progress(&mut self, progress: &Progress) -> bool {
        self.host.progress(progress)
    }
    fn wants_trail(&self) -> bool {
        true
    }
    fn keep_trail(&mut self, trail: Vec<u8>) {
        self.trail = Some(trail);
    }
}

/// Decides a question with hints or without, and keeps the trail of a proof.
fn ask(question: &Question, hints: Option<&Hints>) -> (Solution, Option<Vec<u8>>) {
    searched(question, hints, false)
}

/// The same, where all witnesses may be denied: what is false can only be proved then, or stay open.
fn searched(question: &Question, hints: Option<&Hints>, denies: bool) -> (Solution, Option<Vec<u8>>) {
    let classes = question.case.layers.last().map_or(0, |l| l[0].bias.len());
    let property = question.claim.property(classes, question.settings.domain);
    let mut host = Trailing { host: question.host(), trail: None, denies };
    let solution =
        solve_like(&question.case.pair(), &question.region, &property, &question.settings, hints, &mut host).unwrap();
    (solution, host.trail)
}

/// What is done to a trail: bytes are replaced, or it is cut off and ended.
type Damage = Vec<(Index, u8)>;

fn damaged(trail: &[u8], damage: &Damage) -> Vec<u8> {
    let mut bytes = trail.to_vec();
    for (place, value) in damage {
        let at = place.index(bytes.len());
        bytes[at] = *value;
    }
    bytes
}

fn damage() -> impl Strategy<Value = Damage> {
    vec((any::<Index>(), prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(0x7f), Just(0x80)]), 0..6)
}

/// A tree that nobody proved anything by: cuts anywhere, and logs of any bytes with any end.
fn invented() -> impl Strategy<Value = Vec<u8>> {
    let cut = prop_oneof![-2.0f64..2.0, Just(f64::NAN), Just(f64::INFINITY), Just(0.0)];
    let log = vec(prop_oneof![Just(0u8), Just(1), Just(2), Just(0xff), any::<u8>()], 0..120);
    let step = (0u8..6, any::<Index>(), 0u32..5, cut, log, any::<[u8; 17]>());
    vec(step, 0..30).prop_map(|steps| {
        let (mut bytes, mut labels, mut next) = (Vec::new(), vec![0u64], 1u64);
        for (kind, place, number, cut, log, split) in steps {
            let label = labels[place.index(labels.len())];
            let mut child = || {
                labels.push(next);
                next += 1;
                (next - 1).to_le_bytes()
            };
            bytes.push(if kind < 3 { b'C' } else { b'X' });
            bytes.extend(label.to_le_bytes());
            bytes.extend(number.to_le_bytes());
            if kind < 3 {
                bytes.extend(cut.to_le_bytes());
                bytes.extend([child(), child()].concat());
                bytes.extend(0u32.to_le_bytes());
                continue;
            }
            bytes.extend(u32::try_from(log.len()).unwrap().to_le_bytes());
            bytes.extend(log);
            match kind {
                3 => bytes.push(b'v'),
                4 => {
                    bytes.push(b'o');
                    bytes.extend(child());
                }
                _ => {
                    bytes.push(b's');
                    bytes.extend(split);
                    bytes.extend([child(), child()].concat());
                }
            }
        }
        bytes.push(b'Z');
        bytes
    })
}

/// The trails to try on a question: of another one and of itself, each as it is and damaged, and an invented one.
fn trails(question: &Question, other: &Question, damage: &Damage, invented: &[u8]) -> Vec<Vec<u8>> {
    let mut found = vec![invented.to_vec()];
    for (_, trail) in [ask(question, None), ask(other, None)] {
        found.extend(trail.iter().map(|trail| damaged(trail, damage)));
        found.extend(trail);
    }
    found
}

fn plain(mut question: Question) -> Question {
    question.settings.memory = 1 << 30;
    question.settings.zonotope_memory = usize::MAX;
    question.settings.threads = 1;
    question.solver = Solver::Silent;
    question
}

/// Tries trails on a question whose truth is known: how many could be read, and how many of their steps were taken up.
fn check(
    question: &Question,
    other: &Question,
    truth: Truth,
    damage: &Damage,
    invented: &[u8],
) -> Result<(usize, u64), TestCaseError> {
    let (mut read, mut used) = (0, 0);
    for trail in trails(question, other, damage, invented) {
        let Some(hints) = Hints::read(&trail) else { continue };
        let (solution, again) = ask(question, Some(&hints));
        prop_assert!(truth.allows(solution.verdict), "{solution:?}");
        if solution.verdict == Verdict::Equivalent {
            prop_assert!(solution.certified_fraction == 1.0 && solution.open_boxes == 0);
            prop_assert!(again.is_none_or(|trail| Hints::read(&trail).is_some()), "its own trail is none");
        }
        read += 1;
        used += solution.reused.map_or(0, |(taken_up, _)| taken_up);
    }
    Ok((read, used))
}

#[test]
fn no_trail_makes_a_verdict_wrong() {
    let (read, used) = (Cell::new(0), Cell::new(0));
    for_all(250, (lines(), lines(), damage(), invented()), |(question, other, damage, invented)| {
        let truth = line::decide(&question.claim, &question.case);
        let (a, b) = check(&plain(question), &plain(other), truth, &damage, &invented)?;
        read.set(read.get() + a);
        used.set(used.get() + b);
        Ok(())
    });
    assert!(read.get() > 400 && used.get() > 30, "{} {}", read.get(), used.get());
}

#[test]
fn no_trail_of_contractions_makes_a_verdict_wrong() {
    let (read, used) = (Cell::new(0), Cell::new(0));
    let shares = vec(prop_oneof![Just(1.0), Just(-1.0), Just(0.5), Just(0.25)], 9..=10);
    for_all(250, (lines(), lines(), shares, damage(), invented()), |(question, other, shares, damage, invented)| {
        let truth = line::decide(&question.claim, &question.case);
        let [question, other] = [question, other].map(|q| plain(spread(&q, &shares).contracting(50)));
        let (a, b) = check(&question, &other, truth, &damage, &invented)?;
        read.set(read.get() + a);
        used.set(used.get() + b);
        Ok(())
    });
    assert!(read.get() > 400 && used.get() > 5, "{} {}", read.get(), used.get());
}

/// What was proved by halving is proved again from its own trail: every part is bounded, and none is waited for that
/// nobody has.
#[test]
fn what_was_proved_is_proved_again_from_its_own_trail() {
    let used = Cell::new(0);
    for_all(250, lines(), |question| {
        let mut question = plain(question);
        // A box that was lost or invented would be waited for.
        question.settings.timeout = 60.0;
        let (first, trail) = ask(&question, None);
        let Some(hints) = trail.and_then(|trail| Hints::read(&trail)) else { return Ok(()) };
        prop_assert!(first.verdict == Verdict::Equivalent);
        let (again, _) = ask(&question, Some(&hints));
        prop_assert!(again.verdict == Verdict::Equivalent, "{again:?}");
        prop_assert!(again.certified_fraction == 1.0 && again.open_boxes == 0);
        used.set(used.get() + again.reused.map_or(0, |(taken_up, _)| taken_up));
        Ok(())
    });
    assert!(used.get() > 8, "{}", used.get());
}

/// A contraction that proves a claim with room is taken up on the same claim without, where the proof does not hold.
#[test]
fn what_was_proved_with_room_is_not_proved_without() {
    let proofs = Cell::new(0);
    let shares = vec(prop_oneof![Just(1.0), Just(-1.0), Just(0.5), Just(0.25)], 9..=10);
    let rooms = (prop_oneof![Just(1e-3), 1e-3f64..0.3], prop_oneof![Just(1e-3), 1e-3f64..0.3]);
    for_all(400, (lines(), shares, rooms), |(question, shares, (room, missing))| {
        let with =
            |room: f64| Question { claim: line::tightened(&question.claim, &question.case, room), ..question.clone() };
        let (easy, hard) = (with(room), with(-missing));
        if line::decide(&hard.claim, &hard.case) != Truth::Fails {
            return Ok(());
        }
        let [easy, hard] = [easy, hard].map(|q| plain(spread(&q, &shares).contracting(3)));
        let Some(hints) = ask(&easy, None).1.and_then(|trail| Hints::read(&trail)) else { return Ok(()) };
        let (solution, _) = searched(&hard, Some(&hints), true);
        prop_assert!(solution.verdict != Verdict::Equivalent, "{solution:?}");
        proofs.set(proofs.get() + usize::from(hints.contracts()));
        Ok(())
    });
    assert!(proofs.get() > 10, "{}", proofs.get());
}
