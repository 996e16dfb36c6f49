//! The exponential, softplus, the logarithm, and the units that are linear right of 0 and exponential left of it.

use crate::numeric::exp::{exp, exp_near, expm1_near, sigmoid};
use crate::numeric::log::{ln, ln_1p};
use crate::numeric::near::{Near, product};

use super::function::{Bend, Function, Piece, count, no_parameters};

/// e^x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exp;

impl Function for Exp {
    const NAME: &'static str = "exp";

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        exp(x)
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        exp(x)
    }

    #[inline]
    fn piece(&self, _x: f64) -> Piece {
        Piece::last(Bend::Convex)
    }

    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, _rising: bool) -> f64 {
        ln(lam).0
    }

    fn increasing(&self) -> bool {
        true
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
}

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Softplus;

impl Function for Softplus {
    const NAME: &'static str = "softplus";

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        let bend = ln_1p(exp(-x.abs()));
        if x > 0.0 { Near::exact(x) + bend } else { bend }
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        sigmoid(x)
    }

    #[inline]
    fn piece(&self, _x: f64) -> Piece {
        Piece::last(Bend::Convex)
    }

    /// The sigmoid is lam at ln(lam / (1 - lam)).
    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, _rising: bool) -> f64 {
        if lam >= 1.0 { f64::INFINITY } else { ln(lam / (1.0 - lam)).0 }
    }

    fn increasing(&self) -> bool {
        true
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
}

/// ln x for x > 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Log;

impl Function for Log {
    const NAME: &'static str = "log";
    const JUMPS: bool = true;
    const PARTIAL: bool = true;

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        let (value, error) = ln(x);
        if x > 0.0 && x < f64::INFINITY { Near { value, error } } else { Near::UNKNOWN }
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        if x > 0.0 { Near::relative(1.0 / x, 1.0) } else { Near::UNKNOWN }
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x < 0.0 { Piece::outside() } else { Piece::last(Bend::Concave) }
    }

    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, _rising: bool) -> f64 {
        if lam <= 0.0 { f64::INFINITY } else { 1.0 / lam }
    }

    fn increasing(&self) -> bool {
        true
    }

    fn domain_point(&self) -> f64 {
        1.0
    }
}

/// right x for x >= 0, amount (e^(x / scale) - 1) left of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    amount: Near,
    /// Whether the exact amount is not negative.
    positive: bool,
    scale: f64,
    /// The slope at 0 from the left: amount / scale.
    left: Near,
    right: f64,
}

impl Unit {
    /// x / scale.
    #[inline]
    fn inner(&self, x: f64) -> Near {
        if self.scale == 1.0 { Near::exact(x) } else { Near::relative(x / self.scale, 1.0) }
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        if x >= 0.0 { product(self.right, x) } else { self.amount * expm1_near(self.inner(x)) }
    }

    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        if x > 0.0 {
            Near::exact(self.right)
        } else if x == 0.0 {
            self.left
        } else {
            self.left * exp_near(self.inner(x))
        }
    }

    #[inline]
    fn slope_right(&self, x: f64) -> Near {
        if x >= 0.0 { Near::exact(self.right) } else { self.slope_left(x) }
    }

    /// One piece where the slope at 0 does not turn back.
    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x >= 0.0 {
            return Piece::last(Bend::Straight);
        }
        let (bend, onwards) = if self.positive {
            (Bend::Convex, self.left.high() <= self.right)
        } else {
            (Bend::Concave, self.left.low() >= self.right)
        };
        if onwards { Piece::last(bend) } else { Piece::to(0.0, bend) }
    }

    /// left e^(x / scale) = lam, else at the knot or behind it.
    #[inline]
    fn touch(&self, lam: f64, rising: bool) -> f64 {
        let ratio = lam / self.left.value;
        if ratio <= 0.0 {
            return f64::NEG_INFINITY;
        }
        let t = self.scale * ln(ratio).0;
        if t < 0.0 {
            t
        } else if (lam > self.right) == rising && lam != self.right {
            f64::INFINITY
        } else {
            0.0
        }
    }
}

macro_rules! units {
    ($($(#[$meta:meta])* $kind:ident, $name:literal, $count:literal, $build:expr, $increasing:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $kind([f64; $count], Unit);

        impl Function for $kind {
            const NAME: &'static str = $name;

            fn build(parameters: &[f64]) -> Result<Self, String> {
                count(parameters, $count)?;
                let mut own = [0.0; $count];
                own.copy_from_slice(parameters);
                let unit: fn([f64; $count]) -> Result<Unit, String> = $build;
                unit(own).map(|unit| Self(own, unit))
            }

            fn parameters(&self) -> Vec<f64> {
                self.0.to_vec()
            }

            #[inline]
            fn value(&self, x: f64) -> Near {
                self.1.value(x)
            }

            #[inline]
            fn slope_left(&self, x: f64) -> Near {
                self.1.slope_left(x)
            }

            #[inline]
            fn slope_right(&self, x: f64) -> Near {
                self.1.slope_right(x)
            }

            #[inline]
            fn piece(&self, x: f64) -> Piece {
                self.1.piece(x)
            }

            #[inline]
            fn touch(&self, lam: f64, _a: f64, _b: f64, rising: bool) -> f64 {
                self.1.touch(lam, rising)
            }

            fn increasing(&self) -> bool {
                let increasing: fn([f64; $count]) -> bool = $increasing;
                increasing(self.0)
            }
        }
    )*};
}

units! {
    /// x, left of 0 a (e^x - 1).
    Elu, "elu", 1, |[a]| {
        Ok(Unit { amount: Near::exact(a), positive: a >= 0.0, scale: 1.0, left: Near::exact(a), right: 1.0 })
    }, |[a]| a >= 0.0;
    /// x, left of 0 a (e^(x / a) - 1), a > 0: slope 1 on both sides of 0.
    Celu, "celu", 1, |[a]| {
        if a > 0.0 {
            Ok(Unit { amount: Near::exact(a), positive: true, scale: a, left: Near::exact(1.0), right: 1.0 })
        } else {
            Err(format!("a = {a}, expected a number above 0"))
        }
    }, |_| true;
    /// g times x, left of 0 g a (e^x - 1); parameters (a, g).
    Selu, "selu", 2, |[a, g]| {
        let amount = product(a, g);
        if !amount.value.is_finite() {
            return Err(format!("the product of a = {a} and g = {g} is too large"));
        }
        Ok(Unit { amount, positive: (a < 0.0) == (g < 0.0), scale: 1.0, left: amount, right: g })
    }, |[a, g]| a >= 0.0 && g >= 0.0;
}
