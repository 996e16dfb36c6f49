//! Multipliers sought on the spot are the best there are: a point of the program meets their bound. Where guard and region
//! exclude each other, what is found shows it.

use crate::bounds::{domains, value, with_outputs};
use crate::certified::Question;
use crate::duals::certain;
use crate::random::{Case, any_scale, cases, for_all};
use crate::trace::Trace;
use eqspec::domain::output::GeneratorRow;
use eqspec::domain::{AbstractDomain, LinearFunctional, Output};
use eqspec::lp::certified::{Scratch, bound};
use eqspec::lp::dual::{DescentEnd, StoppingRule};
use eqspec::lp::{Dual, LinearProgram, Multipliers, RegionRow, program};
use eqspec::property::Violation;
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::RefCell;

/// How descents ended.
#[derive(Debug, Default)]
struct Ends {
    below: usize,
    least: usize,
    missed: usize,
    ray: usize,
    unfinished: usize,
}

/// The program of a question with its objective's centre.
fn written(question: &Question, output: &Output<'_>) -> (LinearProgram, GeneratorRow) {
    let violation = Violation::Linear { equivalents: vec![question.objective.clone()], strict: false };
    let mut row = GeneratorRow::default();
    let lp = program(output, Some(&question.guard), &question.region, std::iter::once(&violation), &mut row);
    output.row(question.objective.terms.iter().copied(), question.objective.constant, &mut row);
    (lp, row)
}

/// By how much a point misses a row, over the size of the row.
fn missed(lp: &LinearProgram, row: usize, point: &[f64]) -> f64 {
    let coefficients = &lp.matrix[row * lp.columns..(row + 1) * lp.columns];
    let terms = || coefficients.iter().zip(point).map(|(a, e)| a * e);
    let size = coefficients.iter().map(|a| a.abs()).sum::<f64>();
    let side = |v: f64| if v.is_finite() { v.abs() } else { 0.0 };
    let miss = (lp.lower[row] - terms().sum::<f64>()).max(terms().sum::<f64>() - lp.upper[row]).max(0.0);
    miss / (size + side(lp.lower[row]) + side(lp.upper[row]) + f64::MIN_POSITIVE)
}

/// Multipliers of any kind for a question.
fn some(question: &Question, outputs: usize, numbers: &[f64]) -> Multipliers {
    let positive = |from: usize, n: usize| numbers[from..from + n].iter().map(|v| v.max(0.0)).collect();
    Multipliers {
        guard: positive(0, question.guard.rows.len()),
        link: numbers[4..4 + outputs].to_vec(),
        region: positive(8, question.region.len()),
    }
}

/// A descent, from some multipliers or from none.
struct Descended<'a> {
    dual: Dual,
    question: Question,
    start: Option<Multipliers>,
    objective: GeneratorRow,
    lp: LinearProgram,
    end: DescentEnd,
    output: &'a Output<'a>,
}

/// Numbers for a constraint and multipliers, a margin, whether to start from multipliers, how far to go.
type Draw = (Vec<f64>, f64, bool, bool);

fn draws() -> impl Strategy<Value = Draw> {
    (vec(-2.0f64..2.0, 16), -2.0f64..1.0, any::<bool>(), any::<bool>())
}

impl<'a> Descended<'a> {
    fn new(output: &'a Output<'a>, (numbers, margin, warm, hurried): &Draw) -> Self {
        let mut question = Question::top1(output.outputs(), *margin);
        let generators = numbers[12..12 + output.inputs()].to_vec();
        question.region = vec![RegionRow { generators, slack: numbers[11] }];
        let (lp, objective) = written(&question, output);
        let (mut dual, mut row) = (Dual::default(), GeneratorRow::default());
        dual.set_box(output, &mut row);
        dual.set_guard(output, Some(&question.guard), &question.region, &mut row);
        let start = warm.then(|| some(&question, output.outputs(), numbers));
        let until = if *hurried { StoppingRule::Negative } else { StoppingRule::Optimum };
        let end = dual.descend(&objective, start.as_ref(), 400, until);
        dual.write(&mut question.multipliers);
        Self { dual, question, start, objective, lp, end, output }
    }

    /// The certified bound of these multipliers.
    fn bound(&self, objective: &LinearFunctional, multipliers: &Multipliers) -> f64 {
        let Question { guard, region, .. } = &self.question;
        bound(self.output, objective, Some(guard), region, multipliers, &mut Scratch::default())
    }

    /// What is found has the right signs, and what it proves holds.
    fn check_soundness(&self, traces: &[Trace]) -> Result<(), TestCaseError> {
        let (question, guards) = (&self.question, self.question.guard.rows.len());
        let upper = self.bound(&question.objective, &question.multipliers);
        let concerned = || traces.iter().filter(|t| question.concerns(t));
        prop_assert!(upper.is_nan() || question.multipliers.fit(guards, self.output.outputs(), 1));
        for trace in concerned().filter(|_| !upper.is_nan()) {
            prop_assert!(value(&question.objective, &trace.x, &trace.y) <= upper);
        }
        let mut ray = Multipliers::default();
        self.dual.write_ray(&mut ray);
        if self.end == DescentEnd::Unbounded && self.bound(&LinearFunctional::default(), &ray) < 0.0 {
            prop_assert!(concerned().next().is_none(), "guard and region hold at an input");
        }
        Ok(())
    }

    /// Nothing is better: a point of the program meets the bound, or no point satisfies its rows.
    fn check_quality(&self, ends: &mut Ends) -> Result<(), TestCaseError> {
        let upper = self.bound(&self.question.objective, &self.question.multipliers);
        let size = self.objective.generators.iter().map(|g| g.abs()).sum::<f64>() + self.objective.centre.abs();
        if let Some(before) = self.start.as_ref().map(|start| self.bound(&self.question.objective, start)) {
            prop_assert!(
                self.end == DescentEnd::Unbounded || upper <= before + 1e-9 * (1.0 + size + before.abs()),
                "{upper}, {before}"
            );
        }
        match self.end {
            DescentEnd::Negative => {
                ends.below += 1;
                prop_assert!(upper <= 1e-9 * (1.0 + size), "{upper} is not below zero");
            }
            DescentEnd::Optimum => {
                let (lp, mut point) = (&self.lp, Vec::new());
                self.dual.write_point(&mut point);
                prop_assert!(point.len() == lp.columns && point.iter().all(|e| e.abs() <= 1.0));
                let worst = (0..lp.lower.len()).map(|r| missed(lp, r, &point)).fold(0.0, f64::max);
                let terms = self.objective.generators.iter().zip(&point).map(|(c, e)| c * e);
                let there = self.objective.centre + terms.sum::<f64>();
                let meets = (upper - there).abs() <= 1e-6 * (1.0 + size + upper.abs());
                // In binary64 a few do not, where generators differ by many orders of magnitude.
                let count = if meets && worst <= 1e-6 { &mut ends.least } else { &mut ends.missed };
                *count += 1;
            }
            DescentEnd::Unbounded => {
                ends.ray += 1;
                let mut ray = Multipliers::default();
                self.dual.write_ray(&mut ray);
                let none = self.bound(&LinearFunctional::default(), &ray);
                prop_assert!(none < 1e-9, "a ray gives {none}");
            }
            DescentEnd::StepLimit => ends.unfinished += 1,
        }
        Ok(())
    }
}

#[test]
fn a_point_of_the_program_meets_the_best_bound() {
    let ends = RefCell::new(Ends::default());
    let check = |(case, domain, draw): (Case, AbstractDomain, Draw)| {
        with_outputs(&case, domain, |output, _, _| Descended::new(output, &draw).check_quality(&mut ends.borrow_mut()))
    };
    for_all(3000, (certain(2..=4, 1), domains(), draws()), check);
    let ends = ends.into_inner();
    assert!(ends.below > 200 && ends.least > 200 && ends.ray > 100, "{ends:?}");
    assert!(ends.unfinished < 30 && 50 * ends.missed < ends.least, "{ends:?}");
}

#[test]
fn what_a_descent_finds_is_sound_at_any_scale() {
    let pairs = cases(1..=3, 1..=4, 2..=4, any_scale(), 3);
    for_all(2000, (pairs, domains(), draws()), |(case, domain, draw)| {
        with_outputs(&case, domain, |output, _, traces| Descended::new(output, &draw).check_soundness(traces))
    });
}
