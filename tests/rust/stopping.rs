//! Searches that run out of time in the midst of a box, or while programs are under way: every box is in the answer.
//!
//! The host waits for the end of the time before it answers, so that a leg ends where it is meant to on any machine.

use crate::claims::{Claim, Replay, Solver};
use crate::random::{Scale, cases, for_all};
use crate::search::{Question, lines, questions, spread};
use eqspec::domain::AbstractDomain;
use eqspec::lp::{Answer, LinearProgram};
use eqspec::search::{Host, Ledger, Progress, Reason, Verdict, work_on};
use eqspec::settings::Settings;
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Seconds of a leg that the host lets run out.
const SECONDS: f64 = 0.1;

/// Boxes whose programs travel together (rust/src/search/worker.rs).
const BATCH: usize = 8;

/// What a host answers late.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Late {
    /// Programs of a whole batch of boxes, while the worker goes on with others.
    Programs,
    /// A candidate, in the midst of a box, which it refuses.
    Candidate,
}

struct Slow<'q> {
    host: Replay<'q>,
    late: Option<Late>,
    end: Instant,
    waited: bool,
    answers: Vec<Vec<u8>>,
}

impl Slow<'_> {
    fn wait(&mut self) {
        self.waited = true;
        std::thread::sleep(self.end.saturating_duration_since(Instant::now()));
    }
}

impl Host for Slow<'_> {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        if self.late == Some(Late::Programs) && programs.len() >= BATCH {
            self.wait();
        }
        self.host.answer(programs)
    }
    fn confirm(&mut self, input: &[f64]) -> bool {
        match self.late {
            Some(Late::Candidate) => self.wait(),
            Some(Late::Programs) => {}
            None => return self.host.confirm(input),
        }
        false
    }
    fn progress(&mut self, progress: &Progress) -> bool {
        self.host.progress(progress)
    }
    fn snapshot_interval(&self) -> Option<Duration> {
        Some(Duration::MAX)
    }
    fn keep_snapshot(&mut self, answer: Vec<u8>) {
        self.answers.push(answer);
    }
}

/// Three legs that are stopped late, one after the other, of a whole search that is dealt out and then ended by an
/// honest host. Every answer must be taken, with which all boxes add up. Says whether a leg was stopped late.
fn in_late_legs(question: &Question, late: Late) -> Result<bool, TestCaseError> {
    let classes = question.case.layers.last().map_or(0, |l| l[0].bias.len());
    let property = question.claim.property(classes, question.settings.domain);
    let (pair, region, settings) = (question.case.pair(), &question.region, &question.settings);
    let mut ledger = Ledger::new(&pair, region.clone(), property.clone(), settings, None, None).unwrap();
    let mut stopped = false;
    for leg in 0..6 {
        let late = (leg < 3).then_some(late);
        let Some((name, share)) = ledger.deal(usize::MAX).unwrap() else { break };
        let timeout = if late.is_some() { SECONDS } else { f64::INFINITY };
        let settings = Settings { timeout, boxes: 100, ..settings.clone() };
        let end = Instant::now() + Duration::from_secs_f64(1.1 * SECONDS);
        let mut host = Slow { host: question.host(), late, end, waited: false, answers: Vec::new() };
        let solution = work_on(&pair, region, &property, &settings, &share, &mut host).unwrap();
        if solution.verdict == Verdict::Different {
            return Ok(stopped);
        }
        stopped |= host.waited && solution.verdict == Verdict::Unknown(Reason::Timeout);
        prop_assert_eq!(host.answers.len(), 1);
        prop_assert_eq!(ledger.accept(&host.answers[0]), Ok(name));
    }
    let solution = ledger.solution(None, None, Instant::now()).unwrap();
    if solution.verdict == Verdict::Equivalent {
        let host = question.host();
        prop_assert!(question.case.samples().iter().all(|x| !host.refutes(x)));
    }
    Ok(stopped)
}

#[test]
fn no_box_is_lost_whose_programs_are_under_way() {
    let stopped = Cell::new(0);
    let claims = prop_oneof![Just(Claim::Top1 { margin: 0.0 }), Just(Claim::Confidence { delta: 0.5 })];
    let guarded = questions(cases(2..=3, 3..=3, 3..=4, Just(Scale::Plain), 20), 1000);
    for_all(8, (guarded, claims, 1usize..=2), |(mut question, claim, threads)| {
        question.claim = claim;
        question.solver = Solver::Silent;
        question.settings = Settings {
            domain: AbstractDomain::Reduced,
            threads,
            dual: false,
            contract: false,
            attack: false,
            ..Settings::default()
        };
        stopped.set(stopped.get() + usize::from(in_late_legs(&question, Late::Programs)?));
        Ok(())
    });
    assert!(stopped.get() >= 3, "{}", stopped.get());
}

#[test]
fn no_box_is_lost_that_could_not_be_looked_at_to_its_end() {
    let stopped = Cell::new(0);
    let shares = vec(prop_oneof![Just(1.0), Just(-1.0), Just(0.5)], 9..=10);
    for_all(12, (lines(), shares, 1usize..=2), |(question, shares, threads)| {
        let mut question = spread(&question, &shares);
        question.solver = Solver::Silent;
        // Every box is contracted, and where a look ahead is cut short nothing says where to halve.
        question.settings = Settings { threads, contract_above: 0, attack: false, ..Settings::default() };
        stopped.set(stopped.get() + usize::from(in_late_legs(&question, Late::Candidate)?));
        Ok(())
    });
    assert!(stopped.get() >= 3, "{}", stopped.get());
}
