//! A worker: takes boxes off its own heap, best first, stays with the parts of each for a while, and has its linear programs solved while it goes on with other
//! boxes.
//!
//! With one thread the order of everything is fixed: answers are awaited at fixed points (when the next batch is full or nothing else is left), so runs
//! that are not cut off by the clock repeat exactly.

use super::asking::Asked;
use super::attempt::{Attempt, Outcome};
use super::effort::Part;
use super::record::Record;
use super::shared::Shared;
use super::split::{halves, middle};
use super::{Node, Reason, Region, Request};
use crate::bound::Assumption;
use crate::lp::Answer;
use crate::network::Pair;
use crate::numeric::round::arithmetic_is_ieee;
use crate::property::Property;
use crate::settings::Settings;
use std::collections::BinaryHeap;
use std::sync::mpsc;

/// Boxes whose programs travel together.
const BATCH: usize = 8;

/// So many boxes are bounded depth first below one that was the best: parts of one box mostly have the same neurons left, and are still in the cache. Then the
/// best is looked for again, because it is the likeliest place of a counterexample.
const DIVE: usize = 256;

/// What all workers of a search read.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The pair over the free inputs.
    pub pair: &'a Pair,
    /// The region over all inputs.
    pub whole: &'a Region,
    /// Which inputs are free.
    pub free: &'a [usize],
    /// The region over the free inputs.
    pub region: &'a Region,
    pub property: &'a Property,
    pub settings: &'a Settings,
    pub shared: &'a Shared,
    /// Where a proof is written down, if it is.
    pub record: Record<'a>,
}

impl Context<'_> {
    /// That an obligation is violated; `None` where it is not linear.
    pub fn assumption(&self, o: usize) -> Option<Assumption> {
        Assumption::new(self.property, &self.property.obligations[o], self.pair.outputs())
    }
}

/// Tells the calling thread that a worker is gone, however it went; a panic ends the whole search.
struct Farewell<'a>(&'a Shared, &'a mpsc::Sender<Request>);

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(Reason::Interrupted);
        }
        let _ = self.1.send(Request::Done);
    }
}

struct Worker<'a> {
    context: Context<'a>,
    attempt: Attempt<'a>,
    requests: &'a mpsc::Sender<Request>,
    heap: BinaryHeap<Node>,
    /// Nodes taken depth first,
    stack: Vec<Node>,
    /// and how many more of them are parts of the last one from the heap.
    dive: usize,
    waiting: Vec<Asked>,
    flying: Option<(Vec<Asked>, mpsc::Receiver<Vec<Answer>>)>,
    number: u64,
}

/// Works, first on `nodes`, until the search is over or pauses; what is open then is handed in.
pub fn run(context: Context<'_>, requests: &mpsc::Sender<Request>, nodes: Vec<Node>) {
    let _farewell = Farewell(context.shared, requests);
    let mut worker = Worker {
        context,
        attempt: Attempt::new(context, requests),
        requests,
        number: 1 + nodes.iter().map(|n| n.number).max().unwrap_or(0),
        heap: nodes.into(),
        stack: Vec::new(),
        dive: 0,
        waiting: Vec::new(),
        flying: None,
    };
    if arithmetic_is_ieee() {
        worker.work();
    }
    if !arithmetic_is_ieee() {
        context.shared.fail_arithmetic();
    }
    worker.account();
    context.shared.hand_in(&worker.attempt.candidates.tally, worker.attempt.foresight);
    context.shared.leave_open(worker.rest());
}

impl Worker<'_> {
    fn work(&mut self) {
        let shared = self.context.shared;
        while !shared.stopping() && !shared.pausing() {
            if let Some(node) = self.next() {
                shared.release(node.bytes());
                let outcome = self.attempt.examine(node);
                self.enter(Part::Queue);
                self.follow(outcome);
                if self.waiting.len() >= BATCH {
                    self.land();
                    self.send();
                }
                if shared.hungry() {
                    self.share();
                }
            } else if !self.waiting.is_empty() || self.flying.is_some() {
                self.land();
                self.send();
            } else if let Some(node) = self.take() {
                if node.focus.is_some() { self.stack.push(node) } else { self.heap.push(node) }
            } else if shared.over() {
                break;
            }
        }
        if !shared.stopping() {
            // Only a pause: what is under way is not wasted.
            self.land();
        }
    }

    /// The next node: of the stack, or the best.
    fn next(&mut self) -> Option<Node> {
        if let Some(node) = self.stack.pop() {
            self.dive = self.dive.saturating_sub(1);
            return Some(node);
        }
        self.dive = DIVE;
        self.heap.pop()
    }

    fn enter(&mut self, part: Part) {
        self.attempt.candidates.tally.effort.enter(part);
    }

    /// Waits for a box of somebody else.
    fn take(&mut self) -> Option<Node> {
        self.enter(Part::Waiting);
        let node = self.context.shared.take();
        self.enter(Part::Queue);
        node
    }

    /// Closes the books: the time and the arithmetic.
    fn account(&mut self) {
        let effort = &mut self.attempt.candidates.tally.effort;
        effort.end();
        effort.flops = self.attempt.reach.flops() + self.attempt.contractor.flops();
    }

    fn follow(&mut self, outcome: Outcome) {
        let shared = self.context.shared;
        match outcome {
            Outcome::Closed => {}
            Outcome::Ask(asked) => self.waiting.push(*asked),
            Outcome::Branch(children) => {
                self.attempt.candidates.tally.splits += u64::from(children.len() > 1);
                shared.leave(1, children.len() as u64);
                for mut child in children {
                    child.number = self.number;
                    self.number += 1;
                    self.keep(child);
                }
            }
            Outcome::Split(node, plan) if plan.inputs().next().is_some() => self.halve(node, plan.inputs()),
            // Who was stopped at it cannot tell that it is stuck.
            Outcome::Split(node, _) if shared.stopping() => self.heap.push(node),
            Outcome::Split(node, _) => self.strand(node),
            Outcome::Believed(node) => {
                self.attempt.candidates.tally.believed += 1;
                self.strand(node);
            }
        }
    }

    /// Halves a node, and each half in turn; what is too narrow at an input is not halved there.
    fn halve(&mut self, node: Node, mut inputs: impl Iterator<Item = usize> + Clone) {
        let place = inputs.find_map(|i| middle(node.lower[i], node.upper[i]).map(|m| (i, m)));
        let Some((input, middle)) = place else {
            return self.keep(node);
        };
        self.attempt.candidates.tally.splits += 1;
        self.context.shared.leave(1, 2);
        let parent = node.label;
        let mut children = halves(node, input, middle, &mut self.number);
        self.context.record.halved(parent, (input, middle), &mut children);
        for child in children {
            self.halve(child, inputs.clone());
        }
    }

    /// Puts a node away as undecided for good.
    fn strand(&mut self, node: Node) {
        self.attempt.candidates.tally.stuck += 1;
        self.context.shared.strand(node);
        self.context.shared.leave(1, 0);
    }

    /// Keeps a node for later: in the heap, or on the stack during a dive, if it has a focus, since multipliers to start from are large and serve best at once,
    /// or if memory is spent.
    fn keep(&mut self, node: Node) {
        let spent = self.context.shared.hold(node.bytes());
        if spent || node.focus.is_some() || self.dive > 0 {
            self.stack.push(node);
        } else {
            self.heap.push(node);
        }
    }

    /// The boxes that are still open here.
    fn rest(self) -> impl Iterator<Item = Node> {
        let flying = self.flying.map(|(boxes, _)| boxes).unwrap_or_default();
        let asked = self.waiting.into_iter().chain(flying).map(Asked::into_node);
        self.heap.into_iter().chain(self.stack).chain(asked)
    }

    /// Sends the waiting programs off.
    fn send(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let mut boxes = std::mem::take(&mut self.waiting);
        let programs = boxes.iter_mut().flat_map(|b| std::mem::take(&mut b.programs)).collect();
        let (reply, answers) = mpsc::sync_channel(1);
        if self.requests.send(Request::Programs(programs, reply)).is_ok() {
            self.flying = Some((boxes, answers));
        }
    }

    /// Waits for the programs that are under way and uses the answers.
    fn land(&mut self) {
        let Some((boxes, answers)) = self.flying.take() else {
            return;
        };
        self.enter(Part::Waiting);
        // No answer at all only means that nothing is learned from it.
        let answers = answers.recv().unwrap_or_default();
        let mut rest = answers.as_slice();
        for asked in boxes {
            let (own, others) = rest.split_at(asked.programs_sent().min(rest.len()));
            rest = others;
            self.enter(Part::Programs);
            let outcome = self.attempt.conclude(asked, own);
            self.enter(Part::Queue);
            self.follow(outcome);
        }
    }

    /// Gives half of the heap to workers that wait.
    fn share(&mut self) {
        if self.stack.len() > 1 {
            // The oldest are the largest.
            let half = self.stack.len().div_ceil(2);
            self.context.shared.offer(self.stack.drain(..half));
        } else if self.heap.len() > 1 {
            let mut nodes = std::mem::take(&mut self.heap).into_vec();
            let half = nodes.len() / 2;
            self.context.shared.offer(nodes.drain(half..));
            self.heap = nodes.into();
        }
    }
}
