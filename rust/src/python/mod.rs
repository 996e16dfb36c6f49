//! The boundary to Python: registration only. Classes are in `types`, `settings` and `ledger`, callbacks and the GIL in `run`,
//! exceptions in `errors`.

mod errors;
mod ledger;
mod run;
mod settings;
mod types;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_export]
    use super::ledger::Ledger;
    #[pymodule_export]
    use super::run::{evaluate, factor_radii, fingerprint, solve};
    #[pymodule_export]
    use super::settings::Settings;
    #[pymodule_export]
    use super::types::{
        LinearProgram, MixedProgram, Pair, Progress, Property, Solution, curve_slope, curve_strip, curve_value,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("SETTINGS", super::settings::documented(module.py())?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
