//! Upper bounds of the spectral norm of a matrix, by products with itself.
//!
//! The square of the largest singular value of A is the largest eigenvalue of A^T A, which a factorisation bounds
//! ([`super::eigenvalue`]). Where that does not succeed it is bounded by powers: squaring a few times brings the Frobenius norm, which is between that value and sqrt(rank) times it, within a few per
//! cent (Gram iteration: Delattre, Barthélemy, Araujo, Allauzen, "Efficient bound of Lipschitz constant for
//! convolutional layers by Gram iteration", ICML 2023).
//!
//! # Rounding
//! Every product is computed in floats, and what its entries are off by is added to the bound: an entry of A^T A with n
//! terms is off by at most gamma(n) times the product of the lengths of two columns, so that the whole, or its lower triangle
//! taken for both, is off by at most gamma(n) |A|_F^2 in the Frobenius norm. Matrices are scaled by powers of two, which is exact but for underflow; the
//! largest entry is near 1 then, and what underflows is far below `TINY` times the number of entries.

use super::eigenvalue::largest_eigenvalue;
use super::kernels::{Accumulate, add_product, column_products, lower_square, transposed_product};
use super::round::{TINY, add_up, gamma, inflate, max_propagating_nan, mul_up};

/// Squarings: 2^5 times the exponent leaves rank^(1/64) of a matrix whose singular values are all alike, 10 % for 512.
const SQUARINGS: usize = 4;

/// Multiplications up to which a matrix is bounded at all: a tenth of a second or two. A step of 512 relaxed neurons takes
/// half of them.
pub const MOST_PRODUCTS: usize = 1 << 31;

/// About the spectral norm of a matrix (m, n), column-major: from below, by so many steps of a power iteration.
#[must_use]
pub fn about_norm(matrix: &[f64], (m, n): (usize, usize), steps: usize) -> f64 {
    let (mut x, mut y, mut norm) = (vec![1.0; n], vec![0.0; m], 0.0);
    for _ in 0..steps {
        let unit = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        if unit == 0.0 || !unit.is_finite() {
            return norm;
        }
        for v in &mut x {
            *v /= unit;
        }
        y.fill(0.0);
        add_product(&mut y, matrix, &x);
        norm = y.iter().map(|v| v * v).sum::<f64>().sqrt();
        column_products(&mut x, matrix, &y);
    }
    norm
}

/// An upper bound of the spectral norm of a matrix (m, n), column-major; `None` if it has too many entries. Not a number, or
/// infinite, where an entry is. The matrix is scaled.
#[must_use]
pub fn spectral_norm(matrix: &mut [f64], (m, n): (usize, usize)) -> Option<f64> {
    if m == 0 || n == 0 {
        return Some(0.0);
    }
    let products = m.checked_mul(n)?.checked_mul(n)?.checked_add(SQUARINGS.checked_mul(n.checked_pow(3)?)?)?;
    if products > MOST_PRODUCTS {
        return None;
    }
    let mut square_before;
    let mut current = &mut matrix[..m * n];
    let mut rows = m;
    // Squares of the norms of what was computed so far: |A|^2 <= scale^2 (|A'^T A'| + off).
    let mut levels = Vec::with_capacity(SQUARINGS + 1);
    for _ in 0..=SQUARINGS {
        let largest = current.iter().fold(0.0, |most: f64, v| max_propagating_nan(most, v.abs()));
        if largest == 0.0 {
            return Some(unwind(0.0, &levels));
        }
        let scale = power_of_two(largest)?;
        for v in &mut *current {
            *v /= scale;
        }
        let lost = count(rows * n) * TINY;
        let frobenius = add_up(squares(current.iter().copied()), lost);
        levels.push((scale, inflate(gamma(rows + 2) * frobenius + lost, 4)));
        let mut square = vec![0.0; n * n];
        if levels.len() == 1 {
            lower_square(&mut square, current, (rows, n));
            if let Some(found) = largest_eigenvalue(&square, n) {
                return Some(unwind(found, &levels));
            }
        }
        transposed_product(&mut square, current, current, (rows, n, n), Accumulate::Replace);
        square_before = square;
        (current, rows) = (&mut square_before, n);
    }
    Some(unwind(length(current.iter().copied()), &levels))
}

/// The bound of the first matrix from one of the last product.
fn unwind(last: f64, levels: &[(f64, f64)]) -> f64 {
    levels.iter().rev().fold(last, |bound, &(scale, off)| mul_up(scale, inflate(add_up(bound, off).sqrt(), 2)))
}

/// An upper bound of the length of a vector.
pub fn length(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    inflate(squares(values).sqrt(), 2)
}

/// An upper bound of the sum of squares.
fn squares(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len();
    inflate(values.map(|v| v * v).sum::<f64>(), n + 1) + count(n) * TINY
}

#[allow(clippy::cast_precision_loss)]
fn count(number: usize) -> f64 {
    number as f64
}

/// The power of two below a positive number; `None` where it, or its inverse, is none of the normal floats.
fn power_of_two(value: f64) -> Option<f64> {
    let power = f64::from_bits(value.to_bits() & 0x7ff0_0000_0000_0000);
    (power.is_finite() && power >= f64::MIN_POSITIVE).then_some(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A x for a column-major matrix.
    fn image(matrix: &[f64], (m, n): (usize, usize), x: &[f64]) -> Vec<f64> {
        (0..m).map(|i| (0..n).map(|j| matrix[j * m + i] * x[j]).sum()).collect()
    }

    fn length(x: &[f64]) -> f64 {
        x.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    #[test]
    fn no_vector_is_stretched_by_more_and_some_by_nearly_as_much() {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(state >> 33).unwrap_or(0)) / f64::from(1_u32 << 31) - 0.5
        };
        for (m, n, size) in
            [(1, 1, 1.0), (3, 5, 1e-200), (40, 17, 1e-7), (9, 64, 1e180), (30, 30, 1e-240), (4, 6, 1e-290)]
        {
            let matrix: Vec<f64> = (0..m * n).map(|_| size * random()).collect();
            let bound = spectral_norm(&mut matrix.clone(), (m, n)).expect("few entries");
            let (mut x, mut stretched) = ((0..n).map(|_| random()).collect::<Vec<_>>(), 0.0_f64);
            for _ in 0..200 {
                let unit = length(&x);
                for v in &mut x {
                    *v /= unit;
                }
                let y: Vec<f64> = image(&matrix, (m, n), &x).iter().map(|v| v / size).collect();
                stretched = stretched.max(length(&y));
                let scaled: Vec<f64> = matrix.iter().map(|v| v / size).collect();
                x = (0..n).map(|j| (0..m).map(|i| scaled[j * m + i] * y[i]).sum()).collect();
            }
            assert!(stretched * (1.0 - 1e-12) <= bound / size, "{m} {n} {size}: {stretched} {bound}");
            // Below that what stands for underflow is larger than all else.
            assert!(size < 1e-260 || bound / size <= 1.15 * stretched, "{m} {n} {size}: {stretched} {bound}");
        }
    }

    #[test]
    fn what_is_no_number_bounds_nothing() {
        assert_eq!(spectral_norm(&mut [0.0; 6], (2, 3)), Some(0.0));
        assert_eq!(spectral_norm(&mut [], (0, 3)), Some(0.0));
        for odd in [f64::NAN, f64::INFINITY] {
            assert!(spectral_norm(&mut [1.0, odd], (1, 2)).is_none_or(|bound| !bound.is_finite()));
        }
        assert_eq!(spectral_norm(&mut [1.0; 4], (1, 4)).map(|bound| (2.0..2.002).contains(&bound)), Some(true));
        assert_eq!(spectral_norm(&mut [0.0; 2048], (1, 2048)), None);
    }
}
