//! What a search tells Python: progress on its way, and what it found.

use crate::search;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

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
