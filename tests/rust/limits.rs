//! The ends of a search other than a verdict: limits, the host's wish, nothing to prove, misuse.

use eqspec::domain::affine::{ActiveTile, Gathered, Parts};
use eqspec::domain::clock::Clock;
use eqspec::domain::propagation::Failure;
use eqspec::domain::published_score::PublishedScore;
use eqspec::domain::{AbstractDomain, Propagation};
use eqspec::lp::{Answer, LinearProgram};
use eqspec::network::{Affine, Pair, Tile};
use eqspec::numeric::kernels::Accumulate;
use eqspec::property::{Norm, Property, epsilon, top1};
use eqspec::search::{Constraint, Host, NoHost, Progress, Reason, Region, Solution, Verdict, resume, solve};
use eqspec::settings::Settings;
use ndarray::{Array1, Array2};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

fn affine(weight: &[&[f64]], bias: &[f64]) -> Affine {
    let weight = Array2::from_shape_fn((weight.len(), weight[0].len()), |(i, j)| weight[i][j]);
    Affine::new(weight.view(), Array1::from(bias.to_vec()).view(), None, None).unwrap()
}

/// x written in two ways, relu(x) - relu(-x) and relu(x + 2) - 2, which agree on [-1, 1]: never refuted, and with no
/// allowance never proved.
fn same_function() -> Pair {
    let first = vec![affine(&[&[1.0], &[-1.0]], &[0.0, 0.0]), affine(&[&[1.0, -1.0]], &[0.0])];
    let second = vec![affine(&[&[1.0], &[0.0]], &[2.0, 0.0]), affine(&[&[1.0, 0.0]], &[-2.0])];
    Pair::new(first, second).unwrap()
}

fn line() -> Region {
    Region::new(vec![-1.0], vec![1.0], Vec::new()).unwrap()
}

/// Without any allowance rounding keeps a length from being proved, on the smallest box.
fn never_decided() -> Property {
    epsilon::property(0.0, Norm::Euclid, &[0], AbstractDomain::Reduced)
}

fn search(settings: Settings) -> Solution {
    solve(&same_function(), &line(), &never_decided(), &settings, &mut NoHost).unwrap()
}

#[test]
fn without_time_nothing_is_claimed() {
    let solution = search(Settings { timeout: 0.0, ..Settings::default() });
    assert_eq!(solution.verdict, Verdict::Unknown(Reason::Timeout));
    assert!(solution.open_boxes >= 1 && solution.certified_fraction == 0.0 && solution.boxes == 0, "{solution:?}");
}

#[test]
fn the_limit_on_boxes_is_kept() {
    for threads in [1, 2, 4] {
        for memory in [0, 1000, 1 << 30] {
            let solution = search(Settings { boxes: 100, threads, memory, ..Settings::default() });
            assert_eq!(solution.verdict, Verdict::Unknown(Reason::Boxes));
            // Every worker may be at work on one more.
            assert!((100..100 + threads as u64).contains(&solution.boxes), "{solution:?}");
            assert!(solution.open_boxes > 0 && solution.certified_fraction < 1.0);
        }
    }
}

#[test]
fn a_propagation_looks_at_the_clock_where_forms_are_large() {
    let stopped = |size: usize, deadline: Option<Instant>, flag: bool| {
        let weight = Array2::from_elem((size, size), 0.01);
        let layer = || Affine::new(weight.view(), Array1::zeros(size).view(), None, None).unwrap();
        let pair = Pair::new(vec![layer(), layer()], vec![layer(), layer()]).unwrap();
        let mut propagation = Propagation::new(AbstractDomain::Reduced, 2)
            .with_clock(Clock { deadline, stopped: Some(Arc::new(AtomicBool::new(flag))) });
        propagation.enclose(&pair, &vec![-1.0; size], &vec![1.0; size]).err()
    };
    let over = Some(Instant::now());
    assert_eq!(stopped(300, over, false), Some(Failure::Stopped));
    assert_eq!(stopped(300, None, true), Some(Failure::Stopped), "as the workers are told to end");
    assert_eq!(stopped(300, None, false), None);
    assert_eq!(stopped(3, over, true), None, "which takes no longer than a look");
}

#[test]
fn a_clock_that_is_over_ends_a_product_between_its_parts() {
    const M: usize = 5;
    const N: usize = 40;
    let weight = Array2::from_shape_fn((M, 3), |(i, j)| f64::from(u8::try_from(3 * i + j).unwrap()) - 6.0);
    let (tile, rows) = (Tile::dense(&weight.view(), None).unwrap(), [0, 2]);
    let form: Vec<f64> = (0..2 * N).map(|i| f64::from(u8::try_from(i).unwrap()) / 8.0).collect();
    let expected: Vec<f64> = (0..M * N)
        .map(|at| {
            let (i, column) = (at % M, at / M);
            1.0 + weight[[i, 0]] * form[2 * column] + weight[[i, 2]] * form[2 * column + 1]
        })
        .collect();
    let stopped = Arc::new(AtomicBool::new(false));
    let clock = Clock { deadline: None, stopped: Some(Arc::clone(&stopped)) };
    let mut parts = Parts::default();
    (parts.clock, parts.most) = (clock, 1);
    let mut gathered = Gathered::default();
    let active = ActiveTile::new(&tile, &rows, &mut gathered);
    let mut out = vec![1.0; M * N];
    active.product(&mut out, &form, N, Accumulate::Add, &mut parts);
    assert!(out == expected && !parts.over);
    stopped.store(true, Ordering::SeqCst);
    out.fill(1.0);
    active.product(&mut out, &form, N, Accumulate::Add, &mut parts);
    assert!(parts.over && out.iter().all(|v| *v == 1.0));
    active.product(&mut out, &form, 1, Accumulate::Add, &mut parts);
    assert!(out.iter().all(|v| *v == 1.0), "nothing more is made");
}

/// Ten inputs, so that probes come first; the networks differ a little everywhere, and with no allowance nothing is proved.
fn tried_first() -> (Pair, Region, Property) {
    let weight = |rows: usize, columns: usize, shift: f64| {
        let w = Array2::from_shape_fn((rows, columns), |(i, j)| {
            f64::from(u32::try_from(3 * i + 7 * j).unwrap()).sin() + shift
        });
        Affine::new(w.view(), Array1::from_elem(rows, 0.1).view(), None, None).unwrap()
    };
    let network = |shift: f64| vec![weight(6, 10, shift), weight(1, 6, shift)];
    let region = Region::new(vec![-1.0; 10], vec![1.0; 10], Vec::new()).unwrap();
    (
        Pair::new(network(0.0), network(0.01)).unwrap(),
        region,
        epsilon::property(0.0, Norm::Max, &[0], AbstractDomain::Reduced),
    )
}

/// Keeps the last state, and believes nothing.
#[derive(Default)]
struct Keeper(Vec<u8>);

impl Host for Keeper {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        NoHost.answer(programs)
    }
    fn confirm(&mut self, _: &[f64]) -> bool {
        false
    }
    fn progress(&mut self, _: &Progress) -> bool {
        true
    }
    fn snapshot_interval(&self) -> Option<Duration> {
        Some(Duration::from_secs(1000))
    }
    fn keep_snapshot(&mut self, state: Vec<u8>) {
        self.0 = state;
    }
}

#[test]
fn the_limit_on_boxes_counts_those_of_probes() {
    let (pair, region, property) = tried_first();
    for boxes in [100, 256, 257, 4353] {
        let settings = Settings { boxes, threads: 1, ..Settings::default() };
        assert!(settings.contracts(10));
        let solution = solve(&pair, &region, &property, &settings, &mut NoHost).unwrap();
        assert_eq!(solution.verdict, Verdict::Unknown(Reason::Boxes));
        assert_eq!(solution.boxes, boxes, "{solution:?}");
    }
}

#[test]
fn a_search_that_goes_on_remembers_the_boxes_of_its_trials() {
    let (pair, region, property) = tried_first();
    let mut keeper = Keeper::default();
    let settings = |boxes| Settings { boxes, threads: 1, ..Settings::default() };
    let first = solve(&pair, &region, &property, &settings(300), &mut keeper).unwrap();
    let state = std::mem::take(&mut keeper.0);
    let second = resume(&pair, &region, &property, &settings(350), &state, &mut keeper).unwrap();
    assert_eq!((first.boxes, second.boxes), (300, 350));
    let none = resume(&pair, &region, &property, &settings(10), &state, &mut keeper).unwrap();
    assert_eq!((none.verdict, none.boxes), (Verdict::Unknown(Reason::Boxes), 300));
}

#[test]
fn a_small_allowance_is_proved_with_any_memory() {
    let property = epsilon::property(1e-3, Norm::Max, &[0], AbstractDomain::Reduced);
    for memory in [0, 1000, 1 << 30] {
        let settings = Settings { memory, ..Settings::default() };
        // Halving never hits 0, where the first network bends.
        let region = Region::new(vec![-1.0], vec![0.9], Vec::new()).unwrap();
        let solution = solve(&same_function(), &region, &property, &settings, &mut NoHost).unwrap();
        assert_eq!((solution.verdict, solution.certified_fraction, solution.open_boxes), (Verdict::Equivalent, 1.0, 0));
        // Parts that are expected to stay open are halved again without being bounded.
        assert!(solution.splits > 5 && solution.boxes <= 2 * solution.splits + 1, "{solution:?}");
        assert!(solution.boxes > solution.splits, "every part in the end is bounded: {solution:?}");
    }
}

/// Stops after some reports.
struct Impatient(usize);

impl Host for Impatient {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        NoHost.answer(programs)
    }
    fn confirm(&mut self, _: &[f64]) -> bool {
        false
    }
    fn progress(&mut self, progress: &Progress) -> bool {
        assert!(progress.boxes > 0 && progress.certified < 1.0);
        self.0 -= 1;
        self.0 > 0
    }
}

#[test]
fn the_host_can_stop_a_search() {
    let solution = solve(&same_function(), &line(), &never_decided(), &Settings::default(), &mut Impatient(2)).unwrap();
    assert_eq!(solution.verdict, Verdict::Unknown(Reason::Interrupted));
}

/// Panics where it is told to.
struct Panics {
    answering: bool,
}

impl Host for Panics {
    fn answer(&mut self, programs: &[LinearProgram]) -> Vec<Answer> {
        assert!(!self.answering, "no answer");
        NoHost.answer(programs)
    }
    fn confirm(&mut self, _: &[f64]) -> bool {
        panic!("no confirmation")
    }
    fn progress(&mut self, _: &Progress) -> bool {
        true
    }
}

#[test]
fn a_host_that_panics_ends_the_search() {
    // f2 is f1 with the classes exchanged, so that every box has a candidate to confirm and programs to solve.
    let first = vec![affine(&[&[1.0], &[-1.0]], &[0.0, 0.0])];
    let second = vec![affine(&[&[-1.0], &[1.0]], &[0.0, 0.0])];
    for answering in [false, true] {
        let (send, receive) = mpsc::channel();
        let pair = Pair::new(first.clone(), second.clone()).unwrap();
        std::thread::spawn(move || {
            let search = || {
                solve(&pair, &line(), &top1::property(2, 0.0, None), &Settings::default(), &mut Panics { answering })
            };
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(search));
            send.send(ended.is_err()).unwrap();
        });
        assert_eq!(receive.recv_timeout(Duration::from_secs(20)), Ok(true), "answering: {answering}");
    }
}

#[test]
fn nothing_to_prove_is_proved() {
    let pair = same_function();
    // One class cannot change, and no output cannot differ.
    for property in [top1::property(1, 0.0, None), epsilon::property(0.0, Norm::Max, &[], AbstractDomain::Reduced)] {
        assert!(property.obligations.is_empty());
        let solution = solve(&pair, &line(), &property, &Settings::default(), &mut NoHost).unwrap();
        assert_eq!((solution.verdict, solution.certified_fraction), (Verdict::Equivalent, 1.0));
        assert!(!solution.vacuous && solution.boxes <= 1, "{solution:?}");
    }
}

#[test]
fn nothing_to_prove_takes_no_boxes() {
    let layers = || vec![affine(&[&[1e300]], &[0.0]), affine(&[&[1e300]], &[0.0])];
    let pair = Pair::new(layers(), layers()).unwrap();
    let settings = Settings { boxes: 50, ..Settings::default() };
    let solution = solve(&pair, &line(), &top1::property(1, 0.0, None), &settings, &mut NoHost).unwrap();
    assert!(solution.verdict == Verdict::Equivalent && solution.boxes <= 1 && solution.open_boxes == 0, "{solution:?}");
}

/// f1 = (x, 0), f2 = (x / 2, shift).
fn halved(shift: f64) -> Pair {
    let layer = |w: f64, b: f64| vec![affine(&[&[w], &[0.0]], &[0.0, b])];
    Pair::new(layer(1.0, 0.0), layer(0.5, shift)).unwrap()
}

#[test]
fn a_claim_about_nothing_says_so() {
    let solve = |margin: f64, region: &Region| {
        let property = top1::property(2, margin, None);
        solve(&halved(-0.1), region, &property, &Settings::default(), &mut NoHost).unwrap()
    };
    let solution = solve(2.0, &line());
    assert!(solution.verdict == Verdict::Equivalent && solution.vacuous, "no lead of 2 on [-1, 1]: {solution:?}");
    let solution = solve(0.5, &line());
    assert!(solution.verdict == Verdict::Equivalent && !solution.vacuous, "a lead of 1/2 at 1: {solution:?}");
    // x <= -2 holds nowhere in the box.
    let empty = vec![Constraint { coefficients: vec![1.0], bound: -2.0 }];
    let solution = solve(0.5, &Region::new(vec![-1.0], vec![1.0], empty).unwrap());
    assert!(solution.verdict == Verdict::Equivalent && solution.vacuous, "an empty region: {solution:?}");
}

#[test]
fn what_a_guard_excludes_is_not_left_to_rounding() {
    let property = top1::property(2, 0.5, None);
    let solution = solve(&halved(0.0), &line(), &property, &Settings::default(), &mut NoHost).unwrap();
    assert_eq!(solution.verdict, Verdict::Equivalent, "{solution:?}");
}

#[test]
fn a_guard_met_outside_the_region_is_not_met() {
    // The diagonal of the square: x1 = x2, so f1 = (x1 - x2, 0) leads by nothing, but at a corner of the box by 2.
    let layer = || vec![affine(&[&[1.0, -1.0], &[0.0, 0.0]], &[0.0, 0.0])];
    let pair = Pair::new(layer(), layer()).unwrap();
    let near = |sign: f64| Constraint { coefficients: vec![sign, -sign], bound: 0.25 };
    // The centre of the box, (0.5, -0.5), leads by 1.
    let region = Region::new(vec![-1.0, -2.0], vec![2.0, 1.0], vec![near(1.0), near(-1.0)]).unwrap();
    let property = top1::property(2, 0.5, None);
    let solution = solve(&pair, &region, &property, &Settings::default(), &mut NoHost).unwrap();
    assert!(solution.verdict == Verdict::Equivalent && solution.vacuous, "{solution:?}");
}

#[test]
fn misuse_is_refused() {
    let refused = |region: &Region, settings: Settings| {
        solve(&same_function(), region, &never_decided(), &settings, &mut NoHost).unwrap_err().to_string()
    };
    let wide = Region::new(vec![0.0; 2], vec![1.0; 2], Vec::new()).unwrap();
    assert!(refused(&wide, Settings::default()).contains("lower has size 2, expected 1"));
    assert!(refused(&line(), Settings { timeout: f64::NAN, ..Settings::default() }).contains("timeout"));
    assert!(refused(&line(), Settings { timeout: -1.0, ..Settings::default() }).contains("timeout"));
    assert!(refused(&line(), Settings { threads: 5000, ..Settings::default() }).contains("threads"));
    let nan = Affine::new(Array2::from_elem((1, 1), f64::NAN).view(), Array1::zeros(1).view(), None, None);
    assert!(nan.unwrap_err().to_string().contains("weight must be finite"));
    let one = || vec![affine(&[&[1.0]], &[0.0])];
    assert!(Pair::new(one(), [one(), one()].concat()).unwrap_err().to_string().contains("number of layers"));
    assert!(Pair::new(one(), vec![affine(&[&[1.0, 1.0]], &[0.0])]).is_err());
    assert!(Pair::new(Vec::new(), Vec::new()).is_err());
    let other = vec![affine(&[&[2.0]], &[0.0])];
    assert!(Pair::sharing(one(), other, vec![vec![true]]).unwrap_err().to_string().contains("shared"));
    assert!(Pair::sharing(one(), one(), vec![vec![true, true]]).unwrap_err().to_string().contains("shared rows"));
    assert!(Pair::sharing(one(), one(), vec![vec![]; 2]).unwrap_err().to_string().contains("shared"));
}

#[test]
fn a_propagation_that_overflows_leaves_no_layers_behind() {
    // On [1, 2] no ReLU is unstable; around 0 all of the first are, and the second layer overflows where numbers are large.
    let large = vec![
        affine(&[&[1.0][..]; 4], &[0.0; 4]),
        affine(&[&[1e200; 4][..]; 3], &[0.0; 3]),
        affine(&[&[1e-200; 3]], &[0.0]),
    ];
    let pair = Pair::new(large.clone(), large).unwrap();
    for domain in [AbstractDomain::Reduced, AbstractDomain::Published, AbstractDomain::Independent] {
        let (mut reach, mut influence) = (Propagation::new(domain, pair.depth()), PublishedScore::default());
        assert!(reach.propagate(&pair, &[1.0], &[2.0]).is_some());
        assert_eq!(reach.layers().len(), 3);
        assert!(influence.score(reach.layers(), 1)[0] > 0.0);
        assert!(reach.propagate(&pair, &[-1e200], &[1e200]).is_none());
        assert!(reach.layers().is_empty());
        assert_eq!(influence.score(reach.layers(), 1), [0.0]);
        assert!(reach.propagate(&pair, &[1.0], &[2.0]).is_some());
        assert_eq!(reach.layers().len(), 3);
    }
}
