//! The split-gain estimate: how much of its predicted effect a split brings, learned from how many of the parts close.
//!
//! Bounding a box that stays open is wasted if its parts are bounded anyway, and splitting a box that would have closed
//! makes two boxes of one. What a split is predicted to gain ([`crate::domain::sensitivity`]) is right up to a factor
//! that differs from query to query and from place to place. So the share of the prediction that is expected follows
//! what happens: if more parts close than is best, boxes were split too often, and the share grows. The estimate
//! changes which boxes are bounded, never what is proved of one.

use crate::search::policy::POLICY;
use serde::{Deserialize, Serialize};

/// The share stays between these, however long no box closes or all of them do.
const LEAST: f64 = 0.25;
const MOST: f64 = 4.0;

/// A worker's estimate. It is saved with a search, so that a search that is resumed takes the same way as one that was
/// never stopped.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct SplitGain {
    share: f64,
}

impl Default for SplitGain {
    fn default() -> Self {
        Self { share: 1.0 }
    }
}

impl SplitGain {
    /// The expected gain of a split as a share of the predicted one.
    #[must_use]
    pub fn share(self) -> f64 {
        self.share
    }

    /// Learns from one part of a split box whether it closed. In the long run the share settles where the wanted part
    /// of them closes.
    pub fn observe(&mut self, closed: bool) {
        let policy = &POLICY.halving;
        let deviation = f64::from(u8::from(closed)) - policy.closing;
        self.share = (self.share * (1.0 + policy.pace * deviation)).clamp(LEAST, MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::generator::uniform;

    #[test]
    fn the_share_comes_to_where_as_many_boxes_close_as_wanted() {
        // The more is expected, the fewer close: from all of them to none, in different places.
        for middle in [0.6, 1.0, 2.5] {
            let (mut gain, mut random, mut closed) = (SplitGain::default(), 7, 0);
            for box_ in 0..20_000 {
                let closes = uniform(&mut random) < (1.0 - 0.5 * gain.share() / middle).clamp(0.0, 1.0);
                gain.observe(closes);
                closed += u32::from(closes && box_ >= 10_000);
            }
            let rate = f64::from(closed) / 10_000.0;
            assert!((rate - POLICY.halving.closing).abs() < 0.03, "{middle}: {rate}");
        }
    }

    #[test]
    fn it_stays_in_its_range() {
        let (mut up, mut down) = (SplitGain::default(), SplitGain::default());
        for _ in 0..10_000 {
            up.observe(true);
            down.observe(false);
        }
        assert!((up.share() - MOST).abs() < 1e-9 && (down.share() - LEAST).abs() < 1e-9);
    }
}
