//! What a search leaves undecided: a sample of its open boxes, small however many there are, and the worst of them.
//! Both are shown to the user and never used for a verdict.
//!
//! Priority sampling (Duffield, Lund, Thorup, *Priority sampling for estimation of arbitrary subset sums*, J. ACM 54,
//! 2007): a box of weight w gets the priority w / u for a u uniform in (0, 1], the largest priorities are kept, and a
//! kept box stands for max(w, t), where t is the largest priority that was not kept. Sums over any part of the boxes
//! are then estimated without bias. u is a hash of the corners, so the sample does not depend on the order in which
//! workers hand in their boxes.

use super::{Node, Region};

/// Boxes in a sample.
const SAMPLE: usize = 512;

/// A box that was left open.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenBox {
    /// Lower corner.
    pub lower: Box<[f64]>,
    /// Upper corner.
    pub upper: Box<[f64]>,
    /// The share of the claim it stands for, as in [`super::Progress::certified`]: over a sample they add up to what is
    /// not proved.
    pub share: f64,
}

impl OpenBox {
    /// Turns a box of the free inputs into one of all inputs of the region.
    pub fn complete(&mut self, region: &Region, free: &[usize]) {
        let (mut lower, mut upper) = (region.lower.clone(), region.upper.clone());
        for ((&i, &l), &u) in free.iter().zip(&self.lower).zip(&self.upper) {
            (lower[i], upper[i]) = (l, u);
        }
        (self.lower, self.upper) = (lower.into(), upper.into());
    }
}

/// The open box with the largest bound, when a search ends undecided.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstBox {
    /// The largest upper bound of an open violation; infinite where none is known.
    pub bound: f64,
    /// Halvings that made that box.
    pub depth: usize,
    /// Its lower corner, of the free inputs within a search, of all inputs in a solution.
    pub lower: Vec<f64>,
    /// Its upper corner.
    pub upper: Vec<f64>,
    /// Obligations open on it.
    pub obligations: Vec<usize>,
}

impl WorstBox {
    fn of(node: &Node) -> Self {
        Self {
            bound: node.bound,
            depth: node.depth,
            lower: node.lower.to_vec(),
            upper: node.upper.to_vec(),
            obligations: node.open.iter().collect(),
        }
    }
}

/// Collects boxes, and keeps a sample and the worst of them.
#[derive(Debug, Default)]
pub struct OpenSampler {
    /// The box with the largest bound so far.
    pub worst: Option<WorstBox>,
    /// Boxes with their priorities, in no order; the `SAMPLE + 1` largest priorities are always among them.
    kept: Vec<(f64, OpenBox)>,
}

impl OpenSampler {
    /// Takes a box, whose weight is the share of the claim that is open on it.
    pub fn push(&mut self, node: &Node) {
        if self.worst.as_ref().is_none_or(|worst| node.bound > worst.bound) {
            self.worst = Some(WorstBox::of(node));
        }
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
        let weight = node.open.len() as f64 * 0.5f64.powi(node.depth.min(2048) as i32);
        let priority = weight / uniform(node);
        self.kept.push((priority, OpenBox { lower: node.lower.clone(), upper: node.upper.clone(), share: weight }));
        if self.kept.len() >= 8 * SAMPLE {
            self.prune(SAMPLE + 1);
        }
    }

    fn prune(&mut self, most: usize) {
        if self.kept.len() > most {
            self.kept.select_nth_unstable_by(most - 1, |a, b| b.0.total_cmp(&a.0));
            self.kept.truncate(most);
        }
    }

    /// The sample, largest shares first. The shares are scaled to what is missing for a proof, as a sample of many is
    /// an estimate.
    pub fn into_sample(mut self, missing: f64) -> Vec<OpenBox> {
        self.prune(SAMPLE + 1);
        if self.kept.len() > SAMPLE {
            self.kept.select_nth_unstable_by(SAMPLE, |a, b| b.0.total_cmp(&a.0));
            let threshold = self.kept.pop().map_or(0.0, |(priority, _)| priority);
            self.kept.iter_mut().for_each(|(_, open)| open.share = open.share.max(threshold));
        }
        let estimated = self.kept.iter().map(|(_, open)| open.share).sum::<f64>();
        let scale = if estimated > 0.0 { missing / estimated } else { 0.0 };
        let mut sample: Vec<OpenBox> = self.kept.into_iter().map(|(_, open)| open).collect();
        for open in &mut sample {
            open.share *= scale;
        }
        let corner =
            |a: &OpenBox, b: &OpenBox| a.lower.iter().zip(&b.lower).map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne());
        sample.sort_by(|a, b| {
            b.share.total_cmp(&a.share).then_with(|| corner(a, b).unwrap_or(std::cmp::Ordering::Equal))
        });
        sample
    }
}

/// A number in (0, 1], computed from the corners of the box by the finaliser of SplitMix64.
fn uniform(node: &Node) -> f64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for x in node.lower.iter().chain(&node.upper) {
        state = (state ^ x.to_bits()).wrapping_add(0x9E37_79B9_7F4A_7C15);
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        state ^= state >> 31;
    }
    #[allow(clippy::cast_precision_loss)]
    let fraction = ((state >> 11) + 1) as f64;
    fraction * 0.5f64.powi(53)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp, clippy::cast_precision_loss)]
mod tests {
    use super::*;
    use crate::property::ObligationSet;

    /// Cells of the unit interval: `fine` of width 2^-depth from 0 on, then what is missing, coarser and coarser.
    fn cells(depth: usize, fine: usize) -> Vec<Node> {
        let node = |a: f64, b: f64, depth: usize| {
            let mut node = Node::root(vec![a], vec![b], ObligationSet::all(3));
            node.depth = depth;
            node
        };
        let width = 0.5f64.powi(i32::try_from(depth).unwrap());
        let mut cells: Vec<Node> = (0..fine).map(|i| node(i as f64 * width, (i + 1) as f64 * width, depth)).collect();
        let (mut at, mut level) = (fine, depth);
        while level > 0 && at < 1 << level {
            if at % 2 == 1 {
                let width = 0.5f64.powi(i32::try_from(level).unwrap());
                cells.push(node(at as f64 * width, (at + 1) as f64 * width, level));
                at += 1;
            }
            (at, level) = (at / 2, level - 1);
        }
        cells
    }

    fn sample(nodes: impl IntoIterator<Item = Node>) -> Vec<OpenBox> {
        let mut sampler = OpenSampler::default();
        nodes.into_iter().for_each(|n| sampler.push(&n));
        sampler.into_sample(1.0)
    }

    #[test]
    fn few_boxes_are_all_kept_with_their_own_shares() {
        assert_eq!(sample([]), []);
        let nodes = cells(7, 77);
        let found = sample(nodes.clone());
        assert_eq!(found.len(), nodes.len());
        for open in &found {
            assert_eq!(open.share, open.upper[0] - open.lower[0]);
        }
        assert_eq!(found.iter().map(|o| o.share).sum::<f64>(), 1.0);
        assert!(found.is_sorted_by(|a, b| a.share >= b.share));
    }

    #[test]
    fn many_boxes_are_sampled_and_every_part_keeps_its_share() {
        // A quarter of the volume in 65536 tiny boxes, the rest in two large ones.
        let nodes = cells(18, 1 << 16);
        let found = sample(nodes);
        assert_eq!(found.len(), SAMPLE);
        assert!((found.iter().map(|o| o.share).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((found[0].share - 0.5).abs() < 0.05 && (found[1].share - 0.25).abs() < 0.05);
        for eighth in 0..2 {
            let part = 0.125 * f64::from(eighth)..0.125 * f64::from(eighth + 1);
            let share = found.iter().filter(|o| part.contains(&o.lower[0]) && o.upper[0] <= 0.25).map(|o| o.share);
            assert!((share.sum::<f64>() - 0.125).abs() < 0.03);
        }
    }

    #[test]
    fn the_order_does_not_matter() {
        let nodes = cells(14, 9000);
        let mut backwards = nodes.clone();
        backwards.reverse();
        let corners = |s: &[OpenBox]| s.iter().map(|o| o.lower[0].to_bits()).collect::<Vec<_>>();
        let expected = corners(&sample(nodes));
        assert_eq!(corners(&sample(backwards)), expected);
    }

    #[test]
    fn fixed_inputs_come_back() {
        let region = Region::new(vec![0.0, 5.0, -1.0], vec![1.0, 5.0, 1.0], vec![]).unwrap();
        let mut open = OpenBox { lower: [0.5, -1.0].into(), upper: [1.0, 0.0].into(), share: 0.25 };
        open.complete(&region, &region.free());
        assert_eq!((&*open.lower, &*open.upper), (&[0.5, 5.0, -1.0][..], &[1.0, 5.0, 0.0][..]));
    }
}
