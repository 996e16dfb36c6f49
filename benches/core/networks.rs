//! Random pairs of networks and boxes in the shapes that matter, the same in every run.

use eqspec::network::{Affine, Pair};
use ndarray::{Array1, Array2};

/// A reproducible sequence in [-1, 1).
pub struct Numbers(u32);

impl Numbers {
    pub fn new(seed: u32) -> Self {
        Self(seed.max(1))
    }

    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.0 >> 8) / f64::from(1u32 << 23) - 1.0
    }

    pub fn many(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// LayerState sizes of the families, inputs first.
pub const ACAS: &[usize] = &[5, 50, 50, 50, 50, 50, 50, 5];
pub const LHC: &[usize] = &[16, 40, 40, 5];
pub const MNIST: &[usize] = &[784, 100, 100, 10, 10];
pub const WIDE: &[usize] = &[784, 512, 512, 10];

/// A network with weights of He's size, and one whose twentieth of all weights is gone.
pub fn pair(sizes: &[usize]) -> Pair {
    let mut numbers = Numbers::new(7);
    let mut layers = [Vec::new(), Vec::new()];
    for size in sizes.windows(2) {
        #[allow(clippy::cast_precision_loss)]
        let scale = (6.0 / size[0] as f64).sqrt();
        let weight = Array2::from_shape_simple_fn((size[1], size[0]), || scale * numbers.next());
        let bias = Array1::from_shape_simple_fn(size[1], || 0.1 * numbers.next());
        let other = weight.mapv(|w| if w.abs() < 0.05 * scale { 0.0 } else { w });
        for (list, w) in layers.iter_mut().zip([&weight, &other]) {
            list.push(Affine::new(w.view(), bias.view(), None, None).expect("finite numbers of fitting sizes"));
        }
    }
    let [first, second] = layers;
    Pair::new(first, second).expect("networks of one shape")
}

/// A box of this half width around a fixed point.
pub fn around(inputs: usize, radius: f64) -> Corners {
    let centre = Numbers::new(11).many(inputs);
    (centre.iter().map(|c| c - radius).collect(), centre.iter().map(|c| c + radius).collect())
}

/// Lower and upper corner.
pub type Corners = (Vec<f64>, Vec<f64>);

/// The families with the box that makes about half of their neurons unstable.
pub fn families() -> [(&'static str, Pair, Corners); 4] {
    [
        ("acas 5-50x6-5", pair(ACAS), around(5, 0.05)),
        ("lhc 16-40-40-5", pair(LHC), around(16, 0.1)),
        ("mnist 784-100-100-10-10", pair(MNIST), around(784, 0.01)),
        ("wide 784-512-512-10", pair(WIDE), around(784, 0.01)),
    ]
}
