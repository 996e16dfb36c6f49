//! Multipliers of any origin give a true bound: right, wrong, absurd and broken ones. And the right ones give a good
//! one.

use crate::bounds::{domains, value, with_outputs};
use crate::exact::{Exact, dot, exact};
use crate::random::{Case, Scale, any_scale, cases, for_all};
use crate::trace::Trace;
use eqspec::domain::{AbstractDomain, LinearFunctional, Output, Quantity};
use eqspec::lp::certified::{Scratch, bound};
use eqspec::lp::{Multipliers, RegionRow};
use eqspec::property::{Guard, Obligation, Violation, top1};
use proptest::collection::vec;
use proptest::prelude::*;

/// Numbers for multipliers: good, huge, cancelling, negative where that is not allowed, and no numbers at all.
fn multiplier() -> impl Strategy<Value = f64> {
    let plain = prop_oneof![Just(0.0), Just(1.0), 0.0f64..4.0, -4.0f64..4.0, 0.0f64..1e-6];
    let absurd = prop_oneof![Just(1e16), Just(-1e16), Just(3e8), Just(1e300)];
    let broken = prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY)];
    prop_oneof![30 => plain, 6 => absurd, 1 => broken]
}

/// Raw material of one bound: what it uses of this depends on the sizes of the case.
#[derive(Debug, Clone)]
struct Draw {
    objective: Vec<(usize, usize, f64)>,
    /// Terms of each guard row.
    guard: Vec<Vec<(usize, f64)>>,
    /// Coefficients of each constraint of the region.
    region: Vec<Vec<f64>>,
    multipliers: Vec<f64>,
    /// Sets nu so that f1 and f2 nearly vanish from the functional, and the constant so that it nearly vanishes.
    cancel: bool,
}

fn draws(multiplier: impl Strategy<Value = f64>) -> impl Strategy<Value = Draw> {
    let coefficient = || prop_oneof![Just(1.0), Just(-1.0), Just(0.1), Just(-0.3), -2.0f64..2.0];
    let objective = vec((0usize..3, 0usize..12, coefficient()), 0..7);
    let guard = vec(vec((0usize..12, coefficient()), 0..4), 0..4);
    let region = vec(vec(coefficient(), 4), 0..3);
    (objective, guard, region, vec(multiplier, 12), any::<bool>()).prop_map(
        |(objective, guard, region, multipliers, cancel)| Draw { objective, guard, region, multipliers, cancel },
    )
}

/// What a bound is asked for.
pub struct Question {
    pub objective: LinearFunctional,
    pub guard: Guard,
    pub region: Vec<RegionRow>,
    pub multipliers: Multipliers,
}

impl Question {
    /// The first violation of a Top-1 claim under its guard, without multipliers.
    pub fn top1(classes: usize, margin: f64) -> Self {
        let property = top1::property(classes, margin, None);
        let Obligation { guard: Some(g), violation: Violation::Linear { equivalents, .. } } = &property.obligations[0]
        else {
            panic!("obligations of Top-1 claims are functionals with guards")
        };
        Self {
            objective: equivalents[0].clone(),
            guard: property.guards[*g].clone(),
            region: Vec::new(),
            multipliers: Multipliers::default(),
        }
    }

    /// A question whose guard and region hold at `anchor`, as tightly as binary64 allows.
    fn new(draw: &Draw, anchor: &Trace) -> Self {
        let outputs = anchor.x.len();
        let forms = [Quantity::First, Quantity::Second, Quantity::Difference];
        let objective = draw.objective.iter().map(|&(f, o, c)| (forms[f], o % outputs, c)).collect();
        let guard_row = |terms: &Vec<(usize, f64)>| {
            let terms = terms.iter().map(|&(o, c)| (Quantity::First, o % outputs, c)).collect();
            let mut row = LinearFunctional { terms, constant: 0.0 };
            row.constant = (-&value(&row, &anchor.x, &anchor.y)).upward();
            row
        };
        let region_row = |coefficients: &Vec<f64>| {
            let generators: Vec<f64> = coefficients.iter().copied().take(anchor.values.e.len()).collect();
            let slack = dot(&generators.iter().map(|&g| exact(g)).collect::<Vec<_>>(), &anchor.values.e).upward();
            RegionRow { generators, slack }
        };
        let mut question = Self {
            objective: LinearFunctional { terms: objective, constant: draw.objective.first().map_or(0.0, |t| t.2) },
            guard: Guard { class: 0, rows: draw.guard.iter().map(guard_row).collect(), confidence: None },
            region: draw.region.iter().map(region_row).collect(),
            multipliers: Multipliers::default(),
        };
        let (rows, constraints) = (question.guard.rows.len(), question.region.len());
        let lam: Vec<f64> = draw.multipliers[..rows].to_vec();
        let mut nu = draw.multipliers[4..4 + outputs].to_vec();
        if draw.cancel {
            for (o, nu) in nu.iter_mut().enumerate() {
                let share = |(row, lam): (&LinearFunctional, &f64)| {
                    row.terms.iter().filter(|t| t.1 == o && *lam > 0.0).map(|t| -lam * t.2).sum::<f64>()
                };
                *nu = question.guard.rows.iter().zip(&lam).map(share).sum();
            }
            let constants = question.guard.rows.iter().zip(&lam).filter(|(_, l)| **l > 0.0);
            question.objective.constant = -constants.map(|(row, l)| l * row.constant).sum::<f64>();
            if !question.objective.constant.is_finite() {
                question.objective.constant = 0.0;
            }
        }
        let region = draw.multipliers[9..9 + constraints].to_vec();
        question.multipliers = Multipliers { guard: lam, link: nu, region };
        question
    }

    pub fn bound(&self, output: &Output<'_>) -> f64 {
        let mut scratch = Scratch::default();
        bound(output, &self.objective, Some(&self.guard), &self.region, &self.multipliers, &mut scratch)
    }

    /// Whether guard and region hold at a point.
    pub fn concerns(&self, trace: &Trace) -> bool {
        let inside = |r: &RegionRow| {
            let left: Exact = r.generators.iter().zip(&trace.values.e).map(|(&g, e)| e * g).sum();
            left <= r.slack
        };
        let met = |row: &LinearFunctional| value(row, &trace.x, &trace.y) >= 0.0;
        self.region.iter().all(inside) && self.guard.rows.iter().all(met)
    }
}

fn check_soundness(case: &Case, domain: AbstractDomain, draws: &[Draw]) -> Result<(), TestCaseError> {
    with_outputs(case, domain, |output, _, traces| {
        for draw in draws {
            let question = Question::new(draw, &traces[0]);
            prop_assert!(question.concerns(&traces[0]));
            let upper = question.bound(output);
            for trace in traces.iter().filter(|t| !upper.is_nan() && question.concerns(t)) {
                let violation = value(&question.objective, &trace.x, &trace.y);
                let (Question { objective, guard, region, multipliers }, e) = (&question, &trace.values.e);
                prop_assert!(
                    violation <= upper,
                    "{violation:?} is above {upper:e}: {objective:?}, {guard:?}, {region:?}, {multipliers:?}, e = {e:?}"
                );
            }
        }
        Ok(())
    })
}

#[test]
fn any_multipliers_give_a_bound() {
    let pairs = cases(1..=3, 1..=4, 1..=4, any_scale(), 3);
    for_all(3000, (pairs, domains(), vec(draws(multiplier()), 4)), |(case, domain, draws)| {
        check_soundness(&case, domain, &draws)
    });
}

/// Pairs of constant outputs without any error: what remains is the arithmetic of the bound itself.
fn constants() -> impl Strategy<Value = Case> {
    let scale = prop_oneof![Just(Scale::Plain), Just(Scale::Mixed)];
    constants_of(scale)
}

fn constants_of(scale: impl Strategy<Value = Scale> + Clone + 'static) -> impl Strategy<Value = Case> {
    cases(1..=1, 1..=2, 1..=3, scale, 1).prop_map(|mut case| {
        for weights in case.layers.iter_mut().flatten() {
            weights.uncertain = None;
            weights.weight.iter_mut().flatten().for_each(|w| *w = 0.0);
        }
        case
    })
}

#[test]
fn the_bound_pays_for_its_own_rounding() {
    let questions = (constants(), domains(), vec(draws(multiplier()), 8));
    for_all(6000, questions, |(case, domain, draws)| check_soundness(&case, domain, &draws));
}

#[test]
fn multipliers_that_underflow_give_a_bound() {
    let tiny = prop_oneof![Just(0.0), Just(1e-320), Just(-1e-320), Just(5e-324), Just(1e-310)];
    let questions = (constants(), domains(), vec(draws(tiny), 8));
    for_all(3000, questions, |(case, domain, draws)| check_soundness(&case, domain, &draws));
}

#[test]
#[ignore = "coefficients that underflow to nothing are not paid for where outputs are huge"]
fn multipliers_that_underflow_give_a_bound_of_huge_outputs() {
    let tiny = prop_oneof![Just(0.0), Just(1e-320), Just(-1e-320), Just(5e-324), Just(1e-310)];
    let questions = (constants_of(Just(Scale::Large)), domains(), vec(draws(tiny), 8));
    for_all(1000, questions, |(case, domain, draws)| check_soundness(&case, domain, &draws));
}

/// At the corner where the functional is largest nothing but rounding separates it from its bound.
#[test]
fn the_bound_pays_for_the_rounding_of_constraints() {
    let pairs = cases(1..=1, 1..=2, 1..=2, Just(Scale::Quarters), 1);
    for_all(6000, (pairs, domains(), vec(draws(multiplier()), 8)), |(mut case, domain, draws)| {
        case.layers.iter_mut().flatten().for_each(|w| w.uncertain = None);
        case.points[0].iter_mut().for_each(|e| *e = if *e > 0.0 { 1.0 } else { -1.0 });
        check_soundness(&case, domain, &draws)
    });
}

#[test]
fn multipliers_that_are_no_numbers_prove_nothing() {
    let pairs = cases(1..=3, 1..=4, 2..=4, Just(Scale::Plain), 1);
    let broken = prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY)];
    for_all(1500, (pairs, domains(), vec(broken, 12)), |(case, domain, broken)| {
        with_outputs(&case, domain, |output, _, _| {
            let outputs = output.outputs();
            let mut question = Question::top1(outputs, 0.0);
            let (guard, link) = (broken[..outputs - 1].to_vec(), broken[4..4 + outputs].to_vec());
            question.multipliers = Multipliers { guard, link, region: Vec::new() };
            let upper = question.bound(output);
            let violation = Violation::Linear { equivalents: vec![question.objective.clone()], strict: false };
            prop_assert!(!violation.excluded_by(upper), "{:?} give {upper:e}", question.multipliers);
            prop_assert!(Multipliers::from_duals(&broken, outputs - 1, outputs).is_none());
            Ok(())
        })
    });
}
