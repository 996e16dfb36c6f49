//! Running a search from Python: the only place that lets go of the GIL and takes it again.
//!
//! The search runs without the GIL. The calling thread, which Python's signal handlers need, takes it for each
//! callback. An exception in a callback stops the search and is raised when the workers are done, except
//! `KeyboardInterrupt`, after which the partial result is returned.

use super::errors::{python_error, raised};
use super::network::Pair;
use super::programs::{LinearProgram, MixedProgram};
use super::property::Property;
use super::settings::Settings;
use super::solution::{Progress, Solution};
use crate::domain::{AbstractDomain, Propagation, factors};
use crate::error::{Error, Kind};
use crate::lp;
use crate::network::gradient::Differentiator;
use crate::search::{self, Host, Region};
use ndarray::Axis;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Callbacks as a [`Host`]; remembers the first exception, and what `confirm` returned for the inputs that it accepted.
struct Caller {
    answer_lps: Option<Py<PyAny>>,
    answer_milp: Option<Py<PyAny>>,
    confirm: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    keep: Option<Py<PyAny>>,
    keep_trail: Option<Py<PyAny>>,
    interval: Duration,
    raised: Option<PyErr>,
    confirmed: Vec<(Vec<f64>, Py<PyAny>)>,
}

impl Caller {
    /// What `confirm` returned for the witness of a solution. Several workers may have had inputs confirmed; one of
    /// them is the witness.
    fn witness(self, solution: &search::Solution) -> Option<Py<PyAny>> {
        let input = solution.witness.as_ref()?;
        self.confirmed.into_iter().find_map(|(confirmed, object)| (confirmed == *input).then_some(object))
    }

    /// Hands bytes to a callback, if there is one and no other has failed. An interruption is no failure: what a search
    /// has by then is kept.
    fn hand(&self, callback: Option<&Py<PyAny>>, bytes: &[u8]) -> PyResult<()> {
        Python::attach(|py| {
            let interrupted = |e: &PyErr| e.is_instance_of::<PyKeyboardInterrupt>(py);
            let callback = callback.filter(|_| self.raised.as_ref().is_none_or(interrupted));
            callback.map_or(Ok(()), |keep| keep.bind(py).call1((PyBytes::new(py, bytes),)).map(drop))
        })
    }

    fn catch<T>(&mut self, result: PyResult<T>) -> Option<T> {
        result.map_err(|error| self.raised.get_or_insert(error)).ok()
    }
}

impl Host for Caller {
    fn answer(&mut self, programs: &[lp::LinearProgram]) -> Vec<lp::Answer> {
        let nothing = || vec![lp::Answer::default(); programs.len()];
        if self.raised.is_some() {
            return nothing();
        }
        let Some(solver) = &self.answer_lps else {
            return nothing();
        };
        let result = Python::attach(|py| {
            let list = programs.iter().map(|p| LinearProgram::new(py, p)).collect::<PyResult<Vec<_>>>()?;
            let answers = solver.bind(py).call1((list,))?;
            answers.try_iter()?.map(|a| extract_answer(&a?)).collect::<PyResult<Vec<_>>>()
        });
        self.catch(result).unwrap_or_else(nothing)
    }

    fn solve_mixed(&mut self, program: &lp::MixedProgram) -> lp::MixedAnswer {
        let Some(solver) = self.answer_milp.as_ref().filter(|_| self.raised.is_none()) else {
            return lp::MixedAnswer::default();
        };
        let result = Python::attach(|py| {
            let answer = solver.bind(py).call1((Py::new(py, MixedProgram::new(py, program))?,))?;
            let (infeasible, point): (bool, Option<PyReadonlyArray1<'_, f64>>) = answer.extract()?;
            Ok(lp::MixedAnswer { infeasible, point: point.map(|p| p.as_array().to_vec()) })
        });
        self.catch(result).unwrap_or_default()
    }

    fn confirm(&mut self, input: &[f64]) -> bool {
        if self.raised.is_some() {
            return false;
        }
        let Some(confirm) = &self.confirm else { return false };
        let result = Python::attach(|py| {
            let answer = confirm.bind(py).call1((PyArray1::from_slice(py, input),))?;
            let refused = answer.is_none() || answer.extract::<bool>().is_ok_and(|accepted| !accepted);
            Ok((!refused).then(|| answer.unbind()))
        });
        let witness = self.catch(result).flatten();
        let accepted = witness.is_some();
        self.confirmed.extend(witness.map(|object| (input.to_vec(), object)));
        accepted
    }

    fn progress(&mut self, progress: &search::Progress) -> bool {
        if self.raised.is_some() {
            return false;
        }
        let result = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(callback) => callback.bind(py).call1((Py::new(py, Progress::from(progress))?,)).map(drop),
                None => Ok(()),
            }
        });
        self.catch(result).is_some()
    }

    fn snapshot_interval(&self) -> Option<Duration> {
        self.keep.as_ref().map(|_| self.interval)
    }

    fn keep_snapshot(&mut self, state: Vec<u8>) {
        let result = self.hand(self.keep.as_ref(), &state);
        self.catch(result);
    }

    fn wants_trail(&self) -> bool {
        self.keep_trail.is_some()
    }

    fn keep_trail(&mut self, trail: Vec<u8>) {
        let result = self.hand(self.keep_trail.as_ref(), &trail);
        self.catch(result);
    }
}

fn extract_answer(answer: &Bound<'_, PyAny>) -> PyResult<lp::Answer> {
    let (duals, points, ray): (
        PyReadonlyArray2<'_, f64>,
        PyReadonlyArray2<'_, f64>,
        Option<PyReadonlyArray1<'_, f64>>,
    ) = answer.extract()?;
    Ok(lp::Answer {
        duals: duals.as_array().iter().copied().collect(),
        points: points.as_array().iter().copied().collect(),
        ray: ray.map(|r| r.as_array().to_vec()),
    })
}

/// Rows and bounds of linear constraints.
pub type Constraints<'py> = (PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, f64>);

/// Decides a property of a pair on a box.
#[pyfunction]
#[pyo3(signature = (
    pair, lower, upper, property, settings, *, constraints = None, answer_lps = None, answer_milp = None,
    confirm = None, progress = None, state = None, share = None, keep = None, keep_every = 15.0, hints = None,
    keep_trail = None
))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // PyO3's calling convention
pub fn solve<'py>(
    py: Python<'py>,
    pair: &Pair,
    lower: PyReadonlyArray1<'py, f64>,
    upper: PyReadonlyArray1<'py, f64>,
    property: &Property,
    settings: &Settings,
    constraints: Option<Constraints<'py>>,
    answer_lps: Option<Py<PyAny>>,
    answer_milp: Option<Py<PyAny>>,
    confirm: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
    state: Option<&[u8]>,
    share: Option<&[u8]>,
    keep: Option<Py<PyAny>>,
    keep_every: f64,
    hints: Option<&[u8]>,
    keep_trail: Option<Py<PyAny>>,
) -> PyResult<Solution> {
    let (region, claim) = question(pair, &lower, &upper, property, settings, constraints)?;
    let interval = Duration::try_from_secs_f64(keep_every).map_err(|_| {
        let accepted = "seconds, 0 or more";
        python_error(&Error::Value { name: "keep_every", value: keep_every.to_string(), accepted })
    })?;
    let mut caller = Caller {
        answer_lps,
        answer_milp,
        confirm,
        progress,
        keep,
        keep_trail,
        interval,
        raised: None,
        confirmed: Vec::new(),
    };
    // What cannot be read is no hint.
    let hints = hints.and_then(search::hints::Hints::read);
    let (pair, settings) = (pair.0.clone(), settings.0.clone());
    // A panic is a defect of ours, and of one search: as an ordinary exception it leaves other tasks and what is kept
    // alone.
    let solution = py.detach(|| {
        catch_unwind(AssertUnwindSafe(|| match (share, state) {
            (Some(share), _) => search::work_on(&pair, &region, &claim, &settings, share, &mut caller),
            (None, None) => search::solve_like(&pair, &region, &claim, &settings, hints.as_ref(), &mut caller),
            (None, Some(state)) => search::resume(&pair, &region, &claim, &settings, state, &mut caller),
        }))
    });
    match caller.raised.take() {
        Some(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        _ => match solution {
            // A net under everything else: an input that exactly violates the claim refutes any proof of it.
            Ok(Ok(solution)) if solution.verdict == search::Verdict::Equivalent && !caller.confirmed.is_empty() => {
                let what = "the core reports a proof, and a replayed input contradicts it; please report this";
                Err(raised(Kind::Internal, what.to_owned()))
            }
            Ok(Ok(solution)) => {
                let witness = caller.witness(&solution);
                Ok(Solution::new(solution, witness))
            }
            Ok(Err(error)) => Err(python_error(&error)),
            Err(panic) => Err(raised(Kind::Internal, panicked(panic.as_ref()))),
        },
    }
}

/// What a panic said.
fn panicked(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("the search failed: {}", said.unwrap_or("no reason is known"))
}

/// SHA-256 of what [`solve`] would decide, and of the settings that its way depends on.
#[pyfunction]
#[pyo3(signature = (pair, lower, upper, property, settings, *, constraints = None))]
#[allow(clippy::needless_pass_by_value)] // PyO3's calling convention
pub fn fingerprint<'py>(
    py: Python<'py>,
    pair: &Pair,
    lower: PyReadonlyArray1<'py, f64>,
    upper: PyReadonlyArray1<'py, f64>,
    property: &Property,
    settings: &Settings,
    constraints: Option<Constraints<'py>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (region, claim) = question(pair, &lower, &upper, property, settings, constraints)?;
    Ok(PyBytes::new(py, &search::fingerprint(&pair.0, &region, &claim, &settings.0)))
}

/// Inputs (N, I) that violate a property more clearly than a witness (I,) does, as [`search::clearer`] finds them within
/// some seconds; None where it does not look.
#[pyfunction]
#[pyo3(signature = (pair, lower, upper, property, settings, witness, seconds, *, constraints = None))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // PyO3's calling convention
pub fn clearer<'py>(
    py: Python<'py>,
    pair: &Pair,
    lower: PyReadonlyArray1<'py, f64>,
    upper: PyReadonlyArray1<'py, f64>,
    property: &Property,
    settings: &Settings,
    witness: PyReadonlyArray1<'py, f64>,
    seconds: f64,
    constraints: Option<Constraints<'py>>,
) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
    let (region, claim) = question(pair, &lower, &upper, property, settings, constraints)?;
    let (witness, pair) = (witness.as_array().to_vec(), pair.0.clone());
    let inputs = pair.inputs();
    let same = crate::error::same_size("lower", region.lower.len(), inputs);
    same.and_then(|()| crate::error::same_size("witness", witness.len(), inputs)).map_err(|e| python_error(&e))?;
    let deadline = Instant::now() + Duration::try_from_secs_f64(seconds.min(3600.0)).unwrap_or_default();
    let found = py.detach(|| search::clearer(&pair, &region, &claim, &witness, deadline));
    found.map(|points| PyArray1::from_vec(py, points.concat()).reshape([points.len(), inputs])).transpose()
}

/// Region and claim from what Python hands in.
pub fn question(
    pair: &Pair,
    lower: &PyReadonlyArray1<'_, f64>,
    upper: &PyReadonlyArray1<'_, f64>,
    property: &Property,
    settings: &Settings,
    constraints: Option<Constraints<'_>>,
) -> PyResult<(Region, crate::property::Property)> {
    let constraints = constraints.map_or_else(
        || Ok(Vec::new()),
        |(a, b)| {
            let (a, b) = (a.as_array(), b.as_array());
            crate::error::same_size("bounds of constraints", b.len(), a.nrows())?;
            let rows = a
                .rows()
                .into_iter()
                .zip(b)
                .map(|(row, &bound)| search::Constraint { coefficients: row.to_vec(), bound });
            Ok::<_, Error>(rows.collect())
        },
    );
    let region = constraints.and_then(|c| Region::new(lower.as_array().to_vec(), upper.as_array().to_vec(), c));
    let prepared = region.and_then(|r| Ok((r, property.unfold(pair.0.outputs(), settings.0.domain)?)));
    prepared.map_err(|e| python_error(&e))
}

type Outputs<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// So many points are evaluated at once.
const POINTS: usize = 64;

/// Both networks at inputs (N, I) in binary64.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // PyO3's calling convention
pub fn evaluate<'py>(py: Python<'py>, pair: &Pair, inputs: PyReadonlyArray2<'py, f64>) -> PyResult<Outputs<'py>> {
    let inputs = inputs.as_array();
    crate::error::same_size("columns of inputs", inputs.ncols(), pair.0.inputs()).map_err(|e| python_error(&e))?;
    let mut networks = Differentiator::default();
    let shape = [inputs.nrows(), pair.0.outputs()];
    let (mut first, mut second, mut points) = (Vec::new(), Vec::new(), Vec::new());
    for rows in inputs.axis_chunks_iter(Axis(0), POINTS) {
        points.clear();
        points.extend(rows.rows().into_iter().flat_map(|row| row.into_iter().copied()));
        let (f, g) = networks.outputs(&pair.0, &points, rows.nrows());
        first.extend_from_slice(f);
        second.extend_from_slice(g);
    }
    Ok((PyArray1::from_vec(py, first).reshape(shape)?, PyArray1::from_vec(py, second).reshape(shape)?))
}

/// For each product how much its factors vary and differ on the box, as [`crate::domain::factors`] has it: one array
/// (4, rows) of the radii of u and v and the differences of u and v, or None where nothing is known of it.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // PyO3's calling convention
pub fn factor_radii<'py>(
    py: Python<'py>,
    pair: &Pair,
    lower: PyReadonlyArray1<'py, f64>,
    upper: PyReadonlyArray1<'py, f64>,
    products: Vec<(usize, usize)>,
    memory: usize,
) -> PyResult<Vec<Option<Bound<'py, PyArray2<f64>>>>> {
    let region = Region::new(lower.as_array().to_vec(), upper.as_array().to_vec(), Vec::new());
    let region = region.map_err(|e| python_error(&e))?;
    crate::error::same_size("bounds of inputs", region.lower.len(), pair.0.inputs()).map_err(|e| python_error(&e))?;
    let depth = pair.0.depth();
    let mut propagation = Propagation::new(AbstractDomain::Reduced, depth).with_memory(memory);
    // Where numbers leave the range of binary64 on the way, the steps before are known.
    let _ = propagation.enclose(&pair.0, &region.lower, &region.upper);
    let layers = propagation.finished();
    products
        .into_iter()
        .map(|(s, t)| {
            let found = layers.get(s).zip(layers.get(t)).and_then(|(s, t)| factors::factor_radii(s, t));
            let Some(found) = found else { return Ok(None) };
            let rows = found.u.len();
            let flat = [found.u, found.v, found.du, found.dv].concat();
            Ok(Some(PyArray1::from_vec(py, flat).reshape([4, rows])?))
        })
        .collect()
}
