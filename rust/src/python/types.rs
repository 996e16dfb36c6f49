//! The classes Python sees: frozen, no logic beyond conversion.

use super::errors::python_error;
use crate::curve::{Curve, Near};
use crate::domain::AbstractDomain;
use crate::error::{Error, same_size};
use crate::network::{self, Curves, Function, Origin, Step, Term, Tile};
use crate::property::{self as claims, Norm};
use crate::{lp, search};
use ndarray::Axis;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray3};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// What a term reads (-1 for the inputs, else the number of a step), its index (G, P, K) or none where it is a dense
/// matrix, its weights (G, O, K) and their errors.
type PyTerm<'py> =
    (i64, Option<PyReadonlyArray3<'py, i32>>, PyReadonlyArray3<'py, f64>, Option<PyReadonlyArray3<'py, f64>>);

/// A function by its name, for ReLU and the identity; or all functions that the rows have, by name and parameters, and
/// which of them each row has, the first one if that is not said.
#[derive(FromPyObject)]
pub enum PyFunction<'py> {
    Named(String),
    Curves(Vec<(String, Vec<f64>)>, Option<PyReadonlyArray1<'py, i32>>),
}

/// The terms of a step, its bias, the errors of the bias, and its function.
type PyStep<'py> = (Vec<PyTerm<'py>>, PyReadonlyArray1<'py, f64>, Option<PyReadonlyArray1<'py, f64>>, PyFunction<'py>);

/// Two networks with the same steps, as many values in each.
#[pyclass(frozen, module = "eqspec._core")]
pub struct Pair(pub Arc<network::Pair>);

#[pymethods]
impl Pair {
    #[new]
    #[pyo3(signature = (inputs, reference, candidate, *, shared=None))]
    #[allow(clippy::needless_pass_by_value)] // arguments from Python arrive by value
    fn new(
        inputs: usize,
        reference: Vec<PyStep<'_>>,
        candidate: Vec<PyStep<'_>>,
        shared: Option<Vec<Vec<bool>>>,
    ) -> PyResult<Self> {
        let pair = program(inputs, &reference).and_then(|first| {
            network::Pair::of_steps(inputs, first, program(inputs, &candidate)?, shared.unwrap_or_default())
        });
        Ok(Self(Arc::new(pair.map_err(|e| python_error(&e))?)))
    }

    #[getter]
    fn input_size(&self) -> usize {
        self.0.inputs()
    }

    #[getter]
    fn output_size(&self) -> usize {
        self.0.outputs()
    }
}

/// The steps of a network. A term must read an earlier step.
fn program(inputs: usize, list: &[PyStep<'_>]) -> Result<Vec<Step>, Error> {
    let mut steps: Vec<Step> = Vec::with_capacity(list.len());
    for (terms, bias, bias_error, function) in list {
        let terms = terms.iter().map(|term| read_term(inputs, &steps, term)).collect::<Result<_, Error>>()?;
        let function = read_function(function, bias.as_array().len())?;
        let bias_error = bias_error.as_ref().map(PyReadonlyArray1::as_array);
        steps.push(Step::new(terms, &bias.as_array(), bias_error.as_ref(), function)?);
    }
    Ok(steps)
}

/// A function of this many rows.
fn read_function(function: &PyFunction<'_>, rows: usize) -> Result<Function, Error> {
    match function {
        PyFunction::Named(name) => match name.as_str() {
            "identity" => Ok(Function::Identity),
            "relu" => Ok(Function::Relu),
            _ => Err(Error::Value {
                name: "function",
                value: name.clone(),
                accepted: "identity, relu, or functions with their parameters",
            }),
        },
        PyFunction::Curves(kinds, of_row) => {
            let kinds = kinds.iter().map(|(name, parameters)| curve(name, parameters)).collect::<Result<_, Error>>()?;
            let number = |k: &i32| u32::try_from(*k).unwrap_or(u32::MAX);
            let of_row = of_row.as_ref().map(|rows| rows.as_array().iter().map(number).collect());
            Ok(Function::Curves(Arc::new(Curves::new(kinds, rows, of_row)?)))
        }
    }
}

fn curve(name: &str, parameters: &[f64]) -> Result<Curve, Error> {
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

fn read_term(inputs: usize, steps: &[Step], (source, index, weight, error): &PyTerm<'_>) -> Result<Term, Error> {
    let (origin, columns) = match (*source, usize::try_from(*source)) {
        (-1, _) => (Origin::Inputs, inputs),
        (_, Ok(j)) if j < steps.len() => (Origin::Step(j), steps[j].rows),
        _ => {
            let accepted = "-1 for the inputs, or the number of an earlier step";
            return Err(Error::Value { name: "source", value: source.to_string(), accepted });
        }
    };
    let (weight, error) = (weight.as_array(), error.as_ref().map(PyReadonlyArray3::as_array));
    let tile = if let Some(index) = index {
        Tile::windows(columns, &index.as_array(), &weight, error.as_ref())?
    } else {
        let (groups, _, taps) = weight.dim();
        same_size("groups of a dense weight", groups, 1)?;
        same_size("columns of a dense weight", taps, columns)?;
        let error = error.as_ref().map(|e| e.index_axis(Axis(0), 0));
        Tile::dense(&weight.index_axis(Axis(0), 0), error.as_ref())?
    };
    Ok(Term { origin, tile })
}

/// What must hold at every input; unfolded for a pair when the search starts.
#[pyclass(frozen, module = "eqspec._core")]
pub struct Property(Claim);

enum Claim {
    Epsilon(f64, Norm, Vec<usize>),
    Top1(f64, Option<f64>),
    Linear(Vec<f64>, Vec<f64>, f64, bool),
}

#[pymethods]
impl Property {
    #[staticmethod]
    fn epsilon(eps: f64, norm: &str, outputs: Vec<usize>) -> PyResult<Self> {
        let norm = match norm {
            "linf" => Norm::Max,
            "l1" => Norm::Sum,
            "l2" => Norm::Euclid,
            _ => {
                return Err(python_error(&Error::Value {
                    name: "norm",
                    value: norm.to_owned(),
                    accepted: "linf, l1 or l2",
                }));
            }
        };
        not_nan("eps", eps)?;
        Ok(Self(Claim::Epsilon(eps, norm, outputs)))
    }

    #[staticmethod]
    #[pyo3(signature = (margin))]
    fn top1(margin: Option<f64>) -> PyResult<Self> {
        not_nan("margin", margin.unwrap_or(0.0))?;
        Ok(Self(Claim::Top1(margin.unwrap_or(0.0), None)))
    }

    #[staticmethod]
    fn confidence(threshold: f64, delta: f64) -> PyResult<Self> {
        not_nan("threshold", threshold)?;
        not_nan("delta", delta)?;
        Ok(Self(Claim::Top1(threshold, Some(delta))))
    }

    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // PyO3 hands arrays over by value
    fn linear(
        candidate: PyReadonlyArray1<'_, f64>,
        reference: PyReadonlyArray1<'_, f64>,
        bound: f64,
        strict: bool,
    ) -> PyResult<Self> {
        not_nan("bound", bound)?;
        let (candidate, reference) = (candidate.as_array().to_vec(), reference.as_array().to_vec());
        if candidate.iter().chain(&reference).any(|v| !v.is_finite()) {
            return Err(python_error(&Error::NotFinite("coefficients".to_owned())));
        }
        Ok(Self(Claim::Linear(candidate, reference, bound, strict)))
    }
}

impl Property {
    /// The claim as obligations on a pair with `outputs` outputs.
    pub fn unfold(&self, outputs: usize, domain: AbstractDomain) -> Result<claims::Property, Error> {
        match &self.0 {
            Claim::Epsilon(eps, norm, chosen) => {
                let mut chosen = chosen.clone();
                chosen.sort_unstable();
                chosen.dedup();
                if let Some(o) = chosen.iter().find(|&&o| o >= outputs) {
                    return Err(Error::Value {
                        name: "outputs",
                        value: o.to_string(),
                        accepted: "indices of outputs, from 0",
                    });
                }
                Ok(claims::epsilon::property(*eps, *norm, &chosen, domain))
            }
            Claim::Top1(margin, delta) => Ok(claims::top1::property(outputs, *margin, *delta)),
            Claim::Linear(candidate, reference, bound, strict) => {
                crate::error::same_size("candidate coefficients", candidate.len(), outputs)?;
                crate::error::same_size("reference coefficients", reference.len(), outputs)?;
                Ok(claims::linear::property(candidate, reference, *bound, *strict))
            }
        }
    }
}

fn not_nan(name: &'static str, value: f64) -> PyResult<()> {
    if value.is_nan() { Err(python_error(&Error::NotFinite(name.to_owned()))) } else { Ok(()) }
}

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

/// What the search knows so far.
#[pyclass(frozen, get_all, module = "eqspec._core")]
pub struct Progress {
    certified: f64,
    boxes: u64,
    open_boxes: u64,
    depth: usize,
    seconds: f64,
}

impl From<&search::Progress> for Progress {
    fn from(p: &search::Progress) -> Self {
        Self { certified: p.certified, boxes: p.boxes, open_boxes: p.open_boxes, depth: p.depth, seconds: p.seconds }
    }
}

/// Corners and shares of boxes.
type Boxes<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// What the search found.
#[pyclass(frozen, module = "eqspec._core")]
pub struct Solution {
    found: search::Solution,
    witness: Option<Py<PyAny>>,
}

impl Solution {
    /// What the search found, with the object by which the host confirmed its witness.
    pub fn new(found: search::Solution, witness: Option<Py<PyAny>>) -> Self {
        Self { found, witness }
    }
}

#[pymethods]
impl Solution {
    #[getter]
    fn verdict(&self) -> &'static str {
        self.found.verdict.word()
    }

    #[getter]
    fn reason(&self) -> Option<&'static str> {
        match self.found.verdict {
            search::Verdict::Unknown(reason) => Some(reason.word()),
            search::Verdict::Equivalent | search::Verdict::Different => None,
        }
    }

    #[getter]
    fn vacuous(&self) -> bool {
        self.found.vacuous
    }

    #[getter]
    fn witness(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.witness.as_ref().map(|witness| witness.clone_ref(py))
    }

    #[getter]
    fn boxes(&self) -> u64 {
        self.found.boxes
    }

    #[getter]
    fn splits(&self) -> u64 {
        self.found.splits
    }

    #[getter]
    fn lps(&self) -> u64 {
        self.found.lps
    }

    #[getter]
    fn milps(&self) -> u64 {
        self.found.milps
    }

    #[getter]
    fn rests_on_solver(&self) -> u64 {
        self.found.rests_on_solver
    }

    #[getter]
    fn initial_bound(&self) -> f64 {
        self.found.initial_bound
    }

    #[getter]
    fn certified_fraction(&self) -> f64 {
        self.found.certified_fraction
    }

    #[getter]
    fn open_boxes(&self) -> u64 {
        self.found.open_boxes
    }

    /// Lower corners (n, I), upper corners (n, I), shares (n,).
    #[getter]
    fn open_sample<'py>(&self, py: Python<'py>) -> PyResult<Boxes<'py>> {
        let sample = &self.found.open_sample;
        let inputs = sample.first().map_or(0, |b| b.lower.len());
        let corners = |pick: fn(&search::OpenBox) -> &[f64]| {
            let all = sample.iter().flat_map(pick).copied().collect::<Vec<_>>();
            PyArray1::from_vec(py, all).reshape([sample.len(), inputs])
        };
        let shares = sample.iter().map(|b| b.share).collect();
        Ok((corners(|b| &b.lower)?, corners(|b| &b.upper)?, PyArray1::from_vec(py, shares)))
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.found.seconds
    }

    #[getter]
    fn stages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, count) in self.found.stages.iter() {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }

    #[getter]
    fn effort<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (dict, seconds, e) = (PyDict::new(py), PyDict::new(py), &self.found.profile);
        for (activity, time) in e.seconds() {
            seconds.set_item(activity, time)?;
        }
        dict.set_item("seconds", seconds)?;
        dict.set_item("flops", e.flops)?;
        dict.set_item("obligations", e.obligations)?;
        dict.set_item("asked", e.asked)?;
        dict.set_item("contracted", e.contracted)?;
        dict.set_item("depth", e.depth)?;
        Ok(dict)
    }

    /// Steps of an earlier proof that were taken up, and how many there were.
    #[getter]
    fn reused(&self) -> Option<(u64, u64)> {
        self.found.reused
    }

    #[getter]
    fn worst_open<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(r) = &self.found.worst_open else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("bound", r.bound)?;
        dict.set_item("depth", r.depth)?;
        dict.set_item("lower", PyArray1::from_slice(py, &r.lower))?;
        dict.set_item("upper", PyArray1::from_slice(py, &r.upper))?;
        dict.set_item("obligations", &r.obligations)?;
        Ok(Some(dict))
    }
}
