//! A growing column-major matrix that is reused from box to box: it allocates until it has seen its largest shape,
//! never after.

/// rows x columns numbers, column-major; column 0 is a centre wherever this holds a zonotope.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    rows: usize,
    count: usize,
    data: Vec<f64>,
}

impl Columns {
    /// Gives the matrix a shape; its entries are whatever they were before and must be overwritten.
    #[inline(always)]
    pub fn reshape(&mut self, rows: usize, columns: usize) {
        self.rows = rows;
        self.count = columns;
        if self.data.is_empty() {
            // Memory that the system gives as zeros is not written twice.
            self.data = vec![0.0; rows * columns];
        } else if self.data.len() < rows * columns {
            self.data.resize(rows * columns, 0.0);
        }
    }

    /// Appends a column and returns it; its entries must be overwritten.
    #[inline(always)]
    pub fn push(&mut self) -> &mut [f64] {
        self.reshape(self.rows, self.count + 1);
        let j = self.count - 1;
        self.column_mut(j)
    }

    /// A copy without spare room.
    #[must_use]
    #[inline(always)]
    pub fn trimmed(&self) -> Self {
        Self { rows: self.rows, count: self.count, data: self.all().to_vec() }
    }

    /// Bytes that the entries take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.all())
    }

    /// Bytes that the matrix has taken, whatever its shape is.
    #[must_use]
    pub fn room(&self) -> usize {
        size_of_val(self.data.as_slice())
    }

    /// Takes the shape away; the memory stays. Where assertions are on, no later entry is a number unless it is written.
    pub fn forget(&mut self) {
        (self.rows, self.count) = (0, 0);
        if cfg!(debug_assertions) {
            self.data.fill(f64::NAN);
        }
    }

    /// Number of rows.
    #[must_use]
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns, the centre included.
    #[must_use]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no column at all.
    #[must_use]
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Column j.
    #[must_use]
    #[inline(always)]
    pub fn column(&self, j: usize) -> &[f64] {
        &self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// Column j, to write.
    #[inline(always)]
    pub fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// Columns from j on.
    #[must_use]
    #[inline(always)]
    pub fn from(&self, j: usize) -> &[f64] {
        &self.data[(j * self.rows).min(self.rows * self.count)..self.rows * self.count]
    }

    /// Columns from j on, to write.
    #[must_use]
    #[inline(always)]
    pub fn from_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[(j * self.rows).min(self.rows * self.count)..self.rows * self.count]
    }

    /// All entries.
    #[must_use]
    #[inline(always)]
    pub fn all(&self) -> &[f64] {
        self.from(0)
    }

    /// All entries, to write.
    #[inline(always)]
    pub fn all_mut(&mut self) -> &mut [f64] {
        &mut self.data[..self.rows * self.count]
    }
}
