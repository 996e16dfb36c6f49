//! Splits at signs within fixed bounds: bounds of every part hold at every input that has its signs, whatever the
//! multipliers are and whatever stands beside it in a batch; lines of D hold in exact numbers; a tree excludes nothing that
//! happens, and more than the whole by itself.

use crate::assumed::{Draw, draws, fill, phases, prepare, violation};
use crate::exact::exact;
use crate::programs::{Programs, programs};
use crate::random::{Scale, any_scale, for_all};
use eqspec::bound::own_relaxations::lines_of_difference;
use eqspec::bound::parameters::{Parameters, Sizes};
use eqspec::bound::{Assumption, Contractor, SignTreeBudget};
use eqspec::domain::Quantity;
use eqspec::domain::intermediate_bounds::PhaseConstraint;
use eqspec::network::{Function, Pair};
use proptest::prelude::*;
use std::cell::Cell;

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

/// The signs of x and y of ReLUs at an input, of every neuron that the number chooses.
fn signs(pair: &Pair, values: &crate::assumed::Values, chosen: u64) -> Vec<PhaseConstraint> {
    let hidden = values.x.len() - 1;
    let mut all = Vec::new();
    for layer in (0..hidden).filter(|s| matches!(pair.function(*s), Function::Relu)) {
        for index in 0..values.x[layer].len() {
            let of = [(Quantity::First, &values.x[layer][index]), (Quantity::Second, &values.y[layer][index])];
            all.extend(of.map(|(quantity, v)| PhaseConstraint { quantity, layer, index, positive: *v >= 0.0 }));
        }
    }
    let kept = |(k, _): &(usize, PhaseConstraint)| chosen >> (k % 64) & 1 == 1;
    all.into_iter().enumerate().filter(kept).map(|(_, sign)| sign).collect()
}

fn check_parts(
    case: &Programs,
    draw: &Draw,
    (relative, chosen): (bool, [u64; 3]),
    seen: &Cell<[usize; 2]>,
) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let multipliers = multipliers(&pair, &assumption, draw, relative);
    let mut contractor = Contractor::new(&pair);
    // This sets the bounds.
    contractor.bound_violation(&bounds, &assumption, 1, || false);
    let of = |k: usize| signs(&pair, &values[k % values.len()], chosen[k]);
    let parts = [of(0), Vec::new(), of(1), of(2)];
    let found = contractor.bound_signs(&bounds, &assumption, &multipliers, &parts);
    let [mut satisfying, mut apart] = seen.get();
    for (signs, lower) in parts.iter().zip(&found).filter(|(_, lower)| !lower.is_nan()) {
        for value in values.iter().filter(|v| v.satisfies(&assumption, signs)) {
            satisfying += usize::from(!signs.is_empty());
            let truth = -&violation(&assumption, value);
            prop_assert!(truth >= *lower, "minus the violation is {truth:?}, below {lower:e} where {signs:?}");
        }
        // Alone in its batch a part has the same bound but for rounding, and it leaves nothing behind.
        let alone = contractor.bound_signs(&bounds, &assumption, &multipliers, std::slice::from_ref(signs))[0];
        let near = (alone - lower).abs() <= 1e-6 * (1.0 + lower.abs() + found[1].abs());
        apart += usize::from(!near && lower.is_finite());
    }
    seen.set([satisfying, apart]);
    Ok(())
}

#[test]
fn bounds_of_parts_hold_where_their_signs_do() {
    let seen = Cell::new([0; 2]);
    let chosen = || (any::<bool>(), any::<[u64; 3]>());
    for_all(700, (programs(6, any_scale(), 3), draws(), chosen()), |(case, mut draw, chosen)| {
        draw.split = false;
        check_parts(&case, &draw, chosen, &seen)
    });
    let plain = (programs(6, Just(Scale::Plain), 3), draws(), chosen());
    let tame = Cell::new([0; 2]);
    for_all(300, plain, |(case, mut draw, chosen)| {
        draw.split = false;
        draw.multipliers.iter_mut().for_each(|m| *m = m.clamp(-1.0, 1.0));
        check_parts(&case, &draw, chosen, &tame)
    });
    assert!(seen.get()[0] > 500 && tame.get()[0] > 200 && tame.get()[1] == 0, "{seen:?}, {tame:?}");
}

#[test]
fn lines_of_a_difference_hold_in_exact_numbers() {
    let ends = || prop_oneof![8 => (-2.0f64..0.5, 0.0f64..2.0), 1 => (-1e-300f64..0.0, 0.0f64..1e-300), 1 => (-1e12f64..1e3, 0.0f64..1e12)];
    let shares = || proptest::collection::vec((0.0f64..=1.0, 0.0f64..=1.0), 8);
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

#[test]
fn a_tree_excludes_nothing_that_happens_and_more_than_the_whole() {
    let seen = Cell::new([0; 2]);
    let drawn = (programs(6, Just(Scale::Plain), 3), draws(), 0.5f64..0.999);
    for_all(400, drawn, |(case, mut draw, share)| {
        (draw.split, draw.confident) = (false, false);
        draw.guard.clear();
        draw.region.clear();
        // What a tree splits are differences.
        draw.violation[0].fill(0.0);
        draw.violation[1].fill(0.0);
        let Some((pair, values, mut bounds, mut assumption)) = prepare(&case, &draw) else { return Ok(()) };
        let mut contractor = Contractor::new(&pair);
        prop_assert!(contractor.tighten(&mut bounds, || false).is_ok());
        // The violation is 0 at the anchor: it happens, until the claim is made weaker.
        let (loose, found) = contractor.multipliers_of_violation(&bounds, &assumption, 10, || false);
        prop_assert!(!contractor.split_signs(&bounds, &assumption, &found, BUDGET, || false), "it happens");
        let largest = values.iter().map(|v| violation(&assumption, v).upward()).fold(0.0, f64::max);
        assumption.constant -= largest + share * (loose - largest);
        let (bound, found) = contractor.multipliers_of_violation(&bounds, &assumption, 10, || false);
        if assumption.contradicted_by(-bound) || phases(&pair, &values[0]).is_empty() {
            return Ok(());
        }
        let excluded = contractor.split_signs(&bounds, &assumption, &found, BUDGET, || false);
        let [open, closed] = seen.get();
        seen.set([open + 1, closed + usize::from(excluded)]);
        prop_assert!(!excluded || values.iter().all(|v| !(violation(&assumption, v) >= 0.0)));
        // What it left behind changes no later bound.
        let again = contractor.bound_violation(&bounds, &assumption, 10, || false);
        prop_assert_eq!(again.to_bits(), bound.to_bits());
        Ok(())
    });
    assert!(seen.get()[0] > 100 && seen.get()[1] > 20, "{seen:?}");
}
