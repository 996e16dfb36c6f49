//! ReLU on a differential zonotope: one affine transformer per neuron ([VD], Prop. "ReLU" and Lemma "soundness of ReLU_Delta", its table of phase pairs).
//!
//! One network, x in [l, u] unstable: for *any* slope lam in [0, 1], relu(x) - lam x lies in [0, h] with h = max(-lam l, (1 - lam) u), its values at the
//! ends, by convexity. With mu = h / 2 the equation relu(x) = lam x + mu + mu a defines the fresh generator a in [-1, 1].
//!
//! The difference is `D = keep d + first x + second y + shift`, plus `k1` times f1's fresh generator, `k2` times f2's, and a fresh generator of its own of
//! size `kd`. So each of the nine phase pairs is one row of coefficients, and soundness can be read off row by row:
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
//!
//! In `~ +` and `+ ~` the paper adds a fresh generator of the difference where the network's own fresh generator is the very same quantity; with
//! `share_fresh` it is used, which is exact and saves a column.
//!
//! Slopes and coefficients are rounded; that is harmless for lam (any value serves) and is paid for in [`propagate_error`] everywhere else.

use super::phase::{Bounds, Phase};
use crate::numeric::round::{TINY, U, inflate, mul_up, sub_up, up};
use crate::numeric::vectorised::vectorised;

/// How one network passes a layer of ReLUs: X = slope x + fresh (1 + a).
#[derive(Debug, Clone, Default)]
pub struct ReluTransformer {
    /// Phase per neuron.
    pub phase: Vec<Phase>,
    /// lam per neuron: 0 inactive, 1 active, between them unstable.
    pub slope: Vec<f64>,
    /// mu per neuron: both the shift of the centre and the fresh generator; 0 unless unstable.
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
}

vectorised! {
    /// See [`ReluTransformer::set`]. What is unstable comes by chance, so everything is computed for every neuron and then selected.
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

/// How the difference passes a layer: D = keep d + first x + second y + shift + k1 a1 + k2 a2 + kd ad, per neuron.
#[derive(Debug, Clone, Default)]
pub struct DifferenceTransformer {
    /// Coefficient of d.
    pub keep: Vec<f64>,
    /// Coefficient of x, the value *before* ReLU in f1.
    pub first: Vec<f64>,
    /// Coefficient of y.
    pub second: Vec<f64>,
    /// Added to the centre.
    pub shift: Vec<f64>,
    /// Coefficient of f1's fresh generator of this neuron.
    pub k1: Vec<f64>,
    /// Coefficient of f2's fresh generator.
    pub k2: Vec<f64>,
    /// Size of the difference's own fresh generator.
    pub kd: Vec<f64>,
}

/// One row of [`DifferenceTransformer`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DifferenceRow {
    /// See [`DifferenceTransformer`], likewise below.
    pub keep: f64,
    /// Coefficient of x.
    pub first: f64,
    /// Coefficient of y.
    pub second: f64,
    /// Centre shift.
    pub shift: f64,
    /// Coefficient of f1's fresh generator.
    pub k1: f64,
    /// Coefficient of f2's fresh generator.
    pub k2: f64,
    /// Own fresh generator.
    pub kd: f64,
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
    use Phase::{Active, Inactive, Unstable};
    let zero = DifferenceRow::default();
    match (f1, f2) {
        (Inactive, Inactive) => zero,
        (Inactive, Active) => DifferenceRow { second: -1.0, ..zero },
        (Active, Inactive) => DifferenceRow { first: 1.0, ..zero },
        (Active, Active) => DifferenceRow { keep: 1.0, ..zero },
        (Inactive, Unstable) => DifferenceRow { second: -lam2, shift: -mu2, k2: -mu2, ..zero },
        (Unstable, Inactive) => DifferenceRow { first: lam1, shift: mu1, k1: mu1, ..zero },
        (Unstable, Active) if share_fresh => {
            DifferenceRow { keep: 1.0, first: lam1 - 1.0, shift: mu1, k1: mu1, ..zero }
        }
        (Unstable, Active) => DifferenceRow { keep: 1.0, first: lam1 - 1.0, shift: mu1, kd: mu1, ..zero },
        (Active, Unstable) if share_fresh => {
            DifferenceRow { keep: 1.0, second: 1.0 - lam2, shift: -mu2, k2: -mu2, ..zero }
        }
        (Active, Unstable) => DifferenceRow { keep: 1.0, second: 1.0 - lam2, shift: -mu2, kd: mu2, ..zero },
        (Unstable, Unstable) => both_unstable(l, u),
    }
}

/// D between min(0, d) and max(0, d) for d in [l, u], with slope lam = clamp(u / (u - l), 0, 1).
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
    let kd = sub_up(high, shift).max(sub_up(shift, low));
    DifferenceRow { keep: lam, shift, kd, ..DifferenceRow::default() }
}

impl DifferenceTransformer {
    /// Rows for a whole layer.
    pub fn set(&mut self, first: &ReluTransformer, second: &ReluTransformer, d: &Bounds, share_fresh: bool) {
        let m = first.phase.len();
        let Self { keep, first: of_x, second: of_y, shift, k1, k2, kd } = self;
        let columns = [keep, of_x, of_y, shift, k1, k2, kd].map(|v| {
            v.resize(m, 0.0);
            &mut v[..m]
        });
        let [keep, of_x, of_y, shift, k1, k2, kd] = columns;
        for i in 0..m {
            let row = difference_row(
                (first.phase[i], first.slope[i], first.fresh[i]),
                (second.phase[i], second.slope[i], second.fresh[i]),
                (d.lower[i], d.upper[i]),
                share_fresh,
            );
            (keep[i], of_x[i], of_y[i], shift[i]) = (row.keep, row.first, row.second, row.shift);
            (k1[i], k2[i], kd[i]) = (row.k1, row.k2, row.kd);
        }
    }
}

/// What a transformer does to the error radius and the magnitude (|centre| + sum |generators|) of a form on one neuron: X = sum coefficient_q form_q + shift,
/// plus fresh generators of total size `fresh`. Returns (error, magnitude).
///
/// The old errors are scaled. Each new entry is computed with at most three products, three sums and coefficients that were rounded once themselves, so
/// 8 U times the magnitudes covers it; `underflow` is for products below the normal range. A single form taken over unchanged costs nothing.
#[inline(always)]
#[must_use]
pub fn propagate_error(terms: [(f64, f64, f64); 3], shift: f64, fresh: f64, underflow: f64) -> (f64, f64) {
    let [(a, ma, ea), (b, mb, eb), (c, mc, ec)] = terms;
    let (a, b, c) = (a.abs(), b.abs(), c.abs());
    let carried = a * ea + b * eb + c * ec;
    let size = a * ma + b * mb + c * mc;
    let rounded = 8.0 * U * (size + carried + shift.abs());
    let err = inflate(carried + rounded + underflow, 16);
    // Coefficients (1, 0, 0) in some order and no shift: a copy; all zero: nothing.
    let copied = shift == 0.0 && a + b + c == a.max(b).max(c) && (a == 1.0 || b == 1.0 || c == 1.0);
    let nothing = shift == 0.0 && a + b + c == 0.0;
    let exact = if copied { ea * a + eb * b + ec * c } else { err };
    let magnitude = size + shift.abs() + fresh;
    (if nothing { 0.0 } else { exact }, if magnitude == 0.0 { 0.0 } else { inflate(magnitude, 16) })
}

/// Room for products that underflow in each of `columns` entries.
#[inline(always)]
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn underflow(columns: usize) -> f64 {
    TINY * (4 * columns + 8) as f64
}
