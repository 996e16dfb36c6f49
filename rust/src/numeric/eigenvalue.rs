//! Upper bounds of the largest eigenvalue of a symmetric matrix, by a factorisation of Cholesky.
//!
//! c I - G is positive semidefinite if and only if no eigenvalue of G is above c. The factorisation of a matrix A (n, n) in floats
//! that comes to its end, with positive pivots, gives L L^T = A + E with |E| <= gamma(n + 1) |L| |L|^T entry by entry, in
//! whatever order sums are taken (Higham, "Accuracy and Stability of Numerical Algorithms", theorem 10.3). The rows of L are no longer than
//! the roots of a_ii / (1 - gamma(n + 1)), so that |E|_2 <= |L|_F^2 gamma(n + 1) <= gamma(n + 1) / (1 - gamma(n + 1)) tr A, and
//! since L L^T has no negative eigenvalue, none of A is below minus that (Rump, "Verification of positive definiteness", BIT
//! 46, 2006). With A = c I - G as rounded, whose diagonal is off by U a_ii at most, no eigenvalue of G is above
//!     c + gamma(2 n + 8) tr A,
//! and what underflows: less than 4 n + 4 times in an entry, each time by `TINY` times 1 or a pivot.
//!
//! The c that is tried comes from a power iteration and carries no soundness.

use super::pair_sums::dot;
use super::round::{TINY, add_up, gamma, inflate};
use super::vectorised::vectorised;

/// The most steps of the power iteration, which ends when a step changes its result by less than this share.
const STEPS: usize = 40;
const SETTLED: f64 = 1e-5;

/// How far above its result c is tried, as a share of it: the iteration is mostly within a part of a thousand, from below.
const MARGINS: [f64; 3] = [1e-3, 1e-2, 5e-2];

/// An upper bound of the largest eigenvalue of the symmetric matrix with this lower triangle, column-major, of entries that are
/// neither very large nor very small. `None` where no factorisation succeeds.
#[must_use]
pub fn largest_eigenvalue(lower: &[f64], n: usize) -> Option<f64> {
    let estimate = estimated(lower, n)?;
    MARGINS.iter().find_map(|margin| bounded_by(lower, n, estimate * (1.0 + margin)))
}

/// About the largest absolute eigenvalue, from below.
fn estimated(lower: &[f64], n: usize) -> Option<f64> {
    // The column of the largest entry of the diagonal is a good start.
    let first = (0..n).max_by(|i, j| lower[i * n + i].total_cmp(&lower[j * n + j]))?;
    let mut x: Vec<f64> = (0..n).map(|i| lower[first.min(i) * n + first.max(i)]).collect();
    let mut norm = 0.0;
    for _ in 0..STEPS {
        let unit = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        if !(unit > 0.0 && unit.is_finite()) {
            return None;
        }
        for v in &mut x {
            *v /= unit;
        }
        let mut y = vec![0.0; n];
        add_symmetric_product(&mut y, lower, &x);
        let before = norm;
        norm = y.iter().map(|v| v * v).sum::<f64>().sqrt();
        x = y;
        if (norm - before).abs() <= SETTLED * norm {
            break;
        }
    }
    Some(norm)
}

vectorised! {
    /// out += A x for the symmetric matrix with this lower triangle, column-major.
    fn add_symmetric_product<'a>(out: &'a mut [f64], lower: &'a [f64], x: &'a [f64]) {
        for (j, column) in lower.chunks_exact(x.len()).enumerate() {
            out[j] += column[j] * x[j] + dot(&column[j + 1..], &x[j + 1..]);
            let of_j = x[j];
            out[j + 1..].iter_mut().zip(&column[j + 1..]).for_each(|(o, a)| *o += a * of_j);
        }
    }
}

vectorised! {
    /// What stands left of the diagonal in row i = row.len() of the factor of c I - G, from the rows above it.
    fn left_of_diagonal<'a>(row: &'a mut [f64], above: &'a [f64], lower: &'a [f64], n: usize) {
        let i = row.len();
        for j in 0..i {
            let of_j = &above[j * n..=j * n + j];
            row[j] = (-lower[j * n + i] - dot(&row[..j], &of_j[..j])) / of_j[j];
        }
    }
}

/// An upper bound of the largest eigenvalue, little more than c; `None` if the factorisation of c I - G does not succeed.
#[must_use]
pub fn bounded_by(lower: &[f64], n: usize, c: f64) -> Option<f64> {
    // Row by row: only what is left of the diagonal is set.
    let mut factor = vec![0.0; n * n];
    let mut trace = 0.0;
    for i in 0..n {
        let (above, row) = factor.split_at_mut(i * n);
        left_of_diagonal(&mut row[..i], above, lower, n);
        let diagonal = c - lower[i * n + i];
        let pivot = diagonal - dot(&row[..i], &row[..i]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        row[i] = pivot.sqrt();
        trace += diagonal;
    }
    #[allow(clippy::cast_precision_loss)]
    let lost = TINY * (8.0 * (n as f64 + 1.0).powi(3)) * (1.0 + c);
    Some(add_up(c, inflate(gamma(2 * n + 8) * trace, n + 4) + lost))
}
