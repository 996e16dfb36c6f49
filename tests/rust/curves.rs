//! Functions of one variable: what follows from values and slopes (strips, hulls of slopes, ranges) against dense
//! samples, and pieces against the definition of convexity. That values and slopes are within their errors is tested
//! against interval arithmetic of many digits in tests/unit/core/test_curves.py.

use eqspec::curve::{Bend, Curve, NAMES, Near};

/// Every function with a few parameters, and a range on which it is tried.
fn curves() -> Vec<(Curve, f64, f64)> {
    let of = |name: &str, parameters: &[f64], l: f64, u: f64| (Curve::new(name, parameters).unwrap(), l, u);
    vec![
        of("pieces", &[1.0, 0.0, 0.0, 1.0, 0.0], -5.0, 5.0),
        of("pieces", &[1.0, 0.0, 0.1, 1.0, 0.0], -5.0, 5.0),
        of("pieces", &[1.0, 0.0, -1.0, 1.0, 0.0], -5.0, 5.0),
        of("pieces", &[2.0, -0.3, 0.9, 0.0, 1.0, 0.0, -0.3], -3.0, 3.0),
        of("pieces", &[4.0, -2.0, -0.7, 0.1, 1.3, 0.3, -1.1, 2.0, 0.7, -0.2, 0.123], -4.0, 4.0),
        of("sigmoid", &[], -12.0, 12.0),
        of("tanh", &[], -8.0, 8.0),
        of("softplus", &[], -9.0, 9.0),
        of("softsign", &[], -9.0, 9.0),
        of("atan", &[], -9.0, 9.0),
        of("elu", &[1.0], -6.0, 6.0),
        of("elu", &[0.3], -6.0, 6.0),
        of("elu", &[1.7], -6.0, 6.0),
        of("elu", &[-0.7], -6.0, 6.0),
        of("celu", &[1.0], -6.0, 6.0),
        of("celu", &[0.3], -6.0, 6.0),
        of("selu", &[1.673_263_192_176_818_8, 1.050_701_022_148_132_3], -6.0, 6.0),
        of("selu", &[-0.5, -2.0], -6.0, 6.0),
        of("exp", &[], -6.0, 3.0),
        of("log", &[], 0.01, 6.0),
        of("sqrt", &[], 0.0, 6.0),
        of("reciprocal", &[], 0.1, 6.0),
        of("reciprocal", &[], -6.0, -0.1),
        of("square", &[], -3.0, 3.0),
        of("power", &[0.0], -3.0, 3.0),
        of("power", &[1.0], -3.0, 3.0),
        of("power", &[2.0], -3.0, 3.0),
        of("power", &[3.0], -2.0, 2.0),
        of("power", &[4.0], -2.0, 2.0),
        of("power", &[-0.5], 0.1, 4.0),
        of("power", &[0.7], 0.1, 4.0),
        of("power", &[2.3], 0.1, 3.0),
        of("power", &[-1.0], -4.0, -0.2),
        of("power", &[-2.0], -4.0, -0.2),
        of("power", &[-2.0], 0.2, 4.0),
        of("erf", &[], -4.0, 4.0),
        of("sin", &[], -8.0, 8.0),
        of("cos", &[], -8.0, 8.0),
        of("gelu", &[], -7.0, 7.0),
        of("gelu_tanh", &[], -7.0, 7.0),
        of("silu", &[], -9.0, 9.0),
        of("hardswish", &[1.0 / 6.0, 0.5], -5.0, 5.0),
        of("hardswish", &[0.7, -0.3], -3.0, 4.0),
        of("mish", &[], -9.0, 9.0),
        of("thresholded", &[1.0], -3.0, 3.0),
        of("thresholded", &[0.0], -3.0, 3.0),
        of("thresholded", &[-0.8], -3.0, 3.0),
        of("sign", &[], -3.0, 3.0),
        of("floor", &[], -2.7, 2.7),
    ]
    .into_iter()
    .chain(quantisers())
    .collect()
}

/// Every way to round, saturated and wrapped, with scales of few and of many bits, in and out of their range.
fn quantisers() -> Vec<(Curve, f64, f64)> {
    let third = f64::from(1.0f32 / 3.0);
    let mut made = Vec::new();
    for rounding in 0..9 {
        for wraps in [0.0, 1.0] {
            for (scale, zero, unit, base) in
                [(0.5, 0.0, 0.5, 0.0), (third, 0.3, 0.375, 0.5), (0.1 + 0.2, -1.0, 1.0 / 7.0, 0.0)]
            {
                let parameters = [scale, zero, -4.0, 5.0, unit, base, f64::from(rounding), wraps];
                made.push((Curve::new("quantiser", &parameters).unwrap(), -3.7, 3.9));
            }
        }
    }
    made
}

/// A fixed sequence of numbers in [0, 1).
struct Random(u64);

impl Random {
    #[allow(clippy::cast_precision_loss)]
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Ends of a range inside of [least, most]: wide, narrow, or beginning or ending at a whole number.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn range(&mut self, least: f64, most: f64) -> (f64, f64) {
        let width = (most - least) * [1.0, 0.3, 0.01, 1e-9][(self.next() * 4.0) as usize] * self.next();
        let l = least + (most - least - width) * self.next();
        match (self.next() * 8.0) as usize {
            0 => (l.round().clamp(least, most), (l.round() + width).clamp(least, most)),
            1 => ((l.round() - width).clamp(least, most), l.round().clamp(least, most)),
            _ => (l, l + width),
        }
    }
}

fn samples(l: f64, u: f64, count: u32) -> impl Iterator<Item = f64> {
    (0..=count).map(move |i| if i == count { u } else { (l + (u - l) * (f64::from(i) / f64::from(count))).min(u) })
}

/// The least and the largest that f(x) - lam x can be; wide enough for the roundings of this line.
fn enclosed(f: Near, lam: f64, x: f64) -> (f64, f64) {
    let slack = f.error * 1.001 + 4.0 * f64::EPSILON * (f.value.abs() + (lam * x).abs()) + 1e-320;
    (f.value - lam * x - slack, f.value - lam * x + slack)
}

#[test]
fn every_function_is_tried() {
    for name in NAMES {
        assert!(curves().iter().any(|(curve, _, _)| curve.name() == *name), "{name}");
    }
}

#[test]
fn strips_contain_the_graph_and_are_tight() {
    let mut random = Random(1);
    for (curve, least, most) in curves() {
        for round in 0..400 {
            let (l, u) = random.range(least, most);
            let hull = curve.slopes(l, u);
            let (a, b) = (hull.0.max(-4.0), hull.1.min(4.0));
            for lam in [0.0, 1.0, curve.line(l, u), a + (b - a) * random.next(), 4.0 * random.next() - 2.0] {
                let found = curve.offset(lam, l, u);
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                for x in samples(l, u, 300) {
                    let h = enclosed(curve.value(x), lam, x);
                    assert!(h.1 >= found.low, "{curve:?} [{l:e}, {u:e}] {lam}: {x:e} below {found:?}: {h:?}");
                    assert!(h.0 <= found.high, "{curve:?} [{l:e}, {u:e}] {lam}: {x:e} above {found:?}: {h:?}");
                    (low, high) = (low.min(h.1), high.max(h.0));
                }
                // Between two samples h moves by at most half a step times its slopes.
                let steep = (hull.0 - lam).abs().max((hull.1 - lam).abs());
                let tight = steep * (u - l) / 600.0
                    + 1e-13 * (1.0 + low.abs().max(high.abs()) + lam.abs() * l.abs().max(u.abs()));
                // Where it may wrap, only the type is known.
                let wraps = curve.name() == "quantiser" && curve.parameters()[7] == 1.0;
                let coarse = match steep.is_finite() {
                    true => tight,
                    false if wraps => f64::INFINITY,
                    false => 1.0,
                };
                assert!(low - found.low <= coarse, "{round} {curve:?} [{l:e}, {u:e}] {lam}: {found:?} {low}");
                assert!(found.high - high <= coarse, "{round} {curve:?} [{l:e}, {u:e}] {lam}: {found:?} {high}");
                assert!(found.at_low >= l && found.at_low <= u && found.at_high >= l && found.at_high <= u);
            }
        }
    }
}

#[test]
fn slopes_contain_every_secant() {
    let mut random = Random(2);
    for (curve, least, most) in curves() {
        for _ in 0..300 {
            let (l, u) = random.range(least, most);
            let (low, high) = curve.slopes(l, u);
            assert!(low <= high, "{curve:?} [{l}, {u}]");
            for _ in 0..50 {
                let (x, y) = (l + (u - l) * random.next(), l + (u - l) * random.next());
                if x.min(y) < l || x.max(y) > u || x == y {
                    continue;
                }
                let (f, g) = (curve.value(x), curve.value(y));
                let slack = 1.001 * (f.error + g.error) + 2.0 * f64::EPSILON * (f.value.abs() + g.value.abs()) + 1e-320;
                let (rise, run) = (f.value - g.value, x - y);
                let (rise, run) = if run < 0.0 { (-rise, -run) } else { (rise, run) };
                assert!(rise + slack >= low * run * (1.0 - 1e-15_f64.copysign(low)), "{curve:?} {x} {y} {low}");
                assert!(rise - slack <= high * run * (1.0 + 1e-15_f64.copysign(high)), "{curve:?} {x} {y} {high}");
            }
        }
    }
}

#[test]
fn pieces_cover_the_line_and_bend_as_they_say() {
    let mut random = Random(3);
    for (curve, least, most) in curves() {
        let mut at = least;
        let mut pieces = 0;
        while at < most {
            let piece = curve.piece(at);
            assert!(piece.end > at, "{curve:?} {at}");
            pieces += 1;
            assert!(pieces < 200, "{curve:?} {at:e} {piece:?}");
            let end = piece.end.min(most);
            for _ in 0..200 {
                let (x, y, t) = (random.next(), random.next(), random.next());
                let (x, y) = (at + (end - at) * x.min(y), at + (end - at) * x.max(y));
                let middle = x + (y - x) * t;
                if !(at < x && x < middle && middle < y && y < end) {
                    continue;
                }
                assert!(curve.piece(middle).end >= piece.end, "{curve:?} {middle}");
                if !matches!(piece.bend, Bend::Between(..)) {
                    assert_eq!(curve.limit_left(middle), curve.value(middle));
                }
                let (f, m, g) = (curve.value(x), curve.value(middle), curve.value(y));
                let share = (middle - x) / (y - x);
                let chord = f.value + (g.value - f.value) * share;
                let errors = f.error + m.error + g.error + 8.0 * f64::EPSILON * (f.value.abs() + g.value.abs());
                let above = m.value - chord;
                let lean = (g.value - f.value).abs() * 8.0 * f64::EPSILON * (middle.abs() / (y - x) + 1.0);
                let slack = errors + lean + 1e-320;
                match piece.bend {
                    Bend::Straight => assert!(above.abs() <= slack, "{curve:?} {x} {middle} {y}"),
                    Bend::Convex => assert!(above <= slack, "{curve:?} {x} {middle} {y} {above} {slack}"),
                    Bend::Concave => assert!(-above <= slack, "{curve:?} {x} {middle} {y} {above} {slack}"),
                    Bend::Between(low, high) => {
                        assert!(low <= high && end - at < 1e-12 * (1.0 + at.abs()), "{curve:?} {at} {end}");
                    }
                }
            }
            at = piece.end;
        }
    }
}

#[test]
fn one_sided_slopes_are_limits_of_secants() {
    let mut random = Random(4);
    for (curve, least, most) in curves() {
        for _ in 0..200 {
            let x = random.range(least, most).0;
            let step = 1e-6 * (1.0 + x.abs()) * if x == 0.0 { 1.0 } else { x.abs().min(1.0) };
            let f = curve.value(x);
            for (towards, slope) in [(x - step, curve.slope_left(x)), (x + step, curve.slope_right(x))] {
                let piece = curve.piece(x.min(towards));
                let g = curve.value(towards);
                if piece.end < x.max(towards)
                    || !g.value.is_finite()
                    || !f.value.is_finite()
                    || !slope.error.is_finite()
                {
                    continue;
                }
                let (low, high) = curve.slopes(x.min(towards), x.max(towards));
                assert!(low <= slope.high() && slope.low() <= high, "{curve:?} {x} {slope:?} {low} {high}");
                let secant = (g.value - f.value) / (towards - x);
                let noise = 1e-9 + (f.error + g.error + 1e-16 * f.value.abs()) / step;
                assert!((secant - slope.value).abs() <= (high - low) + noise, "{curve:?} {x} {secant} {slope:?}");
            }
        }
    }
}

#[test]
fn lines_are_nearly_the_best() {
    let mut random = Random(5);
    for (curve, least, most) in curves() {
        for _ in 0..150 {
            let (l, u) = random.range(least, most);
            let height = |lam: f64| curve.offset(lam, l, u).high - curve.offset(lam, l, u).low;
            let ours = height(curve.line(l, u));
            let (low, high) = curve.slopes(l, u);
            let (low, high) = (low.max(-1e3), high.min(1e3));
            let best =
                (0..=400).map(|i| height(low + (high - low) * f64::from(i) / 400.0)).fold(f64::INFINITY, f64::min);
            let rounding =
                1e-13 * (1.0 + l.abs().max(u.abs()) + curve.value(l).value.abs() + curve.value(u).value.abs());
            // Of three slopes for functions that go up in steps.
            let share = if curve.name() == "quantiser" { 1.5 } else { 1.04 };
            assert!(ours <= best * share + rounding, "{curve:?} [{l}, {u}]: {ours} instead of {best}");
        }
    }
}

#[test]
fn ranges_are_those_of_samples() {
    let mut random = Random(6);
    for (curve, least, most) in curves() {
        for _ in 0..200 {
            let (l, u) = random.range(least, most);
            let (low, high) = curve.range(l, u);
            for x in samples(l, u, 100) {
                let f = curve.value(x);
                assert!(f.high() >= low && f.low() <= high, "{curve:?} [{l}, {u}] {x}");
            }
            if curve.increasing() {
                assert!(curve.value(l).low() <= curve.value(u).high() && curve.slopes(l, u).1 >= 0.0);
            }
        }
    }
}

#[test]
fn relu_and_what_is_like_it_have_no_error() {
    let relu = Curve::new("pieces", &[1.0, 0.0, 0.0, 1.0, 0.0]).unwrap();
    assert_eq!(relu.piece(-3.0).bend, Bend::Convex);
    for (l, u) in [(-2.7, 0.3), (-1e-300, 1.0), (-0.1, 1e300)] {
        let lam = relu.line(l, u);
        assert_eq!(lam, u / (u - l));
        let found = relu.offset(lam, l, u);
        assert_eq!((found.low, found.at_low), (0.0, 0.0));
        assert_eq!(relu.offset(0.0, l, u).high, u);
        assert_eq!(relu.slopes(l, u), (0.0, 1.0));
        assert_eq!(relu.range(l, u), (0.0, u));
    }
    for (curve, l, u, slope) in [
        (&relu, 0.1, 0.7, 1.0),
        (&relu, 0.0, 0.7, 1.0),
        (&relu, -3.1, -0.1, 0.0),
        (&Curve::new("pieces", &[1.0, 0.0, 0.1, 1.0, 0.0]).unwrap(), -0.7, -0.1, 0.1),
        (&Curve::new("pieces", &[1.0, 0.0, -1.0, 1.0, 0.0]).unwrap(), -0.7, 0.0, -1.0),
        (&Curve::new("pieces", &[2.0, 0.1, 0.9, 0.0, 1.0, 0.0, 0.1]).unwrap(), 0.1, 0.9, 1.0),
    ] {
        assert_eq!(curve.line(l, u), slope);
        let found = curve.offset(slope, l, u);
        assert_eq!((found.low, found.high), (0.0, 0.0), "{curve:?}");
    }
}

#[test]
fn nothing_is_bounded_where_nothing_is_known() {
    for (curve, _, _) in curves() {
        for (l, u) in [(f64::NAN, 1.0), (0.0, f64::NAN), (1.0, 0.0), (f64::NEG_INFINITY, 1.0), (1.0, f64::INFINITY)] {
            let found = curve.offset(0.5, l, u);
            assert_eq!((found.low, found.high), (f64::NEG_INFINITY, f64::INFINITY), "{curve:?} {l} {u}");
            assert_eq!(curve.slopes(l, u), (f64::NEG_INFINITY, f64::INFINITY), "{curve:?} {l} {u}");
        }
        let found = curve.offset(f64::NAN, 0.5, 1.0);
        assert_eq!((found.low, found.high), (f64::NEG_INFINITY, f64::INFINITY), "{curve:?}");
        assert!(curve.value(curve.domain_point()).error.is_finite(), "{curve:?}");
        let nowhere = curve.value(f64::NAN).error;
        assert!(nowhere.is_nan() || nowhere == f64::INFINITY, "{curve:?}");
    }
}

#[test]
fn nothing_is_bounded_outside_of_a_domain() {
    let everything = (f64::NEG_INFINITY, f64::INFINITY);
    for (name, parameters, l, u) in [
        ("log", &[][..], 0.0, 1.0),
        ("log", &[][..], -1.0, 2.0),
        ("log", &[][..], -2.0, -1.0),
        ("sqrt", &[][..], -1e-320, 1.0),
        ("sqrt", &[][..], -2.0, -1.0),
        ("reciprocal", &[][..], -1.0, 1.0),
        ("reciprocal", &[][..], 0.0, 1.0),
        ("reciprocal", &[][..], -1.0, 0.0),
        ("power", &[-2.0][..], -1.0, 1.0),
        ("power", &[-3.0][..], -1.0, 0.0),
        ("power", &[0.5][..], 0.0, 1.0),
        ("power", &[1.7][..], -1.0, 1.0),
    ] {
        let curve = Curve::new(name, parameters).unwrap();
        let found = curve.offset(0.3, l, u);
        assert_eq!((found.low, found.high), everything, "{name} [{l}, {u}]");
        assert_eq!(curve.range(l, u), everything, "{name} [{l}, {u}]");
        assert_eq!(curve.slopes(l, u), everything, "{name} [{l}, {u}]");
        assert!(curve.line(l, u).is_finite());
    }
    // The square root has a value at 0, but no slope.
    let root = Curve::new("sqrt", &[]).unwrap();
    assert_eq!(root.range(0.0, 4.0).0, 0.0);
    assert_eq!(root.slopes(0.0, 4.0).1, f64::INFINITY);
}

#[test]
fn long_ranges_end_soon() {
    for (name, low, high) in [("sin", -1.0, 1.0), ("cos", -1.0, 1.0), ("floor", -1e300, 1e300)] {
        let curve = Curve::new(name, &[]).unwrap();
        assert_eq!(curve.range(-1e300, 1e300), (low, high));
        let found = curve.offset(0.5, -1e7, 1e7);
        assert!(found.low.is_finite() && found.low <= curve.value(-1e7).high() + 0.5e7);
        let mut at = -2e6;
        for _ in 0..3 {
            let piece = curve.piece(at);
            assert!(piece.end > at, "{name} {at}");
            at = piece.end;
        }
    }
}

#[test]
fn wrong_names_and_parameters_are_refused() {
    for (name, parameters, part) in [
        ("relux", &[][..], "there is no function relux; there are pieces"),
        ("sigmoid", &[1.0][..], "it has 1 parameters, expected 0"),
        ("celu", &[0.0][..], "a = 0, expected a number above 0"),
        ("hardswish", &[-1.0, 0.0][..], "a = -1, expected a number above 0"),
        ("hardswish", &[1.0, 1e30][..], "cannot be told apart"),
        ("power", &[][..], "it has 0 parameters, expected 1"),
        ("pieces", &[][..], "number of its knots"),
        ("pieces", &[1.5, 0.0, 0.0, 1.0, 0.0][..], "1.5 is no number of knots"),
        ("pieces", &[1.0, 0.0, 0.0, 1.0][..], "expected 5 for 1 knots"),
        ("pieces", &[2.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0][..], "do not increase"),
        ("pieces", &[1.0, f64::NAN, 0.0, 1.0, 0.0][..], "parameter 2 of function pieces is NaN"),
    ] {
        let message = Curve::new(name, parameters).unwrap_err();
        assert!(message.contains(part), "{message}");
    }
    for (curve, _, _) in curves() {
        assert_eq!(Curve::new(curve.name(), &curve.parameters()), Ok(curve));
    }
}

/// f = phi + r, with the slopes and the range of r that are said, and phi within its strips.
#[test]
fn a_trend_and_its_rest_make_the_function() {
    let mut random = Random(7);
    let mut clipped = 0;
    for (curve, least, most) in curves() {
        for _ in 0..200 {
            let (l, u) = random.range(least, most);
            let trend = curve.trend(l, u);
            let (m, most_steep) = trend.slopes;
            if !(m.is_finite() && most_steep.is_finite()) {
                continue;
            }
            clipped += usize::from(curve.slopes(l, u).1 == f64::INFINITY);
            for _ in 0..30 {
                let x = (l + (u - l) * random.next()).clamp(l, u);
                let y = (l + (u - l) * random.next()).clamp(l, u);
                let (f, g) = (curve.value(x), curve.value(y));
                let slack = f.error + g.error + 1e-12 * (1.0 + f.value.abs() + g.value.abs());
                let ends = [m * (x - y), most_steep * (x - y)];
                let off = trend.rest.1 - trend.rest.0 + slack;
                let rise = f.value - g.value;
                assert!(rise <= ends[0].max(ends[1]) + off && rise >= ends[0].min(ends[1]) - off, "{curve:?} {x} {y}");
                // phi at one point is all its strip has there.
                let phi = curve.trend_offset(&trend, 0.0, x, x);
                assert!(f.value <= phi.high + trend.rest.1 + slack, "{curve:?} [{l}, {u}] {x} {phi:?} {trend:?}");
                assert!(f.value >= phi.low + trend.rest.0 - slack, "{curve:?} [{l}, {u}] {x} {phi:?} {trend:?}");
                let value = curve.trend_value(&trend, x);
                assert!(value.low() >= phi.low - slack && value.high() <= phi.high + slack, "{curve:?} {x} {value:?}");
                for lam in [0.0, 1.0, -0.7, 0.3] {
                    let strip = curve.trend_offset(&trend, lam, l, u);
                    assert!(phi.low - lam * x <= strip.high + slack && phi.high - lam * x >= strip.low - slack);
                }
            }
        }
    }
    assert!(clipped > 1000, "{clipped}");
}

/// Numbers that leave the range of binary64 on the way leave nothing out.
#[test]
fn a_trend_too_steep_for_floats_lies_between_its_ends() {
    let curve = Curve::new("quantiser", &[1e-300, 0.0, 0.0, 5.0, 1e300, 0.0, 0.0, 0.0]).unwrap();
    let trend = curve.trend(-1.0, 1.0);
    for (x, value) in [(-1.0, 0.0), (1.0, 5e300)] {
        let (offset, at) = (curve.trend_offset(&trend, 0.0, x, x), curve.trend_value(&trend, x));
        assert!(offset.low <= value && offset.high >= value, "{x}: {offset:?}");
        assert!(at.low() <= value && at.high() >= value, "{x}: {at:?}");
    }
}

#[test]
fn steps_between_two_points_are_counted() {
    let mut random = Random(8);
    let mut counted = 0;
    for (curve, least, most) in quantisers() {
        let scale = curve.parameters()[0];
        for _ in 0..500 {
            let x = random.range(least, most).0;
            // Often a whole number of half steps away, from a point where steps begin.
            let x = if random.next() < 0.5 { (x / scale * 2.0).round() * scale / 2.0 } else { x };
            let y =
                if random.next() < 0.5 { x + (random.next() * 8.0).floor() * scale / 2.0 } else { x + random.next() };
            let far = if random.next() < 0.5 { 0.0 } else { random.next() };
            let Some((low, high)) = curve.steps_apart(x - y - far, x - y) else { continue };
            counted += 1;
            let (f, g) = (curve.value(x), curve.value(y));
            let slack = f.error + g.error + 1e-12;
            let rise = f.value - g.value;
            assert!(rise >= low - slack && rise <= high + slack, "{curve:?} {x} {y}: {rise} not in {low} .. {high}");
            assert!(high == 0.0 || x > y);
        }
    }
    assert!(counted > 5000, "{counted}");
    let floor = Curve::new("floor", &[]).unwrap();
    let (low, high) = floor.steps_apart(-2.0, 3.0).unwrap();
    assert!(low <= -2.0 && low > -2.0001 && (3.0..3.0001).contains(&high));
    assert_eq!(floor.steps_apart(0.0, 0.0), Some((0.0, 0.0)));
}
