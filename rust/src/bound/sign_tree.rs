//! Splits at the signs and knots of neurons within fixed bounds: a violation is excluded part by part, each by one backward
//! bound.
//!
//! Where inputs are many, what is loose in the bound of a violation are often the relaxations of a few differences of the
//! last steps, which no better multipliers improve. A part assumes signs of such neurons; for piecewise linear functions
//! other than ReLU, on which side of a knot they are. Only their relaxations change
//! ([`super::own_relaxations`]), all other bounds, and the multipliers, are those of the whole box: so a part costs one
//! column of a pass backwards, a hundredth of a contraction, and parts are bounded in batches. Of the split neurons
//! alone, lower slopes begin again from the bounds of the part, and links are dropped: those of the whole do not suit a sign.
//! Each part is split where its relaxations cost most, as in BaBSR (Bunel et al., "Branch and bound for piecewise linear
//! neural network verification", JMLR 2020), the worst parts first. Eqspec's own is the split of a difference D of two
//! unstable neurons: what its line above costs is gone in both halves of a split at the sign of x, since D <= d where
//! x >= 0 and D <= 0 where x <= 0; of the line below the same holds of y. At a knot k where the slope of f rises from a to b,
//! f(y) >= f(k) + b (y - k) and f(y) >= f(k) + a (y - k) near to k, so that D <= b d where x >= k and D <= a d where x <= k,
//! and of the line below the same holds of y; where the slope falls, x and y change places.
//!
//! A tree that is not expected to end within its budget is given up, and leaves nothing behind.
//!
//! Sound because every bound is valid with any multipliers where what is assumed holds, and both sides of every number are
//! looked at, the number itself with both.
//! What rounding costs is that of the whole box, whose bounds contain those of every part.

use super::Assumption;
use super::backward::Backward;
use super::contract::Contractor;
use super::functional::Functional;
use super::own_relaxations::{OwnRelaxation, exchange};
use super::parameters::Parameters;
use super::relax::Relaxation;
use crate::curve::Curve;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::{IntermediateBounds, LayerBounds};
use crate::domain::phase::{Bounds, reduce};
use crate::numeric::round::max_propagating_nan;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What a tree may take.
#[derive(Debug, Clone, Copy)]
pub struct SignTreeBudget {
    /// Operations of all its passes.
    pub work: u64,
    /// Parts after which it is first foreseen how many there will be; again whenever their number has doubled.
    pub foreseen_after: usize,
    /// The most parts in one batch.
    pub at_once: usize,
}

/// On which side of a number x or y of a neuron is assumed to be, before its function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// x or y.
    pub quantity: Quantity,
    /// The step, one with a function.
    pub layer: usize,
    /// The neuron: a row of this step.
    pub index: usize,
    /// The number: 0 for ReLU, a knot of another function.
    pub place: f64,
    /// Whether the value is assumed to be >= the number; otherwise it is assumed to be <= it.
    pub above: bool,
}

/// A part of what is possible: assumed sides, a lower bound of minus the violation, and where to split.
struct Part {
    lower: f64,
    signs: Vec<Side>,
    split: Side,
}

/// What all parts of a tree share.
struct Tree<'t> {
    bounds: &'t IntermediateBounds,
    assumption: &'t Assumption,
    /// The target, as often as a batch has parts.
    targets: Vec<Functional>,
    /// The multipliers of the whole, once for every part of a batch.
    multipliers: Parameters,
}

impl Contractor<'_> {
    /// Whether the violation is excluded within these bounds by splits at signs, with these multipliers of the target.
    /// Bounds have been set, and no sign is assumed in them.
    pub fn split_signs(
        &mut self,
        bounds: &IntermediateBounds,
        assumption: &Assumption,
        multipliers: &Parameters,
        budget: SignTreeBudget,
        stop: impl Fn() -> bool,
    ) -> bool {
        if !bounds.phase_constraints.is_empty() {
            return false;
        }
        let at_once = budget.at_once.min(self.most_at_once()).max(2);
        let mut tree = self.tree(bounds, assumption, multipliers, at_once);
        let done = self.grow(&mut tree, budget, stop);
        self.backward.relaxed.own.clear();
        done
    }

    /// Lower bounds of minus the violation where the signs of each part hold, with these multipliers of the target. Bounds have
    /// been set.
    pub fn bound_signs(
        &mut self,
        bounds: &IntermediateBounds,
        assumption: &Assumption,
        multipliers: &Parameters,
        parts: &[Vec<Side>],
    ) -> Vec<f64> {
        let mut tree = self.tree(bounds, assumption, multipliers, parts.len());
        let found = self.bound_parts(&mut tree, parts);
        self.backward.relaxed.own.clear();
        found.into_iter().map(|(lower, _)| lower).collect()
    }

    fn tree<'t>(
        &self,
        bounds: &'t IntermediateBounds,
        assumption: &'t Assumption,
        multipliers: &Parameters,
        at_once: usize,
    ) -> Tree<'t> {
        let targets = vec![Functional::Target; at_once];
        let mut of_all = self.backward.start(&targets, assumption);
        of_all.relative_links = multipliers.relative_links;
        (0..at_once).for_each(|f| of_all.copy(f, multipliers, 0));
        of_all.drop_moments();
        Tree { bounds, assumption, targets, multipliers: of_all }
    }

    /// Splits until nothing is open, which is true, or the budget is spent or will be.
    #[allow(clippy::cast_precision_loss)]
    fn grow(&mut self, tree: &mut Tree<'_>, budget: SignTreeBudget, stop: impl Fn() -> bool) -> bool {
        let begun = self.flops();
        let mut asked = vec![Vec::new()];
        let mut above = vec![f64::NEG_INFINITY];
        let mut open = BinaryHeap::new();
        let (mut parts, mut look, mut whole) = (0, budget.foreseen_after, None);
        loop {
            let found = self.bound_parts(tree, &asked);
            parts += asked.len();
            let whole = *whole.get_or_insert(found[0].0);
            for ((above, signs), (lower, split)) in above.drain(..).zip(asked.drain(..)).zip(found) {
                if tree.assumption.contradicted_by(lower) {
                    continue;
                }
                let Some(split) = split.filter(|_| lower.is_finite()) else { return false };
                open.push(Part { lower: lower.max(above), signs, split });
            }
            let Some(worst) = open.peek().map(|part| part.lower) else { return true };
            let spent = self.flops() - begun;
            if stop() || spent > budget.work {
                return false;
            }
            if parts >= look {
                look *= 2;
                let affordable = budget.work / (spent / parts as u64 + 1);
                if foreseen(parts, (whole, worst)) > affordable as f64 {
                    return false;
                }
            }
            // Of few parts some are much worse than others, and are split first.
            let most = (tree.targets.len() / 2).min(1 + open.len() / 4);
            for part in std::iter::from_fn(|| open.pop()).take(most) {
                for side in [false, true] {
                    let mut signs = part.signs.clone();
                    signs.push(Side { above: side, ..part.split });
                    asked.push(signs);
                    above.push(part.lower);
                }
            }
        }
    }

    /// For each part a lower bound of minus the violation where its signs hold, and the split that promises most there.
    fn bound_parts(&mut self, tree: &mut Tree<'_>, parts: &[Vec<Side>]) -> Vec<(f64, Option<Side>)> {
        let mut own = Vec::new();
        for (f, signs) in parts.iter().enumerate() {
            for (k, sign) in signs.iter().enumerate() {
                let at = (sign.layer, sign.index);
                if signs[..k].iter().all(|earlier| (earlier.layer, earlier.index) != at) {
                    let known = with_sides(tree.bounds, at, signs);
                    own.push(match self.pair.curves(at.0) {
                        Some(curves) => OwnRelaxation::of_curves(f, at, curves.map(|c| c.of(at.1)), &known),
                        None => OwnRelaxation::of(f, at, &known),
                    });
                }
            }
        }
        let kept: Vec<[f64; 3]> = own.iter().map(|o| tree.begin_again(o, None)).collect();
        // What rounding costs follows from the largest of all lines of a step.
        let sizes: Vec<f64> = self.backward.relaxed.relaxations.iter().map(|r| r.size).collect();
        for o in &own {
            let size = &mut self.backward.relaxed.relaxations[o.step].size;
            *size = max_propagating_nan(*size, o.relaxation.size);
        }
        self.backward.relaxed.own = own;
        let targets = &tree.targets[..parts.len()];
        let lower = self.backward.evaluate(targets, tree.assumption, &tree.multipliers).to_vec();
        let found = lower.into_iter().enumerate();
        let found = found.map(|(f, lower)| (lower, self.costliest(f, tree.bounds, &parts[f]))).collect();
        for (relaxation, size) in self.backward.relaxed.relaxations.iter_mut().zip(sizes) {
            relaxation.size = size;
        }
        for (o, kept) in self.backward.relaxed.own.iter().zip(kept) {
            tree.begin_again(o, Some(kept));
        }
        found
    }

    /// The split that promises a functional with these sides most, as last evaluated; none if no relaxation of a difference
    /// that a split changes costs anything.
    fn costliest(&mut self, f: usize, bounds: &IntermediateBounds, sides: &[Side]) -> Option<Side> {
        let pair = self.pair;
        self.backward.with_own(f, |backward| {
            let mut most = (0.0, None);
            for (layer, (behind, r)) in backward.behind_relu.iter().zip(&backward.relaxed.relaxations).enumerate() {
                let u = r.keep.len();
                if behind.is_empty() {
                    continue;
                }
                for (index, &s) in behind.difference[f * u..(f + 1) * u].iter().enumerate() {
                    let Some(curves) = pair.curves(layer) else {
                        let (quantity, cost) = cost(s, r, index);
                        if cost > most.0 {
                            most = (cost, Some(Side { quantity, layer, index, place: 0.0, above: true }));
                        }
                        continue;
                    };
                    let [low, high] = r.lines.neurons[index].of_difference();
                    let cost = if s < 0.0 { -s * high.cut } else { -s * low.cut };
                    if cost > most.0
                        && let known = with_sides(bounds, (layer, index), sides)
                        && let Some((quantity, place)) = knot(s, curves.map(|c| c.of(index)), &known)
                    {
                        most = (cost, Some(Side { quantity, layer, index, place, above: true }));
                    }
                }
            }
            most.1
        })
    }
}

impl Backward<'_> {
    /// Sees the relaxations as a functional has them.
    pub(super) fn with_own<R>(&mut self, f: usize, look: impl FnOnce(&Self) -> R) -> R {
        let steps = self.relaxed.relaxations.len();
        let swap = |backward: &mut Self| {
            let relaxed = &mut backward.relaxed;
            (0..steps).for_each(|s| exchange(&mut relaxed.own, &mut relaxed.relaxations[s], f, s));
        };
        swap(self);
        let seen = look(self);
        swap(self);
        seen
    }
}

impl Tree<'_> {
    /// Sets slopes and link of a neuron to those that its relaxation begins with, or to others, and returns what they were.
    fn begin_again(&mut self, own: &OwnRelaxation, others: Option<[f64; 3]>) -> [f64; 3] {
        let (layer, r) = (&mut self.multipliers.layers[own.step], &own.relaxation);
        let at = own.functional * (layer.link.value.len() / self.multipliers.count) + own.index;
        let [a, b, g] = others.unwrap_or_else(|| [r.first.start[0], r.second.start[0], 0.0]);
        [(&mut layer.alpha1, a), (&mut layer.alpha2, b), (&mut layer.link, g)]
            .map(|(kind, value)| std::mem::replace(&mut kind.value[at], value))
    }
}

/// What the relaxation of a difference with coefficient s costs at most, and whose sign ends that.
fn cost(s: f64, r: &Relaxation, i: usize) -> (Quantity, f64) {
    let (cost, preferred) = if s < 0.0 { (-s * r.high[i], 0) } else { (-s * r.low[i], 1) };
    match ([r.first.unstable[i] == 1.0, r.second.unstable[i] == 1.0], preferred) {
        ([true, true], 0) | ([true, false], _) => (Quantity::First, cost),
        ([_, true], _) => (Quantity::Second, cost),
        ([false, false], _) => (Quantity::First, 0.0),
    }
}

/// A knot inside of the range of x or y at which a split ends what the relaxation of a difference with coefficient s costs,
/// and which of both it splits.
fn knot(s: f64, [f, g]: [&Curve; 2], known: &LayerBounds) -> Option<(Quantity, f64)> {
    let of_x = f.middle_knot(known.x.lower[0], known.x.upper[0]).map(|k| (Quantity::First, k));
    let of_y = g.middle_knot(known.y.lower[0], known.y.upper[0]).map(|k| (Quantity::Second, k));
    let (_, k) = of_x.or(of_y)?;
    let convex = f.slope_left(k).value < f.slope_right(k).value;
    if (s < 0.0) == convex { of_x.or(of_y) } else { of_y.or(of_x) }
}

/// The bounds of one neuron where those of some sides hold that are about it; those of the whole where nothing is left.
fn with_sides(bounds: &IntermediateBounds, (layer, index): (usize, usize), sides: &[Side]) -> LayerBounds {
    let known = &bounds.layers[layer];
    let one = |b: &Bounds| Bounds { lower: vec![b.lower[index]], upper: vec![b.upper[index]] };
    let whole = LayerBounds { x: one(&known.x), y: one(&known.y), d: one(&known.d) };
    let mut own = whole.clone();
    for side in sides.iter().filter(|side| (side.layer, side.index) == (layer, index)) {
        let of = own.of_mut(side.quantity);
        let end = if side.above { &mut of.lower[0] } else { &mut of.upper[0] };
        *end = if side.above { end.max(side.place) } else { end.min(side.place) };
        if of.lower[0] > of.upper[0] {
            return whole;
        }
        reduce(&mut own.x, &mut own.y, &mut own.d);
    }
    own
}

/// How many parts there will be, if the bound of the worst one goes on to rise by as much whenever their number doubles.
#[allow(clippy::cast_precision_loss)]
fn foreseen(parts: usize, (whole, worst): (f64, f64)) -> f64 {
    let risen = ((worst - whole) / -whole).max(1e-9);
    (parts as f64).powf(1.0 / risen)
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Part {}

impl PartialOrd for Part {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Part {
    /// The lowest bound is the greatest, so that a heap gives it first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.lower.total_cmp(&self.lower).then_with(|| other.signs.len().cmp(&self.signs.len()))
    }
}
