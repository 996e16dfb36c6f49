//! Memory that an earlier search has left: a propagation in it finds the same bounds, bit by bit, whatever stood there.

use crate::programs::programs;
use crate::random::{any_scale, for_all};
use eqspec::domain::columns::Columns;
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
