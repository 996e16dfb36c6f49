//! Benchmarks of the core's kernels: `cargo bench`, or `cargo bench -- product` for one group.
//!
//! `products` is why faer was chosen; `kernels` are what a box costs, part by part; `levers` are what each device of the engine saves, with and without.
#![allow(missing_docs, clippy::unwrap_used)]

mod kernels;
mod levers;
mod networks;
mod products;

use criterion::{Criterion, criterion_group, criterion_main};
use eqspec::numeric::vectorised;
use std::time::Duration;

/// Runs code as the core runs its own: compiled for the widest vector registers of this machine.
pub fn vectorised<T>(work: impl FnOnce() -> T) -> T {
    vectorised::run(Work(work))
}

struct Work<F>(F);

impl<T, F: FnOnce() -> T> vectorised::Task for Work<F> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        (self.0)()
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(30);
    targets = products::products, kernels::kernels, levers::levers
}
criterion_main!(benches);
