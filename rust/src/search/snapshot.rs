//! A snapshot of a search, from which it can be resumed: the boxes that are open and the count of what is proved, as
//! plain data.
//!
//! Sound because nothing but whole searches is written and read: what is proved and what is open must add up to the
//! claim, to the last binary digit ([`Snapshot::adds_up`]), or the state is neither written nor read; the bytes carry
//! their own digest and the fingerprint of the question; and a state without anything open, which would read as a
//! proof, is refused. Boxes, obligations and bounds are checked against the question that goes on.

use super::account::Account;
use super::statistics::SearchStatistics;
use super::{Node, Region};
use crate::error::Error;
use crate::lp::Multipliers;
use crate::network::Pair;
use crate::property::Property;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The mark at the beginning, whose number changes with the layout of what follows.
const MAGIC: &[u8] = b"eqspec search 6\n";

/// Bytes of a SHA-256.
pub const DIGEST: usize = 32;

/// A search whose workers have stopped.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// What has been counted so far.
    pub statistics: SearchStatistics,
    /// Boxes that are still to be bounded.
    pub open: Vec<Node>,
    /// Boxes that are undecided and cannot be split.
    pub unresolved: Vec<Node>,
}

/// Nodes that share their inherited multipliers, which are written once.
#[derive(Serialize, Deserialize)]
struct Group<M, N> {
    inherited: Option<M>,
    nodes: Vec<N>,
}

#[derive(Serialize, Deserialize)]
struct Document<C, M, N> {
    statistics: C,
    open: Vec<Group<M, N>>,
    unresolved: Vec<Group<M, N>>,
}

type Written<'a> = Document<&'a SearchStatistics, &'a [(usize, Multipliers)], &'a Node>;
type Read = Document<SearchStatistics, Vec<(usize, Multipliers)>, Node>;

/// The question that a snapshot must belong to.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The pair over the free inputs.
    pub pair: &'a Pair,
    /// The region over the free inputs.
    pub region: &'a Region,
    /// The claim.
    pub property: &'a Property,
    /// The digest of the whole question.
    pub fingerprint: [u8; DIGEST],
}

impl Snapshot {
    /// The search before its first box, for a claim of so many obligations, after so many boxes of probes; what is not
    /// open on the root is proved.
    pub fn start(root: Node, obligations: usize, probed: u64) -> Self {
        let proved = vec![(obligations - root.open.len()) as u64];
        let statistics = SearchStatistics { proved, probed, ..SearchStatistics::default() };
        Self { statistics, open: vec![root], unresolved: Vec::new() }
    }

    /// The open boxes in as many shares, the best boxes spread evenly.
    pub fn distribute(&mut self, shares: usize) -> Vec<Vec<Node>> {
        let mut nodes = std::mem::take(&mut self.open);
        nodes.sort_unstable_by(|a, b| b.cmp(a));
        let mut parts: Vec<Vec<Node>> = (0..shares).map(|_| Vec::new()).collect();
        for (i, node) in nodes.into_iter().enumerate() {
            parts[i % shares].push(node);
        }
        parts
    }

    /// What is proved and what is open, exactly; `None` if it cannot be counted.
    pub fn account(&self) -> Option<Account> {
        Account::of(self.open.iter().chain(&self.unresolved), &self.statistics.proved)
    }

    /// Whether a box is open in it twice, which another one of its size could be missing for. Not asked where
    /// constraints or an assumed violation cut boxes: what they leave of two boxes may be one.
    pub fn has_a_box_twice(&self, region: &Region) -> bool {
        let bits = |ends: &[f64]| ends.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let mut seen = HashSet::new();
        let uncut = self.open.iter().chain(&self.unresolved).filter(|node| node.violation_bounds.is_none());
        region.constraints.is_empty()
            && !uncut.map(|node| (bits(&node.lower), bits(&node.upper))).all(|b| seen.insert(b))
    }

    /// Whether what is proved and what is open add up to all obligations on the whole box, exactly.
    pub fn adds_up(&self, obligations: usize) -> bool {
        self.account() == Some(Account::whole(obligations))
    }

    /// The statistics and the boxes as bytes, without anything that says to what they belong.
    pub fn payload(&self) -> Option<Vec<u8>> {
        let document =
            Written { statistics: &self.statistics, open: groups(&self.open), unresolved: groups(&self.unresolved) };
        postcard::to_stdvec(&document).ok()
    }

    /// What [`Snapshot::payload`] wrote; `None` if these bytes are nothing of the kind.
    pub fn of_payload(payload: &[u8]) -> Option<Self> {
        let (document, rest): (Read, _) = postcard::take_from_bytes(payload).ok()?;
        let Document { statistics, open, unresolved } = document;
        rest.is_empty().then(|| Self { statistics, open: ungroup(open), unresolved: ungroup(unresolved) })
    }

    /// The snapshot as bytes; `None` if it is not the whole search, or nothing is open in it.
    pub fn write(&self, question: &Question<'_>) -> Option<Vec<u8>> {
        self.check(question).ok()?;
        let payload = self.payload()?;
        Some([MAGIC, &question.fingerprint, &Sha256::digest(&payload)[..], &payload].concat())
    }

    /// The snapshot from the bytes that [`Snapshot::write`] made of the same question.
    pub fn read(bytes: &[u8], question: &Question<'_>) -> Result<Self, Error> {
        let refuse = |why: &str| Error::Saved(why.to_owned());
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| refuse("it is none, or of another version"))?;
        let damaged = || refuse("it is damaged");
        let (fingerprint, rest) = rest.split_at_checked(DIGEST).ok_or_else(damaged)?;
        let (digest, payload) = rest.split_at_checked(DIGEST).ok_or_else(damaged)?;
        if Sha256::digest(payload)[..] != *digest {
            return Err(damaged());
        }
        if *fingerprint != question.fingerprint {
            return Err(refuse("it belongs to another question"));
        }
        let mut saved = Self::of_payload(payload).ok_or_else(damaged)?;
        saved.check(question).map_err(refuse)?;
        saved.forget_hints();
        Ok(saved)
    }

    /// Lets no box stand for a node of an earlier proof that is not at hand.
    pub fn forget_hints(&mut self) {
        self.open.iter_mut().for_each(|node| node.hint = None);
    }

    /// Whether the search can go on from here, and misses nothing.
    fn check(&self, question: &Question<'_>) -> Result<(), &'static str> {
        if self.open.is_empty() && self.unresolved.is_empty() {
            return Err("nothing is open in it");
        }
        if self.unresolved.len() as u64 != self.statistics.workers.unresolved
            || !self.adds_up(question.property.obligations.len())
        {
            return Err("it is not the whole search");
        }
        if self.has_a_box_twice(question.region) {
            return Err("a box is in it twice");
        }
        if !self.open.iter().chain(&self.unresolved).all(|node| fits(node, question)) {
            return Err("a box in it does not fit the question");
        }
        Ok(())
    }
}

/// Whether a box can be one of this question.
pub fn fits(node: &Node, question: &Question<'_>) -> bool {
    let Question { pair, region, property, .. } = *question;
    let n = region.lower.len();
    let inside = |i: usize| {
        region.lower[i] <= node.lower[i] && node.lower[i] <= node.upper[i] && node.upper[i] <= region.upper[i]
    };
    let numbers = |v: &[f64], size: usize| v.len() == size && !v.iter().any(|x| x.is_nan());
    let known = node.violation_bounds.as_ref().is_none_or(|known| {
        let sizes = known.layers.iter().zip(&pair.first).all(|(k, layer)| {
            [&k.x, &k.y, &k.d].iter().all(|b| numbers(&b.lower, layer.rows) && numbers(&b.upper, layer.rows))
        });
        let sides = known.phase_constraints.iter().all(|s| pair.first.get(s.layer).is_some_and(|l| s.index < l.rows));
        known.layers.len() == pair.depth() && sizes && sides && numbers(&known.lower, n) && numbers(&known.upper, n)
    });
    let multipliers = node.inherited.iter().flat_map(|list| list.iter()).all(|(o, multipliers)| {
        let guard = property.obligations.get(*o).map(|o| o.guard.map_or(0, |g| property.guards[g].rows.len()));
        guard.is_some_and(|rows| multipliers.fit(rows, pair.outputs(), region.constraints.len()))
    });
    let sizes = node.lower.len() == n && node.upper.len() == n;
    sizes && (0..n).all(inside) && node.open.fit(property.obligations.len()) && known && multipliers
}

fn groups(nodes: &[Node]) -> Vec<Group<&[(usize, Multipliers)], &Node>> {
    let mut groups: Vec<Group<&[(usize, Multipliers)], &Node>> = Vec::new();
    let mut known = HashMap::new();
    for node in nodes {
        let inherited = node.inherited.as_deref();
        let at = *known.entry(inherited.map(<[_]>::as_ptr)).or_insert_with(|| {
            groups.push(Group { inherited, nodes: Vec::new() });
            groups.len() - 1
        });
        groups[at].nodes.push(node);
    }
    groups
}

fn ungroup(groups: Vec<Group<Vec<(usize, Multipliers)>, Node>>) -> Vec<Node> {
    let restore = |group: Group<Vec<(usize, Multipliers)>, Node>| {
        let inherited: Option<Arc<[_]>> = group.inherited.map(Into::into);
        group.nodes.into_iter().map(move |node| Node { inherited: inherited.clone(), ..node })
    };
    groups.into_iter().flat_map(restore).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::account::DEPTHS;
    use super::super::split::halving::halves;
    use super::*;
    use crate::domain::{IntermediateBounds, intermediate_bounds::LayerBounds, phase::Bounds};
    use crate::network::Affine;
    use crate::property::{ObligationSet, linear};
    use ndarray::{arr1, arr2};

    /// A state of a small question, after halving the box twice.
    fn change(change: impl Fn(&mut Snapshot)) -> Option<Vec<u8>> {
        let layer = || Affine::new(arr2(&[[1.0]]).view(), arr1(&[0.0]).view(), None, None).unwrap();
        let pair = Pair::new(vec![layer()], vec![layer()]).unwrap();
        let region = Region::new(vec![0.0], vec![1.0], Vec::new()).unwrap();
        let property = linear::property(&[1.0], &[1.0], 0.0, false);
        let question = Question { pair: &pair, region: &region, property: &property, fingerprint: [7; DIGEST] };
        let mut number = 1;
        let [low, high] = halves(Node::root(vec![0.0], vec![1.0], ObligationSet::all(1)), 0, 0.5, &mut number);
        let [mut low, middle] = halves(low, 0, 0.25, &mut number);
        let multipliers = Multipliers { guard: vec![], link: vec![-1.0], region: vec![] };
        low.inherited = Some(vec![(0, multipliers)].into());
        let bounds = || Bounds { lower: vec![-1.0], upper: vec![1.0] };
        let known = LayerBounds { x: bounds(), y: bounds(), d: bounds() };
        let bounds_there =
            IntermediateBounds { lower: vec![0.0], upper: vec![0.25], layers: vec![known], phase_constraints: vec![] };
        low.violation_bounds = Some(Arc::new(bounds_there));
        let mut saved = Snapshot::start(high, 1, 0);
        saved.statistics.proved = vec![0, 0, 1];
        saved.open.push(low);
        drop(middle);
        change(&mut saved);
        let bytes = saved.write(&question)?;
        let again = Snapshot::read(&bytes, &question).unwrap();
        assert_eq!(format!("{saved:?}"), format!("{again:?}"));
        Some(bytes)
    }

    #[test]
    fn a_whole_search_is_written_and_read_back() {
        assert!(change(|_| {}).is_some());
        assert!(
            change(|s| {
                s.unresolved = s.open.split_off(1);
                s.statistics.workers.unresolved = 1;
            })
            .is_some()
        );
    }

    #[test]
    fn no_part_of_a_search_can_be_missing_or_twice() {
        assert!(change(|s| drop(s.open.pop())).is_none());
        assert!(change(|s| s.open.push(s.open[0].clone())).is_none());
        assert!(change(|s| s.statistics.proved[2] += 1).is_none());
        assert!(change(|s| s.statistics.proved[2] = 0).is_none());
        assert!(change(|s| s.open[0].depth = 2).is_none());
        assert!(change(|s| s.open[0].depth = usize::MAX).is_none());
        assert!(change(|s| s.open[0].open.close(0)).is_none());
        assert!(change(|s| s.statistics.proved = vec![0; DEPTHS + 1]).is_none());
        assert!(change(|s| s.statistics.proved[0] = u64::MAX).is_none());
        assert!(change(|s| s.statistics.workers.unresolved = 1).is_none());
        assert!(
            change(|s| {
                s.open[1] = s.open[0].clone();
                s.statistics.proved.clear();
            })
            .is_none(),
            "one half twice, and the other one not at all"
        );
        // Everything proved and nothing open would read as a proof.
        assert!(
            change(|s| {
                s.open.clear();
                s.statistics.proved = vec![1];
            })
            .is_none()
        );
    }

    #[test]
    fn what_does_not_fit_the_question_is_refused() {
        assert!(change(|s| s.open[0].upper[0] = 1.5).is_none());
        assert!(change(|s| s.open[0].lower[0] = f64::NAN).is_none());
        assert!(change(|s| s.open[0].lower[0] = 2.0).is_none());
        assert!(change(|s| s.open[0].lower = [0.5, 0.0].into()).is_none());
        assert!(change(|s| s.open[0].open = ObligationSet::all(65)).is_none());
        assert!(change(|s| s.open[0].open = ObligationSet::only(1, 2)).is_none());
        let inherited = |multipliers: Multipliers, o: usize| {
            change(|s| s.open[1].inherited = Some(vec![(o, multipliers.clone())].into())).is_none()
        };
        let good = Multipliers { guard: vec![], link: vec![1.0], region: vec![] };
        assert!(!inherited(good.clone(), 0));
        assert!(inherited(good.clone(), 1));
        assert!(inherited(Multipliers { link: vec![f64::NAN], ..good.clone() }, 0));
        assert!(inherited(Multipliers { link: vec![], ..good.clone() }, 0));
        assert!(inherited(Multipliers { region: vec![-1.0], ..good.clone() }, 0));
        assert!(inherited(Multipliers { guard: vec![0.0], ..good }, 0));
        let known = |f: fn(&mut IntermediateBounds)| {
            change(|s| {
                let mut known = IntermediateBounds::clone(s.open[1].violation_bounds.as_ref().unwrap());
                f(&mut known);
                s.open[1].violation_bounds = Some(Arc::new(known));
            })
            .is_none()
        };
        assert!(!known(|k| k.layers[0].x.lower[0] = 0.0));
        assert!(known(|k| k.layers[0].x.lower[0] = f64::NAN));
        assert!(known(|k| k.layers[0].d.upper.push(0.0)));
        assert!(known(|k| drop(k.layers.pop())));
        assert!(known(|k| k.upper.clear()));
        assert!(known(|k| k.phase_constraints.push(crate::domain::intermediate_bounds::PhaseConstraint {
            quantity: crate::domain::Quantity::First,
            layer: 0,
            index: 1,
            positive: true
        })));
    }
}
