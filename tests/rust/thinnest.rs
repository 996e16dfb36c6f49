//! The strips of differences D = f(x) - f(y) beside the thinnest ones of their kind: for random ranges of x and of
//! d = x - y, the least width of a strip lam d + c around the true set, over a dense sample of it. That width is convex
//! in lam, so the least one is a linear program in one variable, which a search by thirds solves.
//!
//! Both networks apply f to one neuron, of x and of x - d. What the form of D has besides a multiple of d is the width
//! of its strip. A sample misses a little of the true set, so ratios err on the side of too large.

use crate::random::for_all;
use eqspec::curve::Curve;
use eqspec::domain::output::GeneratorRow;
use eqspec::domain::{AbstractDomain, Propagation, Quantity};
use eqspec::network::{Curves, Function, Origin, Pair, Step, Term, Tile};
use ndarray::{Array1, Array2};
use proptest::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;

/// Thirteen functions, with their parameters.
const FUNCTIONS: [(&str, &[f64]); 13] = [
    ("pieces", &[1.0, 0.0, 0.0, 1.0, 0.0]),
    ("pieces", &[1.0, 0.0, 0.1, 1.0, 0.0]),
    ("pieces", &[2.0, -1.0, 1.0, 0.0, 1.0, 0.0, -1.0]),
    ("hardswish", &[1.0 / 6.0, 0.5]),
    ("sigmoid", &[]),
    ("tanh", &[]),
    ("gelu", &[]),
    ("silu", &[]),
    ("softplus", &[]),
    ("elu", &[1.0]),
    ("selu", &[1.673_263_2, 1.050_701]),
    ("mish", &[]),
    ("softsign", &[]),
];

/// The radius of d, as a share of that of x.
const SHARES: [f64; 3] = [0.01, 0.1, 1.0];

/// Points of a range.
const SAMPLES: u32 = 33;

/// Ranges of x and d, as centres and radii.
type Ranges = [(f64, f64); 2];

fn network(curve: &Curve, coefficients: [f64; 2]) -> Vec<Step> {
    let step = |origin: Origin, weight: &[f64], function: Function| {
        let weight = Array2::from_shape_vec((1, weight.len()), weight.to_vec()).unwrap();
        let tile = Tile::dense(&weight.view(), None).unwrap();
        Step::new(vec![Term { origin, tile }], &Array1::zeros(1).view(), None, function).unwrap()
    };
    let bent = Function::Curves(Arc::new(Curves::new(vec![curve.clone()], 1, None).unwrap()));
    vec![step(Origin::Inputs, &coefficients, bent), step(Origin::Step(0), &[1.0], Function::Identity)]
}

/// The width of the strip of D that a propagation finds: all but its multiple of d.
fn width(curve: &Curve, [x, d]: Ranges) -> f64 {
    let pair = Pair::of_steps(2, network(curve, [1.0, 0.0]), network(curve, [1.0, -1.0]), Vec::new()).unwrap();
    let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth());
    let output = propagation.propagate(&pair, &[x.0 - x.1, d.0 - d.1], &[x.0 + x.1, d.0 + d.1]).unwrap();
    let mut row = GeneratorRow::default();
    output.row([(Quantity::Difference, 0, 1.0)], 0.0, &mut row);
    let besides = row.generators.iter().enumerate().filter(|(i, _)| *i != 1);
    2.0 * (besides.map(|(_, c)| c.abs()).sum::<f64>() + row.err)
}

/// The least width of a strip around a sample of (d, D).
fn thinnest(curve: &Curve, ranges: Ranges) -> f64 {
    let [xs, ds] = ranges.map(|(centre, radius)| {
        (0..SAMPLES).map(move |i| centre + radius * (2.0 * f64::from(i) / f64::from(SAMPLES - 1) - 1.0))
    });
    let value = |x: f64| curve.value(x).value;
    let sample: Vec<(f64, f64)> =
        xs.flat_map(|x| ds.clone().map(move |d| (x, d))).map(|(x, d)| (d, value(x) - value(x - d))).collect();
    let of = |lam: f64| {
        let heights = sample.iter().map(|(d, of_d)| of_d - lam * d);
        let ends = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, u), h| (l.min(h), u.max(h)));
        ends.1 - ends.0
    };
    let (mut low, mut high) = (-2.0, 3.0); // slopes of all these functions lie between
    for _ in 0..40 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if of(a) <= of(b) { high = b } else { low = a }
    }
    of(0.5 * (low + high))
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

#[test]
fn strips_of_differences_are_nearly_the_thinnest() {
    let ratios = RefCell::new(vec![Vec::new(); FUNCTIONS.len() * SHARES.len()]);
    let ranges = (-2.0f64..2.0, -1.0f64..0.7, -1.0f64..1.0);
    for_all(12, ranges, |(centre, size, aside)| {
        for (number, (name, parameters)) in FUNCTIONS.iter().enumerate() {
            let curve = Curve::new(name, parameters).unwrap();
            for (k, share) in SHARES.iter().enumerate() {
                let radius = 10f64.powf(size);
                let ranges = [(centre, radius), (aside * share * radius, share * radius)];
                let (ours, least) = (width(&curve, ranges), thinnest(&curve, ranges));
                prop_assert!(ours >= least * (1.0 - 1e-9) - 1e-12, "{name}: {ours:e} below {least:e}");
                if least > 1e-9 {
                    ratios.borrow_mut()[number * SHARES.len() + k].push(ours / least);
                }
            }
        }
        Ok(())
    });
    for (at, found) in ratios.into_inner().into_iter().enumerate() {
        let (name, share) = (FUNCTIONS[at / SHARES.len()].0, SHARES[at % SHARES.len()]);
        let (count, middle) = (found.len(), median(found));
        println!("{name} {share}: {middle:.3} of {count}");
        assert!(middle <= 1.15, "{name}, radii 1 : {share}: {middle} times the thinnest strip, in the median");
    }
}
