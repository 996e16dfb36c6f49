//! Branch and bound: cover the box by sub-boxes on which the property is proved, or find an input that violates it.
//!
//! Control only: which box next, which stage next, where to split, when to stop. A verdict depends on this module in one respect: every box that is
//! taken up is closed by a proof, replaced by two halves that cover it, or counted as undecided.
//!
//! Workers run in a pool of their own that lives as long as the call. They never call out: linear programs and candidate counterexamples travel to the
//! calling thread, where a [`Host`] answers.

mod asking;
mod attack;
mod attempt;
mod candidates;
mod counts;
pub mod effort;
mod fingerprint;
mod focusing;
mod foresight;
mod node;
mod policy;
mod random;
mod record;
mod refuting;
mod region;
mod remainder;
mod saved;
mod scatter;
mod shared;
mod split;
mod trial;
mod trusting;
mod weighing;
mod worker;

pub use effort::Effort;
pub use fingerprint::fingerprint;
pub use node::Node;
pub use region::{Constraint, Region};
pub use remainder::OpenBox;

use crate::error::{Error, finite, same_size};
use crate::lp::{Answer, LinearProgram, MixedAnswer, MixedProgram};
use crate::network::Pair;
use crate::numeric::round::arithmetic_is_ieee;
use crate::property::Property;
use crate::settings::Settings;
use saved::{Question, Saved};
use serde::{Deserialize, Serialize};
use shared::Shared;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The answer to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The property holds at every input of the region.
    Equivalent,
    /// It fails at [`Solution::witness`].
    Different,
    /// Neither was shown.
    Unknown(Reason),
}

/// Why a claim was not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Time ran out.
    Timeout,
    /// The limit on boxes was reached.
    Boxes,
    /// The host asked to stop.
    Interrupted,
    /// Some boxes cannot be split further and are still undecided.
    Incomplete,
    /// The bounds on some boxes miss the limit by no more than rounding: binary64 cannot decide.
    FloatOnly,
    /// Some boxes cannot be split further, and points were found there that violate the claim but for the exact confidence.
    Spurious,
    /// Nothing is open but boxes of which a solver says that nothing violates the claim there: it holds if the solver is right.
    Solver,
}

/// What the search knows so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Share of the claim that is proved: over all obligations, by volume of the box (halves of a phase split count like halves of a box).
    pub certified: f64,
    /// Boxes bounded.
    pub boxes: u64,
    /// Boxes waiting or in work.
    pub open_boxes: u64,
    /// Depth of the deepest closed box.
    pub depth: usize,
    /// Since the start.
    pub seconds: f64,
}

/// Counters by what decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stages {
    /// Boxes outside the region's constraints.
    pub outside: u64,
    /// Guards excluded by bounds of f1 alone.
    pub guard: u64,
    /// Obligations proved by a zonotope row.
    pub zonotope: u64,
    /// Obligations proved by multipliers of the parent box.
    pub inherited: u64,
    /// Obligations proved by multipliers found on the box.
    pub dual: u64,
    /// Obligations proved by multipliers from a solved program.
    pub program: u64,
    /// Obligations proved by contracting bounds under their violation.
    pub contraction: u64,
    /// Boxes on which arithmetic overflowed.
    pub overflow: u64,
}

/// What the search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The verdict.
    pub verdict: Verdict,
    /// For `Equivalent`: no input of the region satisfies any guard.
    pub vacuous: bool,
    /// For `Different`: a confirmed counterexample (I).
    pub witness: Option<Vec<f64>>,
    /// Boxes bounded.
    pub boxes: u64,
    /// Boxes halved.
    pub splits: u64,
    /// Objectives handed to the LP solver.
    pub lps: u64,
    /// Mixed-integer programs handed to a solver.
    pub milps: u64,
    /// Boxes left open of which the solver says that nothing violates the claim there.
    pub believed: u64,
    /// Largest |bound| of the difference on the first box.
    pub initial_bound: f64,
    /// Share of the claim that is proved, as in [`Progress::certified`], exact up to its conversion to binary64.
    pub certified_fraction: f64,
    /// Boxes left open.
    pub open_boxes: u64,
    /// For `Unknown`: a sample of the boxes that are undecided, over all inputs.
    pub open_sample: Vec<OpenBox>,
    /// Wall time.
    pub seconds: f64,
    /// What decided how much.
    pub stages: Stages,
    /// What it took.
    pub effort: Effort,
}

/// The world outside the workers. All calls come on the thread that called [`solve`].
pub trait Host {
    /// Solves programs; the answers are only hints.
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer>;
    /// Solves a program whose solutions are candidates. That it has none is believed only to tell how far an undecided search came.
    fn solve_mixed(&mut self, _program: &MixedProgram) -> MixedAnswer {
        MixedAnswer::default()
    }
    /// Replays a candidate (I) exactly; true makes it the witness.
    fn confirm(&mut self, input: &[f64]) -> bool;
    /// Told about ten times a second; false stops the search.
    fn progress(&mut self, progress: &Progress) -> bool;
    /// How often [`Host::keep`] should be called on the way; `None`: never, not even at the end.
    fn keeping(&self) -> Option<Duration> {
        None
    }
    /// What [`resume`] goes on from: every now and then, and when the search ends undecided.
    fn keep(&mut self, _state: Vec<u8>) {}
}

/// What a worker asks of the calling thread.
enum Request {
    Programs(Vec<LinearProgram>, mpsc::SyncSender<Vec<Answer>>),
    Mixed(MixedProgram, mpsc::SyncSender<MixedAnswer>),
    Confirm(Vec<f64>, mpsc::SyncSender<bool>),
    Done,
}

const TICK: Duration = Duration::from_millis(100);

/// So many times as long as keeping a state took, it is not kept again.
const RESPITE: u32 = 30;

/// Decides `property` of `pair` on `region`.
pub fn solve(
    pair: &Pair,
    region: &Region,
    property: &Property,
    settings: &Settings,
    host: &mut dyn Host,
) -> Result<Solution, Error> {
    Search { pair, region, property, start: Instant::now() }.answer(settings, None, host)
}

/// Goes on with a search of the same question from a state that it gave to [`Host::keep`]. Time is counted from now, boxes from the beginning.
pub fn resume(
    pair: &Pair,
    region: &Region,
    property: &Property,
    settings: &Settings,
    state: &[u8],
    host: &mut dyn Host,
) -> Result<Solution, Error> {
    Search { pair, region, property, start: Instant::now() }.answer(settings, Some(state), host)
}

/// A question, and since when it is being answered.
struct Search<'a> {
    pair: &'a Pair,
    region: &'a Region,
    property: &'a Property,
    start: Instant,
}

/// Where a search begins.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// With the whole region, after so many boxes of trials.
    Root(u64),
    /// Where an earlier one stopped.
    State(&'a [u8]),
}

impl Search<'_> {
    /// The answer, and whether it is vacuous.
    fn answer(&self, settings: &Settings, state: Option<&[u8]>, host: &mut dyn Host) -> Result<Solution, Error> {
        settings.validate()?;
        if !arithmetic_is_ieee() {
            return Err(Error::Arithmetic);
        }
        same_size("lower", self.region.lower.len(), self.pair.inputs())?;
        finite("lower", &self.region.lower)?;
        finite("upper", &self.region.upper)?;
        let mut solution = self.decide(settings, state, host)?;
        if solution.verdict == Verdict::Equivalent && solution.vacuous {
            // No sampled input met a guard: is there any at all? Worth a little time, never more than is left.
            let rest = (settings.timeout - self.start.elapsed().as_secs_f64()).clamp(0.0, 10.0);
            let aside = Settings { timeout: rest, milp: false, record: None, ..settings.clone() };
            let question = Search { property: &self.property.vacuity(), start: Instant::now(), ..*self };
            let found = question.run(&aside, Origin::Root(0), &mut Aside { host, believing: true })?;
            solution.vacuous = found.verdict == Verdict::Equivalent;
            solution.seconds = self.start.elapsed().as_secs_f64();
        }
        Ok(solution)
    }

    /// Trials with plain boxes where they might do, then the search with all means; the limit on boxes is for all of them together.
    fn decide(&self, settings: &Settings, state: Option<&[u8]>, host: &mut dyn Host) -> Result<Solution, Error> {
        if let Some(state) = state {
            // It has made its trials, and counted their boxes.
            return self.run(settings, Origin::State(state), host);
        }
        let mut tried = 0;
        for boxes in self.trials(settings) {
            if settings.boxes != 0 && tried + boxes >= settings.boxes {
                break;
            }
            let trial = self.trial(settings, tried + boxes);
            let solution = self.run(&trial, Origin::Root(tried), &mut Aside { host, believing: false })?;
            let (answer, more) = trial::judge(&solution, tried);
            if answer {
                return Ok(solution);
            }
            tried = solution.boxes;
            if !more {
                break;
            }
        }
        self.run(settings, Origin::Root(tried), host)
    }

    /// One search, in legs: between two of them its state is kept. `vacuous` on return only says that no input that meets a guard was seen.
    fn run(&self, settings: &Settings, origin: Origin<'_>, host: &mut dyn Host) -> Result<Solution, Error> {
        let Self { pair, region, property, start } = *self;
        let free = region.free();
        let reduced = pair.specialise(&free, &region.lower);
        let region_free = region.restrict(&free);
        let threads = if settings.threads == 0 {
            std::thread::available_parallelism().map_or(1, usize::from)
        } else {
            settings.threads
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| Error::Threads(threads, e.to_string()))?;
        let recorder = match &settings.record {
            None => None,
            Some(_) if matches!(origin, Origin::State(_)) => {
                return Err(Error::Value {
                    name: "record",
                    value: "a file".to_owned(),
                    accepted: "none for a search that goes on, since the record of a proof needs all of it",
                });
            }
            Some(path) => Some(
                record::Recorder::create(path).map_err(|e| Error::Record(path.display().to_string(), e.to_string()))?,
            ),
        };
        let mut interval = host.keeping();
        let fingerprint = if interval.is_some() || matches!(origin, Origin::State(_)) {
            fingerprint(pair, region, property, settings)
        } else {
            Default::default()
        };
        let question = Question { pair: &reduced, region: &region_free, property, fingerprint };
        let obligations = property.obligations.len();
        let mut saved = match origin {
            Origin::State(bytes) => Saved::read(bytes, &question)?,
            Origin::Root(tried) => {
                let (lower, upper) = (region_free.lower.clone(), region_free.upper.clone());
                Saved::start(Node::root(lower, upper, property.open(pair.identical())), obligations, tried)
            }
        };
        loop {
            let pause = interval.and_then(|i| start.elapsed().checked_add(i));
            let shared = Shared::new(settings, start, pause, &mut saved);
            let shares = saved.deal(threads);
            let (requests, inbox) = mpsc::channel();
            pool.in_place_scope(|scope| {
                for nodes in shares {
                    let requests = requests.clone();
                    let context = worker::Context {
                        pair: &reduced,
                        whole: region,
                        free: &free,
                        region: &region_free,
                        property,
                        settings,
                        shared: &shared,
                        record: record::Record(recorder.as_ref()),
                    };
                    scope.spawn(move |_| worker::run(context, &requests, nodes));
                }
                drop(requests);
                serve(inbox, threads, &shared, obligations, host);
            });
            // Threads inherit the mode, but a library may be loaded while they run.
            if shared.arithmetic_failed() || !arithmetic_is_ieee() {
                return Err(Error::Arithmetic);
            }
            saved = shared.as_saved();
            if shared.only_paused() {
                if let Some(bytes) = saved.write(&question) {
                    host.keep(bytes);
                }
                // Waiting for the slowest worker and writing took from the pause until now.
                let cost = start.elapsed().saturating_sub(pause.unwrap_or_default());
                interval = interval.map(|i| i.max(RESPITE * cost));
                continue;
            }
            if let Some(recorder) = &recorder {
                recorder.finish();
            }
            let mut solution = shared.into_solution(obligations, &saved);
            let undecided = interval.is_some() && matches!(solution.verdict, Verdict::Unknown(_));
            if let Some(bytes) = undecided.then(|| saved.write(&question)).flatten() {
                host.keep(bytes);
            }
            solution.open_sample.iter_mut().for_each(|open| open.widen(region, &free));
            if let Some(open) = &mut solution.effort.worst {
                (open.lower, open.upper) = (region.complete(&free, &open.lower), region.complete(&free, &open.upper));
            }
            return Ok(solution);
        }
    }
}

/// The calling thread's part: answer, confirm, report, until every worker is done.
#[allow(clippy::needless_pass_by_value)] // owned, so that it is dropped if the host panics
fn serve(inbox: mpsc::Receiver<Request>, workers: usize, shared: &Shared, obligations: usize, host: &mut dyn Host) {
    let _release = Release(shared);
    let mut running = workers;
    let mut last = Instant::now();
    while running > 0 {
        match inbox.recv_timeout(TICK) {
            // A worker that stopped waiting no longer listens; that is fine.
            Ok(Request::Programs(programs, reply)) => drop(reply.send(host.answer(&programs))),
            Ok(Request::Mixed(program, reply)) => drop(reply.send(host.solve_mixed(&program))),
            Ok(Request::Confirm(input, reply)) => drop(reply.send(host.confirm(&input))),
            Ok(Request::Done) => running -= 1,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        if last.elapsed() >= TICK {
            last = Instant::now();
            if !host.progress(&shared.progress(obligations)) {
                shared.stop(Reason::Interrupted);
            }
        }
    }
}

/// Ends the search if the host panics: the inbox is dropped on the way, so that no worker waits for an answer.
struct Release<'s>(&'s Shared);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(Reason::Interrupted);
        }
    }
}

/// The host of a search beside the real one, of which no state is kept.
struct Aside<'h> {
    host: &'h mut dyn Host,
    /// Whether every candidate is taken: any input that meets a guard answers whether there is one, and nothing else hangs on it.
    believing: bool,
}

impl Host for Aside<'_> {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        self.host.answer(programs)
    }
    fn confirm(&mut self, input: &[f64]) -> bool {
        self.believing || self.host.confirm(input)
    }
    fn progress(&mut self, progress: &Progress) -> bool {
        self.host.progress(progress)
    }
}

/// A host that solves nothing, believes no candidate and never stops: for searches without a solver.
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
