//! One functional through one layer of m ReLUs, in loops that run in vector registers: the backward step of DeepPoly
//! and CROWN for x, y and d at once.
//!
//! Arrays have m entries. They are passed as separate arguments so that the compiler knows that they do not overlap.
//! What the relaxations are and why they are sound is in [`super::relax`]; what their rounding costs is in
//! [`super::rounding_cost`].

use super::functional::{Triple, TripleMut};
use super::relax::RelaxationView;
use crate::numeric::real::Real;

/// Coefficients after link and folds at one neuron: of X, of Y, of D, and of D before it was folded.
#[inline(always)]
fn after_link<T: Real>((p, q, s): (T, T, T), g: T, v: RelaxationView<'_, T>, i: usize) -> (T, T, T, T) {
    let d = s - g;
    (p + g + d * v.fold_first[i], q - g - d * v.fold_second[i], d * v.keep[i], d)
}

/// What the relaxations add to a functional's constant, the absolute size of that, and the absolute sum of all
/// coefficients for the rounding bound.
#[inline(always)]
pub(super) fn relu_sums<T: Real>((p, q, s): TripleMut<'_, T>, link: &[T], v: RelaxationView<'_, T>) -> (T, T, T) {
    let mut sums = [[T::ZERO; LANES]; 3];
    let m = v.keep.len();
    let (p, q, s, link) = (&p[..m], &q[..m], &s[..m], &link[..m]);
    let whole = m - m % LANES;
    for from in (0..whole).step_by(LANES) {
        let range = from..from + LANES;
        let part = v.part(range.clone());
        let (p, q, s) = (&p[range.clone()], &q[range.clone()], &s[range.clone()]);
        add_sums(&mut sums, p, q, s, &link[range], part, LANES);
    }
    add_sums(&mut sums, &p[whole..], &q[whole..], &s[whole..], &link[whole..], v.part(whole..m), m - whole);
    let [constant, magnitude, norm] = sums;
    (constant.into_iter().sum(), magnitude.into_iter().sum(), norm.into_iter().sum())
}

/// Sums run in so many independent parts.
const LANES: usize = 8;

/// Adds what the first `count` neurons of a part contribute, at most one for each part of the sums.
#[inline(always)]
fn add_sums<T: Real>(
    [constant, magnitude, norm]: &mut [[T; LANES]; 3],
    p: &[T],
    q: &[T],
    s: &[T],
    link: &[T],
    v: RelaxationView<'_, T>,
    count: usize,
) {
    let (p, q, s, link) = (&p[..count], &q[..count], &s[..count], &link[..count]);
    for i in 0..count {
        // Everything is read whatever the signs are, so that no branch is in the way of vector registers.
        let (height1, height2, high, low) = (v.height1[i], v.height2[i], v.high[i], v.low[i]);
        let (x, y, z, d) = after_link((p[i], q[i], s[i]), link[i], v, i);
        let (of_x, of_y) = (x * height1, y * height2);
        let cx = if x < T::ZERO { of_x } else { T::ZERO };
        let cy = if y < T::ZERO { of_y } else { T::ZERO };
        let cz = z * if z < T::ZERO { high } else { low };
        constant[i] += cx + cy + cz;
        magnitude[i] += cx.abs() + cy.abs() + cz.abs();
        norm[i] += x.abs() + y.abs() + T::of(2.0) * d.abs() + T::of(3.0) * link[i].abs() + p[i].abs() + q[i].abs();
    }
}

/// One functional through a layer of ReLUs, backwards. The second triple is set to the coefficients of X, Y and D,
/// whose signs choose the relaxations.
#[inline(always)]
pub(super) fn relu_column<T: Real>(
    (p, q, s): TripleMut<'_, T>,
    (sp, sq, ss): TripleMut<'_, T>,
    (link, alpha1, alpha2): Triple<'_, T>,
    v: RelaxationView<'_, T>,
) {
    relu_column_of(p, q, s, sp, sq, ss, link, alpha1, alpha2, v);
}

/// Slices as plain arguments: the compiler then knows that they do not overlap.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn relu_column_of<T: Real>(
    p: &mut [T],
    q: &mut [T],
    s: &mut [T],
    sp: &mut [T],
    sq: &mut [T],
    ss: &mut [T],
    link: &[T],
    alpha1: &[T],
    alpha2: &[T],
    v: RelaxationView<'_, T>,
) {
    let m = v.keep.len();
    let (p, q, s) = (&mut p[..m], &mut q[..m], &mut s[..m]);
    let (sp, sq, ss) = (&mut sp[..m], &mut sq[..m], &mut ss[..m]);
    let (link, alpha1, alpha2) = (&link[..m], &alpha1[..m], &alpha2[..m]);
    let v = v.part(0..m);
    for i in 0..m {
        let (slope1, slope2, high_slope, low_slope) = (v.slope1[i], v.slope2[i], v.high_slope[i], v.low_slope[i]);
        let (lower1, lower2) = (v.active1[i] + v.unstable1[i] * alpha1[i], v.active2[i] + v.unstable2[i] * alpha2[i]);
        let (x, y, z, _) = after_link((p[i], q[i], s[i]), link[i], v, i);
        (sp[i], sq[i], ss[i]) = (x, y, z);
        p[i] = x * if x < T::ZERO { slope1 } else { lower1 };
        q[i] = y * if y < T::ZERO { slope2 } else { lower2 };
        s[i] = z * if z < T::ZERO { high_slope } else { low_slope };
    }
}

/// The same of f1 alone: of its coefficients p, with the slopes alpha1.
#[inline(always)]
pub(super) fn relu_column_alone<T: Real>(p: &mut [T], sp: &mut [T], alpha1: &[T], v: RelaxationView<'_, T>) {
    let m = v.keep.len();
    let (p, sp, alpha1, v) = (&mut p[..m], &mut sp[..m], &alpha1[..m], v.part(0..m));
    for i in 0..m {
        let (slope, lower) = (v.slope1[i], v.active1[i] + v.unstable1[i] * alpha1[i]);
        let x = p[i];
        sp[i] = x;
        p[i] = x * if x < T::ZERO { slope } else { lower };
    }
}

/// The surrogate of one functional through a layer of ReLUs, forwards, and the gradients of its slopes.
#[inline(always)]
pub(super) fn surrogate_column<T: Real>(
    (x, y, d): TripleMut<'_, T>,
    (sp, sq, ss): Triple<'_, T>,
    (alpha1, alpha2): (&[T], &[T]),
    (g1, g2): (&mut [T], &mut [T]),
    v: RelaxationView<'_, T>,
) {
    surrogate_column_of(x, y, d, g1, g2, sp, sq, ss, alpha1, alpha2, v);
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn surrogate_column_of<T: Real>(
    x: &mut [T],
    y: &mut [T],
    d: &mut [T],
    g1: &mut [T],
    g2: &mut [T],
    sp: &[T],
    sq: &[T],
    ss: &[T],
    alpha1: &[T],
    alpha2: &[T],
    v: RelaxationView<'_, T>,
) {
    let m = v.keep.len();
    let (x, y, d, g1, g2) = (&mut x[..m], &mut y[..m], &mut d[..m], &mut g1[..m], &mut g2[..m]);
    let (sp, sq, ss, alpha1, alpha2) = (&sp[..m], &sq[..m], &ss[..m], &alpha1[..m], &alpha2[..m]);
    let v = v.part(0..m);
    for i in 0..m {
        // Everything is read whatever the signs are, so that no branch is in the way of vector registers.
        let (slope1, slope2, height1, height2) = (v.slope1[i], v.slope2[i], v.height1[i], v.height2[i]);
        let (high_slope, high, low_slope, low) = (v.high_slope[i], v.high[i], v.low_slope[i], v.low[i]);
        let (lower1, lower2) = (v.active1[i] + v.unstable1[i] * alpha1[i], v.active2[i] + v.unstable2[i] * alpha2[i]);
        let (of_x, of_y, of_d) = (x[i], y[i], d[i]);
        let (rise1, rise2) = (sp[i] * of_x * v.unstable1[i], sq[i] * of_y * v.unstable2[i]);
        g1[i] = if sp[i] >= T::ZERO { rise1 } else { T::ZERO };
        g2[i] = if sq[i] >= T::ZERO { rise2 } else { T::ZERO };
        let (above_x, below_x) = (slope1 * of_x + height1, lower1 * of_x);
        let (above_y, below_y) = (slope2 * of_y + height2, lower2 * of_y);
        let (above_d, below_d) = (high_slope * of_d + high, low_slope * of_d + low);
        let after_x = if sp[i] < T::ZERO { above_x } else { below_x };
        let after_y = if sq[i] < T::ZERO { above_y } else { below_y };
        let own = if ss[i] < T::ZERO { above_d } else { below_d };
        x[i] = after_x;
        y[i] = after_y;
        d[i] = v.keep[i] * own + v.fold_first[i] * after_x - v.fold_second[i] * after_y;
    }
}

/// The same of f1 alone.
#[inline(always)]
pub(super) fn surrogate_column_alone<T: Real>(
    x: &mut [T],
    sp: &[T],
    alpha1: &[T],
    g1: &mut [T],
    v: RelaxationView<'_, T>,
) {
    let m = v.keep.len();
    let (x, g1, sp, alpha1, v) = (&mut x[..m], &mut g1[..m], &sp[..m], &alpha1[..m], v.part(0..m));
    for i in 0..m {
        let (slope, height, of_x) = (v.slope1[i], v.height1[i], x[i]);
        let lower = v.active1[i] + v.unstable1[i] * alpha1[i];
        let rise = sp[i] * of_x * v.unstable1[i];
        g1[i] = if sp[i] >= T::ZERO { rise } else { T::ZERO };
        let (above, below) = (slope * of_x + height, lower * of_x);
        x[i] = if sp[i] < T::ZERO { above } else { below };
    }
}
