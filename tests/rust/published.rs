//! The published algorithm once more, as one would write it down: dense matrices, plain rounding, nothing shared with
//! the core but the formulas.
//!
//! Containment cannot notice bounds that are needlessly wide. This comparison does: the core's bounds must be those of
//! [VD]'s equations, for `shared` with the improvements that domain adds (bounds exchanged, fresh generators of the
//! difference shared, both transformers side by side where that is thinner), up to rounding.

use crate::random::{Case, Scale, Weights, cases, for_all};
use eqspec::domain::{AbstractDomain, Propagation};
use proptest::prelude::*;

/// Centre and generators in blocks e, a1, a2, ad; a block is a list of columns.
#[derive(Clone, Default)]
struct Form {
    centre: Vec<f64>,
    blocks: [Vec<Vec<f64>>; 4],
}

impl Form {
    fn columns(&mut self) -> impl Iterator<Item = &mut Vec<f64>> {
        std::iter::once(&mut self.centre).chain(self.blocks.iter_mut().flatten())
    }

    fn bounds(&self, i: usize) -> (f64, f64) {
        let radius: f64 = self.blocks.iter().flatten().map(|g| g[i].abs()).sum();
        (self.centre[i] - radius, self.centre[i] + radius)
    }

    /// Adds a column of zeros to a block and returns it.
    fn fresh(&mut self, block: usize) -> &mut Vec<f64> {
        let zeros = vec![0.0; self.centre.len()];
        self.blocks[block].push(zeros);
        self.blocks[block].last_mut().unwrap()
    }

    /// self = sum of factor * form in row i; blocks that a form lacks count as zero.
    fn set_row(&mut self, i: usize, parts: &[(f64, &Form)]) {
        self.centre[i] = parts.iter().map(|(c, f)| c * f.centre[i]).sum();
        for (b, block) in self.blocks.iter_mut().enumerate() {
            for (j, column) in block.iter_mut().enumerate() {
                column[i] = parts.iter().map(|(c, f)| f.blocks[b].get(j).map_or(0.0, |g| c * g[i])).sum();
            }
        }
    }
}

fn times(w: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    w.iter().map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum()).collect()
}

fn affine(w: &[Vec<f64>], b: &[f64], form: &Form) -> Form {
    let mut out = form.clone();
    out.columns().for_each(|c| *c = times(w, c));
    out.centre.iter_mut().zip(b).for_each(|(c, b)| *c += b);
    out
}

/// Copies `form` and gives every block as many columns as the given numbers say.
fn padded(form: &Form, sizes: [usize; 4]) -> Form {
    let mut out = form.clone();
    for (b, &n) in sizes.iter().enumerate() {
        while out.blocks[b].len() < n {
            out.fresh(b);
        }
    }
    out
}

/// ReLU on one network; `block` gets its fresh generators. Also slope, mu and phase (-1, 0, 1) per neuron.
fn relu(form: &Form, block: usize, bounds: &[(f64, f64)]) -> (Form, Vec<(f64, f64, i32)>) {
    let mut out = form.clone();
    let mut transformer = Vec::new();
    for (i, &(l, u)) in bounds.iter().enumerate() {
        let (slope, mu, phase) = if u <= 0.0 {
            (0.0, 0.0, -1)
        } else if l >= 0.0 {
            (1.0, 0.0, 1)
        } else {
            (u / (u - l), -u / (u - l) * l / 2.0, 0)
        };
        out.columns().for_each(|c| c[i] *= slope);
        out.centre[i] += mu;
        if phase == 0 {
            out.fresh(block)[i] = mu;
        }
        transformer.push((slope, mu, phase));
    }
    (out, transformer)
}

/// Output bounds of f1, f2 and the difference; none if a phase hangs on the last digits of a bound.
fn published(case: &Case, domain: AbstractDomain) -> Option<[Vec<(f64, f64)>; 3]> {
    let middle = |(l, u): (&f64, &f64)| 0.5 * (l + u);
    let mut x = Form { centre: case.lower.iter().zip(&case.upper).map(middle).collect(), ..Form::default() };
    for i in 0..case.inputs() {
        x.fresh(0)[i] = 0.5 * (case.upper[i] - case.lower[i]);
    }
    let mut y = x.clone();
    let mut d = Form {
        centre: vec![0.0; case.inputs()],
        blocks: [vec![vec![0.0; case.inputs()]; case.inputs()], vec![], vec![], vec![]],
    };
    let last = case.layers.len() - 1;
    for (l, [first, second]) in case.layers.iter().enumerate() {
        let rows = 0..first.bias.len();
        let difference: Vec<Vec<f64>> = rows
            .clone()
            .map(|i| (0..first.weight[i].len()).map(|j| first.weight[i][j] - second.weight[i][j]).collect())
            .collect();
        let of_y = affine(&difference, &vec![0.0; first.bias.len()], &y);
        let of_d = affine(&first.weight, &first.bias, &d);
        let sizes = [0, 1, 2, 3].map(|b| of_y.blocks[b].len().max(of_d.blocks[b].len()));
        d = padded(&of_d, sizes);
        for i in rows.clone() {
            d.set_row(i, &[(1.0, &of_d), (1.0, &of_y)]);
            d.centre[i] -= second.bias[i];
        }
        (x, y) = (affine(&first.weight, &first.bias, &x), affine(&second.weight, &second.bias, &y));
        let all = |f: &Form| rows.clone().map(|i| f.bounds(i)).collect::<Vec<_>>();
        let mut bounds = [all(&x), all(&y), all(&d)];
        if l == last {
            return Some(bounds);
        }
        if domain == AbstractDomain::Reduced {
            for i in rows.clone() {
                let narrow = |a: (f64, f64), l: f64, u: f64| (a.0.max(l), a.1.min(u));
                let [x, y, d] = [0, 1, 2].map(|k| bounds[k][i]);
                let x = narrow(x, y.0 + d.0, y.1 + d.1);
                let y = narrow(y, x.0 - d.1, x.1 - d.0);
                [bounds[0][i], bounds[1][i], bounds[2][i]] = [x, y, narrow(d, x.0 - y.1, x.1 - y.0)];
            }
        }
        let gone = |w: &Weights, i: usize| w.weight[i].iter().all(|&v| v == 0.0);
        let hangs = |w: &Weights, bounds: &[(f64, f64)], i: usize| {
            !gone(w, i) && bounds[i].0.abs().min(bounds[i].1.abs()) < 1e-7
        };
        if rows.clone().any(|i| hangs(first, &bounds[0], i) || hangs(second, &bounds[1], i)) {
            return None;
        }
        let ((hat_x, relu1), (hat_y, relu2)) = (relu(&x, 1, &bounds[0]), relu(&y, 2, &bounds[1]));
        let mut hat_d = padded(&d, [0, hat_x.blocks[1].len(), hat_y.blocks[2].len(), 0]);
        for i in rows {
            let (lo, up) = bounds[2][i];
            match (relu1[i].2, relu2[i].2) {
                (-1, -1) => hat_d.set_row(i, &[]),
                (-1, _) => hat_d.set_row(i, &[(-1.0, &hat_y)]),
                (_, -1) => hat_d.set_row(i, &[(1.0, &hat_x)]),
                (1, 1) => {}
                (0, 1) if domain == AbstractDomain::Reduced => {
                    hat_d.set_row(i, &[(1.0, &d), (1.0, &hat_x), (-1.0, &x)])
                }
                (1, 0) if domain == AbstractDomain::Reduced => {
                    hat_d.set_row(i, &[(1.0, &d), (-1.0, &hat_y), (1.0, &y)])
                }
                (0, 1) => {
                    let (l, u) = bounds[0][i];
                    let l1 = -l / (u - l);
                    hat_d.set_row(i, &[(1.0, &d), (-l1, &x)]);
                    hat_d.centre[i] += l1 * u / 2.0;
                    hat_d.fresh(3)[i] = l1 * u / 2.0;
                }
                (1, 0) => {
                    let (l, u) = bounds[1][i];
                    let l2 = -l / (u - l);
                    hat_d.set_row(i, &[(1.0, &d), (l2, &y)]);
                    hat_d.centre[i] -= l2 * u / 2.0;
                    hat_d.fresh(3)[i] = l2 * u / 2.0;
                }
                _ => {
                    let slope = if up == lo { f64::from(up > 0.0) } else { (up / (up - lo)).clamp(0.0, 1.0) };
                    let (nu, mu) = (slope * (-lo).max(0.0), (-lo).max(up) / 2.0);
                    let ((l1, m1, _), (l2, m2, _)) = (relu1[i], relu2[i]);
                    let radius = |(l, u): (f64, f64)| 0.5 * (u - l);
                    let apart = if l1 <= l2 { radius(bounds[1][i]) } else { radius(bounds[0][i]) };
                    let side_by_side = l1.min(l2) * radius((lo, up)) + (l1 - l2).abs() * apart + m1 + m2;
                    let own = slope * radius((lo, up)) + mu;
                    if domain == AbstractDomain::Reduced && (side_by_side - own).abs() <= 1e-9 * own {
                        // Which one is taken hangs on the last digits.
                        return None;
                    }
                    if domain == AbstractDomain::Reduced && side_by_side < own {
                        // Of both transformers what is beyond the slopes: the shift and the fresh generator.
                        let beyond = [(1.0, &hat_x), (-l1, &x), (-1.0, &hat_y), (l2, &y)];
                        let rest = (l1 - l2, if l1 <= l2 { &y } else { &x });
                        let parts: Vec<_> = [(l1.min(l2), &d), rest].into_iter().chain(beyond).collect();
                        hat_d.set_row(i, &parts);
                        continue;
                    }
                    // Over one sign of d the lens between min(0, d) and max(0, d) is a triangle; [VD]'s mu, made for
                    // both signs, fits there too.
                    hat_d.set_row(i, &[(slope, &d)]);
                    hat_d.centre[i] += nu - mu;
                    hat_d.fresh(3)[i] = mu;
                }
            }
        }
        (x, y, d) = (hat_x, hat_y, hat_d);
    }
    unreachable!("a network has a last layer")
}

fn agrees(case: &Case, domain: AbstractDomain) -> Result<(), TestCaseError> {
    let pair = case.pair();
    let mut reach = Propagation::new(domain, pair.depth());
    prop_assert!(reach.propagate(&pair, &case.lower, &case.upper).is_some());
    let last = &reach.layers()[pair.depth() - 1];
    let Some([x, y, d]) = published(case, domain) else {
        return Err(TestCaseError::reject("a phase hangs on rounding"));
    };
    let kinds = [("x", &x, &last.x), ("y", &y, &last.y), ("d", &d, &last.d)];
    for (what, expected, bounds) in kinds.iter().take(if domain == AbstractDomain::Independent { 2 } else { 3 }) {
        for (i, &(l, u)) in expected.iter().enumerate() {
            let close =
                |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + l.abs().max(u.abs()) + x[i].1.abs() + y[i].1.abs());
            prop_assert!(
                close(bounds.lower[i], l) && close(bounds.upper[i], u),
                "{what}[{i}] in [{}, {}], expected [{l}, {u}]",
                bounds.lower[i],
                bounds.upper[i]
            );
        }
    }
    Ok(())
}

/// Pairs without uncertain weights, of scales at which 1e-9 says something.
fn ordinary() -> impl Strategy<Value = Case> {
    cases(1..=4, 1..=4, 1..=4, Just(Scale::Plain), 0).prop_map(|mut case| {
        case.layers.iter_mut().flatten().for_each(|w| w.uncertain = None);
        case
    })
}

#[test]
fn bounds_are_the_published_ones() {
    for_all(1500, ordinary(), |case| agrees(&case, AbstractDomain::Published));
}

#[test]
fn bounds_of_the_shared_domain_are_those_it_claims() {
    for_all(1500, ordinary(), |case| agrees(&case, AbstractDomain::Reduced));
}
