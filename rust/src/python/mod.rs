//! The boundary to Python: registration only. Types in `types`, callbacks and the GIL in `run`.

mod run;
mod types;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_export]
    use super::run::{evaluate, fingerprint, solve};
    #[pymodule_export]
    use super::types::{LinearProgram, MixedProgram, Pair, Progress, Property, Settings, Solution};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
