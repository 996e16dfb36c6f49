//! Bounds of the largest eigenvalue by factorisations: of matrices whose eigenvalues are known, none is below it, and those that
//! are found are near to it.

use eqspec::numeric::eigenvalue::{bounded_by, largest_eigenvalue};

/// A matrix with these eigenvalues along orthogonal directions: (I - 2 u u^T) diag (I - 2 u u^T) for |u| = 1.
fn turned(eigenvalues: &[f64]) -> Vec<f64> {
    let n = eigenvalues.len();
    let u = |i: usize| {
        if n == 1 {
            0.0
        } else {
            (1.0 / f64::from(u32::try_from(n).unwrap())).sqrt() * if i.is_multiple_of(2) { 1.0 } else { -1.0 }
        }
    };
    let turn = |i: usize, k: usize| f64::from(u8::from(i == k)) - 2.0 * u(i) * u(k);
    let entry = |i: usize, j: usize| (0..n).map(|k| turn(i, k) * eigenvalues[k] * turn(k, j)).sum();
    (0..n * n).map(|at| entry(at % n, at / n)).collect()
}

#[test]
fn nothing_below_the_largest_eigenvalue_is_a_bound_and_what_is_found_is_near_it() {
    for n in [1, 2, 3, 9, 40] {
        let spread: Vec<f64> = (0..n).map(|k| 3.0 / (1.0 + f64::from(u8::try_from(k).unwrap()))).collect();
        for eigenvalues in [spread, vec![3.0; n]] {
            let matrix = turned(&eigenvalues);
            for below in [2.999_999_999, 2.9, 1.0, 0.0, -1.0, f64::NAN] {
                assert_eq!(bounded_by(&matrix, n, below), None, "{n} {below}");
            }
            let bound = bounded_by(&matrix, n, 3.000_000_001).expect("it is above all");
            assert!((3.0..3.000_000_002).contains(&bound), "{n} {bound}");
            let found = largest_eigenvalue(&matrix, n).expect("a factorisation");
            assert!((3.0 - 1e-12..3.01).contains(&found), "{n} {found}");
        }
    }
}

#[test]
fn what_is_no_number_has_no_bound() {
    assert_eq!(largest_eigenvalue(&[f64::NAN], 1), None);
    assert_eq!(largest_eigenvalue(&[1.0, f64::INFINITY, 0.0, 1.0], 2), None);
    assert_eq!(largest_eigenvalue(&[0.0; 4], 2), None);
}
