//! Bounds and functionals of the outputs hold at every input, to the last digit: checked at exact values.

use crate::exact::{Exact, exact, power_of_two};
use crate::random::{Case, Scale, any_scale, cases, for_all, point};
use crate::trace::{Phases, Trace, follow};
use eqspec::domain::affine::Extent;
use eqspec::domain::columns::Columns;
use eqspec::domain::output::GeneratorRow;
use eqspec::domain::phase::{Bounds, reduce};
use eqspec::domain::{AbstractDomain, LinearFunctional, Output, Propagation, Quantity};
use eqspec::network::eval::{Evaluation, Evaluator};
use eqspec::property::{Norm, Property, Violation, epsilon, linear, top1};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::Cell;

/// A functional of a pair's outputs, without rounding.
pub fn value(combination: &LinearFunctional, x: &[Exact], y: &[Exact]) -> Exact {
    let of = |&(form, o, c): &(Quantity, usize, f64)| match form {
        Quantity::First => &x[o] * c,
        Quantity::Second => &y[o] * c,
        Quantity::Difference => &(&x[o] - &y[o]) * c,
    };
    &combination.terms.iter().map(of).sum::<Exact>() + &exact(combination.constant)
}

/// Functionals with repeated outputs, cancelling and huge coefficients; outputs are taken modulo their number.
fn combinations() -> impl Strategy<Value = LinearFunctional> {
    let coefficient = || prop_oneof![Just(1.0), Just(-1.0), -3.0f64..3.0, -1e9f64..1e9, Just(1e-300), Just(0.0)];
    let form = prop_oneof![Just(Quantity::First), Just(Quantity::Second), Just(Quantity::Difference)];
    (vec((form, 0usize..100, coefficient()), 0..7), coefficient())
        .prop_map(|(terms, constant)| LinearFunctional { terms, constant })
}

pub fn domains() -> impl Strategy<Value = AbstractDomain> {
    prop_oneof![Just(AbstractDomain::Reduced), Just(AbstractDomain::Published), Just(AbstractDomain::Independent)]
}

/// Propagates, follows every point and hands over the outputs; a box that overflows counts as nothing.
pub fn with_outputs(
    case: &Case,
    domain: AbstractDomain,
    mut check: impl FnMut(&Output<'_>, &Propagation, &[Trace]) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let (pair, truths) = (case.pair(), case.truths());
    let mut reach = Propagation::new(domain, pair.depth());
    if reach.propagate(&pair, &case.lower, &case.upper).is_none() {
        return Ok(());
    }
    let follow = |e: &Vec<f64>| follow(&truths, &reach, domain, e, &mut Phases::default());
    let traces = case.points.iter().map(follow).collect::<Result<Vec<_>, _>>()?;
    let output = Output::new(&reach.layers()[pair.depth() - 1], pair.inputs(), domain);
    check(&output, &reach, &traces)
}

/// The largest violation of an obligation, compared by sign and size with an upper bound.
fn violation_within(violation: &Violation, upper: f64, x: &[Exact], y: &[Exact]) -> bool {
    match violation {
        Violation::Linear { equivalents, .. } => value(&equivalents[0], x, y) <= upper,
        Violation::Distance { norm, outputs, eps } => {
            let sizes: Vec<Exact> = outputs.iter().map(|&o| (&x[o] - &y[o]).abs()).collect();
            // length - eps <= upper; the bound itself may have been rounded when eps was taken off, so add it back
            // exactly.
            let limit = &exact(upper) + &exact(*eps);
            match norm {
                Norm::Max => sizes.iter().all(|s| *s <= limit),
                Norm::Sum => sizes.into_iter().sum::<Exact>() <= limit,
                Norm::Euclid => limit >= 0.0 && sizes.iter().map(|s| s * s).sum::<Exact>() <= &limit * &limit,
            }
        }
    }
}

/// All kinds of claims for so many outputs.
fn properties(outputs: usize, domain: AbstractDomain, numbers: &[f64]) -> Vec<Property> {
    let all: Vec<usize> = (0..outputs).collect();
    let coefficients = |from: usize| (0..outputs).map(|o| numbers[(from + o) % numbers.len()]).collect::<Vec<_>>();
    let eps = numbers[0].abs();
    vec![
        epsilon::property(eps, Norm::Max, &all, domain),
        epsilon::property(eps, Norm::Max, &all[outputs - 1..], domain),
        epsilon::property(eps, Norm::Sum, &all, domain),
        epsilon::property(eps, Norm::Euclid, &all, domain),
        top1::property(outputs, numbers[1], None),
        linear::property(&coefficients(0), &coefficients(outputs), numbers[2], false),
        linear::property(&coefficients(1), &coefficients(outputs + 1), numbers[3], true),
    ]
}

fn check_functionals(
    case: &Case,
    domain: AbstractDomain,
    functionals: &[LinearFunctional],
) -> Result<(), TestCaseError> {
    with_outputs(case, domain, |output, _, traces| {
        let mut row = GeneratorRow::default();
        for functional in functionals {
            let mut functional = functional.clone();
            functional.terms.iter_mut().for_each(|t| t.1 %= output.outputs());
            let upper = output.upper(&functional, &mut row);
            let (lower, err) = (row.lower(), row.err);
            let (bound, bound_err) = output.bound(&functional, &mut GeneratorRow::default());
            prop_assert!(bound.is_finite() == upper.is_finite(), "{bound} and {upper}");
            for trace in traces.iter().filter(|_| upper.is_finite() && err.is_finite()) {
                let (truth, form) = (value(&functional, &trace.x, &trace.y), trace.values.row(&row));
                let allowed = &exact(err) + &(&(&truth.abs() + &form.abs()) * &power_of_two(-200));
                let off = (&truth - &form).abs();
                prop_assert!(off <= allowed, "{functional:?} is {truth:?}, its row {form:?}, err {err:e}");
                let inside = truth <= upper && truth >= lower;
                prop_assert!(inside, "{functional:?} is {truth:?}, bounds {lower:e}, {upper:e}");
                prop_assert!(truth <= bound, "{functional:?} is {truth:?}, bound {bound:e} +- {bound_err:e}");
            }
        }
        Ok(())
    })
}

#[test]
fn a_functional_lies_on_its_row_and_within_its_bounds() {
    let pairs = cases(1..=3, 1..=4, 1..=4, any_scale(), 2);
    for_all(1500, (pairs, domains(), vec(combinations(), 4)), |(case, domain, functionals)| {
        check_functionals(&case, domain, &functionals)
    });
}

fn check_violations(case: &Case, domain: AbstractDomain, numbers: &[f64]) -> Result<(), TestCaseError> {
    with_outputs(case, domain, |output, _, traces| {
        let mut row = GeneratorRow::default();
        for property in properties(output.outputs(), domain, numbers) {
            for violation in property.obligations.iter().map(|o| &o.violation) {
                let upper = violation.upper(output, &mut row);
                let (bound, _) = violation.bound(output, &mut row);
                for Trace { x, y, .. } in traces.iter().filter(|_| upper.is_finite()) {
                    for bound in [upper, bound] {
                        let below = violation_within(violation, bound, x, y);
                        prop_assert!(below, "{violation:?} at {x:?}, {y:?}: bound {bound:e}");
                    }
                    if let Violation::Linear { equivalents, .. } = violation {
                        let first = value(&equivalents[0], x, y);
                        prop_assert!(equivalents.iter().all(|w| value(w, x, y) == first), "{equivalents:?} differ");
                    }
                }
            }
        }
        Ok(())
    })
}

#[test]
fn a_violation_is_never_above_its_bound() {
    let pairs = cases(1..=3, 1..=3, 1..=8, any_scale(), 3);
    let numbers = vec(prop_oneof![Just(0.0), -2.0f64..2.0, Just(1e-9), Just(1e6)], 9);
    for_all(1500, (pairs, domains(), numbers), |(case, domain, numbers)| check_violations(&case, domain, &numbers));
}

fn check_largest_difference(case: &Case, domain: AbstractDomain) -> Result<(), TestCaseError> {
    with_outputs(case, domain, |output, _, traces| {
        let d = &output.layer().d;
        let single = |o: usize| output.largest_difference([o]);
        for o in 0..output.outputs() {
            prop_assert!(single(o) == d.lower[o].abs() || single(o) == d.upper[o].abs());
            for trace in traces {
                prop_assert!((&trace.x[o] - &trace.y[o]).abs() <= single(o));
            }
        }
        let largest = (0..output.outputs()).map(single).fold(0.0, f64::max);
        prop_assert_eq!(output.largest_difference(0..output.outputs()), largest);
        prop_assert_eq!(output.largest_difference([]), 0.0);
        Ok(())
    })
}

#[test]
fn the_reported_difference_is_the_largest_bound() {
    let pairs = cases(1..=3, 1..=3, 1..=4, any_scale(), 2);
    for_all(1500, (pairs, domains()), |(case, domain)| check_largest_difference(&case, domain));
}

/// Pairs whose weights are exactly those stored.
fn certain() -> impl Strategy<Value = Case> {
    cases(1..=4, 1..=4, 1..=4, Just(Scale::Plain), 0).prop_map(|mut case| {
        case.layers.iter_mut().flatten().for_each(|w| w.uncertain = None);
        case
    })
}

#[test]
fn rounding_costs_next_to_nothing() {
    for_all(1500, (certain(), domains()), |(case, domain)| {
        with_outputs(&case, domain, |output, _, _| {
            let layer = output.layer();
            for o in 0..output.outputs() {
                let of = |extent: &Extent, form: &Columns| extent.magnitude[o] + form.column(0)[o].abs();
                let size = of(&layer.extent1, &layer.z1) + of(&layer.extent2, &layer.z2);
                for mass in [&layer.extent1, &layer.extent2, &layer.extent_d] {
                    prop_assert!(mass.err[o] <= 1e-9 * (1.0 + size), "err {:e} beside {size:e}", mass.err[o]);
                }
            }
            Ok(())
        })
    });
}

#[test]
fn equal_networks_differ_by_nothing() {
    let domains = prop_oneof![Just(AbstractDomain::Reduced), Just(AbstractDomain::Published)];
    for_all(1500, (certain(), domains), |(mut case, domain)| {
        for [first, second] in &mut case.layers {
            second.clone_from(first);
        }
        with_outputs(&case, domain, |output, _, _| {
            let largest = output.largest_difference(0..output.outputs());
            prop_assert!(largest <= 1e-250, "{largest:e}");
            Ok(())
        })
    });
}

/// Not although nothing is known exactly, but because both are off by the same: [`Case::shared`] holds for all rows.
#[test]
fn networks_that_are_uncertain_alike_differ_by_nothing() {
    let uncertain = Cell::new(0);
    let domains = prop_oneof![Just(AbstractDomain::Reduced), Just(AbstractDomain::Published)];
    let strategy = cases(1..=4, 1..=4, 1..=4, Just(Scale::Plain), 0);
    for_all(1500, (strategy, domains), |(mut case, domain)| {
        for [first, second] in &mut case.layers {
            second.clone_from(first);
        }
        uncertain.set(uncertain.get() + usize::from(case.layers.iter().any(|[a, _]| a.uncertain.is_some())));
        prop_assert!(case.pair().identical());
        with_outputs(&case, domain, |output, _, _| {
            let largest = output.largest_difference(0..output.outputs());
            prop_assert!(largest <= 1e-250, "{largest:e}");
            Ok(())
        })
    });
    assert!(uncertain.get() > 300, "{uncertain:?}");
}

fn check_evaluation(case: &Case) -> Result<(), TestCaseError> {
    let (pair, truths) = (case.pair(), case.truths());
    let mut evaluator = Evaluator::default();
    let (mut result, mut plain) = (Evaluation::default(), Evaluation::default());
    let bits = |e: &Evaluation| e.first.iter().chain(&e.second).map(|v| v.to_bits()).collect::<Vec<_>>();
    for x in case.samples() {
        evaluator.at_with_error(&pair, &x, &mut result);
        evaluator.at(&pair, &x, &mut plain);
        prop_assert_eq!(bits(&plain), bits(&result));
        let first = (&truths[0], &result.first, &result.first_error);
        let second = (&truths[1], &result.second, &result.second_error);
        for (truth, values, errors) in [first, second] {
            for (o, truly) in truth.outputs(&point(&x)).iter().enumerate() {
                let (v, e) = (values[o], errors[o]);
                let covered = !v.is_finite() || !e.is_finite() || (truly - &exact(v)).abs() <= e;
                prop_assert!(covered, "output {o} is {truly:?}, evaluated to {v:e} -+ {e:e}");
            }
        }
    }
    Ok(())
}

#[test]
fn evaluation_errors_cover_the_rounding() {
    for_all(3000, cases(1..=4, 1..=5, 1..=4, any_scale(), 2), |case| check_evaluation(&case));
}

/// Bounds around x, y and x - y of some neurons, each wider by its own margins.
fn check_exchange(neurons: &[(f64, f64, Vec<f64>)]) -> Result<(), TestCaseError> {
    let around = |k: usize, v: &dyn Fn(f64, f64) -> (f64, f64)| {
        let wider = |(x, y, r): &(f64, f64, Vec<f64>)| (v(*x, *y).0 - r[2 * k], v(*x, *y).1 + r[2 * k + 1]);
        let (lower, upper) = neurons.iter().map(wider).unzip();
        Bounds { lower, upper }
    };
    let (mut x, mut y) = (around(0, &|x, _| (x, x)), around(1, &|_, y| (y, y)));
    // x - y may be rounded either way; its neighbours enclose the exact difference.
    let mut d = around(2, &|x, y| ((x - y).next_down(), (x - y).next_up()));
    let before = [x.clone(), y.clone(), d.clone()];
    reduce(&mut x, &mut y, &mut d);
    for (i, (vx, vy, _)) in neurons.iter().enumerate() {
        let (vx, vy) = (exact(*vx), exact(*vy));
        let vd = &vx - &vy;
        for (value, bounds, old) in [(&vx, &x, &before[0]), (&vy, &y, &before[1]), (&vd, &d, &before[2])] {
            let (lower, upper) = (bounds.lower[i], bounds.upper[i]);
            prop_assert!(*value >= lower && *value <= upper, "{value:?} is outside [{lower:e}, {upper:e}]");
            prop_assert!(lower >= old.lower[i] && upper <= old.upper[i]);
        }
    }
    Ok(())
}

#[test]
fn exchanged_bounds_still_hold() {
    let margin = prop_oneof![Just(0.0), 0.0f64..1.0, Just(1e-16)];
    let neuron = (-2.0f64..2.0, -2.0f64..2.0, vec(margin, 6));
    for_all(5000, vec(neuron, 1..6), |neurons| check_exchange(&neurons));
}

#[test]
fn exchange_uses_all_three_identities() {
    let bounds = |lower: f64, upper: f64| Bounds { lower: vec![lower], upper: vec![upper] };
    let near =
        |b: &Bounds, lower: f64, upper: f64| (b.lower[0] - lower).abs() < 1e-12 && (b.upper[0] - upper).abs() < 1e-12;
    // x = y + d.
    let (mut x, mut y, mut d) = (bounds(-9.0, 9.0), bounds(1.0, 2.0), bounds(-0.5, 0.25));
    reduce(&mut x, &mut y, &mut d);
    assert!(near(&x, 0.5, 2.25) && near(&y, 1.0, 2.0) && near(&d, -0.5, 0.25), "{x:?} {y:?} {d:?}");
    // y = x - d.
    let (mut x, mut y, mut d) = (bounds(1.0, 2.0), bounds(-9.0, 9.0), bounds(-0.5, 0.25));
    reduce(&mut x, &mut y, &mut d);
    assert!(near(&x, 1.0, 2.0) && near(&y, 0.75, 2.5) && near(&d, -0.5, 0.25), "{x:?} {y:?} {d:?}");
    // d = x - y.
    let (mut x, mut y, mut d) = (bounds(1.0, 2.0), bounds(-1.0, 0.5), bounds(-9.0, 9.0));
    reduce(&mut x, &mut y, &mut d);
    assert!(near(&x, 1.0, 2.0) && near(&y, -1.0, 0.5) && near(&d, 0.5, 3.0), "{x:?} {y:?} {d:?}");
    // Contradicting bounds, as rounding may produce, are left alone rather than turned round.
    let (mut x, mut y, mut d) = (bounds(0.0, 1.0), bounds(5.0, 6.0), bounds(0.0, 1.0));
    reduce(&mut x, &mut y, &mut d);
    assert!([x, y, d].iter().all(|b| b.lower[0] <= b.upper[0]));
}
