//! Structured products ([`super::windows`]) in which every group is one row: O = P = 1, so that each row has weights of its own
//! and nothing is shared. Each entry is read where its index points and summed up in the order of taps.

use super::kernels::Accumulate;
use super::real::Real;
use super::vectorised::vectorised;
use super::window_index::Windows;

impl Windows<'_> {
    /// Whether every group is one row.
    #[inline(always)]
    pub(super) fn has_single_rows(&self) -> bool {
        self.outputs == 1 && self.positions == 1
    }
}

vectorised! {
    /// Sets out (rows, n) to the product with a form (m, n), or adds it.
    pub(super) fn product_by_rows<'a, T: Real>(
        windows: Windows<'a>,
        out: &'a mut [T],
        weight: &'a [T],
        form: &'a [T],
        m: usize,
        accumulate: Accumulate,
    ) {
        let (taps, replaces) = (windows.taps, accumulate == Accumulate::Replace);
        for (out, form) in out.chunks_exact_mut(windows.groups).zip(form.chunks_exact(m)) {
            let read = |place: u32| form.get(place as usize).copied().unwrap_or(T::ZERO);
            if taps == 1 {
                for ((out, &w), &place) in out.iter_mut().zip(weight).zip(windows.index) {
                    let value = w * read(place);
                    *out = if replaces { value } else { *out + value };
                }
                continue;
            }
            let rows = weight.chunks_exact(taps).zip(windows.index.chunks_exact(taps));
            for (out, (weights, places)) in out.iter_mut().zip(rows) {
                let sum = weights.iter().zip(places).fold(T::ZERO, |sum, (&w, &place)| sum + w * read(place));
                *out = if replaces { sum } else { *out + sum };
            }
        }
    }
}

vectorised! {
    /// Sets out (m, n) to the product of the transposed matrix with coefficients (rows, n), or adds it.
    pub(super) fn transposed_by_rows<'a, T: Real>(
        windows: Windows<'a>,
        out: &'a mut [T],
        weight: &'a [T],
        coefficients: &'a [T],
        m: usize,
        accumulate: Accumulate,
    ) {
        let taps = windows.taps;
        for (out, coefficients) in out.chunks_exact_mut(m).zip(coefficients.chunks_exact(windows.groups)) {
            if accumulate == Accumulate::Replace {
                out.fill(T::ZERO);
            }
            if taps == 1 {
                for ((&coefficient, &w), &place) in coefficients.iter().zip(weight).zip(windows.index) {
                    if let Some(to) = out.get_mut(place as usize) {
                        *to += w * coefficient;
                    }
                }
                continue;
            }
            let rows = weight.chunks_exact(taps).zip(windows.index.chunks_exact(taps));
            for (&coefficient, (weights, places)) in coefficients.iter().zip(rows) {
                for (&w, &place) in weights.iter().zip(places) {
                    if let Some(to) = out.get_mut(place as usize) {
                        *to += w * coefficient;
                    }
                }
            }
        }
    }
}
