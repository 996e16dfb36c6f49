//! Functions that jump: sign, floor, and x behind a threshold. Their slopes are those of the pieces on either side.

use crate::numeric::near::Near;

use super::function::{Bend, Function, Piece, count, no_parameters};
use super::rounding::Rounding;
use super::staircase::Staircase;

/// -1, 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sign;

impl Function for Sign {
    const NAME: &'static str = "sign";
    const JUMPS: bool = true;

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        if x.is_nan() { Near::UNKNOWN } else { Near::exact(if x == 0.0 { 0.0 } else { 1.0_f64.copysign(x) }) }
    }

    #[inline]
    fn limit_left(&self, x: f64) -> Near {
        if x == 0.0 { Near::exact(-1.0) } else { self.value(x) }
    }

    #[inline]
    fn limit_right(&self, x: f64) -> Near {
        if x == 0.0 { Near::exact(1.0) } else { self.value(x) }
    }

    #[inline]
    fn slope_left(&self, _x: f64) -> Near {
        Near::exact(0.0)
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x < 0.0 { Piece { end: 0.0, bend: Bend::Straight, jump: true } } else { Piece::last(Bend::Straight) }
    }

    fn increasing(&self) -> bool {
        true
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (-1.0, 1.0)
    }
}

/// The largest integer not above x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor;

/// Below it every integer and its neighbours are floats.
const DENSE: f64 = 2_251_799_813_685_248.0;

impl Function for Floor {
    const NAME: &'static str = "floor";
    const JUMPS: bool = true;

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        if x.is_nan() { Near::UNKNOWN } else { Near::exact(x.floor()) }
    }

    #[inline]
    fn limit_left(&self, x: f64) -> Near {
        let floor = x.floor();
        if x == floor {
            Near::exact(floor - 1.0).wider(if x.abs() < DENSE { 0.0 } else { 1.0 + x.abs() })
        } else {
            self.value(x)
        }
    }

    #[inline]
    fn slope_left(&self, _x: f64) -> Near {
        Near::exact(0.0)
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x.abs() < DENSE {
            Piece { end: x.floor() + 1.0, bend: Bend::Straight, jump: true }
        } else {
            Piece { end: f64::INFINITY, bend: Bend::Between(f64::NEG_INFINITY, f64::INFINITY), jump: true }
        }
    }

    fn increasing(&self) -> bool {
        true
    }

    #[inline]
    fn staircase(&self) -> Option<&Staircase> {
        Some(&WHOLE)
    }
}

/// The steps of floor.
static WHOLE: Staircase = Staircase {
    scale: 1.0,
    zero: 0.0,
    low: f64::NEG_INFINITY,
    high: f64::INFINITY,
    unit: 1.0,
    base: 0.0,
    rounding: Rounding::Floor,
    wraps: false,
};

/// x where x > a, else 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholded(f64);

impl Function for Thresholded {
    const NAME: &'static str = "thresholded";
    const JUMPS: bool = true;

    fn build(parameters: &[f64]) -> Result<Self, String> {
        count(parameters, 1).map(|()| Self(parameters[0]))
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.0]
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        if x.is_nan() { Near::UNKNOWN } else { Near::exact(if x > self.0 { x } else { 0.0 }) }
    }

    #[inline]
    fn limit_right(&self, x: f64) -> Near {
        if x == self.0 { Near::exact(x) } else { self.value(x) }
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        Near::exact(if x > self.0 { 1.0 } else { 0.0 })
    }

    #[inline]
    fn slope_right(&self, x: f64) -> Near {
        Near::exact(if x >= self.0 { 1.0 } else { 0.0 })
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x < self.0 {
            Piece { end: self.0, bend: Bend::Straight, jump: self.0 != 0.0 }
        } else {
            Piece::last(Bend::Straight)
        }
    }

    fn increasing(&self) -> bool {
        self.0 >= 0.0
    }
}
