//! What is left of a violation as a mixed-integer program: no input that violates, with the values of its neurons, is left out.

use crate::assumed::{Draw, Networks, Values, draws, prepare, violation};
use crate::bent::behind_curve;
use crate::exact::Exact;
use crate::programs::programs;
use crate::random::{Scale, cases, for_all};
use eqspec::bound::Assumption;
use eqspec::bound::encoding::Encoding;
use eqspec::domain::IntermediateBounds;
use eqspec::domain::phase::{Bounds, Phase};
use eqspec::network::Pair;
use proptest::prelude::*;
use std::cell::RefCell;

/// A number to the nearest, nearly.
fn near(value: &Exact) -> f64 {
    value.upward()
}

/// The columns of an input: itself, and per layer the values before ReLU, then those of unstable neurons after it,
/// each with its phase; of other functions the values behind them.
fn columns(pair: &Pair, values: &Values, bounds: &IntermediateBounds) -> Vec<f64> {
    let mut columns: Vec<f64> = values.input.iter().map(near).collect();
    for (l, known) in bounds.layers.iter().enumerate() {
        let both = [(&values.x[l], &known.x), (&values.y[l], &known.y)];
        for (v, _) in &both {
            columns.extend(v.iter().map(near));
        }
        if let Some(curves) = pair.curves(l) {
            for ((v, _), curves) in both.iter().zip(curves) {
                columns.extend(v.iter().enumerate().map(|(i, value)| near(&behind_curve(curves.of(i), value))));
            }
        }
        let hidden = l + 1 < bounds.layers.len() && pair.function(l).is_relu();
        let unstable = |b: &Bounds, i: usize| Phase::of(b.lower[i], b.upper[i]) == Phase::Unstable;
        for (v, bounds) in both.iter().filter(|_| hidden) {
            for (_, value) in v.iter().enumerate().filter(|(i, _)| unstable(bounds, *i)) {
                columns.extend([near(&value.relu()), f64::from(u8::from(*value > 0.0))]);
            }
        }
    }
    columns
}

/// Whether numbers solve the program, to a share of what is added up.
fn solves(encoding: &Encoding, columns: &[f64]) -> Result<(), String> {
    let program = &encoding.program;
    let at = |i: usize| (program.lower[i], columns[i], program.upper[i]);
    for i in 0..columns.len() {
        let (lower, value, upper) = at(i);
        let room = 1e-12 * (lower.abs() + upper.abs()) + 1e-300;
        if value < lower - room || value > upper + room {
            return Err(format!("column {i} is {value}, outside [{lower}, {upper}]"));
        }
    }
    for r in 0..program.row_lower.len() {
        let range = usize::try_from(program.starts[r]).unwrap()..usize::try_from(program.starts[r + 1]).unwrap();
        let terms = || range.clone().map(|k| program.values[k] * columns[usize::try_from(program.indices[k]).unwrap()]);
        let (sum, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
        let room = 1e-11 * (size + 1e-280);
        let (lower, upper) = (program.row_lower[r], program.row_upper[r]);
        if sum < lower - room - 1e-11 * lower.abs() || sum > upper + room + 1e-11 * upper.abs() {
            return Err(format!("row {r} is {sum}, outside [{lower}, {upper}]"));
        }
    }
    Ok(())
}

fn check(case: &impl Networks, draw: &Draw, seen: &RefCell<[usize; 3]>) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let mut encoding = Encoding::new(&pair, &bounds, &assumption);
    let alive: Vec<&Values> = values.iter().filter(|v| v.satisfies(&assumption, &bounds.phase_constraints)).collect();
    let mut seen = seen.borrow_mut();
    for value in &alive {
        seen[0] += 1;
        let columns = columns(&pair, value, &bounds);
        prop_assert_eq!(columns.len(), encoding.program.cost.len());
        prop_assert_eq!(encoding.inputs(&columns), &columns[..pair.inputs()]);
        prop_assert_eq!(solves(&encoding, &columns), Ok(()));
        check_cost(&encoding, &columns, value, &assumption)?;
    }
    // Points of the polytope make cuts; none of them cuts off what the exact confidence lets through.
    for value in &values {
        let cut = encoding.cut(&assumption, &columns(&pair, value, &bounds));
        seen[1] += usize::from(cut);
        seen[2] += usize::from(cut && !alive.is_empty());
        for value in &alive {
            prop_assert_eq!(solves(&encoding, &columns(&pair, value, &bounds)), Ok(()));
        }
    }
    Ok(())
}

/// What is maximised is the violation, but for its constant.
fn check_cost(
    encoding: &Encoding,
    columns: &[f64],
    value: &Values,
    assumption: &Assumption,
) -> Result<(), TestCaseError> {
    let terms = || encoding.program.cost.iter().zip(columns).map(|(c, v)| c * v);
    let size = terms().map(f64::abs).sum::<f64>() + assumption.constant.abs();
    let truth = near(&violation(assumption, value));
    prop_assert!((terms().sum::<f64>() + assumption.constant - truth).abs() <= 1e-9 * size + 1e-300);
    Ok(())
}

#[test]
fn every_input_that_violates_solves_the_program() {
    let seen = RefCell::new([0; 3]);
    let pairs = cases(1..=3, 1..=4, 1..=4, prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)], 4);
    for_all(600, (pairs, draws()), |(case, draw)| check(&case, &draw, &seen));
    let [satisfying, cuts, kept] = seen.into_inner();
    assert!(satisfying > 500 && cuts > 50 && kept > 50, "{satisfying} {cuts} {kept}");
}

#[test]
fn every_input_that_violates_solves_the_program_of_programs() {
    let seen = RefCell::new([0; 3]);
    let pairs = programs(5, prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)], 4);
    for_all(400, (pairs, draws()), |(case, draw)| check(&case, &draw, &seen));
    let [satisfying, ..] = seen.into_inner();
    assert!(satisfying > 300, "{satisfying}");
}
