//! Euclidean norms of what functions add to a difference: sizes of differences and bounds of rows hold, in exact numbers,
//! at every input; and where many small differences add up they reach less far than sums of sizes.

use crate::assumed::{Values, left_out};
use crate::exact::exact;
use crate::programs::programs;
use crate::random::{Case, Scale, Weights, any_scale, extreme_scale, for_all};
use eqspec::domain::output::GeneratorRow;
use eqspec::domain::{AbstractDomain, EuclideanNorms, IntermediateBounds, Output, Propagation, Quantity, Together};
use eqspec::network::Pair;
use proptest::prelude::*;
use std::cell::Cell;

fn propagated(pair: &Pair, lower: &[f64], upper: &[f64]) -> Option<Propagation> {
    let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth());
    propagation.propagate(pair, lower, upper)?;
    Some(propagation)
}

fn norms_of(pair: &Pair, propagation: &Propagation, together: Together) -> EuclideanNorms {
    EuclideanNorms::of(pair, propagation.layers(), (pair.inputs(), together), || false)
}

fn holds(scale: impl Strategy<Value = Scale> + Clone + 'static, least: usize) {
    let seen = Cell::new(0_usize);
    for_all(1200, programs(6, scale, 3), |case| {
        let pair = case.pair();
        let Some(propagation) = propagated(&pair, &case.lower, &case.upper) else { return Ok(()) };
        let together = if seen.get().is_multiple_of(2) { Together::Inputs } else { Together::All };
        let norms = norms_of(&pair, &propagation, together);
        if norms.is_empty() {
            return Ok(());
        }
        seen.set(seen.get() + 1);
        let values: Vec<Values> = case.samples().iter().map(|x| Values::of(&case, x)).collect();
        let mut bounds = IntermediateBounds::of(propagation.layers(), &case.lower, &case.upper);
        prop_assert!(norms.narrow(&mut bounds).is_ok());
        for value in &values {
            let outside = left_out(&bounds, value);
            prop_assert!(outside.is_none(), "{}", outside.unwrap());
        }
        let layers = propagation.layers();
        let output = Output::new(&layers[pair.depth() - 1], pair.inputs(), AbstractDomain::Reduced);
        let mut row = GeneratorRow::default();
        for o in 0..pair.outputs() {
            for sign in [1.0, -1.0] {
                output.row([(Quantity::Difference, o, sign)], 0.25, &mut row);
                let upper = norms.upper(&mut row);
                for value in &values {
                    let (x, y) = value.last();
                    let truth = &(&(&x[o] - &y[o]) * sign) + &exact(0.25);
                    prop_assert!(truth <= upper, "{truth:?} is above {upper:e}");
                }
            }
        }
        Ok(())
    });
    assert!(seen.get() > least, "{} boxes", seen.get());
}

#[test]
fn sizes_of_differences_and_rows_hold_in_programs() {
    holds(any_scale(), 200);
}

#[test]
fn extreme_numbers_have_norms_that_hold() {
    holds(extreme_scale(), 50);
}

/// Networks of `width` ReLUs in each of three layers, of which the first weights differ by about 1e-6.
fn wide(width: usize) -> Case {
    let mut state = 11_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 33).unwrap()) / f64::from(1_u32 << 30) - 1.0
    };
    let inputs = 6;
    let mut layers = Vec::new();
    for (rows, columns) in [(width, inputs), (width, width), (width, width), (1, width)] {
        let size = (3.0 / f64::from(u32::try_from(columns).unwrap())).sqrt();
        let weight: Vec<Vec<f64>> = (0..rows).map(|_| (0..columns).map(|_| size * random()).collect()).collect();
        let mut other = weight.clone();
        if columns == inputs {
            other.iter_mut().flatten().for_each(|w| *w += 1e-6 * random());
        }
        let of = |weight| Weights { weight, bias: vec![0.0; rows], uncertain: None };
        layers.push([of(weight), of(other)]);
    }
    let points = (0..20).map(|_| (0..inputs).map(|_| random()).collect()).collect();
    Case { layers, lower: vec![-1.0; inputs], upper: vec![1.0; inputs], points }
}

/// The same networks with ReLUs in other units: each row times a power of two that the next layer takes back.
fn in_other_units(case: &Case) -> Case {
    let mut layers = case.layers.clone();
    let hidden = layers.len() - 1;
    for l in 0..hidden {
        for side in 0..2 {
            for i in 0..layers[l][side].weight.len() {
                let factor = f64::from(1_u32 << ((5 * i + 3 * l) % 13)) / 64.0;
                layers[l][side].weight[i].iter_mut().for_each(|w| *w *= factor);
                layers[l + 1][side].weight.iter_mut().for_each(|row| row[i] /= factor);
            }
        }
    }
    Case { layers, ..case.clone() }
}

/// Bounds of the difference of the first output: by sizes, and by norms of the inputs' generators and of all of them.
fn bounds_of(case: &Case) -> [f64; 3] {
    let pair = case.pair();
    let propagation = propagated(&pair, &case.lower, &case.upper).unwrap();
    let output = Output::new(&propagation.layers()[pair.depth() - 1], pair.inputs(), AbstractDomain::Reduced);
    let mut row = GeneratorRow::default();
    let set = |row: &mut GeneratorRow| output.row([(Quantity::Difference, 0, 1.0)], 0.0, row);
    set(&mut row);
    let by_sizes = row.upper();
    let [half, all] = [Together::Inputs, Together::All].map(|together| {
        set(&mut row);
        norms_of(&pair, &propagation, together).upper(&mut row)
    });
    [by_sizes, half, all]
}

#[test]
fn the_units_of_neurons_do_not_matter() {
    let case = wide(40);
    let other = in_other_units(&case);
    let bounds = bounds_of(&case);
    for (one, two) in bounds.iter().zip(bounds_of(&other)) {
        assert!((two / one - 1.0).abs() < 5e-3, "{two:e} {one:e}");
    }
    let [by_sizes, half, all] = bounds;
    assert!(all <= half && all < 0.8 * by_sizes, "{bounds:?}");
}

#[test]
fn many_small_differences_reach_less_far_by_their_lengths() {
    let case = wide(60);
    let pair = case.pair();
    let propagation = propagated(&pair, &case.lower, &case.upper).unwrap();
    let norms = norms_of(&pair, &propagation, Together::All);
    let output = Output::new(&propagation.layers()[pair.depth() - 1], pair.inputs(), AbstractDomain::Reduced);
    let mut row = GeneratorRow::default();
    output.row([(Quantity::Difference, 0, 1.0)], 0.0, &mut row);
    let (before, after) = (row.upper(), norms.upper(&mut row));
    let differences = case.samples().into_iter().map(|x| {
        let value = Values::of(&case, &x);
        let (a, b) = value.last();
        &a[0] - &b[0]
    });
    for truth in differences {
        assert!(truth <= after, "{truth:?} is above {after:e}");
    }
    assert!(after < 0.6 * before, "{after:e} is not much below {before:e}");
    // Nothing is bounded where the time is over.
    assert!(EuclideanNorms::of(&pair, propagation.layers(), (pair.inputs(), Together::All), || true).is_empty());
}
