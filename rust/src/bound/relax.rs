//! Linear relaxations of one layer of ReLUs on X, Y and D, from bounds of x, y and d.
//!
//! For the lower bound of a functional p.X + q.Y + s.D:
//! - X, unstable: coefficient >= 0 uses X >= alpha x with alpha in [0, 1] free; < 0 uses X <= slope x + height, the chord. Stable: X = x or 0. Likewise Y.
//! - D, both unstable: coefficient >= 0 uses D >= low_slope d + low, < 0 uses D <= high_slope d + high: chords of min(0, d) and max(0, d), between which D lies.
//! - D, both active: D = d. One network inactive: s is folded into the other's coefficient. One active, one unstable: folded into both, D = X - Y.
//!
//! Slopes are rounded, which any slope in [0, 1] survives; intercepts are rounded outward for the slope as rounded.

use crate::domain::intermediate_bounds::LayerBounds;
use crate::domain::phase::{Bounds, Phase};
use crate::domain::relu::{above, below, height};

/// Coefficients per neuron; masks are 0 or 1, so that loops need no branches.
#[derive(Debug, Clone, Default)]
pub struct Relaxation {
    /// f1.
    pub first: OneSided,
    /// f2.
    pub second: OneSided,
    /// s is added to p here.
    pub fold_first: Vec<f64>,
    /// s is subtracted from q here.
    pub fold_second: Vec<f64>,
    /// s is kept here.
    pub keep: Vec<f64>,
    /// D >= low_slope d + low.
    pub low_slope: Vec<f64>,
    /// See `low_slope`.
    pub low: Vec<f64>,
    /// D <= high_slope d + high.
    pub high_slope: Vec<f64>,
    /// See `high_slope`.
    pub high: Vec<f64>,
    /// Largest absolute bound in the layer: what rounding of a coefficient can be worth.
    pub size: f64,
}

/// Relaxation of one network's ReLUs.
#[derive(Debug, Clone, Default)]
pub struct OneSided {
    /// 1 where active.
    pub active: Vec<f64>,
    /// 1 where unstable.
    pub unstable: Vec<f64>,
    /// Slope of the upper chord; 1 active, 0 inactive.
    pub slope: Vec<f64>,
    /// Intercept of the upper chord; 0 where stable.
    pub height: Vec<f64>,
}

impl OneSided {
    fn set(&mut self, bounds: &Bounds) {
        for v in [&mut self.active, &mut self.unstable, &mut self.slope, &mut self.height] {
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

impl Relaxation {
    /// The m neurons' coefficients as slices.
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

    /// From what is known about a layer.
    pub fn set(&mut self, known: &LayerBounds) {
        self.first.set(&known.x);
        self.second.set(&known.y);
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
        for i in 0..known.x.lower.len() {
            let (x, y) = (Phase::of(known.x.lower[i], known.x.upper[i]), Phase::of(known.y.lower[i], known.y.upper[i]));
            let (l, u) = (known.d.lower[i], known.d.upper[i]);
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
            for b in [&known.x, &known.y, &known.d] {
                self.size = self.size.max(b.lower[i].abs()).max(b.upper[i].abs());
            }
        }
    }
}
