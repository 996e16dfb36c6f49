//! Forms of second order: parabolas beside functions and lines beside their slopes hold, in exact numbers; the forms of
//! both networks and of their difference hold what functions give that are rational, with the products of inputs as they
//! are and every other generator anywhere; and so do rows in which forms share generators.

use crate::bent::behind_curve;
use crate::exact::{Exact, exact};
use crate::planes::{BENT, ends};
use crate::random::for_all;
use eqspec::curve::Curve;
use eqspec::domain::affine::Extent;
use eqspec::domain::columns::Columns;
use eqspec::domain::output::GeneratorRow;
use eqspec::domain::parabola::{Parabola, SlopeLine};
use eqspec::domain::{AbstractDomain, InputProducts, Propagation, Quantity};
use eqspec::network::{Curves, Function, Origin, Pair, Step, Term, Tile};
use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::Cell;
use std::sync::Arc;

/// A range, a centre that may lie beside it, and places of the range.
type Range = ((f64, f64), f64, Vec<(f64, f64)>);

fn ranges() -> impl Strategy<Value = (usize, Range)> {
    let width = prop_oneof![Just(1.0), Just(0.3), Just(0.01), Just(1e-7)];
    let places = vec((prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0], 0.0f64..=1.0), 12);
    (0..BENT.len(), 0.0f64..1.0, width, -0.5f64..1.5, places).prop_map(|(which, place, width, at, places)| {
        let (least, most) = BENT[which].2;
        let l = least + place * (most - least);
        let u = (l + width * (most - l)).max(l);
        let within = |t: f64| (l + t * (u - l)).clamp(l, u);
        (which, ((l, u), l + at * (u - l), places.into_iter().map(|(s, t)| (within(s), within(t))).collect()))
    })
}

#[test]
fn parabolas_and_lines_hold_on_their_range() {
    let (parabolas, lines, thin) = (Cell::new(0), Cell::new(0), Cell::new(0));
    for_all(6000, ranges(), |(which, (range, centre, places))| {
        let (name, parameters, _) = BENT[which];
        let curve = Curve::new(name, parameters).unwrap();
        let of = |x: f64| ends(curve.value(x));
        if let Some(p) = Parabola::around(&curve, range, centre) {
            parabolas.set(parabolas.get() + 1);
            let strip = curve.offset(curve.line(range.0, range.1), range.0, range.1);
            thin.set(thin.get() + usize::from(p.high - p.low < 0.3 * (strip.high - strip.low)));
            for &(x, _) in &places {
                let away = &exact(x) - &exact(centre);
                let at = &(&exact(x) * p.slope) + &(&(&away * &away) * p.bend);
                let (least, most) = of(x);
                prop_assert!(most >= &at + &exact(p.low), "{name} is below {p:?} at {x:e}");
                prop_assert!(least <= &at + &exact(p.high), "{name} is above {p:?} at {x:e}");
            }
        }
        if let Some(line) = SlopeLine::around(&curve, range, centre) {
            lines.set(lines.get() + 1);
            for &(p, q) in &places {
                let (low, high) = if p <= q { (p, q) } else { (q, p) };
                let apart = &exact(high) - &exact(low);
                let middle = &(&(&exact(p) + &exact(q)) * 0.5) - &exact(centre);
                let rise = &(&middle * line.rise) * &apart;
                let ((least_low, most_low), (least_high, most_high)) = (of(low), of(high));
                prop_assert!(
                    &most_high - &least_low >= &rise + &(&apart * line.low),
                    "{name}: {line:?}, {low}, {high}"
                );
                prop_assert!(
                    &least_high - &most_low <= &rise + &(&apart * line.high),
                    "{name}: {line:?}, {low}, {high}"
                );
            }
        }
        Ok(())
    });
    assert!(parabolas.get() > 4000 && lines.get() > 4000 && thin.get() > 2000, "{parabolas:?} {lines:?} {thin:?}");
}

const INPUTS: usize = 3;
const HIDDEN: usize = 4;

/// Functions whose values are rational: smooth ones, and one with knots.
fn functions(which: usize) -> Function {
    let of = |name: &str, parameters: &[f64]| Curve::new(name, parameters).unwrap();
    let square = of("square", &[]);
    let swish = of("hardswish", &[0.171_875, 0.5]);
    let pieces = of("pieces", &[2.0, -0.5, 0.75, 0.125, 1.0, -0.25, 0.3]);
    let (kinds, rows) = match which {
        0 => (vec![square], None),
        1 => (vec![swish], None),
        _ => (vec![square, swish, pieces], Some(vec![0, 1, 2, 1])),
    };
    Function::Curves(Arc::new(Curves::new(kinds, HIDDEN, rows).unwrap()))
}

fn value(function: &Function, row: usize, x: &Exact) -> Exact {
    let Some(curves) = function.curves() else { return x.clone() };
    let curve = curves.of(row);
    let parameters = curve.parameters();
    match curve.name() {
        "square" => x * x,
        "hardswish" => {
            let gate = &(x * parameters[0]) + &exact(parameters[1]);
            let gate = gate.max(exact(0.0)).min(exact(1.0));
            x * &gate
        }
        _ => behind_curve(curve, x),
    }
}

/// So many hidden steps and two outputs. Weights keep values about as large as they are.
fn network(weights: &[f64], kinds: &[usize]) -> Vec<Step> {
    let mut rest = weights.iter().copied();
    let mut step = |origin: Origin, columns: usize, rows: usize, function: Function| {
        let weight = Array2::from_shape_simple_fn((rows, columns), || rest.next().unwrap_or(0.5));
        let bias = Array1::from_shape_simple_fn(rows, || rest.next().unwrap_or(0.25));
        let term = Term { origin, tile: Tile::dense(&weight.view(), None).unwrap() };
        Step::new(vec![term], &bias.view(), None, function).unwrap()
    };
    let mut steps = vec![step(Origin::Inputs, INPUTS, HIDDEN, functions(kinds[0]))];
    for (s, &kind) in kinds.iter().enumerate().skip(1) {
        steps.push(step(Origin::Step(s - 1), HIDDEN, HIDDEN, functions(kind)));
    }
    steps.push(step(Origin::Step(kinds.len() - 1), HIDDEN, 2, Function::Identity));
    steps
}

/// The values of all steps before their functions.
fn values(steps: &[Step], x: &[Exact]) -> Vec<Vec<Exact>> {
    let (mut before, mut behind) = (Vec::new(), x.to_vec());
    for step in steps {
        let weight = &step.terms[0].tile.weight;
        let now: Vec<Exact> = (0..step.rows)
            .map(|i| {
                let terms = behind.iter().enumerate().map(|(j, v)| v * weight[j * step.rows + i]);
                terms.fold(exact(step.bias[i]), |sum, term| &sum + &term)
            })
            .collect();
        behind = now.iter().enumerate().map(|(i, v)| value(&step.function, i, v)).collect();
        before.push(now);
    }
    before
}

/// The generators of the inputs, and behind them those of the products of two free ones.
fn generators(e: &[f64], free: &[usize]) -> Vec<Exact> {
    let mut all: Vec<Exact> = e.iter().map(|&v| exact(v)).collect();
    for (k, &i) in free.iter().enumerate() {
        for &j in &free[k..] {
            let product = &exact(e[i]) * &exact(e[j]);
            all.push(if i == j { &(&product * 2.0) - &exact(1.0) } else { product });
        }
    }
    all
}

/// Whether a value lies within the error and all other generators of a row of a form.
fn check_form(
    what: &str,
    (form, more, extent): (&Columns, &Columns, &Extent),
    (row, truth, known): (usize, &Exact, &[Exact]),
) -> Result<(), TestCaseError> {
    let mut middle = exact(form.column(0)[row]);
    for (j, generator) in known.iter().enumerate() {
        middle = &middle + &(generator * form.column(1 + j)[row]);
    }
    let mut room = exact(extent.err[row]);
    for j in 1 + known.len()..form.len() {
        room = &room + &exact(form.column(j)[row].abs());
    }
    for j in 0..more.len() {
        room = &room + &exact(more.column(j)[row].abs());
    }
    let off = (truth - &middle).abs();
    prop_assert!(off <= room, "{what}[{row}] is off by {off:?}, more than {room:?}");
    Ok(())
}

/// Weights, changes of them, the functions of the hidden steps, the box, and places of it as generators.
type Material = (Vec<f64>, Vec<f64>, Vec<usize>, Vec<(f64, f64)>, f64, Vec<Vec<f64>>);

fn material() -> impl Strategy<Value = Material> {
    let weights = || vec(-0.75f64..0.75, INPUTS * HIDDEN + 2 * HIDDEN * HIDDEN + 6 * HIDDEN);
    let radius = prop_oneof![1 => Just(0.0), 5 => 0.0f64..0.4, 1 => Just(1e-6)];
    let change = prop_oneof![Just(0.0), Just(1e-9), Just(0.01), Just(0.3)];
    let places = vec(vec(prop_oneof![Just(-1.0), Just(1.0), Just(0.0), -1.0f64..1.0], INPUTS), 8);
    let kinds = vec(0usize..3, 1..=3);
    (weights(), weights(), kinds, vec((-1.0f64..1.0, radius), INPUTS), change, places)
}

#[test]
fn forms_of_second_order_hold_with_the_products_as_they_are() {
    let (boxes, bent, products, narrower) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    for_all(1500, material(), |(weights, other, kinds, region, change, places)| {
        let near: Vec<f64> = weights.iter().zip(&other).map(|(w, o)| w + change * o).collect();
        let steps = [network(&weights, &kinds), network(&near, &kinds)];
        let pair = Pair::of_steps(INPUTS, steps[0].clone(), steps[1].clone(), Vec::new()).unwrap();
        let (lower, upper): (Vec<f64>, Vec<f64>) = region.iter().map(|(c, r)| (c - r, c + r)).unzip();
        let free: Vec<usize> = (0..INPUTS).filter(|&i| lower[i] < upper[i]).collect();
        let count = InputProducts::of((&lower, &upper)).count();
        prop_assert_eq!(count, free.len() * (free.len() + 1) / 2);
        let mut plain = Propagation::new(AbstractDomain::Reduced, pair.depth());
        let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth()).of_second_order();
        let Ok(straight) = plain.enclose(&pair, &lower, &upper) else { return Ok(()) };
        let straight = straight.largest_difference([0, 1]);
        let (centre, radius) = {
            prop_assert!(propagation.enclose(&pair, &lower, &upper).is_ok());
            (propagation.centre().to_vec(), propagation.radius().to_vec())
        };
        let output = propagation.enclose(&pair, &lower, &upper).unwrap();
        boxes.set(boxes.get() + 1);
        narrower.set(narrower.get() + usize::from(output.largest_difference([0, 1]) < 0.8 * straight));
        let mut row = GeneratorRow::default();
        let functionals = [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.5, -0.25, 1.0), (1.0, -1.0, -1.0), (-1.0, 0.75, 0.5)];
        for e in &places {
            // Inside of the box also where its radius was rounded up.
            let e: Vec<f64> = e.iter().map(|v| v * (1.0 - 1e-9)).collect();
            let at = |i: usize| &exact(centre[i]) + &(&exact(e[i]) * radius[i]);
            let x: Vec<Exact> = (0..INPUTS).map(at).collect();
            let [of_x, of_y] = [0, 1].map(|side: usize| values(&steps[side], &x));
            let known = generators(&e, &free);
            let last = output.layer();
            let nothing = Columns::default();
            for i in 0..2 {
                let (x, y) = (&of_x[kinds.len()][i], &of_y[kinds.len()][i]);
                check_form("x", (&last.z1, &nothing, &last.extent1), (i, x, &known))?;
                check_form("y", (&last.z2, &nothing, &last.extent2), (i, y, &known))?;
                check_form("d", (&last.d_common, &last.d_rest, &last.extent_d), (i, &(x - y), &known))?;
                for (a, b, c) in functionals {
                    let terms = [(Quantity::First, i, a), (Quantity::Second, i, b), (Quantity::Difference, i, c)];
                    output.row(terms, 0.0, &mut row);
                    let truth = &(&(x * a) + &(y * b)) + &(&(x - y) * c);
                    prop_assert!(truth <= row.upper() && truth >= row.lower(), "{a} x + {b} y + {c} d");
                }
            }
        }
        for (s, layer) in propagation.layers().iter().enumerate().take(kinds.len()) {
            let count = |v: &[f64]| v.iter().filter(|&&b| b != 0.0).count();
            bent.set(bent.get() + count(&layer.transformer1.bend));
            products.set(products.get() + count(&layer.transformer_d.product));
            for e in &places {
                let e: Vec<f64> = e.iter().map(|v| v * (1.0 - 1e-9)).collect();
                let x: Vec<Exact> = (0..INPUTS).map(|i| &exact(centre[i]) + &(&exact(e[i]) * radius[i])).collect();
                let [of_x, of_y] = [0, 1].map(|side: usize| values(&steps[side], &x).swap_remove(s));
                for i in 0..HIDDEN {
                    let d = &of_x[i] - &of_y[i];
                    for (of, truth) in [(&layer.x, &of_x[i]), (&layer.y, &of_y[i]), (&layer.d, &d)] {
                        prop_assert!(*truth >= of.lower[i] && *truth <= of.upper[i], "step {s}, row {i}");
                    }
                }
            }
        }
        Ok(())
    });
    let seen = (boxes.get(), bent.get(), products.get(), narrower.get());
    assert!(seen.0 > 1300 && seen.1 > 2000 && seen.2 > 2000 && seen.3 > 60, "{seen:?}");
}
