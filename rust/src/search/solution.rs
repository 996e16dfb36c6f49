//! What a search answers: verdict, reason, progress, and what it took.

use super::Region;
use super::open_sample::{OpenBox, WorstBox};
use super::profile::Profile;
use super::statistics::Stages;

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

impl Verdict {
    /// The word by which users know it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Equivalent => "equivalent",
            Self::Different => "different",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Declares the reasons once: variants, words and codes (the place in this list, from 1).
macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $name:ident = $word:literal,)*) => {
        /// Why a claim was not decided.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason { $($(#[doc = $doc])* $name,)* }

        impl Reason {
            /// All reasons, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word by which users know it.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

reasons! {
    /// Time ran out.
    Timeout = "timeout",
    /// The limit on boxes was reached.
    Boxes = "boxes",
    /// The host asked to stop.
    Interrupted = "interrupted",
    /// Some boxes cannot be split further and are still undecided.
    Incomplete = "incomplete",
    /// The bounds on some boxes miss the limit by no more than rounding: binary64 cannot decide.
    FloatOnly = "float_only",
    /// Some boxes cannot be split further, and points were found there that violate the claim but for the exact
    /// confidence.
    Spurious = "spurious",
    /// Nothing is open but boxes of which a solver says that nothing violates the claim there: it holds if the solver
    /// is right.
    Solver = "solver",
}

impl Reason {
    /// A number for it, from 1.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8 + 1
    }

    /// The reason of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.word() == word)
    }

    /// The reason of a number; `None` for 0, which stands for no reason.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }
}

/// What the search knows so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Share of the claim that is proved: over all obligations, by volume of the box (halves of a phase split count
    /// like halves of a box).
    pub certified: f64,
    /// Boxes bounded.
    pub boxes: u64,
    /// Boxes that wait or are being bounded.
    pub open_boxes: u64,
    /// Depth of the deepest box on which something was proved.
    pub depth: usize,
    /// Seconds since the start.
    pub seconds: f64,
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
    /// Boxes that were split.
    pub splits: u64,
    /// Objectives handed to the LP solver.
    pub lps: u64,
    /// Mixed-integer programs handed to a solver.
    pub milps: u64,
    /// Boxes left undecided of which a mixed-integer solver says that nothing violates the claim there.
    pub rests_on_solver: u64,
    /// Largest |bound| of the difference on the first box.
    pub initial_bound: f64,
    /// Share of the claim that is proved, as in [`Progress::certified`], exact up to its conversion to binary64.
    pub certified_fraction: f64,
    /// Boxes left open.
    pub open_boxes: u64,
    /// The worst of the boxes that are undecided, over all inputs.
    pub worst_open: Option<WorstBox>,
    /// For `Unknown`: a sample of the boxes that are undecided, over all inputs.
    pub open_sample: Vec<OpenBox>,
    /// Wall time.
    pub seconds: f64,
    /// How often each stage decided something.
    pub stages: Stages,
    /// Where time and arithmetic went.
    pub profile: Profile,
    /// Steps of an earlier proof that were taken up, and how many there were; `None` where none was known.
    pub reused: Option<(u64, u64)>,
}

impl Solution {
    /// Turns the boxes over free inputs in it into boxes over all inputs of the region.
    pub(super) fn complete(&mut self, region: &Region, free: &[usize]) {
        self.open_sample.iter_mut().for_each(|open| open.complete(region, free));
        if let Some(open) = &mut self.worst_open {
            (open.lower, open.upper) = (region.complete(free, &open.lower), region.complete(free, &open.upper));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_code_and_a_word_of_its_own() {
        for (i, &reason) in Reason::ALL.iter().enumerate() {
            assert_eq!(usize::from(reason.code()), i + 1);
            assert_eq!(Reason::from_code(reason.code()), Some(reason));
            assert_eq!(Reason::from_word(reason.word()), Some(reason));
            assert!(Reason::ALL[..i].iter().all(|other| other.word() != reason.word()));
        }
        assert_eq!(Reason::from_code(0), None);
        assert_eq!(Reason::from_code(u8::MAX), None);
    }
}
