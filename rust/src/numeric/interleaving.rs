//! Numbers that change between columns and registers: what stands at the same place of several columns becomes one
//! register, which holds one number of each column.
//!
//! Shapes: L columns of r numbers, one after the other, against r registers of L numbers. Squares of L by L are turned in
//! registers ([`super::turning`]), what is left over at the ends of columns number by number. Nothing is rounded here, but
//! where numbers are added to columns.

use super::kernels::Accumulate;
use super::real::Real;
use super::turning::turn;
use pulp::Simd;

/// Sets registers (r, L) to at most L columns (r, at least one). Those that are missing repeat the last one. Of L numbers one
/// after the other of which none is `read`, nothing is set.
#[inline(always)]
pub fn interleave<T: Real, S: Simd, const L: usize>(
    simd: S,
    registers: &mut [T],
    columns: &[T],
    r: usize,
    read: impl Fn(usize) -> bool,
) {
    let last = (columns.len() / r).saturating_sub(1);
    let column: [&[T]; L] = std::array::from_fn(|c| &columns[c.min(last) * r..][..r]);
    let whole = r / L * L;
    for (i, to) in registers[..whole * L].chunks_exact_mut(L * L).enumerate() {
        if !read(i) {
            continue;
        }
        let at = i * L;
        let mut square = [T::everywhere(simd, T::ZERO); L];
        for c in 0..L {
            square[c] = T::registers::<S>(&column[c][at..at + L])[0];
        }
        if turn::<T, S>(simd, &mut square) {
            T::registers_mut::<S>(to).copy_from_slice(&square);
        } else {
            number_by_number(to, &column, at);
        }
    }
    number_by_number(&mut registers[whole * L..r * L], &column, whole);
}

/// Sets registers to what stands in L columns from a place on.
#[inline(always)]
fn number_by_number<T: Copy, const L: usize>(registers: &mut [T], column: &[&[T]; L], at: usize) {
    for (i, register) in registers.chunks_exact_mut(L).enumerate() {
        for c in 0..L {
            register[c] = column[c][at + i];
        }
    }
}

/// Sets columns (r, at most L) to the numbers of registers (r, L), or adds them. Of L registers one after the other that are not
/// `written`, nothing is read: they stand for zeros.
#[inline(always)]
pub fn separate<T: Real, S: Simd, const L: usize>(
    simd: S,
    columns: &mut [T],
    registers: &[T],
    r: usize,
    accumulate: Accumulate,
    written: impl Fn(usize) -> bool,
) {
    let whole = r / L * L;
    for (i, from) in registers[..whole * L].chunks_exact(L * L).enumerate() {
        let mut square = [T::everywhere(simd, T::ZERO); L];
        let at = i * L;
        if written(i) {
            square.copy_from_slice(T::registers::<S>(from));
            if !turn::<T, S>(simd, &mut square) {
                to_columns::<T, L>(columns, from, (r, at), accumulate);
                continue;
            }
        } else if accumulate == Accumulate::Add {
            continue;
        }
        for (column, value) in columns.chunks_exact_mut(r).zip(square) {
            let to = &mut T::registers_mut::<S>(&mut column[at..at + L])[0];
            *to = if accumulate == Accumulate::Add { T::sum_of(simd, *to, value) } else { value };
        }
    }
    to_columns::<T, L>(columns, &registers[whole * L..r * L], (r, whole), accumulate);
}

/// Sets what stands in columns (r) from a place on to registers, or adds it.
#[inline(always)]
fn to_columns<T: Real, const L: usize>(
    columns: &mut [T],
    registers: &[T],
    (r, at): (usize, usize),
    accumulate: Accumulate,
) {
    for (c, column) in columns.chunks_exact_mut(r).enumerate() {
        for (value, register) in column[at..].iter_mut().zip(registers.chunks_exact(L)) {
            match accumulate {
                Accumulate::Replace => *value = register[c],
                Accumulate::Add => *value += register[c],
            }
        }
    }
}
