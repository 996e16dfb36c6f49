//! Planes in d and y around differences of functions, against values with their errors, in exact numbers.

use crate::exact::{Exact, exact};
use crate::random::for_all;
use eqspec::bound::lines::{AffineBound, Neuron};
use eqspec::curve::{Curve, Near};
use eqspec::domain::difference_plane::Plane;
use proptest::prelude::*;
use std::cell::Cell;

/// Functions that bend, with the range on which they are tried.
pub const BENT: &[(&str, &[f64], (f64, f64))] = &[
    ("sigmoid", &[], (-12.0, 12.0)),
    ("tanh", &[], (-8.0, 8.0)),
    ("softplus", &[], (-9.0, 9.0)),
    ("softsign", &[], (-9.0, 9.0)),
    ("atan", &[], (-9.0, 9.0)),
    ("elu", &[1.0], (-6.0, 6.0)),
    ("elu", &[1.7], (-6.0, 6.0)),
    ("selu", &[1.673_263_192_176_818_8, 1.050_701_022_148_132_3], (-6.0, 6.0)),
    ("exp", &[], (-6.0, 3.0)),
    ("log", &[], (0.01, 6.0)),
    ("sqrt", &[], (0.01, 6.0)),
    ("reciprocal", &[], (0.1, 6.0)),
    ("square", &[], (-3.0, 3.0)),
    ("power", &[3.0], (-2.0, 2.0)),
    ("erf", &[], (-4.0, 4.0)),
    ("sin", &[], (-8.0, 8.0)),
    ("gelu", &[], (-7.0, 7.0)),
    ("gelu_tanh", &[], (-7.0, 7.0)),
    ("silu", &[], (-9.0, 9.0)),
    ("hardswish", &[1.0 / 6.0, 0.5], (-5.0, 5.0)),
    ("mish", &[], (-9.0, 9.0)),
    ("thresholded", &[0.4], (-3.0, 3.0)),
];

/// A value's least and greatest.
pub fn ends(value: Near) -> (Exact, Exact) {
    (&exact(value.value) - &exact(value.error), &exact(value.value) + &exact(value.error))
}

#[test]
fn planes_hold_wherever_the_difference_does() {
    let width = || prop_oneof![Just(1.0), Just(0.3), Just(0.01), Just(1e-7)];
    let ranges = (0.0f64..1.0, width(), 0.0f64..1.0);
    let differences = (-1.0f64..1.0, width(), 0.0f64..1.0, prop_oneof![Just(0.0), Just(0.01), 0.0f64..1.0]);
    let places = proptest::collection::vec((0.0f64..=1.0, 0.0f64..=1.0), 12);
    let (made, met, taken) = (Cell::new([0; BENT.len()]), Cell::new(0), Cell::new(0));
    for_all(
        6000,
        (0..BENT.len(), ranges, differences, places, 0.0f64..1.0),
        |(which, range, difference, places, cut)| {
            let (name, parameters, (least, most)) = BENT[which];
            let curve = Curve::new(name, parameters).unwrap();
            let within = |v: f64| v.clamp(least, most);
            let (place, wide, share) = range;
            let l = least + place * (most - least);
            let y = (l, within(l + wide * share * (most - l)));
            let (towards, wide, share, radius) = difference;
            let centre = towards * wide * share * (most - least) * 0.5;
            let d = (centre - radius * centre.abs(), centre + radius * centre.abs());
            let x = (within(y.0 + d.0), within(y.1 + d.1));
            // A range of x that leaves out a part of what y and d allow.
            let x = (x.0 + 0.2 * cut * (x.1 - x.0), x.1);
            let Some(plane) = Plane::around(&curve, (x, y, d)) else { return Ok(()) };
            let mut counts = made.get();
            counts[which] += 1;
            made.set(counts);
            let both = [&curve, &curve];
            let bounds = Neuron::of(both, [x, y, d], true).of_difference();
            taken.set(taken.get() + usize::from(bounds[0].of_y != 0.0) + usize::from(bounds[1].of_y != 0.0));
            let lines = Neuron::of(both, [x, y, d], false).of_difference();
            prop_assert!(lines.iter().all(|line| line.of_y == 0.0), "{lines:?}");
            for (s, t) in places.into_iter().chain([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]) {
                let y_at = (y.0 + s * (y.1 - y.0)).clamp(y.0, y.1);
                let x_at = (y_at + (d.0 + t * (d.1 - d.0))).clamp(x.0, x.1);
                let before = &exact(x_at) - &exact(y_at);
                if !(before >= d.0 && before <= d.1) {
                    continue;
                }
                met.set(met.get() + 1);
                let (of_x, of_y) = (ends(curve.value(x_at)), ends(curve.value(y_at)));
                let at = &(&before * plane.of_d) + &(&exact(y_at) * plane.of_y);
                let (low, high) = (&at + &exact(plane.low), &at + &exact(plane.high));
                let (least, most) = (&of_x.0 - &of_y.1, &of_x.1 - &of_y.0);
                let value = |b: &AffineBound| &(&(&before * b.of_d) + &(&exact(y_at) * b.of_y)) + &exact(b.cut);
                // Where x or y is known exactly D is folded.
                if x.0 < x.1 {
                    prop_assert!(most >= value(&bounds[0]), "{name} is below {bounds:?} at {x_at:e}, {y_at:e}");
                    prop_assert!(least <= value(&bounds[1]), "{name} is above {bounds:?} at {x_at:e}, {y_at:e}");
                }
                prop_assert!(most >= low, "{name} is below {plane:?} at {x_at:e}, {y_at:e}");
                prop_assert!(least <= high, "{name} is above {plane:?} at {x_at:e}, {y_at:e}");
            }
            Ok(())
        },
    );
    let few = made.get().iter().zip(BENT).filter(|(count, (name, ..))| **count < 50 && *name != "thresholded").count();
    assert!(few == 0 && met.get() > 20_000 && taken.get() > 1000, "{:?} {met:?} {taken:?}", made.get());
}

#[test]
fn planes_follow_the_slope_over_y() {
    // Of x^2, D = d (2 y + d): with d between .1 and .102, a strip of d has slopes that differ by 2 (u - l) over y.
    let square = Curve::new("square", &[]).unwrap();
    let (y, d) = ((-1.0, 1.0), (0.1, 0.102));
    let plane = Plane::around(&square, ((-0.9, 1.102), y, d)).unwrap();
    let strip = 0.102 * 4.0;
    assert!((plane.of_y - 0.202).abs() < 0.01, "{plane:?}");
    assert!(plane.high - plane.low < 0.25 * strip, "{plane:?}");
    // Where d is as large on both sides of 0 there is nothing to follow.
    assert!(Plane::around(&square, ((-1.1, 1.1), y, (-0.1, 0.1))).is_none());
}
