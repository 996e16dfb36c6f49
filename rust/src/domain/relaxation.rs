//! What functionals of one network meet at a hidden step on their way down ([`super::back_substitution`], which says why
//! it is sound): the ranges of the values behind the function, the lines above and below it, and what the affine part
//! costs, row by row.

use super::affine::Extent;
use super::phase::Bounds;
use super::transformer::Transformer;
use crate::curve::{Curve, Fan};
use crate::network::{Function, Step};
use crate::numeric::kernels::absolute_sum;
use crate::numeric::round::{TINY, U, add_up, sub_down};
use crate::numeric::vectorised::vectorised;

/// So many functionals at a time go through a step neuron by neuron.
pub(super) const LANES: usize = 8;

/// What functionals of one network meet at a hidden step on their way down: the ranges of the values behind its
/// function, the relaxation of the function, and what its affine part costs.
#[derive(Debug, Clone, Default)]
pub(super) struct Relaxation {
    /// The least value of every neuron behind the function.
    pub least: Vec<f64>,
    /// The largest one.
    pub most: Vec<f64>,
    /// The slope of the bound from above.
    pub(super) upper: Vec<f64>,
    /// What the bound from above is at 0.
    pub(super) height: Vec<f64>,
    /// The slope of the bound from below.
    pub(super) lower: Vec<f64>,
    /// What the bound from below is at 0; of ReLU 0.
    pub(super) depth: Vec<f64>,
    /// Lines of many slopes below and above, of functions other than ReLU where they are wanted.
    pub(super) fans: Vec<[Option<Fan>; 2]>,
    /// What rounding and uncertain weights cost per unit of a coefficient.
    pub(super) cost: Vec<f64>,
    /// What underflow can cost a functional.
    pub underflow: f64,
}

impl Relaxation {
    /// Sets it for a step of m rows. `share` is what part of an error radius a unit of a coefficient costs, `rounding` the
    /// relative error of a term, and `sizes` the sum of the largest absolute values that enter. Lines of many slopes are
    /// listed if `fans` asks for them.
    pub fn set(
        &mut self,
        step: &Step,
        (bounds, extent, transformer): (&Bounds, &Extent, &Transformer),
        (share, rounding): (f64, f64),
        (sizes, fans): (f64, bool),
    ) {
        let m = step.rows;
        self.fans.clear();
        let Self { least, most, upper, height, lower, depth, cost, .. } = &mut *self;
        for v in [least, most, upper, height, lower, depth, cost] {
            v.resize(m, 0.0);
        }
        let rates = (share, rounding);
        if step.function.is_relu() {
            set_relu(self, transformer, bounds, (&step.bias, &extent.err), rates);
        } else {
            self.set_each(step, (bounds, extent, transformer), rates, fans);
        }
        let largest = absolute_sum(&bounds.lower) + absolute_sum(&bounds.upper);
        // For each row a product with a slope, two that add to the constant, and those with its weights.
        #[allow(clippy::cast_precision_loss)]
        let rows = m as f64;
        self.underflow = TINY * (rows * sizes + largest + 2.0 * rows);
    }

    /// The number of rows at which the lines of ReLU differ.
    pub fn unstable(&self) -> usize {
        self.height.iter().filter(|&&height| height != 0.0).count()
    }

    /// Sets the ranges, lines and costs row by row.
    fn set_each(
        &mut self,
        step: &Step,
        (bounds, extent, transformer): (&Bounds, &Extent, &Transformer),
        (share, rounding): (f64, f64),
        fans: bool,
    ) {
        for j in 0..step.rows {
            let (l, u) = (bounds.lower[j], bounds.upper[j]);
            let of = Lines::of(&step.function, j, (l, u), transformer);
            let curve = step.function.curves().filter(|_| fans).map(|curves| curves.of(j));
            let through = curve.map_or([None; 2], |curve| curve.fans(l, u));
            (self.least[j], self.most[j]) = of.range;
            (self.lower[j], self.depth[j]) = of.below;
            (self.upper[j], self.height[j]) = of.above;
            let before = U * l.abs().max(u.abs()) + rounding * step.bias[j].abs() + share * extent.err[j];
            self.cost[j] = through.iter().flatten().fold(of.cost(before, rounding), |cost, fan| {
                let of_fan = cost_of_fan(fan, before, rounding);
                if of_fan > cost { of_fan } else { cost }
            });
            if fans {
                self.fans.push(through);
            }
        }
    }
}

/// What a unit of a coefficient costs at lines of many slopes. The intercept of one of them is computed from the slope that
/// is chosen, by a product and a difference, and enters the constant by a product like others: twice the error of a term
/// covers these, and [`TINY`] the product that underflows.
fn cost_of_fan(fan: &Fan, before: f64, rounding: f64) -> f64 {
    let steep = fan.least.abs().max(fan.most.abs());
    steep.max(1.0) * before + 2.0 * rounding * (fan.value.abs() + steep * fan.at.abs()) + TINY
}

/// The range of one neuron behind its function, and the lines below and above that, each a slope and an intercept.
struct Lines {
    range: (f64, f64),
    below: (f64, f64),
    above: (f64, f64),
}

impl Lines {
    /// What a unit of a coefficient costs, where so much is lost `before` the function and `rounding` is the relative
    /// error of a term. Nothing goes on to where both lines are level.
    #[inline(always)]
    fn cost(&self, before: f64, rounding: f64) -> f64 {
        let steep = self.below.0.abs().max(self.above.0.abs());
        let shift = rounding * self.below.1.abs().max(self.above.1.abs());
        if steep == 0.0 { shift } else { steep.max(1.0) * before + shift }
    }

    /// Those of ReLU on [l, u], with the slope and the fresh generator of the zonotope's transformer.
    #[inline(always)]
    fn of_relu((l, u): (f64, f64), slope: f64, fresh: f64) -> Self {
        let height = 2.0 * fresh;
        let steep = if slope > 0.5 { 1.0 } else { 0.0 };
        let below = if height == 0.0 { slope } else { steep };
        Self { range: (l.max(0.0), u.max(0.0)), below: (below, 0.0), above: (slope, height) }
    }

    /// Those of a row whose values before the function lie in [l, u].
    fn of(function: &Function, row: usize, (l, u): (f64, f64), transformer: &Transformer) -> Self {
        let slope = transformer.slope[row];
        match function {
            Function::Identity => Self { range: (l, u), below: (1.0, 0.0), above: (1.0, 0.0) },
            Function::Relu => Self::of_relu((l, u), slope, transformer.fresh[row]),
            Function::Curves(curves) => Self::of_curve(curves.of(row), (l, u), transformer, row),
        }
    }

    /// What the transformer says of the same range is not asked for again.
    fn of_curve(curve: &Curve, (l, u): (f64, f64), transformer: &Transformer, row: usize) -> Self {
        let (slope, shift) = (transformer.slope[row], transformer.shift[row]);
        let (fresh, loose) = (transformer.fresh[row], transformer.loose[row]);
        if (slope, shift, fresh, loose) == (1.0, 0.0, 0.0, 0.0) {
            return Self { range: (l, u), below: (1.0, 0.0), above: (1.0, 0.0) };
        }
        if (slope, fresh, loose) == (0.0, 0.0, 0.0) && shift.is_finite() {
            return Self { range: (shift, shift), below: (0.0, shift), above: (0.0, shift) };
        }
        let half = if loose == 0.0 { fresh } else { add_up(fresh, loose) };
        let strip = (sub_down(shift, half), add_up(shift, half));
        let level = curve.offset(0.0, l, u);
        let range = (level.low, level.high);
        let middle = 0.5 * l + 0.5 * u;
        let known = strip.0.is_finite() && strip.1.is_finite();
        let (slope, strip) = if known { (slope, strip) } else { (0.0, range) };
        let (mut below, mut above) = ((slope, strip.0), (slope, strip.1));
        for end in [curve.climb(l), curve.climb(u)] {
            if !end.is_finite() || end == slope {
                continue;
            }
            let offset = if end == 0.0 { level } else { curve.offset(end, l, u) };
            let at = |(slope, cut): (f64, f64)| slope * middle + cut;
            // A comparison with what is not a number fails, and the strip's line stays.
            if at((end, offset.low)) > at(below) {
                below = (end, offset.low);
            }
            if at((end, offset.high)) < at(above) {
                above = (end, offset.high);
            }
        }
        Self { range, below, above }
    }
}

vectorised! {
    /// See [`Relaxation::set_each`], of ReLU. `rows` are the biases and the error radii.
    fn set_relu<'a>(
        relaxation: &'a mut Relaxation,
        transformer: &'a Transformer,
        bounds: &'a Bounds,
        rows: (&'a [f64], &'a [f64]),
        rates: (f64, f64),
    ) {
        let Relaxation { least, most, upper, height, lower, depth, cost, .. } = relaxation;
        let m = least.len();
        let [least, most, upper] = [least, most, upper].map(|v| &mut v[..m]);
        let [height, lower, depth, cost] = [height, lower, depth, cost].map(|v| &mut v[..m]);
        let [from, to, bias] = [&bounds.lower[..m], &bounds.upper[..m], &rows.0[..m]];
        let [err, slope, fresh] = [&rows.1[..m], &transformer.slope[..m], &transformer.fresh[..m]];
        for j in 0..m {
            let (l, u) = (from[j], to[j]);
            let of = Lines::of_relu((l, u), slope[j], fresh[j]);
            ((least[j], most[j]), (lower[j], depth[j]), (upper[j], height[j])) = (of.range, of.below, of.above);
            let before = U * l.abs().max(u.abs()) + rates.1 * bias[j].abs() + rates.0 * err[j];
            cost[j] = of.cost(before, rates.1);
        }
    }
}

/// Takes a coefficient from behind a function to before it, by the line below it or the one above it, and adds to the constant and
/// to the cost.
#[inline(always)]
pub(super) fn through(
    entry: &mut f64,
    (below, above): ((f64, f64), (f64, f64)),
    (bias, unit): (f64, f64),
    (sum, off): (&mut f64, &mut f64),
) {
    let a = *entry;
    let (slope, shift) = if a < 0.0 { above } else { below };
    let t = a * slope;
    *entry = t;
    *sum += t * bias + a * shift;
    *off += a.abs() * unit;
}

vectorised! {
    /// Takes functionals from behind the function of a step to before it, and over the bias.
    pub fn relax<'a>(
        coefficients: &'a mut [f64],
        sums: (&'a mut [f64], &'a mut [f64]),
        relaxation: &'a Relaxation,
        bias: &'a [f64],
    ) {
        let (constant, cost) = sums;
        let f = constant.len();
        let Relaxation { upper, height, lower, depth, cost: unit, .. } = relaxation;
        let m = bias.len();
        let (upper, height, lower, depth, unit) = (&upper[..m], &height[..m], &lower[..m], &depth[..m], &unit[..m]);
        for from in (0..f).step_by(LANES) {
            let (mut sum, mut off) = ([0.0; LANES], [0.0; LANES]);
            for (j, row) in coefficients.chunks_exact_mut(f).enumerate().take(m) {
                let lines = ((lower[j], depth[j]), (upper[j], height[j]));
                let (bias, unit) = (bias[j], unit[j]);
                for (q, entry) in row[from..from + LANES].iter_mut().enumerate() {
                    through(entry, lines, (bias, unit), (&mut sum[q], &mut off[q]));
                }
            }
            constant[from..].iter_mut().zip(sum).for_each(|(v, sum)| *v += sum);
            cost[from..].iter_mut().zip(off).for_each(|(v, off)| *v += off);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::network::Curves;
    use std::sync::Arc;

    #[test]
    fn lines_from_the_strip_of_a_transformer_hold() {
        let of = |name: &str, parameters: &[f64]| Curve::new(name, parameters).unwrap();
        let quantiser = |high: f64| of("quantiser", &[0.125, 0.0, 0.0, high, 0.125, 0.0, 0.0, 0.0]);
        let functions = [
            of("pieces", &[1.0, 0.0, 0.0, 1.0, 0.0]),
            quantiser(255.0),
            quantiser(3.0),
            of("sigmoid", &[]),
            of("sign", &[]),
        ];
        let ranges = [(-2.0, -1.0), (-1.0, 2.0), (0.25, 3.0), (1.0, 1.0), (0.3, 0.31), (-700.0, 900.0)];
        for curve in functions {
            for (l, u) in ranges {
                let function = Function::Curves(Arc::new(Curves::new(vec![curve.clone()], 1, None).unwrap()));
                let (mut bounds, mut transformer) = (Bounds::default(), Transformer::default());
                (bounds.lower, bounds.upper) = (vec![l], vec![u]);
                transformer.set_curves(function.curves().unwrap(), &bounds, None);
                let Lines { range, below, above } = Lines::of(&function, 0, (l, u), &transformer);
                for k in 0..=1000 {
                    let x = l + (u - l) * f64::from(k) / 1000.0;
                    let value = curve.value(x);
                    // What floats lose in a line at x.
                    let lost = |slope: f64| 4.0 * U * (slope * x).abs() + 4.0 * U * value.value.abs();
                    assert!(range.0 <= value.high() && value.low() <= range.1, "{curve:?} on {l} .. {u}");
                    assert!(below.0 * x + below.1 <= value.high() + lost(below.0), "{curve:?} at {x} of {l} .. {u}");
                    assert!(above.0 * x + above.1 >= value.low() - lost(above.0), "{curve:?} at {x} of {l} .. {u}");
                }
            }
        }
    }
}
