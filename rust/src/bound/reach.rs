//! Down to which layer the rounds of a contraction go, layer by layer ([`super::alone`]).
//!
//! An assumption about outputs says most about the last layers, and next to nothing about the first ones before the last
//! ones are tight, yet a layer costs about as much as any other. So the first round goes from the last layer downwards
//! and ends where little comes of a layer. Later rounds go upwards from there, one layer deeper where the lowest one
//! gained, and one less deep where it gained next to nothing. Before rounds end because little comes of them, all layers
//! have been met.
//!
//! No choice costs soundness: a layer that is left out keeps the bounds that it has.

use crate::domain::phase::Bounds;

/// The share of the slack of a layer that is left where little came of bounding it.
const LITTLE: f64 = 0.9;
/// The same where next to nothing came of it.
const NOTHING: f64 = 0.98;

/// How deep rounds go.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// The lowest layer of a round, once the first round is over.
    lowest: Option<usize>,
    /// Whether every round goes through all layers.
    whole: bool,
    /// The layers that were met in this round, and the share of its slack that is left of each.
    met: Vec<(usize, f64)>,
}

impl Reach {
    /// Every round goes through all layers, upwards, as after a split of a neuron, which acts on all layers behind it.
    pub(super) fn whole() -> Self {
        Self { lowest: Some(0), whole: true, met: Vec::new() }
    }

    /// The layers of the next round, out of so many, in order.
    pub(super) fn layers(&mut self, hidden: usize) -> Vec<usize> {
        self.met.clear();
        match self.lowest {
            None => (0..hidden).rev().collect(),
            Some(lowest) => (lowest..hidden).collect(),
        }
    }

    /// Takes note of the share of its slack that is left of a layer. Whether the round ends with it.
    pub(super) fn ends(&mut self, layer: usize, left: f64) -> bool {
        self.met.push((layer, left));
        self.lowest.is_none() && left > LITTLE
    }

    /// Sets how deep the next round goes. False if there is none, since little came of this one, which went all the way.
    pub(super) fn next_round(&mut self, little: bool) -> bool {
        if self.whole {
            return !little;
        }
        let deepest = self.met.iter().copied().min_by_key(|(layer, _)| *layer);
        let lowest = self.lowest.or(deepest.map(|(layer, _)| layer)).unwrap_or(0);
        if little && lowest == 0 {
            return false;
        }
        let left = deepest.map_or(0.0, |(_, left)| left);
        self.lowest = Some(match left {
            left if little || left < LITTLE => lowest.saturating_sub(1),
            left if left > NOTHING && self.met.len() > 1 => lowest + 1,
            _ => lowest,
        });
        true
    }
}

/// What the relaxations of a layer give away: the height of each chord above its ReLU, summed up. Of functions that bend
/// everywhere it is the width of their ranges.
pub(super) fn slack(bounds: &Bounds, curved: bool) -> f64 {
    let chord = |l: f64, u: f64| if l < 0.0 && u > 0.0 { -l * u / (u - l) } else { 0.0 };
    let of = |(&l, &u): (&f64, &f64)| if curved { u - l } else { chord(l, u) };
    bounds.lower.iter().zip(&bounds.upper).map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::Reach;

    /// The layers of one round, of four, where each keeps this share of its slack.
    fn round(reach: &mut Reach, left: [f64; 4]) -> Vec<usize> {
        let mut met = Vec::new();
        for layer in reach.layers(4) {
            met.push(layer);
            if reach.ends(layer, left[layer]) {
                break;
            }
        }
        met
    }

    #[test]
    fn rounds_go_deeper_where_layers_gain_and_end_when_all_were_met() {
        let mut reach = Reach::default();
        assert_eq!(round(&mut reach, [1.0, 1.0, 0.95, 0.5]), [3, 2]);
        assert!(reach.next_round(false));
        assert_eq!(round(&mut reach, [1.0, 1.0, 0.8, 0.5]), [2, 3]);
        assert!(reach.next_round(false));
        assert_eq!(round(&mut reach, [1.0, 0.99, 0.8, 0.5]), [1, 2, 3]);
        assert!(reach.next_round(false), "nothing came of layer 1");
        assert_eq!(round(&mut reach, [1.0, 1.0, 0.95, 0.95]), [2, 3]);
        assert!(reach.next_round(true), "little came of it, but there are two more layers");
        assert_eq!(round(&mut reach, [1.0; 4]), [1, 2, 3]);
        assert!(reach.next_round(true));
        assert_eq!(round(&mut reach, [1.0; 4]), [0, 1, 2, 3]);
        assert!(!reach.next_round(true));
    }

    #[test]
    fn whole_rounds_meet_all_layers_and_end_with_the_first_that_brings_little() {
        let mut reach = Reach::whole();
        assert_eq!(round(&mut reach, [1.0; 4]), [0, 1, 2, 3]);
        assert!(reach.next_round(false));
        assert_eq!(round(&mut reach, [0.5, 1.0, 1.0, 1.0]), [0, 1, 2, 3]);
        assert!(!reach.next_round(true));
    }

    #[test]
    fn a_round_without_any_layer_is_the_last_one_where_little_comes_of_it() {
        let mut reach = Reach::default();
        assert!(reach.layers(0).is_empty());
        assert!(!reach.next_round(true));
        // Layers whose slack was 0 keep a share that is not a number.
        assert_eq!(round(&mut reach, [f64::NAN; 4]), [3, 2, 1, 0]);
        assert!(reach.next_round(false));
        assert_eq!(round(&mut reach, [f64::NAN; 4]), [0, 1, 2, 3]);
    }
}
