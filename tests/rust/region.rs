//! The region never loses a point: not when a box is cut, not when fixed inputs are taken out, not as rows over
//! generators.

use crate::claims::inside;
use crate::exact::{Exact, exact, power_of_two};
use crate::random::for_all;
use eqspec::numeric::round::sub_up;
use eqspec::search::{Constraint, Region};
use proptest::collection::vec;
use proptest::prelude::*;

/// Coefficients and coordinates: zeros, ordinary, huge, tiny.
fn number() -> impl Strategy<Value = f64> + Clone {
    let extreme = prop_oneof![Just(1e160), Just(-1e160), Just(1e-160), Just(-3e-320), Just(1e300)];
    prop_oneof![2 => Just(0.0), 1 => Just(1.0), 1 => Just(-1.0), 8 => -2.0f64..2.0, 1 => extreme]
}

/// A region around a point that satisfies all of it, some constraints with no room at all, and some inputs fixed.
#[derive(Debug, Clone)]
struct Around {
    region: Region,
    point: Vec<f64>,
}

fn regions() -> impl Strategy<Value = Around> {
    let interval = (number(), prop_oneof![Just(0.0), 0.0f64..1.0, Just(1e-300)], prop_oneof![Just(0.0), 0.0f64..2.0]);
    let room = prop_oneof![2 => Just(0.0), 1 => 0.0f64..1.0];
    (1usize..=4).prop_flat_map(move |inputs| {
        (vec(interval.clone(), inputs), vec((vec(number(), inputs), room.clone()), 0..4)).prop_map(around)
    })
}

fn around((intervals, constraints): (Vec<(f64, f64, f64)>, Vec<(Vec<f64>, f64)>)) -> Around {
    let point: Vec<f64> = intervals.iter().map(|i| i.0).collect();
    let constraint = |(coefficients, room): (Vec<f64>, f64)| {
        let left: Exact = coefficients.iter().zip(&point).map(|(&a, &x)| &exact(a) * x).sum();
        Constraint { bound: (&left + &exact(room)).upward(), coefficients }
    };
    let constraints = constraints.into_iter().map(constraint).filter(|c| c.bound.is_finite()).collect();
    let lower = intervals.iter().map(|(x, below, _)| x - below).collect();
    let upper = intervals.iter().map(|(x, _, above)| x + above).collect();
    Around { region: Region::new(lower, upper, constraints).unwrap(), point }
}

#[test]
fn cutting_a_box_keeps_every_point_of_the_region() {
    for_all(20_000, regions(), |Around { region, point }| {
        prop_assert!(inside(&region, &point));
        let (mut lower, mut upper) = (region.lower.clone(), region.upper.clone());
        // Twice, because search cuts boxes that were cut before.
        for _ in 0..2 {
            prop_assert!(region.contract(&mut lower, &mut upper), "a box with a point was called empty");
            for (i, x) in point.iter().enumerate() {
                prop_assert!(
                    lower[i] <= *x && *x <= upper[i],
                    "input {i} = {x:e} is outside [{:e}, {:e}]",
                    lower[i],
                    upper[i]
                );
                prop_assert!(lower[i] >= region.lower[i] && upper[i] <= region.upper[i]);
            }
        }
        Ok(())
    });
}

#[test]
fn a_box_is_cut_where_a_constraint_says() {
    let constraint = |coefficients: &[f64], bound: f64| Constraint { coefficients: coefficients.to_vec(), bound };
    // x + 2y <= 2 and x - y >= 1 on the unit square, y >= 1/4.
    let constraints = vec![constraint(&[1.0, 2.0], 2.0), constraint(&[-1.0, 1.0], -1.0)];
    let region = Region::new(vec![-3.0, 0.25], vec![3.0, 1.0], constraints).unwrap();
    let (mut lower, mut upper) = (region.lower.clone(), region.upper.clone());
    assert!(region.contract(&mut lower, &mut upper));
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(
        near(lower[0], 1.25) && near(upper[0], 1.5) && lower[1] == 0.25 && near(upper[1], 0.5),
        "{lower:?} {upper:?}"
    );
    // Nothing is left beyond the line.
    assert!(!region.contract(&mut [2.0, 0.5], &mut [3.0, 1.0]));
    assert!(!region.contract(&mut [-3.0, 0.25], &mut [1.0, 1.0]));
}

/// The constraints over some inputs, exactly: those of the original with the others fixed.
#[test]
fn taking_fixed_inputs_out_keeps_the_constraints() {
    for_all(10_000, regions(), |Around { region, point }| {
        let free = region.free();
        let small = region.restrict(&free);
        let rest: Vec<f64> = free.iter().map(|&i| point[i]).collect();
        let lost = !inside(&small, &rest) && small.constraints.iter().all(|c| !c.bound.is_nan());
        prop_assert!(!lost, "{point:?} is lost in {small:?}");
        for (whole, part) in region.constraints.iter().zip(&small.constraints) {
            let fixed = (0..point.len()).filter(|i| !free.contains(i));
            let terms: Vec<Exact> = fixed.map(|i| &exact(whole.coefficients[i]) * region.lower[i]).collect();
            let size = &terms.iter().map(Exact::abs).sum::<Exact>() + &exact(whole.bound).abs();
            let bound = &exact(whole.bound) - &terms.into_iter().sum();
            let room = &(&size * 1e-14) + &exact(1e-250);
            prop_assert!(bound <= part.bound || part.bound.is_nan());
            prop_assert!(!part.bound.is_finite() || exact(part.bound) <= &bound + &room);
            prop_assert_eq!(part.coefficients.len(), free.len());
        }
        Ok(())
    });
}

#[test]
fn rows_over_generators_hold_wherever_the_constraints_do() {
    for_all(10_000, regions(), |Around { region, point }| {
        let ends = || region.lower.iter().zip(&region.upper);
        let centre: Vec<f64> = ends().map(|(l, u)| l + 0.5 * (u - l)).collect();
        let radius: Vec<f64> =
            ends().zip(&centre).map(|((&l, &u), &c)| sub_up(u, c).max(sub_up(c, l)).max(0.0)).collect();
        let value = |i: usize| {
            let off = &exact(point[i]) - &exact(centre[i]);
            if radius[i] == 0.0 { Exact::default() } else { off.over(&exact(radius[i])) }
        };
        let e: Vec<Exact> = (0..point.len()).map(value).collect();
        prop_assert!(e.iter().all(|v| v.abs() <= 1.0));
        for row in region.rows(&centre, &radius) {
            let terms: Vec<Exact> = row.generators.iter().zip(&e).map(|(&g, v)| v * g).collect();
            // Solving for the generators rounds to 2^-256 of them.
            let solved = &terms.iter().map(Exact::abs).sum::<Exact>() * &power_of_two(-200);
            let left = &terms.into_iter().sum::<Exact>() - &solved;
            // Where numbers overflow the row may become one that says nothing.
            prop_assert!(left <= row.slack || row.slack.is_nan(), "{row:?} at {e:?}");
        }
        Ok(())
    });
}

#[test]
fn malformed_regions_are_refused_with_the_place() {
    let refused = |lower: &[f64], upper: &[f64], constraints: Vec<Constraint>| {
        Region::new(lower.to_vec(), upper.to_vec(), constraints).unwrap_err().to_string()
    };
    let constraint = |coefficients: &[f64], bound: f64| vec![Constraint { coefficients: coefficients.to_vec(), bound }];
    assert!(refused(&[0.0, 2.0], &[1.0, 1.0], vec![]).contains("lower[1] = 2 > upper[1] = 1"));
    assert!(refused(&[0.0], &[1.0, 1.0], vec![]).contains("upper has size 2"));
    assert!(refused(&[f64::NAN], &[1.0], vec![]).contains("lower"));
    assert!(refused(&[0.0], &[f64::INFINITY], vec![]).contains("upper"));
    assert!(refused(&[0.0], &[1.0], constraint(&[1.0, 1.0], 0.0)).contains("coefficients"));
    assert!(refused(&[0.0], &[1.0], constraint(&[1.0], f64::NAN)).contains("bound"));
}
