//! The invariant of a differential zonotope: at every input of the box one assignment of the generators reproduces x, y
//! and x - y at every neuron of every layer, within the error radius that each form carries. Checked without rounding,
//! so the radius really has to cover the arithmetic.

use crate::exact::exact;
use crate::random::{Case, Scale, Weights, any_scale, cases, extreme_scale, for_all};
use crate::trace::{Phases, follow, follow_narrowed};
use eqspec::domain::affine::Extent;
use eqspec::domain::columns::Columns;
use eqspec::domain::layer_state::LayerState;
use eqspec::domain::phase::Bounds;
use eqspec::domain::{AbstractDomain, Propagation, RestrictedPair};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};

/// What a run met.
#[derive(Default, Debug)]
struct Seen {
    phases: Phases,
    overflows: usize,
    boxes: usize,
    /// Bounds of x, y or d that are tighter than their own form gives.
    narrowed: usize,
}

/// How many bounds of a layer the other two quantities have narrowed.
fn narrowed(layer: &LayerState) -> usize {
    let forms = [
        (&layer.z1, &layer.extent1, &layer.x),
        (&layer.z2, &layer.extent2, &layer.y),
        (&layer.d_common, &layer.extent_d, &layer.d),
    ];
    let by = |(form, extent, bounds): &(&Columns, &Extent, &Bounds)| {
        let own = |i: usize| extent.magnitude[i] + extent.err[i];
        (0..form.rows())
            .filter(|&i| {
                bounds.upper[i] < form.column(0)[i] + 0.9 * own(i) || bounds.lower[i] > form.column(0)[i] - 0.9 * own(i)
            })
            .count()
    };
    forms.iter().map(by).sum()
}

fn contained(case: &Case, domain: AbstractDomain, seen: &mut Seen) -> Result<(), TestCaseError> {
    let (pair, truths) = (case.pair(), case.truths());
    let mut reach = Propagation::new(domain, pair.depth());
    if reach.propagate(&pair, &case.lower, &case.upper).is_none() {
        seen.overflows += 1;
        return Ok(());
    }
    seen.boxes += 1;
    if domain == AbstractDomain::Reduced {
        seen.narrowed += reach.layers().iter().map(narrowed).sum::<usize>();
    }
    for (i, (&c, &r)) in reach.centre().iter().zip(reach.radius()).enumerate() {
        let (c, r) = (exact(c), exact(r));
        prop_assert!(
            &c - &r <= case.lower[i] && &c + &r >= case.upper[i],
            "the generators leave out a part of the box"
        );
    }
    for e in &case.points {
        follow(&truths, &reach, domain, e, &mut seen.phases)?;
    }
    Ok(())
}

fn run(domain: AbstractDomain, scale: impl Strategy<Value = Scale> + Clone + 'static) -> Seen {
    let seen = RefCell::new(Seen::default());
    let strategy = cases(1..=4, 1..=5, 1..=8, scale, 3);
    for_all(4000, strategy, |case| contained(&case, domain, &mut seen.borrow_mut()));
    seen.into_inner()
}

fn contains(domain: AbstractDomain) {
    let seen = run(domain, any_scale());
    assert!(seen.phases.0.iter().flatten().all(|&n| n >= 20), "some pair of phases hardly occurred: {seen:?}");
    assert!(domain != AbstractDomain::Reduced || seen.narrowed >= 100, "bounds were hardly ever exchanged: {seen:?}");
    assert_eq!(seen.overflows, 0);
}

#[test]
fn the_shared_domain_contains_what_happens() {
    contains(AbstractDomain::Reduced);
}

#[test]
fn the_published_domain_contains_what_happens() {
    contains(AbstractDomain::Published);
}

#[test]
fn the_naive_domain_contains_what_happens() {
    contains(AbstractDomain::Independent);
}

/// Neurons that are inactive on a box are not computed on its halves, nor those of a half on its halves, and still everything is contained there; also when one
/// goes back to where more neurons were left.
#[test]
fn what_is_left_out_on_a_part_of_a_box_is_zero_there() {
    let (left_out, without_any) = (Cell::new(0), Cell::new(0));
    let check = |case: Case, domain: AbstractDomain| {
        let (pair, truths) = (case.pair(), case.truths());
        let mut reach = Propagation::new(domain, pair.depth());
        prop_assert!(reach.propagate(&pair, &case.lower, &case.upper).is_some());
        let mut narrowed = RestrictedPair::new(&pair);
        narrowed.restrict_to(None);
        let alive = narrowed.possibly_active(&reach).expect("a chain");
        for (low, deeper) in [(false, false), (false, true), (true, false), (true, true)] {
            let (mut lower, mut upper) = (case.lower.clone(), case.upper.clone());
            for _ in 0..=usize::from(deeper) {
                let middle = lower[0] + 0.5 * (upper[0] - lower[0]);
                (if low { &mut upper } else { &mut lower })[0] = middle;
            }
            let within = if deeper { narrowed.possibly_active(&reach).expect("a chain") } else { alive.clone() };
            prop_assert!(reach.propagate(narrowed.restrict_to(Some(&within)), &lower, &upper).is_some());
            for (l, affine) in pair.first.iter().enumerate() {
                left_out.set(left_out.get() + affine.rows - narrowed.neurons(l).len());
                without_any.set(without_any.get() + usize::from(narrowed.neurons(l).is_empty()));
            }
            let left = |l: usize| narrowed.neurons(l).to_vec();
            for e in &case.points {
                follow_narrowed(&truths, &reach, domain, e, &mut Phases::default(), left)?;
            }
        }
        Ok(())
    };
    for domain in [AbstractDomain::Reduced, AbstractDomain::Published, AbstractDomain::Independent] {
        for_all(1000, cases(2..=4, 1..=5, 1..=8, any_scale(), 2), |case| check(case, domain));
    }
    // Wide enough that some inactive neurons stay, to fill registers.
    for_all(50, cases(2..=3, 1..=3, 12..=20, any_scale(), 2), |case| check(case, AbstractDomain::Reduced));
    assert!(left_out.get() > 1000 && without_any.get() > 20, "{left_out:?} and {without_any:?}");
}

/// Rounding a weight of 1e160 is worth 1e143, and times the smallest number still more than the smallest number.
#[test]
fn an_error_that_underflows_alone_is_paid_for() {
    let layer = |w: f64| Weights { weight: vec![vec![w]], bias: vec![0.0], uncertain: None };
    let layers = vec![[layer(1.048_774_288_346_474_1e159), layer(-8.271_185_581_626_208e159)]];
    let case = Case { layers, lower: vec![0.0], upper: vec![0.0], points: vec![vec![-1.0]] };
    contained(&case, AbstractDomain::Published, &mut Seen::default()).unwrap();
}

#[test]
fn numbers_that_overflow_and_underflow_are_contained_or_given_up() {
    for domain in [AbstractDomain::Reduced, AbstractDomain::Published, AbstractDomain::Independent] {
        let seen = run(domain, extreme_scale());
        assert!(seen.overflows > 100 && seen.boxes > 100, "{seen:?}");
    }
}
