//! Numbers that change between columns and registers: what stands at the same place of several columns becomes one
//! register, which holds one number of each column.
//!
//! Shapes: L columns of r numbers, one after the other, against r registers of L numbers. Nothing is rounded here, but where
//! numbers are added to columns.

use super::kernels::Accumulate;

/// The most numbers of a register whose columns are turned in squares; larger squares are no longer turned in registers.
const SQUARE: usize = 8;

#[inline(always)]
fn turned<T: Copy, const L: usize>(square: &[[T; L]; L]) -> [[T; L]; L] {
    std::array::from_fn(|c| std::array::from_fn(|r| square[r][c]))
}

/// Sets registers (r, L) to at most L columns (r, at least one). Those that are missing repeat the last one.
#[inline(always)]
pub fn interleave<T: Copy, const L: usize>(registers: &mut [[T; L]], columns: &[T], r: usize) {
    let last = (columns.len() / r).saturating_sub(1);
    let column: [&[T]; L] = std::array::from_fn(|c| &columns[c.min(last) * r..][..r]);
    let mut done = 0;
    if L <= SQUARE {
        for (i, square) in registers[..r].as_chunks_mut::<L>().0.iter_mut().enumerate() {
            *square = turned(&column.map(|column| std::array::from_fn(|k| column[i * L..(i + 1) * L][k])));
        }
        done = r / L * L;
    }
    for (i, register) in registers[..r].iter_mut().enumerate().skip(done) {
        *register = column.map(|column| column[i]);
    }
}

/// Sets columns (r, at most L) to the numbers of registers (r, L), or adds them.
#[inline(always)]
pub fn separate<T, const L: usize>(columns: &mut [T], registers: &[[T; L]], r: usize, accumulate: Accumulate)
where
    T: Copy + std::ops::AddAssign,
{
    let count = columns.len() / r;
    let mut done = 0;
    if L <= SQUARE {
        for (i, square) in registers[..r].as_chunks::<L>().0.iter().enumerate() {
            for (c, from) in turned(square).iter().enumerate().take(count) {
                put(&mut columns[c * r + i * L..][..L], from, accumulate);
            }
        }
        done = r / L * L;
    }
    for (c, column) in columns.chunks_exact_mut(r).enumerate() {
        for (value, register) in column.iter_mut().zip(&registers[..r]).skip(done) {
            put(std::slice::from_mut(value), &register[c..=c], accumulate);
        }
    }
}

#[inline(always)]
fn put<T: Copy + std::ops::AddAssign>(out: &mut [T], from: &[T], accumulate: Accumulate) {
    match accumulate {
        Accumulate::Replace => out.copy_from_slice(from),
        Accumulate::Add => out.iter_mut().zip(from).for_each(|(o, v)| *o += *v),
    }
}
