//! Codecs by hand: bytes, layout, picks. The laws of all codecs are among the integration tests.

use super::{CODECS, Codec, codec};
use crate::numeric::sample::{Draws, Purpose};

fn compressed(codec: &dyn Codec, x: &[f64], round: u64) -> Vec<f64> {
    let mut q = x.to_vec();
    codec.compress(&mut q, &mut Draws::new(5, Purpose::Codec, 2, round));
    q
}

fn encoded(codec: &dyn Codec, q: &[f64]) -> Vec<u8> {
    let mut bytes = vec![];
    codec.encode(q, &mut bytes);
    bytes
}

#[test]
fn picks_are_uniform_without_replacement() {
    let random = codec("random-k").unwrap().codec([("k", 3.0), ("unbiased", 0.0)]).unwrap();
    let mut pairs = [[0_u32; 7]; 7];
    for round in 0..35_000 {
        let q = compressed(&*random, &[1.0; 7], round);
        let picked: Vec<usize> = (0..7).filter(|&i| q[i] != 0.0).collect();
        assert_eq!(picked.len(), 3);
        for &i in &picked {
            picked.iter().for_each(|&j| pairs[i][j] += 1);
        }
    }
    for (i, row) in pairs.iter().enumerate() {
        for (j, &count) in row.iter().enumerate() {
            // 3/7 for a number, (3/7)(2/6) for a pair
            let expected = if i == j { 15_000.0 } else { 5_000.0 };
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{i}, {j}: {count}");
        }
    }
}

#[test]
fn bytes_by_hand() {
    for (name, given, d, bytes) in [
        ("identity", &[][..], 123, 984),
        ("top-k", &[("fraction", 0.1)], 123, 11 + 96), // 12 positions of 7 bits
        ("top-k", &[("k", 1.0)], 1, 8),                // one position needs no bits
        ("random-k", &[("k", 200.0)], 123, 108 + 984), // all 123 positions of 7 bits
        ("quantise", &[("bits", 4.0)], 123, 8 + 62),
        ("sign", &[], 123, 8 + 16),
        ("natural", &[], 123, 185),
        ("log-quantise", &[("steps", 8.0)], 123, 231), // 15 bits
        ("saturate", &[], 123, 984),
        ("uniform", &[("bits", 8.0)], 123, 123),
    ] {
        let codec = codec(name).unwrap().codec(given.iter().copied()).unwrap();
        assert_eq!(codec.bytes(d), bytes, "{name}");
    }
    for kind in CODECS {
        let scale = ["quantise", "sign"].contains(&kind.name);
        assert_eq!(kind.codec([]).unwrap().bytes(0), if scale { 8 } else { 0 }, "{}", kind.name);
    }
}

#[test]
fn the_layout_of_messages_does_not_change() {
    let x = [1.5, -0.25, 0.0, 6.0, -6.0];
    let message = |name: &str, given: &[(&str, f64)]| {
        let codec = codec(name).unwrap().codec(given.iter().copied()).unwrap();
        encoded(&*codec, &compressed(&*codec, &x, 0))
    };
    let number = |x: f64| x.to_le_bytes();
    // positions 3 and 4, of three bits
    let top = [&[0b00_100_011][..], &number(6.0), &number(-6.0)].concat();
    assert_eq!(message("top-k", &[("k", 2.0)]), top);
    // one number that is not zero and one that makes up the count
    let one = codec("top-k").unwrap().codec([("k", 2.0)]).unwrap();
    let first_zero = [&[0b00_011_000][..], &number(0.0), &number(2.0)].concat();
    assert_eq!(encoded(&*one, &[0.0, 0.0, 0.0, 2.0, 0.0]), first_zero);
    let sign = [&number(2.75)[..], &[0b1_0010]].concat();
    assert_eq!(message("sign", &[]), sign);
    // levels + 127: 3, −½ to the even 0, 0, 12, −12 times ½
    assert_eq!(message("uniform", &[("bits", 8.0), ("step", 0.5)]), [130, 127, 127, 139, 115]);
    // levels + 7 of the unit ½, in four bits: 3, −2, 0, 7, −7
    let quantise = codec("quantise").unwrap().codec([("bits", 4.0)]).unwrap();
    let levels = [&number(0.5)[..], &[10 | 5 << 4, 7 | 14 << 4, 0]].concat();
    assert_eq!(encoded(&*quantise, &[1.5, -1.0, 0.0, 3.5, -3.5]), levels);
    // upper twelve bits of 2 and of −¼
    let natural = codec("natural").unwrap().codec([]).unwrap();
    assert_eq!(encoded(&*natural, &[2.0, -0.25]), [0x00, 0xd4, 0xbf]);
}
