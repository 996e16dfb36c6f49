//! Better multipliers: the gradients of a batch of backward bounds, and one step of Adam along them, as in alpha-CROWN
//! and beta-CROWN (see [`super::backward`] for the sources).
//!
//! Where the choice of relaxations is fixed, the bound is linear in each multiplier, and its derivative is the value of
//! what the multiplier weighs in the *surrogate*: the relaxed networks at the minimising corner of the box, run
//! forwards. The derivative with respect to a link g is X - Y - D, to a lower slope alpha it is p x where p >= 0, to a
//! multiplier of the guard it is minus the guard row, and so on.

use super::assumption::Assumption;
use super::backward::{Backward, flops};
use super::constraints::Constraints;
use super::functional::Functional;
use super::parameters::Parameters;
use super::relu_kernels::surrogate_column;
use crate::numeric::kernels::{Accumulate, product};
use crate::numeric::vectorised;

/// Steps of the multipliers of the region's constraints are this much larger than those of the others, for they start
/// from zero and have far to go.
const CONSTRAINT_RATE: f64 = 4.0;

impl Backward<'_> {
    /// One step uphill, at the multipliers last evaluated.
    pub fn ascend(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &mut Parameters,
        rate: f64,
        step: i32,
    ) {
        vectorised::run(Ascend { backward: self, functionals, assumption, parameters, rate, step });
    }

    /// Runs the surrogate forwards and steps along the gradients.
    #[inline(always)]
    fn ascend_all(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &mut Parameters,
        rate: f64,
        step: i32,
    ) {
        let count = functionals.len();
        let inputs = self.pair.inputs();
        self.phase_gradient.clear();
        self.phase_gradient.resize(self.relaxed.phase_constraints.len() * count, 0.0);
        // The minimising corner of each functional; X = Y there.
        self.now.resize(inputs * count);
        for f in 0..count {
            for i in 0..inputs {
                let at = f * inputs + i;
                let radius = self.relaxed.radius[i];
                let x = self.relaxed.centre[i] - if self.inputs[at] >= 0.0 { radius } else { -radius };
                self.now.first[at] = x;
            }
        }
        self.ascend_constraints(&assumption.region, parameters, rate, step);
        for l in 0..self.pair.depth() {
            if l == 0 {
                self.flops += self.input_layer.forwards(self.pair, &self.now, &mut self.next, count);
                std::mem::swap(&mut self.now, &mut self.next);
            } else {
                self.layer_forwards(l, count);
            }
            if l + 1 < self.pair.depth() {
                self.ascend_layer(l, count, parameters, rate, step);
            }
        }
        parameters.phases.ascend(&self.phase_gradient, rate, step, (0.0, f64::INFINITY));
        self.ascend_outputs(functionals, assumption, parameters, rate, step);
    }

    /// Values of x, y and d of a layer behind the first, from those after the ReLUs before it.
    #[inline(always)]
    fn layer_forwards(&mut self, l: usize, count: usize) {
        let (a, b, d) = (&self.pair.first[l], &self.pair.second[l], &self.pair.difference[l]);
        let (m, n) = (a.rows, a.columns);
        self.next.resize(m * count);
        for f in 0..count {
            let range = f * m..(f + 1) * m;
            self.next.first[range.clone()].copy_from_slice(&a.bias);
            self.next.second[range.clone()].copy_from_slice(&b.bias);
            self.next.difference[range].copy_from_slice(&d.bias);
        }
        let shape = (m, n, count);
        self.flops += flops(shape, !d.zero);
        product(&mut self.next.first, &a.weight, &self.now.first, shape, Accumulate::Add);
        product(&mut self.next.second, &b.weight, &self.now.second, shape, Accumulate::Add);
        if !d.zero {
            product(&mut self.next.difference, &d.weight, &self.now.second, shape, Accumulate::Add);
        }
        product(&mut self.next.difference, &a.weight, &self.now.difference, shape, Accumulate::Add);
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// The surrogate's values after the ReLUs of hidden layer h, and one step of the slopes and links of this layer.
    #[inline(always)]
    fn ascend_layer(&mut self, h: usize, count: usize, parameters: &mut Parameters, rate: f64, step: i32) {
        let (r, behind, layer) = (&self.relaxed.relaxations[h], &self.behind_relu[h], &mut parameters.layers[h]);
        let m = r.keep.len();
        let total = m * count;
        let phases = &self.relaxed.phase_constraints;
        for (k, phase) in phases.iter().enumerate().filter(|(_, phase)| phase.layer == h) {
            let values = self.now.of(phase.quantity);
            for f in 0..count {
                let value = values[f * m + phase.index];
                self.phase_gradient[f * phases.len() + k] = if phase.positive { -value } else { value };
            }
        }
        let v = r.view(m);
        let (mut alpha1, mut alpha2) = (std::mem::take(&mut layer.alpha1), std::mem::take(&mut layer.alpha2));
        self.gradient.resize(total, 0.0);
        self.next.first.resize(total, 0.0);
        // The surrogate uses the slopes the bound was computed with, so values come before the step.
        for f in 0..count {
            let range = f * m..(f + 1) * m;
            let (x, y, d) = (
                &mut self.now.first[range.clone()],
                &mut self.now.second[range.clone()],
                &mut self.now.difference[range.clone()],
            );
            let (p, q, s) =
                (&behind.first[range.clone()], &behind.second[range.clone()], &behind.difference[range.clone()]);
            let slopes = (&alpha1.value[range.clone()], &alpha2.value[range.clone()]);
            let gradients = (&mut self.gradient[range.clone()], &mut self.next.first[range]);
            surrogate_column((x, y, d), (p, q, s), slopes, gradients, v);
        }
        alpha1.ascend(&self.gradient[..total], 2.0 * rate, step, (0.0, 1.0));
        alpha2.ascend(&self.next.first[..total], 2.0 * rate, step, (0.0, 1.0));
        (layer.alpha1, layer.alpha2) = (alpha1, alpha2);
        if !parameters.optimise_links {
            return;
        }
        let layer = &mut parameters.layers[h];
        self.gradient.resize(total, 0.0);
        let values = self.now.first.iter().zip(&self.now.second).zip(&self.now.difference);
        self.gradient.iter_mut().zip(values).for_each(|(g, ((x, y), d))| *g = x - y - d);
        layer.link.ascend(&self.gradient[..total], rate, step, (f64::NEG_INFINITY, f64::INFINITY));
    }

    /// One step of the multipliers of the region's constraints, at the minimising corners held in `now.first`.
    #[inline(always)]
    fn ascend_constraints(&mut self, constraints: &Constraints, parameters: &mut Parameters, rate: f64, step: i32) {
        if constraints.rows() == 0 {
            return;
        }
        let inputs = self.pair.inputs();
        self.gradient.clear();
        for f in 0..parameters.count {
            constraints.push_excess(&self.now.first[f * inputs..(f + 1) * inputs], &mut self.gradient);
        }
        let rate = CONSTRAINT_RATE * rate;
        parameters.region.ascend_in(&self.units, &self.gradient, rate, step, (0.0, f64::INFINITY));
    }

    /// One step of the multipliers at the outputs: of the guard, of the violation, of the links.
    #[inline(always)]
    fn ascend_outputs(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &mut Parameters,
        rate: f64,
        step: i32,
    ) {
        let (outputs, rows, count) = (assumption.outputs(), assumption.rows(), functionals.len());
        let out = &self.now;
        let at = |f: usize| f * outputs..(f + 1) * outputs;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        self.gradient.clear();
        for f in 0..count {
            let lam = &parameters.guard.value[f * rows..(f + 1) * rows];
            let total: f64 = lam[assumption.entropy.clone()].iter().sum();
            for (l, &multiplier) in lam.iter().enumerate() {
                let guard =
                    dot(&assumption.guard[l * outputs..(l + 1) * outputs], &out.first[at(f)]) + assumption.constants[l];
                let entropy =
                    if assumption.entropy.contains(&l) { -((multiplier + 1e-30) / (total + 1e-30)).ln() } else { 0.0 };
                self.gradient.push(entropy - guard);
            }
        }
        parameters.guard.ascend(&self.gradient, rate, step, (0.0, f64::INFINITY));
        self.gradient.clear();
        for f in 0..count {
            let (x, y, d) = (&out.first[at(f)], &out.second[at(f)], &out.difference[at(f)]);
            let violation = dot(&assumption.first, x)
                + dot(&assumption.second, y)
                + dot(&assumption.difference, d)
                + assumption.constant;
            self.gradient.push(-violation);
        }
        parameters.violation.ascend(&self.gradient, rate, step, (0.0, f64::INFINITY));
        if !parameters.optimise_links {
            return;
        }
        self.gradient.clear();
        let values = out.first.iter().zip(&out.second).zip(&out.difference);
        self.gradient.extend(values.map(|((x, y), d)| x - y - d).take(outputs * count));
        parameters.output.ascend(&self.gradient, rate, step, (f64::NEG_INFINITY, f64::INFINITY));
    }
}

struct Ascend<'b, 'a> {
    backward: &'b mut Backward<'a>,
    functionals: &'b [Functional],
    assumption: &'b Assumption,
    parameters: &'b mut Parameters,
    rate: f64,
    step: i32,
}

impl vectorised::Task for Ascend<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.backward.ascend_all(self.functionals, self.assumption, self.parameters, self.rate, self.step);
    }
}
