//! Backward bounds under an assumed violation: true for any multipliers, at every input that satisfies the assumption;
//! and contraction never loses such an input.

use crate::assumed::{Draw, Values, contains, draws, fill, functionals, prepare, violation};
use crate::random::{Case, Scale, Weights, any_scale, cases, for_all};
use eqspec::bound::backward::Backward;
use eqspec::bound::branching::LookaheadResult;
use eqspec::bound::constraints::Constraints;
use eqspec::bound::functional::Functional;
use eqspec::bound::parameters::{Parameters, Sizes};
use eqspec::bound::split_candidates::Split;
use eqspec::bound::{Assumption, Contraction, ContractionBudget, ContractionResult, Contractor};
use eqspec::domain::intermediate_bounds::IntermediateBounds;
use eqspec::domain::{AbstractDomain, Propagation};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::{Cell, RefCell};

/// What a run met.
#[derive(Debug, Default)]
struct Seen {
    satisfying: usize,
    useful: usize,
    proved: usize,
    shrunk: usize,
    entropy: usize,
    constrained: usize,
    settled: usize,
    split: usize,
}

fn check_bounds(case: &Case, draw: &Draw, seen: &RefCell<Seen>) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let mut backward = Backward::new(&pair);
    backward.set_bounds(&bounds);
    let functionals = functionals(&pair);
    let hidden = backward.hidden();
    let sizes = Sizes {
        rows: assumption.rows(),
        outputs: assumption.outputs(),
        hidden: &hidden,
        phases: bounds.phase_constraints.len(),
        region: assumption.region.rows(),
    };
    let mut parameters = Parameters::new(functionals.len(), &sizes, 0.0);
    fill(&mut parameters, &draw.multipliers);
    for step in 0..=draw.steps {
        let found = backward.evaluate(&functionals, &assumption, &parameters).to_vec();
        for value in values.iter().filter(|v| v.satisfies(&assumption, &bounds.phase_constraints)) {
            seen.borrow_mut().satisfying += 1;
            for (&functional, &bound) in functionals.iter().zip(&found).filter(|(_, b)| !b.is_nan()) {
                let truth = value.functional(functional, &assumption);
                prop_assert!(truth >= bound, "{functional:?} is {truth:?}, below {bound:e} of {assumption:?}");
            }
        }
        backward.ascend(&functionals, &assumption, &mut parameters, 0.1, step + 1);
    }
    seen.borrow_mut().entropy += usize::from(!assumption.entropy.is_empty());
    seen.borrow_mut().constrained += usize::from(assumption.region.rows() > 0);
    Ok(())
}

#[test]
fn any_multipliers_give_true_bounds_where_the_assumption_holds() {
    let seen = RefCell::new(Seen::default());
    let pairs = cases(1..=3, 1..=4, 1..=4, any_scale(), 3);
    for_all(1500, (pairs, draws()), |(case, draw)| check_bounds(&case, &draw, &seen));
    let seen = seen.into_inner();
    assert!(seen.satisfying > 1000 && seen.entropy > 100 && seen.constrained > 500, "{seen:?}");
}

/// Contracts with all functionals at first, or so many of them where not even one input is few.
fn check_contraction(
    case: &Case,
    draw: &Draw,
    (singles, selected): (bool, usize),
    seen: &RefCell<Seen>,
) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    let effort = ContractionBudget {
        rounds: 2 + draw.steps.unsigned_abs() as usize,
        steps: 12,
        inputs: if selected == 0 { 64 } else { 0 },
        selected,
        ..ContractionBudget::default()
    };
    let before = bounds.clone();
    let mut contractor = Contractor::new(&pair).in_singles(singles);
    let result = contractor.contract(bounds, None, &assumption, effort, &mut reach, || false);
    let alive: Vec<&Values> = values.iter().filter(|v| v.satisfies(&assumption, &before.phase_constraints)).collect();
    let mut seen = seen.borrow_mut();
    seen.satisfying += alive.len();
    let ContractionResult::Open(left) = result else {
        seen.proved += 1;
        prop_assert!(alive.is_empty(), "a violation that happens was called impossible: {assumption:?}");
        return Ok(());
    };
    let mut left = *left;
    let Contraction { bounds, bound, .. } = left.clone();
    seen.shrunk += usize::from(bounds.lower != before.lower || bounds.upper != before.upper);
    seen.useful += usize::from(bounds.unstable() < before.unstable());
    for value in alive {
        prop_assert!(contains(&bounds, value), "an input that satisfies the assumption was lost: {assumption:?}");
        prop_assert!(violation(&assumption, value) <= bound);
        prop_assert!(reach.propagate_within(&pair, &bounds).is_ok());
    }
    let cut = |bounds: &IntermediateBounds, i: usize| {
        let (lower, upper) = (bounds.lower[i], bounds.upper[i]);
        let middle = lower + 0.5 * (upper - lower);
        (lower < middle && middle < upper).then_some((i, middle))
    };
    let halving = cut(&left.bounds, 0);
    let alive: Vec<&Values> = values.iter().filter(|v| v.satisfies(&assumption, &before.phase_constraints)).collect();
    match contractor.look_ahead(&mut left, &assumption, halving, &mut reach, || false) {
        LookaheadResult::Proved => prop_assert!(alive.is_empty(), "both signs were called impossible: {assumption:?}"),
        LookaheadResult::Settled(signs) => {
            seen.settled += signs;
            prop_assert_eq!(left.bounds.phase_constraints.len(), before.phase_constraints.len() + signs);
            for value in &alive {
                prop_assert!(contains(&left.bounds, value), "a sign that happens was called impossible");
                prop_assert!(value.satisfies(&assumption, &left.bounds.phase_constraints));
            }
            // WarmStart multipliers know nothing of the new signs, and are as good as any.
            let again =
                contractor.contract(left.bounds, left.warm.as_deref(), &assumption, effort, &mut reach, || false);
            let kept =
                |value: &&Values| matches!(&again, ContractionResult::Open(left) if contains(&left.bounds, value));
            prop_assert!(alive.iter().all(kept), "an input was lost from a warm start");
        }
        LookaheadResult::Ranked(mut splits) => {
            let inputs = (0..pair.inputs()).filter_map(|i| cut(&left.bounds, i));
            splits.extend(inputs.map(|(input, place)| Split::Input(input, place)));
            seen.split += splits.len();
            for value in &alive {
                for split in &splits {
                    let halves = split.halves(&left.bounds);
                    prop_assert!(halves.iter().any(|half| contains(half, value)), "{split:?} loses an input");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn contraction_keeps_every_input_that_violates() {
    let seen = RefCell::new(Seen::default());
    let pairs = cases(1..=3, 1..=4, 1..=4, prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)], 3);
    for_all(400, (pairs, draws(), any::<bool>()), |(case, draw, singles)| {
        check_contraction(&case, &draw, (singles, 0), &seen)
    });
    let seen = seen.into_inner();
    assert!(seen.satisfying > 400 && seen.shrunk > 40 && seen.useful > 40, "{seen:?}");
    assert!(seen.settled > 20 && seen.split > 100, "{seen:?}");
}

#[test]
fn contraction_of_a_few_neurons_keeps_every_input_that_violates() {
    let seen = RefCell::new(Seen::default());
    let pairs = cases(1..=3, 1..=4, 1..=4, prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)], 3);
    for_all(400, (pairs, draws(), any::<bool>(), 1usize..4), |(case, draw, singles, selected)| {
        check_contraction(&case, &draw, (singles, selected), &seen)
    });
    let seen = seen.into_inner();
    assert!(seen.satisfying > 400 && seen.useful > 40 && seen.settled > 20, "{seen:?}");
}

/// The first round has so many functionals as are selected, and where that is as many as there are, all of them.
#[test]
fn as_many_neurons_are_bounded_as_are_selected() {
    let seen = Cell::new([0; 2]);
    let pairs = cases(2..=3, 1..=4, 2..=4, Just(Scale::Plain), 3);
    for_all(200, (pairs, draws()), |(case, draw)| {
        let Some((pair, _, bounds, assumption)) = prepare(&case, &draw) else { return Ok(()) };
        let contracted = |selected: usize| {
            let budget = ContractionBudget { rounds: 1, steps: 4, inputs: 0, selected, ..ContractionBudget::default() };
            let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
            match Contractor::new(&pair).contract(bounds.clone(), None, &assumption, budget, &mut reach, || false) {
                ContractionResult::Proved => None,
                ContractionResult::Open(left) => left.warm.as_ref().map(|warm| (warm.bytes(), format!("{left:?}"))),
            }
        };
        let [all, many, one] = [0, 1000, 1].map(contracted);
        prop_assert_eq!(&all, &many);
        if let (Some((all, _)), Some((one, _))) = (all, one) {
            let [fewer, cases] = seen.get();
            seen.set([fewer + usize::from(one < all), cases + 1]);
            prop_assert!(one <= all);
        }
        Ok(())
    });
    let [fewer, cases] = seen.get();
    assert!(fewer > 20 && cases > 50, "{:?}", seen.get());
}

/// Raising the bar above what is possible must be noticed at least sometimes, or contraction proves nothing.
#[test]
fn contraction_proves_what_is_far_from_violated() {
    let seen = RefCell::new(Seen::default());
    let pairs = cases(1..=3, 1..=4, 1..=4, Just(Scale::Plain), 3);
    for_all(200, (pairs, draws(), any::<bool>(), 0usize..3), |(case, mut draw, singles, selected)| {
        draw.split = false;
        let Some((pair, _, bounds, mut assumption)) = prepare(&case, &draw) else { return Ok(()) };
        assumption.constant -= 1e6;
        let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
        let result = Contractor::new(&pair).in_singles(singles).contract(
            bounds,
            None,
            &assumption,
            ContractionBudget { inputs: 0, selected, ..ContractionBudget::default() },
            &mut reach,
            || false,
        );
        prop_assert!(matches!(result, ContractionResult::Proved));
        seen.borrow_mut().proved += 1;
        Ok(())
    });
    assert!(seen.into_inner().proved >= 200);
}

/// Without hidden layers the bound of a target without guards is the minimum over the box.
#[test]
fn a_linear_target_is_bounded_exactly() {
    let pairs = cases(1..=1, 1..=4, 1..=4, Just(Scale::Plain), 1).prop_map(|mut case| {
        case.layers.iter_mut().flatten().for_each(|w| w.uncertain = None);
        case
    });
    for_all(500, (pairs, draws()), |(case, mut draw)| {
        (draw.guard, draw.region, draw.confident, draw.split) = (Vec::new(), Vec::new(), false, false);
        let Some((pair, _, bounds, assumption)) = prepare(&case, &draw) else { return Ok(()) };
        let mut backward = Backward::new(&pair);
        backward.set_bounds(&bounds);
        let parameters = backward.start(&[Functional::Target], &assumption);
        let bound = backward.evaluate(&[Functional::Target], &assumption, &parameters)[0];
        // The corner that minimises, evaluated exactly.
        let truth = Values::of(&case, &backward.minimiser()).functional(Functional::Target, &assumption).upward();
        prop_assert!(bound <= truth && truth - bound <= 1e-9 * (1.0 + truth.abs() + 1e3), "{bound} for {truth}");
        Ok(())
    });
}

/// The minimum of a.x over a box cut by one row A.x <= b, by its dual: greatest at one of the places where a coefficient of a + mu A turns.
fn cut_minimum(a: &[f64], row: &[f64], bound: f64, lower: &[f64], upper: &[f64]) -> [f64; 2] {
    let dual = |mu: f64| {
        let ends = a.iter().zip(row).zip(lower.iter().zip(upper));
        ends.map(|((a, r), (l, u))| ((a + mu * r) * l).min((a + mu * r) * u)).sum::<f64>() - mu * bound
    };
    let turns = a.iter().zip(row).map(|(a, r)| -a / r).filter(|mu| mu.is_finite() && *mu > 0.0);
    [dual(0.0), turns.map(dual).fold(dual(0.0), f64::max)]
}

/// Without hidden layers and guards one constraint makes a small linear program, and steps come close to its optimum.
#[test]
fn a_constraint_is_used_to_the_full() {
    let seen = RefCell::new(Seen::default());
    let pairs = cases(1..=1, 2..=4, 1..=2, Just(Scale::Plain), 1).prop_map(|mut case| {
        case.layers.iter_mut().flatten().for_each(|w| w.uncertain = None);
        case
    });
    for_all(300, (pairs, draws(), vec(-2.0f64..2.0, 4), 0.2f64..0.8), |(case, mut draw, row, share)| {
        (draw.guard, draw.region, draw.confident, draw.split) = (Vec::new(), Vec::new(), false, false);
        let Some((pair, _, bounds, mut assumption)) = prepare(&case, &draw) else { return Ok(()) };
        let row = &row[..pair.inputs()];
        let ends = || row.iter().zip(case.lower.iter().zip(&case.upper));
        let least: f64 = ends().map(|(r, (l, u))| (r * l).min(r * u)).sum();
        let most: f64 = ends().map(|(r, (l, u))| (r * l).max(r * u)).sum();
        let bound = least + share * (most - least);
        assumption.region.push(row, bound);
        let mut backward = Backward::new(&pair);
        backward.set_bounds(&bounds);
        let target = [Functional::Target];
        let mut parameters = backward.start(&target, &assumption);
        let mut best = f64::NEG_INFINITY;
        for step in 1..=150 {
            best = best.max(backward.evaluate(&target, &assumption, &parameters)[0]);
            backward.ascend(&target, &assumption, &mut parameters, 0.02, step);
        }
        // The target as a functional of the inputs.
        let origin = vec![0.0; pair.inputs()];
        let target_at = |x: &[f64]| Values::of(&case, x).functional(Functional::Target, &assumption);
        let constant = target_at(&origin);
        let coefficient = |i: usize| {
            let mut unit = origin.clone();
            unit[i] = 1.0;
            (&target_at(&unit) - &constant).upward()
        };
        let a: Vec<f64> = (0..pair.inputs()).map(coefficient).collect();
        let [plain, cut] = cut_minimum(&a, row, bound, &case.lower, &case.upper).map(|v| v + constant.upward());
        prop_assert!(best <= cut + 1e-9 * (1.0 + cut.abs() + plain.abs()), "{best} is above the minimum {cut}");
        prop_assert!(best >= cut - 0.02 * (cut - plain) - 1e-9 * (1.0 + cut.abs()), "{best} of {plain} to {cut}");
        seen.borrow_mut().constrained += usize::from(cut > plain + 0.01 * plain.abs());
        Ok(())
    });
    assert!(seen.into_inner().constrained > 100);
}

/// f1 = x0 + x1 on [-1, 1]^2 reaches 1 only where x0 + x1 <= 0.75 does not hold.
#[test]
fn contraction_proves_what_only_a_constraint_excludes() {
    let one = |value: f64| Weights { weight: vec![vec![value, value]], bias: vec![0.0], uncertain: None };
    let case =
        Case { layers: vec![[one(1.0), one(0.0)]], lower: vec![-1.0; 2], upper: vec![1.0; 2], points: Vec::new() };
    let pair = case.pair();
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    reach.propagate(&pair, &case.lower, &case.upper).unwrap();
    let bounds = IntermediateBounds::of(reach.layers(), &case.lower, &case.upper);
    let mut assumption = Assumption {
        guard: Vec::new(),
        constants: Vec::new(),
        entropy: 0..0,
        first: vec![1.0],
        second: vec![0.0],
        difference: vec![0.0],
        constant: -1.0,
        strict: false,
        region: Constraints::default(),
    };
    for proved in [false, true] {
        if proved {
            assumption.region.push(&[1.0, 1.0], 0.75);
        }
        let start = bounds.clone();
        let result =
            Contractor::new(&pair)
                .contract(start, None, &assumption, ContractionBudget::default(), &mut reach, || false);
        assert_eq!(matches!(result, ContractionResult::Proved), proved);
    }
}
