//! How to search: one table, from which the struct, its defaults, its documentation and the arguments in Python follow.

use crate::domain::AbstractDomain;
use crate::error::Error;

/// The table of settings: hands every setting (documentation, name, type, default) to the macro that it is given.
///
/// The struct, its defaults and the settings that Python may name all come from here, so a new setting is one more
/// entry.
macro_rules! with_settings {
    ($macro:ident) => {
        $macro! {
            /// Enclosure: shared (default), paper (as published) or naive (no difference zonotope).
            domain: AbstractDomain = AbstractDomain::Reduced,
            /// Worker threads; 0 means one per core.
            threads: usize = 0,
            /// Seconds until the search stops with what it has.
            timeout: f64 = f64::INFINITY,
            /// Bytes for open boxes; beyond them the search goes on depth first.
            memory: usize = 2 << 30,
            /// Bytes for the zonotopes of one thread; where they would not fit, a box is bounded backwards alone.
            zonotope_memory: usize = 2 << 30,
            /// Boxes after which the search stops; 0 means no limit.
            boxes: u64 = 0,
            /// Whether linear programs may be solved.
            lp: bool = true,
            /// Whether multipliers are sought by a descent before a solver is asked; switched off only to compare.
            dual: bool = true,
            /// Whether each network is also bounded by itself on a box; switched off only to compare.
            back_substitution: bool = true,
            /// Whether slopes of such bounds depend on where each of them is expected to be attained, on boxes that are not
            /// contracted; switched off only to compare.
            corner_slopes: bool = true,
            /// Whether bounds are contracted under an assumed violation where that is expected to pay.
            contract: bool = true,
            /// Free inputs up to which boxes are only halved: on ACAS Xu (5 inputs) a contraction saved a dozen boxes
            /// and cost hundreds, on jets (16) it replaced a hundred thousand boxes by thirty.
            contract_above: usize = 8,
            /// Free inputs above which a contraction leaves inputs alone, and bounds few neurons of many.
            wide_above: usize = 64,
            /// Bounds of neurons with which a contraction of so many inputs begins, of those that cost the violation
            /// most; 0 means all at once, only to compare.
            selected: usize = 32,
            /// Whether all neurons are bounded backwards on the first box of a graph or of so many inputs; switched off
            /// only to compare.
            root_bounds: bool = true,
            /// Whether such a box is split at signs of neurons within those bounds; switched off only to compare.
            sign_trees: bool = true,
            /// Whether Euclidean norms bound what functions add to the difference on the first box of a graph or of so many
            /// inputs; switched off only to compare.
            euclidean_norms: bool = true,
            /// Whether the first box of smooth functions is bounded by forms of second order; switched off only to compare.
            second_order: bool = true,
            /// Whether the roundings of products of one value are taken together; switched off only to compare.
            joint_rounding: bool = true,
            /// Whether each network is first contracted by itself on the first box of so many inputs; switched off only to
            /// compare.
            alone: bool = true,
            /// Whether bounds of each network by itself use the hulls of the first ReLUs over the box; switched off only to
            /// compare.
            hulls: bool = true,
            /// Whether multipliers of backward bounds are sought in single precision, where magnitudes allow it; switched
            /// off only to compare. The bounds themselves are in f64 either way.
            singles: bool = true,
            /// Whether such steps leave out what is stable in both networks; switched off only to compare.
            stable_left_out: bool = true,
            /// Whether counterexamples are looked for by gradient ascent and random search.
            attack: bool = true,
            /// Whether backward bounds may move weight between networks and difference; switched off only to compare.
            link: bool = true,
            /// Whether a confidence is the exact softmax; switched off it is the published polytope, only to compare.
            entropy: bool = true,
            /// Whether what contraction leaves may be split at the sign of a neuron or of a difference.
            phases: bool = true,
            /// Whether a mixed-integer solver is asked about what splitting does not settle. No proof rests on its
            /// answer, but the reason of an open question may.
            milp: bool = false,
            /// A new file for the record of a proof; none is written without it.
            record: Option<std::path::PathBuf> = None,
        }
    };
}
#[cfg(feature = "python")]
pub(crate) use with_settings;

macro_rules! declare {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ty = $default:expr,)*) => {
        /// How to search. Every combination is sound; they differ in cost.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings { $($(#[doc = $doc])* pub $name: $type,)* }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        /// Name and documentation of every setting, in order.
        pub const SETTINGS: &[(&str, &str)] = &[$((stringify!($name), concat!($($doc,)*)),)*];
    };
}

with_settings!(declare);

impl Settings {
    /// Whether bounds are contracted on boxes of so many free inputs.
    #[must_use]
    pub fn contracts(&self, inputs: usize) -> bool {
        self.contract && self.domain == AbstractDomain::Reduced && inputs > self.contract_above
    }

    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> usize {
        match self.threads {
            0 => processors(),
            threads => threads,
        }
    }

    /// Refuses values that make no sense.
    pub fn validate(&self) -> Result<(), Error> {
        if self.timeout.is_nan() || self.timeout < 0.0 {
            return Err(Error::Value {
                name: "timeout",
                value: self.timeout.to_string(),
                accepted: "seconds, at least 0",
            });
        }
        if self.threads > 1024 {
            return Err(Error::Value { name: "threads", value: self.threads.to_string(), accepted: "0 to 1024" });
        }
        Ok(())
    }
}

impl AbstractDomain {
    /// From the word users write.
    pub fn from_word(word: &str) -> Result<Self, Error> {
        match word {
            "paper" => Ok(Self::Published),
            "naive" => Ok(Self::Independent),
            "shared" => Ok(Self::Reduced),
            _ => Err(Error::Value { name: "domain", value: word.to_owned(), accepted: "shared, paper or naive" }),
        }
    }
}

/// How many processors this process may use: those that it may run on, or fewer where its control group has a share.
#[must_use]
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
