//! Whether bounds of each network by itself pay ([`crate::domain::Propagation::with_back_substitution`]), learned while
//! a search runs.
//!
//! On ACAS Xu they save eleven of twelve boxes; where most neurons are really unstable they make a box half as dear
//! again and bring one per cent. So some boxes are propagated both ways: the 32nd and every 64th. What the bound of the
//! outputs' difference gains there is set against what it costs in arithmetic, which is counted, not timed, so that runs
//! repeat. Halving the best input multiplies the bound of a box by about .6, so that the number of boxes grows with the
//! power [`EXPONENT`] of their bounds. Nothing is left out before the 64th box: a shorter search has little to gain, and
//! so its boxes do not depend on the order in which they are taken.
//!
//! Either way of propagating gives valid bounds; the estimate changes which boxes are bounded, never what is proved of
//! one.

use serde::{Deserialize, Serialize};

/// The logarithm of 2 by that of 1 / .6.
const EXPONENT: f64 = 1.4;
/// From this box on one box in so many is compared, and what was learned counts.
const EVERY: u64 = 64;
/// The share of the newest comparison in the estimate.
const PACE: f64 = 0.25;
/// The largest logarithm of a ratio of bounds that one comparison counts for.
const MOST: f64 = 2.0;

/// How a box is to be propagated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A box is propagated without bounds of each network by itself.
    Without,
    /// A box is propagated with them.
    With,
    /// A box is propagated both ways, to compare.
    Both,
}

/// One propagation: its bound of the difference of the outputs, and its additions and multiplications.
#[derive(Debug, Clone, Copy)]
pub struct Propagated {
    /// The largest absolute difference of the outputs.
    pub bound: f64,
    /// Operations.
    pub flops: u64,
}

/// A worker's estimate. It is saved with a search, so that a search that is resumed takes the same way as one that was
/// never stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Payoff {
    boxes: u64,
    compared: bool,
    /// How much of the logarithm of the bound is saved.
    gain: f64,
    /// How much of the logarithm of the arithmetic for a box is added.
    cost: f64,
}

impl Payoff {
    /// How the next box is to be propagated.
    pub fn next(&mut self) -> Way {
        self.boxes = self.boxes.wrapping_add(1);
        if self.boxes == EVERY / 2 || self.boxes.is_multiple_of(EVERY) {
            Way::Both
        } else if self.boxes < EVERY || self.pays() {
            Way::With
        } else {
            Way::Without
        }
    }

    fn pays(&self) -> bool {
        EXPONENT * self.gain >= self.cost
    }

    /// Learns from a box that was propagated both ways. Bounds that are 0 or not finite tell nothing.
    pub fn observe(&mut self, without: Propagated, with: Propagated) {
        #[allow(clippy::cast_precision_loss)]
        let cost = (with.flops.max(1) as f64 / without.flops.max(1) as f64).ln();
        let gain = (without.bound / with.bound).ln();
        if !gain.is_finite() {
            return;
        }
        let pace = if self.compared { PACE } else { 1.0 };
        self.compared = true;
        self.gain += pace * (gain.min(MOST) - self.gain);
        self.cost += pace * (cost - self.cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways of so many boxes where a comparison gives these bounds and costs.
    fn ways(payoff: &mut Payoff, boxes: usize, bounds: (f64, f64), flops: (u64, u64)) -> [usize; 3] {
        let mut counts = [0; 3];
        for _ in 0..boxes {
            let way = payoff.next();
            if way == Way::Both {
                let (a, b) =
                    (Propagated { bound: bounds.0, flops: flops.0 }, Propagated { bound: bounds.1, flops: flops.1 });
                payoff.observe(a, b);
            }
            counts[way as usize] += 1;
        }
        counts
    }

    #[test]
    fn what_brings_little_is_left_out_but_for_a_few_boxes() {
        assert_eq!(ways(&mut Payoff::default(), 6400, (1.0, 0.99), (10, 15)), [6400 - 101 - 62, 62, 101]);
    }

    #[test]
    fn what_pays_is_used_on_every_box() {
        assert_eq!(ways(&mut Payoff::default(), 6400, (1.0, 0.5), (10, 15)), [0, 6400 - 101, 101]);
    }

    #[test]
    fn the_estimate_follows_what_happens() {
        let mut payoff = Payoff::default();
        ways(&mut payoff, 1000, (1.0, 0.99), (10, 15));
        let [_, with, _] = ways(&mut payoff, 6400, (1.0, 0.3), (10, 15));
        assert!(with > 6000, "{with}");
    }

    #[test]
    fn bounds_that_are_no_numbers_tell_nothing() {
        for bounds in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (1.0, f64::NAN), (0.0, 0.0), (1.0, 0.0)] {
            let mut payoff = Payoff::default();
            ways(&mut payoff, 100, bounds, (10, 15));
            assert!(payoff.pays() && !payoff.compared, "{bounds:?}");
        }
    }
}
