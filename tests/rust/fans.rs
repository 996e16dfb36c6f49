//! Lines of many slopes through one point: in exact numbers every one of them stays below or above its function.

use crate::bent::behind_curve;
use crate::exact::exact;
use crate::random::for_all;
use eqspec::curve::{Curve, Fan};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::Cell;

/// Quantisers of all roundings, whose levels and steps are round numbers or not.
fn quantisers() -> impl Strategy<Value = Curve> {
    let scale = || prop_oneof![Just(0.25), Just(2.0f64.powi(-10)), 0.01f64..1.0, 1e-9f64..1e-6];
    let units = (scale(), scale(), 0u8..3).prop_map(|(a, b, apart)| (a, if apart == 0 { b } else { a }));
    let zero = || prop_oneof![Just(0.0), Just(3.0), -4.0f64..4.0];
    (units, zero(), zero(), -20i32..4, 1i32..30, 0u8..9).prop_map(
        |((scale, unit), zero, base, low, levels, rounding)| {
            let ends = [f64::from(low), f64::from(low + levels)];
            Curve::new("quantiser", &[scale, zero, ends[0], ends[1], unit, base, f64::from(rounding), 0.0]).unwrap()
        },
    )
}

/// Functions of one knot, convex and concave, and clips.
fn pieces() -> impl Strategy<Value = Curve> {
    let slope = || prop_oneof![Just(0.0), Just(1.0), -2.0f64..2.0];
    let one = (-1.0f64..1.0, slope(), slope(), -1.0f64..1.0)
        .prop_map(|(at, left, right, value)| vec![1.0, at, left, right, value]);
    let clip = (-1.0f64..0.0, 1e-3f64..1.0, 0.01f64..3.0, -1.0f64..1.0)
        .prop_map(|(at, width, rise, value)| vec![2.0, at, at + width, 0.0, rise, 0.0, value]);
    prop_oneof![one, clip].prop_map(|parameters| Curve::new("pieces", &parameters).unwrap())
}

/// Whether a line is below (or above) the function at a point.
fn stays(curve: &Curve, fan: &Fan, slope: f64, (above, x): (bool, f64)) -> bool {
    let line = &exact(fan.value) + &(&(&exact(x) - &exact(fan.at)) * slope);
    let apart = &behind_curve(curve, &exact(x)) - &line;
    if above { apart <= 0.0 } else { apart >= 0.0 }
}

#[test]
fn lines_of_every_slope_hold_in_exact_numbers() {
    let seen = Cell::new([[0; 2]; 3]);
    let shares = || vec(0.0f64..=1.0, 8);
    // From the first jump's or knot's surroundings to far beyond, in units of what the function spans.
    let ends = || (-1.0f64..1.0, prop_oneof![0.0f64..3.0, 0.0f64..0.3]);
    for_all(6000, (prop_oneof![quantisers(), pieces()], ends(), shares(), shares()), |case| {
        let (curve, (from, width), places, slopes) = case;
        let parameters = curve.parameters();
        let steps = curve.name() == "quantiser";
        let (centre, span) = if steps {
            let [scale, zero, low, high, ..] = parameters[..] else { unreachable!() };
            (scale * (0.5 * (low + high) - zero), scale * (high - low + 2.0))
        } else {
            (0.0, 1.5)
        };
        let l = centre + from * span;
        let u = l + width * span;
        for (above, fan) in [false, true].into_iter().zip(curve.fans(l, u)) {
            let Some(fan) = fan else { continue };
            prop_assert!(l < fan.at && fan.at < u && fan.least < fan.most, "{fan:?} on {l:e}, {u:e}");
            let mut counts = seen.get();
            let kind = if steps { 0 } else { 1 + usize::from(parameters[0] == 2.0) };
            counts[kind][usize::from(above)] += 1;
            seen.set(counts);
            let mut points: Vec<f64> = places.iter().map(|share| l + share * (u - l)).collect();
            points.extend([l, u, fan.at, fan.at.next_down(), fan.at.next_up()]);
            if steps {
                // Both sides of the jumps around each of these points.
                let (scale, zero) = (parameters[0], parameters[1]);
                for x in points.clone() {
                    for part in [0.0, 0.5, 1.0] {
                        let jump = scale * ((x / scale + zero).floor() + part - zero);
                        points.extend([jump.next_down(), jump, jump.next_up()]);
                    }
                }
            }
            for x in points.into_iter().filter(|x| *x >= l && *x <= u) {
                let chosen = slopes.iter().map(|share| (fan.least + share * (fan.most - fan.least)).min(fan.most));
                for slope in chosen.chain([fan.least, fan.most]) {
                    prop_assert!(stays(&curve, &fan, slope, (above, x)), "{fan:?} {slope:e} at {x:e}, above: {above}");
                }
            }
        }
        Ok(())
    });
    let counts = seen.get();
    assert!(counts.as_flattened().iter().all(|&count| count > 100), "{counts:?}");
}

/// Below a quantiser lines are as steep as its steps while the range ends below its highest level, and no steeper than to the
/// highest level from there on.
#[test]
fn slopes_end_where_the_highest_level_does() {
    let curve = Curve::new("quantiser", &[0.25, 0.0, 0.0, 8.0, 0.25, 0.0, 0.0, 0.0]).unwrap();
    let [below, above] = curve.fans(-1.0, 1.5);
    assert_eq!(below, Some(Fan { at: 0.125, value: 0.0, least: 0.0, most: 1.0 }));
    assert_eq!(above, None);
    let [below, above] = curve.fans(-1.0, 4.125).map(|fan| fan.expect("both ends are passed"));
    assert!((below.most - 0.5).abs() < 1e-12 && (above.at, above.value) == (1.875, 2.0), "{below:?} {above:?}");
    assert!((above.most - 2.0 / 2.875).abs() < 1e-12, "{above:?}");
    assert_eq!(curve.fans(0.2, 1.5), [None; 2]);
}
