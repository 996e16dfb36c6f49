//! The score of inputs against what it claims to be: the derivative of a functional's reach by the widths of the inputs.

use crate::random::for_all;
use eqspec::domain::output::GeneratorRow;
use eqspec::domain::sensitivity::Sensitivity;
use eqspec::domain::{AbstractDomain, LinearFunctional, Propagation, Quantity};
use eqspec::network::{Affine, Pair};
use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;

const SIZES: [usize; 3] = [4, 6, 2];

fn layer(weight: &[f64], rows: usize, bias: f64) -> Affine {
    let weight = Array2::from_shape_vec((rows, weight.len() / rows), weight.to_vec()).unwrap();
    Affine::new(weight.view(), Array1::from_elem(rows, bias).view(), None, None).unwrap()
}

/// Two networks without biases, the second a little smaller in every weight.
fn pair(weights: &[Vec<f64>], share: f64) -> Pair {
    let network = |scale: f64| {
        let scaled = |w: &Vec<f64>| w.iter().map(|v| v * scale).collect::<Vec<_>>();
        weights.iter().zip(&SIZES[1..]).map(|(w, &rows)| layer(&scaled(w), rows, 0.0)).collect::<Vec<_>>()
    };
    Pair::new(network(1.0), network(share)).unwrap()
}

fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![0.1f64..1.0, -1.0f64..-0.1]
}

fn functional() -> impl Strategy<Value = LinearFunctional> {
    let form = prop_oneof![Just(Quantity::First), Just(Quantity::Second), Just(Quantity::Difference)];
    vec((form, 0usize..2, -2.0f64..2.0), 1..4).prop_map(|terms| LinearFunctional { terms, constant: 0.3 })
}

#[test]
fn the_score_is_the_derivative_of_the_reach_where_slopes_stand_still() {
    // Without biases and on boxes around zero every range is symmetric: slopes are 1/2 whatever the widths are.
    let weights = (vec(weight(), SIZES[0] * SIZES[1]), vec(weight(), SIZES[1] * SIZES[2]));
    for_all(64, (weights, vec(0.5f64..2.0, SIZES[0]), functional()), |((first, second), radius, functional)| {
        let pair = pair(&[first, second], 0.9);
        let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
        let (mut row, mut sensitivity) = (GeneratorRow::default(), Sensitivity::default());
        let mut reach_of = |radius: &[f64]| {
            let lower: Vec<f64> = radius.iter().map(|r| -r).collect();
            let output = reach.propagate(&pair, &lower, radius).unwrap();
            let reached = output.upper(&functional, &mut row) - row.centre;
            (reached, sensitivity.score(reach.layers(), SIZES[0], &row).to_vec())
        };
        let (whole, score) = reach_of(&radius);
        for i in 0..SIZES[0] {
            let share = 1e-6;
            let mut narrow = radius.clone();
            narrow[i] *= 1.0 - share;
            let slope = (whole - reach_of(&narrow).0) / share;
            prop_assert!((slope - score[i]).abs() <= 1e-6 * (1.0 + whole), "input {i}: {slope} is not {}", score[i]);
        }
        Ok(())
    });
}

#[test]
fn an_input_without_influence_has_no_score_and_the_others_have_one() {
    let dead = |mut w: Vec<f64>| {
        w.iter_mut().skip(2).step_by(SIZES[0]).for_each(|v| *v = 0.0);
        w
    };
    let weights = (vec(weight(), SIZES[0] * SIZES[1]).prop_map(dead), vec(weight(), SIZES[1] * SIZES[2]));
    for_all(64, (weights, vec((-1.0f64..1.0, 0.1f64..2.0), SIZES[0])), |((first, second), region)| {
        let pair = pair(&[first, second], 0.8);
        let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
        let (lower, upper): (Vec<f64>, Vec<f64>) = region.iter().map(|(c, r)| (c - r, c + r)).unzip();
        let output = reach.propagate(&pair, &lower, &upper).unwrap();
        let mut row = GeneratorRow::default();
        output.row([(Quantity::First, 0, 1.0)], 0.0, &mut row);
        let dead = row.generators.iter().all(|g| *g == 0.0);
        let mut sensitivity = Sensitivity::default();
        let score = sensitivity.score(reach.layers(), SIZES[0], &row);
        prop_assert_eq!(score.len(), SIZES[0]);
        for (i, s) in score.iter().enumerate() {
            prop_assert!(s.is_finite() && (*s > 0.0) == (i != 2 && !dead), "input {i}: {s}");
        }
        Ok(())
    });
}
