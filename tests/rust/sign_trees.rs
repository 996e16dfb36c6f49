//! Splits at signs within fixed bounds: bounds of every part hold at every input that has its signs, whatever the
//! multipliers are and whatever stands beside it in a batch; lines of D hold in exact numbers, of ReLU and of other functions; a tree excludes nothing that
//! happens, and more than the whole by itself.

use crate::assumed::{Draw, Values, draws, fill, prepare, violation};
use crate::bent::behind_curve;
use crate::exact::exact;
use crate::programs::{Programs, programs};
use crate::random::{Case, Scale, Weights, any_scale, for_all};
use eqspec::bound::constraints::Constraints;
use eqspec::bound::lines::{AffineBound, Neuron};
use eqspec::bound::own_relaxations::lines_of_difference;
use eqspec::bound::parameters::{Parameters, Sizes};
use eqspec::bound::{Assumption, Contractor, Side, SignTreeBudget};
use eqspec::curve::Curve;
use eqspec::domain::intermediate_bounds::IntermediateBounds;
use eqspec::domain::phase::Bounds;
use eqspec::domain::{Quantity, intervals};
use eqspec::network::{Curves, Function, Pair};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::Cell;
use std::sync::Arc;

const BUDGET: SignTreeBudget = SignTreeBudget { work: 100_000_000, foreseen_after: 64, at_once: 6 };

fn multipliers(pair: &Pair, assumption: &Assumption, draw: &Draw, relative: bool) -> Parameters {
    let hidden: Vec<usize> =
        (0..pair.depth() - 1).map(|s| if pair.function(s).is_identity() { 0 } else { pair.first[s].rows }).collect();
    let (rows, outputs, region) = (assumption.rows(), assumption.outputs(), assumption.region.rows());
    let mut drawn = Parameters::new(1, &Sizes { rows, outputs, hidden: &hidden, phases: 0, region }, 0.0);
    fill(&mut drawn, &draw.multipliers);
    drawn.relative_links = relative;
    drawn
}

/// The numbers at which a neuron is split: 0 for ReLU, and knots within its bounds.
fn places(pair: &Pair, known: &Bounds, layer: usize, (network, index): (usize, usize)) -> Vec<f64> {
    match (pair.curves(layer), pair.function(layer)) {
        (Some(curves), _) => {
            let (mut l, mut found) = (known.lower[index], Vec::new());
            while let Some(knot) = curves[network].of(index).middle_knot(l, known.upper[index]) {
                found.push(knot);
                l = knot;
            }
            found
        }
        (None, Function::Relu) => vec![0.0],
        _ => Vec::new(),
    }
}

/// On which sides of these numbers x and y are at an input, of every neuron that the number chooses.
fn sides(pair: &Pair, bounds: &IntermediateBounds, values: &Values, chosen: u64) -> Vec<Side> {
    let hidden = values.x.len() - 1;
    let mut all = Vec::new();
    for layer in 0..hidden {
        let known = &bounds.layers[layer];
        let both = [(Quantity::First, &values.x[layer], &known.x), (Quantity::Second, &values.y[layer], &known.y)];
        for (network, (quantity, v, b)) in both.into_iter().enumerate() {
            for (index, v) in v.iter().enumerate() {
                let places = places(pair, b, layer, (network, index)).into_iter();
                all.extend(places.map(|place| Side { quantity, layer, index, place, above: *v >= place }));
            }
        }
    }
    let kept = |(k, _): &(usize, Side)| chosen >> (k % 64) & 1 == 1;
    all.into_iter().enumerate().filter(kept).map(|(_, side)| side).collect()
}

/// Whether an input has these sides.
fn has(value: &Values, sides: &[Side]) -> bool {
    sides.iter().all(|s| {
        let of = if s.quantity == Quantity::First { &value.x } else { &value.y };
        let v = &of[s.layer][s.index];
        if s.above { *v >= s.place } else { *v <= s.place }
    })
}

fn check_parts(
    case: &Programs,
    draw: &Draw,
    (relative, chosen): (bool, [u64; 3]),
    seen: &Cell<[usize; 3]>,
) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let multipliers = multipliers(&pair, &assumption, draw, relative);
    let mut contractor = Contractor::new(&pair);
    // This sets the bounds.
    contractor.bound_violation(&bounds, &assumption, 1, || false);
    let of = |k: usize| sides(&pair, &bounds, &values[k % values.len()], chosen[k]);
    let parts = [of(0), Vec::new(), of(1), of(2)];
    let found = contractor.bound_signs(&bounds, &assumption, &multipliers, &parts);
    let [mut satisfying, mut apart, mut at_knots] = seen.get();
    for (signs, lower) in parts.iter().zip(&found).filter(|(_, lower)| !lower.is_nan()) {
        let knots = signs.iter().any(|side| pair.curves(side.layer).is_some());
        for value in values.iter().filter(|v| v.satisfies(&assumption, &[]) && has(v, signs)) {
            satisfying += usize::from(!signs.is_empty());
            at_knots += usize::from(knots);
            let truth = -&violation(&assumption, value);
            prop_assert!(truth >= *lower, "minus the violation is {truth:?}, below {lower:e} where {signs:?}");
        }
        // Alone in its batch a part has the same bound but for rounding, and it leaves nothing behind.
        let alone = contractor.bound_signs(&bounds, &assumption, &multipliers, std::slice::from_ref(signs))[0];
        let near = (alone - lower).abs() <= 1e-6 * (1.0 + lower.abs() + found[1].abs());
        apart += usize::from(!near && lower.is_finite());
    }
    seen.set([satisfying, apart, at_knots]);
    Ok(())
}

#[test]
fn bounds_of_parts_hold_where_their_signs_do() {
    let seen = Cell::new([0; 3]);
    let chosen = || (any::<bool>(), any::<[u64; 3]>());
    for_all(700, (programs(6, any_scale(), 3), draws(), chosen()), |(case, mut draw, chosen)| {
        draw.split = false;
        check_parts(&case, &draw, chosen, &seen)
    });
    let plain = (programs(6, Just(Scale::Plain), 3), draws(), chosen());
    let tame = Cell::new([0; 3]);
    for_all(300, plain, |(case, mut draw, chosen)| {
        draw.split = false;
        draw.multipliers.iter_mut().for_each(|m| *m = m.clamp(-1.0, 1.0));
        check_parts(&case, &draw, chosen, &tame)
    });
    assert!(
        seen.get()[0] > 500 && seen.get()[2] > 100 && tame.get()[0] > 200 && tame.get()[1] == 0,
        "{seen:?}, {tame:?}"
    );
}

#[test]
fn lines_of_a_difference_hold_in_exact_numbers() {
    let ends = || prop_oneof![8 => (-2.0f64..0.5, 0.0f64..2.0), 1 => (-1e-300f64..0.0, 0.0f64..1e-300), 1 => (-1e12f64..1e3, 0.0f64..1e12)];
    let shares = || vec((0.0f64..=1.0, 0.0f64..=1.0), 8);
    let seen = Cell::new([0; 4]);
    for_all(3000, (ends(), ends(), 0.0f64..1.0, 0.0f64..1.0, shares()), |((a, w), (b, v), cut, width, shares)| {
        let (x, y) = ((a, a + w), (b, b + v));
        let all = (x.0 - y.1, x.1 - y.0);
        let l = all.0 + cut * (all.1 - all.0);
        let d = (l, l + width * width * (all.1 - l));
        let Some([low, high]) = lines_of_difference(x, y, d) else { return Ok(()) };
        let mut counts = seen.get();
        let way = usize::from(x.0 < 0.0);
        let of_pair = if way == 0 { low } else { high };
        counts[way] += 1;
        counts[2] += usize::from(of_pair.0 == 1.0 && of_pair.1 != 0.0);
        let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
        // Points with every share of y, and d at its ends or between them.
        for (s, t) in shares.into_iter().chain(corners) {
            let y_at = (y.0 + s * (y.1 - y.0)).clamp(y.0, y.1);
            for y_at in [y_at, 0.0_f64.clamp(y.0, y.1)] {
                let x_at = (y_at + (d.0 + t * (d.1 - d.0))).clamp(x.0, x.1);
                let difference = &exact(x_at) - &exact(y_at);
                if !(difference >= d.0 && difference <= d.1) {
                    continue;
                }
                counts[3] += 1;
                let of_relus = &exact(x_at).relu() - &exact(y_at).relu();
                let line = |(slope, intercept): (f64, f64)| &(&difference * slope) + &exact(intercept);
                prop_assert!((&of_relus - &line(low)) >= 0.0, "{of_relus:?} is below {low:?} at {x_at:e}, {y_at:e}");
                prop_assert!((&line(high) - &of_relus) >= 0.0, "{of_relus:?} is above {high:?} at {x_at:e}, {y_at:e}");
            }
        }
        seen.set(counts);
        Ok(())
    });
    let [first, second, shifted, points] = seen.get();
    assert!(first > 100 && second > 100 && shifted > 50 && points > 3000, "{seen:?}");
}

/// Continuous functions of a few knots, one shared by both networks or one for each.
fn bent_pairs() -> impl Strategy<Value = [Curve; 2]> {
    let slope = || prop_oneof![Just(0.0), Just(1.0), Just(-1.0), -2.0f64..2.0];
    let one =
        || (1usize..4).prop_flat_map(move |n| (vec(0.05f64..1.0, n), -1.5f64..0.5, vec(slope(), n + 1), -1.0f64..1.0));
    (one(), one(), 0..4).prop_map(|(a, b, apart)| {
        let curve = |(gaps, first, slopes, value): (Vec<f64>, f64, Vec<f64>, f64)| {
            let count = u32::try_from(gaps.len()).unwrap();
            let knots = gaps.iter().scan(first, |at, gap| {
                *at += gap;
                Some(*at)
            });
            let parameters: Vec<f64> =
                std::iter::once(f64::from(count)).chain(knots).chain(slopes).chain([value]).collect();
            Curve::new("pieces", &parameters).unwrap()
        };
        let f = curve(a);
        [f.clone(), if apart == 0 { curve(b) } else { f }]
    })
}

#[test]
fn lines_of_a_difference_of_other_functions_hold_in_exact_numbers() {
    let ends = || prop_oneof![4 => (-2.0f64..1.0, 0.0f64..2.0), 2 => (-2.0f64..1.0, 0.0f64..0.1)];
    let shares = || vec((0.0f64..=1.0, 0.0f64..=1.0), 6);
    let seen = Cell::new([0; 3]);
    for_all(2000, (bent_pairs(), ends(), ends(), 0.0f64..1.0, 0.0f64..1.0, shares()), |case| {
        let (curves, (a, w), (b, v), cut, width, shares) = case;
        // Ends at knots, as splits have them.
        let at_knot =
            |(l, u): (f64, f64)| if cut < 0.5 { (curves[0].middle_knot(l, u).unwrap_or(l), u) } else { (l, u) };
        let (x, y) = (at_knot((a, a + w)), at_knot((b, b + v)));
        let all = (x.0 - y.1, x.1 - y.0);
        let l = all.0 + cut * (all.1 - all.0);
        let d = (l, l + width * width * (all.1 - l));
        let both = [&curves[0], &curves[1]];
        let lines = Neuron::of(both, [x, y, d], true).of_difference();
        let [mut points, mut other, mut nothing] = seen.get();
        // Two chords have one slope where d has one sign alone.
        other += usize::from(lines[0].of_d == lines[1].of_d && lines[0].cut != lines[1].cut && d.0 < 0.0 && d.1 > 0.0);
        nothing += usize::from(lines == [AffineBound::default(); 2]);
        // Points with every share of y, at knots too, and d at its ends or between them.
        for (s, t) in shares.into_iter().chain([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]) {
            let knot = curves[1].middle_knot(y.0, y.1).unwrap_or(y.0);
            for y_at in [(y.0 + s * (y.1 - y.0)).clamp(y.0, y.1), knot] {
                let x_at = (y_at + (d.0 + t * (d.1 - d.0))).clamp(x.0, x.1);
                let difference = &exact(x_at) - &exact(y_at);
                // Where D is folded it has no lines.
                if !(difference >= d.0 && difference <= d.1) || x.0 == x.1 || y.0 == y.1 {
                    continue;
                }
                points += 1;
                let behind = &behind_curve(both[0], &exact(x_at)) - &behind_curve(both[1], &exact(y_at));
                let line =
                    |line: AffineBound| &(&(&difference * line.of_d) + &(&exact(y_at) * line.of_y)) + &exact(line.cut);
                prop_assert!((&behind - &line(lines[0])) >= 0.0, "below {:?} at {x_at:e}, {y_at:e}", lines[0]);
                prop_assert!((&line(lines[1]) - &behind) >= 0.0, "above {:?} at {x_at:e}, {y_at:e}", lines[1]);
            }
        }
        seen.set([points, other, nothing]);
        Ok(())
    });
    let [points, other, nothing] = seen.get();
    assert!(points > 5000 && other > 20 && nothing < 400, "{seen:?}");
}

/// Every output difference is a sum of D of neurons whose x is an input of its own, so that D takes every value between 0 and
/// d: the largest violation is the largest sum of max(0, d) over the corners of the other two inputs.
fn known_pair(steps: &[(f64, f64, bool)]) -> (Case, f64) {
    let inputs = steps.len() + 2;
    let unit = |i: usize| (0..inputs).map(|k| f64::from(u8::from(k == i))).collect::<Vec<f64>>();
    let moved = |(i, (a, b, _)): (usize, &(f64, f64, bool))| {
        let mut row = unit(i);
        (row[inputs - 2], row[inputs - 1]) = (-a, -b);
        row
    };
    let signs = vec![steps.iter().map(|s| if s.2 { 1.0 } else { -1.0 }).collect::<Vec<f64>>()];
    let weights = |weight: Vec<Vec<f64>>| Weights { bias: vec![0.0; weight.len()], weight, uncertain: None };
    let first = weights((0..steps.len()).map(unit).collect());
    let second = weights(steps.iter().enumerate().map(moved).collect());
    let case = Case {
        layers: vec![[first, second], [weights(signs.clone()), weights(signs)]],
        lower: vec![-1.0; inputs],
        upper: vec![1.0; inputs],
        points: Vec::new(),
    };
    let at = |(w, z): (f64, f64)| {
        let parts = steps.iter().map(|(a, b, plus)| (if *plus { 1.0 } else { -1.0 } * (a * w + b * z)).max(0.0));
        parts.sum::<f64>()
    };
    let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
    (case, corners.map(at).into_iter().fold(0.0, f64::max))
}

/// ReLU itself; and as another function of the same values here, whose knot at 0 is one of two.
fn function(clipped: bool, rows: usize) -> Function {
    let clip = || Curve::new("pieces", &[2.0, 0.0, 6.0, 0.0, 1.0, 0.0, 0.0]).unwrap();
    if clipped { Function::Curves(Arc::new(Curves::new(vec![clip()], rows, None).unwrap())) } else { Function::Relu }
}

#[test]
fn a_tree_excludes_what_does_not_happen_and_nothing_that_does() {
    let seen = Cell::new([0; 2]);
    let part = || prop_oneof![0.02f64..0.2, -0.2f64..-0.02];
    for_all(120, (vec((part(), part(), any::<bool>()), 2..7), any::<bool>()), |(steps, clipped)| {
        let (case, largest) = known_pair(&steps);
        let mut pair = case.pair();
        let of_all = function(clipped, steps.len());
        (pair.first[0].function, pair.second[0].function) = (of_all.clone(), of_all);
        let mut bounds = intervals::enclose(&pair, &case.lower, &case.upper);
        let mut contractor = Contractor::new(&pair);
        prop_assert!(contractor.tighten(&mut bounds, || false).is_ok());
        let mut assumption = Assumption {
            entropy: 0..0,
            guard: Vec::new(),
            constants: Vec::new(),
            first: vec![0.0],
            second: vec![0.0],
            difference: vec![1.0],
            constant: 0.0,
            strict: false,
            region: Constraints::default(),
        };
        for (share, happens) in [(0.99, true), (1.01, false)] {
            assumption.constant = -share * largest;
            let (bound, found) = contractor.bound_violation(&bounds, &assumption, 10, || false);
            let excluded = contractor.split_signs(&bounds, &assumption, &found, BUDGET, || false);
            prop_assert_eq!(excluded, !happens, "{} of {}", share, largest);
            let mut counts = seen.get();
            counts[usize::from(clipped)] += usize::from(excluded && !assumption.contradicted_by(-bound));
            seen.set(counts);
            // What it left behind changes no later bound.
            let again = contractor.bound_violation(&bounds, &assumption, 10, || false).0;
            prop_assert_eq!(again.to_bits(), bound.to_bits());
        }
        Ok(())
    });
    // Most of these are open without splits.
    assert!(seen.get().iter().all(|count| *count > 25), "{seen:?}");
}
