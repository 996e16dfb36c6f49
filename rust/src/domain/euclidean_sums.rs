//! Sums over the members of a group: what the own generators of many neurons reach in one row, by their sizes and by the
//! Euclidean norm of all of them ([`super::euclidean`]).

use crate::numeric::round::{TINY, U, add_up, gamma, inflate, mul_up};
use crate::numeric::vectorised::vectorised;

/// The own generator of one neuron: t = shift + size ad, |t| <= reach, and |t| <= kappa |d - c| + rest.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Its number among the difference's own generators.
    pub number: usize,
    pub row: usize,
    pub shift: f64,
    pub size: f64,
    pub kappa: f64,
    pub reach: f64,
    /// c of a plane; 0 of a strip.
    pub about: f64,
    pub rest: f64,
}

impl Member {
    /// That of t times a positive weight: |shift + size ad| <= kappa |d - c| + rest as before, of numbers that are each as many
    /// times as large. `None` where one of them is too large or too small for that.
    #[must_use]
    pub fn weighted(&self, weight: f64) -> Option<Self> {
        let (shift, size) = (weight * self.shift, weight * self.size);
        // Both are off by half of a last place, or by what underflows.
        let off = inflate(U * (shift.abs() + size.abs()) + TINY, 4);
        let kappa = mul_up(weight, self.kappa);
        let [reach, rest] = [self.reach, self.rest].map(|v| add_up(mul_up(weight, v), off));
        let fits =
            weight > 0.0 && [kappa, reach, rest].iter().all(|v| v.is_finite()) && size.abs() >= f64::MIN_POSITIVE;
        fits.then_some(Self { shift, size, kappa, reach, rest, ..*self })
    }
}

/// Sums over the entries g of one row for the members of a group: with q = g / size, g ad = q t - q shift.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    pub shifts: f64,
    pub shift_sizes: f64,
    pub absolute: f64,
    pub squares: f64,
    pub missed: f64,
}

impl Sums {
    #[inline(always)]
    pub fn add(&mut self, entry: f64, member: &Member) {
        let q = entry / member.size;
        self.shifts -= q * member.shift;
        self.shift_sizes += (q * member.shift).abs();
        self.absolute += q.abs() * member.reach;
        self.squares += q * q;
        // |g - q size| <= U |g|, and what underflows; |ad| <= 1.
        self.missed += 2.0 * U * entry.abs() + TINY * (1.0 + member.size);
    }

    /// An upper bound of |q . t|.
    pub fn reach(&self, norm: f64, members: usize) -> f64 {
        let by_sizes = inflate(self.absolute, 2 * members + 2);
        let length = inflate(inflate(self.squares + TINY, 2 * members + 2).sqrt(), 2);
        let by_norm = mul_up(length, norm);
        if by_norm < by_sizes { by_norm } else { by_sizes }
    }

    /// What the shifts, as they are computed, may be off by, and what is lost because q is rounded.
    pub fn off(&self, members: usize) -> f64 {
        inflate(gamma(2 * members + 4) * self.shift_sizes + self.missed, 4 * members + 8)
    }

    /// An upper bound of sum g ad.
    pub fn upper(&self, norm: f64, members: usize) -> f64 {
        let found = add_up(add_up(self.shifts, self.reach(norm, members)), self.off(members));
        if found.is_nan() { f64::INFINITY } else { found }
    }
}

/// [`Sums`] of every row of a form.
pub struct RowSums {
    pub shifts: Vec<f64>,
    pub shift_sizes: Vec<f64>,
    pub absolute: Vec<f64>,
    pub squares: Vec<f64>,
    pub missed: Vec<f64>,
}

impl RowSums {
    pub fn new(rows: usize) -> Self {
        let [shifts, shift_sizes, absolute, squares, missed] = std::array::from_fn(|_| vec![0.0; rows]);
        Self { shifts, shift_sizes, absolute, squares, missed }
    }

    pub fn at(&self, i: usize) -> Sums {
        let Self { shifts, shift_sizes, absolute, squares, missed } = self;
        Sums {
            shifts: shifts[i],
            shift_sizes: shift_sizes[i],
            absolute: absolute[i],
            squares: squares[i],
            missed: missed[i],
        }
    }
}

vectorised! {
    /// Adds the entry of each row for one member, as [`Sums::add`] does; where it is 0, nothing but a little of what is missed.
    pub fn add_column<'a>(sums: &'a mut RowSums, column: &'a [f64], member: &'a Member) {
        let m = column.len();
        let RowSums { shifts, shift_sizes, absolute, squares, missed } = sums;
        let (shifts, shift_sizes, absolute) = (&mut shifts[..m], &mut shift_sizes[..m], &mut absolute[..m]);
        let (squares, missed) = (&mut squares[..m], &mut missed[..m]);
        for i in 0..m {
            let mut one = Sums {
                shifts: shifts[i],
                shift_sizes: shift_sizes[i],
                absolute: absolute[i],
                squares: squares[i],
                missed: missed[i],
            };
            one.add(column[i], member);
            (shifts[i], shift_sizes[i], absolute[i]) = (one.shifts, one.shift_sizes, one.absolute);
            (squares[i], missed[i]) = (one.squares, one.missed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next number in [0, 1) of a sequence.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(*state >> 33).unwrap_or(0)) / f64::from(1_u32 << 31)
    }

    #[test]
    fn what_a_weight_rounds_is_in_the_rest() {
        let mut state = 5_u64;
        let mut random = || random(&mut state) + 1e-12;
        for power in [0, -300, 290] {
            for _ in 0..200 {
                let scale = 10_f64.powi(power);
                let (shift, size, kappa, weight) =
                    (scale * (random() - 0.5), scale * random(), random(), 8.0 * random());
                let plain = Member { number: 0, row: 0, shift, size, kappa, reach: 1.5 * scale, about: 0.0, rest: 0.0 };
                let member = plain.weighted(weight).expect("ordinary numbers");
                // What fused products leave is what rounding took away.
                let lost = weight.mul_add(shift, -member.shift).abs() + weight.mul_add(size, -member.size).abs();
                assert!(member.rest >= lost && member.kappa >= weight * kappa && member.reach >= weight * plain.reach);
                assert!(member.rest <= 1e-14 * scale + 1e-250, "{member:?}");
            }
        }
        let plain = Member { number: 0, row: 0, shift: 0.0, size: 1.0, kappa: 0.5, reach: 1.0, about: 0.0, rest: 0.0 };
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320].iter().all(|&odd| plain.weighted(odd).is_none()));
    }

    #[test]
    fn a_bound_covers_what_own_generators_give() {
        let mut state = 7_u64;
        let mut random = || 2.0 * random(&mut state) - 1.0;
        for count in [1, 2, 5] {
            for _ in 0..500 {
                let (mut sums, mut given, mut squares) = (Sums::default(), 0.0, 0.0);
                for row in 0..count {
                    let (shift, size, generator, entry) = (random(), random(), random(), random());
                    let t: f64 = shift + size * generator;
                    sums.add(
                        entry,
                        &Member { number: row, row, shift, size, kappa: 1.0, reach: t.abs(), about: 0.0, rest: 0.0 },
                    );
                    (given, squares) = (given + entry * generator, squares + t * t);
                }
                let bound = sums.upper(squares.sqrt() * (1.0 + 1e-12), count);
                assert!(given <= bound + 1e-12 * bound.abs(), "{given} is above {bound}");
            }
        }
    }
}
