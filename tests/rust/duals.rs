//! Good multipliers give good bounds: those of a program's dual solution mean what the program means, and the best ones
//! reach its optimum.

use crate::bounds::{domains, value, with_outputs};
use crate::certified::Question;
use crate::random::{Case, Scale, cases, for_all};
use eqspec::domain::AbstractDomain;
use eqspec::domain::output::GeneratorRow;
use eqspec::lp::{LinearProgram, Multipliers, RegionRow, program};
use eqspec::property::Violation;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

/// Pairs whose weights are exactly those stored.
pub fn certain(outputs: std::ops::RangeInclusive<usize>, samples: usize) -> impl Strategy<Value = Case> {
    cases(1..=3, 1..=4, outputs, Just(Scale::Plain), samples).prop_map(|mut case| {
        case.layers.iter_mut().flatten().for_each(|w| w.uncertain = None);
        case
    })
}

#[test]
fn duals_that_are_too_few_are_no_multipliers() {
    assert_eq!(Multipliers::from_duals(&[0.0; 6], 3, 4), None);
    let expected = Multipliers { guard: vec![2.0, 0.0], link: vec![3.0], region: vec![0.0, 5.0] };
    assert_eq!(Multipliers::from_duals(&[-2.0, 1.0, -3.0, -4.0, 5.0], 2, 1), Some(expected));
}

/// ||c - M^T y||_1 + sum max(y lower, y upper), as a program's dual is defined.
fn dual_value(lp: &LinearProgram, y: &[f64]) -> f64 {
    let column = |j: usize| y.iter().enumerate().map(|(r, v)| v * lp.matrix[r * lp.columns + j]).sum::<f64>();
    let rest: f64 = (0..lp.columns).map(|j| (lp.objectives[j] - column(j)).abs()).sum();
    let side = |(v, (l, u)): (&f64, (&f64, &f64))| match *v {
        0.0 => 0.0,
        v if v > 0.0 => v * u,
        v => v * l,
    };
    rest + y.iter().zip(lp.lower.iter().zip(&lp.upper)).map(side).sum::<f64>()
}

/// Duals with the signs their rows allow: guards are bounded below, links on both sides, the region above.
fn check_duals(case: &Case, domain: AbstractDomain, y: &[f64], margin: f64) -> Result<(), TestCaseError> {
    with_outputs(case, domain, |output, _, traces| {
        let outputs = output.outputs();
        let mut question = Question::top1(outputs, margin);
        let (generators, slack) = (y[..output.inputs()].to_vec(), y[11]);
        question.region = vec![RegionRow { generators, slack }];
        let violation = Violation::Linear { equivalents: vec![question.objective.clone()], strict: false };
        let mut row = GeneratorRow::default();
        let lp = program(output, Some(&question.guard), &question.region, [&violation].into_iter(), &mut row);
        let rows = 2 * outputs;
        prop_assert_eq!((lp.lower.len(), lp.upper.len(), lp.matrix.len()), (rows, rows, rows * lp.columns));
        let signed = |(r, v): (usize, &f64)| match r {
            r if r < outputs - 1 => -v.abs(),
            r if r < rows - 1 => *v,
            _ => v.abs(),
        };
        let y: Vec<f64> = y[..rows].iter().enumerate().map(signed).collect();
        question.multipliers = Multipliers::from_duals(&y, outputs - 1, outputs).unwrap();
        let upper = question.bound(output);
        output.row(question.objective.terms.iter().copied(), 0.0, &mut row);
        let expected = row.centre + dual_value(&lp, &y);
        let sizes = row.generators.iter().chain(&lp.matrix).map(|v| v.abs()).sum::<f64>() + expected.abs();
        let close = (upper - expected).abs() <= 1e-9 * (1.0 + sizes);
        prop_assert!(close, "{upper}, by the program's dual {expected}");
        for trace in traces.iter().filter(|t| question.concerns(t)) {
            prop_assert!(value(&question.objective, &trace.x, &trace.y) <= upper);
        }
        Ok(())
    })
}

#[test]
fn a_programs_duals_are_the_multipliers_of_the_bound() {
    let numbers = (vec(-2.0f64..2.0, 12), -1.0f64..1.0);
    for_all(1500, (certain(2..=4, 3), domains(), numbers), |(case, domain, (y, margin))| {
        check_duals(&case, domain, &y, margin)
    });
}

/// max c . e subject to r . e <= s, |e| <= 1, by filling up in order of price; `None` if there is no such e.
fn best(c: &[f64], r: &[f64], s: f64) -> Option<f64> {
    let gain = |c: f64, r: f64| if c == 0.0 { -r.signum() } else { c.signum() };
    let start: Vec<f64> = c.iter().zip(r).map(|(&c, &r)| gain(c, r)).collect();
    let total = |v: &[f64]| v.iter().zip(&start).map(|(a, b)| a * b).sum::<f64>();
    let (mut best, mut over) = (total(c), total(r) - s);
    let mut helpful: Vec<usize> = (0..c.len()).filter(|&i| r[i] * start[i] > 0.0).collect();
    helpful.sort_by(|&i, &j| (c[i] / r[i]).abs().total_cmp(&(c[j] / r[j]).abs()));
    for i in helpful {
        if over <= 0.0 {
            break;
        }
        let part = (over / (2.0 * r[i].abs())).min(1.0);
        best -= 2.0 * part * c[i].abs();
        over -= 2.0 * part * r[i].abs();
    }
    (over <= 1e-12).then_some(best)
}

/// The least value of a convex function over lam >= 0: the best factor of two, then thirds around it.
fn least(mut f: impl FnMut(f64) -> f64) -> f64 {
    let powers: Vec<(f64, f64)> = (-40..40).map(|p| (f(2f64.powi(p)), 2f64.powi(p))).collect();
    let best = powers.iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1;
    let (mut low, mut high) = (best / 2.0, best * 2.0);
    for _ in 0..200 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if f(a) < f(b) { high = b } else { low = a }
    }
    f(0.5 * (low + high)).min(f(0.0))
}

/// The best multiplier of the only row, a guard or a constraint (coefficients and right side), against the optimum.
fn check_perfect(
    case: &Case,
    domain: AbstractDomain,
    margin: f64,
    constraint: Option<&(Vec<f64>, f64)>,
) -> TestCaseResult {
    with_outputs(case, domain, |output, _, _| {
        let mut question = Question::top1(2, margin);
        let mut row = GeneratorRow::default();
        output.row(question.objective.terms.iter().copied(), 0.0, &mut row);
        let (c, centre) = (row.generators.clone(), row.centre);
        let (r, s): (Vec<f64>, f64) = if let Some((coefficients, bound)) = constraint {
            let generators = coefficients[..output.inputs()].to_vec();
            question.region = vec![RegionRow { generators: generators.clone(), slack: *bound }];
            (generators.into_iter().chain(std::iter::repeat(0.0)).take(c.len()).collect(), *bound)
        } else {
            let guard = &question.guard.rows[0];
            output.row(guard.terms.iter().copied(), guard.constant, &mut row);
            (row.generators.iter().map(|g| -g).collect(), row.centre)
        };
        let Some(optimum) = best(&c, &r, s) else {
            return Err(TestCaseError::reject("nothing satisfies the constraint"));
        };
        let found = least(|multiplier| {
            let (guard, region) = if constraint.is_some() { (0.0, vec![multiplier]) } else { (multiplier, vec![]) };
            question.multipliers = Multipliers { guard: vec![guard], link: vec![0.0; 2], region };
            question.bound(output)
        });
        let (expected, size) = (centre + optimum, 1.0 + c.iter().map(|v| v.abs()).sum::<f64>() + centre.abs());
        prop_assert!(found >= expected - 1e-9 * size, "{found} is below the program's optimum {expected}");
        prop_assert!(found <= expected + 1e-5 * size, "{found}, the program's optimum is {expected}");
        Ok(())
    })
}

#[test]
fn perfect_multipliers_reach_the_optimum() {
    for_all(300, (certain(2..=2, 0), domains(), -1.0f64..0.5), |(case, domain, margin)| {
        check_perfect(&case, domain, margin, None)
    });
    let constraint = (vec(-2.0f64..2.0, 4), -1.0f64..2.0);
    for_all(300, (certain(2..=2, 0), domains(), constraint), |(case, domain, constraint)| {
        check_perfect(&case, domain, 0.0, Some(&constraint))
    });
}
