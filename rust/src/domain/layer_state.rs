//! What a propagation keeps of one step: the forms before its function, their bounds, how the function transforms them,
//! and the forms behind it.
//!
//! A form is a zonotope with one row for every row of the step and one column for the centre and for every
//! generator (letters as in [`super`]). How forms arise is in [`super::preactivation`], how they pass the function in
//! [`super::postactivation`].

use super::affine::Extent;
use super::columns::Columns;
use super::phase::Bounds;
use super::transformer::{DifferenceTransformer, Transformer};

/// Which generator a column of the difference belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The generator a1 of f1 with this number.
    First(usize),
    /// A generator `ad` of the difference alone.
    Own,
}

/// The state of one step in a propagation.
#[derive(Debug, Clone, Default)]
pub struct LayerState {
    /// The form of x before the function, over the centre, e and a1.
    pub z1: Columns,
    /// The form of y before the function, over the centre, e and a2.
    pub z2: Columns,
    /// The part of the form of d over the columns that it has in common with `z2`.
    pub d_common: Columns,
    /// The rest of the form of d, over the generators in `rest_sources`.
    pub d_rest: Columns,
    /// The generator of each column of `d_rest`.
    pub rest_sources: Vec<Source>,
    /// The extent of the form of x.
    pub extent1: Extent,
    /// The extent of the form of y.
    pub extent2: Extent,
    /// The extent of the form of d.
    pub extent_d: Extent,
    /// Bounds of x before the function.
    pub x: Bounds,
    /// Bounds of y before the function.
    pub y: Bounds,
    /// Bounds of d before the function.
    pub d: Bounds,
    /// How the function transforms x in f1.
    pub transformer1: Transformer,
    /// How the function transforms y in f2.
    pub transformer2: Transformer,
    /// How it transforms d.
    pub transformer_d: DifferenceTransformer,
    /// Whether the function is another one than ReLU or the identity.
    pub curved: bool,
    pub(super) after: Postactivation,
}

/// What enters later products: the forms behind the function on k rows, at least those that may be nonzero, without the
/// fresh generators, which become columns only there. Each list of fresh generators says at which column it begins.
#[derive(Debug, Clone, Default)]
pub(super) struct Postactivation {
    /// The neurons that may be nonzero in either network, in order.
    pub nonzero: Vec<usize>,
    /// The neurons that enter later products, in order: those that may be nonzero, or all where nearly all may be.
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
    /// What the difference takes of f1's fresh generators, and then its own: index in `rows`, and coefficient.
    pub fresh_rest: Vec<(usize, f64)>,
    /// The column of `z1` at which those of f1 begin.
    pub from1: usize,
    /// The column of `z2` at which those of f2 begin.
    pub from2: usize,
    /// The column of `d_rest` at which those of the difference begin.
    pub from_rest: usize,
    /// How many generators of its own the difference had before.
    pub own_before: usize,
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

/// The memory of the forms of x, of y and of both parts of d behind a function that no step reads any more.
pub(super) type SpareForms = [Columns; 4];

impl Postactivation {
    fn forms(&self) -> [&Columns; 4] {
        [&self.first, &self.second, &self.common, &self.rest]
    }

    fn forms_mut(&mut self) -> [&mut Columns; 4] {
        [&mut self.first, &mut self.second, &mut self.common, &mut self.rest]
    }

    /// Bytes that the forms take.
    pub fn bytes(&self) -> usize {
        self.forms().iter().map(|form| form.bytes()).sum()
    }

    /// Takes the forms away; there are none any more.
    pub fn take_forms(&mut self) -> SpareForms {
        self.forms_mut().map(std::mem::take)
    }

    /// Takes memory for the forms of the next box, if there is none yet: what was written last is likeliest to be in a cache.
    pub fn reuse(&mut self, spare: &mut Vec<SpareForms>) {
        if self.forms().iter().all(|form| form.room() == 0)
            && let Some(forms) = spare.pop()
        {
            [self.first, self.second, self.common, self.rest] = forms;
        }
    }

    /// Columns of a form over f1's generators that has this one as a term.
    pub fn columns1(&self) -> usize {
        if self.fresh1.is_empty() { self.first.len() } else { self.from1 + self.fresh1.len() }
    }

    /// Columns of a form over f2's generators that has this one as a term.
    pub fn columns2(&self) -> usize {
        let columns = self.second.len().max(self.common.len());
        if self.fresh2.is_empty() { columns } else { self.from2 + self.fresh2.len() }
    }

    /// Columns of a form over the difference's other generators that has this one as a term.
    pub fn columns_rest(&self) -> usize {
        if self.fresh_rest.is_empty() { self.rest.len() } else { self.from_rest + self.fresh_rest.len() }
    }
}

/// The generators that a propagation has made so far. They are appended in the order of the steps, so that the columns
/// of an earlier step are the first ones of a later step.
#[derive(Debug, Clone, Default)]
pub(super) struct Generators {
    /// The number of free inputs, each with a generator e.
    pub inputs: usize,
    /// The number of generators a1.
    pub first: usize,
    /// The number of generators a2.
    pub second: usize,
    /// The number of generators of the difference alone.
    pub own: usize,
    /// The generator of each column of `d_rest`.
    pub sources: Vec<Source>,
    /// For each a1 its column in `d_rest`, if the difference uses it.
    pub columns: Vec<Option<usize>>,
}

impl Generators {
    /// Only those of the inputs.
    pub fn reset(&mut self, inputs: usize) {
        (self.inputs, self.first, self.second, self.own) = (inputs, 0, 0, 0);
        self.sources.clear();
        self.columns.clear();
    }

    /// The number of columns over f1's generators.
    pub fn columns1(&self) -> usize {
        1 + self.inputs + self.first
    }

    /// The number of columns over f2's generators.
    pub fn columns2(&self) -> usize {
        1 + self.inputs + self.second
    }

    /// A column of `d_rest` for a generator.
    pub fn push(&mut self, source: Source) -> usize {
        match source {
            Source::First(a) => self.columns[a] = Some(self.sources.len()),
            Source::Own => self.own += 1,
        }
        self.sources.push(source);
        self.sources.len() - 1
    }
}

impl LayerState {
    /// The neurons that may be nonzero behind the function in either network.
    #[must_use]
    pub fn possibly_nonzero(&self) -> &[usize] {
        &self.after.nonzero
    }

    /// The difference's own generators that the function makes: the number of each among all of them, and its row.
    pub(super) fn own_generators(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let made = self.after.rows.iter().filter(|&&i| self.transformer_d.fresh_own[i] != 0.0);
        made.enumerate().map(|(k, &i)| (self.after.own_before + k, i))
    }

    /// Where the difference's own generators begin in a row over all generators of this step's forms.
    pub(super) fn first_own(&self, inputs: usize) -> usize {
        self.z1.len() + self.z2.len() - 2 - inputs
    }

    /// The number of neurons that enter later products.
    pub(super) fn entering(&self) -> usize {
        self.after.rows.len()
    }

    /// Bytes that the forms take, before and behind the function.
    pub(super) fn bytes(&self) -> usize {
        let forms = [&self.z1, &self.z2, &self.d_common, &self.d_rest];
        forms.iter().map(|form| form.bytes()).sum::<usize>() + self.after.bytes()
    }

    /// Frees the forms before the function; bounds and transformers stay.
    pub(super) fn drop_forms(&mut self) {
        for form in [&mut self.z1, &mut self.z2, &mut self.d_common, &mut self.d_rest] {
            *form = Columns::default();
        }
        self.rest_sources.clear();
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
