//! Looking for a counterexample by projected gradient ascent on the violation.
//!
//! Steps follow the signs of the gradient, shrinking from a quarter of the box's width; where the guard is not met its slack is climbed as well. Starts are the
//! centre and random points of a fixed sequence, so that runs repeat. What is found is only a candidate.

use super::Node;
use super::worker::Context;
use crate::bound::Assumption;
use crate::network::gradient::Differentiator;

/// How hard to try.
#[derive(Debug, Clone, Copy)]
pub struct Zeal {
    /// Starting points per obligation.
    pub starts: u64,
    /// Steps from each.
    pub steps: i32,
}

/// A worker's tools for attacks.
#[derive(Default)]
pub struct Attack {
    differentiator: Differentiator,
    point: Vec<f64>,
    violation: Vec<f64>,
    guard: Vec<f64>,
    slope: Vec<f64>,
    zeros: Vec<f64>,
}

/// A fixed sequence of numbers in [0, 1) (`SplitMix64`).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    #[allow(clippy::cast_precision_loss)]
    let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
    unit
}

impl Attack {
    /// Attacks every open linear obligation on a node's box; true if a witness was found.
    ///
    /// `attempt` tries a point for good.
    pub fn run(
        &mut self,
        context: &Context<'_>,
        node: &Node,
        zeal: Zeal,
        mut attempt: impl FnMut(&[f64]) -> bool,
    ) -> bool {
        for o in node.open.iter() {
            let Some(goal) =
                Assumption::new(context.property, &context.property.obligations[o], context.pair.outputs())
            else {
                continue;
            };
            for start in 0..zeal.starts {
                if context.shared.stopping() {
                    return false;
                }
                let mut random = (o as u64) << 32 | start;
                self.point.clear();
                for (&l, &u) in node.lower.iter().zip(&node.upper) {
                    self.point.push(if start == 0 { l + 0.5 * (u - l) } else { l + uniform(&mut random) * (u - l) });
                }
                if self.climb(context, node, &goal, zeal.steps) && attempt(&self.point) {
                    return true;
                }
            }
        }
        false
    }

    /// Climbs from the current point until the violation and the guard look met; whether they do.
    fn climb(&mut self, context: &Context<'_>, node: &Node, goal: &Assumption, steps: i32) -> bool {
        let pair = context.pair;
        self.zeros.clear();
        self.zeros.resize(pair.outputs(), 0.0);
        for step in 0..steps {
            let (first, second) = self.differentiator.at(pair, &self.point);
            let (violation, slack) = (goal.violation_at(first, second), goal.slack_at(first, &mut self.slope));
            if violation > 0.0 && slack >= 0.0 {
                return true;
            }
            let second: Vec<f64> = goal.second.iter().zip(&goal.difference).map(|(b, d)| b - d).collect();
            let first: Vec<f64> = goal.first.iter().zip(&goal.difference).map(|(a, d)| a + d).collect();
            self.differentiator.gradient(pair, &first, &second, &mut self.violation);
            let scale = |g: &[f64]| {
                1.0 / g
                    .iter()
                    .zip(node.lower.iter().zip(&node.upper))
                    .map(|(g, (l, u))| (g * (u - l)).abs())
                    .sum::<f64>()
                    .max(1e-300)
            };
            let mut weights = (scale(&self.violation), 0.0);
            if slack < 0.0 {
                self.differentiator.gradient(pair, &self.slope, &self.zeros, &mut self.guard);
                // Where the violation is met already, only the guard is climbed.
                weights = (if violation > 0.0 { 0.0 } else { weights.0 }, scale(&self.guard));
            } else {
                self.guard.clear();
                self.guard.resize(self.point.len(), 0.0);
            }
            let rate = 0.25 * 0.85f64.powi(step);
            for (i, x) in self.point.iter_mut().enumerate() {
                let g = weights.0 * self.violation[i] + weights.1 * self.guard[i];
                let (l, u) = (node.lower[i], node.upper[i]);
                let width = rate * (u - l);
                *x = (*x
                    + if g > 0.0 {
                        width
                    } else if g < 0.0 {
                        -width
                    } else {
                        0.0
                    })
                .clamp(l, u);
            }
            context.region.approach(&mut self.point);
            for (x, (l, u)) in self.point.iter_mut().zip(node.lower.iter().zip(&node.upper)) {
                *x = x.clamp(*l, *u);
            }
        }
        false
    }
}
