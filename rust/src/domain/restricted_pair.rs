//! A pair restricted to the neurons that may be nonzero on a box: both networks, and their difference, without the
//! others.
//!
//! Only chains of dense layers are restricted. A neuron that is inactive in both networks on a box is 0 in both, there
//! and on every part of the box ([`super::possibly_active`]). Without its row in one layer and its column in the next,
//! the networks and their difference have the same outputs there. Some stay all the same, to fill registers. Boxes that
//! are bounded one after the other mostly have the same neurons, so the parts of the matrices are kept until a layer has
//! other ones.

use super::possibly_active::{PossiblyActive, worth_leaving_out};
use super::propagation::Propagation;
use crate::network::{Pair, Step, Tile, pair::Difference};
use crate::numeric::kernels::{add_columns, gather};
use smallvec::SmallVec;

/// A pair, and its restriction to the last box.
#[derive(Debug)]
pub struct RestrictedPair<'a> {
    whole: &'a Pair,
    /// Whether the last box needed all neurons.
    all: bool,
    /// The numbers 0, 1, 2, ...: as many as the widest layer has neurons, or as there are inputs if these are more.
    every: Vec<usize>,
    /// The neurons of each layer in the restricted pair; of the last layer all.
    neurons: Vec<Vec<usize>>,
    /// The restricted pair, once it was asked for.
    part: Option<Pair>,
    list: Vec<usize>,
}

impl<'a> RestrictedPair<'a> {
    /// A pair that is not restricted yet.
    #[must_use]
    pub fn new(whole: &'a Pair) -> Self {
        let widest = whole.first.iter().map(|layer| layer.rows).fold(whole.inputs(), usize::max);
        Self {
            whole,
            all: true,
            every: (0..widest).collect(),
            neurons: whole.first.iter().map(|layer| (0..layer.rows).collect()).collect(),
            part: None,
            list: Vec::new(),
        }
    }

    /// The pair for a box on which at most these neurons may be nonzero, or all neurons if none are given. Layers of
    /// which nearly all neurons may be nonzero are kept whole.
    pub fn restrict_to(&mut self, neurons: Option<&PossiblyActive>) -> &Pair {
        self.all = neurons.is_none() || !self.whole.is_chain();
        let (Some(possibly_active), false) = (neurons, self.all) else {
            return self.whole;
        };
        let whole = self.whole;
        let part = self.part.get_or_insert_with(|| whole.clone());
        let mut others_enter = false;
        for l in 0..whole.depth() {
            let width = whole.first[l].rows;
            self.list.clear();
            if l + 1 < whole.depth() {
                possibly_active.list(whole, l, &mut self.list);
            }
            if l + 1 == whole.depth() || !worth_leaving_out(width - self.list.len(), width) {
                self.list.clear();
                self.list.extend(0..width);
            } else {
                fill(&mut self.list, width);
            }
            let others = self.list != self.neurons[l];
            if others {
                std::mem::swap(&mut self.list, &mut self.neurons[l]);
            }
            if others || others_enter {
                let columns = if l == 0 { &self.every[..whole.inputs()] } else { &self.neurons[l - 1] };
                let selection = (self.neurons[l].as_slice(), columns);
                gather_layer(&mut part.first[l], &whole.first[l], selection);
                gather_layer(&mut part.second[l], &whole.second[l], selection);
                gather_difference(&mut part.difference[l], &whole.difference[l], selection);
            }
            others_enter = others;
        }
        part
    }

    /// The neurons that the last restricted pair has in a layer, by their numbers in the whole pair.
    #[must_use]
    pub fn neurons(&self, layer: usize) -> &[usize] {
        if self.all { &self.every[..self.whole.first[layer].rows] } else { &self.neurons[layer] }
    }

    /// The neurons that may be nonzero on the box that was just propagated through the last restricted pair. All others
    /// can be left out on its parts. `None` of graphs, which are not restricted.
    #[must_use]
    pub fn possibly_active(&self, propagation: &Propagation) -> Option<PossiblyActive> {
        let hidden = propagation.layers().iter().take(self.whole.depth() - 1).enumerate();
        self.whole.is_chain().then(|| {
            let neurons = hidden.map(|(l, layer)| layer.possibly_nonzero().iter().map(move |&i| self.neurons(l)[i]));
            PossiblyActive::of(self.whole, neurons)
        })
    }
}

/// Sets `part`, which began as a copy of the chain `whole`, to these neurons of each layer in this order; of the last layer
/// it has all. Of the inputs it has those listed. All others have the value that `at` has for them, and what they give is
/// rounded into the biases, so that no bound may rest on a part that lacks inputs.
pub fn select(part: &mut Pair, whole: &Pair, neurons: &[&[usize]], (inputs, at): (&[usize], &[f64])) {
    let outputs: Vec<usize> = (0..whole.outputs()).collect();
    for l in 0..whole.depth() {
        let columns = if l == 0 { inputs } else { neurons[l - 1] };
        let selection = (neurons.get(l).copied().unwrap_or(&outputs[..]), columns);
        gather_layer(&mut part.first[l], &whole.first[l], selection);
        gather_layer(&mut part.second[l], &whole.second[l], selection);
        gather_difference(&mut part.difference[l], &whole.difference[l], selection);
    }
    part.set_inputs(inputs.len());
    if inputs.len() == whole.inputs() {
        return;
    }
    let mut left_out = vec![true; whole.inputs()];
    for &i in inputs {
        left_out[i] = false;
    }
    let fixed: Vec<(usize, f64)> = at.iter().copied().enumerate().filter(|&(i, _)| left_out[i]).collect();
    let rows = neurons.first().copied().unwrap_or(&outputs[..]);
    let fix = |bias: &mut Vec<f64>, whole_bias: &[f64], tile: &Tile| {
        let mut all = whole_bias.to_vec();
        add_columns(&mut all, &tile.weight, fixed.iter().copied());
        gather_entries(bias, &all, rows);
    };
    for (to, from) in [(&mut part.first[0], &whole.first[0]), (&mut part.second[0], &whole.second[0])] {
        fix(&mut to.bias, &from.bias, &from.terms[0].tile);
    }
    let difference = &whole.difference[0];
    fix(&mut part.difference[0].bias, &difference.bias, &difference.terms[0].tile);
}

/// Vector registers hold at most so many numbers.
const LANES: usize = 8;

/// Adds other neurons of a layer of this width to a list of some in order, from the first one on, until vectors over the
/// neurons fill registers: what is left over of a vector is computed number by number. Not where that would be all.
fn fill(list: &mut Vec<usize>, width: usize) {
    let listed = list.len();
    let filled = listed.next_multiple_of(LANES);
    if filled >= width {
        return;
    }
    let mut at = 0;
    let left_out = (0..width).filter(|&i| {
        let found = list.get(at) == Some(&i);
        at += usize::from(found);
        !found
    });
    let added: SmallVec<[usize; LANES]> = left_out.take(filled - listed).collect();
    list.extend_from_slice(&added);
    list.sort_unstable();
}

/// Rows and columns of a matrix.
type Selection<'a> = (&'a [usize], &'a [usize]);

/// A step of a chain, restricted.
fn gather_layer(to: &mut Step, whole: &Step, selection: Selection<'_>) {
    let rows = selection.0;
    to.rows = rows.len();
    gather_tile(&mut to.terms[0].tile, &whole.terms[0].tile, selection);
    gather_entries(&mut to.bias, &whole.bias, rows);
    // A row that is zero throughout is so in every part.
    gather_entries(&mut to.zero_rows, &whole.zero_rows, rows);
    if let (Some(to), Some(whole_error)) = (&mut to.bias_error, &whole.bias_error) {
        gather_entries(to, whole_error, rows);
    }
}

/// A dense matrix, restricted.
fn gather_tile(to: &mut Tile, whole: &Tile, selection: Selection<'_>) {
    let (rows, columns) = selection;
    (to.outputs, to.taps, to.columns) = (rows.len(), columns.len(), columns.len());
    gather_matrix(&mut to.weight, &whole.weight, (whole.outputs, selection));
    if let (Some(to), Some(whole_error)) = (&mut to.weight_error, &whole.weight_error) {
        gather_matrix(to, whole_error, (whole.outputs, selection));
    }
}

fn gather_difference(to: &mut Difference, whole: &Difference, selection: Selection<'_>) {
    gather_tile(&mut to.terms[0].tile, &whole.terms[0].tile, selection);
    gather_entries(&mut to.bias, &whole.bias, selection.0);
    // A row that is shared is so in every part.
    gather_entries(&mut to.shared, &whole.shared, selection.0);
    to.terms[0].zero = to.terms[0].tile.weight.iter().all(|&w| w == 0.0);
}

fn gather_matrix(to: &mut Vec<f64>, whole: &[f64], (width, (rows, columns)): (usize, Selection<'_>)) {
    let all = rows.len() == width && rows.iter().enumerate().all(|(at, &i)| at == i);
    gather(to, whole, width, (!all).then_some(rows), columns);
}

fn gather_entries<T: Copy>(to: &mut Vec<T>, whole: &[T], rows: &[usize]) {
    to.clear();
    to.extend(rows.iter().map(|&i| whole[i]));
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn lists_are_filled_to_whole_registers() {
        for width in 0..40 {
            for step in 1..9 {
                let listed: Vec<usize> = (0..width).step_by(step).collect();
                let mut filled = listed.clone();
                fill(&mut filled, width);
                assert!(filled.is_sorted_by(|a, b| a < b) && filled.iter().all(|&i| i < width));
                assert!(listed.iter().all(|i| filled.contains(i)));
                let whole = listed.len().next_multiple_of(8);
                assert_eq!(filled.len(), if whole < width { whole } else { listed.len() });
            }
        }
    }
}
