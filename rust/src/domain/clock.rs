//! When a computation of seconds is to end early: a time, and a flag that another thread sets.
//!
//! Whoever asks and is told so gives up without a result, so a clock can make no bound wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A time limit and a flag, either of which may be missing.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// From this time on it is over.
    pub deadline: Option<Instant>,
    /// It is over once this is set.
    pub stopped: Option<Arc<AtomicBool>>,
}

impl Clock {
    /// Whether it is time to end.
    #[must_use]
    pub fn over(&self) -> bool {
        self.stopped.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|time| Instant::now() >= time)
    }
}
