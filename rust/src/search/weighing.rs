//! Multipliers for the violations that are open on a box: the parent's as they are, and on some levels the best ones.
//!
//! Both cost microseconds and need nobody else. What is found serves the children, and the point where a bound is met is a candidate.

use super::Node;
use super::attempt::{Attempt, output_of};
use super::effort::Part;
use super::node::Inherited;
use crate::domain::{Combination, Domain};
use crate::lp::dual::{End, ROWS, Until};
use crate::lp::{Multipliers, RegionRow, certified};
use crate::property::Violation;

/// The best multipliers are sought on each so manieth level: on LHC, a third of the descents for three boxes more in a hundred.
const LEVELS: usize = 3;

/// Steps of a descent for each row of its program: many times what it takes.
const STEPS: usize = 20;

/// What a search for multipliers came to.
pub enum Descent {
    /// A counterexample was found on the way.
    Refuted,
    /// Everything open has the best multipliers there are.
    Least,
    /// A solver might find better ones.
    Unfinished,
}

impl Attempt<'_> {
    /// Tries the parent's multipliers.
    pub(super) fn inherit(&mut self, node: &mut Node, inherited: &Inherited, region: &[RegionRow]) {
        let property = self.context.property;
        let output = output_of(&self.reach, &self.context);
        let mut worst = f64::NEG_INFINITY;
        for o in node.open.clone().iter() {
            let bound = of(inherited, o)
                .map_or(f64::INFINITY, |m| property.certified(o, &output, region, m, &mut self.scratch));
            if property.obligations[o].violation.excluded_by(bound) {
                self.candidates.tally.stages.inherited += 1;
                node.open.close(o);
            } else {
                worst = worst.max(bound);
            }
        }
        if worst.is_finite() {
            node.bound = node.bound.min(worst);
        }
    }

    /// Whether better multipliers than the parent's are worth looking for. The published algorithm looks on every box.
    pub(super) fn worth_weighing(&self, node: &Node) -> bool {
        self.context.settings.domain != Domain::Shared || node.inherited.is_none() || node.depth.is_multiple_of(LEVELS)
    }

    /// Seeks the best multipliers, from the parent's where there are some.
    pub(super) fn descend(&mut self, node: &mut Node, region: &[RegionRow]) -> Descent {
        let (property, shared) = (self.context.property, self.context.shared);
        let output = output_of(&self.reach, &self.context);
        let most = property.guards.iter().map(|g| g.rows.len()).max().unwrap_or(0);
        let rows = output.outputs() + most + region.len();
        if rows > ROWS {
            return Descent::Unfinished;
        }
        self.candidates.tally.effort.enter(Part::Dual);
        let inherited = node.inherited.take();
        let mut kept: Vec<(usize, Multipliers)> = Vec::new();
        let (mut least, mut worst, mut entered) = (true, f64::NEG_INFINITY, None);
        self.dual.take_up(&output, &mut self.row);
        for o in node.open.clone().iter() {
            let obligation = &property.obligations[o];
            if !node.open.contains(o) {
                continue;
            }
            let Violation::Linear { writings, .. } = &obligation.violation else {
                (least, worst) = (false, f64::INFINITY);
                continue;
            };
            if shared.stopping() {
                (least, worst) = (false, f64::INFINITY);
                break;
            }
            let guard = obligation.guard.map(|g| &property.guards[g]);
            if entered != Some(obligation.guard) {
                self.dual.enter(&output, guard, region, &mut self.row);
                entered = Some(obligation.guard);
            }
            output.row(writings[0].terms.iter().copied(), writings[0].constant, &mut self.row);
            let from = inherited.as_ref().and_then(|list| of(list, o));
            let mut end = self.dual.descend(&self.row, from, STEPS * rows, Until::Below);
            self.dual.write(&mut self.multipliers);
            let mut bound = property.certified(o, &output, region, &self.multipliers, &mut self.scratch);
            if end == End::Below && !obligation.violation.excluded_by(bound) {
                // Below zero by less than the rounding: farther down there may be room for it.
                end = self.dual.descend(&self.row, Some(&self.multipliers), STEPS * rows, Until::Least);
                self.dual.write(&mut self.multipliers);
                bound = property.certified(o, &output, region, &self.multipliers, &mut self.scratch);
            }
            if end == End::Ray {
                self.dual.write_ray(&mut self.ray);
                let nothing = Combination::default();
                if certified::bound(&output, &nothing, guard, region, &self.ray, &mut self.scratch) < 0.0 {
                    // Guard and region exclude each other, whatever the violation is.
                    self.context.record.ray(node, obligation.guard, &self.ray);
                    for other in node.open.clone().iter() {
                        if property.obligations[other].guard == obligation.guard {
                            self.candidates.tally.stages.dual += 1;
                            node.open.close(other);
                        }
                    }
                    continue;
                }
            }
            if !bound.is_finite() {
                (least, worst) = (false, f64::INFINITY);
                continue;
            }
            self.context.record.multipliers(node, o, &self.multipliers);
            if obligation.violation.excluded_by(bound) {
                self.candidates.tally.stages.dual += 1;
                node.open.close(o);
                continue;
            }
            least &= end != End::Unfinished;
            worst = worst.max(bound);
            kept.push((o, self.multipliers.clone()));
            if end == End::Least {
                self.candidates.tally.effort.enter(Part::Candidates);
                self.dual.write_point(&mut self.generators);
                let (centre, radius, e) = (self.reach.centre(), self.reach.radius(), &self.generators);
                let at = |i: usize| (centre[i] + radius[i] * e[i]).clamp(node.lower[i], node.upper[i]);
                if self.candidates.attempt(node, at) {
                    return Descent::Refuted;
                }
                self.candidates.tally.effort.enter(Part::Dual);
            }
        }
        if worst.is_finite() {
            node.bound = node.bound.min(worst);
        }
        node.inherited = (!kept.is_empty()).then(|| kept.into());
        if least { Descent::Least } else { Descent::Unfinished }
    }
}

/// The multipliers of an obligation.
fn of(list: &[(usize, Multipliers)], o: usize) -> Option<&Multipliers> {
    list.iter().find(|(i, _)| *i == o).map(|(_, m)| m)
}
