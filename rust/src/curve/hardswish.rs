//! Hard swish, x max(0, min(1, a x + b)) with a > 0: 0, then a parabola, then x. Its knots -b / a and (1 - b) / a are
//! seldom floats: each is enclosed by two numbers, between which slopes are bounded.

use crate::numeric::near::{Near, product, sum};

use super::function::{Bend, Function, Piece, count};

/// Parameters (a, b).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HardSwish {
    a: f64,
    b: f64,
    /// Enclosures of the knots.
    first: (f64, f64),
    second: (f64, f64),
}

impl HardSwish {
    /// a x + b.
    #[inline]
    fn gate(&self, x: f64) -> Near {
        sum(product(self.a, x), Near::exact(self.b))
    }

    /// The slope of the parabola, 2 a x + b.
    #[inline]
    fn parabola(&self, x: f64) -> Near {
        sum(product(self.a, x).scaled(2.0), Near::exact(self.b))
    }

    /// Around a knot: between the slope of the line and those of the parabola.
    #[inline]
    fn around(&self, knot: (f64, f64), line: f64) -> Piece {
        let (a, b) = (self.parabola(knot.0), self.parabola(knot.1));
        Piece::to(knot.1, Bend::Between(a.low().min(b.low()).min(line), a.high().max(b.high()).max(line)))
    }
}

/// The hull of two numbers.
#[inline]
fn hull(a: Near, b: f64) -> Near {
    let (low, high) = (a.low().min(b), a.high().max(b));
    let middle = low / 2.0 + high / 2.0;
    Near::exact(middle)
        .wider(crate::numeric::round::sub_up(high, middle).max(crate::numeric::round::sub_up(middle, low)))
}

impl Function for HardSwish {
    const NAME: &'static str = "hardswish";

    fn build(parameters: &[f64]) -> Result<Self, String> {
        count(parameters, 2)?;
        let (a, b) = (parameters[0], parameters[1]);
        if a <= 0.0 {
            return Err(format!("a = {a}, expected a number above 0"));
        }
        let ends = |knot: Near| (knot.low(), knot.high());
        let first = ends(Near::exact(-b) / Near::exact(a));
        let second = ends(sum(Near::exact(1.0), Near::exact(-b)) / Near::exact(a));
        if !(first.0 > f64::NEG_INFINITY && first.1 < second.0 && second.1 < f64::INFINITY) {
            return Err(format!("a = {a} and b = {b} give knots that cannot be told apart or overflow"));
        }
        Ok(Self { a, b, first, second })
    }

    fn parameters(&self) -> Vec<f64> {
        vec![self.a, self.b]
    }

    #[inline]
    fn value(&self, x: f64) -> Near {
        let gate = self.gate(x).clamp(0.0, 1.0);
        if gate.error == 0.0 { product(x, gate.value) } else { Near::exact(x) * gate }
    }

    /// Where it is not known on which side of a knot x lies, the hull of both slopes.
    #[inline]
    fn slope_left(&self, x: f64) -> Near {
        let gate = self.gate(x);
        let (low, high) = (gate.low(), gate.high());
        if high < 0.0 {
            Near::exact(0.0)
        } else if low > 1.0 {
            Near::exact(1.0)
        } else if low > 0.0 && high < 1.0 {
            self.parabola(x)
        } else {
            let slope = hull(self.parabola(x), if high < 1.0 { 0.0 } else { 1.0 });
            if low <= 0.0 && high >= 1.0 { hull(slope, 0.0) } else { slope }
        }
    }

    #[inline]
    fn piece(&self, x: f64) -> Piece {
        if x < self.first.0 {
            Piece::to(self.first.0, Bend::Straight)
        } else if x < self.first.1 {
            self.around(self.first, 0.0)
        } else if x < self.second.0 {
            Piece::to(self.second.0, Bend::Convex)
        } else if x < self.second.1 {
            self.around(self.second, 1.0)
        } else {
            Piece::last(Bend::Straight)
        }
    }

    /// Nothing is rounded left of the first knot and right of the second.
    #[inline]
    fn straight(&self, x: f64) -> (Near, Near) {
        (Near::exact(if x < self.first.0 { 0.0 } else { 1.0 }), Near::exact(0.0))
    }

    #[inline]
    fn touch(&self, lam: f64, _a: f64, _b: f64, _rising: bool) -> f64 {
        (lam - self.b) / (2.0 * self.a)
    }
}
