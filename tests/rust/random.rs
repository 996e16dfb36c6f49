//! Random pairs of networks and boxes, ugly on purpose: exact zeros, pruned neurons, equal layers, mixed scales, inputs
//! without width, uncertain weights.

use crate::bent::behind;
use crate::exact::{Exact, all_exact, exact};
use eqspec::network::{Affine, Function, Origin, Pair};
use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use std::fmt;

/// Runs a check on random cases; a failure prints its shrunk case.
///
/// The cases are the same in every run; PROPTEST_RNG_SEED and PROPTEST_CASES choose others.
pub fn for_all<S: Strategy>(number: u32, strategy: S, check: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let default = ProptestConfig::default();
    let chosen = |variable: &str| std::env::var_os(variable).is_some();
    let config = ProptestConfig {
        cases: if chosen("PROPTEST_CASES") { default.cases } else { number },
        rng_seed: if chosen("PROPTEST_RNG_SEED") { default.rng_seed } else { RngSeed::Fixed(2025) },
        failure_persistence: None,
        max_shrink_iters: if chosen("PROPTEST_MAX_SHRINK_ITERS") { default.max_shrink_iters } else { 4000 },
        max_global_rejects: u32::MAX,
        ..default
    };
    TestRunner::new(config).run(&strategy, check).unwrap_or_else(|failure| panic!("{failure}"));
}

/// One affine layer of one network: what is stored, and where within the errors the true numbers lie.
#[derive(Clone)]
pub struct Weights {
    /// Row by row.
    pub weight: Vec<Vec<f64>>,
    pub bias: Vec<f64>,
    /// Error radius of every number of a row (the bias last), and the share of it, in [-1, 1], by which the true one is
    /// off.
    pub uncertain: Option<Vec<Vec<(f64, f64)>>>,
}

/// On one line, as numpy would read it.
impl fmt::Debug for Weights {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "W = {:?}, b = {:?}", self.weight, self.bias)?;
        self.uncertain.as_ref().map_or(Ok(()), |u| write!(out, ", (error, share) = {u:?}"))
    }
}

impl Weights {
    pub fn affine(&self) -> Affine {
        let (m, n) = (self.weight.len(), self.weight[0].len());
        let weight = Array2::from_shape_fn((m, n), |(i, j)| self.weight[i][j]);
        let errors = self
            .uncertain
            .as_ref()
            .map(|u| (Array2::from_shape_fn((m, n), |(i, j)| u[i][j].0), Array1::from_shape_fn(m, |i| u[i][n].0)));
        let (weight_error, bias_error) = (errors.as_ref().map(|e| e.0.view()), errors.as_ref().map(|e| e.1.view()));
        Affine::new(weight.view(), Array1::from(self.bias.clone()).view(), weight_error, bias_error)
            .expect("finite numbers of fitting sizes")
    }

    /// The true numbers, row by row, the bias last.
    fn truth(&self) -> Vec<Vec<Exact>> {
        let off =
            |i: usize, j: usize| self.uncertain.as_ref().map_or_else(Exact::default, |u| &exact(u[i][j].0) * u[i][j].1);
        let row = |(i, (row, bias)): (usize, (&Vec<f64>, &f64))| {
            row.iter().chain([bias]).enumerate().map(|(j, &w)| &exact(w) + &off(i, j)).collect()
        };
        self.weight.iter().zip(&self.bias).enumerate().map(row).collect()
    }
}

/// A number that a row of a step reads, and its true weight.
pub type Entry = (Origin, usize, Exact);

/// One step of a network without rounding.
pub struct TrueStep {
    /// What each row sums up beside its bias.
    pub rows: Vec<Vec<Entry>>,
    pub bias: Vec<Exact>,
    pub function: Function,
}

/// A network without rounding.
pub struct Truth(pub Vec<TrueStep>);

impl Truth {
    /// The function of a step.
    pub fn function(&self, step: usize) -> &Function {
        &self.0[step].function
    }

    /// The values of every step before its function, the outputs last.
    pub fn layers(&self, input: &[Exact]) -> Vec<Vec<Exact>> {
        let mut values: Vec<Vec<Exact>> = Vec::new();
        let mut after: Vec<Vec<Exact>> = Vec::new();
        for step in &self.0 {
            let read = |origin: Origin, j: usize| match origin {
                Origin::Inputs => &input[j],
                Origin::Step(s) => &after[s][j],
            };
            let product = |(origin, j, w): &Entry| w * read(*origin, *j);
            let sum = |(row, bias): (&Vec<Entry>, &Exact)| {
                let terms = row.iter().filter(|(origin, j, w)| !w.is_zero() && !read(*origin, *j).is_zero());
                &terms.map(product).sum::<Exact>() + bias
            };
            let now: Vec<Exact> = step.rows.iter().zip(&step.bias).map(sum).collect();
            after.push(now.iter().enumerate().map(|(i, x)| behind(&step.function, i, x)).collect());
            values.push(now);
        }
        values
    }

    pub fn outputs(&self, input: &[Exact]) -> Vec<Exact> {
        self.layers(input).pop().expect("at least one step")
    }
}

/// Two networks, a box and some points of it.
#[derive(Clone)]
pub struct Case {
    pub layers: Vec<[Weights; 2]>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// In [-1, 1] per input: relative to the box.
    pub points: Vec<Vec<f64>>,
}

impl fmt::Debug for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for [first, second] in &self.layers {
            write!(out, "\n  f1: {first:?}\n  f2: {second:?}")?;
        }
        write!(out, "\n  lower {:?}\n  upper {:?}\n  points {:?}\n", self.lower, self.upper, self.points)
    }
}

impl Case {
    pub fn pair(&self) -> Pair {
        let network = |k: usize| self.layers.iter().map(|l| l[k].affine()).collect();
        Pair::sharing(network(0), network(1), self.shared()).expect("fitting sizes")
    }

    /// Rows of which not only what is stored is equal in both networks, but also where within the errors the true numbers lie.
    pub fn shared(&self) -> Vec<Vec<bool>> {
        let row = |w: &Weights, i: usize| {
            (w.weight[i].clone(), w.bias[i], w.uncertain.as_ref().map(|u| u[i].clone()).unwrap_or_default())
        };
        self.layers.iter().map(|[a, b]| (0..a.weight.len()).map(|i| row(a, i) == row(b, i)).collect()).collect()
    }

    pub fn truths(&self) -> [Truth; 2] {
        let last = self.layers.len() - 1;
        let step = |l: usize, k: usize| {
            let origin = if l == 0 { Origin::Inputs } else { Origin::Step(l - 1) };
            let function = if l == last { Function::Identity } else { Function::Relu };
            let mut rows = self.layers[l][k].truth();
            let bias = rows.iter_mut().map(|row| row.pop().expect("the bias")).collect();
            let entry = |(j, w)| (origin, j, w);
            TrueStep {
                rows: rows.into_iter().map(|r| r.into_iter().enumerate().map(entry).collect()).collect(),
                bias,
                function,
            }
        };
        [0, 1].map(|k| Truth((0..=last).map(|l| step(l, k)).collect()))
    }

    pub fn inputs(&self) -> usize {
        self.lower.len()
    }

    /// The points as binary64 numbers inside the box.
    pub fn samples(&self) -> Vec<Vec<f64>> {
        let inside = |e: f64, l: f64, u: f64| (l + (u - l) * (0.5 + 0.5 * e)).clamp(l, u);
        self.points
            .iter()
            .map(|p| p.iter().zip(self.lower.iter().zip(&self.upper)).map(|(&e, (&l, &u))| inside(e, l, u)).collect())
            .collect()
    }
}

/// What numbers look like.
#[derive(Clone, Copy, Debug)]
pub enum Scale {
    /// Quarters: sums and products are exact, so that nothing but the rule itself is tested.
    Quarters,
    /// Around one.
    Plain,
    /// Twenty orders of magnitude within one layer.
    Mixed,
    /// All small: products underflow.
    Small,
    /// All large: two layers of them overflow.
    Large,
}

impl Scale {
    pub fn number(self, (value, power): (f64, i32)) -> f64 {
        match self {
            Self::Quarters => (4.0 * value).round() / 4.0,
            Self::Plain => value,
            Self::Mixed => value * 10f64.powi(power),
            Self::Small => value * 1e-160,
            Self::Large => value * 1e160,
        }
    }
}

/// How the candidate came from the reference.
#[derive(Clone, Copy, Debug)]
pub enum Relation {
    Equal,
    /// Some neurons are gone.
    Pruned,
    /// Some weights are gone.
    Sparse,
    /// To single precision.
    Rounded,
    Retrained,
    Independent,
}

/// Mostly ordinary numbers, exact zeros among them; the second part is used by [`Scale::Mixed`].
pub fn raw() -> impl Strategy<Value = (f64, i32)> {
    prop_oneof![2 => Just((0.0, 0)), 6 => (-1.5f64..1.5, -10i32..=10)]
}

pub fn numbers(rows: usize, columns: usize) -> impl Strategy<Value = Vec<Vec<(f64, i32)>>> {
    vec(vec(raw(), columns), rows)
}

pub fn relation() -> impl Strategy<Value = Relation> {
    use Relation::{Equal, Independent, Pruned, Retrained, Rounded, Sparse};
    let alike = prop_oneof![Just(Equal), Just(Pruned), Just(Sparse), Just(Rounded), Just(Retrained)];
    prop_oneof![5 => alike, 3 => Just(Independent)]
}

fn uncertain(rows: usize, columns: usize) -> impl Strategy<Value = Option<Vec<Vec<(f64, f64)>>>> {
    let radius = prop_oneof![Just(0.0), 0.0f64..1e-3, Just(1e-17)];
    let share = prop_oneof![Just(-1.0), Just(1.0), -1.0f64..1.0];
    proptest::option::weighted(0.2, vec(vec((radius, share), columns + 1), rows))
}

pub fn related(relation: Relation, a: &[Vec<f64>], b: &[Vec<f64>], gone: &[Vec<bool>]) -> Vec<Vec<f64>> {
    let number = |i: usize, j: usize| match relation {
        Relation::Pruned if gone[i][0] => 0.0,
        Relation::Sparse if gone[i][j] => 0.0,
        #[allow(clippy::cast_possible_truncation)]
        Relation::Rounded if a[i][j].abs() < 1e30 => f64::from(a[i][j] as f32),
        Relation::Equal | Relation::Pruned | Relation::Sparse | Relation::Rounded => a[i][j],
        Relation::Retrained => a[i][j] + b[i][j] / 64.0,
        Relation::Independent => b[i][j],
    };
    (0..a.len()).map(|i| (0..a[i].len()).map(|j| number(i, j)).collect()).collect()
}

/// A layer of both networks with m rows and n columns.
fn layer(
    m: usize,
    n: usize,
    scale: impl Strategy<Value = Scale>,
    relation: BoxedStrategy<Relation>,
) -> impl Strategy<Value = [Weights; 2]> {
    let parts =
        (numbers(m, n + 1), numbers(m, n + 1), vec(vec(any::<bool>(), n + 1), m), uncertain(m, n), uncertain(m, n));
    (scale, relation, parts).prop_map(move |(scale, relation, (a, b, gone, error1, error2))| {
        // Where the errors are those of one number in both networks, rows that are stored equally are shared.
        let error2 = if gone[m - 1][n] { error1.clone() } else { error2 };
        let scaled = |rows: Vec<Vec<(f64, i32)>>| {
            rows.into_iter().map(|r| r.into_iter().map(|v| scale.number(v)).collect()).collect::<Vec<Vec<f64>>>()
        };
        let (a, b) = (scaled(a), scaled(b));
        let candidate = related(relation, &a, &b, &gone);
        let split = |rows: Vec<Vec<f64>>, uncertain| {
            let bias = rows.iter().map(|r| r[n]).collect();
            Weights {
                weight: rows
                    .into_iter()
                    .map(|mut r| {
                        r.truncate(n);
                        r
                    })
                    .collect(),
                bias,
                uncertain,
            }
        };
        [split(a, error1), split(candidate, error2)]
    })
}

pub fn interval() -> impl Strategy<Value = (f64, f64)> {
    let radius = prop_oneof![2 => Just(0.0), 6 => 0.0f64..1.0, 1 => 0.0f64..1e-9, 1 => Just(0.5), 1 => 0.0f64..100.0];
    (prop_oneof![Just(0.0), -1.0f64..1.0, -100.0f64..100.0], radius).prop_map(|(c, r)| (c - r, c + r))
}

pub fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(-1.0), 1 => Just(1.0), 1 => Just(0.0), 3 => -1.0f64..=1.0]
}

/// Layers of mixed scales, as networks never are but arithmetic must bear.
pub fn any_scale() -> impl Strategy<Value = Scale> + Clone {
    use Scale::{Mixed, Plain, Quarters, Small};
    prop_oneof![4 => Just(Quarters), 8 => Just(Plain), 3 => Just(Mixed), 1 => Just(Small)]
}

/// Layers that underflow and overflow.
pub fn extreme_scale() -> impl Strategy<Value = Scale> + Clone {
    use Scale::{Large, Plain, Small};
    prop_oneof![2 => Just(Plain), 1 => Just(Small), 1 => Just(Large)]
}

/// Pairs of `depth` layers with the given numbers of inputs and outputs, and `samples` points each.
pub fn cases(
    depth: std::ops::RangeInclusive<usize>,
    inputs: std::ops::RangeInclusive<usize>,
    outputs: std::ops::RangeInclusive<usize>,
    scale: impl Strategy<Value = Scale> + Clone + 'static,
    samples: usize,
) -> impl Strategy<Value = Case> {
    let sizes = (depth, inputs, outputs).prop_flat_map(|(depth, inputs, outputs)| {
        vec(1usize..=8, depth - 1).prop_map(move |hidden| [vec![inputs], hidden, vec![outputs]].concat())
    });
    // Half of the pairs are alike throughout, as real ones are; only there do bounds of the difference tell anything
    // about the networks.
    let alike = prop_oneof![Just(relation().boxed()), relation().prop_map(|r| Just(r).boxed())];
    (sizes, alike).prop_flat_map(move |(sizes, relation)| {
        let layers: Vec<_> = sizes.windows(2).map(|w| layer(w[1], w[0], scale.clone(), relation.clone())).collect();
        (layers, vec(interval(), sizes[0]), vec(vec(coordinate(), sizes[0]), samples)).prop_map(
            |(layers, box_, points)| {
                let (lower, upper) = box_.into_iter().unzip();
                Case { layers, lower, upper, points }
            },
        )
    })
}

/// A point as exact numbers.
pub fn point(x: &[f64]) -> Vec<Exact> {
    all_exact(x)
}
