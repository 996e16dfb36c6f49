//! Counted arithmetic: against a count by hand, and that leaving out work is seen.

use eqspec::domain::{AbstractDomain, Propagation};
use eqspec::network::{Affine, Pair};
use ndarray::{Array1, Array2};

/// 2-3-1 networks whose first `inactive` neurons are off everywhere and whose last is unstable on [-1, 1]^2.
fn pair(inactive: usize, equal: bool) -> Pair {
    let layers = |factor: f64| {
        let first = Array2::from_elem((3, 2), factor);
        let bias = Array1::from_shape_fn(3, |i| {
            if i < inactive {
                -9.0
            } else if i == 2 {
                0.0
            } else {
                9.0
            }
        });
        let second = Array2::from_elem((1, 3), factor);
        let affine = |w: &Array2<f64>, b: &Array1<f64>| Affine::new(w.view(), b.view(), None, None).unwrap();
        vec![affine(&first, &bias), affine(&second, &Array1::zeros(1))]
    };
    Pair::new(layers(1.0), layers(if equal { 1.0 } else { 0.5 })).unwrap()
}

fn flops(pair: &Pair, domain: AbstractDomain) -> u64 {
    let mut reach = Propagation::new(domain, pair.depth());
    assert!(reach.propagate(pair, &[-1.0; 2], &[1.0; 2]).is_some());
    let once = reach.flops();
    assert!(reach.propagate(pair, &[-1.0; 2], &[1.0; 2]).is_some());
    assert_eq!(reach.flops(), 2 * once);
    once
}

#[test]
fn flops_are_those_of_the_layers() {
    // Three forms: a product for the centre (2 x 3 x 2) and a scaling per input (3 x 2) each.
    let first = 3 * (12 + 6);
    // f1 and f2: 1 x 3 times 3 x 3 (centre and inputs), and a scaled column; d: the same with both weights, a column that both weights make (3), its own.
    let second = 2 * (2 * 9 + 1) + 2 * (2 * 9) + 3 + 1;
    assert_eq!(flops(&pair(0, false), AbstractDomain::Published), first + second);
    // The naive domain knows no third form.
    assert_eq!(flops(&pair(0, false), AbstractDomain::Independent), 2 * (12 + 6) + 2 * (2 * 9 + 1));
    // Two of three neurons are off: their columns count no more.
    assert_eq!(flops(&pair(2, false), AbstractDomain::Published), first + 2 * (2 * 3 + 1) + 2 * (2 * 3) + 3 + 1);
    // Equal weights: no third form of the box, nothing to add for their difference, which is zero and needs no column of
    // its own.
    assert_eq!(flops(&pair(0, true), AbstractDomain::Published), 2 * (12 + 6) + 2 * (2 * 9 + 1) + 2 * 9 + 3);
}
