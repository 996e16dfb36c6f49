//! Structured products ([`super::windows`]) that read no number twice, one column after the other: convolutions of 1 x 1, also
//! with strides.
//!
//! What such a product moves takes longer than what it multiplies, so that nothing is moved for the sake of registers: of a
//! column the numbers that are read are gathered once, tap by tap, and positions fill the lanes. Backwards the sums are
//! scattered once. Shapes as there; each entry is the sum of its products in the order of taps (outputs).

use super::kernels::Accumulate;
use super::real::Real;
use super::registers::unrolled;
use super::window_index::Windows;
use super::window_product::{POSITIONS, Product, Way, widest, width};
use pulp::Simd;

/// From so many outputs of a group on, what is gathered is used often enough.
const OUTPUTS: usize = 4;

/// Space that is reused from product to product.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns<T> {
    read: Vec<T>,
    sums: Vec<T>,
}

impl<T: Real> Way<T> for Columns<T> {
    /// Where windows do not read numbers twice, and there is something to multiply.
    fn suits(windows: Windows<'_>, m: usize) -> bool {
        windows.index.len() <= m && windows.outputs >= OUTPUTS
    }

    /// All columns.
    #[inline(always)]
    fn run<S: Simd, const L: usize, const BACKWARDS: bool>(simd: S, product: Product<'_, T, Self, BACKWARDS>) -> usize {
        let (m, rows) = (product.shape.0, product.windows.rows());
        let (from, to) = if BACKWARDS { (rows, m) } else { (m, rows) };
        let (out, form) = (product.out.chunks_exact_mut(to), product.form.chunks_exact(from));
        let (o, p, k) = (product.windows.outputs, product.windows.positions, product.windows.taps);
        // Each row of positions fills whole registers; what is behind its end is never read again.
        let wide = p.next_multiple_of(L);
        let (Columns { read, sums }, most) = (product.space, o.max(k) * wide);
        read.resize(most, T::ZERO);
        sums.resize(most, T::ZERO);
        for (out, form) in out.zip(form).take(product.shape.1) {
            if BACKWARDS && product.accumulate == Accumulate::Replace {
                out.fill(T::ZERO);
            }
            for g in 0..product.windows.groups {
                let weight = &product.weight[g * k * o..(g + 1) * k * o];
                let index = &product.windows.index[g * k * p..(g + 1) * k * p];
                let results = g * o * p..(g + 1) * o * p;
                if BACKWARDS {
                    for (row, values) in read.chunks_exact_mut(wide).zip(form[results].chunks_exact(p)) {
                        row[..p].copy_from_slice(values);
                    }
                    small::<T, S, L>(simd, sums, (weight, o, 1), read, (k, o, wide));
                    for (places, sums) in index.chunks_exact(p).zip(sums.chunks_exact(wide)) {
                        for (&place, &sum) in places.iter().zip(sums) {
                            if let Some(to) = out.get_mut(place as usize) {
                                *to += sum;
                            }
                        }
                    }
                } else {
                    for (row, places) in read.chunks_exact_mut(wide).zip(index.chunks_exact(p)) {
                        for (value, &place) in row.iter_mut().zip(places) {
                            *value = form.get(place as usize).copied().unwrap_or(T::ZERO);
                        }
                    }
                    small::<T, S, L>(simd, sums, (weight, 1, o), read, (o, k, wide));
                    for (out, sums) in out[results].chunks_exact_mut(p).zip(sums.chunks_exact(wide)) {
                        match product.accumulate {
                            Accumulate::Replace => out.copy_from_slice(&sums[..p]),
                            Accumulate::Add => out.iter_mut().zip(sums).for_each(|(out, sum)| *out += *sum),
                        }
                    }
                }
            }
        }
        product.shape.1
    }
}

/// Sets sums (rows, wide) to the product of a matrix (rows, inner), whose entry (i, j) stands at `row` i + `column` j, and
/// of read (inner, wide). Both are row-major; rows are whole registers.
#[inline(always)]
fn small<T: Real, S: Simd, const L: usize>(
    simd: S,
    sums: &mut [T],
    (matrix, row, column): (&[T], usize, usize),
    read: &[T],
    (rows, inner, wide): (usize, usize, usize),
) {
    let (sums, read, across) = (T::registers_mut::<S>(sums), T::registers::<S>(read), wide / L);
    let mut first = 0;
    while first < rows {
        let width = width(first, rows, widest::<S>());
        let mut at = 0;
        while at < across {
            let block = Block { simd, matrix: &matrix[first * row..], row, column, read, first, at, inner, across };
            match (width, across - at) {
                (8, POSITIONS..) => block.set::<POSITIONS, 8>(sums),
                (8, _) => block.set::<1, 8>(sums),
                (4, POSITIONS..) => block.set::<POSITIONS, 4>(sums),
                (4, _) => block.set::<1, 4>(sums),
                (2, _) => block.set::<1, 2>(sums),
                _ => block.set::<1, 1>(sums),
            }
            at += if width >= 4 && across - at >= POSITIONS { POSITIONS } else { 1 };
        }
        first += width;
    }
}

/// Some rows of a small product, at some registers across.
struct Block<'a, S, T, R> {
    simd: S,
    matrix: &'a [T],
    row: usize,
    column: usize,
    read: &'a [R],
    first: usize,
    at: usize,
    inner: usize,
    across: usize,
}

impl<S: Simd, T: Real> Block<'_, S, T, T::Register<S>> {
    #[inline(always)]
    fn set<const N: usize, const Q: usize>(&self, out: &mut [T::Register<S>]) {
        let mut sums = [[T::everywhere(self.simd, T::ZERO); Q]; N];
        for j in 0..self.inner {
            let read = &self.read[j * self.across + self.at..][..N];
            let values: [T::Register<S>; N] = std::array::from_fn(|i| read[i]);
            let matrix = &self.matrix[j * self.column..];
            for q in 0..Q {
                let weight = T::everywhere(self.simd, matrix[q * self.row]);
                for i in 0..N {
                    sums[i][q] = T::product_and_sum(self.simd, weight, values[i], sums[i][q]);
                }
            }
        }
        unrolled!(q below Q {
            let out = &mut out[(self.first + q) * self.across + self.at..][..N];
            unrolled!(i below N { out[i] = sums[i][q]; });
        });
    }
}
