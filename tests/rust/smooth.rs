//! Every function of one variable in a pair of small networks: what zonotopes, intervals and backward bounds enclose
//! holds what the networks give at points, which are computed in plain rounding, so that a little room is left. Exactly
//! this is tested with piecewise linear functions (`graphs`, `backward_programs`); here it is the smooth ones' turn.

use crate::random::for_all;
use eqspec::bound::Contractor;
use eqspec::curve::Curve;
use eqspec::domain::intermediate_bounds::IntermediateBounds;
use eqspec::domain::intervals;
use eqspec::domain::output::GeneratorRow;
use eqspec::domain::phase::Bounds;
use eqspec::domain::{AbstractDomain, EuclideanNorms, Output, Propagation, Quantity, Together};
use eqspec::network::{Curves, Function, Origin, Pair, Step, Term, Tile};
use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::Cell;
use std::sync::Arc;

/// Functions with parameters; `true` where they are asked at positive numbers only.
const FUNCTIONS: &[(&str, &[f64], bool)] = &[
    ("sigmoid", &[], false),
    ("tanh", &[], false),
    ("softplus", &[], false),
    ("softsign", &[], false),
    ("atan", &[], false),
    ("elu", &[1.0], false),
    ("elu", &[1.75], false),
    ("celu", &[0.5], false),
    ("selu", &[1.673_263_2, 1.050_701], false),
    ("exp", &[], false),
    ("log", &[], true),
    ("sqrt", &[], true),
    ("reciprocal", &[], true),
    ("square", &[], false),
    ("power", &[3.0], false),
    ("power", &[-1.5], true),
    ("power", &[0.3], true),
    ("erf", &[], false),
    ("sin", &[], false),
    ("cos", &[], false),
    ("gelu", &[], false),
    ("gelu_tanh", &[], false),
    ("silu", &[], false),
    ("hardswish", &[1.0 / 6.0, 0.5], false),
    ("mish", &[], false),
    ("thresholded", &[0.4], false),
    ("sign", &[], false),
    ("floor", &[], false),
    ("pieces", &[2.0, -0.5, 0.75, 0.1, 1.0, -0.2, 0.3], false),
];

/// Weights of both networks, their functions, a box and points of it.
type Material = (Vec<f64>, Vec<f64>, [usize; 3], Vec<f64>, f64, Vec<Vec<f64>>);

const INPUTS: usize = 3;
const HIDDEN: usize = 4;
const WEIGHTS: usize = INPUTS * HIDDEN + HIDDEN * HIDDEN + 2 * HIDDEN + 2 * HIDDEN;

fn material() -> impl Strategy<Value = Material> {
    let radius = prop_oneof![Just(1e-6), 0.001f64..0.3, 0.3f64..2.0];
    let other = prop_oneof![6 => Just(FUNCTIONS.len()), 1 => 0..FUNCTIONS.len()];
    let which = (0..FUNCTIONS.len(), 0..FUNCTIONS.len(), other).prop_map(|(a, b, c)| [a, b, c]);
    let points = vec(vec(prop_oneof![Just(-1.0), Just(1.0), -1.0f64..1.0], INPUTS), 12);
    (vec(-1.0f64..1.0, WEIGHTS), vec(-1.0f64..1.0, WEIGHTS), which, vec(-1.5f64..1.5, INPUTS), radius, points)
}

fn function(which: usize) -> Function {
    let (name, parameters, _) = FUNCTIONS[which];
    let curve = Curve::new(name, parameters).unwrap_or_else(|problem| panic!("{problem}"));
    Function::Curves(Arc::new(Curves::new(vec![curve], HIDDEN, None).expect("one function")))
}

/// Inputs, a function, another one, outputs. A function of positive numbers reads what has been made positive: all its
/// weights are, and what it reads is squashed by a sigmoid.
fn network(weights: &[f64], [mut first, second]: [usize; 2]) -> Vec<Step> {
    let positive = FUNCTIONS[second].2;
    if FUNCTIONS[first].2 || positive {
        first = 0;
    }
    let mut rest = weights.iter().copied();
    let mut step = |origin: Origin, columns: usize, rows: usize, positive: bool, function: Function| {
        let next = |w: f64| if positive { w.abs() + 0.05 } else { w };
        let weight = Array2::from_shape_simple_fn((rows, columns), || next(rest.next().unwrap_or(0.5)));
        let bias = Array1::from_shape_simple_fn(rows, || next(rest.next().unwrap_or(0.25)));
        let tile = Tile::dense(&weight.view(), None).expect("a matrix");
        Step::new(vec![Term { origin, tile }], &bias.view(), None, function).expect("fitting sizes")
    };
    vec![
        step(Origin::Inputs, INPUTS, HIDDEN, false, function(first)),
        step(Origin::Step(0), HIDDEN, HIDDEN, positive, function(second)),
        step(Origin::Step(1), HIDDEN, 2, false, Function::Identity),
    ]
}

/// The values of all steps before their functions.
pub fn values(steps: &[Step], x: &[f64]) -> Vec<Vec<f64>> {
    let (mut before, mut behind) = (Vec::new(), x.to_vec());
    for step in steps {
        let mut now = step.bias.clone();
        for term in &step.terms {
            term.tile.add_product(&mut now, &term.tile.weight, &behind);
        }
        behind.clone_from(&now);
        step.function.apply(&mut behind);
        before.push(now);
    }
    before
}

fn check(what: &str, of: &Bounds, truth: &[f64]) -> Result<(), TestCaseError> {
    for (i, v) in truth.iter().enumerate() {
        let room = 1e-11 * (1.0 + v.abs());
        let (l, u) = (of.lower[i], of.upper[i]);
        prop_assert!(l - room <= *v && *v <= u + room, "{what}[{i}] is {v:e}, outside [{l:e}, {u:e}]");
    }
    Ok(())
}

fn check_all(what: &str, bounds: &IntermediateBounds, points: &[[Vec<Vec<f64>>; 2]]) -> Result<(), TestCaseError> {
    for [x, y] in points {
        for (s, known) in bounds.layers.iter().enumerate() {
            let d: Vec<f64> = x[s].iter().zip(&y[s]).map(|(a, b)| a - b).collect();
            for (name, of, truth) in [("x", &known.x, &x[s]), ("y", &known.y, &y[s]), ("d", &known.d, &d)] {
                check(&format!("{what}: {name} of step {s}"), of, truth)?;
            }
        }
    }
    Ok(())
}

/// Sizes of differences, and rows of the outputs, by lengths of what functions add to them.
fn check_norms(
    pair: &Pair,
    propagation: &Propagation,
    mut bounds: IntermediateBounds,
    points: &[[Vec<Vec<f64>>; 2]],
) -> Result<(), TestCaseError> {
    let norms = EuclideanNorms::of(pair, propagation.layers(), (INPUTS, Together::All), || false);
    prop_assert!(norms.narrow(&mut bounds).is_ok());
    check_all("norms", &bounds, points)?;
    let output = Output::new(&propagation.layers()[2], INPUTS, AbstractDomain::Reduced);
    let mut row = GeneratorRow::default();
    for (o, sign) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)] {
        output.row([(Quantity::Difference, o, sign)], 0.25, &mut row);
        let upper = norms.upper(&mut row);
        for [x, y] in points {
            let truth = sign * (x[2][o] - y[2][o]) + 0.25;
            prop_assert!(truth <= upper + 1e-11 * (1.0 + x[2][o].abs()), "{truth:e} is above {upper:e}");
        }
    }
    Ok(())
}

fn jumps(which: usize) -> bool {
    ["thresholded", "sign", "floor"].contains(&FUNCTIONS[which].0)
}

#[test]
fn what_smooth_networks_give_is_enclosed() {
    let (decided, tight, planes) = (Cell::new(0), Cell::new(0), Cell::new(0));
    for_all(3000, material(), |(weights, other, [a, b, c], centre, radius, points)| {
        // The candidate: nearly the same weights, and now and then another function.
        let near: Vec<f64> = weights.iter().zip(&other).map(|(w, o)| w + 0.01 * o).collect();
        let c = if c < FUNCTIONS.len() && FUNCTIONS[c].2 == FUNCTIONS[b].2 { c } else { b };
        let (first, second) = (network(&weights, [a, b]), network(&near, [a, c]));
        let pair = Pair::of_steps(INPUTS, first.clone(), second.clone(), Vec::new()).expect("two programs");
        let (lower, upper): (Vec<f64>, Vec<f64>) = centre.iter().map(|c| (c - radius, c + radius)).unzip();
        let at = |p: &Vec<f64>| {
            let x: Vec<f64> = (0..INPUTS).map(|i| (centre[i] + radius * p[i]).clamp(lower[i], upper[i])).collect();
            [values(&first, &x), values(&second, &x)]
        };
        let found: Vec<_> = points.iter().map(at).collect();
        // A value next to a jump may be on the other side in plain rounding.
        let near_jump = |v: &f64| (v - v.round()).abs() < 1e-9 || (v - 0.4).abs() < 1e-9;
        let doubtful = [(0, a), (1, b), (1, c)]
            .iter()
            .any(|&(s, which)| jumps(which) && found.iter().flatten().any(|of| of[s].iter().any(near_jump)));
        if doubtful {
            return Ok(());
        }
        let mut bounds = intervals::enclose(&pair, &lower, &upper);
        check_all("intervals", &bounds, &found)?;
        let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth()).with_back_substitution(true);
        if propagation.propagate(&pair, &lower, &upper).is_some() {
            let reached = IntermediateBounds::of(propagation.layers(), &lower, &upper);
            check_all("a propagation", &reached, &found)?;
            check_norms(&pair, &propagation, reached.clone(), &found)?;
            decided.set(decided.get() + 1);
            let rows = propagation.layers().iter().map(|layer| &layer.transformer_d);
            let in_planes =
                rows.map(|r| r.of_y.iter().zip(&r.fresh_own).filter(|(y, own)| **y != 0.0 && **own != 0.0).count());
            planes.set(planes.get() + in_planes.sum::<usize>());
            let width = |b: &Bounds, i: usize| b.upper[i] - b.lower[i];
            let known = &reached.layers[2];
            tight.set(tight.get() + usize::from(width(&known.d, 0) < 0.3 * width(&known.x, 0)));
        }
        let mut forms = Propagation::new(AbstractDomain::Reduced, pair.depth()).of_second_order();
        if let Ok(output) = forms.enclose(&pair, &lower, &upper) {
            let mut row = GeneratorRow::default();
            for (o, sign) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)] {
                output.row([(Quantity::Difference, o, sign)], 0.25, &mut row);
                for [x, y] in &found {
                    let (truth, room) = (sign * (x[2][o] - y[2][o]) + 0.25, 1e-11 * (1.0 + x[2][o].abs()));
                    prop_assert!(truth <= row.upper() + room, "{truth:e} is above {:e}", row.upper());
                }
            }
            check_all("second order", &IntermediateBounds::of(forms.layers(), &lower, &upper), &found)?;
        }
        prop_assert!(Contractor::new(&pair).tighten(&mut bounds, || false).is_ok(), "a box without inputs?");
        check_all("backward bounds", &bounds, &found)
    });
    assert!(decided.get() > 2000 && tight.get() > 500 && planes.get() > 2000, "{decided:?} {tight:?} {planes:?}");
}

fn curve(name: &str, parameters: &[f64], rows: usize) -> Function {
    let curve = Curve::new(name, parameters).unwrap_or_else(|problem| panic!("{problem}"));
    Function::Curves(Arc::new(Curves::new(vec![curve], rows, None).expect("one function")))
}

fn step(origin: Origin, weight: &Array2<f64>, error: f64, bias: f64, function: Function) -> Step {
    let bias = Array1::from_elem(weight.nrows(), bias);
    let errors = Array2::from_elem(weight.dim(), error);
    let tile = Tile::dense(&weight.view(), (error > 0.0).then_some(&errors.view())).expect("a matrix");
    Step::new(vec![Term { origin, tile }], &bias.view(), None, function).expect("fitting sizes")
}

/// Inputs, squares, their means with a small number added, to the power of -1/2, and outputs: a normalisation.
fn normalising(weights: &[f64]) -> Vec<Step> {
    let mut rest = weights.iter().copied();
    let mut next = || rest.next().unwrap_or(0.5);
    let first = Array2::from_shape_simple_fn((HIDDEN, INPUTS), &mut next);
    let last = Array2::from_shape_simple_fn((2, 1), next);
    vec![
        step(Origin::Inputs, &first, 0.0, 0.1, curve("square", &[], HIDDEN)),
        step(Origin::Step(0), &Array2::from_elem((1, HIDDEN), 0.25), 0.0, 1e-3, curve("power", &[-0.5], 1)),
        step(Origin::Step(1), &last, 0.0, 0.0, Function::Identity),
    ]
}

/// Zonotopes alone take a mean of squares for a number that may be negative where squares are bent.
#[test]
fn a_mean_of_squares_never_leaves_what_its_root_is_defined_on() {
    let away = Cell::new(0);
    for_all(400, material(), |(weights, other, _, centre, radius, points)| {
        let near: Vec<f64> = weights.iter().zip(&other).map(|(w, o)| w + 0.01 * o).collect();
        let (first, second) = (normalising(&weights), normalising(&near));
        let pair = Pair::of_steps(INPUTS, first.clone(), second.clone(), Vec::new()).expect("two programs");
        let (lower, upper): (Vec<f64>, Vec<f64>) = centre.iter().map(|c| (0.3 * c - radius, 0.3 * c + radius)).unzip();
        let at = |p: &Vec<f64>| {
            let x: Vec<f64> =
                (0..INPUTS).map(|i| (0.3 * centre[i] + radius * p[i]).clamp(lower[i], upper[i])).collect();
            [values(&first, &x), values(&second, &x)]
        };
        let found: Vec<_> = points.iter().map(at).collect();
        let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth());
        prop_assert!(propagation.propagate(&pair, &lower, &upper).is_some(), "nothing is known of the outputs");
        let reached = IntermediateBounds::of(propagation.layers(), &lower, &upper);
        let exact = reached.layers[1].x.lower[0] < 1.001e-3;
        away.set(away.get() + usize::from(exact));
        check_all("a propagation", &reached, &found)
    });
    assert!(away.get() > 40, "{away:?}");
}

/// A sum of squares, or of what is behind a ReLU, is at least its bias, whatever is rounded: its root has a value.
#[test]
fn a_root_is_defined_on_a_sum_without_negative_terms() {
    let defined = |front: &Function, weights: [f64; HIDDEN], error: f64, bias: f64| {
        let first = Array2::from_shape_fn((HIDDEN, INPUTS), |(i, j)| [0.3, -0.7, 1.1][(i + j) % 3]);
        let weights = Array2::from_shape_vec((1, HIDDEN), weights.to_vec()).expect("one row");
        let steps = vec![
            step(Origin::Inputs, &first, 0.0, 0.1, front.clone()),
            step(Origin::Step(0), &weights, error, bias, curve("sqrt", &[], 1)),
            step(Origin::Step(1), &Array2::from_elem((1, 1), 2.0), 0.0, 0.0, Function::Identity),
        ];
        let pair = Pair::of_steps(INPUTS, steps.clone(), steps, Vec::new()).expect("two programs");
        intervals::is_defined(&pair, &[-1.0; INPUTS], &[1.1; INPUTS])
    };
    for front in [curve("square", &[], HIDDEN), Function::Relu] {
        assert!(defined(&front, [0.1, 0.7, 0.0, 1.3], 0.0, 0.0));
        assert!(defined(&front, [0.1, 0.7, 0.3, 1.3], 1e-13, 1e-15), "what folding rounds");
        assert!(!defined(&front, [0.1, 0.7, 0.0, 1.3], 0.0, -1e-12), "below 0 by the bias");
        assert!(!defined(&front, [0.1, -1e-13, 0.7, 1.3], 0.0, 0.0), "below 0 by one term");
        assert!(!defined(&front, [0.1, 1e-13, 0.7, 1.3], 1e-12, 0.0), "below 0 by the error of a weight");
    }
    assert!(!defined(&curve("tanh", &[], HIDDEN), [0.1, 0.7, 0.0, 1.3], 0.0, 0.0), "terms of both signs");
}

/// ReLU written as pieces is bounded backwards as tightly as ReLU: without multipliers a functional has the line of an end on
/// the side where a knot is, as there, not the one that is parallel to the chord.
#[test]
fn pieces_are_bounded_as_tightly_as_relu() {
    let narrower = Cell::new(0);
    for_all(400, material(), |(weights, _, _, centre, radius, _)| {
        let (lower, upper): (Vec<f64>, Vec<f64>) = centre.iter().map(|c| (0.3 * c - radius, 0.3 * c + radius)).unzip();
        let found = |function: &Function, tighten: bool| {
            let mut rest = weights.iter().copied();
            let mut matrix =
                |rows, columns| Array2::from_shape_simple_fn((rows, columns), || rest.next().unwrap_or(0.5));
            let steps = vec![
                step(Origin::Inputs, &matrix(HIDDEN, INPUTS), 0.0, 0.1, function.clone()),
                step(Origin::Step(0), &matrix(HIDDEN, HIDDEN), 0.0, -0.1, function.clone()),
                step(Origin::Step(1), &matrix(2, HIDDEN), 0.0, 0.0, Function::Identity),
            ];
            let pair = Pair::of_steps(INPUTS, steps.clone(), steps, Vec::new()).expect("two programs");
            let mut bounds = intervals::enclose(&pair, &lower, &upper);
            assert!(!tighten || Contractor::new(&pair).tighten(&mut bounds, || false).is_ok(), "a box without inputs?");
            bounds.layers[2].x.clone()
        };
        let pieces = curve("pieces", &[1.0, 0.0, 0.0, 1.0, 0.0], HIDDEN);
        let [of_relu, of_pieces, before] =
            [found(&Function::Relu, true), found(&pieces, true), found(&Function::Relu, false)];
        for i in 0..2 {
            let room = 1e-9 * (1.0 + of_relu.size(i));
            let (known, same) = ((of_relu.lower[i], of_relu.upper[i]), (of_pieces.lower[i], of_pieces.upper[i]));
            prop_assert!(same.0 >= known.0 - room && same.1 <= known.1 + room, "{same:?}, of ReLU {known:?}");
            narrower.set(narrower.get() + usize::from(known.1 - known.0 < 0.95 * (before.upper[i] - before.lower[i])));
        }
        Ok(())
    });
    assert!(narrower.get() > 200, "{narrower:?}");
}
