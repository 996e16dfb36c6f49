//! The error function: convex left of 0, concave right of it.

use crate::numeric::erf::erf;
use crate::numeric::exp::exp_near;
use crate::numeric::log::ln;
use crate::numeric::near::Near;

use super::function::{Bend, Function, Piece, no_parameters};

/// The error function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Erf;

impl Function for Erf {
    const NAME: &'static str = "erf";

    fn build(parameters: &[f64]) -> Result<Self, String> {
        no_parameters(parameters).map(|()| Self)
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        erf(x)
    }

    /// 2 / sqrt(pi) e^(-x^2), less than the smallest subnormal beyond 28.
    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        if x.abs() > 28.0 {
            return Near::relative(0.0, 0.0);
        }
        let square = Near::exact(x) * Near::exact(x);
        Near::relative(std::f64::consts::FRAC_2_SQRT_PI, 1.0) * exp_near(-square)
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x < 0.0 { Piece::to(0.0, Bend::Convex) } else { Piece::last(Bend::Concave) }
    }

    /// x^2 = -ln(lam sqrt(pi) / 2).
    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, rising: bool) -> f64 {
        let size =
            if lam <= 0.0 { f64::INFINITY } else { (-ln(lam / std::f64::consts::FRAC_2_SQRT_PI).0).max(0.0).sqrt() };
        if rising { -size } else { size }
    }

    fn increasing(&self) -> bool {
        true
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        (-1.0, 1.0)
    }
}
