//! ReLU on a differential zonotope: one affine transformer per neuron ([VD], Prop. "ReLU" and Lemma "soundness of
//! ReLU_Delta", its table of phase pairs). For one network it is the transformer of DeepZ (Singh, Gehr, Mirman,
//! Püschel, Vechev, "Fast and effective robustness certification", NeurIPS 2018).
//!
//! One network, x in [l, u] unstable: for *any* slope lam in [0, 1], relu(x) - lam x lies in [0, h] with h = max(-lam
//! l, (1 - lam) u), its values at the ends, by convexity. With mu = h / 2 the equation relu(x) = lam x + mu + mu a
//! defines the fresh generator a in [-1, 1].
//!
//! Each of the nine phase pairs is one row of coefficients of the difference ([`super::transformer`]), and soundness can
//! be read off row by row:
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
//! [`super::transformer::propagate_error`] for all others.

use super::phase::{Bounds, Phase};
use super::transformer::{DifferenceRow, DifferenceTransformer, Transformer};
use crate::numeric::round::{mul_up, sub_up, up};
use crate::numeric::vectorised::vectorised;

impl Transformer {
    /// Chooses slopes from bounds of the pre-activations.
    pub fn set_relu(&mut self, bounds: &Bounds) {
        let m = bounds.lower.len();
        self.phase.resize(m, Phase::Inactive);
        for v in [&mut self.slope, &mut self.shift, &mut self.fresh] {
            v.resize(m, 0.0);
        }
        self.loose.clear();
        choose(self, &bounds.lower, &bounds.upper);
    }
}

vectorised! {
    /// See [`Transformer::set_relu`]. No branch predictor can guess which neurons are unstable, so all three cases are
    /// computed for every neuron, and then one of them is selected.
    fn choose<'a>(transformer: &'a mut Transformer, lower: &'a [f64], upper: &'a [f64]) {
        let m = lower.len();
        let (upper, phases) = (&upper[..m], &mut transformer.phase[..m]);
        let (slopes, shifts) = (&mut transformer.slope[..m], &mut transformer.shift[..m]);
        let fresh = &mut transformer.fresh[..m];
        for i in 0..m {
            let (l, u) = (lower[i], upper[i]);
            let slope = (u / (u - l)).clamp(0.0, 1.0);
            let mu = up(0.5 * height(slope, l, u));
            let (inactive, active) = (u <= 0.0, l >= 0.0);
            slopes[i] = if inactive { 0.0 } else if active { 1.0 } else { slope };
            fresh[i] = if inactive || active { 0.0 } else { mu };
            shifts[i] = fresh[i];
        }
        for ((phase, &l), &u) in phases.iter_mut().zip(lower).zip(upper) {
            *phase = Phase::of(l, u);
        }
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
    pub fn set_relu(&mut self, first: &Transformer, second: &Transformer, d: &Bounds, share_fresh: bool) {
        let m = first.phase.len();
        self.loose.clear();
        let Self { of_d, of_x, of_y, shift, fresh1, fresh2, fresh_own, .. } = self;
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
