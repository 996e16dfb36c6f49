//! The free multipliers of a batch of functionals, and the steps that improve them.
//!
//! Every value in its range gives a valid bound, so steps need no care beyond staying in range. Adam, because the scales of the multipliers differ widely;
//! the bound is concave in all of them but the slopes.
//!
//! Arrays are functional-major: the numbers of functional f are contiguous.

/// One array of multipliers with the moments of its gradient.
#[derive(Debug, Clone, Default)]
pub struct Tuned {
    /// Current values.
    pub value: Vec<f64>,
    mean: Vec<f64>,
    square: Vec<f64>,
}

const MEAN: f64 = 0.9;
const SQUARE: f64 = 0.999;

impl Tuned {
    fn filled(n: usize, value: f64) -> Self {
        Self { value: vec![value; n], mean: vec![0.0; n], square: vec![0.0; n] }
    }

    /// One step uphill along `gradient`, then back into [low, high]. `step` counts from 1.
    #[inline(always)]
    pub fn ascend(&mut self, gradient: &[f64], rate: f64, step: i32, (low, high): (f64, f64)) {
        let (mean_scale, square_scale) = (1.0 / (1.0 - MEAN.powi(step)), 1.0 / (1.0 - SQUARE.powi(step)));
        let moments = self.mean.iter_mut().zip(self.square.iter_mut());
        for ((v, (m, s)), g) in self.value.iter_mut().zip(moments).zip(gradient) {
            *m = MEAN * *m + (1.0 - MEAN) * g;
            *s = SQUARE * *s + (1.0 - SQUARE) * g * g;
            let next = *v + rate * (*m * mean_scale) / ((*s * square_scale).sqrt() + 1e-8);
            *v = next.max(low).min(high);
        }
    }

    fn select(&mut self, keep: &[usize], width: usize) {
        let picked =
            keep.iter().flat_map(|&f| self.value[f * width..(f + 1) * width].iter().copied()).collect::<Vec<_>>();
        *self = Self { mean: vec![0.0; picked.len()], square: vec![0.0; picked.len()], value: picked };
    }
}

/// Multipliers at one layer of ReLUs.
#[derive(Debug, Clone, Default)]
pub struct LayerParameters {
    /// g, the link: moves coefficients between X, Y and D.
    pub link: Tuned,
    /// alpha of f1, in [0, 1].
    pub first: Tuned,
    /// alpha of f2.
    pub second: Tuned,
}

/// All multipliers of a batch.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    /// F.
    pub count: usize,
    /// lam >= 0 per guard row.
    pub guard: Tuned,
    /// nu >= 0, of the assumed violation; not used by the target, whose coefficient is 1.
    pub violation: Tuned,
    /// The link at the outputs.
    pub output: Tuned,
    /// Per hidden layer.
    pub layers: Vec<LayerParameters>,
    /// beta >= 0 per assumed sign of a neuron.
    pub sides: Tuned,
    widths: Vec<usize>,
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
    pub sides: usize,
}

impl Parameters {
    /// Starting values for F functionals.
    #[must_use]
    pub fn new(count: usize, sizes: &Sizes<'_>, violation: f64) -> Self {
        let layer = |&m: &usize| LayerParameters {
            link: Tuned::filled(m * count, 0.0),
            first: Tuned::filled(m * count, 0.0),
            second: Tuned::filled(m * count, 0.0),
        };
        Self {
            count,
            guard: Tuned::filled(sizes.rows * count, 0.05),
            violation: Tuned::filled(count, violation),
            output: Tuned::filled(sizes.outputs * count, 0.0),
            sides: Tuned::filled(sizes.sides * count, 0.0),
            layers: sizes.hidden.iter().map(layer).collect(),
            widths: sizes.hidden.to_vec(),
        }
    }

    /// Keeps the listed functionals, in this order, and forgets the moments.
    pub fn select(&mut self, keep: &[usize], rows: usize, outputs: usize, sides: usize) {
        self.guard.select(keep, rows);
        self.violation.select(keep, 1);
        self.output.select(keep, outputs);
        self.sides.select(keep, sides);
        for (layer, &m) in self.layers.iter_mut().zip(&self.widths) {
            layer.link.select(keep, m);
            layer.first.select(keep, m);
            layer.second.select(keep, m);
        }
        self.count = keep.len();
    }
}
