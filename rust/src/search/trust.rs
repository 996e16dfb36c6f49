//! How far an earlier proof is followed where it halved boxes.
//!
//! A trail may be of another pair, or of no search at all: its cuts then serve nothing, or its boxes are far smaller
//! than this proof needs. Any cut covers, so this is about time alone; but one useless cut of a large box doubles the
//! boxes below it. So large boxes are bounded before they are halved, and where that leaves one open, the trail is
//! followed only if this search would halve it along the same input: else the box goes on as if there were no trail,
//! which costs what it costs without. Searches of pairs that are alike agree nearly always, and once a few boxes in a
//! row have shown that, large boxes are bounded in every second generation only ([`Trust`]): of two useless cuts one
//! below the other the second one is still seen.

use super::hints::{Cut, Hints};

/// A box that was halved into so many or more is bounded before it is halved: there are few of these, and one that
/// closes saves all the boxes below.
const LARGE: u64 = 64;
/// The part of all boxes of a trail that is large in a short one, and the least number that is.
const LARGE_SHARE: u64 = 8;
const LARGE_LEAST: u64 = 8;
/// Of the interval of an input, a cut leaves at least so much on either side.
const SHARE: f64 = 0.25;

/// So many large boxes in a row have to agree before others are halved unseen.
const ENOUGH: u32 = 4;

/// What a worker has seen of a trail.
#[derive(Debug, Default)]
pub struct Trust {
    /// Large boxes in a row that stayed open, and were halved here as they were there.
    agreed: u32,
}

impl Trust {
    /// Whether a large box of this depth is bounded before it is halved.
    pub fn looks(&self, depth: usize) -> bool {
        self.agreed < ENOUGH || depth.is_multiple_of(2)
    }

    /// Learns from a large box that was bounded.
    pub fn learn(&mut self, agreed: bool) {
        self.agreed = if agreed { self.agreed.saturating_add(1) } else { 0 };
    }
}

/// Whether a cut leaves enough of an interval on either side. Searches cut in the middle.
pub fn halves(cut: f64, lower: f64, upper: f64) -> bool {
    let width = upper - lower;
    cut - lower >= SHARE * width && upper - cut >= SHARE * width
}

/// Whether a box is bounded although the trail halves it.
pub fn is_large(hints: &Hints, label: u64) -> bool {
    hints.leaves(label) >= (hints.all_leaves() / LARGE_SHARE).clamp(LARGE_LEAST, LARGE)
}

/// Whether this search, which would halve a box along these inputs in turn, has the one among them that the trail
/// has. Where it has no choice of its own, and where the earlier proof contracted below, the trail is followed.
pub fn agrees(hints: &Hints, (input, _, _): Cut, own: impl Iterator<Item = usize>) -> bool {
    let mut own = own.peekable();
    hints.contracts() || own.peek().is_none() || own.any(|i| i == input)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const CUT: Cut = (1, 0.5, [1, 2]);

    /// A trail of a box that was halved into so many, one after the other.
    fn path(leaves: u64) -> Hints {
        let halved = |n: u64| {
            let numbers = [&(2 * n).to_le_bytes()[..], &0u32.to_le_bytes(), &0.5f64.to_le_bytes()].concat();
            let halves = [(2 * n + 1).to_le_bytes(), (2 * n + 2).to_le_bytes()].concat();
            [&b"C"[..], &numbers, &halves, &0u32.to_le_bytes()].concat()
        };
        let events: Vec<u8> = (0..leaves - 1).flat_map(halved).chain(*b"Z").collect();
        Hints::read(&events).unwrap()
    }

    #[test]
    fn large_boxes_are_bounded() {
        // The box that is left after n halvings was halved into that many less.
        let large = |leaves: u64| (0..leaves).filter(|n| is_large(&path(leaves), 2 * n)).count() as u64;
        assert_eq!([5, 8, 20, 160, 1000].map(large), [0, 1, 13, 141, 937]);
    }

    #[test]
    fn cuts_along_other_inputs_are_not_followed() {
        let hints = path(9);
        assert!(agrees(&hints, CUT, [0, 1].into_iter()) && agrees(&hints, CUT, [].into_iter()));
        assert!(!agrees(&hints, CUT, [0, 2].into_iter()));
    }

    #[test]
    fn trust_takes_a_few_boxes_and_is_lost_with_one() {
        let mut trust = Trust::default();
        for _ in 0..ENOUGH {
            assert!(trust.looks(1) && trust.looks(2));
            trust.learn(true);
        }
        assert_eq!([1, 2, 3, 4].map(|depth| trust.looks(depth)), [false, true, false, true]);
        trust.learn(false);
        assert!(trust.looks(1));
    }

    #[test]
    fn a_cut_at_the_edge_halves_nothing() {
        assert!(halves(0.5, 0.0, 1.0) && halves(0.25, 0.0, 1.0) && halves(-1.0, -2.0, 0.0));
        for cut in [0.2, 0.8, 0.0, 1.0, f64::NAN, f64::INFINITY] {
            assert!(!halves(cut, 0.0, 1.0), "{cut}");
        }
    }
}
