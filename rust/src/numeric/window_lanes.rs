//! Structured products ([`super::windows`]) of many columns at once, one column in each lane of a register.
//!
//! With columns in lanes a tap reads one whole register wherever its index points, so that nothing is gathered number
//! by number: a panel of columns is turned into registers once, and every window reads it there. A block of positions
//! and outputs (backwards, of positions and taps) is summed up in registers over all taps (outputs), and the sums are
//! turned into columns again.
//!
//! Shapes as there: weights (O, K) of each group, an index (K, P), forms (m, n), results (G O P, n). Each entry of a
//! result is the sum of its products in some order, as there, so that the same bounds of rounding hold. A place that
//! reads nothing reads a register of zeros, behind all others; backwards it writes there.

use super::interleaving::{interleave, separate};
use super::real::Real;
use super::registers::unrolled;
use super::window_index::Windows;
use super::window_product::{POSITIONS, Product, Way, widest, width};
use pulp::Simd;

/// Space that is reused from product to product.
#[derive(Debug, Clone, Default)]
pub(super) struct Lanes<T> {
    read: Vec<T>,
    written: Vec<T>,
    /// The weights of each block side by side.
    weight: Vec<T>,
    /// Of numbers that few windows read, whether any of so many as fill the lanes is read at all.
    used: Vec<bool>,
}

impl<T: Real> Way<T> for Lanes<T> {
    /// Where there is no less to compute than to move.
    fn suits(windows: Windows<'_>, m: usize) -> bool {
        windows.products() >= m + windows.rows()
    }

    /// All columns but the last few, where these would leave most lanes empty.
    #[inline(always)]
    fn run<S: Simd, const L: usize, const BACKWARDS: bool>(simd: S, product: Product<'_, T, Self, BACKWARDS>) -> usize {
        let (windows, (m, n)) = (product.windows, product.shape);
        let columns = if 2 * (n % L) > L { n } else { n - n % L };
        let (read, written) = if BACKWARDS { (windows.rows(), m) } else { (m, windows.rows()) };
        if columns == 0 || read == 0 || written == 0 {
            return columns;
        }
        let (lanes, widest) = (product.space, widest::<S>());
        pack::<T, BACKWARDS>(&mut lanes.weight, product.weight, windows, widest);
        // What is read last is 0; what is written last belongs to nothing.
        lanes.read.resize((read + 1) * L, T::ZERO);
        lanes.read[read * L..].fill(T::ZERO);
        lanes.written.resize((written + 1) * L, T::ZERO);
        use_places(&mut lanes.used, windows.index, product.shape.0, L);
        let used = |i: usize| lanes.used.get(i).copied().unwrap_or(true);
        for first in (0..columns).step_by(L) {
            let count = L.min(columns - first);
            interleave::<T, S, L>(
                simd,
                &mut lanes.read,
                &product.form[first * read..(first + count) * read],
                read,
                |i| BACKWARDS || used(i),
            );
            if BACKWARDS {
                let blocks = lanes.written.chunks_mut(L * L).enumerate();
                blocks.filter(|(i, _)| used(*i)).for_each(|(_, block)| block.fill(T::ZERO));
            }
            let mut panel = Panel {
                simd,
                windows,
                widest,
                read: T::registers::<S>(&lanes.read),
                written: T::registers_mut::<S>(&mut lanes.written),
            };
            panel.product::<T, BACKWARDS>(&lanes.weight);
            let out = &mut product.out[first * written..(first + count) * written];
            separate::<T, S, L>(simd, out, &lanes.written, written, product.accumulate, |i| !BACKWARDS || used(i));
        }
        columns
    }
}

/// Of m numbers, which of those that are `lanes` one after the other the index names, where it names less than all; what is
/// left over at their end counts as named.
fn use_places(used: &mut Vec<bool>, index: &[u32], m: usize, lanes: usize) {
    used.clear();
    if index.len() < m {
        used.resize(m / lanes, false);
        for &place in index {
            if let Some(block) = used.get_mut(place as usize / lanes) {
                *block = true;
            }
        }
    }
}

/// Puts the weights of each block side by side: (block, taps, outputs), backwards (block, outputs, taps).
fn pack<T: Real, const BACKWARDS: bool>(packed: &mut Vec<T>, weight: &[T], windows: Windows<'_>, widest: usize) {
    let (o, k) = (windows.outputs, windows.taps);
    packed.clear();
    for small in weight[..windows.groups * k * o].chunks_exact(k * o) {
        let (n, mut at) = (if BACKWARDS { k } else { o }, 0);
        while at < n {
            let width = width(at, n, widest);
            if BACKWARDS {
                packed.extend((0..o).flat_map(|i| (at..at + width).map(move |tap| small[tap * o + i])));
            } else {
                packed.extend(small.chunks_exact(o).flat_map(|column| &column[at..at + width]));
            }
            at += width;
        }
    }
}

/// A panel of columns in registers.
struct Panel<'a, S: Simd, R> {
    simd: S,
    windows: Windows<'a>,
    widest: usize,
    read: &'a [R],
    written: &'a mut [R],
}

impl<S: Simd, R: Copy> Panel<'_, S, R> {
    #[inline(always)]
    fn product<T: Real<Register<S> = R>, const BACKWARDS: bool>(&mut self, packed: &[T]) {
        let (o, k) = (self.windows.outputs, self.windows.taps);
        let (n, summed) = if BACKWARDS { (k, o) } else { (o, k) };
        let mut from = 0;
        for g in 0..self.windows.groups {
            let mut at = 0;
            while at < n {
                let width = width(at, n, self.widest);
                let weight = &packed[from..from + width * summed];
                match width {
                    8 => self.positions::<T, BACKWARDS, 8>(weight, g, at),
                    4 => self.positions::<T, BACKWARDS, 4>(weight, g, at),
                    2 => self.positions::<T, BACKWARDS, 2>(weight, g, at),
                    _ => self.positions::<T, BACKWARDS, 1>(weight, g, at),
                }
                (from, at) = (from + width * summed, at + width);
            }
        }
    }

    /// The block of Q outputs or taps of group g that begins at `first`, at all positions.
    #[inline(always)]
    fn positions<T: Real<Register<S> = R>, const BACKWARDS: bool, const Q: usize>(
        &mut self,
        weight: &[T],
        g: usize,
        first: usize,
    ) {
        let positions = self.windows.positions;
        let whole = positions / POSITIONS * POSITIONS;
        for at in (0..whole).step_by(POSITIONS) {
            self.block::<T, BACKWARDS, POSITIONS, Q>(weight, (g, first, at));
        }
        for at in whole..positions {
            self.block::<T, BACKWARDS, 1, Q>(weight, (g, first, at));
        }
    }

    #[inline(always)]
    fn block<T: Real<Register<S> = R>, const BACKWARDS: bool, const N: usize, const Q: usize>(
        &mut self,
        weight: &[T],
        (g, first, at): (usize, usize, usize),
    ) {
        let (o, p, k) = (self.windows.outputs, self.windows.positions, self.windows.taps);
        let index = &self.windows.index[g * k * p..(g + 1) * k * p];
        let none = if BACKWARDS { self.written.len() } else { self.read.len() } - 1;
        let mut sums = [[T::everywhere(self.simd, T::ZERO); Q]; N];
        let read = if BACKWARDS { &self.read[g * o * p..] } else { self.read };
        for (j, weight) in weight.chunks_exact(Q).enumerate() {
            let values: [R; N] = if BACKWARDS {
                let values = &read[j * p + at..][..N];
                std::array::from_fn(|i| values[i])
            } else {
                let places = &index[j * p + at..][..N];
                std::array::from_fn(|i| read[(places[i] as usize).min(none)])
            };
            for q in 0..Q {
                let weight = T::everywhere(self.simd, weight[q]);
                for i in 0..N {
                    sums[i][q] = T::product_and_sum(self.simd, weight, values[i], sums[i][q]);
                }
            }
        }
        let base = if BACKWARDS { first * p + at } else { (g * o + first) * p + at };
        unrolled!(q below Q {
            if BACKWARDS {
                let places = &index[base + q * p..][..N];
                unrolled!(i below N {
                    let to = &mut self.written[(places[i] as usize).min(none)];
                    *to = T::sum_of(self.simd, *to, sums[i][q]);
                });
            } else {
                let to = &mut self.written[base + q * p..][..N];
                unrolled!(i below N {
                    to[i] = sums[i][q];
                });
            }
        });
    }
}
