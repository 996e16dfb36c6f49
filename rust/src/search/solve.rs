//! A search from the question to the solution: probes, then the search proper, whose workers stop now and then so that
//! a snapshot can be kept.

use super::context::Context;
use super::hints::{Hints, ROOT};
use super::host::{AuxiliaryHost, Host, serve};
use super::probe::{self, Probe};
use super::record::{Record, Recorder};
use super::share::{Share, first_of};
use super::shared::Shared;
use super::snapshot::{Question, Snapshot};
use super::solution::{Solution, Verdict};
use super::{Node, Region, fingerprint, worker};
use crate::domain::intervals;
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
    solve_like(pair, region, property, settings, None, host)
}

/// Decides `property` of `pair` on `region`, where a pair like it was decided before in a way that `hints` tell.
pub fn solve_like(
    pair: &Pair,
    region: &Region,
    property: &Property,
    settings: &Settings,
    hints: Option<&Hints>,
    host: &mut dyn Host,
) -> Result<Solution, Error> {
    Search { pair, region, property, start: Instant::now(), hints }.answer(settings, Origin::Root(0), host)
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
    Search { pair, region, property, start: Instant::now(), hints: None }.answer(
        settings,
        Origin::Snapshot(snapshot),
        host,
    )
}

/// Works on a share of a search until it is closed or the settings stop it; their limit on boxes is meant for this
/// share. [`Host::keep_snapshot`] is given the answer, once, unless a witness was found, and [`Host::keep_trail`] what
/// was done by then, if that could be kept: the trails of all shares are that of the whole proof. Of the solution only
/// the verdict and what was counted are meant of the share.
pub fn work_on(
    pair: &Pair,
    region: &Region,
    property: &Property,
    settings: &Settings,
    share: &[u8],
    host: &mut dyn Host,
) -> Result<Solution, Error> {
    let search = Search { pair, region, property, start: Instant::now(), hints: None };
    search.check(settings)?;
    let free = region.free();
    let (reduced, region_free) = (pair.specialise(&free, &region.lower), region.restrict(&free));
    let fingerprint = fingerprint(pair, region, property, settings);
    let share = Share::read(share, &Question { pair: &reduced, region: &region_free, property, fingerprint })?;
    let search = Search { hints: share.hints.as_ref(), ..search };
    let (mut solution, left) = search.decide(settings, Origin::Share(&share, 0), host)?;
    let before = share.begin(0).statistics;
    solution.boxes -= before.probed + before.boxes;
    if solution.verdict != Verdict::Different {
        host.keep_snapshot(share.answer(&left)?);
    }
    Ok(solution)
}

/// A question, and since when it is being answered.
pub struct Search<'a> {
    /// The pair over all inputs.
    pub pair: &'a Pair,
    /// The region over all inputs.
    pub region: &'a Region,
    /// The claim.
    pub property: &'a Property,
    /// When it was asked.
    pub start: Instant,
    /// How a question like it was decided before.
    pub hints: Option<&'a Hints>,
}

/// Where a search begins.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// At the whole region, after so many boxes of probes.
    Root(u64),
    /// At the boxes of a snapshot.
    Snapshot(&'a [u8]),
    /// At the boxes of a share, after so many boxes of probes.
    Share(&'a Share, u64),
}

impl Origin<'_> {
    /// Whether this is the whole search before its first box.
    fn is_whole(self) -> bool {
        match self {
            Self::Root(_) => true,
            Self::Snapshot(_) => false,
            Self::Share(share, _) => share.is_whole(),
        }
    }

    /// The same after so many boxes of probes.
    fn after(self, probed: u64) -> Self {
        match self {
            Self::Root(_) => Self::Root(probed),
            Self::Share(share, _) => Self::Share(share, probed),
            Self::Snapshot(_) => self,
        }
    }

    /// A share before anything was done to it.
    fn untouched(self) -> Option<Snapshot> {
        if let Self::Share(share, _) = self { Some(share.snapshot.clone()) } else { None }
    }

    /// Where boxes begin to be counted.
    fn first_box(self) -> u64 {
        if let Self::Share(share, _) = self { first_of(share.number) } else { 0 }
    }
}

impl Search<'_> {
    /// The solution, in which `vacuous` is decided as far as little time allows.
    fn answer(&self, settings: &Settings, origin: Origin<'_>, host: &mut dyn Host) -> Result<Solution, Error> {
        self.check(settings)?;
        let (mut solution, _) = self.decide(settings, origin, host)?;
        self.settle_vacuity(settings, &mut solution, &mut AuxiliaryHost { host, accepts_all: true })?;
        Ok(solution)
    }

    /// Refuses what cannot be searched, and a processor on which no bound holds.
    fn check(&self, settings: &Settings) -> Result<(), Error> {
        settings.validate()?;
        if !arithmetic_is_ieee() {
            return Err(Error::Arithmetic);
        }
        same_size("lower", self.region.lower.len(), self.pair.inputs())?;
        finite("lower", &self.region.lower)?;
        finite("upper", &self.region.upper)
    }

    /// Decides whether a proof is vacuous, as far as little time allows: no sampled input met a guard.
    pub fn settle_vacuity(
        &self,
        settings: &Settings,
        solution: &mut Solution,
        host: &mut AuxiliaryHost<'_>,
    ) -> Result<(), Error> {
        if solution.verdict == Verdict::Equivalent && solution.vacuous {
            // Is there any at all? Worth a little time, never more than is left.
            let left = (settings.timeout - self.start.elapsed().as_secs_f64()).clamp(0.0, VACUITY_SECONDS);
            let auxiliary = Settings { timeout: left, milp: false, record: None, ..settings.clone() };
            let question = Search { property: &self.property.vacuity(), start: Instant::now(), hints: None, ..*self };
            let (found, _) = question.run(&auxiliary, Origin::Root(0), None, host)?;
            solution.vacuous = found.verdict == Verdict::Equivalent;
            solution.seconds = self.start.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Probes by plain bisection where they might do, then the search with all means. The limit on boxes holds for all
    /// of them together. Returns what is left undecided, too.
    fn decide(
        &self,
        settings: &Settings,
        origin: Origin<'_>,
        host: &mut dyn Host,
    ) -> Result<(Solution, Snapshot), Error> {
        if !origin.is_whole() {
            // That search has made its probes, and counted their boxes.
            return self.run(settings, origin, None, host);
        }
        let probe = Probe { pair: self.pair, region: self.region, property: self.property };
        // A record or a trail is that of one run, so a probe begins with the region again where one is kept.
        let goes_on = settings.record.is_none() && !host.wants_trail();
        let mut probed = 0;
        // An earlier proof tells what a probe would find out: whether plain bisection does.
        let budgets = match self.hints {
            None => probe.budgets(settings, !goes_on),
            Some(hints) if hints.contracts() => Vec::new(),
            Some(hints) => {
                // The first one shows whether bisection still serves, as it does without hints.
                let enough = hints.all_leaves().saturating_mul(2);
                let first = probe.budgets(settings, !goes_on).into_iter().take(1);
                first.flat_map(|boxes| if enough > boxes { vec![boxes, enough] } else { vec![boxes] }).collect()
            }
        };
        let mut earlier = None;
        for (number, boxes) in budgets.into_iter().enumerate() {
            if settings.boxes != 0 && probed + boxes >= settings.boxes {
                break;
            }
            let plain = probe.settings(settings, (number, probed + boxes), self.start.elapsed().as_secs_f64());
            let auxiliary = &mut AuxiliaryHost { host, accepts_all: false };
            let before = if earlier.is_some() { 0 } else { probed };
            let (solution, left) = self.run(&plain, origin.after(before), earlier, auxiliary)?;
            let (answers, more) = probe::evaluate(&solution, before + origin.first_box(), (number, &plain, settings));
            if answers {
                let decided = !matches!(solution.verdict, Verdict::Unknown(_));
                let untouched = origin.untouched().filter(|_| !decided);
                if untouched.is_some() {
                    // Nothing was done to the share, so nothing of this probe belongs to a record.
                    recorder(settings, origin)?.iter().for_each(Recorder::finish);
                    host.keep_trail(Vec::new());
                }
                return Ok((solution, untouched.unwrap_or(left)));
            }
            probed = solution.boxes - origin.first_box();
            if !more {
                break;
            }
            earlier = goes_on.then_some(left);
        }
        self.run(settings, origin.after(probed), None, host)
    }

    /// One search, whose workers stop now and then so that a snapshot can be kept. `vacuous` on return only says that
    /// no input was seen that meets a guard. It goes on with what an `earlier` run from the same origin has left, if
    /// there is one.
    fn run(
        &self,
        settings: &Settings,
        origin: Origin<'_>,
        earlier: Option<Snapshot>,
        host: &mut dyn Host,
    ) -> Result<(Solution, Snapshot), Error> {
        let Self { pair, region, property, start, .. } = *self;
        let free = region.free();
        let reduced = pair.specialise(&free, &region.lower);
        let region_free = region.restrict(&free);
        let threads = settings.workers();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| Error::Threads(threads, e.to_string()))?;
        let recorder = recorder_or_trail(settings, origin, host)?;
        let mut interval = host.snapshot_interval();
        // A probe keeps no snapshots, and what it did counts only if it is a proof.
        let is_leg = interval.is_some() && matches!(origin, Origin::Share(..));
        let fingerprint = if interval.is_some() || matches!(origin, Origin::Snapshot(_)) {
            fingerprint(pair, region, property, settings)
        } else {
            Default::default()
        };
        let question = Question { pair: &reduced, region: &region_free, property, fingerprint };
        let limited;
        let mut settings = settings;
        if let Origin::Share(share, _) = origin {
            interval = None;
            limited = share.settings(settings);
            settings = &limited;
        }
        let begun = earlier.is_some() || !origin.is_whole() && matches!(origin, Origin::Share(..));
        let first = self.first_snapshot(origin, &question)?;
        let mut snapshot = earlier.unwrap_or(first);
        loop {
            let pause = interval.and_then(|i| start.elapsed().checked_add(i));
            let shared = Shared::new(settings, start, pause, &mut snapshot);
            if begun {
                // The first random search is for the beginning of the whole search.
                let _ = shared.begins_random_search();
            }
            let context = Context {
                pair: &reduced,
                whole: region,
                free: &free,
                region: &region_free,
                property,
                settings,
                shared: &shared,
                record: Record(recorder.as_ref()),
                hints: self.hints,
            };
            work(&pool, context, snapshot.distribute(threads), host);
            snapshot = left_by(&shared)?;
            if !shared.only_paused() {
                let solution = self.concluded(shared, &free, &snapshot);
                if interval.is_some() && matches!(solution.verdict, Verdict::Unknown(_)) {
                    keep(&snapshot, &question, host);
                }
                let proved =
                    solution.verdict == Verdict::Equivalent || is_leg && solution.verdict != Verdict::Different;
                finish(recorder, proved, host);
                return Ok((solution, snapshot));
            }
            keep(&snapshot, &question, host);
            // Waiting for the slowest worker and writing took from the pause until now.
            let cost = start.elapsed().saturating_sub(pause.unwrap_or_default());
            interval = interval.map(|i| i.max(SNAPSHOT_BACK_OFF * cost));
        }
    }

    /// What there is to do at an origin.
    fn first_snapshot(&self, origin: Origin<'_>, question: &Question<'_>) -> Result<Snapshot, Error> {
        let Question { pair, region, property, .. } = question;
        match origin {
            Origin::Share(share, probed) => Ok(share.begin(probed)),
            Origin::Snapshot(bytes) => Snapshot::read(bytes, question),
            Origin::Root(probed) => {
                let one_function = self.pair.identical() && intervals::is_defined(pair, &region.lower, &region.upper);
                let open = property.open(one_function);
                let root = Node::root(region.lower.clone(), region.upper.clone(), open);
                let root = Node { hint: self.hints.map(|_| ROOT), ..root };
                Ok(Snapshot::start(root, property.obligations.len(), probed))
            }
        }
    }

    /// A solution over all inputs, with what came of the hints.
    fn concluded(&self, shared: Shared, free: &[usize], snapshot: &Snapshot) -> Solution {
        let mut solution = shared.into_solution(self.property.obligations.len(), snapshot);
        solution.complete(self.region, free);
        solution.reused = self.hints.map(|hints| (snapshot.statistics.workers.taken_up, hints.steps()));
        solution
    }
}

/// What workers that stopped have left, if their arithmetic held and no box is missing.
fn left_by(shared: &Shared) -> Result<Snapshot, Error> {
    // Threads inherit the mode, but a library may be loaded while they run.
    if shared.arithmetic_failed() || !arithmetic_is_ieee() {
        return Err(Error::Arithmetic);
    }
    let snapshot = shared.snapshot();
    if shared.has_all_boxes(&snapshot) { Ok(snapshot) } else { Err(Error::Boxes) }
}

/// Gives the host what is left to do, if that can be written.
fn keep(snapshot: &Snapshot, question: &Question<'_>, host: &mut dyn Host) {
    if let Some(bytes) = snapshot.write(question) {
        host.keep_snapshot(bytes);
    }
}

/// Ends the record of a search, and gives the host the trail of what it proved.
fn finish(recorder: Option<Recorder>, proved: bool, host: &mut dyn Host) {
    let Some(recorder) = recorder else { return };
    recorder.finish();
    if let Some(trail) = recorder.into_trail().filter(|_| proved) {
        host.keep_trail(trail);
    }
}

/// Lets one worker for each list of nodes search until all are done or told to stop, and answers them meanwhile.
fn work(pool: &rayon::ThreadPool, context: Context<'_>, shares: Vec<Vec<Node>>, host: &mut dyn Host) {
    let workers = shares.len();
    let (requests, inbox) = mpsc::channel();
    pool.in_place_scope(|scope| {
        for nodes in shares {
            let requests = requests.clone();
            scope.spawn(move |_| worker::run(context, &requests, nodes));
        }
        drop(requests);
        serve(inbox, workers, context.shared, context.property.obligations.len(), host);
    });
}

/// Where the record of a proof goes, or its trail where the host wants that.
fn recorder_or_trail(settings: &Settings, origin: Origin<'_>, host: &dyn Host) -> Result<Option<Recorder>, Error> {
    Ok(match recorder(settings, origin)? {
        None if !matches!(origin, Origin::Snapshot(_)) && host.wants_trail() => {
            Some(Recorder::trail(origin.first_box() + 1))
        }
        recorder => recorder,
    })
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
    let recorder = Recorder::create(path, origin.first_box() + 1)
        .map_err(|e| Error::Record(path.display().to_string(), e.to_string()))?;
    Ok(Some(recorder))
}
