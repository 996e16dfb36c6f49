//! Where a structured product ([`super::windows`]) reads, and of which shape it is.

/// The index of a tap that reads nothing, which counts as 0.
pub const NONE: u32 = u32::MAX;

/// Where a structured product reads, and its shape.
#[derive(Debug, Clone, Copy)]
pub struct Windows<'a> {
    /// The number of groups, G.
    pub groups: usize,
    /// Outputs of a group, O.
    pub outputs: usize,
    /// The number of positions, P.
    pub positions: usize,
    /// The number of taps, K.
    pub taps: usize,
    /// What is read: index[(g K + k) P + p].
    pub index: &'a [u32],
}

impl Windows<'_> {
    /// The number of results.
    #[must_use]
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.groups * self.outputs * self.positions
    }

    /// Products of one column with the weights.
    #[must_use]
    #[inline(always)]
    pub fn products(&self) -> usize {
        self.rows() * self.taps
    }
}
