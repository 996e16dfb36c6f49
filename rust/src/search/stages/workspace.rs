//! The data that the stages of bounding a box work on: a worker's tools, which are reused for every box, and what is
//! known about the current one.

use crate::bound::split_candidates::Split;
use crate::bound::{Assumption, Contraction, Contractor};
use crate::domain::clock::Clock;
use crate::domain::output::GeneratorRow;
use crate::domain::{Output, Propagation, RestrictedPair};
use crate::lp::certified::Scratch;
use crate::lp::{Dual, LinearProgram, Multipliers, RegionRow};
use crate::search::Node;
use crate::search::context::Context;
use crate::search::falsify::Falsifier;
use crate::search::host::Request;
use crate::search::payoff::Payoff;
use crate::search::policy::POLICY;
use crate::search::profile::Activity;
use crate::search::split::Plan;
use crate::search::split::gain::SplitGain;
use crate::search::split::score::Scores;
use crate::search::statistics::WorkerStatistics;
use std::sync::{Arc, mpsc};

/// A worker's tools, and the box that it is bounding.
pub struct Workspace<'a> {
    /// What all workers read.
    pub context: Context<'a>,
    /// The way to the calling thread.
    pub requests: &'a mpsc::Sender<Request>,
    /// The last propagation of a box.
    pub propagation: Propagation,
    /// The pair without the neurons that are inactive on the parent.
    pub restricted_pair: RestrictedPair<'a>,
    /// A row over the generators of the last propagation.
    pub row: GeneratorRow,
    /// Space to certify bounds in.
    pub scratch: Scratch,
    /// The descent in the dual of a linear program.
    pub dual: Dual,
    /// Multipliers of the violation that was bounded last.
    pub multipliers: Multipliers,
    /// A direction in which the bound of a contradictory program falls for ever.
    pub ray: Multipliers,
    /// A point as values of the generators.
    pub generators: Vec<f64>,
    /// Contraction under an assumed violation.
    pub contractor: Contractor<'a>,
    /// Whether bounds of each network by itself pay.
    pub payoff: Payoff,
    /// The scores by which inputs are chosen for a split.
    pub scores: Scores,
    /// The search for counterexamples.
    pub falsifier: Falsifier<'a>,
    /// Additions and multiplications of bounding that other threads did for this worker.
    pub elsewhere: u64,
    /// Counters of the worker.
    pub statistics: WorkerStatistics,
    /// What is known about the current box.
    pub current: Current,
}

/// What the stages know about the current box, beyond its node.
pub struct Current {
    /// Obligations open when the worker took it up.
    pub opened: usize,
    /// Whether it is the first box of the search.
    pub first: bool,
    /// Boxes bounded before it, from which random starts are drawn.
    pub seed: u64,
    /// The open obligation with the largest bound.
    pub worst: Worst,
    /// Whether the bounds of all open violations miss their limit by no more than rounding, which halving does not
    /// shrink.
    pub within_rounding: bool,
    /// The region's constraints over the generators of the last propagation.
    pub region: Vec<RegionRow>,
    /// Whether a solver would find no multipliers that are worth having beyond those already known.
    pub multipliers_are_best: bool,
    /// What contraction left, if the box was contracted.
    pub contracted: Option<Contracted>,
    /// Where the box is to be halved if it stays open; empty where it cannot be halved.
    pub plan: Plan,
}

/// The open obligation with the largest bound.
#[derive(Clone, Copy)]
pub struct Worst {
    /// Its bound.
    pub bound: f64,
    /// Its number.
    pub obligation: usize,
    /// Where to halve because of it, if a stage has found that.
    pub plan: Option<Plan>,
}

impl Default for Worst {
    fn default() -> Self {
        Self { bound: f64::NEG_INFINITY, obligation: 0, plan: None }
    }
}

/// What contraction left of the one obligation of a node.
pub struct Contracted {
    /// The bounds, and the corner they point to.
    pub left: Box<Contraction>,
    /// The violation that they assume.
    pub assumption: Assumption,
    /// Splits by what look-ahead expects of them, the best one first.
    pub splits: Vec<Split>,
}

impl Current {
    /// Before the first stage of a box.
    pub fn new(opened: usize, first: bool, seed: u64) -> Self {
        Self {
            opened,
            first,
            seed,
            worst: Worst::default(),
            within_rounding: true,
            region: Vec::new(),
            multipliers_are_best: false,
            contracted: None,
            plan: Plan::default(),
        }
    }
}

/// What a stage came to.
pub enum StageResult {
    /// Something is open: the next stage goes on with it.
    Open,
    /// Everything that was open on the box is proved.
    Proved,
    /// A counterexample was found, which ends the search.
    Falsified,
    /// The box is to be halved by [`Current::plan`] without asking further stages.
    Halve,
    /// The box is replaced by these nodes.
    Branch(Vec<Node>),
    /// The box goes back to the queue with what is known about it now.
    Requeue,
    /// The box is put away as undecided, since halving it would not help.
    Undecided,
    /// The box is put away as undecided: a mixed-integer solver says that nothing violates the claim there, which is no
    /// proof.
    RestsOnSolver,
    /// Linear programs might prove the box; they are sent to the solver while the worker goes on with other boxes.
    Ask(Programs),
}

/// The linear programs of a box.
pub struct Programs {
    /// Guard and obligations of each program, in order.
    pub groups: Vec<(Option<usize>, Vec<usize>)>,
    /// The programs themselves.
    pub programs: Vec<LinearProgram>,
}

/// One stage of bounding a box.
pub trait Stage {
    /// Tries to prove what is open on `node`, or to find a counterexample there.
    fn run(&self, workspace: &mut Workspace<'_>, node: &mut Node) -> StageResult;
}

impl<'a> Workspace<'a> {
    /// The workspace of one worker.
    pub fn new(context: Context<'a>, requests: &'a mpsc::Sender<Request>) -> Self {
        let (gain, payoff) = context.shared.learned();
        Self {
            context,
            requests,
            propagation: propagation(&context),
            restricted_pair: RestrictedPair::new(context.pair),
            row: GeneratorRow::default(),
            scratch: Scratch::default(),
            dual: Dual::default(),
            multipliers: Multipliers::default(),
            ray: Multipliers::default(),
            generators: Vec::new(),
            contractor: Contractor::new(context.pair)
                .in_singles(context.settings.singles)
                .leaving_out_stable(context.settings.stable_left_out)
                .recording(context.record.logging()),
            payoff,
            scores: Scores::new(gain),
            falsifier: Falsifier::new(context, requests),
            elsewhere: 0,
            statistics: WorkerStatistics::default(),
            current: Current::new(0, false, 0),
        }
    }

    /// What the worker has learned, for those that go on.
    pub fn learned(&self) -> (SplitGain, Payoff) {
        (self.scores.gain, self.payoff)
    }

    /// From now on time is spent on `activity`.
    pub fn enter(&mut self, activity: Activity) {
        self.statistics.profile.enter(activity);
    }

    /// Additions and multiplications of bounding so far, without those of falsification.
    pub fn flops(&self) -> u64 {
        self.propagation.flops() + self.contractor.flops() + self.elsewhere
    }

    /// Whether linear programs can prove more than zonotope rows: only where a guard or a constraint joins the
    /// violation.
    pub fn uses_programs(&self) -> bool {
        let Context { settings, property, .. } = self.context;
        settings.lp && (!property.guards.is_empty() || !self.current.region.is_empty())
    }
}

impl StageResult {
    /// Whether anything is open on a node.
    pub fn of(node: &Node) -> Self {
        if node.open.is_empty() { Self::Proved } else { Self::Open }
    }
}

/// The propagation of boxes. No network is bounded by itself where halving an input changes next to nothing, since there
/// it costs a third of a box and brings less than one per cent. The auditor of a recorded proof has the same limit, and
/// bounds only chains so; intervals of functions that are not defined everywhere and slopes by corners it does not know.
/// The trail of a proof for the next one is no such record: whatever follows it bounds its boxes anew. Where boxes are
/// contracted, multipliers say more than slopes by corners, which changed the boxes of jets and digits by less than 1 %.
fn propagation(context: &Context<'_>) -> Propagation {
    let Context { pair, settings, .. } = *context;
    let few_inputs = pair.inputs() <= POLICY.probes.inputs;
    let audited = pair.is_chain() || !context.record.on();
    let back_substitution = settings.back_substitution && few_inputs && audited;
    let corner_slopes = settings.corner_slopes && !settings.contracts(pair.inputs()) && !context.record.on();
    Propagation::new(settings.domain, pair.depth())
        .with_back_substitution(back_substitution)
        .with_corner_slopes(corner_slopes)
        .for_certificate(context.record.on())
        .with_memory(settings.zonotope_memory)
        .with_clock(Clock { deadline: context.shared.deadline, stopped: Some(Arc::clone(&context.shared.stopped)) })
}

/// The outputs of the last propagation.
pub fn output_of<'r>(propagation: &'r Propagation, context: &Context<'_>) -> Output<'r> {
    Output::new(&propagation.layers()[context.pair.depth() - 1], context.pair.inputs(), context.settings.domain)
}
