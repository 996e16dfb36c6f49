//! Vector registers of either float, with the two operations that products need.

use pulp::Simd;
use pulp::bytemuck::Pod;

/// A float that registers hold several of.
pub trait Registers: Copy + Sized {
    /// A register of this machine.
    type Register<S: Simd>: Copy + Pod;
    /// Numbers as registers, without those at the end that fill none.
    fn registers<S: Simd>(values: &[Self]) -> &[Self::Register<S>];
    /// The same, to be written.
    fn registers_mut<S: Simd>(values: &mut [Self]) -> &mut [Self::Register<S>];
    /// A register that holds one number everywhere.
    fn everywhere<S: Simd>(simd: S, value: Self) -> Self::Register<S>;
    /// a b + c, with one rounding or with two.
    fn product_and_sum<S: Simd>(
        simd: S,
        a: Self::Register<S>,
        b: Self::Register<S>,
        c: Self::Register<S>,
    ) -> Self::Register<S>;
    /// a + b.
    fn sum_of<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
}

macro_rules! registers {
    ($float:ty, $registers:ident, $view:ident, $view_mut:ident, $everywhere:ident, $fused:ident, $sum:ident) => {
        impl Registers for $float {
            type Register<S: Simd> = S::$registers;
            #[inline(always)]
            fn registers<S: Simd>(values: &[Self]) -> &[S::$registers] {
                S::$view(values).0
            }
            #[inline(always)]
            fn registers_mut<S: Simd>(values: &mut [Self]) -> &mut [S::$registers] {
                S::$view_mut(values).0
            }
            #[inline(always)]
            fn everywhere<S: Simd>(simd: S, value: Self) -> S::$registers {
                simd.$everywhere(value)
            }
            #[inline(always)]
            fn product_and_sum<S: Simd>(
                simd: S,
                a: S::$registers,
                b: S::$registers,
                c: S::$registers,
            ) -> S::$registers {
                simd.$fused(a, b, c)
            }
            #[inline(always)]
            fn sum_of<S: Simd>(simd: S, a: S::$registers, b: S::$registers) -> S::$registers {
                simd.$sum(a, b)
            }
        }
    };
}

registers!(f64, f64s, as_simd_f64s, as_mut_simd_f64s, splat_f64s, mul_add_e_f64s, add_f64s);
registers!(f32, f32s, as_simd_f32s, as_mut_simd_f32s, splat_f32s, mul_add_e_f32s, add_f32s);

/// A loop over i below n, at most eight, written out: sums that a loop picks out do not stay in registers.
macro_rules! unrolled {
    ($i:ident below $n:ident $body:block) => {
        unrolled!(@ $i $n $body 0 1 2 3 4 5 6 7)
    };
    (@ $i:ident $n:ident $body:block $($at:literal)*) => {
        $(if $at < $n { let $i: usize = $at; $body })*
    };
}
pub(super) use unrolled;
