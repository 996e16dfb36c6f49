//! Networks in all cells of a region, from the arrays of Python.

use super::errors::python_error;
use super::network::{PyStep, program};
use crate::error::{Error, same_size};
use crate::network::cells::{self, CellBuffers, Known, Rule, note};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// The name of a rule, and its numbers.
type PyRule = (String, Vec<f64>);

/// The input of each row, and values (rows, cells) by its cell.
type PyKnown<'py> = (Vec<usize>, PyReadonlyArray2<'py, f64>);

/// Outputs (N, O), and for each cell whether a level is not certain, and whether one may leave its type: of those that
/// are cut off, and of those that wrap.
type Found<'py> = (Bound<'py, PyArray2<f64>>, [Bound<'py, PyArray1<bool>>; 3]);

/// A network with all that its values in the cells of one region depend on; see [`cells`].
#[pyclass(frozen, module = "eqspec._core")]
pub struct CellProgram(cells::CellProgram);

#[pymethods]
impl CellProgram {
    #[new]
    #[allow(clippy::needless_pass_by_value)] // arguments from Python arrive by value
    fn new(
        steps: Vec<PyStep<'_>>,
        rules: Vec<Vec<Option<PyRule>>>,
        slack: Vec<Option<PyReadonlyArray1<'_, f64>>>,
        known: Vec<Option<PyKnown<'_>>>,
        numbers: Vec<Vec<f64>>,
    ) -> PyResult<Self> {
        let slack = slack.iter().map(|rows| rows.as_ref().map_or_else(Vec::new, |rows| rows.as_array().to_vec()));
        let table = |(places, table): &PyKnown<'_>| {
            let table = table.as_array();
            same_size("inputs of known rows", places.len(), table.nrows())?;
            let values = table.iter().copied().collect();
            Ok::<_, Error>(Known { places: places.clone(), table: values, width: table.ncols() })
        };
        let known = known.iter().map(|known| known.as_ref().map(table).transpose()).collect::<Result<_, _>>();
        let rule = |rule: &Option<PyRule>| rule.as_ref().map(|(name, n)| Rule::new(name, n)).transpose();
        let rules = rules.iter().map(|kinds| kinds.iter().map(rule).collect()).collect::<Result<Vec<Vec<_>>, _>>();
        let made = known.and_then(|known| {
            cells::CellProgram::new(program(numbers.len(), &steps)?, &rules?, slack.collect(), known, numbers)
        });
        Ok(Self(made.map_err(|e| python_error(&e))?))
    }

    /// The network in so many cells, from number `first` on, by so many threads.
    #[pyo3(signature = (first, count, *, threads = 1))]
    fn run<'py>(&self, py: Python<'py>, first: u64, count: usize, threads: usize) -> PyResult<Found<'py>> {
        let width = self.0.outputs();
        let (mut outputs, mut notes) = (vec![0.0; count * width], vec![0; count]);
        let each = count.div_ceil(threads.max(1)).max(1);
        py.detach(|| {
            std::thread::scope(|scope| {
                let parts = outputs.chunks_mut((each * width).max(1)).zip(notes.chunks_mut(each));
                for (k, (outputs, notes)) in parts.enumerate() {
                    let first = first + (k * each) as u64;
                    scope.spawn(move || self.0.run(first, outputs, notes, &mut CellBuffers::default()));
                }
            });
        });
        let of = |bit: u8| PyArray1::from_iter(py, notes.iter().map(|noted| noted & bit != 0));
        let bits = [note::OPEN, note::SATURATED, note::WRAPPED].map(of);
        Ok((PyArray1::from_vec(py, outputs).reshape([count, width])?, bits))
    }
}
