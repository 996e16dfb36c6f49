//! Bounds of one network by itself from the hulls of its first ReLUs over the box: they leave out nothing that happens at
//! samples and corners, and close what chords leave open.

use crate::assumed::{Values, prepare};
use crate::random::{Scale, cases, for_all};
use eqspec::bound::{AloneBudget, Contractor};
use eqspec::domain::{AbstractDomain, IntermediateBounds, Propagation, Quantity};
use eqspec::network::{Affine, Pair};
use ndarray::{Array1, array};
use proptest::prelude::*;
use std::cell::Cell;

const BUDGET: AloneBudget =
    AloneBudget { rounds: 1, steps: 3, rate: 0.05, gain: 0.97, work: u64::MAX, whole: false, hulls: 0 };

#[test]
fn what_one_network_does_is_inside_bounds_from_hulls() {
    let (checked, tighter) = (Cell::new(0), Cell::new(0));
    let scales = prop_oneof![3 => Just(Scale::Plain), 2 => Just(Scale::Quarters)];
    let choices = (0usize..12, any::<bool>(), any::<bool>());
    for_all(500, (cases(2..=4, 1..=4, 1..=3, scales, 4), crate::assumed::draws(), choices), |case| {
        let (mut case, mut draw, (hulls, singles, second)) = case;
        draw.split = false;
        // A hull is the ReLU itself at the corners of the box, so nothing is lost there that is no bound.
        case.points.extend((0..1 << case.lower.len()).map(|corner: usize| {
            (0..case.lower.len()).map(|i| if corner >> i & 1 == 1 { 1.0 } else { -1.0 }).collect::<Vec<f64>>()
        }));
        let Some((pair, values, bounds, _)) = prepare(&case, &draw) else { return Ok(()) };
        let quantity = if second { Quantity::Second } else { Quantity::First };
        let twins = &pair.twins().expect("a network in step with itself")[usize::from(second)];
        let begun = bounds.of_twins(quantity);
        let mut contractor = Contractor::new(twins).in_singles(singles);
        let chords = contractor.tighten_alone(begun.clone(), BUDGET, || false);
        let found = contractor.tighten_alone(begun, AloneBudget { hulls, ..BUDGET }, || false);
        for value in &values {
            let own = Values {
                input: value.input.clone(),
                x: if second { value.y.clone() } else { value.x.clone() },
                y: Vec::new(),
            };
            for (layer, known) in own.x.iter().zip(&found.layers) {
                for (v, (l, u)) in layer.iter().zip(known.x.lower.iter().zip(&known.x.upper)) {
                    prop_assert!(*v >= *l && *v <= *u, "{v:?} outside {l}..{u}, {hulls} planes");
                    checked.set(checked.get() + 1);
                }
            }
        }
        tighter.set(tighter.get() + usize::from(width(&found) < 0.999 * width(&chords)));
        Ok(())
    });
    assert!(checked.get() > 20_000 && tighter.get() > 40, "{checked:?} {tighter:?}");
}

/// How wide the ranges of all neurons are together.
fn width(bounds: &IntermediateBounds) -> f64 {
    bounds.layers.iter().flat_map(|l| l.x.lower.iter().zip(&l.x.upper)).map(|(l, u)| u - l).sum()
}

/// relu(x + y) + relu(x - y) is at most 2 where |x|, |y| <= 1; by their chords it is at most 3, at an x of 1.
#[test]
fn a_hull_closes_what_chords_leave_open() {
    let layer = |weight: ndarray::Array2<f64>, bias: Vec<f64>| {
        Affine::new(weight.view(), Array1::from(bias).view(), None, None).expect("finite numbers")
    };
    let network = || {
        vec![
            layer(array![[1.0, 1.0], [1.0, -1.0]], vec![0.0, 0.0]),
            layer(array![[1.0, 1.0]], vec![-2.2]),
            layer(array![[1.0]], vec![0.0]),
        ]
    };
    let pair = Pair::new(network(), network()).expect("two networks of one shape");
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    reach.propagate(&pair, &[-1.0; 2], &[1.0; 2]).expect("small numbers");
    let bounds = IntermediateBounds::of(reach.layers(), &[-1.0; 2], &[1.0; 2]).of_twins(Quantity::First);
    let upper = |hulls: usize| {
        let budget = AloneBudget { hulls, ..BUDGET };
        Contractor::new(&pair).tighten_alone(bounds.clone(), budget, || false).layers[1].x.upper[0]
    };
    assert!(upper(0) > 0.7, "{}", upper(0));
    assert!((-0.2..0.0).contains(&upper(30)), "{}", upper(30));
}

/// The third input moves by 1e-50, and matters: what it is multiplied by overflows before that is multiplied by its range,
/// to infinities of both signs.
#[test]
fn a_coefficient_that_overflows_is_not_taken_for_nothing() {
    let layer = |weight: ndarray::Array2<f64>, bias: Vec<f64>| {
        Affine::new(weight.view(), Array1::from(bias).view(), None, None).expect("finite numbers")
    };
    let network = || {
        vec![
            layer(array![[1e150, 1e150, 1e200], [1e150, 1e150, -1e199]], vec![0.0, 0.0]),
            layer(array![[1e140, 1e140]], vec![-4e290]),
            layer(array![[1.0]], vec![0.0]),
        ]
    };
    let pair = Pair::new(network(), network()).expect("two networks of one shape");
    let (lower, upper) = ([-1.0, -1.0, 0.0], [1.0, 1.0, 1e-50]);
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    reach.propagate(&pair, &lower, &upper).expect("finite numbers");
    let bounds = IntermediateBounds::of(reach.layers(), &lower, &upper).of_twins(Quantity::First);
    let found = Contractor::new(&pair).tighten_alone(bounds, AloneBudget { hulls: 8, ..BUDGET }, || false);
    // At the upper corner the first step has 3e150 and 1.9e150.
    assert!(found.layers[1].x.upper[0] >= 0.899e290, "{:e}", found.layers[1].x.upper[0]);
}
