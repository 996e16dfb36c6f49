//! Pseudo-random numbers that are the same in every run: SplitMix64 (Steele, Lea, Flood, *Fast splittable pseudorandom
//! number generators*, OOPSLA 2014).

/// The next number in [0, 1) of the sequence that `state` stands for.
pub fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    #[allow(clippy::cast_precision_loss)]
    let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
    unit
}

/// A random number below n.
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
pub fn below(n: usize, random: &mut u64) -> usize {
    ((uniform(random) * n as f64) as usize).min(n.saturating_sub(1))
}
