//! What a propagation keeps of one layer: the forms before ReLU, their bounds, how ReLU is passed, and the forms after it.
//!
//! There is a row for every neuron of the pair's layer. How forms arise is in [`super::preactivation`], how they pass ReLU in [`super::postactivation`].

use super::affine::Mass;
use super::columns::Columns;
use super::phase::Bounds;
use super::relu::{DifferenceRecipe, Recipe};

/// Marks a column of `dq` that is a generator of the difference's own.
pub const OWN: u32 = u32::MAX;

/// One layer.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    /// [centre, e, a1] before ReLU.
    pub z1: Columns,
    /// [centre, e, a2].
    pub z2: Columns,
    /// The difference over the columns of `z2`.
    pub dp: Columns,
    /// The difference over the generators in `source`.
    pub dq: Columns,
    /// For each column of `dq`, which a1 it is, or [`OWN`].
    pub source: Vec<u32>,
    /// For each a1 before this layer, its column in `dq`, or [`OWN`] if it has none.
    pub place: Vec<u32>,
    /// Sums of absolute generators and error radius: of x,
    pub mass1: Mass,
    /// of y,
    pub mass2: Mass,
    /// and of d.
    pub massd: Mass,
    /// Bounds of x,
    pub x: Bounds,
    /// of y,
    pub y: Bounds,
    /// and of d.
    pub d: Bounds,
    /// f1's ReLU.
    pub recipe1: Recipe,
    /// f2's ReLU.
    pub recipe2: Recipe,
    /// The difference's.
    pub reciped: DifferenceRecipe,
    pub(super) after: After,
}

/// What enters the next product: the forms after ReLU on the rows that may be nonzero, fresh generators left out.
#[derive(Debug, Clone, Default)]
pub(super) struct After {
    /// The rows that may be nonzero in either network.
    pub rows: Vec<usize>,
    /// z1 on these rows,
    pub first: Columns,
    /// z2,
    pub second: Columns,
    /// dp,
    pub common: Columns,
    /// and dq, which may have got new columns.
    pub rest: Columns,
    /// Fresh generators of f1 as (index in `rows`, size),
    pub fresh1: Vec<(usize, f64)>,
    /// and of f2.
    pub fresh2: Vec<(usize, f64)>,
    /// Masses on all rows, fresh generators included: of X,
    pub mass1: Mass,
    /// of Y,
    pub mass2: Mass,
    /// and of D.
    pub massd: Mass,
    /// What a form is scaled by on each of `rows`.
    pub factors: Vec<f64>,
    /// Rows of the difference that copy something of another form: (index in `rows`, row, coefficient).
    pub copies: Vec<(usize, usize, f64)>,
}

impl Layer {
    /// The rows that may be nonzero behind ReLU in either network.
    #[must_use]
    pub fn passing(&self) -> &[usize] {
        &self.after.rows
    }

    /// A copy of what a view of the outputs needs, for answers that come after the workspace has gone on to another box.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        Self {
            z1: self.z1.trimmed(),
            z2: self.z2.trimmed(),
            dp: self.dp.trimmed(),
            dq: self.dq.trimmed(),
            source: self.source.clone(),
            mass1: self.mass1.clone(),
            mass2: self.mass2.clone(),
            massd: self.massd.clone(),
            d: self.d.clone(),
            ..Self::default()
        }
    }
}
