//! What a structured product ([`super::windows`]) is asked for, forward or transposed, and the ways of computing it in registers:
//! [`super::window_columns`] and [`super::window_lanes`].

use super::kernels::Accumulate;
use super::real::Real;
use super::window_index::Windows;
use pulp::{Arch, Simd, WithSimd};

/// Registers of positions in a block of sums.
pub(super) const POSITIONS: usize = 3;

/// The most rows of a block of sums: with [`POSITIONS`] of each, as many as leave registers for what is multiplied.
#[inline(always)]
pub(super) fn widest<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 8 } else { 4 }
}

/// The width of a block that begins at one of n rows: a power of two.
#[inline(always)]
pub(super) fn width(at: usize, n: usize, widest: usize) -> usize {
    let left = n - at;
    if left >= widest { widest } else { 1 << left.ilog2() }
}

/// Out (rows, n) = the product with a form (m, n), or with `BACKWARDS` out (m, n) = the transposed product with
/// coefficients (rows, n). It is set or added. W is the way, by the space that it reuses from product to product.
pub(super) struct Product<'a, T, W, const BACKWARDS: bool> {
    pub windows: Windows<'a>,
    pub weight: &'a [T],
    pub out: &'a mut [T],
    pub form: &'a [T],
    /// m and n.
    pub shape: (usize, usize),
    pub accumulate: Accumulate,
    pub space: &'a mut W,
}

/// A way of computing a structured product.
pub(super) trait Way<T: Real>: Sized {
    /// Whether it is worth while for windows on m numbers.
    fn suits(windows: Windows<'_>, m: usize) -> bool;

    /// Computes the first columns in registers of L numbers; how many those are.
    fn run<S: Simd, const L: usize, const BACKWARDS: bool>(simd: S, product: Product<'_, T, Self, BACKWARDS>) -> usize;
}

impl<T: Real, W: Way<T>, const BACKWARDS: bool> Product<'_, T, W, BACKWARDS> {
    /// How many columns, from the first on, have been computed. The others are left to the caller.
    pub(super) fn columns(self) -> usize {
        if W::suits(self.windows, self.shape.0) { Arch::new().dispatch(self) } else { 0 }
    }
}

impl<T: Real, W: Way<T>, const BACKWARDS: bool> WithSimd for Product<'_, T, W, BACKWARDS> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        match size_of::<T::Register<S>>() / size_of::<T>() {
            16 => W::run::<S, 16, BACKWARDS>(simd, self),
            8 => W::run::<S, 8, BACKWARDS>(simd, self),
            4 => W::run::<S, 4, BACKWARDS>(simd, self),
            _ => 0,
        }
    }
}
