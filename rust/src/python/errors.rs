//! Errors of the core as exceptions: one class of `eqspec.errors` for each cause.

use crate::error::{Error, Kind};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The Python exception of a core error.
pub fn python_error(error: &Error) -> PyErr {
    raised(error.kind(), error.to_string())
}

/// The Python exception for a cause; where `eqspec.errors` cannot be imported, a `RuntimeError`, which nobody takes for
/// a refused argument or state.
pub fn raised(kind: Kind, message: String) -> PyErr {
    let class = match kind {
        Kind::Misuse => "InputError",
        Kind::Resource => "ResourceError",
        Kind::Saved => "SavedStateError",
        Kind::Internal => "InternalError",
    };
    Python::attach(|py| {
        let class = py.import("eqspec.errors").and_then(|module| module.getattr(class));
        match class.and_then(|class| class.call1((message.as_str(),))) {
            Ok(instance) => PyErr::from_value(instance),
            Err(_) => PyRuntimeError::new_err(message),
        }
    })
}
