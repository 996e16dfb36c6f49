//! Runs a computation compiled for the widest vector registers of this machine, chosen at run time: one wheel serves
//! every processor.
//!
//! What is to profit must be inlined into `Task::run`, hence `#[inline(always)]` all the way down the propagation.

use pulp::{Arch, Simd, WithSimd};

/// A computation worth vectorising as a whole.
pub trait Task {
    /// What it gives.
    type Output;
    /// Does it; implementations are `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

struct Dispatched<T>(T);

impl<T: Task> WithSimd for Dispatched<T> {
    type Output = T::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T::Output {
        self.0.run()
    }
}

/// Runs a task with the best instruction set available.
pub fn run<T: Task>(task: T) -> T::Output {
    Arch::new().dispatch(Dispatched(task))
}

/// Declares a function whose body is compiled for each instruction set and picked at run time.
///
/// A kernel that is declared so exists once for each instruction set, however many call it: what a box needs then fits
/// the instruction cache, where the whole propagation as one such computation did not.
macro_rules! vectorised {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident<$life:lifetime $(, $real:ident: $bound:path)?>($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        $visibility fn $name<$life $(, $real: $bound)?>($($argument: $type),*) {
            struct Work<$life $(, $real: $bound)?> {
                $($argument: $type),*
            }
            impl<$life $(, $real: $bound)?> $crate::numeric::vectorised::Task for Work<$life $(, $real)?> {
                type Output = ();

                #[inline(always)]
                fn run(self) {
                    let Self { $($argument),* } = self;
                    $body
                }
            }
            $crate::numeric::vectorised::run(Work { $($argument),* });
        }
    };
}

pub(crate) use vectorised;
