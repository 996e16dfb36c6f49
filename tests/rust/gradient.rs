//! Derivatives at many points at once against quotients of differences at each.

use crate::random::for_all;
use eqspec::network::gradient::Differentiator;
use eqspec::network::{Affine, Pair};
use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;

const SIZES: [usize; 4] = [3, 5, 4, 2];

fn layers(weights: &[f64], scale: f64) -> Vec<Affine> {
    let mut rest = weights;
    let mut next = |n: usize| {
        let (taken, left) = rest.split_at(n);
        rest = left;
        taken.iter().map(|w| w * scale).collect::<Vec<_>>()
    };
    SIZES
        .windows(2)
        .map(|s| {
            let weight = Array2::from_shape_vec((s[1], s[0]), next(s[0] * s[1])).unwrap();
            Affine::new(weight.view(), Array1::from(next(s[1])).view(), None, None).unwrap()
        })
        .collect()
}

#[test]
fn derivatives_of_a_batch_are_those_of_its_points() {
    let weights = SIZES.windows(2).map(|s| s[1] * (s[0] + 1)).sum::<usize>();
    let number = || -1.0f64..1.0;
    let strategy = (vec(number(), weights), vec(number(), 5 * SIZES[0]), vec(number(), 10), vec(number(), 10));
    for_all(64, strategy, |(weights, points, a, b)| {
        let pair = Pair::new(layers(&weights, 1.0), layers(&weights, 0.8)).unwrap();
        let mut differentiator = Differentiator::default();
        let (inputs, outputs) = (SIZES[0], SIZES[3]);
        let mut value_at = |p: usize, x: &[f64]| {
            let (first, second) = differentiator.at(&pair, x, 1);
            let part = p * outputs..(p + 1) * outputs;
            let sum = |c: &[f64], z: &[f64]| c.iter().zip(z).map(|(c, z)| c * z).sum::<f64>();
            sum(&a[part.clone()], first) + sum(&b[part], second)
        };
        let mut quotients = Vec::new();
        for (p, x) in points.chunks(inputs).enumerate() {
            let here = value_at(p, x);
            for i in 0..inputs {
                let mut there = x.to_vec();
                there[i] += 1e-7;
                quotients.push((value_at(p, &there) - here) / (there[i] - x[i]));
            }
        }
        let mut gradient = Vec::new();
        differentiator.at(&pair, &points, 5);
        differentiator.gradient(&pair, &a, &b, &mut gradient);
        prop_assert_eq!(gradient.len(), quotients.len());
        for (n, (g, q)) in gradient.iter().zip(&quotients).enumerate() {
            prop_assert!((g - q).abs() <= 1e-6, "point {}, input {}: {g} is not {q}", n / inputs, n % inputs);
        }
        Ok(())
    });
}
