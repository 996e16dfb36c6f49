//! Functions that go up in equal steps: quantisers and floor, in closed form, however many steps there are.
//!
//! ```text
//! Q(x) = unit (k - base),    k = R(x / scale + zero), saturated at low .. high or wrapped into it.
//! ```
//!
//! Level k begins at x_k = scale (k - theta - zero), where theta is 1/2 for roundings to the nearest, 0 for floor and 1
//! for ceil (towards and away from zero: one of both, depending on the sign of k). With fixed theta x_k is linear in k,
//! and so are the values of Q(x) - lam x on both sides of x_k. Hence over a range they are least and largest at its ends
//! and at its first and last jump: a handful of points.
//!
//! A quotient that is rounded decides about a level only away from jumps. Near them x is compared with x_k itself, which
//! is exact for scales and levels of few bits (all that quantised networks have); where it is not, both levels count.
//!
//! *Trend.* Q = phi + r with phi(x) = unit (clip(x / scale + zero, low, high) - base), which is continuous with slopes
//! in [0, unit / scale], and r between the bounds of R(t) - t in units, 0 where phi is cut off. Two networks that round
//! the same value are compared through it.

use crate::numeric::near::{Near, sum};
use crate::numeric::round::{TINY, U, down, up};

use super::offset::{Offset, is_range, rest};
use super::rounding::Rounding;

/// See the head of this file. Levels are integers; `low` and `high` may be infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Staircase {
    pub(super) scale: f64,
    pub(super) zero: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) unit: f64,
    pub(super) base: f64,
    pub(super) rounding: Rounding,
    pub(super) wraps: bool,
}

/// What a function is but for what it rounds: f = phi + r, where all secant slopes of phi lie within `slopes`, and r
/// within `rest`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The hull of the slopes of phi.
    pub slopes: (f64, f64),
    /// The range of r.
    pub rest: (f64, f64),
    /// Whether phi is not the function itself.
    pub(super) is_clip: bool,
}

/// Levels up to here, and their halves, are exact floats.
const DENSE: f64 = 2_251_799_813_685_248.0;

/// Half of any larger float is exact.
const MOST_LOST: f64 = 1e-300;

/// a (b's exact number); without error where both have few bits.
#[inline]
fn times(a: f64, b: Near) -> Near {
    #[allow(clippy::cast_possible_truncation)]
    let short = |v: f64| f64::from(v as f32) == v && (v == 0.0 || (v.abs() > 1e-30 && v.abs() < 1e30));
    let power_of_two = a.to_bits() & ((1 << 52) - 1) == 0 && a.is_normal();
    let value = a * b.value;
    let exact = (short(a) && short(b.value)) || (power_of_two && value.is_normal()) || b.value == 0.0;
    if b.error == 0.0 && exact { Near::exact(value) } else { Near::exact(a) * b }
}

/// A number between two ends.
#[inline]
fn hull(low: f64, high: f64) -> Near {
    if !(low.is_finite() && high.is_finite()) {
        return Near::UNKNOWN;
    }
    let middle = 0.5 * low + 0.5 * high;
    Near { value: middle, error: up(up(high - middle).max(up(middle - low))) }
}

impl Staircase {
    /// x / scale + zero in floats, and how far off it may be.
    #[inline]
    fn place(&self, x: f64) -> (f64, f64) {
        let ratio = x / self.scale;
        (ratio + self.zero, 4.0 * U * (ratio.abs() + self.zero.abs()) + TINY)
    }

    /// Whether theta is fixed, so that all jumps lie in equal distances.
    #[inline]
    pub(super) fn has_equal_steps(&self) -> bool {
        !matches!(self.rounding, Rounding::Zero | Rounding::Away)
    }

    /// Where level k begins.
    #[inline]
    pub(super) fn begin(&self, k: f64) -> Near {
        times(self.scale, sum(Near::exact(self.rounding.jump(k).0), Near::exact(-self.zero)))
    }

    /// What level k stands for.
    #[inline]
    pub(super) fn meant(&self, k: f64) -> Near {
        times(self.unit, sum(Near::exact(k), Near::exact(-self.base)))
    }

    /// Whether x has level k or a higher one; None where that is not known.
    #[inline]
    fn reached(&self, x: f64, k: f64) -> Option<bool> {
        let begin = self.begin(k);
        if x > begin.high() {
            Some(true)
        } else if x < begin.low() {
            Some(false)
        } else if begin.error == 0.0 {
            Some(self.rounding.jump(k).1)
        } else {
            None
        }
    }

    /// The least and the largest level that x may have, before it is brought into the type.
    #[inline]
    fn level(&self, x: f64) -> (f64, f64) {
        let (t, doubt) = self.place(x);
        let k = self.rounding.of(t);
        if t - doubt > self.rounding.jump(k).0 && t + doubt < self.rounding.jump(k + 1.0).0 && t.abs() < DENSE {
            return (k, k);
        }
        let about = ((t - doubt - 2.0).floor(), (t + doubt + 2.0).ceil());
        if !(t.abs() < DENSE && doubt < 1.0) {
            return if t.is_nan() { (f64::NEG_INFINITY, f64::INFINITY) } else { about };
        }
        let (mut least, mut most) = (k, k);
        // The last level that is reached for certain, and the last one that may be.
        while least > about.0 && self.reached(x, least) != Some(true) {
            least -= 1.0;
        }
        while least < about.1 && self.reached(x, least + 1.0) == Some(true) {
            least += 1.0;
        }
        while most > about.0 && self.reached(x, most) == Some(false) {
            most -= 1.0;
        }
        while most < about.1 && self.reached(x, most + 1.0) != Some(false) {
            most += 1.0;
        }
        (least, most)
    }

    /// How many levels the type has.
    #[inline]
    pub(super) fn span(&self) -> f64 {
        self.high - self.low + 1.0
    }

    /// The turns that levels from `least` to `most` are wrapped by, where it is the same for all of them.
    #[inline]
    fn turns(&self, (least, most): (f64, f64)) -> Option<f64> {
        if !self.wraps {
            return Some(0.0);
        }
        if !(least.abs() < DENSE && most.abs() < DENSE) {
            return None;
        }
        let turn = |k: f64| ((k - self.low) / self.span()).floor();
        // A quotient next to an integer may be rounded to it: both levels have to lie in that turn, in integers.
        let found = turn(least);
        let begin = self.low + found * self.span();
        (least >= begin && most < begin + self.span() && begin.abs() < DENSE).then_some(found * self.span())
    }

    /// The stored levels that x may have, the least and the largest.
    #[inline]
    fn stored(&self, (least, most): (f64, f64)) -> (f64, f64) {
        match self.turns((least, most)) {
            Some(turns) => ((least - turns).max(self.low).min(self.high), (most - turns).max(self.low).min(self.high)),
            None => (self.low, self.high),
        }
    }

    /// What the stored levels from `least` to `most` stand for.
    #[inline]
    fn between(&self, (least, most): (f64, f64)) -> Near {
        if least == most {
            return self.meant(least);
        }
        hull(self.meant(least).low(), self.meant(most).high())
    }

    /// Its value.
    #[inline]
    pub(super) fn value(&self, x: f64) -> Near {
        if x.is_nan() { Near::UNKNOWN } else { self.between(self.stored(self.level(x))) }
    }

    /// Its value in plain floats: the level of x times what it stands for. What is not a number stays so.
    #[inline]
    pub(super) fn plain_value(&self, x: f64) -> f64 {
        let mut level = self.rounding.of(x / self.scale + self.zero);
        if self.wraps {
            level -= ((level - self.low) / self.span()).floor() * self.span();
        }
        let level = if level < self.low { self.low } else { level };
        let level = if level > self.high { self.high } else { level };
        self.unit * (level - self.base)
    }

    /// What its values tend to from the left.
    #[inline]
    pub(super) fn limit_left(&self, x: f64) -> Near {
        let (least, most) = self.level(x);
        let begins = (least == most).then(|| self.begin(least)).filter(|b| b.high() < x);
        if begins.is_some() {
            return self.between(self.stored((least, most)));
        }
        // Away from zero two levels begin at one point.
        self.between(self.stored((least - 2.0, most)))
    }

    /// What its values tend to from the right.
    #[inline]
    pub(super) fn limit_right(&self, x: f64) -> Near {
        let (least, most) = self.level(x);
        let ends = (least == most).then(|| self.begin(most + 1.0)).filter(|b| b.low() > x);
        if ends.is_some() {
            return self.between(self.stored((least, most)));
        }
        self.between(self.stored((least, most + 2.0)))
    }

    /// Up to where x lies on one step, if it does, and from where on it may be known again on which one it lies.
    #[inline]
    pub(super) fn step(&self, x: f64) -> (Option<f64>, f64) {
        let (least, most) = self.level(x);
        let later = |place: f64| if place > x { place } else { x.next_up() };
        if least < most {
            return (None, later(self.begin(most).high()));
        }
        let next = if self.wraps { most } else { most.max(self.low) } + 1.0;
        if !self.wraps && next > self.high {
            return (Some(f64::INFINITY), f64::INFINITY);
        }
        let begin = self.begin(next);
        if begin.low() > x { (Some(begin.low()), begin.low()) } else { (None, later(begin.high())) }
    }

    /// Whether on [l, u] it is x but for its rounding, which takes all its values there: Q(x) - x = unit (R(t) - t) with
    /// t = x / scale + zero between `low` and `high`, which R does not leave, and in two steps there is a jump.
    #[inline]
    fn rounds_alone(&self, l: f64, u: f64) -> bool {
        let as_it_is = self.unit == self.scale && self.base == self.zero && self.unit > MOST_LOST;
        if !(self.has_equal_steps() && as_it_is && u - l >= 2.0 * self.scale) {
            return false;
        }
        let [from, to] = self.kinks();
        l >= from.high() && u <= to.low()
    }

    /// Bounds of Q(x) - lam x over [l, u].
    #[inline]
    pub(super) fn offset(&self, lam: f64, l: f64, u: f64) -> Offset {
        if !is_range(lam, l, u) {
            return Offset::unbounded(l);
        }
        if lam == 1.0 && self.rounds_alone(l, u) {
            let (low, high) = self.rounding.defect();
            return Offset { low: low * self.unit, at_low: l, high: high * self.unit, at_high: u };
        }
        let ((a, a_most), (b_least, b)) = (self.level(l), self.level(u));
        let mut found = Offset::empty(l);
        if lam == 0.0 && !self.wraps {
            // It never falls.
            found.lower(self.meant(self.stored((a, b)).0).low(), l);
            found.raise(self.meant(self.stored((a, b)).1).high(), u);
            return found;
        }
        let Some(turns) = self.turns((a, b)) else {
            for x in [l, u] {
                found.take(rest(self.meant(self.low), lam, x), x);
                found.take(rest(self.meant(self.high), lam, x), x);
            }
            return found;
        };
        let stored = |k: f64| (k - turns).max(self.low).min(self.high);
        for (x, levels) in [(l, [a, a_most]), (u, [b_least, b])] {
            for k in levels {
                found.take(rest(self.meant(stored(k)), lam, x), x);
            }
        }
        // Jumps behind the first level and up to the last, as far as they are in the type.
        let first = (a + 1.0).max(self.low + turns + 1.0);
        let last = b.min(self.high + turns);
        if first <= last {
            let mut jump = |k: f64| {
                let begin = self.begin(k);
                let turned = match lam.abs() {
                    0.0 => Near::exact(0.0),
                    1.0 => Near { value: lam * begin.value, ..begin },
                    _ => Near::exact(lam) * begin,
                };
                let at = begin.value.max(l).min(u);
                found.take(sum(self.meant(k - 1.0 - turns), -turned), at);
                found.take(sum(self.meant(k - turns), -turned), at);
            };
            jump(first);
            jump(last);
            // Where theta changes.
            for k in [0.0, 1.0] {
                if !self.has_equal_steps() && first < k && k < last {
                    jump(k);
                }
            }
        }
        found
    }

    /// The hull of its secant slopes.
    #[inline]
    pub(super) fn slopes(&self, l: f64, u: f64) -> (f64, f64) {
        if is_range(0.0, l, u) {
            let (least, most) = self.stored((self.level(l).0, self.level(u).1));
            if least == most {
                return (0.0, 0.0);
            }
        }
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    /// The slope of the line that it follows in steps; 0 where it is cut off.
    #[inline]
    pub(super) fn climb(&self, x: f64) -> f64 {
        let (t, _) = self.place(x);
        if self.wraps || (t >= self.low && t <= self.high) { self.unit / self.scale } else { 0.0 }
    }

    /// The best of three slopes for a strip: level, along the steps, and from end to end.
    #[inline]
    pub(super) fn line(&self, l: f64, u: f64) -> f64 {
        if !is_range(0.0, l, u) || l == u {
            return 0.0;
        }
        if self.rounds_alone(l, u) && u - l >= 4.0 * self.scale {
            return 1.0;
        }
        let width = |slope: f64| {
            let offset = self.offset(slope, l, u);
            offset.high - offset.low
        };
        let (mut best, mut least) = (0.0, width(0.0));
        if least == 0.0 {
            return best;
        }
        let chord = (self.value(u).value - self.value(l).value) / (u - l);
        for slope in [self.unit / self.scale, chord] {
            let thick = if slope.is_finite() && slope != 0.0 { width(slope) } else { f64::INFINITY };
            if thick < least {
                (best, least) = (slope, thick);
            }
        }
        best
    }

    /// unit / scale with its error.
    #[inline]
    pub(super) fn ratio(&self) -> Near {
        if self.unit == self.scale { Near::exact(1.0) } else { Near::exact(self.unit) / Near::exact(self.scale) }
    }

    /// Where its trend is cut off, below and above.
    #[inline]
    pub(super) fn kinks(&self) -> [Near; 2] {
        [self.low, self.high].map(|end| {
            if end.is_finite() {
                times(self.scale, sum(Near::exact(end), Near::exact(-self.zero)))
            } else {
                Near::exact(end)
            }
        })
    }

    /// See [`Trend`]; None where it may wrap.
    #[inline]
    pub(super) fn trend(&self, l: f64, u: f64) -> Option<Trend> {
        if !is_range(0.0, l, u) {
            return None;
        }
        let levels = (self.level(l).0, self.level(u).1);
        let turns = self.turns(levels)?;
        let (least, most) = self.stored(levels);
        if least == most {
            return Some(Trend { slopes: (0.0, 0.0), rest: (0.0, 0.0), is_clip: false });
        }
        if turns != 0.0 {
            return None;
        }
        let [a, b] = self.kinks();
        let ratio = self.ratio();
        let level = if l >= a.high() && u <= b.low() { ratio.low() } else { 0.0 };
        let (low, high) = self.rounding.defect();
        Some(Trend { slopes: (level, ratio.high()), rest: (low * self.unit, high * self.unit), is_clip: true })
    }

    /// unit (x / scale + zero - base).
    #[inline]
    fn along(&self, x: f64) -> Near {
        let ratio = self.ratio();
        let risen = if ratio.error == 0.0 { Near::exact(x) } else { ratio * Near::exact(x) };
        sum(risen, times(self.unit, sum(Near::exact(self.zero), Near::exact(-self.base))))
    }

    /// The clip of [`Trend`] at x.
    #[inline]
    pub(super) fn clip_value(&self, x: f64) -> Near {
        let (value, floor, ceiling) = (self.along(x), self.meant(self.low), self.meant(self.high));
        if value.low() >= floor.high() && value.high() <= ceiling.low() {
            value
        } else if value.high() <= floor.low() {
            floor
        } else if value.low() >= ceiling.high() {
            ceiling
        } else if value.low() <= value.high() {
            // Within rounding of a kink: from the least of what it may be to the largest.
            let low = value.low().min(ceiling.low()).max(floor.low());
            hull(low, value.high().min(ceiling.high()).max(floor.high()))
        } else {
            hull(floor.low(), ceiling.high())
        }
    }

    /// Bounds of phi(x) - lam x over [l, u], where phi is the clip of [`Trend`].
    #[inline]
    pub(super) fn clip_offset(&self, lam: f64, l: f64, u: f64) -> Offset {
        if !is_range(lam, l, u) {
            return Offset::unbounded(l);
        }
        let mut found = Offset::empty(l);
        let (floor, ceiling) = (self.meant(self.low), self.meant(self.high));
        for x in [l, u] {
            let value = self.along(x);
            // Within rounding of a kink both sides of it count, and both ends where numbers are too large.
            let known = value.low() <= value.high();
            if value.high() > floor.low() && value.low() < ceiling.high() {
                found.take(rest(value, lam, x), x);
            }
            if !known || value.low() <= floor.high() {
                found.take(rest(floor, lam, x), x);
            }
            if !known || value.high() >= ceiling.low() {
                found.take(rest(ceiling, lam, x), x);
            }
        }
        for (kink, value) in self.kinks().into_iter().zip([floor, ceiling]) {
            if kink.high() >= l && kink.low() <= u && kink.value.is_finite() {
                found.take(sum(value, -(Near::exact(lam) * kink)), kink.value);
            }
        }
        found
    }

    /// Bounds of Q(x) - Q(y) where x - y lies in [l, u]: how many jumps there can be between x and y, and none where
    /// x = y. In a range of length w there are at most w / scale of them rounded up, where all jumps are alike, and else
    /// one more than w / scale rounded down; away from zero two of them are at one point. None where it may wrap.
    #[inline]
    pub(super) fn apart(&self, l: f64, u: f64) -> Option<(f64, f64)> {
        if self.wraps || !(l <= u) {
            return None;
        }
        let jumps = |width: f64| {
            if width <= 0.0 {
                return 0.0;
            }
            let steps = width / self.scale;
            let whole = times(self.scale, Near::exact(steps));
            let exact = steps == steps.floor() && whole.error == 0.0 && whole.value == width;
            let count = match self.rounding {
                rounding if rounding.commutes_with_shifts() && exact => steps,
                Rounding::Away => up(steps).floor() + 2.0,
                _ => up(steps).floor() + 1.0,
            };
            count.min(self.high - self.low)
        };
        let (fall, rise) = (jumps(-l), jumps(u));
        let size = |count: f64| if count == 0.0 { 0.0 } else { up(count * self.unit) };
        let (low, high) = (-size(fall), size(rise));
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }

    /// Numbers that no value exceeds.
    #[inline]
    pub(super) fn bounds(&self) -> (f64, f64) {
        let (low, high) = (self.meant(self.low), self.meant(self.high));
        (
            if self.low.is_finite() { low.low() } else { self.low },
            if self.high.is_finite() { high.high() } else { down(self.high) },
        )
    }
}
