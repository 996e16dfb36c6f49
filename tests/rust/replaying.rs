//! An earlier contraction taken up again under another assumption: whatever its log says, no input that violates is lost.

use crate::assumed::{Draw, Values, contains, draws, prepare, violation};
use crate::random::{Case, Scale, cases, for_all};
use eqspec::bound::branching::LookaheadResult;
use eqspec::bound::contraction_log::{Excluded, Logging};
use eqspec::bound::replay::{Replay, SPLIT};
use eqspec::bound::{Assumption, ContractionBudget, ContractionResult, Contractor};
use eqspec::domain::intermediate_bounds::IntermediateBounds;
use eqspec::domain::{AbstractDomain, Propagation};
use eqspec::network::Pair;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::cell::RefCell;

/// What a run met, of logs that prove an easier question and of questions with inputs that violate.
#[derive(Debug, Default)]
struct Seen {
    /// Logs that prove an easier question, taken up where inputs violate.
    proofs: usize,
    /// Inputs that violate, of which it was seen that they are kept.
    kept: usize,
    /// Logs that prove again what they proved.
    again: usize,
    /// Proofs whose logs exclude halves.
    excluded: usize,
    whole: usize,
}

/// The log of contracting and looking ahead, and whether that proves the assumption impossible.
fn logged(pair: &Pair, mut bounds: IntermediateBounds, assumption: &Assumption) -> (Vec<u8>, bool) {
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    let mut contractor = Contractor::new(pair).recording(Some(Logging::Trail));
    let budget = ContractionBudget { rounds: 2, steps: 12, ..ContractionBudget::default() };
    let mut proved = false;
    for _ in 0..3 {
        let ContractionResult::Open(mut left) =
            contractor.contract(bounds, None, assumption, budget, &mut reach, || false)
        else {
            proved = true;
            break;
        };
        match contractor.look_ahead(&mut left, assumption, None, &mut reach, || false) {
            LookaheadResult::Proved => {
                proved = true;
                break;
            }
            LookaheadResult::Settled(_) => bounds = left.bounds,
            LookaheadResult::Ranked(_) => break,
        }
    }
    (contractor.log.unwrap().bytes, proved)
}

/// The same log, which says of every split that both halves were excluded, with a proof for one.
fn both_excluded(log: &[u8]) -> Vec<u8> {
    let mut bytes = log.to_vec();
    for at in (0..log.len().saturating_sub(4 + SPLIT)).filter(|&at| log[at..at + 4] == [0xff; 4]) {
        bytes[at + 4 + SPLIT] = Excluded::Both as u8;
    }
    bytes
}

type Damage = Vec<(Index, u8)>;

fn check_replay(
    case: &Case,
    draw: &Draw,
    easier: f64,
    damage: &Damage,
    seen: &RefCell<Seen>,
) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let mut other = assumption.clone();
    other.constant -= easier;
    let (log, proved) = logged(&pair, bounds.clone(), &other);
    if log.is_empty() {
        return Ok(());
    }
    let mut damaged = log.clone();
    for (place, value) in damage {
        damaged[place.index(log.len())] = *value;
    }
    let alive: Vec<&Values> = values.iter().filter(|v| v.satisfies(&assumption, &bounds.phase_constraints)).collect();
    let mut seen = seen.borrow_mut();
    seen.proofs += usize::from(proved && !alive.is_empty());
    seen.excluded += usize::from(proved && log.windows(4).any(|w| w == [0xff; 4]));
    for bytes in [&log, &damaged, &both_excluded(&log)] {
        let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
        match Contractor::new(&pair).replay(bounds.clone(), bytes, &assumption, &mut reach, || false) {
            Replay::Proved => {
                prop_assert!(alive.is_empty(), "a violation that happens was called impossible: {assumption:?}")
            }
            Replay::Open { left, whole } => {
                seen.whole += usize::from(whole);
                for value in &alive {
                    seen.kept += 1;
                    prop_assert!(contains(&left.bounds, value), "an input that violates was lost: {assumption:?}");
                    prop_assert!(value.satisfies(&assumption, &left.bounds.phase_constraints));
                    prop_assert!(violation(&assumption, value) <= left.bound);
                }
            }
        }
    }
    // What is true stays provable: the log proves at once what it proved before.
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    let again = Contractor::new(&pair).replay(bounds, &log, &other, &mut reach, || false);
    seen.again += usize::from(proved && matches!(again, Replay::Proved));
    Ok(())
}

#[test]
fn a_replay_keeps_every_input_that_violates() {
    let seen = RefCell::new(Seen::default());
    let pairs = cases(2..=3, 1..=4, 2..=4, prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)], 3);
    let damage = vec((any::<Index>(), prop_oneof![any::<u8>(), Just(0), Just(1), Just(2), Just(0xff)]), 0..4);
    let easier = prop_oneof![Just(0.0), Just(1e-3), 0.0f64..1.0, 0.0f64..10.0];
    for_all(800, (pairs, draws(), easier, damage), |(case, draw, easier, damage)| {
        check_replay(&case, &draw, easier, &damage, &seen)
    });
    let seen = seen.into_inner();
    assert!(seen.proofs > 200 && seen.kept > 1000 && seen.whole > 300 && seen.excluded > 10, "{seen:?}");
    assert!(seen.again > 200, "hints serve nothing: {seen:?}");
}
