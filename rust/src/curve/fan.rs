//! Lines of many slopes below or above a clip, or a quantiser that goes up along one: all through one point, as those below
//! ReLU go through 0. Each of them is sound, and which is best depends on what is to be bounded.
//!
//! Let f lie above the clip g(x) = min(C, max(F, F + r (x - a))), and let t <= r and t (u - a) <= C - F. Then F + t (x - a),
//! of any slope from 0 to t, is below f on [l, u]: up to a it is at most F; from there on it is at most F + r (x - a), and
//! at most its value at u, which is at most C. In the same way lines through (b, C) are above f where f lies below
//! max(F, min(C, C + r (x - b))), if t (b - l) <= C - F. A clip is its own g.
//!
//! *Quantisers.* Where theta is fixed ([`super::staircase`]) jumps lie in equal distances, so f is above the clip that begins
//! to rise at the first jump, whose corner is there on the lower level, and below the one that ends at the last jump. Both
//! rise by unit / scale. If a is rounded up and F down, or b down and C up, the lines are only moved away from f.

use super::pieces::Pieces;
use super::staircase::Staircase;
use crate::numeric::near::Near;
use crate::numeric::round::{div_down, sub_down, sub_up};

/// Lines value + slope (x - at), for every slope from `least` to `most`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fan {
    /// The point through which they go.
    pub at: f64,
    /// What they are there.
    pub value: f64,
    /// The least slope.
    pub least: f64,
    /// The largest one, which is larger.
    pub most: f64,
}

/// Those below and those above f on [l, u].
pub(super) type Fans = [Option<Fan>; 2];

/// Those of what lies above the clip that begins to rise at the first point, and below the one that ends at the second one;
/// points are where and how high, and both clips rise at least by `rise`.
#[inline]
fn of_clips(rise: f64, [(a, floor), (b, ceiling)]: [(Near, Near); 2], (l, u): (f64, f64)) -> Fans {
    let (a, b, climb) = (a.high(), b.low(), sub_down(ceiling.low(), floor.high()));
    let fan = |at: f64, value: f64, width: f64| {
        let most = rise.min(div_down(climb, width));
        (l < at && at < u && most > 0.0 && value.is_finite()).then_some(Fan { at, value, least: 0.0, most })
    };
    [fan(a, floor.low(), sub_up(u, a)), fan(b, ceiling.high(), sub_up(b, l))]
}

/// Those of a quantiser.
#[inline]
pub(super) fn of_steps(steps: &Staircase, range: (f64, f64)) -> Fans {
    if steps.wraps || !steps.has_equal_steps() || !(steps.low.is_finite() && steps.high.is_finite()) {
        return [None; 2];
    }
    let first = (steps.begin(steps.low + 1.0), steps.meant(steps.low));
    let last = (steps.begin(steps.high), steps.meant(steps.high));
    of_clips(steps.ratio().low(), [first, last], range)
}

/// Those of a function of one knot, and of a clip.
#[inline]
pub(super) fn of_pieces(pieces: &Pieces, (l, u): (f64, f64)) -> Fans {
    let values = pieces.values();
    match (pieces.knots(), pieces.slopes()) {
        (&[at], &[left, right]) if l < at && at < u => [
            (left < right).then_some(Fan { at, value: values[0].low(), least: left, most: right }),
            (left > right).then_some(Fan { at, value: values[0].high(), least: right, most: left }),
        ],
        (&[a, b], &[0.0, rise, 0.0]) if rise > 0.0 => {
            of_clips(rise, [(Near::exact(a), values[0]), (Near::exact(b), values[1])], (l, u))
        }
        _ => [None; 2],
    }
}
