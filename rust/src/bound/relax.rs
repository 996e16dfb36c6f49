//! Linear relaxations of one layer of ReLUs on X, Y and D, from bounds of x, y and d. Those of one network are the
//! triangle relaxation with a free lower slope, as in alpha-CROWN (Xu et al., ICLR 2021); those of the difference
//! follow [VD]'s table of phase pairs ([`crate::domain::relu`]).
//!
//! In the lower bound of a functional p.X + q.Y + s.D a coefficient >= 0 uses a lower relaxation, and a coefficient < 0
//! an upper one:
//! - X of an unstable neuron lies between alpha x, with any alpha in [0, 1], and the chord slope x + height. X of a
//!   stable neuron is x or 0. The same holds of Y.
//! - D of two unstable neurons lies between min(0, d) and max(0, d), and so between their chords `low_slope d + low` and
//!   `high_slope d + high`.
//! - D of two active neurons is d. Where a network is inactive, s is folded into the coefficient of the other one;
//!   where one is active and one is unstable, it is folded into both, since D = X - Y. Where signs are assumed such a D
//!   is kept ([`super::own_relaxations`]).
//!
//! Slopes are rounded, which is sound because any slope in [0, 1] is; intercepts are rounded outward for the slope as
//! rounded. Functions other than ReLU are in [`super::lines`].

use super::lines::Lines;
use crate::domain::intermediate_bounds::LayerBounds;
use crate::domain::phase::{Bounds, Phase};
use crate::domain::relu::{above, below, height};
use crate::network::Curves;
use crate::numeric::real::Real;
use std::ops::Range;

/// The coefficients of every neuron. Masks are 0 or 1, so that loops need no branches.
#[derive(Debug, Clone, Default)]
pub struct Relaxation<T = f64> {
    /// The ReLUs of f1.
    pub first: OneSided<T>,
    /// The ReLUs of f2.
    pub second: OneSided<T>,
    /// 1 where s is added to p.
    pub fold_first: Vec<T>,
    /// 1 where s is subtracted from q.
    pub fold_second: Vec<T>,
    /// 1 where s is kept.
    pub keep: Vec<T>,
    /// The slope in D >= low_slope d + low.
    pub low_slope: Vec<T>,
    /// The intercept in D >= low_slope d + low, rounded down.
    pub low: Vec<T>,
    /// The slope in D <= high_slope d + high.
    pub high_slope: Vec<T>,
    /// The intercept in D <= high_slope d + high, rounded up.
    pub high: Vec<T>,
    /// The largest absolute bound in the layer, by which errors of coefficients are multiplied.
    pub size: f64,
    /// The lines of functions other than ReLU; then all neurons count as kept, and none as unstable.
    pub lines: Lines,
}

/// The relaxations of the ReLUs of one network.
#[derive(Debug, Clone, Default)]
pub struct OneSided<T = f64> {
    /// 1 where the neuron is active.
    pub active: Vec<T>,
    /// 1 where the neuron is unstable.
    pub unstable: Vec<T>,
    /// The slope of the chord; 1 where the neuron is active, 0 where it is inactive.
    pub slope: Vec<T>,
    /// The intercept of the chord, rounded up; 0 where the neuron is stable.
    pub height: Vec<T>,
    /// The lower slope to start from: 1 where the chord's is above 1/2, and 0 elsewhere.
    pub start: Vec<T>,
}

impl OneSided {
    fn set(&mut self, bounds: &Bounds) {
        for v in [&mut self.active, &mut self.unstable, &mut self.slope, &mut self.height, &mut self.start] {
            v.clear();
        }
        for (&l, &u) in bounds.lower.iter().zip(&bounds.upper) {
            let (active, unstable, slope, rise) = match Phase::of(l, u) {
                Phase::Inactive => (0.0, 0.0, 0.0, 0.0),
                Phase::Active => (1.0, 0.0, 1.0, 0.0),
                Phase::Unstable => {
                    let slope = (u / (u - l)).clamp(0.0, 1.0);
                    (0.0, 1.0, slope, height(slope, l, u))
                }
            };
            self.active.push(active);
            self.unstable.push(unstable);
            self.slope.push(slope);
            self.height.push(rise);
            self.start.push(f64::from(u8::from(slope > 0.5)));
        }
    }
}

/// The chords of min(0, d) and of max(0, d) on [l, u], l < u: slope and intercept, rounded down and up.
pub(super) fn chords(l: f64, u: f64) -> [(f64, f64); 2] {
    let (falling, rising) = ((-l / (u - l)).clamp(0.0, 1.0), (u / (u - l)).clamp(0.0, 1.0));
    let low = below(falling, l).min(below(falling, u));
    [(falling, low), (rising, above(rising, l).max(above(rising, u)))]
}

/// A relaxation as slices of one length, so that loops over them run in vector registers.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct RelaxationView<'a, T = f64> {
    pub active1: &'a [T],
    pub unstable1: &'a [T],
    pub slope1: &'a [T],
    pub height1: &'a [T],
    pub active2: &'a [T],
    pub unstable2: &'a [T],
    pub slope2: &'a [T],
    pub height2: &'a [T],
    pub fold_first: &'a [T],
    pub fold_second: &'a [T],
    pub keep: &'a [T],
    pub low_slope: &'a [T],
    pub low: &'a [T],
    pub high_slope: &'a [T],
    pub high: &'a [T],
}

impl<'a, T: Real> RelaxationView<'a, T> {
    /// The same of some neurons.
    #[inline(always)]
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> RelaxationView<'a, T> {
        let of = |v: &'a [T]| &v[range.clone()];
        RelaxationView {
            active1: of(self.active1),
            unstable1: of(self.unstable1),
            slope1: of(self.slope1),
            height1: of(self.height1),
            active2: of(self.active2),
            unstable2: of(self.unstable2),
            slope2: of(self.slope2),
            height2: of(self.height2),
            fold_first: of(self.fold_first),
            fold_second: of(self.fold_second),
            keep: of(self.keep),
            low_slope: of(self.low_slope),
            low: of(self.low),
            high_slope: of(self.high_slope),
            high: of(self.high),
        }
    }
}

impl<T: Real> Relaxation<T> {
    /// The coefficients of the m neurons as slices.
    #[inline(always)]
    #[must_use]
    pub fn view(&self, m: usize) -> RelaxationView<'_, T> {
        RelaxationView {
            active1: &self.first.active[..m],
            unstable1: &self.first.unstable[..m],
            slope1: &self.first.slope[..m],
            height1: &self.first.height[..m],
            active2: &self.second.active[..m],
            unstable2: &self.second.unstable[..m],
            slope2: &self.second.slope[..m],
            height2: &self.second.height[..m],
            fold_first: &self.fold_first[..m],
            fold_second: &self.fold_second[..m],
            keep: &self.keep[..m],
            low_slope: &self.low_slope[..m],
            low: &self.low[..m],
            high_slope: &self.high_slope[..m],
            high: &self.high[..m],
        }
    }

    /// Sets this to the same relaxations in other floats, of all neurons or of these.
    pub fn set_from(&mut self, other: &Relaxation, neurons: Option<&[usize]>) {
        let copy = |to: &mut Vec<T>, from: &[f64]| {
            to.clear();
            match neurons {
                None => to.extend(from.iter().map(|&v| T::of(v))),
                Some(neurons) => to.extend(neurons.iter().map(|&i| T::of(from[i]))),
            }
        };
        for (to, from) in [(&mut self.first, &other.first), (&mut self.second, &other.second)] {
            copy(&mut to.active, &from.active);
            copy(&mut to.unstable, &from.unstable);
            copy(&mut to.slope, &from.slope);
            copy(&mut to.height, &from.height);
            copy(&mut to.start, &from.start);
        }
        copy(&mut self.fold_first, &other.fold_first);
        copy(&mut self.fold_second, &other.fold_second);
        copy(&mut self.keep, &other.keep);
        copy(&mut self.low_slope, &other.low_slope);
        copy(&mut self.low, &other.low);
        copy(&mut self.high_slope, &other.high_slope);
        copy(&mut self.high, &other.high);
        self.lines.clone_from(&other.lines);
        self.lines.forget();
        self.size = other.size;
    }
}

impl Relaxation {
    /// Sets the lines of functions other than ReLU from the bounds of a layer.
    pub fn set_curves(&mut self, curves: [&Curves; 2], bounds: &LayerBounds) {
        let m = bounds.x.lower.len();
        self.lines.set(curves, bounds);
        self.size = self.lines.size;
        let fill = |v: &mut Vec<f64>, value: f64| {
            v.clear();
            v.resize(m, value);
        };
        for side in [&mut self.first, &mut self.second] {
            for v in [&mut side.active, &mut side.unstable, &mut side.slope, &mut side.height] {
                fill(v, 0.0);
            }
            // The lines of the thinnest strip.
            fill(&mut side.start, 0.5);
        }
        // What only ReLU has is empty of meaning here, but views of it have a length.
        let Self { fold_first, fold_second, low_slope, low, high_slope, high, .. } = self;
        for v in [fold_first, fold_second, low_slope, low, high_slope, high] {
            fill(v, 0.0);
        }
        fill(&mut self.keep, 1.0);
    }

    /// Sets the relaxations from the bounds of a layer.
    pub fn set(&mut self, bounds: &LayerBounds) {
        self.first.set(&bounds.x);
        self.second.set(&bounds.y);
        for v in [
            &mut self.fold_first,
            &mut self.fold_second,
            &mut self.keep,
            &mut self.low_slope,
            &mut self.low,
            &mut self.high_slope,
            &mut self.high,
        ] {
            v.clear();
        }
        self.size = 0.0;
        for i in 0..bounds.x.lower.len() {
            let (x, y) =
                (Phase::of(bounds.x.lower[i], bounds.x.upper[i]), Phase::of(bounds.y.lower[i], bounds.y.upper[i]));
            let (l, u) = (bounds.d.lower[i], bounds.d.upper[i]);
            let off = Phase::Inactive;
            let both_active = x == Phase::Active && y == Phase::Active;
            let both_unstable = x == Phase::Unstable && y == Phase::Unstable;
            let keep = both_active || both_unstable;
            self.keep.push(f64::from(u8::from(keep)));
            self.fold_first.push(f64::from(u8::from(!keep && x != off)));
            self.fold_second.push(f64::from(u8::from(!keep && y != off)));
            let (low_slope, low, high_slope, high) = if both_unstable && l < u {
                let [(falling, low), (rising, high)] = chords(l, u);
                (falling, low, rising, high)
            } else {
                // Both active, or a difference known exactly, on which any slope serves; elsewhere unused.
                let slope = f64::from(u8::from(both_active));
                if both_unstable { (0.0, l.min(0.0), 0.0, u.max(0.0)) } else { (slope, 0.0, slope, 0.0) }
            };
            self.low_slope.push(low_slope);
            self.low.push(low);
            self.high_slope.push(high_slope);
            self.high.push(high);
            for b in [&bounds.x, &bounds.y, &bounds.d] {
                self.size = self.size.max(b.lower[i].abs()).max(b.upper[i].abs());
            }
        }
    }
}
