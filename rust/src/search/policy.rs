//! When a search uses which of its means: one table, with what each of them was measured to cost and to bring.
//!
//! Nothing here decides about soundness. Every bound is valid wherever it is tried; a poor choice costs time. What users may switch is in
//! [`crate::settings`]. Times are microseconds of one core on a Zen 3 (AVX2); jets have 16 free inputs and 80 neurons a network, digits 15 to 24 and 200,
//! ACAS Xu 5 and 300.

/// Plain halving before contraction: with a few inputs it often is the shorter way, and a short trial tells.
///
/// | | a box | a contraction | boxes that one contraction saved |
/// |---|---|---|---|
/// | ACAS Xu | 60 | 350 000 | 12 |
/// | jets | 100 | 40 000 | 1 000 and more |
/// | digits | 2 500 | 150 000 | all: halving never ends |
pub struct Trials {
    /// Free inputs beyond which halving one of them changes next to nothing.
    pub inputs: usize,
    /// Boxes of the first trial, at least and at most.
    pub first: (u64, u64),
    /// Multiplications for which the first trial may take more than the least: about a tenth of a second.
    pub work: u64,
    /// Boxes of the second trial, which is made if the first closes boxes.
    pub second: u64,
    /// Open boxes per box bounded up to which boxes are worth going on with; where none is ever closed it is 1.
    pub open: f64,
}

/// Halving a box several times before its parts are bounded ([`super::foresight`]). Boxes on ACAS Xu, by the part of them that closes (eps 0.05, and 0.5 for the
/// last); with 2/3 for all of them it is within 2 % of the best of each:
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
    /// How far one box changes what is expected: a few hundred of them count.
    pub pace: f64,
}

/// Multipliers sought on the spot, from the parent's where these do not do: for jets the parent's close 16 claims for each that new ones close, and it takes
/// 62 in all to bound a box. Seeking them only in each second generation makes 96 000 boxes of 88 000, in the same time; seeking them for all claims where the
/// worst is far from closed saves nothing, and makes such boxes five times as dear. HiGHS takes 2 500 for a box, and is left for programs with more rows than
/// a descent is made for.
pub struct Multipliers {
    /// Rows beyond which a solver for sparse bases is the better choice: a step of the descent costs the square of their number.
    pub rows: usize,
    /// Steps of a descent for each row of its program: many times what it takes.
    pub steps: usize,
}

/// Contraction under an assumed violation, for regions of more inputs than the setting `contract_above`.
pub struct Contraction {
    /// How often a node is looked at again because looking ahead settled signs of neurons; then it waits for its turn like any other.
    pub looks: usize,
    /// Rounds after signs were settled.
    pub again: usize,
}

/// The search for counterexamples, counted rather than timed so that runs repeat.
///
/// Ascents along derivatives find all 105 violated queries on digits that are known, in 7 s for all of them; of these three only by annealing, in 0.1, 0.1 and
/// 9 s. On ACAS Xu scattered points are better ([`super::scatter`]): with both, all 75 violated queries take 2 700 boxes and 2 s together, with ascents alone
/// 29 500 boxes and 25 s. Eight starts for each of ten claims were 10 us a box there; two for each, and six more for the nearest, find as much at half of that.
pub struct Attack {
    /// Starts of the first attack for each claim that is open on the first box; the first of them is the centre of the region.
    pub each: u64,
    /// Starts in all for each of the claims that these came nearest to violating,
    pub nearest: u64,
    /// and how many claims that is.
    pub few: usize,
    /// Claims looked at together when points are scattered.
    pub together: usize,
    /// Starts of each later attack, which is on one claim.
    pub later: u64,
    /// Steps from each start, at most.
    pub steps: u32,
    /// One in so many operations goes into it.
    pub share: u64,
    /// Attacks in a row, at most.
    pub row: u64,
}

/// The mixed-integer solver, where it is allowed: up to seconds for a program, so only where proofs are stuck.
pub struct Mixed {
    /// Unstable neurons up to which a program is small.
    pub binaries: usize,
    /// A node is stuck if so many splits have not proved it; and again after so many more. After half as many most nodes still fall to proofs, in the time of
    /// one program.
    pub splits: usize,
    /// Programs for one node: cuts of an exact confidence make the next one.
    pub cuts: usize,
    /// Seconds for one program.
    pub seconds: f64,
}

/// All of it.
pub struct Policy {
    pub trials: Trials,
    pub halving: Halving,
    pub multipliers: Multipliers,
    pub contraction: Contraction,
    pub attack: Attack,
    pub mixed: Mixed,
}

/// What every search follows.
pub const POLICY: Policy = Policy {
    trials: Trials { inputs: 64, first: (256, 1024), work: 400_000_000, second: 4096, open: 0.9 },
    halving: Halving { closing: 2.0 / 3.0, pace: 0.002 },
    multipliers: Multipliers { rows: 192, steps: 20 },
    contraction: Contraction { looks: 4, again: 2 },
    attack: Attack { each: 2, nearest: 8, few: 1, together: 24, later: 32, steps: 60, share: 32, row: 64 },
    mixed: Mixed { binaries: 40, splits: 12, cuts: 8, seconds: 5.0 },
};
