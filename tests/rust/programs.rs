//! Random pairs of programs of steps, ugly on purpose: skips and several readers, dense matrices beside windows with
//! groups, strides and taps that read nothing, identity steps, steps and terms that one network has alone, terms that
//! read the same in another way, uncertain weights, shared rows, rows without weights, steps that nobody reads.

use crate::bent::{CHOICES, bent};
use crate::exact::{Exact, exact};
use crate::random::{Entry, Relation, Scale, TrueStep, Truth, coordinate, interval, numbers, related, relation};
use eqspec::network::{Function, Origin, Pair, Step, Term, Tile};
use ndarray::{Array1, Array2, Array3};
use proptest::collection::vec;
use proptest::prelude::*;

/// Error radius of every number, and the share of it, in [-1, 1], by which the true one is off.
type Uncertain = Option<Vec<Vec<(f64, f64)>>>;

/// A tile of one network: what is stored, and where within the errors the true numbers lie.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomTile {
    /// G, O, P, K.
    pub shape: [usize; 4],
    /// What it reads, (G, P, K); a matrix of all columns in order if there is none.
    pub index: Option<Vec<i32>>,
    /// One row for every kernel, (G O, K).
    pub weight: Vec<Vec<f64>>,
    pub uncertain: Uncertain,
}

impl RandomTile {
    fn tile(&self, columns: usize) -> Tile {
        let [groups, outputs, positions, taps] = self.shape;
        let error = |i: usize, k: usize| self.uncertain.as_ref().map_or(0.0, |u| u[i][k].0);
        let Some(index) = &self.index else {
            let weight = Array2::from_shape_fn((outputs, taps), |(i, k)| self.weight[i][k]);
            let errors = Array2::from_shape_fn((outputs, taps), |(i, k)| error(i, k));
            let errors = errors.view();
            return Tile::dense(&weight.view(), self.uncertain.as_ref().map(|_| &errors)).expect("a matrix");
        };
        let index = Array3::from_shape_vec((groups, positions, taps), index.clone()).expect("its shape");
        let shape = (groups, outputs, taps);
        let weight = Array3::from_shape_fn(shape, |(g, o, k)| self.weight[g * outputs + o][k]);
        let errors = Array3::from_shape_fn(shape, |(g, o, k)| error(g * outputs + o, k));
        let errors = errors.view();
        Tile::windows(columns, &index.view(), &weight.view(), self.uncertain.as_ref().map(|_| &errors))
            .expect("windows")
    }

    /// The true weights of row i, with what they are multiplied by.
    fn entries(&self, origin: Origin, i: usize) -> Vec<Entry> {
        let [_, outputs, positions, taps] = self.shape;
        let (kernel, p) = (i / positions, i % positions);
        let entry = |k: usize| {
            let place = match &self.index {
                None => i32::try_from(k).unwrap(),
                Some(index) => index[(kernel / outputs * positions + p) * taps + k],
            };
            let off = self.uncertain.as_ref().map_or_else(Exact::default, |u| &exact(u[kernel][k].0) * u[kernel][k].1);
            usize::try_from(place).ok().map(|j| (origin, j, &exact(self.weight[kernel][k]) + &off))
        };
        (0..taps).filter_map(entry).collect()
    }

    /// Whether the true weights of row i are those of another tile, which reads alike.
    fn same_row(&self, other: &Self, i: usize) -> bool {
        let kernel = i / self.shape[2];
        let of = |t: &Self| (t.weight[kernel].clone(), t.uncertain.as_ref().map(|u| u[kernel].clone()));
        of(self) == of(other)
    }
}

/// One step of one network.
#[derive(Clone, Debug)]
pub struct RandomStep {
    pub terms: Vec<(Origin, RandomTile)>,
    pub bias: Vec<f64>,
    pub uncertain: Option<Vec<(f64, f64)>>,
    pub function: Function,
}

impl RandomStep {
    fn step(&self, width: impl Fn(Origin) -> usize) -> Step {
        let term = |(origin, tile): &(Origin, RandomTile)| Term { origin: *origin, tile: tile.tile(width(*origin)) };
        let bias = Array1::from(self.bias.clone());
        let errors = self.uncertain.as_ref().map(|u| u.iter().map(|e| e.0).collect::<Array1<f64>>());
        let errors = errors.as_ref().map(|e| e.view());
        let terms = self.terms.iter().map(term).collect();
        Step::new(terms, &bias.view(), errors.as_ref(), self.function.clone()).expect("fitting sizes")
    }

    fn truth(&self) -> TrueStep {
        let row = |i: usize| self.terms.iter().flat_map(|(origin, tile)| tile.entries(*origin, i)).collect();
        let off = |i: usize| self.uncertain.as_ref().map_or_else(Exact::default, |u| &exact(u[i].0) * u[i].1);
        let rows = 0..self.bias.len();
        TrueStep {
            rows: rows.clone().map(row).collect(),
            bias: rows.map(|i| &exact(self.bias[i]) + &off(i)).collect(),
            function: self.function.clone(),
        }
    }
}

/// Two programs, a box and some points of it.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The steps, each of f1 and of f2.
    pub steps: Vec<[RandomStep; 2]>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// In [-1, 1] per input: relative to the box.
    pub points: Vec<Vec<f64>>,
}

impl Programs {
    pub fn pair(&self) -> Pair {
        let width = |origin: Origin| match origin {
            Origin::Inputs => self.lower.len(),
            Origin::Step(s) => self.steps[s][0].bias.len(),
        };
        let network = |k: usize| self.steps.iter().map(|s| s[k].step(width)).collect();
        Pair::of_steps(self.lower.len(), network(0), network(1), self.shared()).expect("fitting sizes")
    }

    /// Rows of which not only what is stored is equal in both networks, but also where within the errors the true
    /// numbers lie.
    pub fn shared(&self) -> Vec<Vec<bool>> {
        let of = |[a, b]: &[RandomStep; 2]| {
            let alike = a.terms.len() == b.terms.len()
                && a.terms
                    .iter()
                    .zip(&b.terms)
                    .all(|((i, x), (j, y))| i == j && (x.shape, &x.index) == (y.shape, &y.index));
            let bias = |s: &RandomStep, i: usize| (s.bias[i], s.uncertain.as_ref().map(|u| u[i]));
            let row = |i: usize| {
                alike
                    && bias(a, i) == bias(b, i)
                    && a.terms.iter().zip(&b.terms).all(|((_, x), (_, y))| x.same_row(y, i))
            };
            (0..a.bias.len()).map(row).collect()
        };
        self.steps.iter().map(of).collect()
    }

    pub fn truths(&self) -> [Truth; 2] {
        [0, 1].map(|k| Truth(self.steps.iter().map(|s| s[k].truth()).collect()))
    }

    /// The points as binary64 numbers inside the box.
    pub fn samples(&self) -> Vec<Vec<f64>> {
        let inside = |e: f64, l: f64, u: f64| (l + (u - l) * (0.5 + 0.5 * e)).clamp(l, u);
        let ends = || self.lower.iter().zip(&self.upper);
        self.points.iter().map(|p| p.iter().zip(ends()).map(|(&e, (&l, &u))| inside(e, l, u)).collect()).collect()
    }
}

/// Which network has a term.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Both,
    /// Both, but they read different places.
    Apart,
    First,
    Second,
}

/// What a term looks like.
#[derive(Clone, Debug)]
struct TermShape {
    origin: Origin,
    columns: usize,
    shape: [usize; 4],
    index: [Option<Vec<i32>>; 2],
    who: Who,
}

#[derive(Clone, Debug)]
struct StepShape {
    rows: usize,
    functions: [Function; 2],
    terms: Vec<TermShape>,
}

/// Choices from which the shapes of a step are made, whatever was before it.
type Choices = (usize, Option<usize>, u8, Vec<TermChoices>);
/// Those of a term: which origin, counted from the nearest backwards; G and O; K, or none for a dense matrix; how far
/// windows move, spread and begin; places that are read otherwise; who has it.
type TermChoices = (usize, [usize; 2], Option<usize>, [usize; 3], Vec<i32>, Who);

fn choices() -> impl Strategy<Value = Choices> {
    let who = prop_oneof![12 => Just(Who::Both), 1 => Just(Who::Apart), 1 => Just(Who::First), 1 => Just(Who::Second)];
    let origin = prop_oneof![3 => Just(0usize), 2 => 0usize..6];
    let taps = prop_oneof![1 => Just(None), 2 => (1usize..=3).prop_map(Some)];
    let places = vec(-1i32..8, 24);
    let term = (origin, [0usize..4, 0usize..4], taps, [0usize..3, 1usize..3, 0usize..2], places, who);
    let function = prop_oneof![4 => Just(None), 6 => Just(Some(0)), 6 => (1..=CHOICES).prop_map(Some)];
    (prop_oneof![4 => 1usize..=8, 1 => Just(4), 1 => Just(6)], function, 0u8..16, vec(term, 1..=3))
}

/// The k-th divisor of n, round about.
fn divisor(n: usize, k: usize) -> usize {
    let all: Vec<usize> = (1..=n).filter(|d| n.is_multiple_of(*d)).collect();
    all[k % all.len()]
}

/// Turns choices into shapes that fit each other.
fn shapes(inputs: usize, outputs: usize, list: Vec<Choices>) -> Vec<StepShape> {
    let mut steps: Vec<StepShape> = Vec::new();
    // Which network has each step alone.
    let mut alone: Vec<Option<Who>> = Vec::new();
    let last = list.len() - 1;
    for (s, (rows, function, lonely, terms)) in list.into_iter().enumerate() {
        let rows = if s == last { outputs } else { rows };
        let of_step = match lonely {
            0 if s < last => Some(Who::First),
            1 if s < last => Some(Who::Second),
            _ => None,
        };
        let term = |(back, parts, taps, [stride, dilation, pad], places, who): TermChoices| {
            // The nearest step first, the inputs last.
            let back = back % (s + 1);
            let origin = if back == s { Origin::Inputs } else { Origin::Step(s - 1 - back) };
            let (columns, of_origin) = match origin {
                Origin::Inputs => (inputs, None),
                Origin::Step(j) => (steps[j].rows, alone[j]),
            };
            let who = of_step.or(of_origin).unwrap_or(who);
            let fits = of_step.is_none() || of_origin.is_none() || of_step == of_origin;
            let Some(taps) = taps else {
                let shape = [1, rows, 1, columns];
                return fits.then_some(TermShape { origin, columns, shape, index: [None, None], who });
            };
            let groups = divisor(rows, parts[0]);
            let of_group = divisor(rows / groups, parts[1]);
            let positions = rows / groups / of_group;
            let limit = i32::try_from(columns).unwrap();
            let window = |g: usize, p: usize, k: usize| {
                let place = i32::try_from(g + p * stride + k * dilation).unwrap() - i32::try_from(pad).unwrap();
                if place < limit { place } else { -1 }
            };
            let scattered = |at: usize| places[at % places.len()].min(limit - 1);
            let all = || (0..groups).flat_map(|g| (0..positions).flat_map(move |p| (0..taps).map(move |k| (g, p, k))));
            let moved: Vec<i32> = all().map(|(g, p, k)| window(g, p, k)).collect();
            let other: Vec<i32> = all().enumerate().map(|(at, _)| scattered(at)).collect();
            let index = if places[0] < 3 { [moved, other] } else { [other, moved] };
            let shape = [groups, of_group, positions, taps];
            fits.then_some(TermShape { origin, columns, shape, index: index.map(Some), who })
        };
        let terms = terms.into_iter().filter_map(term).collect();
        alone.push(of_step);
        let functions = match function {
            Some(0) if s < last => [Function::Relu, Function::Relu],
            // Now and then the networks have different functions there.
            Some(choice) if s < last && lonely > 12 => [bent(choice - 1, rows), bent(choice % CHOICES, rows)],
            Some(choice) if s < last => [bent(choice - 1, rows), bent(choice - 1, rows)],
            _ => [Function::Identity, Function::Identity],
        };
        steps.push(StepShape { rows, functions, terms });
    }
    steps
}

/// Numbers of both networks, which of them are gone in the second, and errors.
type Numbers = (Vec<Vec<(f64, i32)>>, Vec<Vec<(f64, i32)>>, Vec<Vec<bool>>, Uncertain, Uncertain);

fn material(rows: usize, columns: usize) -> impl Strategy<Value = Numbers> {
    let radius = || prop_oneof![Just(0.0), 0.0f64..1e-3, Just(1e-17)];
    let share = || prop_oneof![Just(-1.0), Just(1.0), -1.0f64..1.0];
    let uncertain = || proptest::option::weighted(0.15, vec(vec((radius(), share()), columns), rows));
    let gone = vec(vec(any::<bool>(), columns), rows);
    (numbers(rows, columns), numbers(rows, columns), gone, uncertain(), (uncertain(), any::<bool>())).prop_map(
        |(a, b, gone, first, (second, own))| {
            let second = if own { second } else { first.clone() };
            (a, b, gone, first, second)
        },
    )
}

fn scaled(scale: Scale, rows: Vec<Vec<(f64, i32)>>) -> Vec<Vec<f64>> {
    rows.into_iter().map(|r| r.into_iter().map(|v| scale.number(v)).collect()).collect()
}

/// The step of both networks.
fn fill(shape: StepShape, scale: Scale, relation: Relation, terms: Vec<Numbers>, bias: Numbers) -> [RandomStep; 2] {
    let both = |(a, b, gone, first, second): Numbers| {
        let (a, b) = (scaled(scale, a), scaled(scale, b));
        let candidate = related(relation, &a, &b, &gone);
        [(a, first), (candidate, second)]
    };
    let [first, second] = both(bias).map(|(bias, uncertain)| {
        let flat = bias.into_iter().flatten().collect::<Vec<f64>>();
        (flat, uncertain.map(|u| u.into_iter().flatten().collect::<Vec<_>>()))
    });
    let mut steps = [first, second].map(|(bias, uncertain)| RandomStep {
        terms: Vec::new(),
        bias,
        uncertain,
        function: Function::Identity,
    });
    for (step, function) in steps.iter_mut().zip(shape.functions) {
        step.function = function;
    }
    let mut who: Vec<Who> = Vec::new();
    for (term, numbers) in shape.terms.into_iter().zip(terms) {
        who.push(term.who);
        for (k, (weight, uncertain)) in both(numbers).into_iter().enumerate() {
            if term.who == [Who::Second, Who::First][k] {
                continue;
            }
            let index = term.index[if term.who == Who::Apart { k } else { 0 }].clone();
            debug_assert!(index.as_ref().is_none_or(|i| i.iter().all(|&j| j < i32::try_from(term.columns).unwrap())));
            steps[k].terms.push((term.origin, RandomTile { shape: term.shape, index, weight, uncertain }));
        }
    }
    steps
}

/// Pairs of 2 to `most` steps, with `samples` points each.
pub fn programs(
    most: usize,
    scale: impl Strategy<Value = Scale> + Clone + 'static,
    samples: usize,
) -> impl Strategy<Value = Programs> {
    of(vec(choices(), 2..=most), scale, samples)
}

/// The same, where each step is one term of the step before it.
pub fn sequences(
    most: usize,
    scale: impl Strategy<Value = Scale> + Clone + 'static,
    samples: usize,
) -> impl Strategy<Value = Programs> {
    let in_line = choices().prop_map(|(rows, function, lonely, mut terms)| {
        terms.truncate(1);
        for (back, .., who) in &mut terms {
            *back = 0;
            *who = if *who == Who::Apart { Who::Apart } else { Who::Both };
        }
        (rows, function, lonely.max(2), terms)
    });
    of(vec(in_line, 2..=most), scale, samples)
}

fn of(
    list: impl Strategy<Value = Vec<Choices>> + 'static,
    scale: impl Strategy<Value = Scale> + Clone + 'static,
    samples: usize,
) -> impl Strategy<Value = Programs> {
    let sizes = (1usize..=5, 1usize..=4, list);
    let alike = prop_oneof![Just(relation().boxed()), relation().prop_map(|r| Just(r).boxed())];
    (sizes, alike).prop_flat_map(move |((inputs, outputs, list), relation)| {
        let scale = scale.clone();
        // A step that one network has alone has a bias there only.
        let lonely: Vec<u8> = list.iter().map(|c| c.2).collect();
        let last = list.len() - 1;
        let step = move |(shape, s): (StepShape, usize)| {
            let tile = |t: &TermShape| material(t.shape[0] * t.shape[1], t.shape[3]);
            let terms: Vec<_> = shape.terms.iter().map(tile).collect();
            let lonely = if s == last { 2 } else { lonely[s] };
            let bias = material(shape.rows, 1);
            (scale.clone(), relation.clone(), terms, bias).prop_map(move |(scale, relation, terms, bias)| {
                let mut both = fill(shape.clone(), scale, relation, terms, bias);
                if lonely < 2 {
                    let missing = &mut both[1 - usize::from(lonely)];
                    missing.bias.fill(0.0);
                    missing.uncertain = None;
                }
                both
            })
        };
        let shapes = shapes(inputs, outputs, list);
        let steps: Vec<_> = shapes.into_iter().zip(0..).map(step).collect();
        (steps, vec(interval(), inputs), vec(vec(coordinate(), inputs), samples)).prop_map(|(steps, box_, points)| {
            let (lower, upper) = box_.into_iter().unzip();
            Programs { steps, lower, upper, points }
        })
    })
}

/// What the generator is for occurs.
#[test]
fn random_programs_have_everything() {
    use std::cell::RefCell;
    let seen = RefCell::new([0usize; 12]);
    crate::random::for_all(600, programs(6, crate::random::any_scale(), 1), |case| {
        let pair = case.pair();
        let mut seen = seen.borrow_mut();
        let difference = || pair.difference.iter().flat_map(|d| &d.terms);
        let read = |s: usize| {
            let steps = [&pair.first, &pair.second];
            steps.iter().map(|n| n.iter().flat_map(|t| &t.terms).filter(|t| t.origin == Origin::Step(s)).count()).max()
        };
        let last = pair.depth() - 1;
        let flags = [
            difference().any(|t| t.tile.index.is_some()),
            difference().any(|t| t.tile.groups > 1 && t.tile.outputs > 1),
            difference().any(|t| t.first.is_none()) && difference().any(|t| t.second.is_none()),
            (0..last).any(|s| pair.function(s).is_identity()),
            (0..last).any(|s| pair.function(s).is_relu()),
            (0..last).any(|s| pair.curves(s).is_some_and(|[c, _]| c.kinds().len() > 1)),
            (0..last).any(|s| pair.curves(s).is_some_and(|[a, b]| a != b)),
            (0..last).any(|s| pair.first[s].terms.is_empty() != pair.second[s].terms.is_empty()),
            (0..last).any(|s| read(s) > Some(1)),
            (0..last).any(|s| read(s) == Some(0)),
            pair.difference.iter().any(|d| d.shared.contains(&true) && d.shared.contains(&false)),
            pair.first.iter().any(|s| s.zero_rows.contains(&true) && s.zero_rows.contains(&false)),
        ];
        seen.iter_mut().zip(flags).for_each(|(n, flag)| *n += usize::from(flag));
        Ok(())
    });
    assert!(seen.borrow().iter().all(|&n| n >= 30), "{seen:?}");
}
