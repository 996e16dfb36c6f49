//! Continuous piecewise linear functions: ReLU, leaky ReLU, clip, absolute value, and any with finitely many knots.
//!
//! Consecutive segments whose slopes rise make one convex piece, those whose slopes fall a concave one, so ReLU is one
//! piece. Slopes are exact; values at knots accumulate from the first with their rounding counted, and nothing is
//! charged where nothing is rounded (ReLU, clip and the absolute value have no error).

use std::sync::Arc;

use crate::numeric::near::{Near, product, sum, two_sum};
use crate::numeric::round::TINY;

use super::function::{Bend, Function, Piece};

/// Parameters (n, k_1..k_n, s_0..s_n, v_1): knots k_1 < ... < k_n, slope s_0 left of k_1, s_i right of k_i, value v_1 at k_1.
#[derive(Debug, Clone, PartialEq)]
pub struct Pieces {
    knots: Arc<[f64]>,
    /// One more than knots.
    slopes: Arc<[f64]>,
    /// At the knots.
    values: Arc<[Near]>,
    increasing: bool,
}

/// So many knots are looked at one by one.
const FEW: usize = 8;

impl Pieces {
    /// The segment right of x (`right`) or left of it, numbered as its slope.
    #[inline]
    fn segment(&self, x: f64, right: bool) -> usize {
        let left_of_x = |knot: &f64| if right { *knot <= x } else { *knot < x };
        if self.knots.len() <= FEW {
            self.knots.iter().filter(|knot| left_of_x(knot)).count()
        } else {
            self.knots.partition_point(left_of_x)
        }
    }

    /// The knots.
    #[must_use]
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// The slopes of the segments, one more than knots.
    #[must_use]
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// The values at the knots.
    pub(super) fn values(&self) -> &[Near] {
        &self.values
    }
}

/// s (x - k), with what both roundings lose.
#[inline]
fn rise(slope: f64, x: f64, knot: f64) -> Near {
    let (distance, lost) = two_sum(x, -knot);
    let risen = product(slope, distance);
    if lost == 0.0 { risen } else { risen.wider(slope.abs() * lost.abs() + TINY) }
}

impl Function for Pieces {
    const NAME: &'static str = "pieces";

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    fn build(parameters: &[f64]) -> Result<Self, String> {
        let n = *parameters.first().ok_or("it has no parameters, expected the number of its knots first")?;
        if !(1.0..=1e6).contains(&n) || n.fract() != 0.0 {
            return Err(format!("{n} is no number of knots, expected an integer from 1 to 1000000"));
        }
        let n = n as usize;
        let expected = 2 * n + 3;
        if parameters.len() != expected {
            return Err(format!("it has {} parameters, expected {expected} for {n} knots", parameters.len()));
        }
        let (knots, slopes) = (&parameters[1..=n], &parameters[n + 1..2 * n + 2]);
        if let Some(i) = knots.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(format!("knots {} and {} do not increase: {}, {}", i + 1, i + 2, knots[i], knots[i + 1]));
        }
        let mut values = vec![Near::exact(parameters[2 * n + 2])];
        for i in 1..n {
            values.push(sum(values[i - 1], rise(slopes[i], knots[i], knots[i - 1])));
        }
        let increasing = slopes.iter().all(|&slope| slope >= 0.0);
        Ok(Self { knots: knots.into(), slopes: slopes.into(), values: values.into(), increasing })
    }

    #[allow(clippy::cast_precision_loss)]
    fn parameters(&self) -> Vec<f64> {
        let first = [self.knots.len() as f64];
        [&first[..], &self.knots, &self.slopes, &[self.values[0].value]].concat()
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        let segment = self.segment(x, true);
        let base = segment.saturating_sub(1);
        sum(self.values[base], rise(self.slopes[segment], x, self.knots[base]))
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        Near::exact(self.slopes[self.segment(x, false)])
    }

    #[inline]
    fn slope_right(&self, x: f64) -> Near {
        Near::exact(self.slopes[self.segment(x, true)])
    }

    #[inline]
    fn plain_value(&self, x: f64) -> f64 {
        self.plain(x).0
    }

    #[inline]
    fn plain(&self, x: f64) -> (f64, f64) {
        let segment = self.segment(x, true);
        let base = segment.saturating_sub(1);
        let slope = self.slopes[segment];
        (self.values[base].value + slope * (x - self.knots[base]), slope)
    }

    /// As many segments as keep the direction in which the slopes change.
    #[inline]
    fn piece(&self, x: f64) -> Piece {
        let mut last = self.segment(x, true);
        let mut bend = Bend::Straight;
        while let Some(&next) = self.slopes.get(last + 1) {
            let turn = if next > self.slopes[last] {
                Bend::Convex
            } else if next < self.slopes[last] {
                Bend::Concave
            } else {
                bend
            };
            if bend != Bend::Straight && turn != bend {
                break;
            }
            bend = turn;
            last += 1;
        }
        Piece::to(self.knots.get(last).copied().unwrap_or(f64::INFINITY), bend)
    }

    /// On one segment, also of a convex piece of several: nothing is rounded then where slope and line agree.
    #[inline]
    fn straight_on(&self, l: f64, u: f64) -> bool {
        self.segment(l, true) >= self.segment(u, false)
    }

    #[inline]
    fn corners(&self, l: f64, u: f64, mut show: impl FnMut(f64, Near)) -> bool {
        if self.knots.len() > FEW {
            return false;
        }
        for (&knot, &value) in self.knots.iter().zip(&*self.values) {
            if l < knot && knot < u {
                show(knot, value);
            }
        }
        show(l, self.value(l));
        show(u, self.value(u));
        true
    }

    /// Slope s and v - s k of the segment right of x.
    #[inline]
    fn straight(&self, x: f64) -> (Near, Near) {
        let segment = self.segment(x, true);
        let base = segment.saturating_sub(1);
        let slope = self.slopes[segment];
        (Near::exact(slope), sum(self.values[base], -product(slope, self.knots[base])))
    }

    /// The first knot of [a, b] behind which the slope has passed `lam`.
    #[inline]
    fn touch(&self, lam: f64, a: f64, b: f64, rising: bool) -> f64 {
        let passed = |slope: f64| if rising { slope >= lam } else { slope <= lam };
        let mut segment = self.segment(a, true);
        if passed(self.slopes[segment]) {
            return a;
        }
        while let Some(&knot) = self.knots.get(segment) {
            segment += 1;
            if knot >= b {
                break;
            }
            if passed(self.slopes[segment]) {
                return knot;
            }
        }
        b
    }

    fn increasing(&self) -> bool {
        self.increasing
    }
}
