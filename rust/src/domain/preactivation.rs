//! The forms of a step before its function, which come from the box and from the forms of earlier steps, and their
//! bounds.
//!
//! Letters as in [`super`]: m rows; of an earlier step k rows that may be nonzero. The columns of an earlier form are
//! the first ones of a later form, since generators are appended in the order of the steps; where a sum has columns
//! that a term has not, that term adds 0 to them. The active parts of the tiles are gathered once for a step and serve
//! products, fresh generators and errors alike.

use super::affine::{self, ActiveDifference, ActiveTerm, ActiveTile, Extent, Gathered, Operand, Parts};
use super::columns::Columns;
use super::layer_state::{Generators, LayerState, Postactivation, Source};
use super::phase::Bounds;
use crate::network::{Origin, Pair};
use crate::numeric::kernels::{Accumulate, absolute_row_sums, combine_columns};
use crate::numeric::round::{add_up, gamma, inflate, sub_down, sub_up};
use smallvec::SmallVec;

/// Columns of a matrix, each with a factor.
type Scaled = Vec<(usize, f64)>;
/// Columns of two matrices, each with a factor for either.
type Combined = Vec<(usize, f64, f64)>;

/// Buffers that serve one step after another.
#[derive(Debug, Default)]
pub struct Buffers {
    /// For the tiles of f1, of f2, and of their difference, one for each term.
    gathered: [Vec<Gathered>; 3],
    radii: Scaled,
    scaled: Scaled,
    combined: Combined,
    /// Products, and the clock that ends them early.
    pub parts: Parts,
    scratch: affine::Scratch,
}

/// A box as a form without an error: its centre, its radii, and its extent.
#[derive(Debug, Default)]
pub struct Input {
    /// The centre of every input.
    pub centre: Vec<f64>,
    /// The radius of every input, rounded up, so that |x - centre| <= radius.
    pub radius: Vec<f64>,
    extent: Extent,
    zero: Extent,
    all: Vec<usize>,
}

impl Input {
    /// Encloses the box lower <= x <= upper.
    pub fn set(&mut self, lower: &[f64], upper: &[f64]) {
        self.centre.clear();
        self.radius.clear();
        self.extent.clear(lower.len());
        self.zero.clear(lower.len());
        self.all.clear();
        self.all.extend(0..lower.len());
        for (i, (&l, &u)) in lower.iter().zip(upper).enumerate() {
            let c = l + 0.5 * (u - l);
            let r = sub_up(u, c).max(sub_up(c, l)).max(0.0);
            self.centre.push(c);
            self.radius.push(r);
            self.extent.magnitude[i] = add_up(c.abs(), r);
        }
    }
}

/// A form that a term reads: of the box, or behind an earlier step.
#[derive(Clone, Copy)]
enum Read<'a> {
    Box(&'a Input),
    Step(&'a LayerState),
}

impl<'a> Read<'a> {
    fn of(origin: Origin, before: &'a [LayerState], input: &'a Input) -> Self {
        match origin {
            Origin::Inputs => Self::Box(input),
            Origin::Step(j) => Self::Step(&before[j]),
        }
    }

    /// The rows that may be nonzero.
    fn rows(self) -> &'a [usize] {
        match self {
            Self::Box(input) => &input.all,
            Self::Step(step) => &step.after.rows,
        }
    }

    /// The forms of X, Y and D.
    fn operands(self) -> [Operand<'a>; 3] {
        let extents = match self {
            Self::Box(input) => [&input.extent, &input.extent, &input.zero],
            Self::Step(LayerState { after, .. }) => [&after.extent1, &after.extent2, &after.extent_d],
        };
        extents.map(|extent| Operand { extent, rows: self.rows() })
    }

    /// The number of columns over f1's generators, over f2's, and over the difference's others.
    fn columns(self) -> [usize; 3] {
        match self {
            Self::Box(input) => [1 + input.centre.len(), 1 + input.centre.len(), 0],
            Self::Step(LayerState { after, .. }) => [after.columns1(), after.columns2(), after.columns_rest()],
        }
    }
}

/// The columns of the forms of a step: those of all its terms; the outputs have every column there is.
fn columns_of<'a>(terms: impl Iterator<Item = Read<'a>>, generators: &Generators, outputs: bool) -> [usize; 3] {
    if outputs {
        return [generators.columns1(), generators.columns2(), generators.sources.len()];
    }
    let inputs = 1 + generators.inputs;
    terms.map(Read::columns).fold([inputs, inputs, 0], |[a, b, c], [x, y, z]| [a.max(x), b.max(y), c.max(z)])
}

/// A sum of products, written term by term: the first one sets all columns, the others add to those that they have.
struct Sum<'a> {
    out: &'a mut Columns,
    begun: bool,
}

impl<'a> Sum<'a> {
    fn of(out: &'a mut Columns, rows: usize, columns: usize) -> Self {
        out.reshape(rows, columns);
        Self { out, begun: false }
    }

    /// Whether the next term sets what it has or adds to it. If it sets, the columns that it does not have become 0: it
    /// has the first `old` ones, and `fresh` ones from `from` on.
    fn begin(&mut self, old: usize, from: usize, fresh: usize) -> Accumulate {
        if self.begun {
            return Accumulate::Add;
        }
        self.begun = true;
        let (m, end) = (self.out.rows(), self.out.len());
        let (from, behind) = if fresh == 0 { (end, end) } else { (from, from + fresh) };
        self.out.all_mut()[m * old..m * from].fill(0.0);
        self.out.all_mut()[m * behind..].fill(0.0);
        Accumulate::Replace
    }

    /// Adds the product with a form, and with fresh generators whose columns begin at `from`. Returns the number of
    /// operations.
    fn add(
        &mut self,
        tile: ActiveTile<'_>,
        form: &Columns,
        (from, fresh): (usize, &[(usize, f64)]),
        parts: &mut Parts,
    ) -> usize {
        let accumulate = self.begin(form.len(), from, fresh.len());
        tile.product(self.out.all_mut(), form.all(), form.len(), accumulate, parts);
        if !fresh.is_empty() {
            tile.scale_columns(self.out.from_mut(from), fresh, accumulate);
        }
        2 * tile.products() * form.len() + self.out.rows() * fresh.len()
    }

    /// Adds the product with the form of a box; the first term sets the centre before, to the bias if one is given.
    /// Returns the number of operations.
    fn add_box(
        &mut self,
        tile: ActiveTile<'_>,
        input: &Input,
        bias: Option<&Vec<f64>>,
        radii: &[(usize, f64)],
    ) -> usize {
        let accumulate = self.begin(1 + radii.len(), 0, 0);
        let m = self.out.rows();
        let (centre, generators) = self.out.all_mut().split_at_mut(m);
        match (accumulate, bias) {
            (Accumulate::Replace, Some(bias)) => centre.copy_from_slice(bias),
            (Accumulate::Replace, None) => centre.fill(0.0),
            (Accumulate::Add, _) => {}
        }
        tile.add_product(centre, &input.centre);
        tile.scale_columns(&mut generators[..m * radii.len()], radii, accumulate);
        3 * tile.products()
    }

    /// Adds the term of a step to the difference over the columns of `z2`: A1 d_common + (A1 - A2) z2, where f2's fresh
    /// generators have columns of their own. Returns the number of operations.
    fn add_common(
        &mut self,
        step: &LayerState,
        tiles: &ActiveDifference<'_>,
        (scaled, combined): (&mut Scaled, &mut Combined),
        parts: &mut Parts,
    ) -> usize {
        let (Postactivation { rows, second, common, fresh2, from2, .. }, factors) =
            (&step.after, &step.transformer_d.fresh2);
        let (old, m) = (common.len(), self.out.rows());
        let whole = self.begin(old, *from2, fresh2.len());
        let mut accumulate = whole;
        let mut flops = 0;
        for (tile, form) in [(tiles.first, common), (tiles.between, second)] {
            if let Some(tile) = tile {
                tile.product(self.out.all_mut(), form.all(), old, accumulate, parts);
                accumulate = Accumulate::Add;
                flops += 2 * tile.products() * old;
            }
        }
        if accumulate == Accumulate::Replace {
            self.out.all_mut()[..m * old].fill(0.0);
        }
        if fresh2.is_empty() {
            return flops;
        }
        let out = self.out.from_mut(*from2);
        match (tiles.first.map(|t| t.dense()), tiles.between.map(|t| t.dense())) {
            (Some(Some(weight)), None | Some(Some(_))) if whole == Accumulate::Replace => {
                let other = tiles.between.and_then(|t| t.dense());
                combined.clear();
                let entry = |&(j, mu): &(usize, f64)| (j, factors[rows[j]], if other.is_none() { 0.0 } else { mu });
                combined.extend(fresh2.iter().map(entry));
                combine_columns(out, weight, other.unwrap_or(weight), m, combined);
            }
            _ => {
                let mut accumulate = whole;
                if let Some(tile) = tiles.first {
                    scaled.clear();
                    scaled.extend(fresh2.iter().map(|&(j, _)| (j, factors[rows[j]])));
                    tile.scale_columns(out, scaled, accumulate);
                    accumulate = Accumulate::Add;
                }
                if let Some(tile) = tiles.between {
                    tile.scale_columns(out, fresh2, accumulate);
                    accumulate = Accumulate::Add;
                }
                if accumulate == Accumulate::Replace {
                    out[..m * fresh2.len()].fill(0.0);
                }
            }
        }
        flops + 3 * m * fresh2.len()
    }

    /// Adds the bias; without any term, and with the box alone, all else is already there.
    fn end(mut self, bias: &[f64], alone: bool) {
        let begun = self.begun;
        self.begin(0, 0, 0);
        if !(begun && alone) {
            self.out.column_mut(0).iter_mut().zip(bias).for_each(|(c, b)| *c += b);
        }
    }
}

/// The terms of a step are few, so that their list needs no allocation.
type Terms<T> = SmallVec<[T; 4]>;

impl LayerState {
    /// About how many bytes the forms of step s will take, before and behind its function: those that
    /// [`Self::apply_affine`] makes, and at most as many again.
    pub(super) fn bytes_needed(
        (before, input): (&[Self], &Input),
        generators: &Generators,
        (pair, s): (&Pair, usize),
    ) -> usize {
        let terms = pair.first[s].terms.iter().chain(&pair.second[s].terms);
        let terms = terms.map(|t| Read::of(t.origin, before, input));
        let [first, second, rest] = columns_of(terms, generators, s + 1 == pair.depth());
        let copies = if s + 1 == pair.depth() { 1 } else { 2 };
        let entries = pair.first[s].rows.saturating_mul(first + 2 * second + rest);
        entries.saturating_mul(copies * size_of::<f64>())
    }

    /// The forms of step s from those of the box and of earlier steps. Returns the number of operations; `None` if the
    /// clock was over before all of them were made, so that there are no forms.
    pub(super) fn apply_affine(
        &mut self,
        (before, input): (&[Self], &Input),
        generators: &Generators,
        (pair, s): (&Pair, usize),
        difference: bool,
        buffers: &mut Buffers,
    ) -> Option<usize> {
        let (step1, step2, between) = (&pair.first[s], &pair.second[s], &pair.difference[s]);
        let m = step1.rows;
        let Buffers { gathered, radii, scaled, combined, parts, scratch } = buffers;
        let [gathered1, gathered2, gathered_d] = gathered;
        let counts = [step1.terms.len(), step2.terms.len(), between.terms.len()];
        for (list, count) in [&mut *gathered1, &mut *gathered2, &mut *gathered_d].into_iter().zip(counts) {
            if list.len() < count {
                list.resize_with(count, Gathered::default);
            }
        }
        radii.clear();
        radii.extend(input.radius.iter().copied().enumerate());
        let read = |origin: Origin| Read::of(origin, before, input);
        let origins = || step1.terms.iter().chain(&step2.terms).map(|t| t.origin);
        // The centre begins with the bias where the box is all that is read, and gets it last elsewhere.
        let box_alone = origins().all(|origin| origin == Origin::Inputs);
        let columns = columns_of(origins().map(read), generators, s + 1 == pair.depth());

        let mut flops = 0;
        let mut active: [Terms<ActiveTerm<'_>>; 2] = Default::default();
        for (side, (step, list)) in [(step1, gathered1), (step2, gathered2)].into_iter().enumerate() {
            for (term, buffer) in step.terms.iter().zip(list) {
                let from = read(term.origin);
                active[side].push((ActiveTile::new(&term.tile, from.rows(), buffer), from.operands()[side]));
            }
        }
        let sides = [(step1, &mut self.z1, &mut self.extent1), (step2, &mut self.z2, &mut self.extent2)];
        for (side, (step, z, extent)) in sides.into_iter().enumerate() {
            let mut sum = Sum::of(z, m, columns[side]);
            for (term, &(tile, _)) in step.terms.iter().zip(&active[side]) {
                flops += match read(term.origin) {
                    Read::Box(input) => sum.add_box(tile, input, box_alone.then_some(&step.bias), radii),
                    Read::Step(LayerState { after, .. }) => {
                        let forms =
                            [(&after.first, after.from1, &after.fresh1), (&after.second, after.from2, &after.fresh2)];
                        let (form, from, fresh) = forms[side];
                        sum.add(tile, form, (from, fresh), parts)
                    }
                };
            }
            sum.end(&step.bias, box_alone);
            affine::error(&mut extent.err, step, &active[side], columns[side], scratch);
        }
        if !difference || parts.over {
            return (!parts.over).then_some(flops);
        }
        let mut list = Terms::<ActiveDifference<'_>>::new();
        for (term, buffer) in between.terms.iter().zip(gathered_d) {
            let from = read(term.origin);
            let [x, y, d] = from.operands();
            list.push(ActiveDifference {
                first: term.first.map(|t| active[0][t].0),
                second: term.second.map(|t| active[1][t].0),
                between: (!term.zero && !y.is_zero()).then(|| ActiveTile::new(&term.tile, from.rows(), buffer)),
                x,
                y,
                d,
            });
        }
        let mut sum = Sum::of(&mut self.d_common, m, columns[1]);
        for (term, tiles) in between.terms.iter().zip(&list) {
            flops += match (read(term.origin), tiles.between) {
                (Read::Box(input), Some(tile)) => sum.add_box(tile, input, box_alone.then_some(&between.bias), radii),
                (Read::Box(_), None) => 0,
                (Read::Step(step), _) => sum.add_common(step, tiles, (scaled, combined), parts),
            };
        }
        sum.end(&between.bias, box_alone);
        let mut sum = Sum::of(&mut self.d_rest, m, columns[2]);
        for (term, tiles) in between.terms.iter().zip(&list) {
            if let (Read::Step(LayerState { after, .. }), Some(tile)) = (read(term.origin), tiles.first) {
                flops += sum.add(tile, &after.rest, (after.from_rest, &after.fresh_rest), parts);
            }
        }
        sum.begin(0, 0, 0);
        self.rest_sources.clear();
        self.rest_sources.extend_from_slice(&generators.sources[..columns[2]]);
        let total = columns[1] + columns[2];
        affine::difference_error(&mut self.extent_d.err, (step1, step2, between), &list, total, scratch);
        (!parts.over).then_some(flops)
    }

    /// Sets the bounds of x, y and d. Without a zonotope of the difference, those of d follow from those of x and y.
    pub(super) fn bound(&mut self, difference: bool) {
        bound(&mut self.x, &mut self.extent1, &self.z1, &[]);
        bound(&mut self.y, &mut self.extent2, &self.z2, &[]);
        if difference {
            bound(&mut self.d, &mut self.extent_d, &self.d_common, self.d_rest.all());
        } else {
            self.d.lower.clear();
            self.d.upper.clear();
            self.d.lower.extend(self.x.lower.iter().zip(&self.y.upper).map(|(x, y)| sub_down(*x, *y)));
            self.d.upper.extend(self.x.upper.iter().zip(&self.y.lower).map(|(x, y)| sub_up(*x, *y)));
        }
    }

    /// Takes z1 - z2 as the form of the difference of the outputs.
    pub(super) fn difference_of_outputs(&mut self, inputs: usize) {
        let m = self.z1.rows();
        self.d_common.reshape(m, self.z2.len());
        for j in 0..self.z2.len() {
            let y = self.z2.column(j);
            if j <= inputs {
                let x = self.z1.column(j);
                self.d_common.column_mut(j).iter_mut().zip(x.iter().zip(y)).for_each(|(o, (a, b))| *o = a - b);
            } else {
                self.d_common.column_mut(j).iter_mut().zip(y).for_each(|(o, b)| *o = -b);
            }
        }
        let p1 = self.z1.len() - 1 - inputs;
        self.d_rest.reshape(m, p1);
        self.d_rest.all_mut().copy_from_slice(self.z1.from(1 + inputs));
        self.rest_sources.clear();
        self.rest_sources.extend((0..p1).map(Source::First));
        self.extent_d.clear(m);
        for i in 0..m {
            // Every entry is one subtraction, of which gamma(2) covers one rounding; the sum of sizes is computed with
            // four roundings, of eight allowed.
            let rounding = gamma(2)
                * (self.extent1.magnitude[i]
                    + self.extent2.magnitude[i]
                    + self.z1.column(0)[i].abs()
                    + self.z2.column(0)[i].abs());
            self.extent_d.err[i] = add_up(add_up(self.extent1.err[i], self.extent2.err[i]), inflate(rounding, 8));
        }
        bound(&mut self.d, &mut self.extent_d, &self.d_common, self.d_rest.all());
    }
}

/// Sets bounds from the centre, the generators behind it, and `more` of them.
fn bound(bounds: &mut Bounds, extent: &mut Extent, form: &Columns, more: &[f64]) {
    extent.magnitude.resize(form.rows(), 0.0);
    absolute_row_sums(&mut extent.magnitude, form.from(1), Accumulate::Replace);
    absolute_row_sums(&mut extent.magnitude, more, Accumulate::Add);
    let columns = form.len() + more.len() / form.rows().max(1);
    bounds.set(form.column(0), &mut extent.magnitude, &extent.err, columns);
}
