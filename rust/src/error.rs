//! What ends a search without an answer, by cause. Running out of budget is never an error but a reason for `unknown`.
//!
//! The cause decides what becomes of a saved search: it may be discarded only if it is itself shown to be unusable.
//! Wrong arguments and a machine that has no threads left say nothing about it.

/// The cause of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The caller: an argument has the wrong size or an impossible value.
    Misuse,
    /// The machine or the process: the same call may succeed at another time.
    Resource,
    /// The saved search cannot be resumed, now or later.
    Saved,
    /// The core: the search itself failed, which is a defect.
    Internal,
}

/// An error, whose text names the argument, its value and what is accepted; or what the machine did not give, and what
/// helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Two things that must have the same size do not.
    #[error("{what} has size {found}, expected {expected}")]
    Size {
        /// Which argument.
        what: String,
        /// Its size.
        found: usize,
        /// The size that would fit.
        expected: usize,
    },
    /// A number is NaN or infinite where only finite numbers make sense.
    #[error("{0} must be finite, found NaN or infinity")]
    NotFinite(String),
    /// lower > upper somewhere.
    #[error("the box is empty: lower[{index}] = {lower} > upper[{index}] = {upper}")]
    EmptyBox {
        /// Input index.
        index: usize,
        /// Its lower end, as text.
        lower: String,
        /// Its upper end, as text.
        upper: String,
    },
    /// A setting or property parameter is out of range.
    #[error("{name} = {value} is not accepted: {accepted}")]
    Value {
        /// Parameter name.
        name: &'static str,
        /// What was given.
        value: String,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// There is no such function, or its parameters make none.
    #[error("function {name}: {problem}")]
    Function {
        /// Its name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// There is no setting of that name.
    #[error("there is no setting {name}; there are {known}")]
    Setting {
        /// The name that was given.
        name: String,
        /// The names that are known.
        known: String,
    },
    /// There is nothing to verify.
    #[error("a network needs at least one layer, one input and one output")]
    EmptyNetwork,
    /// The processor is not in the mode that the bounds suppose.
    #[error(
        "this process has changed the processor's floating-point mode (rounding, or flushing of subnormal numbers); \
         no proof would hold. Look for a library built with -ffast-math"
    )]
    Arithmetic,
    /// The record of a proof cannot be written.
    #[error("cannot write the record of the proof to {0}: {1}; make room there, or name another folder")]
    Record(String, String),
    /// A saved search does not fit.
    #[error("the saved search cannot go on: {0}")]
    Saved(String),
    /// A share of a search, or the answer to one, is not what it should be.
    #[error("a share of the search is refused: {0}")]
    Share(String),
    /// The boxes of a search do not add up.
    #[error(
        "boxes of the search are missing or counted twice, so that nothing is concluded; this is a defect of eqspec, \
         please report it"
    )]
    Boxes,
    /// The worker threads could not be started.
    #[error("cannot start {0} worker threads: {1}; ask for fewer, or raise the limits on processes and memory")]
    Threads(usize, String),
}

impl Error {
    /// Its cause.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Size { .. }
            | Self::NotFinite(_)
            | Self::EmptyBox { .. }
            | Self::Value { .. }
            | Self::Function { .. }
            | Self::Setting { .. }
            | Self::EmptyNetwork => Kind::Misuse,
            Self::Arithmetic | Self::Record(..) | Self::Threads(..) => Kind::Resource,
            Self::Saved(_) | Self::Share(_) => Kind::Saved,
            Self::Boxes => Kind::Internal,
        }
    }
}

/// Refuses `found != expected`.
pub(crate) fn same_size(what: impl Into<String>, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Size { what: what.into(), found, expected }) }
}

/// Refuses NaN and infinity.
pub(crate) fn finite<'a>(what: &str, values: impl IntoIterator<Item = &'a f64>) -> Result<(), Error> {
    if values.into_iter().all(|v| v.is_finite()) { Ok(()) } else { Err(Error::NotFinite(what.to_owned())) }
}
