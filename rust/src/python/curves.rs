//! Functions of one variable as Python asks about them: values, slopes and strips, for tests against other definitions.

use super::errors::python_error;
use crate::curve::{Curve, Near};
use crate::error::Error;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

/// A function by its name and parameters.
pub(super) fn curve(name: &str, parameters: &[f64]) -> Result<Curve, Error> {
    Curve::new(name, parameters).map_err(|problem| Error::Function { name: name.to_owned(), problem })
}

/// Numbers, and how far each may be from the exact one.
type NearArrays<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Values of a function, and how far each may be from the exact one.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn curve_value<'py>(
    py: Python<'py>,
    name: &str,
    parameters: Vec<f64>,
    x: PyReadonlyArray1<'py, f64>,
) -> PyResult<NearArrays<'py>> {
    let curve = curve(name, &parameters).map_err(|e| python_error(&e))?;
    Ok(near(py, x.as_array().iter().map(|x| curve.value(*x))))
}

/// Derivatives of a function from the left with their errors, and those from the right.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, clippy::type_complexity)]
pub fn curve_slope<'py>(
    py: Python<'py>,
    name: &str,
    parameters: Vec<f64>,
    x: PyReadonlyArray1<'py, f64>,
) -> PyResult<(
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
)> {
    let curve = curve(name, &parameters).map_err(|e| python_error(&e))?;
    let (left, left_error) = near(py, x.as_array().iter().map(|x| curve.slope_left(*x)));
    let (right, right_error) = near(py, x.as_array().iter().map(|x| curve.slope_right(*x)));
    Ok((left, left_error, right, right_error))
}

/// The strip of a function on [lower, upper]: its slope, and the least and the largest difference of the function from
/// the line through 0 of that slope; the hull of its slopes; and its range.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, clippy::type_complexity)]
pub fn curve_strip(
    name: &str,
    parameters: Vec<f64>,
    lower: f64,
    upper: f64,
) -> PyResult<((f64, f64, f64), (f64, f64), (f64, f64))> {
    let curve = curve(name, &parameters).map_err(|e| python_error(&e))?;
    let slope = curve.line(lower, upper);
    let offset = curve.offset(slope, lower, upper);
    Ok(((slope, offset.low, offset.high), curve.slopes(lower, upper), curve.range(lower, upper)))
}

fn near(py: Python<'_>, values: impl Iterator<Item = Near>) -> NearArrays<'_> {
    let (values, errors): (Vec<f64>, Vec<f64>) = values.map(|n| (n.value, n.error)).unzip();
    (values.into_pyarray(py), errors.into_pyarray(py))
}
