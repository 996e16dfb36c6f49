//! How far above the last boxes of an earlier proof boxes are bounded.
//!
//! The boxes on which an earlier proof ended are a good guess where this one ends, unless the pair has become easier:
//! then larger boxes would do. So now and then a box that was halved is bounded first. If that closes most of them, such
//! boxes are bounded from then on, and boxes of twice the size are tried.

use super::hints::Cut;

/// Every so many of the boxes that could be tried is, until the first few have been, and after that.
const EARLY: u32 = 2;
const LATER: u32 = 16;
/// Tries from which something is concluded.
const ENOUGH: u32 = 4;
/// Tries that are made early if those have closed more than this part of the boxes: in a short proof each counts.
const FIRST: u32 = 8;
const HOPEFUL: f64 = 0.3;
/// The part of the tries that has to close boxes: one that does saves a box, and one that does not costs one.
const CLOSING: f64 = 0.6;
/// How much of the estimate one try makes up, once there are enough.
const PACE: f64 = 0.125;

/// What to do with a box that was halved in an earlier proof.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hinted {
    /// Nothing is known about it, or its parts are as many as are bounded together: it is bounded.
    Nothing,
    /// It is bounded to see whether it closes.
    Try,
    /// It is halved unseen.
    Halve(Cut),
}

/// A worker's estimate.
#[derive(Debug)]
pub struct Lift {
    /// Boxes that were halved into at most so many are bounded.
    leaves: u64,
    met: u32,
    tries: u32,
    closing: f64,
}

impl Default for Lift {
    fn default() -> Self {
        Self { leaves: 1, met: 0, tries: 0, closing: 0.0 }
    }
}

impl Lift {
    /// What to do with a box that was halved into so many.
    pub fn of(&mut self, leaves: u64, cut: Cut) -> Hinted {
        if leaves <= self.leaves {
            return Hinted::Nothing;
        }
        if leaves > self.leaves.saturating_mul(2) {
            return Hinted::Halve(cut);
        }
        self.met += 1;
        let early = self.tries < ENOUGH || (self.tries < FIRST && self.closing > HOPEFUL);
        let every = if early { EARLY } else { LATER };
        if self.met.is_multiple_of(every) { Hinted::Try } else { Hinted::Halve(cut) }
    }

    /// Learns from a box that was tried.
    pub fn learn(&mut self, closed: bool) {
        self.tries += 1;
        let weight = PACE.max(1.0 / f64::from(self.tries));
        self.closing += weight * (f64::from(u8::from(closed)) - self.closing);
        if self.tries >= ENOUGH && self.closing > CLOSING {
            *self = Self { leaves: self.leaves.saturating_mul(2), ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUT: Cut = (0, 0.5, [1, 2]);

    /// What happens to boxes that were halved in two, of which a part closes.
    fn after(boxes: u32, closes: impl Fn(u32) -> bool) -> (Lift, u32) {
        let (mut lift, mut tries) = (Lift::default(), 0);
        for number in 0..boxes {
            if lift.of(2, CUT) == Hinted::Try {
                tries += 1;
                lift.learn(closes(number));
            }
        }
        (lift, tries)
    }

    #[test]
    fn larger_boxes_are_bounded_where_they_close() {
        let (mut lift, _) = after(100, |_| true);
        assert_eq!((lift.of(2, CUT), lift.of(5, CUT)), (Hinted::Nothing, Hinted::Halve(CUT)));
    }

    #[test]
    fn where_they_do_not_close_few_are_tried() {
        let (mut lift, tries) = after(1000, |_| false);
        assert_eq!((lift.of(1, CUT), lift.of(3, CUT)), (Hinted::Nothing, Hinted::Halve(CUT)));
        assert!((60..80).contains(&tries), "{tries}");
    }
}
