//! Backward bounds under an assumed violation: true for any multipliers, at every input that satisfies the assumption;
//! and contraction never loses such an input.

use crate::exact::{Exact, exact};
use crate::random::{Case, Scale, Weights, any_scale, cases, for_all, point};
use eqspec::bound::backward::Backward;
use eqspec::bound::branching::LookaheadResult;
use eqspec::bound::constraints::Constraints;
use eqspec::bound::functional::Functional;
use eqspec::bound::parameters::{Parameters, Sizes};
use eqspec::bound::split_candidates::Split;
use eqspec::bound::{Assumption, Contraction, ContractionBudget, ContractionResult, Contractor};
use eqspec::domain::intermediate_bounds::{IntermediateBounds, PhaseConstraint};
use eqspec::domain::phase::Bounds;
use eqspec::domain::{AbstractDomain, Propagation, Quantity};
use eqspec::network::Pair;
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::RefCell;

/// Raw material of an assumption and of multipliers.
#[derive(Debug, Clone)]
pub struct Draw {
    /// Coefficients of guard rows; of the violation over f1, f2 and f1 - f2.
    guard: Vec<Vec<f64>>,
    violation: [Vec<f64>; 3],
    /// Coefficients of constraints of the region.
    region: Vec<Vec<f64>>,
    /// Whether the guard is an exact confidence for class 0 instead.
    confident: bool,
    /// Whether the signs of some neurons are assumed.
    split: bool,
    multipliers: Vec<f64>,
    steps: i32,
}

pub fn draws() -> impl Strategy<Value = Draw> {
    let coefficients = || vec(prop_oneof![Just(0.0), Just(1.0), Just(-1.0), -2.0f64..2.0], 4);
    let multiplier = prop_oneof![
        2 => Just(0.0),
        8 => -1.0f64..1.0,
        1 => Just(1e9),
        1 => Just(-1e9),
        1 => Just(1.0),
    ];
    let violation = (coefficients(), coefficients(), coefficients());
    let choices = (any::<bool>(), any::<bool>(), 0i32..4);
    let constraint =
        vec(prop_oneof![4 => -2.0f64..2.0, 2 => Just(0.0), 1 => Just(1.0), 1 => Just(1e-315), 1 => Just(-1e12)], 4);
    (vec(coefficients(), 0..3), violation, vec(constraint, 0..3), choices, vec(multiplier, 97)).prop_map(
        |(guard, (a, b, d), region, (confident, split, steps), multipliers)| Draw {
            guard,
            violation: [a, b, d],
            region,
            confident,
            split,
            multipliers,
            steps,
        },
    )
}

/// Exact values of all layers at one input.
pub struct Values {
    pub input: Vec<Exact>,
    pub x: Vec<Vec<Exact>>,
    pub y: Vec<Vec<Exact>>,
}

impl Values {
    fn of(case: &Case, input: &[f64]) -> Self {
        let ([first, second], input) = (case.truths(), point(input));
        Self { x: first.layers(&input), y: second.layers(&input), input }
    }

    fn last(&self) -> (&[Exact], &[Exact]) {
        (&self.x[self.x.len() - 1], &self.y[self.y.len() - 1])
    }

    fn functional(&self, functional: Functional, assumption: &Assumption) -> Exact {
        let signed = |value: Exact, negative: bool| if negative { -&value } else { value };
        match functional {
            Functional::Target => -&violation(assumption, self),
            Functional::Input { input, negative } => signed(self.input[input].clone(), negative),
            Functional::Neuron { quantity, layer, neuron, negative } => {
                let (x, y) = (&self.x[layer][neuron], &self.y[layer][neuron]);
                let value = match quantity {
                    Quantity::First => x.clone(),
                    Quantity::Second => y.clone(),
                    Quantity::Difference => x - y,
                };
                signed(value, negative)
            }
        }
    }

    /// Whether a point satisfies what is assumed, the exact confidence with room for its evaluation.
    pub fn satisfies(&self, assumption: &Assumption, phases: &[PhaseConstraint]) -> bool {
        let (x, outputs) = (self.last().0, assumption.outputs());
        let row = |l: usize| row_value(&assumption.guard[l * outputs..(l + 1) * outputs], x, assumption.constants[l]);
        let entropy = assumption.entropy.clone();
        let soft = entropy.is_empty() || {
            let values: Vec<f64> = entropy.map(|l| row(l).upward()).collect();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            least - values.iter().map(|v| (least - v).exp()).sum::<f64>().ln() >= 1e-9
        };
        let sided = |s: &PhaseConstraint| {
            let (x, y) = (&self.x[s.layer][s.index], &self.y[s.layer][s.index]);
            let value = match s.quantity {
                Quantity::First => x.clone(),
                Quantity::Second => y.clone(),
                Quantity::Difference => x - y,
            };
            if s.positive { value >= 0.0 } else { value <= 0.0 }
        };
        let (rows, inputs) = (&assumption.region, self.input.len());
        let inside =
            |q: usize| row_value(&rows.coefficients[q * inputs..(q + 1) * inputs], &self.input, -rows.bounds[q]) <= 0.0;
        soft && (0..assumption.rows()).all(|l| row(l) >= 0.0)
            && (0..rows.rows()).all(inside)
            && violation(assumption, self) >= 0.0
            && phases.iter().all(sided)
    }
}

fn row_value(coefficients: &[f64], values: &[Exact], constant: f64) -> Exact {
    &coefficients.iter().zip(values).map(|(&c, v)| v * c).sum::<Exact>() + &exact(constant)
}

pub fn violation(assumption: &Assumption, values: &Values) -> Exact {
    let (x, y) = values.last();
    let d: Vec<Exact> = x.iter().zip(y).map(|(a, b)| a - b).collect();
    let parts = [(&assumption.first, x), (&assumption.second, y), (&assumption.difference, &d)];
    let sum: Exact = parts.iter().map(|(c, v)| row_value(c, v, 0.0)).sum();
    &sum + &exact(assumption.constant)
}

/// An assumption that holds at an anchor, as tightly as binary64 allows.
fn assumed(draw: &Draw, anchor: &Values) -> Assumption {
    let outputs = anchor.last().0.len();
    let cut = |c: &Vec<f64>| c[..outputs].to_vec();
    let mut rows: Vec<Vec<f64>> = draw.guard.iter().map(cut).collect();
    let confident = draw.confident && outputs > 1;
    if confident {
        rows = (1..outputs).map(|l| (0..outputs).map(|o| f64::from(o == 0) - f64::from(o == l)).collect()).collect();
    }
    let x = anchor.last().0;
    let mut constants: Vec<f64> = rows.iter().map(|r| (-&row_value(r, x, 0.0)).upward()).collect();
    if confident {
        // z_0 - LSE(z_l) is the soft minimum of the rows; the same constant in all of them.
        let leads: Vec<f64> = rows.iter().map(|r| row_value(r, x, 0.0).upward()).collect();
        let least = leads.iter().copied().fold(f64::INFINITY, f64::min);
        let soft = least - leads.iter().map(|v| (least - v).exp()).sum::<f64>().ln();
        constants = vec![2e-9 - soft + 1e-12 * soft.abs(); rows.len()];
    }
    let [first, second, difference] = [0, 1, 2].map(|k| cut(&draw.violation[k]));
    let mut assumption = Assumption {
        entropy: 0..if confident { rows.len() } else { 0 },
        guard: rows.concat(),
        constants,
        first,
        second,
        difference,
        constant: 0.0,
        strict: false,
        region: Constraints::default(),
    };
    for coefficients in draw.region.iter().map(|c| &c[..anchor.input.len()]) {
        assumption.region.push(coefficients, row_value(coefficients, &anchor.input, 0.0).upward());
    }
    assumption.constant = (-&violation(&assumption, anchor)).upward();
    assumption
}

/// Everything that can be bounded.
fn functionals(pair: &Pair) -> Vec<Functional> {
    let mut list = vec![Functional::Target];
    for negative in [false, true] {
        list.extend((0..pair.inputs()).map(|input| Functional::Input { input, negative }));
        for layer in 0..pair.depth() - 1 {
            for neuron in 0..pair.first[layer].rows {
                list.push(Functional::Neuron { quantity: Quantity::First, layer, neuron, negative });
                list.push(Functional::Neuron { quantity: Quantity::Second, layer, neuron, negative });
                list.push(Functional::Neuron { quantity: Quantity::Difference, layer, neuron, negative });
            }
        }
    }
    list
}

/// The signs that some neurons have at the anchor.
fn phases(anchor: &Values) -> Vec<PhaseConstraint> {
    let hidden = anchor.x.len() - 1;
    let all = (0..hidden).flat_map(|layer| (0..anchor.x[layer].len()).map(move |index| (layer, index)));
    all.flat_map(|(layer, index)| {
        let side =
            |quantity: Quantity, value: &Exact| PhaseConstraint { quantity, layer, index, positive: *value >= 0.0 };
        let (x, y) = (&anchor.x[layer][index], &anchor.y[layer][index]);
        [side(Quantity::First, x), side(Quantity::Second, y), side(Quantity::Difference, &(x - y))]
    })
    .step_by(4)
    .collect()
}

/// Fills multipliers with the draw's numbers, each in its range.
fn fill(parameters: &mut Parameters, numbers: &[f64]) {
    let mut numbers = numbers.iter().copied().cycle();
    let mut all = |values: &mut Vec<f64>, range: &dyn Fn(f64) -> f64| {
        for v in values.iter_mut() {
            *v = range(numbers.next().unwrap());
        }
    };
    let (any, not_negative, unit) = (|v: f64| v, |v: f64| v.max(0.0), |v: f64| v.abs().min(1.0));
    all(&mut parameters.guard.value, &not_negative);
    all(&mut parameters.violation.value, &not_negative);
    all(&mut parameters.phases.value, &not_negative);
    all(&mut parameters.region.value, &not_negative);
    all(&mut parameters.output.value, &any);
    for layer in &mut parameters.layers {
        all(&mut layer.link.value, &any);
        all(&mut layer.alpha1.value, &unit);
        all(&mut layer.alpha2.value, &unit);
    }
}

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

/// The anchor, every point, the bounds of a propagation, and the assumption; `None` if numbers overflow.
pub fn prepare(case: &Case, draw: &Draw) -> Option<(Pair, Vec<Values>, IntermediateBounds, Assumption)> {
    let pair = case.pair();
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    reach.propagate(&pair, &case.lower, &case.upper)?;
    let mut bounds = IntermediateBounds::of(reach.layers(), &case.lower, &case.upper);
    let values: Vec<Values> = case.samples().iter().map(|x| Values::of(case, x)).collect();
    if draw.split {
        for side in phases(&values[0]) {
            bounds.assume(side);
        }
    }
    let assumption = assumed(draw, &values[0]);
    Some((pair, values, bounds, assumption))
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

fn within(bounds: &Bounds, values: &[Exact]) -> bool {
    let ends = bounds.lower.iter().zip(&bounds.upper);
    values.iter().zip(ends).all(|(v, (&l, &u))| *v >= l && *v <= u)
}

fn contains(bounds: &IntermediateBounds, values: &Values) -> bool {
    let input = Bounds { lower: bounds.lower.clone(), upper: bounds.upper.clone() };
    let layer = |l: usize| {
        let (x, y) = (&values.x[l], &values.y[l]);
        let d: Vec<Exact> = x.iter().zip(y).map(|(a, b)| a - b).collect();
        let known = &bounds.layers[l];
        within(&known.x, x) && within(&known.y, y) && within(&known.d, &d)
    };
    within(&input, &values.input) && (0..values.x.len()).all(layer)
}

fn check_contraction(case: &Case, draw: &Draw, seen: &RefCell<Seen>) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    let effort =
        ContractionBudget { rounds: 2 + draw.steps.unsigned_abs() as usize, steps: 12, ..ContractionBudget::default() };
    let before = bounds.clone();
    let mut contractor = Contractor::new(&pair);
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
    for_all(400, (pairs, draws()), |(case, draw)| check_contraction(&case, &draw, &seen));
    let seen = seen.into_inner();
    assert!(seen.satisfying > 400 && seen.shrunk > 40 && seen.useful > 40, "{seen:?}");
    assert!(seen.settled > 20 && seen.split > 100, "{seen:?}");
}

/// Raising the bar above what is possible must be noticed at least sometimes, or contraction proves nothing.
#[test]
fn contraction_proves_what_is_far_from_violated() {
    let seen = RefCell::new(Seen::default());
    let pairs = cases(1..=3, 1..=4, 1..=4, Just(Scale::Plain), 3);
    for_all(200, (pairs, draws()), |(case, mut draw)| {
        draw.split = false;
        let Some((pair, _, bounds, mut assumption)) = prepare(&case, &draw) else { return Ok(()) };
        assumption.constant -= 1e6;
        let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
        let result = Contractor::new(&pair).contract(
            bounds,
            None,
            &assumption,
            ContractionBudget::default(),
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
