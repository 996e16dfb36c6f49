//! Inputs on either side of a threshold of what rounds them.
//!
//! Where one network rounds an input and the other one does not, the difference of both follows what was rounded away, and
//! that is largest right at a threshold. Of n inputs, a walk that draws numbers of their ranges comes within a share of
//! 1/n of that after n draws for each of them; here one draw does.
//!
//! A threshold lies between two numbers that are rounded to different levels, and halving finds one. So nothing has to
//! be known of the rounding, and what is found is a candidate like any other.

use crate::network::{Origin, Pair, Step};
use crate::search::generator::{below, uniform};

/// Halvings: what is drawn is so near a threshold that hardly anything is missing, but further than floats round.
const HALVINGS: usize = 30;

/// An input of more levels in its range is drawn as any other: what is rounded away of it is little beside what it changes
/// elsewhere. A tagger whose inputs have 1 311 levels and whose sums are rounded to 2^-11 is refuted after 9 CPU s so, and after
/// 34 with draws beside the thresholds of its inputs.
const LEVELS: f64 = 256.0;

/// What rounds weight x + bias.
#[derive(Debug, Clone, Copy)]
struct Rounded {
    weight: f64,
    bias: f64,
    /// How far levels next to each other lie apart.
    unit: f64,
    /// In the first or the second network, of which step and row.
    place: (bool, usize, usize),
}

/// What rounds each input by itself.
#[derive(Debug, Clone, Default)]
pub struct Thresholds {
    of_input: Vec<Vec<Rounded>>,
}

impl Thresholds {
    /// Those of a pair.
    pub fn of(pair: &Pair) -> Self {
        let mut of_input = vec![Vec::new(); pair.inputs()];
        for (second, steps) in [(false, &pair.first), (true, &pair.second)] {
            for (s, step) in steps.iter().enumerate() {
                let Some(curves) = step.function.curves() else { continue };
                for i in (0..step.rows).filter(|&i| curves.of(i).is_stepped()) {
                    if let Some((input, weight)) = only_input(step, i) {
                        let curve = curves.of(i);
                        let unit = if curve.name() == "quantiser" { curve.parameters()[4] } else { 1.0 };
                        of_input[input].push(Rounded { weight, bias: step.bias[i], unit, place: (second, s, i) });
                    }
                }
            }
        }
        Self { of_input }
    }

    /// A number beside a random threshold of an input between two numbers; none where nothing rounds it, or where a few
    /// random numbers have one level.
    pub fn beside(&self, pair: &Pair, input: usize, (low, high): (f64, f64), random: &mut u64) -> Option<f64> {
        let of_few = |rounded: &&Rounded| {
            let between = rounded.level(pair, high) - rounded.level(pair, low);
            between.abs() <= LEVELS * rounded.unit
        };
        let known: Vec<&Rounded> = self.of_input.get(input)?.iter().filter(of_few).collect();
        if known.is_empty() {
            return None;
        }
        let rounded = known[below(known.len(), random)];
        let level = |x: f64| rounded.level(pair, x);
        let mut draw = || low + uniform(random) * (high - low);
        let [mut a, mut b] = [draw(), draw()];
        let of_a = level(a);
        if of_a == level(b) {
            return None;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (a + b);
            if level(middle) == of_a {
                a = middle;
            } else {
                b = middle;
            }
        }
        Some(a)
    }
}

impl Rounded {
    fn level(&self, pair: &Pair, x: f64) -> f64 {
        let (second, s, i) = self.place;
        let steps = if second { &pair.second } else { &pair.first };
        let curves = steps[s].function.curves();
        curves.map_or(f64::NAN, |curves| curves.of(i).value(self.weight * x + self.bias).value)
    }
}

/// The only input that a row reads, and its weight; none where it reads others or an earlier step.
fn only_input(step: &Step, i: usize) -> Option<(usize, f64)> {
    let (mut read, mut others) = (None, false);
    for term in &step.terms {
        term.tile.row(i, |j, at| {
            let weight = term.tile.weight[at];
            if weight != 0.0 {
                others |= read.is_some() || term.origin != Origin::Inputs;
                read = Some((j, weight));
            }
        });
    }
    read.filter(|_| !others)
}
