//! Weights of neurons in Euclidean norms ([`super::euclidean`]): t of each neuron in a unit of its own.
//!
//! For any s > 0, |q . t| <= |(q_i / s_i)|_2 |(s_i t_i)|_2. Of one row the product is least where both vectors are
//! proportional, with s_i^2 = |q_i| / |t_i|, and is the sum of sizes then; but all later rows share one s. For |q_i|
//! the length of what the outputs and later steps read of t_i is taken, and for |t_i| its bound by sizes. (Diagonal
//! multipliers of slopes bound a network's Lipschitz constant in the same way: LipSDP, Fazlyab et al., 2019.)
//!
//! All of this is estimates, which weights may be: what [`Member::weighted`] makes of them bounds its own rounding.

use super::euclidean_sums::Member;
use super::layer_state::{LayerState, Source};

/// How far weights of one step may be from their geometric mean.
const FARTHEST: f64 = 1024.0;

/// Gives the members of every step but the last one weights.
pub fn weigh(layers: &[LayerState], steps: &mut [Vec<Member>]) {
    let Some(last) = layers.last() else { return };
    // The squares of what later rows read of each own generator.
    let mut reads = vec![0.0; layers.iter().map(|layer| layer.rest_sources.len()).max().unwrap_or(0)];
    add_reads(&mut reads, last, &vec![1.0; last.d.lower.len()]);
    for (layer, members) in layers.iter().zip(steps).rev() {
        let mut of_rows = vec![0.0; layer.d.lower.len()];
        let mut weights = Vec::with_capacity(members.len());
        for member in &*members {
            let read = reads.get(member.number).map_or(0.0, |squares| squares.sqrt()) / member.size.abs();
            of_rows[member.row] = (read * member.kappa).powi(2);
            weights.push((read / member.reach).sqrt());
        }
        for (member, weight) in members.iter_mut().zip(beside_their_mean(&weights)) {
            *member = member.weighted(weight).unwrap_or(*member);
        }
        add_reads(&mut reads, layer, &of_rows);
    }
}

/// Adds the squares of what the rows of a step read of each own generator, with a factor for each row.
fn add_reads(reads: &mut [f64], layer: &LayerState, of_rows: &[f64]) {
    let own = layer.rest_sources.iter().enumerate().filter(|(_, source)| **source == Source::Own);
    for (read, (j, _)) in reads.iter_mut().zip(own) {
        let column = layer.d_rest.column(j).iter().zip(of_rows);
        *read += column.map(|(entry, factor)| factor * (entry * entry)).sum::<f64>();
    }
}

/// Weights divided by their geometric mean. Those of what nobody reads, and of what is 0 anyway, do not count.
fn beside_their_mean(weights: &[f64]) -> Vec<f64> {
    let known: Vec<f64> = weights.iter().filter(|v| v.is_finite() && **v > 0.0).map(|v| v.ln()).collect();
    #[allow(clippy::cast_precision_loss)]
    let mean = (known.iter().sum::<f64>() / known.len().max(1) as f64).exp();
    let of = |weight: &f64| if weight.is_nan() { 1.0 } else { (weight / mean).clamp(1.0 / FARTHEST, FARTHEST) };
    weights.iter().map(of).collect()
}
