//! Contraction of what costs a violation most: no input that violates is lost, of programs and with any guard, and bounds
//! become better.

use crate::assumed::{Draw, contains, draws, prepare};
use crate::programs::{Programs, programs};
use crate::random::{any_scale, for_all};
use eqspec::bound::{Contractor, Near, NearBudget};
use proptest::prelude::*;
use std::cell::Cell;

const BUDGET: NearBudget = NearBudget { work: 100_000_000, functionals: (6, 1), steps: 8, gain: 2.0 };

/// Cases in which the violation stays possible, inputs that violate there, and bounds that are better than they were.
fn check(case: &Programs, draw: &Draw, singles: bool, seen: &Cell<[usize; 3]>) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let mut contractor = Contractor::new(&pair).in_singles(singles);
    let (first, multipliers) = contractor.bound_violation(&bounds, &assumption, 4, || false);
    let known = Near { bounds: bounds.clone(), multipliers };
    let rounds = Cell::new(0);
    // It goes on as long as it is allowed to: a few rounds are enough here.
    let stop = || {
        rounds.set(rounds.get() + 1);
        rounds.get() > 40
    };
    let left = contractor.contract_costliest((first, &known), &assumption, (BUDGET, 4), stop);
    let violating = values.iter().filter(|v| v.satisfies(&assumption, &bounds.phase_constraints));
    let [mut open, mut kept, mut better] = seen.get();
    match &left {
        None => {
            prop_assert_eq!(violating.count(), 0, "a violation that happens was excluded: {:?}", assumption);
        }
        Some(near) => {
            open += 1;
            for value in violating {
                kept += 1;
                prop_assert!(contains(&near.bounds, value));
            }
            better += usize::from(format!("{:?}", near.bounds) != format!("{bounds:?}"));
        }
    }
    seen.set([open, kept, better]);
    Ok(())
}

#[test]
fn contraction_of_the_costliest_loses_no_violation() {
    let seen = Cell::new([0; 3]);
    for_all(100, (programs(6, any_scale(), 3), draws(), any::<bool>()), |(case, draw, singles)| {
        check(&case, &draw, singles, &seen)
    });
    // Every one of these violations happens at some input.
    let [open, kept, better] = seen.get();
    assert!(open > 50 && kept > 50 && better > 30, "{seen:?}");
}
