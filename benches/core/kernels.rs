//! What a box costs, part by part, in the shapes of the families.

use crate::networks::{self, Numbers, around, families, pair};
use criterion::{BenchmarkId, Criterion};
use eqspec::bound::backward::Backward;
use eqspec::bound::functional::Functional;
use eqspec::bound::{Assumption, ContractionBudget, Contractor};
use eqspec::domain::affine::{self, ActiveColumns, Extent, Operand, Scratch};
use eqspec::domain::phase::{Bounds, reduce};
use eqspec::domain::relu::{DifferenceTransformer, ReluTransformer};
use eqspec::domain::{AbstractDomain, IntermediateBounds, Propagation, Quantity};
use eqspec::lp::Multipliers;
use eqspec::lp::certified;
use eqspec::network::Affine;
use eqspec::numeric::kernels::{Accumulate, product, scale_columns};
use eqspec::property::{Violation, top1};
use ndarray::{Array1, Array2};
use std::hint::black_box;

/// (name, rows, inputs, active inputs, columns, fresh columns) of a hidden layer.
const LAYERS: [(&str, usize, usize, usize, usize, usize); 4] = [
    ("acas", 50, 50, 25, 60, 15),
    ("lhc", 40, 40, 25, 17, 15),
    ("mnist", 100, 100, 60, 785, 30),
    ("wide", 512, 512, 300, 785, 150),
];

pub fn kernels(criterion: &mut Criterion) {
    layers(criterion);
    relu(criterion);
    propagation(criterion);
    certified_bound(criterion);
    backward(criterion);
}

fn layer(m: usize, n: usize) -> Affine {
    let mut numbers = Numbers::new(5);
    let weight = Array2::from_shape_simple_fn((m, n), || numbers.next());
    Affine::new(weight.view(), Array1::zeros(m).view(), None, None).unwrap()
}

/// One form through one affine layer with its fresh generators, and the mat-vec that bounds the rounding of it.
fn layers(criterion: &mut Criterion) {
    for (name, m, n, active, columns, fresh) in LAYERS {
        let (layer, mut numbers) = (layer(m, n), Numbers::new(9));
        let entering: Vec<_> = (0..active).map(|i| i * n / active).collect();
        let part = ActiveColumns { of: n, columns: &entering };
        let form = numbers.many(active * columns);
        let list: Vec<_> = (0..fresh).map(|i| (i, 0.5)).collect();
        let (mut out, mut buffer) = (vec![0.0; m * (columns + fresh)], Vec::new());
        criterion.bench_function(&format!("affine layer/{name}"), |b| {
            b.iter(|| {
                let weight = part.of(&layer.weight, m, &mut buffer);
                let (old, new) = black_box(&mut out).split_at_mut(m * columns);
                product(old, weight, black_box(&form), (m, active, columns), Accumulate::Replace);
                scale_columns(new, weight, m, &list);
            });
        });
        let mut extent = Extent::default();
        extent.clear(n);
        extent.magnitude.fill(1.0);
        extent.err.fill(1e-15);
        let (mut err, mut scratch) = (Vec::new(), Scratch::default());
        let weight = part.of(&layer.weight, m, &mut buffer);
        criterion.bench_function(&format!("rounding mat-vec/{name}"), |b| {
            let form = Operand { extent: &extent, rows: &entering };
            b.iter(|| affine::error(black_box(&mut err), &layer, (part, weight), form, columns, &mut scratch));
        });
    }
}

/// Bounds exchanged, and the recipes of both networks and of their difference.
fn relu(criterion: &mut Criterion) {
    for (name, m, ..) in LAYERS {
        let bounds = |seed: u32, width: f64| {
            let centre = Numbers::new(seed).many(m);
            let end = |side: f64| centre.iter().map(|c| c + side * width).collect();
            Bounds { lower: end(-1.0), upper: end(1.0) }
        };
        let (x, y, d) = (bounds(3, 0.5), bounds(4, 0.5), bounds(5, 1.2));
        let (mut first, mut second, mut difference) =
            (ReluTransformer::default(), ReluTransformer::default(), DifferenceTransformer::default());
        criterion.bench_function(&format!("relu pair/{name}"), |b| {
            b.iter_batched(
                || (x.clone(), y.clone(), d.clone()),
                |(mut x, mut y, mut d)| {
                    reduce(&mut x, &mut y, &mut d);
                    first.set(&x);
                    second.set(&y);
                    difference.set(&first, &second, &d, true);
                },
                criterion::BatchSize::SmallInput,
            );
        });
    }
}

fn propagation(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("propagation");
    for (name, pair, (lower, upper)) in families() {
        for (word, domain) in [
            ("shared", AbstractDomain::Reduced),
            ("paper", AbstractDomain::Published),
            ("naive", AbstractDomain::Independent),
        ] {
            let mut reach = Propagation::new(domain, pair.depth());
            group.bench_function(BenchmarkId::new(word, name), |b| {
                b.iter(|| reach.propagate(&pair, black_box(&lower), black_box(&upper)).is_some());
            });
        }
    }
    group.finish();
}

/// The bound that multipliers of a linear program prove, on the jet tagger's shape.
fn certified_bound(criterion: &mut Criterion) {
    let (pair, (lower, upper)) = (pair(networks::LHC), around(16, 0.1));
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    let output = reach.propagate(&pair, &lower, &upper).unwrap();
    let property = top1::property(5, 0.5, None);
    let obligation = &property.obligations[3];
    let Violation::Linear { equivalents, .. } = &obligation.violation else { unreachable!() };
    let guard = obligation.guard.map(|g| &property.guards[g]);
    let multipliers = Multipliers { guard: vec![0.5; 4], link: vec![0.25; 5], region: Vec::new() };
    let mut scratch = certified::Scratch::default();
    criterion.bench_function("certified LP bound/lhc", |b| {
        b.iter(|| certified::bound(&output, &equivalents[0], guard, &[], black_box(&multipliers), &mut scratch));
    });
}

/// A batch of backward bounds with and without the step that improves them, and a whole contraction.
fn backward(criterion: &mut Criterion) {
    for (name, sizes, radius) in [("lhc", networks::LHC, 0.1), ("mnist", networks::MNIST, 0.01)] {
        let (pair, (lower, upper)) = (pair(sizes), around(sizes[0], radius));
        let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
        reach.propagate(&pair, &lower, &upper).unwrap();
        let bounds = IntermediateBounds::of(reach.layers(), &lower, &upper);
        let property = top1::property(pair.outputs(), 0.5, None);
        let assumption = Assumption::new(&property, &property.obligations[0], pair.outputs()).unwrap();
        let unstable = |layer: usize| {
            let bounds = &bounds.layers[layer].x;
            (0..bounds.lower.len()).filter(|&i| bounds.lower[i] < 0.0 && bounds.upper[i] > 0.0).collect::<Vec<_>>()
        };
        let mut functionals = vec![Functional::Target];
        for layer in 0..pair.depth() - 1 {
            for neuron in unstable(layer) {
                for negative in [false, true] {
                    functionals.push(Functional::Neuron { quantity: Quantity::First, layer, neuron, negative });
                }
            }
        }
        let mut backward = Backward::new(&pair);
        backward.set_bounds(&bounds);
        let mut parameters = backward.start(&functionals, &assumption);
        let count = functionals.len();
        criterion.bench_function(&format!("backward bound/{name}, {count} functionals"), |b| {
            b.iter(|| backward.evaluate(&functionals, &assumption, black_box(&parameters))[0]);
        });
        criterion.bench_function(&format!("backward bound and step/{name}, {count} functionals"), |b| {
            b.iter(|| {
                backward.evaluate_coefficients(&functionals, &assumption, &parameters);
                backward.ascend(&functionals, &assumption, &mut parameters, 0.02, 1);
            });
        });
        let mut contractor = Contractor::new(&pair);
        criterion.bench_function(&format!("contraction/{name}"), |b| {
            b.iter(|| {
                let effort = ContractionBudget { rounds: 1, ..ContractionBudget::default() };
                contractor.contract(bounds.clone(), None, &assumption, effort, &mut reach, || false)
            });
        });
    }
}
