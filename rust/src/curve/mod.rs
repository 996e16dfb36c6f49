//! Functions of one variable with proven errors: what a step of a network applies to each of its rows.
//!
//! A function is a list of pieces on which it is straight, convex or concave, with values and one-sided slopes
//! ([`function`](self), one file for each family). Strips between parallel lines, hulls of slopes and ranges follow from
//! that alone and are written once (`strip`), compiled for each function. To add one: its file, and its line below.

mod certain_levels;
mod erf;
mod exact_rounding;
mod exponential;
mod fan;
mod function;
mod gated;
mod hardswish;
mod jumps;
mod offset;
mod pieces;
mod powers;
mod quantiser;
mod rounding;
mod sigmoids;
mod staircase;
mod strip;
mod waves;

use function::Function;

pub use crate::numeric::near::Near;
pub use certain_levels::Levels;
pub use exact_rounding::{ExactRounding, UNKNOWN, ZERO, lowest_bit};
pub use fan::Fan;
pub use function::{Bend, Piece};
pub use offset::Offset;
pub use pieces::Pieces;
pub use rounding::Rounding;
pub use staircase::{Staircase, Trend};

macro_rules! curves {
    ($($variant:ident($kind:ty)),* $(,)?) => {
        /// One function.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Curve {
            $(#[allow(missing_docs)] $variant($kind)),*
        }

        /// The names of all functions.
        pub const NAMES: &[&str] = &[$(<$kind>::NAME),*];

        /// Does the same with whichever function it is.
        macro_rules! with {
            ($curve:expr, $f:ident => $result:expr) => {
                match $curve {
                    $(Curve::$variant($f) => $result),*
                }
            };
        }

        impl Curve {
            /// From its name and parameters; an error says what is wrong with them.
            pub fn new(name: &str, parameters: &[f64]) -> Result<Self, String> {
                if let Some(i) = parameters.iter().position(|p| !p.is_finite()) {
                    return Err(format!("parameter {} of function {name} is {}, not finite", i + 1, parameters[i]));
                }
                match name {
                    $(<$kind>::NAME => <$kind>::build(parameters).map(Self::$variant),)*
                    _ => return Err(format!("there is no function {name}; there are {}", NAMES.join(", "))),
                }
                .map_err(|problem| format!("function {name}: {problem}"))
            }
        }
    };
}

curves! {
    Pieces(pieces::Pieces),
    Sigmoid(sigmoids::Sigmoid),
    Tanh(sigmoids::Tanh),
    Atan(sigmoids::Atan),
    Softplus(exponential::Softplus),
    Softsign(powers::Softsign),
    Elu(exponential::Elu),
    Celu(exponential::Celu),
    Selu(exponential::Selu),
    Exp(exponential::Exp),
    Log(exponential::Log),
    Sqrt(powers::Sqrt),
    Reciprocal(powers::Reciprocal),
    Square(powers::Square),
    Power(powers::Power),
    Erf(erf::Erf),
    Sin(waves::Sin),
    Cos(waves::Cos),
    Gelu(gated::Gelu),
    GeluTanh(gated::GeluTanh),
    Silu(gated::Silu),
    HardSwish(hardswish::HardSwish),
    Mish(gated::Mish),
    Thresholded(jumps::Thresholded),
    Sign(jumps::Sign),
    Floor(jumps::Floor),
    Quantiser(quantiser::Quantiser),
}

/// Whether the function behind a reference may have no value somewhere.
fn partial<F: Function>(_: &F) -> bool {
    F::PARTIAL
}

/// The name of the function behind a reference.
fn name_of<F: Function>(_: &F) -> &'static str {
    F::NAME
}

impl Curve {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        with!(self, f => name_of(f))
    }

    /// Whether it may have no value somewhere, as a logarithm has none at 0 and below.
    #[must_use]
    #[inline]
    pub fn is_partial(&self) -> bool {
        with!(self, f => partial(f))
    }

    /// The parameters that it was built from.
    #[must_use]
    pub fn parameters(&self) -> Vec<f64> {
        with!(self, f => f.parameters())
    }

    /// Its value at x, with the error of evaluation. Outside of the domain NaN with an infinite error.
    #[must_use]
    #[inline]
    pub fn value(&self, x: f64) -> Near {
        with!(self, f => f.value(x))
    }

    /// What its values tend to from the left; differs from the value only where it jumps.
    #[must_use]
    #[inline]
    pub fn limit_left(&self, x: f64) -> Near {
        with!(self, f => f.limit_left(x))
    }

    /// What its values tend to from the right; differs from the value only where it jumps.
    #[must_use]
    #[inline]
    pub fn limit_right(&self, x: f64) -> Near {
        with!(self, f => f.limit_right(x))
    }

    /// Its derivative from the left.
    #[must_use]
    #[inline]
    pub fn slope_left(&self, x: f64) -> Near {
        with!(self, f => f.slope_left(x))
    }

    /// Its derivative from the right.
    #[must_use]
    #[inline]
    pub fn slope_right(&self, x: f64) -> Near {
        with!(self, f => f.slope_right(x))
    }

    /// The piece that begins at x or on which x lies with x < end; the last end is infinity.
    #[must_use]
    #[inline]
    pub fn piece(&self, x: f64) -> Piece {
        with!(self, f => f.piece(x))
    }

    /// The hull of all secant slopes on [l, u] (of the one-sided derivatives where l = u), rounded outward; infinite
    /// where there is a jump or a point outside of the domain.
    #[must_use]
    #[inline]
    pub fn slopes(&self, l: f64, u: f64) -> (f64, f64) {
        with!(self, f => strip::slopes(f, l, u))
    }

    /// Bounds of f(x) - lam x over [l, u], rounded outward, with (nearly) where; infinite where there are none.
    #[must_use]
    #[inline]
    pub fn offset(&self, lam: f64, l: f64, u: f64) -> Offset {
        with!(self, f => strip::offset(f, lam, l, u))
    }

    /// A finite slope that makes the strip of [`Curve::offset`] thin. Any slope is sound.
    #[must_use]
    #[inline]
    pub fn line(&self, l: f64, u: f64) -> f64 {
        with!(self, f => strip::line(f, l, u))
    }

    /// Lines of many slopes through one point, those below it on [l, u] and those above it, where such are known.
    #[must_use]
    #[inline]
    pub fn fans(&self, l: f64, u: f64) -> [Option<Fan>; 2] {
        match self {
            Self::Pieces(pieces) => fan::of_pieces(pieces, (l, u)),
            _ => with!(self, f => f.staircase()).map_or([None; 2], |steps| fan::of_steps(steps, (l, u))),
        }
    }

    /// What it is on [l, u] but for what it rounds. For functions without steps that is the function itself.
    #[must_use]
    #[inline]
    pub fn trend(&self, l: f64, u: f64) -> Trend {
        let itself = || Trend { slopes: self.slopes(l, u), rest: (0.0, 0.0), is_clip: false };
        with!(self, f => f.staircase()).and_then(|s| s.trend(l, u)).unwrap_or_else(itself)
    }

    /// [`Curve::offset`] of the trend, which must be that of a range around [l, u].
    #[must_use]
    #[inline]
    pub fn trend_offset(&self, trend: &Trend, lam: f64, l: f64, u: f64) -> Offset {
        match with!(self, f => f.staircase()) {
            Some(staircase) if trend.is_clip => staircase.clip_offset(lam, l, u),
            _ => self.offset(lam, l, u),
        }
    }

    /// The value of the trend at x, which must be that of a range around x.
    #[must_use]
    #[inline]
    pub fn trend_value(&self, trend: &Trend, x: f64) -> Near {
        match with!(self, f => f.staircase()) {
            Some(staircase) if trend.is_clip => staircase.clip_value(x),
            _ => self.value(x),
        }
    }

    /// Shows all points where the trend bends, and says whether it is affine between them.
    #[must_use]
    #[inline]
    pub fn bends(&self, trend: &Trend, mut show: impl FnMut(Near)) -> bool {
        if let Self::Pieces(pieces) = self {
            pieces.knots().iter().for_each(|&knot| show(Near::exact(knot)));
            return true;
        }
        match with!(self, f => f.staircase()) {
            Some(staircase) if trend.is_clip => {
                staircase.kinks().into_iter().filter(|kink| kink.value.is_finite()).for_each(show);
                true
            }
            // On its range it is constant, or nothing is known of it.
            Some(_) => trend.slopes == (0.0, 0.0),
            None => false,
        }
    }

    /// The knot of a piecewise linear function inside of (l, u) that is nearest to the middle; none of other functions.
    #[must_use]
    pub fn middle_knot(&self, l: f64, u: f64) -> Option<f64> {
        let Self::Pieces(pieces) = self else { return None };
        let off = |knot: f64| (knot - (0.5 * l + 0.5 * u)).abs();
        pieces.knots().iter().copied().filter(|&k| l < k && k < u).min_by(|a, b| off(*a).total_cmp(&off(*b)))
    }

    /// Whether it is continuous and a line between few knots.
    #[must_use]
    #[inline]
    pub fn is_piecewise_linear(&self) -> bool {
        matches!(self, Self::Pieces(_))
    }

    /// Bounds of f(x) - f(y) wherever x - y lies in [l, u], for functions that go up in steps; None for others.
    #[must_use]
    #[inline]
    pub fn steps_apart(&self, l: f64, u: f64) -> Option<(f64, f64)> {
        with!(self, f => f.staircase()).and_then(|s| s.apart(l, u))
    }

    /// The quantiser that it is, with finitely many levels; None for all others.
    #[must_use]
    pub fn quantiser(&self) -> Option<&Staircase> {
        if let Self::Quantiser(quantiser) = self { quantiser.staircase() } else { None }
    }

    /// Whether it goes up in steps.
    #[must_use]
    pub fn is_stepped(&self) -> bool {
        with!(self, f => f.staircase()).is_some()
    }

    /// Whether there are ranges on which [`Curve::exactly`] says what it is.
    #[must_use]
    pub fn rounds_exactly(&self) -> bool {
        with!(self, f => f.staircase()).is_some_and(Staircase::rounds_exactly)
    }

    /// What it is on [l, u], if that is rounding to multiples of a power of two alone, which is exact in floats.
    #[must_use]
    pub fn exactly(&self, l: f64, u: f64) -> Option<ExactRounding> {
        with!(self, f => f.staircase()).and_then(|s| s.exactly(l, u))
    }

    /// An e such that all its values on [l, u] are multiples of 2^e, where the numbers there are multiples of 2^before;
    /// [`UNKNOWN`] where none is known.
    #[must_use]
    pub fn multiples(&self, before: i32, l: f64, u: f64) -> i32 {
        with!(self, f => f.staircase()).map_or(UNKNOWN, |s| s.multiples(before, l, u))
    }

    /// The slope that an attack should follow at x: the derivative, and for functions that go up in steps the slope of
    /// their trend.
    #[must_use]
    #[inline]
    pub fn climb(&self, x: f64) -> f64 {
        with!(self, f => f.staircase()).map_or_else(|| self.slope_right(x).value, |s| s.climb(x))
    }

    /// Its value at x and the slope of [`Curve::climb`], in plain floats.
    #[must_use]
    #[inline]
    pub fn value_and_climb(&self, x: f64) -> (f64, f64) {
        with!(self, f => match f.staircase() {
            Some(steps) => (f.plain_value(x), steps.climb(x)),
            None => f.plain(x),
        })
    }

    /// Replaces numbers by its values there, in plain floats.
    #[inline(always)]
    pub fn replace(&self, numbers: &mut [f64]) {
        with!(self, f => numbers.iter_mut().for_each(|x| *x = f.plain_value(*x)));
    }

    /// Its range over [l, u], rounded outward.
    #[must_use]
    #[inline]
    pub fn range(&self, l: f64, u: f64) -> (f64, f64) {
        with!(self, f => strip::range(f, l, u))
    }

    /// Whether it is known to be non-decreasing everywhere.
    #[must_use]
    #[inline]
    pub fn increasing(&self) -> bool {
        with!(self, f => f.increasing())
    }

    /// A point where it is defined: 0 where that is inside, else 1.
    #[must_use]
    #[inline]
    pub fn domain_point(&self) -> f64 {
        with!(self, f => f.domain_point())
    }
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
            curve.replace(&mut plain);
            for (x, value) in numbers.into_iter().zip(plain) {
                assert_eq!(value, curve.value(x).value, "{curve:?} at {x}");
                assert_eq!(curve.value_and_climb(x), (value, curve.climb(x)), "{curve:?} at {x}");
            }
        }
    }

    #[test]
    fn what_is_not_a_number_stays_so() {
        for curve in curves() {
            let mut numbers = [f64::NAN];
            curve.replace(&mut numbers);
            assert!(numbers[0].is_nan(), "{curve:?}");
        }
    }
}
