//! The dual of the violation LP, descended inside the core: multipliers within microseconds, from any start.
//!
//! For rows r_1 .. r_m (links, guard, region) with right sides b over n generators, and a functional c with constant
//! c0, the task is to
//!     minimise  F(y) = c0 + b . y + sum_j |c_j + sum_i y_i r_ij|      where y_i >= 0 unless row i is a link,
//! which is convex and piecewise linear in a few unknowns. F has a breakpoint wherever the term of a generator
//! vanishes. The method is that of Barrodale and Roberts for sums of absolute values ("An improved algorithm for
//! discrete l1 linear approximation", SIAM J. Numer. Anal. 1973), an active-set method: up to m breakpoints and sign
//! constraints y_i = 0 are active. A step releases one of them, goes along the line on which the others stay active,
//! passes further breakpoints as long as F still falls, and activates the one where F stops falling. Where F falls
//! along no such line it is least. Where it falls without end, guard and region exclude each other, and the direction
//! of the line shows it.
//!
//! Nothing here is trusted. Every y of the right signs gives a bound, which [`super::certified`] derives anew; a
//! mistake here costs precision only.

use super::{Multipliers, RegionRow, link};
use crate::domain::Output;
use crate::domain::output::GeneratorRow;
use crate::numeric::kernels::add_columns;
use crate::numeric::pair_sums::{dot, total};
use crate::numeric::vectorised;
use crate::property::Guard;

/// A number counts as zero below this share of the sizes of which it was computed.
const NEGLIGIBLE: f64 = 1e-10;

/// A coefficient of a link counts as zero below this multiple of its rounding.
const NOISE: f64 = 64.0;

/// Where a descent stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoppingRule {
    /// The descent stops where the value is well below zero, which excludes a violation.
    Negative,
    /// The descent goes on to the least value.
    Optimum,
}

/// How a descent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescentEnd {
    /// The value is well below zero.
    Negative,
    /// The value is the least one.
    Optimum,
    /// The dual is unbounded: it falls without end along the direction of [`Dual::write_ray`].
    Unbounded,
    /// The given number of steps was taken.
    StepLimit,
}

/// What a direction of descent releases: one element of the active set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Released {
    /// Nothing is released. The direction may be taken both ways.
    Free,
    /// The breakpoint of this generator is released, at rate one.
    Breakpoint(usize),
    /// The sign constraint of this row is released, at rate one.
    SignConstraint(usize),
}

/// One guard's program, and a descent in it.
#[derive(Debug, Default)]
pub struct Dual {
    columns: usize,
    links: usize,
    guards: usize,
    /// Row-major (rows, columns).
    matrix: Vec<f64>,
    /// The right sides b of the rows.
    side: Vec<f64>,
    /// |b_i| + sum_j |r_ij|.
    size: Vec<f64>,
    descent: Descent,
}

/// The state of a descent.
#[derive(Debug, Default)]
struct Descent {
    y: Vec<f64>,
    value: f64,
    /// c_j + sum_i y_i r_ij.
    rest: Vec<f64>,
    /// The sign of each entry of `rest`, as it counts in `slope`; 0 for active breakpoints.
    sign: Vec<f64>,
    /// b_i + sum_j sign_j r_ij.
    slope: Vec<f64>,
    active: Vec<Released>,
    /// Whether the sign constraint of a row is active.
    at_zero: Vec<bool>,
    /// Row-major (rows, rows): direction q releases `active[q]`, upwards at rate one, and keeps all others active.
    directions: Vec<f64>,
    /// The direction of the last step.
    step: Vec<f64>,
    /// By how much `rest` changes along this direction.
    along: Vec<f64>,
    /// How far ahead the breakpoint of each generator and the sign constraint of each row lies along the direction;
    /// infinite if it is not ahead.
    at: Vec<f64>,
    /// By how much the slope of F grows there; infinite at sign constraints.
    weight: Vec<f64>,
    /// The coefficients, in each row, of the breakpoint or sign constraint that becomes active.
    entering: Vec<f64>,
}

impl Dual {
    /// Sets the rows of a box that all its guards share.
    pub fn set_box(&mut self, output: &Output<'_>, row: &mut GeneratorRow) {
        self.columns = output.generators();
        self.links = output.outputs();
        self.guards = 0;
        self.matrix.clear();
        self.side.clear();
        self.size.clear();
        for o in 0..self.links {
            output.row(link(o), 0.0, row);
            // Where f1 and f2 share all their generators with the difference, nothing is left but rounding, and no
            // multiple of it is a gain.
            for number in row.generators.iter_mut().chain(std::iter::once(&mut row.centre)) {
                if number.abs() < NOISE * row.err {
                    *number = 0.0;
                }
            }
            self.push(&row.generators, row.centre, 1.0);
        }
    }

    /// Sets the rows of a guard, or of none, and those of the region's constraints.
    pub fn set_guard(
        &mut self,
        output: &Output<'_>,
        guard: Option<&Guard>,
        region: &[RegionRow],
        row: &mut GeneratorRow,
    ) {
        self.matrix.truncate(self.links * self.columns);
        self.side.truncate(self.links);
        self.size.truncate(self.links);
        for functional in guard.iter().flat_map(|g| &g.rows) {
            output.row(functional.terms.iter().copied(), functional.constant, row);
            self.push(&row.generators, row.centre + row.err, 1.0);
        }
        self.guards = self.side.len() - self.links;
        for r in region {
            self.push(&r.generators, r.slack, -1.0);
        }
    }

    /// Rows of the program.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.side.len()
    }

    fn push(&mut self, generators: &[f64], side: f64, factor: f64) {
        self.matrix.extend(generators.iter().map(|g| factor * g));
        self.matrix.resize(self.matrix.len() + self.columns - generators.len(), 0.0);
        self.side.push(side);
        self.size.push(side.abs() + generators.iter().map(|g| g.abs()).sum::<f64>());
    }

    /// Descends for a functional, from multipliers that were found before or from zero, by at most this number of
    /// steps.
    pub fn descend(
        &mut self,
        objective: &GeneratorRow,
        from: Option<&Multipliers>,
        steps: usize,
        rule: StoppingRule,
    ) -> DescentEnd {
        let y = &mut self.descent.y;
        y.clear();
        match from {
            Some(m) => y.extend(m.link.iter().chain(&m.guard).chain(&m.region)),
            None => y.resize(self.side.len(), 0.0),
        }
        if y.len() != self.side.len() {
            return DescentEnd::StepLimit;
        }
        vectorised::run(Descend { dual: self, objective, steps, rule })
    }

    /// Writes the multipliers of the last descent.
    pub fn write(&self, multipliers: &mut Multipliers) {
        self.split(&self.descent.y, multipliers);
    }

    /// Writes the direction of the last step, after [`DescentEnd::Unbounded`].
    pub fn write_ray(&self, multipliers: &mut Multipliers) {
        self.split(&self.descent.step, multipliers);
    }

    fn split(&self, y: &[f64], multipliers: &mut Multipliers) {
        let (link, rest) = y.split_at(self.links.min(y.len()));
        let (guard, region) = rest.split_at(self.guards.min(rest.len()));
        let positive = |into: &mut Vec<f64>, from: &[f64]| {
            into.clear();
            into.extend(from.iter().map(|v| v.max(0.0)));
        };
        multipliers.link.clear();
        multipliers.link.extend_from_slice(link);
        positive(&mut multipliers.guard, guard);
        positive(&mut multipliers.region, region);
    }

    /// After [`DescentEnd::Optimum`], writes the values of the generators at which the functional is largest to
    /// `point`. Values close to -1 or 1 are set to it: where a guard is met only in a corner of the box, no point
    /// beside the corner will do.
    pub fn write_point(&self, point: &mut Vec<f64>) {
        let d = &self.descent;
        point.clear();
        point.extend_from_slice(&d.sign);
        for (active, direction) in d.active.iter().zip(d.directions.chunks_exact(self.side.len().max(1))) {
            if let Released::Breakpoint(j) = *active {
                let e = (-dot(&d.slope, direction)).clamp(-1.0, 1.0);
                point[j] = if 1.0 - e.abs() < NEGLIGIBLE { e.signum() } else { e };
            }
        }
    }

    #[inline(always)]
    fn run(&mut self, objective: &GeneratorRow, steps: usize, rule: StoppingRule) -> DescentEnd {
        let scale = objective.centre.abs() + objective.generators.iter().map(|g| g.abs()).sum::<f64>();
        let enough = if rule == StoppingRule::Negative { -NEGLIGIBLE * scale } else { f64::NEG_INFINITY };
        self.start(objective);
        for _ in 0..steps {
            if self.descent.value < enough {
                return DescentEnd::Negative;
            }
            let Some((slot, side, slope)) = self.steepest() else { return DescentEnd::Optimum };
            if !self.advance(slot, side, slope) {
                return DescentEnd::Unbounded;
            }
        }
        DescentEnd::StepLimit
    }

    #[inline(always)]
    fn start(&mut self, objective: &GeneratorRow) {
        let (m, d) = (self.side.len(), &mut self.descent);
        d.rest.clone_from(&objective.generators);
        // The matrix by rows is its transpose by columns.
        add_columns(&mut d.rest, &self.matrix, d.y.iter().copied().enumerate());
        d.sign.clear();
        d.sign.extend(d.rest.iter().map(|&v| if v < 0.0 { -1.0 } else { 1.0 }));
        d.value = objective.centre + dot(&self.side, &d.y) + dot(&d.rest, &d.sign);
        d.active.clear();
        d.active.extend(
            (0..m).map(|i| if i >= self.links && d.y[i] <= 0.0 { Released::SignConstraint(i) } else { Released::Free }),
        );
        d.at_zero.clear();
        d.at_zero.extend(d.active.iter().map(|a| *a != Released::Free));
        d.directions.clear();
        d.directions.resize(m * m, 0.0);
        (0..m).for_each(|i| d.directions[i * m + i] = 1.0);
        self.slope();
    }

    /// The direction along which F falls fastest relative to its size, which way it is taken, and the slope; `None` if
    /// F falls nowhere.
    #[inline(always)]
    fn steepest(&self) -> Option<(usize, f64, f64)> {
        let d = &self.descent;
        let mut best = (-NEGLIGIBLE, None);
        for (q, (active, direction)) in
            d.active.iter().zip(d.directions.chunks_exact(self.side.len().max(1))).enumerate()
        {
            let upwards = dot(&d.slope, direction);
            let (side, slope) = match active {
                Released::SignConstraint(_) => (1.0, upwards),
                Released::Breakpoint(_) => (if upwards > 0.0 { -1.0 } else { 1.0 }, 1.0 - upwards.abs()),
                Released::Free => (if upwards > 0.0 { -1.0 } else { 1.0 }, -upwards.abs()),
            };
            if slope >= 0.0 {
                continue;
            }
            let size: f64 = direction.iter().zip(&self.size).map(|(p, s)| p.abs() * s).sum();
            let relative = slope / size;
            if relative < best.0 {
                best = (relative, Some((q, side, slope)));
            }
        }
        best.1
    }

    /// Goes along a direction to where F stops falling. Returns false if F never does.
    #[inline(always)]
    fn advance(&mut self, slot: usize, side: f64, slope: f64) -> bool {
        let (m, n, links) = (self.side.len(), self.columns, self.links);
        let d = &mut self.descent;
        d.step.clear();
        d.step.extend(d.directions[slot * m..(slot + 1) * m].iter().map(|p| side * p));
        d.along.clear();
        d.along.resize(n, 0.0);
        add_columns(&mut d.along, &self.matrix, d.step.iter().copied().enumerate());
        let size: f64 = d.step.iter().zip(&self.size).map(|(s, size)| s.abs() * size).sum();
        d.at.resize(n + m, f64::INFINITY);
        d.weight.resize(n + m, 0.0);
        let ahead = d.at[..n].iter_mut().zip(&mut d.weight[..n]);
        for ((at, weight), ((&v, &sign), &rest)) in ahead.zip(d.along.iter().zip(&d.sign).zip(&d.rest)) {
            // No branch predictor can guess whether a breakpoint lies ahead, so both cases are computed.
            let falls = v * sign < -NEGLIGIBLE * size;
            *at = if falls { (rest / v).abs() } else { f64::INFINITY };
            *weight = if falls { 2.0 * v.abs() } else { 0.0 };
        }
        for i in 0..m {
            let falls = i >= links && d.step[i] < 0.0 && !d.at_zero[i];
            d.at[n + i] = if falls { d.y[i] / -d.step[i] } else { f64::INFINITY };
            d.weight[n + i] = if falls { f64::INFINITY } else { 0.0 };
        }
        let Some((at, which)) = turning_point(&d.at, &d.weight, slope) else { return false };
        // Beyond a breakpoint the slope of F is larger by its weight, for the rest of the way.
        let passed = |t: f64, weight: f64| if t < at { weight * (at - t) } else { 0.0 };
        d.value += slope * at + total(&d.at, &d.weight, passed);
        d.sign.iter_mut().zip(&d.at).for_each(|(sign, t)| *sign = if *t < at { -*sign } else { *sign });
        add_multiple(&mut d.y, at, &d.step);
        add_multiple(&mut d.rest, at, &d.along);
        match d.active[slot] {
            Released::Breakpoint(j) => d.sign[j] = side,
            Released::SignConstraint(i) => d.at_zero[i] = false,
            Released::Free => {}
        }
        d.entering.clear();
        let what = if which < n {
            d.entering.extend(self.matrix.iter().skip(which).step_by(n));
            (d.sign[which], d.rest[which]) = (0.0, 0.0);
            Released::Breakpoint(which)
        } else {
            d.entering.extend((0..m).map(|i| if n + i == which { 1.0 } else { 0.0 }));
            (d.at_zero[which - n], d.y[which - n]) = (true, 0.0);
            Released::SignConstraint(which - n)
        };
        self.slope();
        self.activate(slot, what);
        true
    }

    /// Makes `entering` active in place of what direction `slot` released: from now on this direction releases it, and
    /// the others keep it active.
    #[inline(always)]
    fn activate(&mut self, slot: usize, released: Released) {
        let (m, d) = (self.side.len(), &mut self.descent);
        d.active[slot] = released;
        let (before, rest) = d.directions.split_at_mut(slot * m);
        let (own, after) = rest.split_at_mut(m);
        let rate = dot(own, &d.entering);
        for p in own.iter_mut() {
            *p /= rate;
        }
        for other in before.chunks_exact_mut(m).chain(after.chunks_exact_mut(m)) {
            let rate = dot(other, &d.entering);
            add_multiple(other, -rate, own);
        }
    }

    /// Computes the slope of F, without active breakpoints.
    #[inline(always)]
    fn slope(&mut self) {
        let d = &mut self.descent;
        d.slope.clone_from(&self.side);
        for (s, row) in d.slope.iter_mut().zip(self.matrix.chunks_exact(self.columns.max(1))) {
            *s += dot(row, &d.sign);
        }
    }
}

/// One call of [`Dual::descend`].
struct Descend<'a> {
    dual: &'a mut Dual,
    objective: &'a GeneratorRow,
    steps: usize,
    rule: StoppingRule,
}

impl vectorised::Task for Descend<'_> {
    type Output = DescentEnd;

    #[inline(always)]
    fn run(self) -> DescentEnd {
        self.dual.run(self.objective, self.steps, self.rule)
    }
}

/// Where a slope that starts negative and grows by `weight` at each `at` stops being negative, and which of the entries
/// there has the largest weight.
#[inline(always)]
fn turning_point(at: &[f64], weight: &[f64], slope: f64) -> Option<(f64, usize)> {
    let slope_behind = |t: f64| slope + total(at, weight, |at, weight| if at <= t { weight } else { 0.0 });
    // What lies outside of low..high stays there, so each entry is looked at once; few of them move the ends.
    let (mut low, mut high) = (-1.0, f64::INFINITY);
    for &t in at {
        if low < t && t < high {
            if slope_behind(t) < 0.0 {
                low = t;
            } else {
                high = t;
            }
        }
    }
    let mut heaviest = (0.0, None);
    for (which, (&t, &weight)) in at.iter().zip(weight).enumerate() {
        if t == high && weight > heaviest.0 {
            heaviest = (weight, Some((high, which)));
        }
    }
    heaviest.1
}

/// out += factor * row.
#[inline(always)]
fn add_multiple(out: &mut [f64], factor: f64, row: &[f64]) {
    if factor != 0.0 {
        out.iter_mut().zip(row).for_each(|(o, r)| *o += factor * r);
    }
}
