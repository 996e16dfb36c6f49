//! How much work a contraction ([`super::contract`]) may take.

/// How much work a contraction may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContractionBudget {
    /// The largest number of rounds.
    pub rounds: usize,
    /// Steps per round.
    pub steps: i32,
    /// So many rounds before those, with so many steps, for multipliers that are good already: a violation that they
    /// exclude needs no more.
    pub short: (usize, i32),
    /// The size of a step of the multipliers; large steps hardly improve a batch.
    pub rate: f64,
    /// Up to this number of inputs, inputs are contracted too, and the neurons of both networks; beyond it only the
    /// neurons of f1 and the differences where both networks' neurons are unstable.
    pub inputs: usize,
    /// Rounds go on while a round multiplies the bound of the violation by at most this factor.
    pub gain: f64,
    /// Whether links between the networks are optimised.
    pub link: bool,
    /// Beyond that number of inputs, the most functionals in the first round besides the target; 0 means all.
    pub selected: usize,
    /// Whether steps in singles look at the violation on the way, which may end a round early.
    pub looks: bool,
}

impl Default for ContractionBudget {
    fn default() -> Self {
        Self {
            rounds: 8,
            steps: 60,
            short: (0, 0),
            rate: 0.02,
            inputs: 64,
            gain: 0.9,
            link: true,
            selected: 32,
            looks: true,
        }
    }
}

impl ContractionBudget {
    /// How many functionals besides the target the first round bounds at most, if it does not bound all of them.
    pub(super) fn selects(&self, inputs: usize) -> Option<usize> {
        (inputs > self.inputs && self.selected > 0).then_some(self.selected)
    }
}
