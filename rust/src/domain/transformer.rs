//! What a function of one variable does to a differential zonotope, row by row: X = slope x + shift + fresh a for each
//! network, and for the difference
//!     D = of_d d + of_x x + of_y y + shift + fresh1 a1 + fresh2 a2 + fresh_own ad,
//! where a1 and a2 are the fresh generators of the two networks, and ad is one of the difference alone. How the numbers
//! are chosen is in [`super::relu`] for ReLU and in [`super::strip`] for all other functions; here is what they are, and
//! what the rounding of their application costs.

use super::phase::Phase;
use crate::numeric::round::{TINY, U, inflate};

/// How one network passes the function of a step: X = slope x + shift + fresh a, within `loose`.
#[derive(Debug, Clone, Default)]
pub struct Transformer {
    /// The phase of every neuron.
    pub phase: Vec<Phase>,
    /// lam of every neuron: where it is inactive 0, where it is active 1, and where it is unstable any number.
    pub slope: Vec<f64>,
    /// What is added to the centre: 0 unless the neuron is unstable.
    pub shift: Vec<f64>,
    /// The size of the fresh generator: 0 unless the neuron is unstable.
    pub fresh: Vec<f64>,
    /// What goes into the error radius instead of a generator; empty where that is nothing, as behind ReLU.
    pub loose: Vec<f64>,
    /// What the square of the part that is linear in the inputs is multiplied by; empty unless forms are of second order
    /// ([`super::input_products`]).
    pub bend: Vec<f64>,
    /// The rows, in order, whose fresh generator takes up the error of the form ([`super::carried_errors`]): F(x) = slope form + shift +
    /// fresh a there.
    pub with_errors: Vec<usize>,
}

impl Transformer {
    /// Passes m values on as they are: those of a step without a function, whose values are all active.
    pub fn pass(&mut self, m: usize) {
        self.phase.clear();
        self.phase.resize(m, Phase::Active);
        self.slope.clear();
        self.slope.resize(m, 1.0);
        for v in [&mut self.shift, &mut self.fresh] {
            v.clear();
            v.resize(m, 0.0);
        }
        self.loose.clear();
        self.bend.clear();
    }

    /// The unstable neurons with their fresh generators, in neuron order: the order of their columns.
    #[inline(always)]
    pub fn fresh_generators(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.fresh.iter().copied().enumerate().filter(|&(_, mu)| mu != 0.0)
    }
}

/// How a step's function transforms the difference: D = of_d d + of_x x + of_y y + shift + fresh1 a1 + fresh2 a2 +
/// fresh_own ad, within `loose`, for every row. Where the function is the identity every row is active in both networks, and D = d.
#[derive(Debug, Clone, Default)]
pub struct DifferenceTransformer {
    /// Coefficient of d.
    pub of_d: Vec<f64>,
    /// Coefficient of x, the value *before* the function in f1.
    pub of_x: Vec<f64>,
    /// Coefficient of y.
    pub of_y: Vec<f64>,
    /// What is added to the centre.
    pub shift: Vec<f64>,
    /// Coefficient of f1's fresh generator of this neuron.
    pub fresh1: Vec<f64>,
    /// Coefficient of f2's fresh generator.
    pub fresh2: Vec<f64>,
    /// Size of the difference's own fresh generator.
    pub fresh_own: Vec<f64>,
    /// What goes into the error radius; empty where that is nothing, as behind ReLU.
    pub loose: Vec<f64>,
    /// What products of the parts of y and d that are linear in the inputs are multiplied by; empty as above.
    pub product: Vec<f64>,
    /// The rows, in order, whose own generator takes up errors of the forms, likewise.
    pub with_errors: Vec<usize>,
}

/// One row of [`DifferenceTransformer`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DifferenceRow {
    /// Coefficient of d.
    pub of_d: f64,
    /// Coefficient of x.
    pub of_x: f64,
    /// Coefficient of y.
    pub of_y: f64,
    /// What is added to the centre.
    pub shift: f64,
    /// Coefficient of f1's fresh generator.
    pub fresh1: f64,
    /// Coefficient of f2's fresh generator.
    pub fresh2: f64,
    /// Size of the difference's own fresh generator.
    pub fresh_own: f64,
}

/// Units of roundoff in an entry of a form behind a function, relative to the absolute sum of its terms. The entry is a sum
/// of at most three products and a shift: a term passes one product and at most three sums, and its coefficient was
/// rounded once itself. That makes five; eight cover them.
const ENTRY_UNITS: f64 = 8.0;

/// Roundings in the longest chain of [`propagate_error`]: a product and two sums for what is carried over, as many for
/// the size, four for the rounding and two for the sum of all. That makes twelve at most, and fewer for the magnitude;
/// sixteen cover them.
const CHAIN: usize = 16;

/// What a transformer does to the error radius and the magnitude (|centre| + sum |generators|) of a form on one neuron,
/// X = sum coefficient_q form_q + shift, plus fresh generators of total size `fresh`. A term is (coefficient,
/// magnitude, error). Returns (error, magnitude).
///
/// The old errors are scaled by the coefficients. The rounding of new entries is [`ENTRY_UNITS`] U times their
/// magnitudes, and `underflow` covers products below the normal range. A single form that is taken over unchanged costs
/// nothing.
#[inline(always)]
#[must_use]
pub fn propagate_error(terms: [(f64, f64, f64); 3], shift: f64, fresh: f64, underflow: f64) -> (f64, f64) {
    let [(a, ma, ea), (b, mb, eb), (c, mc, ec)] = terms;
    let (a, b, c) = (a.abs(), b.abs(), c.abs());
    let carried = a * ea + b * eb + c * ec;
    let size = a * ma + b * mb + c * mc;
    let rounded = ENTRY_UNITS * U * (size + carried + shift.abs());
    let err = inflate(carried + rounded + underflow, CHAIN);
    // Coefficients (1, 0, 0) in some order and no shift: a copy; all zero: nothing.
    let copied = shift == 0.0 && a + b + c == a.max(b).max(c) && (a == 1.0 || b == 1.0 || c == 1.0);
    let nothing = shift == 0.0 && a + b + c == 0.0;
    let exact = if copied { ea * a + eb * b + ec * c } else { err };
    let magnitude = size + shift.abs() + fresh;
    (if nothing { 0.0 } else { exact }, if magnitude == 0.0 { 0.0 } else { inflate(magnitude, CHAIN) })
}

/// What underflow can cost a neuron's form with this number of columns: at most three products in each column, of which
/// each loses at most [`TINY`].
#[inline(always)]
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn underflow(columns: usize) -> f64 {
    TINY * (4 * columns + 8) as f64
}
