//! What a search decides, as a digest: both networks with their errors and what they share, the region, the claim, and
//! the settings that its way depends on.
//!
//! Two searches with the same fingerprint ask the same question of the same core, so that one may go on where the other
//! stopped.

use super::Region;
use crate::network::{Function, Origin, Pair, Step};
use crate::property::Property;
use crate::settings::Settings;
use sha2::{Digest, Sha256};

/// SHA-256 of the question. Budgets (time, boxes, memory, threads) are no part of it.
#[must_use]
pub fn fingerprint(pair: &Pair, region: &Region, property: &Property, settings: &Settings) -> [u8; 32] {
    let mut sum = Sum(Sha256::new());
    sum.text(concat!("eqspec ", env!("CARGO_PKG_VERSION")));
    sum.size(pair.depth());
    sum.size(pair.inputs());
    for step in pair.first.iter().chain(&pair.second) {
        sum.step(step);
    }
    for difference in &pair.difference {
        sum.size(difference.shared.len());
        sum.0.update(difference.shared.iter().map(|&s| u8::from(s)).collect::<Vec<_>>());
    }
    sum.numbers(&region.lower);
    sum.numbers(&region.upper);
    sum.size(region.constraints.len());
    for constraint in &region.constraints {
        sum.numbers(&constraint.coefficients);
        sum.numbers(&[constraint.bound]);
    }
    // What `Debug` derives names every field, later ones too, and prints floats so that they read back exactly.
    sum.text(&format!("{property:?}"));
    let Settings { threads, timeout, memory, zonotope_memory, boxes, .. } = Settings::default();
    let limits = Settings { threads, timeout, memory, zonotope_memory, boxes, record: None, ..settings.clone() };
    sum.text(&format!("{limits:?}"));
    sum.0.finalize().into()
}

/// A digest of parts, each with its size before it, so that no two sequences of parts look the same.
struct Sum(Sha256);

impl Sum {
    fn size(&mut self, size: usize) {
        self.0.update((size as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.size(text.len());
        self.0.update(text.as_bytes());
    }

    fn numbers(&mut self, numbers: &[f64]) {
        self.size(numbers.len());
        for number in numbers {
            self.0.update(number.to_bits().to_le_bytes());
        }
    }

    fn step(&mut self, step: &Step) {
        self.size(step.rows);
        match &step.function {
            Function::Identity => self.size(0),
            Function::Relu => self.size(1),
            Function::Curves(curves) => {
                self.size(2);
                self.size(curves.kinds().len());
                for curve in curves.kinds() {
                    self.text(curve.name());
                    let parameters = curve.parameters();
                    self.numbers(&parameters);
                }
                curves.of_rows().iter().for_each(|kind| self.0.update(kind.to_le_bytes()));
            }
        }
        self.size(step.terms.len());
        for term in &step.terms {
            self.size(match term.origin {
                Origin::Inputs => 0,
                Origin::Step(j) => j + 1,
            });
            let tile = &term.tile;
            for size in [tile.groups, tile.outputs, tile.positions, tile.taps, tile.columns] {
                self.size(size);
            }
            self.size(usize::from(tile.index.is_some()));
            for place in tile.index.iter().flat_map(|index| &index.places) {
                self.0.update(place.to_le_bytes());
            }
            self.numbers(&tile.weight);
            self.errors(tile.weight_error.as_deref());
        }
        self.numbers(&step.bias);
        self.errors(step.bias_error.as_deref());
    }

    fn errors(&mut self, errors: Option<&[f64]>) {
        self.size(usize::from(errors.is_some()));
        self.numbers(errors.unwrap_or_default());
    }
}
