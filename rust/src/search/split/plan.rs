//! Along which inputs a box is halved, once or several times in a row, before its parts are bounded.

use super::halving::choose;

/// Most halvings of one plan: a box becomes at most 2^6 parts at once.
pub const MOST_HALVINGS: usize = 6;

/// Inputs along which a box, and then every part of it, is to be halved in turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plan {
    inputs: [u32; MOST_HALVINGS],
    count: usize,
}

impl Plan {
    /// The inputs; none if the box cannot be halved.
    pub fn inputs(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.inputs[..self.count].iter().map(|&i| i as usize)
    }

    /// Halving once, along the input of the highest score.
    #[must_use]
    pub fn once(score: &[f64], lower: &[f64], upper: &[f64]) -> Self {
        let mut plan = Self::default();
        plan.extend(choose(score, lower, upper).map(|(i, _)| i));
        plan
    }

    /// Halving as long as the bound of a violation is expected to stay positive, and once more, since it is wasted to
    /// bound parts that stay open anyway.
    ///
    /// Halving input i is predicted to lower the bound by half of its score ([`crate::domain::sensitivity`]), and
    /// halves that score. Expected is the `share` of the prediction that [`super::gain`] has learned.
    #[must_use]
    pub fn until_expected_closed(mut bound: f64, share: f64, score: &mut [f64], lower: &[f64], upper: &[f64]) -> Self {
        let mut plan = Self::default();
        while let Some((input, _)) = choose(score, lower, upper) {
            plan.extend([input]);
            score[input] *= 0.5;
            bound -= share * score[input];
            // Where the bound or the score is unknown, there is no prediction.
            let stays_open = bound > 0.0 && bound.is_finite() && score[input] > 0.0;
            if !stays_open || plan.count == MOST_HALVINGS {
                break;
            }
        }
        plan
    }

    fn extend(&mut self, inputs: impl IntoIterator<Item = usize>) {
        for input in inputs {
            self.inputs[self.count] = u32::try_from(input).unwrap_or(u32::MAX);
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_halved_until_its_bound_may_fall_to_zero() {
        let (lower, upper) = ([0.0; 3], [1.0; 3]);
        let expecting = |share: f64, bound: f64, mut score: [f64; 3]| {
            Plan::until_expected_closed(bound, share, &mut score, &lower, &upper).inputs().collect::<Vec<_>>()
        };
        let plan = |bound, score| expecting(1.0, bound, score);
        // 8 / 2, 6 / 2 and 4 / 2 are taken off in turn.
        assert_eq!(plan(4.0, [6.0, 8.0, 1.0]), [1]);
        assert_eq!(plan(4.1, [6.0, 8.0, 1.0]), [1, 0]);
        assert_eq!(plan(7.1, [6.0, 8.0, 1.0]), [1, 0, 1]);
        assert_eq!(plan(1e9, [6.0, 8.0, 1.0]).len(), MOST_HALVINGS);
        // Half of it is expected, or twice as much.
        assert_eq!(expecting(0.5, 2.1, [6.0, 8.0, 1.0]), [1, 0]);
        assert_eq!(expecting(2.0, 7.9, [6.0, 8.0, 1.0]), [1]);
        // Nothing is predicted from what is not known.
        assert_eq!(plan(f64::INFINITY, [6.0, 8.0, 1.0]), [1]);
        assert_eq!(plan(f64::NAN, [6.0, 8.0, 1.0]), [1]);
        assert_eq!(plan(3.0, [0.0; 3]).len(), 1);
        assert_eq!(plan(3.0, [f64::NAN; 3]).len(), 1);
        assert_eq!(Plan::until_expected_closed(9.0, 1.0, &mut [1.0], &[1.0], &[1.0]), Plan::default());
        assert_eq!(Plan::once(&[2.0, 3.0, 1.0], &lower, &upper).inputs().collect::<Vec<_>>(), [1]);
        assert_eq!(Plan::once(&[], &[0.5], &[0.5]), Plan::default());
    }
}
