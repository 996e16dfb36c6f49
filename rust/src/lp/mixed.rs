//! Mixed-integer programs, for the mode in which a solver is asked about what the search could not prove.
//!
//! What a solver answers is not a proof: it works with tolerances, and its answer that a program has no solution is
//! only as good as these are.

/// maximise cost . v subject to row_lower <= A v <= row_upper, lower <= v <= upper, v_i whole where `integer`. A is
/// kept by rows.
#[derive(Debug, Clone, Default)]
pub struct MixedProgram {
    /// The cost of every column.
    pub cost: Vec<f64>,
    /// The lower bound of every column.
    pub lower: Vec<f64>,
    /// The upper bound of every column.
    pub upper: Vec<f64>,
    /// Whether a column must be a whole number.
    pub integer: Vec<bool>,
    /// Where each row begins in `indices`, and where the last one ends (rows + 1).
    pub starts: Vec<i32>,
    /// The column of every coefficient.
    pub indices: Vec<i32>,
    /// The coefficients, row after row.
    pub values: Vec<f64>,
    /// The lower bound of every row; may be -inf.
    pub row_lower: Vec<f64>,
    /// The upper bound of every row; may be +inf.
    pub row_upper: Vec<f64>,
    /// The seconds that a solver may take.
    pub seconds: f64,
}

/// What a solver answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MixedAnswer {
    /// Whether the solver says that there is no solution.
    pub infeasible: bool,
    /// A solution within the solver's tolerances, if it found one.
    pub point: Option<Vec<f64>>,
}

impl MixedProgram {
    /// Adds a column between two numbers and returns its index.
    pub fn column(&mut self, lower: f64, upper: f64) -> usize {
        self.cost.push(0.0);
        self.lower.push(lower);
        self.upper.push(upper);
        self.integer.push(false);
        self.lower.len() - 1
    }

    /// Adds a column that is 0 or 1 and returns its index.
    pub fn binary(&mut self) -> usize {
        let column = self.column(0.0, 1.0);
        self.integer[column] = true;
        column
    }

    /// Appends a row. No column may occur twice in it.
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
