//! Bounds of a step's rows, the phases that follow from them, and the reduced product of the bounds of x, y and d.

use crate::numeric::round::{add_down, add_up, inflate, max_propagating_nan, sub_down, sub_up};
use crate::numeric::vectorised::vectorised;
use serde::{Deserialize, Serialize};

/// What is known about the sign of a ReLU's input; [VD] writes `-`, `+` and `~`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The input is never positive, so that the output is 0.
    Inactive,
    /// The input is never negative, so that the output is the input.
    Active,
    /// The input can have both signs.
    Unstable,
}

impl Phase {
    /// The phase of an input between these bounds. Bounds that are not numbers leave the neuron unstable.
    #[must_use]
    #[inline(always)]
    pub fn of(lower: f64, upper: f64) -> Self {
        if upper <= 0.0 {
            Self::Inactive
        } else if lower >= 0.0 {
            Self::Active
        } else {
            Self::Unstable
        }
    }
}

/// Lower and upper bounds of one quantity over the rows of a step.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Bounds {
    /// Each is at most the true value.
    pub lower: Vec<f64>,
    /// Each is at least the true value.
    pub upper: Vec<f64>,
}

impl Bounds {
    /// Sets the bounds to centre -+ (radius + err), rounded outward ([VD], Prop. "output bounds"). `sums` are the
    /// absolute sums of the rows over `columns` generators, computed in plain rounding; on return they are upper bounds
    /// of the exact sums.
    pub fn set(&mut self, centre: &[f64], sums: &mut [f64], err: &[f64], columns: usize) {
        self.lower.resize(centre.len(), 0.0);
        self.upper.resize(centre.len(), 0.0);
        enclose(&mut self.lower, &mut self.upper, centre, sums, err, columns);
    }

    /// The largest absolute value that quantity i can take; not a number if a bound is not.
    #[must_use]
    pub fn size(&self, i: usize) -> f64 {
        max_propagating_nan(-self.lower[i], self.upper[i])
    }

    /// Whether quantity i can have both signs.
    #[must_use]
    pub fn unstable(&self, i: usize) -> bool {
        self.lower[i] < 0.0 && self.upper[i] > 0.0
    }

    /// Whether every bound is a finite number.
    #[must_use]
    pub fn finite(&self) -> bool {
        let mut zero = 0.0;
        add_zeros(&mut zero, &self.lower, &self.upper);
        zero == 0.0
    }
}

vectorised! {
    /// Adds 0 for every finite number, and NaN for every other one: this needs no branch.
    fn add_zeros<'a>(sum: &'a mut f64, lower: &'a [f64], upper: &'a [f64]) {
        let mut sums = [0.0; 8];
        let (wide_lower, wide_upper) = (lower.chunks_exact(8), upper.chunks_exact(8));
        let rest = wide_lower.remainder().iter().chain(wide_upper.remainder());
        *sum += rest.map(|v| 0.0 * v).sum::<f64>();
        for (l, u) in wide_lower.zip(wide_upper) {
            for k in 0..8 {
                sums[k] += 0.0 * l[k] + 0.0 * u[k];
            }
        }
        *sum += sums.iter().sum::<f64>();
    }
}

vectorised! {
    /// See [`Bounds::set`].
    fn enclose<'a>(
        lower: &'a mut [f64],
        upper: &'a mut [f64],
        centre: &'a [f64],
        sums: &'a mut [f64],
        err: &'a [f64],
        columns: usize,
    ) {
        let m = centre.len();
        let (lower, upper, sums, err) = (&mut lower[..m], &mut upper[..m], &mut sums[..m], &err[..m]);
        for i in 0..m {
            // A known value, such as that of a neuron pruned away, stays exact: outward rounding would make it unstable
            // at 0.
            let known = sums[i] == 0.0 && err[i] == 0.0;
            sums[i] = if sums[i] == 0.0 { 0.0 } else { inflate(sums[i], columns) };
            let radius = add_up(sums[i], err[i]);
            lower[i] = if known { centre[i] } else { sub_down(centre[i], radius) };
            upper[i] = if known { centre[i] } else { add_up(centre[i], radius) };
        }
    }
}

/// The reduced product of three interval domains (Cousot and Cousot, "Systematic design of program analysis
/// frameworks", POPL 1979): the bounds of x, y and d = x - y tighten each other by x = y + d, y = x - d and d = x - y.
/// Every true triple satisfies all three, so intersecting is sound. An intersection that rounding would make empty is
/// not taken.
pub fn reduce(x: &mut Bounds, y: &mut Bounds, d: &mut Bounds) {
    reduce_each(x, y, d);
}

vectorised! {
    fn reduce_each<'a>(x: &'a mut Bounds, y: &'a mut Bounds, d: &'a mut Bounds) {
        let m = x.lower.len();
        let [(xl, xu), (yl, yu), (dl, du)] = [x, y, d].map(|b| (&mut b.lower[..m], &mut b.upper[..m]));
        for i in 0..m {
            narrow(&mut xl[i], &mut xu[i], add_down(yl[i], dl[i]), add_up(yu[i], du[i]));
            narrow(&mut yl[i], &mut yu[i], sub_down(xl[i], du[i]), sub_up(xu[i], dl[i]));
            narrow(&mut dl[i], &mut du[i], sub_down(xl[i], yu[i]), sub_up(xu[i], yl[i]));
        }
    }
}

/// Intersects bounds with others, unless nothing would be left.
#[inline(always)]
fn narrow(lower: &mut f64, upper: &mut f64, other_lower: f64, other_upper: f64) {
    let (low, high) = (lower.max(other_lower), upper.min(other_upper));
    let consistent = low <= high;
    *lower = if consistent { low } else { *lower };
    *upper = if consistent { high } else { *upper };
}
