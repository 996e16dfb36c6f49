//! x times a gate that rises from 0 to 1: SiLU, GELU and its tanh form, Mish. Concave, convex between two knots, concave.
//!
//! The knots are where the second derivative vanishes. With s the sigmoid of g,  (x s)'' = s (1 - s) B  for
//! B = 2 g' + x g'' - x tanh(g / 2) g'^2, which is even in x if g is odd.
//! - SiLU, g = x: B = 2 - x tanh(x / 2), falling for x > 0: one zero there.
//! - GELU: the second derivative is (2 - x^2) e^(-x^2 / 2) / sqrt(2 pi).
//! - GELU's tanh form, g = 2 k (x + a x^3) with k = sqrt(2 / pi), a = 0.044715:
//!   B = 4 k (1 + 6 a x^2 - k x tanh(g / 2) (1 + 3 a x^2)^2), and k x tanh(g / 2) (1 + 3 a x^2)^2 / (1 + 6 a x^2) rises for
//!   x > 0, since the last quotient is 1 + 9 a^2 x^4 / (1 + 6 a x^2): one zero there.
//! - Mish: with w = e^x the second derivative is 4 w / (w^2 + 2 w + 2)^3 times
//!   2 (w + 1) (w^2 + 2 w + 2) + x (2 + 2 w - 3 w^2 - 2 w^3), which is negative for |x| >= 20 (on the left below
//!   4.1 - 20 * 1.9, on the right below 8 w^3 - 20 w^3); that it has exactly two
//!   zeros between is shown with interval arithmetic in tests/unit/core/test_curves.py, which checks all knots as well.

use crate::numeric::erf::erf;
use crate::numeric::exp::{exp, exp_near, sigmoid, sigmoid_near, sigmoid_slope, sigmoid_slope_near};
use crate::numeric::near::Near;
use crate::numeric::round::U;

use super::function::{Bend, Function, Piece, no_parameters};

/// Concave up to the first knot, convex up to the second, then concave. A knot is enclosed by two numbers at a distance
/// below 3e-15; slopes between them differ by less than 1e-14, since no second derivative here exceeds 2.
#[inline]
fn three_pieces(x: f64, first: (f64, f64), second: (f64, f64), slope: impl Fn(f64) -> Near) -> Piece {
    let around = |knot: (f64, f64)| {
        let slope = slope(knot.0);
        Piece::to(knot.1, Bend::Between(slope.low() - 1e-14, slope.high() + 1e-14))
    };
    if x < first.0 {
        Piece::to(first.0, Bend::Concave)
    } else if x < first.1 {
        around(first)
    } else if x < second.0 {
        Piece::to(second.0, Bend::Convex)
    } else if x < second.1 {
        around(second)
    } else {
        Piece::last(Bend::Concave)
    }
}

/// The knots -k and k of an even second derivative.
#[inline]
fn symmetric(x: f64, (low, high): (f64, f64), slope: impl Fn(f64) -> Near) -> Piece {
    three_pieces(x, (-high, -low), (low, high), slope)
}

/// Beyond |x| = 40: 0 or `right`, up to less than the smallest subnormal.
#[inline]
fn settled(x: f64, right: f64) -> Near {
    if x.is_nan() { Near::UNKNOWN } else { Near::relative(if x > 0.0 { right } else { 0.0 }, 0.0) }
}

macro_rules! gated {
    ($($(#[$meta:meta])* $kind:ident, $name:literal, $value:ident, $slope:ident, $plain:expr, $piece:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $kind;

        impl Function for $kind {
            const NAME: &'static str = $name;

            fn build(parameters: &[f64]) -> Result<Self, String> {
                no_parameters(parameters).map(|()| Self)
            }

            #[inline]
            fn value(&self, x: f64) -> Near {
                $value(x)
            }

            #[inline]
            fn slope_left(&self, x: f64) -> Near {
                $slope(x)
            }

            #[inline]
            fn plain(&self, x: f64) -> (f64, f64) {
                $plain(x)
            }

            #[inline]
            fn piece(&self, x: f64) -> Piece {
                $piece(x)
            }
        }
    )*};
}

gated! {
    /// x sigmoid(x).
    Silu, "silu", silu, silu_slope, silu_plain, |x| symmetric(x, (2.399_357_280_515_467, 2.399_357_280_515_469), silu_slope);
    /// x / 2 (1 + erf(x / sqrt 2)).
    Gelu, "gelu", gelu, gelu_slope, gelu_plain, |x| symmetric(x, (1.414_213_562_373_094_5, 1.414_213_562_373_095_6), gelu_slope);
    /// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
    GeluTanh, "gelu_tanh", gelu_tanh, gelu_tanh_slope, separate(gelu_tanh, gelu_tanh_slope), |x| symmetric(x, GELU_TANH_KNOT, gelu_tanh_slope);
    /// x tanh(ln(1 + e^x)).
    Mish, "mish", mish, mish_slope, separate(mish, mish_slope), |x| three_pieces(x, MISH_FIRST, MISH_SECOND, mish_slope);
}

/// Value and slope by themselves.
#[inline]
fn separate(value: impl Fn(f64) -> Near, slope: impl Fn(f64) -> Near) -> impl Fn(f64) -> (f64, f64) {
    move |x| (value(x).value, slope(x).value)
}

#[inline]
fn silu(x: f64) -> Near {
    Near::exact(x) * sigmoid(x)
}

#[inline]
fn silu_slope(x: f64) -> Near {
    sigmoid(x) + Near::exact(x) * sigmoid_slope(x)
}

#[inline]
fn silu_plain(x: f64) -> (f64, f64) {
    let gate = sigmoid(x).value;
    (x * gate, gate + x * gate * (1.0 - gate))
}

/// The normal distribution's density, for |x| <= 40.
#[inline]
fn density(x: f64) -> Near {
    let square = Near::exact(x) * Near::exact(x);
    Near::relative(0.398_942_280_401_432_7, 1.0) * exp_near(-square.scaled(0.5))
}

/// The normal distribution. y = x / sqrt 2 is off by 2 U |y|, and |y| times the derivative of erf by at most
/// min(1.13 |y|, 0.49).
#[inline]
fn distribution(x: f64) -> Near {
    let y = x * std::f64::consts::FRAC_1_SQRT_2;
    (Near::exact(1.0) + erf(y).wider(2.4 * U * y.abs().min(0.5))).scaled(0.5)
}

/// |x| times the distribution's tail is at most the density, 8.3e-17 at 8.5.
#[inline]
fn gelu(x: f64) -> Near {
    if x.abs() <= 8.5 {
        Near::exact(x) * distribution(x)
    } else if x.abs() <= 40.0 {
        Near { value: x.max(0.0), error: 1e-16 }
    } else {
        settled(x, x)
    }
}

#[inline]
fn gelu_slope(x: f64) -> Near {
    if x.abs() <= 40.0 { distribution(x) + Near::exact(x) * density(x) } else { settled(x, 1.0) }
}

#[inline]
fn gelu_plain(x: f64) -> (f64, f64) {
    if x.abs() > 8.5 {
        return (gelu(x).value, gelu_slope(x).value);
    }
    let gate = distribution(x).value;
    (x * gate, gate + x * density(x).value)
}

/// 2 sqrt(2 / pi) (x + 0.044715 x^3), and its derivative.
#[inline]
fn cubic(x: f64) -> (Near, Near) {
    let factor = Near::relative(1.595_769_121_605_730_8, 1.0);
    let x = Near::exact(x);
    let square = Near::relative(0.044_715, 1.0) * (x * x);
    (factor * (x + x * square), factor * (Near::exact(1.0) + Near::exact(3.0) * square))
}

const GELU_TANH_KNOT: (f64, f64) = (1.418_504_008_790_827_6, 1.418_504_008_790_829_2);

/// x / 2 (1 + tanh(g / 2)) = x sigmoid(g); beyond 40, |g| > 4000.
#[inline]
fn gelu_tanh(x: f64) -> Near {
    if x.abs() <= 40.0 { Near::exact(x) * sigmoid_near(cubic(x).0) } else { settled(x, x) }
}

#[inline]
fn gelu_tanh_slope(x: f64) -> Near {
    if x.abs() > 40.0 || x.is_nan() {
        return settled(x, 1.0);
    }
    let (inner, slope) = cubic(x);
    sigmoid_near(inner) + Near::exact(x) * sigmoid_slope_near(inner) * slope
}

const MISH_FIRST: (f64, f64) = (-2.256_376_396_360_794, -2.256_376_396_360_792);
const MISH_SECOND: (f64, f64) = (1.490_571_179_485_427_7, 1.490_571_179_485_429_3);

/// The gate tanh(ln(1 + e^x)) and its derivative. With w = e^x they are (w^2 + 2 w) / (w^2 + 2 w + 2) and
/// 4 w (1 + w) / (w^2 + 2 w + 2)^2; with w = e^-x, (1 + 2 w) / (1 + 2 w + 2 w^2) and 4 w^2 (1 + w) / (1 + 2 w + 2 w^2)^2.
#[inline]
fn mish_gate(x: f64) -> (Near, Near) {
    let w = exp(-x.abs());
    let one = Near::exact(1.0);
    let (square, twice) = (w * w, w.scaled(2.0));
    let (above, below, left) = if x < 0.0 {
        let above = square + twice;
        (above, above + Near::exact(2.0), w)
    } else {
        let above = one + twice;
        (above, above + square.scaled(2.0), square)
    };
    (above / below, (left * (one + w)).scaled(4.0) / (below * below))
}

#[inline]
fn mish(x: f64) -> Near {
    Near::exact(x) * mish_gate(x).0
}

#[inline]
fn mish_slope(x: f64) -> Near {
    let (gate, slope) = mish_gate(x);
    gate + Near::exact(x) * slope
}
