//! The ledger of a search that is dealt out, from Python.

use super::errors::python_error;
use super::network::Pair;
use super::property::Property;
use super::run::{Constraints, question};
use super::settings::Settings;
use super::solution::{Progress, Solution};
use crate::error::Error;
use crate::search::{self, Reason};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Which boxes of a search wait, which are with whom, and what is proved.
#[pyclass(frozen, module = "eqspec._core")]
pub struct Ledger {
    ledger: Mutex<search::Ledger>,
    start: Instant,
}

/// The name of a share, and its bytes.
type Share<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, search::Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Ledger {
    #[new]
    #[pyo3(signature = (pair, lower, upper, property, settings, *, constraints = None, state = None, hints = None))]
    #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // PyO3's calling convention
    fn new(
        py: Python<'_>,
        pair: &Pair,
        lower: PyReadonlyArray1<'_, f64>,
        upper: PyReadonlyArray1<'_, f64>,
        property: &Property,
        settings: &Settings,
        constraints: Option<Constraints<'_>>,
        state: Option<&[u8]>,
        hints: Option<&[u8]>,
    ) -> PyResult<Self> {
        let start = Instant::now();
        let (region, claim) = question(pair, &lower, &upper, property, settings, constraints)?;
        let (pair, settings) = (pair.0.clone(), settings.0.clone());
        // What cannot be read is no hint.
        let ledger = py.detach(|| {
            let hints = hints.and_then(search::hints::Hints::read);
            search::Ledger::new(&pair, region, claim, &settings, state, hints)
        });
        Ok(Self { ledger: Mutex::new(ledger.map_err(|e| python_error(&e))?), start })
    }

    #[getter]
    fn waiting(&self) -> usize {
        self.lock().waiting()
    }

    #[getter]
    fn out(&self) -> usize {
        self.lock().out()
    }

    #[getter]
    fn unresolved(&self) -> usize {
        self.lock().unresolved()
    }

    fn deal<'py>(&self, py: Python<'py>, boxes: usize) -> PyResult<Option<Share<'py>>> {
        let dealt = py.detach(|| self.lock().deal(boxes)).map_err(|e| python_error(&e))?;
        Ok(dealt.map(|share| to_python(py, &share)))
    }

    fn deal_again<'py>(&self, py: Python<'py>, name: &[u8]) -> PyResult<Share<'py>> {
        let dealt = name_of(name).and_then(|name| py.detach(|| self.lock().deal_again(&name)));
        dealt.map(|share| to_python(py, &share)).map_err(|e| python_error(&e))
    }

    fn withdraw(&self, name: &[u8]) -> PyResult<()> {
        name_of(name).and_then(|name| self.lock().withdraw(&name)).map_err(|e| python_error(&e))
    }

    fn accept<'py>(&self, py: Python<'py>, answer: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let name = py.detach(|| self.lock().accept(answer)).map_err(|e| python_error(&e))?;
        Ok(PyBytes::new(py, &name))
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        py.detach(|| self.lock().state()).map(|bytes| PyBytes::new(py, &bytes))
    }

    fn progress(&self) -> Progress {
        Progress::from(&self.lock().progress(self.start.elapsed().as_secs_f64()))
    }

    #[pyo3(signature = (reason = None, witness = None))]
    fn solution(
        &self,
        py: Python<'_>,
        reason: Option<&str>,
        witness: Option<(PyReadonlyArray1<'_, f64>, Py<PyAny>, u64)>,
    ) -> PyResult<Solution> {
        let unknown = || Error::Value { name: "reason", value: reason.unwrap_or("").to_owned(), accepted: "a reason" };
        let reason = reason.map(|word| Reason::from_word(word).ok_or_else(unknown)).transpose();
        let witness = witness.map(|(input, object, boxes)| ((input.as_array().to_vec(), boxes), object));
        let (input, confirmed) = witness.unzip();
        let found = reason.and_then(|reason| py.detach(|| self.lock().solution(reason, input, self.start)));
        found.map(|found| Solution::new(found, confirmed)).map_err(|e| python_error(&e))
    }
}

fn to_python<'py>(py: Python<'py>, (name, bytes): &(search::ShareName, Vec<u8>)) -> Share<'py> {
    (PyBytes::new(py, name), PyBytes::new(py, bytes))
}

fn name_of(bytes: &[u8]) -> Result<search::ShareName, Error> {
    bytes.try_into().map_err(|_| Error::Share("this is not the name of a share".to_owned()))
}
