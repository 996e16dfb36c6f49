//! The error function with a proven error: Taylor's series around the nearest multiple of 1/8.
//!
//! With c that multiple, h = x - c and g(t) = e^(-2 c t - t^2):  erf(c + h) = erf c + 2/sqrt(pi) e^(-c^2) times the
//! integral of g from 0 to h. The coefficients a_n of g are (-1)^n H_n(c) / n!, H_n the Hermite polynomials; from
//! g' = -2 (c + t) g follows a_(n+1) = -2 (c a_n + a_(n-1)) / (n + 1).

use std::f64::consts::FRAC_2_SQRT_PI;

use super::near::Near;
use super::round::U;

/// erf c and 2/sqrt(pi) e^(-c^2) for c = 0, 1/8, .., 6, correctly rounded.
const CENTRES: [(f64, f64); 49] = [
    (0.0, FRAC_2_SQRT_PI),
    (0.140_316_204_801_333_8, 1.110_885_269_596_662_5),
    (0.276_326_390_168_236_96, 1.060_014_129_376_114_3),
    (0.404_116_909_434_822_3, 0.980_352_809_545_907_9),
    (0.520_499_877_813_046_5, 0.878_782_578_935_444_8),
    (0.623_240_882_188_418, 0.763_499_535_760_604_9),
    (0.711_155_633_653_515_1, 0.642_931_069_195_207_4),
    (0.784_075_061_059_859_7, 0.524_745_045_290_148_2),
    (0.842_700_792_949_714_9, 0.415_107_497_420_594_7),
    (0.888_388_231_701_707_8, 0.318_273_958_500_769_3),
    (0.922_900_128_256_458_3, 0.236_521_122_447_290_8),
    (0.948_170_072_782_090_3, 0.170_359_773_687_515_6),
    (0.966_105_146_475_310_8, 0.118_930_289_223_629_37),
    (0.978_443_733_239_983_7, 0.080_472_259_022_511_16),
    (0.986_671_671_219_182_4, 0.052_774_995_930_150_37),
    (0.991_990_057_670_119_9, 0.033_545_828_424_216_07),
    (0.995_322_265_018_952_7, 0.020_666_985_354_092_053),
    (0.997_345_970_640_517_7, 0.012_340_820_614_333_696),
    (0.998_537_283_413_318_8, 0.007_142_319_022_017_983),
    (0.999_217_061_782_108_9, 0.004_006_477_861_670_219),
    (0.999_593_047_982_555, 0.002_178_284_230_352_709_5),
    (0.999_794_624_263_858_8, 0.001_147_875_125_882_675),
    (0.999_899_378_077_880_3, 0.000_586_277_247_093_792_3),
    (0.999_952_145_160_256_2, 0.000_290_228_282_862_498_03),
    (0.999_977_909_503_001_4, 0.000_139_253_051_946_747_86),
    (0.999_990_103_265_374_7, 6.475_868_323_471_298e-5),
    (0.999_995_697_220_536_3, 2.918_902_538_358_170_2e-5),
    (0.999_998_184_718_572_6, 1.275_174_079_976_508_8e-5),
    (0.999_999_256_901_627_6, 5.399_426_777_384_783e-6),
    (0.999_999_704_859_807_5, 2.215_920_284_633_112_4e-6),
    (0.999_999_886_272_743_4, 8.814_321_912_318_039e-7),
    (0.999_999_957_486_056, 3.398_223_817_809_154e-7),
    (0.999_999_984_582_742_1, 1.269_823_467_186_655_8e-7),
    (0.999_999_994_576_599_2, 4.598_995_828_846_052e-8),
    (0.999_999_998_149_425_9, 1.614_399_371_950_741_2e-8),
    (0.999_999_999_387_516_7, 5.492_717_228_853_464e-9),
    (0.999_999_999_803_383_9, 1.811_305_895_908_69e-9),
    (0.999_999_999_938_783_9, 5.789_281_366_587_474e-10),
    (0.999_999_999_981_514_9, 1.793_435_703_434_133_7e-10),
    (0.999_999_999_994_586_6, 5.384_870_492_099_458e-11),
    (0.999_999_999_998_462_6, 1.567_086_653_101_733_6e-11),
    (0.999_999_999_999_576_6, 4.420_170_869_338_572_6e-12),
    (0.999_999_999_999_886_9, 1.208_407_471_600_675_5e-12),
    (0.999_999_999_999_970_7, 3.201_961_038_247_622_5e-13),
    (0.999_999_999_999_992_7, 8.223_316_045_262_922e-14),
    (0.999_999_999_999_998_2, 2.046_945_208_423_793e-14),
    (0.999_999_999_999_999_6, 4.938_485_140_964_219e-15),
    (0.999_999_999_999_999_9, 1.154_807_464_350_253e-15),
    (1.0, 2.617_301_239_249_265e-16),
];

/// 1 / n, correctly rounded.
const INVERSE: [f64; 12] = [
    0.0,
    1.0,
    1.0 / 2.0,
    1.0 / 3.0,
    1.0 / 4.0,
    1.0 / 5.0,
    1.0 / 6.0,
    1.0 / 7.0,
    1.0 / 8.0,
    1.0 / 9.0,
    1.0 / 10.0,
    1.0 / 11.0,
];

/// erf x; off by at most 12 U relatively for |x| <= 1/16, and by at most 6 U elsewhere.
///
/// Left out is what follows h^11. By Cramer's inequality, |H_n(c)| <= 1.09 e^(c^2 / 2) sqrt(2^n n!), its first term is
/// below 1.13 * 1.09 * 2^(11/2) h^12 / (12 sqrt(11!)) < 2.7e-18 for |h| <= 1/16, and every other below a tenth of the one
/// before: 0.03 U.
///
/// Rounding: b_n = a_n h^n obeys b_(n+1) = -(p b_n + q b_(n-1)) / (n + 1), p = 2 c h (|p| <= 3/4), q = 2 h^2 < 0.008, with
/// at most five roundings a step. With B_n the coefficients of e^(p t + q t^2 / 2), p and q taken positive, b_n is off by
/// at most 5 n U B_n, and the sum of b_n / (n + 1), two roundings a term and ten for the sum, by the sum of
/// (5 n + 12) / (n + 1) B_n U < 24 U. Times 1.13 / 16 this is 1.7 U; the product itself is below 0.15 and has four
/// roundings more, 0.6 U; erf c and the last sum have half a unit in the last place each, 1 U together: 3.4 U.
///
/// For |x| <= 1/16, c = p = 0 and terms of odd n vanish: the sum is 1 up to 0.002 and has at most 7 U, the factors 4 U.
/// From 6 on, 1 - erf |x| < 2.2e-17.
#[must_use]
#[inline]
pub fn erf(x: f64) -> Near {
    let size = x.abs();
    if size >= 6.0 || size.is_nan() {
        return if x.is_nan() { Near::UNKNOWN } else { Near { value: 1.0_f64.copysign(x), error: U } };
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let centre = (size * 8.0 + 0.5) as usize;
    #[allow(clippy::cast_precision_loss)]
    let c = centre as f64 * 0.125;
    // Exact: both are multiples of the last place of the smaller, and so is the difference, which is smaller still.
    let h = size - c;
    let (p, q) = (2.0 * c * h, 2.0 * h * h);
    let (mut before, mut term, mut sum) = (0.0, 1.0, 1.0);
    for n in 1..=10 {
        (before, term) = (term, -(p * term + q * before) * INVERSE[n]);
        sum += term * INVERSE[n + 1];
    }
    let (base, slope) = CENTRES[centre];
    let value = (base + slope * (h * sum)).copysign(x);
    if centre == 0 && size <= 0.0625 { Near::relative(value, 12.0) } else { Near { value, error: 6.0 * U } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::exp::exp;

    /// The table by another series, of positive terms: erf x = 2/sqrt(pi) x e^(-x^2) sum of (2 x^2)^n / (2 n + 1)!!.
    #[test]
    fn the_table_is_right() {
        for (i, &(value, slope)) in (0u8..).zip(&CENTRES) {
            let c = f64::from(i) / 8.0;
            let weight = FRAC_2_SQRT_PI * exp(-c * c).value;
            assert!((weight - slope).abs() <= 8.0 * U * slope);
            let (mut term, mut sum) = (1.0, 1.0);
            for n in 1..200u8 {
                term *= 2.0 * c * c / f64::from(2 * u16::from(n) + 1);
                sum += term;
            }
            assert!((weight * c * sum - value).abs() <= 200.0 * U * value, "{c}");
        }
    }
}
