//! From multipliers to a bound: weak duality of linear programs, with the rounding counted.
//!
//! On every input of the box where a guard holds, with the region's constraints A x <= b, for lam, mu >= 0 and any nu:
//!     V <= V + sum_l lam_l guard_l + sum_o nu_o (f1_o - f2_o - D_o) + sum_q mu_q (b_q - A_q x),
//! since what is added is non-negative or zero there. The right side is a functional of (f1, f2, D) and the input
//! generators, so an upper bound over the generators bounds V. Nothing depends on where the multipliers come from; with
//! V = 0 a negative bound shows that guard and region exclude each other.

use super::RegionRow;
use crate::domain::{LinearFunctional, Output, Quantity, output::GeneratorRow};
use crate::numeric::round::{TINY, gamma, inflate, mul_up};
use crate::property::{Guard, Obligation, Property, Violation};
use serde::{Deserialize, Serialize};

/// The multipliers of one obligation. They give a valid bound on every box.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Multipliers {
    /// lam, for every row of the guard.
    pub guard: Vec<f64>,
    /// nu, for the link of every output.
    pub link: Vec<f64>,
    /// mu, for every constraint of the region.
    pub region: Vec<f64>,
}

impl Multipliers {
    /// Whether these are finite numbers of the right signs, one for each row of every kind. Others must not be used for
    /// a proof.
    #[must_use]
    pub fn fit(&self, guard: usize, link: usize, region: usize) -> bool {
        let positive = |v: &[f64], size: usize| v.len() == size && v.iter().all(|x| x.is_finite() && *x >= 0.0);
        let any = self.link.len() == link && self.link.iter().all(|x| x.is_finite());
        positive(&self.guard, guard) && positive(&self.region, region) && any
    }

    /// The multipliers that the duals y of the rows of [`super::program`] stand for, with their signs enforced; `None`
    /// if a number is missing.
    #[must_use]
    pub fn from_duals(y: &[f64], guard_rows: usize, outputs: usize) -> Option<Self> {
        if y.len() < guard_rows + outputs || !y.iter().all(|v| v.is_finite()) {
            return None;
        }
        let (guard, rest) = y.split_at(guard_rows);
        let (link, region) = rest.split_at(outputs);
        Some(Self {
            guard: guard.iter().map(|v| (-v).max(0.0)).collect(),
            link: link.iter().map(|v| -v).collect(),
            region: region.iter().map(|v| v.max(0.0)).collect(),
        })
    }
}

/// Buffers for [`bound`].
#[derive(Debug, Default)]
pub struct Scratch {
    row: GeneratorRow,
    /// For each quantity (f1, f2, D) and output: the coefficient, and the absolute sum of its terms.
    coefficients: [Vec<(f64, f64)>; 3],
}

impl Scratch {
    /// The violation of the last bound, with everything that the multipliers add to it, as one row.
    #[must_use]
    pub fn row(&self) -> &GeneratorRow {
        &self.row
    }
}

impl Property {
    /// The certified bound of obligation `o` by these multipliers; infinite if its violation is not linear.
    pub fn certified(
        &self,
        o: usize,
        output: &Output<'_>,
        region: &[RegionRow],
        multipliers: &Multipliers,
        scratch: &mut Scratch,
    ) -> f64 {
        let Obligation { violation: Violation::Linear { equivalents, .. }, guard } = &self.obligations[o] else {
            return f64::INFINITY;
        };
        bound(output, &equivalents[0], guard.map(|g| &self.guards[g]), region, multipliers, scratch)
    }
}

/// Roundings of a coefficient beyond one sum for each of the rows that join it: its product with a multiplier, and one
/// to spare.
const COEFFICIENT_EXTRA: usize = 2;

/// Units (of 2^-52, two roundoffs) of a constraint's slack times its multiplier that the product can be off by: half a
/// unit, the others are spare.
const SLACK_UNITS: f64 = 4.0;

/// Roundings in the error of a row of this number of generators and constraints, as it is computed: for each constraint
/// at most four sums and products for every generator, a handful for the outputs, and the sum of both. Eight for each,
/// and 64, cover them.
fn error_roundings(generators: usize, constraints: usize) -> usize {
    64 + 8 * generators * (1 + constraints)
}

/// An upper bound of the violation `objective` on the box, under guard and region, by these multipliers. NaN if
/// anything overflowed.
pub fn bound(
    output: &Output<'_>,
    objective: &LinearFunctional,
    guard: Option<&Guard>,
    region: &[RegionRow],
    multipliers: &Multipliers,
    scratch: &mut Scratch,
) -> f64 {
    for c in &mut scratch.coefficients {
        c.clear();
        c.resize(output.outputs(), (0.0, 0.0));
    }
    let Combination { constant, magnitude, rows } = combine(objective, guard, multipliers, &mut scratch.coefficients);
    let mut err = gamma(rows + COEFFICIENT_EXTRA) * magnitude + f64::MIN_POSITIVE;
    err += coefficient_error(output, rows, &scratch.coefficients);
    let all = QUANTITIES
        .iter()
        .zip(&scratch.coefficients)
        .flat_map(|(&quantity, column)| column.iter().enumerate().map(move |(o, &(c, _))| (quantity, o, c)));
    output.row(all, constant, &mut scratch.row);
    err += add_region(&mut scratch.row, region, &multipliers.region);
    scratch.row.err = inflate(scratch.row.err + err, error_roundings(scratch.row.generators.len(), region.len()));
    scratch.row.upper()
}

const QUANTITIES: [Quantity; 3] = [Quantity::First, Quantity::Second, Quantity::Difference];

/// What multipliers make of a violation beside its coefficients.
struct Combination {
    constant: f64,
    /// The absolute sum of the terms of the constant.
    magnitude: f64,
    /// Rows that join a coefficient, and one to spare.
    rows: usize,
}

/// The violation with the rows of the guard and the links, each times its multiplier. Coefficients begin at 0.
fn combine(
    objective: &LinearFunctional,
    guard: Option<&Guard>,
    multipliers: &Multipliers,
    coefficients: &mut [Vec<(f64, f64)>; 3],
) -> Combination {
    let mut sum = Combination { constant: objective.constant, magnitude: objective.constant.abs(), rows: 2 };
    let mut add = |quantity: Quantity, o: usize, c: f64| {
        let slot = &mut coefficients[quantity as usize][o];
        slot.0 += c;
        slot.1 += c.abs();
    };
    for &(quantity, o, c) in &objective.terms {
        add(quantity, o, c);
    }
    for (row, &lam) in guard.iter().flat_map(|g| &g.rows).zip(&multipliers.guard) {
        if lam > 0.0 {
            sum.rows += 1;
            for &(quantity, o, c) in &row.terms {
                add(quantity, o, lam * c);
            }
            sum.constant += lam * row.constant;
            sum.magnitude += (lam * row.constant).abs();
        }
    }
    for (o, &nu) in multipliers.link.iter().enumerate() {
        if nu != 0.0 {
            sum.rows += 1;
            add(Quantity::First, o, nu);
            add(Quantity::Second, o, -nu);
            add(Quantity::Difference, o, -nu);
        }
    }
    sum
}

/// How far the combination of outputs may be from the one with exact coefficients: a rounded coefficient differs from
/// the exact combination of multipliers by at most a share of its terms, times the size of the output.
fn coefficient_error(output: &Output<'_>, rows: usize, coefficients: &[Vec<(f64, f64)>; 3]) -> f64 {
    let rounding = gamma(rows + COEFFICIENT_EXTRA);
    #[allow(clippy::cast_precision_loss)]
    let underflow = TINY * (rows + COEFFICIENT_EXTRA) as f64;
    let layer = output.layer();
    let mut err = 0.0;
    for (quantity, column) in QUANTITIES.iter().zip(coefficients) {
        let (extent, centre) = match quantity {
            Quantity::First => (&layer.extent1, layer.z1.column(0)),
            Quantity::Second => (&layer.extent2, layer.z2.column(0)),
            Quantity::Difference => (&layer.extent_d, layer.d_common.column(0)),
        };
        for (o, &(_, total)) in column.iter().enumerate() {
            if total != 0.0 {
                err += (rounding * total + underflow) * (extent.magnitude[o] + centre[o].abs() + extent.err[o] + 1.0);
            }
        }
    }
    err
}

/// Adds the constraints of the region to a row, each times its multiplier. Returns what that rounds.
fn add_region(row: &mut GeneratorRow, region: &[RegionRow], multipliers: &[f64]) -> f64 {
    let mut err = 0.0;
    for (r, &mu) in region.iter().zip(multipliers) {
        if mu > 0.0 {
            err += mul_up(mu, r.slack.abs()) * SLACK_UNITS * f64::EPSILON;
            row.centre += mu * r.slack;
            err += f64::EPSILON * row.centre.abs();
            for (g, a) in row.generators.iter_mut().zip(&r.generators) {
                *g -= mu * a;
                err += f64::EPSILON * (g.abs() + (mu * a).abs());
            }
        }
    }
    err
}
