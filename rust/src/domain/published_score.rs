//! The published split score ([VD], appendix B), which tells how much each input matters, as one backward pass over
//! vectors.
//!
//! The paper carries a matrix D of influences: the identity for inputs, and for a fresh generator the column |D| |g|,
//! where g is the row of the neuron that made it. The score of an input is its row of  sum over outputs |G1| D1 + |G2|
//! D2.  Read from the right this is a vector: every generator starts with its own sum over outputs and passes its
//! weight on to the generators in its neuron's row, newest first. No matrix is needed.

use super::columns::Columns;
use super::layer_state::LayerState;
use super::transformer::Transformer;

/// The score, with buffers that are reused.
#[derive(Debug, Default)]
pub struct PublishedScore {
    weights: Vec<f64>,
    score: Vec<f64>,
}

impl PublishedScore {
    /// The score of every input after a propagation. The generators already carry the range of the box.
    pub fn score(&mut self, layers: &[LayerState], inputs: usize) -> &[f64] {
        self.score.clear();
        self.score.resize(inputs, 0.0);
        self.add(layers, inputs, |l| (&l.z1, &l.transformer1, l.after.from1));
        self.add(layers, inputs, |l| (&l.z2, &l.transformer2, l.after.from2));
        &self.score
    }

    fn add<'a>(
        &mut self,
        layers: &'a [LayerState],
        inputs: usize,
        of: impl Fn(&'a LayerState) -> (&'a Columns, &'a Transformer, usize),
    ) {
        let Some((last, hidden)) = layers.split_last() else {
            return;
        };
        let form = of(last).0;
        self.weights.clear();
        self.weights.extend((1..form.len()).map(|j| form.column(j).iter().map(|g| g.abs()).sum::<f64>()));
        for layer in hidden.iter().rev() {
            let (form, transformer, from) = of(layer);
            // The generators that this step made are the last ones still waiting.
            let (older, newest) = self.weights.split_at_mut(from - 1);
            debug_assert_eq!(newest.len(), transformer.fresh_generators().count());
            for (j, w) in older.iter_mut().enumerate().take(form.len().saturating_sub(1)) {
                let column = form.column(1 + j);
                *w += transformer
                    .fresh_generators()
                    .zip(newest.iter())
                    .map(|((i, _), n)| column[i].abs() * n)
                    .sum::<f64>();
            }
            self.weights.truncate(from - 1);
        }
        self.score.iter_mut().zip(&self.weights[..inputs]).for_each(|(s, w)| *s += w);
    }
}
