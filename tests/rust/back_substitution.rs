//! Bounds of each network by itself: with them everything that a propagation says still holds at exact values, whatever
//! the numbers are; they are tighter; and where they are not wanted, nothing changes.

use crate::programs::{Programs, sequences};
use crate::random::{Case, Scale, any_scale, cases, extreme_scale, for_all};
use crate::trace::{Phases, follow, follow_narrowed};
use eqspec::domain::layer_state::LayerState;
use eqspec::domain::{AbstractDomain, Propagation, RestrictedPair};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};

const DOMAIN: AbstractDomain = AbstractDomain::Reduced;

/// A propagation with back-substitution, and one without.
fn workspaces(domain: AbstractDomain, depth: usize) -> [Propagation; 2] {
    [true, false]
        .map(|wanted| Propagation::new(domain, depth).with_back_substitution(wanted).with_corner_slopes(wanted))
}

/// A propagation with back-substitution whose slopes do not depend on where a functional is least.
fn without_corners(depth: usize) -> Propagation {
    Propagation::new(DOMAIN, depth).with_back_substitution(true)
}

/// What a run met.
#[derive(Default, Debug)]
struct Seen {
    phases: Phases,
    boxes: usize,
    overflows: usize,
    /// Bounds of x and y that are much tighter than without.
    tighter: usize,
    /// Neurons that are stable and would be unstable without.
    settled: usize,
}

impl Seen {
    fn compare(&mut self, with: &[LayerState], without: &[LayerState]) {
        for (a, b) in with.iter().zip(without).take(with.len() - 1) {
            for (a, b) in [(&a.x, &b.x), (&a.y, &b.y)] {
                for i in 0..a.lower.len() {
                    let [now, before] = [a, b].map(|k| k.upper[i] - k.lower[i]);
                    self.tighter += usize::from(now < 0.9 * before);
                    self.settled += usize::from(b.unstable(i) && !a.unstable(i));
                }
            }
        }
    }
}

fn contained(case: &Case, seen: &mut Seen) -> Result<(), TestCaseError> {
    let (pair, truths) = (case.pair(), case.truths());
    let [mut with, mut without] = workspaces(DOMAIN, case.layers.len());
    if with.propagate(&pair, &case.lower, &case.upper).is_none() {
        seen.overflows += 1;
        return Ok(());
    }
    seen.boxes += 1;
    if without.propagate(&pair, &case.lower, &case.upper).is_some() {
        seen.compare(with.layers(), without.layers());
    }
    let mut by_area = without_corners(case.layers.len());
    let reached = by_area.propagate(&pair, &case.lower, &case.upper).is_some();
    for e in &case.points {
        follow(&truths, &with, DOMAIN, e, &mut seen.phases)?;
        if reached {
            follow(&truths, &by_area, DOMAIN, e, &mut Phases::default())?;
        }
    }
    Ok(())
}

fn run(scale: impl Strategy<Value = Scale> + Clone + 'static) -> Seen {
    let seen = RefCell::new(Seen::default());
    for_all(4000, cases(3..=5, 1..=5, 1..=4, scale, 4), |case| contained(&case, &mut seen.borrow_mut()));
    seen.into_inner()
}

#[test]
fn what_happens_is_contained() {
    let seen = run(any_scale());
    assert!(seen.phases.0.iter().flatten().all(|&n| n >= 20), "some pair of phases hardly occurred: {seen:?}");
    assert!(seen.overflows == 0 && seen.tighter > 1000 && seen.settled > 300, "{seen:?}");
}

#[test]
fn extreme_numbers_are_contained_or_given_up() {
    let seen = run(extreme_scale());
    assert!(seen.overflows > 100 && seen.boxes > 100 && seen.tighter > 20, "{seen:?}");
}

/// Steps with other functions than ReLU, tiles that are no matrices, steps without a function.
#[derive(Default, Debug)]
struct SeenSequences {
    of_all: Seen,
    /// Pairs that are sequences of steps, and of these such that are no chains.
    sequences: usize,
    others: usize,
    /// Much tighter bounds where a function other than ReLU stands below, and where windows do.
    above_curves: usize,
    above_windows: usize,
}

fn contained_sequence(case: &Programs, seen: &mut SeenSequences) -> Result<(), TestCaseError> {
    let (pair, truths) = (case.pair(), case.truths());
    let [mut with, mut without] = workspaces(DOMAIN, pair.depth());
    seen.sequences += usize::from(pair.is_sequence());
    seen.others += usize::from(pair.is_sequence() && !pair.is_chain());
    if with.propagate(&pair, &case.lower, &case.upper).is_none() {
        seen.of_all.overflows += 1;
        return Ok(());
    }
    seen.of_all.boxes += 1;
    if without.propagate(&pair, &case.lower, &case.upper).is_some() {
        let before = seen.of_all.tighter;
        seen.of_all.compare(with.layers(), without.layers());
        let below = 0..pair.depth() - 1;
        if seen.of_all.tighter > before {
            seen.above_curves += usize::from(below.clone().any(|s| pair.curves(s).is_some()));
            seen.above_windows += usize::from(below.clone().any(|s| pair.first[s].terms[0].tile.index.is_some()));
        }
    }
    for e in &case.points {
        follow(&truths, &with, DOMAIN, e, &mut seen.of_all.phases)?;
    }
    Ok(())
}

fn run_sequences(scale: impl Strategy<Value = Scale> + Clone + 'static) -> SeenSequences {
    let seen = RefCell::new(SeenSequences::default());
    for_all(4000, sequences(6, scale, 4), |case| contained_sequence(&case, &mut seen.borrow_mut()));
    seen.into_inner()
}

#[test]
fn what_happens_behind_any_function_is_contained() {
    let seen = run_sequences(any_scale());
    assert!(seen.sequences > 1500 && seen.others > 1400, "{seen:?}");
    assert!(seen.above_curves > 150 && seen.above_windows > 150, "{seen:?}");
}

#[test]
fn extreme_numbers_behind_any_function_are_contained_or_given_up() {
    let seen = run_sequences(extreme_scale());
    assert!(seen.of_all.overflows > 100 && seen.of_all.boxes > 100 && seen.of_all.tighter > 20, "{seen:?}");
}

/// How many bounds of x and y of one propagation are tighter than those of another one, and how many are looser.
fn tighter_and_looser(now: &[LayerState], before: &[LayerState]) -> (usize, usize) {
    let (mut tighter, mut looser) = (0, 0);
    for (a, b) in now.iter().zip(before) {
        for (a, b) in [(&a.x, &b.x), (&a.y, &b.y)] {
            for i in 0..a.lower.len() {
                let [now, before] = [a, b].map(|k| k.upper[i] - k.lower[i]);
                tighter += usize::from(now < 0.999 * before);
                looser += usize::from(before < 0.999 * now);
            }
        }
    }
    (tighter, looser)
}

/// Slopes by corners are mostly better than those by the area, in every step that has two ReLUs below it.
#[test]
fn slopes_by_corners_are_tighter() {
    let (better, worse) = (Cell::new(0), Cell::new(0));
    for_all(1500, cases(4..=5, 2..=5, 2..=4, Just(Scale::Plain), 1), |case| {
        let pair = case.pair();
        let ([mut with, _], mut by_area) = (workspaces(DOMAIN, case.layers.len()), without_corners(case.layers.len()));
        prop_assert!(with.propagate(&pair, &case.lower, &case.upper).is_some());
        prop_assert!(by_area.propagate(&pair, &case.lower, &case.upper).is_some());
        let (tighter, looser) = tighter_and_looser(with.layers(), by_area.layers());
        better.set(better.get() + tighter);
        worse.set(worse.get() + looser);
        Ok(())
    });
    assert!(better.get() > 1000 && better.get() > 2 * worse.get(), "{better:?} {worse:?}");
}

/// So they are above clips, leaky ReLUs and quantisers, where no ReLU stands below.
#[test]
fn slopes_by_corners_are_tighter_behind_other_functions() {
    let (better, worse) = (Cell::new(0), Cell::new(0));
    for_all(12_000, sequences(6, Just(Scale::Plain), 1), |case| {
        let pair = case.pair();
        let relu = |s: usize| pair.first[s].function.is_relu() || pair.second[s].function.is_relu();
        if !pair.is_sequence() || (0..pair.depth()).any(relu) {
            return Ok(());
        }
        let ([mut with, _], mut by_area) = (workspaces(DOMAIN, pair.depth()), without_corners(pair.depth()));
        if with.propagate(&pair, &case.lower, &case.upper).is_none()
            || by_area.propagate(&pair, &case.lower, &case.upper).is_none()
        {
            return Ok(());
        }
        let (tighter, looser) = tighter_and_looser(with.layers(), by_area.layers());
        better.set(better.get() + tighter);
        worse.set(worse.get() + looser);
        Ok(())
    });
    assert!(better.get() > 100 && better.get() > worse.get(), "{better:?} {worse:?}");
}

/// A neuron that back-substitution calls inactive is left out on the parts of the box.
#[test]
fn what_is_left_out_on_a_part_of_a_box_is_zero_there() {
    let left_out = Cell::new(0);
    for_all(1500, cases(3..=5, 1..=4, 1..=4, any_scale(), 2), |case| {
        let (pair, truths) = (case.pair(), case.truths());
        let [mut reach, _] = workspaces(DOMAIN, case.layers.len());
        prop_assert!(reach.propagate(&pair, &case.lower, &case.upper).is_some());
        let mut narrowed = RestrictedPair::new(&pair);
        narrowed.restrict_to(None);
        let active = narrowed.possibly_active(&reach).expect("a chain");
        let middle = case.lower[0] + 0.5 * (case.upper[0] - case.lower[0]);
        for low in [false, true] {
            let (mut lower, mut upper) = (case.lower.clone(), case.upper.clone());
            (if low { &mut upper } else { &mut lower })[0] = middle;
            prop_assert!(reach.propagate(narrowed.restrict_to(Some(&active)), &lower, &upper).is_some());
            left_out.set(
                left_out.get()
                    + (0..pair.depth()).map(|l| pair.first[l].rows - narrowed.neurons(l).len()).sum::<usize>(),
            );
            for e in &case.points {
                follow_narrowed(&truths, &reach, DOMAIN, e, &mut Phases::default(), |l| narrowed.neurons(l).to_vec())?;
            }
        }
        Ok(())
    });
    assert!(left_out.get() > 1000, "{left_out:?}");
}

/// The published method and its ablation stay as published, to the bit.
#[test]
fn the_other_domains_do_without() {
    let compared = Cell::new(0);
    for_all(300, cases(3..=5, 1..=4, 1..=4, any_scale(), 1), |case| {
        let pair = case.pair();
        for domain in [AbstractDomain::Published, AbstractDomain::Independent] {
            let [mut with, mut without] = workspaces(domain, case.layers.len());
            let reached = [&mut with, &mut without].map(|r| r.propagate(&pair, &case.lower, &case.upper).is_some());
            prop_assert_eq!(reached, [true; 2]);
            for (a, b) in with.layers().iter().zip(without.layers()) {
                let bounds = |s: &LayerState| [&s.x, &s.y, &s.d].map(|k| (k.lower.clone(), k.upper.clone()));
                prop_assert_eq!(bounds(a), bounds(b));
                compared.set(compared.get() + 1);
            }
        }
        Ok(())
    });
    assert!(compared.get() > 1000);
}
