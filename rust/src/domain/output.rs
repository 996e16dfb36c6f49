//! The enclosure of both outputs and their difference, and linear functionals on it.
//!
//! A functional a.f1 + b.f2 + s.D (D = f1 - f2) is one row over all generators: its bounds see how much of f1 and f2
//! cancels, which bounds of single outputs do not. Because f1 - f2 - D = 0, the same functional of the networks can be
//! written with any amount of D; which way is tightest differs from box to box.

use super::abstract_domain::AbstractDomain;
use super::columns::Columns;
use super::layer_state::{LayerState, Source};
use super::quantity::Quantity;
use crate::numeric::kernels::absolute_sum;
use crate::numeric::round::max_propagating_nan;
use crate::numeric::round::{TINY, add_up, gamma, inflate, mul_up};

/// A linear functional of the outputs: the sum of coefficient * quantity\[output\], plus a constant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinearFunctional {
    /// Quantity, output and coefficient of every term.
    pub terms: Vec<(Quantity, usize, f64)>,
    /// The constant. Where it has to be rounded, it is rounded up, for upper bounds.
    pub constant: f64,
}

/// A functional of the outputs as an affine function of all generators, in the order e, a1, a2, and the difference's
/// own.
#[derive(Debug, Clone, Default)]
pub struct GeneratorRow {
    /// The value where all generators are 0.
    pub centre: f64,
    /// The coefficient of every generator.
    pub generators: Vec<f64>,
    /// How far the exact functional may lie from the row, its own rounding included.
    pub err: f64,
}

impl GeneratorRow {
    /// An upper bound of centre + sum |generators| + err.
    #[must_use]
    pub fn upper(&self) -> f64 {
        let sum = absolute_sum(&self.generators);
        if sum == 0.0 && self.err == 0.0 {
            return self.centre;
        }
        add_up(add_up(self.centre, inflate(sum, self.generators.len())), self.err)
    }

    /// A lower bound of centre - sum |generators| - err.
    #[must_use]
    pub fn lower(&self) -> f64 {
        let sum = absolute_sum(&self.generators);
        -add_up(add_up(-self.centre, inflate(sum, self.generators.len())), self.err)
    }
}

/// Roundings of an entry of a row that is a sum of this number of products: one product and a sum for each term.
fn entry_roundings(terms: usize) -> usize {
    terms + 1
}

/// Roundings in the error of a row of this number of terms, as it is computed. Each term adds to the magnitude with a
/// sum, a product and a sum, and to the error with a product and a sum; gamma, the underflow and the sum of all take a
/// handful more.
fn error_roundings(terms: usize) -> usize {
    3 * terms + 8
}

/// A view of the last step after a propagation.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    layer: &'a LayerState,
    inputs: usize,
    domain: AbstractDomain,
}

impl<'a> Output<'a> {
    /// A view of the state of a last step, of a workspace or a copy of one.
    #[must_use]
    pub fn new(layer: &'a LayerState, inputs: usize, domain: AbstractDomain) -> Self {
        Self { layer, inputs, domain }
    }

    /// The abstract domain in which it was computed.
    #[must_use]
    pub fn domain(&self) -> AbstractDomain {
        self.domain
    }

    /// The state of the last step.
    #[must_use]
    pub fn layer(&self) -> &'a LayerState {
        self.layer
    }

    /// O, the number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.layer.z1.rows()
    }

    /// Number of input generators.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of generators of a [`GeneratorRow`].
    #[must_use]
    pub fn generators(&self) -> usize {
        let own = self.layer.rest_sources.iter().filter(|&&s| s == Source::Own).count();
        self.layer.first_own(self.inputs) + own
    }

    /// Writes a functional as a row into `row`.
    pub fn row(
        &self,
        terms: impl IntoIterator<Item = (Quantity, usize, f64)> + Clone,
        constant: f64,
        row: &mut GeneratorRow,
    ) {
        let l = self.layer;
        let (n, p1, p2) = (self.inputs, l.z1.len() - 1 - self.inputs, l.z2.len() - 1 - self.inputs);
        row.generators.clear();
        row.generators.resize(self.generators(), 0.0);
        row.centre = constant;
        let (mut count, mut magnitude, mut err) = (0, constant.abs(), 0.0);
        let mut exact = constant == 0.0;
        for (quantity, o, c) in terms {
            if c == 0.0 {
                continue;
            }
            count += 1;
            let (e, rest) = row.generators.split_at_mut(n);
            let (a1, rest) = rest.split_at_mut(p1);
            let (a2, own) = rest.split_at_mut(p2);
            let add = |out: &mut [f64], m: &Columns, from: usize| {
                for (j, v) in out.iter_mut().enumerate() {
                    *v += c * m.column(from + j)[o];
                }
            };
            let (centre, of) = match quantity {
                Quantity::First => {
                    add(e, &l.z1, 1);
                    add(a1, &l.z1, 1 + n);
                    (&l.z1, &l.extent1)
                }
                Quantity::Second => {
                    add(e, &l.z2, 1);
                    add(a2, &l.z2, 1 + n);
                    (&l.z2, &l.extent2)
                }
                Quantity::Difference => {
                    add(e, &l.d_common, 1);
                    add(a2, &l.d_common, 1 + n);
                    let mut next = 0;
                    for (j, &source) in l.rest_sources.iter().enumerate() {
                        let g = c * l.d_rest.column(j)[o];
                        match source {
                            Source::First(a) => a1[a] += g,
                            Source::Own => {
                                own[next] += g;
                                next += 1;
                            }
                        }
                    }
                    (&l.d_common, &l.extent_d)
                }
            };
            // Products may underflow, so the forms themselves tell whether they are zero.
            exact &= centre.column(0)[o] == 0.0 && of.magnitude[o] == 0.0 && of.err[o] == 0.0;
            row.centre += c * centre.column(0)[o];
            magnitude += c.abs() * (of.magnitude[o] + centre.column(0)[o].abs());
            err += c.abs() * of.err[o];
        }
        // One product for each term in the centre and in each column.
        #[allow(clippy::cast_precision_loss)]
        let underflow = TINY * (count * (row.generators.len() + 1)) as f64;
        row.err = if exact {
            // Only zeros were added up.
            0.0
        } else {
            inflate(err + gamma(entry_roundings(count)) * magnitude + underflow, error_roundings(count))
        };
    }

    /// An upper bound of a functional over the whole box.
    pub fn upper(&self, functional: &LinearFunctional, row: &mut GeneratorRow) -> f64 {
        self.row(functional.terms.iter().copied(), functional.constant, row);
        row.upper()
    }

    /// The same bound, and the error in it. A functional with a single term needs no row, because the magnitude of its
    /// form is known.
    pub fn bound(&self, functional: &LinearFunctional, row: &mut GeneratorRow) -> (f64, f64) {
        let (constant, l) = (functional.constant, self.layer);
        let &[(quantity, o, c)] = functional.terms.as_slice() else {
            let upper = self.upper(functional, row);
            return (upper, row.err);
        };
        let (centre, of) = match quantity {
            Quantity::First => (l.z1.column(0)[o], &l.extent1),
            Quantity::Second => (l.z2.column(0)[o], &l.extent2),
            Quantity::Difference => (l.d_common.column(0)[o], &l.extent_d),
        };
        let (magnitude, err) = (of.magnitude[o], of.err[o]);
        if c == 0.0 || (centre == 0.0 && magnitude == 0.0 && err == 0.0) {
            return (constant, 0.0);
        }
        let size = constant.abs() + c.abs() * (magnitude + centre.abs());
        let err = inflate(c.abs() * err + gamma(entry_roundings(1)) * size + 2.0 * TINY, error_roundings(1));
        (add_up(add_up(constant + c * centre, mul_up(c.abs(), magnitude)), err), err)
    }

    /// The largest |bound| of the difference over some outputs: [VD]'s first bound.
    #[must_use]
    pub fn largest_difference(&self, outputs: impl IntoIterator<Item = usize>) -> f64 {
        let d = &self.layer.d;
        outputs.into_iter().map(|o| d.size(o)).fold(0.0, max_propagating_nan)
    }
}
