//! Piecewise linear functions and quantisers without rounding, and a few of them for random steps: with one knot or
//! several, growing, falling, convex, concave and neither, with slopes that are no round numbers; with every way to
//! round, saturated and wrapped, with scales that are powers of two and others.

use crate::exact::{Exact, exact, integer};
use eqspec::curve::Curve;
use eqspec::network::{Curves, Function};
use num_bigint::BigInt;
use std::sync::Arc;

/// What a function makes of row i.
pub fn behind(function: &Function, row: usize, x: &Exact) -> Exact {
    match function {
        Function::Identity => x.clone(),
        Function::Relu => x.relu(),
        Function::Curves(curves) => behind_curve(curves.of(row), x),
    }
}

/// What a curve makes of a number.
pub fn behind_curve(curve: &Curve, x: &Exact) -> Exact {
    let by = if curve.name() == "pieces" { pieces } else { quantised };
    by(&curve.parameters(), x)
}

/// unit (k - base), where k is x / scale + zero rounded, as the documentation of every rounding puts it.
fn quantised(parameters: &[f64], x: &Exact) -> Exact {
    let [scale, zero, low, high, unit, base, rounding, wraps] = parameters else { panic!("eight parameters") };
    let divisor = exact(*scale);
    let scaled = x + &(&divisor * *zero); // (x / scale + zero) scale
    let floor = scaled.floor_over(&divisor);
    let part = &scaled - &(&divisor * &integer(&floor)); // from 0 to scale
    let twice = &(&part + &part) - &divisor; // against the middle
    let (whole, tie, above) = (part.is_zero(), twice.is_zero(), twice > 0.0);
    let negative = scaled < 0.0;
    let nearest = |tie_goes_up: bool| above || (tie && tie_goes_up);
    #[allow(clippy::cast_possible_truncation)]
    let up = match *rounding as i32 {
        0 => nearest(floor.bit(0)),
        1 => nearest(!negative),
        2 => nearest(true),
        3 => nearest(false),
        4 => nearest(negative),
        5 => false,
        6 => !whole,
        7 => negative && !whole,
        _ => !negative && !whole,
    };
    #[allow(clippy::cast_possible_truncation)]
    let [low, high] = [low, high].map(|&level| BigInt::from(level as i64));
    let mut k = floor + u8::from(up);
    if *wraps == 1.0 {
        let span: BigInt = &high - &low + 1;
        k = ((k - &low) % &span + &span) % &span + &low;
    }
    &(&integer(&k.clamp(low, high)) - &exact(*base)) * *unit
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
    // scale, zero, low, high, unit, base, rounding, wraps
    let even = vec![0.25, 0.0, -8.0, 7.0, 0.25, 0.0, 0.0, 0.0];
    let third = vec![f64::from(1.0f32 / 3.0), 0.3, -4.0, 5.0, 0.375, 0.5, 5.0, 0.0];
    let fine = vec![2.0f64.powi(-10), 0.0, -32768.0, 32767.0, 2.0f64.powi(-10), 0.0, 2.0, 0.0];
    let wrapped = vec![0.5, 0.0, -4.0, 3.0, 0.5, 0.0, 5.0, 1.0];
    let signs = vec![1.0, 1.0, 0.0, 1.0, 2.0, 0.5, 5.0, 0.0];
    let away = vec![0.5, -1.0, -9.0, 9.0, 0.5, -1.0, 8.0, 0.0];
    let all = [leaky, falling, clip, ragged, wide, even, third, fine, wrapped, signs, away];
    let curve = |parameters: &Vec<f64>| {
        let name = if parameters.len() == 8 { "quantiser" } else { "pieces" };
        Curve::new(name, parameters).expect("increasing knots, levels in order")
    };
    let (kinds, of_row) = if choice < all.len() {
        (vec![curve(&all[choice])], None)
    } else {
        let of_row = (0..rows).map(|i| u32::try_from((i + choice) % all.len()).unwrap()).collect();
        (all.iter().map(curve).collect(), Some(of_row))
    };
    Function::Curves(Arc::new(Curves::new(kinds, rows, of_row).expect("a function for every row")))
}

/// Whether a function goes up in steps somewhere.
pub fn in_steps(function: &Function, rows: usize) -> bool {
    function.curves().is_some_and(|curves| (0..rows).any(|row| curves.of(row).name() == "quantiser"))
}

/// How many choices there are.
pub const CHOICES: usize = 14;

#[test]
fn a_function_is_what_its_parameters_say() {
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
