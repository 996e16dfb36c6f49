//! The neurons that steps of multipliers in singles are about: of a chain those that are not inactive in both networks.
//!
//! A neuron that is inactive in both is 0, and so are X, Y and D: it is left out, as on parts of a box
//! ([`crate::domain::restricted_pair`]). On small boxes those are many, and a step costs as much less.
//!
//! Where a neuron is active in both, X = x, Y = y and D = d, and no slope is free. Its link is of use all the same: it is
//! one multiplier for what would take a step of the links of all neurons below, since in the relaxed networks x - y
//! need not be d, and without it multipliers come to much less in as many steps. Where links are not moved, as where one
//! network is bounded by itself, such a neuron *passes*: coefficients and values go through it unchanged, and it has no
//! multipliers. So the neurons of a step are put in order, first those that *bend*, then those that pass.
//!
//! Nothing rests on the choice: bounds are computed on the whole pair, with the multipliers that were found here and the
//! others as they were.

use super::functional::Functional;
use super::relax::{OneSided, Relaxation};
use crate::domain::intermediate_bounds::PhaseConstraint;

/// Loops over the neurons that bend fill registers of so many singles.
const LANES: usize = 8;

/// The neurons of one hidden step.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    /// By their numbers in the whole step.
    pub(super) neurons: Vec<usize>,
    /// So many of them, the first ones, bend.
    pub(super) bending: usize,
    /// For each neuron of the whole step its place among `neurons`.
    place: Vec<usize>,
}

/// The neurons of every hidden step of a chain.
#[derive(Debug, Clone, Default)]
pub(super) struct Restriction {
    pub(super) steps: Vec<Rows>,
}

/// The place of a neuron that is left out.
const NOWHERE: usize = usize::MAX;

/// What becomes of a neuron.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Bends,
    Passes,
    LeftOut,
}

impl Restriction {
    /// For these relaxations and functionals, whose neurons are kept, as are those of assumed signs. `links` says whether
    /// links are moved.
    pub(super) fn of(
        relaxations: &[Relaxation],
        (functionals, constraints): (&[Functional], &[PhaseConstraint]),
        links: bool,
    ) -> Self {
        let mut roles: Vec<Vec<Role>> = relaxations.iter().map(|r| roles(r, links)).collect();
        for functional in functionals {
            if let Functional::Neuron { layer, neuron, .. } = *functional {
                roles[layer][neuron] = Role::Bends;
            }
        }
        for constraint in constraints {
            roles[constraint.layer][constraint.index] = Role::Bends;
        }
        Self { steps: roles.iter().map(|roles| Rows::of(roles)).collect() }
    }

    /// A functional by the place of its neuron.
    pub(super) fn placed(&self, functional: Functional) -> Functional {
        match functional {
            Functional::Neuron { quantity, layer, neuron, negative } => {
                Functional::Neuron { quantity, layer, neuron: self.steps[layer].place[neuron], negative }
            }
            Functional::Target | Functional::Input { .. } => functional,
        }
    }

    /// An assumed sign by the place of its neuron.
    pub(super) fn placed_constraint(&self, constraint: PhaseConstraint) -> PhaseConstraint {
        PhaseConstraint { index: self.steps[constraint.layer].place[constraint.index], ..constraint }
    }
}

fn roles(relaxation: &Relaxation, links: bool) -> Vec<Role> {
    let sides = [&relaxation.first, &relaxation.second];
    let every = |holds: &dyn Fn(&OneSided) -> bool| sides.iter().all(|side| holds(side));
    let role = |i: usize| {
        if every(&|side| side.active[i] == 0.0 && side.unstable[i] == 0.0) {
            Role::LeftOut
        } else if !links && every(&|side| side.active[i] == 1.0) {
            Role::Passes
        } else {
            Role::Bends
        }
    };
    (0..relaxation.keep.len()).map(role).collect()
}

impl Rows {
    fn of(roles: &[Role]) -> Self {
        let with = |role: Role| (0..roles.len()).filter(move |&i| roles[i] == role);
        let mut neurons: Vec<usize> = with(Role::Bends).collect();
        // The last register is filled with other neurons, whose relaxations are no less true.
        let missing = neurons.len().next_multiple_of(LANES) - neurons.len();
        neurons.extend(with(Role::Passes).chain(with(Role::LeftOut)).take(missing));
        let bending = neurons.len();
        neurons.extend(with(Role::Passes).skip(missing));
        let mut place = vec![NOWHERE; roles.len()];
        neurons.iter().enumerate().for_each(|(at, &i)| place[i] = at);
        Self { neurons, bending, place }
    }

    /// The neurons that bend.
    pub(super) fn bending(&self) -> &[usize] {
        &self.neurons[..self.bending]
    }
}
