//! Slopes below ReLU for each functional of back-substitution ([`super::back_substitution`]), by where it is expected to be
//! least.
//!
//! Below an unstable ReLU any line a x with a in [0, 1] is sound, and for each functional another one is best: 1 where x is
//! positive at the input at which the functional is least, and 0 where it is negative there. alpha-CROWN (Xu et al., ICLR
//! 2021) finds slopes by gradients, each of which costs a pass forwards and another one backwards. Here they cost next to
//! nothing, and this is eqspec's own: the zonotope has a row for the functional, which is least at a corner of the box, and a
//! row for each neuron below, which says about where x is at that corner.
//!
//! The row of x says so up to the generators of the neurons before it, and the functional itself is least elsewhere, so the
//! corner is approached but not reached ([`REACH`]), and the slope passes from 0 to 1 while x passes through a part of its
//! range ([`WIDTH`]): with x = middle + reach sum_k g_k e_k for a corner e,
//!     a = 1/2 + x / (width radius), clamped to [0, 1].
//!
//! Sound because any slope in [0, 1] is, so nothing here is rounded with care. Where both lines of a neuron are level nothing
//! goes on to it, and what it would cost is not counted ([`super::relaxation::Relaxation::cost`]); there the slope stays 0.
//! Other functions with a knot are in [`super::fan_slopes`].

use super::columns::Columns;
use super::phase::Bounds;
use super::relaxation::{LANES, Relaxation, through};
use crate::numeric::vectorised::vectorised;

/// How far towards its corner a functional is expected to be least.
pub(super) const REACH: f64 = 0.6;

/// The part of the range of x in which the slope is neither 0 nor 1.
pub(super) const WIDTH: f64 = 0.4;

/// The slopes below the ReLUs of a step, where these are unstable.
#[derive(Debug, Clone, Default)]
pub(super) struct CornerSlopes {
    /// The slope for a functional that is least in the middle of the box, before it is clamped.
    middle: Vec<f64>,
    /// By how much it changes with x.
    rate: Vec<f64>,
}

impl CornerSlopes {
    /// Sets them from the bounds before the ReLUs.
    pub fn set(&mut self, bounds: &Bounds) {
        let m = bounds.lower.len();
        self.middle.resize(m, 0.0);
        self.rate.resize(m, 0.0);
        set(self, bounds);
    }
}

vectorised! {
    /// See [`CornerSlopes::set`]. What belongs to stable neurons is not used.
    fn set<'a>(slopes: &'a mut CornerSlopes, bounds: &'a Bounds) {
        let CornerSlopes { middle, rate } = slopes;
        let m = middle.len();
        let (lower, upper, rate) = (&bounds.lower[..m], &bounds.upper[..m], &mut rate[..m]);
        for j in 0..m {
            let once = 1.0 / (WIDTH * (upper[j] - lower[j]));
            middle[j] = 0.5 + (lower[j] + upper[j]) * once;
            rate[j] = 2.0 * REACH * once;
        }
    }
}

/// The corners of the box at which rows of a form, times a sign, are least: the sign of every input's generator, all rows
/// side by side.
pub(super) fn aim(corners: &mut Vec<f64>, form: &Columns, inputs: usize, (neurons, signs): (&[usize], &[f64])) {
    corners.clear();
    for k in 1..form.len().min(inputs + 1) {
        let column = form.column(k);
        let away = |(&i, sign): (&usize, &f64)| if sign * column[i] > 0.0 { -1.0 } else { 1.0 };
        corners.extend(neurons.iter().zip(signs).map(away));
    }
}

vectorised! {
    /// Takes functionals from behind the ReLUs of a step to before them, and over the bias: as [`super::relaxation::relax`],
    /// with slopes below unstable ReLUs by the corner of each functional.
    pub fn relax_by_corners<'a>(
        coefficients: &'a mut [f64],
        sums: (&'a mut [f64], &'a mut [f64]),
        lines: (&'a Relaxation, &'a CornerSlopes, &'a Columns),
        bias: &'a [f64],
        corners: &'a [f64],
    ) {
        let (constant, cost) = sums;
        let f = constant.len();
        let (Relaxation { upper, height, lower, cost: unit, .. }, CornerSlopes { middle, rate }, form) = lines;
        let m = bias.len();
        let (upper, height, lower, unit, middle) = (&upper[..m], &height[..m], &lower[..m], &unit[..m], &middle[..m]);
        // There are no columns where a form was freed.
        let form = form.from(1);
        let inputs = (form.len() / m.max(1)).min(corners.len() / f);
        for from in (0..f).step_by(LANES) {
            let (mut sum, mut off) = ([0.0; LANES], [0.0; LANES]);
            for (j, row) in coefficients.chunks_exact_mut(f).enumerate().take(m) {
                let (upper, height, bias, unit) = (upper[j], height[j], bias[j], unit[j]);
                let mut below = [lower[j]; LANES];
                if height != 0.0 && upper != 0.0 {
                    let mut x = [0.0; LANES];
                    for k in 0..inputs {
                        let (generator, corner) = (form[k * m + j], &corners[k * f + from..][..LANES]);
                        for q in 0..LANES {
                            x[q] += generator * corner[q];
                        }
                    }
                    let (middle, rate) = (middle[j], rate[j]);
                    for q in 0..LANES {
                        let slope = middle + rate * x[q];
                        // What is not a number becomes 0.
                        let slope = if slope > 0.0 { slope } else { 0.0 };
                        below[q] = if slope < 1.0 { slope } else { 1.0 };
                    }
                }
                for (q, entry) in row[from..from + LANES].iter_mut().enumerate() {
                    let lines = ((below[q], 0.0), (upper, height));
                    through(entry, lines, (bias, unit), (&mut sum[q], &mut off[q]));
                }
            }
            constant[from..].iter_mut().zip(sum).for_each(|(v, sum)| *v += sum);
            cost[from..].iter_mut().zip(off).for_each(|(v, off)| *v += off);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coefficient below a neuron with these lines of a functional with the coefficient 1, which is least where x is large.
    fn below((upper, height): (f64, f64), bounds: (f64, f64)) -> f64 {
        let relaxation = Relaxation {
            upper: vec![upper],
            height: vec![height],
            lower: vec![0.0],
            cost: vec![0.0],
            ..Default::default()
        };
        let (mut slopes, mut known, mut form) = (CornerSlopes::default(), Bounds::default(), Columns::default());
        (known.lower, known.upper) = (vec![bounds.0], vec![bounds.1]);
        slopes.set(&known);
        form.reshape(1, 2);
        form.all_mut().copy_from_slice(&[0.5 * (bounds.0 + bounds.1), 0.5 * (bounds.1 - bounds.0)]);
        let (mut coefficients, mut constant, mut cost) = ([1.0; LANES], [0.0; LANES], [0.0; LANES]);
        let sums = (&mut constant[..], &mut cost[..]);
        relax_by_corners(&mut coefficients, sums, (&relaxation, &slopes, &form), &[0.0], &[1.0; LANES]);
        coefficients[0]
    }

    #[test]
    fn slopes_are_between_0_and_1() {
        assert_eq!(below((0.5, 0.5), (-1.0, 1.0)), 1.0);
        assert_eq!(below((0.05, 0.95), (-19.0, 1.0)), 0.0);
        let between = below((0.25, 0.75), (-3.0, 1.0));
        assert!(0.0 < between && between <= 1.0, "{between}");
    }

    #[test]
    fn nothing_goes_on_where_both_lines_are_level() {
        assert_eq!(below((0.0, 1e-300), (-1.0, 1.0)), 0.0);
    }

    #[test]
    fn ranges_that_overflow_give_slopes() {
        let slope = below((0.5, f64::MAX), (-f64::MAX, f64::MAX));
        assert!((0.0..=1.0).contains(&slope), "{slope}");
    }
}
