//! Better multipliers: the gradients of a batch of backward bounds, and one step of Adam along them, as in alpha-CROWN
//! and beta-CROWN (see [`super::backward`] for the sources).
//!
//! Where the choice of relaxations is fixed, the bound is linear in each multiplier, and its derivative is the value of
//! what the multiplier weighs in the *surrogate*: the relaxed networks at the minimising corner of the box, run
//! forwards. The derivative with respect to a link g is X - Y - D, to a lower slope alpha it is p x where p >= 0, to a
//! multiplier of the guard it is minus the guard row, and so on.

use super::assumption::Assumption;
use super::backward::Backward;
use super::constraints::Constraints;
use super::functional::{Coefficients, Functional};
use super::lines::surrogate_lines;
use super::parameters::{ANY, NOT_NEGATIVE, Parameters, SHARE};
use super::relu_kernels::{surrogate_column, surrogate_column_alone};
use super::shared_inputs::reads_inputs;
use crate::network::{Origin, Tile};
use crate::numeric::kernels::Accumulate;
use crate::numeric::real::Real;
use crate::numeric::vectorised;
use crate::numeric::windows::Panels;

/// Steps of the multipliers of the region's constraints are this much larger than those of the others, for they start
/// from zero and have far to go.
const CONSTRAINT_RATE: f64 = 4.0;

impl<T: Real> Backward<'_, T> {
    /// One step uphill, at the multipliers last evaluated.
    pub fn ascend(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &mut Parameters<T>,
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
        parameters: &mut Parameters<T>,
        rate: f64,
        step: i32,
    ) {
        let count = functionals.len();
        let (depth, inputs) = (self.pair.depth(), self.pair.inputs());
        self.phase_gradient.clear();
        self.phase_gradient.resize(self.relaxed.phase_constraints.len() * count, T::ZERO);
        // The minimising corner of each functional; X = Y there.
        self.corners.clear();
        for column in self.inputs.chunks_exact(inputs.max(1)) {
            let ends = self.relaxed.centre.iter().zip(&self.relaxed.radius);
            self.corners.extend(column.iter().zip(ends).map(|(a, (c, r))| *c - if *a >= T::ZERO { *r } else { -*r }));
        }
        self.ascend_constraints(&assumption.region, parameters, rate, step);
        self.live.begin(depth);
        for s in 0..depth {
            let mut now = self.live.space(self.pair.first[s].rows * count);
            self.step_forwards(s, &mut now, count);
            if s + 1 < depth {
                self.ascend_phases(s, &now, count);
                if !self.pair.function(s).is_identity() {
                    self.ascend_step(s, &mut now, count, parameters, rate, step);
                }
            }
            self.live.keep(s, now);
            for j in (0..s).filter(|&j| self.lifetimes.last_reader[j] == s) {
                self.live.forget(j);
            }
            if s + 1 < depth && self.lifetimes.last_reader[s] == s {
                self.live.forget(s);
            }
        }
        parameters.phases.ascend(&self.phase_gradient, rate, step, NOT_NEGATIVE);
        self.ascend_outputs(functionals, assumption, parameters, rate, step);
    }

    /// Values of x, y and d of a step, from those behind the functions of the steps that it reads.
    #[inline(always)]
    fn step_forwards(&mut self, s: usize, now: &mut Coefficients<T>, count: usize) {
        let (a, b, d) = (&self.pair.first[s], &self.pair.second[s], &self.pair.difference[s]);
        let (m, weights, both) = (a.rows, &self.weights[s], !self.alone);
        for f in 0..count {
            let (x, y, z) = now.range_mut(f * m..(f + 1) * m);
            x.copy_from_slice(&weights.biases[0]);
            if both {
                y.copy_from_slice(&weights.biases[1]);
                z.copy_from_slice(&weights.biases[2]);
            }
        }
        let (live, panels) = (&self.live, &mut self.panels);
        let mut flops = 0;
        let mut add = |out: &mut [T], tile: &Tile, weight: &[T], values: &[T], panels: &mut Panels<T>| {
            tile.shape().product(out, weight, values, (tile.columns, count), Accumulate::Add, panels);
            flops += (2 * tile.products() * count) as u64;
        };
        let mut reads_steps = false;
        for (k, term) in d.terms.iter().enumerate() {
            let Origin::Step(j) = term.origin else { continue };
            reads_steps = true;
            let from = live.of(j);
            if let Some(i) = term.first {
                add(&mut now.first, &a.terms[i].tile, &weights.first[i], &from.first, panels);
            }
            if let (Some(i), true) = (term.second, both) {
                add(&mut now.second, &b.terms[i].tile, &weights.second[i], &from.second, panels);
            }
            if !term.zero && both {
                add(&mut now.difference, &term.tile, &weights.difference[k], &from.second, panels);
            }
            if let (Some(i), true) = (term.first, both) {
                add(&mut now.difference, &a.terms[i].tile, &weights.first[i], &from.difference, panels);
            }
        }
        if reads_inputs(&self.pair, s) {
            let of = if self.alone { [true, false, false] } else { [true, reads_steps, true] };
            flops += self.shared_inputs.forwards((&*self.pair, s, weights), &self.corners, now, of, panels);
            if both && !reads_steps {
                // Where only the inputs are read, x - y = d.
                let pairs = now.first.iter().zip(&now.difference);
                now.second.iter_mut().zip(pairs).for_each(|(y, (x, d))| *y = *x - *d);
            }
        }
        self.flops += flops;
    }

    /// The gradients of the multipliers of assumed signs at a step.
    #[inline(always)]
    fn ascend_phases(&mut self, s: usize, now: &Coefficients<T>, count: usize) {
        let (m, phases) = (self.pair.first[s].rows, &self.relaxed.phase_constraints);
        for (k, phase) in phases.iter().enumerate().filter(|(_, phase)| phase.layer == s) {
            let values = now.of(phase.quantity);
            for f in 0..count {
                let value = values[f * m + phase.index];
                self.phase_gradient[f * phases.len() + k] = if phase.positive { -value } else { value };
            }
        }
    }

    /// The surrogate's values behind the ReLUs of a step, and one step of its slopes and links.
    #[inline(always)]
    fn ascend_step(
        &mut self,
        s: usize,
        now: &mut Coefficients<T>,
        count: usize,
        parameters: &mut Parameters<T>,
        rate: f64,
        step: i32,
    ) {
        let (r, behind, layer) = (&self.relaxed.relaxations[s], &self.behind_relu[s], &mut parameters.layers[s]);
        // Neurons behind the first u pass unchanged ([`super::restriction`]).
        let (m, u) = (self.pair.first[s].rows, r.keep.len());
        let total = u * count;
        if !self.met[s] {
            // No coefficient comes here, so that nothing depends on this step.
            return;
        }
        let v = r.view(u);
        let [gradient1, gradient2] = &mut self.gradients;
        gradient1.resize(total, T::ZERO);
        gradient2.resize(total, T::ZERO);
        // The surrogate uses the slopes the bound was computed with, so values come before the step.
        for f in 0..count {
            let range = f * u..(f + 1) * u;
            let slopes = (&layer.alpha1.value[range.clone()], &layer.alpha2.value[range.clone()]);
            let gradients = (&mut gradient1[range.clone()], &mut gradient2[range.clone()]);
            let (values, kept) = (now.range_mut(f * m..f * m + u), behind.range(range));
            if r.lines.neurons.is_empty() && self.alone {
                surrogate_column_alone(values.0, kept.0, slopes.0, gradients.0, v);
            } else if r.lines.neurons.is_empty() {
                surrogate_column(values, kept, slopes, gradients, v);
            } else {
                surrogate_lines(values, kept, slopes, gradients, &r.lines.neurons);
            }
        }
        layer.alpha1.ascend(&gradient1[..total], 2.0 * rate, step, SHARE);
        if self.alone {
            return;
        }
        layer.alpha2.ascend(&gradient2[..total], 2.0 * rate, step, SHARE);
        let relative = parameters.relative_links;
        if !(relative || parameters.optimise_links) {
            return;
        }
        for (f, gradient) in gradient1[..total].chunks_exact_mut(u.max(1)).enumerate() {
            let (x, y, d) = now.range_mut(f * m..f * m + u);
            let values = x.iter().zip(y).zip(d);
            if !relative {
                gradient.iter_mut().zip(values).for_each(|(g, ((x, y), d))| *g = *x - *y - *d);
                continue;
            }
            // The link is a share of s, so it is worth s times as much; and what s is worth depends on it.
            let range = f * u..(f + 1) * u;
            let shares = self.link_units[s][range.clone()].iter().zip(&layer.link.value[range]);
            for ((g, ((x, y), d)), (unit, share)) in gradient.iter_mut().zip(values).zip(shares) {
                let gap = *x - *y - *d;
                *g = *unit * gap;
                *d += *share * gap;
            }
        }
        if parameters.optimise_links {
            layer.link.ascend(&gradient1[..total], rate, step, ANY);
        }
    }

    /// One step of the multipliers of the region's constraints, at the minimising corners.
    #[inline(always)]
    fn ascend_constraints(&mut self, constraints: &Constraints, parameters: &mut Parameters<T>, rate: f64, step: i32) {
        if constraints.rows() == 0 {
            return;
        }
        let inputs = self.pair.inputs();
        let gradient = &mut self.gradients[0];
        gradient.clear();
        for f in 0..parameters.count {
            constraints.push_excess(&self.corners[f * inputs..(f + 1) * inputs], gradient);
        }
        let rate = CONSTRAINT_RATE * rate;
        parameters.region.ascend_in(&self.units, gradient, rate, step, NOT_NEGATIVE);
    }

    /// One step of the multipliers at the outputs: of the guard, of the violation, of the links.
    #[inline(always)]
    fn ascend_outputs(
        &mut self,
        functionals: &[Functional],
        assumption: &Assumption,
        parameters: &mut Parameters<T>,
        rate: f64,
        step: i32,
    ) {
        let (outputs, rows, count) = (assumption.outputs(), assumption.rows(), functionals.len());
        let (out, gradient) = (self.live.of(self.pair.depth() - 1), &mut self.gradients[0]);
        let at = |f: usize| f * outputs..(f + 1) * outputs;
        let dot = |a: &[f64], b: &[T]| a.iter().zip(b).map(|(x, y)| x * y.wide()).sum::<f64>();
        gradient.clear();
        for f in 0..count {
            let lam = &parameters.guard.value[f * rows..(f + 1) * rows];
            let total: f64 = lam[assumption.entropy.clone()].iter().map(|lam| lam.wide()).sum();
            for (l, &multiplier) in lam.iter().enumerate() {
                let guard =
                    dot(&assumption.guard[l * outputs..(l + 1) * outputs], &out.first[at(f)]) + assumption.constants[l];
                let entropy = if assumption.entropy.contains(&l) {
                    -((multiplier.wide() + 1e-30) / (total + 1e-30)).ln()
                } else {
                    0.0
                };
                gradient.push(T::of(entropy - guard));
            }
        }
        parameters.guard.ascend(gradient, rate, step, NOT_NEGATIVE);
        gradient.clear();
        for f in 0..count {
            let (x, y, d) = (&out.first[at(f)], &out.second[at(f)], &out.difference[at(f)]);
            let violation = dot(&assumption.first, x)
                + dot(&assumption.second, y)
                + dot(&assumption.difference, d)
                + assumption.constant;
            gradient.push(T::of(-violation));
        }
        parameters.violation.ascend(gradient, rate, step, NOT_NEGATIVE);
        if !parameters.optimise_links {
            return;
        }
        gradient.clear();
        let values = out.first.iter().zip(&out.second).zip(&out.difference);
        gradient.extend(values.map(|((x, y), d)| *x - *y - *d).take(outputs * count));
        parameters.output.ascend(gradient, rate, step, ANY);
    }
}

struct Ascend<'b, 'a, T: Real> {
    backward: &'b mut Backward<'a, T>,
    functionals: &'b [Functional],
    assumption: &'b Assumption,
    parameters: &'b mut Parameters<T>,
    rate: f64,
    step: i32,
}

impl<T: Real> vectorised::Task for Ascend<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.backward.ascend_all(self.functionals, self.assumption, self.parameters, self.rate, self.step);
    }
}
