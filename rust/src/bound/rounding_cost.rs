//! What rounding in the affine layers can cost a backward bound, per unit of the coefficients that pass.
//!
//! A computed product W^T p misses the exact one by at most gamma |W|^T |p| per entry, and that costs as much times the size of the variable it multiplies. By
//! Hoelder the total is |p|_1 times one number per layer: the largest |W| of each column, times the sizes, summed. Sizes come from what is known of the neurons.
//! In rows that both networks share, d = W1 times the d before it, exactly, so what is uncertain about W1 acts on that d alone, which is 0 at the inputs.

use super::backward::Backward;
use crate::domain::intermediate_bounds::IntermediateBounds;
use crate::network::{Affine, Pair};
use crate::numeric::round::{TINY, U, gamma};

/// Per affine layer: the largest |W| in each column, for the rounding bound.
#[derive(Debug, Clone)]
pub(super) struct ColumnMaxima {
    first: Vec<f64>,
    second: Vec<f64>,
    difference: Vec<f64>,
    errors: [Option<Vec<f64>>; 2],
    /// Of the rows that are not shared.
    apart: [Option<Vec<f64>>; 2],
    /// Of the rows that are.
    shared: Option<Vec<f64>>,
    bias: f64,
    bias_error: f64,
    /// Of the rows that are not shared.
    apart_bias_error: f64,
}

fn column_maxima(matrix: &[f64], m: usize) -> Vec<f64> {
    matrix.chunks_exact(m.max(1)).map(|c| c.iter().fold(0.0, |a: f64, w| a.max(w.abs()))).collect()
}

/// What rounding in one affine layer can cost per unit of |p|_1, |q|_1, |s|_1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RoundingCost {
    pub(super) first: f64,
    pub(super) second: f64,
    pub(super) difference: f64,
    /// Per functional: coefficients that underflow, times what they multiply.
    pub(super) underflow: f64,
}

impl ColumnMaxima {
    /// Of layer l.
    pub(super) fn of(pair: &Pair, l: usize) -> Self {
        let largest = |v: &[f64]| v.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let (a, b, d) = (&pair.first[l], &pair.second[l], &pair.difference[l]);
        let error = |layer: &Affine| layer.weight_error.as_ref().map(|e| column_maxima(e, layer.rows));
        let among = |layer: &Affine, shared: bool| {
            let part = |c: &[f64]| {
                c.iter().zip(&d.shared).filter(|(_, s)| **s == shared).fold(0.0, |a: f64, (w, _)| a.max(w.abs()))
            };
            layer.weight_error.as_ref().map(|e| e.chunks_exact(layer.rows.max(1)).map(part).collect::<Vec<_>>())
        };
        let bias_error = |layer: &Affine| layer.bias_error.as_deref().map_or(0.0, largest);
        let apart_bias_error = |layer: &Affine| {
            let errors = layer.bias_error.iter().flat_map(|e| e.iter().zip(&d.shared));
            errors.filter(|(_, s)| !**s).fold(0.0, |a: f64, (e, _)| a.max(*e))
        };
        ColumnMaxima {
            first: column_maxima(&a.weight, a.rows),
            second: column_maxima(&b.weight, a.rows),
            difference: column_maxima(&d.weight, a.rows),
            errors: [error(a), error(b)],
            apart: [among(a, false), among(b, false)],
            shared: among(a, true),
            bias: largest(&a.bias).max(largest(&b.bias)).max(largest(&d.bias)),
            bias_error: bias_error(a).max(bias_error(b)),
            apart_bias_error: apart_bias_error(a).max(apart_bias_error(b)),
        }
    }
}

impl Backward<'_> {
    /// The rounding_costs of all layers, from what is known of the neurons and the box taken up.
    pub(super) fn set_rounding_costs(&mut self, bounds: &IntermediateBounds) {
        for l in 0..self.pair.depth() {
            let maxima = &self.maxima[l];
            let magnitude = |i: usize, which: usize| {
                if l == 0 {
                    return self.centre[i].abs() + self.radius[i];
                }
                let known = &bounds.layers[l - 1];
                match which {
                    0 => known.x.upper[i].max(0.0),
                    1 => known.y.upper[i].max(0.0),
                    _ => known.d.upper[i].abs().max(known.d.lower[i].abs()),
                }
            };
            let sum = |column: &[f64], which: usize| {
                column.iter().enumerate().map(|(i, w)| w * magnitude(i, which)).sum::<f64>()
            };
            let rounding = gamma(2 * self.pair.first[l].rows + 6);
            let uncertain = |e: &Option<Vec<f64>>, which: usize| e.as_ref().map_or(0.0, |v| sum(v, which));
            let (e1, e2) = (uncertain(&maxima.errors[0], 0), uncertain(&maxima.errors[1], 1));
            let apart = uncertain(&maxima.apart[0], 0) + uncertain(&maxima.apart[1], 1);
            let shared = if l == 0 { 0.0 } else { uncertain(&maxima.shared, 2) };
            #[allow(clippy::cast_precision_loss)]
            let tiny = TINY * (8 * (self.pair.first[l].rows + self.pair.first[l].columns + 4)) as f64;
            let ones = vec![1.0; self.pair.first[l].columns];
            let sizes = sum(&ones, 0) + sum(&ones, 1) + sum(&ones, 2) + ones.iter().sum::<f64>();
            // The bias products are priced with the constants' mass; here only what is known of the biases themselves.
            self.rounding_costs[l] = RoundingCost {
                first: 1.01 * (rounding * sum(&maxima.first, 0) + e1 + maxima.bias_error) + tiny,
                second: 1.01 * (rounding * sum(&maxima.second, 1) + e2 + maxima.bias_error) + tiny,
                difference: 1.01
                    * (rounding * (sum(&maxima.first, 2) + sum(&maxima.difference, 1))
                        + apart
                        + shared
                        + 2.0 * maxima.apart_bias_error)
                    + 2.0 * U * maxima.bias
                    + tiny,
                underflow: tiny * sizes,
            };
        }
    }
}
