//! How a number becomes an integer: nine roundings, in floats where that is exact, and where each of them jumps.

/// How a number becomes an integer; numbered as networks have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to even.
    HalfEven,
    /// To the nearest, ties away from zero.
    HalfAway,
    /// To the nearest, ties up.
    HalfUp,
    /// To the nearest, ties down.
    HalfDown,
    /// To the nearest, ties towards zero.
    HalfZero,
    /// Down.
    Floor,
    /// Upwards.
    Ceil,
    /// Towards zero.
    Zero,
    /// Away from zero.
    Away,
}

impl Rounding {
    /// All of them, by their numbers.
    pub const ALL: [Self; 9] = [
        Self::HalfEven,
        Self::HalfAway,
        Self::HalfUp,
        Self::HalfDown,
        Self::HalfZero,
        Self::Floor,
        Self::Ceil,
        Self::Zero,
        Self::Away,
    ];

    /// The rounding in floats, which is right wherever t is.
    #[inline]
    #[must_use]
    pub fn of(self, t: f64) -> f64 {
        match self {
            Self::HalfEven => t.round_ties_even(),
            Self::HalfAway => t.round(),
            Self::HalfUp => (t + 0.5).floor(),
            Self::HalfDown => (t - 0.5).ceil(),
            Self::HalfZero => (t.abs() - 0.5).ceil().copysign(t),
            Self::Floor => t.floor(),
            Self::Ceil => t.ceil(),
            Self::Zero => t.trunc(),
            Self::Away => t.abs().ceil().copysign(t),
        }
    }

    /// The t at which level k - 1 becomes level k, and whether t itself has level k already.
    #[inline]
    pub(super) fn jump(self, k: f64) -> (f64, bool) {
        match self {
            Self::HalfEven => (k - 0.5, k.rem_euclid(2.0) == 0.0),
            Self::HalfAway => (k - 0.5, k >= 1.0),
            Self::HalfUp => (k - 0.5, true),
            Self::HalfDown => (k - 0.5, false),
            Self::HalfZero => (k - 0.5, k <= 0.0),
            Self::Floor => (k, true),
            Self::Ceil => (k - 1.0, false),
            Self::Zero => {
                if k >= 1.0 {
                    (k, true)
                } else {
                    (k - 1.0, false)
                }
            }
            Self::Away => {
                if k >= 1.0 {
                    (k - 1.0, false)
                } else {
                    (k, true)
                }
            }
        }
    }

    /// Whether every jump is like every other one, shifted.
    #[inline]
    pub(super) fn commutes_with_shifts(self) -> bool {
        matches!(self, Self::HalfUp | Self::HalfDown | Self::Floor | Self::Ceil)
    }

    /// The range of R(t) - t.
    #[inline]
    pub(super) fn defect(self) -> (f64, f64) {
        match self {
            Self::Floor => (-1.0, 0.0),
            Self::Ceil => (0.0, 1.0),
            Self::Zero | Self::Away => (-1.0, 1.0),
            _ => (-0.5, 0.5),
        }
    }
}
