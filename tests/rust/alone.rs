//! Contraction of one network by itself: it never excludes what happens, bounds what is left of it from above, and
//! excludes what is far from happening. So do parts of it under assumed signs, which cover what they are made of.

use crate::assumed::{Draw, Values, draws, prepare, violation};
use crate::random::{Case, Scale, cases, for_all};
use eqspec::bound::{Alone, AloneBudget, Assumption, ContractionBudget, Contractor, PartAlone, PartResult};
use eqspec::domain::intermediate_bounds::PhaseConstraint;
use eqspec::domain::{IntermediateBounds, Quantity};
use eqspec::network::Pair;
use proptest::prelude::*;
use std::cell::{Cell, RefCell};

const BUDGET: AloneBudget =
    AloneBudget { rounds: 6, steps: 6, rate: 0.07, gain: 0.97, work: u64::MAX, whole: false, hulls: 6 };

/// What is assumed of which network.
#[derive(Debug, Clone, Copy, PartialEq)]
enum About {
    /// A violation over the outputs of f1, with its guard.
    First,
    /// A violation over the outputs of f2, whose guard is left out.
    Second,
    /// That f1 meets the guard.
    Guard,
}

fn abouts() -> impl Strategy<Value = About> {
    prop_oneof![Just(About::First), Just(About::Second), Just(About::Guard)]
}

/// A pair, what happens at samples, bounds, and an assumption about one network that holds at some sample.
fn question(case: &Case, mut draw: Draw, about: About) -> Option<(Pair, Vec<Values>, IntermediateBounds, Assumption)> {
    draw.split = false;
    let zeros = vec![0.0; 4];
    let [first, second, _] = draw.violation.clone();
    draw.violation = match about {
        About::Second => [zeros.clone(), second, zeros],
        About::First | About::Guard => [first, zeros.clone(), zeros],
    };
    let (pair, values, bounds, assumption) = prepare(case, &draw)?;
    let assumption = match about {
        About::First => assumption,
        About::Second => assumption.without_guard(),
        About::Guard if assumption.rows() == 0 => return None,
        About::Guard => assumption.of_guard_row(0),
    };
    Some((pair, values, bounds, assumption))
}

/// The same question about the network that it speaks of, paired with itself.
fn of_twins(
    pair: &Pair,
    bounds: &IntermediateBounds,
    assumption: &Assumption,
) -> Option<(Pair, IntermediateBounds, Assumption)> {
    let network = assumption.speaks_of()?;
    let [first, second] = pair.twins().expect("a network in step with itself");
    let own = if network == Quantity::First { first } else { second };
    let assumption = assumption.clone().of_twins()?;
    assert_eq!(assumption.speaks_of(), Some(Quantity::First));
    Some((own, bounds.of_twins(network), assumption))
}

#[derive(Debug, Default)]
struct Seen {
    alive: usize,
    excluded: usize,
    open: usize,
    shortened: usize,
    twins: usize,
}

#[test]
fn what_happens_in_one_network_is_never_excluded() {
    let seen = RefCell::new(Seen::default());
    let pairs = cases(1..=4, 1..=4, 1..=4, prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)], 3);
    // How far the assumption is moved away from what happens, and how many neurons a round may bound.
    let choices =
        (any::<bool>(), any::<bool>(), prop_oneof![Just(0.0), 0.0f64..2.0], prop_oneof![Just(u64::MAX), 0u64..4000]);
    for_all(1200, (pairs, draws(), abouts(), choices), |(case, draw, about, (singles, paired, shift, work))| {
        let Some((pair, values, bounds, mut assumption)) = question(&case, draw, about) else { return Ok(()) };
        assumption.constant -= shift;
        let of_pair = (pair.clone(), bounds.clone(), assumption.clone());
        let twins = of_twins(&pair, &bounds, &assumption).filter(|_| paired);
        seen.borrow_mut().twins += usize::from(twins.is_some());
        let (pair, bounds, asked) = twins.unwrap_or(of_pair);
        let mut contractor = Contractor::new(&pair).in_singles(singles);
        let result = contractor.exclude_alone(bounds, &asked, AloneBudget { work, ..BUDGET }, || false);
        let alive: Vec<&Values> = values.iter().filter(|v| v.satisfies(&assumption, &[])).collect();
        let mut seen = seen.borrow_mut();
        seen.alive += alive.len();
        seen.shortened += usize::from(work < u64::MAX);
        match result {
            Alone::Excluded => {
                seen.excluded += 1;
                prop_assert!(alive.is_empty(), "{about:?} happens and was called impossible: {assumption:?}");
            }
            Alone::Open(bound) => {
                seen.open += 1;
                for value in alive {
                    prop_assert!(violation(&assumption, value) <= bound, "{about:?} is beyond {bound}");
                }
            }
        }
        Ok(())
    });
    let seen = seen.into_inner();
    assert!(
        seen.alive > 500 && seen.excluded > 50 && seen.open > 200 && seen.shortened > 200 && seen.twins > 200,
        "{seen:?}"
    );
}

/// Nothing else is weighed than the outputs of one network, or nothing is concluded.
#[test]
fn an_assumption_about_both_networks_is_left_open() {
    let refused = Cell::new(0);
    let pairs = cases(1..=3, 1..=3, 2..=3, Just(Scale::Plain), 2);
    for_all(200, (pairs, draws()), |(case, mut draw)| {
        draw.split = false;
        let Some((pair, _, bounds, mut assumption)) = prepare(&case, &draw) else { return Ok(()) };
        let speaks = assumption.speaks_of();
        let weighed = [&assumption.first, &assumption.second, &assumption.difference];
        let count = weighed.iter().filter(|v| v.iter().any(|c| *c != 0.0)).count();
        let of_one = count == 1 && assumption.difference.iter().all(|c| *c == 0.0);
        prop_assert_eq!(speaks.is_some(), of_one);
        prop_assert_ne!(speaks, Some(Quantity::Difference));
        if speaks.is_none() {
            assumption.constant -= 1e9;
            let left = Contractor::new(&pair).exclude_alone(bounds, &assumption, BUDGET, || false);
            prop_assert_eq!(left, Alone::Open(f64::INFINITY));
            refused.set(refused.get() + 1);
        }
        Ok(())
    });
    assert!(refused.get() > 50, "{refused:?}");
}

#[test]
fn what_is_far_from_happening_is_excluded_and_a_contractor_is_itself_again() {
    let pairs = cases(1..=3, 1..=4, 1..=4, Just(Scale::Plain), 3);
    for_all(200, (pairs, draws(), abouts()), |(case, draw, about)| {
        let Some((pair, _, bounds, assumption)) = question(&case, draw, about) else { return Ok(()) };
        let Some(_) = assumption.speaks_of() else { return Ok(()) };
        let mut far = assumption.clone();
        far.constant -= 1e6;
        let mut contractor = Contractor::new(&pair);
        prop_assert_eq!(contractor.exclude_alone(bounds.clone(), &far, BUDGET, || false), Alone::Excluded);
        // What it left behind changes no later bound.
        let steps = ContractionBudget::default().steps;
        let before = Contractor::new(&pair).bound_violation(&bounds, &assumption, steps, || false).0;
        let after = contractor.bound_violation(&bounds, &assumption, steps, || false).0;
        prop_assert_eq!(before.to_bits(), after.to_bits());
        Ok(())
    });
}

/// Whether what happens in one network is inside the bounds and the signs of a part.
fn is_inside(part: &PartAlone, network: Quantity, value: &Values, assumption: &Assumption) -> bool {
    let own = |c: &PhaseConstraint| PhaseConstraint { quantity: network, ..*c };
    let signs: Vec<PhaseConstraint> = part.bounds.phase_constraints.iter().map(own).collect();
    value.satisfies(assumption, &signs)
}

#[test]
fn parts_cover_what_happens_in_one_network_and_none_is_closed_where_it_does() {
    #[derive(Debug, Default)]
    struct Parts {
        alive: usize,
        halved: usize,
        excluded: usize,
        closed: usize,
    }
    let seen = RefCell::new(Parts::default());
    let budget = AloneBudget { rounds: 2, steps: 3, whole: true, ..BUDGET };
    let pairs = cases(2..=4, 2..=4, 1..=4, prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)], 3);
    let shifts = prop_oneof![2 => Just(0.0), 1 => 0.0f64..2.0];
    for_all(400, (pairs, draws(), abouts(), any::<bool>(), shifts), |(case, draw, about, singles, shift)| {
        let Some((pair, values, bounds, mut assumption)) = question(&case, draw, about) else { return Ok(()) };
        assumption.constant -= shift;
        let Some((twins, bounds, asked)) = of_twins(&pair, &bounds, &assumption) else { return Ok(()) };
        let network = assumption.speaks_of().expect("one network");
        let mut contractor = Contractor::new(&twins).in_singles(singles);
        let mut waiting = vec![PartAlone::whole(bounds)];
        for _ in 0..24 {
            let Some(part) = waiting.pop() else { break };
            let inside: Vec<&Values> =
                values.iter().filter(|value| is_inside(&part, network, value, &assumption)).collect();
            let mut seen = seen.borrow_mut();
            seen.alive += inside.len();
            match contractor.exclude_part(part, &asked, budget, || false) {
                PartResult::Excluded => {
                    seen.excluded += 1;
                    prop_assert!(inside.is_empty(), "{about:?} happens and was called impossible: {assumption:?}");
                }
                PartResult::Stuck => waiting.clear(),
                PartResult::Open(halves) => {
                    seen.halved += 1;
                    for value in inside {
                        prop_assert!(violation(&assumption, value) <= halves[0].bound);
                        let own = if network == Quantity::First { &value.x } else { &value.y };
                        let mut covered = false;
                        for half in halves.iter().filter(|half| is_inside(half, network, value, &assumption)) {
                            covered = true;
                            for (layer, known) in own.iter().zip(&half.bounds.layers) {
                                for (v, (l, u)) in layer.iter().zip(known.x.lower.iter().zip(&known.x.upper)) {
                                    prop_assert!(*v >= *l && *v <= *u, "{v:?} outside {l}..{u}");
                                }
                            }
                        }
                        prop_assert!(covered, "an input of the part is in neither half");
                    }
                    waiting.extend(*halves);
                }
            }
            seen.closed += usize::from(waiting.is_empty());
        }
        Ok(())
    });
    let seen = seen.into_inner();
    assert!(seen.alive > 300 && seen.halved > 200 && seen.excluded > 80 && seen.closed > 50, "{seen:?}");
}
