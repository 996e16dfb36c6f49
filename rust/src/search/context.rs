//! What all workers of a search read and none of them changes, except for the counters and queues of [`Shared`], which
//! synchronise themselves.

use super::Region;
use super::hints::Hints;
use super::record::Record;
use super::shared::Shared;
use crate::bound::Assumption;
use crate::network::Pair;
use crate::property::Property;
use crate::settings::Settings;

/// The question, and what the workers of its search have in common.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The pair over the free inputs.
    pub pair: &'a Pair,
    /// The region over all inputs.
    pub whole: &'a Region,
    /// Which inputs are free.
    pub free: &'a [usize],
    /// The region over the free inputs.
    pub region: &'a Region,
    /// The claim.
    pub property: &'a Property,
    /// How to search.
    pub settings: &'a Settings,
    /// Queues, limits and counters of all workers.
    pub shared: &'a Shared,
    /// Where the record of a proof is written, if one is wanted.
    pub record: Record<'a>,
    /// What an earlier proof of a pair like this one did.
    pub hints: Option<&'a Hints>,
}

impl Context<'_> {
    /// The assumption that an obligation is violated; `None` where its violation is not linear.
    pub fn assumption(&self, obligation: usize) -> Option<Assumption> {
        Assumption::new(self.property, &self.property.obligations[obligation], self.pair.outputs())
    }

    /// The violation of an obligation somewhere in the region, as the settings let it be used; `None` where it is not
    /// linear.
    pub fn violation(&self, obligation: usize) -> Option<Assumption> {
        let mut assumption = self.assumption(obligation)?;
        if !self.settings.entropy {
            assumption.entropy = 0..0;
        }
        self.region.constraints.iter().for_each(|c| assumption.region.push(&c.coefficients, c.bound));
        Some(assumption)
    }
}
