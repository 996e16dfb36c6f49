//! How much halvings bring, as a share of what is predicted, learned from how many of the parts close.
//!
//! Bounding a box that stays open is wasted if its parts are bounded anyway, and halving one that would close makes two of one. What a halving is predicted to
//! bring is right within a factor that differs from query to query and from place to place; so the share that is expected follows the boxes: if more of them
//! close than is best, they were halved too often, and more is expected from now on. It changes which boxes are bounded, never what is proved of one.

use super::policy::POLICY;
use serde::{Deserialize, Serialize};

/// The share does not leave these, however long no box closes or all of them do.
const LEAST: f64 = 0.25;
const MOST: f64 = 4.0;

/// A worker's expectation. It is saved with a search, so that one that goes on takes the same way as one that was never stopped.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Foresight {
    share: f64,
}

impl Default for Foresight {
    fn default() -> Self {
        Self { share: 1.0 }
    }
}

impl Foresight {
    /// What is expected of what is predicted.
    #[must_use]
    pub fn share(self) -> f64 {
        self.share
    }

    /// Takes note of a part: whether it closed. In the long run the share rests where the part of them that close is the one wanted.
    pub fn learn(&mut self, closed: bool) {
        let policy = &POLICY.halving;
        let surprise = f64::from(u8::from(closed)) - policy.closing;
        self.share = (self.share * (1.0 + policy.pace * surprise)).clamp(LEAST, MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::uniform;
    use super::*;

    #[test]
    fn the_share_comes_to_where_as_many_boxes_close_as_wanted() {
        // The more is expected, the fewer close: from all of them to none, in different places.
        for middle in [0.6, 1.0, 2.5] {
            let (mut foresight, mut random, mut closed) = (Foresight::default(), 7, 0);
            for box_ in 0..20_000 {
                let closes = uniform(&mut random) < (1.0 - 0.5 * foresight.share() / middle).clamp(0.0, 1.0);
                foresight.learn(closes);
                closed += u32::from(closes && box_ >= 10_000);
            }
            let rate = f64::from(closed) / 10_000.0;
            assert!((rate - POLICY.halving.closing).abs() < 0.03, "{middle}: {rate}");
        }
    }

    #[test]
    fn it_stays_in_its_range() {
        let (mut up, mut down) = (Foresight::default(), Foresight::default());
        for _ in 0..10_000 {
            up.learn(true);
            down.learn(false);
        }
        assert!((up.share() - MOST).abs() < 1e-9 && (down.share() - LEAST).abs() < 1e-9);
    }
}
