//! Propagation of a box through a pair ([VD], Algorithm `Reach_Delta`): affine, bounds, recipe, affine, ... One [`Reach`] is one worker's workspace.
//!
//! Nothing is allocated per box once the largest shapes have been seen. The states of all layers are kept, because the split score walks back
//! through them.

use super::affine::{self, Compact, Mass, Packed, append_fresh, transform};
use super::columns::Columns;
use super::knowledge::{Contradiction, Knowledge};
use super::output::Output;
use super::phase::{Bounds, Phase, exchange};
use super::relu::{self, DifferenceRecipe, Recipe, carry};
use crate::network::{Affine, Pair};
use crate::numeric::kernels::{Into, absolute_row_sums, add_columns, product};
use crate::numeric::round::{add_up, gamma, inflate, sub_down, sub_up, up};
use crate::numeric::vectorised;

/// Which enclosure to propagate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// [VD] as published.
    Paper,
    /// No zonotope of the difference; z1 - z2 at the end. The paper's ablation.
    Naive,
    /// As published, and bounds of x, y and d are exchanged, fresh generators shared.
    Shared,
}

/// Why a propagation gave no enclosure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Numbers left the range of binary64: nothing is known.
    Overflow,
    /// What was known beforehand excludes what was found: no input satisfies the assumption.
    Contradiction,
}

impl From<Contradiction> for Failure {
    fn from(_: Contradiction) -> Self {
        Self::Contradiction
    }
}

/// Marks a column of `dq` that is a generator of the difference's own.
pub const OWN: u32 = u32::MAX;

/// One layer: forms before ReLU, how ReLU is passed, and the forms after it that enter the next product.
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
    after1: Compact,
    after2: Compact,
    afterd: Compact,
    afterq: Columns,
    /// Rows of the difference that copy something of x: (row, neuron, coefficient).
    copies_first: Vec<(usize, usize, f64)>,
    /// Of y.
    copies_second: Vec<(usize, usize, f64)>,
    out1: Mass,
    out2: Mass,
    outd: Mass,
}

/// Workspace for propagating boxes through one pair.
#[derive(Debug)]
pub struct Reach {
    domain: Domain,
    layers: Vec<Layer>,
    centre: Vec<f64>,
    radius: Vec<f64>,
    packed: Vec<f64>,
    packed_rows: Vec<f64>,
    flops: u64,
    whole: bool,
}

impl Reach {
    /// A workspace for pairs of this depth.
    #[must_use]
    pub fn new(domain: Domain, depth: usize) -> Self {
        Self {
            domain,
            layers: vec![Layer::default(); depth],
            centre: Vec::new(),
            radius: Vec::new(),
            packed: Vec::new(),
            packed_rows: Vec::new(),
            flops: 0,
            whole: false,
        }
    }

    /// States of all layers after the last propagation; the last layer's forms are those of the outputs. None after one that gave no enclosure, and
    /// left states of two propagations behind.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        if self.whole { &self.layers } else { &[] }
    }

    /// Additions and multiplications of all propagations so far that the layers themselves need: products over active rows, and scaled columns; not the
    /// bounds of rounding.
    #[must_use]
    pub fn flops(&self) -> u64 {
        self.flops
    }

    /// Centre of the last box.
    #[must_use]
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// Radius of the last box, rounded up: |x - centre| <= radius.
    #[must_use]
    pub fn radius(&self) -> &[f64] {
        &self.radius
    }

    /// Propagates lower <= x <= upper. `None` if numbers overflowed, so that nothing is known.
    pub fn propagate(&mut self, pair: &Pair, lower: &[f64], upper: &[f64]) -> Option<Output<'_>> {
        vectorised::run(Propagation { reach: self, pair, lower, upper, known: None }).ok()?;
        Some(Output::new(&self.layers[pair.depth() - 1], pair.inputs(), self.domain))
    }

    /// Propagates a box on which more is known, or assumed: its bounds choose the phases, and what it rules out is a contradiction.
    pub fn propagate_within(&mut self, pair: &Pair, known: &Knowledge) -> Result<Output<'_>, Failure> {
        vectorised::run(Propagation {
            reach: self,
            pair,
            lower: &known.lower,
            upper: &known.upper,
            known: Some(known),
        })?;
        Ok(Output::new(&self.layers[pair.depth() - 1], pair.inputs(), self.domain))
    }

    #[inline(always)]
    fn run(&mut self, pair: &Pair, lower: &[f64], upper: &[f64], known: Option<&Knowledge>) -> Result<(), Failure> {
        self.whole = false;
        self.centre.clear();
        self.radius.clear();
        for (&l, &u) in lower.iter().zip(upper) {
            let c = l + 0.5 * (u - l);
            self.centre.push(c);
            self.radius.push(sub_up(u, c).max(sub_up(c, l)).max(0.0));
        }
        self.first_layer(pair);
        let depth = pair.depth();
        for l in 0..depth {
            if l > 0 {
                self.next_layer(pair, l);
            }
            self.bounds(l);
            let layer = &mut self.layers[l];
            if !(layer.x.finite() && layer.y.finite() && layer.d.finite()) {
                return Err(Failure::Overflow);
            }
            if let Some(known) = known.map(|k| &k.layers[l]) {
                layer.x.intersect(&known.x)?;
                layer.y.intersect(&known.y)?;
                layer.d.intersect(&known.d)?;
            }
            if l + 1 < depth {
                layer.relu(self.domain, pair.inputs());
            }
        }
        if self.domain == Domain::Naive {
            self.layers[depth - 1].difference_of_outputs(pair.inputs());
        }
        self.whole = true;
        Ok(())
    }

    /// x = W centre + b, and one generator W[:, i] * radius_i per input; the inputs are equal, so d = (W1 - W2) x + b1 - b2.
    #[inline(always)]
    fn first_layer(&mut self, pair: &Pair) {
        let (layer1, layer2, difference) = (&pair.first[0], &pair.second[0], &pair.difference[0]);
        let (m, inputs) = (layer1.rows, layer1.columns);
        let state = &mut self.layers[0];
        let (centre, radius) = (&self.centre, &self.radius);
        first_form(&mut state.z1, (&layer1.weight, &layer1.bias), (centre, radius));
        first_form(&mut state.z2, (&layer2.weight, &layer2.bias), (centre, radius));
        state.source.clear();
        state.place.clear();
        state.dq.reshape(m, 0);
        // The input as a form: no error, magnitude |centre| + radius.
        let mut mass = std::mem::take(&mut state.out1);
        mass.clear(inputs);
        for (i, v) in mass.magnitude.iter_mut().enumerate() {
            *v = add_up(centre[i].abs(), radius[i]);
        }
        let rows = &mut state.after1.rows;
        rows.clear();
        rows.extend(0..inputs);
        affine::error(&mut state.mass1.err, layer1, rows, &mass, inputs);
        affine::error(&mut state.mass2.err, layer2, rows, &mass, inputs);
        if self.domain != Domain::Naive {
            first_form(&mut state.dp, (&difference.weight, &difference.bias), (centre, radius));
            let zero = &mut state.outd;
            zero.clear(inputs);
            let (err, layers) = (&mut state.massd.err, (layer1, layer2, difference));
            affine::difference_error(err, layers, (rows, &mass), (rows, &mass), (rows, zero), inputs);
        }
        state.out1 = mass;
        // The centre's product, and one scaling per generator.
        let forms = if self.domain == Domain::Naive { 2 } else { 3 };
        self.flops += (forms * 3 * m * inputs) as u64;
    }

    #[inline(always)]
    fn next_layer(&mut self, pair: &Pair, l: usize) {
        let (layer1, layer2, difference) = (&pair.first[l], &pair.second[l], &pair.difference[l]);
        let m = layer1.rows;
        let (before, after) = self.layers.split_at_mut(l);
        let (from, to) = (&before[l - 1], &mut after[0]);

        to.z1.reshape(m, from.after1.form.len());
        let weight = Packed::new(&mut self.packed, &layer1.weight, m, &from.after1.rows);
        transform(&mut to.z1, &weight, &from.after1, Into::Replace);
        append_fresh(&mut to.z1, layer1, from.recipe1.fresh_generators());
        affine::error(&mut to.mass1.err, layer1, &from.after1.rows, &from.out1, to.z1.len());

        to.z2.reshape(m, from.after2.form.len());
        let weight = Packed::new(&mut self.packed, &layer2.weight, m, &from.after2.rows);
        transform(&mut to.z2, &weight, &from.after2, Into::Replace);
        append_fresh(&mut to.z2, layer2, from.recipe2.fresh_generators());
        affine::error(&mut to.mass2.err, layer2, &from.after2.rows, &from.out2, to.z2.len());

        if self.domain != Domain::Naive {
            let weight = Packed::new(&mut self.packed, &layer1.weight, m, &from.afterd.rows);
            to.dp.reshape(m, from.afterd.form.len());
            transform(&mut to.dp, &weight, &from.afterd, Into::Replace);
            to.dq.reshape(m, from.afterq.len());
            product(
                to.dq.all_mut(),
                weight.data(),
                from.afterq.all(),
                (m, from.afterd.rows.len(), from.afterq.len()),
                Into::Replace,
            );
            if !difference.zero {
                let weight = Packed::new(&mut self.packed_rows, &difference.weight, m, &from.after2.rows);
                transform(&mut to.dp, &weight, &from.after2, Into::Add);
            }
            for (i, mu) in from.recipe2.fresh_generators() {
                let (k, w) = (from.reciped.k2[i], &difference.weight[i * m..(i + 1) * m]);
                for ((o, a), b) in to.dp.push().iter_mut().zip(layer1.column(i)).zip(w) {
                    *o = a * k + b * mu;
                }
            }
            to.grow_dq(from, layer1);
            let columns = to.dp.len() + to.dq.len();
            affine::difference_error(
                &mut to.massd.err,
                (layer1, layer2, difference),
                (&from.after1.rows, &from.out1),
                (&from.after2.rows, &from.out2),
                (&from.afterd.rows, &from.outd),
                columns,
            );
        }
        let product = |form: &Compact, columns: usize| 2 * form.rows.len() * columns;
        let mut flops = product(&from.after1, from.after1.form.len()) + product(&from.after2, from.after2.form.len());
        if self.domain != Domain::Naive {
            flops += product(&from.afterd, from.afterd.form.len() + from.afterq.len());
            flops += if difference.zero { 0 } else { product(&from.after2, from.after2.form.len()) };
        }
        let scaled = (to.z1.len() - from.after1.form.len()) + (to.z2.len() - from.after2.form.len());
        flops += scaled;
        if self.domain != Domain::Naive {
            flops += 3 * (to.dp.len() - from.afterd.form.len()) + (to.dq.len() - from.afterq.len());
        }
        self.flops += (m * flops) as u64;
        // Centres get their bias last.
        let shift = |out: &mut Columns, bias: &[f64]| out.column_mut(0).iter_mut().zip(bias).for_each(|(c, b)| *c += b);
        shift(&mut to.z1, &layer1.bias);
        shift(&mut to.z2, &layer2.bias);
        if self.domain != Domain::Naive {
            shift(&mut to.dp, &difference.bias);
        }
    }

    #[inline(always)]
    fn bounds(&mut self, l: usize) {
        let naive = self.domain == Domain::Naive;
        let layer = &mut self.layers[l];
        bounds_of(&mut layer.x, &mut layer.mass1, &layer.z1);
        bounds_of(&mut layer.y, &mut layer.mass2, &layer.z2);
        if naive {
            layer.d.lower.clear();
            layer.d.upper.clear();
            for i in 0..layer.x.lower.len() {
                layer.d.lower.push(sub_down(layer.x.lower[i], layer.y.upper[i]));
                layer.d.upper.push(sub_up(layer.x.upper[i], layer.y.lower[i]));
            }
        } else {
            let (mass, m) = (&mut layer.massd, layer.dp.rows());
            mass.magnitude.resize(m, 0.0);
            absolute_row_sums(&mut mass.magnitude, layer.dp.from(1));
            for column in layer.dq.all().chunks_exact(m) {
                mass.magnitude.iter_mut().zip(column).for_each(|(s, g)| *s += g.abs());
            }
            layer.d.set(layer.dp.column(0), &mut mass.magnitude, &mass.err, layer.dp.len() + layer.dq.len());
        }
    }
}

/// One call of [`Reach::propagate`].
struct Propagation<'a> {
    reach: &'a mut Reach,
    pair: &'a Pair,
    lower: &'a [f64],
    upper: &'a [f64],
    known: Option<&'a Knowledge>,
}

impl vectorised::Task for Propagation<'_> {
    type Output = Result<(), Failure>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.reach.run(self.pair, self.lower, self.upper, self.known)
    }
}

impl Layer {
    /// Appends fresh a1 columns that the difference uses and its own fresh columns, and brings `source` and `place` up to date.
    #[inline(always)]
    fn grow_dq(&mut self, from: &Layer, layer1: &Affine) {
        self.source.clone_from(&from.source);
        self.place.clone_from(&from.place);
        for (i, _) in from.recipe1.fresh_generators() {
            let k = from.reciped.k1[i];
            if k == 0.0 {
                self.place.push(OWN);
            } else {
                self.source.push(u32::try_from(self.place.len()).unwrap_or(OWN - 1));
                self.place.push(u32::try_from(self.dq.len()).unwrap_or(OWN - 1));
                append_fresh(&mut self.dq, layer1, [(i, k)]);
            }
        }
        for (i, &k) in from.reciped.kd.iter().enumerate() {
            if k != 0.0 {
                self.source.push(OWN);
                append_fresh(&mut self.dq, layer1, [(i, k)]);
            }
        }
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

    /// Chooses the recipes and applies them to the rows that stay nonzero.
    #[inline(always)]
    fn relu(&mut self, domain: Domain, inputs: usize) {
        if domain == Domain::Shared {
            exchange(&mut self.x, &mut self.y, &mut self.d);
        }
        self.recipe1.set(&self.x);
        self.recipe2.set(&self.y);
        apply(&mut self.after1, &mut self.out1, &self.z1, &self.recipe1, &self.mass1);
        apply(&mut self.after2, &mut self.out2, &self.z2, &self.recipe2, &self.mass2);
        if domain != Domain::Naive {
            self.reciped.set(&self.recipe1, &self.recipe2, &self.d, domain == Domain::Shared);
            self.apply_difference(inputs);
        }
    }

    #[inline(always)]
    fn apply_difference(&mut self, inputs: usize) {
        let r = &self.reciped;
        let rows = &mut self.afterd.rows;
        rows.clear();
        rows.extend(
            (0..r.keep.len())
                .filter(|&i| self.recipe1.phase[i] != Phase::Inactive || self.recipe2.phase[i] != Phase::Inactive),
        );
        let keep = &mut self.afterd.factors;
        keep.clear();
        keep.extend(rows.iter().map(|&i| r.keep[i]));
        let (first, second) = (&mut self.copies_first, &mut self.copies_second);
        for (copies, coefficients) in [(&mut *first, &r.first), (&mut *second, &r.second)] {
            let taken = rows.iter().enumerate().map(|(row, &i)| (row, i, coefficients[i]));
            copies.clear();
            copies.extend(taken.filter(|&(_, _, c)| c != 0.0));
        }
        let k = rows.len();
        self.afterd.form.reshape(k, self.dp.len());
        for j in 0..self.dp.len() {
            let out = self.afterd.form.column_mut(j);
            scale(out, self.dp.column(j), rows, keep);
            add_scaled(out, self.z2.column(j), second);
            if j <= inputs {
                add_scaled(out, self.z1.column(j), first);
            }
        }
        if let Some(c) = (!self.afterd.form.is_empty()).then(|| self.afterd.form.column_mut(0)) {
            c.iter_mut().zip(rows.iter()).for_each(|(o, &i)| *o += r.shift[i]);
        }
        self.afterq.reshape(k, self.dq.len());
        for j in 0..self.dq.len() {
            let out = self.afterq.column_mut(j);
            scale(out, self.dq.column(j), rows, keep);
            if self.source[j] != OWN {
                add_scaled(out, self.z1.column(1 + inputs + self.source[j] as usize), first);
            }
        }
        if !first.is_empty() {
            // Rows that copy x bring in every a1 that x has.
            for a in 0..self.place.len() {
                if self.place[a] == OWN {
                    self.place[a] = u32::try_from(self.afterq.len()).unwrap_or(OWN - 1);
                    self.source.push(u32::try_from(a).unwrap_or(OWN - 1));
                    let x = self.z1.column(1 + inputs + a);
                    let out = self.afterq.push();
                    out.fill(0.0);
                    add_scaled(out, x, first);
                }
            }
        }
        let m = r.keep.len();
        let underflow = relu::underflow(self.afterd.form.len() + self.afterq.len());
        self.outd.clear(m);
        let form =
            |mass: &'_ Mass, form: &'_ Columns, i: usize| (mass.magnitude[i] + form.column(0)[i].abs(), mass.err[i]);
        for i in 0..m {
            let (m1, e1) = form(&self.mass1, &self.z1, i);
            let (m2, e2) = form(&self.mass2, &self.z2, i);
            let (md, ed) = form(&self.massd, &self.dp, i);
            let terms = [(r.keep[i], up(md), ed), (r.first[i], up(m1), e1), (r.second[i], up(m2), e2)];
            let fresh = r.k1[i].abs() + r.k2[i].abs() + r.kd[i];
            (self.outd.err[i], self.outd.magnitude[i]) = carry(terms, r.shift[i], fresh, underflow);
        }
    }

    /// z1 - z2 as the difference of the outputs.
    #[inline(always)]
    fn difference_of_outputs(&mut self, inputs: usize) {
        let m = self.z1.rows();
        self.dp.reshape(m, self.z2.len());
        for j in 0..self.z2.len() {
            let y = self.z2.column(j);
            if j <= inputs {
                let x = self.z1.column(j);
                self.dp.column_mut(j).iter_mut().zip(x.iter().zip(y)).for_each(|(o, (a, b))| *o = a - b);
            } else {
                self.dp.column_mut(j).iter_mut().zip(y).for_each(|(o, b)| *o = -b);
            }
        }
        let p1 = self.z1.len() - 1 - inputs;
        self.dq.reshape(m, p1);
        self.dq.all_mut().copy_from_slice(self.z1.from(1 + inputs));
        self.source.clear();
        self.source.extend((0..p1).map(|a| u32::try_from(a).unwrap_or(OWN - 1)));
        self.place.clone_from(&self.source);
        self.massd.clear(m);
        for i in 0..m {
            // One subtraction per entry.
            let rounding = gamma(2)
                * (self.mass1.magnitude[i]
                    + self.mass2.magnitude[i]
                    + self.z1.column(0)[i].abs()
                    + self.z2.column(0)[i].abs());
            self.massd.err[i] = add_up(add_up(self.mass1.err[i], self.mass2.err[i]), inflate(rounding, 8));
        }
        absolute_row_sums(&mut self.massd.magnitude, self.dp.from(1));
        for column in self.dq.all().chunks_exact(m) {
            self.massd.magnitude.iter_mut().zip(column).for_each(|(s, g)| *s += g.abs());
        }
        self.d.set(self.dp.column(0), &mut self.massd.magnitude, &self.massd.err, self.dp.len() + self.dq.len());
    }
}

/// out = factors * column on the listed rows.
#[inline(always)]
fn scale(out: &mut [f64], column: &[f64], rows: &[usize], factors: &[f64]) {
    for ((o, &i), factor) in out.iter_mut().zip(rows).zip(factors) {
        *o = factor * column[i];
    }
}

/// out += coefficient * column on a few rows.
#[inline(always)]
fn add_scaled(out: &mut [f64], column: &[f64], entries: &[(usize, usize, f64)]) {
    for &(row, i, coefficient) in entries {
        out[row] += coefficient * column[i];
    }
}

/// X = slope x + fresh (1 + a) on the rows that are not inactive; fresh generators wait for the next product.
#[inline(always)]
fn apply(after: &mut Compact, out: &mut Mass, form: &Columns, recipe: &Recipe, mass: &Mass) {
    after.rows.clear();
    after.rows.extend((0..form.rows()).filter(|&i| recipe.phase[i] != Phase::Inactive));
    after.factors.clear();
    after.factors.extend(after.rows.iter().map(|&i| recipe.slope[i]));
    after.form.reshape(after.rows.len(), form.len());
    for j in 0..form.len() {
        scale(after.form.column_mut(j), form.column(j), &after.rows, &after.factors);
    }
    let centre = after.form.column_mut(0);
    centre.iter_mut().zip(&after.rows).for_each(|(o, &i)| *o += recipe.fresh[i]);
    let m = form.rows();
    let underflow = relu::underflow(form.len());
    out.clear(m);
    let (slope, fresh, centre) = (&recipe.slope[..m], &recipe.fresh[..m], &form.column(0)[..m]);
    let (magnitude, err) = (&mass.magnitude[..m], &mass.err[..m]);
    let (new_magnitude, new_err) = (&mut out.magnitude[..m], &mut out.err[..m]);
    for i in 0..m {
        let terms = [(slope[i], up(magnitude[i] + centre[i].abs()), err[i]), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)];
        (new_err[i], new_magnitude[i]) = carry(terms, fresh[i], fresh[i], underflow);
    }
}

/// W centre + b, and W[:, i] * radius_i per input.
#[inline(always)]
fn first_form(out: &mut Columns, (weight, bias): (&[f64], &[f64]), (centre, radius): (&[f64], &[f64])) {
    let m = bias.len();
    out.reshape(m, 1 + radius.len());
    let c = out.column_mut(0);
    c.copy_from_slice(bias);
    add_columns(c, weight, centre.iter().copied().enumerate());
    for (i, &r) in radius.iter().enumerate() {
        for (o, w) in out.column_mut(1 + i).iter_mut().zip(&weight[i * m..(i + 1) * m]) {
            *o = w * r;
        }
    }
}

#[inline(always)]
fn bounds_of(bounds: &mut Bounds, mass: &mut Mass, form: &Columns) {
    mass.magnitude.resize(form.rows(), 0.0);
    absolute_row_sums(&mut mass.magnitude, form.from(1));
    bounds.set(form.column(0), &mut mass.magnitude, &mass.err, form.len());
}
