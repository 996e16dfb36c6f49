//! A workspace in single precision for the steps of multipliers, beside the one in f64 that computes bounds.
//!
//! Whatever multipliers steps arrive at, bounds with them are valid, and those are computed in f64 with their rounding
//! ([`super::backward`]). So nothing here is rigorous, and twice as many numbers fit a register and a cache. What is of
//! no use in singles is left to f64: networks with a weight beyond their range, and layers whose values are so large or
//! so small that products of a few of them would leave it.

use super::backward::Backward;
use crate::network::Pair;

/// The largest and the smallest size of the values of a layer, or of the inputs, for which steps run in singles: the
/// square of either is far inside their range. A layer whose values are all 0 is no obstacle.
const SIZES: (f64, f64) = (1e-15, 1e15);

/// The workspace, once it is needed.
#[derive(Default)]
pub(super) struct Singles<'a> {
    wanted: bool,
    workspace: Option<Box<Backward<'a, f32>>>,
    /// Whether the workspace has the bounds that the one in f64 has.
    ready: bool,
}

impl<'a> Singles<'a> {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Additions and multiplications in matrix products so far.
    pub(super) fn flops(&self) -> u64 {
        self.workspace.as_ref().map_or(0, |workspace| workspace.flops)
    }

    /// The workspace, if steps are to run in it.
    pub(super) fn workspace(&mut self) -> Option<&mut Backward<'a, f32>> {
        self.workspace.as_deref_mut().filter(|_| self.ready)
    }

    /// Takes the bounds of a round from the workspace in f64.
    pub(super) fn follow(&mut self, backward: &Backward<'a>) {
        self.ready = self.wanted && self.made(backward.pair).is_some_and(|own| own.follow(backward));
    }

    /// The workspace, unless the pair does not fit singles: then none is wanted any more.
    fn made(&mut self, pair: &'a Pair) -> Option<&mut Backward<'a, f32>> {
        if self.workspace.is_none() {
            let made = Backward::without_bounds(pair);
            self.wanted = made.weights.iter().all(super::weights::StepWeights::finite);
            self.workspace = self.wanted.then(|| Box::new(made));
        }
        self.workspace.as_deref_mut()
    }
}

impl Backward<'_, f32> {
    /// Takes the relaxations, the box and the assumed signs of a workspace in f64. Returns whether their sizes suit
    /// singles.
    fn follow(&mut self, other: &Backward<'_>) -> bool {
        let (own, given) = (&mut self.relaxed, &other.relaxed);
        let suits = |size: f64| size == 0.0 || (SIZES.0..=SIZES.1).contains(&size);
        let inputs = given.centre.iter().zip(&given.radius).fold(0.0, |a: f64, (c, r)| a.max(c.abs() + r));
        let layers = given.relaxations.iter().map(|relaxation| relaxation.size);
        if !layers.chain([inputs, given.output_size]).all(suits) {
            return false;
        }
        for (own, given) in own.relaxations.iter_mut().zip(&given.relaxations) {
            own.set_from(given);
        }
        for (own, given) in [(&mut own.centre, &given.centre), (&mut own.radius, &given.radius)] {
            own.clear();
            #[allow(clippy::cast_possible_truncation)]
            own.extend(given.iter().map(|&v| v as f32));
        }
        own.phase_constraints.clone_from(&given.phase_constraints);
        self.alone = other.alone;
        true
    }
}
