//! The logistic sigmoid, the hyperbolic tangent and the arctangent: convex left of 0, concave right of it.

use crate::numeric::arctangent::{atan, atan_slope};
use crate::numeric::exp::{sigmoid, sigmoid_slope, tanh, tanh_slope};
use crate::numeric::log::ln;
use crate::numeric::near::Near;

use super::function::{Bend, Function, Piece, no_parameters};

/// 1 / (1 + e^-x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigmoid;

/// The hyperbolic tangent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tanh;

/// The arctangent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Atan;

/// Convex up to 0, then concave.
#[inline]
fn bent_at_zero(x: f64) -> Piece {
    if x < 0.0 { Piece::to(0.0, Bend::Convex) } else { Piece::last(Bend::Concave) }
}

/// The x <= 0 at which the sigmoid s has slope s (1 - s) = lam: s = (1 - q) / 2 with q = sqrt(1 - 4 lam), and
/// x = ln(s / (1 - s)) = ln(4 lam / (1 + q)^2).
#[inline]
fn sigmoid_touch(lam: f64) -> f64 {
    if lam <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let q = (1.0 - 4.0 * lam).max(0.0).sqrt();
    ln(4.0 * lam / ((1.0 + q) * (1.0 + q))).0.min(0.0)
}

impl Function for Sigmoid {
    const NAME: &'static str = "sigmoid";

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        sigmoid(x)
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        sigmoid_slope(x)
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        bent_at_zero(x)
    }

    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, rising: bool) -> f64 {
        let left = sigmoid_touch(lam);
        if rising { left } else { -left }
    }

    fn increasing(&self) -> bool {
        true
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (0.0, 1.0)
    }
}

impl Function for Tanh {
    const NAME: &'static str = "tanh";

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        tanh(x)
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        tanh_slope(x)
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        bent_at_zero(x)
    }

    /// tanh x = 2 sigmoid(2x) - 1 has four times the slope of the sigmoid at 2x.
    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, rising: bool) -> f64 {
        let left = sigmoid_touch(lam / 4.0) / 2.0;
        if rising { left } else { -left }
    }

    fn increasing(&self) -> bool {
        true
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (-1.0, 1.0)
    }
}

impl Function for Atan {
    const NAME: &'static str = "atan";

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        atan(x)
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        atan_slope(x)
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        bent_at_zero(x)
    }

    /// 1 / (1 + x^2) = lam.
    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, rising: bool) -> f64 {
        let size = (1.0 / lam.max(0.0) - 1.0).max(0.0).sqrt();
        if rising { -size } else { size }
    }

    fn increasing(&self) -> bool {
        true
    }

    /// The next float above pi / 2.
    #[inline]
    fn bounds(&self) -> (f64, f64) {
        const MOST: f64 = 1.570_796_326_794_896_8;
        (-MOST, MOST)
    }
}
