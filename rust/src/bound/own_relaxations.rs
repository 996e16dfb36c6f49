//! Relaxations of single neurons that hold for one functional of a batch alone, because it assumes on which side of a number
//! x or y of a few neurons is: 0 for ReLU, a knot of another function.
//!
//! A batch shares the relaxations of all neurons. Where a functional assumes sides of a few neurons, these have relaxations
//! of its own, which take the place of the shared ones while its coefficients pass, and give it back. So functionals under
//! different assumptions go through the products of one batch.
//!
//! # D of an active and an unstable neuron
//! Where x >= 0 and y is unstable, with bounds [l, u] of d and the lower bound a < 0 of y,
//!     max(d + a, min(0, d)) <= D <= d :
//! y <= Y <= y - a gives D = x - Y <= d and D >= d + a, and D is d where y >= 0, and x >= 0 elsewhere. Likewise, where x is
//! unstable with the lower bound a and y >= 0,
//!     d <= D <= min(d - a, max(0, d)).
//! So D lies between d and one of two lines, d + a (d - a) and the chord of min(0, d) (of max(0, d)); that one is taken which is
//! nearer to d in the middle of [l, u]. The shared relaxations fold such a D into X and Y: then what both networks have in common
//! is lost in all steps below, and a part in which a sign is assumed may have a worse bound than the whole.
//!
//! # Rounding
//! What rounding costs depends on the largest bound of the layer. Bounds under assumed signs lie within the shared ones, and
//! an intercept is at most as large as the bound a, or rounded outward as all chords are. Lines of other functions may be steeper
//! than the shared ones: the size of the step is raised to theirs ([`Relaxation::size`]) as long as they are in use.

use super::relax::{Relaxation, chords};
use crate::curve::Curve;
use crate::domain::intermediate_bounds::LayerBounds;
use crate::domain::phase::Phase;

/// The relaxation of one neuron for one functional.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnRelaxation<T = f64> {
    /// The number of the functional in its batch.
    pub(super) functional: usize,
    /// The step, and the neuron there.
    pub(super) step: usize,
    pub(super) index: usize,
    /// A layer of this neuron alone.
    pub(super) relaxation: Relaxation<T>,
}

impl OwnRelaxation {
    /// From the bounds of the neuron, the only one in `own`, which lie within those that the layer was set from.
    pub(super) fn of(functional: usize, (step, index): (usize, usize), own: &LayerBounds) -> Self {
        let mut relaxation = Relaxation::default();
        relaxation.set(own);
        keep_difference(&mut relaxation, own);
        Self { functional, step, index, relaxation }
    }

    /// The same of a neuron with other functions.
    pub(super) fn of_curves(
        functional: usize,
        (step, index): (usize, usize),
        curves: [&Curve; 2],
        own: &LayerBounds,
    ) -> Self {
        let mut relaxation = Relaxation::default();
        relaxation.lines.set_each(|_| curves, own);
        relaxation.size = relaxation.lines.size;
        // The lines of the thinnest strip.
        (relaxation.first.start, relaxation.second.start) = (vec![0.5], vec![0.5]);
        Self { functional, step, index, relaxation }
    }
}

/// Keeps D of an active and an unstable neuron.
fn keep_difference(r: &mut Relaxation, own: &LayerBounds) {
    let [x, y, d] = [&own.x, &own.y, &own.d].map(|b| (b.lower[0], b.upper[0]));
    if let Some(lines) = lines_of_difference(x, y, d) {
        (r.keep[0], r.fold_first[0], r.fold_second[0]) = (1.0, 0.0, 0.0);
        [(r.low_slope[0], r.low[0]), (r.high_slope[0], r.high[0])] = lines;
    }
}

/// Slope and intercept of a line in d below D, and of one above it, where one of x and y is active and the other one is
/// unstable, from the bounds of x, y and d. None elsewhere, and where d is known exactly, so that no chord is needed.
#[must_use]
pub fn lines_of_difference(x: (f64, f64), y: (f64, f64), (l, u): (f64, f64)) -> Option<[(f64, f64); 2]> {
    match (Phase::of(x.0, x.1), Phase::of(y.0, y.1)) {
        (Phase::Active, Phase::Unstable) if l < u => Some([thinner(chords(l, u)[0], y.0, (l, u)), (1.0, 0.0)]),
        (Phase::Unstable, Phase::Active) if l < u => Some([(1.0, 0.0), thinner(chords(l, u)[1], -x.0, (l, u))]),
        _ => None,
    }
}

/// Of a chord and the line d + shift that one which is nearer to d in the middle of the range.
fn thinner(chord: (f64, f64), shift: f64, (l, u): (f64, f64)) -> (f64, f64) {
    let middle = 0.5 * (l + u);
    let gap = (chord.0 * middle + chord.1 - middle).abs();
    if shift.abs() < gap { (1.0, shift) } else { chord }
}

impl<T: Copy> Relaxation<T> {
    /// Exchanges the relaxation of neuron i with that of the only neuron of another layer.
    fn exchange(&mut self, i: usize, other: &mut Self) {
        if let [lines] = &mut other.lines.neurons[..] {
            std::mem::swap(&mut self.lines.neurons[i], lines);
            return;
        }
        let sides = [(&mut self.first, &mut other.first), (&mut self.second, &mut other.second)];
        for (side, own) in sides {
            std::mem::swap(&mut side.active[i], &mut own.active[0]);
            std::mem::swap(&mut side.unstable[i], &mut own.unstable[0]);
            std::mem::swap(&mut side.slope[i], &mut own.slope[0]);
            std::mem::swap(&mut side.height[i], &mut own.height[0]);
            std::mem::swap(&mut side.start[i], &mut own.start[0]);
        }
        std::mem::swap(&mut self.fold_first[i], &mut other.fold_first[0]);
        std::mem::swap(&mut self.fold_second[i], &mut other.fold_second[0]);
        std::mem::swap(&mut self.keep[i], &mut other.keep[0]);
        std::mem::swap(&mut self.low_slope[i], &mut other.low_slope[0]);
        std::mem::swap(&mut self.low[i], &mut other.low[0]);
        std::mem::swap(&mut self.high_slope[i], &mut other.high_slope[0]);
        std::mem::swap(&mut self.high[i], &mut other.high[0]);
    }
}

/// Exchanges what a functional has of its own at a step with what is shared there: before it passes, and again behind it.
#[inline(always)]
pub(super) fn exchange<T: Copy>(own: &mut [OwnRelaxation<T>], shared: &mut Relaxation<T>, f: usize, step: usize) {
    for o in own.iter_mut().filter(|o| o.functional == f && o.step == step) {
        shared.exchange(o.index, &mut o.relaxation);
    }
}
