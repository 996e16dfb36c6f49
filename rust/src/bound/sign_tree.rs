//! Splits at the signs of neurons within fixed bounds: a violation is excluded part by part, each by one backward bound.
//!
//! Where inputs are many, what is loose in the bound of a violation are often the relaxations of a few differences of the
//! last steps, which no better multipliers improve. A part assumes signs of such neurons. Only their relaxations change
//! ([`super::own_relaxations`]), all other bounds, and the multipliers, are those of the whole box: so a part costs one
//! column of a pass backwards, a hundredth of a contraction, and parts are bounded in batches. Of the split neurons
//! alone, lower slopes begin again from the bounds of the part, and links are dropped: those of the whole do not suit a sign.
//! Each part is split where its relaxations cost most, as in BaBSR (Bunel et al., "Branch and bound for piecewise linear
//! neural network verification", JMLR 2020), the worst parts first. Eqspec's own is the split of a difference D of two
//! unstable neurons: what its line above costs is gone in both halves of a split at the sign of x, since D <= d where
//! x >= 0 and D <= 0 where x <= 0; of the line below the same holds of y.
//!
//! A tree that is not expected to end within its budget is given up, and leaves nothing behind.
//!
//! Sound because every bound is valid with any multipliers where the assumed signs hold, and both signs are looked at.
//! What rounding costs is that of the whole box, whose bounds contain those of every part.

use super::Assumption;
use super::backward::Backward;
use super::contract::Contractor;
use super::functional::Functional;
use super::own_relaxations::{OwnRelaxation, exchange};
use super::parameters::Parameters;
use super::relax::Relaxation;
use crate::domain::Quantity;
use crate::domain::intermediate_bounds::{IntermediateBounds, LayerBounds, PhaseConstraint};
use crate::domain::phase::{Bounds, reduce};
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

/// A part of what is possible: assumed signs, a lower bound of minus the violation, and where to split.
struct Part {
    lower: f64,
    signs: Vec<PhaseConstraint>,
    split: PhaseConstraint,
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
        parts: &[Vec<PhaseConstraint>],
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
                for positive in [false, true] {
                    let mut signs = part.signs.clone();
                    signs.push(PhaseConstraint { positive, ..part.split });
                    asked.push(signs);
                    above.push(part.lower);
                }
            }
        }
    }

    /// For each part a lower bound of minus the violation where its signs hold, and the split that promises most there.
    fn bound_parts(
        &mut self,
        tree: &mut Tree<'_>,
        parts: &[Vec<PhaseConstraint>],
    ) -> Vec<(f64, Option<PhaseConstraint>)> {
        let mut own = Vec::new();
        for (f, signs) in parts.iter().enumerate() {
            for (k, sign) in signs.iter().enumerate() {
                let at = (sign.layer, sign.index);
                if signs[..k].iter().all(|earlier| (earlier.layer, earlier.index) != at) {
                    own.push(OwnRelaxation::of(f, at, &with_signs(tree.bounds, at, signs)));
                }
            }
        }
        let kept: Vec<[f64; 3]> = own.iter().map(|o| tree.begin_again(o, None)).collect();
        self.backward.relaxed.own = own;
        let targets = &tree.targets[..parts.len()];
        let lower = self.backward.evaluate(targets, tree.assumption, &tree.multipliers).to_vec();
        let found = lower.into_iter().enumerate();
        let found = found.map(|(f, lower)| (lower, self.costliest_sign(f))).collect();
        for (o, kept) in self.backward.relaxed.own.iter().zip(kept) {
            tree.begin_again(o, Some(kept));
        }
        found
    }

    /// The sign that costs a functional most, as last evaluated; none if no relaxation of a difference costs anything.
    fn costliest_sign(&mut self, f: usize) -> Option<PhaseConstraint> {
        self.backward.with_own(f, |backward| {
            let mut most = (0.0, None);
            for (layer, (behind, r)) in backward.behind_relu.iter().zip(&backward.relaxed.relaxations).enumerate() {
                let u = r.keep.len();
                if !r.lines.neurons.is_empty() || behind.is_empty() {
                    continue;
                }
                for index in 0..u {
                    let (quantity, cost) = cost(behind.difference[f * u + index], r, index);
                    if cost > most.0 {
                        most = (cost, Some(PhaseConstraint { quantity, layer, index, positive: true }));
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

/// The bounds of one neuron where those of some signs hold that are about it.
fn with_signs(bounds: &IntermediateBounds, (layer, index): (usize, usize), signs: &[PhaseConstraint]) -> LayerBounds {
    let known = &bounds.layers[layer];
    let one = |b: &Bounds| Bounds { lower: vec![b.lower[index]], upper: vec![b.upper[index]] };
    let mut own = LayerBounds { x: one(&known.x), y: one(&known.y), d: one(&known.d) };
    for sign in signs.iter().filter(|sign| (sign.layer, sign.index) == (layer, index)) {
        let of = own.of_mut(sign.quantity);
        let end = if sign.positive { &mut of.lower[0] } else { &mut of.upper[0] };
        *end = if sign.positive { end.max(0.0) } else { end.min(0.0) };
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
