//! Linear and mixed-integer programs as arrays for the solver in Python.

use crate::lp;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// A program for the LP solver.
#[pyclass(frozen, module = "eqspec._core")]
pub struct LinearProgram {
    #[pyo3(get)]
    matrix: Py<PyArray2<f64>>,
    #[pyo3(get)]
    lower: Py<PyArray1<f64>>,
    #[pyo3(get)]
    upper: Py<PyArray1<f64>>,
    #[pyo3(get)]
    objectives: Py<PyArray2<f64>>,
}

impl LinearProgram {
    /// Copies a program into arrays.
    pub fn new(py: Python<'_>, lp: &lp::LinearProgram) -> PyResult<Self> {
        let rows = lp.lower.len();
        let objectives = lp.objectives.len().checked_div(lp.columns).unwrap_or(0);
        Ok(Self {
            matrix: lp.matrix.clone().into_pyarray(py).reshape([rows, lp.columns])?.unbind(),
            lower: lp.lower.clone().into_pyarray(py).unbind(),
            upper: lp.upper.clone().into_pyarray(py).unbind(),
            objectives: lp.objectives.clone().into_pyarray(py).reshape([objectives, lp.columns])?.unbind(),
        })
    }
}

/// A program for the mixed-integer solver; A by rows: `indices` and `values` of row r from starts[r] to starts[r + 1].
#[pyclass(frozen, module = "eqspec._core")]
pub struct MixedProgram {
    #[pyo3(get)]
    cost: Py<PyArray1<f64>>,
    #[pyo3(get)]
    lower: Py<PyArray1<f64>>,
    #[pyo3(get)]
    upper: Py<PyArray1<f64>>,
    #[pyo3(get)]
    integer: Py<PyArray1<bool>>,
    #[pyo3(get)]
    starts: Py<PyArray1<i32>>,
    #[pyo3(get)]
    indices: Py<PyArray1<i32>>,
    #[pyo3(get)]
    values: Py<PyArray1<f64>>,
    #[pyo3(get)]
    row_lower: Py<PyArray1<f64>>,
    #[pyo3(get)]
    row_upper: Py<PyArray1<f64>>,
    #[pyo3(get)]
    seconds: f64,
}

impl MixedProgram {
    /// Copies a program into arrays.
    pub fn new(py: Python<'_>, program: &lp::MixedProgram) -> Self {
        let floats = |v: &[f64]| PyArray1::from_slice(py, v).unbind();
        let wholes = |v: &[i32]| PyArray1::from_slice(py, v).unbind();
        Self {
            cost: floats(&program.cost),
            lower: floats(&program.lower),
            upper: floats(&program.upper),
            integer: PyArray1::from_slice(py, &program.integer).unbind(),
            starts: wholes(&program.starts),
            indices: wholes(&program.indices),
            values: floats(&program.values),
            row_lower: floats(&program.row_lower),
            row_upper: floats(&program.row_upper),
            seconds: program.seconds,
        }
    }
}
