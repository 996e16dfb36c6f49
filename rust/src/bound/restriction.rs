//! The neurons and inputs that steps of multipliers in singles are about: of a chain the neurons that are not inactive in both
//! networks, and the inputs that vary.
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
//! An input whose range is one number, or so short that singles do not tell its ends apart, is left out as well, and what it gives is part of the biases. Where few of many
//! inputs vary, as pixels of an image or features of a record that somebody frees, products with the first matrix are most of
//! the work otherwise. Constraints of the region speak of all inputs, which are kept then.
//!
//! Nothing rests on the choice: bounds are computed on the whole pair, with the multipliers that were found here and the
//! others as they were.

use super::backward_workspace::RelaxedPair;
use super::functional::Functional;
use super::relax::{OneSided, Relaxation};
use crate::domain::intermediate_bounds::PhaseConstraint;

/// Loops over the neurons that bend fill registers of so many singles.
const LANES: usize = 8;

/// An input varies if its range is more than this part of the widest one: less is lost in singles.
const VARIES: f64 = 1e-8;

/// The neurons of one hidden step, or the inputs.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    /// By their numbers in the whole step.
    pub(super) neurons: Vec<usize>,
    /// So many of them, the first ones, bend.
    pub(super) bending: usize,
    /// For each neuron of the whole step its place among `neurons`.
    place: Vec<usize>,
}

/// The neurons of every hidden step of a chain, and the inputs.
#[derive(Debug, Clone, Default)]
pub(super) struct Restriction {
    pub(super) steps: Vec<Rows>,
    /// The inputs that vary, by their numbers among all.
    pub(super) inputs: Rows,
}

/// The place of a neuron that is left out.
const NOWHERE: usize = usize::MAX;

/// What steps are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// Both networks and their difference, and links between them are moved.
    Linked,
    /// The same, and links stay where they are.
    Both,
    /// f1 alone.
    First,
}

/// What becomes of a neuron.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Bends,
    Passes,
    LeftOut,
}

impl Restriction {
    /// For these relaxations, inputs and functionals, whose neurons and inputs are kept, as are the neurons of assumed
    /// signs.
    pub(super) fn of(relaxed: &RelaxedPair, functionals: &[Functional], about: About, whole_inputs: bool) -> Self {
        let mut steps: Vec<Vec<Role>> = relaxed.relaxations.iter().map(|r| roles(r, about)).collect();
        let widest = relaxed.radius.iter().fold(f64::MIN_POSITIVE, |a, radius| a.max(*radius));
        let varies = |radius: &f64| whole_inputs || *radius > VARIES * widest;
        let role = |radius: &f64| if varies(radius) { Role::Bends } else { Role::LeftOut };
        let mut inputs: Vec<Role> = relaxed.radius.iter().map(role).collect();
        for functional in functionals {
            match *functional {
                Functional::Neuron { layer, neuron, .. } => steps[layer][neuron] = Role::Bends,
                Functional::Input { input, .. } => inputs[input] = Role::Bends,
                Functional::Target => {}
            }
        }
        for constraint in &relaxed.phase_constraints {
            steps[constraint.layer][constraint.index] = Role::Bends;
        }
        Self { steps: steps.iter().map(|roles| Rows::of(roles)).collect(), inputs: Rows::of(&inputs) }
    }

    /// A functional by the place of its neuron.
    pub(super) fn placed(&self, functional: Functional) -> Functional {
        match functional {
            Functional::Neuron { quantity, layer, neuron, negative } => {
                Functional::Neuron { quantity, layer, neuron: self.steps[layer].place[neuron], negative }
            }
            Functional::Input { input, negative } => Functional::Input { input: self.inputs.place[input], negative },
            Functional::Target => functional,
        }
    }

    /// An assumed sign by the place of its neuron.
    pub(super) fn placed_constraint(&self, constraint: PhaseConstraint) -> PhaseConstraint {
        PhaseConstraint { index: self.steps[constraint.layer].place[constraint.index], ..constraint }
    }
}

fn roles(relaxation: &Relaxation, about: About) -> Vec<Role> {
    let sides = [&relaxation.first, &relaxation.second];
    // The coefficients of Y and D are 0 where f1 alone is looked at, and nobody tightens y there.
    let sides = if about == About::First { &sides[..1] } else { &sides[..] };
    let every = |holds: &dyn Fn(&OneSided) -> bool| sides.iter().all(|side| holds(side));
    let role = |i: usize| {
        if every(&|side| side.active[i] == 0.0 && side.unstable[i] == 0.0) {
            Role::LeftOut
        } else if about != About::Linked && every(&|side| side.active[i] == 1.0) {
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
