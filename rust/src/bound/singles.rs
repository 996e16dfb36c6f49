//! A workspace in single precision for the steps of multipliers, beside the one in f64 that computes bounds.
//!
//! Whatever multipliers steps arrive at, bounds with them are valid, and those are computed in f64 with their rounding
//! ([`super::backward`]). So nothing here is rigorous, and twice as many numbers fit a register and a cache. What is of
//! no use in singles is left to f64: networks with a weight beyond their range, and layers whose values are so large or
//! so small that products of a few of them would leave it.
//!
//! Of a chain the workspace has only what matters in a round ([`super::restriction`]).

use super::assumption::Assumption;
use super::backward::Backward;
use super::functional::Functional;
use super::restriction::{About, Restriction};
use super::shared_inputs::SharedInputs;
use super::weights::{StepWeights, weights};
use crate::domain::restricted_pair::select;
use crate::network::Pair;
use crate::numeric::real::Real;
use std::sync::Arc;

/// The largest and the smallest size of the values of a layer, or of the inputs, for which steps run in singles: the
/// square of either is far inside their range. A layer whose values are all 0 is no obstacle.
const SIZES: (f64, f64) = (1e-15, 1e15);

/// The workspace, once it is needed.
#[derive(Default)]
pub(super) struct Singles<'a> {
    wanted: bool,
    /// Whether neurons that are stable are left out where they can be.
    leaving_out: bool,
    workspace: Option<Box<Backward<'a, f32>>>,
    /// Whether the workspace has the bounds that the one in f64 has.
    ready: bool,
    /// The neurons that the workspace has; of other programs than chains all.
    pub(super) restriction: Option<Arc<Restriction>>,
    /// The functionals of a batch, by the places of their neurons.
    placed: Vec<Functional>,
}

impl<'a> Singles<'a> {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, leaving_out: true, ..Self::default() }
    }

    /// The same, with or without stable neurons.
    pub(super) fn leaving_out(self, wanted: bool) -> Self {
        Self { leaving_out: wanted, ..self }
    }

    /// Additions and multiplications in matrix products so far.
    pub(super) fn flops(&self) -> u64 {
        self.workspace.as_ref().map_or(0, |workspace| workspace.flops)
    }

    /// Whether steps are to run in singles.
    pub(super) fn ready(&self) -> bool {
        self.ready && self.workspace.is_some()
    }

    /// Names the functionals of a batch, which are among those of the round.
    pub(super) fn place(&mut self, functionals: &[Functional]) {
        self.placed.clear();
        let placed = |f: &Functional| self.restriction.as_ref().map_or(*f, |restriction| restriction.placed(*f));
        self.placed.extend(functionals.iter().map(placed));
    }

    /// The workspace and the functionals of the batch as it knows them, if steps are to run in it.
    pub(super) fn workspace(&mut self) -> Option<(&mut Backward<'a, f32>, &[Functional])> {
        let workspace = self.workspace.as_deref_mut().filter(|_| self.ready)?;
        Some((workspace, &self.placed))
    }

    /// Takes the bounds of a round from the workspace in f64. The round is about these functionals under this assumption,
    /// and moves links or not.
    pub(super) fn follow(
        &mut self,
        (backward, pair): (&Backward<'a>, &'a Pair),
        functionals: &[Functional],
        assumption: &Assumption,
        links: bool,
    ) {
        self.ready = false;
        if !self.wanted || !sizes_suit(backward) {
            return;
        }
        let about = match (backward.alone, links) {
            (true, _) => About::First,
            (false, true) => About::Linked,
            (false, false) => About::Both,
        };
        let whole_inputs = assumption.region.rows() > 0;
        self.restriction = (self.leaving_out && pair.is_chain())
            .then(|| Restriction::of(&backward.relaxed, functionals, about, whole_inputs).into());
        let restriction = self.restriction.clone();
        if let Some(own) = self.made(pair) {
            own.follow(backward, pair, restriction.as_deref());
            self.ready = true;
        }
    }

    /// The workspace, unless the pair does not fit singles: then none is wanted any more.
    fn made(&mut self, pair: &'a Pair) -> Option<&mut Backward<'a, f32>> {
        if self.workspace.is_none() {
            let made = Backward::without_bounds(pair);
            self.wanted = made.weights.iter().all(StepWeights::finite);
            self.workspace = self.wanted.then(|| Box::new(made));
        }
        self.workspace.as_deref_mut()
    }
}

/// Whether the values of a pair have sizes that suit singles.
fn sizes_suit(backward: &Backward<'_>) -> bool {
    let given = &backward.relaxed;
    let suits = |size: f64| size == 0.0 || (SIZES.0..=SIZES.1).contains(&size);
    let inputs = given.centre.iter().zip(&given.radius).fold(0.0, |a: f64, (c, r)| a.max(c.abs() + r));
    let layers = given.relaxations.iter().map(|relaxation| relaxation.size);
    layers.chain([inputs, given.output_size]).all(suits)
}

impl Backward<'_, f32> {
    /// Takes the relaxations, the box and the assumed signs of a workspace in f64, of all neurons or of those of a
    /// restriction.
    fn follow(&mut self, other: &Backward<'_>, whole: &Pair, restriction: Option<&Restriction>) {
        if let Some(restriction) = restriction {
            let neurons: Vec<&[usize]> = restriction.steps.iter().map(|rows| &rows.neurons[..]).collect();
            let inputs = (&restriction.inputs.neurons[..], &other.relaxed.centre[..]);
            select(self.pair.to_mut(), whole, &neurons, inputs);
            self.weights = weights(&self.pair).into_iter().map(StepWeights::into_owned).collect();
            self.shared_inputs = SharedInputs::of(&self.pair);
        }
        let (own, given) = (&mut self.relaxed, &other.relaxed);
        for (step, (own, given)) in own.relaxations.iter_mut().zip(&given.relaxations).enumerate() {
            own.set_from(given, restriction.map(|r| r.steps[step].bending()));
        }
        for (own, given) in [(&mut own.centre, &given.centre), (&mut own.radius, &given.radius)] {
            own.clear();
            match restriction {
                None => own.extend(given.iter().map(|v| v.single())),
                Some(r) => own.extend(r.inputs.neurons.iter().map(|&i| given[i].single())),
            }
        }
        own.phase_constraints.clear();
        let placed = given.phase_constraints.iter().map(|&c| restriction.map_or(c, |r| r.placed_constraint(c)));
        own.phase_constraints.extend(placed);
        self.alone = other.alone;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Assumption;
    use crate::bound::constraints::Constraints;
    use crate::domain::{AbstractDomain, IntermediateBounds, Propagation, Quantity};
    use crate::network::Affine;
    use ndarray::{Array1, Array2};

    /// Numbers in [-1, 1], the same every time.
    struct Draws(u64);

    impl Draws {
        fn draw(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            #[allow(clippy::cast_precision_loss)]
            let share = (self.0 >> 11) as f64 / (1u64 << 53) as f64;
            2.0 * share - 1.0
        }

        fn layer(&mut self, rows: usize, columns: usize) -> (Array2<f64>, Array1<f64>) {
            (
                Array2::from_shape_simple_fn((rows, columns), || self.draw()),
                Array1::from_shape_simple_fn(rows, || self.draw()),
            )
        }
    }

    /// Two networks that differ a little, and the bounds of their neurons on a box in which 5 of 24 inputs vary.
    fn question() -> (Pair, IntermediateBounds) {
        let mut draws = Draws(1);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (rows, columns) in [(40, 24), (30, 40), (20, 30), (3, 20)] {
            let (weight, bias) = draws.layer(rows, columns);
            let other = weight.mapv(|w| if w.abs() < 0.1 { 0.0 } else { w });
            for (network, weight) in [(&mut first, &weight), (&mut second, &other)] {
                network.push(Affine::new(weight.view(), bias.view(), None, None).expect("finite"));
            }
        }
        let pair = Pair::new(first, second).expect("of one shape");
        let centre = Array1::from_shape_simple_fn(24, || 0.05 * draws.draw());
        let end = |sign: f64| -> Vec<f64> {
            let radius = |i: usize| if i % 5 == 2 { 0.05 } else { 0.0 };
            centre.iter().enumerate().map(|(i, c)| c + sign * radius(i)).collect()
        };
        let (lower, upper) = (end(-1.0), end(1.0));
        let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth());
        assert!(propagation.propagate(&pair, &lower, &upper).is_some());
        let bounds = IntermediateBounds::of(propagation.layers(), &lower, &upper);
        (pair, bounds)
    }

    fn open(bounds: &IntermediateBounds) -> Vec<Functional> {
        let mut list = vec![Functional::Target];
        for (layer, known) in bounds.layers[..bounds.layers.len() - 1].iter().enumerate() {
            for quantity in [Quantity::First, Quantity::Second, Quantity::Difference] {
                for neuron in (0..known.x.lower.len()).filter(|&i| known.x.unstable(i) && known.y.unstable(i)) {
                    list.push(Functional::Neuron { quantity, layer, neuron, negative: neuron % 2 == 0 });
                }
            }
        }
        list
    }

    /// Coefficients at the inputs that vary of all functionals at first and after some steps, with all neurons and inputs or
    /// with those that matter; and how many neurons bend, pass and are left out.
    fn passes(restricted: bool, alone: bool) -> (Vec<Vec<f32>>, [usize; 3]) {
        let (mut pair, mut bounds) = question();
        if alone {
            [pair, _] = pair.twins().expect("a pair");
            bounds = bounds.of_twins(Quantity::First);
        }
        let mut functionals = open(&bounds);
        let of_first =
            |f: &Functional| matches!(f, Functional::Target | Functional::Neuron { quantity: Quantity::First, .. });
        functionals.retain(|f| !alone || of_first(f));
        let assumption = Assumption {
            guard: vec![1.0, -1.0, 0.0],
            constants: vec![0.5],
            entropy: 0..0,
            first: vec![0.5, 0.0, -1.0],
            second: if alone { vec![0.0; 3] } else { vec![-1.0, 0.0, 1.0] },
            difference: vec![0.0; 3],
            constant: 0.1,
            strict: false,
            region: Constraints::default(),
        };
        let mut backward = Backward::new(&pair);
        backward.set_bounds(&bounds);
        backward.alone = alone;
        let mut current = backward.start(&functionals, &assumption);
        backward.start_slopes(&mut current);
        if alone {
            current.output.value.fill(0.0);
            current.optimise_links = false;
        }
        let relaxed = &backward.relaxed;
        let restriction =
            Arc::new(Restriction::of(relaxed, &functionals, if alone { About::First } else { About::Linked }, false));
        let mut workspace = Backward::<f32>::without_bounds(&pair);
        workspace.follow(&backward, &pair, restricted.then_some(&*restriction));
        let mut singles = current.restricted_singles(restricted.then_some(&restriction));
        let place = |f: &Functional| if restricted { restriction.placed(*f) } else { *f };
        let placed: Vec<Functional> = functionals.iter().map(place).collect();
        let mut seen = Vec::new();
        for step in 1..=4 {
            workspace.evaluate_coefficients(&placed, &assumption, &singles);
            let varying = &restriction.inputs.neurons;
            assert_eq!(varying.len(), 8, "5 that vary fill one register with 3 others");
            seen.push(if restricted {
                workspace.inputs.clone()
            } else {
                workspace.inputs.chunks_exact(24).flat_map(|a| varying.iter().map(|&i| a[i])).collect()
            });
            workspace.ascend(&placed, &assumption, &mut singles, 0.02, step);
        }
        let rows = &restriction.steps;
        let bending = rows.iter().map(|r| r.bending).sum::<usize>();
        let kept = rows.iter().map(|r| r.neurons.len()).sum::<usize>();
        (seen, [bending, kept - bending, 90 - kept])
    }

    #[test]
    fn a_restriction_takes_the_steps_of_the_whole() {
        for alone in [false, true] {
            let ((whole, _), (part, [bending, passing, left_out])) = (passes(false, alone), passes(true, alone));
            // Where links are moved, none passes.
            assert!(bending > 5 && left_out > 5 && (passing > 5) == alone, "{bending} {passing} {left_out}");
            for (step, (whole, part)) in whole.iter().zip(&part).enumerate() {
                assert_eq!(whole.len(), part.len());
                let largest = whole.iter().fold(0.0f32, |a, v| a.max(v.abs()));
                for (a, b) in whole.iter().zip(part) {
                    assert!((a - b).abs() <= 1e-3 * largest, "step {step}: {a} and {b}");
                }
            }
        }
    }
}
