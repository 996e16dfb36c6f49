//! Bounds of one network by itself from the convex hull of each ReLU of the first step over the *box* of the inputs.
//!
//! # Source
//! The triangle relaxation of a ReLU knows of its argument no more than a range. Over a box of inputs its hull is much
//! smaller: at a corner it is the ReLU itself, where the triangle still has its chord (Anderson, Huchette, Ma,
//! Tjandraatmadja, Vielma, "Strong mixed-integer programming formulations for trained neural networks", 2020;
//! Tjandraatmadja et al., "The convex relaxation barrier, revisited", NeurIPS 2020). There are exponentially many
//! facets, so they are made when they are needed, as in De Palma et al., "Scaling the convex barrier with active sets",
//! ICLR 2021. Behind a wide first step this is most of what bounds of the second one lack.
//!
//! # The bound
//! Let z = least + sum over i of m_i t_i with m_i >= 0, where t_i in \[0, 1\] is the place of an input in its range, from
//! the end at which z is least. For every q_i in \[0, 1\]
//!     relu(z) <= h + sum of q_i m_i t_i,    h = max(0, least + sum of (1 - q_i) m_i),
//! since z <= (least + sum of (1 - q_i) m_i) + sum of q_i m_i t_i. The chord has one q for all inputs. At a point t the
//! lowest of these planes has h = 0 and q = 0 where t is large, as far as `least` reaches, and q = 1 where it is small:
//! the Lovász extension of what ReLU makes of sets of inputs. From below, relu(z) >= 0 and >= z.
//!
//! So a functional of the first step's ReLUs has a plane above it at every point of the box, and its maximum over the box is at
//! most the maximum of any average of such planes, which is a sum over inputs. The points are where the average so far
//! is largest, softened less and less (Frank-Wolfe on a smoothed maximum; Jaggi, ICML 2013). Places are rounded to a few
//! levels, since inputs of one level may share one q: then a plane takes two passes over the weights.
//!
//! # Rounding
//! Any levels and any weights of the average in \[0, 1\] are sound, so all that rounds is in planes. Each of their numbers
//! is a sum of no more than N products, where N is below four times the numbers of inputs, neurons, levels and planes
//! together, and the absolute sum of all of them is at most the mass of the functional: what |a_j| weighs, summed up over
//! the neurons, with |base_j|, every |m_i| and the height of a chord. That h is 0 is off by as much as the q are rounded,
//! which the same sum covers. What the weights, and products of a weight and the width of a range, are off by is an
//! error of z, and ReLU passes it on at most. A product that underflows loses at most the smallest subnormal, of a coefficient
//! or of what a range is multiplied by; where the mass is so large that a sum might overflow, nothing is concluded.

use super::backward::Backward;
use super::functional::{Functional, sign};
use super::hull_planes::{First, Planes, TOGETHER, TOP};
use super::parameters::Parameters;
use super::rounding_cost::{ACCOUNT, constant_rounding};
use crate::domain::Quantity;
use crate::numeric::round::{TINY, down, gamma};
use crate::numeric::vectorised;

/// The largest mass of a functional that is bounded.
const LARGEST: f64 = 1e300;

impl Backward<'_> {
    /// Raises lower bounds of functionals of f1 by the hulls of the first step's ReLUs, within the bounds that were set.
    /// The functionals must have been evaluated last, with these multipliers and without constraints of a region.
    pub(super) fn raise_by_hulls(
        &mut self,
        functionals: &[Functional],
        parameters: &Parameters,
        planes: usize,
        best: &mut [f64],
    ) {
        let of_others = self.relaxed.phase_constraints.iter().any(|p| p.layer == 0 && p.quantity != Quantity::First);
        // Where no coefficient reached the first step there is nothing to gain.
        let met = self.totals.above_first.constant.len() == functionals.len();
        if planes == 0 || !self.alone || of_others || !met || self.behind_relu.is_empty() {
            return;
        }
        let [_, second, difference] = self.behind_relu[0].nonzero();
        if second || difference {
            return;
        }
        let Some(first) = First::of(self) else { return };
        let work = (6 * first.gains.len() * planes * functionals.len()) as u64;
        for (number, chunk) in functionals.chunks(TOGETHER).enumerate() {
            vectorised::run(Raise {
                backward: self,
                first: &first,
                functionals: chunk,
                from: number * TOGETHER,
                parameters,
                planes,
                best: &mut best[number * TOGETHER..],
            });
        }
        self.flops += work;
    }

    /// What joins a functional at the first step before its ReLUs: assumed signs, and a neuron of this step.
    fn joined(&self, f: usize, functional: Functional, parameters: &Parameters, linear: &mut [f64]) {
        let phases = &self.relaxed.phase_constraints;
        for (k, phase) in phases.iter().enumerate().filter(|(_, phase)| phase.layer == 0) {
            let beta = parameters.phases.value[f * phases.len() + k];
            linear[phase.index] -= if phase.positive { beta } else { -beta };
        }
        if let Functional::Neuron { layer: 0, neuron, negative, .. } = functional {
            linear[neuron] += sign(negative);
        }
    }
}

struct Raise<'b, 'a> {
    backward: &'b Backward<'a>,
    first: &'b First<'b>,
    functionals: &'b [Functional],
    from: usize,
    parameters: &'b Parameters,
    planes: usize,
    best: &'b mut [f64],
}

impl vectorised::Task for Raise<'_, '_> {
    type Output = ();

    #[inline(always)]
    #[allow(clippy::cast_precision_loss)]
    fn run(self) {
        let Self { backward, first, functionals, from, parameters, planes: count, best } = self;
        let m = first.base.len();
        let operations = 4 * (first.inputs() + m + TOP + count) + 64;
        let (mut planes, mut masses) = (Planes::default(), Vec::new());
        for (k, functional) in functionals.iter().enumerate() {
            let f = from + k;
            let behind = &backward.behind_relu[0].first[f * m..(f + 1) * m];
            let slopes = &parameters.layers[0].alpha1.value[f * m..(f + 1) * m];
            let mut linear = vec![0.0; m];
            backward.joined(f, *functional, parameters, &mut linear);
            let (mut mass, mut error) = (f64::MIN_POSITIVE, operations as f64 * TINY * first.unit + f64::MIN_POSITIVE);
            for j in 0..m {
                let size = behind[j].abs() + linear[j].abs();
                mass += size * first.mass[j];
                error += size * first.error[j];
            }
            masses.push((mass, error));
            planes.begin(first, &backward.relaxed.relaxations[0].first, (behind, slopes, &mut linear));
        }
        for plane in 0..count {
            planes.place(first.inputs(), plane as f64 / count as f64);
            planes.sum_up(first);
            let constants = planes.choose(first);
            planes.average(first, &constants, 2.0 / (plane as f64 + 3.0));
        }
        let rounding = constant_rounding(&backward.pair, 0);
        let above = &backward.totals.above_first;
        for (k, (mass, error)) in masses.into_iter().enumerate() {
            let (f, highest) = (from + k, planes.best[k]);
            let of_planes = gamma(2 * operations) * mass + error;
            let of_others = above.err[f] + rounding * (above.magnitude[f] + mass);
            let lower = down(down(above.constant[f] - highest) - ACCOUNT * (of_planes + of_others));
            // Below this nothing can have overflown on the way.
            if mass < LARGEST && error < LARGEST && highest.is_finite() && lower.is_finite() {
                best[k] = best[k].max(lower);
            }
        }
    }
}
