//! Memory that an earlier search has left, and too little of it: a propagation finds the same bounds, bit by bit, or none.

use crate::programs::programs;
use crate::random::{any_scale, for_all};
use eqspec::domain::columns::Columns;
use eqspec::domain::propagation::Failure;
use eqspec::domain::{AbstractDomain, Propagation};
use eqspec::network::Pair;
use proptest::prelude::*;
use std::cell::Cell;

/// The bits of all bounds and forms of a propagation.
fn bits(pair: &Pair, domain: AbstractDomain, lower: &[f64], upper: &[f64]) -> Option<Vec<u64>> {
    let mut propagation = Propagation::new(domain, pair.depth());
    propagation.propagate(pair, lower, upper)?;
    let of_step = propagation.layers().iter().flat_map(|layer| {
        let forms = [&layer.z1, &layer.z2, &layer.d_common, &layer.d_rest].map(Columns::all);
        let bounds = [&layer.x, &layer.y, &layer.d].map(|b| b.lower.iter().chain(&b.upper));
        forms.into_iter().flatten().chain(bounds.into_iter().flatten()).map(|v| v.to_bits()).collect::<Vec<_>>()
    });
    Some(of_step.collect())
}

#[test]
fn what_an_earlier_search_has_left_changes_no_bit() {
    let seen = Cell::new(0);
    for_all(300, (programs(6, any_scale(), 3), programs(6, any_scale(), 3)), |(case, other)| {
        let pair = case.pair();
        for domain in [AbstractDomain::Reduced, AbstractDomain::Independent] {
            let first = bits(&pair, domain, &case.lower, &case.upper);
            for again in [&other, &case] {
                bits(&again.pair(), AbstractDomain::Reduced, &again.lower, &again.upper);
                prop_assert_eq!(&first, &bits(&pair, domain, &case.lower, &case.upper));
            }
            seen.set(seen.get() + usize::from(first.is_some()));
        }
        Ok(())
    });
    assert!(seen.get() > 200, "{} propagations", seen.get());
}

/// The bits of all bounds of a propagation with so much memory, and whether forms in front of functions were given up.
fn bounds_within(pair: &Pair, memory: usize, lower: &[f64], upper: &[f64]) -> Result<(Vec<u64>, bool), Failure> {
    let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth()).with_memory(memory);
    propagation.enclose(pair, lower, upper)?;
    let of_step = propagation.layers().iter().flat_map(|layer| {
        let bounds = [&layer.x, &layer.y, &layer.d].map(|b| b.lower.iter().chain(&b.upper));
        bounds.into_iter().flatten().map(|v| v.to_bits()).collect::<Vec<_>>()
    });
    Ok((of_step.collect(), propagation.layers().iter().any(|layer| layer.z1.is_empty())))
}

#[test]
fn with_less_memory_bounds_are_the_same_or_there_are_none() {
    let (given_up, refused) = (Cell::new(0), Cell::new(0));
    for_all(300, programs(8, any_scale(), 3), |case| {
        let pair = case.pair();
        let Ok((bits, false)) = bounds_within(&pair, usize::MAX, &case.lower, &case.upper) else { return Ok(()) };
        for kilobytes in [0, 1, 2, 4, 8, 16] {
            match bounds_within(&pair, kilobytes << 10, &case.lower, &case.upper) {
                Ok((again, dropped)) => {
                    prop_assert_eq!(&bits, &again);
                    given_up.set(given_up.get() + usize::from(dropped));
                }
                Err(failure) => {
                    prop_assert_eq!(failure, Failure::TooLarge);
                    refused.set(refused.get() + 1);
                }
            }
        }
        Ok(())
    });
    let (given_up, refused) = (given_up.get(), refused.get());
    assert!(given_up > 50 && refused > 50, "{given_up} given up, {refused} too large");
}
