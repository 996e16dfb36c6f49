//! Verdicts: never wrong, whatever the settings and whatever the solver says; the same again in every way of running.

use crate::claims::{Claim, Replay, Solver, claims, inside};
use crate::line::{self, Truth};
use crate::random::{Case, Scale, any_scale, cases, for_all};
use eqspec::domain::AbstractDomain;
use eqspec::network::eval::{Evaluation, Evaluator};
use eqspec::property::{Certainty, Norm, Property};
use eqspec::search::{Constraint, Region, Solution, Verdict, solve};
use eqspec::settings::Settings;
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::RefCell;

/// A question for the search.
#[derive(Debug, Clone)]
pub struct Question {
    pub case: Case,
    pub claim: Claim,
    pub region: Region,
    pub settings: Settings,
    pub solver: Solver,
}

impl Question {
    pub fn host(&self) -> Replay<'_> {
        Replay::new(&self.case, &self.region, &self.claim, self.solver)
    }

    /// The same question with contraction, which many inputs and the default domain are for.
    pub fn contracting(mut self, boxes: u64) -> Self {
        self.settings = Settings { domain: AbstractDomain::Reduced, contract: true, boxes, ..self.settings };
        self
    }

    /// Searches; a witness must be a true one.
    fn ask(&self) -> Result<Solution, TestCaseError> {
        let mut host = self.host();
        let classes = self.case.layers.last().map_or(0, |l| l[0].bias.len());
        let property = self.claim.property(classes, self.settings.domain);
        let solution = solve(&self.case.pair(), &self.region, &property, &self.settings, &mut host).unwrap();
        prop_assert_eq!(solution.witness.is_some(), solution.verdict == Verdict::Different);
        prop_assert!(
            solution.witness.as_ref().is_none_or(|x| host.refutes(x)),
            "{:?} refutes nothing",
            solution.witness
        );
        prop_assert!((0.0..=1.0).contains(&solution.certified_fraction));
        if solution.verdict == Verdict::Equivalent && !property.obligations.is_empty() {
            prop_assert!(solution.certified_fraction == 1.0 && solution.open_boxes == 0, "{solution:?}");
        }
        let open = solution.open_sample.iter().map(|b| b.share).sum::<f64>();
        if matches!(solution.verdict, Verdict::Unknown(_)) {
            // A worker may have been at a box, which is then in nobody's hands.
            let known = usize::try_from(solution.open_boxes).unwrap().saturating_sub(self.settings.threads).min(512);
            prop_assert!(solution.open_sample.len() >= known, "{solution:?}");
            let missing = 1.0 - solution.certified_fraction;
            prop_assert!(solution.open_sample.is_empty() || (open - missing).abs() < 1e-9, "{open} in {solution:?}");
        } else {
            prop_assert!(solution.open_sample.is_empty());
        }
        for b in &solution.open_sample {
            let region = &self.region;
            let within =
                |i: usize| region.lower[i] <= b.lower[i] && b.lower[i] <= b.upper[i] && b.upper[i] <= region.upper[i];
            prop_assert!(b.share >= 0.0 && b.lower.len() == region.lower.len() && (0..b.lower.len()).all(within));
        }
        self.check_books(&solution, &property)?;
        Ok(solution)
    }

    /// The same question with as much memory as its zonotopes need: without them much stays undecided.
    fn with_zonotopes(mut self) -> Self {
        self.settings.zonotope_memory = usize::MAX;
        self
    }

    /// What was counted is consistent, and the bound on what is left open holds there.
    fn check_books(&self, solution: &Solution, property: &Property) -> Result<(), TestCaseError> {
        let profile = &solution.profile;
        prop_assert_eq!(profile.asked == 0, solution.lps == 0);
        prop_assert!(profile.asked <= solution.boxes && profile.contracted <= solution.boxes);
        prop_assert!(profile.obligations <= solution.boxes * property.obligations.len() as u64);
        let Some(open) = &solution.worst_open else { return Ok(()) };
        prop_assert!(solution.verdict != Verdict::Equivalent);
        let ends = |i: usize| (open.lower[i], open.upper[i]);
        for i in 0..self.case.inputs() {
            prop_assert!(self.region.lower[i] <= open.lower[i] && open.upper[i] <= self.region.upper[i]);
        }
        let (mut evaluator, mut outputs) = (Evaluator::default(), Evaluation::default());
        for share in [0.0, 0.5, 1.0] {
            let at = |i: usize| (1.0 - share) * ends(i).0 + share * ends(i).1;
            let x: Vec<f64> = (0..self.case.inputs()).map(at).collect();
            evaluator.at_with_error(&self.case.pair(), &x, &mut outputs);
            for obligation in open.obligations.iter().map(|&o| &property.obligations[o]) {
                let guarded = obligation.guard.is_none_or(|g| property.guards[g].met(&outputs, Certainty::Certain));
                let (violation, error) = obligation.violation.at(&outputs);
                if guarded && self.region.holds(&x) && violation.is_finite() {
                    prop_assert!(violation <= open.bound + error, "{violation} above {} on {open:?}", open.bound);
                }
            }
        }
        Ok(())
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let domain = prop_oneof![3 => Just(AbstractDomain::Reduced), 1 => Just(AbstractDomain::Published), 1 => Just(AbstractDomain::Independent)];
    let memory = prop_oneof![Just(2usize << 30), Just(0), Just(1000)];
    let zonotopes = prop_oneof![9 => Just(usize::MAX), 1 => Just(0), 1 => Just(2000)];
    let levers = (any::<[bool; 2]>(), 0usize..4, prop_oneof![3 => Just(0u8), 1 => 0u8..16]);
    (domain, (memory, zonotopes), 1usize..=4, levers).prop_map(
        |(domain, memory, threads, ([lp, dual], contract, without))| Settings {
            domain,
            memory: memory.0,
            zonotope_memory: memory.1,
            threads,
            lp,
            dual,
            contract: contract > 0,
            contract_above: if contract > 1 { 0 } else { 8 },
            boxes: 300,
            attack: without & 1 == 0,
            link: without & 2 == 0,
            entropy: without & 4 == 0,
            phases: without & 8 == 0,
            ..Settings::default()
        },
    )
}

fn solvers() -> impl Strategy<Value = Solver> {
    prop_oneof![Just(Solver::Silent), any::<u64>().prop_map(Solver::Mad)]
}

/// Constraints through the box, which some of its points satisfy.
fn constrained(case: &Case, constraints: Vec<(Vec<f64>, f64)>) -> Region {
    let constraint = |(mut coefficients, share): (Vec<f64>, f64)| {
        coefficients.truncate(case.inputs());
        let ends = coefficients.iter().zip(case.lower.iter().zip(&case.upper));
        let least: f64 = ends.clone().map(|(a, (l, u))| (a * l).min(a * u)).sum();
        let most: f64 = ends.map(|(a, (l, u))| (a * l).max(a * u)).sum();
        Constraint { coefficients, bound: least + share * (most - least) }
    };
    let constraints = constraints.into_iter().map(constraint).collect();
    Region::new(case.lower.clone(), case.upper.clone(), constraints).unwrap()
}

pub fn questions(pairs: impl Strategy<Value = Case>, boxes: u64) -> impl Strategy<Value = Question> {
    let constraints = vec((vec(-1.0f64..1.0, 12), 0.2f64..1.0), 0..3);
    let with_claim = pairs.prop_flat_map(|case| {
        let outputs = case.layers.last().map_or(0, |l| l[0].bias.len());
        (Just(case), claims(outputs))
    });
    (with_claim, constraints, settings(), solvers()).prop_map(move |((case, claim), constraints, settings, solver)| {
        let region = constrained(&case, constraints);
        Question { case, claim, region, settings: Settings { boxes, ..settings }, solver }
    })
}

/// Verdicts of a run, to see that none was missing.
#[derive(Debug, Default)]
struct Count {
    equivalent: usize,
    different: usize,
    unknown: usize,
    programs: usize,
    descents: u64,
    contractions: u64,
}

impl Count {
    fn add(&mut self, solution: &Solution) {
        match solution.verdict {
            Verdict::Equivalent => self.equivalent += 1,
            Verdict::Different => self.different += 1,
            Verdict::Unknown(_) => self.unknown += 1,
        }
        self.programs += usize::from(solution.lps > 0);
        self.descents += solution.stages.dual;
        self.contractions += solution.stages.contraction;
    }
}

/// No sampled input of the region refutes a claim that is called proved.
fn check_samples(question: &Question, count: &RefCell<Count>) -> Result<(), TestCaseError> {
    let solution = question.ask()?;
    count.borrow_mut().add(&solution);
    if solution.verdict == Verdict::Equivalent {
        let host = question.host();
        for x in question.case.samples() {
            prop_assert!(!host.refutes(&x), "{x:?} refutes what is called proved");
        }
    }
    Ok(())
}

#[test]
fn what_is_proved_holds_at_samples() {
    let count = RefCell::new(Count::default());
    let pairs = cases(1..=3, 1..=3, 1..=4, any_scale(), 40);
    for_all(1500, questions(pairs, 60), |question| check_samples(&question, &count));
    let count = count.into_inner();
    assert!(count.equivalent > 100 && count.different > 100 && count.unknown > 20, "{count:?}");
    assert!(count.programs > 10 && count.descents > 2, "{count:?}");
}

#[test]
fn what_is_proved_by_contraction_holds_at_samples() {
    let count = RefCell::new(Count::default());
    let pairs = cases(2..=3, 9..=10, 2..=3, Just(Scale::Plain), 40);
    for_all(300, questions(pairs, 30), |question| check_samples(&question.contracting(30), &count));
    let count = count.into_inner();
    assert!(count.equivalent > 50 && count.different > 50 && count.contractions >= 5, "{count:?}");
}

/// A pair with one input, of certain weights, and a claim whose truth is known.
pub fn lines() -> impl Strategy<Value = Question> {
    let pairs = cases(1..=3, 1..=1, 1..=3, prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)], 0);
    let certain = pairs.prop_map(|mut case| {
        case.layers.iter_mut().flatten().for_each(|w| w.uncertain = None);
        case
    });
    let room = prop_oneof![Just(None), prop_oneof![Just(0.01), Just(-0.01), -0.1f64..0.1].prop_map(Some)];
    (questions(certain, 5000), room).prop_map(|(mut question, room)| {
        question.region.constraints.clear();
        if let Some(room) = room {
            question.claim = line::tightened(&question.claim, &question.case, room);
        }
        question
    })
}

/// The same functions of a sum of many inputs: every input carries a share of the line.
pub fn spread(question: &Question, shares: &[f64]) -> Question {
    let mut wide = question.clone();
    let (l, u) = (question.case.lower[0], question.case.upper[0]);
    for weights in &mut wide.case.layers[0] {
        for row in &mut weights.weight {
            *row = shares.iter().map(|s| s * row[0]).collect();
        }
    }
    // Powers of two, so that the sum over the box is the line, up to one rounding of its ends.
    let total: f64 = shares.iter().map(|s| s.abs()).sum();
    let ends = |s: &f64| {
        if *s > 0.0 { (l / total, u / total) } else { (-u / total, -l / total) }
    };
    (wide.case.lower, wide.case.upper) = shares.iter().map(ends).unzip();
    wide.region = Region::new(wide.case.lower.clone(), wide.case.upper.clone(), Vec::new()).unwrap();
    wide
}

fn check_truth(question: &Question, truth: Truth, count: &RefCell<Count>) -> Result<(), TestCaseError> {
    let solution = question.ask()?;
    if truth != Truth::Close {
        count.borrow_mut().add(&solution);
    }
    match truth {
        Truth::Holds => prop_assert!(solution.verdict != Verdict::Different, "{solution:?}"),
        Truth::Fails => prop_assert!(solution.verdict != Verdict::Equivalent, "{solution:?}"),
        Truth::Close => {}
    }
    Ok(())
}

#[test]
fn verdicts_on_a_line_are_true_and_nearly_always_reached() {
    let count = RefCell::new(Count::default());
    for_all(1500, lines().prop_map(Question::with_zonotopes), |question| {
        check_truth(&question, line::decide(&question.claim, &question.case), &count)
    });
    let count = count.into_inner();
    assert!(count.equivalent > 200 && count.different > 200 && count.unknown <= 5, "{count:?}");
}

#[test]
fn verdicts_in_many_dimensions_are_those_on_the_line() {
    let count = RefCell::new(Count::default());
    let shares = vec(prop_oneof![Just(1.0), Just(-1.0), Just(0.5), Just(0.25)], 9..=10);
    for_all(500, (lines(), shares), |(question, shares)| {
        let truth = line::decide(&question.claim, &question.case);
        check_truth(&spread(&question, &shares).contracting(50), truth, &count)
    });
    let count = count.into_inner();
    assert!(count.equivalent > 100 && count.different > 100 && count.contractions >= 5, "{count:?}");
}

#[test]
fn every_way_of_running_gives_the_same_verdict() {
    for_all(150, lines(), |question| {
        if line::decide(&question.claim, &question.case) == Truth::Close {
            return Ok(());
        }
        let mut verdicts = Vec::new();
        for (threads, memory, lp) in [(1, 2 << 30, true), (1, 0, true), (2, 2 << 30, false), (4, 1000, true)] {
            let settings = Settings { threads, memory, lp, boxes: 5000, ..question.settings.clone() };
            let solution = Question { settings, ..question.clone() }.ask()?;
            verdicts.push(solution.verdict);
        }
        prop_assert!(verdicts.iter().all(|v| *v == verdicts[0]), "{verdicts:?}");
        Ok(())
    });
}

#[test]
fn one_thread_repeats_itself() {
    let pairs = cases(1..=3, 1..=3, 1..=4, any_scale(), 0);
    for_all(200, questions(pairs, 200), |mut question| {
        question.settings.threads = 1;
        let run = || {
            let mut solution = question.ask()?;
            solution.seconds = 0.0;
            solution.profile.forget_times();
            Ok::<_, TestCaseError>(format!("{solution:?}"))
        };
        prop_assert_eq!(run()?, run()?);
        Ok(())
    });
}

/// f2 = f1 + shift on the last layer, without any rounding.
fn shifted() -> impl Strategy<Value = (Question, Vec<f64>)> {
    let pairs = cases(1..=3, 1..=3, 1..=3, Just(Scale::Quarters), 0);
    let shift = prop_oneof![Just(0.0), Just(0.25), Just(-0.5), Just(1.0)];
    (questions(pairs, 500), vec(shift, 3)).prop_map(|(mut question, shift)| {
        question.settings.domain = AbstractDomain::Reduced;
        question.region.constraints.clear();
        let last = question.case.layers.len() - 1;
        for (l, [first, second]) in question.case.layers.iter_mut().enumerate() {
            first.uncertain = None;
            second.clone_from(first);
            if l == last {
                second.bias.iter_mut().zip(&shift).for_each(|(b, s)| *b += s);
            }
        }
        (question, shift)
    })
}

#[test]
fn a_shift_of_the_outputs_is_measured_in_every_norm() {
    for_all(300, shifted(), |(question, shift)| {
        let mut question = question.with_zonotopes();
        let outputs: Vec<usize> = (0..question.case.layers.last().unwrap()[0].bias.len()).collect();
        let sizes = || outputs.iter().map(|&o| shift[o].abs());
        for norm in [Norm::Max, Norm::Sum, Norm::Euclid] {
            let length = match norm {
                Norm::Max => sizes().fold(0.0, f64::max),
                Norm::Sum => sizes().sum(),
                Norm::Euclid => sizes().map(|s| s * s).sum::<f64>().sqrt(),
            };
            for (eps, expected) in [(length + 1e-9, Verdict::Equivalent), (length - 1e-9, Verdict::Different)] {
                question.claim = Claim::Epsilon { eps, norm, outputs: outputs.clone() };
                if eps >= 0.0 {
                    let solution = question.ask()?;
                    prop_assert_eq!(solution.verdict, expected, "{:?} {:?}", norm, solution);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn strict_and_weak_inequalities_differ_exactly_at_the_bound() {
    for_all(300, (shifted(), 0usize..3), |((question, shift), o)| {
        let mut question = question.with_zonotopes();
        let outputs = question.case.layers.last().unwrap()[0].bias.len();
        let o = o % outputs;
        let unit = |sign: f64| (0..outputs).map(|i| if i == o { sign } else { 0.0 }).collect::<Vec<_>>();
        let mut verdict = |bound: f64, strict: bool| {
            question.claim = Claim::Linear { candidate: unit(1.0), reference: unit(-1.0), bound, strict };
            question.ask().map(|s| s.verdict)
        };
        // At the bound itself one of the two is violated everywhere and the other nowhere; outward rounding may leave
        // either open.
        prop_assert_ne!(verdict(shift[o], true)?, Verdict::Equivalent);
        prop_assert_ne!(verdict(shift[o], false)?, Verdict::Different);
        prop_assert_eq!(verdict(shift[o] + 1e-9, true)?, Verdict::Equivalent);
        prop_assert_eq!(verdict(shift[o] - 1e-9, false)?, Verdict::Different);
        Ok(())
    });
}

#[test]
fn a_point_is_decided_by_evaluating_it() {
    let count = RefCell::new(Count::default());
    let pairs = cases(1..=3, 1..=3, 1..=3, any_scale(), 1).prop_map(|mut case| {
        case.upper.clone_from(&case.lower);
        case.layers.iter_mut().flatten().for_each(|w| w.uncertain = None);
        case
    });
    for_all(500, questions(pairs, 100).prop_map(Question::with_zonotopes), |question| {
        let solution = question.ask()?;
        count.borrow_mut().add(&solution);
        let x = &question.case.lower;
        let violated = question.host().refutes(x);
        prop_assert!(!violated || solution.verdict != Verdict::Equivalent);
        prop_assert!(violated || solution.verdict != Verdict::Different);
        prop_assert!(solution.boxes <= 1 && (inside(&question.region, x) || !violated), "{solution:?}");
        Ok(())
    });
    let count = count.into_inner();
    assert!(count.equivalent > 100 && count.different > 50 && count.unknown < 100, "{count:?}");
}

#[test]
fn numbers_that_overflow_prove_nothing() {
    let count = RefCell::new(Count::default());
    let pairs = cases(2..=3, 1..=2, 1..=3, Just(Scale::Large), 20);
    for_all(300, questions(pairs, 20), |question| check_samples(&question, &count));
    let count = count.into_inner();
    assert!(count.unknown > 30, "{count:?}");
}

#[test]
fn equal_networks_are_equivalent_to_the_smallest_allowance() {
    for_all(200, shifted(), |(mut question, _)| {
        let last = question.case.layers.len() - 1;
        let [first, second] = &mut question.case.layers[last];
        second.clone_from(first);
        let outputs: Vec<usize> = (0..first.bias.len()).collect();
        let claims =
            [Claim::Epsilon { eps: 1e-12, norm: Norm::Max, outputs: outputs.clone() }, Claim::Top1 { margin: 1e-9 }];
        for claim in claims {
            question.claim = claim;
            let solution = question.ask()?;
            prop_assert!(solution.verdict != Verdict::Different);
            if matches!(question.claim, Claim::Epsilon { .. }) {
                prop_assert_eq!((solution.verdict, solution.boxes), (Verdict::Equivalent, 1));
            }
        }
        Ok(())
    });
}
