//! Bounds of x, y and d of a step by interval arithmetic, from those of the steps that it reads: interval bound
//! propagation (Gowal et al., "Scalable verified training for provably robust image classification", ICCV 2019), here
//! with the difference d = A1 D + (A1 - A2) Y + (b1 - b2) beside both networks. It takes one product with a vector for
//! each network, and no generators: a start for networks whose zonotopes do not fit in memory, and what
//! [`crate::bound::intermediate`] refines step by step. A propagation of zonotopes asks for it where a function is not
//! defined on all of a range: the variance of a normalisation is a mean of squares, which no interval of it forgets.
//!
//! # Rounding
//! With c and r the centre and the radius of what is read, rounded so that c -+ r covers it, a sum of k products and a
//! bias is off by gamma(k + 1) (|A| |c| + |b|) and by what underflows, and its range has the radius |A| r. So
//!     |A| (r + gamma |c|) + E (|c| + r) + gamma |b| + e,
//! inflated for its own rounding, covers it, where E and e are the errors of weights and bias, as in
//! [`crate::network::eval`]. For d there are twice as many products, and A1 - A2 is rounded once.
//! In shared rows d = A1 D exactly, and what is uncertain about A1 acts on D alone.
//!
//! Sums of terms with one sign are met with their bias ([`signs`]). Rows whose weights are all 0 are known exactly, and so are shared rows where all D that are read are 0. Numbers that
//! leave the range of binary64 give infinite bounds, or NaN, which an intersection passes over.

use super::intermediate_bounds::{IntermediateBounds, LayerBounds};
use super::phase::{Bounds, Phase};
use super::signs;
use super::strip::Rise;
use crate::curve::Curve;
use crate::network::{Curves, Origin, Pair, Step, Tile};
use crate::numeric::round::{U, add_up, gamma, inflate, sub_down, sub_up};

/// Ranges of numbers as centres and radii.
#[derive(Debug, Default)]
struct Ranges {
    centre: Vec<f64>,
    radius: Vec<f64>,
}

impl Ranges {
    fn of(ends: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut ranges = Self::default();
        for (l, u) in ends {
            let c = if l == u { l } else { l + 0.5 * (u - l) };
            ranges.centre.push(c);
            // The differences are rounded: the factor and the smallest normal number make up for it.
            let radius = (u - c).max(c - l) * (1.0 + 4.0 * U) + f64::MIN_POSITIVE;
            ranges.radius.push(if l == u { 0.0 } else { radius });
        }
        ranges
    }

    fn zero(&self) -> bool {
        self.centre.iter().chain(&self.radius).all(|v| *v == 0.0)
    }
}

/// What an origin gives: X, Y and D behind its function.
fn read(pair: &Pair, bounds: &IntermediateBounds, origin: Origin) -> [Ranges; 3] {
    let Origin::Step(j) = origin else {
        let own = || Ranges::of(bounds.lower.iter().copied().zip(bounds.upper.iter().copied()));
        return [own(), own(), Ranges::of(std::iter::repeat_n((0.0, 0.0), bounds.lower.len()))];
    };
    let LayerBounds { x, y, d } = &bounds.layers[j];
    let ends = |b: &Bounds, i: usize| (b.lower[i], b.upper[i]);
    let rows = 0..x.lower.len();
    let all = |b: &Bounds| Ranges::of(rows.clone().map(|i| ends(b, i)));
    if pair.function(j).is_identity() {
        return [all(x), all(y), all(d)];
    }
    if let Some(curves) = pair.curves(j) {
        let behind =
            |curves: &Curves, b: &Bounds| Ranges::of(rows.clone().map(|i| curves.of(i).range(b.lower[i], b.upper[i])));
        let of_difference = |i: usize| difference(curves.map(|c| c.of(i)), ends(x, i), ends(y, i), ends(d, i));
        return [behind(curves[0], x), behind(curves[1], y), Ranges::of(rows.clone().map(of_difference))];
    }
    let behind = |b: &Bounds, i: usize| (b.lower[i].max(0.0), b.upper[i].max(0.0));
    let of_difference = |i: usize| {
        let (dl, du) = ends(d, i);
        let phases = [x, y].map(|b| Phase::of(b.lower[i], b.upper[i]));
        if phases == [Phase::Active; 2] {
            return (dl, du);
        }
        // D lies between 0 and d, and it is X - Y.
        let ((xl, xu), (yl, yu)) = (behind(x, i), behind(y, i));
        let exact = xl == xu && yl == yu && xl == yl;
        let (l, u) = if exact { (0.0, 0.0) } else { (sub_down(xl, yu), sub_up(xu, yl)) };
        let (low, high) = (dl.min(0.0).max(l), du.max(0.0).min(u));
        if low <= high { (low, high) } else { (dl.min(0.0), du.max(0.0)) }
    };
    [
        Ranges::of(rows.clone().map(|i| behind(x, i))),
        Ranges::of(rows.clone().map(|i| behind(y, i))),
        Ranges::of(rows.clone().map(of_difference)),
    ]
}

/// The interval of D behind a function other than ReLU: X - Y, and d times a slope.
fn difference(curves: [&Curve; 2], x: (f64, f64), y: (f64, f64), d: (f64, f64)) -> (f64, f64) {
    if d == (0.0, 0.0) && curves[0] == curves[1] {
        return d;
    }
    Rise::of(curves, (x, y)).strip_around(curves, 0.0, (x, y, d))
}

/// A sum on its way: its value at the centres, and how far it may be from it.
struct Sum {
    value: Vec<f64>,
    off: Vec<f64>,
    rounding: f64,
    terms: usize,
    sizes: Vec<f64>,
}

impl Sum {
    fn new(bias: &[f64], terms: usize) -> Self {
        let rounding = gamma(terms + 3);
        let off = bias.iter().map(|b| rounding * b.abs() + f64::MIN_POSITIVE).collect();
        Self { value: bias.to_vec(), off, rounding, terms, sizes: Vec::new() }
    }

    fn add(&mut self, tile: &Tile, ranges: &Ranges) {
        tile.add_product(&mut self.value, &tile.weight, &ranges.centre);
        let ends = ranges.centre.iter().zip(&ranges.radius);
        self.sizes.clear();
        self.sizes.extend(ends.map(|(c, r)| r + self.rounding * c.abs()));
        tile.add_absolute_product(&mut self.off, &tile.weight, &self.sizes);
    }

    /// Adds what errors of weights can do, in the rows that are `counted`.
    fn add_errors(&mut self, tile: &Tile, ranges: &Ranges, counted: impl Fn(usize) -> bool) {
        let Some(errors) = &tile.weight_error else { return };
        let mut off = vec![0.0; self.off.len()];
        self.sizes.clear();
        self.sizes.extend(ranges.centre.iter().zip(&ranges.radius).map(|(c, r)| c.abs() + r));
        tile.add_product(&mut off, errors, &self.sizes);
        let rows = self.off.iter_mut().zip(off).enumerate();
        rows.filter(|(i, _)| counted(*i)).for_each(|(_, (to, of))| *to += of);
    }

    /// The bounds; `exact` gives rows that are known without any rounding.
    fn bounds(self, exact: impl Fn(usize) -> Option<f64>) -> Bounds {
        let mut bounds = Bounds::default();
        // Per product one sum for the errors of the weights and one for |A|, each of a product, in two networks; before
        // and after them a handful of operations.
        let operations = 4 * self.terms + 12;
        for (i, (value, off)) in self.value.iter().zip(&self.off).enumerate() {
            let radius = inflate(*off, operations);
            let (l, u) = exact(i).map_or((sub_down(*value, radius), add_up(*value, radius)), |v| (v, v));
            bounds.lower.push(l);
            bounds.upper.push(u);
        }
        bounds
    }
}

/// A bias that is known exactly, in a row without weights.
fn constant(step: &Step, i: usize) -> Option<f64> {
    let exact = step.zero_rows[i] && step.bias_error.as_ref().is_none_or(|e| e[i] == 0.0);
    exact.then(|| step.bias[i])
}

/// The bounds of a step from those of the steps before it.
#[must_use]
pub fn of_step(pair: &Pair, step: usize, bounds: &IntermediateBounds) -> LayerBounds {
    let (a, b, d) = (&pair.first[step], &pair.second[step], &pair.difference[step]);
    let mut origins: Vec<(Origin, [Ranges; 3])> = Vec::new();
    for origin in a.terms.iter().chain(&b.terms).map(|t| t.origin) {
        if origins.iter().all(|(o, _)| *o != origin) {
            origins.push((origin, read(pair, bounds, origin)));
        }
    }
    let none = [Ranges::default(), Ranges::default(), Ranges::default()];
    let of = |origin: Origin| origins.iter().find(|(o, _)| *o == origin).map_or(&none, |(_, ranges)| ranges);
    let own = |step: &Step, which: usize| {
        let mut sum = Sum::new(&step.bias, step.taps());
        for term in &step.terms {
            sum.add(&term.tile, &of(term.origin)[which]);
            sum.add_errors(&term.tile, &of(term.origin)[which], |_| true);
        }
        if let Some(errors) = &step.bias_error {
            sum.off.iter_mut().zip(errors).for_each(|(m, e)| *m += e);
        }
        sum.bounds(|i| constant(step, i))
    };
    let (mut x, mut y) = (own(a, 0), own(b, 1));
    signs::meet(pair, 0, step, bounds, &mut x);
    signs::meet(pair, 1, step, bounds, &mut y);
    let mut sum = Sum::new(&d.bias, 2 * d.terms.iter().map(|t| t.tile.taps).sum::<usize>());
    let apart = |i: usize| !d.shared[i];
    for term in &d.terms {
        let ranges = of(term.origin);
        if let (Some(i), Origin::Step(_)) = (term.first, term.origin) {
            sum.add(&a.terms[i].tile, &ranges[2]);
        }
        if !term.zero {
            sum.add(&term.tile, &ranges[1]);
        }
    }
    for (which, step) in [(0, a), (1, b)] {
        for term in &step.terms {
            sum.add_errors(&term.tile, &of(term.origin)[which], apart);
            if which == 0 {
                sum.add_errors(&term.tile, &of(term.origin)[2], |i| d.shared[i]);
            }
        }
        for (i, e) in step.bias_error.iter().flatten().enumerate().filter(|(i, _)| apart(*i)) {
            sum.off[i] += e;
        }
    }
    let still = origins.iter().all(|(_, ranges)| ranges[2].zero());
    let d = sum.bounds(|i| {
        let same = match (constant(a, i), constant(b, i)) {
            (Some(first), Some(second)) => first == second,
            _ => d.shared[i] && (still || a.zero_rows[i]),
        };
        same.then_some(0.0)
    });
    LayerBounds { x, y, d }
}

/// Whether a function of a step is not defined, or not finite, on all that its rows may be.
#[must_use]
pub fn leaves_domain(pair: &Pair, step: usize, x: &Bounds, y: &Bounds) -> bool {
    let undefined = |curves: &Curves, b: &Bounds| {
        let mut ranges = b.lower.iter().zip(&b.upper).enumerate().map(|(i, (l, u))| curves.of(i).range(*l, *u));
        ranges.any(|(l, u)| !(l.is_finite() && u.is_finite()))
    };
    pair.curves(step).is_some_and(|[first, second]| undefined(first, x) || undefined(second, y))
}

/// Whether intervals show that every function of both networks is defined on the whole box lower <= x <= upper.
#[must_use]
pub fn is_defined(pair: &Pair, lower: &[f64], upper: &[f64]) -> bool {
    let is_partial = |curves: &Curves| curves.kinds().iter().any(Curve::is_partial);
    let partial: Vec<usize> =
        (0..pair.depth()).filter(|&s| pair.curves(s).is_some_and(|both| both.into_iter().any(is_partial))).collect();
    if partial.is_empty() {
        return true;
    }
    let bounds = enclose(pair, lower, upper);
    partial.into_iter().all(|s| !leaves_domain(pair, s, &bounds.layers[s].x, &bounds.layers[s].y))
}

/// Bounds of all steps on the box lower <= x <= upper.
#[must_use]
pub fn enclose(pair: &Pair, lower: &[f64], upper: &[f64]) -> IntermediateBounds {
    let mut bounds = IntermediateBounds { lower: lower.to_vec(), upper: upper.to_vec(), ..Default::default() };
    for step in 0..pair.depth() {
        let mut known = of_step(pair, step, &bounds);
        for b in [&mut known.x, &mut known.y, &mut known.d] {
            b.lower.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = f64::NEG_INFINITY);
            b.upper.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = f64::INFINITY);
        }
        bounds.layers.push(known);
    }
    bounds
}
