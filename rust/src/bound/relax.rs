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
//!   where one is active and one is unstable, it is folded into both, since D = X - Y.
//!
//! Slopes are rounded, which is sound because any slope in [0, 1] is; intercepts are rounded outward for the slope as
//! rounded. Functions other than ReLU are in [`super::lines`].

use super::lines::Lines;
use crate::domain::intermediate_bounds::LayerBounds;
use crate::domain::phase::{Bounds, Phase};
use crate::domain::relu::{above, below, height};
use crate::network::Curves;
use std::ops::Range;

/// The coefficients of every neuron. Masks are 0 or 1, so that loops need no branches.
#[derive(Debug, Clone, Default)]
pub struct Relaxation {
    /// The ReLUs of f1.
    pub first: OneSided,
    /// The ReLUs of f2.
    pub second: OneSided,
    /// 1 where s is added to p.
    pub fold_first: Vec<f64>,
    /// 1 where s is subtracted from q.
    pub fold_second: Vec<f64>,
    /// 1 where s is kept.
    pub keep: Vec<f64>,
    /// The slope in D >= low_slope d + low.
    pub low_slope: Vec<f64>,
    /// The intercept in D >= low_slope d + low, rounded down.
    pub low: Vec<f64>,
    /// The slope in D <= high_slope d + high.
    pub high_slope: Vec<f64>,
    /// The intercept in D <= high_slope d + high, rounded up.
    pub high: Vec<f64>,
    /// The largest absolute bound in the layer, by which errors of coefficients are multiplied.
    pub size: f64,
    /// The lines of functions other than ReLU; then all neurons count as kept, and none as unstable.
    pub lines: Lines,
}

/// The relaxations of the ReLUs of one network.
#[derive(Debug, Clone, Default)]
pub struct OneSided {
    /// 1 where the neuron is active.
    pub active: Vec<f64>,
    /// 1 where the neuron is unstable.
    pub unstable: Vec<f64>,
    /// The slope of the chord; 1 where the neuron is active, 0 where it is inactive.
    pub slope: Vec<f64>,
    /// The intercept of the chord, rounded up; 0 where the neuron is stable.
    pub height: Vec<f64>,
    /// The lower slope to start from: 1 where the chord's is above 1/2, and 0 elsewhere.
    pub start: Vec<f64>,
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

/// A relaxation as slices of one length, so that loops over them run in vector registers.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct RelaxationView<'a> {
    pub active1: &'a [f64],
    pub unstable1: &'a [f64],
    pub slope1: &'a [f64],
    pub height1: &'a [f64],
    pub active2: &'a [f64],
    pub unstable2: &'a [f64],
    pub slope2: &'a [f64],
    pub height2: &'a [f64],
    pub fold_first: &'a [f64],
    pub fold_second: &'a [f64],
    pub keep: &'a [f64],
    pub low_slope: &'a [f64],
    pub low: &'a [f64],
    pub high_slope: &'a [f64],
    pub high: &'a [f64],
}

impl<'a> RelaxationView<'a> {
    /// The same of some neurons.
    #[inline(always)]
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> RelaxationView<'a> {
        let of = |v: &'a [f64]| &v[range.clone()];
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

impl Relaxation {
    /// The coefficients of the m neurons as slices.
    #[inline(always)]
    #[must_use]
    pub fn view(&self, m: usize) -> RelaxationView<'_> {
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
                let (falling, rising) = ((-l / (u - l)).clamp(0.0, 1.0), (u / (u - l)).clamp(0.0, 1.0));
                let low = below(falling, l).min(below(falling, u));
                (falling, low, rising, above(rising, l).max(above(rising, u)))
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
