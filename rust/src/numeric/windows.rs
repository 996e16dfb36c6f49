//! Structured products: a few rows of a small matrix, applied wherever an index says ([`Windows`]). Convolutions,
//! pooling, and whatever only puts numbers elsewhere are of this form, and no large matrix is ever made of them.
//!
//! With G groups, O outputs, P positions and K taps,
//!     out[(g O + o) P + p] = sum over k of weight[g, o, k] from[index[g, k, p]],
//! where an index of [`NONE`] reads 0. The weights of a group are a column-major matrix (O, K); the index is stored tap
//! by tap, so that the positions of one tap are contiguous. Forms are column-major with one row for every number that
//! is read.
//!
//! Columns that fill the lanes of a register are computed side by side ([`super::window_lanes`]), rows with weights of their
//! own number by number ([`super::window_rows`]). Of the others the product gathers a panel of what is read and multiplies it
//! by a small matrix, in blocks that fit the second cache. The same sums as with a dense matrix, in some order: K products and
//! K - 1 sums for each entry.

use super::kernels::{Accumulate, product, transposed_product};
use super::real::Real;
use super::vectorised::vectorised;
use super::window_columns::Columns;
use super::window_lanes::Lanes;
use super::window_product::Product;
use super::window_rows::{product_by_rows, transposed_by_rows};
use faer::linalg::matmul::matmul;
use faer::mat::{MatMut, MatRef};
use faer::{Accum, Par};

pub use super::window_index::{NONE, Windows};

/// Numbers of a panel of gathered entries: 256 KiB, which fits the second cache beside what is multiplied by it.
const PANEL: usize = 1 << 15;

/// Space for panels, reused from product to product.
#[derive(Debug, Clone, Default)]
pub struct Panels<T = f64> {
    gathered: Vec<T>,
    result: Vec<T>,
    lanes: Lanes<T>,
    columns: Columns<T>,
}

impl Windows<'_> {
    /// Sets out (rows, n) to the product with a form (m, n), or adds it.
    pub fn product<T: Real>(
        &self,
        out: &mut [T],
        weight: &[T],
        form: &[T],
        (m, n): (usize, usize),
        accumulate: Accumulate,
        panels: &mut Panels<T>,
    ) {
        let rows = self.rows();
        if rows == 0 || n == 0 {
            return;
        }
        if self.taps == 0 || m == 0 {
            if accumulate == Accumulate::Replace {
                out[..rows * n].fill(T::ZERO);
            }
            return;
        }
        if self.has_single_rows() {
            product_by_rows(*self, &mut out[..rows * n], weight, &form[..m * n], m, accumulate);
            return;
        }
        let done = self.in_registers::<T, false>(out, weight, form, (m, n), accumulate, panels);
        let (wide, high) = self.blocks(n);
        for first in (done..n).step_by(wide) {
            let count = wide.min(n - first);
            let columns = &form[first * m..(first + count) * m];
            let out = &mut out[first * rows..(first + count) * rows];
            for g in 0..self.groups {
                for from in (0..self.positions).step_by(high) {
                    let part = (g, from, high.min(self.positions - from));
                    self.product_of(part, out, weight, (columns, m, count), accumulate, panels);
                }
            }
        }
    }

    /// The product, or the transposed one, of the first columns, where one of the ways in registers suits; how many those are.
    fn in_registers<T: Real, const BACKWARDS: bool>(
        &self,
        out: &mut [T],
        weight: &[T],
        form: &[T],
        shape: (usize, usize),
        accumulate: Accumulate,
        panels: &mut Panels<T>,
    ) -> usize {
        let (windows, space) = (*self, &mut panels.columns);
        let alone = Product::<_, _, BACKWARDS> { windows, weight, out: &mut *out, form, shape, accumulate, space };
        let done = alone.columns();
        if done > 0 {
            return done;
        }
        let space = &mut panels.lanes;
        Product::<_, _, BACKWARDS> { windows, weight, out, form, shape, accumulate, space }.columns()
    }

    /// How many columns and how many positions a panel takes.
    fn blocks(&self, n: usize) -> (usize, usize) {
        let high = (PANEL / self.taps).clamp(1, self.positions);
        ((PANEL / (self.taps * high)).clamp(1, n), high)
    }

    /// One group, some positions, some columns.
    fn product_of<T: Real>(
        &self,
        (g, from, high): (usize, usize, usize),
        out: &mut [T],
        weight: &[T],
        (columns, m, count): (&[T], usize, usize),
        accumulate: Accumulate,
        panels: &mut Panels<T>,
    ) {
        let (o, p, k) = (self.outputs, self.positions, self.taps);
        let (rows, height) = (self.rows(), high * count);
        let index = &self.index[g * k * p..(g + 1) * k * p];
        panels.gathered.resize(height * k, T::ZERO);
        for (tap, panel) in panels.gathered.chunks_exact_mut(height).enumerate() {
            let places = &index[tap * p + from..][..high];
            for (part, column) in panel.chunks_exact_mut(high).zip(columns.chunks_exact(m.max(1))) {
                gather_column(part, column, places);
            }
        }
        let small = &weight[g * k * o..(g + 1) * k * o];
        panels.result.resize(height * o, T::ZERO);
        matmul(
            MatMut::from_column_major_slice_mut(&mut panels.result[..height * o], height, o),
            Accum::Replace,
            MatRef::from_column_major_slice(&panels.gathered[..height * k], height, k),
            MatRef::from_column_major_slice(small, o, k).transpose(),
            T::ONE,
            Par::Seq,
        );
        for (i, result) in panels.result.chunks_exact(height).enumerate() {
            for (c, result) in result.chunks_exact(high).enumerate() {
                let at = c * rows + (g * o + i) * p + from;
                put(&mut out[at..at + high], result, accumulate);
            }
        }
    }

    /// Sets out (m, n) to the product of the transposed matrix with coefficients (rows, n), or adds it.
    pub fn transposed_product<T: Real>(
        &self,
        out: &mut [T],
        weight: &[T],
        coefficients: &[T],
        (m, n): (usize, usize),
        accumulate: Accumulate,
        panels: &mut Panels<T>,
    ) {
        let (rows, o, p, k) = (self.rows(), self.outputs, self.positions, self.taps);
        let replaces = accumulate == Accumulate::Replace;
        if rows == 0 || n == 0 || k == 0 {
            if replaces {
                out[..m * n].fill(T::ZERO);
            }
            return;
        }
        if self.has_single_rows() && m > 0 {
            transposed_by_rows(*self, &mut out[..m * n], weight, &coefficients[..rows * n], m, accumulate);
            return;
        }
        let done = self.in_registers::<T, true>(out, weight, coefficients, (m, n), accumulate, panels);
        if replaces {
            out[done * m..n * m].fill(T::ZERO);
        }
        let (wide, high) = self.blocks(n);
        for first in (done..n).step_by(wide) {
            let count = wide.min(n - first);
            let out = &mut out[first * m..(first + count) * m];
            let coefficients = &coefficients[first * rows..(first + count) * rows];
            for g in 0..self.groups {
                let small = &weight[g * k * o..(g + 1) * k * o];
                for from in (0..p).step_by(high) {
                    let high = high.min(p - from);
                    let height = high * count;
                    panels.result.resize(height * o, T::ZERO);
                    for (i, result) in panels.result.chunks_exact_mut(height).enumerate() {
                        for (c, result) in result.chunks_exact_mut(high).enumerate() {
                            result.copy_from_slice(&coefficients[c * rows + (g * o + i) * p + from..][..high]);
                        }
                    }
                    panels.gathered.resize(height * k, T::ZERO);
                    matmul(
                        MatMut::from_column_major_slice_mut(&mut panels.gathered[..height * k], height, k),
                        Accum::Replace,
                        MatRef::from_column_major_slice(&panels.result[..height * o], height, o),
                        MatRef::from_column_major_slice(small, o, k),
                        T::ONE,
                        Par::Seq,
                    );
                    for (tap, panel) in panels.gathered.chunks_exact(height).enumerate() {
                        let places = &self.index[(g * k + tap) * p + from..][..high];
                        for (part, column) in panel.chunks_exact(high).zip(out.chunks_exact_mut(m.max(1))) {
                            for (v, &place) in part.iter().zip(places) {
                                if place != NONE {
                                    column[place as usize] += *v;
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// out (rows) += f(weight) * x, for one vector: with `f` the absolute value, or the identity.
    fn add_vector(&self, out: &mut [f64], weight: &[f64], x: &[f64], f: impl Fn(f64) -> f64) {
        let (o, p, k) = (self.outputs, self.positions, self.taps);
        for g in 0..self.groups {
            for tap in 0..k {
                let places = &self.index[(g * k + tap) * p..][..p];
                for i in 0..o {
                    let w = f(weight[(g * k + tap) * o + i]);
                    if w == 0.0 {
                        continue;
                    }
                    let out = &mut out[(g * o + i) * p..][..p];
                    for (v, &place) in out.iter_mut().zip(places) {
                        if place != NONE {
                            *v += w * x[place as usize];
                        }
                    }
                }
            }
        }
    }

    /// out (rows) += matrix * x.
    pub fn add_product(&self, out: &mut [f64], weight: &[f64], x: &[f64]) {
        self.add_vector(out, weight, x, |w| w);
    }

    /// out (rows) += |matrix| * x.
    pub fn add_absolute_product(&self, out: &mut [f64], weight: &[f64], x: &[f64]) {
        self.add_vector(out, weight, x, f64::abs);
    }

    /// The largest absolute number in each of the m columns of the matrix, over the results (g, o) that are `counted`.
    #[must_use]
    pub fn column_maxima(&self, weight: &[f64], m: usize, counted: impl Fn(usize) -> bool) -> Vec<f64> {
        let (o, p, k) = (self.outputs, self.positions, self.taps);
        let mut maxima = vec![0.0f64; m];
        for g in 0..self.groups {
            for tap in 0..k {
                let column = &weight[(g * k + tap) * o..][..o];
                for (at, &place) in self.index[(g * k + tap) * p..][..p].iter().enumerate() {
                    if place == NONE {
                        continue;
                    }
                    let results = column.iter().enumerate().filter(|(i, _)| counted((g * o + i) * p + at));
                    let largest = results.fold(0.0, |a: f64, (_, w)| a.max(w.abs()));
                    let of = &mut maxima[place as usize];
                    *of = of.max(largest);
                }
            }
        }
        maxima
    }
}

/// Which taps read each number: the transposed index, in rows of different lengths.
#[derive(Debug, Clone)]
pub struct Readers {
    /// Where the readers of number j begin; one more entry than numbers.
    start: Vec<u32>,
    /// Places in the index.
    place: Vec<u32>,
}

impl Readers {
    /// Lists the readers of m numbers.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn of(index: &[u32], m: usize) -> Self {
        let mut start = vec![0u32; m + 1];
        for &j in index.iter().filter(|&&j| j != NONE) {
            start[j as usize + 1] += 1;
        }
        for j in 0..m {
            start[j + 1] += start[j];
        }
        let mut next = start.clone();
        let mut place = vec![0u32; start[m] as usize];
        for (at, &j) in index.iter().enumerate().filter(|&(_, &j)| j != NONE) {
            place[next[j as usize] as usize] = at as u32;
            next[j as usize] += 1;
        }
        Self { start, place }
    }

    /// The most taps that read one number.
    #[must_use]
    pub fn most(&self) -> usize {
        self.start.windows(2).map(|ends| (ends[1] - ends[0]) as usize).max().unwrap_or(0)
    }

    /// Calls `f` with the row and the place among the weights of every weight that number j is multiplied by.
    #[inline(always)]
    pub fn entries_of(&self, windows: Windows<'_>, j: usize, mut f: impl FnMut(usize, usize)) {
        let (outputs, positions, taps) = (windows.outputs, windows.positions, windows.taps);
        for &at in &self.place[self.start[j] as usize..self.start[j + 1] as usize] {
            let (tap, position) = (at as usize / positions, at as usize % positions);
            let first = tap / taps * outputs;
            (0..outputs).for_each(|o| f((first + o) * positions + position, tap * outputs + o));
        }
    }
}

/// Copies the numbers at some places of a column; 0 where a place is [`NONE`].
#[inline(always)]
fn gather_column<T: Real>(part: &mut [T], column: &[T], places: &[u32]) {
    for (v, &place) in part.iter_mut().zip(places) {
        *v = column.get(place as usize).copied().unwrap_or(T::ZERO);
    }
}

vectorised! {
    fn put<'a, T: Real>(out: &'a mut [T], result: &'a [T], accumulate: Accumulate) {
        match accumulate {
            Accumulate::Replace => out.copy_from_slice(result),
            Accumulate::Add => out.iter_mut().zip(result).for_each(|(o, r)| *o += *r),
        }
    }
}

/// A product with a dense matrix (rows, m), or with windows.
#[derive(Debug, Clone, Copy)]
pub enum Shape<'a> {
    /// A matrix with this number of rows, of which every column is read.
    Dense(usize),
    /// Windows.
    Windows(Windows<'a>),
}

impl Shape<'_> {
    /// The number of results.
    #[must_use]
    #[inline(always)]
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(rows) => *rows,
            Self::Windows(windows) => windows.rows(),
        }
    }

    /// Products of one column with the weights, of which a dense matrix reads m.
    #[must_use]
    #[inline(always)]
    pub fn products(&self, m: usize) -> usize {
        match self {
            Self::Dense(rows) => rows * m,
            Self::Windows(windows) => windows.products(),
        }
    }

    /// Sets out (rows, n) to the product with a form (m, n), or adds it.
    #[inline(always)]
    pub fn product<T: Real>(
        &self,
        out: &mut [T],
        weight: &[T],
        form: &[T],
        (m, n): (usize, usize),
        accumulate: Accumulate,
        panels: &mut Panels<T>,
    ) {
        match self {
            Self::Dense(rows) => product(out, weight, form, (*rows, m, n), accumulate),
            Self::Windows(windows) => windows.product(out, weight, form, (m, n), accumulate, panels),
        }
    }

    /// Sets out (m, n) to the product of the transposed matrix with coefficients (rows, n), or adds it.
    #[inline(always)]
    pub fn transposed_product<T: Real>(
        &self,
        out: &mut [T],
        weight: &[T],
        coefficients: &[T],
        (m, n): (usize, usize),
        accumulate: Accumulate,
        panels: &mut Panels<T>,
    ) {
        match self {
            Self::Dense(rows) => transposed_product(out, weight, coefficients, (*rows, m, n), accumulate),
            Self::Windows(windows) => windows.transposed_product(out, weight, coefficients, (m, n), accumulate, panels),
        }
    }
}
