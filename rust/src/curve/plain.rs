//! Values and slopes of many numbers in plain floats, of which nothing is proven: what attacks evaluate.
//!
//! Only what goes up in steps or is a line between knots has a path of its own, since its proven value costs several times
//! what its formula does. Next to a jump a level may be the other one, as it may be wherever a sum was rounded before.

use super::staircase::Staircase;
use super::{Curve, Pieces};

/// Replaces numbers by what the function is there.
#[inline(always)]
pub(super) fn values(curve: &Curve, numbers: &mut [f64]) {
    match curve {
        Curve::Pieces(pieces) => numbers.iter_mut().for_each(|x| *x = of_pieces(pieces, *x).0),
        Curve::Quantiser(quantiser) => numbers.iter_mut().for_each(|x| *x = of_steps(quantiser.steps(), *x)),
        _ => numbers.iter_mut().for_each(|x| *x = curve.value(*x).value),
    }
}

/// The value at a number, and the slope that an attack follows there: of steps that of their trend.
#[inline(always)]
pub(super) fn value_and_climb(curve: &Curve, x: f64) -> (f64, f64) {
    match curve {
        Curve::Pieces(pieces) => of_pieces(pieces, x),
        Curve::Quantiser(quantiser) => (of_steps(quantiser.steps(), x), quantiser.steps().climb(x)),
        _ if curve.is_stepped() => (curve.value(x).value, curve.climb(x)),
        _ => curve.plain(x),
    }
}

/// Value and slope of a piecewise linear function.
#[inline(always)]
fn of_pieces(pieces: &Pieces, x: f64) -> (f64, f64) {
    let segment = pieces.segment(x, true);
    let base = segment.saturating_sub(1);
    let slope = pieces.slopes()[segment];
    (pieces.values()[base].value + slope * (x - pieces.knots()[base]), slope)
}

/// The level of a number times what it stands for. What is not a number stays so.
#[inline(always)]
fn of_steps(steps: &Staircase, x: f64) -> f64 {
    let mut level = steps.rounding.of(x / steps.scale + steps.zero);
    if steps.wraps {
        let span = steps.high - steps.low + 1.0;
        level -= ((level - steps.low) / span).floor() * span;
    }
    let level = if level < steps.low { steps.low } else { level };
    let level = if level > steps.high { steps.high } else { level };
    steps.unit * (level - steps.base)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Functions of all kinds that have a path of their own, and one that has none.
    fn curves() -> Vec<Curve> {
        let of = |name: &str, parameters: &[f64]| Curve::new(name, parameters).unwrap();
        let mut found = vec![
            of("pieces", &[1.0, 0.0, 0.0, 1.0, 0.0]),
            of("pieces", &[2.0, -0.5, 1.5, 0.25, 2.0, -1.0, 0.75]),
            of("sigmoid", &[]),
            of("floor", &[]),
        ];
        for rounding in 0..9 {
            for wraps in [0.0, 1.0] {
                let quantiser = [0.25, 3.0, -4.0, 11.0, 0.5, 1.0, f64::from(rounding), wraps];
                found.push(of("quantiser", &quantiser));
            }
        }
        found
    }

    #[test]
    fn plain_values_are_the_proven_ones() {
        // Sixteenths, so that ties and knots are among them, and quotients are exact.
        for curve in curves() {
            let numbers: Vec<f64> = (-160..=160).map(|k| f64::from(k) / 16.0).collect();
            let mut plain = numbers.clone();
            values(&curve, &mut plain);
            for (x, value) in numbers.into_iter().zip(plain) {
                assert_eq!(value, curve.value(x).value, "{curve:?} at {x}");
                assert_eq!(value_and_climb(&curve, x), (value, curve.climb(x)), "{curve:?} at {x}");
            }
        }
    }

    #[test]
    fn what_is_not_a_number_stays_so() {
        for curve in curves() {
            let mut numbers = [f64::NAN];
            values(&curve, &mut numbers);
            assert!(numbers[0].is_nan(), "{curve:?}");
        }
    }
}
