//! What backward bounds are asked about: assumptions that hold at some input, the exact values of everything there, and
//! multipliers; of chains and of programs of steps alike.

use crate::exact::{Exact, exact};
use crate::programs::Programs;
use crate::random::{Case, Truth, point};
use eqspec::bound::Assumption;
use eqspec::bound::constraints::Constraints;
use eqspec::bound::functional::Functional;
use eqspec::bound::parameters::Parameters;
use eqspec::domain::intermediate_bounds::{IntermediateBounds, PhaseConstraint};
use eqspec::domain::phase::Bounds;
use eqspec::domain::{AbstractDomain, Propagation, Quantity};
use eqspec::network::Pair;
use proptest::collection::vec;
use proptest::prelude::*;

/// Two networks and a box.
pub trait Networks {
    fn pair(&self) -> Pair;
    fn truths(&self) -> [Truth; 2];
    fn ends(&self) -> (&[f64], &[f64]);
    fn samples(&self) -> Vec<Vec<f64>>;
}

impl Networks for Case {
    fn pair(&self) -> Pair {
        self.pair()
    }
    fn truths(&self) -> [Truth; 2] {
        self.truths()
    }
    fn ends(&self) -> (&[f64], &[f64]) {
        (&self.lower, &self.upper)
    }
    fn samples(&self) -> Vec<Vec<f64>> {
        self.samples()
    }
}

impl Networks for Programs {
    fn pair(&self) -> Pair {
        self.pair()
    }
    fn truths(&self) -> [Truth; 2] {
        self.truths()
    }
    fn ends(&self) -> (&[f64], &[f64]) {
        (&self.lower, &self.upper)
    }
    fn samples(&self) -> Vec<Vec<f64>> {
        self.samples()
    }
}

/// Raw material of an assumption and of multipliers.
#[derive(Debug, Clone)]
pub struct Draw {
    /// Coefficients of guard rows; of the violation over f1, f2 and f1 - f2.
    pub guard: Vec<Vec<f64>>,
    pub violation: [Vec<f64>; 3],
    /// Coefficients of constraints of the region.
    pub region: Vec<Vec<f64>>,
    /// Whether the guard is an exact confidence for class 0 instead.
    pub confident: bool,
    /// Whether the signs of some neurons are assumed.
    pub split: bool,
    pub multipliers: Vec<f64>,
    pub steps: i32,
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
    pub fn of(case: &impl Networks, input: &[f64]) -> Self {
        let ([first, second], input) = (case.truths(), point(input));
        Self { x: first.layers(&input), y: second.layers(&input), input }
    }

    pub fn last(&self) -> (&[Exact], &[Exact]) {
        (&self.x[self.x.len() - 1], &self.y[self.y.len() - 1])
    }

    pub fn functional(&self, functional: Functional, assumption: &Assumption) -> Exact {
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

pub fn row_value(coefficients: &[f64], values: &[Exact], constant: f64) -> Exact {
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
pub fn assumed(draw: &Draw, anchor: &Values) -> Assumption {
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
    for coefficients in &draw.region {
        let row: Vec<f64> = coefficients.iter().copied().cycle().take(anchor.input.len()).collect();
        assumption.region.push(&row, row_value(&row, &anchor.input, 0.0).upward());
    }
    assumption.constant = (-&violation(&assumption, anchor)).upward();
    assumption
}

/// Everything that can be bounded.
pub fn functionals(pair: &Pair) -> Vec<Functional> {
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
pub fn phases(pair: &Pair, anchor: &Values) -> Vec<PhaseConstraint> {
    let hidden = anchor.x.len() - 1;
    let neurons = (0..hidden).filter(|s| !pair.function(*s).is_identity());
    let all = neurons.flat_map(|layer| (0..anchor.x[layer].len()).map(move |index| (layer, index)));
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
pub fn fill(parameters: &mut Parameters, numbers: &[f64]) {
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

/// The anchor, every point, the bounds of a propagation, and the assumption; `None` if numbers overflow.
pub fn prepare(case: &impl Networks, draw: &Draw) -> Option<(Pair, Vec<Values>, IntermediateBounds, Assumption)> {
    let pair = case.pair();
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    reach.propagate(&pair, case.ends().0, case.ends().1)?;
    let mut bounds = IntermediateBounds::of(reach.layers(), case.ends().0, case.ends().1);
    let values: Vec<Values> = case.samples().iter().map(|x| Values::of(case, x)).collect();
    if draw.split {
        for side in phases(&pair, &values[0]) {
            bounds.assume(side);
        }
    }
    let assumption = assumed(draw, &values[0]);
    Some((pair, values, bounds, assumption))
}

/// The first value that bounds leave out, if there is one.
pub fn left_out(bounds: &IntermediateBounds, values: &Values) -> Option<String> {
    let mut all =
        vec![("input", 0, Bounds { lower: bounds.lower.clone(), upper: bounds.upper.clone() }, values.input.clone())];
    for (l, known) in bounds.layers.iter().enumerate() {
        let (x, y) = (&values.x[l], &values.y[l]);
        let d: Vec<Exact> = x.iter().zip(y).map(|(a, b)| a - b).collect();
        all.push(("x", l, known.x.clone(), x.clone()));
        all.push(("y", l, known.y.clone(), y.clone()));
        all.push(("d", l, known.d.clone(), d));
    }
    all.into_iter().find_map(|(what, l, bounds, values)| {
        let ends = bounds.lower.iter().zip(&bounds.upper);
        let outside = values.iter().zip(ends).position(|(v, (&l, &u))| !(*v >= l && *v <= u))?;
        let (v, l_, u) = (&values[outside], bounds.lower[outside], bounds.upper[outside]);
        Some(format!("{what}[{outside}] of step {l} is {v:?}, outside [{l_:e}, {u:e}]"))
    })
}

/// Whether bounds leave nothing out.
pub fn contains(bounds: &IntermediateBounds, values: &Values) -> bool {
    left_out(bounds, values).is_none()
}
