//! Piecewise linear functions without rounding, and a few of them for random steps: with one knot or several, growing,
//! falling, convex, concave and neither, with slopes that are no round numbers.

use crate::exact::{Exact, exact};
use eqspec::curve::Curve;
use eqspec::network::{Curves, Function};
use std::sync::Arc;

/// What a function makes of row i.
pub fn behind(function: &Function, row: usize, x: &Exact) -> Exact {
    match function {
        Function::Identity => x.clone(),
        Function::Relu => x.relu(),
        Function::Curves(curves) => pieces(&curves.of(row).parameters(), x),
    }
}

/// A continuous piecewise linear function: its number of knots, the knots, the slopes, and its value at the first knot.
fn pieces(parameters: &[f64], x: &Exact) -> Exact {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let n = parameters[0] as usize;
    let (knots, slopes) = (&parameters[1..=n], &parameters[n + 1..2 * n + 2]);
    let mut value = exact(parameters[2 * n + 2]);
    if *x < knots[0] {
        return &value + &(&(x - &exact(knots[0])) * slopes[0]);
    }
    for k in 0..n {
        let end = knots.get(k + 1).map(|next| exact(*next)).filter(|next| next < x).unwrap_or_else(|| x.clone());
        value = &value + &(&(&end - &exact(knots[k])) * slopes[k + 1]);
        if knots.get(k + 1).is_none_or(|next| *x <= *next) {
            break;
        }
    }
    value
}

/// Functions for a step of so many rows, one of several choices; rows differ in some of them.
pub fn bent(choice: usize, rows: usize) -> Function {
    let leaky = vec![1.0, 0.0, f64::from(0.01f32), 1.0, 0.0];
    let falling = vec![1.0, 0.0, -0.25, 1.0, 0.0];
    let clip = vec![2.0, -1.0, 0.5, 0.0, 1.0, 0.0, -1.0];
    let ragged = vec![3.0, -0.7, 0.1, 0.3, 0.2, -1.3, 0.9, 0.1, 0.4];
    let wide = vec![2.0, -3.0, 3.0, 1.0 / 3.0, 0.1, 3.0, 1e-3];
    let all = [leaky, falling, clip, ragged, wide];
    let curve = |parameters: &Vec<f64>| Curve::new("pieces", parameters).expect("increasing knots");
    let (kinds, of_row) = if choice < all.len() {
        (vec![curve(&all[choice])], None)
    } else {
        let of_row = (0..rows).map(|i| u32::try_from((i + choice) % all.len()).unwrap()).collect();
        (all.iter().map(curve).collect(), Some(of_row))
    };
    Function::Curves(Arc::new(Curves::new(kinds, rows, of_row).expect("a function for every row")))
}

/// How many choices there are.
pub const CHOICES: usize = 7;

#[test]
fn a_piecewise_linear_function_is_what_its_parameters_say() {
    for choice in 0..CHOICES {
        let function = bent(choice, 5);
        let curves = function.curves().expect("bent");
        for row in 0..5 {
            for x in [-4.0, -3.0, -1.0, -0.7, -0.2, 0.0, 0.1, 0.25, 0.3, 0.5, 2.0, 3.0, 7.0, 1e-9, 1e9] {
                let (near, truth) = (curves.of(row).value(x), behind(&function, row, &exact(x)));
                assert!((&exact(near.value) - &truth).abs() <= near.error, "{near:?} at {x}, {truth:?}");
            }
        }
    }
    let clip = bent(2, 1);
    for (x, value) in [(-9.0, -1.0), (-1.0, -1.0), (0.25, 0.25), (0.5, 0.5), (3.0, 0.5)] {
        assert_eq!(behind(&clip, 0, &exact(x)).upward(), value);
    }
}
