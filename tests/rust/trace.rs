//! One input through both networks and the enclosure at once: from the exact values of all neurons follow the values of
//! all generators, and the claim is checked layer by layer.
//!
//! Every fresh generator is defined by an equation (domain::transformer): `f(x) = lam x + shift + fresh a1`, the same for a2,
//! and the transformer of D for `ad`. Solved for the generator with exact x, y, d they give *the* assignment for which the
//! forms of x, y and d must hold simultaneously. Where a generator takes up the errors of forms (domain::carried_errors) the
//! values of the forms stand in place of x, y and d.

use crate::bent::behind;
use crate::exact::{Exact, exact, power_of_two};
use crate::random::Truth;
use eqspec::domain::columns::Columns;
use eqspec::domain::layer_state::{LayerState, Source};
use eqspec::domain::output::GeneratorRow;
use eqspec::domain::phase::{Bounds, Phase};
use eqspec::domain::transformer::Transformer;
use eqspec::domain::{AbstractDomain, Propagation};
use eqspec::network::Function;
use eqspec::numeric::round::U;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// Values of all generators at one input.
#[derive(Default)]
pub struct Assignment {
    pub e: Vec<Exact>,
    pub a1: Vec<Exact>,
    pub a2: Vec<Exact>,
    /// The difference's own, in order of appearance.
    pub own: Vec<Exact>,
}

/// Where one input leads.
#[derive(Default)]
pub struct Trace {
    pub values: Assignment,
    /// Exact outputs of f1 and f2.
    pub x: Vec<Exact>,
    pub y: Vec<Exact>,
}

/// How often each pair of phases was met, f1 by rows.
#[derive(Default, Debug)]
pub struct Phases(pub [[usize; 3]; 3]);

/// Solving for a generator rounds to 2^-256 of it; this much of the numbers involved is far more than that can do.
fn slack(size: &Exact) -> Exact {
    size * &power_of_two(-200)
}

fn combine<'a>(form: &Columns, i: usize, values: impl Iterator<Item = &'a Exact>) -> Exact {
    let generators = (1..form.len()).map(|j| form.column(j)[i]).zip(values);
    &exact(form.column(0)[i]) + &generators.filter(|(g, _)| *g != 0.0).map(|(g, v)| v * g).sum()
}

impl Assignment {
    /// The form of neuron i of f1 at these values, likewise for f2 and the difference.
    fn first(&self, layer: &LayerState, i: usize) -> Exact {
        combine(&layer.z1, i, self.e.iter().chain(&self.a1))
    }

    fn second(&self, layer: &LayerState, i: usize) -> Exact {
        combine(&layer.z2, i, self.e.iter().chain(&self.a2))
    }

    fn difference(&self, layer: &LayerState, i: usize) -> Exact {
        let mut own = self.own.iter();
        let value = |&source: &Source| match source {
            Source::First(a) => &self.a1[a],
            Source::Own => own.next().expect("a value for every generator"),
        };
        let rest: Exact =
            layer.rest_sources.iter().map(value).enumerate().map(|(j, v)| v * layer.d_rest.column(j)[i]).sum();
        &combine(&layer.d_common, i, self.e.iter().chain(&self.a2)) + &rest
    }

    /// A functional's row at these values.
    pub fn row(&self, row: &GeneratorRow) -> Exact {
        let values = self.e.iter().chain(&self.a1).chain(&self.a2).chain(&self.own);
        assert_eq!(row.generators.len(), self.e.len() + self.a1.len() + self.a2.len() + self.own.len());
        &exact(row.centre) + &row.generators.iter().zip(values).map(|(&g, v)| v * g).sum()
    }
}

/// |value - form| <= err, and the value lies within its bounds.
fn check(
    what: &str,
    l: usize,
    i: usize,
    value: &Exact,
    form: &Exact,
    err: f64,
    bounds: &Bounds,
) -> Result<(), TestCaseError> {
    let off = (value - form).abs();
    let allowed = &exact(err) + &slack(&(&value.abs() + &form.abs()));
    prop_assert!(
        off <= allowed,
        "{what}[{i}] of layer {l} is {value:?}, its form {form:?}: off by {off:?}, err is {err:e}"
    );
    let (lower, upper) = (bounds.lower[i], bounds.upper[i]);
    prop_assert!(
        *value >= lower && *value <= upper,
        "{what}[{i}] of layer {l} is {value:?}, outside [{lower:e}, {upper:e}]"
    );
    Ok(())
}

/// The fresh generators of one network; the phases must be true. Without a function there are none.
fn fresh(
    what: &str,
    function: &Function,
    transformer: &Transformer,
    (values, form): (&[Exact], impl Fn(usize) -> Exact),
) -> Result<Vec<Exact>, TestCaseError> {
    let mut generators = Vec::new();
    if function.is_identity() {
        prop_assert!(transformer.slope.iter().all(|&s| s == 1.0) && transformer.fresh_generators().next().is_none());
        return Ok(generators);
    }
    for (i, x) in values.iter().enumerate() {
        let (phase, slope, mu) = (transformer.phase[i], transformer.slope[i], transformer.fresh[i]);
        let (shift, loose) = (transformer.shift[i], transformer.loose.get(i).copied().unwrap_or(0.0));
        let after = behind(function, i, x);
        match phase {
            Phase::Inactive => prop_assert!(after.is_zero(), "{what}[{i}] = {x:?} is called inactive"),
            Phase::Active => prop_assert!((&after - x).is_zero(), "{what}[{i}] = {x:?} is called active"),
            Phase::Unstable if function.is_relu() => prop_assert!(
                (0.0..=1.0).contains(&slope) && mu > 0.0 && shift == mu,
                "slope {slope:e} and fresh generator {mu:e} of {what}[{i}]"
            ),
            Phase::Unstable => {}
        }
        // lam = 0 and lam = 1 are exact, so outside of unstable neurons this also says X = lam x.
        let from = if transformer.with_errors.contains(&i) { &form(i) } else { x };
        let rest = &(&after - &(from * slope)) - &exact(shift);
        let allowed = &exact(mu) + &exact(loose);
        prop_assert!(rest.abs() <= allowed, "{what}[{i}] = {x:?}: f(x) - {slope:e} x - {shift:e} = {rest:?}");
        if mu != 0.0 {
            generators.push(rest.over(&exact(mu)));
        }
    }
    prop_assert_eq!(generators.len(), transformer.fresh_generators().count());
    Ok(generators)
}

/// The difference's own fresh generators.
fn own(
    functions: [&Function; 2],
    layer: &LayerState,
    x: &[Exact],
    y: &[Exact],
    (before, a1, a2): (&Assignment, &[Exact], &[Exact]),
) -> Result<Vec<Exact>, TestCaseError> {
    let r = &layer.transformer_d;
    let spread = |transformer: &Transformer, values: &[Exact]| {
        let mut values = values.iter();
        transformer
            .fresh
            .iter()
            .map(|&mu| if mu == 0.0 { None } else { values.next().cloned() }.unwrap_or_default())
            .collect::<Vec<_>>()
    };
    let (a1, a2) = (spread(&layer.transformer1, a1), spread(&layer.transformer2, a2));
    let mut generators = Vec::new();
    for i in 0..x.len() {
        let after = &behind(functions[0], i, &x[i]) - &behind(functions[1], i, &y[i]);
        let [d, of_x, of_y] = if r.with_errors.contains(&i) {
            [before.difference(layer, i), before.first(layer, i), before.second(layer, i)]
        } else {
            [&x[i] - &y[i], x[i].clone(), y[i].clone()]
        };
        let parts = [
            (&d, r.of_d[i]),
            (&of_x, r.of_x[i]),
            (&of_y, r.of_y[i]),
            (&exact(r.shift[i]), 1.0),
            (&a1[i], r.fresh1[i]),
            (&a2[i], r.fresh2[i]),
        ];
        let rest = &after - &parts.iter().map(|&(v, c)| v * c).sum();
        // Coefficients such as lam - 1 are rounded; that much the generator may miss, and the forms' err has to pay for
        // it.
        let rounded = &parts.iter().map(|&(v, c)| (v * c).abs()).sum::<Exact>() * (2.0 * U);
        let loose = r.loose.get(i).copied().unwrap_or(0.0);
        let missed = &(&rounded + &exact(r.fresh_own[i])) + &exact(loose);
        prop_assert!(
            r.fresh_own[i] >= 0.0 && rest.abs() <= missed,
            "D[{i}] = {after:?} of x = {:?}, y = {:?} leaves {rest:?} to {:e}",
            x[i],
            y[i],
            r.fresh_own[i]
        );
        if r.fresh_own[i] != 0.0 {
            let one = exact(1.0);
            generators.push(rest.over(&exact(r.fresh_own[i])).min(one.clone()).max(-&one));
        }
    }
    Ok(generators)
}

/// Follows one point, given by the values of the input generators, through both networks and the enclosure that `reach`
/// holds.
pub fn follow(
    truths: &[Truth; 2],
    reach: &Propagation,
    domain: AbstractDomain,
    e: &[f64],
    phases: &mut Phases,
) -> Result<Trace, TestCaseError> {
    follow_narrowed(truths, reach, domain, e, phases, |l| (0..reach.layers()[l].z1.rows()).collect())
}

/// The same where a layer has these neurons only; those that are left out must be inactive.
pub fn follow_narrowed(
    truths: &[Truth; 2],
    reach: &Propagation,
    domain: AbstractDomain,
    e: &[f64],
    phases: &mut Phases,
    left: impl Fn(usize) -> Vec<usize>,
) -> Result<Trace, TestCaseError> {
    let input = |i: usize| &exact(reach.centre()[i]) + &(&exact(e[i]) * reach.radius()[i]);
    let input: Vec<Exact> = (0..e.len()).map(input).collect();
    let (xs, ys) = (truths[0].layers(&input), truths[1].layers(&input));
    let mut values = Assignment { e: e.iter().copied().map(exact).collect(), ..Assignment::default() };
    let last = reach.layers().len() - 1;
    for (l, layer) in reach.layers().iter().enumerate() {
        let neurons = left(l);
        for i in (0..xs[l].len()).filter(|i| !neurons.contains(i)) {
            prop_assert!(
                xs[l][i] <= 0.0 && ys[l][i] <= 0.0,
                "neuron {i} of layer {l} is left out: {:?}",
                (&xs[l], &ys[l])
            );
        }
        let computed = |values: &[Exact]| neurons.iter().map(|&i| values[i].clone()).collect::<Vec<_>>();
        let (x, y) = (&computed(&xs[l]), &computed(&ys[l]));
        // An earlier step may have fewer columns than there are generators, the outputs have all of them.
        let (columns, all) =
            ([layer.z1.len(), layer.z2.len()], [&values.a1, &values.a2].map(|a| 1 + values.e.len() + a.len()));
        prop_assert!(
            columns == all || (l < last && columns[0] <= all[0] && columns[1] <= all[1]),
            "{columns:?}, {all:?}"
        );
        let functions = [truths[0].function(l), truths[1].function(l)];
        for i in 0..x.len() {
            check("x", l, i, &x[i], &values.first(layer, i), layer.extent1.err[i], &layer.x)?;
            check("y", l, i, &y[i], &values.second(layer, i), layer.extent2.err[i], &layer.y)?;
            if domain != AbstractDomain::Independent || l == last {
                check("d", l, i, &(&x[i] - &y[i]), &values.difference(layer, i), layer.extent_d.err[i], &layer.d)?;
            }
        }
        if l == last {
            break;
        }
        let a1 = fresh("x", functions[0], &layer.transformer1, (x, |i| values.first(layer, i)))?;
        let a2 = fresh("y", functions[1], &layer.transformer2, (y, |i| values.second(layer, i)))?;
        if domain != AbstractDomain::Independent {
            let made = own(functions, layer, x, y, (&values, &a1, &a2))?;
            values.own.extend(made);
        }
        values.a1.extend(a1);
        values.a2.extend(a2);
        for (&p, &q) in layer.transformer1.phase.iter().zip(&layer.transformer2.phase) {
            phases.0[p as usize][q as usize] += 1;
        }
    }
    let (mut xs, mut ys) = (xs, ys);
    Ok(Trace { values, x: xs.pop().unwrap_or_default(), y: ys.pop().unwrap_or_default() })
}
