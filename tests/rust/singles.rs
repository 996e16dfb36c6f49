//! Multipliers that are sought in single precision: whatever comes of that search, bounds are true, and where singles do
//! not serve it is the search in f64.

use crate::assumed::{Draw, Networks, Values, contains, draws, functionals, prepare, violation};
use crate::programs::programs;
use crate::random::{Case, Scale, any_scale, cases, extreme_scale, for_all};
use eqspec::bound::backward::Backward;
use eqspec::bound::parameters::Parameters;
use eqspec::bound::{Contraction, ContractionBudget, ContractionResult, Contractor};
use eqspec::domain::{AbstractDomain, Propagation};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::{Cell, RefCell};

/// Any single at all: bits, and numbers that are likely.
fn any_single() -> impl Strategy<Value = f32> {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -f32::MAX, f32::MIN_POSITIVE, -0.0, 1.5, -0.5];
    prop_oneof![
        12 => -1.0f32..2.0,
        1 => any::<u32>().prop_map(f32::from_bits),
        1 => proptest::sample::select(odd.to_vec()),
    ]
}

/// Every multiplier of a batch.
fn all_values(p: &mut Parameters<f32>) -> impl Iterator<Item = &mut f32> {
    let layers = p.layers.iter_mut().flat_map(|l| [&mut l.link, &mut l.alpha1, &mut l.alpha2]);
    let others = [&mut p.guard, &mut p.violation, &mut p.output, &mut p.phases, &mut p.region];
    others.into_iter().chain(layers).flat_map(|kind| kind.value.iter_mut())
}

/// Bounds with whatever singles a search left behind, of all functionals and of the first one alone.
fn check_taken(
    case: &impl Networks,
    draw: &Draw,
    numbers: &[f32],
    seen: &Cell<[usize; 3]>,
) -> Result<(), TestCaseError> {
    let Some((pair, values, bounds, assumption)) = prepare(case, draw) else { return Ok(()) };
    let mut backward = Backward::new(&pair);
    backward.set_bounds(&bounds);
    let every = functionals(&pair);
    for functionals in [&every[..], &every[..1]] {
        let mut batch = backward.start(&every, &assumption);
        let mut singles = batch.in_singles();
        all_values(&mut singles).zip(numbers.iter().cycle()).for_each(|(v, n)| *v = *n);
        let mut taken = backward.start(functionals, &assumption);
        let before = format!("{:?}", taken.layers);
        let relevant = functionals.len() < every.len() || all_values(&mut singles).all(|v| v.is_finite());
        let fits = taken.take(&singles);
        if functionals.len() == every.len() {
            prop_assert_eq!(fits, relevant, "what is not finite is not taken over");
        }
        let [met, refused, useful] = seen.get();
        seen.set([met + 1, refused + usize::from(!fits), useful]);
        if !fits {
            prop_assert_eq!(before, format!("{:?}", taken.layers), "refused, but changed");
            continue;
        }
        let found = backward.evaluate(functionals, &assumption, &taken).to_vec();
        for value in values.iter().filter(|v| v.satisfies(&assumption, &bounds.phase_constraints)) {
            for (&functional, &bound) in functionals.iter().zip(&found).filter(|(_, b)| !b.is_nan()) {
                let truth = value.functional(functional, &assumption);
                prop_assert!(truth >= bound, "{functional:?} is {truth:?}, below {bound:e} of {assumption:?}");
                let [met, refused, useful] = seen.get();
                seen.set([met, refused, useful + usize::from(bound.is_finite())]);
            }
        }
    }
    Ok(())
}

#[test]
fn any_singles_give_true_bounds_or_are_refused() {
    let seen = Cell::new([0; 3]);
    let numbers = || vec(any_single(), 61);
    let mild = || vec(-1.0f32..2.0, 61);
    let pairs = || cases(1..=3, 1..=4, 1..=4, any_scale(), 3);
    for_all(200, (pairs(), draws(), numbers()), |(case, draw, numbers)| check_taken(&case, &draw, &numbers, &seen));
    for_all(300, (pairs(), draws(), mild()), |(case, draw, numbers)| check_taken(&case, &draw, &numbers, &seen));
    for_all(200, (programs(5, any_scale(), 3), draws(), mild()), |(case, draw, numbers)| {
        check_taken(&case, &draw, &numbers, &seen)
    });
    let [met, refused, useful] = seen.get();
    assert!(met > 800 && refused > 100 && useful > 4000, "{seen:?}");
}

/// A gradient that is not finite is refused, too: it would stay so.
#[test]
fn multipliers_whose_gradients_overflowed_are_refused() {
    for_all(50, (cases(2..=3, 2..=3, 2..=3, Just(Scale::Plain), 1), draws()), |(case, draw)| {
        let Some((pair, _, bounds, assumption)) = prepare(&case, &draw) else { return Ok(()) };
        let mut backward = Backward::new(&pair);
        backward.set_bounds(&bounds);
        let mut current = backward.start(&functionals(&pair), &assumption);
        let mut singles = current.in_singles();
        let slopes = &mut singles.layers[0].alpha1;
        let gradient = vec![f32::NAN; slopes.value.len()];
        slopes.ascend(&gradient, 0.1, 1, (0.0, 1.0));
        prop_assert!(slopes.value.iter().all(|v| v.is_finite()), "brought back into the range");
        prop_assert!(!current.take(&singles));
        current.reset_moments();
        current.layers[0].alpha1.ascend(&vec![1.0; gradient.len()], 0.1, 1, (0.0, 1.0));
        prop_assert!(current.layers[0].alpha1.value.iter().all(|v| *v > 0.0));
        Ok(())
    });
}

type Run = Result<Box<Contraction>, ()>;

/// A contraction, in f64 and in singles.
fn contracted(case: &impl Networks, draw: &Draw, steps: i32) -> Option<([Run; 2], Vec<Values>)> {
    let (pair, values, bounds, assumption) = prepare(case, draw)?;
    let budget = ContractionBudget { rounds: 2, steps, ..ContractionBudget::default() };
    let run = |singles: bool| {
        let mut propagation = Propagation::new(AbstractDomain::Reduced, pair.depth());
        let mut contractor = Contractor::new(&pair).in_singles(singles);
        match contractor.contract(bounds.clone(), None, &assumption, budget, &mut propagation, || false) {
            ContractionResult::Proved => Err(()),
            ContractionResult::Open(left) => Ok(left),
        }
    };
    let runs = [run(false), run(true)];
    let alive = values.into_iter().filter(|v| v.satisfies(&assumption, &bounds.phase_constraints));
    let alive: Vec<Values> = alive.collect();
    let lost = |run: &Run| {
        let kept = |v: &Values| {
            run.as_ref().is_ok_and(|left| contains(&left.bounds, v) && violation(&assumption, v) <= left.bound)
        };
        !alive.iter().all(kept)
    };
    assert!(!lost(&runs[0]) && !lost(&runs[1]), "an input that violates was lost: {assumption:?}");
    Some((runs, alive))
}

fn check_contraction(case: &impl Networks, draw: &Draw, seen: &RefCell<[usize; 4]>) {
    let Some(([plain, singles], alive)) = contracted(case, draw, 20) else { return };
    let mut seen = seen.borrow_mut();
    seen[0] += alive.len();
    if let (Ok(plain), Ok(singles)) = (plain, singles) {
        seen[1] += 1;
        seen[2] += usize::from(singles.bound > 1.2 * plain.bound.abs() + 1e-6);
        seen[3] += usize::from(format!("{:?}", plain.bounds) != format!("{:?}", singles.bounds));
    }
}

#[test]
fn contraction_in_singles_keeps_every_input_that_violates() {
    let seen = RefCell::new([0; 4]);
    let plain = || prop_oneof![3 => Just(Scale::Plain), 1 => Just(Scale::Quarters)];
    for_all(150, (cases(1..=3, 1..=4, 1..=4, plain(), 3), draws()), |(case, draw)| {
        check_contraction(&case, &draw, &seen);
        Ok(())
    });
    for_all(150, (programs(5, plain(), 3), draws()), |(case, draw)| {
        check_contraction(&case, &draw, &seen);
        Ok(())
    });
    let [alive, open, worse, other] = *seen.borrow();
    assert!(alive > 200 && open > 100 && other > 50, "{seen:?}");
    // Twenty steps are few, and where an input attains the violation both bounds come close to 0 at paces of their own.
    assert!(4 * worse <= open, "in singles bounds are much worse too often: {seen:?}");
    for_all(100, (cases(1..=3, 1..=4, 1..=4, any_scale(), 3), draws()), |(case, draw)| {
        check_contraction(&case, &draw, &seen);
        Ok(())
    });
    for_all(100, (programs(5, extreme_scale(), 3), draws()), |(case, draw)| {
        check_contraction(&case, &draw, &seen);
        Ok(())
    });
}

/// What does not fit singles is contracted in f64, bit for bit, and so is what is done twice.
#[test]
fn what_does_not_fit_singles_is_contracted_in_f64() {
    let open = Cell::new(0);
    for_all(200, (cases(1..=3, 1..=4, 1..=4, Just(Scale::Plain), 3), draws()), |(mut case, mut draw): (Case, Draw)| {
        draw.confident = false;
        case.layers[0][0].bias[0] = 1e60;
        let Some(([plain, singles], _)) = contracted(&case, &draw, 12) else { return Ok(()) };
        prop_assert_eq!(plain.is_ok(), singles.is_ok());
        if let (Ok(plain), Ok(singles)) = (plain, singles) {
            open.set(open.get() + 1);
            prop_assert_eq!(plain.bound.to_bits(), singles.bound.to_bits());
            prop_assert_eq!(format!("{:?}", plain.bounds), format!("{:?}", singles.bounds));
        }
        Ok(())
    });
    assert!(open.get() > 50, "{open:?}");
    for_all(60, (cases(2..=3, 1..=4, 1..=4, Just(Scale::Plain), 2), draws()), |(case, draw)| {
        let twice = [(); 2].map(|()| contracted(&case, &draw, 12).map(|(runs, _)| format!("{:?}", runs[1])));
        prop_assert_eq!(&twice[0], &twice[1]);
        Ok(())
    });
}
