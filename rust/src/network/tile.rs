//! The one affine operator: a small matrix applied wherever an index says. Dense layers, convolutions, pooling,
//! normalisation, and whatever only puts numbers elsewhere are tiles with other data, not other code.
//!
//! A [`Tile`] maps n numbers to G O P: out[(g O + o) P + p] = sum over k of weight[g, o, k] x[index[g, k, p]], where an
//! index of [`NONE`] reads 0 ([`crate::numeric::windows`]). A dense matrix is the tile with one group and one position
//! whose taps are all numbers in order; it needs no index, and its weights are the column-major matrix.
//!
//! Where the exact weights are not floats, `weight_error` bounds elementwise how far they may lie from those stored.

use crate::error::{Error, finite, same_size};
use crate::numeric::kernels::{add_absolute_product, add_product};
use crate::numeric::windows::{NONE, Readers, Shape, Windows};
use ndarray::{ArrayView2, ArrayView3};
use std::sync::Arc;

/// The index of a tile, tap by tap, and which taps read each number.
#[derive(Debug, Clone)]
pub struct Index {
    /// What is read: place[(g K + k) P + p].
    pub places: Vec<u32>,
    /// Which taps read each number.
    pub readers: Readers,
}

/// A structured matrix (G O P, n).
#[derive(Debug, Clone)]
pub struct Tile {
    /// The number of groups, G.
    pub groups: usize,
    /// O, of each group.
    pub outputs: usize,
    /// The number of positions, P.
    pub positions: usize,
    /// K, of each group.
    pub taps: usize,
    /// n, the number of inputs.
    pub columns: usize,
    /// Where it reads; `None` where it is a dense matrix.
    pub index: Option<Arc<Index>>,
    /// The weights: for each group a column-major matrix (O, K).
    pub weight: Vec<f64>,
    /// Elementwise errors of the weights, or none where they are exact.
    pub weight_error: Option<Vec<f64>>,
}

impl Tile {
    /// A dense matrix (m, n) from its rows. Errors name the array; NaN, infinities and negative errors are refused.
    pub fn dense(weight: &ArrayView2<'_, f64>, weight_error: Option<&ArrayView2<'_, f64>>) -> Result<Self, Error> {
        let (rows, columns) = weight.dim();
        finite("weight", weight.iter())?;
        if let Some(error) = weight_error {
            same_size("weight_error", error.len(), weight.len())?;
            same_size("rows of weight_error", error.nrows(), rows)?;
            radius("weight_error", error.iter())?;
        }
        let column_major = |a: &ArrayView2<'_, f64>| a.t().iter().copied().collect::<Vec<_>>();
        Ok(Self {
            groups: 1,
            outputs: rows,
            positions: 1,
            taps: columns,
            columns,
            index: None,
            weight: column_major(weight),
            weight_error: weight_error.map(column_major),
        })
    }

    /// A tile that reads n numbers: its index (G, P, K), in which a negative number reads 0, and its weights (G, O, K).
    pub fn windows(
        columns: usize,
        index: &ArrayView3<'_, i32>,
        weight: &ArrayView3<'_, f64>,
        weight_error: Option<&ArrayView3<'_, f64>>,
    ) -> Result<Self, Error> {
        let (groups, positions, taps) = index.dim();
        let (of_weight, outputs, of_taps) = weight.dim();
        same_size("groups of a tile's weight", of_weight, groups)?;
        same_size("taps of a tile's weight", of_taps, taps)?;
        finite("weight", weight.iter())?;
        if let Some(error) = weight_error {
            same_size("weight_error", error.len(), weight.len())?;
            same_size("outputs of weight_error", error.dim().1, outputs)?;
            radius("weight_error", error.iter())?;
        }
        let largest = index.iter().copied().max().unwrap_or(-1);
        let reads = usize::try_from(largest).map_or(0, |largest| largest + 1);
        if reads > columns {
            let accepted = "numbers of what is read, or a negative number for none";
            return Err(Error::Value { name: "index", value: largest.to_string(), accepted });
        }
        let dense = groups == 1 && positions == 1 && taps == columns && index.iter().copied().eq(0..limit(columns));
        let places = (0..groups)
            .flat_map(|g| (0..taps).flat_map(move |k| (0..positions).map(move |p| index[[g, p, k]])))
            .map(|place| u32::try_from(place).unwrap_or(NONE))
            .collect::<Vec<u32>>();
        let by_tap = |a: &ArrayView3<'_, f64>| {
            let order = |g: usize| (0..taps).flat_map(move |k| (0..outputs).map(move |o| a[[g, o, k]]));
            (0..groups).flat_map(order).collect::<Vec<f64>>()
        };
        Ok(Self {
            groups,
            outputs,
            positions,
            taps,
            columns,
            index: (!dense).then(|| Arc::new(Index { readers: Readers::of(&places, columns), places })),
            weight: by_tap(weight),
            weight_error: weight_error.map(by_tap),
        })
    }

    /// The number of results.
    #[must_use]
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.groups * self.outputs * self.positions
    }

    /// How it is applied.
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> Shape<'_> {
        match &self.index {
            None => Shape::Dense(self.outputs),
            Some(index) => Shape::Windows(self.over(&index.places)),
        }
    }

    /// The windows of this tile over other places.
    #[must_use]
    #[inline(always)]
    pub fn over<'a>(&self, places: &'a [u32]) -> Windows<'a> {
        let Self { groups, outputs, positions, taps, .. } = *self;
        Windows { groups, outputs, positions, taps, index: places }
    }

    /// Whether two tiles read the same numbers in the same way.
    #[must_use]
    pub fn reads_like(&self, other: &Self) -> bool {
        let same = match (&self.index, &other.index) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.places == b.places,
            _ => false,
        };
        let shape = |t: &Self| (t.groups, t.outputs, t.positions, t.taps, t.columns);
        same && shape(self) == shape(other)
    }

    /// The same tile with other weights, exact ones.
    #[must_use]
    pub fn with_weight(&self, weight: Vec<f64>) -> Self {
        Self { weight, weight_error: None, index: self.index.clone(), ..*self }
    }

    /// The kernel of row i, by the number of its group and of its output: rows of one kernel have the same weights.
    #[must_use]
    #[inline(always)]
    pub fn kernel(&self, row: usize) -> usize {
        row / self.positions
    }

    /// The weights of a kernel among `matrix`, the weights or their errors.
    pub fn of_kernel<'a>(&self, matrix: &'a [f64], kernel: usize) -> impl Iterator<Item = f64> + 'a {
        let (g, o, outputs, taps) = (kernel / self.outputs, kernel % self.outputs, self.outputs, self.taps);
        (0..taps).map(move |k| matrix[(g * taps + k) * outputs + o])
    }

    /// Which kernels are zero throughout, exactly.
    #[must_use]
    pub fn zero_kernels(&self) -> Vec<bool> {
        let zero = |matrix: &[f64], kernel: usize| self.of_kernel(matrix, kernel).all(|w| w == 0.0);
        let kernels = 0..self.groups * self.outputs;
        kernels.map(|i| zero(&self.weight, i) && self.weight_error.as_deref().is_none_or(|e| zero(e, i))).collect()
    }

    /// out (rows) += matrix * x, for one vector.
    pub fn add_product(&self, out: &mut [f64], matrix: &[f64], x: &[f64]) {
        match self.shape() {
            Shape::Dense(_) => add_product(out, matrix, x),
            Shape::Windows(windows) => windows.add_product(out, matrix, x),
        }
    }

    /// out (rows) += |matrix| * x, for one vector.
    pub fn add_absolute_product(&self, out: &mut [f64], matrix: &[f64], x: &[f64]) {
        match self.shape() {
            Shape::Dense(_) => add_absolute_product(out, matrix, x),
            Shape::Windows(windows) => windows.add_absolute_product(out, matrix, x),
        }
    }

    /// out (rows) += factor times column j of a matrix.
    pub fn add_column(&self, out: &mut [f64], matrix: &[f64], j: usize, factor: f64) {
        match &self.index {
            None => out.iter_mut().zip(&matrix[j * self.outputs..]).for_each(|(o, w)| *o += w * factor),
            Some(index) => {
                index.readers.entries_of(self.over(&index.places), j, |i, at| out[i] += matrix[at] * factor);
            }
        }
    }

    /// Calls `f` with the row and the place among the weights of every weight that input j is multiplied by.
    pub fn entries_of(&self, j: usize, mut f: impl FnMut(usize, usize)) {
        match &self.index {
            None => (0..self.outputs).for_each(|i| f(i, j * self.outputs + i)),
            Some(index) => index.readers.entries_of(self.over(&index.places), j, f),
        }
    }

    /// Calls `f` with the column and the place among the weights of every weight of row i. A column that several taps
    /// read comes several times.
    #[inline(always)]
    pub fn row(&self, i: usize, mut f: impl FnMut(usize, usize)) {
        let (kernel, p) = (i / self.positions, i % self.positions);
        let (g, o) = (kernel / self.outputs, kernel % self.outputs);
        for k in 0..self.taps {
            let tap = g * self.taps + k;
            match &self.index {
                None => f(k, k * self.outputs + o),
                Some(index) => {
                    let place = index.places[tap * self.positions + p];
                    if place != NONE {
                        f(place as usize, tap * self.outputs + o);
                    }
                }
            }
        }
    }

    /// The largest absolute number in each column of a matrix, over the rows that are `counted`.
    #[must_use]
    pub fn column_maxima(&self, matrix: &[f64], counted: impl Fn(usize) -> bool) -> Vec<f64> {
        match self.shape() {
            Shape::Dense(rows) => {
                let largest = |column: &[f64]| {
                    let rows = column.iter().enumerate().filter(|(i, _)| counted(*i));
                    rows.fold(0.0, |a: f64, (_, w)| a.max(w.abs()))
                };
                matrix.chunks_exact(rows.max(1)).map(largest).collect()
            }
            Shape::Windows(windows) => windows.column_maxima(matrix, self.columns, counted),
        }
    }

    /// The most terms in a sum over one column, in products with the transposed matrix.
    #[must_use]
    pub fn longest_column(&self) -> usize {
        self.index.as_ref().map_or(self.outputs, |index| self.outputs * index.readers.most())
    }

    /// The most taps of one row that read the same number: the entries of a matrix are sums of so many weights at most.
    #[must_use]
    pub fn repeats(&self) -> usize {
        let Some(index) = &self.index else { return 1 };
        let mut seen = vec![(usize::MAX, 0); self.columns];
        let mut most = 1;
        for (g, p) in (0..self.groups).flat_map(|g| (0..self.positions).map(move |p| (g, p))) {
            for k in 0..self.taps {
                let place = index.places[(g * self.taps + k) * self.positions + p];
                if place != NONE {
                    let (row, times) = &mut seen[place as usize];
                    let this = g * self.positions + p;
                    *times = if *row == this { *times + 1 } else { 1 };
                    *row = this;
                    most = most.max(*times);
                }
            }
        }
        most
    }

    /// Products of one column with the weights.
    #[must_use]
    pub fn products(&self) -> usize {
        self.shape().products(self.columns)
    }

    /// The tile over the inputs in `free` alone, which it numbers anew. The others are left out.
    #[must_use]
    pub fn over_free(&self, free: &[usize]) -> Self {
        let Some(index) = &self.index else {
            let m = self.outputs;
            let columns = |matrix: &[f64]| {
                free.iter().flat_map(|&j| matrix[j * m..(j + 1) * m].iter().copied()).collect::<Vec<_>>()
            };
            let (taps, columns_left) = (free.len(), free.len());
            let weight_error = self.weight_error.as_deref().map(columns);
            return Self { taps, columns: columns_left, weight: columns(&self.weight), weight_error, ..self.clone() };
        };
        let mut number = vec![NONE; self.columns];
        for (new, &old) in free.iter().enumerate() {
            number[old] = u32::try_from(new).unwrap_or(NONE);
        }
        let renumbered = |&place: &u32| if place == NONE { NONE } else { number[place as usize] };
        let places: Vec<u32> = index.places.iter().map(renumbered).collect();
        let readers = Readers::of(&places, free.len());
        Self { columns: free.len(), index: Some(Arc::new(Index { places, readers })), ..self.clone() }
    }
}

fn limit(columns: usize) -> i32 {
    i32::try_from(columns).unwrap_or(i32::MAX)
}

/// Refuses errors that are negative or not finite.
pub(super) fn radius<'a>(what: &'static str, mut errors: impl Iterator<Item = &'a f64> + Clone) -> Result<(), Error> {
    finite(what, errors.clone())?;
    if errors.all(|&e| e >= 0.0) {
        Ok(())
    } else {
        Err(Error::Value { name: what, value: "negative".into(), accepted: "an error bound is at least 0" })
    }
}
