//! An earlier contraction taken up again, on a pair that has changed since: what [`super::contraction_log`] wrote of it.
//!
//! The multipliers of every round are evaluated once instead of being sought in sixty steps. Sound because nothing in
//! the log is believed: multipliers are brought into their range, where any of them give valid bounds, each bound is
//! computed anew from the pair at hand, and a sign counts as settled only where the other one is contradicted here. A
//! log that is damaged, or of another pair, costs the time of evaluating it.

use super::assumption::Assumption;
use super::contract::{Contraction, Contractor, WarmStart};
use super::contraction_log::{EXCLUSION, Excluded, INPUT, LINK, SLOPE, TARGET, kind};
use super::functional::Functional;
use super::parameters::{AdamVariable, Parameters};
use super::split_candidates::{Neuron, Split, SplitCandidates};
use crate::domain::intermediate_bounds::IntermediateBounds;
use crate::domain::propagation::Failure;
use crate::domain::{Propagation, Quantity};
use std::sync::Arc;

/// Steps for a target whose multipliers no longer prove what they proved; each is on one functional alone.
const TARGET_STEPS: i32 = 20;
/// The size of these steps.
const RATE: f64 = 0.05;

/// What came of an earlier contraction.
#[derive(Debug)]
pub enum Replay {
    /// There is no violation in the box.
    Proved,
    /// A violation is still possible.
    Open {
        /// What is left of it.
        left: Box<Contraction>,
        /// Whether all of the log was of use, so that what followed it then may follow again.
        whole: bool,
    },
}

/// Numbers read from a log, one after the other; `None` where it ends early.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(taken)
    }
    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }
    fn whole(&mut self) -> Option<u32> {
        self.take(4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
    }
    fn float(&mut self) -> Option<f64> {
        self.take(8).and_then(|b| b.try_into().ok()).map(f64::from_le_bytes)
    }
}

fn quantity(code: u8) -> Option<Quantity> {
    [Quantity::First, Quantity::Second, Quantity::Difference].into_iter().find(|q| kind(*q) == code)
}

/// The split that [`super::contraction_log::ContractionLog::write_split`] wrote.
#[must_use]
pub fn read_split(bytes: &[u8]) -> Option<Split> {
    let mut reader = Reader(bytes);
    let (code, layer, index, at) =
        (reader.byte()?, reader.whole()? as usize, reader.whole()? as usize, reader.float()?);
    if code == INPUT {
        return Some(Split::Input(index, at));
    }
    Some(Split::Sign(Neuron { quantity: quantity(code)?, layer, index, cost: 0.0 }))
}

/// The bytes of a split.
pub const SPLIT: usize = 17;

/// What became of one round.
enum Round {
    Proved,
    Entered,
    Failed,
}

impl Contractor<'_> {
    /// Whether a split makes sense on these bounds: both signs are possible, or the input is cut inside its interval.
    #[must_use]
    pub fn splits(&self, split: Split, bounds: &IntermediateBounds) -> bool {
        match split {
            Split::Input(input, at) => {
                input < bounds.lower.len() && bounds.lower[input] < at && at < bounds.upper[input]
            }
            Split::Sign(Neuron { quantity, layer, index, .. }) => {
                self.has(layer, index) && bounds.layers[layer].of(quantity).unstable(index)
            }
        }
    }

    /// Whether a neuron with a function that is not the identity has these numbers.
    fn has(&self, layer: usize, neuron: usize) -> bool {
        let hidden = self.pair.depth() - 1;
        layer < hidden && neuron < self.pair.first[layer].rows && !self.pair.function(layer).is_identity()
    }

    /// Goes through the rounds of an earlier contraction, as far as they are of use.
    pub fn replay(
        &mut self,
        mut bounds: IntermediateBounds,
        log: &[u8],
        assumption: &Assumption,
        propagation: &mut Propagation,
        stop: impl Fn() -> bool,
    ) -> Replay {
        let (mut bound, mut warm) = (f64::INFINITY, None);
        let mut reader = Reader(log);
        let mut whole = true;
        while whole && !reader.0.is_empty() && !stop() {
            let before = reader.0;
            let Some(count) = reader.whole() else {
                whole = false;
                break;
            };
            let result = if count == EXCLUSION {
                self.settle(&mut reader, &mut bounds, assumption, propagation)
            } else {
                self.round(&mut reader, count, &mut bounds, (&mut bound, &mut warm), assumption, propagation)
            };
            match result {
                Round::Proved => return Replay::Proved,
                Round::Failed => whole = false,
                Round::Entered => self.log_again(&before[..before.len() - reader.0.len()], count),
            }
        }
        let warm = warm.map(|mut warm: WarmStart| {
            warm.parameters.drop_moments();
            Arc::new(warm)
        });
        let (candidates, minimiser) = (SplitCandidates::default(), Vec::new());
        Replay::Open {
            left: Box::new(Contraction { bounds, bound, candidates, minimiser, warm }),
            whole: whole && !stop(),
        }
    }

    /// What was of use joins the log of this search. Exclusions have written what proves them here.
    fn log_again(&mut self, item: &[u8], count: u32) {
        if let Some(log) = self.log.as_mut().filter(|_| count != EXCLUSION) {
            log.bytes.extend_from_slice(item);
        }
    }

    /// One round: its bounds are computed, entered, and propagated.
    fn round(
        &mut self,
        reader: &mut Reader<'_>,
        count: u32,
        bounds: &mut IntermediateBounds,
        (bound, warm): (&mut f64, &mut Option<WarmStart>),
        assumption: &Assumption,
        propagation: &mut Propagation,
    ) -> Round {
        self.backward.set_bounds(bounds);
        let Some((functionals, mut parameters)) = self.read_round(reader, count, assumption) else {
            return Round::Failed;
        };
        if functionals == [Functional::Target] {
            // On failing, what is known may still come to prove it.
            return if self.target(assumption, &mut parameters, bound) { Round::Proved } else { Round::Failed };
        }
        self.best.clear();
        let found = self.backward.evaluate(&functionals, assumption, &parameters);
        self.best.extend_from_slice(found);
        if self.enter(bounds, &functionals).is_err() {
            self.log_last(&functionals, &parameters);
            return Round::Proved;
        }
        *warm = Some(WarmStart { functionals: functionals.clone(), parameters });
        bounds.reduce();
        let propagated = propagation.propagate_within(self.pair, bounds).map(drop);
        let contradiction = match propagated {
            Err(Failure::Contradiction) => true,
            Err(Failure::Overflow | Failure::TooLarge | Failure::Stopped) => return Round::Failed,
            Ok(()) => bounds.intersect(propagation.layers()).is_err(),
        };
        if contradiction {
            if let Some(WarmStart { functionals, parameters }) = warm {
                self.log_last(functionals, parameters);
            }
            return Round::Proved;
        }
        bounds.reduce();
        Round::Entered
    }

    /// The round that ends in a contradiction is logged, too. Its multipliers are short already.
    fn log_last(&mut self, functionals: &[Functional], parameters: &Parameters) {
        let chosen: Vec<usize> = (0..functionals.len()).collect();
        if let Some(log) = &mut self.log {
            log.round(functionals, &chosen, parameters, &self.backward.relaxed.relaxations);
        }
    }

    /// Whether the target is contradicted, after a few steps at most.
    fn target(&mut self, assumption: &Assumption, parameters: &mut Parameters, bound: &mut f64) -> bool {
        let target = [Functional::Target];
        for step in 1..=TARGET_STEPS {
            let lower = self.backward.evaluate(&target, assumption, parameters)[0];
            *bound = bound.min(-lower);
            if assumption.contradicted_by(lower) {
                if self.record_target(assumption, parameters) {
                    return true;
                }
                self.backward.evaluate(&target, assumption, parameters);
            }
            self.backward.ascend(&target, assumption, parameters, RATE, step);
        }
        false
    }

    /// A split of which one half, or both, were impossible: settled again if that is so here.
    fn settle(
        &mut self,
        reader: &mut Reader<'_>,
        bounds: &mut IntermediateBounds,
        assumption: &Assumption,
        propagation: &mut Propagation,
    ) -> Round {
        let Some(split) = reader.take(SPLIT).and_then(read_split) else { return Round::Failed };
        let Some(excluded) = reader.byte() else { return Round::Failed };
        if !self.splits(split, bounds) {
            return Round::Failed;
        }
        let which: &[usize] = match excluded {
            0 => &[0],
            1 => &[1],
            2 => &[0, 1],
            _ => return Round::Failed,
        };
        let from = self.log.as_ref().map_or(0, |log| log.bytes.len());
        let halves = split.halves(bounds);
        let mut proofs = Vec::new();
        for &half in which {
            if !self.excludes(reader, halves[half].clone(), assumption, propagation) {
                if let Some(log) = &mut self.log {
                    log.bytes.truncate(from);
                }
                return Round::Failed;
            }
            if let Some(log) = &mut self.log {
                proofs.push(log.bytes.split_off(from));
            }
        }
        if let Some(log) = &mut self.log {
            let kept = [Excluded::Lower, Excluded::Upper, Excluded::Both][usize::from(excluded)];
            log.exclude(split, kept, &proofs);
        }
        match split {
            _ if excluded == 2 => return Round::Proved,
            Split::Sign(neuron) => bounds.assume(neuron.constraint(excluded == 0)),
            Split::Input(..) => return Round::Failed,
        }
        Round::Entered
    }

    /// Whether one half is impossible, by the rounds that showed it before.
    fn excludes(
        &mut self,
        reader: &mut Reader<'_>,
        mut half: IntermediateBounds,
        assumption: &Assumption,
        propagation: &mut Propagation,
    ) -> bool {
        let propagated = propagation.propagate_within(self.pair, &half).map(drop);
        let mut least = f64::INFINITY;
        let mut impossible = propagated == Err(Failure::Contradiction)
            || (propagated.is_ok() && half.intersect(propagation.layers()).is_err());
        half.reduce();
        if !impossible {
            self.backward.set_bounds(&half);
        }
        loop {
            let count = match reader.whole() {
                None => return false,
                Some(0) => return impossible,
                Some(count) => count,
            };
            let Some((functionals, mut parameters)) = self.read_round(reader, count, assumption) else { return false };
            if !impossible && functionals == [Functional::Target] {
                impossible = self.target(assumption, &mut parameters, &mut least);
            }
        }
    }

    /// The functionals and multipliers of a round, for the bounds that are set.
    fn read_round(
        &self,
        reader: &mut Reader<'_>,
        count: u32,
        assumption: &Assumption,
    ) -> Option<(Vec<Functional>, Parameters)> {
        let count = count as usize;
        if count == 0 || count > self.backward.most() || count > reader.0.len() {
            return None;
        }
        let codes = reader.take(count)?;
        let layers = reader.take(4 * count)?;
        let indices = reader.take(4 * count)?;
        let at = |bytes: &[u8], f: usize| Reader(&bytes[4 * f..]).whole().map(|v| v as usize);
        let functionals = (0..count)
            .map(|f| self.functional(codes[f], at(layers, f)?, at(indices, f)?))
            .collect::<Option<Vec<_>>>()?;
        let mut p = self.backward.start(&functionals, assumption);
        for (variable, signed) in [
            (&mut p.guard, false),
            (&mut p.violation, false),
            (&mut p.output, true),
            (&mut p.phases, false),
            (&mut p.region, false),
        ] {
            read_singles(reader, variable, signed)?;
        }
        for layer in &mut p.layers {
            let links = reader.take(2 * layer.link.value.len())?;
            for (v, b) in layer.link.value.iter_mut().zip(links.chunks_exact(2)) {
                *v = f64::from(i16::from_le_bytes([b[0], b[1]])) / LINK;
            }
            for slopes in [&mut layer.alpha1, &mut layer.alpha2] {
                let bytes = reader.take(slopes.value.len())?;
                slopes.value.iter_mut().zip(bytes).for_each(|(v, &b)| *v = (f64::from(b) / SLOPE).min(1.0));
            }
        }
        Some((functionals, p))
    }

    /// What [`super::contraction_log`] wrote as these numbers, if the pair has it.
    fn functional(&self, code: u8, layer: usize, index: usize) -> Option<Functional> {
        let (code, negative) = (code / 2, code % 2 == 1);
        match code {
            TARGET => (!negative).then_some(Functional::Target),
            INPUT => (index < self.pair.inputs()).then_some(Functional::Input { input: index, negative }),
            _ => {
                let quantity = quantity(code)?;
                self.has(layer, index).then_some(Functional::Neuron { quantity, layer, neuron: index, negative })
            }
        }
    }
}

/// Single-precision numbers; what is not finite, or negative where it may not be, reads as 0.
fn read_singles(reader: &mut Reader<'_>, variable: &mut AdamVariable, signed: bool) -> Option<()> {
    let bytes = reader.take(4 * variable.value.len())?;
    for (v, b) in variable.value.iter_mut().zip(bytes.chunks_exact(4)) {
        let single = f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        *v = if single.is_finite() && (signed || single >= 0.0) { single } else { 0.0 };
    }
    Some(())
}
