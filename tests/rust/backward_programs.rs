//! Backward bounds on programs of steps: true for any multipliers, better along their gradients, the same in batches of
//! any size; bounds of all neurons without an assumption, from a propagation and from intervals, hold at every input.

use crate::assumed::{Draw, Networks, Values, contains, draws, fill, functionals, left_out, prepare, violation};
use crate::programs::{Programs, programs};
use crate::random::{Scale, any_scale, cases, extreme_scale, for_all};
use eqspec::bound::backward::Backward;
use eqspec::bound::functional::Functional;
use eqspec::bound::parameters::{Parameters, Sizes};
use eqspec::bound::{Assumption, ContractionBudget, ContractionResult, Contractor};
use eqspec::domain::intermediate_bounds::IntermediateBounds;
use eqspec::domain::intervals;
use eqspec::domain::phase::Bounds;
use eqspec::domain::{AbstractDomain, Propagation};
use eqspec::network::{Origin, Pair};
use proptest::prelude::*;
use std::cell::Cell;

/// Parameters for functionals, with the draw's numbers.
fn drawn(
    backward: &Backward<'_>,
    count: usize,
    bounds: &IntermediateBounds,
    of: &Assumption,
    draw: &Draw,
) -> Parameters {
    let hidden = backward.hidden();
    let sizes = Sizes {
        rows: of.rows(),
        outputs: of.outputs(),
        hidden: &hidden,
        phases: bounds.phase_constraints.len(),
        region: of.region.rows(),
    };
    let mut parameters = Parameters::new(count, &sizes, 0.0);
    fill(&mut parameters, &draw.multipliers);
    parameters
}

fn check_bounds(case: &Programs, draw: &Draw, relative: bool, satisfying: &Cell<usize>) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let mut backward = Backward::new(&pair);
    backward.set_bounds(&bounds);
    let functionals = functionals(&pair);
    let mut parameters = drawn(&backward, functionals.len(), &bounds, &assumption, draw);
    parameters.relative_links = relative;
    for step in 0..=draw.steps {
        let found = backward.evaluate(&functionals, &assumption, &parameters).to_vec();
        for value in values.iter().filter(|v| v.satisfies(&assumption, &bounds.phase_constraints)) {
            satisfying.set(satisfying.get() + 1);
            for (&functional, &bound) in functionals.iter().zip(&found).filter(|(_, b)| !b.is_nan()) {
                let truth = value.functional(functional, &assumption);
                prop_assert!(truth >= bound, "{functional:?} is {truth:?}, below {bound:e} of {assumption:?}");
            }
        }
        backward.ascend(&functionals, &assumption, &mut parameters, 0.1, step + 1);
    }
    Ok(())
}

#[test]
fn any_multipliers_give_true_bounds_on_programs() {
    let satisfying = Cell::new(0);
    for_all(1500, (programs(6, any_scale(), 3), draws(), any::<bool>()), |(case, draw, relative)| {
        check_bounds(&case, &draw, relative, &satisfying)
    });
    assert!(satisfying.get() > 1000, "{satisfying:?}");
}

/// One kind of multipliers of a step.
type Kind = fn(&mut Parameters, usize) -> &mut Vec<f64>;

/// The changes of the target's bound along each multiplier, where it is differentiable, against what a step believes.
fn check_gradients(case: &Programs, draw: &Draw, relative: bool, compared: &Cell<usize>) -> Result<(), TestCaseError> {
    let Some((pair, _, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let target = [Functional::Target];
    let mut backward = Backward::new(&pair);
    backward.set_bounds(&bounds);
    let mut start = backward.start(&target, &assumption);
    // Strictly inside their ranges, so that every step can be taken.
    for (layer, numbers) in start.layers.iter_mut().zip(draw.multipliers.chunks(7).cycle()) {
        let mut numbers = numbers.iter().map(|v| v.clamp(-1.0, 1.0)).cycle();
        layer.link.value.iter_mut().for_each(|v| *v = numbers.next().unwrap());
        layer.alpha1.value.iter_mut().for_each(|v| *v = 0.5 + 0.4 * numbers.next().unwrap());
        layer.alpha2.value.iter_mut().for_each(|v| *v = 0.5 + 0.4 * numbers.next().unwrap());
    }
    start.relative_links = relative;
    let mut value = |p: &Parameters| backward.evaluate(&target, &assumption, p)[0];
    let here = value(&start);
    let width = 1e-6;
    // For every multiplier of a kind: how the bound changes to both sides.
    let kinds: [Kind; 3] = [
        |p, l| &mut p.layers[l].link.value,
        |p, l| &mut p.layers[l].alpha1.value,
        |p, l| &mut p.layers[l].alpha2.value,
    ];
    let mut quotients: Vec<(usize, usize, usize, f64)> = Vec::new();
    for l in 0..start.layers.len() {
        for (k, kind) in kinds.iter().enumerate() {
            for i in 0..kind(&mut start, l).len() {
                let mut moved = [-width, width].map(|step| {
                    let mut moved = start.clone();
                    kind(&mut moved, l)[i] += step;
                    value(&moved) - here
                });
                moved[0] = -moved[0];
                if (moved[0] - moved[1]).abs() <= 1e-3 * moved[0].abs() && moved[0].abs() > 1e-9 * (1.0 + here.abs()) {
                    quotients.push((l, k, i, moved[0] / width));
                }
            }
        }
    }
    // Adam's first step goes uphill by the whole rate, whatever the size of the gradient.
    value(&start);
    let mut after = start.clone();
    backward.ascend(&target, &assumption, &mut after, 1e-3, 1);
    for (l, k, i, quotient) in quotients {
        let change = kinds[k](&mut after, l)[i] - kinds[k](&mut start, l)[i];
        compared.set(compared.get() + 1);
        prop_assert!(change * quotient > 0.0, "step {l}, kind {k}, neuron {i}: {change:e} for {quotient:e}");
    }
    Ok(())
}

#[test]
fn steps_of_multipliers_go_uphill_on_programs() {
    let compared = Cell::new(0);
    for_all(400, (programs(6, Just(Scale::Plain), 2), draws(), any::<bool>()), |(mut case, mut draw, relative)| {
        draw.confident = false;
        // What errors of weights cost is no part of the gradients.
        for step in case.steps.iter_mut().flatten() {
            step.uncertain = None;
            step.terms.iter_mut().for_each(|(_, tile)| tile.uncertain = None);
        }
        check_gradients(&case, &draw, relative, &compared)
    });
    assert!(compared.get() > 300, "{compared:?}");
}

/// Contraction in batches of any size is the same contraction, and loses no input that violates.
///
/// Products of other sizes are rounded otherwise, and where a coefficient of an input is 0 but for rounding the steps of
/// multipliers take another way. So without steps the bounds are compared in every case, and with steps the cases in
/// which they differ are counted.
fn check_batches(
    case: &impl Networks,
    (draw, steps): (&Draw, i32),
    most: usize,
    seen: &Cell<[usize; 3]>,
) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    // Of steps that nothing reads, links are used by batches with functionals behind them, and make no sense.
    let read = |s: usize| pair.difference.iter().flat_map(|d| &d.terms).any(|t| t.origin == Origin::Step(s));
    if !(0..pair.depth() - 1).all(read) {
        return Ok(());
    }
    let budget = ContractionBudget { rounds: 2, steps, ..ContractionBudget::default() };
    let run = |most: usize| {
        let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth());
        let mut contractor = Contractor::new(&pair).in_batches_of(most);
        contractor.contract(bounds.clone(), None, &assumption, budget, &mut propagation, || false)
    };
    let (whole, parts) = (run(usize::MAX), run(most));
    let alive: Vec<&Values> = values.iter().filter(|v| v.satisfies(&assumption, &bounds.phase_constraints)).collect();
    let (ContractionResult::Open(whole), ContractionResult::Open(parts)) = (&whole, &parts) else {
        let proved = |r: &ContractionResult| matches!(r, ContractionResult::Proved);
        prop_assert!(steps > 1 || (proved(&whole) && proved(&parts)), "one proves what the other does not");
        prop_assert!(alive.is_empty(), "a violation that happens was called impossible: {assumption:?}");
        return Ok(());
    };
    for value in &alive {
        prop_assert!(contains(&whole.bounds, value) && contains(&parts.bounds, value));
        prop_assert!(violation(&assumption, value) <= parts.bound);
    }
    let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-6 * (1e-3 + a.abs() + b.abs());
    let same = |a: &Bounds, b: &Bounds| {
        a.lower.iter().zip(&b.lower).chain(a.upper.iter().zip(&b.upper)).all(|(a, b)| near(*a, *b))
    };
    let mut layers = whole.bounds.layers.iter().zip(&parts.bounds.layers);
    let equal =
        near(whole.bound, parts.bound) && layers.all(|(a, b)| same(&a.x, &b.x) && same(&a.y, &b.y) && same(&a.d, &b.d));
    prop_assert!(steps > 1 || equal, "{whole:?} and {parts:?}");
    let [open, kept, apart] = seen.get();
    seen.set([open + 1, kept + alive.len(), apart + usize::from(!equal)]);
    Ok(())
}

#[test]
fn batches_of_any_size_are_the_same_contraction() {
    let scale = || prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)];
    for steps in [1, 8] {
        let seen = Cell::new([0; 3]);
        for_all(200, (programs(4, scale(), 3), draws(), 1usize..6), |(case, draw, most)| {
            check_batches(&case, (&draw, steps), most, &seen)
        });
        for_all(100, (cases(2..=3, 1..=4, 1..=4, scale(), 3), draws(), 1usize..6), |(case, draw, most)| {
            check_batches(&case, (&draw, steps), most, &seen)
        });
        let [open, kept, apart] = seen.get();
        assert!(open > 60 && kept > 60 && 10 * apart <= open, "{seen:?}");
    }
}

fn propagated(pair: &Pair, case: &Programs) -> Option<IntermediateBounds> {
    let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth());
    propagation.propagate(pair, &case.lower, &case.upper)?;
    Some(IntermediateBounds::of(propagation.layers(), &case.lower, &case.upper))
}

fn width(bounds: &IntermediateBounds) -> f64 {
    let of = |b: &Bounds| b.lower.iter().zip(&b.upper).map(|(l, u)| u - l).sum::<f64>();
    bounds.layers.iter().map(|k| of(&k.x) + of(&k.y) + of(&k.d)).sum()
}

/// Intervals, and what is tightened from them and from a propagation, hold at every input.
fn check_tightened(case: &Programs, seen: &Cell<[usize; 3]>) -> Result<(), TestCaseError> {
    let pair = case.pair();
    let values: Vec<Values> = case.samples().iter().map(|x| Values::of(case, x)).collect();
    let enclosed = intervals::enclose(&pair, &case.lower, &case.upper);
    let starts = [Some(enclosed), propagated(&pair, case)];
    let [mut boxes, mut narrower, mut from_intervals] = seen.get();
    for (k, start) in starts.into_iter().enumerate() {
        let Some(start) = start else { continue };
        for value in &values {
            prop_assert_eq!(left_out(&start, value), None, "start {}", k);
        }
        for most in [usize::MAX, 2] {
            let mut bounds = start.clone();
            let done = Contractor::new(&pair).in_batches_of(most).tighten(&mut bounds, || false);
            prop_assert!(done.is_ok(), "a box without inputs?");
            for value in &values {
                prop_assert_eq!(left_out(&bounds, value), None, "tightened from start {}", k);
            }
            let (before, after) = (width(&start), width(&bounds));
            prop_assert!(after <= before || before.is_nan() || after.is_nan());
            boxes += 1;
            narrower += usize::from(after < 0.95 * before && k == 1);
            from_intervals += usize::from(after < 0.95 * before && k == 0);
        }
    }
    seen.set([boxes, narrower, from_intervals]);
    Ok(())
}

#[test]
fn tightened_bounds_hold_at_every_input() {
    let seen = Cell::new([0; 3]);
    for_all(1500, programs(6, any_scale(), 3), |case| check_tightened(&case, &seen));
    let [boxes, narrower, from_intervals] = seen.get();
    assert!(boxes > 4000 && narrower > 40 && from_intervals > 200, "{seen:?}");
    for_all(600, programs(5, extreme_scale(), 3), |case| check_tightened(&case, &seen));
}

#[test]
fn bounds_of_a_violation_are_above_it() {
    let improved = Cell::new(0);
    let scale = prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)];
    for_all(300, (programs(6, scale, 3), draws()), |(case, mut draw)| {
        draw.split = false;
        let Some((pair, values, mut bounds, assumption)) = prepare(&case, &draw) else { return Ok(()) };
        let mut contractor = Contractor::new(&pair);
        let loose = contractor.bound_violation(&bounds, &assumption, 1, || false).0;
        prop_assert!(contractor.tighten(&mut bounds, || false).is_ok());
        let tight = contractor.bound_violation(&bounds, &assumption, 20, || false).0;
        for value in values.iter().filter(|v| v.satisfies(&assumption, &[])) {
            let truth = violation(&assumption, value);
            prop_assert!(truth <= loose && truth <= tight, "{truth:?} is above {loose} or {tight}");
        }
        improved.set(improved.get() + usize::from(tight < loose));
        Ok(())
    });
    assert!(improved.get() > 50, "{improved:?}");
}
