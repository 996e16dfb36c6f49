//! Looking for a counterexample on a box that is not proved: when, where, and for how long.
//!
//! Corners that rows point to cost next to nothing and are tried on every box. Attacks are on the region rather than on the box, and come later: the first when
//! the first box has been halved, so that other workers have theirs to go on with meanwhile; points are scattered, by one worker, as soon as the search has
//! taken as long as that takes; from then on a small share of all work goes into either.

use super::Node;
use super::attack::Zeal;
use super::attempt::{Attempt, Worst, centre, corner, output_of};
use super::policy::POLICY;
use super::scatter::Scatter;
use super::worker::Context;
use crate::domain::AbstractDomain;
use crate::property::ObligationSet;

/// A worker's plan.
pub struct Refuting {
    /// The whole region.
    whole: Node,
    /// What was open on the first box, if this worker bounded it and has not attacked it yet.
    due: Option<ObligationSet>,
    turn: usize,
}

impl Refuting {
    pub fn new(context: &Context<'_>) -> Self {
        let Context { region, property, pair, .. } = context;
        let open = property.open(pair.identical());
        Self { whole: Node::root(region.lower.clone(), region.upper.clone(), open), due: None, turn: 0 }
    }
}

impl Attempt<'_> {
    /// Tries the corner that the worst row points to (on the first box of a search, that of every open row) or else the centre, and attacks; true if a witness
    /// was found.
    pub(super) fn refute(&mut self, node: &Node, worst: &Worst, first: bool, seed: u64) -> bool {
        let Context { property, settings, pair, .. } = self.context;
        let attacks = settings.attack && settings.domain == AbstractDomain::Reduced;
        if !(attacks && property.obligations[worst.obligation].violation.is_linear())
            && self.candidates.attempt(node, |i| centre(node, i))
        {
            return true;
        }
        for o in node.open.iter().filter(|&o| first || o == worst.obligation) {
            let violation = &property.obligations[o].violation;
            if !violation.is_linear() {
                continue;
            }
            violation.upper(&output_of(&self.reach, &self.context), &mut self.row);
            let side = &self.row.generators;
            if self.candidates.attempt(node, |i| corner(node, side, i)) {
                return true;
            }
        }
        if !attacks {
            // Without them it is the published algorithm, to compare with.
            return false;
        }
        if first {
            self.refuting.due = Some(node.open.clone());
            if !settings.contracts(pair.inputs()) {
                return false;
            }
            // Contracting this box would take longer than attacking it.
        }
        if let Some(open) = self.refuting.due.take() {
            return self.attack_first(&open, seed);
        }
        self.attack_later(node, worst.obligation, seed)
    }

    /// Attacks what was open on the first box: all of it a little, and what that comes nearest to violating once more.
    fn attack_first(&mut self, open: &ObligationSet, seed: u64) -> bool {
        let whole = &self.refuting.whole;
        let zeal = |starts| Zeal { starts, centre: true, steps: POLICY.attack.steps, seed };
        let (each, nearest) = (POLICY.attack.each, POLICY.attack.nearest);
        self.candidates.attack(whole, open.iter(), &zeal(0..each)) || {
            let few = self.candidates.nearest(open.iter(), POLICY.attack.few);
            self.candidates.attack(whole, few.into_iter(), &zeal(each..nearest))
        }
    }

    /// Attacks while these have had less than their share: in turn where the bounds are worst, where attacks came nearest, and on one claim after the other; the
    /// last two anywhere in the region. Between them points are scattered over the region, for many claims at once.
    fn attack_later(&mut self, node: &Node, worst: usize, seed: u64) -> bool {
        let work = self.reach.flops() + self.contractor.flops();
        let Refuting { whole, turn, .. } = &mut self.refuting;
        let claims = &whole.open;
        if work >= Scatter::cost(self.context.pair) && self.context.shared.begins_to_scatter() {
            // What is decided sooner is not held up.
            let some = claims.iter().take(POLICY.attack.together);
            if self.candidates.scatter(whole, some, seed) {
                return true;
            }
        }
        let share = work / POLICY.attack.share;
        for row in 0..POLICY.attack.row {
            if self.candidates.attack_flops() > share {
                break;
            }
            *turn += 1;
            let seed = seed.wrapping_mul(POLICY.attack.row).wrapping_add(row);
            let zeal = Zeal { starts: 0..POLICY.attack.later, centre: false, steps: POLICY.attack.steps, seed };
            let one_after_the_other = |k: usize| claims.iter().cycle().skip(k % claims.len().max(1));
            let found = match *turn % 6 {
                0 => self.candidates.attack(node, std::iter::once(worst), &zeal),
                2 => {
                    let nearest = self.candidates.nearest(claims.iter(), 1);
                    self.candidates.attack(whole, nearest.into_iter(), &zeal)
                }
                4 => self.candidates.attack(whole, one_after_the_other(*turn / 6).take(1), &zeal),
                _ => {
                    let together = POLICY.attack.together.min(claims.len());
                    let some = one_after_the_other(*turn / 2 * together).take(together);
                    self.candidates.scatter(whole, some, seed)
                }
            };
            if found {
                return true;
            }
        }
        false
    }
}
