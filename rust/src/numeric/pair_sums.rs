//! Sums over pairs of numbers, in lanes so that they run in vector registers. A sum of n terms is taken in some order, as the
//! rounding model ([`super`]) allows.

/// The sum of products.
#[must_use]
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    total(a, b, |x, y| x * y)
}

/// The sum of a term over pairs.
#[must_use]
#[inline(always)]
pub fn total(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 16;
    let n = a.len().min(b.len());
    let (left, right) = (a[..n].chunks_exact(LANES), b[..n].chunks_exact(LANES));
    let rest = left.remainder().iter().zip(right.remainder());
    let mut sums = [0.0; LANES];
    for (x, y) in left.zip(right) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += term(*x, *y);
        }
    }
    let mut sum: f64 = rest.map(|(x, y)| term(*x, *y)).sum();
    if n >= LANES {
        sum += sums.iter().sum::<f64>();
    }
    sum
}
