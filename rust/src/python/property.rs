//! Claims as Python states them, unfolded to obligations for a pair.

use super::errors::python_error;
use crate::domain::AbstractDomain;
use crate::error::Error;
use crate::property::{self as claims, Norm};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

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
