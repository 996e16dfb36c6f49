//! When a search uses which of its means: one table, with what each of them was measured to cost and to bring.
//!
//! Nothing here decides about soundness. Every bound is valid wherever it is tried; a poor choice costs time. What
//! users may switch is in [`crate::settings`]. Times are microseconds of one core on a Zen 3 (AVX2); jets have 16 free
//! inputs and 80 neurons a network, digits 15 to 24 and 200, ACAS Xu 5 and 300.

use crate::bound::{AloneBudget, NearBudget, SignTreeBudget};

/// The stages of bounding a box (`search/stages`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageName {
    /// The region's constraints.
    Outside,
    /// Zonotopes through both networks.
    Propagation,
    /// The centre, until an input was seen that meets a guard.
    GuardSample,
    /// Guards that f1 cannot meet.
    Guards,
    /// Violations by zonotope rows.
    ZonotopeRows,
    /// Violations by Euclidean norms, on a first box where all bounds are nearly good enough.
    NearlyExcluded,
    /// Counterexamples.
    Falsification,
    /// Violations by rows in which the roundings of products of one value are taken together.
    JointRoundings,
    /// Boxes on which only rounding separates the bound from the limit.
    RoundingLimit,
    /// Violations by forms of second order, on the first box of smooth functions.
    SecondOrder,
    /// Backward bounds of all neurons, on the first box of a graph or of many inputs.
    BackwardBounds,
    /// What each network does by itself, on the first box of many inputs.
    EachNetworkAlone,
    /// Multipliers of the parent.
    InheritedMultipliers,
    /// The best multipliers, by a descent in the dual.
    DualBounds,
    /// Bounds under an assumed violation.
    Contraction,
    /// Mixed-integer programs for what contraction left.
    MixedPrograms,
    /// A split of what contraction left.
    SignSplit,
    /// The choice of inputs to halve.
    Planning,
    /// Linear programs for a solver.
    LinearPrograms,
}

/// The order of the stages: by cost, as far as one does not need another. What is proved in one stage is not looked at
/// in the next, and a box that is open after the last one is halved.
pub const STAGES: [StageName; 19] = [
    StageName::Outside,
    StageName::Propagation,
    StageName::GuardSample,
    StageName::Guards,
    StageName::ZonotopeRows,
    StageName::NearlyExcluded,
    StageName::Falsification,
    StageName::JointRoundings,
    StageName::RoundingLimit,
    StageName::SecondOrder,
    StageName::BackwardBounds,
    StageName::EachNetworkAlone,
    StageName::InheritedMultipliers,
    StageName::DualBounds,
    StageName::Contraction,
    StageName::MixedPrograms,
    StageName::SignSplit,
    StageName::Planning,
    StageName::LinearPrograms,
];

/// Plain bisection before contraction: with a few inputs it often is the shorter way, and a short probe shows whether
/// it is.
///
/// | | a box | a contraction | boxes that one contraction saved |
/// |---|---|---|---|
/// | ACAS Xu | 60 | 350 000 | 12 |
/// | jets | 100 | 40 000 | 1 000 and more |
/// | digits | 2 500 | 150 000 | all: halving never ends |
pub struct Probes {
    /// Free inputs beyond which halving one of them changes next to nothing.
    pub inputs: usize,
    /// The same of graphs, whose first box is bounded backwards in any case. A tagger of 1-d convolutions, 8 bits, six boxes
    /// each in which so many of its 40 inputs are free, for 1.15 of the largest sample: at 24 inputs within .5 all in .6 s
    /// with probes, and two of six without; at 32 and 40 inputs within .05 all in .9 and 1.3 s with probes, .25 and .4 s without.
    pub inputs_of_graph: usize,
    /// The fewest and the most boxes of the first probe.
    pub first: (u64, u64),
    /// Multiplications that the first probe may take where that allows more than the fewest boxes: about a tenth of a
    /// second.
    pub work: u64,
    /// Boxes of the second probe, which is made if the first one closes boxes.
    pub second: u64,
    /// Open boxes per box bounded up to which there is a second probe; where no box is ever closed the ratio is 1.
    pub open: f64,
    /// The same for the probes that follow, each of which takes as many boxes as those before it.
    pub open_long: f64,
    /// Multiplications that any of them may take at most: a few seconds, since most neurons of a box are stable.
    pub longest: u64,
    /// The share of the limit on time after which there is none.
    pub share: f64,
}

/// Halving a box several times before its parts are bounded ([`super::split::gain`]). Boxes on ACAS Xu, by the part of
/// them that closes (eps 0.05, and 0.5 for the last); with 2/3 for all of them it is within 2 % of the best of each:
///
/// | | half | 0.55 | 0.6 | 0.65 | 0.7 | 0.8 |
/// |---|---|---|---|---|---|---|
/// | 1_9 prop_8 | 20 100 | 18 800 | | 16 900 | | |
/// | 3_1 prop_26 | | | 106 100 | 104 600 | 106 300 | 120 000 |
/// | 5_1 prop_10 | | 23 000 | 22 300 | 22 300 | 23 400 | 28 000 |
/// | 5_9 prop_10 | | | | | 8 000 | 9 300 |
/// | 3_1 prop_8 | | | 359 800 | | 336 900 | 356 600 |
pub struct Halving {
    /// The part of the boxes that is best closed by bounding them.
    pub closing: f64,
    /// How far one box changes the estimate, so that it follows the last few hundred boxes.
    pub pace: f64,
}

/// Multipliers sought by a descent on the box itself, starting from the parent's where those are not good enough: for
/// jets the parent's close 16 claims for each that new ones close, and it takes 62 in all to bound a box. Seeking them
/// only in each second generation makes 96 000 boxes of 88 000, in the same time; seeking them for all claims where the
/// worst is far from closed saves nothing, and makes such boxes take five times as long. HiGHS takes 2 500 for a box,
/// and is left for programs with more rows than a descent is made for.
pub struct Multipliers {
    /// Rows beyond which a solver for sparse bases is the better choice: a step of the descent costs the square of
    /// their number.
    pub rows: usize,
    /// Steps of a descent for each row of its program: many times what it takes.
    pub steps: usize,
}

/// Backward bounds on the first box, before anything is assumed.
pub struct Backward {
    /// Steps of the multipliers for each violation.
    pub steps: i32,
}

/// Contraction under an assumed violation, for regions of more inputs than the setting `contract_above`.
pub struct Contraction {
    /// How often look-ahead may settle signs of neurons and the node is contracted again at once. After that the node
    /// waits for its turn like any other.
    pub looks_ahead: usize,
    /// Rounds of a contraction after signs were settled.
    pub rounds_again: usize,
    /// Rounds after an earlier contraction that proves no longer what it proved, and before them short ones: how many, and
    /// their steps. Jets pruned by a quarter, from the proof of those pruned by a fifth, within .25 and .3 sigma: 0.77 and
    /// 2.8 s cold; 0.38 and 2.2 s with 2 rounds, as after signs, and 75 nodes within .3, many of them split where another
    /// round proves; 0.37 and 2.0 s with 4, and 63 nodes (59 with 8, in the same time); 0.32 and 2.2 s with short ones first.
    pub rounds_taken_up: usize,
    pub short_taken_up: (usize, i32),
}

/// Attacks for counterexamples, counted rather than timed so that runs repeat.
///
/// Gradient ascents find all 105 violated queries on digits that are known, in 7 s for all of them; of these three only
/// by annealing, in 0.1, 0.1 and 9 s. On ACAS Xu random search ([`super::falsify`]) is better: with both, all 75
/// violated queries take 2 700 boxes and 2 s together, with ascents alone 29 500 boxes and 25 s. Eight starts for each
/// of ten claims took 10 us a box there; two for each, and six more for the nearest, find as much in half the time.
pub struct Attack {
    /// Starts of the first attack for each claim that is open on the first box. The first start is the centre of the
    /// region.
    pub first_starts: u64,
    /// The most claims that the first attack takes: of more, those that are nearest to being violated at two points.
    /// Each claim takes as many operations as hundreds of evaluations, so that an attack on a distance between networks
    /// of 640 outputs, of which each has two claims, took the whole minute of a search.
    pub first_claims: usize,
    /// Starts, the first ones included, for each of the claims that the first attack came nearest to violating.
    pub intensified_starts: u64,
    /// The number of claims that get these further starts.
    pub claims_intensified: usize,
    /// Claims that one random search looks for at once.
    pub claims_together: usize,
    /// Starts of each later attack, which is on one claim.
    pub later_starts: u64,
    /// The most steps from each start.
    pub steps: u32,
    /// One operation for every so many operations of bounding goes into attacks.
    pub share: u64,
    /// The same where networks round. Proofs take many more boxes there, so that a violation that is not found costs more:
    /// 2_9 prop_7 of ACAS Xu beside 16 bits takes 20 000 to 90 000 evaluations to find, and no proof ends.
    pub share_rounding: u64,
    /// The most attacks in a row.
    pub attacks_in_a_row: u64,
}

/// The mixed-integer solver, where it is allowed. A program may take seconds, so it is asked only where proofs make no
/// progress.
pub struct Mixed {
    /// Unstable neurons up to which a program is small.
    pub binaries: usize,
    /// The solver is asked about a node after so many splits, and again after so many more. After half as many splits
    /// most nodes are still proved, in the time of one program.
    pub splits: usize,
    /// The most programs for one node. A cut for an exact confidence makes the next one.
    pub programs: usize,
    /// Seconds for one program.
    pub seconds: f64,
}

/// The whole policy.
pub struct Policy {
    pub probes: Probes,
    pub halving: Halving,
    pub multipliers: Multipliers,
    pub backward: Backward,
    /// Splits at signs of violations that these leave open; what is done in vain counts for all of them together.
    pub sign_tree: SignTreeBudget,
    /// So many boxes' work both of these may take where boxes are halved and not contracted, as in regions of few inputs and in probes. Of a
    /// leaky network 6-24-24-16-3 beside its 8 bits, claims that 121 to 67 115 boxes prove in .03 to 1.7 s took trees of 2 to 20 s.
    pub halved_first: u64,
    /// Contraction of the neurons that cost most of these violations; what is done in vain counts for all of them together.
    pub near: NearBudget,
    /// Products of two free inputs, times rows of all steps, up to which the first box has forms of second order. Digits' largest
    /// networks have 6 million, and take half a second.
    pub products: usize,
    /// How often the first box is propagated again within differences that roundings taken together allow.
    pub joint_passes: usize,
    /// Contraction of one network by itself on the whole box, and on a part of it.
    pub alone: AloneBudget,
    pub alone_part: AloneBudget,
    /// After so many parts a question is given up if it is expected to take more than so many.
    pub alone_parts: (u32, f64),
    /// The most of the time that is left that may go into questions about one network, and the most of it where at
    /// least half of them have their answer.
    pub alone_shares: (f64, f64),
    pub contraction: Contraction,
    pub attack: Attack,
    pub mixed: Mixed,
}

/// What every search follows.
pub const POLICY: Policy = Policy {
    probes: Probes {
        inputs: 64,
        inputs_of_graph: 24,
        first: (256, 1024),
        work: 400_000_000,
        second: 4096,
        open: 0.9,
        open_long: 0.25,
        longest: 50_000_000_000,
        share: 0.25,
    },
    halving: Halving { closing: 2.0 / 3.0, pace: 0.002 },
    multipliers: Multipliers { rows: 192, steps: 20 },
    backward: Backward { steps: 40 },
    sign_tree: SignTreeBudget { work: 16_000_000_000, foreseen_after: 64, at_once: 32 },
    halved_first: 256,
    near: NearBudget { work: 10_000_000_000, functionals: (128, 16), steps: 16, gain: 0.8 },
    products: 32_000_000,
    joint_passes: 3,
    alone: AloneBudget {
        rounds: 60,
        steps: 20,
        rate: 0.05,
        gain: 0.99,
        work: 400_000_000_000,
        whole: false,
        hulls: 15,
    },
    alone_part: AloneBudget {
        rounds: 4,
        steps: 12,
        rate: 0.03,
        gain: 0.97,
        work: 400_000_000_000,
        whole: true,
        hulls: 15,
    },
    alone_parts: (32, 4096.0),
    alone_shares: (0.8, 0.97),
    contraction: Contraction { looks_ahead: 4, rounds_again: 2, rounds_taken_up: 4, short_taken_up: (3, 20) },
    attack: Attack {
        first_starts: 2,
        first_claims: 128,
        intensified_starts: 8,
        claims_intensified: 1,
        claims_together: 24,
        later_starts: 32,
        steps: 60,
        share: 32,
        share_rounding: 16,
        attacks_in_a_row: 64,
    },
    mixed: Mixed { binaries: 40, splits: 12, programs: 8, seconds: 5.0 },
};
