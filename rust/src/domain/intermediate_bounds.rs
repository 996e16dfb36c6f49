//! Intermediate bounds: bounds of x, y and d = x - y of every row of a pair's steps, before their functions, on a box;
//! with the box itself and the bounds of the outputs.
//!
//! They may rest on an assumption, a violation or the sign of a neuron; then they must never leave the proof that made
//! the assumption.

use super::layer_state::LayerState;
use super::phase::{Bounds, reduce};
use super::quantity::Quantity;
use serde::{Deserialize, Serialize};

/// The bounds of one step before its function; those of the last step are the outputs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LayerBounds {
    /// Bounds of x.
    pub x: Bounds,
    /// Bounds of y.
    pub y: Bounds,
    /// Bounds of d.
    pub d: Bounds,
}

impl LayerBounds {
    /// The bounds of one of the three quantities.
    #[must_use]
    pub fn of(&self, quantity: Quantity) -> &Bounds {
        match quantity {
            Quantity::First => &self.x,
            Quantity::Second => &self.y,
            Quantity::Difference => &self.d,
        }
    }

    /// The bounds of one of the three quantities, to be changed.
    pub fn of_mut(&mut self, quantity: Quantity) -> &mut Bounds {
        match quantity {
            Quantity::First => &mut self.x,
            Quantity::Second => &mut self.y,
            Quantity::Difference => &mut self.d,
        }
    }
}

/// The sign of x, y or d of a hidden neuron before ReLU, as assumed by a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseConstraint {
    /// x, y or d.
    pub quantity: Quantity,
    /// The step, one with ReLU.
    pub layer: usize,
    /// The neuron: a row of this step.
    pub index: usize,
    /// Whether the value is assumed to be >= 0; otherwise it is assumed to be <= 0.
    pub positive: bool,
}

/// Bounds of the inputs and of every step; the last step gives the outputs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct IntermediateBounds {
    /// The lower bounds of the inputs.
    pub lower: Vec<f64>,
    /// The upper bounds of the inputs.
    pub upper: Vec<f64>,
    /// The bounds of every step, the outputs last.
    pub layers: Vec<LayerBounds>,
    /// The signs that splits assume; the bounds respect them.
    pub phase_constraints: Vec<PhaseConstraint>,
}

/// No input satisfies what bounds assume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contradiction;

impl Bounds {
    /// Intersects with other bounds of the same quantities.
    pub fn intersect(&mut self, other: &Self) -> Result<(), Contradiction> {
        let mut consistent = true;
        for i in 0..self.lower.len() {
            self.lower[i] = self.lower[i].max(other.lower[i]);
            self.upper[i] = self.upper[i].min(other.upper[i]);
            consistent &= self.lower[i] <= self.upper[i];
        }
        if consistent { Ok(()) } else { Err(Contradiction) }
    }
}

impl IntermediateBounds {
    /// The bounds that a propagation of the box lower <= x <= upper found.
    #[must_use]
    pub fn of(layers: &[LayerState], lower: &[f64], upper: &[f64]) -> Self {
        let known = |l: &LayerState| LayerBounds { x: l.x.clone(), y: l.y.clone(), d: l.d.clone() };
        Self {
            lower: lower.to_vec(),
            upper: upper.to_vec(),
            layers: layers.iter().map(known).collect(),
            phase_constraints: Vec::new(),
        }
    }

    /// Assumes the sign of a neuron, and applies it to its bounds.
    pub fn assume(&mut self, constraint: PhaseConstraint) {
        let bounds = self.layers[constraint.layer].of_mut(constraint.quantity);
        if constraint.positive {
            bounds.lower[constraint.index] = bounds.lower[constraint.index].max(0.0);
        } else {
            bounds.upper[constraint.index] = bounds.upper[constraint.index].min(0.0);
        }
        self.phase_constraints.push(constraint);
    }

    /// Intersects with what a propagation found. Both must rest on the same assumptions.
    pub fn intersect(&mut self, layers: &[LayerState]) -> Result<(), Contradiction> {
        for (mine, theirs) in self.layers.iter_mut().zip(layers) {
            mine.x.intersect(&theirs.x)?;
            mine.y.intersect(&theirs.y)?;
            mine.d.intersect(&theirs.d)?;
        }
        Ok(())
    }

    /// Takes the reduced product of the bounds of x, y and d in every step.
    pub fn reduce(&mut self) {
        for layer in &mut self.layers {
            reduce(&mut layer.x, &mut layer.y, &mut layer.d);
        }
    }

    /// The number of unstable neurons of both networks.
    #[must_use]
    pub fn unstable(&self) -> usize {
        let hidden = &self.layers[..self.layers.len().saturating_sub(1)];
        let count = |b: &Bounds| b.lower.iter().zip(&b.upper).filter(|&(l, u)| *l < 0.0 && *u > 0.0).count();
        hidden.iter().map(|k| count(&k.x) + count(&k.y)).sum()
    }
}
