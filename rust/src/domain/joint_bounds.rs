//! Bounds of differences inside of a pair, with the roundings of products of one value taken together
//! ([`JointRounding`]).
//!
//! What a bending function adds to a difference D grows with the range of d in front of it. Where networks round, that
//! range is a sum of roundings which a zonotope takes for numbers of their own, two to four times what they come to
//! together. So of each row that bends in both networks d is bounded once more, as functionals of the outputs are: the
//! steps up to there are a network, too.

use super::abstract_domain::AbstractDomain;
use super::intermediate_bounds::IntermediateBounds;
use super::joint_rounding::JointRounding;
use super::layer_state::LayerState;
use super::output::{GeneratorRow, Output};
use super::quantity::Quantity;
use crate::network::Pair;

/// The share of its range that a row has to lose for another propagation to pay.
const NARROWED: f64 = 0.1;

/// The most rounded products that are looked at: a few seconds. Steps behind which there would be more keep their bounds.
const PRODUCTS: usize = 1 << 31;

/// Narrows the bounds of d that a propagation of the pair found, of which these are all states. True if one of them
/// became narrower by more than a little, in a row where that matters.
pub fn tighten_differences(
    pair: &Pair,
    layers: &[LayerState],
    (inputs, domain): (usize, AbstractDomain),
    bounds: &mut IntermediateBounds,
    row: &mut GeneratorRow,
    stop: impl Fn() -> bool,
) -> bool {
    let (mut narrowed, mut left) = (false, PRODUCTS);
    for s in 0..pair.depth().saturating_sub(1) {
        let layer = &layers[s];
        let bends = |i: &usize| layer.transformer1.fresh[*i] != 0.0 && layer.transformer2.fresh[*i] != 0.0;
        let rows: Vec<usize> = (0..pair.first[s].rows).filter(bends).collect();
        if rows.is_empty() || stop() {
            continue;
        }
        let until = &layers[..=s];
        let roundings = JointRounding::of(pair, until, inputs);
        let work = roundings.work().saturating_mul(2 * rows.len());
        if roundings.is_empty() || work > left {
            continue;
        }
        left -= work;
        let (output, known) = (Output::new(layer, inputs, domain), &mut bounds.layers[s].d);
        for i in rows {
            if stop() {
                return narrowed;
            }
            let before = known.upper[i] - known.lower[i];
            for sign in [1.0, -1.0] {
                output.row([(Quantity::Difference, i, sign)], 0.0, row);
                if roundings.share(row, until) == 0.0 {
                    break;
                }
                let bound = roundings.upper(row, until);
                if sign > 0.0 {
                    known.upper[i] = known.upper[i].min(bound);
                } else {
                    known.lower[i] = known.lower[i].max(-bound);
                }
            }
            narrowed |= known.upper[i] - known.lower[i] < (1.0 - NARROWED) * before;
        }
    }
    narrowed
}
