//! Euclidean norms of what functions add to a difference: bounds of many neurons' relaxations taken together.
//!
//! Behind a function a strip of d says D = lam d + t with |t| <= kappa |d|, where kappa is the largest distance of lam from
//! a slope of the function between x and y (mean value theorem, see [`super::strip`]). A zonotope keeps t as shift + fresh
//! ad, with a generator for each neuron, and so every later step sums the absolute values of a row. But of all neurons
//! of a step together,
//!     |t|_2 <= |(kappa_i d_i)_i|_2,
//! so that q . t is at most |q|_2 |t|_2 as well as sum |q_i| |t_i|. Where differences are small and spread over many neurons, as
//! behind weights that were rounded, that is the smaller one: absolute values multiply by the sum of a kernel's sizes from step to
//! step, lengths by its spectral norm. (Generators in groups that are bounded by a Euclidean norm: ellipsotopes,
//! Kousik, Dai, Gao, 2022; Lipschitz constants of networks layer by layer: Szegedy et al., 2014.)
//!
//! # The norm of a step
//! The form of d before the function is centre + shared generators + sum over earlier steps j of Q_j t_j, with Q_j the columns
//! of the generators of step j, each divided by its size, and `centre` less what the shifts of these come to. So
//!     |kappa d|_2 <= |kappa (|centre| + sum |shared| + err)|_2 + sqrt(|sum_j N_j N_j^T / w_j|_2),    N_j = |t_j|_2 kappa Q_j,
//! for any weights w_j > 0 whose sum is 1 (Cauchy-Schwarz). The shared generators may join the sum, each as a vector of one
//! number that is no longer than 1. What reaches less far by absolute values is bounded by these.
//! Each t is taken times a positive weight of its own ([`super::euclidean_weights`]), with its size, shift and kappa: Q_j
//! is divided by it.
//!
//! # Soundness
//! Invariant of [`super`]: there is one assignment of all generators such that forms hold within their errors, and that of the
//! difference's own generator of a neuron is ad = (D - lam d - shift) / fresh, by its definition. So t = shift + fresh ad
//! is the number above. Only rows that are a strip of d alone are taken (nothing of x, y, a1, a2), or a plane in d and y, of one
//! continuous function in both networks. Rounding is added to what is computed; estimates choose weights and means and nothing else.
//!
//! # Planes
//! A plane ([`super::difference_plane`]) has D = lam d + of_y y + shift + fresh ad, and D - lam d - of_y y is (s - lam) (d - c)
//! plus a number of a known range, for any c. So t = shift - e + fresh ad, with e of this range, has |t| <= kappa |d - c| + rest,
//! where rest is how far the range reaches from e: the norm is that of kappa (d - c) and of rest.

use super::difference_plane::Plane;
use super::euclidean_sums::{Member, RowSums, Sums, add_column};
use super::euclidean_weights::weigh;
use super::intermediate_bounds::{Contradiction, IntermediateBounds};
use super::layer_state::{LayerState, Source};
use super::output::GeneratorRow;
use super::phase::Bounds;
use crate::network::{Function, Pair};
use crate::numeric::kernels::{Accumulate, absolute_row_sums, gather_quotients};
use crate::numeric::round::{TINY, add_up, gamma, inflate, max_propagating_nan, mul_up, sub_up};
use crate::numeric::spectral::{MOST_PRODUCTS, about_norm, length, spectral_norm};

/// Steps of a power iteration that estimates a norm.
const ESTIMATE: usize = 6;

/// The smallest factor of a block.
const SMALLEST: f64 = 1e-100;

/// The smallest weight of a block.
const LEAST_WEIGHT: f64 = 1.0 / 1024.0;

/// What the function of one step adds to the difference: |t|_2 <= norm.
#[derive(Debug, Clone)]
struct Group {
    members: Vec<Member>,
    norm: f64,
}

/// The norms of all steps of a propagated box.
#[derive(Debug, Clone, Default)]
pub struct EuclideanNorms {
    groups: Vec<Group>,
    /// For each step the largest |d| of its rows, as far as it was looked at.
    sizes: Vec<Vec<f64>>,
    /// The place of the first own generator in a row over all generators.
    own: usize,
}

/// Which shared generators are bounded by their norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// Those of the inputs, and all others by sizes: half of the work, for bounds that are a tenth larger.
    Inputs,
    /// All.
    All,
}

/// How far the parts of a form of d reach, one entry for each row.
struct Reaches {
    /// The centres.
    centre: Vec<f64>,
    /// Their errors, with the rounding of all that is computed here, and the sum of the generators that are in no block.
    off: Vec<f64>,
    /// The sum of the shared generators of a block.
    shared: Vec<f64>,
    /// For each group what it reaches, by absolute values or by its norm.
    of_groups: Vec<Vec<f64>>,
}

impl EuclideanNorms {
    /// Those of the last propagation of a pair, of which these are all states, with these shared generators bounded together.
    /// Looks at `stop` between steps; none where it says so, where forms are missing, or where no step has a row that can be
    /// taken.
    #[must_use]
    pub fn of(
        pair: &Pair,
        layers: &[LayerState],
        (inputs, together): (usize, Together),
        stop: impl Fn() -> bool,
    ) -> Self {
        let Some(last) = layers.last().filter(|_| pair.depth() == layers.len()) else { return Self::default() };
        if last.z1.is_empty() {
            return Self::default();
        }
        let unknown = |l: &LayerState| l.d_common.is_empty() || l.d.lower.len() != l.d_common.rows();
        if layers.iter().any(unknown) {
            return Self::default();
        }
        let mut norms = Self { groups: Vec::new(), sizes: Vec::new(), own: last.first_own(inputs) };
        let functions = pair.first.iter().zip(&pair.second).map(|(f, g)| (&f.function, &g.function));
        let hidden = &layers[..layers.len() - 1];
        let mut steps: Vec<Vec<Member>> = hidden.iter().zip(functions).map(|(l, f)| members_of(l, f)).collect();
        weigh(layers, &mut steps);
        let (mut kept, mut stacked) = (Vec::new(), Vec::new());
        for (s, layer) in layers.iter().enumerate() {
            if stop() {
                return Self::default();
            }
            let own = own_columns(layer, &norms.groups);
            let shared = shared_columns(layer, &own, (inputs, together));
            let reaches = Reaches::of(layer, &norms.groups, &own, &shared);
            norms.sizes.push(reaches.sizes(&layer.d));
            let mut members = steps.get_mut(s).map(std::mem::take).unwrap_or_default();
            if !members.is_empty() {
                narrow(&mut members, layer, &norms.sizes[s]);
                kept = blocks(layer, &members, (&norms.groups, &own, &shared), kept);
                let norm = norm_of(&members, &reaches, &kept, &mut stacked);
                norms.groups.push(Group { members, norm });
            }
        }
        norms
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Intersects bounds of the differences with what is known of their sizes.
    pub fn narrow(&self, bounds: &mut IntermediateBounds) -> Result<(), Contradiction> {
        for (layer, sizes) in bounds.layers.iter_mut().zip(&self.sizes) {
            let known = Bounds { lower: sizes.iter().map(|v| -v).collect(), upper: sizes.clone() };
            layer.d.intersect(&known)?;
        }
        Ok(())
    }

    /// An upper bound of a row, at most [`GeneratorRow::upper`] but for rounding. The row is changed.
    pub fn upper(&self, row: &mut GeneratorRow) -> f64 {
        let mut together = 0.0;
        for group in &self.groups {
            let mut sums = Sums::default();
            let mut alone = 0.0;
            for member in &group.members {
                let Some(entry) = row.generators.get_mut(self.own + member.number) else { continue };
                alone += entry.abs();
                sums.add(*entry, member);
                *entry = 0.0;
            }
            let joint = sums.upper(group.norm, group.members.len());
            let alone = inflate(alone, group.members.len());
            together = add_up(together, if joint < alone { joint } else { alone });
        }
        add_up(row.upper(), together)
    }
}

impl Reaches {
    fn of(layer: &LayerState, groups: &[Group], own: &[Place], columns: &SharedColumns<'_>) -> Self {
        let m = layer.d_common.rows();
        let sum_of = |columns: &[&[f64]]| {
            let mut sum = vec![0.0; m];
            for column in columns {
                absolute_row_sums(&mut sum, column, Accumulate::Add);
            }
            sum.iter().map(|&v| if v == 0.0 { 0.0 } else { inflate(v, columns.len()) }).collect::<Vec<f64>>()
        };
        let (shared, others) = (sum_of(&columns.together), sum_of(&columns.by_sizes));
        let mut sums: Vec<RowSums> = groups.iter().map(|_| RowSums::new(m)).collect();
        for (j, place) in own.iter().enumerate() {
            let Some((group, member)) = *place else { continue };
            add_column(&mut sums[group], layer.d_rest.column(j), &groups[group].members[member]);
        }
        let counts = groups.iter().map(|g| g.members.len()).sum::<usize>();
        let centres = (0..m).map(|i| {
            let mut centre = layer.d_common.column(0)[i];
            let (mut off, mut sizes) = (add_up(layer.extent_d.err[i], others[i]), centre.abs());
            for (sum, group) in sums.iter().zip(groups) {
                (centre, sizes) = (centre + sum.shifts[i], sizes + sum.shifts[i].abs());
                off = add_up(off, sum.at(i).off(group.members.len()));
            }
            (centre, add_up(off, inflate(gamma(groups.len() + 2) * sizes, counts + 8)))
        });
        let (centre, off) = centres.unzip();
        Self {
            centre,
            off,
            shared,
            of_groups: sums
                .iter()
                .zip(groups)
                .map(|(sums, group)| (0..m).map(|i| sums.at(i).reach(group.norm, group.members.len())).collect())
                .collect(),
        }
    }

    /// What the shared generators and each group reach, in this order.
    fn parts(&self) -> impl Iterator<Item = &Vec<f64>> {
        std::iter::once(&self.shared).chain(&self.of_groups)
    }

    /// At most |d - about| of a row without what its generators reach.
    fn plain(&self, row: usize, about: f64) -> f64 {
        let centre = self.centre[row];
        add_up(max_propagating_nan(sub_up(centre, about), sub_up(about, centre)), self.off[row])
    }

    /// The largest |d| of each row, by this and by what is known already.
    fn sizes(&self, known: &Bounds) -> Vec<f64> {
        let of = |i: usize| {
            let found = self.parts().fold(self.plain(i, 0.0), |sum, reaches| add_up(sum, reaches[i]));
            let known = known.size(i);
            if found < known { found } else { known }
        };
        (0..self.centre.len()).map(of).collect()
    }
}

/// The group and the member of a column of `d_rest`; `None` of one that is in no group.
type Place = Option<(usize, usize)>;

/// The place of each column of `d_rest`.
fn own_columns(layer: &LayerState, groups: &[Group]) -> Vec<Place> {
    let mut places = Vec::new();
    for (g, group) in groups.iter().enumerate() {
        for (k, member) in group.members.iter().enumerate() {
            if places.len() <= member.number {
                places.resize(member.number + 1, None);
            }
            places[member.number] = Some((g, k));
        }
    }
    let mut number = 0;
    let place = |source: &Source| match source {
        Source::First(_) => None,
        Source::Own => {
            number += 1;
            places.get(number - 1).copied().flatten()
        }
    };
    layer.rest_sources.iter().map(place).collect()
}

/// Narrows the members of a step that are strips of d alone by what is known of the sizes of d.
fn narrow(members: &mut [Member], layer: &LayerState, sizes: &[f64]) {
    for member in members.iter_mut().filter(|member| layer.transformer_d.of_y[member.row] == 0.0) {
        let by_slope = add_up(mul_up(member.kappa, sizes[member.row]), member.rest);
        if by_slope < member.reach {
            member.reach = by_slope;
        }
    }
}

/// The columns of a form of d whose generators are in no group.
struct SharedColumns<'a> {
    /// Those that are bounded by their norm.
    together: Vec<&'a [f64]>,
    /// Those that are bounded by sizes alone.
    by_sizes: Vec<&'a [f64]>,
}

fn shared_columns<'a>(
    layer: &'a LayerState,
    own: &[Place],
    (inputs, together): (usize, Together),
) -> SharedColumns<'a> {
    let (common, rest) = (&layer.d_common, &layer.d_rest);
    let alone = (0..rest.len()).filter(|j| own[*j].is_none()).map(|j| rest.column(j));
    let mut chosen: Vec<_> = (1..common.len()).map(|j| common.column(j)).chain(alone).collect();
    let by_sizes = match together {
        Together::Inputs => chosen.split_off(inputs.min(chosen.len())),
        Together::All => Vec::new(),
    };
    SharedColumns { together: chosen, by_sizes }
}

/// The own generators of a step whose rows are strips of d alone, or planes.
fn members_of(layer: &LayerState, functions: (&Function, &Function)) -> Vec<Member> {
    let r = &layer.transformer_d;
    let mut members = Vec::new();
    for (number, row) in layer.own_generators() {
        let alone = [&r.of_x, &r.fresh1, &r.fresh2].iter().all(|v| v[row] == 0.0);
        let alone = alone && r.with_errors.binary_search(&row).is_err();
        let loose = r.loose.get(row).is_some_and(|v| *v != 0.0);
        let hull = (layer.x.lower[row].min(layer.y.lower[row]), layer.x.upper[row].max(layer.y.upper[row]));
        let lam = r.of_d[row];
        let Some((m, most)) = slopes(functions, row, hull).filter(|_| alone && !loose) else { continue };
        let kappa = max_propagating_nan(sub_up(most, lam), sub_up(lam, m));
        let (shift, size) = (r.shift[row], r.fresh_own[row]);
        let strip = Member { number, row, shift, size, kappa, reach: layer.d.size(row), about: 0.0, rest: 0.0 };
        let made = if r.of_y[row] == 0.0 { Some(strip) } else { of_plane(layer, functions.0, strip) };
        let Some(member) = made else { continue };
        let by_slope = add_up(mul_up(kappa, member.reach), member.rest);
        let by_strip = add_up(member.shift.abs(), size.abs());
        let reach = if by_slope < by_strip { by_slope } else { by_strip };
        if kappa.is_finite() && kappa >= 0.0 && reach.is_finite() && size.abs() >= f64::MIN_POSITIVE {
            members.push(Member { reach, ..member });
        }
    }
    members
}

/// The member of a row that is a plane, with at most |d - c| as its reach; none where the range of what is left is not known.
fn of_plane(layer: &LayerState, function: &Function, member: Member) -> Option<Member> {
    let (r, row) = (&layer.transformer_d, member.row);
    let ends = |b: &Bounds| (b.lower[row], b.upper[row]);
    let (x, y, d) = (ends(&layer.x), ends(&layer.y), ends(&layer.d));
    let about = 0.5 * d.0 + 0.5 * d.1;
    let curve = function.curves()?.of(row);
    let (low, high) = Plane::range_at(curve, (x, y, d), (r.of_d[row], r.of_y[row]), about)?;
    // e is the middle of the range but for what rounds here.
    let shift = member.shift - (0.5 * low + 0.5 * high);
    let above = add_up(sub_up(high, member.shift), shift);
    let below = add_up(sub_up(member.shift, low), -shift);
    let rest = max_propagating_nan(max_propagating_nan(above, below), 0.0);
    let reach = max_propagating_nan(sub_up(d.1, about), sub_up(about, d.0));
    Some(Member { shift, reach, about, rest, ..member })
}

/// The hull of the slopes of a function between any two points of a range; `None` where the networks have two functions, or
/// one that is not continuous.
fn slopes((first, second): (&Function, &Function), row: usize, (l, u): (f64, f64)) -> Option<(f64, f64)> {
    match (first, second) {
        (Function::Relu, Function::Relu) => Some((0.0, 1.0)),
        (Function::Curves(f), Function::Curves(g)) if f.of(row) == g.of(row) => {
            let trend = f.of(row).trend(l, u);
            (trend.rest == (0.0, 0.0) && !f.of(row).is_stepped()).then_some(trend.slopes)
        }
        _ => None,
    }
}

/// An upper bound of the Euclidean norm of (kappa (d - c) + rest) over the members of a step.
fn norm_of(members: &[Member], reaches: &Reaches, blocks: &[Block], stacked: &mut Vec<f64>) -> f64 {
    let by_rows = length(members.iter().map(|member| member.reach));
    let beside = |member: &Member| add_up(mul_up(member.kappa, reaches.plain(member.row, member.about)), member.rest);
    let mut plain: Vec<f64> = members.iter().map(beside).collect();
    let mut chosen = Vec::new();
    for (block, reaches) in blocks.iter().zip(reaches.parts()) {
        let reaching: Vec<f64> = members.iter().map(|member| mul_up(member.kappa, reaches[member.row])).collect();
        let estimate = block.estimate();
        if estimate < length(reaching.iter().copied()) {
            chosen.push((block, estimate));
        } else {
            plain.iter_mut().zip(&reaching).for_each(|(o, v)| *o = add_up(*o, *v));
        }
    }
    let Some(along) = norm_of_blocks(&chosen, members.len(), stacked) else { return by_rows };
    let by_blocks = add_up(length(plain.iter().copied()), along);
    if by_blocks < by_rows { by_blocks } else { by_rows }
}

/// N^T of one group: |t|_2 kappa Q with rows and columns exchanged, (columns, members), column-major.
struct Block {
    columns: usize,
    transposed: Vec<f64>,
    /// At least what any entry of a form is multiplied by.
    factor: f64,
}

impl Block {
    /// The block of these columns, each with what it is divided by, on rows with a factor each.
    fn of(columns: &[(&[f64], f64)], rows: &[(usize, f64)], factor: f64, mut transposed: Vec<f64>) -> Self {
        transposed.resize(columns.len() * rows.len(), 0.0);
        gather_quotients(&mut transposed, columns, rows);
        Self { columns: columns.len(), transposed, factor }
    }

    /// About the norm of N, from below.
    fn estimate(&self) -> f64 {
        about_norm(&self.transposed, (self.columns, self.transposed.len() / self.columns.max(1)), ESTIMATE)
    }
}

/// The blocks of all groups that are known before a step. Where kappa or a norm is very small a larger one is taken, so that
/// their product never underflows. They take the memory of those of an earlier step.
fn blocks(
    layer: &LayerState,
    members: &[Member],
    (groups, own, shared): (&[Group], &[Place], &SharedColumns<'_>),
    earlier: Vec<Block>,
) -> Vec<Block> {
    let mut memory = earlier.into_iter().map(|block| block.transposed);
    let shared = shared_block(&shared.together, members, memory.next().unwrap_or_default());
    let mut columns = vec![Vec::new(); groups.len()];
    for (j, place) in own.iter().enumerate() {
        if let Some((group, member)) = place {
            columns[*group].push((layer.d_rest.column(j), groups[*group].members[*member].size));
        }
    }
    let block = |(columns, group): (&Vec<(&[f64], f64)>, &Group)| {
        let norm = group.norm.max(SMALLEST);
        let rows: Vec<_> = members.iter().map(|member| (member.row, member.kappa.max(SMALLEST) * norm)).collect();
        let largest = members.iter().fold(SMALLEST, |most, member| most.max(member.kappa));
        Block::of(columns, &rows, 1.0 + largest * norm, memory.next().unwrap_or_default())
    };
    let of_groups = columns.iter().zip(groups).map(block);
    std::iter::once(shared).chain(of_groups).collect()
}

/// The block of shared generators. Each is a number between -1 and 1 with a weight of its own, the length of its
/// column, as one of the groups would have it.
fn shared_block(all: &[&[f64]], members: &[Member], memory: Vec<f64>) -> Block {
    let mut columns: Vec<(&[f64], f64)> = Vec::new();
    for column in all.iter().filter(|column| members.iter().any(|member| column[member.row] != 0.0)) {
        columns.push((column, length(members.iter().map(|member| member.kappa.max(SMALLEST) * column[member.row]))));
    }
    // Weights length / total, whose sum is less than 1; columns are multiplied by sqrt(total / length).
    let total = columns.iter().map(|(_, length)| length).sum::<f64>() * (1.0 + 1e-9);
    for (_, length) in &mut columns {
        *length = (*length / total).sqrt();
    }
    let rows: Vec<_> = members.iter().map(|member| (member.row, member.kappa.max(SMALLEST))).collect();
    let largest = members.iter().fold(SMALLEST, |most, member| most.max(member.kappa));
    let most = columns.iter().fold(1.0, |most: f64, (_, divisor)| most.max(1.0 / divisor));
    Block::of(&columns, &rows, 1.0 + largest + most, memory)
}

/// An upper bound of |sum_j N_j u_j|_2 over all |u_j|_2 <= 1: the root of the norm of sum_j N_j N_j^T / w_j. `None` where that
/// would take too long, or where an estimate says nothing.
fn norm_of_blocks(chosen: &[(&Block, f64)], members: usize, stacked: &mut Vec<f64>) -> Option<f64> {
    let total = chosen.iter().map(|(_, estimate)| estimate).sum::<f64>();
    if chosen.is_empty() {
        return Some(0.0);
    }
    let rows: usize = chosen.iter().map(|(block, _)| block.columns).sum();
    if !(total > 0.0 && total.is_finite()) || rows.checked_mul(members)?.checked_mul(members)? > MOST_PRODUCTS {
        return None;
    }
    let weights: Vec<f64> = chosen.iter().map(|(_, estimate)| (estimate / total).max(LEAST_WEIGHT)).collect();
    let sum = inflate(weights.iter().sum::<f64>(), weights.len());
    stacked.resize(rows * members, 0.0);
    let (mut from, mut factors) = (0, 0.0);
    for ((block, _), weight) in chosen.iter().zip(&weights) {
        // 1 / sqrt(w) with w = weight / sum, whose sum is at most 1; at most 1 / sqrt(LEAST_WEIGHT) times a little.
        let factor = (sum / weight).sqrt();
        for (i, column) in block.transposed.chunks_exact(block.columns.max(1)).enumerate() {
            let place = i * rows + from;
            stacked[place..place + block.columns].iter_mut().zip(column).for_each(|(o, v)| *o = v * factor);
        }
        from += block.columns;
        factors += block.factor;
    }
    let found = spectral_norm(stacked, (rows, members))?;
    // Each entry passed less than sixteen roundings; what underflows in it is multiplied by `factors` at most.
    #[allow(clippy::cast_precision_loss)]
    let lost = TINY * (rows * members) as f64 * factors;
    Some(add_up(inflate(found, 16), lost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_of_blocks_covers_a_vector_of_each() {
        // Each vector may have the length 1, so that what blocks of one entry give adds up.
        let block = |entry: f64| Block { columns: 1, transposed: vec![entry], factor: 4.0 };
        for entries in [vec![1.0, 1.0], vec![3.0, 0.1, 2.0], vec![1.0; 7]] {
            let blocks: Vec<Block> = entries.iter().copied().map(block).collect();
            for estimates in [entries.clone(), vec![1.0; entries.len()]] {
                let chosen: Vec<(&Block, f64)> = blocks.iter().zip(estimates).collect();
                let found = norm_of_blocks(&chosen, 1, &mut Vec::new()).expect("small blocks");
                assert!(found >= entries.iter().sum::<f64>(), "{entries:?}: {found}");
            }
        }
    }
}
