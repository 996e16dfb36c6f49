//! Random search without derivatives: many random points, then random walks from the best of them.
//!
//! Where networks bend often on the way across a box, as those of ACAS Xu do, a derivative says little about points
//! further on, and a step along it ends in a corner of the box while violations lie in narrow places inside or on a
//! face. There a random step from the best of a thousand points goes further: violations that 100 000 random points do
//! not hit, nor ascents in 20 s, are found in 1 000 to 3 000 evaluations.
//!
//! Every point is evaluated for all claims. Points are a fixed sequence for each seed, so that runs repeat. What is
//! found is only a candidate.

use crate::bound::Assumption;
use crate::network::Pair;
use crate::network::gradient::Differentiator;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::generator::{below, uniform};

/// Random points to begin with.
const POINTS: usize = 1024;

/// How many of them begin a walk; the walks go on side by side.
const WALKERS: usize = 32;

/// Steps of each walk.
const STEPS: usize = 60;

/// This share of the coordinates of every second point lies at an end of the box.
const AT_AN_END: f64 = 0.4;

/// How far the first step of a walk goes, as a share of the box.
const FIRST_REACH: f64 = 0.2;

/// How far any step goes at most, as a share of the box.
const MOST_REACH: f64 = 0.5;

/// The factor on the reach after a step to a better point.
const LONGER: f64 = 1.5;

/// The factor on the reach after a step to no better point.
const SHORTER: f64 = 0.87;

/// The smallest share of the coordinates that a step of a walk moves on average.
const FEWEST_MOVED: f64 = 0.2;

/// A worker's tools for random search.
#[derive(Debug, Default)]
pub struct RandomSearch {
    networks: Differentiator,
    walkers: Vec<Walker>,
    points: Vec<f64>,
    merits: Vec<(f64, bool)>,
    slope: Vec<f64>,
}

#[derive(Debug, Default, Clone)]
struct Walker {
    point: Vec<f64>,
    merit: f64,
    reach: f64,
}

impl RandomSearch {
    /// Additions and multiplications that one search takes.
    pub fn cost(pair: &Pair) -> u64 {
        (POINTS + STEPS * WALKERS) as u64 * Differentiator::cost(pair)
    }

    /// Additions and multiplications so far.
    pub fn flops(&self) -> u64 {
        self.networks.flops()
    }

    /// Searches a node's box for a point that violates one of these claims; true if a witness was found. `test` tells
    /// whether a point becomes the witness.
    pub fn run(
        &mut self,
        context: &Context<'_>,
        node: &Node,
        goals: &[Assumption],
        seed: u64,
        mut test: impl FnMut(&[f64]) -> bool,
    ) -> bool {
        let (inputs, mut random) = (node.lower.len(), seed << 20);
        if goals.is_empty() || inputs == 0 {
            // A region without a free input is one point, which is tried as a centre.
            return false;
        }
        uniform(&mut random);
        self.walkers.clear();
        for _ in 0..POINTS / WALKERS {
            if context.shared.stopping() {
                return false;
            }
            self.points.clear();
            for k in 0..WALKERS {
                for (&l, &u) in node.lower.iter().zip(&node.upper) {
                    let at_an_end = k % 2 == 1 && uniform(&mut random) < AT_AN_END;
                    let share = uniform(&mut random);
                    self.points.push(l + (if at_an_end { share.round() } else { share }) * (u - l));
                }
            }
            if self.evaluate(context, node, goals, &mut test) {
                return true;
            }
            for (point, &(merit, _)) in self.points.chunks_exact(inputs).zip(&self.merits) {
                if self.walkers.len() < WALKERS {
                    self.walkers.push(Walker { point: point.to_vec(), merit, reach: FIRST_REACH });
                } else if let Some(least) = self.walkers.iter_mut().min_by(|a, b| a.merit.total_cmp(&b.merit))
                    && least.merit < merit
                {
                    least.point.copy_from_slice(point);
                    least.merit = merit;
                }
            }
        }
        for _ in 0..STEPS {
            if context.shared.stopping() {
                return false;
            }
            self.points.clear();
            for walker in &self.walkers {
                // A step moves few coordinates or all of them, and at least one.
                let (some, one) =
                    (FEWEST_MOVED + (1.0 - FEWEST_MOVED) * uniform(&mut random), below(inputs, &mut random));
                for (i, (x, (l, u))) in walker.point.iter().zip(node.lower.iter().zip(&node.upper)).enumerate() {
                    let moves = uniform(&mut random) < some || i == one;
                    let step = if moves { normal(&mut random) * walker.reach * (u - l) } else { 0.0 };
                    self.points.push(x + step);
                }
            }
            if self.evaluate(context, node, goals, &mut test) {
                return true;
            }
            for (walker, (point, &(merit, _))) in
                self.walkers.iter_mut().zip(self.points.chunks_exact(inputs).zip(&self.merits))
            {
                let better = merit > walker.merit;
                walker.reach = if better { (LONGER * walker.reach).min(MOST_REACH) } else { SHORTER * walker.reach };
                if better {
                    walker.merit = merit;
                    walker.point.copy_from_slice(point);
                }
            }
        }
        false
    }

    /// Moves `points` into the region and evaluates how near each comes to a violation; true if one became the witness.
    fn evaluate(
        &mut self,
        context: &Context<'_>,
        node: &Node,
        goals: &[Assumption],
        test: &mut impl FnMut(&[f64]) -> bool,
    ) -> bool {
        let inputs = node.lower.len();
        for point in self.points.chunks_exact_mut(inputs) {
            context.region.approach(point, &node.lower, &node.upper);
        }
        let outputs = context.pair.outputs();
        let (f1, f2) = self.networks.outputs(context.pair, &self.points, self.points.len() / inputs);
        self.merits.clear();
        for (x, y) in f1.chunks_exact(outputs).zip(f2.chunks_exact(outputs)) {
            let mut best = (f64::NEG_INFINITY, false);
            let (mut last, mut slack): (Option<&Assumption>, f64) = (None, f64::INFINITY);
            for goal in goals {
                let violation = goal.violation_at(x, y);
                if violation <= best.0.min(0.0) {
                    // However far inside the guard: neither better than another claim nor violated.
                    continue;
                }
                // Claims about one class have one guard, and stand together.
                if !last.is_some_and(|last| last.has_guard_of(goal)) {
                    slack = goal.slack_at(x, &mut self.slope);
                }
                last = Some(goal);
                best = (best.0.max(Assumption::merit(violation, slack)), best.1 || (violation > 0.0 && slack >= 0.0));
            }
            self.merits.push(best);
        }
        let violating = self.points.chunks_exact(inputs).zip(&self.merits).filter(|(_, merit)| merit.1);
        for (point, _) in violating {
            if test(point) {
                return true;
            }
        }
        false
    }
}

/// A random number that is about normally distributed, with variance 1.
fn normal(random: &mut u64) -> f64 {
    2.0 * ((0..3).map(|_| uniform(random)).sum::<f64>() - 1.5)
}
