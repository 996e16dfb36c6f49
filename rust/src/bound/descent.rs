//! A batch of functionals on its way from its first step down to the inputs: through functions, where functionals of a
//! step join, and through affine terms. See [`super::backward`] for what is computed.

use super::backward_workspace::{Backward, RelaxedPair};
use super::functional::{Coefficients, Functional, sign};
use super::lines::{LINE_UNITS, line_column};
use super::own_relaxations::exchange;
use super::parameters::Parameters;
use super::relu_kernels::{relu_column, relu_column_alone, relu_sums};
use super::rounding_cost::{PHASE_UNITS, RELU_UNITS, RoundingCost, relu_underflow};
use super::shared_inputs::reads_inputs;
use crate::domain::Quantity;
use crate::network::{Function, Origin, Tile};
use crate::numeric::real::Real;
use crate::numeric::round::U;

impl<T: Real> Backward<'_, T> {
    /// Takes all steps before `end` in reverse, until the coefficients of the inputs are complete. Without multipliers
    /// slopes are those of a start, and there are no links and no assumed signs.
    #[inline(always)]
    pub(super) fn descend<const BOUND: bool>(
        &mut self,
        end: usize,
        functionals: &[Functional],
        parameters: Option<&Parameters<T>>,
    ) {
        let (depth, count) = (self.pair.depth(), functionals.len());
        self.inputs.resize(self.pair.inputs() * count, T::ZERO);
        if end == depth {
            self.met.fill(false);
            self.inputs_written = false;
        }
        for step in (0..end).rev() {
            let rows = self.pair.first[step].rows;
            let assumed = parameters.is_some() && self.relaxed.phase_constraints.iter().any(|c| c.layer == step);
            if assumed || functionals.iter().any(|f| matches!(f, Functional::Neuron { layer, .. } if *layer == step)) {
                self.live.write_zeros(step, rows * count);
            }
            let Some((mut now, mut known)) = self.live.take(step, rows * count) else {
                // What nothing reads has no say: links and slopes are not used there.
                if let (Some(behind), Some(_)) = (self.behind_relu.get_mut(step), parameters) {
                    behind.clear(self.relaxed.relaxations[step].keep.len() * count);
                }
                continue;
            };
            self.met[step] = true;
            if BOUND && self.alone && step == 0 {
                self.totals.keep_above_first();
            }
            if step + 1 < depth {
                match self.pair.function(step) {
                    Function::Relu | Function::Curves(_) => {
                        self.function::<BOUND>(step, &mut now, count, parameters);
                        if parameters.is_some() || known[2] {
                            known = [true; 3];
                        }
                    }
                    Function::Identity => {}
                }
                self.join::<BOUND>(step, &mut now, functionals, parameters);
                if self.alone {
                    // A bound goes by what is there; steps know it.
                    known = if BOUND { now.nonzero() } else { [true, false, false] };
                }
            }
            self.affine::<BOUND>(step, &mut now, known, count);
            self.live.free(now);
        }
        if !self.inputs_written {
            self.inputs.fill(T::ZERO);
        }
    }

    /// What rounding in the terms of a step can cost; 0 where no bound is computed.
    #[inline(always)]
    fn cost_of(&self, step: usize) -> RoundingCost {
        self.relaxed.rounding_costs.get(step).copied().unwrap_or_default()
    }

    /// Through the terms of a step, backwards.
    #[inline(always)]
    fn affine<const BOUND: bool>(&mut self, step: usize, now: &mut Coefficients<T>, known: [bool; 3], count: usize) {
        let (a, b, d) = (&self.pair.first[step], &self.pair.second[step], &self.pair.difference[step]);
        let m = a.rows;
        let at_inputs = reads_inputs(&self.pair, step);
        let (cost, totals) = (self.cost_of(step), &mut self.totals);
        let weights = &self.weights[step];
        for f in 0..if BOUND { count } else { 0 } {
            let (p, q, s) = now.range(f * m..(f + 1) * m);
            let [b1, b2, b3] = weights.biases.each_ref().map(|bias| &bias[..m]);
            let mut sums = [T::ZERO; 5];
            for i in 0..m {
                let (x, y, z) = (p[i] * b1[i], q[i] * b2[i], s[i] * b3[i]);
                sums[0] += x + y + z;
                sums[1] += x.abs() + y.abs() + z.abs();
                sums[2] += p[i].abs();
                sums[3] += q[i].abs();
                sums[4] += s[i].abs();
            }
            let mut sums = sums.map(T::wide);
            totals.constant[f] += sums[0];
            totals.magnitude[f] += sums[1];
            if at_inputs {
                // p + q travels with A1, s - q with A1 - A2.
                (sums[2], sums[4]) = (sums[2] + sums[3], sums[4] + sums[3]);
            }
            totals.err[f] += sums[2] * cost.first + sums[3] * cost.second + sums[4] * cost.difference + cost.underflow;
        }
        let (live, panels) = (&mut self.live, &mut self.panels);
        let mut flops = 0;
        for (k, term) in d.terms.iter().enumerate() {
            let Origin::Step(j) = term.origin else { continue };
            let shape = (term.tile.columns, count);
            let mut add = |quantity: Quantity, tile: &Tile, weight: &[T], coefficients: &[T]| {
                let (out, accumulate) = live.slot(j, quantity, shape.0 * shape.1);
                tile.shape().transposed_product(out, weight, coefficients, shape, accumulate, panels);
                flops += (2 * tile.products() * count) as u64;
            };
            if let (Some(i), true) = (term.first, known[0]) {
                add(Quantity::First, &a.terms[i].tile, &weights.first[i], &now.first);
            }
            if let (Some(i), true) = (term.second, known[1]) {
                add(Quantity::Second, &b.terms[i].tile, &weights.second[i], &now.second);
            }
            if !term.zero && known[2] {
                add(Quantity::Second, &term.tile, &weights.difference[k], &now.difference);
            }
            if let (Some(i), true) = (term.first, known[2]) {
                add(Quantity::Difference, &a.terms[i].tile, &weights.first[i], &now.difference);
            }
        }
        if at_inputs {
            let inputs = &mut self.inputs;
            let place = (&*self.pair, step, weights);
            flops += self.shared_inputs.backwards(place, now, known, inputs, &mut self.inputs_written, panels);
        }
        self.flops += flops;
    }

    /// Begins a batch of functionals of one step, all of the same quantity: each gives a row of the step's tiles to the
    /// steps below, and a bias to its constant.
    ///
    /// No product is rounded here, but entries of a row that read the same number are summed up, and so are rows of
    /// several terms and of A1 and A1 - A2 at the inputs: fewer than what the cost of one unit of |p|, |q| or |s| counts.
    #[inline(always)]
    pub(super) fn begin_at(&mut self, step: usize, functionals: &[Functional]) {
        let count = functionals.len();
        let (a, b, d) = (&self.pair.first[step], &self.pair.second[step], &self.pair.difference[step]);
        self.met.fill(false);
        let at_inputs = reads_inputs(&self.pair, step);
        self.inputs_written = at_inputs;
        self.inputs.clear();
        self.inputs.resize(self.pair.inputs() * count, T::ZERO);
        let cost = self.cost_of(step);
        for (f, functional) in functionals.iter().enumerate() {
            let Functional::Neuron { quantity, neuron, negative, .. } = *functional else { continue };
            let (of_step, per_unit, of_input) = match quantity {
                Quantity::First => (a.bias[neuron], cost.first, 0.0),
                Quantity::Second => (b.bias[neuron], cost.second, cost.first + cost.difference),
                Quantity::Difference => (d.bias[neuron], cost.difference, 0.0),
            };
            self.totals.constant[f] += sign(negative) * of_step;
            self.totals.magnitude[f] += of_step.abs();
            self.totals.err[f] += per_unit + if at_inputs { of_input } else { 0.0 } + cost.underflow;
        }
        let (live, all_inputs) = (&mut self.live, &mut self.inputs);
        for term in &d.terms {
            let n = term.tile.columns;
            let mut add = |to: Quantity, tile: &Tile, of: Quantity| {
                let out = match term.origin {
                    Origin::Inputs => &mut all_inputs[..],
                    Origin::Step(j) => live.zeros(j, to, n * count),
                };
                for (functional, out) in functionals.iter().zip(out.chunks_exact_mut(n.max(1))) {
                    let Functional::Neuron { quantity, neuron, negative, .. } = *functional else { continue };
                    if quantity == of {
                        tile.row(neuron, |j, at| out[j] += T::of(sign(negative) * tile.weight[at]));
                    }
                }
            };
            let of_batch = match functionals.first() {
                Some(Functional::Neuron { quantity, .. }) => *quantity,
                _ => return,
            };
            match (of_batch, term.first, term.second) {
                (Quantity::First, Some(i), _) => add(Quantity::First, &a.terms[i].tile, Quantity::First),
                (Quantity::Second, _, Some(i)) => add(Quantity::Second, &b.terms[i].tile, Quantity::Second),
                (Quantity::Difference, of_first, _) => {
                    if !term.zero {
                        add(Quantity::Second, &term.tile, Quantity::Difference);
                    }
                    if let (Some(i), Origin::Step(_)) = (of_first, term.origin) {
                        add(Quantity::Difference, &a.terms[i].tile, Quantity::Difference);
                    }
                }
                _ => {}
            }
        }
    }

    /// Through the functions of a step, backwards.
    #[inline(always)]
    fn function<const BOUND: bool>(
        &mut self,
        step: usize,
        now: &mut Coefficients<T>,
        count: usize,
        parameters: Option<&Parameters<T>>,
    ) {
        let RelaxedPair { relaxations, own, .. } = &mut self.relaxed;
        // Neurons behind the first u pass unchanged ([`super::restriction`]).
        let (m, u) = (self.pair.first[step].rows, relaxations[step].keep.len());
        let (behind, totals, units) = (&mut self.behind_relu[step], &mut self.totals, &mut self.link_units[step]);
        let (column, links) = &mut self.column;
        if let Some(parameters) = parameters {
            behind.resize(u * count);
            if parameters.relative_links {
                units.clear();
                (0..count).for_each(|f| units.extend_from_slice(&now.difference[f * m..f * m + u]));
            }
        } else {
            column.resize(u);
            links.clear();
            links.resize(u, T::ZERO);
        }
        let (underflow, curved) =
            (relu_underflow(m, relaxations[step].size), !relaxations[step].lines.neurons.is_empty());
        let units_of_roundoff = if curved { LINE_UNITS } else { RELU_UNITS };
        for f in 0..count {
            exchange(own, &mut relaxations[step], f, step);
            let r = &relaxations[step];
            let v = r.view(u);
            let range = f * u..(f + 1) * u;
            let (p, q, s) = now.range_mut(f * m..f * m + u);
            let (kept, multipliers) = if let Some(parameters) = parameters {
                let layer = &parameters.layers[step];
                let mut link = &layer.link.value[range.clone()];
                if parameters.relative_links {
                    links.clear();
                    links.extend(link.iter().zip(&*s).map(|(share, s)| *share * *s));
                    link = links;
                }
                let slopes = (&layer.alpha1.value[range.clone()], &layer.alpha2.value[range.clone()]);
                (behind.range_mut(range), (link, slopes.0, slopes.1))
            } else {
                let of_step = if curved { 0 } else { u };
                let slopes = (&r.first.start[..of_step], &r.second.start[..of_step]);
                (column.range_mut(0..u), (&links[..u], slopes.0, slopes.1))
            };
            let (constant, magnitude, norm) = if curved {
                line_column((p, q, s), kept, multipliers, &r.lines.neurons)
            } else {
                let sums = if BOUND { relu_sums((p, q, s), multipliers.0, v) } else { Default::default() };
                if self.alone && !BOUND {
                    relu_column_alone(p, kept.0, multipliers.1, v);
                } else {
                    relu_column((p, q, s), kept, multipliers, v);
                }
                (sums.0.wide(), sums.1.wide(), sums.2.wide())
            };
            totals.constant[f] += constant;
            totals.magnitude[f] += magnitude;
            totals.err[f] += units_of_roundoff * U * (norm + 1.0) * r.size + underflow;
            exchange(own, &mut relaxations[step], f, step);
        }
    }

    /// Joins what is known or asked of a step before its function: assumed signs, and functionals of this step.
    #[inline(always)]
    fn join<const BOUND: bool>(
        &mut self,
        step: usize,
        now: &mut Coefficients<T>,
        functionals: &[Functional],
        parameters: Option<&Parameters<T>>,
    ) {
        let m = self.pair.first[step].rows;
        let size = self.relaxed.relaxations[step].size;
        let phases = &self.relaxed.phase_constraints;
        for (f, functional) in functionals.iter().enumerate() {
            let (p, q, s) = now.range_mut(f * m..(f + 1) * m);
            for (k, phase) in phases.iter().enumerate().filter(|(_, phase)| phase.layer == step) {
                let Some(parameters) = parameters else { break };
                // Minus beta times what is assumed to be >= 0.
                let beta = parameters.phases.value[f * phases.len() + k];
                let coefficient = match phase.quantity {
                    Quantity::First => &mut p[phase.index],
                    Quantity::Second => &mut q[phase.index],
                    Quantity::Difference => &mut s[phase.index],
                };
                *coefficient -= if phase.positive { beta } else { -beta };
                if BOUND {
                    self.totals.err[f] += PHASE_UNITS * U * (coefficient.abs() + beta).wide() * size;
                }
            }
            match *functional {
                Functional::Neuron { quantity, layer, neuron, negative } if layer == step => {
                    let coefficient = match quantity {
                        Quantity::First => &mut p[neuron],
                        Quantity::Second => &mut q[neuron],
                        Quantity::Difference => &mut s[neuron],
                    };
                    *coefficient += T::of(sign(negative));
                    if BOUND && self.pair.function(step).is_identity() {
                        // Behind a function this is part of what the relaxations cost.
                        self.totals.err[f] += RELU_UNITS * U * (coefficient.abs() + T::ONE).wide() * size;
                    }
                }
                _ => {}
            }
        }
    }
}
