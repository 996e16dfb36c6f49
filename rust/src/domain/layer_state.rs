//! What a propagation keeps of one layer: the forms before ReLU, their bounds, how the ReLUs transform them, and the
//! forms after ReLU.
//!
//! A form is a zonotope with one row for every neuron of the layer and one column for the centre and for every
//! generator (letters as in [`super`]). How forms arise is in [`super::preactivation`], how they pass ReLU in
//! [`super::postactivation`].

use super::affine::Extent;
use super::columns::Columns;
use super::phase::Bounds;
use super::relu::{DifferenceTransformer, ReluTransformer};

/// Which generator a column of the difference belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The generator a1 of f1 with this number.
    First(usize),
    /// A generator `ad` of the difference alone.
    Own,
}

/// The state of one layer in a propagation.
#[derive(Debug, Clone, Default)]
pub struct LayerState {
    /// The form of x before ReLU, over the centre, e and a1.
    pub z1: Columns,
    /// The form of y before ReLU, over the centre, e and a2.
    pub z2: Columns,
    /// The part of the form of d over the columns that it has in common with `z2`.
    pub d_common: Columns,
    /// The rest of the form of d, over the generators in `rest_sources`.
    pub d_rest: Columns,
    /// The generator of each column of `d_rest`; after ReLU more may be listed, whose columns enter with the next
    /// layer.
    pub rest_sources: Vec<Source>,
    /// For each a1 that enters this layer, its column in `d_rest`, if the difference uses it.
    pub rest_columns: Vec<Option<usize>>,
    /// The extent of the form of x.
    pub extent1: Extent,
    /// The extent of the form of y.
    pub extent2: Extent,
    /// The extent of the form of d.
    pub extent_d: Extent,
    /// Bounds of x before ReLU.
    pub x: Bounds,
    /// Bounds of y before ReLU.
    pub y: Bounds,
    /// Bounds of d before ReLU.
    pub d: Bounds,
    /// How the ReLUs of f1 transform x.
    pub relu1: ReluTransformer,
    /// How the ReLUs of f2 transform y.
    pub relu2: ReluTransformer,
    /// How the ReLUs of both networks transform d.
    pub relu_d: DifferenceTransformer,
    pub(super) after: Postactivation,
}

/// What enters the next product: the forms after ReLU on the k rows that may be nonzero, without the fresh generators,
/// which become columns only in the next layer.
#[derive(Debug, Clone, Default)]
pub(super) struct Postactivation {
    /// The neurons that may be nonzero in either network, in order.
    pub rows: Vec<usize>,
    /// `z1` on these rows.
    pub first: Columns,
    /// `z2` on these rows.
    pub second: Columns,
    /// `d_common` on these rows.
    pub common: Columns,
    /// `d_rest` on these rows, with new columns for every a1 that the difference begins to use here.
    pub rest: Columns,
    /// The fresh generators of f1: index in `rows`, and size.
    pub fresh1: Vec<(usize, f64)>,
    /// The fresh generators of f2: index in `rows`, and size.
    pub fresh2: Vec<(usize, f64)>,
    /// The extent of X on all rows, fresh generators included.
    pub extent1: Extent,
    /// The extent of Y on all rows, fresh generators included.
    pub extent2: Extent,
    /// The extent of D on all rows, fresh generators included.
    pub extent_d: Extent,
    /// A buffer: the factor of a form on each of `rows`.
    pub factors: Vec<f64>,
    /// A buffer: where a row of another form is added to the difference, as index in `rows`, row, and coefficient.
    pub additions: Vec<(usize, usize, f64)>,
}

impl LayerState {
    /// The neurons that may be nonzero behind ReLU in either network.
    #[must_use]
    pub fn possibly_nonzero(&self) -> &[usize] {
        &self.after.rows
    }

    /// A copy of what a view of the outputs needs, for answers that come after the workspace has gone on to another
    /// box.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        Self {
            z1: self.z1.trimmed(),
            z2: self.z2.trimmed(),
            d_common: self.d_common.trimmed(),
            d_rest: self.d_rest.trimmed(),
            rest_sources: self.rest_sources.clone(),
            extent1: self.extent1.clone(),
            extent2: self.extent2.clone(),
            extent_d: self.extent_d.clone(),
            d: self.d.clone(),
            ..Self::default()
        }
    }
}
