//! Slopes for each functional of back-substitution at functions other than ReLU that have lines of many slopes below or
//! above them through one point ([`crate::curve::Fan`]): leaky ReLUs, clips, and quantisers that cut off at one or both ends.
//!
//! They are chosen as below ReLU ([`super::corner_slopes`]), by where the functional is expected to be least. Below, a line is
//! the steeper the further x is there beyond the point through which all lines go, and above, the further x is in front of it.
//! Where there are no such lines those of [`super::relaxation`] serve, as lines of one slope through what they are at 0.
//!
//! Sound because every slope between the least and the largest one is. The intercept is computed from the slope that was
//! chosen; what that may miss is part of the cost.

use super::columns::Columns;
use super::corner_slopes::{REACH, WIDTH};
use super::phase::Bounds;
use super::relaxation::{LANES, Relaxation, through};
use crate::curve::Fan;
use crate::numeric::vectorised::vectorised;

/// Lines value + slope (x - at), and how the slope is chosen.
#[derive(Debug, Clone, Copy)]
struct Choice {
    at: f64,
    value: f64,
    least: f64,
    most: f64,
    /// The part of the way from the least slope to the largest one for a functional that is least in the middle of the box.
    middle: f64,
    /// By how much it changes with x.
    rate: f64,
}

impl Choice {
    /// One line only.
    fn line(slope: f64, value: f64) -> Self {
        Self { at: 0.0, value, least: slope, most: slope, middle: 0.0, rate: 0.0 }
    }

    /// Lines that are the steeper the larger `sign` x is.
    fn among(fan: &Fan, (l, u): (f64, f64), sign: f64) -> Self {
        let &Fan { at, value, least, most } = fan;
        let once = sign / (WIDTH * (u - l));
        Self { at, value, least, most, middle: 0.5 + (l + u - 2.0 * at) * once, rate: 2.0 * REACH * once }
    }

    /// The slope and the intercept of a line where x is so far from its middle.
    #[inline(always)]
    fn at(&self, x: f64) -> (f64, f64) {
        let share = self.middle + self.rate * x;
        // What is not a number becomes 0.
        let share = if share > 0.0 { share } else { 0.0 };
        let share = if share < 1.0 { share } else { 1.0 };
        let slope = self.least + (self.most - self.least) * share;
        let slope = if slope < self.most { slope } else { self.most };
        (slope, self.value - slope * self.at)
    }
}

/// The lines below and above the functions of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct FanSlopes {
    below: Vec<Choice>,
    above: Vec<Choice>,
    /// Whether a row has lines of many slopes.
    many: Vec<bool>,
    /// The number of such rows.
    count: usize,
}

impl FanSlopes {
    /// Sets them from the bounds before the functions, and what is known there.
    pub fn set(&mut self, bounds: &Bounds, relaxation: &Relaxation) {
        let Relaxation { upper, height, lower, depth, fans, .. } = relaxation;
        let Self { below, above, many, count } = self;
        *count = 0;
        below.clear();
        above.clear();
        many.clear();
        for (j, [from_below, from_above]) in fans.iter().enumerate() {
            let range = (bounds.lower[j], bounds.upper[j]);
            let one = Choice::line(lower[j], depth[j]);
            below.push(from_below.as_ref().map_or(one, |fan| Choice::among(fan, range, 1.0)));
            let one = Choice::line(upper[j], height[j]);
            above.push(from_above.as_ref().map_or(one, |fan| Choice::among(fan, range, -1.0)));
            many.push(from_below.is_some() || from_above.is_some());
            *count += usize::from(many[j]);
        }
    }

    /// The number of rows with lines of many slopes.
    pub fn count(&self) -> usize {
        self.count
    }
}

vectorised! {
    /// Takes functionals from behind the functions of a step to before them, and over the bias: as
    /// [`super::relaxation::relax`], with the line of each functional by its corner.
    pub fn relax_by_fans<'a>(
        coefficients: &'a mut [f64],
        sums: (&'a mut [f64], &'a mut [f64]),
        lines: (&'a FanSlopes, &'a [f64], &'a Columns),
        bias: &'a [f64],
        corners: &'a [f64],
    ) {
        let (constant, cost) = sums;
        let f = constant.len();
        let (FanSlopes { below, above, many, .. }, unit, form) = lines;
        let m = bias.len();
        let (below, above, many, unit) = (&below[..m], &above[..m], &many[..m], &unit[..m]);
        // There are no columns where a form was freed.
        let form = form.from(1);
        let inputs = (form.len() / m.max(1)).min(corners.len() / f);
        for from in (0..f).step_by(LANES) {
            let (mut sum, mut off) = ([0.0; LANES], [0.0; LANES]);
            for (j, row) in coefficients.chunks_exact_mut(f).enumerate().take(m) {
                let (below, above, bias, unit) = (below[j], above[j], bias[j], unit[j]);
                let entries = &mut row[from..from + LANES];
                if !many[j] {
                    // All functionals have the same lines.
                    let lines = (below.at(0.0), above.at(0.0));
                    for (q, entry) in entries.iter_mut().enumerate() {
                        through(entry, lines, (bias, unit), (&mut sum[q], &mut off[q]));
                    }
                    continue;
                }
                let mut x = [0.0; LANES];
                for k in 0..inputs {
                    let (generator, corner) = (form[k * m + j], &corners[k * f + from..][..LANES]);
                    for q in 0..LANES {
                        x[q] += generator * corner[q];
                    }
                }
                for (q, entry) in entries.iter_mut().enumerate() {
                    let lines = (below.at(x[q]), above.at(x[q]));
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

    #[test]
    fn every_line_goes_through_the_point_and_has_a_slope_of_the_fan() {
        let fans = [
            Fan { at: 2.0, value: -0.5, least: 0.0, most: 0.75 },
            Fan { at: -1.5, value: 3.0, least: 0.1, most: 1.0 },
            Fan { at: 0.25, value: 0.0, least: -1.0, most: 2.0 },
        ];
        for fan in fans {
            for sign in [1.0, -1.0] {
                let choice = Choice::among(&fan, (-3.0, 5.0), sign);
                let lines: Vec<(f64, f64)> = (-40..=40).map(|k| choice.at(f64::from(k) / 4.0)).collect();
                for &(slope, shift) in &lines {
                    assert!(fan.least <= slope && slope <= fan.most, "{fan:?}: {slope}");
                    assert!((slope * fan.at + shift - fan.value).abs() < 1e-12, "{fan:?}: {slope} {shift}");
                }
                let ends = [lines[0].0, lines[80].0];
                assert!(sign * (ends[1] - ends[0]) > 0.0, "{fan:?}: {ends:?}");
                let (slope, _) = choice.at(f64::NAN);
                assert!(fan.least <= slope && slope <= fan.most, "{fan:?}: {slope}");
            }
        }
    }
}
