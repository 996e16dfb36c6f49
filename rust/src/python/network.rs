//! Pairs of networks from the arrays of Python: steps of terms, each a tile, with the functions of their rows.

use super::curves::curve;
use super::errors::python_error;
use crate::error::{Error, same_size};
use crate::network::{self, Curves, Function, Origin, Step, Term, Tile};
use ndarray::Axis;
use numpy::{PyReadonlyArray1, PyReadonlyArray3};
use pyo3::prelude::*;
use std::sync::Arc;

/// What a term reads (-1 for the inputs, else the number of a step), its index (G, P, K) or none where it is a dense
/// matrix, its weights (G, O, K) and their errors.
pub type PyTerm<'py> =
    (i64, Option<PyReadonlyArray3<'py, i32>>, PyReadonlyArray3<'py, f64>, Option<PyReadonlyArray3<'py, f64>>);

/// A function by its name, for ReLU and the identity; or all functions that the rows have, by name and parameters, and
/// which of them each row has, the first one if that is not said.
#[derive(FromPyObject)]
pub enum PyFunction<'py> {
    Named(String),
    Curves(Vec<(String, Vec<f64>)>, Option<PyReadonlyArray1<'py, i32>>),
}

/// The terms of a step, its bias, the errors of the bias, and its function.
pub type PyStep<'py> =
    (Vec<PyTerm<'py>>, PyReadonlyArray1<'py, f64>, Option<PyReadonlyArray1<'py, f64>>, PyFunction<'py>);

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
pub fn program(inputs: usize, list: &[PyStep<'_>]) -> Result<Vec<Step>, Error> {
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
