//! Programs of steps in the domain and in evaluation: what happens at an input of the box is enclosed, with one
//! assignment of all generators, and evaluations are as near to the truth as they say.

use crate::bent::in_steps;
use crate::exact::exact;
use crate::programs::{Programs, programs};
use crate::random::{Scale, any_scale, extreme_scale, for_all};
use crate::trace::{Phases, follow};
use eqspec::domain::{AbstractDomain, Propagation};
use eqspec::network::eval::{Evaluation, Evaluator};
use eqspec::network::gradient::Differentiator;
use proptest::prelude::*;
use std::cell::{Cell, RefCell};

fn contained(case: &Programs, domain: AbstractDomain, phases: &mut Phases) -> Result<bool, TestCaseError> {
    let (pair, truths) = (case.pair(), case.truths());
    let mut propagation = Propagation::new(domain, pair.depth());
    if propagation.propagate(&pair, &case.lower, &case.upper).is_none() {
        return Ok(false);
    }
    for e in &case.points {
        follow(&truths, &propagation, domain, e, phases)?;
    }
    Ok(true)
}

fn contains(domain: AbstractDomain, scale: impl Strategy<Value = Scale> + Clone + 'static) {
    let (phases, propagated) = (RefCell::new(Phases::default()), Cell::new(0));
    for_all(2500, programs(6, scale, 3), |case| {
        let done = contained(&case, domain, &mut phases.borrow_mut())?;
        propagated.set(propagated.get() + usize::from(done));
        Ok(())
    });
    assert!(propagated.get() > 1000, "{} boxes", propagated.get());
    assert!(phases.borrow().0.iter().flatten().all(|&n| n >= 20), "some pair of phases hardly occurred: {phases:?}");
}

#[test]
fn the_shared_domain_contains_what_happens_in_programs() {
    contains(AbstractDomain::Reduced, any_scale());
}

#[test]
fn the_published_domain_contains_what_happens_in_programs() {
    contains(AbstractDomain::Published, any_scale());
}

#[test]
fn the_independent_domain_contains_what_happens_in_programs() {
    contains(AbstractDomain::Independent, any_scale());
}

#[test]
fn extreme_numbers_in_programs_are_contained() {
    contains(AbstractDomain::Reduced, extreme_scale());
}

#[test]
fn programs_are_evaluated_as_exactly_as_they_say() {
    for_all(1500, programs(6, any_scale(), 2), |case| {
        let (pair, truths) = (case.pair(), case.truths());
        let (mut evaluator, mut found) = (Evaluator::default(), Evaluation::default());
        for x in case.samples() {
            evaluator.at_with_error(&pair, &x, &mut found);
            let input: Vec<_> = x.iter().copied().map(exact).collect();
            let sides = [(&found.first, &found.first_error), (&found.second, &found.second_error)];
            for (truth, (values, errors)) in truths.iter().zip(sides) {
                for ((v, e), t) in values.iter().zip(errors).zip(truth.outputs(&input)) {
                    prop_assert!((&exact(*v) - &t).abs() <= *e, "{v:e} -+ {e:e} is not {t:?}");
                }
            }
        }
        Ok(())
    });
}

/// Inputs that are fixed move into the biases.
#[test]
fn a_program_over_some_inputs_is_the_same_function() {
    for_all(1500, programs(6, any_scale(), 1), |case| {
        let (pair, truths, x) = (case.pair(), case.truths(), case.samples().remove(0));
        let free: Vec<usize> = (0..x.len()).step_by(2).collect();
        let part = pair.specialise(&free, &x);
        let values: Vec<f64> = free.iter().map(|&i| x[i]).collect();
        let (mut evaluator, mut found) = (Evaluator::default(), Evaluation::default());
        evaluator.at_with_error(&part, &values, &mut found);
        let input: Vec<_> = x.iter().copied().map(exact).collect();
        let sides = [(&found.first, &found.first_error), (&found.second, &found.second_error)];
        for (truth, (values, errors)) in truths.iter().zip(sides) {
            for ((v, e), t) in values.iter().zip(errors).zip(truth.outputs(&input)) {
                prop_assert!((&exact(*v) - &t).abs() <= *e, "{v:e} -+ {e:e} is not {t:?}");
            }
        }
        Ok(())
    });
}

/// Where no neuron changes its sign in between, the derivative is the quotient of differences.
#[test]
fn derivatives_of_programs_are_those_of_differences() {
    let compared = Cell::new(0);
    for_all(1200, programs(5, Just(Scale::Plain), 1), |case| {
        // Attacks climb along the trend of functions that go up in steps, which is no derivative.
        prop_assume!(!case.steps.iter().flatten().any(|s| in_steps(&s.function, s.bias.len())));
        let (pair, x) = (case.pair(), case.samples().remove(0));
        let (inputs, outputs) = (pair.inputs(), pair.outputs());
        let step = 1e-6;
        let mut points = x.clone();
        for i in 0..inputs {
            let mut moved = x.clone();
            moved[i] += step;
            points.extend(moved);
        }
        let mut differentiator = Differentiator::default();
        let count = inputs + 1;
        let (first, second) = differentiator.at(&pair, &points, count);
        let sum = |k: usize| (0..outputs).map(|o| first[k * outputs + o] - 2.0 * second[k * outputs + o]).sum::<f64>();
        let quotients: Vec<f64> = (0..inputs).map(|i| (sum(i + 1) - sum(0)) / step).collect();
        let ones: Vec<f64> = vec![1.0; outputs * count];
        let (a, b) = (ones.clone(), ones.iter().map(|v| -2.0 * v).collect::<Vec<_>>());
        let mut gradient = Vec::new();
        differentiator.gradient(&pair, &a, &b, &mut gradient);
        for (i, q) in quotients.iter().enumerate() {
            let ends = [gradient[i], gradient[(i + 1) * inputs + i]];
            // A kink lies between the two points where their derivatives differ.
            if (ends[0] - ends[1]).abs() <= 1e-9 * (1.0 + ends[0].abs()) {
                compared.set(compared.get() + 1);
                prop_assert!((q - ends[0]).abs() <= 1e-4 * (1.0 + ends[0].abs()), "{q} and {}", ends[0]);
            }
        }
        Ok(())
    });
    assert!(compared.get() > 800, "{compared:?}");
}
