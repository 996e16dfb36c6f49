//! The host of a search: the world outside the workers, which solves programs, replays candidates, shows progress and
//! keeps snapshots.
//!
//! Workers never call out. Programs and candidates travel to the calling thread, where [`serve`] asks the host and
//! sends its answers back.

use super::shared::Shared;
use super::solution::{Progress, Reason};
use crate::lp::{Answer, LinearProgram, MixedAnswer, MixedProgram};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The world outside the workers. All calls come on the thread that called [`super::solve`].
pub trait Host {
    /// Solves linear programs; the answers are only hints.
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer>;
    /// Solves a mixed-integer program whose solutions are candidates. That it has none is no proof and only tells how
    /// far an undecided search came.
    fn solve_mixed(&mut self, _program: &MixedProgram) -> MixedAnswer {
        MixedAnswer::default()
    }
    /// Replays a candidate (I) exactly; true makes it the witness.
    fn confirm(&mut self, input: &[f64]) -> bool;
    /// Told about ten times a second; false stops the search.
    fn progress(&mut self, progress: &Progress) -> bool;
    /// How often [`Host::keep_snapshot`] should be called while the search runs; `None` for never, not even at the end.
    fn snapshot_interval(&self) -> Option<Duration> {
        None
    }
    /// Keeps what [`super::resume`] goes on from. Called in intervals, and when the search ends undecided.
    fn keep_snapshot(&mut self, _bytes: Vec<u8>) {}
    /// Whether [`Host::keep_trail`] is of use.
    fn wants_trail(&self) -> bool {
        false
    }
    /// Keeps what a proof did, from which [`super::hints::Hints`] for the next one are read.
    fn keep_trail(&mut self, _bytes: Vec<u8>) {}
}

/// What a worker asks of the calling thread.
pub enum Request {
    /// Linear programs of several boxes, and where their answers go.
    Programs(Vec<LinearProgram>, mpsc::SyncSender<Vec<Answer>>),
    /// A mixed-integer program, and where its answer goes.
    Mixed(MixedProgram, mpsc::SyncSender<MixedAnswer>),
    /// A candidate over all inputs, and where the result of its replay goes.
    Confirm(Vec<f64>, mpsc::SyncSender<bool>),
    /// The worker has ended.
    Done,
}

/// How often progress is reported.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Answers the workers' requests and reports progress until every worker has ended.
#[allow(clippy::needless_pass_by_value)] // owned, so that it is dropped if the host panics
pub fn serve(inbox: mpsc::Receiver<Request>, workers: usize, shared: &Shared, obligations: usize, host: &mut dyn Host) {
    let _guard = AbortGuard(shared);
    let mut running = workers;
    let mut last = Instant::now();
    while running > 0 {
        match inbox.recv_timeout(REPORT_INTERVAL) {
            // A worker that stopped waiting no longer receives the answer, which does no harm.
            Ok(Request::Programs(programs, reply)) => drop(reply.send(host.answer(&programs))),
            Ok(Request::Mixed(program, reply)) => drop(reply.send(host.solve_mixed(&program))),
            Ok(Request::Confirm(input, reply)) => drop(reply.send(host.confirm(&input))),
            Ok(Request::Done) => running -= 1,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        if last.elapsed() >= REPORT_INTERVAL {
            last = Instant::now();
            if !host.progress(&shared.progress(obligations)) {
                shared.stop(Reason::Interrupted);
            }
        }
    }
}

/// Stops the search if the host panics. The inbox is dropped with it, so that no worker waits for an answer.
struct AbortGuard<'s>(&'s Shared);

impl Drop for AbortGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(Reason::Interrupted);
        }
    }
}

/// The host of an auxiliary search (a probe, or the question whether a guard can be met), of which no snapshot is kept.
pub struct AuxiliaryHost<'h> {
    /// The host of the search proper.
    pub host: &'h mut dyn Host,
    /// Whether every candidate is accepted unseen: any input that meets a guard answers whether there is one, and no
    /// proof rests on it.
    pub accepts_all: bool,
}

impl Host for AuxiliaryHost<'_> {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        self.host.answer(programs)
    }
    fn confirm(&mut self, input: &[f64]) -> bool {
        self.accepts_all || self.host.confirm(input)
    }
    fn progress(&mut self, progress: &Progress) -> bool {
        self.host.progress(progress)
    }
    fn wants_trail(&self) -> bool {
        !self.accepts_all && self.host.wants_trail()
    }
    fn keep_trail(&mut self, bytes: Vec<u8>) {
        self.host.keep_trail(bytes);
    }
}

/// A host without a solver, which accepts no candidate and never stops the search.
#[derive(Debug, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        vec![Answer::default(); programs.len()]
    }
    fn confirm(&mut self, _: &[f64]) -> bool {
        false
    }
    fn progress(&mut self, _: &Progress) -> bool {
        true
    }
}
