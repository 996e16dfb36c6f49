//! How much the factors of products vary on a box. A product u v is given to the core as s^2 - t^2 with u = s + t and
//! v = s - t, and how loosely it is bounded depends on the scale of u and v against each other, which whoever writes the
//! program may choose. Here are the radii by which to choose: those of the forms of s + t and s - t.
//!
//! They are estimates, without what rounding costs, and no bound rests on them.

use super::columns::Columns;
use super::layer_state::LayerState;

/// Of the factors u and v of every row of a product.
#[derive(Debug, Clone, Default)]
pub struct FactorRadii {
    /// The larger radius of u in the two networks.
    pub u: Vec<f64>,
    /// The larger radius of v in the two networks.
    pub v: Vec<f64>,
    /// The largest difference of u between the networks.
    pub du: Vec<f64>,
    /// The largest difference of v between the networks.
    pub dv: Vec<f64>,
}

/// The radii for a product whose s and t are the sums of these steps; `None` where their forms are not kept.
#[must_use]
pub fn factor_radii(s: &LayerState, t: &LayerState) -> Option<FactorRadii> {
    let rows = s.x.lower.len();
    let all = [&s.z1, &s.z2, &t.z1, &t.z2, &s.d_common, &t.d_common];
    if t.x.lower.len() != rows || all.iter().any(|form| form.is_empty() || form.rows() != rows) {
        return None;
    }
    let mut found = FactorRadii::default();
    for (sign, radius, apart) in [(1.0, &mut found.u, &mut found.du), (-1.0, &mut found.v, &mut found.dv)] {
        let (mut first, mut second) = (vec![0.0; rows], vec![0.0; rows]);
        add_sizes(&s.z1, &t.z1, sign, 1, &mut first);
        add_sizes(&s.z2, &t.z2, sign, 1, &mut second);
        *radius = first.iter().zip(&second).map(|(a, b)| a.max(*b)).collect();
        let mut difference = vec![0.0; rows];
        add_sizes(&s.d_common, &t.d_common, sign, 0, &mut difference);
        add_sizes(&s.d_rest, &t.d_rest, sign, 0, &mut difference);
        *apart = difference;
    }
    Some(found)
}

/// Adds |s + sign t| of the columns from one on to each row. The columns of an earlier step are the first of a later one.
fn add_sizes(s: &Columns, t: &Columns, sign: f64, from: usize, total: &mut [f64]) {
    let one = |form: &Columns, j: usize, i: usize| if j < form.len() { form.column(j)[i] } else { 0.0 };
    for j in from..s.len().max(t.len()) {
        for (i, sum) in total.iter_mut().enumerate() {
            *sum += (one(s, j, i) + sign * one(t, j, i)).abs();
        }
    }
}
