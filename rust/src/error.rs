//! Misuse of the core. Running out of budget is never an error, it is a reason for `unknown`.

/// What a caller got wrong; the text names the argument, its value and what is accepted.
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
    /// There is nothing to verify.
    #[error("a network needs at least one layer, one input and one output")]
    EmptyNetwork,
    /// The processor is not in the mode that the bounds suppose.
    #[error(
        "this process has changed the processor's floating-point mode (rounding, or flushing of subnormal numbers); no proof would hold. Look for a library built with -ffast-math"
    )]
    Arithmetic,
    /// The record of a proof cannot be written.
    #[error("cannot write the record of the proof to {0}: {1}")]
    Record(String, String),
    /// A saved search does not fit.
    #[error("the saved search cannot go on: {0}")]
    Saved(String),
    /// The worker threads could not be started.
    #[error("cannot start worker threads: {0}")]
    Threads(String),
}

/// Refuses `found != expected`.
pub(crate) fn same_size(what: impl Into<String>, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Size { what: what.into(), found, expected }) }
}

/// Refuses NaN and infinity.
pub(crate) fn finite<'a>(what: &str, values: impl IntoIterator<Item = &'a f64>) -> Result<(), Error> {
    if values.into_iter().all(|v| v.is_finite()) { Ok(()) } else { Err(Error::NotFinite(what.to_owned())) }
}
