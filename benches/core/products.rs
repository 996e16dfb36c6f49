//! The matrix product: faer, which the core uses, against matrixmultiply and gemm on the shapes that propagation makes.

use crate::networks::Numbers;
use criterion::{BenchmarkId, Criterion, Throughput};
use eqspec::numeric::kernels::{Accumulate, product};
use std::hint::black_box;

/// (name, rows, inner, columns): W over active rows times the generators of a form.
const SHAPES: [(&str, usize, usize, usize); 6] = [
    ("acas hidden layer", 50, 25, 80),
    ("acas outputs", 5, 25, 140),
    ("lhc hidden layer", 40, 25, 17),
    ("mnist 100 to 100", 100, 60, 785),
    ("mnist 100 to 10", 10, 60, 860),
    ("wide 512 to 512", 512, 300, 785),
];

/// destination = left right, each column-major and dense.
fn with_matrixmultiply(out: &mut [f64], left: &[f64], right: &[f64], (m, k, n): (usize, usize, usize)) {
    let (row, column) = (1isize, |rows: usize| isize::try_from(rows).unwrap());
    // Sound because the three slices hold what the shapes and strides say.
    #[allow(unsafe_code)]
    unsafe {
        matrixmultiply::dgemm(
            m,
            k,
            n,
            1.0,
            left.as_ptr(),
            row,
            column(m),
            right.as_ptr(),
            row,
            column(k),
            0.0,
            out.as_mut_ptr(),
            row,
            column(m),
        );
    }
}

fn with_gemm(out: &mut [f64], left: &[f64], right: &[f64], (m, k, n): (usize, usize, usize)) {
    let (row, column) = (1isize, |rows: usize| isize::try_from(rows).unwrap());
    // Sound because the three slices hold what the shapes and strides say.
    #[allow(unsafe_code)]
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            column(m),
            row,
            false,
            left.as_ptr(),
            column(m),
            row,
            right.as_ptr(),
            column(k),
            row,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

pub fn products(criterion: &mut Criterion) {
    type Product = fn(&mut [f64], &[f64], &[f64], (usize, usize, usize));
    let faer: Product = |out, left, right, shape| product(out, left, right, shape, Accumulate::Replace);
    let candidates: [(&str, Product); 3] =
        [("faer", faer), ("matrixmultiply", with_matrixmultiply), ("gemm", with_gemm)];
    let mut group = criterion.benchmark_group("product");
    for (name, m, k, n) in SHAPES {
        let mut numbers = Numbers::new(3);
        let (left, right, mut out) = (numbers.many(m * k), numbers.many(k * n), vec![0.0; m * n]);
        group.throughput(Throughput::Elements((2 * m * k * n) as u64));
        for (library, multiply) in candidates {
            group.bench_function(BenchmarkId::new(library, name), |b| {
                b.iter(|| multiply(black_box(&mut out), black_box(&left), black_box(&right), (m, k, n)));
            });
        }
    }
    group.finish();
}
