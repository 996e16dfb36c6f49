//! Terms that read the inputs, which are the same in both networks. They are by far the widest of many networks, and
//! mostly equal in both.
//!
//! At the inputs X = Y and D = 0. With y = x - d a functional p.x + q.y + s.d of what such a term adds is
//! (p + q).x + (s - q).d, and d = (A1 - A2) inputs. So one product with A1 and one with the rows in which the networks
//! differ replace three products. A neuron that was pruned away is one such row. Of a term that f1 has alone p + s is
//! the coefficient of A1, and of one that f2 has alone q - s that of A2.
//!
//! Arrays are functional-major, as in [`super::backward`].

use super::functional::Coefficients;
use super::weights::StepWeights;
use crate::network::pair::DifferenceTerm;
use crate::network::{Origin, Pair, Tile};
use crate::numeric::kernels::{Accumulate, transposed_product};
use crate::numeric::real::Real;
use crate::numeric::windows::{Panels, Shape};

/// The rows in which dense matrices over the inputs differ.
#[derive(Debug, Clone, Default)]
struct Apart<T> {
    /// The neurons whose weights differ (r of them).
    rows: Vec<usize>,
    /// A1 - A2 in these rows, column-major (r, I).
    weight: Vec<T>,
}

impl<T: Real> Apart<T> {
    /// The rows of a dense matrix that differ; `None` where they are most, so that products with the whole matrix are no
    /// slower than these rows with what it takes to pick them out.
    fn of(tile: &Tile) -> Option<Self> {
        let m = tile.outputs;
        let columns = || tile.weight.chunks_exact(m.max(1));
        let rows: Vec<usize> = (0..m).filter(|&i| columns().any(|c| c[i] != 0.0)).collect();
        if 4 * rows.len() > 3 * m {
            return None;
        }
        let weight = columns().flat_map(|c| rows.iter().map(|&i| T::of(c[i]))).collect();
        Some(Self { rows, weight })
    }
}

/// The terms of all steps that read the inputs, and buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedInputs<T = f64> {
    /// Per step, per term of the difference that both networks have densely: the rows in which they differ, if few do.
    apart: Vec<Vec<Option<Apart<T>>>>,
    /// Sums of coefficients, m x F.
    sums: Vec<T>,
    /// (A1 - A2) inputs on the rows that differ, r x F.
    values: Vec<T>,
}

/// Whether both networks have a term.
fn matched(term: &DifferenceTerm) -> bool {
    term.first.is_some() && term.second.is_some()
}

/// A product with a matrix of this shape, per functional: two operations each.
fn operations(tile: &Tile, count: usize) -> u64 {
    (2 * tile.products() * count) as u64
}

/// Whether a step reads the inputs.
#[inline(always)]
pub(super) fn reads_inputs(pair: &Pair, step: usize) -> bool {
    pair.difference[step].terms.iter().any(|t| t.origin == Origin::Inputs)
}

impl<T: Real> SharedInputs<T> {
    /// Finds the terms that read the inputs.
    pub(super) fn of(pair: &Pair) -> Self {
        let apart = |t: &DifferenceTerm| {
            let dense = t.origin == Origin::Inputs && matched(t) && t.tile.index.is_none();
            if dense { Apart::of(&t.tile) } else { None }
        };
        let apart = pair.difference.iter().map(|d| d.terms.iter().map(apart).collect()).collect();
        Self { apart, sums: Vec::new(), values: Vec::new() }
    }

    /// Adds the coefficients of the inputs, I x F, that follow from those of x, y and d of a step, of which
    /// `coefficients.first` is overwritten; or sets them, where nothing was `written` before. Arrays that are not `known`
    /// hold 0. Returns the number of operations.
    ///
    /// p + q, s - q, p + s and q - s are rounded: one unit of each, which the rounding cost of |p| + |q| and of
    /// |s| + |q| covers in the caller.
    #[inline(always)]
    pub(super) fn backwards(
        &mut self,
        (pair, step, weights): (&Pair, usize, &StepWeights<'_, T>),
        coefficients: &mut Coefficients<T>,
        [p_known, q_known, s_known]: [bool; 3],
        inputs: &mut [T],
        written: &mut bool,
        panels: &mut Panels<T>,
    ) -> u64 {
        let (a, b, d) = (&pair.first[step], &pair.second[step], &pair.difference[step]);
        let (m, n) = (a.rows, pair.inputs());
        let count = inputs.len() / n.max(1);
        let mut flops = 0;
        let mut next = || if std::mem::replace(written, true) { Accumulate::Add } else { Accumulate::Replace };
        let Coefficients { first, second, difference } = coefficients;
        for term in d.terms.iter().filter(|t| t.origin == Origin::Inputs && !matched(t)) {
            self.sums.clear();
            let (tile, weight) = match (term.first, term.second) {
                (Some(i), _) if p_known || s_known => {
                    self.sums.extend(first.iter().zip(&*difference).map(|(p, s)| *p + *s));
                    (&a.terms[i].tile, &weights.first[i])
                }
                (None, Some(i)) if q_known || s_known => {
                    self.sums.extend(second.iter().zip(&*difference).map(|(q, s)| *q - *s));
                    (&b.terms[i].tile, &weights.second[i])
                }
                _ => continue,
            };
            tile.shape().transposed_product(inputs, weight, &self.sums, (n, count), next(), panels);
            flops += operations(tile, count);
        }
        let mut added = false;
        for (k, term) in d.terms.iter().enumerate().filter(|(_, t)| t.origin == Origin::Inputs && matched(t)) {
            if !added {
                first.iter_mut().zip(&*second).for_each(|(p, q)| *p += *q);
                added = true;
            }
            if p_known || q_known {
                let i = term.first.unwrap_or_default();
                let tile = &a.terms[i].tile;
                tile.shape().transposed_product(inputs, &weights.first[i], first, (n, count), next(), panels);
                flops += operations(tile, count);
            }
            if term.zero || !(s_known || q_known) {
                continue;
            }
            self.sums.clear();
            if let Some(Apart { rows, weight }) = &self.apart[step][k] {
                for at in (0..count).map(|f| f * m) {
                    self.sums.extend(rows.iter().map(|i| difference[at + i] - second[at + i]));
                }
                transposed_product(inputs, weight, &self.sums, (rows.len(), n, count), next());
                flops += (2 * n * count * rows.len()) as u64;
            } else {
                self.sums.extend(difference.iter().zip(&*second).map(|(s, q)| *s - *q));
                let tile = &term.tile;
                tile.shape().transposed_product(inputs, &weights.difference[k], &self.sums, (n, count), next(), panels);
                flops += operations(tile, count);
            }
        }
        flops
    }

    /// Adds what the terms of a step that read the inputs give to those of x, y and d that are asked for, at inputs I x F.
    /// Returns the number of operations.
    #[inline(always)]
    pub(super) fn forwards(
        &mut self,
        (pair, step, weights): (&Pair, usize, &StepWeights<'_, T>),
        inputs: &[T],
        values: &mut Coefficients<T>,
        [of_first, of_second, of_difference]: [bool; 3],
        panels: &mut Panels<T>,
    ) -> u64 {
        let (a, b, d) = (&pair.first[step], &pair.second[step], &pair.difference[step]);
        let (m, n) = (a.rows, pair.inputs());
        let count = inputs.len() / n.max(1);
        let mut flops = 0;
        let add = |out: &mut [T], tile: &Tile, weight: &[T], panels: &mut Panels<T>| {
            tile.shape().product(out, weight, inputs, (n, count), Accumulate::Add, panels);
            operations(tile, count)
        };
        for (k, term) in d.terms.iter().enumerate().filter(|(_, t)| t.origin == Origin::Inputs) {
            if let (Some(i), true) = (term.first, of_first) {
                flops += add(&mut values.first, &a.terms[i].tile, &weights.first[i], panels);
            }
            if let (Some(i), true) = (term.second, of_second) {
                flops += add(&mut values.second, &b.terms[i].tile, &weights.second[i], panels);
            }
            if term.zero || !of_difference {
                continue;
            }
            let Some(Apart { rows, weight }) = &self.apart[step][k] else {
                flops += add(&mut values.difference, &term.tile, &weights.difference[k], panels);
                continue;
            };
            let r = rows.len();
            self.values.resize(r * count, T::ZERO);
            let rows_apart = Shape::Dense(r);
            rows_apart.product(&mut self.values, weight, inputs, (n, count), Accumulate::Replace, panels);
            for (f, of_rows) in self.values.chunks_exact(r).enumerate() {
                rows.iter().zip(of_rows).for_each(|(i, v)| values.difference[f * m + i] += *v);
            }
            flops += (2 * n * count * r) as u64;
        }
        flops
    }
}
