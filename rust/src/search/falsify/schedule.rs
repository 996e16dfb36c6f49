//! The schedule of falsification: when a counterexample is looked for, where, and for how long.
//!
//! Corners that rows point to cost next to nothing and are tried on every box. Attacks are made on the whole region
//! rather than on the box, and come later. The first one comes when the first box has been split, so that other workers
//! have boxes meanwhile. The first random search is made by one worker, as soon as bounding has taken as many
//! operations as it takes. From then on a small share of all operations goes into attacks.

use super::candidates::{Candidates, centre, corner};
use super::coordinates::CoordinateSearch;
use super::gradient::{AttackBudget, GradientSearch};
use super::random::RandomSearch;
use crate::bound::Assumption;
use crate::domain::output::GeneratorRow;
use crate::domain::{AbstractDomain, Output};
use crate::property::ObligationSet;
use crate::search::Node;
use crate::search::context::Context;
use crate::search::host::Request;
use crate::search::policy::POLICY;
use crate::search::statistics::WorkerStatistics;
use std::sync::{Arc, mpsc};

/// A worker's tools for falsification.
pub struct Falsifier<'a> {
    context: Context<'a>,
    gradient: GradientSearch,
    random: RandomSearch,
    coordinates: CoordinateSearch,
    /// Tests points.
    pub candidates: Candidates<'a>,
    /// The whole region.
    whole: Node,
    /// What the whole region has to prove.
    claims: Arc<ObligationSet>,
    /// What was open on the first box, if this worker bounded it and has not attacked it yet.
    due: Option<ObligationSet>,
    /// Attacks made so far, by which they take turns.
    turn: usize,
}

impl<'a> Falsifier<'a> {
    /// The schedule of one worker.
    pub fn new(context: Context<'a>, requests: &'a mpsc::Sender<Request>) -> Self {
        let Context { region, property, pair, .. } = context;
        let open = property.open(pair.identical());
        Self {
            context,
            gradient: GradientSearch::default(),
            random: RandomSearch::default(),
            coordinates: CoordinateSearch::new(pair),
            candidates: Candidates::new(context, requests),
            claims: Arc::new(open.clone()),
            whole: Node::root(region.lower.clone(), region.upper.clone(), open),
            due: None,
            turn: 0,
        }
    }

    /// Tries the corner that the worst row points to (on the first box of a search, that of every open row) or else the
    /// centre; true if a witness was found.
    pub fn try_corners(
        &mut self,
        statistics: &mut WorkerStatistics,
        node: &Node,
        worst: usize,
        first: bool,
        output: &Output<'_>,
        row: &mut GeneratorRow,
    ) -> bool {
        let property = self.context.property;
        if !(self.attacks() && property.obligations[worst].violation.is_linear())
            && self.candidates.test(statistics, node, |i| centre(node, i))
        {
            return true;
        }
        for o in node.open.iter().filter(|&o| first || o == worst) {
            let violation = &property.obligations[o].violation;
            if !violation.is_linear() {
                continue;
            }
            violation.upper(output, row);
            let coefficients = &row.generators;
            if self.candidates.test(statistics, node, |i| corner(node, coefficients, i)) {
                return true;
            }
        }
        false
    }

    /// Makes the attacks that are due; true if a witness was found. `flops` counts the operations of bounding so far.
    pub fn search(
        &mut self,
        statistics: &mut WorkerStatistics,
        node: &Node,
        worst: usize,
        (first, seed): (bool, u64),
        flops: u64,
    ) -> bool {
        if !self.attacks() {
            return false;
        }
        if first {
            self.due = Some(node.open.clone());
            if !self.context.settings.contracts(self.context.pair.inputs()) {
                return false;
            }
            // Contracting this box would take longer than attacking it.
        }
        match self.due.take() {
            Some(open) => self.attack_first(statistics, &open, seed),
            None => self.attack_later(statistics, node, worst, seed, flops),
        }
    }

    /// Whether attacks are made. The published algorithm, which the settings can ask for to compare with, makes none.
    fn attacks(&self) -> bool {
        self.context.settings.attack && self.context.settings.domain == AbstractDomain::Reduced
    }

    /// Attacks everything that was open on the first box a little (of very many claims those that are violated most where
    /// attacks start), and then once more the claims that this came nearest to violating.
    fn attack_first(&mut self, statistics: &mut WorkerStatistics, open: &ObligationSet, seed: u64) -> bool {
        let policy = &POLICY.attack;
        let budget = |starts, steps| AttackBudget { starts, from_centre: true, steps, seed };
        let mut attacked: Vec<usize> = open.iter().collect();
        if attacked.len() > policy.first_claims {
            if self.ascend(statistics, None, open.iter(), &budget(0..policy.first_starts, 0)) {
                return true;
            }
            attacked = self.gradient.nearest(open.iter(), policy.first_claims);
        }
        if self.ascend(statistics, None, attacked.into_iter(), &budget(0..policy.first_starts, policy.steps)) {
            return true;
        }
        let nearest = self.gradient.nearest(open.iter(), policy.claims_intensified);
        let starts = policy.first_starts..policy.intensified_starts;
        self.ascend(statistics, None, nearest.into_iter(), &budget(starts, policy.steps))
    }

    /// Attacks while attacks have had less than their share of the operations. They take turns: where the bounds are
    /// worst, where attacks came nearest to a violation, and on one claim after the other, the last two anywhere in the
    /// region. Every second attack is a random search of the region, for many claims at once.
    fn attack_later(
        &mut self,
        statistics: &mut WorkerStatistics,
        node: &Node,
        worst: usize,
        seed: u64,
        flops: u64,
    ) -> bool {
        let policy = &POLICY.attack;
        let claims = Arc::clone(&self.claims);
        if flops >= RandomSearch::cost(self.context.pair) && self.context.shared.begins_random_search() {
            // It begins only now, so that what is decided sooner is not delayed.
            if self.search_randomly(statistics, claims.iter().take(policy.claims_together), seed) {
                return true;
            }
        }
        if self.coordinates.is_due(self.context.pair, flops) && self.search_coordinates(statistics, seed) {
            return true;
        }
        let rounds = self.context.pair.rounds();
        let share = flops / if rounds { policy.share_rounding } else { policy.share };
        for row in 0..policy.attacks_in_a_row {
            if self.gradient.flops() + self.random.flops() > share {
                break;
            }
            self.turn += 1;
            let (turn, seed) = (self.turn, seed.wrapping_mul(policy.attacks_in_a_row).wrapping_add(row));
            let budget = AttackBudget { starts: 0..policy.later_starts, from_centre: false, steps: policy.steps, seed };
            let one_after_the_other = |k: usize| claims.iter().cycle().skip(k % claims.len().max(1));
            let found = match turn % 6 {
                0 => self.ascend(statistics, Some(node), std::iter::once(worst), &budget),
                2 => {
                    let nearest = self.gradient.nearest(claims.iter(), 1);
                    self.ascend(statistics, None, nearest.into_iter(), &budget)
                }
                4 => self.ascend(statistics, None, one_after_the_other(turn / 6).take(1), &budget),
                _ => {
                    let together = policy.claims_together.min(claims.len());
                    self.search_randomly(statistics, one_after_the_other(turn / 2 * together).take(together), seed)
                }
            };
            if found {
                return true;
            }
        }
        false
    }

    /// Gradient ascent on a node, or on the whole region; true if a witness was found.
    fn ascend(
        &mut self,
        statistics: &mut WorkerStatistics,
        node: Option<&Node>,
        obligations: impl Iterator<Item = usize>,
        budget: &AttackBudget,
    ) -> bool {
        let Self { context, gradient, candidates, whole, .. } = self;
        let node = node.unwrap_or(whole);
        gradient.run(context, node, obligations, budget, |point| candidates.test(statistics, node, |i| point[i]))
    }

    /// A run of coordinate search in the whole region, for all claims or those that attacks came nearest to violating;
    /// true if a witness was found.
    fn search_coordinates(&mut self, statistics: &mut WorkerStatistics, seed: u64) -> bool {
        let Self { context, gradient, coordinates, candidates, whole, claims, .. } = self;
        let mut attacked = gradient.nearest(claims.iter(), POLICY.attack.claims_together);
        if attacked.is_empty() {
            attacked.extend(claims.iter().take(POLICY.attack.claims_together));
        }
        let goals: Vec<Assumption> = attacked.into_iter().filter_map(|o| context.assumption(o)).collect();
        coordinates.run(context, whole, &goals, seed, |point| candidates.test(statistics, whole, |i| point[i]))
    }

    /// Random search of the whole region for a violation of any of these obligations; true if a witness was found.
    fn search_randomly(
        &mut self,
        statistics: &mut WorkerStatistics,
        obligations: impl Iterator<Item = usize>,
        seed: u64,
    ) -> bool {
        let Self { context, random, candidates, whole, .. } = self;
        let goals: Vec<Assumption> = obligations.filter_map(|o| context.assumption(o)).collect();
        random.run(context, whole, &goals, seed, |point| candidates.test(statistics, whole, |i| point[i]))
    }
}
