//! Bulk arithmetic on column-major blocks: the matrix product, sums of absolute values, matrix times vector over a few
//! columns.
//!
//! Views in, caller-owned buffers out, no allocation. The product is faer's, sequential: parallelism lives in the
//! search.

use super::pair_sums::dot;
use super::real::Real;
use super::vectorised::vectorised;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::mat::{MatMut, MatRef};
use faer::{Accum, Par};

/// Whether a product overwrites or adds to its destination.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Accumulate {
    /// The product replaces what the destination holds.
    Replace,
    /// The product is added to what the destination holds.
    Add,
}

/// Sets destination (m, n) to left (m, k) * right (k, n), or adds this product to it; all are column-major and dense.
#[inline(always)]
pub fn product<T: Real>(
    destination: &mut [T],
    left: &[T],
    right: &[T],
    (m, k, n): (usize, usize, usize),
    accumulate: Accumulate,
) {
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if accumulate == Accumulate::Replace {
            destination[..m * n].fill(T::ZERO);
        }
        return;
    }
    matmul(
        MatMut::from_column_major_slice_mut(&mut destination[..m * n], m, n),
        if accumulate == Accumulate::Replace { Accum::Replace } else { Accum::Add },
        MatRef::from_column_major_slice(&left[..m * k], m, k),
        MatRef::from_column_major_slice(&right[..k * n], k, n),
        T::ONE,
        Par::Seq,
    );
}

/// Sets destination (n, f) to left^T (n, m) * right (m, f), or adds this product to it; `left` is stored column-major
/// as (m, n).
#[inline(always)]
pub fn transposed_product<T: Real>(
    destination: &mut [T],
    left: &[T],
    right: &[T],
    (m, n, f): (usize, usize, usize),
    accumulate: Accumulate,
) {
    if n == 0 || f == 0 {
        return;
    }
    matmul(
        MatMut::from_column_major_slice_mut(&mut destination[..n * f], n, f),
        if accumulate == Accumulate::Replace { Accum::Replace } else { Accum::Add },
        MatRef::from_column_major_slice(&left[..m * n], m, n).transpose(),
        MatRef::from_column_major_slice(&right[..m * f], m, f),
        T::ONE,
        Par::Seq,
    );
}

/// Sets the lower triangle of destination (n, n), the diagonal included, to matrix^T * matrix for `matrix` (m, n); the rest is
/// left as it is.
pub fn lower_square(destination: &mut [f64], matrix: &[f64], (m, n): (usize, usize)) {
    if n == 0 {
        return;
    }
    let matrix = MatRef::from_column_major_slice(&matrix[..m * n], m, n);
    triangular::matmul(
        MatMut::from_column_major_slice_mut(&mut destination[..n * n], n, n),
        BlockStructure::TriangularLower,
        Accum::Replace,
        matrix.transpose(),
        BlockStructure::Rectangular,
        matrix,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

vectorised! {
    /// Sets out (columns, rows), column-major, to factor * (column\[row\] / divisor), for listed columns with a divisor each and
    /// listed rows with a factor each.
    pub fn gather_quotients<'a>(out: &'a mut [f64], columns: &'a [(&'a [f64], f64)], rows: &'a [(usize, f64)]) {
        const LANES: usize = 8;
        let count = columns.len();
        for (k, few) in columns.chunks(LANES).enumerate() {
            let mut divisors = [1.0; LANES];
            divisors.iter_mut().zip(few).for_each(|(o, (_, divisor))| *o = *divisor);
            for (i, &(row, factor)) in rows.iter().enumerate() {
                let mut entries = [0.0; LANES];
                entries.iter_mut().zip(few).for_each(|(o, (column, _))| *o = column[row]);
                for (entry, divisor) in entries.iter_mut().zip(&divisors) {
                    *entry = factor * (*entry / divisor);
                }
                let from = i * count + k * LANES;
                out[from..from + few.len()].copy_from_slice(&entries[..few.len()]);
            }
        }
    }
}

vectorised! {
    /// Sets out\[j\] to the product of column j of `matrix` with a vector.
    pub fn column_products<'a>(out: &'a mut [f64], matrix: &'a [f64], vector: &'a [f64]) {
        for (o, column) in out.iter_mut().zip(matrix.chunks_exact(vector.len().max(1))) {
            *o = dot(column, vector);
        }
    }
}

vectorised! {
    /// Sets sums\[i\] to the sum of |block\[i, column\]| over the columns, or adds this sum to it, in plain rounding;
    /// `block` is column-major with `sums.len()` rows.
    pub fn absolute_row_sums<'a>(sums: &'a mut [f64], block: &'a [f64], accumulate: Accumulate) {
        let m = sums.len();
        if accumulate == Accumulate::Replace {
            sums.fill(0.0);
        }
        if m == 0 {
            return;
        }
        // Four columns a pass, as in `add_columns`.
        let mut wide = block.chunks_exact(4 * m);
        for columns in &mut wide {
            let (a, rest) = columns.split_at(m);
            let (b, rest) = rest.split_at(m);
            let (c, d) = rest.split_at(m);
            for i in 0..m {
                sums[i] += (a[i].abs() + b[i].abs()) + (c[i].abs() + d[i].abs());
            }
        }
        for column in wide.remainder().chunks_exact(m) {
            sums.iter_mut().zip(column).for_each(|(s, g)| *s += g.abs());
        }
    }
}

/// The sum of |a\[i\]|, plain rounding, in eight sums side by side.
#[inline(always)]
#[must_use]
pub fn absolute_sum(a: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let wide = a.chunks_exact(8);
    let rest: f64 = wide.remainder().iter().map(|x| x.abs()).sum();
    for x in wide {
        for k in 0..8 {
            sums[k] += x[k].abs();
        }
    }
    rest + sums.iter().sum::<f64>()
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

vectorised! {
    /// out (m) += matrix * x; `matrix` is column-major with as many columns as there are x.
    pub fn add_product<'a>(out: &'a mut [f64], matrix: &'a [f64], x: &'a [f64]) {
        add_columns(out, matrix, x.iter().copied().enumerate());
    }
}

vectorised! {
    /// out (m) += |matrix| * x; `matrix` is column-major with as many columns as there are x.
    pub fn add_absolute_product<'a>(out: &'a mut [f64], matrix: &'a [f64], x: &'a [f64]) {
        let m = out.len();
        if m == 0 {
            return;
        }
        let (mut wide, mut factors) = (matrix.chunks_exact(4 * m), x.chunks_exact(4));
        for (columns, x) in (&mut wide).zip(&mut factors) {
            let (a, rest) = columns.split_at(m);
            let (b, rest) = rest.split_at(m);
            let (c, d) = rest.split_at(m);
            for i in 0..m {
                out[i] += (a[i].abs() * x[0] + b[i].abs() * x[1]) + (c[i].abs() * x[2] + d[i].abs() * x[3]);
            }
        }
        for (column, x) in wide.remainder().chunks_exact(m).zip(factors.remainder()) {
            out.iter_mut().zip(column).for_each(|(o, w)| *o += w.abs() * x);
        }
    }
}

vectorised! {
    /// out (k, n) = factor * form on k of the rows of `form` (m, n), or on all of them.
    pub fn scale_rows<'a>(out: &'a mut [f64], form: &'a [f64], m: usize, rows: &'a [usize], factors: &'a [f64]) {
        let k = rows.len();
        if k == 0 {
            return;
        }
        if k == m {
            for (out, column) in out.chunks_exact_mut(k).zip(form.chunks_exact(m)) {
                out.iter_mut().zip(column.iter().zip(factors)).for_each(|(o, (g, factor))| *o = factor * g);
            }
            return;
        }
        let factors = &factors[..k];
        let (mut wide, mut columns) = (out.chunks_exact_mut(4 * k), form.chunks_exact(4 * m));
        for (out, columns) in (&mut wide).zip(&mut columns) {
            let (out0, rest) = out.split_at_mut(k);
            let (out1, rest) = rest.split_at_mut(k);
            let (out2, out3) = rest.split_at_mut(k);
            let [a, b, c, d] = [0, 1, 2, 3].map(|j| &columns[j * m..][..m]);
            for (j, (&i, factor)) in rows.iter().zip(factors).enumerate() {
                out0[j] = factor * a[i];
                out1[j] = factor * b[i];
                out2[j] = factor * c[i];
                out3[j] = factor * d[i];
            }
        }
        for (out, column) in wide.into_remainder().chunks_exact_mut(k).zip(columns.remainder().chunks_exact(m)) {
            for ((o, &i), factor) in out.iter_mut().zip(rows).zip(factors) {
                *o = factor * column[i];
            }
        }
    }
}

vectorised! {
    /// One column of `out` for every (column of `matrix`, factor): their product. Both have m rows.
    pub fn scale_columns<'a>(out: &'a mut [f64], matrix: &'a [f64], m: usize, list: &'a [(usize, f64)]) {
        if m == 0 {
            return;
        }
        for (out, &(j, factor)) in out.chunks_exact_mut(m).zip(list) {
            out.iter_mut().zip(&matrix[j * m..(j + 1) * m]).for_each(|(o, w)| *o = w * factor);
        }
    }
}

vectorised! {
    /// Adds to one column of `out` for every (column of `matrix`, factor) their product. Both have m rows.
    pub fn add_scaled_columns<'a>(out: &'a mut [f64], matrix: &'a [f64], m: usize, list: &'a [(usize, f64)]) {
        if m == 0 {
            return;
        }
        for (out, &(j, factor)) in out.chunks_exact_mut(m).zip(list) {
            out.iter_mut().zip(&matrix[j * m..(j + 1) * m]).for_each(|(o, w)| *o += w * factor);
        }
    }
}

vectorised! {
    /// One column of `out` for every (column, factor, other factor): the sum of this column of `a` and of `b`, each
    /// times its factor. All have m rows.
    pub fn combine_columns<'a>(
        out: &'a mut [f64],
        a: &'a [f64],
        b: &'a [f64],
        m: usize,
        list: &'a [(usize, f64, f64)],
    ) {
        if m == 0 {
            return;
        }
        for (out, &(j, factor, other)) in out.chunks_exact_mut(m).zip(list) {
            let place = j * m..(j + 1) * m;
            for (o, (a, b)) in out.iter_mut().zip(a[place.clone()].iter().zip(&b[place])) {
                *o = a * factor + b * other;
            }
        }
    }
}

/// Copies the listed rows of the listed columns of a column-major matrix with m rows; `None` stands for all rows.
pub fn gather(packed: &mut Vec<f64>, matrix: &[f64], m: usize, rows: Option<&[usize]>, columns: &[usize]) {
    let Some(rows) = rows else {
        packed.clear();
        for &j in columns {
            packed.extend_from_slice(&matrix[j * m..(j + 1) * m]);
        }
        return;
    };
    packed.resize(rows.len() * columns.len(), 0.0);
    if !rows.is_empty() {
        gather_rows(packed, matrix, m, rows, columns);
    }
}

vectorised! {
    fn gather_rows<'a>(packed: &'a mut [f64], matrix: &'a [f64], m: usize, rows: &'a [usize], columns: &'a [usize]) {
        for (out, &j) in packed.chunks_exact_mut(rows.len()).zip(columns) {
            let column = &matrix[j * m..(j + 1) * m];
            out.iter_mut().zip(rows).for_each(|(o, &i)| *o = column[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole numbers that look random.
    fn numbers(count: usize) -> Vec<f64> {
        let mut state = 5_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 24) - 128.0
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn squares_and_products_with_columns_are_sums_of_products() {
        for (m, n) in [(1, 1), (3, 7), (40, 21), (0, 2)] {
            let matrix = numbers(m * n);
            let product = |i: usize, j: usize| (0..m).map(|k| matrix[i * m + k] * matrix[j * m + k]).sum::<f64>();
            let mut square = vec![0.5; n * n];
            lower_square(&mut square, &matrix, (m, n));
            for j in 0..n {
                assert!((0..n).all(|i| square[j * n + i] == if i < j { 0.5 } else { product(i, j) }), "{m} {n} {j}");
            }
            if m > 0 {
                let mut of_last = vec![0.5; n];
                column_products(&mut of_last, &matrix, &matrix[(n - 1) * m..]);
                assert!((0..n).all(|j| of_last[j] == product(n - 1, j)), "{m} {n}");
            }
        }
    }

    #[test]
    fn rows_of_columns_are_gathered_with_factors_and_divisors() {
        for (count, rows) in [(1, 1), (8, 3), (19, 5), (0, 2)] {
            let entries = numbers(count * 6);
            let columns: Vec<(&[f64], f64)> = entries.chunks(6).zip([2.0, -0.5, 3.0].into_iter().cycle()).collect();
            let rows: Vec<_> = [(4, 1.0), (0, 0.25), (5, 7.0), (1, -2.0), (2, 0.0)][..rows].to_vec();
            let mut out = vec![f64::NAN; count * rows.len()];
            gather_quotients(&mut out, &columns, &rows);
            for (i, (row, factor)) in rows.iter().enumerate() {
                for (j, (column, divisor)) in columns.iter().enumerate() {
                    assert_eq!(out[i * count + j].to_bits(), (factor * (column[*row] / divisor)).to_bits());
                }
            }
        }
    }
}
