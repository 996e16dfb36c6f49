//! A search from the question to the solution: probes, then the search proper, whose workers stop now and then so that
//! a snapshot can be kept.

use super::context::Context;
use super::host::{AuxiliaryHost, Host, serve};
use super::probe::{self, Probe};
use super::record::{Record, Recorder};
use super::shared::Shared;
use super::snapshot::{Question, Snapshot};
use super::solution::{Solution, Verdict};
use super::{Node, Region, fingerprint, worker};
use crate::error::{Error, finite, same_size};
use crate::network::Pair;
use crate::numeric::round::arithmetic_is_ieee;
use crate::property::Property;
use crate::settings::Settings;
use std::sync::mpsc;
use std::time::Instant;

/// The time between two snapshots is at least this many times what taking the last one cost, so that snapshots cost a
/// thirtieth of a search at most.
const SNAPSHOT_BACK_OFF: u32 = 30;

/// Most seconds that an auxiliary search may take to find whether any input meets a guard.
const VACUITY_SECONDS: f64 = 10.0;

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

/// Resumes a search of the same question from a snapshot that it gave to [`Host::keep_snapshot`]. Time is counted from
/// now, boxes from the beginning.
pub fn resume(
    pair: &Pair,
    region: &Region,
    property: &Property,
    settings: &Settings,
    snapshot: &[u8],
    host: &mut dyn Host,
) -> Result<Solution, Error> {
    Search { pair, region, property, start: Instant::now() }.answer(settings, Some(snapshot), host)
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
    /// With the whole region, after so many boxes of probes.
    Root(u64),
    /// With the boxes of a snapshot.
    Snapshot(&'a [u8]),
}

impl Search<'_> {
    /// The solution, in which `vacuous` is decided as far as little time allows.
    fn answer(&self, settings: &Settings, snapshot: Option<&[u8]>, host: &mut dyn Host) -> Result<Solution, Error> {
        settings.validate()?;
        if !arithmetic_is_ieee() {
            return Err(Error::Arithmetic);
        }
        same_size("lower", self.region.lower.len(), self.pair.inputs())?;
        finite("lower", &self.region.lower)?;
        finite("upper", &self.region.upper)?;
        let mut solution = self.decide(settings, snapshot, host)?;
        if solution.verdict == Verdict::Equivalent && solution.vacuous {
            // No sampled input met a guard: is there any at all? Worth a little time, never more than is left.
            let left = (settings.timeout - self.start.elapsed().as_secs_f64()).clamp(0.0, VACUITY_SECONDS);
            let auxiliary = Settings { timeout: left, milp: false, record: None, ..settings.clone() };
            let question = Search { property: &self.property.vacuity(), start: Instant::now(), ..*self };
            let found = question.run(&auxiliary, Origin::Root(0), &mut AuxiliaryHost { host, accepts_all: true })?;
            solution.vacuous = found.verdict == Verdict::Equivalent;
            solution.seconds = self.start.elapsed().as_secs_f64();
        }
        Ok(solution)
    }

    /// Probes by plain bisection where they might do, then the search with all means. The limit on boxes holds for all
    /// of them together.
    fn decide(&self, settings: &Settings, snapshot: Option<&[u8]>, host: &mut dyn Host) -> Result<Solution, Error> {
        if let Some(snapshot) = snapshot {
            // That search has made its probes, and counted their boxes.
            return self.run(settings, Origin::Snapshot(snapshot), host);
        }
        let probe = Probe { pair: self.pair, region: self.region, property: self.property };
        let mut probed = 0;
        for boxes in probe.budgets(settings) {
            if settings.boxes != 0 && probed + boxes >= settings.boxes {
                break;
            }
            let plain = probe.settings(settings, probed + boxes);
            let solution = self.run(&plain, Origin::Root(probed), &mut AuxiliaryHost { host, accepts_all: false })?;
            let (answers, more) = probe::evaluate(&solution, probed);
            if answers {
                return Ok(solution);
            }
            probed = solution.boxes;
            if !more {
                break;
            }
        }
        self.run(settings, Origin::Root(probed), host)
    }

    /// One search, whose workers stop now and then so that a snapshot can be kept. `vacuous` on return only says that
    /// no input was seen that meets a guard.
    fn run(&self, settings: &Settings, origin: Origin<'_>, host: &mut dyn Host) -> Result<Solution, Error> {
        let Self { pair, region, property, start } = *self;
        let free = region.free();
        let reduced = pair.specialise(&free, &region.lower);
        let region_free = region.restrict(&free);
        let threads = threads(settings);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| Error::Threads(threads, e.to_string()))?;
        let recorder = recorder(settings, origin)?;
        let mut interval = host.snapshot_interval();
        let fingerprint = if interval.is_some() || matches!(origin, Origin::Snapshot(_)) {
            fingerprint(pair, region, property, settings)
        } else {
            Default::default()
        };
        let question = Question { pair: &reduced, region: &region_free, property, fingerprint };
        let obligations = property.obligations.len();
        let mut snapshot = match origin {
            Origin::Snapshot(bytes) => Snapshot::read(bytes, &question)?,
            Origin::Root(probed) => {
                let (lower, upper) = (region_free.lower.clone(), region_free.upper.clone());
                Snapshot::start(Node::root(lower, upper, property.open(pair.identical())), obligations, probed)
            }
        };
        loop {
            let pause = interval.and_then(|i| start.elapsed().checked_add(i));
            let shared = Shared::new(settings, start, pause, &mut snapshot);
            let shares = snapshot.distribute(threads);
            let (requests, inbox) = mpsc::channel();
            pool.in_place_scope(|scope| {
                for nodes in shares {
                    let requests = requests.clone();
                    let context = Context {
                        pair: &reduced,
                        whole: region,
                        free: &free,
                        region: &region_free,
                        property,
                        settings,
                        shared: &shared,
                        record: Record(recorder.as_ref()),
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
            snapshot = shared.snapshot();
            if shared.only_paused() {
                if let Some(bytes) = snapshot.write(&question) {
                    host.keep_snapshot(bytes);
                }
                // Waiting for the slowest worker and writing took from the pause until now.
                let cost = start.elapsed().saturating_sub(pause.unwrap_or_default());
                interval = interval.map(|i| i.max(SNAPSHOT_BACK_OFF * cost));
                continue;
            }
            if let Some(recorder) = &recorder {
                recorder.finish();
            }
            let mut solution = shared.into_solution(obligations, &snapshot);
            let undecided = interval.is_some() && matches!(solution.verdict, Verdict::Unknown(_));
            if let Some(bytes) = undecided.then(|| snapshot.write(&question)).flatten() {
                host.keep_snapshot(bytes);
            }
            solution.open_sample.iter_mut().for_each(|open| open.complete(region, &free));
            if let Some(open) = &mut solution.worst_open {
                (open.lower, open.upper) = (region.complete(&free, &open.lower), region.complete(&free, &open.upper));
            }
            return Ok(solution);
        }
    }
}

/// How many workers there are.
fn threads(settings: &Settings) -> usize {
    match settings.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// The file for the record of a proof, if one is wanted.
fn recorder(settings: &Settings, origin: Origin<'_>) -> Result<Option<Recorder>, Error> {
    let Some(path) = &settings.record else { return Ok(None) };
    if matches!(origin, Origin::Snapshot(_)) {
        return Err(Error::Value {
            name: "record",
            value: "a file".to_owned(),
            accepted: "none for a search that goes on, since the record of a proof needs all of it",
        });
    }
    let recorder = Recorder::create(path).map_err(|e| Error::Record(path.display().to_string(), e.to_string()))?;
    Ok(Some(recorder))
}
