//! The free multipliers of a batch of functionals, and the steps that improve them.
//!
//! Every value in its range gives a valid bound, so steps need no care beyond staying in range. Adam, because the scales of the multipliers differ widely;
//! the bound is concave in all of them but the slopes.
//!
//! Arrays are functional-major: the numbers of functional f are contiguous.

/// One array of multipliers with the moments of its gradient.
#[derive(Debug, Clone, Default)]
pub struct AdamVariable {
    /// Current values.
    pub value: Vec<f64>,
    mean: Vec<f64>,
    square: Vec<f64>,
}

const MEAN: f64 = 0.9;
const SQUARE: f64 = 0.999;

impl AdamVariable {
    fn filled(n: usize, value: f64) -> Self {
        Self { value: vec![value; n], mean: vec![0.0; n], square: vec![0.0; n] }
    }

    /// One step uphill along `gradient`, then back into [low, high]. `step` counts from 1.
    #[inline(always)]
    pub fn ascend(&mut self, gradient: &[f64], rate: f64, step: i32, (low, high): (f64, f64)) {
        let (mean_scale, square_scale) = correction(step);
        let moments = self.mean.iter_mut().zip(self.square.iter_mut());
        for ((v, (m, s)), g) in self.value.iter_mut().zip(moments).zip(gradient) {
            *m = MEAN * *m + (1.0 - MEAN) * g;
            *s = SQUARE * *s + (1.0 - SQUARE) * g * g;
            let next = *v + rate * (*m * mean_scale) / ((*s * square_scale).sqrt() + 1e-8);
            *v = next.max(low).min(high);
        }
    }

    /// The same where every value has a unit of its own, which its steps are measured in; its gradient counts in that unit too.
    #[inline(always)]
    pub fn ascend_in(&mut self, units: &[f64], gradient: &[f64], rate: f64, step: i32, (low, high): (f64, f64)) {
        let (mean_scale, square_scale) = correction(step);
        let moments = self.mean.iter_mut().zip(self.square.iter_mut());
        let steps = gradient.iter().zip(units);
        for ((v, (m, s)), (g, unit)) in self.value.iter_mut().zip(moments).zip(steps) {
            let g = g * unit;
            *m = MEAN * *m + (1.0 - MEAN) * g;
            *s = SQUARE * *s + (1.0 - SQUARE) * g * g;
            let next = *v + unit * rate * (*m * mean_scale) / ((*s * square_scale).sqrt() + 1e-8);
            *v = next.max(low).min(high);
        }
    }

    /// Functional `to` of this array takes over functional `from` of another, whose width may be smaller: what is new stays as it is.
    fn copy(&mut self, to: usize, other: &Self, from: usize, width: usize, other_width: usize) {
        let shared = width.min(other_width);
        let (to, from) = (to * width..to * width + shared, from * other_width..from * other_width + shared);
        self.value[to.clone()].copy_from_slice(&other.value[from.clone()]);
        if !other.mean.is_empty() {
            self.mean[to.clone()].copy_from_slice(&other.mean[from.clone()]);
            self.square[to].copy_from_slice(&other.square[from]);
        }
    }

    /// Forgets the moments.
    fn drop_moments(&mut self) {
        (self.mean, self.square) = (Vec::new(), Vec::new());
    }

    fn bytes(&self) -> usize {
        8 * (self.value.len() + self.mean.len() + self.square.len())
    }
}

/// What makes up for moments that started from zero.
#[inline(always)]
fn correction(step: i32) -> (f64, f64) {
    (1.0 / (1.0 - MEAN.powi(step)), 1.0 / (1.0 - SQUARE.powi(step)))
}

/// Multipliers at one layer of ReLUs.
#[derive(Debug, Clone, Default)]
pub struct LayerParameters {
    /// g, the link: moves coefficients between X, Y and D.
    pub link: AdamVariable,
    /// alpha of f1, in [0, 1].
    pub first: AdamVariable,
    /// alpha of f2.
    pub second: AdamVariable,
}

/// All multipliers of a batch.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    /// F.
    pub count: usize,
    /// lam >= 0 per guard row.
    pub guard: AdamVariable,
    /// nu >= 0, of the assumed violation; not used by the target, whose coefficient is 1.
    pub violation: AdamVariable,
    /// The link at the outputs.
    pub output: AdamVariable,
    /// Per hidden layer.
    pub layers: Vec<LayerParameters>,
    /// beta >= 0 per assumed sign of a neuron.
    pub phases: AdamVariable,
    /// mu >= 0 per constraint of the region.
    pub region: AdamVariable,
    /// Whether steps may move the links.
    pub optimise_links: bool,
}

/// Sizes: guard rows, outputs, hidden widths.
pub struct Sizes<'a> {
    /// R.
    pub rows: usize,
    /// O.
    pub outputs: usize,
    /// m per hidden layer.
    pub hidden: &'a [usize],
    /// Assumed signs of neurons.
    pub phases: usize,
    /// Q, constraints of the region.
    pub region: usize,
}

impl Parameters {
    /// Starting values for F functionals.
    #[must_use]
    pub fn new(count: usize, sizes: &Sizes<'_>, violation: f64) -> Self {
        let layer = |&m: &usize| LayerParameters {
            link: AdamVariable::filled(m * count, 0.0),
            first: AdamVariable::filled(m * count, 0.0),
            second: AdamVariable::filled(m * count, 0.0),
        };
        Self {
            count,
            guard: AdamVariable::filled(sizes.rows * count, 0.05),
            violation: AdamVariable::filled(count, violation),
            output: AdamVariable::filled(sizes.outputs * count, 0.0),
            phases: AdamVariable::filled(sizes.phases * count, 0.0),
            region: AdamVariable::filled(sizes.region * count, 0.0),
            optimise_links: true,
            layers: sizes.hidden.iter().map(layer).collect(),
        }
    }

    /// Functional `to` takes over the multipliers of functional `from` of another batch on the same pair, whose assumed signs are the first of this one's.
    pub fn copy(&mut self, to: usize, other: &Self, from: usize) {
        let width = |t: &AdamVariable, count: usize| t.value.len() / count.max(1);
        let (mine, theirs) = (self.count, other.count);
        let pairs = [
            (&mut self.guard, &other.guard),
            (&mut self.violation, &other.violation),
            (&mut self.output, &other.output),
            (&mut self.phases, &other.phases),
            (&mut self.region, &other.region),
        ];
        let layers = self
            .layers
            .iter_mut()
            .zip(&other.layers)
            .flat_map(|(a, b)| [(&mut a.link, &b.link), (&mut a.first, &b.first), (&mut a.second, &b.second)]);
        for (a, b) in pairs.into_iter().chain(layers) {
            let (wide, other_wide) = (width(a, mine), width(b, theirs));
            a.copy(to, b, from, wide, other_wide);
        }
    }

    /// Forgets the moments of the gradients, to be kept for long.
    pub fn drop_moments(&mut self) {
        for t in [&mut self.guard, &mut self.violation, &mut self.output, &mut self.phases, &mut self.region] {
            t.drop_moments();
        }
        for layer in &mut self.layers {
            [&mut layer.link, &mut layer.first, &mut layer.second].into_iter().for_each(AdamVariable::drop_moments);
        }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let layers = self.layers.iter().flat_map(|l| [&l.link, &l.first, &l.second]);
        let others = [&self.guard, &self.violation, &self.output, &self.phases, &self.region];
        others.into_iter().chain(layers).map(AdamVariable::bytes).sum()
    }
}
