//! A worker: takes boxes off its own queue, best first, then depth first for a while, and has its linear programs
//! solved while it goes on with other boxes.
//!
//! With one thread the order of everything is fixed: answers are awaited at fixed points (when the next batch is full
//! or nothing else is left), so that runs which the clock does not cut off repeat exactly.

use super::Node;
use super::account::DEPTHS;
use super::context::Context;
use super::hints::{Cut, DEEPEST};
use super::host::Request;
use super::lift::{Hinted, Lift};
use super::profile::Activity;
use super::shared::Shared;
use super::solution::Reason;
use super::split::Plan;
use super::split::halving::{halves, middle};
use super::split::plan::MOST_HALVINGS;
use super::stages::lp::PendingBox;
use super::stages::workspace::Workspace;
use super::stages::{self, Outcome};
use super::trust::{self, Trust};
use crate::lp::Answer;
use crate::numeric::round::arithmetic_is_ieee;
use std::collections::BinaryHeap;
use std::sync::mpsc;

/// Boxes whose programs travel together.
const BATCH: usize = 8;

/// So many boxes are bounded depth first below one that was the best: parts of one box mostly have the same neurons
/// left, and are still in the cache. Then the best box is taken again, because it is the likeliest place of a
/// counterexample.
const DEPTH_FIRST_BURST: usize = 256;

/// Deeper boxes are put away: their parts could not be counted ([`super::account`]).
const DEEPEST_HALVED: usize = DEPTHS - 1 - MOST_HALVINGS;

/// Tells the calling thread that a worker has ended, also if it panicked, which ends the whole search.
struct ExitGuard<'a>(&'a Shared, &'a mpsc::Sender<Request>);

impl Drop for ExitGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(Reason::Interrupted);
        }
        let _ = self.1.send(Request::Done);
    }
}

struct Worker<'a> {
    context: Context<'a>,
    workspace: Workspace<'a>,
    requests: &'a mpsc::Sender<Request>,
    /// Open nodes, the best one first.
    heap: BinaryHeap<Node>,
    /// Open nodes that are taken depth first, before those of the heap.
    stack: Vec<Node>,
    /// How many more nodes of the current burst are taken depth first.
    burst: usize,
    /// Boxes whose programs are not sent yet.
    pending: Vec<PendingBox>,
    /// Boxes whose programs are being solved, and where the answers arrive.
    in_flight: Option<(Vec<PendingBox>, mpsc::Receiver<Vec<Answer>>)>,
    /// The number of the next node, for the order among equals.
    number: u64,
    /// How far above the last boxes of an earlier proof boxes are bounded.
    lift: Lift,
    /// What large boxes have shown of its cuts.
    trust: Trust,
}

/// Works, first on `nodes`, until the search ends or pauses. What is open then is returned.
pub fn run(context: Context<'_>, requests: &mpsc::Sender<Request>, nodes: Vec<Node>) {
    let _guard = ExitGuard(context.shared, requests);
    let mut worker = Worker {
        context,
        workspace: Workspace::new(context, requests),
        requests,
        number: 1 + nodes.iter().map(|n| n.number).max().unwrap_or(0),
        heap: nodes.into(),
        stack: Vec::new(),
        burst: 0,
        pending: Vec::new(),
        in_flight: None,
        lift: Lift::default(),
        trust: Trust::default(),
    };
    if arithmetic_is_ieee() {
        worker.work();
    }
    if !arithmetic_is_ieee() {
        context.shared.fail_arithmetic();
    }
    worker.close_profile();
    context.shared.add_statistics(&worker.workspace.statistics, worker.workspace.learned());
    context.shared.return_open(worker.into_open());
}

impl Worker<'_> {
    fn work(&mut self) {
        let shared = self.context.shared;
        while !shared.ending() && !shared.pausing() {
            if let Some(node) = self.next() {
                shared.release_memory(node.bytes());
                let trial = match self.hinted(&node) {
                    Hinted::Halve(cut) => {
                        self.halve_again(node, cut);
                        continue;
                    }
                    Hinted::Try => true,
                    Hinted::Nothing => false,
                };
                let large = self.large_cut(&node).is_some();
                let outcome = stages::examine(&mut self.workspace, node);
                self.workspace.enter(Activity::Queue);
                if large {
                    self.learn_trust(&outcome);
                }
                if trial {
                    self.lift.learn(matches!(outcome, Outcome::Closed));
                }
                self.apply(outcome);
                if self.pending.len() >= BATCH {
                    self.await_answers();
                    self.dispatch();
                }
                if shared.has_idle_worker() {
                    self.donate();
                }
            } else if !self.pending.is_empty() || self.in_flight.is_some() {
                self.await_answers();
                self.dispatch();
            } else if let Some(node) = self.wait_for_donation() {
                if node.violation_bounds.is_some() { self.stack.push(node) } else { self.heap.push(node) }
            } else if shared.complete() {
                break;
            }
        }
        if !shared.stopping() {
            // This is only a pause, or the last box was taken up: the answers that are on their way are not wasted.
            self.await_answers();
        }
    }

    /// The next node: the last one of the stack, or the best one of the heap.
    fn next(&mut self) -> Option<Node> {
        if let Some(node) = self.stack.pop() {
            self.burst = self.burst.saturating_sub(1);
            return Some(node);
        }
        self.burst = DEPTH_FIRST_BURST;
        self.heap.pop()
    }

    /// Waits for a box that another worker donates.
    fn wait_for_donation(&mut self) -> Option<Node> {
        self.workspace.enter(Activity::Waiting);
        let node = self.context.shared.take();
        self.workspace.enter(Activity::Queue);
        node
    }

    /// Stops the clock of the profile, and takes over the arithmetic that was counted elsewhere.
    fn close_profile(&mut self) {
        let flops = self.workspace.flops();
        let profile = &mut self.workspace.statistics.profile;
        profile.end();
        profile.flops = flops;
    }

    /// Does what follows from bounding a box.
    fn apply(&mut self, outcome: Outcome) {
        let shared = self.context.shared;
        match outcome {
            Outcome::Closed => {}
            Outcome::Ask(pending) => self.pending.push(*pending),
            Outcome::Branch(children) => {
                self.workspace.statistics.splits += u64::from(children.len() > 1);
                shared.retire(1, children.len() as u64);
                for mut child in children {
                    child.number = self.number;
                    self.number += 1;
                    self.enqueue(child);
                }
            }
            Outcome::Split(node, plan) if self.agreed_cut(&node, &plan).is_some() => {
                if let Some(cut) = self.agreed_cut(&node, &plan) {
                    self.halve_again(node, cut);
                }
            }
            Outcome::Split(node, plan) if plan.inputs().next().is_some() => self.halve(node, plan.inputs()),
            // The search was stopped while this box was being bounded, so a missing plan does not mean that it cannot
            // be split.
            Outcome::Split(node, _) if shared.stopping() => self.heap.push(node),
            Outcome::Split(node, _) | Outcome::Undecided(node) => self.put_away_unresolved(node),
            Outcome::RestsOnSolver(node) => {
                self.workspace.statistics.rests_on_solver += 1;
                self.put_away_unresolved(node);
            }
        }
    }

    /// Where an earlier proof halved a box, if it can be halved there.
    fn cut_of(&self, node: &Node) -> Option<Cut> {
        let (input, cut, halves) = self.context.hints?.halving(node.hint?)?;
        let inside = input < node.lower.len() && node.lower[input] < cut && cut < node.upper[input];
        let halved = inside && trust::halves(cut, node.lower[input], node.upper[input]);
        (halved && node.depth < DEEPEST && node.violation_bounds.is_none()).then_some((input, cut, halves))
    }

    /// The same of a box that is open here, where this search agrees with the choice of the input.
    fn agreed_cut(&self, node: &Node, plan: &Plan) -> Option<Cut> {
        self.cut_of(node)
            .filter(|&cut| self.context.hints.is_some_and(|hints| trust::agrees(hints, cut, plan.inputs())))
    }

    /// What an earlier proof says of a box before it is bounded. The first box is bounded all the same: there the
    /// attacks begin.
    fn hinted(&mut self, node: &Node) -> Hinted {
        let (Some(cut), Some(hints), Some(label), true) =
            (self.cut_of(node), self.context.hints, node.hint, node.depth > 0)
        else {
            return Hinted::Nothing;
        };
        if self.large_cut(node).is_some() {
            return if self.trust.looks(node.depth) { Hinted::Nothing } else { Hinted::Halve(cut) };
        }
        self.lift.of(hints.leaves(label), cut)
    }

    /// Where an earlier proof, by halving alone, halved a box that is large.
    fn large_cut(&self, node: &Node) -> Option<Cut> {
        let hints = self.context.hints.filter(|hints| !hints.contracts())?;
        self.cut_of(node).filter(|_| node.hint.is_some_and(|label| trust::is_large(hints, label)))
    }

    /// Learns from a large box that was bounded.
    fn learn_trust(&mut self, outcome: &Outcome) {
        let agreed = match outcome {
            Outcome::Split(node, plan) => self.agreed_cut(node, plan).is_some(),
            Outcome::Closed => false,
            _ => return,
        };
        self.trust.learn(agreed);
    }

    /// Halves a box where an earlier proof did.
    fn halve_again(&mut self, node: Node, (input, cut, labels): Cut) {
        self.workspace.statistics.splits += 1;
        self.workspace.statistics.taken_up += 1;
        self.context.shared.retire(1, 2);
        let parent = node.label;
        let mut children = halves(node, input, cut, &mut self.number);
        self.context.record.halved(parent, (input, cut), &mut children);
        for (mut child, label) in children.into_iter().zip(labels) {
            child.hint = Some(label);
            self.enqueue(child);
        }
    }

    /// Halves a node along the first of these inputs that is wide enough, and each half along the inputs after it.
    fn halve(&mut self, mut node: Node, mut inputs: impl Iterator<Item = usize> + Clone) {
        let place = inputs.find_map(|i| middle(node.lower[i], node.upper[i]).map(|m| (i, m)));
        let Some((input, middle)) = place else {
            return self.enqueue(node);
        };
        node.hint = None;
        self.workspace.statistics.splits += 1;
        self.context.shared.retire(1, 2);
        let parent = node.label;
        let mut children = halves(node, input, middle, &mut self.number);
        self.context.record.halved(parent, (input, middle), &mut children);
        for child in children {
            self.halve(child, inputs.clone());
        }
    }

    /// Puts a node away as undecided for good.
    fn put_away_unresolved(&mut self, node: Node) {
        self.workspace.statistics.unresolved += 1;
        self.context.shared.put_away_unresolved(node);
        self.context.shared.retire(1, 0);
    }

    /// Puts a node into the queue. It goes on the stack during a depth-first burst, if memory is spent, and if it has
    /// violation bounds: the multipliers from which its contraction starts are large and serve best at once.
    fn enqueue(&mut self, node: Node) {
        if node.depth > DEEPEST_HALVED {
            return self.put_away_unresolved(node);
        }
        let spent = self.context.shared.reserve_memory(node.bytes());
        if spent || node.violation_bounds.is_some() || self.burst > 0 {
            self.stack.push(node);
        } else {
            self.heap.push(node);
        }
    }

    /// The nodes that are still open here.
    fn into_open(self) -> impl Iterator<Item = Node> {
        let in_flight = self.in_flight.map(|(boxes, _)| boxes).unwrap_or_default();
        let asked = self.pending.into_iter().chain(in_flight).map(PendingBox::into_node);
        self.heap.into_iter().chain(self.stack).chain(asked)
    }

    /// Sends the programs of the pending boxes to the solver.
    fn dispatch(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut boxes = std::mem::take(&mut self.pending);
        let programs = boxes.iter_mut().flat_map(|b| std::mem::take(&mut b.programs)).collect();
        let (reply, answers) = mpsc::sync_channel(1);
        if self.requests.send(Request::Programs(programs, reply)).is_ok() {
            self.in_flight = Some((boxes, answers));
        }
    }

    /// Waits for the answers to the programs that were sent, and uses them.
    fn await_answers(&mut self) {
        let Some((boxes, answers)) = self.in_flight.take() else {
            return;
        };
        self.workspace.enter(Activity::Waiting);
        // No answer at all only means that nothing is learned from it.
        let answers = answers.recv().unwrap_or_default();
        let mut rest = answers.as_slice();
        for pending in boxes {
            let (own, others) = rest.split_at(pending.programs_sent().min(rest.len()));
            rest = others;
            self.workspace.enter(Activity::Programs);
            let outcome = stages::conclude(&mut self.workspace, pending, own);
            self.workspace.enter(Activity::Queue);
            self.apply(outcome);
        }
    }

    /// Donates half of the queue to idle workers.
    fn donate(&mut self) {
        if self.stack.len() > 1 {
            // The oldest nodes of the stack are the largest.
            let half = self.stack.len().div_ceil(2);
            self.context.shared.donate(self.stack.drain(..half));
        } else if self.heap.len() > 1 {
            let mut nodes = std::mem::take(&mut self.heap).into_vec();
            let half = nodes.len() / 2;
            self.context.shared.donate(nodes.drain(half..));
            self.heap = nodes.into();
        }
    }
}
