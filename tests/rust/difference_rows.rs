//! What functions other than ReLU make of a difference, row by row: it holds at every point, against values with their
//! errors in exact numbers, and loses little beside the thinnest strip around a sample.

use crate::exact::exact;
use crate::planes::{BENT, ends};
use crate::random::for_all;
use eqspec::curve::Curve;
use eqspec::domain::phase::Bounds;
use eqspec::domain::transformer::{DifferenceTransformer, Transformer};
use eqspec::network::Curves;
use proptest::prelude::*;
use std::cell::Cell;

type Ends = (f64, f64);

/// The row of one function in both networks, and both networks' own.
fn row_of(curve: &Curve, ranges: [Ends; 3], planes: bool) -> (DifferenceTransformer, [Transformer; 2]) {
    let curves = Curves::new(vec![curve.clone()], 1, None).unwrap();
    let [x, y, d] = ranges.map(|(l, u)| {
        let mut bounds = Bounds::default();
        (bounds.lower, bounds.upper) = (vec![l], vec![u]);
        bounds
    });
    let (mut first, mut second, mut row) =
        (Transformer::default(), Transformer::default(), DifferenceTransformer::default());
    first.set_curves(&curves, &x, None);
    second.set_curves(&curves, &y, Some((&first, &x)));
    row.set_curves([&curves, &curves], (&first, &second), (&x, &y, &d), (true, planes));
    (row, [first, second])
}

#[test]
fn rows_hold_wherever_the_difference_does() {
    let width = || prop_oneof![Just(1.0), Just(0.3), Just(0.01), Just(1e-6)];
    let ranges = (0.0f64..1.0, width(), 0.0f64..1.0);
    let differences = (-1.0f64..1.0, prop_oneof![Just(1.0), Just(0.1), Just(0.001)], 0.0f64..2.0);
    let places = proptest::collection::vec((0.0f64..=1.0, 0.0f64..=1.0), 12);
    // Rows that are a strip of d, both networks' strips side by side, or a plane.
    let (taken, met) = (Cell::new([0; 3]), Cell::new(0));
    for_all(4000, (0..BENT.len(), ranges, differences, places), |(which, range, difference, places)| {
        let (name, parameters, (least, most)) = BENT[which];
        let curve = Curve::new(name, parameters).unwrap();
        let within = |v: f64| v.clamp(least, most);
        let (place, wide, share) = range;
        let l = least + place * (most - least);
        let x = (l, within(l + wide * share * (most - l)));
        let (towards, wide, share) = difference;
        let radius = 0.5 * wide * share * (x.1 - x.0);
        let d = (towards * radius - radius, towards * radius + radius);
        let y = (within(x.0 - d.1), within(x.1 - d.0));
        let (row, [first, second]) = row_of(&curve, [x, y, d], true);
        let (of_d, of_x, of_y, shift) = (row.of_d[0], row.of_x[0], row.of_y[0], row.shift[0]);
        let (fresh1, fresh2, own) = (row.fresh1[0], row.fresh2[0], row.fresh_own[0]);
        let shared = fresh1 != 0.0 || fresh2 != 0.0;
        prop_assert!(!shared || (own == 0.0 && fresh1 == first.fresh[0] && fresh2 == -second.fresh[0]), "{row:?}");
        let mut counts = taken.get();
        counts[if shared { 1 } else { 2 * usize::from(of_y != 0.0) }] += 1;
        taken.set(counts);
        let reach = fresh1.abs() + fresh2.abs() + own + row.loose[0];
        for (s, t) in places.into_iter().chain([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]) {
            let x_at = (x.0 + s * (x.1 - x.0)).clamp(x.0, x.1);
            let y_at = (x_at - (d.0 + t * (d.1 - d.0))).clamp(y.0, y.1);
            let before = &exact(x_at) - &exact(y_at);
            if !(before >= d.0 && before <= d.1) {
                continue;
            }
            met.set(met.get() + 1);
            let (f_x, f_y) = (ends(curve.value(x_at)), ends(curve.value(y_at)));
            let (least, most) = (&f_x.0 - &f_y.1, &f_x.1 - &f_y.0);
            let terms = &(&exact(x_at) * of_x) + &(&exact(y_at) * of_y);
            let at = &(&(&before * of_d) + &terms) + &exact(shift);
            // Coefficients are rounded, which is counted where rows are applied.
            let size = (of_d * (x_at - y_at)).abs() + (of_x * x_at).abs() + (of_y * y_at).abs() + shift.abs() + reach;
            let rounded = exact(reach + 8.0 * f64::EPSILON * size);
            prop_assert!(most >= &at - &rounded, "{name} is below {row:?} at {x_at:e}, {y_at:e}");
            prop_assert!(least <= &at + &rounded, "{name} is above {row:?} at {x_at:e}, {y_at:e}");
        }
        Ok(())
    });
    assert!(taken.get().iter().all(|count| *count > 100) && met.get() > 20_000, "{taken:?} {met:?}");
}

/// The least width of a strip s d + c around a sample of differences, over slopes s between -2 and 2.
fn thinnest(curve: &Curve, [x, y, d]: [Ends; 3]) -> f64 {
    let place = |(l, u): Ends, k: u32| l + (u - l) * f64::from(k) / 40.0;
    let pairs = (0..=40).flat_map(|i| (0..=40).map(move |j| (i, j)));
    let points: Vec<(f64, f64)> = pairs
        .map(|(i, j)| (place(x, i), place(d, j)))
        .filter(|(at, by)| (y.0..=y.1).contains(&(at - by)))
        .map(|(at, by)| (by, curve.value(at).value - curve.value(at - by).value))
        .collect();
    let width = |slope: f64| {
        let rest = points.iter().map(|(by, value)| value - slope * by);
        rest.clone().fold(f64::NEG_INFINITY, f64::max) - rest.fold(f64::INFINITY, f64::min)
    };
    (-400..=400).map(|k| width(f64::from(k) / 200.0)).fold(f64::INFINITY, f64::min)
}

#[test]
fn what_loses_least_is_taken_where_differences_are_as_wide_as_values() {
    for (name, parameters) in [("elu", &[1.0][..]), ("pieces", &[1.0, 0.0, 0.0, 1.0, 0.0]), ("tanh", &[])] {
        let curve = Curve::new(name, parameters).unwrap();
        for centre in [-1.9, -1.0, -0.4, 0.0, 0.3, 1.0, 1.9] {
            for (radius, aside) in [(2.0, 0.9), (2.0, 0.0), (5.0, -0.7), (1.0, 0.4)] {
                let (x, d) = ((centre - radius, centre + radius), (aside * radius - radius, aside * radius + radius));
                let ranges = [x, (x.0 - d.1, x.1 - d.0), d];
                let (row, _) = row_of(&curve, ranges, true);
                let lost = 2.0 * (row.fresh1[0].abs() + row.fresh2[0].abs() + row.fresh_own[0] + row.loose[0]);
                let least = thinnest(&curve, ranges);
                assert!(lost <= 1.6 * least + 1e-9, "{name} on {ranges:?}: {lost} beside {least}, {row:?}");
            }
        }
    }
}
