//! The log of a contraction, for a certificate: what was bounded in which round, and the multipliers that prove the
//! bounds, as bytes.
//!
//! Any multipliers in their range are sound, so they are stored short: what is written is rounded first ([`shorten`]),
//! and only bounds that the rounded multipliers give are used. Whoever evaluates them again arrives at the same bounds,
//! up to the rounding that both count.

use super::functional::Functional;
use super::parameters::{AdamVariable, Parameters};
use super::relax::Relaxation;
use super::split_candidates::Split;
use crate::domain::Quantity;

/// Slopes are stored as multiples of 1 / 128.
pub(super) const SLOPE: f64 = 128.0;
/// Links are stored as multiples of 1 / 256.
pub(super) const LINK: f64 = 256.0;

/// The rounds of one contraction, little endian. A round is the number of its functionals, which is never 0, and then
/// arrays, functional-major.
#[derive(Debug)]
pub struct ContractionLog {
    /// All rounds so far.
    pub bytes: Vec<u8>,
    /// What it is for.
    pub logging: Logging,
}

/// What a log is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logging {
    /// A certificate: only what the rounded multipliers give is used.
    Proof,
    /// Hints for a later search: the contraction goes its way as without a log.
    Trail,
}

/// Rounds multipliers to what [`ContractionLog::round`] can write.
#[allow(clippy::cast_possible_truncation)]
pub fn shorten(parameters: &mut Parameters) {
    let single = |t: &mut AdamVariable| t.value.iter_mut().for_each(|v| *v = f64::from(*v as f32));
    let steps = |t: &mut AdamVariable, per: f64, (low, high): (f64, f64)| {
        t.value.iter_mut().for_each(|v| *v = (*v * per).round().clamp(low, high) / per);
    };
    let Parameters { guard, violation, output, phases, region, .. } = parameters;
    [guard, violation, output, phases, region].into_iter().for_each(single);
    for layer in &mut parameters.layers {
        steps(&mut layer.link, LINK, (f64::from(i16::MIN), f64::from(i16::MAX)));
        steps(&mut layer.alpha1, SLOPE, (0.0, SLOPE));
        steps(&mut layer.alpha2, SLOPE, (0.0, SLOPE));
    }
}

/// The code of a quantity: the kind of a functional, and of a split.
pub(super) fn kind(quantity: Quantity) -> u8 {
    match quantity {
        Quantity::First => 1,
        Quantity::Second => 2,
        Quantity::Difference => 3,
    }
}

/// The code of the violation, as the kind of a functional.
pub(super) const TARGET: u8 = 0;
/// The code of an input, as the kind of a functional or of a split.
pub(super) const INPUT: u8 = 4;

/// A functional as it is stored: twice its kind, plus one if it is negated; its layer; and the number of the neuron or
/// input.
fn encode(functional: Functional) -> (u8, usize, usize) {
    let (kind, layer, index, negative) = match functional {
        Functional::Target => (TARGET, 0, 0, false),
        Functional::Neuron { quantity, layer, neuron, negative } => (kind(quantity), layer, neuron, negative),
        Functional::Input { input, negative } => (INPUT, 0, input, negative),
    };
    (2 * kind + u8::from(negative), layer, index)
}

/// Stands where a round has its number of functionals: halves of a split are excluded.
pub(super) const EXCLUSION: u32 = u32::MAX;

/// Which halves of a split are excluded, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excluded {
    /// The lower half: from here on the upper one is meant.
    Lower = 0,
    /// The upper half: from here on the lower one is meant.
    Upper = 1,
    /// Both halves.
    Both = 2,
}

impl ContractionLog {
    /// An empty log.
    #[must_use]
    pub fn new(logging: Logging) -> Self {
        Self { bytes: Vec::new(), logging }
    }

    /// Writes a split: the kind of its quantity or input, its layer, the number of the neuron or input, and where an
    /// input is cut.
    pub fn write_split(out: &mut Vec<u8>, split: Split) {
        let (kind, layer, index, at) = match split {
            Split::Sign(n) => (kind(n.quantity), n.layer, n.index, 0.0),
            Split::Input(input, at) => (INPUT, 0, input, at),
        };
        out.push(kind);
        for v in [layer, index] {
            out.extend_from_slice(&u32::try_from(v).unwrap_or(u32::MAX).to_le_bytes());
        }
        out.extend_from_slice(&f64::to_le_bytes(at));
    }

    /// Appends that halves of a split are impossible, with the rounds that prove it for each of them.
    pub fn exclude(&mut self, split: Split, excluded: Excluded, proofs: &[Vec<u8>]) {
        self.bytes.extend_from_slice(&EXCLUSION.to_le_bytes());
        Self::write_split(&mut self.bytes, split);
        self.bytes.push(excluded as u8);
        for proof in proofs {
            self.bytes.extend_from_slice(proof);
            self.bytes.extend_from_slice(&0u32.to_le_bytes());
        }
    }

    /// Appends a round: the chosen functionals with their shortened multipliers. Slopes of stable neurons are not used
    /// and are written as 0.
    #[allow(clippy::cast_possible_truncation)]
    pub fn round(&mut self, functionals: &[Functional], chosen: &[usize], p: &Parameters, relaxations: &[Relaxation]) {
        let out = &mut self.bytes;
        let mut number = |v: usize| out.extend_from_slice(&u32::try_from(v).unwrap_or(u32::MAX).to_le_bytes());
        number(chosen.len());
        out.extend(chosen.iter().map(|&f| encode(functionals[f]).0));
        for part in [1, 2] {
            for &f in chosen {
                let (_, layer, index) = encode(functionals[f]);
                let v = if part == 1 { layer } else { index };
                out.extend_from_slice(&u32::try_from(v).unwrap_or(u32::MAX).to_le_bytes());
            }
        }
        for t in [&p.guard, &p.violation, &p.output, &p.phases, &p.region] {
            let width = t.value.len() / p.count.max(1);
            for &f in chosen {
                t.value[f * width..(f + 1) * width]
                    .iter()
                    .for_each(|v| out.extend_from_slice(&(*v as f32).to_le_bytes()));
            }
        }
        for (layer, r) in p.layers.iter().zip(relaxations) {
            let m = r.keep.len();
            for &f in chosen {
                for v in &layer.link.value[f * m..(f + 1) * m] {
                    out.extend_from_slice(&((v * LINK) as i16).to_le_bytes());
                }
            }
            for (slopes, open) in [(&layer.alpha1, &r.first.unstable), (&layer.alpha2, &r.second.unstable)] {
                for &f in chosen {
                    let of = &slopes.value[f * m..(f + 1) * m];
                    let bent = |o: f64| if r.lines.neurons.is_empty() { o } else { 1.0 };
                    #[allow(clippy::cast_sign_loss)]
                    out.extend(of.iter().zip(open).map(|(v, o)| (v * bent(*o) * SLOPE) as u8));
                }
            }
        }
    }
}
