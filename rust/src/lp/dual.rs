//! The violation LP's dual, descended on the spot: multipliers in microseconds, from any start.
//!
//! For rows r_1 .. r_m (links, guard, region) with sides b over n generators, and a functional c with constant c0, it is to
//!     minimise  F(y) = c0 + b . y + sum_j |c_j + sum_i y_i r_ij|      where y_i >= 0 unless row i is a link,
//! convex and piecewise linear in a handful of unknowns. It has a kink wherever the term of a generator vanishes, and a wall at y_i = 0. Barrodale and
//! Roberts' method for sums of absolute values: up to m kinks and walls are held; a step lets go of one, along the line that keeps the others, and passes
//! further kinks as long as F still falls; the one where it turns is held instead. Nothing falls any more: the least. It falls for ever: guard and
//! region exclude each other, and the line's direction shows it.
//!
//! Nothing here is trusted. Every y of the right signs gives a bound, and [`super::certified`] derives it anew; a slip costs precision only.

use super::{Multipliers, RegionRow, link};
use crate::domain::Output;
use crate::domain::output::GeneratorRow;
use crate::numeric::kernels::add_columns;
use crate::numeric::vectorised;
use crate::property::Guard;

/// What counts as nothing, relative to the sizes that a number was made of.
const NOTHING: f64 = 1e-10;

/// What counts as nothing in a link, relative to its rounding.
const NOISE: f64 = 64.0;

/// How far a descent is to go.
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

/// What a direction of descent leaves, or may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ActiveTerm {
    /// Nothing: it may go both ways.
    Free,
    /// The kink of a generator, at rate one.
    Breakpoint(usize),
    /// The wall of a row, at rate one.
    SignConstraint(usize),
}

/// One guard's program, and a descent in it.
#[derive(Debug, Default)]
pub struct Dual {
    columns: usize,
    links: usize,
    guards: usize,
    /// GeneratorRow-major (rows, columns).
    matrix: Vec<f64>,
    /// b.
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
    /// Its sign, as counted in `slope`; 0 for kinks that are held.
    sign: Vec<f64>,
    /// b_i + sum_j sign_j r_ij.
    slope: Vec<f64>,
    held: Vec<ActiveTerm>,
    /// Per row, whether its wall is held.
    walled: Vec<bool>,
    /// (rows, rows): direction q lets go of `held[q]`, upwards at rate one, and keeps all others.
    directions: Vec<f64>,
    /// The last step's direction.
    step: Vec<f64>,
    /// What `rest` changes by along it.
    along: Vec<f64>,
    /// How far along the kink of each generator and the wall of each row lies; infinite if it is not ahead.
    at: Vec<f64>,
    /// By how much F's slope grows there; infinite at walls.
    weight: Vec<f64>,
    /// What each row has of the kink or wall that is to be held.
    entering: Vec<f64>,
}

impl Dual {
    /// Takes up a box: the rows that all its guards share.
    pub fn set_box(&mut self, output: &Output<'_>, row: &mut GeneratorRow) {
        self.columns = output.generators();
        self.links = output.outputs();
        self.guards = 0;
        self.matrix.clear();
        self.side.clear();
        self.size.clear();
        for o in 0..self.links {
            output.row(link(o), 0.0, row);
            // Where f1 and f2 share all their generators with the difference, nothing is left but rounding, and no multiple of it is a gain.
            for number in row.generators.iter_mut().chain(std::iter::once(&mut row.centre)) {
                if number.abs() < NOISE * row.err {
                    *number = 0.0;
                }
            }
            self.push(&row.generators, row.centre, 1.0);
        }
    }

    /// Takes up a guard, or none, with the constraints of the region.
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
        for combination in guard.iter().flat_map(|g| &g.rows) {
            output.row(combination.terms.iter().copied(), combination.constant, row);
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

    /// Descends for a functional, from multipliers that served elsewhere or from zero, by at most so many steps.
    pub fn descend(
        &mut self,
        objective: &GeneratorRow,
        from: Option<&Multipliers>,
        steps: usize,
        until: StoppingRule,
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
        vectorised::run(Whole { dual: self, objective, steps, until })
    }

    /// The multipliers of the last descent.
    pub fn write(&self, multipliers: &mut Multipliers) {
        self.split(&self.descent.y, multipliers);
    }

    /// The direction of the last step, after [`DescentEnd::Unbounded`].
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

    /// After [`DescentEnd::Optimum`]: the generators where the functional is largest, into `point`. Next to an end they are at it: where a guard is met in
    /// a corner alone, nothing beside the corner will do.
    pub fn write_point(&self, point: &mut Vec<f64>) {
        let d = &self.descent;
        point.clear();
        point.extend_from_slice(&d.sign);
        for (held, direction) in d.held.iter().zip(d.directions.chunks_exact(self.side.len().max(1))) {
            if let ActiveTerm::Breakpoint(j) = *held {
                let e = (-dot(&d.slope, direction)).clamp(-1.0, 1.0);
                point[j] = if 1.0 - e.abs() < NOTHING { e.signum() } else { e };
            }
        }
    }

    #[inline(always)]
    fn run(&mut self, objective: &GeneratorRow, steps: usize, until: StoppingRule) -> DescentEnd {
        let scale = objective.centre.abs() + objective.generators.iter().map(|g| g.abs()).sum::<f64>();
        let enough = if until == StoppingRule::Negative { -NOTHING * scale } else { f64::NEG_INFINITY };
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
        // By rows it is the transpose by columns.
        add_columns(&mut d.rest, &self.matrix, d.y.iter().copied().enumerate());
        d.sign.clear();
        d.sign.extend(d.rest.iter().map(|&v| if v < 0.0 { -1.0 } else { 1.0 }));
        d.value = objective.centre + dot(&self.side, &d.y) + dot(&d.rest, &d.sign);
        d.held.clear();
        d.held.extend(
            (0..m).map(
                |i| if i >= self.links && d.y[i] <= 0.0 { ActiveTerm::SignConstraint(i) } else { ActiveTerm::Free },
            ),
        );
        d.walled.clear();
        d.walled.extend(d.held.iter().map(|h| *h != ActiveTerm::Free));
        d.directions.clear();
        d.directions.resize(m * m, 0.0);
        (0..m).for_each(|i| d.directions[i * m + i] = 1.0);
        self.slope();
    }

    /// The direction along which F falls fastest for its size, which way, and how fast; `None` if it falls nowhere.
    #[inline(always)]
    fn steepest(&self) -> Option<(usize, f64, f64)> {
        let d = &self.descent;
        let mut best = (-NOTHING, None);
        for (q, (held, direction)) in d.held.iter().zip(d.directions.chunks_exact(self.side.len().max(1))).enumerate() {
            let upwards = dot(&d.slope, direction);
            let (side, slope) = match held {
                ActiveTerm::SignConstraint(_) => (1.0, upwards),
                ActiveTerm::Breakpoint(_) => (if upwards > 0.0 { -1.0 } else { 1.0 }, 1.0 - upwards.abs()),
                ActiveTerm::Free => (if upwards > 0.0 { -1.0 } else { 1.0 }, -upwards.abs()),
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

    /// Goes along a direction to where F stops falling; false if it never does.
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
            // Whether a kink lies ahead is as good as random: no branch.
            let falls = v * sign < -NOTHING * size;
            *at = if falls { (rest / v).abs() } else { f64::INFINITY };
            *weight = if falls { 2.0 * v.abs() } else { 0.0 };
        }
        for i in 0..m {
            let falls = i >= links && d.step[i] < 0.0 && !d.walled[i];
            d.at[n + i] = if falls { d.y[i] / -d.step[i] } else { f64::INFINITY };
            d.weight[n + i] = if falls { f64::INFINITY } else { 0.0 };
        }
        let Some((at, which)) = turn(&d.at, &d.weight, slope) else { return false };
        // Past a kink F grows faster by its weight, for the rest of the way.
        let passed = |t: f64, weight: f64| if t < at { weight * (at - t) } else { 0.0 };
        d.value += slope * at + total(&d.at, &d.weight, passed);
        d.sign.iter_mut().zip(&d.at).for_each(|(sign, t)| *sign = if *t < at { -*sign } else { *sign });
        add_multiple(&mut d.y, at, &d.step);
        add_multiple(&mut d.rest, at, &d.along);
        match d.held[slot] {
            ActiveTerm::Breakpoint(j) => d.sign[j] = side,
            ActiveTerm::SignConstraint(i) => d.walled[i] = false,
            ActiveTerm::Free => {}
        }
        d.entering.clear();
        let what = if which < n {
            d.entering.extend(self.matrix.iter().skip(which).step_by(n));
            (d.sign[which], d.rest[which]) = (0.0, 0.0);
            ActiveTerm::Breakpoint(which)
        } else {
            d.entering.extend((0..m).map(|i| if n + i == which { 1.0 } else { 0.0 }));
            (d.walled[which - n], d.y[which - n]) = (true, 0.0);
            ActiveTerm::SignConstraint(which - n)
        };
        self.slope();
        self.hold(slot, what);
        true
    }

    /// Direction `slot` lets go of `what` from now on, and the others keep it.
    #[inline(always)]
    fn hold(&mut self, slot: usize, what: ActiveTerm) {
        let (m, d) = (self.side.len(), &mut self.descent);
        d.held[slot] = what;
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

    /// F's slope, kinks that are held left out.
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
struct Whole<'a> {
    dual: &'a mut Dual,
    objective: &'a GeneratorRow,
    steps: usize,
    until: StoppingRule,
}

impl vectorised::Task for Whole<'_> {
    type Output = DescentEnd;

    #[inline(always)]
    fn run(self) -> DescentEnd {
        self.dual.run(self.objective, self.steps, self.until)
    }
}

/// Where a slope that starts negative and grows by `weight` at each `at` stops being negative, and the heaviest that lies there.
#[inline(always)]
fn turn(at: &[f64], weight: &[f64], slope: f64) -> Option<(f64, usize)> {
    let until = |t: f64| slope + total(at, weight, |at, weight| if at <= t { weight } else { 0.0 });
    // What lies outside of low..high stays there, so one look at each is enough; a handful changes the ends.
    let (mut low, mut high) = (-1.0, f64::INFINITY);
    for &t in at {
        if low < t && t < high {
            if until(t) < 0.0 {
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

/// Sum of products.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    total(a, b, |x, y| x * y)
}

/// Sum of a term over pairs, in lanes so that it runs in vector registers.
#[inline(always)]
fn total(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 16;
    let n = a.len().min(b.len());
    let (left, right) = (a[..n].chunks_exact(LANES), b[..n].chunks_exact(LANES));
    let rest = left.remainder().iter().zip(right.remainder());
    let mut sums = [0.0; LANES];
    for (x, y) in left.zip(right) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += term(*x, *y);
        }
    }
    let mut sum: f64 = rest.map(|(x, y)| term(*x, *y)).sum();
    if n >= LANES {
        sum += sums.iter().sum::<f64>();
    }
    sum
}
