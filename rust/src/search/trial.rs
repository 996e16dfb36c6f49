//! A short search by halving boxes alone, before contraction is called in.
//!
//! Contraction is worth a thousand boxes and costs about as many. Where plain boxes go far they are the faster way, and a few hundred of them tell: a query
//! that zonotopes decide must not wait for stronger means. What a trial that decides nothing has learned is thrown away.

use super::{Reason, Solution, Verdict};
use crate::property::Property;
use crate::settings::Settings;

/// Boxes of the first trial, and of the second, which is made if the first closes boxes.
const BOXES: [u64; 2] = [256, 4096];

/// Open boxes per box bounded up to which boxes are worth going on with; where none is ever closed it is 1.
const OPEN: f64 = 0.9;

/// Beyond so many free inputs halving one of them changes next to nothing.
const INPUTS: usize = 64;

/// How many boxes each trial may take, in order; none where contraction is not used anyway, or where halving is hopeless.
pub fn sizes(settings: &Settings, property: &Property, inputs: usize) -> &'static [u64] {
    let linear = property.obligations.iter().all(|o| o.violation.is_linear());
    // Who wants every box contracted, however few its inputs, wants no trial either.
    if !linear || !settings.contracts(inputs) || inputs > INPUTS || settings.contract_above == 0 {
        return &[];
    }
    &BOXES
}

/// The settings of a trial that ends when so many boxes are counted, those of earlier trials included.
pub fn settings(settings: &Settings, boxes: u64) -> Settings {
    Settings { contract: false, lp: false, boxes, ..settings.clone() }
}

/// Whether the trial is the answer; and if not, whether another trial is worth its while. `before`: boxes of earlier trials.
pub fn judge(solution: &Solution, before: u64) -> (bool, bool) {
    let cut_off = solution.verdict == Verdict::Unknown(Reason::Boxes);
    // Boxes that cannot be halved further may fall to contraction.
    let stuck = matches!(solution.verdict, Verdict::Unknown(Reason::Incomplete | Reason::FloatOnly | Reason::Spurious));
    #[allow(clippy::cast_precision_loss)]
    let closes = solution.open_boxes as f64 <= OPEN * (solution.boxes - before) as f64;
    (!cut_off && !stuck, cut_off && closes)
}
