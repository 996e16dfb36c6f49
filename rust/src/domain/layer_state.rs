//! What a propagation keeps of one layer: the forms before ReLU, their bounds, how ReLU is passed, and the forms after it.
//!
//! There is a row for every neuron of the pair's layer. How forms arise is in [`super::preactivation`], how they pass ReLU in [`super::postactivation`].

use super::affine::Extent;
use super::columns::Columns;
use super::phase::Bounds;
use super::relu::{DifferenceTransformer, ReluTransformer};

/// Marks a column of `d_rest` that is a generator of the difference's own.
pub const OWN: u32 = u32::MAX;

/// One layer.
#[derive(Debug, Clone, Default)]
pub struct LayerState {
    /// [centre, e, a1] before ReLU.
    pub z1: Columns,
    /// [centre, e, a2].
    pub z2: Columns,
    /// The difference over the columns of `z2`.
    pub d_common: Columns,
    /// The difference over the generators in `source`.
    pub d_rest: Columns,
    /// For each column of `d_rest`, which a1 it is, or [`OWN`].
    pub source: Vec<u32>,
    /// For each a1 before this layer, its column in `d_rest`, or [`OWN`] if it has none.
    pub place: Vec<u32>,
    /// Sums of absolute generators and error radius: of x,
    pub extent1: Extent,
    /// of y,
    pub extent2: Extent,
    /// and of d.
    pub extent_d: Extent,
    /// Bounds of x,
    pub x: Bounds,
    /// of y,
    pub y: Bounds,
    /// and of d.
    pub d: Bounds,
    /// f1's ReLU.
    pub relu1: ReluTransformer,
    /// f2's ReLU.
    pub relu2: ReluTransformer,
    /// The difference's.
    pub relu_d: DifferenceTransformer,
    pub(super) after: Postactivation,
}

/// What enters the next product: the forms after ReLU on the rows that may be nonzero, fresh generators left out.
#[derive(Debug, Clone, Default)]
pub(super) struct Postactivation {
    /// The rows that may be nonzero in either network.
    pub rows: Vec<usize>,
    /// z1 on these rows,
    pub first: Columns,
    /// z2,
    pub second: Columns,
    /// d_common,
    pub common: Columns,
    /// and d_rest, which may have got new columns.
    pub rest: Columns,
    /// Fresh generators of f1 as (index in `rows`, size),
    pub fresh1: Vec<(usize, f64)>,
    /// and of f2.
    pub fresh2: Vec<(usize, f64)>,
    /// Masses on all rows, fresh generators included: of X,
    pub extent1: Extent,
    /// of Y,
    pub extent2: Extent,
    /// and of D.
    pub extent_d: Extent,
    /// What a form is scaled by on each of `rows`.
    pub factors: Vec<f64>,
    /// Rows of the difference that copy something of another form: (index in `rows`, row, coefficient).
    pub copies: Vec<(usize, usize, f64)>,
}

impl LayerState {
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
            d_common: self.d_common.trimmed(),
            d_rest: self.d_rest.trimmed(),
            source: self.source.clone(),
            extent1: self.extent1.clone(),
            extent2: self.extent2.clone(),
            extent_d: self.extent_d.clone(),
            d: self.d.clone(),
            ..Self::default()
        }
    }
}
