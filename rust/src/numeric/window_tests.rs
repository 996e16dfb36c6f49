//! Structured products ([`super::windows`] and the ways of computing them) against what they are by definition, in whole
//! numbers.

use super::kernels::Accumulate;
use super::real::Real;
use super::window_columns::Columns;
use super::window_lanes::Lanes;
use super::window_product::{Product, Way};
use super::windows::{NONE, Panels, Windows};

/// Whole numbers in [-4, 4], whose sums no float rounds.
fn next(state: &mut u32) -> i32 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    i32::try_from(state.wrapping_shr(16) % 9).unwrap_or(0) - 4
}

/// The product and the transposed one, by what they are, against both ways of the engine and against AVX2.
fn compare<T: Real>((groups, outputs, positions, taps, m, n): (usize, usize, usize, usize, usize, usize)) {
    let mut state = u32::try_from(groups + 7 * outputs + 31 * positions + 101 * taps + 1009 * n).unwrap_or(1);
    let mut numbers = |n: usize| (0..n).map(|_| T::of(f64::from(next(&mut state)))).collect::<Vec<_>>();
    let (weight, rows) = (numbers(groups * taps * outputs), groups * outputs * positions);
    let (form, coefficients, before) = (numbers(m * n), numbers(rows * n), numbers(m.max(rows) * n));
    let size = u32::try_from(m).unwrap_or(0);
    let index = (0..u32::try_from(groups * taps * positions).unwrap_or(0)).map(|i| i * 7 % (size + 2));
    let index: Vec<u32> = index.map(|place| if place < size { place } else { NONE }).collect();
    let windows = Windows { groups, outputs, positions, taps, index: &index };
    for accumulate in [Accumulate::Replace, Accumulate::Add] {
        let begun = |size: usize| {
            if accumulate == Accumulate::Add { before[..size].to_vec() } else { vec![T::ZERO; size] }
        };
        let (mut ahead, mut back) = (begun(rows * n), begun(m * n));
        for (at, &place) in index.iter().enumerate().filter(|&(_, &place)| place != NONE) {
            let (tap, position, place) = (at / positions, at % positions, place as usize);
            for o in 0..outputs {
                let (w, row) = (weight[tap * outputs + o], (tap / taps * outputs + o) * positions + position);
                for c in 0..n {
                    ahead[c * rows + row] += w * form[c * m + place];
                    back[c * m + place] += w * coefficients[c * rows + row];
                }
            }
        }
        let (mut panels, mut out) = (Panels::default(), before.clone());
        windows.product(&mut out, &weight, &form, (m, n), accumulate, &mut panels);
        assert_eq!(out[..rows * n], ahead, "{windows:?}, {n} columns");
        out.clone_from(&before);
        windows.transposed_product(&mut out, &weight, &coefficients, (m, n), accumulate, &mut panels);
        assert_eq!(out[..m * n], back, "{windows:?} transposed, {n} columns");
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = pulp::x86::V3::try_new() {
            let about = (windows, &weight[..], (m, n), accumulate);
            with::<T, Lanes<T>, _, false>(avx2, about, &form, &before, &ahead);
            with::<T, Lanes<T>, _, true>(avx2, about, &coefficients, &before, &back);
            assert_eq!(with::<T, Columns<T>, _, false>(avx2, about, &form, &before, &ahead), n);
            assert_eq!(with::<T, Columns<T>, _, true>(avx2, about, &coefficients, &before, &back), n);
        }
    }
}

/// One of the ways with registers of one kind, against what is expected, in place of numbers that were there before.
#[cfg(target_arch = "x86_64")]
fn with<T: Real, W: Way<T> + Default, S: pulp::Simd, const BACKWARDS: bool>(
    simd: S,
    (windows, weight, shape, accumulate): (Windows<'_>, &[T], (usize, usize), Accumulate),
    form: &[T],
    before: &[T],
    expected: &[T],
) -> usize {
    let (mut out, space) = (before.to_vec(), &mut W::default());
    let ran = Product::<T, W, BACKWARDS> { windows, weight, out: &mut out, form, shape, accumulate, space };
    let columns = simd.vectorize(ran);
    let done = columns * expected.len() / shape.1;
    assert_eq!(out[..done], expected[..done], "{simd:?} {windows:?}, {BACKWARDS}");
    columns
}

#[test]
fn products_of_windows_are_what_they_are_by_definition() {
    for n in [1, 3, 5, 8, 13, 19, 32] {
        for (groups, outputs, positions) in [(1, 1, 1), (1, 13, 7), (3, 1, 4), (11, 1, 1), (2, 6, 3), (1, 16, 5)] {
            for taps in [1, 3, 11] {
                // Numbers that are read often, and more of them than are read.
                for m in [9, 3 * groups * positions * taps + 20] {
                    compare::<f64>((groups, outputs, positions, taps, m, n));
                    compare::<f32>((groups, outputs, positions, taps, m, n));
                }
            }
        }
    }
}
