//! The states of a propagation, whose memory outlives it: the next search of the process takes it over.
//!
//! Of the first box of a graph more than half of the time went into pages that were never written to, and a process that checks a
//! spec has hundreds of first boxes. What is taken over has no shape and whatever entries it had, as between two boxes of one
//! search: every entry is written before it is read.

use super::columns::Columns;
use super::layer_state::{LayerState, SpareForms};
use std::sync::Mutex;

/// So many bytes are kept for later searches at most.
const MOST: usize = 128 << 20;

/// The forms of one propagation: those in front of the function of each step, and those behind functions.
#[derive(Debug, Default)]
struct Kept {
    steps: Vec<[Columns; 4]>,
    behind: Vec<SpareForms>,
}

impl Kept {
    fn forms(&mut self) -> impl Iterator<Item = &mut Columns> {
        self.steps.iter_mut().chain(&mut self.behind).flatten()
    }

    fn bytes(&mut self) -> usize {
        self.forms().map(|form| form.room()).sum()
    }
}

/// What searches that are over have left.
static LEFT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The states of all steps, and memory for forms behind functions.
#[derive(Debug)]
pub(super) struct States {
    /// The state of each step.
    pub layers: Vec<LayerState>,
    /// Memory of forms that no step reads any more.
    pub spare: Vec<SpareForms>,
}

impl States {
    /// Those of so many steps, in memory that an earlier search has left, if there is some.
    pub fn new(depth: usize) -> Self {
        let mut layers = vec![LayerState::default(); depth];
        let mut kept = LEFT.lock().ok().and_then(|mut left| left.pop()).unwrap_or_default();
        kept.forms().for_each(Columns::forget);
        for (layer, forms) in layers.iter_mut().zip(kept.steps) {
            [layer.z1, layer.z2, layer.d_common, layer.d_rest] = forms;
        }
        Self { layers, spare: kept.behind }
    }
}

impl Drop for States {
    fn drop(&mut self) {
        let mut kept = Kept { steps: Vec::new(), behind: std::mem::take(&mut self.spare) };
        for layer in &mut self.layers {
            kept.steps.push([&mut layer.z1, &mut layer.z2, &mut layer.d_common, &mut layer.d_rest].map(std::mem::take));
            kept.behind.push(layer.after.take_forms());
        }
        kept.behind.retain(|forms| forms.iter().any(|form| form.room() > 0));
        if let Ok(mut left) = LEFT.lock()
            && left.iter_mut().map(Kept::bytes).sum::<usize>() + kept.bytes() <= MOST
        {
            left.push(kept);
        }
    }
}
