//! Bounding a box takes no memory from the allocator once the workspace has seen the shapes: counted, not timed.
#![allow(missing_docs, unsafe_code, clippy::unwrap_used)]

use eqspec::domain::output::GeneratorRow;
use eqspec::domain::published_score::PublishedScore;
use eqspec::domain::sensitivity::Sensitivity;
use eqspec::domain::{AbstractDomain, Propagation, Quantity, RestrictedPair};
use eqspec::lp::certified::{self, Scratch};
use eqspec::lp::dual::StoppingRule;
use eqspec::lp::{Dual, Multipliers, RegionRow};
use eqspec::network::eval::{Evaluation, Evaluator};
use eqspec::network::{Affine, Pair};
use eqspec::property::{Certainty, ObligationSet, Violation, top1};
use ndarray::{Array1, Array2};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting what this thread takes.
struct Counting;

// Sound because every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.set(TAKEN.get() + 1);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        TAKEN.set(TAKEN.get() + 1);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn taken(work: impl FnOnce()) -> usize {
    let before = TAKEN.get();
    work();
    TAKEN.get() - before
}

/// Weights that look random and have zeros; the candidate's are a little off.
fn pair(sizes: &[usize]) -> Pair {
    let mut state = 1u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1u32 << 23) - 1.0
    };
    let mut layers = [Vec::new(), Vec::new()];
    for size in sizes.windows(2) {
        let weight = Array2::from_shape_simple_fn((size[1], size[0]), || number().max(-0.8));
        let bias = Array1::from_shape_simple_fn(size[1], &mut number);
        let other = weight.mapv(|w| if w < -0.7 { 0.0 } else { w * 0.99 });
        layers[0].push(Affine::new(weight.view(), bias.view(), None, None).unwrap());
        layers[1].push(Affine::new(other.view(), bias.view(), None, None).unwrap());
    }
    let [first, second] = layers;
    Pair::new(first, second).unwrap()
}

/// The unit box, halved along one input after another.
fn boxes(inputs: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let (mut lower, mut upper) = (vec![-1.0; inputs], vec![1.0; inputs]);
    let mut boxes = vec![(lower.clone(), upper.clone())];
    for i in 0..24 {
        let (l, u) = (&mut lower[i % inputs], &mut upper[i % inputs]);
        let middle = 0.5 * (*l + *u);
        if i % 3 == 0 {
            *l = middle;
        } else {
            *u = middle;
        }
        boxes.push((lower.clone(), upper.clone()));
    }
    boxes
}

const SHAPES: [&[usize]; 4] = [&[5, 50, 50, 50, 5], &[16, 64, 32, 5], &[2, 3], &[40, 130, 120, 10]];

#[test]
fn propagation_allocates_nothing_after_the_first_pass() {
    for sizes in SHAPES {
        let domains = [AbstractDomain::Reduced, AbstractDomain::Published, AbstractDomain::Independent];
        for (domain, substitutes) in domains.map(|d| (d, false)).into_iter().chain([(AbstractDomain::Reduced, true)]) {
            let pair = pair(sizes);
            let boxes = boxes(sizes[0]);
            let mut reach = Propagation::new(domain, pair.depth());
            let (mut influence, mut sensitivity, mut row) =
                (PublishedScore::default(), Sensitivity::default(), GeneratorRow::default());
            reach.propagate(&pair, &boxes[0].0, &boxes[0].1).unwrap();
            let mut narrowed = RestrictedPair::new(&pair);
            let alive = narrowed.possibly_active(&reach);
            let mut reach = Propagation::new(domain, pair.depth())
                .with_back_substitution(substitutes)
                .with_corner_slopes(substitutes);
            let mut pass = || {
                for (lower, upper) in &boxes {
                    reach.propagate(narrowed.restrict_to(alive.as_ref()), lower, upper).unwrap();
                    let output = reach.propagate(&pair, lower, upper).unwrap();
                    output.row([(Quantity::Difference, 0, 1.0)], 0.0, &mut row);
                    influence.score(reach.layers(), sizes[0]);
                    if domain != AbstractDomain::Independent {
                        sensitivity.score(reach.layers(), sizes[0], &row);
                    }
                }
            };
            assert!(taken(&mut pass) > 0, "the counter counts nothing");
            assert_eq!(taken(&mut pass), 0, "{domain:?} {substitutes} {sizes:?}");
        }
    }
}

#[test]
fn descents_allocate_nothing_after_the_first() {
    let pair = pair(&[16, 64, 32, 5]);
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    let output = reach.propagate(&pair, &[-0.1; 16], &[0.1; 16]).unwrap();
    let property = top1::property(5, 0.5, None);
    let region = [RegionRow { generators: vec![1.0; 16], slack: 3.0 }];
    let (mut row, mut dual, mut found, mut point) =
        (GeneratorRow::default(), Dual::default(), Multipliers::default(), Vec::new());
    let mut pass = || {
        dual.set_box(&output, &mut row);
        for obligation in &property.obligations {
            let Violation::Linear { equivalents, .. } = &obligation.violation else { unreachable!() };
            dual.set_guard(&output, obligation.guard.map(|g| &property.guards[g]), &region, &mut row);
            output.row(equivalents[0].terms.iter().copied(), 0.0, &mut row);
            std::hint::black_box(dual.descend(&row, None, 200, StoppingRule::Optimum));
            dual.write(&mut found);
            dual.write_point(&mut point);
        }
    };
    assert!(taken(&mut pass) > 0, "the counter counts nothing");
    assert_eq!(taken(&mut pass), 0);
}

#[test]
fn functionals_certified_bounds_and_evaluations_allocate_nothing_after_the_first() {
    let pair = pair(&[16, 64, 32, 5]);
    let mut reach = Propagation::new(AbstractDomain::Reduced, pair.depth());
    let output = reach.propagate(&pair, &[-0.1; 16], &[0.1; 16]).unwrap();
    let property = top1::property(5, 0.5, None);
    let Violation::Linear { equivalents, .. } = &property.obligations[3].violation else { unreachable!() };
    let guard = property.obligations[3].guard.map(|g| &property.guards[g]);
    let region = [RegionRow { generators: vec![1.0; 16], slack: 3.0 }];
    let open = ObligationSet::all(property.obligations.len());
    let multipliers = Multipliers { guard: vec![0.5; 4], link: vec![0.25; 5], region: vec![0.125] };
    let (mut row, mut scratch) = (GeneratorRow::default(), Scratch::default());
    let (mut evaluator, mut evaluation) = (Evaluator::default(), Evaluation::default());
    let mut pass = || {
        property.obligations[3].violation.upper(&output, &mut row);
        certified::bound(&output, &equivalents[0], guard, &region, &multipliers, &mut scratch);
        evaluator.at(&pair, &[0.05; 16], &mut evaluation);
        evaluator.at_with_error(&pair, &[0.05; 16], &mut evaluation);
        std::hint::black_box(property.violated(&open, &evaluation, Certainty::Certain));
    };
    assert!(taken(&mut pass) > 0, "the counter counts nothing");
    assert_eq!(taken(&mut pass), 0);
}
