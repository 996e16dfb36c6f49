//! The inputs that count: a box, and linear constraints A x <= b over it.
//!
//! Constraints may contain more than the exact region, never less; a box they exclude holds no input that counts, and
//! what they cut off a box may be cut.

use crate::error::{Error, finite, same_size};
use crate::lp::RegionRow;
use crate::numeric::round::{add_down, add_up, div_down, div_up, mul_down, mul_up, sub_down, sub_up};

/// A point satisfies a constraint up to rounding if it exceeds the bound by at most this share of the terms' sizes.
/// Nothing is proved by it; a candidate that only rounding admits is refused by the exact replay.
const ROUNDING: f64 = 1e-12;

/// A point is moved this much farther than to the border of a constraint, so that rounding does not leave it outside.
const OVERSHOOT: f64 = 1.000_001;

/// The constraint coefficients . x <= bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// One coefficient per input.
    pub coefficients: Vec<f64>,
    /// The right side.
    pub bound: f64,
}

/// A box with constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// Lower corner (I).
    pub lower: Vec<f64>,
    /// Upper corner (I).
    pub upper: Vec<f64>,
    /// Constraints, all of which hold.
    pub constraints: Vec<Constraint>,
}

impl Region {
    /// Checks sizes, numbers and lower <= upper.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>, constraints: Vec<Constraint>) -> Result<Self, Error> {
        same_size("upper", upper.len(), lower.len())?;
        finite("lower", &lower)?;
        finite("upper", &upper)?;
        if let Some(index) = (0..lower.len()).find(|&i| lower[i] > upper[i]) {
            return Err(Error::EmptyBox { index, lower: lower[index].to_string(), upper: upper[index].to_string() });
        }
        for c in &constraints {
            same_size("coefficients of a constraint", c.coefficients.len(), lower.len())?;
            finite("coefficients of a constraint", &c.coefficients)?;
            finite("bound of a constraint", [&c.bound])?;
        }
        Ok(Self { lower, upper, constraints })
    }

    /// The inputs that are not fixed.
    #[must_use]
    pub fn free(&self) -> Vec<usize> {
        (0..self.lower.len()).filter(|&i| self.lower[i] < self.upper[i]).collect()
    }

    /// The same region over the free inputs; fixed ones move to the right sides, rounded up.
    #[must_use]
    pub fn restrict(&self, free: &[usize]) -> Self {
        let pick = |v: &[f64]| free.iter().map(|&i| v[i]).collect::<Vec<_>>();
        let constraints = self.constraints.iter().map(|c| {
            let fixed = (0..self.lower.len()).filter(|&i| self.lower[i] == self.upper[i]);
            let bound = fixed.fold(c.bound, |b, i| sub_up(b, mul_down(c.coefficients[i], self.lower[i])));
            Constraint { coefficients: pick(&c.coefficients), bound }
        });
        Self { lower: pick(&self.lower), upper: pick(&self.upper), constraints: constraints.collect() }
    }

    /// A point of the free inputs with the fixed ones.
    #[must_use]
    pub fn complete(&self, free: &[usize], point: &[f64]) -> Vec<f64> {
        let mut whole = self.lower.clone();
        free.iter().zip(point).for_each(|(&i, &x)| whole[i] = x);
        whole
    }

    /// Cuts off a box what the constraints exclude; false if nothing is left.
    pub fn contract(&self, lower: &mut [f64], upper: &mut [f64]) -> bool {
        for c in &self.constraints {
            let least = |a: f64, l: f64, u: f64| {
                if a >= 0.0 { (mul_down(a, l), mul_up(a, l)) } else { (mul_down(a, u), mul_up(a, u)) }
            };
            let mut total = 0.0;
            for ((&a, &l), &u) in c.coefficients.iter().zip(lower.iter()).zip(upper.iter()) {
                if a != 0.0 {
                    total = add_down(total, least(a, l, u).0);
                }
            }
            if total > c.bound {
                return false;
            }
            for (i, &a) in c.coefficients.iter().enumerate() {
                if a == 0.0 {
                    continue;
                }
                // a x_i <= bound - (least of the others), and the others sum to at least total minus this input's own
                // least.
                let others = sub_down(total, least(a, lower[i], upper[i]).1);
                let room = sub_up(c.bound, others);
                if a > 0.0 {
                    let most = if room >= 0.0 { div_up(room, a) } else { -div_down(-room, a) };
                    upper[i] = upper[i].min(most);
                } else {
                    // x_i >= room / a = -room / |a|.
                    let at_least = if room >= 0.0 { -div_up(room, -a) } else { div_down(-room, -a) };
                    lower[i] = lower[i].max(at_least);
                }
                if lower[i] > upper[i] {
                    return false;
                }
            }
        }
        true
    }

    /// Whether a point satisfies the constraints, up to rounding.
    #[must_use]
    pub fn holds(&self, point: &[f64]) -> bool {
        self.constraints.iter().all(|c| {
            let terms = || c.coefficients.iter().zip(point).map(|(a, x)| a * x);
            let size = terms().map(f64::abs).sum::<f64>() + c.bound.abs();
            terms().sum::<f64>() <= c.bound + ROUNDING * size
        })
    }

    /// Moves a point towards the region, one constraint after the other, and then into a box; only for finding
    /// candidates.
    pub fn approach(&self, point: &mut [f64], lower: &[f64], upper: &[f64]) {
        for c in &self.constraints {
            let excess = c.coefficients.iter().zip(point.iter()).map(|(a, x)| a * x).sum::<f64>() - c.bound;
            let square = c.coefficients.iter().map(|a| a * a).sum::<f64>();
            if excess > 0.0 && square > 0.0 {
                point.iter_mut().zip(&c.coefficients).for_each(|(x, a)| *x -= OVERSHOOT * excess / square * a);
            }
        }
        for (x, (l, u)) in point.iter_mut().zip(lower.iter().zip(upper)) {
            *x = x.clamp(*l, *u);
        }
    }

    /// The constraints over the generators of a box: A (centre + radius e) <= b.
    #[must_use]
    pub fn rows(&self, centre: &[f64], radius: &[f64]) -> Vec<RegionRow> {
        let row = |c: &Constraint| {
            let mut slack = c.bound;
            let mut generators = Vec::with_capacity(centre.len());
            for ((&a, &m), &r) in c.coefficients.iter().zip(centre).zip(radius) {
                slack = sub_up(slack, mul_down(a, m));
                let g = a * r;
                slack = add_up(slack, f64::EPSILON * g.abs() + f64::MIN_POSITIVE);
                generators.push(g);
            }
            RegionRow { generators, slack }
        };
        self.constraints.iter().map(row).collect()
    }
}
