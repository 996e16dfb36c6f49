//! Squares of numbers in registers, turned: register r then holds what stood at place r of each.
//!
//! L registers of L numbers, with AVX2 and AVX-512. Two (f64) or four (f32) neighbours are interleaved within 128 bits, then
//! blocks of 128 bits change places. Numbers are moved and never changed. Written out as an array of arrays, the same goes
//! number by number through memory, which takes several times as long.

use super::registers::Registers;
use pulp::Simd;

/// Turns a square. Where it is not known how with these registers, nothing has changed, which is `false`.
#[inline(always)]
pub(super) fn turn<T: Registers, S: Simd>(simd: S, square: &mut [T::Register<S>]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use pulp::x86::{V3, V4};
        use std::any::Any;
        let (simd, wide): (&dyn Any, bool) = (&simd, size_of::<T>() == 8);
        if let Some(&simd) = simd.downcast_ref::<V4>() {
            return if wide { on_x86::turn_8(simd, square) } else { on_x86::turn_16(simd, square) };
        }
        if let Some(&simd) = simd.downcast_ref::<V3>() {
            return if wide { on_x86::turn_4(simd, square) } else { on_x86::turn_8_singles(simd, square) };
        }
    }
    let _ = (simd, square);
    false
}

#[cfg(target_arch = "x86_64")]
mod on_x86 {
    use pulp::bytemuck::{self, Pod};
    use pulp::x86::{V3, V4};
    use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};

    /// What was at the even and at the odd places of 128 bits, of four registers: block j of the i-th is block i of the j-th.
    #[inline(always)]
    fn blocks(simd: V4, [a, b, c, d]: [__m512d; 4]) -> [__m512d; 4] {
        let simd = simd.avx512f;
        let (even, odd) = (simd._mm512_shuffle_f64x2::<0x88>(a, b), simd._mm512_shuffle_f64x2::<0xdd>(a, b));
        let (even_2, odd_2) = (simd._mm512_shuffle_f64x2::<0x88>(c, d), simd._mm512_shuffle_f64x2::<0xdd>(c, d));
        [
            simd._mm512_shuffle_f64x2::<0x88>(even, even_2),
            simd._mm512_shuffle_f64x2::<0x88>(odd, odd_2),
            simd._mm512_shuffle_f64x2::<0xdd>(even, even_2),
            simd._mm512_shuffle_f64x2::<0xdd>(odd, odd_2),
        ]
    }

    #[inline(always)]
    pub fn turn_8<R: Pod>(simd: V4, square: &mut [R]) -> bool {
        let Ok([a, b, c, d, e, f, g, h]) = <&mut [R; 8]>::try_from(square) else { return false };
        let pair = |x: &R, y: &R| {
            let (x, y) = (bytemuck::cast::<R, __m512d>(*x), bytemuck::cast(*y));
            (simd.avx512f._mm512_unpacklo_pd(x, y), simd.avx512f._mm512_unpackhi_pd(x, y))
        };
        let pairs = [pair(a, b), pair(c, d), pair(e, f), pair(g, h)];
        [*a, *c, *e, *g] = blocks(simd, pairs.map(|pair| pair.0)).map(bytemuck::cast);
        [*b, *d, *f, *h] = blocks(simd, pairs.map(|pair| pair.1)).map(bytemuck::cast);
        true
    }

    #[inline(always)]
    pub fn turn_16<R: Pod>(simd: V4, square: &mut [R]) -> bool {
        let Ok(square) = <&mut [R; 16]>::try_from(square) else { return false };
        let f = simd.avx512f;
        let four = |i: usize| {
            let [x, y, z, w] = [i, i + 1, i + 2, i + 3].map(|i| bytemuck::cast::<R, __m512>(square[i]));
            let of = |x, y| {
                let wide = |v: __m512| bytemuck::cast::<__m512, __m512d>(v);
                (wide(f._mm512_unpacklo_ps(x, y)), wide(f._mm512_unpackhi_ps(x, y)))
            };
            let ((a, b), (c, d)) = (of(x, y), of(z, w));
            let low = (f._mm512_unpacklo_pd(a, c), f._mm512_unpackhi_pd(a, c));
            [low.0, low.1, f._mm512_unpacklo_pd(b, d), f._mm512_unpackhi_pd(b, d)]
        };
        let [a, b, c, d] = [four(0), four(4), four(8), four(12)];
        for k in 0..4 {
            let turned = blocks(simd, [a[k], b[k], c[k], d[k]]);
            for j in 0..4 {
                square[4 * j + k] = bytemuck::cast(turned[j]);
            }
        }
        true
    }

    #[inline(always)]
    pub fn turn_4<R: Pod>(simd: V3, square: &mut [R]) -> bool {
        let Ok([a, b, c, d]) = <&mut [R; 4]>::try_from(square) else { return false };
        let avx = simd.avx;
        let pair = |x: &R, y: &R| {
            let (x, y) = (bytemuck::cast::<R, __m256d>(*x), bytemuck::cast(*y));
            (avx._mm256_unpacklo_pd(x, y), avx._mm256_unpackhi_pd(x, y))
        };
        let (first, second) = (pair(a, b), pair(c, d));
        *a = bytemuck::cast(avx._mm256_permute2f128_pd::<0x20>(first.0, second.0));
        *b = bytemuck::cast(avx._mm256_permute2f128_pd::<0x20>(first.1, second.1));
        *c = bytemuck::cast(avx._mm256_permute2f128_pd::<0x31>(first.0, second.0));
        *d = bytemuck::cast(avx._mm256_permute2f128_pd::<0x31>(first.1, second.1));
        true
    }

    #[inline(always)]
    pub fn turn_8_singles<R: Pod>(simd: V3, square: &mut [R]) -> bool {
        let Ok(square) = <&mut [R; 8]>::try_from(square) else { return false };
        let avx = simd.avx;
        let four = |i: usize| {
            let [x, y, z, w] = [i, i + 1, i + 2, i + 3].map(|i| bytemuck::cast::<R, __m256>(square[i]));
            let of = |x, y| {
                let wide = |v: __m256| bytemuck::cast::<__m256, __m256d>(v);
                (wide(avx._mm256_unpacklo_ps(x, y)), wide(avx._mm256_unpackhi_ps(x, y)))
            };
            let ((a, b), (c, d)) = (of(x, y), of(z, w));
            let low = (avx._mm256_unpacklo_pd(a, c), avx._mm256_unpackhi_pd(a, c));
            [low.0, low.1, avx._mm256_unpacklo_pd(b, d), avx._mm256_unpackhi_pd(b, d)]
        };
        let (a, b) = (four(0), four(4));
        for k in 0..4 {
            square[k] = bytemuck::cast(avx._mm256_permute2f128_pd::<0x20>(a[k], b[k]));
            square[4 + k] = bytemuck::cast(avx._mm256_permute2f128_pd::<0x31>(a[k], b[k]));
        }
        true
    }
}
