//! Gradient ascent towards a violation, many ascents side by side so that each layer of the networks is one matrix
//! product.
//!
//! A relative of projected gradient descent (PGD: Madry et al., *Towards deep learning models resistant to adversarial
//! attacks*, ICLR 2018). The step is ours: around a point both networks are linear, and so are the violation and, to
//! first order, the guard. The best point of a small box for "largest violation subject to the guard" is found by
//! sorting: every coordinate goes to the end that the violation prefers, then those that lose least per gain are moved
//! back until the guard holds. An ascent goes on in one of two ways:
//! - climbing goes only to better points; the box grows while this pays and shrinks where it does not. On jets at the
//!   border of what is true this finds violations that steps of fixed size miss by far;
//! - annealing goes wherever the step leads, by a mean of the last derivatives, with boxes that shrink by a schedule.
//!   On digits, where nearly every coordinate ends in a corner and climbing soon stops, this finds violations that
//!   climbing does not.
//!
//! Starts are the centre, and random points and corners of a fixed sequence, so that runs repeat. What is found is only
//! a candidate.

use crate::bound::Assumption;
use crate::network::Step;
use crate::network::gradient::Differentiator;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::generator::uniform;
use std::ops::Range;

/// How much is spent on one attack.
#[derive(Debug, Clone)]
pub struct AttackBudget {
    /// Starting points per obligation, out of an endless sequence.
    pub starts: Range<u64>,
    /// Whether the first of the sequence is the centre.
    pub from_centre: bool,
    /// The most steps from each start.
    pub steps: u32,
    /// Another seed gives other starts.
    pub seed: u64,
}

/// A worker's tools for gradient ascent.
#[derive(Default)]
pub struct GradientSearch {
    differentiator: Differentiator,
    /// Ascents; those that still go on come first.
    ascents: Vec<Ascent>,
    batch: Batch,
    order: Vec<usize>,
    /// The best merit that was reached for each obligation.
    best: Vec<f64>,
}

/// So many ascents are made side by side: enough for full matrix products, few enough to stay in the cache.
const SIDE_BY_SIDE: usize = 32;

/// The most products of one step of all ascents that are made side by side: of large networks there are fewer of them, so
/// that the clock is looked at several times a second.
const AT_ONCE: usize = 1 << 28;

/// Steps shorter than this share of the box change nothing any more.
const SHORTEST: f64 = 1e-4;

/// The factor by which earlier derivatives fade in the mean with each step (momentum).
const MOMENTUM: f64 = 0.7;

/// In a step of annealing, coordinates stay where they are if the mean of their last derivatives is below a random
/// share of the largest one; this is the largest such share.
const RESTING: f64 = 0.1;

/// How far the first step of an ascent goes, as a share of the box.
const FIRST_REACH: f64 = 0.5;

/// The factor on the reach of a climbing ascent after a step to a better point, up to the whole box.
const LONGER: f64 = 1.5;

/// The factor on the reach of a climbing ascent after a step to no better point.
const SHORTER: f64 = 0.4;

/// The reach of an annealing ascent after its last step, as a share of the box; before it the reach shrinks evenly.
const LAST_REACH: f64 = 0.01;

/// A point, how far it violates, how far it meets the guard, and the derivatives of both.
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

    /// What an ascent makes large.
    fn merit(&self) -> f64 {
        Assumption::merit(self.violation, self.slack)
    }
}

/// One sequence of steps.
#[derive(Debug, Default, Clone)]
struct Ascent {
    /// The number of the goal that it ascends to.
    goal: usize,
    here: Place,
    /// The next point.
    next: Vec<f64>,
    /// How far a step may go, as a share of the box.
    reach: f64,
    annealing: bool,
    /// The fading mean of the violation's derivatives on the way here, those of each point scaled to a largest one of
    /// 1.
    mean: Vec<f64>,
    random: u64,
}

/// What is computed for all ascents at once, one point after the other.
#[derive(Default)]
struct Batch {
    points: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    slopes: Vec<f64>,
    none: Vec<f64>,
    slope: Vec<f64>,
    values: Vec<(f64, f64)>,
    up: Vec<f64>,
    inside: Vec<f64>,
}

impl GradientSearch {
    /// Additions and multiplications so far.
    pub fn flops(&self) -> u64 {
        self.differentiator.flops()
    }

    /// Of these obligations the few that attacks came nearest to violating, the nearest first.
    pub fn nearest(&self, obligations: impl Iterator<Item = usize>, few: usize) -> Vec<usize> {
        let mut known: Vec<_> = obligations.filter_map(|o| self.best.get(o).map(|&merit| (o, merit))).collect();
        known.sort_by(|a, b| b.1.total_cmp(&a.1));
        known.into_iter().take(few).map(|(o, _)| o).collect()
    }

    /// Attacks the given linear obligations on a node's box; true if a witness was found. `test` tells whether a point
    /// becomes the witness.
    pub fn run(
        &mut self,
        context: &Context<'_>,
        node: &Node,
        obligations: impl Iterator<Item = usize>,
        budget: &AttackBudget,
        mut test: impl FnMut(&[f64]) -> bool,
    ) -> bool {
        let goals: Vec<(usize, Assumption)> = obligations.filter_map(|o| Some((o, context.assumption(o)?))).collect();
        // All goals at their first start, then all at their second one: what is easy to find is found soon.
        let mut starts = budget.starts.clone().flat_map(|start| (0..goals.len()).map(move |goal| (start, goal)));
        let products: usize = context.pair.first.iter().map(Step::products).sum();
        let side_by_side = (AT_ONCE / products.max(1)).clamp(1, SIDE_BY_SIDE);
        loop {
            let mut count = 0;
            for (start, goal) in starts.by_ref().take(side_by_side) {
                if count == self.ascents.len() {
                    self.ascents.push(Ascent::default());
                }
                self.ascents[count].start(node, goal, start, budget);
                count += 1;
            }
            if count == 0 {
                return false;
            }
            if self.ascend(context, node, &goals, budget.steps, count, &mut test) {
                return true;
            }
            if context.shared.stopping() {
                return false;
            }
        }
    }

    /// Ascends from the first `count` starts; true if one of them led to a witness.
    fn ascend(
        &mut self,
        context: &Context<'_>,
        node: &Node,
        goals: &[(usize, Assumption)],
        steps: u32,
        mut count: usize,
        test: &mut impl FnMut(&[f64]) -> bool,
    ) -> bool {
        let mut taken = 0;
        loop {
            self.evaluate(context, goals, count);
            let mut running = 0;
            for i in 0..count {
                let ascent = &mut self.ascents[i];
                ascent.arrive(&self.batch, i, taken, steps);
                let (o, merit) = (goals[ascent.goal].0, ascent.here.merit());
                if self.best.len() <= o {
                    self.best.resize(o + 1, f64::NEG_INFINITY);
                }
                self.best[o] = self.best[o].max(merit);
                if ascent.here.violates() {
                    if test(&ascent.here.point) {
                        return true;
                    }
                } else if ascent.reach >= SHORTEST {
                    self.ascents.swap(running, i);
                    running += 1;
                }
            }
            count = running;
            if count == 0 || taken == steps || context.shared.stopping() {
                return false;
            }
            for ascent in &mut self.ascents[..count] {
                ascent.aim(node, &mut self.order);
                context.region.approach(&mut ascent.next, &node.lower, &node.upper);
            }
            taken += 1;
        }
    }

    /// Evaluates values and derivatives at the next points of the first `count` ascents.
    fn evaluate(&mut self, context: &Context<'_>, goals: &[(usize, Assumption)], count: usize) {
        let (pair, ascents) = (context.pair, &self.ascents[..count]);
        let Batch { points, first, second, slopes, none, slope, values, up, inside } = &mut self.batch;
        for buffer in [&mut *points, first, second, slopes, none] {
            buffer.clear();
        }
        values.clear();
        points.extend(ascents.iter().flat_map(|a| &a.next));
        let outputs = pair.outputs();
        let (f1, f2) = self.differentiator.at(pair, points, count);
        for (ascent, (x, y)) in ascents.iter().zip(f1.chunks_exact(outputs).zip(f2.chunks_exact(outputs))) {
            let goal = &goals[ascent.goal].1;
            values.push((goal.violation_at(x, y), goal.slack_at(x, slope)));
            first.extend(goal.first.iter().zip(&goal.difference).map(|(a, d)| a + d));
            second.extend(goal.second.iter().zip(&goal.difference).map(|(b, d)| b - d));
            slopes.extend_from_slice(slope);
        }
        none.resize(outputs * count, 0.0);
        self.differentiator.gradient(pair, first, second, up);
        self.differentiator.gradient(pair, slopes, none, inside);
    }
}

impl Ascent {
    /// Begins at a start: the centre, or random points and random corners in turn, from which ascents climb and anneal
    /// in turn.
    fn start(&mut self, node: &Node, goal: usize, start: u64, budget: &AttackBudget) {
        self.goal = goal;
        self.random = (budget.seed << 24) ^ (start << 12) ^ goal as u64;
        // Numbers that differ in few bits give sequences that are alike at first.
        uniform(&mut self.random);
        self.reach = FIRST_REACH;
        let (centre, corner) = (budget.from_centre && start == 0, start % 2 == 1);
        self.annealing = !centre && (start + budget.seed) % 4 < 2;
        self.next.clear();
        for (&l, &u) in node.lower.iter().zip(&node.upper) {
            let share = match (centre, corner) {
                (true, _) => 0.5,
                (false, true) => uniform(&mut self.random).round(),
                (false, false) => uniform(&mut self.random),
            };
            self.next.push(l + share * (u - l));
        }
        self.mean.clear();
        self.mean.resize(self.next.len(), 0.0);
        self.here.violation = f64::NEG_INFINITY;
        self.here.slack = f64::INFINITY;
    }

    /// Goes to the next point, the `i`th of a batch, or stays if that is no better. Sets how far the next step may go.
    fn arrive(&mut self, batch: &Batch, i: usize, taken: u32, steps: u32) {
        let inputs = self.next.len();
        let there = Place { violation: batch.values[i].0, slack: batch.values[i].1, ..Place::default() };
        let better = there.merit() > self.here.merit();
        if taken > 0 {
            self.reach = match (self.annealing, better) {
                (true, _) => FIRST_REACH * f64::from(steps - taken) / f64::from(steps) + LAST_REACH,
                (false, true) => (LONGER * self.reach).min(1.0),
                (false, false) => SHORTER * self.reach,
            };
        }
        if self.annealing || better || taken == 0 {
            let part = i * inputs..(i + 1) * inputs;
            (self.here.violation, self.here.slack) = (there.violation, there.slack);
            for (to, from) in [(&mut self.here.up, &batch.up), (&mut self.here.inside, &batch.inside)] {
                to.clear();
                to.extend_from_slice(&from[part.clone()]);
            }
            std::mem::swap(&mut self.here.point, &mut self.next);
            let largest = self.here.up.iter().fold(f64::MIN_POSITIVE, |a, g| a.max(g.abs()));
            self.mean.iter_mut().zip(&self.here.up).for_each(|(m, g)| *m = MOMENTUM * *m + g / largest);
        }
    }

    /// The best point, to first order, of the node's box within `reach` of its width around here.
    fn aim(&mut self, node: &Node, order: &mut Vec<usize>) {
        let (from, reach, to) = (&self.here, self.reach, &mut self.next);
        let span = |i: usize| {
            let (l, u, x) = (node.lower[i], node.upper[i], from.point[i]);
            let width = reach * (u - l);
            ((x - width).max(l), (x + width).min(u))
        };
        let (up, inside) = (if self.annealing { &self.mean } else { &from.up }, &from.inside);
        let resting = if self.annealing { RESTING * uniform(&mut self.random) } else { 0.0 };
        to.clear();
        to.extend((0..up.len()).map(|i| {
            let (l, u) = span(i);
            if up[i].abs() < resting {
                from.point[i]
            } else if up[i] > 0.0 || (up[i] == 0.0 && inside[i] >= 0.0) {
                u
            } else {
                l
            }
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
        order.clear();
        order.extend((0..up.len()).filter(|&i| inside[i] * (other(i, to[i]) - to[i]) > 0.0));
        let loss = |i: usize| (up[i] / inside[i]).abs();
        order.sort_by(|&a, &b| loss(a).total_cmp(&loss(b)));
        for &i in &*order {
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
