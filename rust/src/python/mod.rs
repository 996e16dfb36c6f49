//! The boundary to Python: registration only. Classes are frozen and do no more than convert: a pair in `network`, a network
//! in all cells of a region in `cells`, functions in `curves`, a claim in `property`, programs for the solver in `programs`,
//! results in `solution`, and `settings` and `ledger`. Callbacks and the GIL are in `run`, exceptions in `errors`.

mod cells;
mod curves;
mod errors;
mod ledger;
mod network;
mod programs;
mod property;
mod run;
mod settings;
mod solution;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_export]
    use super::cells::CellProgram;
    #[pymodule_export]
    use super::curves::{curve_slope, curve_strip, curve_value};
    #[pymodule_export]
    use super::ledger::Ledger;
    #[pymodule_export]
    use super::network::Pair;
    #[pymodule_export]
    use super::programs::{LinearProgram, MixedProgram};
    #[pymodule_export]
    use super::property::Property;
    #[pymodule_export]
    use super::run::{clearer, evaluate, factor_radii, fingerprint, solve};
    #[pymodule_export]
    use super::settings::{Settings, processors};
    #[pymodule_export]
    use super::solution::{Progress, Solution};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("SETTINGS", super::settings::documented(module.py())?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
