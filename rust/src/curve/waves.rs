//! Sine and cosine. Their knots are multiples of pi, or lie halfway between; each (but 0) is enclosed by two numbers.
//! On more than three periods, and beyond a million, they are only known to lie between -1 and 1.

use crate::numeric::near::Near;
use crate::numeric::trigonometric::{REDUCED, half_turns, wave};

use super::function::{Band, Bend, Function, Piece, no_parameters};

/// On a longer range a largest value lies left of a smallest one and another one right of one, so that a slope other
/// than 0 makes the strip thicker. A little above 3 pi; nothing rests on it.
const A_PERIOD_AND_A_HALF: f64 = 9.425;

/// The sine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sin;

/// The cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cos;

/// The pieces of sin(x + shift pi / 2): knots (2 m - shift) pi / 2, behind them concave for even m, convex for odd m.
///
/// An enclosed knot's two ends are at most 1e-9 apart, so the derivative there is -1 or 1 up to 1e-18.
#[inline]
fn wave_piece(x: f64, shift: f64) -> Piece {
    if x.abs() > REDUCED || x.is_nan() {
        return Piece::to(if x < 0.0 { -REDUCED } else { f64::INFINITY }, Bend::Between(-1.0, 1.0));
    }
    let m = (x * std::f64::consts::FRAC_1_PI + shift / 2.0).round();
    let knot = half_turns(2.0 * m - shift);
    let odd = m.rem_euclid(2.0) != 0.0;
    if x < knot.low() {
        Piece::to(knot.low(), if odd { Bend::Concave } else { Bend::Convex })
    } else if x < knot.high() {
        Piece::to(knot.high(), if odd { Bend::Between(-1.0, -1.0 + 1e-15) } else { Bend::Between(1.0 - 1e-15, 1.0) })
    } else {
        let next = half_turns(2.0 * (m + 1.0) - shift);
        Piece::to(next.low(), if odd { Bend::Convex } else { Bend::Concave })
    }
}

#[inline]
fn wave_band(l: f64, u: f64) -> Option<Band> {
    let known = u - l <= 20.0 && l > -REDUCED + 10.0 && u < REDUCED - 10.0;
    (!known).then_some(Band { slope: 0.0, low: -1.0, high: 1.0, slopes: (-1.0, 1.0) })
}

macro_rules! waves {
    ($($kind:ident, $name:literal, $quarter:literal, $shift:literal;)*) => {$(
        impl Function for $kind {
            const NAME: &'static str = $name;

            fn build(parameters: &[f64]) -> Result<Self, String> {
                no_parameters(parameters).map(|()| Self)
            }

            #[inline]
            fn value(&self, x: f64) -> Near {
                wave(x, $quarter)
            }

            #[inline]
            fn slope_left(&self, x: f64) -> Near {
                wave(x, $quarter + 1)
            }

            #[inline]
            fn piece(&self, x: f64) -> Piece {
                wave_piece(x, $shift)
            }

            #[inline]
            fn bounds(&self) -> (f64, f64) {
                (-1.0, 1.0)
            }

            #[inline]
            fn is_level(&self, l: f64, u: f64) -> bool {
                u - l > A_PERIOD_AND_A_HALF
            }

            #[inline]
            fn band(&self, l: f64, u: f64) -> Option<Band> {
                wave_band(l, u)
            }
        }
    )*};
}

waves! {
    Sin, "sin", 0, 0.0;
    Cos, "cos", 1, 1.0;
}
