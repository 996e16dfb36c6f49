//! Runs a computation compiled for the widest vector registers of this machine, chosen at run time: one wheel serves every processor.
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
