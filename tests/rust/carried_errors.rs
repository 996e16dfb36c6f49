//! Errors that become parts of generators: deep networks with functions other than ReLU whose weights are known within large
//! errors, and networks within these errors at points; and a long recurrent network, whose bounds rounding must not spoil.

use crate::random::for_all;
use crate::smooth::values;
use eqspec::curve::Curve;
use eqspec::domain::layer_state::LayerState;
use eqspec::domain::output::GeneratorRow;
use eqspec::domain::phase::Bounds;
use eqspec::domain::{AbstractDomain, EuclideanNorms, Output, Propagation, Quantity, Together};
use eqspec::network::{Curves, Function, Origin, Pair, Step, Term, Tile};
use ndarray::{Array1, Array2, array};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::Cell;
use std::sync::Arc;

const FUNCTIONS: &[(&str, &[f64])] = &[
    ("sigmoid", &[]),
    ("tanh", &[]),
    ("softplus", &[]),
    ("elu", &[1.0]),
    ("square", &[]),
    ("sin", &[]),
    ("gelu", &[]),
    ("silu", &[]),
    ("hardswish", &[1.0 / 6.0, 0.5]),
    ("pieces", &[2.0, -0.5, 0.75, 0.1, 1.0, -0.2, 0.3]),
];

const INPUTS: usize = 2;
const HIDDEN: usize = 3;
const LAYERS: usize = 5;
const OUTPUTS: usize = 2;
const WEIGHTS: usize = HIDDEN * (INPUTS + (LAYERS - 1) * HIDDEN + OUTPUTS);

fn function(which: usize) -> Function {
    let (name, parameters) = FUNCTIONS[which];
    let curve = Curve::new(name, parameters).unwrap_or_else(|problem| panic!("{problem}"));
    Function::Curves(Arc::new(Curves::new(vec![curve], HIDDEN, None).expect("one function")))
}

/// Layers with these functions, all weights within `error`.
fn network(weights: &[f64], functions: &[usize], error: f64) -> Vec<Step> {
    let mut rest = weights.iter().copied();
    let mut steps = Vec::new();
    for l in 0..=LAYERS {
        let columns = if l == 0 { INPUTS } else { HIDDEN };
        let rows = if l == LAYERS { OUTPUTS } else { HIDDEN };
        let weight = Array2::from_shape_simple_fn((rows, columns), || rest.next().unwrap_or(0.5));
        let errors = Array2::from_elem((rows, columns), error);
        let tile = Tile::dense(&weight.view(), (error > 0.0).then(|| errors.view()).as_ref()).expect("a matrix");
        let origin = if l == 0 { Origin::Inputs } else { Origin::Step(l - 1) };
        let function = if l == LAYERS { Function::Identity } else { function(functions[l]) };
        let term = Term { origin, tile };
        steps.push(Step::new(vec![term], &Array1::zeros(rows).view(), None, function).expect("fitting sizes"));
    }
    steps
}

fn check(what: &str, of: &Bounds, truth: impl Iterator<Item = f64>) -> Result<(), TestCaseError> {
    for (i, v) in truth.enumerate() {
        let room = 1e-11 * (1.0 + v.abs());
        let (l, u) = (of.lower[i], of.upper[i]);
        prop_assert!(l - room <= v && v <= u + room, "{what}[{i}] is {v:e}, outside [{l:e}, {u:e}]");
    }
    Ok(())
}

/// Weights of both, functions of each layer, the error, a box, points of it and where weights lie within their errors.
type Material = (Vec<f64>, Vec<f64>, Vec<usize>, f64, Vec<f64>, f64, Vec<(Vec<f64>, Vec<f64>)>);

fn material() -> impl Strategy<Value = Material> {
    let ends = || prop_oneof![Just(-0.999), Just(0.999), -1.0f64..1.0];
    let point = (vec(ends(), INPUTS), vec(ends(), 2 * WEIGHTS));
    let error = prop_oneof![Just(1e-9), Just(1e-5), 1e-4f64..0.03];
    let radius = prop_oneof![Just(0.0), Just(1e-6), 0.001f64..0.5];
    let functions = vec(0..FUNCTIONS.len(), LAYERS);
    let weights = || vec(-1.2f64..1.2, WEIGHTS);
    (weights(), vec(-1.0f64..1.0, WEIGHTS), functions, error, vec(-1.0f64..1.0, INPUTS), radius, vec(point, 8))
}

#[test]
fn what_networks_within_errors_give_is_enclosed() {
    let (taken, beside, rows) = (Cell::new(0), Cell::new(0), Cell::new(0));
    for_all(1500, material(), |(weights, other, functions, error, centre, radius, points)| {
        // Of networks that are far apart differences are those of both rows, which use the generators of both.
        let far = functions[0] == functions[1];
        let near: Vec<f64> = weights.iter().zip(&other).map(|(w, o)| w + if far { *o } else { 0.02 * o }).collect();
        let of = |weights: &[f64], error| network(weights, &functions, error);
        let pair = Pair::of_steps(INPUTS, of(&weights, error), of(&near, error), Vec::new()).expect("two programs");
        let (lower, upper): (Vec<f64>, Vec<f64>) = centre.iter().map(|c| (c - radius, c + radius)).unzip();
        let found: Vec<_> = points
            .iter()
            .map(|(p, off)| {
                let x: Vec<f64> = (0..INPUTS).map(|i| (centre[i] + radius * p[i]).clamp(lower[i], upper[i])).collect();
                let moved =
                    |weights: &[f64], off: &[f64]| weights.iter().zip(off).map(|(w, o)| w + error * o).collect();
                let (first, second): (Vec<f64>, Vec<f64>) =
                    (moved(&weights, &off[..WEIGHTS]), moved(&near, &off[WEIGHTS..]));
                [values(&of(&first, 0.0), &x), values(&of(&second, 0.0), &x)]
            })
            .collect();
        let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth());
        if propagation.propagate(&pair, &lower, &upper).is_none() {
            return Ok(());
        }
        let layers = propagation.layers();
        for [x, y] in &found {
            for (s, layer) in layers.iter().enumerate() {
                check(&format!("x of step {s}"), &layer.x, x[s].iter().copied())?;
                check(&format!("y of step {s}"), &layer.y, y[s].iter().copied())?;
                check(&format!("d of step {s}"), &layer.d, x[s].iter().zip(&y[s]).map(|(a, b)| a - b))?;
            }
        }
        let both = |layer: &LayerState| {
            let r = &layer.transformer_d;
            (0..r.of_d.len()).filter(|&i| r.fresh1[i] != 0.0 && r.fresh_own[i] != 0.0).count()
        };
        beside.set(beside.get() + layers[..LAYERS].iter().map(both).sum::<usize>());
        taken.set(taken.get() + layers.iter().map(|layer| layer.transformer_d.with_errors.len()).sum::<usize>());
        let norms = EuclideanNorms::of(&pair, layers, (INPUTS, Together::All), || false);
        let output = Output::new(&layers[LAYERS], INPUTS, AbstractDomain::Reduced);
        let mut row = GeneratorRow::default();
        for [a, b, c] in [[0.0, 0.0, 1.0], [1.0, -1.0, 0.0], [1.0, -1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, 0.25, -2.0]] {
            for o in 0..OUTPUTS {
                let terms = [(Quantity::First, o, a), (Quantity::Second, o, b), (Quantity::Difference, o, c)];
                output.row(terms, 0.25, &mut row);
                let upper = row.upper().min(norms.upper(&mut row));
                for [x, y] in &found {
                    let (x, y) = (x[LAYERS][o], y[LAYERS][o]);
                    let truth = a * x + b * y + c * (x - y) + 0.25;
                    prop_assert!(truth <= upper + 1e-10 * (1.0 + x.abs() + y.abs()), "{truth:e} is above {upper:e}");
                    rows.set(rows.get() + 1);
                }
            }
        }
        Ok(())
    });
    let (taken, beside, rows) = (taken.get(), beside.get(), rows.get());
    assert!(
        taken > 2000 && beside > 100 && rows > 20_000,
        "{taken} errors taken up, {beside} side by side, {rows} rows"
    );
}

/// h' = tanh(R h), so many times, with a rotation R by an eighth of a turn, whose rows' sizes come to 1.41.
fn turning(places: usize, off: f64) -> Vec<Step> {
    let c = std::f64::consts::FRAC_1_SQRT_2;
    let weight = array![[c, -c + off], [c, c]];
    let of_place = |k: usize| {
        let curve = Curve::new("tanh", &[]).expect("a function");
        let function = if k + 1 == places {
            Function::Identity
        } else {
            Function::Curves(Arc::new(Curves::new(vec![curve], 2, None).expect("one function")))
        };
        let origin = if k == 0 { Origin::Inputs } else { Origin::Step(k - 1) };
        let term = Term { origin, tile: Tile::dense(&weight.view(), None).expect("a matrix") };
        Step::new(vec![term], &Array1::zeros(2).view(), None, function).expect("fitting sizes")
    };
    (0..places).map(of_place).collect()
}

#[test]
fn rounding_does_not_grow_along_a_recurrent_network() {
    let pair = Pair::of_steps(2, turning(140, 0.0), turning(140, 1e-3), Vec::new()).expect("two programs");
    let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth());
    let output = propagation.propagate(&pair, &[0.5, 0.5], &[0.5 + 1e-6, 0.5 + 1e-6]).expect("bounds");
    // By sizes rounding comes to 1e-16 times 1.41^140, which is more than 1e5.
    let layer = output.layer();
    let width = |b: &Bounds| b.upper[0] - b.lower[0];
    assert!(width(&layer.x) < 1e-5 && width(&layer.d) < 1e-5, "{:e} {:e}", width(&layer.x), width(&layer.d));
    assert!(layer.extent_d.err[0] < 1e-9, "{:e}", layer.extent_d.err[0]);
}
