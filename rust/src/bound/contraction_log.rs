//! The rounds of a contraction as bytes, for a certificate: what was bounded, and the multipliers that prove the bounds.
//!
//! Any multipliers in their range are sound, so they are stored short: what is written is rounded first ([`shorten`]), and only bounds that the rounded
//! multipliers give are used. Whoever evaluates them again arrives at the same bounds, up to the rounding that both count.

use super::backward::Functional;
use super::branching::Split;
use super::parameters::{AdamVariable, Parameters};
use super::relax::Relaxation;
use crate::domain::Quantity;

/// Steps of a slope between 0 and 1.
const SLOPE: f64 = 128.0;
/// Steps of a link per unit.
const LINK: f64 = 256.0;

/// The rounds of one contraction, little endian: per round the number of functionals (never 0), then arrays, functional-major.
#[derive(Debug, Default)]
pub struct ContractionLog {
    /// What was written so far.
    pub bytes: Vec<u8>,
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
        steps(&mut layer.first, SLOPE, (0.0, SLOPE));
        steps(&mut layer.second, SLOPE, (0.0, SLOPE));
    }
}

/// Kind and sign as a number, layer, index.
fn code(functional: Functional) -> (u8, usize, usize) {
    let (kind, layer, index, negative) = match functional {
        Functional::Target => (0, 0, 0, false),
        Functional::First { layer, neuron, negative } => (1, layer, neuron, negative),
        Functional::Second { layer, neuron, negative } => (2, layer, neuron, negative),
        Functional::Difference { layer, neuron, negative } => (3, layer, neuron, negative),
        Functional::Input { input, negative } => (4, 0, input, negative),
    };
    (2 * kind + u8::from(negative), layer, index)
}

/// A number that is no count: a half is impossible.
const IMPOSSIBLE: u32 = u32::MAX;

impl ContractionLog {
    /// Where it was cut, as kind (as of functionals), layer, index, and the place for an input.
    pub fn write_split(out: &mut Vec<u8>, split: Split) {
        let (kind, layer, index, at) = match split {
            Split::Sign(n) => {
                let kind = match n.quantity {
                    Quantity::First => 1,
                    Quantity::Second => 2,
                    Quantity::Difference => 3,
                };
                (kind, n.layer, n.index, 0.0)
            }
            Split::Input(input, place) => (4, 0, input, place),
        };
        out.push(kind);
        for v in [layer, index] {
            out.extend_from_slice(&u32::try_from(v).unwrap_or(u32::MAX).to_le_bytes());
        }
        out.extend_from_slice(&f64::to_le_bytes(at));
    }

    /// Halves of a split are impossible: the lower one (0), the upper one (1), from where on the other one is meant, or both (2); with the rounds that show it.
    pub fn exclude(&mut self, split: Split, which: u8, proofs: &[Vec<u8>]) {
        self.bytes.extend_from_slice(&IMPOSSIBLE.to_le_bytes());
        Self::write_split(&mut self.bytes, split);
        self.bytes.push(which);
        for proof in proofs {
            self.bytes.extend_from_slice(proof);
            self.bytes.extend_from_slice(&0u32.to_le_bytes());
        }
    }

    /// Appends a round: the chosen functionals with their shortened multipliers. Slopes of settled neurons serve nothing and are written as 0.
    #[allow(clippy::cast_possible_truncation)]
    pub fn round(&mut self, functionals: &[Functional], chosen: &[usize], p: &Parameters, relaxations: &[Relaxation]) {
        let out = &mut self.bytes;
        let mut number = |v: usize| out.extend_from_slice(&u32::try_from(v).unwrap_or(u32::MAX).to_le_bytes());
        number(chosen.len());
        out.extend(chosen.iter().map(|&f| code(functionals[f]).0));
        for part in [1, 2] {
            for &f in chosen {
                let (_, layer, index) = code(functionals[f]);
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
            for (slopes, open) in [(&layer.first, &r.first.unstable), (&layer.second, &r.second.unstable)] {
                for &f in chosen {
                    let of = &slopes.value[f * m..(f + 1) * m];
                    #[allow(clippy::cast_sign_loss)]
                    out.extend(of.iter().zip(open).map(|(v, o)| (v * o * SLOPE) as u8));
                }
            }
        }
    }
}
