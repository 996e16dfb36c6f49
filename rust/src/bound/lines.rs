//! Linear bounds of functions other than ReLU on X, Y and D, from bounds of x, y and d, and one functional through a
//! step of them.
//!
//! A line of any slope lam below f on [l, u] is lam x + min (f - lam x), and one above it lam x + max (f - lam x)
//! ([`crate::curve::Curve::offset`]). On each side there are three: the slopes of the ends, at which the line touches
//! the function near l or near u if it can, and between them the slope of the thinnest strip. A multiplier alpha in
//! [0, 1] blends two neighbours; a blend of valid lines is valid. It is the free slope of alpha-CROWN (Xu et al., ICLR
//! 2021), there for ReLU and in auto_LiRPA for functions that are bent like sigmoids.
//!
//! D has lines of its own, or planes in d and y ([`super::difference_lines`]); the part in y joins the coefficient of y. Where one of the
//! networks has a constant there, s is folded into the coefficients of X and Y, since D = X - Y.
//!
//! # Rounding
//! A coefficient p becomes p (s0 + a (s1 - s0)), and the constant grows by p (c0 + a (c1 - c0)). The blend is rounded
//! three times, each time by at most U (|s0| + |s1 - s0|) <= 3 U steep, where steep is the largest absolute slope, and so
//! are the intercepts. [`Lines::size`] is 1 + steep times the largest absolute value of x, y, d, X, Y, D and all
//! intercepts, so one unit of |p| costs at most 9 U size for the slope, as much for the intercept, and U size for the
//! product, beyond what the link costs ([`super::rounding_cost`]). The part in y of a plane is one product and one sum more: 3 U
//! size. [`LINE_UNITS`] covers all of it.
//!
//! Lines are kept in f64 alone; coefficients in singles are widened where they meet them.

pub use super::difference_lines::AffineBound;
use super::difference_lines::difference;
use super::functional::{Triple, TripleMut};
use crate::curve::Curve;
use crate::domain::intermediate_bounds::LayerBounds;
use crate::domain::phase::Bounds;
use crate::network::Curves;
use crate::numeric::real::Real;
use crate::numeric::round::max_propagating_nan;

/// Units of roundoff of one pass, relative to the absolute sum of all coefficients and links: those of
/// [`super::rounding_cost::RELU_UNITS`] and the twenty-two above.
pub(super) const LINE_UNITS: f64 = 32.0;

/// Three lines on one side of a function, from the one that touches it near the lower end of its range to the one that
/// touches it near the upper end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Side {
    slopes: [f64; 3],
    cuts: [f64; 3],
}

/// A line, and how it changes with alpha.
#[derive(Clone, Copy)]
struct Blend {
    slope: f64,
    cut: f64,
    slope_rise: f64,
    cut_rise: f64,
}

impl Side {
    #[inline(always)]
    fn at(&self, alpha: f64) -> Blend {
        let [s, c] = [&self.slopes, &self.cuts];
        let k = usize::from(alpha > 0.5);
        let share = 2.0 * alpha - if alpha > 0.5 { 1.0 } else { 0.0 };
        let (slope_rise, cut_rise) = (s[k + 1] - s[k], c[k + 1] - c[k]);
        Blend {
            slope: s[k] + share * slope_rise,
            cut: c[k] + share * cut_rise,
            slope_rise: 2.0 * slope_rise,
            cut_rise: 2.0 * cut_rise,
        }
    }

    fn steepest(&self) -> f64 {
        self.slopes.iter().fold(0.0, |a, s| max_propagating_nan(a, s.abs()))
    }
}

/// The lines of one neuron.
#[derive(Debug, Clone, Copy, Default)]
pub struct Neuron {
    /// Below and above X, then Y.
    sides: [[Side; 2]; 2],
    /// The line or plane below D.
    low: AffineBound,
    /// The one above D.
    high: AffineBound,
    /// Whether s is folded into the coefficients of X and Y.
    fold: bool,
    /// The alpha of each of `sides` that a functional without multipliers has.
    nearest: [[f64; 2]; 2],
}

/// The lines of a step.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// The lines of every neuron.
    pub neurons: Vec<Neuron>,
    /// The largest absolute values of X, Y and D of every neuron.
    pub behind: [Vec<f64>; 3],
    /// One more than the largest slope, times the largest absolute value before or behind the functions.
    pub size: f64,
    /// Whether planes in d and y are not taken: what a certificate is made from knows lines alone.
    pub without_planes: bool,
    /// The bits of the bounds of x, y and d that the lines of each neuron were made from, with the functions of one step of one
    /// pair; none where there are no lines yet.
    made_from: Vec<Option<[u64; 6]>>,
}

impl Lines {
    /// Sets the lines from the bounds of a step.
    pub fn set(&mut self, curves: [&Curves; 2], bounds: &LayerBounds) {
        self.set_each(|i| curves.map(|c| c.of(i)), bounds);
    }

    /// Forgets what the lines were made from, as those of another step or pair.
    pub(super) fn forget(&mut self) {
        self.made_from.clear();
    }

    /// The same from the functions of each neuron.
    pub(super) fn set_each<'c>(&mut self, curves: impl Fn(usize) -> [&'c Curve; 2], bounds: &LayerBounds) {
        let m = bounds.x.lower.len();
        if self.made_from.len() != m {
            self.made_from = vec![None; m];
            self.neurons.resize(m, Neuron::default());
            self.behind.iter_mut().for_each(|list| list.resize(m, 0.0));
        }
        let (mut steep, mut largest) = (0.0f64, 0.0f64);
        let ends = |b: &Bounds, i: usize| (b.lower[i], b.upper[i]);
        let size = |(l, u): (f64, f64)| max_propagating_nan(l.abs(), u.abs());
        for i in 0..m {
            let (x, y, d) = (ends(&bounds.x, i), ends(&bounds.y, i), ends(&bounds.d, i));
            let key = Some([x.0, x.1, y.0, y.1, d.0, d.1].map(f64::to_bits));
            // Of one box many violations are bounded, and functions take long: what is there already is not made again.
            if self.made_from[i] != key {
                let both = curves(i);
                let (after_x, after_y) = (size(both[0].range(x.0, x.1)), size(both[1].range(y.0, y.1)));
                let after = [after_x, after_y, 2.0 * max_propagating_nan(after_x, after_y)];
                self.behind.iter_mut().zip(after).for_each(|(list, value)| list[i] = value);
                self.neurons[i] = Neuron::of(both, [x, y, d], !self.without_planes);
                self.made_from[i] = key;
            }
            let (neuron, after_d) = (&self.neurons[i], self.behind[2][i]);
            for value in [size(x), size(y), size(d), after_d] {
                largest = max_propagating_nan(largest, value);
            }
            let cuts = neuron.sides.iter().flatten().flat_map(|side| side.cuts);
            for cut in cuts.chain([neuron.low.cut, neuron.high.cut]) {
                largest = max_propagating_nan(largest, cut.abs());
            }
            let slopes = neuron.sides.iter().flatten().map(Side::steepest);
            let of_difference = [neuron.low, neuron.high].into_iter().flat_map(|line| [line.of_d, line.of_y]);
            for slope in slopes.chain(of_difference.map(f64::abs)) {
                steep = max_propagating_nan(steep, slope);
            }
        }
        self.size = (1.0 + steep) * largest * (1.0 + 4.0 * f64::EPSILON);
    }
}

impl Neuron {
    /// How far apart what is below D and what is above it are at most.
    fn gap_of_difference(&self, bounds: &LayerBounds, i: usize) -> f64 {
        let most = |slope: f64, b: &Bounds| (slope * b.lower[i]).max(slope * b.upper[i]);
        let (of_d, of_y) = (self.high.of_d - self.low.of_d, self.high.of_y - self.low.of_y);
        most(of_d, &bounds.d) + most(of_y, &bounds.y) + self.high.cut - self.low.cut
    }

    /// The lines of one neuron with these functions, on these ranges of x, y and d.
    #[must_use]
    pub fn of(curves: [&Curve; 2], ranges: [(f64, f64); 3], planes: bool) -> Self {
        let [x, y, d] = ranges;
        let same = d == (0.0, 0.0) && curves[0] == curves[1];
        let fold = !same && (x.0 == x.1 || y.0 == y.1);
        let [low, high] = if fold || same { [AffineBound::default(); 2] } else { difference(curves, ranges, planes) };
        let sides = [sides(curves[0], x), sides(curves[1], y)];
        let nearest = [0, 1].map(|k| nearest(curves[k], &sides[k], [x, y][k]));
        Self { sides, low, high, fold, nearest }
    }

    /// The alpha of the nearest line of f1 (0) or f2 (1) on the side that a coefficient takes.
    #[inline(always)]
    pub(super) fn nearest(&self, which: usize, coefficient: f64) -> f64 {
        self.nearest[which][usize::from(coefficient < 0.0)]
    }

    /// Whether a nearest line is not that of the strip.
    pub(super) fn starts_elsewhere(&self) -> bool {
        self.nearest != [[0.5; 2]; 2]
    }

    /// The line or plane below D, and the one above it.
    #[must_use]
    pub fn of_difference(&self) -> [AffineBound; 2] {
        [self.low, self.high]
    }

    /// How far apart the lines of X, of Y and of D are at most: what relaxing them may cost for one unit of a
    /// coefficient.
    #[must_use]
    pub fn gaps(&self, bounds: &LayerBounds, i: usize) -> [f64; 3] {
        let gap = |(below, above): ((f64, f64), (f64, f64)), (l, u): (f64, f64)| {
            let at = |x: f64| (above.0 - below.0) * x + above.1 - below.1;
            at(l).max(at(u))
        };
        let of = |which: usize, b: &Bounds| {
            let line = |side: &Side| (side.slopes[1], side.cuts[1]);
            let [below, above] = &self.sides[which];
            gap((line(below), line(above)), (b.lower[i], b.upper[i]))
        };
        let of_difference = self.gap_of_difference(bounds, i);
        [of(0, &bounds.x), of(1, &bounds.y), if self.fold { 0.0 } else { of_difference }]
    }
}

/// The lines below and above a function.
fn sides(curve: &Curve, (l, u): (f64, f64)) -> [Side; 2] {
    if l == u {
        let value = curve.offset(0.0, l, u);
        return [value.low, value.high].map(|cut| Side { slopes: [0.0; 3], cuts: [cut; 3] });
    }
    let of_slope = |slope: f64| (slope, curve.offset(slope, l, u));
    let (best, offset) = of_slope(curve.line(l, u));
    // A line with the slope of an end touches there if the function stays on its side; elsewhere it lies further off than
    // the line of the chord that touches, and the chord's slope is better.
    let (at_l, at_u) = (curve.value(l).value, curve.value(u).value);
    let (first, last) = (of_slope(curve.slope_right(l).value), of_slope(curve.slope_left(u).value));
    let chord = of_slope((at_u - at_l) / (u - l));
    let mut made = [Side::default(); 2];
    for (which, side) in made.iter_mut().enumerate() {
        side.slopes = [best; 3];
        side.cuts = [if which == 0 { offset.low } else { offset.high }; 3];
        for (place, of_end, end, value) in [(0, first, l, at_l), (2, last, u, at_u)] {
            for (slope, o) in [of_end, chord] {
                let cut = if which == 0 { o.low } else { o.high };
                let off = (value - (slope * end + cut)).abs();
                let strip = (value - (best * end + side.cuts[1])).abs();
                // Taken where it comes closer to the function at its end than the strip does.
                if slope.is_finite() && cut.is_finite() && off < 0.5 * strip {
                    (side.slopes[place], side.cuts[place]) = (slope, cut);
                    break;
                }
            }
        }
    }
    made
}

/// For each side the alpha of that of its three lines which is nearest to a piecewise linear function in the middle of its range.
/// Beside a knot it is one of those of the ends that leaves the smallest area, as for ReLU (DeepPoly); of curves, which the
/// thinnest strip touches between the ends, it is the line of that.
fn nearest(curve: &Curve, sides: &[Side; 2], (l, u): (f64, f64)) -> [f64; 2] {
    if !curve.is_piecewise_linear() {
        return [0.5; 2];
    }
    let middle = 0.5 * l + 0.5 * u;
    [(0, 1.0), (1, -1.0)].map(|(which, upwards)| {
        let at = |place: usize| upwards * (sides[which].slopes[place] * middle + sides[which].cuts[place]);
        let (first, strip, last) = (at(0), at(1), at(2));
        if first > strip && first >= last {
            0.0
        } else if last > strip {
            1.0
        } else {
            0.5
        }
    })
}

/// What the lines add to a functional's constant, the absolute size of that, and the absolute sum of all coefficients
/// for the rounding bound; with `kept` set to the coefficients of X, Y and D behind the function, whose signs choose the
/// lines, and (p, q, s) to those before it. Without slopes the lines are the nearest ones.
#[inline(always)]
pub(super) fn line_column<T: Real>(
    (p, q, s): TripleMut<'_, T>,
    (kept_p, kept_q, kept_s): TripleMut<'_, T>,
    (link, alpha1, alpha2): Triple<'_, T>,
    neurons: &[Neuron],
) -> (f64, f64, f64) {
    let (mut constant, mut magnitude, mut norm) = (0.0, 0.0, 0.0);
    for (i, neuron) in neurons.iter().enumerate() {
        let (of_p, of_q, of_s, of_link) = (p[i].wide(), q[i].wide(), s[i].wide(), link[i].wide());
        let (x, y, z) = after_link((of_p, of_q, of_s), of_link, neuron);
        norm += x.abs() + y.abs() + 2.0 * of_s.abs() + 3.0 * of_link.abs() + of_p.abs() + of_q.abs();
        (kept_p[i], kept_q[i], kept_s[i]) = (T::of(x), T::of(y), T::of(z));
        let line = |which: usize, coefficient: f64, given: &[T]| {
            let alpha = given.get(i).map_or_else(|| neuron.nearest(which, coefficient), |alpha| alpha.wide());
            neuron.sides[which][usize::from(coefficient < 0.0)].at(alpha)
        };
        let (of_x, of_y) = (line(0, x, alpha1), line(1, y, alpha2));
        let of_d = if z < 0.0 { &neuron.high } else { &neuron.low };
        // Summed up for a neuron first, so that a term passes at most m + 2 sums, fewer than the account of constants allows.
        let (cx, cy, cz) = (x * of_x.cut, y * of_y.cut, z * of_d.cut);
        constant += cx + cy + cz;
        magnitude += cx.abs() + cy.abs() + cz.abs();
        let behind_y = y * of_y.slope + z * of_d.of_y;
        (p[i], q[i], s[i]) = (T::of(x * of_x.slope), T::of(behind_y), T::of(z * of_d.of_d));
    }
    (constant, magnitude, norm)
}

/// Coefficients of X, Y and D after link and fold.
#[inline(always)]
fn after_link((p, q, s): (f64, f64, f64), g: f64, neuron: &Neuron) -> (f64, f64, f64) {
    let d = s - g;
    if neuron.fold { (p + g + d, q - g - d, 0.0) } else { (p + g, q - g, d) }
}

/// The surrogate of one functional through a step of functions, forwards, and the gradients of its multipliers.
#[inline(always)]
pub(super) fn surrogate_lines<T: Real>(
    (x, y, d): TripleMut<'_, T>,
    (kept_p, kept_q, kept_s): Triple<'_, T>,
    (alpha1, alpha2): (&[T], &[T]),
    (gradient1, gradient2): (&mut [T], &mut [T]),
    neurons: &[Neuron],
) {
    for (i, neuron) in neurons.iter().enumerate() {
        let (p, q, s) = (kept_p[i].wide(), kept_q[i].wide(), kept_s[i].wide());
        let (before_x, before_y) = (x[i].wide(), y[i].wide());
        let of_x = neuron.sides[0][usize::from(p < 0.0)].at(alpha1[i].wide());
        let of_y = neuron.sides[1][usize::from(q < 0.0)].at(alpha2[i].wide());
        gradient1[i] = T::of(p * (of_x.slope_rise * before_x + of_x.cut_rise));
        gradient2[i] = T::of(q * (of_y.slope_rise * before_y + of_y.cut_rise));
        let (after_x, after_y) = (of_x.slope * before_x + of_x.cut, of_y.slope * before_y + of_y.cut);
        let of_d = if s < 0.0 { &neuron.high } else { &neuron.low };
        let after_d = of_d.of_d * d[i].wide() + of_d.of_y * before_y + of_d.cut;
        (x[i], y[i]) = (T::of(after_x), T::of(after_y));
        d[i] = T::of(if neuron.fold { after_x - after_y } else { after_d });
    }
}
