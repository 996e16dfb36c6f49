//! What networks round of products of one value, taken together.
//!
//! Where a network multiplies one value z by many weights and rounds each product, as firmware does that assigns every
//! product to the type of its sums, a zonotope takes each of these roundings for a number of its own. But all of them
//! follow from z, and where z is a multiple of a power of two (it was rounded itself) there are only so many z in a box.
//! Of a row over the generators, the part of the roundings of products of z is a function of z alone,
//!     h(z) = sum over i of g_i a_i(z),    a_i = (Q_i(v_i) - lam_i v_i - shift_i) / fresh_i,    v_i = w_i z + b_i,
//! so it is at most the largest h at one of them, instead of sum |g_i|. Roundings of different products look random to each
//! other, so of n products of a value of N cells it is about sqrt(ln N / n) of that sum: a third for the taggers of jets
//! of the tests' kind.
//!
//! Where v is a multiple of the levels already, as a sum of such products is, nothing is rounded, and with lam = 1 the
//! generator is one number, a = -shift / fresh.
//!
//! Where the other network has 0 in a row (x = X = 0, say), d = -y and D = -Q(y), so that a generator of the difference alone
//! is such a rounding, too: D = of_d d + of_y y + shift + own a says that own a = -(Q(y) - (of_d - of_y) y) - shift. Other
//! generators of the difference are left as they are.
//!
//! Where lam is not 1, h has a linear part, slope z, which the rest of a row mostly cancels: there lam v stands for the
//! rounded product. So slope z is taken out of h, and the form of z is added to the row instead ([`super::value_form`]),
//! where that makes the row smaller.
//!
//! # Rounding
//! Rows are taken only where everything below is exact in floats: levels of a power of two ([`ExactRounding`]), weights and
//! biases without errors, z and v_i / u_i multiples of powers of two with few enough digits. Then R(t) - t, with t = v / u,
//! is a float and exact. What is left are sums of n products, each off by gamma(n), and q_i for g_i / fresh_i: since
//! |a_i| <= 1, taking q_i fresh_i for g_i costs at most |g_i - q_i fresh_i|.

use super::layer_state::{LayerState, Source};
use super::multiples::Multiples;
use super::output::GeneratorRow;
use super::phase::Bounds;
use super::value_form::ValuePlace;
use crate::curve::{ExactRounding, Rounding, UNKNOWN, ZERO, lowest_bit};
use crate::network::{Function, Origin, Pair, Step};
use crate::numeric::round::{TINY, U, add_up, gamma, inflate};
use crate::numeric::vectorised::vectorised;
use std::collections::BTreeMap;

/// The most values of z that are looked at, and the most products of all of them on a box: a tenth of a second for each
/// row, at worst.
const CELLS: f64 = 65_536.0;
const PRODUCTS: usize = 1 << 24;

/// Integers up to here and their halves are exact floats.
const EXACT: f64 = 2_251_799_813_685_248.0;

/// Values of z side by side.
const SIDE_BY_SIDE: usize = 64;

/// A generator a of one row: sign (Q(v) - lam v) = shift + fresh a.
#[derive(Debug, Clone, Copy)]
struct Generator {
    /// Its number in a row over all generators.
    number: usize,
    sign: f64,
    lam: f64,
    shift: f64,
    fresh: f64,
}

/// v = weight z + bias, rounded.
#[derive(Debug, Clone)]
struct Product {
    weight: f64,
    bias: f64,
    rounding: ExactRounding,
    generator: Generator,
}

/// The products of one value, z = unit k for k = first, first + 1, ..., `count` of them.
#[derive(Debug, Clone)]
struct Group {
    value: ValuePlace,
    unit: f64,
    first: f64,
    count: usize,
    products: Vec<Product>,
}

/// The roundings of a propagated box that are taken together.
#[derive(Debug, Clone, Default)]
pub struct JointRounding {
    /// In the order of the networks and of their steps.
    groups: Vec<Group>,
    /// Generators of numbers that are levels before they are rounded.
    nothing: Vec<Generator>,
}

impl JointRounding {
    /// Those in a row of the last of these steps, before its function, after a propagation of a pair: the states of its
    /// first steps, or of all of them.
    #[must_use]
    pub fn of(pair: &Pair, layers: &[LayerState], inputs: usize) -> Self {
        let Some((last, before)) = layers.split_last().filter(|(last, _)| !last.z1.is_empty()) else {
            return Self::default();
        };
        if (0..layers.len()).any(|s| layers[s].x.lower.len() != pair.first[s].rows) {
            return Self::default();
        }
        let (second, own) = (last.z1.len() - 1, last.first_own(inputs));
        let end = own + last.rest_sources.iter().filter(|&&source| source == Source::Own).count();
        let (mut groups, mut nothing) = (Vec::new(), Vec::new());
        for (network, steps) in [&pair.first, &pair.second].into_iter().enumerate() {
            let steps = &steps[..before.len()];
            let place = [(inputs, second), (second, own)][network];
            let bounds = |s: usize| if network == 0 { &layers[s].x } else { &layers[s].y };
            let multiples = Multiples::of(steps, bounds);
            for (s, step) in steps.iter().enumerate().filter(|(_, step)| step.function.curves().is_some()) {
                let mut found: BTreeMap<(usize, usize), Vec<Product>> = BTreeMap::new();
                // The row may read nothing behind this step; then its generators have no place in it.
                let of_network = generators_of(&layers[s], network == 1, inputs, place);
                let of_both = of_difference(&layers[s], network == 1, own);
                for (i, generator) in of_network.into_iter().chain(of_both).filter(|(_, g)| g.number < end) {
                    let curve = step.function.curves().map(|curves| curves.of(i));
                    let known = curve.and_then(|curve| curve.exactly(bounds(s).lower[i], bounds(s).upper[i]));
                    let Some(rounding) = known else { continue };
                    if multiples.before[s][i] >= lowest_bit(rounding.unit) {
                        nothing.extend((generator.lam == 1.0).then_some(generator));
                    } else if let Some((from, product)) = product(step, i, rounding, generator) {
                        found.entry(from).or_default().push(product);
                    }
                }
                groups.extend(found.into_iter().filter_map(|((j, row), products)| {
                    let value = ValuePlace { second: network == 1, step: j, row, inputs, own: place.0 };
                    if value.freed(layers) || value.end(layers) > place.1 {
                        return None;
                    }
                    Group::of(value, multiples.after[j][row], range_behind(&steps[j], row, bounds(j)), products)
                }));
            }
        }
        let mut left = PRODUCTS;
        groups.retain(|group| {
            let work = group.count * group.products.len();
            let fits = work <= left;
            left -= if fits { work } else { 0 };
            fits
        });
        Self { groups, nothing }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.nothing.is_empty()
    }

    /// How many rounded products a bound of a row looks at, at most.
    #[must_use]
    pub fn work(&self) -> usize {
        self.groups.iter().map(|group| group.count * group.products.len()).sum()
    }

    /// The part of [`GeneratorRow::upper`] that these roundings account for: what they can take off it at best, were they
    /// none at all.
    #[must_use]
    pub fn share(&self, row: &GeneratorRow, layers: &[LayerState]) -> f64 {
        let nothing = self.nothing.iter().map(|generator| generator.number);
        let numbers = self.groups.iter().flat_map(Group::generators).chain(nothing);
        let sum = numbers.map(|number| row.generators[number].abs()).sum::<f64>();
        sum + self.groups.iter().map(|group| group.line(row).0.abs() * group.value.size(layers)).sum::<f64>()
    }

    /// An upper bound of a row over the box of which these are the states. The row is used up.
    pub fn upper(&self, row: &mut GeneratorRow, layers: &[LayerState]) -> f64 {
        let mut together = 0.0;
        // The form of a value is made of generators of earlier steps, which are looked at after it.
        for group in self.groups.iter().rev() {
            let alone = group.generators().map(|number| row.generators[number].abs()).sum::<f64>();
            if alone == 0.0 {
                continue;
            }
            let alone = inflate(alone, group.products.len());
            let slope = group.line(row).0;
            let moved = slope != 0.0 && group.value.change(row, slope, layers) < 0.0;
            let joint = group.upper(row, !moved);
            if moved {
                group.value.add(row, slope, layers);
                together = add_up(together, joint);
            } else {
                together = add_up(together, if joint < alone { joint } else { alone });
            }
            group.generators().for_each(|number| row.generators[number] = 0.0);
        }
        for &Generator { number, shift, fresh, .. } in &self.nothing {
            // As q is taken for g / fresh in a group.
            let of_row = row.generators[number];
            let q = of_row / fresh;
            let off = inflate(gamma(4) * (q * shift).abs() + 2.0 * U * of_row.abs() + TINY * (1.0 + fresh), 8);
            together = add_up(together, add_up(-q * shift, off));
            row.generators[number] = 0.0;
        }
        add_up(row.upper(), together)
    }
}

impl Group {
    /// The products of a value in a range that is a multiple of 2^exponent; none where there are too many of them, or where
    /// something is not exact.
    fn of(value: ValuePlace, exponent: i32, (low, high): (f64, f64), products: Vec<Product>) -> Option<Self> {
        if exponent == UNKNOWN || exponent == ZERO || !(-1000..1000).contains(&exponent) {
            return None;
        }
        let unit = f64::powi(2.0, exponent);
        let (first, last) = ((low / unit).floor(), (high / unit).ceil());
        if !(last - first < CELLS && first.abs() < EXACT && last.abs() < EXACT) {
            return None;
        }
        let largest = first.abs().max(last.abs());
        let exact = |product: &Product| {
            let u = product.rounding.unit;
            // What t = (w z + b) / u is a multiple of, and how large it may be, also on the way.
            let of_product = lowest_bit(product.weight).saturating_add(exponent);
            let digit = of_product.min(lowest_bit(product.bias)).saturating_sub(lowest_bit(u));
            let size = (product.weight * unit).abs() / u * largest + (product.bias / u).abs();
            (-50..1000).contains(&digit) && size * 1.001 < EXACT * f64::powi(2.0, digit.min(0))
        };
        let products: Vec<_> = products.into_iter().filter(exact).collect();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let count = (last - first) as usize + 1;
        (products.len() > 1).then_some(Self { value, unit, first, count, products })
    }

    /// The numbers of its generators in a row.
    fn generators(&self) -> impl Iterator<Item = usize> + '_ {
        self.products.iter().map(|product| product.generator.number)
    }

    /// The linear part of h, slope z + constant, as it is rounded.
    fn line(&self, row: &GeneratorRow) -> (f64, f64) {
        let (mut slope, mut constant) = (0.0, 0.0);
        for &Product { weight, bias, generator: Generator { number, sign, lam, shift, fresh }, .. } in &self.products {
            let (q, rest) = (row.generators[number] / fresh, sign * (1.0 - lam));
            slope += q * rest * weight;
            constant += q * (rest * bias - shift);
        }
        (slope, constant)
    }

    /// At least the largest sum of what a row has for these generators, less slope z of [`Self::line`] if not `sloped`.
    fn upper(&self, row: &GeneratorRow, sloped: bool) -> f64 {
        let mut terms = Vec::with_capacity(self.products.len());
        // sum of g a = sum of q (sign (u rho + (1 - lam) v) - shift) = sum of c rho, and slope z + constant.
        let (mut sizes, mut missed) = (0.0, 0.0);
        #[allow(clippy::cast_precision_loss)]
        let reach = self.unit * self.first.abs().max((self.first + self.count as f64).abs());
        for &Product { weight, bias, rounding: ExactRounding { unit, rounding }, generator } in &self.products {
            let Generator { number, sign, lam, shift, fresh } = generator;
            let (of_row, rest) = (row.generators[number], sign * (1.0 - lam));
            let q = of_row / fresh;
            sizes += q.abs() * (unit + rest.abs() * (weight.abs() * reach + bias.abs()) + shift.abs());
            missed += 2.0 * U * of_row.abs() + TINY * (1.0 + fresh + reach);
            terms.push((weight * self.unit / unit, bias / unit, q * sign * unit, rounding));
        }
        let (slope, constant) = self.line(row);
        let line = (if sloped { slope * self.unit } else { 0.0 }, constant);
        let mut most = f64::NEG_INFINITY;
        largest(&mut most, &terms, (self.first, self.count), line);
        // Each of them passes fewer roundings than twice as many as there are, and a handful; so does the slope.
        let number = self.products.len();
        let off = inflate(gamma(2 * number + 16) * sizes + missed, 3 * number + 16);
        let found = add_up(most, off);
        if found.is_nan() { f64::INFINITY } else { found }
    }
}

/// A product in units of its levels: t = slope k + bias, and what R(t) - t is multiplied by.
type Rounded = (f64, f64, f64, Rounding);

vectorised! {
    /// Raises `most` to the largest sum over these terms of c (R(t) - t), plus slope k + constant: `numbers` are the first
    /// k and how many there are, `line` is that slope and constant.
    fn largest<'a>(most: &'a mut f64, terms: &'a [Rounded], numbers: (f64, usize), line: (f64, f64)) {
        let ((first, count), (slope, constant)) = (numbers, line);
        let mut at = [0.0; SIDE_BY_SIDE];
        for from in (0..count).step_by(SIDE_BY_SIDE) {
            // Numbers behind the last one are that one again.
            for (k, at) in at.iter_mut().enumerate() {
                #[allow(clippy::cast_precision_loss)]
                let number = (from + k).min(count - 1) as f64;
                *at = first + number;
            }
            let mut sums = [0.0; SIDE_BY_SIDE];
            for &(weight, bias, c, rounding) in terms {
                match rounding {
                    Rounding::Floor => add(&mut sums, &at, (weight, bias, c), f64::floor),
                    Rounding::HalfEven => add(&mut sums, &at, (weight, bias, c), f64::round_ties_even),
                    Rounding::HalfUp => add(&mut sums, &at, (weight, bias, c), |t| (t + 0.5).floor()),
                    other => add(&mut sums, &at, (weight, bias, c), |t| other.of(t)),
                }
            }
            for (sum, k) in sums.iter().zip(&at) {
                let value = sum + (slope * k + constant);
                // What is no number may be replaced by a later one: then sizes are none either, and so is the bound.
                if !(value <= *most) {
                    *most = value;
                }
            }
        }
    }
}

#[inline(always)]
fn add(
    sums: &mut [f64; SIDE_BY_SIDE],
    at: &[f64; SIDE_BY_SIDE],
    (weight, bias, c): (f64, f64, f64),
    round: impl Fn(f64) -> f64,
) {
    for (sum, k) in sums.iter_mut().zip(at) {
        let t = weight * k + bias;
        *sum += c * (round(t) - t);
    }
}

/// The generators that one network's function makes at a step, by row; `place` is where those of this network begin in a
/// row over all of them, and `end` where they end.
fn generators_of(
    layer: &LayerState,
    second: bool,
    inputs: usize,
    (place, end): (usize, usize),
) -> Vec<(usize, Generator)> {
    let after = &layer.after;
    let (transformer, fresh, from) = if second {
        (&layer.transformer2, &after.fresh2, after.from2)
    } else {
        (&layer.transformer1, &after.fresh1, after.from1)
    };
    let made = fresh.iter().zip(place + from - 1 - inputs..end).map(|(&(j, fresh), number)| {
        let i = after.rows[j];
        (i, Generator { number, sign: 1.0, lam: transformer.slope[i], shift: transformer.shift[i], fresh })
    });
    made.collect()
}

/// The generators of the difference alone that are what one network rounds in a row where the other one has 0; `first`
/// is where those of the difference begin in a row.
fn of_difference(layer: &LayerState, second: bool, first: usize) -> Vec<(usize, Generator)> {
    let r = &layer.transformer_d;
    let (other, bounds, sign) =
        if second { (&layer.transformer1, &layer.x, -1.0) } else { (&layer.transformer2, &layer.y, 1.0) };
    let is_zero = |i: usize| {
        let nothing = other.slope[i] == 0.0 && other.shift[i] == 0.0 && other.fresh[i] == 0.0 && other.loose[i] == 0.0;
        let of_networks = r.fresh1[i] == 0.0 && r.fresh2[i] == 0.0 && r.loose[i] == 0.0;
        let one_slope = if second { r.of_y[i] == 0.0 } else { r.of_x[i] == 0.0 };
        nothing && of_networks && one_slope && bounds.lower[i] == 0.0 && bounds.upper[i] == 0.0
    };
    let rounded = layer.own_generators().filter(|&(_, i)| is_zero(i));
    let made = rounded.map(|(own, i)| {
        (i, Generator { number: first + own, sign, lam: r.of_d[i], shift: r.shift[i], fresh: r.fresh_own[i] })
    });
    made.collect()
}

/// A row that rounds the product of one value of an earlier step: which value, and the product.
fn product(step: &Step, i: usize, rounding: ExactRounding, generator: Generator) -> Option<((usize, usize), Product)> {
    if step.bias_error.as_ref().is_some_and(|error| error[i] != 0.0) {
        return None;
    }
    let (mut read, mut others) = (None, false);
    for term in &step.terms {
        let error = term.tile.weight_error.as_ref();
        term.tile.row(i, |j, at| {
            let weight = term.tile.weight[at];
            if weight == 0.0 && error.is_none_or(|error| error[at] == 0.0) {
                return;
            }
            others |= read.is_some() || error.is_some_and(|error| error[at] != 0.0);
            read = Some((term.origin, j, weight));
        });
    }
    let (Origin::Step(s), j, weight) = read.filter(|_| !others)? else { return None };
    Some(((s, j), Product { weight, bias: step.bias[i], rounding, generator }))
}

/// The range of a value behind the function of its step.
fn range_behind(step: &Step, row: usize, bounds: &Bounds) -> (f64, f64) {
    let (l, u) = (bounds.lower[row], bounds.upper[row]);
    match &step.function {
        Function::Identity => (l, u),
        Function::Relu => (l.max(0.0), u.max(0.0)),
        Function::Curves(curves) => curves.of(row).range(l, u),
    }
}
