//! Networks in all cells of a region against integers, cell by cell.

use crate::random::for_all;
use eqspec::curve::{Curve, Rounding};
use eqspec::network::cells::{CellBuffers, CellProgram, Known, Rule, note};
use eqspec::network::{Curves, Function, Origin, Step, Term, Tile};
use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

/// All numbers are multiples of 1/8.
const EIGHTH: f64 = 0.125;

fn dense(weight: &[i32], rows: usize) -> Tile {
    let eighths = weight.iter().map(|w| f64::from(*w) * EIGHTH).collect();
    let matrix = Array2::from_shape_vec((rows, weight.len() / rows), eighths).unwrap();
    Tile::dense(&matrix.view(), None).unwrap()
}

fn step(origin: Origin, weight: &[i32], rows: usize, function: Function) -> Step {
    let terms = vec![Term { origin, tile: dense(weight, rows) }];
    Step::new(terms, &Array1::zeros(rows).view(), None, function).unwrap()
}

/// n / d as an integer.
fn quotient(n: i32, d: i32, rounding: Rounding) -> i32 {
    let (floor, rest) = (n.div_euclid(d), n.rem_euclid(d));
    let half_up = match rounding {
        Rounding::Floor => false,
        Rounding::Ceil => rest > 0,
        Rounding::Zero => n < 0 && rest > 0,
        Rounding::Away => n > 0 && rest > 0,
        _ if 2 * rest != d => 2 * rest > d,
        Rounding::HalfEven => floor % 2 != 0,
        Rounding::HalfAway => floor >= 0,
        Rounding::HalfUp => true,
        Rounding::HalfDown => false,
        Rounding::HalfZero => floor < 0,
    };
    floor + i32::from(half_up)
}

fn quantiser(rounding: Rounding, (low, high): (i32, i32), wraps: bool) -> Curve {
    let numbers = [1.0, 0.0, f64::from(low), f64::from(high), 1.0, 0.0, f64::from(rounding as u8), f64::from(wraps)];
    Curve::new("quantiser", &numbers).unwrap()
}

#[test]
fn levels_of_all_cells_are_those_of_integers() {
    let numbers = (vec(-40..40i32, 1..5), vec(-40..40i32, 1..4), vec(-40..40i32, 1..30));
    let strategy = (numbers, vec(-9..9i32, 6), 0..9usize, (-5..1i32, 0..6i32), any::<bool>(), 0..40i32);
    for_all(300, strategy, |((a, b, c), weight, rounding, (low, high), wraps, slack)| {
        let rounding = Rounding::ALL[rounding];
        let curves = Curves::new(vec![quantiser(rounding, (low, high), wraps)], 2, None).unwrap();
        let steps = vec![
            step(Origin::Inputs, &weight, 2, Function::Curves(Arc::new(curves))),
            step(Origin::Step(0), &[8, 0, 0, 8], 2, Function::Identity),
        ];
        let cells = [&a, &b, &c];
        let floats = cells.map(|list| list.iter().map(|x| f64::from(*x) * EIGHTH).collect()).to_vec();
        let given = vec![vec![f64::from(slack) / 64.0; 2], Vec::new()];
        let program = CellProgram::new(steps, &[vec![None], Vec::new()], given, vec![None, None], floats).unwrap();
        let count = a.len() * b.len() * c.len();
        let (mut outputs, mut notes) = (vec![0.0; 2 * count], vec![0; count]);
        let middle = count / 2;
        let (first, second) = outputs.split_at_mut(2 * middle);
        program.run(0, first, &mut notes[..middle], &mut CellBuffers::default());
        program.run(middle as u64, second, &mut notes[middle..], &mut CellBuffers::default());
        for n in 0..count {
            let x = [a[n / (b.len() * c.len())], b[n / c.len() % b.len()], c[n % c.len()]];
            let (mut open, mut outside) = (false, false);
            for row in 0..2 {
                let t: i32 = (0..3).map(|k| weight[3 * row + k] * x[k]).sum();
                let (least, most) = (quotient(t - slack, 64, rounding), quotient(t + slack, 64, rounding));
                open |= least != most;
                outside |= least < low || most > high;
                let wrapped = low + (least - low).rem_euclid(high - low + 1);
                let level = if wraps { wrapped } else { least.clamp(low, high) };
                prop_assert!(least != most || outputs[2 * n + row] == f64::from(level));
            }
            prop_assert_eq!(notes[n] & note::OPEN != 0, open);
            let bits = (notes[n] & note::SATURATED != 0, notes[n] & note::WRAPPED != 0);
            prop_assert_eq!(bits, (outside && !wraps, outside && wraps));
        }
        Ok(())
    });
}

#[test]
fn known_steps_tables_and_lines() {
    let kinds = vec![Curve::new("tanh", &[]).unwrap(), Curve::new("pieces", &[1.0, 0.0, -1.0, 1.0, 0.0]).unwrap()];
    let curves = Curves::new(kinds, 2, Some(vec![0, 1])).unwrap();
    let steps = vec![
        step(Origin::Inputs, &[8, 0, 0, 8], 2, Function::Identity),
        step(Origin::Step(0), &[8, 0, 0, 8], 2, Function::Curves(Arc::new(curves))),
    ];
    let known = Known { places: vec![1, 1], table: vec![0.5, 0.25, -4.0, 8.0], width: 2 };
    let table = Rule::new("table", &[0.0, 2.0, 10.0, 11.0]).unwrap();
    let lines = Rule::new("lines", &[-3.0, 2.0, 1.0, 0.5, 0.0]).unwrap();
    let rules = [Vec::new(), vec![Some(table), Some(lines)]];
    let numbers = vec![vec![7.0], vec![1.0, 2.0]];
    let made =
        CellProgram::new(steps, &rules, vec![Vec::new(), vec![0.0; 2]], vec![Some(known), None], numbers).unwrap();
    let (mut outputs, mut notes) = (vec![0.0; 4], vec![0; 2]);
    made.run(0, &mut outputs, &mut notes, &mut CellBuffers::default());
    assert_eq!(outputs[..2], [11.0, -7.0]);
    assert_eq!(outputs[3], 4.0);
    assert_eq!(notes, [0, note::OPEN]); // a quarter is not in the table
}

#[test]
fn divisors_that_are_no_powers_of_two_leave_no_doubt() {
    let strategy = (vec(-200..200i32, 1..60), 1..40i32, 0..9usize, -3..4i32);
    for_all(300, strategy, |(numbers, divisor, rounding, zero)| {
        let rounding = Rounding::ALL[rounding];
        // Multiples of 1 / 64 by a 32nd of an odd number, and halves of levels.
        let scale = f64::from(2 * divisor + 1) / 32.0;
        let halves = f64::from(zero) * 0.5;
        let numbers: Vec<f64> = numbers.iter().map(|n| f64::from(*n) / 64.0).collect();
        let parameters = [scale, halves, -900.0, 900.0, 1.0, 0.0, f64::from(rounding as u8), 0.0];
        let curves = Curves::new(vec![Curve::new("quantiser", &parameters).unwrap()], 1, None).unwrap();
        let steps = vec![
            step(Origin::Inputs, &[8], 1, Function::Curves(Arc::new(curves))),
            step(Origin::Step(0), &[8], 1, Function::Identity),
        ];
        let slack = vec![vec![0.0], Vec::new()];
        let (mut outputs, mut notes) = (vec![0.0; numbers.len()], vec![0; numbers.len()]);
        let given = vec![numbers.clone()];
        let program = CellProgram::new(steps, &[vec![None], Vec::new()], slack, vec![None, None], given).unwrap();
        program.run(0, &mut outputs, &mut notes, &mut CellBuffers::default());
        for (x, level) in numbers.iter().zip(outputs) {
            // With n = 64 x and scale = d / 32 it is n / (2 d) + zero / 2.
            #[allow(clippy::cast_possible_truncation)]
            let n = (x * 64.0) as i32;
            let d = 2 * divisor + 1;
            prop_assert_eq!(level, f64::from(quotient(n + zero * d, 2 * d, rounding)));
        }
        Ok(())
    });
}
