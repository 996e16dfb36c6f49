//! Bulk arithmetic on column-major blocks: the matrix product, sums of absolute values, matrix times vector over a few columns.
//!
//! Views in, caller-owned buffers out, no allocation. The product is faer's, sequential: parallelism lives in the search.

use faer::linalg::matmul::matmul;
use faer::mat::{MatMut, MatRef};
use faer::{Accum, Par};

/// Whether a product overwrites or adds to its destination.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// destination = product
    Replace,
    /// destination += product
    Add,
}

/// destination (m, n) = or += left (m, k) * right (k, n), all column-major and dense.
#[inline(always)]
pub fn product(destination: &mut [f64], left: &[f64], right: &[f64], (m, k, n): (usize, usize, usize), into: Into) {
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if into == Into::Replace {
            destination[..m * n].fill(0.0);
        }
        return;
    }
    matmul(
        MatMut::from_column_major_slice_mut(&mut destination[..m * n], m, n),
        if into == Into::Replace { Accum::Replace } else { Accum::Add },
        MatRef::from_column_major_slice(&left[..m * k], m, k),
        MatRef::from_column_major_slice(&right[..k * n], k, n),
        1.0,
        Par::Seq,
    );
}

/// destination (n, f) = or += left^T (n, m) * right (m, f), where `left` is stored column-major as (m, n).
#[inline(always)]
pub fn transposed_product(
    destination: &mut [f64],
    left: &[f64],
    right: &[f64],
    (m, n, f): (usize, usize, usize),
    into: Into,
) {
    if n == 0 || f == 0 {
        return;
    }
    matmul(
        MatMut::from_column_major_slice_mut(&mut destination[..n * f], n, f),
        if into == Into::Replace { Accum::Replace } else { Accum::Add },
        MatRef::from_column_major_slice(&left[..m * n], m, n).transpose(),
        MatRef::from_column_major_slice(&right[..m * f], m, f),
        1.0,
        Par::Seq,
    );
}

/// sums[i] = sum over columns of |block[i, column]|, plain rounding; `block` is column-major with `sums.len()` rows.
#[inline(always)]
pub fn absolute_row_sums(sums: &mut [f64], block: &[f64]) {
    sums.fill(0.0);
    if sums.is_empty() {
        return;
    }
    for column in block.chunks_exact(sums.len()) {
        for (s, g) in sums.iter_mut().zip(column) {
            *s += g.abs();
        }
    }
}

/// The sum of |a\[i\]| b\[i\], plain rounding, in eight sums side by side so that registers can be used whole.
#[inline(always)]
#[must_use]
pub fn absolute_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (wide_a, wide_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = wide_a.remainder().iter().zip(wide_b.remainder()).map(|(x, y)| x.abs() * y).sum();
    for (x, y) in wide_a.zip(wide_b) {
        for k in 0..8 {
            sums[k] += x[k].abs() * y[k];
        }
    }
    rest + sums.iter().sum::<f64>()
}

/// out += matrix * x, where x is given on the listed columns only; `matrix` is column-major with `out.len()` rows.
#[inline(always)]
pub fn add_columns(out: &mut [f64], matrix: &[f64], columns: impl IntoIterator<Item = (usize, f64)>) {
    let m = out.len();
    let column = |j: usize| &matrix[j * m..(j + 1) * m];
    // Four columns a pass: the result travels to memory and back a quarter as often.
    let mut nonzero = columns.into_iter().filter(|&(_, x)| x != 0.0);
    while let Some((j0, x0)) = nonzero.next() {
        let Some((j1, x1)) = nonzero.next() else {
            out.iter_mut().zip(column(j0)).for_each(|(o, w)| *o += w * x0);
            return;
        };
        let (j2, x2) = nonzero.next().unwrap_or((j0, 0.0));
        let (j3, x3) = nonzero.next().unwrap_or((j0, 0.0));
        let pairs = column(j0).iter().zip(column(j1)).zip(column(j2).iter().zip(column(j3)));
        for (o, ((w0, w1), (w2, w3))) in out.iter_mut().zip(pairs) {
            *o += (w0 * x0 + w1 * x1) + (w2 * x2 + w3 * x3);
        }
    }
}

/// Copies the listed columns of a column-major matrix with m rows into `packed`.
#[inline(always)]
pub fn pack_columns(packed: &mut Vec<f64>, matrix: &[f64], m: usize, columns: &[usize]) {
    packed.clear();
    for &j in columns {
        packed.extend_from_slice(&matrix[j * m..(j + 1) * m]);
    }
}
