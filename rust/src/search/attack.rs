//! Looking for a counterexample by a sequence of linear programs.
//!
//! Around a point both networks are linear, and so are the violation and, to first order, the guard. The best point of a small box for "largest violation
//! subject to the guard" is found by sorting: every coordinate goes to the end that the violation prefers, then those that cost it least per gain are moved
//! until the guard holds. The box grows while this pays and shrinks where it does not. On jets at the border of what is true this finds violations that
//! gradient steps of fixed size miss by far.
//!
//! Starts are the centre, and random points and corners of a fixed sequence, so that runs repeat. What is found is only a candidate.

use super::Node;
use super::worker::Context;
use crate::bound::Assumption;
use crate::network::Pair;
use crate::network::gradient::Differentiator;

/// How hard to try.
#[derive(Debug, Clone, Copy)]
pub struct Zeal {
    /// Starting points per obligation.
    pub starts: u64,
    /// Whether the first of them is the centre.
    pub centre: bool,
    /// Steps from each, at most.
    pub steps: i32,
}

/// A worker's tools for attacks.
#[derive(Default)]
pub struct Attack {
    differentiator: Differentiator,
    here: Place,
    there: Place,
    outputs: [Vec<f64>; 2],
    slope: Vec<f64>,
    order: Vec<usize>,
    /// Starts so far, so that no two are the same.
    starts: u64,
    flops: u64,
}

/// A point with what counts there.
#[derive(Debug, Default, Clone)]
struct Place {
    point: Vec<f64>,
    violation: f64,
    slack: f64,
    /// Derivatives of the violation and of the slack.
    up: Vec<f64>,
    inside: Vec<f64>,
}

impl Place {
    fn violates(&self) -> bool {
        self.violation > 0.0 && self.slack >= 0.0
    }

    /// To be made large: the violation, less a price for missing the guard.
    fn merit(&self) -> f64 {
        // Without a guard the slack is infinite.
        self.violation + 3.0 * self.slack.min(0.0)
    }
}

/// Steps shorter than this share of the box change nothing any more.
const SHORTEST: f64 = 1e-4;

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
    /// Additions and multiplications so far.
    pub fn flops(&self) -> u64 {
        self.flops
    }

    /// Attacks the given linear obligations on a node's box; true if a witness was found.
    ///
    /// `attempt` tries a point for good.
    pub fn run(
        &mut self,
        context: &Context<'_>,
        node: &Node,
        obligations: impl Iterator<Item = usize>,
        zeal: Zeal,
        mut attempt: impl FnMut(&[f64]) -> bool,
    ) -> bool {
        for o in obligations {
            let Some(goal) =
                Assumption::new(context.property, &context.property.obligations[o], context.pair.outputs())
            else {
                continue;
            };
            for start in 0..zeal.starts {
                if context.shared.stopping() {
                    return false;
                }
                self.start(node, zeal.centre && start == 0);
                if self.climb(context, node, &goal, zeal.steps) && attempt(&self.here.point) {
                    return true;
                }
            }
        }
        false
    }

    /// Takes up a starting point: the centre, or random points and random corners in turn.
    fn start(&mut self, node: &Node, centre: bool) {
        self.starts += 1;
        let mut random = self.starts << 20;
        let corner = self.starts.is_multiple_of(2);
        let ends = node.lower.iter().zip(&node.upper);
        self.here.point.clear();
        self.here.point.extend(ends.map(|(&l, &u)| {
            let share = match (centre, corner) {
                (true, _) => 0.5,
                (false, true) => uniform(&mut random).round(),
                (false, false) => uniform(&mut random),
            };
            l + share * (u - l)
        }));
    }

    /// Climbs from the current point until the violation and the guard look met; whether they do.
    fn climb(&mut self, context: &Context<'_>, node: &Node, goal: &Assumption, steps: i32) -> bool {
        let mut here = std::mem::take(&mut self.here);
        let mut there = std::mem::take(&mut self.there);
        self.look(context.pair, goal, &mut here);
        let mut reach = 0.5;
        for _ in 0..steps {
            if here.violates() || reach < SHORTEST {
                break;
            }
            self.step(node, &here, reach, &mut there.point);
            context.region.approach(&mut there.point);
            for (x, (l, u)) in there.point.iter_mut().zip(node.lower.iter().zip(&node.upper)) {
                *x = x.clamp(*l, *u);
            }
            self.look(context.pair, goal, &mut there);
            if there.merit() > here.merit() {
                std::mem::swap(&mut here, &mut there);
                reach = (1.5 * reach).min(1.0);
            } else {
                reach *= 0.4;
            }
        }
        let found = here.violates();
        (self.here, self.there) = (here, there);
        found
    }

    /// Values and derivatives at a point.
    fn look(&mut self, pair: &Pair, goal: &Assumption, place: &mut Place) {
        let (first, second) = self.differentiator.at(pair, &place.point);
        place.violation = goal.violation_at(first, second);
        place.slack = goal.slack_at(first, &mut self.slope);
        let [a, b] = &mut self.outputs;
        a.clear();
        a.extend(goal.first.iter().zip(&goal.difference).map(|(a, d)| a + d));
        b.clear();
        b.extend(goal.second.iter().zip(&goal.difference).map(|(b, d)| b - d));
        self.differentiator.gradient(pair, a, b, &mut place.up);
        b.fill(0.0);
        self.differentiator.gradient(pair, &self.slope, b, &mut place.inside);
        // Two passes forwards, three backwards.
        self.flops += 5 * pair.first.iter().map(|l| 2 * (l.rows * l.columns) as u64).sum::<u64>();
    }

    /// The best point, to first order, of the node's box within `reach` of its width around a place.
    fn step(&mut self, node: &Node, from: &Place, reach: f64, to: &mut Vec<f64>) {
        let span = |i: usize| {
            let (l, u, x) = (node.lower[i], node.upper[i], from.point[i]);
            let width = reach * (u - l);
            ((x - width).max(l), (x + width).min(u))
        };
        let (up, inside) = (&from.up, &from.inside);
        to.clear();
        to.extend((0..up.len()).map(|i| {
            let (l, u) = span(i);
            if up[i] > 0.0 || (up[i] == 0.0 && inside[i] >= 0.0) { u } else { l }
        }));
        let mut slack = from.slack;
        slack += inside.iter().zip(to.iter().zip(&from.point)).map(|(g, (y, x))| g * (y - x)).sum::<f64>();
        if slack.is_nan() || slack >= 0.0 {
            return;
        }
        let other = |i: usize, at: f64| {
            let (l, u) = span(i);
            if at == u { l } else { u }
        };
        self.order.clear();
        self.order.extend((0..up.len()).filter(|&i| inside[i] * (other(i, to[i]) - to[i]) > 0.0));
        let price = |i: usize| (up[i] / inside[i]).abs();
        self.order.sort_by(|&a, &b| price(a).total_cmp(&price(b)));
        for &i in &self.order {
            let move_to = other(i, to[i]);
            let gain = inside[i] * (move_to - to[i]);
            if slack + gain >= 0.0 {
                to[i] += (move_to - to[i]) * (-slack / gain);
                return;
            }
            to[i] = move_to;
            slack += gain;
        }
    }
}
