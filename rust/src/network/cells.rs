//! One network in all cells of a region, in plain binary64, with every level certain or said to be open.
//!
//! The inputs of a quantised network take finitely many values on a region: an input has cells, a cell of the region is
//! one of each, and the network is constant on it. What is computed at the number that stands for a cell is therefore
//! the whole truth about it, if no rounding of binary64 reaches a level. How far the argument of each quantiser may be
//! off, in any of the cells, is given as `slack`, in levels (made, and shown to be enough, by
//! `eqspec.networks.cells.everywhere`, for sums in any order); a cell in which a level is not certain is *open*, and what
//! is said of it means nothing. Functions that are no quantisers come as rules: a table of all arguments that there are,
//! or lines between knots.
//!
//! Cells are numbered like the digits of a number: the last input counts fastest. Arrays are cell by cell, so that every
//! term is one matrix product.

use super::{Function, Origin, Step};
use crate::curve::Curve;
use crate::error::{Error, same_size};
use crate::numeric::kernels::Accumulate;
use crate::numeric::vectorised;
use crate::numeric::windows::Panels;

/// So many cells are evaluated at once.
const TOGETHER: usize = 64;

/// The values of a step each of whose rows reads one input alone, in every cell of that input.
#[derive(Debug, Clone)]
pub struct Known {
    /// The input of each row.
    pub places: Vec<usize>,
    /// Values (rows, `width`), by the cell of that input.
    pub table: Vec<f64>,
    /// The length of a row of the table.
    pub width: usize,
}

/// What is said of a cell, as bits.
pub mod note {
    /// A level is not certain.
    pub const OPEN: u8 = 1;
    /// A level that is cut off lies, or may lie, outside of its type.
    pub const SATURATED: u8 = 2;
    /// A level that wraps lies, or may lie, outside of its type.
    pub const WRAPPED: u8 = 4;
}

/// What is done to an argument.
#[derive(Debug, Clone)]
pub enum Rule {
    /// Nothing.
    Identity,
    /// What is negative becomes 0.
    Relu,
    /// It is rounded to a level, by a quantiser.
    Levels(Curve),
    /// It is looked up: `values[i]` is that of `first` + i / `per_unit`, with a power of two.
    Table {
        /// The least argument.
        first: f64,
        /// How many there are from one number to the next.
        per_unit: f64,
        /// What is found.
        values: Vec<f64>,
    },
    /// Left of the first of n knots it is on line 0, from knot i on on line i: slope times itself, plus an offset.
    Lines {
        /// In their order (n).
        knots: Vec<f64>,
        /// Slope and offset (n + 1).
        lines: Vec<(f64, f64)>,
    },
}

impl Rule {
    /// A table from (first, per unit, values...), or lines from (knots..., slope and offset...), n and n + 1 of them.
    pub fn new(name: &str, numbers: &[f64]) -> Result<Self, Error> {
        let finite = numbers.iter().all(|v| v.is_finite());
        match (name, numbers) {
            ("table", [first, per_unit, values @ ..]) if finite && !values.is_empty() => {
                Ok(Self::Table { first: *first, per_unit: *per_unit, values: values.to_vec() })
            }
            ("lines", all) if finite && all.len() % 3 == 2 => {
                let (knots, lines) = all.split_at(all.len() / 3);
                let lines = lines.chunks_exact(2).map(|line| (line[0], line[1])).collect();
                Ok(Self::Lines { knots: knots.to_vec(), lines })
            }
            _ => Err(Error::Value {
                name: "rule",
                value: name.to_owned(),
                accepted: "a table or lines, of finite numbers",
            }),
        }
    }

    /// Puts values in the place of arguments; what is to be said of them.
    #[inline(always)]
    fn apply(&self, values: &mut [f64], slack: &[f64]) -> u8 {
        match self {
            Self::Identity => 0,
            Self::Relu => {
                for v in values {
                    *v = v.max(0.0);
                }
                0
            }
            Self::Levels(curve) => {
                let Some(quantiser) = curve.quantiser() else { return note::OPEN };
                let found = quantiser.put_levels(values, slack);
                let outside = if quantiser.wraps() { note::WRAPPED } else { note::SATURATED };
                (u8::from(found.open) * note::OPEN) | (u8::from(found.outside) * outside)
            }
            Self::Table { first, per_unit, values: table } => {
                let mut noted = 0;
                for v in values {
                    let at = (*v - first) * per_unit;
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    // compared with the number itself
                    let index = at as usize;
                    #[allow(clippy::cast_precision_loss)] // tables are short
                    let found = table.get(index).filter(|_| index as f64 == at);
                    noted |= if found.is_some() { 0 } else { note::OPEN };
                    *v = found.copied().unwrap_or(0.0);
                }
                noted
            }
            Self::Lines { knots, lines } => {
                for v in values {
                    let (slope, offset) = lines[knots.partition_point(|knot| knot <= v)];
                    *v = slope * *v + offset;
                }
                0
            }
        }
    }
}

/// A network with all that its values in the cells of one region depend on.
#[derive(Debug)]
pub struct CellProgram {
    steps: Vec<Step>,
    /// For each step what is done to its rows: to those up to this number, and behind the ones before.
    rules: Vec<Vec<(usize, Rule)>>,
    /// For each step and row how far the argument of its quantiser may be off; empty where nothing is rounded.
    slack: Vec<Vec<f64>>,
    /// The values of steps that are known beforehand.
    known: Vec<Option<Known>>,
    /// The numbers that stand for the cells of each input.
    numbers: Vec<Vec<f64>>,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub struct CellBuffers {
    choice: Vec<usize>,
    inputs: Vec<f64>,
    values: Vec<Vec<f64>>,
    panels: Panels,
}

impl CellProgram {
    /// A network; `rules` are those of the functions of each step that are no quantisers. Errors say what does not fit.
    pub fn new(
        steps: Vec<Step>,
        rules: &[Vec<Option<Rule>>],
        slack: Vec<Vec<f64>>,
        known: Vec<Option<Known>>,
        numbers: Vec<Vec<f64>>,
    ) -> Result<Self, Error> {
        same_size("slack of steps", slack.len(), steps.len())?;
        same_size("what is known of steps", known.len(), steps.len())?;
        same_size("rules of steps", rules.len(), steps.len())?;
        let mut applied = Vec::with_capacity(steps.len());
        for (((step, slack), known), rules) in steps.iter().zip(&slack).zip(&known).zip(rules) {
            let Some(known) = known else {
                applied.push(rules_of(step, rules, slack)?);
                continue;
            };
            applied.push(Vec::new());
            same_size("rows that are known", known.places.len(), step.rows)?;
            same_size("table of known rows", known.table.len(), step.rows * known.width)?;
            for &place in &known.places {
                if numbers.get(place).is_none_or(|numbers| numbers.len() > known.width) {
                    let accepted = "an input, with a value for each of its cells";
                    return Err(Error::Value { name: "input of a known row", value: place.to_string(), accepted });
                }
            }
        }
        if numbers.iter().any(Vec::is_empty) {
            return Err(Error::Value { name: "numbers", value: "none".into(), accepted: "one for each cell" });
        }
        Ok(Self { steps, rules: applied, slack, known, numbers })
    }

    /// How many outputs the network has.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.steps.last().map_or(0, |step| step.rows)
    }

    /// Outputs (N, O) in as many cells, from number `first` on, as there are notes; what is to be said of each.
    pub fn run(&self, first: u64, outputs: &mut [f64], notes: &mut [u8], buffers: &mut CellBuffers) {
        let width = self.outputs();
        self.choose(first, &mut buffers.choice);
        for (k, notes) in notes.chunks_mut(TOGETHER).enumerate() {
            notes.fill(0);
            let cells = notes.len();
            vectorised::run(Together(self, buffers, notes));
            if let Some(last) = buffers.values.last() {
                let from = k * TOGETHER * width;
                outputs[from..from + cells * width].copy_from_slice(&last[..cells * width]);
            }
        }
    }

    /// Which cell of each input the cell of this number is.
    fn choose(&self, number: u64, choice: &mut Vec<usize>) {
        let mut left = number;
        choice.clear();
        choice.resize(self.numbers.len(), 0);
        for (chosen, numbers) in choice.iter_mut().zip(&self.numbers).rev() {
            let cells = numbers.len() as u64;
            *chosen = usize::try_from(left % cells).unwrap_or(0);
            left /= cells;
        }
    }

    /// The next cell; the first one after the last.
    #[inline]
    fn advance(&self, choice: &mut [usize]) {
        for (chosen, numbers) in choice.iter_mut().zip(&self.numbers).rev() {
            *chosen += 1;
            if *chosen < numbers.len() {
                return;
            }
            *chosen = 0;
        }
    }

    /// Inputs and known values of the next cells.
    #[inline(always)]
    fn begin(&self, buffers: &mut CellBuffers, cells: usize) {
        let CellBuffers { choice, inputs, values, .. } = buffers;
        inputs.clear();
        values.resize(self.steps.len(), Vec::new());
        for ((value, step), known) in values.iter_mut().zip(&self.steps).zip(&self.known) {
            value.clear();
            if known.is_none() {
                (0..cells).for_each(|_| value.extend_from_slice(&step.bias));
            }
        }
        for _ in 0..cells {
            inputs.extend(self.numbers.iter().zip(choice.iter()).map(|(numbers, &k)| numbers[k]));
            for (value, known) in values.iter_mut().zip(&self.known) {
                if let Some(Known { places, table, width }) = known {
                    let rows = places.iter().zip(table.chunks_exact(*width));
                    value.extend(rows.map(|(&place, row)| row[choice[place]]));
                }
            }
            self.advance(choice);
        }
    }
}

/// What is done to the rows of a step that is not known.
fn rules_of(step: &Step, rules: &[Option<Rule>], slack: &[f64]) -> Result<Vec<(usize, Rule)>, Error> {
    let curves = match &step.function {
        Function::Identity => return Ok(vec![(step.rows, Rule::Identity)]),
        Function::Relu => return Ok(vec![(step.rows, Rule::Relu)]),
        Function::Curves(curves) => curves,
    };
    same_size("slack of a step", slack.len(), step.rows)?;
    same_size("rules of a step", rules.len(), curves.kinds().len())?;
    let (mut found, mut to) = (Vec::new(), 0);
    for alike in curves.of_rows().chunk_by(|a, b| a == b) {
        let kind = alike[0] as usize;
        let curve = &curves.kinds()[kind];
        to += alike.len();
        found.push((
            to,
            match &rules[kind] {
                Some(rule) => rule.clone(),
                None if curve.quantiser().is_some() => Rule::Levels(curve.clone()),
                None => {
                    let (value, accepted) = (curve.name().to_owned(), "quantisers, and functions with a rule");
                    return Err(Error::Value { name: "function", value, accepted });
                }
            },
        ));
    }
    Ok(found)
}

struct Together<'a>(&'a CellProgram, &'a mut CellBuffers, &'a mut [u8]);

impl vectorised::Task for Together<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self(program, buffers, notes) = self;
        let cells = notes.len();
        program.begin(buffers, cells);
        let CellBuffers { inputs, values, panels, .. } = buffers;
        for (s, step) in program.steps.iter().enumerate() {
            if program.known[s].is_some() {
                continue;
            }
            let (before, now) = values.split_at_mut(s);
            let value = &mut now[0];
            for term in &step.terms {
                let from = match term.origin {
                    Origin::Inputs => &*inputs,
                    Origin::Step(j) => &before[j],
                };
                let shape = (term.tile.columns, cells);
                term.tile.shape().product(value, &term.tile.weight, from, shape, Accumulate::Add, panels);
            }
            let (rules, slack) = (&program.rules[s], &program.slack[s]);
            for (values, noted) in value.chunks_exact_mut(step.rows).zip(notes.iter_mut()) {
                let mut from = 0;
                for (to, rule) in rules {
                    let slack = slack.get(from..*to).unwrap_or_default();
                    *noted |= rule.apply(&mut values[from..*to], slack);
                    from = *to;
                }
            }
        }
    }
}
