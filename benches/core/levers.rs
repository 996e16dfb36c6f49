//! What each device saves: the same result with it and without it. `python -m benches.kernels` sets the pairs side by side.

use crate::networks::{Numbers, families};
use crate::vectorised;
use criterion::{BenchmarkId, Criterion};
use eqspec::domain::columns::Columns;
use eqspec::domain::layer_state::LayerState;
use eqspec::domain::published_score::PublishedScore;
use eqspec::domain::transformer::Transformer;
use eqspec::domain::{AbstractDomain, Propagation, RestrictedPair};
use eqspec::numeric::kernels::{Accumulate, gather, product};
use std::hint::black_box;

pub fn levers(criterion: &mut Criterion) {
    diagonal_input(criterion);
    implicit_fresh(criterion);
    active_rows(criterion);
    inherited(criterion);
    shared_generators(criterion);
    one_workspace(criterion);
    several_boxes(criterion);
    split_score(criterion);
}

/// Lever 1: the input box is a diagonal matrix, so its product with W scales columns.
fn diagonal_input(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lever 1 diagonal input");
    for (name, m, n) in [("acas 50x5", 50, 5), ("mnist 100x784", 100, 784), ("wide 512x784", 512, 784)] {
        let mut numbers = Numbers::new(3);
        let (weight, radius, mut out) = (numbers.many(m * n), numbers.many(n), vec![0.0; m * n]);
        group.bench_function(BenchmarkId::new("with", name), |b| {
            b.iter(|| vectorised(|| scale(black_box(&mut out), &weight, black_box(&radius), m)));
        });
        let mut diagonal = vec![0.0; n * n];
        (0..n).for_each(|i| diagonal[i * n + i] = radius[i]);
        group.bench_function(BenchmarkId::new("without", name), |b| {
            b.iter(|| product(black_box(&mut out), &weight, black_box(&diagonal), (m, n, n), Accumulate::Replace));
        });
    }
    group.finish();
}

#[inline(always)]
fn scale(out: &mut [f64], weight: &[f64], factors: &[f64], m: usize) {
    for ((o, w), f) in out.chunks_exact_mut(m).zip(weight.chunks_exact(m)).zip(factors) {
        o.iter_mut().zip(w).for_each(|(o, w)| *o = w * f);
    }
}

/// Lever 2: fresh generators have one nonzero each, so the next layer's product with them scales columns too.
fn implicit_fresh(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lever 2 implicit fresh generators");
    for (name, m, k, fresh) in [("acas", 50, 25, 15), ("mnist", 100, 60, 30), ("wide", 512, 300, 150)] {
        let mut numbers = Numbers::new(3);
        let (weight, factors, mut out) = (numbers.many(m * k), numbers.many(fresh), vec![0.0; m * fresh]);
        group.bench_function(BenchmarkId::new("with", name), |b| {
            b.iter(|| vectorised(|| scale(black_box(&mut out), &weight[..m * fresh], black_box(&factors), m)));
        });
        let mut block = vec![0.0; k * fresh];
        (0..fresh).for_each(|i| block[i * k + i] = factors[i]);
        group.bench_function(BenchmarkId::new("without", name), |b| {
            b.iter(|| product(black_box(&mut out), &weight, black_box(&block), (m, k, fresh), Accumulate::Replace));
        });
    }
    group.finish();
}

/// Lever 3: rows of inactive neurons are left out of the product's inner dimension; packing the weights counts against it.
fn active_rows(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lever 3 active rows only");
    for (name, m, all, active, columns) in
        [("acas", 50, 50, 25, 80), ("lhc", 40, 40, 25, 32), ("mnist", 100, 100, 60, 785), ("wide", 512, 512, 300, 785)]
    {
        let mut numbers = Numbers::new(3);
        let (weight, form, mut out) = (numbers.many(m * all), numbers.many(all * columns), vec![0.0; m * columns]);
        let rows: Vec<usize> = (0..active).map(|i| i * all / active).collect();
        let mut packed = Vec::new();
        group.bench_function(BenchmarkId::new("with", name), |b| {
            b.iter(|| {
                vectorised(|| {
                    gather(&mut packed, &weight, m, None, &rows);
                    let form = &form[..active * columns];
                    product(black_box(&mut out), &packed, black_box(form), (m, active, columns), Accumulate::Replace);
                });
            });
        });
        group.bench_function(BenchmarkId::new("without", name), |b| {
            b.iter(|| product(black_box(&mut out), &weight, black_box(&form), (m, all, columns), Accumulate::Replace));
        });
    }
    group.finish();
}

/// Lever 4: neurons that were inactive in both networks on the box are left out on its half.
fn inherited(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lever 4 inactive neurons inherited");
    for (name, pair, (lower, upper)) in families() {
        let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
        reach.propagate(&pair, &lower, &upper).unwrap();
        let mut narrowed = RestrictedPair::new(&pair);
        let alive = narrowed.possibly_active(&reach);
        let mut half = upper.clone();
        half[0] = 0.5 * (lower[0] + upper[0]);
        for (word, alive) in [("with", alive.as_ref()), ("without", None)] {
            group.bench_function(BenchmarkId::new(word, name), |b| {
                b.iter(|| reach.propagate(narrowed.restrict_to(alive), black_box(&lower), black_box(&half)).is_some());
            });
        }
    }
    group.finish();
}

/// Levers 5 and 6: fresh generators shared with the difference, and bounds exchanged. What they gain is precision; this is what they cost or save in time.
fn shared_generators(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lever 5 and 6 shared generators, exchanged bounds");
    for (name, pair, (lower, upper)) in families() {
        for (word, domain) in [("with", AbstractDomain::Reduced), ("without", AbstractDomain::Published)] {
            let mut reach = Propagation::new(domain, pair.depth());
            group.bench_function(BenchmarkId::new(word, name), |b| {
                b.iter(|| reach.propagate(&pair, black_box(&lower), black_box(&upper)).is_some());
            });
        }
    }
    group.finish();
}

/// Lever 7: one workspace for all boxes.
fn one_workspace(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lever 7 one workspace");
    for (name, pair, (lower, upper)) in families() {
        let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
        group.bench_function(BenchmarkId::new("with", name), |b| {
            b.iter(|| reach.propagate(&pair, black_box(&lower), black_box(&upper)).is_some());
        });
        group.bench_function(BenchmarkId::new("without", name), |b| {
            b.iter(|| {
                Propagation::new(AbstractDomain::Reduced, pair.depth())
                    .propagate(&pair, &lower, black_box(&upper))
                    .is_some()
            });
        });
    }
    group.finish();
}

/// Lever 8: the columns of eight boxes behind one product.
fn several_boxes(criterion: &mut Criterion) {
    const BOXES: usize = 8;
    let mut group = criterion.benchmark_group("lever 8 eight boxes in one product");
    for (name, m, k, columns) in [("acas", 50, 25, 60), ("lhc", 40, 25, 17), ("mnist", 100, 60, 785)] {
        let mut numbers = Numbers::new(3);
        let (weight, forms) = (numbers.many(m * k), numbers.many(BOXES * k * columns));
        let mut out = vec![0.0; BOXES * m * columns];
        group.bench_function(BenchmarkId::new("with", name), |b| {
            b.iter(|| {
                product(black_box(&mut out), &weight, black_box(&forms), (m, k, BOXES * columns), Accumulate::Replace);
            });
        });
        group.bench_function(BenchmarkId::new("without", name), |b| {
            b.iter(|| {
                for (out, form) in out.chunks_exact_mut(m * columns).zip(forms.chunks_exact(k * columns)) {
                    product(black_box(out), &weight, black_box(form), (m, k, columns), Accumulate::Replace);
                }
            });
        });
    }
    group.finish();
}

/// Lever 9: the split score by one backward pass over vectors, against the published matrices of influence. Both must say the same.
fn split_score(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lever 9 backward split score");
    for (name, pair, (lower, upper)) in families() {
        let inputs = pair.inputs();
        let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
        reach.propagate(&pair, &lower, &upper).unwrap();
        let (mut influence, layers) = (PublishedScore::default(), reach.layers());
        let published = published_score(layers, inputs);
        for (a, b) in influence.score(layers, inputs).iter().zip(&published) {
            assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} is not {b}");
        }
        group.bench_function(BenchmarkId::new("with", name), |b| {
            b.iter(|| influence.score(black_box(layers), inputs)[0]);
        });
        group.bench_function(BenchmarkId::new("without", name), |b| {
            b.iter(|| published_score(black_box(layers), inputs));
        });
    }
    group.finish();
}

/// [VD], appendix B, with its matrices: a fresh generator's column is |D| |row|, the score |G| D^T summed over outputs and networks.
fn published_score(layers: &[LayerState], inputs: usize) -> Vec<f64> {
    type Of = fn(&LayerState) -> (&Columns, &Transformer);
    let networks: [Of; 2] = [|l| (&l.z1, &l.transformer1), |l| (&l.z2, &l.transformer2)];
    let mut score = vec![0.0; inputs];
    for of in networks {
        // Column-major, inputs x generators.
        let mut influence = vec![0.0; inputs * inputs];
        (0..inputs).for_each(|i| influence[i * inputs + i] = 1.0);
        let (last, hidden) = layers.split_last().unwrap();
        for layer in hidden {
            let (form, transformer) = of(layer);
            let rows: Vec<usize> = transformer.fresh_generators().map(|(i, _)| i).collect();
            let generators = form.len() - 1;
            let sizes: Vec<f64> =
                rows.iter().flat_map(|&i| (0..generators).map(move |j| form.column(1 + j)[i].abs())).collect();
            let mut fresh = vec![0.0; inputs * rows.len()];
            product(&mut fresh, &influence, &sizes, (inputs, generators, rows.len()), Accumulate::Replace);
            influence.extend_from_slice(&fresh);
        }
        let form = of(last).0;
        for (j, column) in influence.chunks_exact(inputs).enumerate() {
            let size: f64 = form.column(1 + j).iter().map(|g| g.abs()).sum();
            score.iter_mut().zip(column).for_each(|(s, d)| *s += size * d);
        }
    }
    score
}
