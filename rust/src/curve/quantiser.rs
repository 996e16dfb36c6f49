//! Quantisers: Quant, QuantizeLinear, ap_fixed, casts and thresholds, all of them one function with eight parameters. Its
//! bounds are those of [`super::staircase`].

use crate::numeric::near::Near;

use super::function::{Bend, Function, Piece, count};
use super::rounding::Rounding;
use super::staircase::Staircase;

/// Parameters (scale, zero, low, high, unit, base, rounding, wraps); see [`Staircase`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantiser(Staircase);

/// Levels up to here, sums of them and their halves are exact floats.
const MOST_LEVELS: f64 = 1_125_899_906_842_624.0;

impl Function for Quantiser {
    const NAME: &'static str = "quantiser";
    const JUMPS: bool = true;

    fn build(parameters: &[f64]) -> Result<Self, String> {
        count(parameters, 8)?;
        let [scale, zero, low, high, unit, base, rounding, wraps] = parameters else { unreachable!() };
        if !(*scale > 0.0 && *unit > 0.0) {
            return Err("its scales have to be positive".into());
        }
        if !(low.fract() == 0.0 && high.fract() == 0.0 && low <= high && low.abs().max(high.abs()) <= MOST_LEVELS) {
            return Err("its levels have to be integers up to 2^50, the lowest first".into());
        }
        let found = Rounding::ALL.iter().zip(0u8..).find(|(_, number)| f64::from(*number) == *rounding);
        let Some((rounding, _)) = found.filter(|_| *wraps == 0.0 || *wraps == 1.0) else {
            return Err("its rounding is a number from 0 to 8 and its overflow 0 or 1".into());
        };
        Ok(Self(Staircase {
            scale: *scale,
            zero: *zero,
            low: *low,
            high: *high,
            unit: *unit,
            base: *base,
            rounding: *rounding,
            wraps: *wraps == 1.0,
        }))
    }

    fn parameters(&self) -> Vec<f64> {
        let Staircase { scale, zero, low, high, unit, base, rounding, wraps } = self.0;
        vec![scale, zero, low, high, unit, base, f64::from(rounding as u8), f64::from(u8::from(wraps))]
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        self.0.value(x)
    }

    #[inline]
    fn plain_value(&self, x: f64) -> f64 {
        self.0.plain_value(x)
    }

    #[inline]
    fn limit_left(&self, x: f64) -> Near {
        self.0.limit_left(x)
    }

    #[inline]
    fn limit_right(&self, x: f64) -> Near {
        self.0.limit_right(x)
    }

    #[inline]
    fn slope_left(&self, _x: f64) -> Near {
        Near::exact(0.0)
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        let (end, known) = self.0.step(x);
        let jumps = Piece { end: known, bend: Bend::Between(f64::NEG_INFINITY, f64::INFINITY), jump: true };
        end.map_or(jumps, |end| Piece { end, bend: Bend::Straight, jump: true })
    }

    fn increasing(&self) -> bool {
        !self.0.wraps
    }

    #[inline]
    fn bounds(&self) -> (f64, f64) {
        self.0.bounds()
    }

    #[inline]
    fn staircase(&self) -> Option<&Staircase> {
        Some(&self.0)
    }
}
