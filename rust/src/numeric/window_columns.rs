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
use pulp::{Arch, Simd, WithSimd};

/// Registers of positions in a block, and the most rows.
const POSITIONS: usize = 3;
const WIDEST: usize = 8;
/// From so many outputs of a group on, what is gathered is used often enough.
const OUTPUTS: usize = 4;

/// Space that is reused from product to product.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns<T> {
    read: Vec<T>,
    sums: Vec<T>,
}

/// Out (rows, n) = the product with a form (m, n), or with `BACKWARDS` out (m, n) = the transposed product with
/// coefficients (rows, n). It is set or added.
pub(super) struct Product<'a, T, const BACKWARDS: bool> {
    pub windows: Windows<'a>,
    pub weight: &'a [T],
    pub out: &'a mut [T],
    pub form: &'a [T],
    /// m and n.
    pub shape: (usize, usize),
    pub accumulate: Accumulate,
    pub columns: &'a mut Columns<T>,
}

impl<T: Real, const BACKWARDS: bool> Product<'_, T, BACKWARDS> {
    /// Whether this has been computed: where windows do not read numbers twice, and there is something to multiply.
    pub(super) fn done(self) -> bool {
        let fits = self.windows.index.len() <= self.shape.0 && self.windows.outputs >= OUTPUTS;
        fits && Arch::new().dispatch(self)
    }

    #[inline(always)]
    fn run<S: Simd, const L: usize>(self, simd: S) {
        let (m, rows) = (self.shape.0, self.windows.rows());
        let (from, to) = if BACKWARDS { (rows, m) } else { (m, rows) };
        let (out, form) = (self.out.chunks_exact_mut(to), self.form.chunks_exact(from));
        let (o, p, k) = (self.windows.outputs, self.windows.positions, self.windows.taps);
        // Each row of positions fills whole registers; what is behind its end is never read again.
        let wide = p.next_multiple_of(L);
        let (Columns { read, sums }, most) = (self.columns, o.max(k) * wide);
        read.resize(most, T::ZERO);
        sums.resize(most, T::ZERO);
        for (out, form) in out.zip(form).take(self.shape.1) {
            if BACKWARDS && self.accumulate == Accumulate::Replace {
                out.fill(T::ZERO);
            }
            for g in 0..self.windows.groups {
                let weight = &self.weight[g * k * o..(g + 1) * k * o];
                let index = &self.windows.index[g * k * p..(g + 1) * k * p];
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
                        match self.accumulate {
                            Accumulate::Replace => out.copy_from_slice(&sums[..p]),
                            Accumulate::Add => out.iter_mut().zip(sums).for_each(|(out, sum)| *out += *sum),
                        }
                    }
                }
            }
        }
    }
}

impl<T: Real, const BACKWARDS: bool> WithSimd for Product<'_, T, BACKWARDS> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        match size_of::<T::Register<S>>() / size_of::<T>() {
            16 => self.run::<S, 16>(simd),
            8 => self.run::<S, 8>(simd),
            4 => self.run::<S, 4>(simd),
            _ => return false,
        }
        true
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
    let most = if S::REGISTER_COUNT >= 32 { WIDEST } else { WIDEST / 2 };
    let mut first = 0;
    while first < rows {
        let width = if rows - first >= most { most } else { 1 << (rows - first).ilog2() };
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
