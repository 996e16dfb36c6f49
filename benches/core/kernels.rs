//! What a box costs, part by part, in the shapes of the families.

use crate::networks::{self, Numbers, around, families, pair};
use criterion::{BenchmarkId, Criterion, Throughput};
use eqspec::bound::backward::Backward;
use eqspec::bound::functional::Functional;
use eqspec::bound::{Assumption, ContractionBudget, Contractor};
use eqspec::domain::affine::{self, ActiveTile, Extent, Gathered, Operand, Parts, Scratch};
use eqspec::domain::phase::{Bounds, reduce};
use eqspec::domain::transformer::{DifferenceTransformer, Transformer};
use eqspec::domain::{AbstractDomain, IntermediateBounds, Propagation, Quantity};
use eqspec::lp::Multipliers;
use eqspec::lp::certified;
use eqspec::network::{Affine, Step, Tile};
use eqspec::numeric::kernels::{Accumulate, product};
use eqspec::numeric::windows::Panels;
use eqspec::property::{Violation, top1};
use ndarray::{Array1, Array2, Array3};
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
    tiles(criterion);
    relu(criterion);
    propagation(criterion);
    certified_bound(criterion);
    backward(criterion);
}

fn layer(m: usize, n: usize) -> Step {
    let mut numbers = Numbers::new(5);
    let weight = Array2::from_shape_simple_fn((m, n), || numbers.next());
    let affine = Affine::new(weight.view(), Array1::zeros(m).view(), None, None).unwrap();
    Step::chain(vec![affine]).remove(0)
}

/// One form through one affine layer with its fresh generators, and the mat-vec that bounds the rounding of it.
fn layers(criterion: &mut Criterion) {
    for (name, m, n, active, columns, fresh) in LAYERS {
        let (layer, mut numbers) = (layer(m, n), Numbers::new(9));
        let entering: Vec<_> = (0..active).map(|i| i * n / active).collect();
        let tile = &layer.terms[0].tile;
        let form = numbers.many(active * columns);
        let list: Vec<_> = (0..fresh).map(|i| (i, 0.5)).collect();
        let (mut out, mut buffer) = (vec![0.0; m * (columns + fresh)], Gathered::default());
        let mut parts = Parts::default();
        criterion.bench_function(&format!("affine layer/{name}"), |b| {
            b.iter(|| {
                let part = ActiveTile::new(tile, &entering, &mut buffer);
                let (old, new) = black_box(&mut out).split_at_mut(m * columns);
                part.product(old, black_box(&form), columns, Accumulate::Replace, &mut parts);
                part.scale_columns(new, &list, Accumulate::Replace);
            });
        });
        let mut extent = Extent::default();
        extent.clear(n);
        extent.magnitude.fill(1.0);
        extent.err.fill(1e-15);
        let (mut err, mut scratch) = (Vec::new(), Scratch::default());
        let part = ActiveTile::new(tile, &entering, &mut buffer);
        criterion.bench_function(&format!("rounding mat-vec/{name}"), |b| {
            let form = Operand { extent: &extent, rows: &entering };
            b.iter(|| affine::error(black_box(&mut err), &layer, &[(part, form)], columns, &mut scratch));
        });
    }
}

/// (name, channels that are read, side of the image that is read, channels, side, kernel, stride) of a convolution.
const CONVOLUTIONS: [(&str, usize, usize, usize, usize, usize, usize); 6] = [
    ("convSmall 1", 1, 28, 16, 13, 4, 2),
    ("convSmall 2", 16, 13, 32, 5, 4, 2),
    ("resnet 1", 3, 32, 8, 16, 3, 2),
    ("resnet 2", 8, 16, 16, 8, 3, 2),
    ("resnet 3", 16, 8, 16, 8, 3, 1),
    ("resnet 1 x 1", 8, 16, 16, 8, 1, 2),
];

/// Convolutions of forms and back, beside the dense product of the weights with a matrix that is gathered already.
fn tiles(criterion: &mut Criterion) {
    for columns in [50, 200] {
        tiles_of(criterion, columns);
    }
}

fn tiles_of(criterion: &mut Criterion, columns: usize) {
    let mut group = criterion.benchmark_group(format!("tile, {columns} columns"));
    for (name, inputs, side, outputs, positions, kernel, stride) in CONVOLUTIONS {
        let (p, k) = (positions * positions, inputs * kernel * kernel);
        let mut numbers = Numbers::new(7);
        let index = Array3::from_shape_fn((1, p, k), |(_, p, k)| {
            let (channel, within) = (k / (kernel * kernel), k % (kernel * kernel));
            let (row, column) = (p / positions * stride + within / kernel, p % positions * stride + within % kernel);
            if row < side && column < side {
                i32::try_from((channel * side + row) * side + column).unwrap()
            } else {
                -1
            }
        });
        let weight = Array3::from_shape_simple_fn((1, outputs, k), || numbers.next());
        let tile = Tile::windows(inputs * side * side, &index.view(), &weight.view(), None).unwrap();
        let (m, rows) = (tile.columns, tile.rows());
        let (form, mut out) = (numbers.many(m * columns), vec![0.0; rows * columns]);
        let (mut back, mut panels) = (vec![0.0; m * columns], Panels::default());
        group.throughput(Throughput::Elements((2 * tile.products() * columns) as u64));
        group.bench_function(BenchmarkId::new("product", name), |b| {
            b.iter(|| {
                let shape = (m, columns);
                tile.shape().product(&mut out, &tile.weight, black_box(&form), shape, Accumulate::Replace, &mut panels);
            });
        });
        group.bench_function(BenchmarkId::new("transposed", name), |b| {
            b.iter(|| {
                let (shape, replace) = ((m, columns), Accumulate::Replace);
                tile.shape().transposed_product(&mut back, &tile.weight, black_box(&out), shape, replace, &mut panels);
            });
        });
        let gathered = numbers.many(k * p * columns);
        group.bench_function(BenchmarkId::new("dense", name), |b| {
            let shape = (outputs, k, p * columns);
            b.iter(|| product(&mut out, &tile.weight, black_box(&gathered), shape, Accumulate::Replace));
        });
    }
    group.finish();
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
            (Transformer::default(), Transformer::default(), DifferenceTransformer::default());
        criterion.bench_function(&format!("relu pair/{name}"), |b| {
            b.iter_batched(
                || (x.clone(), y.clone(), d.clone()),
                |(mut x, mut y, mut d)| {
                    reduce(&mut x, &mut y, &mut d);
                    first.set_relu(&x);
                    second.set_relu(&y);
                    difference.set_relu(&first, &second, &d, true);
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
