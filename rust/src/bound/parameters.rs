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
//! Steps may also run in singles throughout, coefficients and values included ([`Parameters::in_singles`]).
//!
//! Arrays are functional-major: the numbers of functional f are contiguous.

use super::restriction::Restriction;
use crate::numeric::real::Real;
use std::sync::Arc;

/// One array of multipliers, with the moments of its gradient that Adam keeps.
#[derive(Debug, Clone, Default)]
pub struct AdamVariable<T = f64> {
    /// Current values.
    pub value: Vec<T>,
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

/// The values that a multiplier may have: the lowest and the highest.
pub type Range = (f64, f64);
/// The range of a multiplier of an inequality.
pub(super) const NOT_NEGATIVE: Range = (0.0, f64::INFINITY);
/// The range of a link.
pub(super) const ANY: Range = (f64::NEG_INFINITY, f64::INFINITY);
/// The range of a slope, which is a share between two lines.
pub(super) const SHARE: Range = (0.0, 1.0);

impl<T: Real> AdamVariable<T> {
    fn filled(n: usize, value: T) -> Self {
        Self { value: vec![value; n], mean: vec![0.0; n], square: vec![0.0; n] }
    }

    /// One step uphill along `gradient`, then back into [low, high]. `step` counts from 1.
    #[inline(always)]
    pub fn ascend(&mut self, gradient: &[T], rate: f64, step: i32, (low, high): Range) {
        let (scales, rate, low, high) = (correction(step), T::of(rate), T::of(low), T::of(high));
        let moments = self.mean.iter_mut().zip(self.square.iter_mut());
        for ((v, (m, s)), g) in self.value.iter_mut().zip(moments).zip(gradient) {
            *v = (*v + rate * direction(m, s, *g, scales)).max(low).min(high);
        }
    }

    /// One step uphill where every value has a natural size of its own, its unit: steps and gradients are measured in
    /// units.
    #[inline(always)]
    pub fn ascend_in(&mut self, units: &[T], gradient: &[T], rate: f64, step: i32, (low, high): Range) {
        let (scales, rate, low, high) = (correction(step), T::of(rate), T::of(low), T::of(high));
        let moments = self.mean.iter_mut().zip(self.square.iter_mut());
        let steps = gradient.iter().zip(units);
        for ((v, (m, s)), (g, unit)) in self.value.iter_mut().zip(moments).zip(steps) {
            *v = (*v + *unit * rate * direction(m, s, *g * *unit, scales)).max(low).min(high);
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
    fn append(&mut self, other: &mut Self) {
        self.value.append(&mut other.value);
        self.mean.append(&mut other.mean);
        self.square.append(&mut other.square);
    }

    /// Moves the moments of another array here.
    fn move_moments<S>(&mut self, other: &mut AdamVariable<S>) {
        self.mean = std::mem::take(&mut other.mean);
        self.square = std::mem::take(&mut other.square);
    }

    /// The same numbers in singles, the nearest ones, with their moments. These move there where all numbers are meant, and
    /// are copied of `neurons`, of each of `count` functionals.
    fn in_singles(&mut self, neurons: Option<&[usize]>, count: usize) -> AdamVariable<f32> {
        let Some(neurons) = neurons else {
            let value = self.value.iter().map(|v| v.single()).collect();
            return AdamVariable {
                value,
                mean: std::mem::take(&mut self.mean),
                square: std::mem::take(&mut self.square),
            };
        };
        let width = self.value.len() / count.max(1);
        let mut made = AdamVariable::<f32>::default();
        for (own, _) in places(neurons, count, width) {
            made.value.push(self.value[own].single());
            made.mean.push(self.mean[own]);
            made.square.push(self.square[own]);
        }
        made
    }

    /// Drops the moments, which frees their memory.
    fn drop_moments(&mut self) {
        (self.mean, self.square) = (Vec::new(), Vec::new());
    }

    fn bytes(&self) -> usize {
        std::mem::size_of_val(self.value.as_slice()) + 4 * (self.mean.len() + self.square.len())
    }
}

/// The factors that correct moments that started from zero.
#[inline(always)]
fn correction(step: i32) -> (f32, f32) {
    (1.0 / (1.0 - MEAN.powi(step)), 1.0 / (1.0 - SQUARE.powi(step)))
}

/// Updates the moments of one gradient and returns the step for a rate of 1.
#[inline(always)]
fn direction<T: Real>(mean: &mut f32, square: &mut f32, gradient: T, (mean_scale, square_scale): (f32, f32)) -> T {
    let g = gradient.capped(T::of(LARGEST)).single();
    *mean = MEAN * *mean + (1.0 - MEAN) * g;
    *square = SQUARE * *square + (1.0 - SQUARE) * g * g;
    T::of_single(*mean * mean_scale / ((*square * square_scale).sqrt() + EPSILON))
}

/// Multipliers at one layer of ReLUs.
#[derive(Debug, Clone, Default)]
pub struct LayerParameters<T = f64> {
    /// g, the link: moves coefficients between X, Y and D.
    pub link: AdamVariable<T>,
    /// alpha of f1: the slopes of the lower relaxations of X, in [0, 1].
    pub alpha1: AdamVariable<T>,
    /// alpha of f2: the slopes of the lower relaxations of Y, in [0, 1].
    pub alpha2: AdamVariable<T>,
}

/// All multipliers of a batch.
#[derive(Debug, Clone, Default)]
pub struct Parameters<T = f64> {
    /// The number of functionals, F.
    pub count: usize,
    /// lam >= 0 per guard row.
    pub guard: AdamVariable<T>,
    /// nu >= 0, of the assumed violation; not used by the target, whose coefficient is 1.
    pub violation: AdamVariable<T>,
    /// The link at the outputs.
    pub output: AdamVariable<T>,
    /// Per step but the last; those of identity steps have width 0.
    pub layers: Vec<LayerParameters<T>>,
    /// beta >= 0 per phase constraint, the assumed sign of a neuron.
    pub phases: AdamVariable<T>,
    /// mu >= 0 per constraint of the region.
    pub region: AdamVariable<T>,
    /// Whether steps move the links.
    pub optimise_links: bool,
    /// Whether the links of neurons are shares of the coefficient of D, instead of numbers.
    pub relative_links: bool,
    /// The neurons that there are multipliers for, if not for all.
    pub(super) restriction: Option<Arc<Restriction>>,
}

/// For each kind of multipliers the neurons that it is restricted to, if it is.
fn restricted(restriction: Option<&Restriction>, layers: usize) -> impl Iterator<Item = Option<&[usize]>> {
    let of_layer = move |layer: usize| [restriction.map(|r| r.steps[layer].bending()); 3];
    [None; 5].into_iter().chain((0..layers).flat_map(of_layer))
}

/// The places of the numbers of some neurons, of `count` functionals: in an array of this width, and in one of these
/// neurons alone.
fn places(neurons: &[usize], count: usize, width: usize) -> impl Iterator<Item = (usize, usize)> {
    let of_functional =
        move |f: usize| neurons.iter().enumerate().map(move |(k, &i)| (f * width + i, f * neurons.len() + k));
    (0..count).flat_map(of_functional)
}

/// How many multipliers of each kind a functional has.
pub struct Sizes<'a> {
    /// Guard rows, R.
    pub rows: usize,
    /// Outputs, O.
    pub outputs: usize,
    /// Rows m of every step but the last, 0 where the function is the identity.
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
            restriction: None,
            layers: sizes.hidden.iter().map(layer).collect(),
        }
    }

    /// Copies the multipliers of functional `from` of another batch on the same pair to functional `to` of this one.
    /// The phase constraints of this batch must begin with those of the other; multipliers of further ones stay as they
    /// are.
    pub fn copy(&mut self, to: usize, other: &Self, from: usize) {
        let width = |t: &AdamVariable, count: usize| t.value.len() / count.max(1);
        let (mine, theirs) = (self.count, other.count);
        for ((a, _), (b, _)) in self.kinds_mut().zip(other.kinds()) {
            let (wide, other_wide) = (width(a, mine), width(b, theirs));
            a.copy(to, b, from, wide, other_wide);
        }
    }

    /// Appends the multipliers of further functionals on the same pair, under the same assumption.
    pub fn append(&mut self, mut other: Self) {
        self.count += other.count;
        self.kinds_mut().zip(other.kinds_mut()).for_each(|((a, _), (b, _))| a.append(b));
    }

    /// Drops the moments of the gradients, for multipliers that are kept for long.
    pub fn drop_moments(&mut self) {
        self.kinds_mut().for_each(|(kind, _)| kind.drop_moments());
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.kinds().map(|(kind, _)| kind.bytes()).sum()
    }

    /// The same multipliers in singles, the nearest ones, to go on from in single precision. The moments move there, until
    /// [`Parameters::take_moments`].
    pub fn in_singles(&mut self) -> Parameters<f32> {
        self.restricted_singles(None)
    }

    /// The same of the neurons of a restriction that bend, where there is one.
    pub(super) fn restricted_singles(&mut self, restriction: Option<&Arc<Restriction>>) -> Parameters<f32> {
        let mut singles = Parameters {
            count: self.count,
            layers: vec![LayerParameters::default(); self.layers.len()],
            optimise_links: self.optimise_links,
            relative_links: self.relative_links,
            restriction: restriction.cloned(),
            ..Parameters::default()
        };
        let (count, layers) = (self.count, self.layers.len());
        let neurons = restricted(restriction.map(AsRef::as_ref), layers);
        for (((single, _), (own, _)), neurons) in singles.kinds_mut().zip(self.kinds_mut()).zip(neurons) {
            *single = own.in_singles(neurons, count);
        }
        singles
    }

    /// Takes over the values that a search in singles has come to, of its first functionals, as many as there are here;
    /// or nothing, and returns false, if one of them, or its mean gradient, is not a finite number.
    ///
    /// Bounds that are computed with them are valid whatever they are, as long as each is in its range. Steps keep them
    /// there; here it is made sure of.
    #[must_use]
    pub fn take(&mut self, singles: &Parameters<f32>) -> bool {
        let count = self.count;
        for (((own, _), (single, _)), neurons) in self.kinds().zip(singles.kinds()).zip(singles.restricted()) {
            let n = neurons.map_or(own.value.len(), |neurons| count * neurons.len());
            let finite = single.value[..n].iter().chain(&single.mean[..n]).all(|v| v.is_finite());
            if !finite {
                return false;
            }
        }
        for (((own, (low, high)), (single, _)), neurons) in
            self.kinds_mut().zip(singles.kinds()).zip(singles.restricted())
        {
            let fitting = |v: f32| v.wide().clamp(low, high);
            match neurons {
                None => own.value.iter_mut().zip(&single.value).for_each(|(v, &s)| *v = fitting(s)),
                Some(neurons) => {
                    let width = own.value.len() / count.max(1);
                    places(neurons, count, width).for_each(|(to, from)| own.value[to] = fitting(single.value[from]));
                }
            }
        }
        true
    }

    /// Moments as of multipliers that have not moved yet.
    pub fn reset_moments(&mut self) {
        for (kind, _) in self.kinds_mut() {
            kind.mean = vec![0.0; kind.value.len()];
            kind.square = vec![0.0; kind.value.len()];
        }
    }

    /// Takes the moments back that steps in singles have moved on.
    pub fn take_moments(&mut self, mut singles: Parameters<f32>) {
        let (count, restriction) = (self.count, singles.restriction.take());
        let neurons = restricted(restriction.as_deref(), self.layers.len());
        for (((own, _), (single, _)), neurons) in self.kinds_mut().zip(singles.kinds_mut()).zip(neurons) {
            match neurons {
                None => own.move_moments(single),
                Some(neurons) => {
                    let width = own.value.len() / count.max(1);
                    for (to, from) in places(neurons, count, width) {
                        (own.mean[to], own.square[to]) = (single.mean[from], single.square[from]);
                    }
                }
            }
        }
    }
}

impl Parameters<f32> {
    /// For each kind the neurons that it is restricted to, if it is.
    fn restricted(&self) -> impl Iterator<Item = Option<&[usize]>> {
        restricted(self.restriction.as_deref(), self.layers.len())
    }
}

impl<T> LayerParameters<T> {
    fn kinds(&self) -> [(&AdamVariable<T>, Range); 3] {
        [(&self.link, ANY), (&self.alpha1, SHARE), (&self.alpha2, SHARE)]
    }

    fn kinds_mut(&mut self) -> [(&mut AdamVariable<T>, Range); 3] {
        [(&mut self.link, ANY), (&mut self.alpha1, SHARE), (&mut self.alpha2, SHARE)]
    }
}

impl<T> Parameters<T> {
    /// The multipliers of all kinds, with the range of each.
    fn kinds(&self) -> impl Iterator<Item = (&AdamVariable<T>, Range)> {
        let Self { guard, violation, output, phases, region, .. } = self;
        let inequalities = [guard, violation, phases, region].map(|kind| (kind, NOT_NEGATIVE));
        inequalities.into_iter().chain([(output, ANY)]).chain(self.layers.iter().flat_map(LayerParameters::kinds))
    }

    /// The same, to be changed.
    fn kinds_mut(&mut self) -> impl Iterator<Item = (&mut AdamVariable<T>, Range)> {
        let Self { guard, violation, output, phases, region, layers, .. } = self;
        let inequalities = [guard, violation, phases, region].map(|kind| (kind, NOT_NEGATIVE));
        inequalities.into_iter().chain([(output, ANY)]).chain(layers.iter_mut().flat_map(LayerParameters::kinds_mut))
    }
}
