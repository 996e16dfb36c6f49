//! Mixed-integer programs, for the mode that believes a solver about what the search could not prove.
//!
//! Nothing in this mode is a theorem of ours: a solver works with tolerances, and its word that a program has no solution is only as good as they are.

/// maximise cost . v subject to row_lower <= A v <= row_upper, lower <= v <= upper, v_i whole where `integer`. A is kept by rows.
#[derive(Debug, Clone, Default)]
pub struct MixedProgram {
    /// Per column.
    pub cost: Vec<f64>,
    /// Per column.
    pub lower: Vec<f64>,
    /// Per column.
    pub upper: Vec<f64>,
    /// Per column.
    pub integer: Vec<bool>,
    /// Where each row begins in `indices`, and where the last one ends (rows + 1).
    pub starts: Vec<i32>,
    /// Columns.
    pub indices: Vec<i32>,
    /// Coefficients.
    pub values: Vec<f64>,
    /// Per row; may be -inf.
    pub row_lower: Vec<f64>,
    /// Per row; may be +inf.
    pub row_upper: Vec<f64>,
    /// Seconds a solver may take.
    pub seconds: f64,
}

/// What a solver says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MixedAnswer {
    /// That there is no solution.
    pub infeasible: bool,
    /// A solution, as far as the solver can tell.
    pub point: Option<Vec<f64>>,
}

impl MixedProgram {
    /// A new column between two numbers; its index.
    pub fn column(&mut self, lower: f64, upper: f64) -> usize {
        self.cost.push(0.0);
        self.lower.push(lower);
        self.upper.push(upper);
        self.integer.push(false);
        self.lower.len() - 1
    }

    /// A new column that is 0 or 1.
    pub fn binary(&mut self) -> usize {
        let column = self.column(0.0, 1.0);
        self.integer[column] = true;
        column
    }

    /// Appends a row; no column may come twice.
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    pub fn row(&mut self, terms: impl IntoIterator<Item = (usize, f64)>, lower: f64, upper: f64) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        for (column, value) in terms {
            if value != 0.0 {
                self.indices.push(column as i32);
                self.values.push(value);
            }
        }
        self.starts.push(self.indices.len() as i32);
        self.row_lower.push(lower);
        self.row_upper.push(upper);
    }
}
