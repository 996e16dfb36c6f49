//! Settings from Python: keywords, checked against the one table of settings.

use super::errors::python_error;
use crate::domain::AbstractDomain;
use crate::error::Error;
use crate::settings;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// How to search.
#[pyclass(frozen, module = "eqspec._core")]
pub struct Settings(pub settings::Settings);

/// A type that a setting may have.
trait Value: Sized {
    /// The values of this type, in words.
    const ACCEPTED: &'static str;
    /// From what Python hands in.
    fn read(value: &Bound<'_, PyAny>) -> PyResult<Self>;
}

macro_rules! values {
    ($($type:ty: $accepted:literal,)*) => {
        $(impl Value for $type {
            const ACCEPTED: &'static str = $accepted;
            fn read(value: &Bound<'_, PyAny>) -> PyResult<Self> {
                value.extract()
            }
        })*
    };
}

values! {
    bool: "True or False",
    usize: "a whole number, 0 or more",
    u64: "a whole number, 0 or more",
    f64: "a number",
    Option<PathBuf>: "a path, or None",
}

impl Value for AbstractDomain {
    const ACCEPTED: &'static str = "shared, paper or naive";
    fn read(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::from_word(value.extract()?).map_err(|e| python_error(&e))
    }
}

macro_rules! read {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ty = $default:expr,)*) => {
        /// Sets one setting by its name.
        fn set(settings: &mut settings::Settings, name: &str, value: &Bound<'_, PyAny>) -> Result<(), Error> {
            match name {
                $(stringify!($name) => {
                    settings.$name = <$type>::read(value).map_err(|_| Error::Value {
                        name: stringify!($name),
                        value: value.to_string(),
                        accepted: <$type>::ACCEPTED,
                    })?;
                })*
                _ => {
                    let known = concat!($(stringify!($name), " ",)*);
                    return Err(Error::Setting { name: name.to_owned(), known: known.trim_end().replace(' ', ", ") });
                }
            }
            Ok(())
        }
    };
}

settings::with_settings!(read);

#[pymethods]
impl Settings {
    #[new]
    #[pyo3(signature = (**chosen))]
    fn new(chosen: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut settings = settings::Settings::default();
        let given = chosen.into_iter().flat_map(PyDictMethods::iter);
        for (name, value) in given {
            set(&mut settings, &name.extract::<String>()?, &value).map_err(|e| python_error(&e))?;
        }
        settings.validate().map_err(|e| python_error(&e))?;
        Ok(Self(settings))
    }
}

/// The names of all settings, each with its documentation.
pub fn documented(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, words) in settings::SETTINGS {
        dict.set_item(name, words.trim())?;
    }
    Ok(dict)
}

/// How many processors this process may use.
#[pyfunction]
pub fn processors() -> usize {
    settings::processors()
}
