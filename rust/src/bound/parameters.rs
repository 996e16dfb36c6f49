//! The free multipliers of a batch of functionals, and the steps that improve them.
//!
//! Every value in its range gives a valid bound, so steps need no care beyond staying in range. They are those of Adam
//! (Kingma and Ba, ICLR 2015), because the scales of the multipliers differ widely; the bound is concave in all of them
//! but the slopes. Slopes alpha are those of alpha-CROWN (Xu et al., ICLR 2021), multipliers beta of assumed signs
//! those of beta-CROWN (Wang et al., NeurIPS 2021); the links are eqspec's own.
//!
//! The moments of the gradients are kept in single precision, and so is the length of a step: neither touches what a
//! bound rests on, and roots and quotients of twice as many numbers fit a register.
//!
//! Arrays are functional-major: the numbers of functional f are contiguous.

/// One array of multipliers, with the moments of its gradient that Adam keeps.
#[derive(Debug, Clone, Default)]
pub struct AdamVariable {
    /// Current values.
    pub value: Vec<f64>,
    mean: Vec<f32>,
    square: Vec<f32>,
}

/// How much of the mean gradient a step keeps.
const MEAN: f32 = 0.9;
/// How much of the mean square of the gradient a step keeps.
const SQUARE: f32 = 0.999;
/// Keeps steps finite where the gradient vanishes.
const EPSILON: f32 = 1e-8;
/// Gradients count as no larger than this, so that their squares stay finite in single precision.
const LARGEST: f64 = 1e18;

impl AdamVariable {
    fn filled(n: usize, value: f64) -> Self {
        Self { value: vec![value; n], mean: vec![0.0; n], square: vec![0.0; n] }
    }

    /// One step uphill along `gradient`, then back into [low, high]. `step` counts from 1.
    #[inline(always)]
    pub fn ascend(&mut self, gradient: &[f64], rate: f64, step: i32, (low, high): (f64, f64)) {
        let scales = correction(step);
        let moments = self.mean.iter_mut().zip(self.square.iter_mut());
        for ((v, (m, s)), g) in self.value.iter_mut().zip(moments).zip(gradient) {
            *v = (*v + rate * direction(m, s, *g, scales)).max(low).min(high);
        }
    }

    /// One step uphill where every value has a natural size of its own, its unit: steps and gradients are measured in
    /// units.
    #[inline(always)]
    pub fn ascend_in(&mut self, units: &[f64], gradient: &[f64], rate: f64, step: i32, (low, high): (f64, f64)) {
        let scales = correction(step);
        let moments = self.mean.iter_mut().zip(self.square.iter_mut());
        let steps = gradient.iter().zip(units);
        for ((v, (m, s)), (g, unit)) in self.value.iter_mut().zip(moments).zip(steps) {
            *v = (*v + unit * rate * direction(m, s, g * unit, scales)).max(low).min(high);
        }
    }

    /// Copies the entries of functional `from` of another array to functional `to` of this one. If the other array has
    /// fewer entries per functional, the entries behind them stay as they are.
    fn copy(&mut self, to: usize, other: &Self, from: usize, width: usize, other_width: usize) {
        let shared = width.min(other_width);
        let (to, from) = (to * width..to * width + shared, from * other_width..from * other_width + shared);
        self.value[to.clone()].copy_from_slice(&other.value[from.clone()]);
        if !other.mean.is_empty() {
            self.mean[to.clone()].copy_from_slice(&other.mean[from.clone()]);
            self.square[to].copy_from_slice(&other.square[from]);
        }
    }

    /// Appends the numbers of further functionals.
    fn append(&mut self, mut other: Self) {
        self.value.append(&mut other.value);
        self.mean.append(&mut other.mean);
        self.square.append(&mut other.square);
    }

    /// Drops the moments, which frees their memory.
    fn drop_moments(&mut self) {
        (self.mean, self.square) = (Vec::new(), Vec::new());
    }

    fn bytes(&self) -> usize {
        8 * self.value.len() + 4 * (self.mean.len() + self.square.len())
    }
}

/// The factors that correct moments that started from zero.
#[inline(always)]
fn correction(step: i32) -> (f32, f32) {
    (1.0 / (1.0 - MEAN.powi(step)), 1.0 / (1.0 - SQUARE.powi(step)))
}

/// Updates the moments of one gradient and returns the step for a rate of 1.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)]
fn direction(mean: &mut f32, square: &mut f32, gradient: f64, (mean_scale, square_scale): (f32, f32)) -> f64 {
    let g = gradient.clamp(-LARGEST, LARGEST) as f32;
    *mean = MEAN * *mean + (1.0 - MEAN) * g;
    *square = SQUARE * *square + (1.0 - SQUARE) * g * g;
    f64::from(*mean * mean_scale / ((*square * square_scale).sqrt() + EPSILON))
}

/// Multipliers at one layer of ReLUs.
#[derive(Debug, Clone, Default)]
pub struct LayerParameters {
    /// g, the link: moves coefficients between X, Y and D.
    pub link: AdamVariable,
    /// alpha of f1: the slopes of the lower relaxations of X, in [0, 1].
    pub alpha1: AdamVariable,
    /// alpha of f2: the slopes of the lower relaxations of Y, in [0, 1].
    pub alpha2: AdamVariable,
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
    /// Per step but the last; those of identity steps have width 0.
    pub layers: Vec<LayerParameters>,
    /// beta >= 0 per phase constraint, the assumed sign of a neuron.
    pub phases: AdamVariable,
    /// mu >= 0 per constraint of the region.
    pub region: AdamVariable,
    /// Whether steps move the links.
    pub optimise_links: bool,
    /// Whether the links of neurons are shares of the coefficient of D, instead of numbers.
    pub relative_links: bool,
}

/// How many multipliers of each kind a functional has.
pub struct Sizes<'a> {
    /// R.
    pub rows: usize,
    /// O.
    pub outputs: usize,
    /// m per step but the last, 0 where the function is the identity.
    pub hidden: &'a [usize],
    /// S, the number of phase constraints.
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
            alpha1: AdamVariable::filled(m * count, 0.0),
            alpha2: AdamVariable::filled(m * count, 0.0),
        };
        Self {
            count,
            guard: AdamVariable::filled(sizes.rows * count, 0.05),
            violation: AdamVariable::filled(count, violation),
            output: AdamVariable::filled(sizes.outputs * count, 0.0),
            phases: AdamVariable::filled(sizes.phases * count, 0.0),
            region: AdamVariable::filled(sizes.region * count, 0.0),
            optimise_links: true,
            relative_links: false,
            layers: sizes.hidden.iter().map(layer).collect(),
        }
    }

    /// Copies the multipliers of functional `from` of another batch on the same pair to functional `to` of this one.
    /// The phase constraints of this batch must begin with those of the other; multipliers of further ones stay as they
    /// are.
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
            .flat_map(|(a, b)| [(&mut a.link, &b.link), (&mut a.alpha1, &b.alpha1), (&mut a.alpha2, &b.alpha2)]);
        for (a, b) in pairs.into_iter().chain(layers) {
            let (wide, other_wide) = (width(a, mine), width(b, theirs));
            a.copy(to, b, from, wide, other_wide);
        }
    }

    /// Appends the multipliers of further functionals on the same pair, under the same assumption.
    pub fn append(&mut self, other: Self) {
        self.count += other.count;
        self.guard.append(other.guard);
        self.violation.append(other.violation);
        self.output.append(other.output);
        self.phases.append(other.phases);
        self.region.append(other.region);
        for (a, b) in self.layers.iter_mut().zip(other.layers) {
            a.link.append(b.link);
            a.alpha1.append(b.alpha1);
            a.alpha2.append(b.alpha2);
        }
    }

    /// Drops the moments of the gradients, for multipliers that are kept for long.
    pub fn drop_moments(&mut self) {
        for t in [&mut self.guard, &mut self.violation, &mut self.output, &mut self.phases, &mut self.region] {
            t.drop_moments();
        }
        for layer in &mut self.layers {
            [&mut layer.link, &mut layer.alpha1, &mut layer.alpha2].into_iter().for_each(AdamVariable::drop_moments);
        }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let layers = self.layers.iter().flat_map(|l| [&l.link, &l.alpha1, &l.alpha2]);
        let others = [&self.guard, &self.violation, &self.output, &self.phases, &self.region];
        others.into_iter().chain(layers).map(AdamVariable::bytes).sum()
    }
}
