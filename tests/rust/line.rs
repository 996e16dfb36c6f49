//! The truth about pairs with one input: both networks are piecewise linear there, and the pieces can be listed.
//!
//! On a piece every violation is largest at an end, or at an end of the part on which the guard holds; guards are
//! concave. Computed in binary64, so close calls are left open.

use crate::claims::{Claim, lead};
use crate::random::Case;
use eqspec::property::Norm;
use eqspec::search::Verdict;

/// What is true, where binary64 can tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truth {
    Holds,
    Fails,
    Close,
}

impl Truth {
    /// Whether a search may answer this: nothing is refuted that holds, and nothing proved that fails.
    pub fn allows(self, verdict: Verdict) -> bool {
        match self {
            Self::Holds => verdict != Verdict::Different,
            Self::Fails => verdict != Verdict::Equivalent,
            Self::Close => true,
        }
    }
}

/// How near to a threshold is too near.
const CLOSE: f64 = 1e-7;

/// Values before every ReLU, outputs last.
fn layers(case: &Case, network: usize, t: f64) -> Vec<Vec<f64>> {
    let mut values: Vec<Vec<f64>> = Vec::new();
    for layer in &case.layers {
        let w = &layer[network];
        let from: Vec<f64> = values.last().map_or(vec![t], |v| v.iter().map(|x| x.max(0.0)).collect());
        let row = |i: usize| w.weight[i].iter().zip(&from).map(|(a, b)| a * b).sum::<f64>() + w.bias[i];
        values.push((0..w.bias.len()).map(row).collect());
    }
    values
}

/// Where some neuron of either network changes its phase, and the ends, in order.
fn breakpoints(case: &Case) -> Vec<f64> {
    let mut points = vec![case.lower[0], case.upper[0]];
    for layer in 0..case.layers.len() - 1 {
        // Between the breakpoints of earlier layers the values of this layer are linear.
        let mut found = Vec::new();
        for ends in points.windows(2) {
            for network in 0..2 {
                let (a, b) = (&layers(case, network, ends[0])[layer], &layers(case, network, ends[1])[layer]);
                for (a, b) in a.iter().zip(b).filter(|(a, b)| (**a < 0.0) != (**b < 0.0)) {
                    found.push((ends[0] + (ends[1] - ends[0]) * a / (a - b)).clamp(ends[0], ends[1]));
                }
            }
        }
        points.extend(found);
        points.sort_by(f64::total_cmp);
    }
    points
}

/// The part of [0, 1] on which a concave function is at least a level.
fn at_least(level: f64, f: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if f(a) > f(b) { high = b } else { low = a }
    }
    let top = [0.0, 0.5 * (low + high), 1.0].into_iter().max_by(|&a, &b| f(a).total_cmp(&f(b)))?;
    let edge = |mut outside: f64| {
        let mut inside = top;
        for _ in 0..60 {
            let middle = 0.5 * (inside + outside);
            if f(middle) >= level { inside = middle } else { outside = middle }
        }
        inside
    };
    let end = |e: f64| if f(e) >= level { e } else { edge(e) };
    (f(top) >= level).then(|| (end(0.0), end(1.0)))
}

/// The largest violation; guards are moved by `ease`.
fn worst(claim: &Claim, case: &Case, ease: f64) -> f64 {
    let outputs = |t: f64| [0, 1].map(|network| layers(case, network, t).pop().unwrap());
    let points = breakpoints(case);
    let at_points = |violation: &dyn Fn(&[f64], &[f64]) -> f64| {
        points.iter().map(|&t| outputs(t)).map(|[x, y]| violation(&x, &y)).fold(f64::NEG_INFINITY, f64::max)
    };
    match claim {
        Claim::Epsilon { eps, norm, outputs } => at_points(&|x, y| {
            let sizes = outputs.iter().map(|&o| (x[o] - y[o]).abs());
            let length = match norm {
                Norm::Max => sizes.fold(0.0, f64::max),
                Norm::Sum => sizes.sum(),
                Norm::Euclid => sizes.map(|s| s * s).sum::<f64>().sqrt(),
            };
            length - eps
        }),
        Claim::Linear { candidate, reference, bound, .. } => at_points(&|x, y| {
            let of = |weights: &[f64], values: &[f64]| weights.iter().zip(values).map(|(w, v)| w * v).sum::<f64>();
            of(candidate, y) + of(reference, x) - bound
        }),
        Claim::Top1 { .. } | Claim::Confidence { .. } => {
            let classes = case.layers.last().unwrap()[0].bias.len();
            // How far f1 is from deciding otherwise than for k, a concave function on a piece.
            let slack = |x: &[f64], k: usize| {
                let others = (0..classes).filter(|&l| l != k).map(|l| x[k] - x[l]);
                let least = others.fold(f64::INFINITY, f64::min);
                match claim {
                    Claim::Confidence { delta } => least.min(lead(x, k) - (delta / (1.0 - delta)).ln()),
                    Claim::Top1 { margin } => least - margin.max(0.0),
                    _ => unreachable!(),
                }
            };
            let mut largest = f64::NEG_INFINITY;
            for ends in points.windows(2) {
                let place = |s: f64| ends[0] + s * (ends[1] - ends[0]);
                for k in 0..classes {
                    let part = at_least(-ease, |s| slack(&outputs(place(s))[0], k));
                    for s in part.into_iter().flat_map(|(a, b)| [a, b]) {
                        let y = &outputs(place(s))[1];
                        largest = (0..classes).filter(|&j| j != k).map(|j| y[j] - y[k]).fold(largest, f64::max);
                    }
                }
            }
            largest
        }
    }
}

/// Decides a claim about a pair with one input and certain weights.
pub fn decide(claim: &Claim, case: &Case) -> Truth {
    assert!(case.inputs() == 1 && case.layers.iter().flatten().all(|w| w.uncertain.is_none()));
    if worst(claim, case, CLOSE) < -CLOSE {
        Truth::Holds
    } else if worst(claim, case, -CLOSE) > CLOSE {
        Truth::Fails
    } else {
        Truth::Close
    }
}

/// The same claim with the allowance that leaves just so much room: negative where the claim fails.
pub fn tightened(claim: &Claim, case: &Case, room: f64) -> Claim {
    let mut claim = claim.clone();
    let violation = worst(&claim, case, 0.0);
    match &mut claim {
        Claim::Epsilon { eps, .. } => *eps = (*eps + violation + room).max(0.0),
        Claim::Linear { bound, .. } => *bound += violation + room,
        Claim::Top1 { .. } | Claim::Confidence { .. } => {}
    }
    claim
}
