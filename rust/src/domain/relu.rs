//! ReLU on a differential zonotope: one affine transformer per neuron ([VD], Prop. "ReLU" and Lemma "soundness of
//! ReLU_Delta", its table of phase pairs). For one network it is the transformer of DeepZ (Singh, Gehr, Mirman,
//! Püschel, Vechev, "Fast and effective robustness certification", NeurIPS 2018).
//!
//! One network, x in [l, u] unstable: for *any* slope lam in [0, 1], relu(x) - lam x lies in [0, h] with h = max(-lam
//! l, (1 - lam) u), its values at the ends, by convexity. With mu = h / 2 the equation relu(x) = lam x + mu + mu a
//! defines the fresh generator a in [-1, 1].
//!
//! The difference is `D = of_d d + of_x x + of_y y + shift`, plus `fresh1` times f1's fresh generator, `fresh2` times
//! f2's, and a fresh generator of its own of size `fresh_own`. So each of the nine phase pairs is one row of
//! coefficients, and soundness can be read off row by row:
//!
//! | f1 f2 | D = | why |
//! |---|---|---|
//! | - - | 0 | both outputs are 0 |
//! | - + , - ~ | -Y | X = 0 |
//! | + - , ~ - | X | Y = 0 |
//! | + + | d | both are the identity |
//! | ~ + | d + (X - x) | Y = y; X - x = relu(-x) is in (lam1 - 1) x + mu1 -+ mu1 |
//! | + ~ | d - (Y - y) | X = x; the same for Y |
//! | ~ ~ | lam d + [low, high] | D is between min(0, d) and max(0, d); both minus lam d are extreme at the ends of d |
//! | ~ ~ | X - Y | both transformers side by side, where that is thinner |
//!
//! In `~ +` and `+ ~` the paper adds a fresh generator of the difference where the network's own fresh generator is the
//! very same quantity; with `share_fresh` it is used, which is exact and saves a column.
//!
//! Slopes and coefficients are rounded. That is harmless for lam, since any value in [0, 1] is sound, and is counted in
//! [`propagate_error`] for all others.

use super::phase::{Bounds, Phase};
use crate::numeric::round::{TINY, U, inflate, mul_up, sub_up, up};
use crate::numeric::vectorised::vectorised;

/// How one network passes the ReLUs of a step: X = slope x + fresh (1 + a).
#[derive(Debug, Clone, Default)]
pub struct ReluTransformer {
    /// The phase of every neuron.
    pub phase: Vec<Phase>,
    /// lam of every neuron: 0 where it is inactive, 1 where it is active, between them where it is unstable.
    pub slope: Vec<f64>,
    /// mu of every neuron, which is both the shift of the centre and the size of the fresh generator: 0 unless the
    /// neuron is unstable.
    pub fresh: Vec<f64>,
}

impl ReluTransformer {
    /// Chooses slopes from bounds of the pre-activations.
    pub fn set(&mut self, bounds: &Bounds) {
        let m = bounds.lower.len();
        self.phase.resize(m, Phase::Inactive);
        self.slope.resize(m, 0.0);
        self.fresh.resize(m, 0.0);
        choose(self, &bounds.lower, &bounds.upper);
    }

    /// Passes m values on as they are: those of a step without a function, whose values are all active.
    pub fn pass(&mut self, m: usize) {
        self.phase.clear();
        self.phase.resize(m, Phase::Active);
        self.slope.clear();
        self.slope.resize(m, 1.0);
        self.fresh.clear();
        self.fresh.resize(m, 0.0);
    }
}

vectorised! {
    /// See [`ReluTransformer::set`]. No branch predictor can guess which neurons are unstable, so all three cases are
    /// computed for every neuron, and then one of them is selected.
    fn choose<'a>(transformer: &'a mut ReluTransformer, lower: &'a [f64], upper: &'a [f64]) {
        let m = lower.len();
        let (upper, phases) = (&upper[..m], &mut transformer.phase[..m]);
        let (slopes, fresh) = (&mut transformer.slope[..m], &mut transformer.fresh[..m]);
        for i in 0..m {
            let (l, u) = (lower[i], upper[i]);
            let slope = (u / (u - l)).clamp(0.0, 1.0);
            let mu = up(0.5 * height(slope, l, u));
            let (inactive, active) = (u <= 0.0, l >= 0.0);
            slopes[i] = if inactive { 0.0 } else if active { 1.0 } else { slope };
            fresh[i] = if inactive || active { 0.0 } else { mu };
        }
        for ((phase, &l), &u) in phases.iter_mut().zip(lower).zip(upper) {
            *phase = Phase::of(l, u);
        }
    }
}

impl ReluTransformer {
    /// The unstable neurons with their fresh generators, in neuron order: the order of their columns.
    #[inline(always)]
    pub fn fresh_generators(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.fresh.iter().copied().enumerate().filter(|&(_, mu)| mu != 0.0)
    }
}

/// max(-lam l, (1 - lam) u), rounded up: relu(x) <= lam x + height on [l, u].
#[inline(always)]
#[must_use]
pub fn height(slope: f64, l: f64, u: f64) -> f64 {
    mul_up(slope, -l).max(mul_up(sub_up(1.0, slope), u))
}

/// max(0, v) - lam v, rounded up.
#[inline(always)]
#[must_use]
pub fn above(lam: f64, v: f64) -> f64 {
    if v > 0.0 { mul_up(sub_up(1.0, lam), v) } else { mul_up(lam, -v) }
}

/// min(0, v) - lam v, rounded down.
#[inline(always)]
#[must_use]
pub fn below(lam: f64, v: f64) -> f64 {
    if v < 0.0 { -mul_up(sub_up(1.0, lam), -v) } else { -mul_up(lam, v) }
}

/// How a step's function transforms the difference: D = of_d d + of_x x + of_y y + shift + fresh1 a1 + fresh2 a2 +
/// fresh_own ad, for every row. Where the function is the identity every row is active in both networks, and D = d.
#[derive(Debug, Clone, Default)]
pub struct DifferenceTransformer {
    /// Coefficient of d.
    pub of_d: Vec<f64>,
    /// Coefficient of x, the value *before* ReLU in f1.
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

/// The table of phase pairs. `(lam, mu)` are slope and fresh generator of each network, `l..u` bounds d.
#[must_use]
#[inline(always)]
pub fn difference_row(
    (f1, lam1, mu1): (Phase, f64, f64),
    (f2, lam2, mu2): (Phase, f64, f64),
    (l, u): (f64, f64),
    share_fresh: bool,
) -> DifferenceRow {
    use DifferenceRow as Row;
    use Phase::{Active, Inactive, Unstable};
    let zero = Row::default();
    match (f1, f2) {
        (Inactive, Inactive) => zero,
        (Inactive, Active) => Row { of_y: -1.0, ..zero },
        (Active, Inactive) => Row { of_x: 1.0, ..zero },
        (Active, Active) => Row { of_d: 1.0, ..zero },
        (Inactive, Unstable) => Row { of_y: -lam2, shift: -mu2, fresh2: -mu2, ..zero },
        (Unstable, Inactive) => Row { of_x: lam1, shift: mu1, fresh1: mu1, ..zero },
        (Unstable, Active) if share_fresh => Row { of_d: 1.0, of_x: lam1 - 1.0, shift: mu1, fresh1: mu1, ..zero },
        (Unstable, Active) => Row { of_d: 1.0, of_x: lam1 - 1.0, shift: mu1, fresh_own: mu1, ..zero },
        (Active, Unstable) if share_fresh => Row { of_d: 1.0, of_y: 1.0 - lam2, shift: -mu2, fresh2: -mu2, ..zero },
        (Active, Unstable) => Row { of_d: 1.0, of_y: 1.0 - lam2, shift: -mu2, fresh_own: mu2, ..zero },
        (Unstable, Unstable) => {
            let own = both_unstable(l, u);
            let side_by_side = if share_fresh { side_by_side((lam1, mu1), (lam2, mu2), (l, u)) } else { None };
            match side_by_side {
                Some((row, reach)) if reach < own.of_d * 0.5 * (u - l) + own.fresh_own => row,
                _ => own,
            }
        }
    }
}

/// D = X - Y by the transformers of both networks, over their fresh generators, and how far it reaches at most; `None`
/// where a slope is rounded to 0 or 1.
///
/// lam1 x - lam2 y is written as the smaller slope times d, so that what is known of d serves, and the rest of the
/// other slope times x or y. Any choice between this row and the other one is sound. The one that reaches less far on
/// ranges that do not depend on each other is taken: where the networks differ much this is the one here. Choosing by
/// the size of the fresh generators alone, as if the rest were free, costs more than it brings.
#[inline(always)]
fn side_by_side((lam1, mu1): (f64, f64), (lam2, mu2): (f64, f64), (l, u): (f64, f64)) -> Option<(DifferenceRow, f64)> {
    // With slope lam = u / (u - l) the range of an unstable neuron has the radius mu / (lam (1 - lam)).
    let radius = |lam: f64, mu: f64| mu / (lam * (1.0 - lam));
    let (of_d, of_x, of_y, rest) = if lam1 <= lam2 {
        (lam1, 0.0, lam1 - lam2, (lam2 - lam1) * radius(lam2, mu2))
    } else {
        (lam2, lam1 - lam2, 0.0, (lam1 - lam2) * radius(lam1, mu1))
    };
    let row = DifferenceRow { of_d, of_x, of_y, shift: mu1 - mu2, fresh1: mu1, fresh2: -mu2, fresh_own: 0.0 };
    let reach = of_d * 0.5 * (u - l) + rest + mu1 + mu2;
    reach.is_finite().then_some((row, reach))
}

/// D lies between min(0, d) and max(0, d) for d in [l, u], with slope lam = clamp(u / (u - l), 0, 1).
///
/// max(0, d) - lam d is convex and min(0, d) - lam d concave, so their extremes over [l, u] are at its ends.
#[inline(always)]
fn both_unstable(l: f64, u: f64) -> DifferenceRow {
    if l == 0.0 && u == 0.0 {
        return DifferenceRow::default();
    }
    let lam = (u / (u - l)).clamp(0.0, 1.0);
    let (high, low) = (above(lam, l).max(above(lam, u)), below(lam, l).min(below(lam, u)));
    let shift = 0.5 * (high + low);
    // The interval [low, high] around the rounded middle.
    let fresh_own = sub_up(high, shift).max(sub_up(shift, low));
    DifferenceRow { of_d: lam, shift, fresh_own, ..DifferenceRow::default() }
}

impl DifferenceTransformer {
    /// Sets the rows of a whole step.
    pub fn set(&mut self, first: &ReluTransformer, second: &ReluTransformer, d: &Bounds, share_fresh: bool) {
        let m = first.phase.len();
        let Self { of_d, of_x, of_y, shift, fresh1, fresh2, fresh_own } = self;
        let columns = [of_d, of_x, of_y, shift, fresh1, fresh2, fresh_own].map(|v| {
            v.resize(m, 0.0);
            &mut v[..m]
        });
        let [of_d, of_x, of_y, shift, fresh1, fresh2, fresh_own] = columns;
        for i in 0..m {
            let row = difference_row(
                (first.phase[i], first.slope[i], first.fresh[i]),
                (second.phase[i], second.slope[i], second.fresh[i]),
                (d.lower[i], d.upper[i]),
                share_fresh,
            );
            (of_d[i], of_x[i], of_y[i], shift[i]) = (row.of_d, row.of_x, row.of_y, row.shift);
            (fresh1[i], fresh2[i], fresh_own[i]) = (row.fresh1, row.fresh2, row.fresh_own);
        }
    }
}

/// Units of roundoff in an entry of a form behind ReLU, relative to the absolute sum of its terms. The entry is a sum
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
