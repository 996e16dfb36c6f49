//! The Top-1 Violation LP ([VD]). Nothing is believed about its solution but a bound that is recomputed from the
//! multipliers.
//!
//! [`dual`] seeks multipliers on the spot; what is too large for it is solved outside the core, in batches. A solver's
//! status, objective and points are hints; [`certified`] turns multipliers into a theorem.

pub mod certified;
pub mod dual;
pub mod mixed;

use crate::domain::{Output, Quantity, output::GeneratorRow};
use crate::property::{Guard, Violation};
pub use certified::Multipliers;
pub use dual::Dual;
pub use mixed::{MixedAnswer, MixedProgram};

/// maximise objective . e subject to lower <= matrix e <= upper, -1 <= e <= 1, for each objective in turn.
#[derive(Debug, Clone, Default)]
pub struct LinearProgram {
    /// Number of variables.
    pub columns: usize,
    /// Row-major (rows, columns).
    pub matrix: Vec<f64>,
    /// Per row; may be -inf.
    pub lower: Vec<f64>,
    /// Per row; may be +inf.
    pub upper: Vec<f64>,
    /// Row-major (objectives, columns).
    pub objectives: Vec<f64>,
}

/// What a solver answers to one program. NaN stands for no answer.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Row-major (objectives, rows): y with bound ||c - M^T y||_1 + sum max(y lower, y upper).
    pub duals: Vec<f64>,
    /// Row-major (objectives, columns).
    pub points: Vec<f64>,
    /// A combination of rows that shows the constraints contradictory, if the solver found one.
    pub ray: Option<Vec<f64>>,
}

/// The constraints of the region over the inputs of a box: sum coefficient_i e_i <= slack, both for e in [-1, 1].
#[derive(Debug, Clone, Default)]
pub struct RegionRow {
    /// A_i * radius_i.
    pub generators: Vec<f64>,
    /// b - A . centre, rounded up, the rounding of `generators` included.
    pub slack: f64,
}

/// Builds the program of one guard: rows are the guard's, then f1 - f2 - D = 0 per output, then the region's.
pub fn program<'a>(
    output: &Output<'_>,
    guard: Option<&Guard>,
    region: &[RegionRow],
    violations: impl Iterator<Item = &'a Violation>,
    row: &mut GeneratorRow,
) -> LinearProgram {
    let columns = output.generators();
    let mut lp = LinearProgram { columns, ..LinearProgram::default() };
    for combination in guard.iter().flat_map(|g| &g.rows) {
        output.row(combination.terms.iter().copied(), combination.constant, row);
        lp.matrix.extend_from_slice(&row.generators);
        lp.lower.push(-row.centre - row.err);
        lp.upper.push(f64::INFINITY);
    }
    for o in 0..output.outputs() {
        output.row(link(o), 0.0, row);
        lp.matrix.extend_from_slice(&row.generators);
        lp.lower.push(-row.centre - row.err);
        lp.upper.push(-row.centre + row.err);
    }
    for r in region {
        lp.matrix.extend_from_slice(&r.generators);
        lp.matrix.resize(lp.matrix.len() + columns - r.generators.len(), 0.0);
        lp.lower.push(f64::NEG_INFINITY);
        lp.upper.push(r.slack);
    }
    for violation in violations {
        if let Violation::Linear { equivalents, .. } = violation {
            output.row(equivalents[0].terms.iter().copied(), 0.0, row);
        } else {
            row.generators.clear();
            row.generators.resize(columns, 0.0);
        }
        lp.objectives.extend_from_slice(&row.generators);
    }
    lp
}

/// f1_o - f2_o - D_o, which is 0 at every input.
fn link(o: usize) -> [(Quantity, usize, f64); 3] {
    [(Quantity::First, o, 1.0), (Quantity::Second, o, -1.0), (Quantity::Difference, o, -1.0)]
}
