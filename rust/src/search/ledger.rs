//! The ledger of a search that is dealt out in shares: which boxes wait here, which are with whom, and what is proved.
//!
//! Sound because an answer changes nothing but what the boxes bear out. It must name a share that is out, which it can
//! do once; its boxes must lie in those that were dealt, with no other obligations; and what it leaves open and what it
//! counted as proved must make up exactly what was dealt, so that a box that is missing, there twice or put in changes
//! the sum. What is proved is then the difference of the boxes. A share without an answer stays open, as does one that
//! is withdrawn. So the whole can be closed only by answers to all of it, and before that is called a proof the sum of
//! everything is held against the claim once more. What is taken on trust is that whoever answers has computed.
//!
//! Which box of an earlier proof a box is, shares and answers say too. That is a hint: a wrong one has boxes halved where
//! it serves nothing, and what is halved adds up all the same.

use super::account::Account;
use super::hints::{Hints, ROOT};
use super::host::{AuxiliaryHost, NoHost};
use super::share::{Answer, Share, ShareName, beginning, first_of, refused};
use super::shared::Shared;
use super::snapshot::{Question, Snapshot};
use super::solution::{Progress, Reason, Solution};
use super::solve::Search;
use super::statistics::SearchStatistics;
use super::{Node, Region, fingerprint};
use crate::domain::intervals;
use crate::error::{Error, same_size};
use crate::network::Pair;
use crate::property::Property;
use crate::settings::Settings;
use std::collections::{BinaryHeap, HashMap};
use std::time::Instant;

/// A search whose boxes are dealt out.
pub struct Ledger {
    whole: Pair,
    pair: Pair,
    region: Region,
    free: Vec<usize>,
    region_free: Region,
    property: Property,
    settings: Settings,
    fingerprint: [u8; 32],
    statistics: SearchStatistics,
    /// Boxes that nobody works on, the hardest first.
    waiting: BinaryHeap<Node>,
    unresolved: Vec<Node>,
    /// Shares that are being worked on.
    out: HashMap<ShareName, Dealt>,
    /// How many shares were dealt so far.
    dealt: u64,
    /// What an earlier proof of a pair like this one did.
    hints: Option<Hints>,
}

struct Dealt {
    number: u64,
    nodes: Vec<Node>,
    part: Account,
}

impl Ledger {
    /// The ledger of a search that goes on from a snapshot, or begins with the whole region, where hints may serve.
    pub fn new(
        pair: &Pair,
        region: Region,
        property: Property,
        settings: &Settings,
        snapshot: Option<&[u8]>,
        hints: Option<Hints>,
    ) -> Result<Self, Error> {
        settings.validate()?;
        same_size("lower", region.lower.len(), pair.inputs())?;
        let free = region.free();
        let mut ledger = Self {
            whole: pair.clone(),
            pair: pair.specialise(&free, &region.lower),
            region_free: region.restrict(&free),
            fingerprint: fingerprint(pair, &region, &property, settings),
            settings: Settings { record: None, ..settings.clone() },
            free,
            region,
            property,
            statistics: SearchStatistics::default(),
            waiting: BinaryHeap::new(),
            unresolved: Vec::new(),
            out: HashMap::new(),
            dealt: 0,
            hints: hints.filter(|_| snapshot.is_none()),
        };
        let snapshot = if let Some(bytes) = snapshot {
            Snapshot::read(bytes, &ledger.question())?
        } else {
            let (lower, upper) = (ledger.region_free.lower.clone(), ledger.region_free.upper.clone());
            let one_function = ledger.pair.identical() && intervals::is_defined(&ledger.pair, &lower, &upper);
            let root = Node::root(lower, upper, ledger.property.open(one_function));
            let obligations = ledger.property.obligations.len();
            let hint = ledger.hints.as_ref().map(|_| ROOT);
            let mut start = Snapshot::start(Node { hint, ..root }, obligations, 0);
            start.open.retain(|node| !node.open.is_empty());
            start
        };
        ledger.statistics = snapshot.statistics;
        ledger.waiting = snapshot.open.into();
        ledger.unresolved = snapshot.unresolved;
        Ok(ledger)
    }

    /// Boxes that wait here.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Shares that are out.
    #[must_use]
    pub fn out(&self) -> usize {
        self.out.len()
    }

    /// Boxes that cannot be split and are undecided for good.
    #[must_use]
    pub fn unresolved(&self) -> usize {
        self.unresolved.len()
    }

    /// Deals a share of at most so many boxes, the hardest that wait; `None` if none waits.
    pub fn deal(&mut self, boxes: usize) -> Result<Option<(ShareName, Vec<u8>)>, Error> {
        let nodes: Vec<Node> = (0..boxes.max(1)).map_while(|_| self.waiting.pop()).collect();
        if nodes.is_empty() {
            return Ok(None);
        }
        self.send(nodes).map(Some)
    }

    /// Deals a share that is out once more, under another name; an answer to the first comes too late from now on.
    pub fn deal_again(&mut self, name: &ShareName) -> Result<(ShareName, Vec<u8>), Error> {
        let dealt = self.out.remove(name).ok_or_else(not_out)?;
        self.send(dealt.nodes)
    }

    /// Takes a share that is out back: its boxes wait again, and an answer comes too late from now on.
    pub fn withdraw(&mut self, name: &ShareName) -> Result<(), Error> {
        let dealt = self.out.remove(name).ok_or_else(not_out)?;
        self.waiting.extend(dealt.nodes);
        Ok(())
    }

    fn send(&mut self, nodes: Vec<Node>) -> Result<(ShareName, Vec<u8>), Error> {
        let number = self.dealt + 1;
        let part = Account::of(&nodes, &[]);
        let snapshot =
            Snapshot { statistics: beginning(&self.statistics, number), open: nodes, unresolved: Vec::new() };
        let written = Share::write(number, &snapshot, self.hints.as_ref(), &self.question());
        if let (Some(part), Some((name, bytes))) = (part, written) {
            self.dealt = number;
            self.out.insert(name, Dealt { number, nodes: snapshot.open, part });
            Ok((name, bytes))
        } else {
            self.waiting.extend(snapshot.open);
            Err(refused("it cannot be written"))
        }
    }

    /// Takes the answer to a share that is out: the name of the share. Whatever is not an answer to exactly that share
    /// is refused, and then nothing has changed.
    pub fn accept(&mut self, answer: &[u8]) -> Result<ShareName, Error> {
        let Answer { name, snapshot: left } = Answer::read(answer, &self.question())?;
        let dealt = self.out.get(&name).ok_or_else(not_out)?;
        let boxes = left.statistics.boxes.checked_sub(first_of(dealt.number));
        let undecided = || left.open.iter().chain(&left.unresolved);
        if !descend(undecided(), &dealt.nodes) {
            return Err(refused("a box in it is no part of the share"));
        }
        if left.has_a_box_twice(&self.region_free) {
            return Err(refused("a box is in it twice"));
        }
        let open = Account::of(undecided(), &[]);
        let proved = open.and_then(|open| dealt.part.minus(&open));
        let counted = Account::of([], &left.statistics.proved);
        let (Some(boxes), Some(proved)) = (boxes, proved.filter(|proved| Some(proved) == counted.as_ref())) else {
            return Err(refused("what it proves and what it leaves open are not the share"));
        };
        if left.statistics.workers.unresolved != left.unresolved.len() as u64 {
            return Err(refused("boxes that cannot be split are missing in it"));
        }
        let sum = Account::of([], &self.statistics.proved).and_then(|before| before.plus(&proved));
        let Some(sum) = sum else { return Err(refused("it is more than can be counted")) };
        self.out.remove(&name);
        let statistics = &mut self.statistics;
        statistics.proved = sum.by_depth().to_vec();
        statistics.boxes += boxes;
        // Probes are made on the whole search only, before anything else is dealt.
        statistics.probed = statistics.probed.max(left.statistics.probed);
        statistics.guard_met |= left.statistics.guard_met;
        statistics.gain = left.statistics.gain;
        if statistics.initial_bound.is_nan() {
            statistics.initial_bound = left.statistics.initial_bound;
        }
        statistics.workers.add(&left.statistics.workers);
        self.waiting.extend(left.open);
        self.unresolved.extend(left.unresolved);
        Ok(name)
    }

    /// The whole search as [`super::resume`] takes it, shares that are out included; `None` if nothing is open.
    #[must_use]
    pub fn state(&self) -> Option<Vec<u8>> {
        self.snapshot().write(&self.question())
    }

    /// What the search knows so far, after so many seconds.
    #[allow(clippy::cast_precision_loss)]
    #[must_use]
    pub fn progress(&self, seconds: f64) -> Progress {
        let obligations = self.property.obligations.len();
        let proved = Account::of([], &self.statistics.proved).map_or(0.0, |proved| proved.estimate());
        let open = self.waiting.len() + self.out.values().map(|dealt| dealt.nodes.len()).sum::<usize>();
        Progress {
            certified: if obligations == 0 { 1.0 } else { proved / obligations as f64 },
            boxes: self.statistics.probed + self.statistics.boxes,
            open_boxes: open as u64,
            depth: self.statistics.workers.profile.depth,
            seconds,
        }
    }

    /// What the search found: `different` with a witness that was confirmed, `equivalent` if nothing is undecided, else
    /// `unknown` for this reason, or for that of its undecided boxes if there is none. A witness comes with the boxes
    /// that were bounded where it was found, of which there is no answer.
    pub fn solution(
        &self,
        reason: Option<Reason>,
        witness: Option<(Vec<f64>, u64)>,
        start: Instant,
    ) -> Result<Solution, Error> {
        let obligations = self.property.obligations.len();
        let mut snapshot = self.snapshot();
        if !snapshot.adds_up(obligations) {
            return Err(refused("what is proved and what is open are not the whole search"));
        }
        let shared = Shared::new(&self.settings, start, None, &mut snapshot);
        shared.return_open(snapshot.open.into_iter());
        let (witness, more) = witness.unzip();
        if let Some(witness) = witness {
            shared.found(witness);
        } else if let Some(reason) = reason {
            shared.stop(reason);
        }
        let snapshot = shared.snapshot();
        let mut solution = shared.into_solution(obligations, &snapshot);
        solution.boxes += more.unwrap_or(0);
        solution.reused = self.hints.as_ref().map(|hints| (snapshot.statistics.workers.taken_up, hints.steps()));
        let host = &mut AuxiliaryHost { host: &mut NoHost, accepts_all: true };
        let question = Search { pair: &self.whole, region: &self.region, property: &self.property, start, hints: None };
        question.settle_vacuity(&self.settings, &mut solution, host)?;
        solution.complete(&self.region, &self.free);
        Ok(solution)
    }

    fn snapshot(&self) -> Snapshot {
        let out = self.out.values().flat_map(|dealt| &dealt.nodes);
        Snapshot {
            statistics: self.statistics.clone(),
            open: self.waiting.iter().chain(out).cloned().collect(),
            unresolved: self.unresolved.clone(),
        }
    }

    fn question(&self) -> Question<'_> {
        let Self { pair, region_free, property, fingerprint, .. } = self;
        Question { pair, region: region_free, property, fingerprint: *fingerprint }
    }
}

fn not_out() -> Error {
    refused("it answers no share that is out: that one was answered before, given to another worker, or never dealt")
}

/// Whether each node lies in one of those dealt, deeper or as deep, with no other obligations. Parts of one box mostly
/// come one after the other.
fn descend<'n>(nodes: impl Iterator<Item = &'n Node>, dealt: &[Node]) -> bool {
    let mut last = 0;
    for node in nodes {
        let place = (last..dealt.len()).chain(0..last).find(|&i| is_part(node, &dealt[i]));
        match place {
            Some(place) => last = place,
            None => return false,
        }
    }
    true
}

fn is_part(node: &Node, of: &Node) -> bool {
    let inside = |i: usize| of.lower[i] <= node.lower[i] && node.upper[i] <= of.upper[i];
    node.depth >= of.depth && node.open.iter().all(|o| of.open.contains(o)) && (0..of.lower.len()).all(inside)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::share;
    use super::super::split::halving::halves;
    use super::*;
    use crate::domain::AbstractDomain;
    use crate::network::Affine;
    use crate::property::{Norm, ObligationSet, epsilon};
    use ndarray::{arr1, arr2};

    /// A ledger of two obligations whose box was halved: the low half was halved again, and the upper half of that is
    /// proved for both obligations.
    fn ledger() -> Ledger {
        let layer = |w: f64| Affine::new(arr2(&[[w]]).view(), arr1(&[0.0]).view(), None, None).unwrap();
        let pair = Pair::new(vec![layer(1.0)], vec![layer(2.0)]).unwrap();
        let region = Region::new(vec![0.0], vec![1.0], Vec::new()).unwrap();
        let property = epsilon::property(0.5, Norm::Max, &[0], AbstractDomain::Reduced);
        assert_eq!(property.obligations.len(), 2);
        let mut ledger = Ledger::new(&pair, region, property, &Settings::default(), None, None).unwrap();
        let root = ledger.waiting.pop().unwrap();
        let mut number = 1;
        let [low, high] = halves(root, 0, 0.5, &mut number);
        let [low, _middle] = halves(low, 0, 0.25, &mut number);
        ledger.statistics.proved = vec![0, 0, 2];
        ledger.waiting.extend([low, high]);
        ledger
    }

    /// What an honest worker leaves of a share that it halves once: the upper half is proved.
    fn worked_on(share: &Share) -> Snapshot {
        let mut statistics = share.snapshot.statistics.clone();
        statistics.boxes += share.snapshot.open.len() as u64;
        statistics.proved = vec![0; 8];
        let mut number = 9;
        let mut open = Vec::new();
        for node in share.snapshot.open.clone() {
            let middle = node.lower[0].midpoint(node.upper[0]);
            let [low, high] = halves(node, 0, middle, &mut number);
            statistics.proved[high.depth] += high.open.len() as u64;
            open.push(low);
        }
        Snapshot { statistics, open, unresolved: Vec::new() }
    }

    /// Deals everything in two shares, changes the answer to the first, and says whether it is taken.
    fn taken(change: impl Fn(&mut Snapshot, &mut ShareName, &Share)) -> bool {
        let mut ledger = ledger();
        let (one, other) = (ledger.deal(1).unwrap().unwrap(), ledger.deal(1).unwrap().unwrap());
        let share = Share::read(&one.1, &ledger.question()).unwrap();
        let second = Share::read(&other.1, &ledger.question()).unwrap();
        let (mut left, mut name) = (worked_on(&share), share.name);
        change(&mut left, &mut name, &second);
        let before = format!("{:?}", ledger.snapshot());
        let answer = share::sealed_answer(&name, &left, &ledger.question());
        let taken = ledger.accept(&answer).is_ok();
        assert!(taken || format!("{:?}", ledger.snapshot()) == before, "what is refused changes nothing");
        assert!(ledger.snapshot().adds_up(2));
        assert_ne!(ledger.solution(None, None, Instant::now()).unwrap().verdict.word(), "equivalent");
        if taken {
            assert!(ledger.accept(&answer).is_err(), "twice");
        }
        taken
    }

    #[test]
    fn an_honest_answer_is_taken_once() {
        assert!(taken(|_, _, _| {}));
    }

    #[test]
    fn an_answer_that_is_not_the_share_is_refused() {
        assert!(!taken(|left, _, _| drop(left.open.pop())), "a box is missing");
        assert!(!taken(|left, _, _| left.open.push(left.open[0].clone())), "a box is there twice");
        let doubled = |left: &mut Snapshot, _: &mut ShareName, _: &Share| {
            left.open.push(left.open[0].clone());
            left.statistics.proved.clear();
        };
        assert!(!taken(doubled), "a box is there twice, for another one");
        assert!(!taken(|left, _, _| left.open[0].open.close(1)), "an obligation is missing");
        assert!(!taken(|left, _, _| left.open[0].depth += 1), "a box is said to be smaller");
        assert!(!taken(|left, _, _| left.open[0].depth = 0), "a box is said to be larger");
        assert!(!taken(|left, _, _| left.open[0].depth = usize::MAX), "a box is said to be nothing");
        assert!(!taken(|left, _, _| left.statistics.proved[5] += 1), "more is said to be proved");
        assert!(!taken(|left, _, _| left.statistics.proved.clear()), "less is said to be proved");
        assert!(!taken(|left, _, _| left.statistics.proved = vec![u64::MAX; 9]), "far more is");
        assert!(!taken(|left, _, _| left.statistics.boxes = 0), "counted from elsewhere");
        assert!(!taken(|left, _, _| left.statistics.workers.unresolved = 1), "a box that cannot be split is missing");
        assert!(!taken(|left, _, second| left.open = worked_on(second).open), "boxes of another share");
        assert!(!taken(|_, name, second| *name = second.name), "the name of another share");
        assert!(!taken(|_, name, _| name[0] ^= 1), "no name");
        assert!(!taken(|left, _, _| left.open[0].lower[0] = 0.3), "a box beyond the share");
        assert!(!taken(|left, _, _| left.open[0].lower[0] = f64::NAN), "no box");
        assert!(!taken(|left, _, _| left.open[0].open = ObligationSet::all(70)), "other obligations");
    }

    #[test]
    fn what_an_answer_says_of_an_earlier_proof_is_a_hint() {
        for hint in [None, Some(0), Some(1), Some(u64::MAX)] {
            assert!(taken(|left, _, _| left.open[0].hint = hint));
        }
        // One that lost or doubled a box is refused whatever it says of it.
        assert!(!taken(|left, _, _| (left.open[0].hint, left.open[0].depth) = (Some(1), 0)));
    }

    #[test]
    fn everything_proved_everywhere_is_no_answer_to_a_part() {
        assert!(!taken(|left, _, _| {
            left.open.clear();
            left.statistics.proved = vec![2];
        }));
    }

    #[test]
    fn a_share_that_was_taken_back_or_given_to_another_cannot_be_answered() {
        let mut ledger = ledger();
        let (name, bytes) = ledger.deal(5).unwrap().unwrap();
        assert!(ledger.deal(1).unwrap().is_none());
        let share = Share::read(&bytes, &ledger.question()).unwrap();
        let late = share::sealed_answer(&name, &worked_on(&share), &ledger.question());
        let (second, _) = ledger.deal_again(&name).unwrap();
        assert!(second != name && ledger.accept(&late).is_err() && ledger.withdraw(&name).is_err());
        ledger.withdraw(&second).unwrap();
        assert_eq!((ledger.waiting(), ledger.out()), (2, 0));
        let (_, bytes) = ledger.deal(5).unwrap().unwrap();
        assert!(ledger.accept(&bytes).is_err(), "a share is no answer");
        assert!(ledger.accept(&late).is_err());
        assert!(ledger.snapshot().adds_up(2));
    }

    #[test]
    fn a_ledger_that_does_not_add_up_says_nothing() {
        let mut ledger = ledger();
        ledger.waiting.pop();
        assert!(ledger.solution(None, None, Instant::now()).is_err());
        assert!(ledger.state().is_none());
    }
}
