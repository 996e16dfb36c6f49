//! The first step over the box, and averages of planes above functionals of its ReLUs ([`super::box_hull`]): where the next
//! planes touch, what they are, and how an average takes them in. Arrays are functional-major but for levels, which are
//! input-major like the weights.

use super::backward::Backward;
use super::relax::OneSided;
use super::rounding_cost::ACCOUNT;
use crate::network::{Function, Origin, Tile};
use crate::numeric::round::{down, gamma, up};

/// The highest level; places are level / TOP.
pub(super) const TOP: usize = 8;
/// How soft the maximum is at first and in the end, in mean absolute coefficients of the average.
const SOFT: (f64, f64) = (2.4, 0.16);

/// Functionals that pass over the weights together.
pub(super) const TOGETHER: usize = 8;
/// Products are summed up in so many independent parts.
pub(super) const LANES: usize = 8;

/// The first step over the box, as planes need it.
pub(super) struct First<'b> {
    tile: &'b Tile,
    /// Neurons that are open in bounds, by number; numbers of them come in whole lanes.
    pub(super) open: Vec<usize>,
    pub(super) lanes: usize,
    /// The width of each input's range, rounded up.
    pub(super) width: Vec<f64>,
    /// Of each input and open neuron, what z gains over the range of the input, and what it loses.
    pub(super) gains: Vec<f64>,
    pub(super) losses: Vec<f64>,
    /// Of every neuron, its value at the lower corner, its mass and its error.
    pub(super) base: Vec<f64>,
    pub(super) mass: Vec<f64>,
    pub(super) error: Vec<f64>,
    /// Of every open neuron, its least value over the box.
    pub(super) least: Vec<f64>,
    /// What one unit of every coefficient and of every input's range can weigh together.
    pub(super) unit: f64,
}

impl<'b> First<'b> {
    /// `None` where the first step is not a dense one of ReLUs that alone reads the inputs, or where nothing is open.
    pub(super) fn of(backward: &'b Backward<'_>) -> Option<Self> {
        let pair = &*backward.pair;
        let step = pair.first.first()?;
        let tile = step.dense().filter(|_| step.terms[0].origin == Origin::Inputs && pair.is_chain())?;
        let relaxation = backward.relaxed.relaxations.first()?;
        let all = relaxation.keep.len() == step.rows && *pair.function(0) == Function::Relu;
        let open: Vec<usize> = (0..step.rows).filter(|&j| relaxation.first.unstable.get(j) == Some(&1.0)).collect();
        if open.is_empty() || pair.inputs() == 0 || !all {
            return None;
        }
        let lanes = open.len().next_multiple_of(LANES);
        let mut first = Self {
            tile,
            width: Vec::new(),
            gains: vec![0.0; tile.columns * lanes],
            losses: vec![0.0; tile.columns * lanes],
            base: step.bias.clone(),
            mass: step.bias.iter().map(|b| b.abs()).collect(),
            error: step.bias_error.clone().unwrap_or_else(|| vec![0.0; step.rows]),
            least: vec![0.0; lanes],
            unit: 1.0,
            open,
            lanes,
        };
        first.read((&backward.relaxed.centre, &backward.relaxed.radius));
        for (mass, height) in first.mass.iter_mut().zip(&relaxation.first.height) {
            *mass += height.abs();
        }
        first.unit += first.mass.iter().chain(&first.width).sum::<f64>();
        Some(first)
    }

    /// Reads the weights, input by input.
    fn read(&mut self, (centre, radius): (&[f64], &[f64])) {
        let (m, rounding) = (self.tile.outputs, gamma(self.tile.columns + 8));
        for (i, (c, r)) in centre.iter().zip(radius).enumerate() {
            let (lower, upper) = (down(c - r), up(c + r));
            let (width, size) = (up(upper - lower), lower.abs().max(upper.abs()));
            self.width.push(width);
            let weights = self.of_input(i);
            for (j, w) in weights.iter().enumerate() {
                self.base[j] += w * lower;
                self.mass[j] += (w * lower).abs() + (w * width).abs();
                self.error[j] += rounding * w.abs() * (size + width) + f64::MIN_POSITIVE;
            }
            if let Some(errors) = &self.tile.weight_error {
                let of_input = &errors[i * m..(i + 1) * m];
                self.error.iter_mut().zip(of_input).for_each(|(error, e)| *error += e * size);
            }
            let numbers = i * self.lanes..(i + 1) * self.lanes;
            let both = self.gains[numbers.clone()].iter_mut().zip(&mut self.losses[numbers]);
            for (((gain, loss), least), &j) in both.zip(&mut self.least).zip(&self.open) {
                let change = weights[j] * width;
                (*gain, *loss) = (change.max(0.0), (-change).max(0.0));
                *least -= *loss;
            }
        }
        // The bias joins the products, and is rounded with them.
        let sums = self.error.iter_mut().zip(&self.mass);
        sums.for_each(|(error, mass)| *error = ACCOUNT * (*error + rounding * mass));
        self.least.iter_mut().zip(&self.open).for_each(|(least, &j)| *least += self.base[j]);
    }

    /// What an input is multiplied by.
    pub(super) fn of_input(&self, i: usize) -> &'b [f64] {
        &self.tile.weight[i * self.tile.outputs..(i + 1) * self.tile.outputs]
    }

    pub(super) fn inputs(&self) -> usize {
        self.width.len()
    }
}

/// Averages of planes above some functionals, to be maximised over the box.
#[derive(Default)]
pub(super) struct Planes {
    /// Coefficients of open neurons behind their ReLU.
    open: Vec<f64>,
    /// What does not depend on planes: coefficients of inputs, and a constant.
    fixed: Vec<f64>,
    fixed_constant: Vec<f64>,
    /// The average.
    average: Vec<f64>,
    constant: Vec<f64>,
    /// The least maximum of an average.
    pub(super) best: Vec<f64>,
    levels: Vec<u8>,
    /// By level of an input and open neuron, what the inputs give that it gains and loses by.
    gained: Vec<f64>,
    lost: Vec<f64>,
    /// By level of a place and open neuron, a q.
    shares: Vec<f64>,
}

impl Planes {
    /// Begins a functional with the chords of the open neurons, or a line below them; it is minus what is bounded from below.
    #[inline(always)]
    pub(super) fn begin(
        &mut self,
        first: &First<'_>,
        sides: &OneSided,
        (behind, slopes, linear): (&[f64], &[f64], &mut [f64]),
    ) {
        let m = behind.len();
        for j in 0..m {
            linear[j] = -linear[j] - behind[j] * sides.active[j];
        }
        let constant: f64 = linear.iter().zip(&first.base).map(|(l, b)| l * b).sum();
        let (mut with_chords, mut above) = (linear.to_vec(), constant);
        let mut of_open = Vec::with_capacity(first.lanes);
        for &j in &first.open {
            let a = -behind[j];
            of_open.push(a);
            let chord = a > 0.0;
            let slope = a * if chord { sides.slope[j] } else { slopes[j].clamp(0.0, 1.0) };
            with_chords[j] += slope;
            above += slope * first.base[j] + if chord { a * sides.height[j] } else { 0.0 };
        }
        of_open.resize(first.lanes, 0.0);
        self.open.append(&mut of_open);
        self.fixed_constant.push(constant);
        self.constant.push(above);
        let mut highest = above;
        for (i, width) in first.width.iter().enumerate() {
            let (mut fixed, mut average) = (0.0, 0.0);
            for ((l, c), w) in linear.iter().zip(&with_chords).zip(first.of_input(i)) {
                fixed += l * w;
                average += c * w;
            }
            self.fixed.push(fixed * width);
            self.average.push(average * width);
            highest += positive_part(average * width);
        }
        self.best.push(highest);
    }

    /// The places at which the next planes touch: where the averages are largest, softened.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
    pub(super) fn place(&mut self, inputs: usize, progress: f64) {
        let (count, top) = (self.best.len(), TOP as f64);
        let soft = SOFT.0 * (SOFT.1 / SOFT.0).powf(progress);
        self.levels.resize(inputs * count, 0);
        for (f, average) in self.average.chunks_exact(inputs).enumerate() {
            let size: f64 = average.iter().map(|c| c.abs()).sum::<f64>() / inputs as f64;
            let steep = top / (soft * size + f64::MIN_POSITIVE);
            for (i, c) in average.iter().enumerate() {
                // What is no number becomes 0, a level like any other.
                self.levels[i * count + f] = (0.5 * top + c * steep + 0.5).clamp(0.0, top) as u8;
            }
        }
    }

    /// What inputs of each level give to the open neurons.
    #[inline(always)]
    pub(super) fn sum_up(&mut self, first: &First<'_>) {
        let (count, w) = (self.best.len(), first.lanes);
        for sums in [&mut self.gained, &mut self.lost] {
            sums.clear();
            sums.resize(count * (TOP + 1) * w, 0.0);
        }
        let rows = first.gains.chunks_exact(w).zip(first.losses.chunks_exact(w));
        for ((gains, losses), levels) in rows.zip(self.levels.chunks_exact(count)) {
            for (f, &level) in levels.iter().enumerate() {
                let level = usize::from(level).min(TOP);
                let (gained, lost) = ((f * (TOP + 1) + level) * w, (f * (TOP + 1) + TOP - level) * w);
                self.gained[gained..gained + w].iter_mut().zip(gains).for_each(|(sum, gain)| *sum += gain);
                self.lost[lost..lost + w].iter_mut().zip(losses).for_each(|(sum, loss)| *sum += loss);
            }
        }
    }

    /// The planes that touch there, as a share of each gain and loss by level, and their constants.
    #[inline(always)]
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn choose(&mut self, first: &First<'_>) -> [f64; TOGETHER] {
        let w = first.lanes;
        let mut constants = [0.0; TOGETHER];
        self.shares.resize(self.gained.len(), 0.0);
        let (mut beyond, mut value) = (vec![0.0; w], vec![0.0; w]);
        for (f, a) in self.open.chunks_exact(w).enumerate() {
            let of_level = |v: usize| (f * (TOP + 1) + v) * w..(f * (TOP + 1) + v + 1) * w;
            value.copy_from_slice(&first.least);
            for v in 1..=TOP {
                let sums = self.gained[of_level(v)].iter().zip(&self.lost[of_level(v)]);
                value.iter_mut().zip(sums).for_each(|(z, (g, l))| *z += v as f64 / TOP as f64 * (g + l));
            }
            beyond.iter_mut().zip(&first.least).for_each(|(b, least)| *b = (-least).max(0.0));
            let mut constant = 0.0;
            for ((a, z), least) in a.iter().zip(&value).zip(&first.least) {
                // From above it is h, which is not 0 where z is positive in the whole box.
                let below = if *z > 0.0 { *least } else { 0.0 };
                constant += a * if *a < 0.0 { below } else { least.max(0.0) };
            }
            for v in (0..=TOP).rev() {
                let sums = self.gained[of_level(v)].iter().zip(&self.lost[of_level(v)]);
                let shares = self.shares[of_level(v)].iter_mut();
                for ((((share, (g, l)), beyond), a), z) in shares.zip(sums).zip(&mut beyond).zip(a).zip(&value) {
                    let all = g + l;
                    let left_out = all.min(*beyond);
                    *beyond -= left_out;
                    let q = if all > 0.0 { (1.0 - left_out / all).clamp(0.0, 1.0) } else { 0.0 };
                    let below = if *z > 0.0 { 1.0 } else { 0.0 };
                    *share = a * if *a < 0.0 { below } else { q };
                    constant += *share * l;
                }
            }
            constants[f] = constant + self.fixed_constant[f];
        }
        constants
    }

    /// Takes the planes into the averages with this weight.
    #[inline(always)]
    pub(super) fn average(&mut self, first: &First<'_>, constants: &[f64; TOGETHER], weight: f64) {
        let (count, w, inputs) = (self.best.len(), first.lanes, first.inputs());
        let rows = first.gains.chunks_exact(w).zip(first.losses.chunks_exact(w));
        for (i, ((gains, losses), levels)) in rows.zip(self.levels.chunks_exact(count)).enumerate() {
            for (f, &level) in levels.iter().enumerate() {
                let level = usize::from(level).min(TOP);
                let (up, down) = ((f * (TOP + 1) + level) * w, (f * (TOP + 1) + TOP - level) * w);
                let shares = (&self.shares[up..up + w], &self.shares[down..down + w]);
                let coefficient = self.fixed[f * inputs + i] + difference(shares, (gains, losses));
                let average = &mut self.average[f * inputs + i];
                *average += weight * (coefficient - *average);
            }
        }
        for (f, average) in self.average.chunks_exact(inputs).enumerate() {
            self.constant[f] += weight * (constants[f] - self.constant[f]);
            let highest = self.constant[f] + average.iter().map(|c| positive_part(*c)).sum::<f64>();
            // What is not a number is passed over.
            self.best[f] = self.best[f].min(highest);
        }
    }
}

/// max(x, 0); not a number where x is infinite or none, unlike `f64::max`, which would take it for 0: a coefficient may
/// overflow although the range that it is multiplied by is so small that the product would not, as that of a fixed input.
#[inline(always)]
fn positive_part(x: f64) -> f64 {
    x.max(0.0) + 0.0 * x
}

/// a.x - b.y, in lanes.
#[inline(always)]
fn difference((a, b): (&[f64], &[f64]), (x, y): (&[f64], &[f64])) -> f64 {
    let mut sums = [0.0; LANES];
    let numbers = a.chunks_exact(LANES).zip(x.chunks_exact(LANES));
    for ((a, x), (b, y)) in numbers.zip(b.chunks_exact(LANES).zip(y.chunks_exact(LANES))) {
        for l in 0..LANES {
            sums[l] += a[l] * x[l] - b[l] * y[l];
        }
    }
    sums.iter().sum()
}
