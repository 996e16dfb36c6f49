//! Which abstract domain encloses two networks and their difference.

/// The abstract domains, by what they know of the difference d = x - y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbstractDomain {
    /// The differential zonotopes of [VD], as published. Users write `paper`.
    Published,
    /// No zonotope of the difference during the propagation, only z1 - z2 at the end: the ablation of [VD]. Users write
    /// `naive`.
    Independent,
    /// As published, but with the reduced product (Cousot and Cousot, POPL 1979) of the bounds of x, y and d before
    /// every ReLU, and with fresh generators that the networks and their difference share. Users write `shared`.
    Reduced,
}
