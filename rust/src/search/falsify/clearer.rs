//! Gradient ascent from a witness to inputs that violate the claim as clearly as can be found in the region.
//!
//! The first input that a search meets often violates its claim by less than float32 rounds. Here a score climbs: of all
//! obligations the largest of how far one is violated and its guard is met, whichever is less. At every step each point
//! looks along its derivatives, towards the corner that they point to and along themselves, by steps of several lengths,
//! and takes the best one; where there is a guard, also along the derivatives of both parts together. First from the
//! witness itself, then from the centre and from points scattered over the region, always the same ones.
//!
//! Bounded by arithmetic operations, so that a small question has the same answer every time; beyond that by time. What
//! is found is only a candidate, which the exact replay decides.

use crate::bound::Assumption;
use crate::network::eval::{Evaluation, Evaluator};
use crate::network::gradient::Differentiator;
use crate::network::{Pair, Step};
use crate::property::{Certainty, Property};
use crate::search::Region;
use crate::search::generator::uniform;
use std::time::Instant;

/// Additions and multiplications that an ascent may always take: a few milliseconds.
const WORK: u64 = 40_000_000;
/// The most steps of an ascent.
const STEPS: usize = 24;
/// How far points are tried, as shares of the way to the corner, or of the box along the derivatives.
const LENGTHS: [f64; 7] = [1.0, 0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5];
/// Starts beside the witness and the centre.
const SCATTERED: usize = 6;
/// Ascents end when no step gains more than this share of its score.
const LITTLE: f64 = 1e-3;
/// Of more claims than this those that the witness violates most are looked at.
const CLAIMS: usize = 64;
/// The most coefficients of guards that these may have together.
const COEFFICIENTS: usize = 1 << 22;
/// The most points that are evaluated side by side.
const TOGETHER: usize = 64;
/// The most products of points that are evaluated side by side.
const AT_ONCE: usize = 1 << 28;
/// A point is moved towards constraints that it does not meet at most so often.
const PROJECTIONS: usize = 4;

/// Inputs over the whole region that violate the property by more than a witness does, the clearest first; `None` where
/// no obligation is linear. The deadline counts when the work that is always allowed is done.
#[must_use]
pub fn clearer(
    pair: &Pair,
    region: &Region,
    property: &Property,
    witness: &[f64],
    deadline: Instant,
) -> Option<Vec<Vec<f64>>> {
    let claims = claims(pair, property, witness);
    let free = region.free();
    if claims.is_empty() || free.is_empty() {
        return None;
    }
    let (pair, inside) = (pair.specialise(&free, &region.lower), region.restrict(&free));
    let start: Vec<f64> = free.iter().map(|&i| witness[i]).collect();
    let networks = Differentiator::default();
    let mut ascents = Ascents { pair: &pair, region: &inside, claims, networks, deadline };
    let least = ascents.scores(&start)[0].max(0.0);
    let mut found = ascents.climb(start);
    if !ascents.late() {
        found.extend(ascents.climb(scattered(&inside)));
    }
    found.retain(|(score, _)| *score > least);
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    Some(found.into_iter().map(|(_, point)| region.complete(&free, &point)).collect())
}

/// The obligations whose violation is looked for.
fn claims(pair: &Pair, property: &Property, witness: &[f64]) -> Vec<Assumption> {
    let obligations = &property.obligations;
    let mut chosen: Vec<usize> = (0..obligations.len()).filter(|&o| obligations[o].violation.is_linear()).collect();
    let most = (COEFFICIENTS / (pair.outputs() * pair.outputs())).clamp(1, CLAIMS);
    if chosen.len() > most {
        let mut outputs = Evaluation::default();
        Evaluator::default().at(pair, witness, &mut outputs);
        let met: Vec<bool> = property.guards.iter().map(|g| g.met(&outputs, Certainty::WithinError)).collect();
        let violation = |o: usize| obligations[o].violation.at(&outputs).0;
        chosen.retain(|&o| obligations[o].guard.is_none_or(|g| met[g]) && violation(o) >= 0.0);
        chosen.sort_by(|&a, &b| violation(b).total_cmp(&violation(a)));
        chosen.truncate(most);
    }
    chosen.into_iter().filter_map(|o| Assumption::new(property, &obligations[o], pair.outputs())).collect()
}

/// The centre of a region and points scattered over its box, one after the other.
fn scattered(region: &Region) -> Vec<f64> {
    let mut random = 0;
    let mut points = Vec::with_capacity((SCATTERED + 1) * region.lower.len());
    for start in 0..=SCATTERED {
        for (l, u) in region.lower.iter().zip(&region.upper) {
            let share = if start == 0 { 0.5 } else { uniform(&mut random) };
            points.push(l * (1.0 - share) + u * share);
        }
    }
    points
}

/// The claim that outputs come nearest to violating.
#[derive(Clone, Copy)]
struct Nearest {
    claim: usize,
    violation: f64,
    /// How far its guard is met; infinite without one.
    slack: f64,
}

impl Nearest {
    /// Minus infinity where a number overflowed.
    fn score(self) -> f64 {
        let least = if self.violation <= self.slack { self.violation } else { self.slack };
        if least.is_finite() { least } else { f64::NEG_INFINITY }
    }
}

/// Ascents in one region, many side by side. Points stand one after the other.
struct Ascents<'a> {
    pair: &'a Pair,
    region: &'a Region,
    claims: Vec<Assumption>,
    networks: Differentiator,
    deadline: Instant,
}

impl Ascents<'_> {
    fn late(&self) -> bool {
        self.networks.flops() > WORK && Instant::now() >= self.deadline
    }

    /// Points as far up as they come from these, with their scores.
    fn climb(&mut self, mut points: Vec<f64>) -> Vec<(f64, Vec<f64>)> {
        let inputs = self.region.lower.len();
        points.chunks_exact_mut(inputs).for_each(|point| self.bring_inside(point));
        let mut scores = self.scores(&points);
        for _ in 0..STEPS {
            let tried = self.tried(&points);
            let reached = self.scores(&tried);
            let each = reached.len() / scores.len();
            let mut gained = false;
            for (i, score) in scores.iter_mut().enumerate() {
                let range = i * each..(i + 1) * each;
                let best = range.fold(i * each, |best, k| if reached[k] > reached[best] { k } else { best });
                if reached[best] > *score {
                    let size = if score.is_finite() { score.abs() } else { 0.0 };
                    gained |= reached[best] > *score + LITTLE * size;
                    *score = reached[best];
                    points[i * inputs..(i + 1) * inputs].copy_from_slice(&tried[best * inputs..(best + 1) * inputs]);
                }
            }
            if !gained || self.late() {
                break;
            }
        }
        scores.into_iter().zip(points.chunks_exact(inputs).map(<[f64]>::to_vec)).collect()
    }

    /// The scores of points; minus infinity beside the constraints, and when it is late.
    fn scores(&mut self, points: &[f64]) -> Vec<f64> {
        let (inputs, outputs) = (self.region.lower.len(), self.pair.outputs());
        let mut scores = Vec::with_capacity(points.len() / inputs);
        for some in points.chunks(inputs * self.side_by_side()) {
            if self.late() {
                break;
            }
            let (f1, f2) = self.networks.outputs(self.pair, some, some.len() / inputs);
            let both = f1.chunks_exact(outputs).zip(f2.chunks_exact(outputs));
            let mut slope = Vec::new();
            scores.extend(some.chunks_exact(inputs).zip(both).map(|(point, (x, y))| {
                let holds = self.region.holds(point);
                if holds { nearest(&self.claims, x, y, &mut slope).score() } else { f64::NEG_INFINITY }
            }));
        }
        scores.resize(points.len() / inputs, f64::NEG_INFINITY);
        scores
    }

    fn side_by_side(&self) -> usize {
        let products: usize = self.pair.first.iter().map(Step::products).sum();
        (AT_ONCE / products.max(1)).clamp(1, TOGETHER)
    }

    /// The points to try from each of these, as many from each.
    fn tried(&mut self, points: &[f64]) -> Vec<f64> {
        let inputs = self.region.lower.len();
        let mut tried = Vec::new();
        for some in points.chunks(inputs * self.side_by_side()) {
            let directions = self.directions(some);
            for (i, point) in some.chunks_exact(inputs).enumerate() {
                for slopes in &directions {
                    self.along(point, &slopes[i * inputs..(i + 1) * inputs], &mut tried);
                }
            }
        }
        tried.chunks_exact_mut(inputs).for_each(|point| self.bring_inside(point));
        tried
    }

    /// Derivatives of the score at points; and where there are guards, of its two parts together.
    fn directions(&mut self, points: &[f64]) -> Vec<Vec<f64>> {
        let (inputs, outputs) = (self.region.lower.len(), self.pair.outputs());
        let (f1, f2) = self.networks.at(self.pair, points, points.len() / inputs);
        let (mut first, mut second, mut guards, mut slope) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut violation_is_less = Vec::new();
        for (x, y) in f1.chunks_exact(outputs).zip(f2.chunks_exact(outputs)) {
            let near = nearest(&self.claims, x, y, &mut slope);
            let claim = &self.claims[near.claim];
            first.extend(claim.first.iter().zip(&claim.difference).map(|(a, d)| a + d));
            second.extend(claim.second.iter().zip(&claim.difference).map(|(b, d)| b - d));
            claim.slack_at(x, &mut slope);
            guards.extend_from_slice(&slope);
            violation_is_less.push(near.violation <= near.slack);
        }
        let (mut up, mut inside) = (Vec::new(), Vec::new());
        self.networks.gradient(self.pair, &first, &second, &mut up);
        without_overflow(&mut up);
        if self.claims.iter().all(|claim| claim.rows() == 0) {
            return vec![up];
        }
        self.networks.gradient(self.pair, &guards, &vec![0.0; guards.len()], &mut inside);
        without_overflow(&mut inside);
        let both = up.iter().zip(&inside).map(|(a, b)| a + b).collect();
        let least = (0..up.len()).map(|k| if violation_is_less[k / inputs] { up[k] } else { inside[k] }).collect();
        vec![least, both]
    }

    /// Adds points towards the corner that the derivatives at a point point to, and along them.
    fn along(&self, point: &[f64], slopes: &[f64], tried: &mut Vec<f64>) {
        let (lower, upper) = (&self.region.lower, &self.region.upper);
        let half = |i: usize| 0.5 * upper[i] - 0.5 * lower[i];
        let largest = (0..point.len()).fold(f64::MIN_POSITIVE, |a, i| a.max((slopes[i] * half(i)).abs()));
        let towards = |i: usize| match slopes[i] {
            s if s > 0.0 => upper[i] - point[i],
            s if s < 0.0 => lower[i] - point[i],
            _ => 0.0,
        };
        for length in LENGTHS {
            tried.extend((0..point.len()).map(|i| point[i] + length * towards(i)));
        }
        for length in LENGTHS {
            tried.extend((0..point.len()).map(|i| point[i] + length * (half(i) * (slopes[i] * half(i) / largest))));
        }
    }

    /// Moves a point into the box, and to the constraints as far as a few projections do.
    fn bring_inside(&self, point: &mut [f64]) {
        for _ in 0..PROJECTIONS {
            self.region.approach(point, &self.region.lower, &self.region.upper);
            if self.region.holds(point) {
                return;
            }
        }
    }
}

/// Derivatives, 0 where a number overflowed.
fn without_overflow(slopes: &mut [f64]) {
    for slope in slopes.iter_mut().filter(|slope| !slope.is_finite()) {
        *slope = 0.0;
    }
}

/// The claim that outputs x and y come nearest to violating.
fn nearest(claims: &[Assumption], x: &[f64], y: &[f64], slope: &mut Vec<f64>) -> Nearest {
    let mut best = Nearest { claim: 0, violation: f64::NAN, slack: f64::NAN };
    for (claim, assumption) in claims.iter().enumerate() {
        let slack = if assumption.rows() == 0 { f64::INFINITY } else { assumption.slack_at(x, slope) };
        let near = Nearest { claim, violation: assumption.violation_at(x, y), slack };
        if claim == 0 || near.score() > best.score() {
            best = near;
        }
    }
    best
}
