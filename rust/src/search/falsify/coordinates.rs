//! Coordinate search: where networks round, a few inputs at a time are drawn anew, and what is no better is undone.
//!
//! What a network of quantisers rounds away is noise: it changes with every input, no derivative knows of it, and a
//! small step changes it as much as a large one. But nearly all of it is a sum of parts that each input, or each sum of
//! the first layers, brings about by itself, so that the part of one input can be made large while those of the others
//! stay. So walks climb further than any number of random points: on a tagger of jets whose products are rounded to 11
//! bits behind the point, 20 000 random points reach .071, and as many evaluations of this search .1.
//!
//! Claims are climbed side by side, each from the best of many random points; the poorest walks end first, and a run
//! ends when the last few stand still. What is found is only a candidate.

use super::thresholds::Thresholds;
use crate::bound::Assumption;
use crate::network::Pair;
use crate::network::gradient::Differentiator;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::generator::{below, uniform};

/// Random points to begin with.
const POINTS: usize = 512;

/// So many points are evaluated side by side.
const SIDE_BY_SIDE: usize = 64;

/// How many walks a run begins with, and how many go on to its end.
const WALKS: (usize, usize) = (64, 2);

/// The most walks for one claim at the start.
const EACH: usize = 6;

/// After so many rounds the poorest walks end.
const PART: usize = 100;

/// The share of the walks that goes on.
const KEPT: f64 = 0.66;

/// The most parts of a run.
const PARTS: usize = 80;

/// A run ends after so many parts in which the last walks came no further.
const IDLE: usize = 6;

/// A step redraws this share of the inputs, but at least one.
const MOVED: f64 = 1.0 / 64.0;

/// How often a step moves one more.
const ANOTHER: f64 = 0.2;

/// How often an input is moved to an end of its range.
const AT_AN_END: f64 = 0.1;

/// How often, and right beside a threshold of what rounds it.
const AT_A_THRESHOLD: f64 = 0.3;

/// Functions other than ReLU are not in the operations that are counted, and to bound one takes longer than to evaluate it.
/// A box takes longer than its operations say by 1 + this times the rows with such functions over the operations of an
/// evaluation: twice as long on ACAS Xu beside 16 bits, twenty times as long on a tagger of jets whose products are rounded.
const UNCOUNTED: u64 = 130;

/// A worker's tools for coordinate search.
#[derive(Debug)]
pub struct CoordinateSearch {
    /// Whether the networks round.
    rounds: bool,
    /// Rows with functions other than ReLU.
    curved: u64,
    thresholds: Thresholds,
    networks: Differentiator,
    walks: Vec<Walk>,
    points: Vec<f64>,
    outputs: [Vec<f64>; 2],
    slope: Vec<f64>,
    /// Runs so far; each begins elsewhere, and costs as much.
    runs: u32,
}

#[derive(Debug, Clone)]
struct Walk {
    /// The number of the claim.
    goal: usize,
    point: Vec<f64>,
    merit: f64,
}

impl CoordinateSearch {
    /// The search for a pair.
    pub fn new(pair: &Pair) -> Self {
        let steps = pair.first.iter().chain(&pair.second);
        Self {
            rounds: pair.rounds(),
            curved: steps.filter(|step| step.function.curves().is_some()).map(|step| step.rows as u64).sum(),
            thresholds: Thresholds::of(pair),
            networks: Differentiator::default(),
            walks: Vec::new(),
            points: Vec::new(),
            outputs: [Vec::new(), Vec::new()],
            slope: Vec::new(),
            runs: 0,
        }
    }

    /// Whether a run is due, once bounding has taken so many operations: the first where it has taken about as long
    /// as a run does, and each other one after twice as many as the one before.
    pub fn is_due(&self, pair: &Pair, flops: u64) -> bool {
        let evaluations = (POINTS + PART * (4 * WALKS.0 + WALKS.1 * IDLE)) as u64;
        let cost = Differentiator::cost(pair);
        self.rounds && flops >> self.runs.min(63) >= evaluations * cost / (1 + UNCOUNTED * self.curved / cost.max(1))
    }

    /// One run; true if a witness was found. `test` tells whether a point becomes the witness.
    pub fn run(
        &mut self,
        context: &Context<'_>,
        node: &Node,
        goals: &[Assumption],
        seed: u64,
        mut test: impl FnMut(&[f64]) -> bool,
    ) -> bool {
        self.runs += 1;
        let mut random = (seed << 20) ^ u64::from(self.runs);
        uniform(&mut random);
        if goals.is_empty() || node.lower.is_empty() {
            return false;
        }
        if self.draw(context, node, goals, &mut random, &mut test) {
            return true;
        }
        let (mut best, mut idle) = (f64::NEG_INFINITY, 0);
        for _ in 0..PARTS {
            for _ in 0..PART {
                if context.shared.stopping() {
                    return false;
                }
                if self.step(context, node, goals, &mut random, &mut test) {
                    return true;
                }
            }
            self.walks.sort_by(|a, b| b.merit.total_cmp(&a.merit));
            let few = self.walks.len() <= WALKS.1;
            let now = self.walks.first().map_or(f64::NEG_INFINITY, |walk| walk.merit);
            idle = if few && now <= best { idle + 1 } else { 0 };
            if idle == IDLE {
                break;
            }
            best = now;
            #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
            let kept = (self.walks.len() as f64 * KEPT) as usize;
            self.walks.truncate(kept.max(WALKS.1));
        }
        false
    }

    /// Random points, of which the best of each claim begin a walk; true if one of them is a witness.
    fn draw(
        &mut self,
        context: &Context<'_>,
        node: &Node,
        goals: &[Assumption],
        random: &mut u64,
        test: &mut impl FnMut(&[f64]) -> bool,
    ) -> bool {
        self.walks.clear();
        let inputs = node.lower.len();
        // The best of each claim so far, the worst of them first.
        let mut kept: Vec<Vec<(f64, Vec<f64>)>> = vec![Vec::new(); goals.len()];
        for _ in 0..POINTS / SIDE_BY_SIDE {
            if context.shared.stopping() {
                return false;
            }
            self.points.clear();
            for _ in 0..SIDE_BY_SIDE {
                let Self { points, thresholds, .. } = self;
                points.extend((0..inputs).map(|i| drawn(thresholds, (context.pair, node), i, random)));
            }
            self.evaluate(context, node);
            for k in 0..SIDE_BY_SIDE {
                for (goal, best) in kept.iter_mut().enumerate() {
                    let Some(merit) = self.merit(&goals[goal], k, test) else { return true };
                    let point = &self.points[k * inputs..(k + 1) * inputs];
                    let place = best.partition_point(|(other, _)| *other < merit);
                    if best.len() < EACH || place > 0 {
                        best.insert(place, (merit, point.to_vec()));
                        if best.len() > EACH {
                            best.remove(0);
                        }
                    }
                }
            }
        }
        for (goal, best) in kept.into_iter().enumerate() {
            self.walks.extend(best.into_iter().map(|(merit, point)| Walk { goal, point, merit }));
        }
        self.walks.sort_by(|a, b| b.merit.total_cmp(&a.merit));
        self.walks.truncate(WALKS.0);
        false
    }

    /// One step of every walk; true if one of them comes to a witness.
    fn step(
        &mut self,
        context: &Context<'_>,
        node: &Node,
        goals: &[Assumption],
        random: &mut u64,
        test: &mut impl FnMut(&[f64]) -> bool,
    ) -> bool {
        let inputs = node.lower.len();
        self.points.clear();
        for walk in &self.walks {
            let start = self.points.len();
            self.points.extend_from_slice(&walk.point);
            #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
            let share = (inputs as f64 * MOVED).ceil() as usize;
            loop {
                for _ in 0..share {
                    let i = below(inputs, random);
                    self.points[start + i] = drawn(&self.thresholds, (context.pair, node), i, random);
                }
                if uniform(random) >= ANOTHER {
                    break;
                }
            }
        }
        self.evaluate(context, node);
        for k in 0..self.walks.len() {
            let Some(merit) = self.merit(&goals[self.walks[k].goal], k, test) else { return true };
            let point = &self.points[k * inputs..(k + 1) * inputs];
            let walk = &mut self.walks[k];
            if merit > walk.merit {
                walk.merit = merit;
                walk.point.copy_from_slice(point);
            }
        }
        false
    }

    /// Moves `points` into the region and evaluates both networks there.
    fn evaluate(&mut self, context: &Context<'_>, node: &Node) {
        let inputs = node.lower.len();
        for point in self.points.chunks_exact_mut(inputs) {
            context.region.approach(point, &node.lower, &node.upper);
        }
        let (f1, f2) = self.networks.outputs(context.pair, &self.points, self.points.len() / inputs);
        for (to, from) in self.outputs.iter_mut().zip([f1, f2]) {
            to.clear();
            to.extend_from_slice(from);
        }
    }

    /// How near the `k`th of the points comes to breaking a claim; none where it becomes the witness.
    fn merit(&mut self, goal: &Assumption, k: usize, test: &mut impl FnMut(&[f64]) -> bool) -> Option<f64> {
        let size = goal.first.len();
        let inputs = self.points.len() / (self.outputs[0].len() / size);
        let [x, y] = self.outputs.each_ref().map(|values| &values[k * size..(k + 1) * size]);
        let (violation, slack) = (goal.violation_at(x, y), goal.slack_at(x, &mut self.slope));
        let breaks = violation > 0.0 && slack >= 0.0;
        let witness = breaks && test(&self.points[k * inputs..(k + 1) * inputs]);
        (!witness).then(|| Assumption::merit(violation, slack))
    }
}

/// A random number of the range of an input.
fn drawn(thresholds: &Thresholds, (pair, node): (&Pair, &Node), i: usize, random: &mut u64) -> f64 {
    let (l, u) = (node.lower[i], node.upper[i]);
    let kind = uniform(random);
    if (AT_AN_END..AT_AN_END + AT_A_THRESHOLD).contains(&kind)
        && let Some(beside) = thresholds.beside(pair, i, (l, u), random)
    {
        return beside;
    }
    let share = uniform(random);
    l + (if kind < AT_AN_END { share.round() } else { share }) * (u - l)
}
