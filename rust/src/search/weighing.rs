//! Multipliers for the violations that are open on a box: the parent's as they are, and then the best ones.
//!
//! Both cost microseconds and need nobody else. What is found serves the children, the point where a bound is met is a candidate, and the worst violation with
//! its multipliers, as one row, tells where to halve.

use super::Node;
use super::attempt::{Attempt, Worst, output_of};
use super::effort::Part;
use super::node::Inherited;
use super::policy::POLICY;
use super::split::Plan;
use super::worker::Context;
use crate::domain::{AbstractDomain, LinearFunctional};
use crate::lp::dual::{DescentEnd, StoppingRule};
use crate::lp::{Multipliers, RegionRow, certified};
use crate::property::{Obligation, Violation};

/// What a search for multipliers came to.
pub enum Descent {
    /// A counterexample was found on the way.
    Refuted,
    /// A solver would find nothing better that is worth having.
    Done,
    /// A solver might find better ones.
    Unfinished,
}

/// What the multipliers of one violation came to.
enum Weighed {
    Refuted,
    /// It is excluded, or the guard is, and with it all that needs it.
    Closed,
    /// It stays open, with this bound by [`Attempt::multipliers`], which no others lower if the flag is set.
    Open(f64, bool),
    /// It stays open, and multipliers say nothing.
    Unknown,
}

impl Attempt<'_> {
    /// Tries the parent's multipliers; tells about the worst of what is left.
    pub(super) fn inherit(&mut self, node: &mut Node, inherited: &Inherited, region: &[RegionRow], worst: &mut Worst) {
        let property = self.context.property;
        let output = output_of(&self.reach, &self.context);
        let mut left = Left::default();
        for o in node.open.clone().iter() {
            let bound = of(inherited, o)
                .map_or(f64::INFINITY, |m| property.certified(o, &output, region, m, &mut self.scratch));
            if property.obligations[o].violation.excluded_by(bound) {
                self.candidates.tally.stages.inherited += 1;
                node.open.close(o);
            } else {
                left.add(o, bound);
            }
        }
        left.tell(node, worst);
    }

    /// Seeks the best multipliers, from the parent's where there are some, for the worst violation first; tells about the worst of what is left.
    ///
    /// Where halving once is not expected to close the worst one the box will be halved again whatever the others come to, and these keep what they have.
    pub(super) fn descend(&mut self, node: &mut Node, region: &[RegionRow], worst: &mut Worst) -> Descent {
        let property = self.context.property;
        let output = output_of(&self.reach, &self.context);
        let most = property.guards.iter().map(|g| g.rows.len()).max().unwrap_or(0);
        if output.outputs() + most + region.len() > POLICY.multipliers.rows {
            return Descent::Unfinished;
        }
        self.candidates.tally.effort.enter(Part::Dual);
        let inherited = node.inherited.take();
        let before = |o: usize| inherited.as_ref().and_then(|list| of(list, o));
        let mut kept: Vec<(usize, Multipliers)> = Vec::new();
        let (mut done, mut far, mut left, mut entered, mut plan) = (true, false, Left::default(), None, None);
        self.dual.set_box(&output, &mut self.row);
        let open = node.open.clone();
        let first = worst.obligation;
        for o in open.iter().filter(|&o| o == first).chain(open.iter().filter(|&o| o != first)) {
            if !node.open.contains(o) {
                continue;
            }
            if far {
                kept.extend(before(o).map(|m| (o, m.clone())));
                continue;
            }
            match self.weigh(node, o, before(o), region, &mut entered) {
                Weighed::Refuted => return Descent::Refuted,
                Weighed::Closed => {}
                Weighed::Unknown => {
                    done = false;
                    left.add(o, f64::INFINITY);
                }
                Weighed::Open(bound, least) => {
                    done &= least;
                    left.add(o, bound);
                    if o == first {
                        plan = self.plan_for_last(node, bound);
                        far = plan.is_some_and(|p| p.inputs().nth(1).is_some());
                    }
                    kept.push((o, self.multipliers.clone()));
                }
            }
        }
        left.tell(node, worst);
        worst.plan = plan.filter(|_| worst.obligation == first);
        node.inherited = (!kept.is_empty()).then(|| kept.into());
        if done { Descent::Done } else { Descent::Unfinished }
    }

    /// Seeks the best multipliers for one violation. `entered`: the last one whose guard the dual was given.
    fn weigh(
        &mut self,
        node: &mut Node,
        o: usize,
        from: Option<&Multipliers>,
        region: &[RegionRow],
        entered: &mut Option<usize>,
    ) -> Weighed {
        let Context { property, shared, record, .. } = self.context;
        let Obligation { guard: number, violation } = &property.obligations[o];
        let Violation::Linear { equivalents, .. } = violation else { return Weighed::Unknown };
        if shared.stopping() {
            return Weighed::Unknown;
        }
        let output = output_of(&self.reach, &self.context);
        let guard = number.map(|g| &property.guards[g]);
        if entered.replace(o).is_none_or(|last| property.obligations[last].guard != *number) {
            self.dual.set_guard(&output, guard, region, &mut self.row);
        }
        output.row(equivalents[0].terms.iter().copied(), equivalents[0].constant, &mut self.row);
        let steps = POLICY.multipliers.steps * self.dual.rows();
        let mut end = self.dual.descend(&self.row, from, steps, StoppingRule::Negative);
        self.dual.write(&mut self.multipliers);
        let mut bound = property.certified(o, &output, region, &self.multipliers, &mut self.scratch);
        if end == DescentEnd::Negative && !violation.excluded_by(bound) {
            // Below zero by less than the rounding: farther down there may be room for it.
            end = self.dual.descend(&self.row, Some(&self.multipliers), steps, StoppingRule::Optimum);
            self.dual.write(&mut self.multipliers);
            bound = property.certified(o, &output, region, &self.multipliers, &mut self.scratch);
        }
        if end == DescentEnd::Unbounded {
            self.dual.write_ray(&mut self.ray);
            let nothing = LinearFunctional::default();
            if certified::bound(&output, &nothing, guard, region, &self.ray, &mut self.scratch) < 0.0 {
                // Guard and region exclude each other, whatever the violation is.
                record.ray(node, *number, &self.ray);
                for other in node.open.clone().iter().filter(|&other| property.obligations[other].guard == *number) {
                    self.candidates.tally.stages.dual += 1;
                    node.open.close(other);
                }
                return Weighed::Closed;
            }
        }
        if !bound.is_finite() {
            return Weighed::Unknown;
        }
        record.multipliers(node, o, &self.multipliers);
        if violation.excluded_by(bound) {
            self.candidates.tally.stages.dual += 1;
            node.open.close(o);
            return Weighed::Closed;
        }
        if end == DescentEnd::Optimum && self.try_point(node) {
            return Weighed::Refuted;
        }
        Weighed::Open(bound, end != DescentEnd::StepLimit)
    }

    /// Whether the point where the last bound is met is a counterexample.
    fn try_point(&mut self, node: &Node) -> bool {
        self.enter(Part::Candidates);
        self.dual.write_point(&mut self.generators);
        let (centre, radius, e) = (self.reach.centre(), self.reach.radius(), &self.generators);
        let at = |i: usize| (centre[i] + radius[i] * e[i]).clamp(node.lower[i], node.upper[i]);
        let refuted = self.candidates.attempt(node, at);
        self.enter(Part::Dual);
        refuted
    }

    /// Where to halve because of the violation bounded last; longer than one input if it is expected to stay open on both halves.
    fn plan_for_last(&mut self, node: &Node, bound: f64) -> Option<Plan> {
        let Context { pair, settings, .. } = self.context;
        (settings.domain == AbstractDomain::Reduced).then(|| {
            let score = self.sensitivity.score(self.reach.layers(), pair.inputs(), self.scratch.row());
            Plan::until_it_may_close(bound, self.foresight.share(), score, &node.lower, &node.upper)
        })
    }
}

/// The largest bound of what is left open, and whose it is.
struct Left {
    bound: f64,
    obligation: usize,
}

impl Default for Left {
    fn default() -> Self {
        Self { bound: f64::NEG_INFINITY, obligation: 0 }
    }
}

impl Left {
    fn add(&mut self, obligation: usize, bound: f64) {
        if bound > self.bound || bound.is_nan() {
            *self = Self { bound, obligation };
        }
    }

    /// Nothing is told where one of them has no bound by multipliers.
    fn tell(&self, node: &mut Node, worst: &mut Worst) {
        if self.bound.is_finite() {
            node.bound = node.bound.min(self.bound);
            (worst.bound, worst.obligation) = (self.bound, self.obligation);
        }
    }
}

/// The multipliers of an obligation.
pub(super) fn of(list: &[(usize, Multipliers)], o: usize) -> Option<&Multipliers> {
    list.iter().find(|(i, _)| *i == o).map(|(_, m)| m)
}
