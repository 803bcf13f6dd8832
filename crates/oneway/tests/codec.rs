//! Laws of codecs, over every codec there is: round trip, one spelling, purity, no allocation, and the error
//! that each claims.
#![allow(clippy::unwrap_used, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use oneway::codec::{CODECS, Codec, Quality, Scaled, codec};
use oneway::numeric::sample::{Draws, Purpose};
use proptest::prelude::*;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all work is the system allocator's; only a counter is added
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Named = (String, Box<dyn Codec>);

/// Every codec of the registry with its defaults, and with parameters at the ends of their ranges.
fn plain() -> Vec<Named> {
    let settings: &[(&str, &[(&str, f64)])] = &[
        ("top-k", &[("k", 1.0)]),
        ("top-k", &[("k", 7.0)]),
        ("top-k", &[("fraction", 1.0)]),
        ("random-k", &[("k", 3.0)]),
        ("random-k", &[("fraction", 0.5), ("unbiased", 0.0)]),
        ("random-k", &[("fraction", 1.0)]),
        ("quantise", &[("bits", 2.0)]),
        ("quantise", &[("bits", 3.0), ("euclidean", 1.0)]),
        ("quantise", &[("bits", 8.0), ("euclidean", 1.0)]),
        ("quantise", &[("bits", 32.0)]),
        ("log-quantise", &[("steps", 1.0)]),
        ("log-quantise", &[("steps", 3.0)]),
        ("log-quantise", &[("steps", 1024.0)]),
        ("saturate", &[("limit", 1e-100)]),
        ("saturate", &[("limit", 1e100)]),
        ("uniform", &[("random", 1.0)]),
        ("uniform", &[("bits", 2.0), ("step", 1e100)]),
        ("uniform", &[("bits", 32.0), ("step", 1e-100)]),
        ("uniform", &[("bits", 32.0), ("step", 0.1), ("random", 1.0)]),
    ];
    let defaults = CODECS.iter().map(|kind| (kind.name, &[][..]));
    defaults
        .chain(settings.iter().copied())
        .map(|(name, given)| {
            let built = codec(name).unwrap().codec(given.iter().copied()).unwrap();
            (format!("{name} {given:?}"), built)
        })
        .collect()
}

/// These, and each of them at a few scales.
fn all() -> Vec<Named> {
    let scaled = [0.0, 1e-5, 1.0, 3e7, f64::INFINITY].into_iter().flat_map(|s| {
        plain().into_iter().map(move |(name, codec)| {
            let codec = Scaled::new(&*Box::leak(codec), s);
            (format!("{:e} · {name}", codec.scale()), Box::new(codec) as Box<dyn Codec>)
        })
    });
    plain().into_iter().chain(scaled).collect()
}

fn draws(round: u64) -> Draws {
    Draws::new(5, Purpose::Codec, 2, round)
}

fn compressed(codec: &dyn Codec, x: &[f64], round: u64) -> Vec<f64> {
    let mut q = x.to_vec();
    codec.compress(&mut q, &mut draws(round));
    q
}

fn encoded(codec: &dyn Codec, q: &[f64]) -> Vec<u8> {
    let mut bytes = vec![];
    codec.encode(q, &mut bytes);
    bytes
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

fn norm_sq(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().map(|x| x * x).sum()
}

fn error_sq(q: &[f64], x: &[f64]) -> f64 {
    norm_sq(q.iter().zip(x).map(|(q, x)| q - x))
}

/// Numbers of ordinary size, of every size, whole ones that tie, and the odd ones.
fn number() -> impl Strategy<Value = f64> {
    let odd =
        [0.0, -0.0, f64::from_bits(1), -f64::MIN_POSITIVE, 1e-310, f64::MAX, f64::MIN, 1.5 * 2f64.powi(1023)];
    prop_oneof![
        4 => -1.0..1.0_f64,
        2 => any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite()),
        2 => (-2..3_i8).prop_map(f64::from),
        1 => prop::sample::select(odd.to_vec()),
        1 => (0..20_u64).prop_map(f64::from_bits),
    ]
}

fn odd_number() -> impl Strategy<Value = f64> {
    let not_finite =
        [f64::NAN, -f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001), f64::INFINITY, f64::NEG_INFINITY];
    prop_oneof![3 => number(), 1 => prop::sample::select(not_finite.to_vec())]
}

/// All kinds of vectors, among them such as have only tiny numbers, or equal ones.
fn vector() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        4 => prop::collection::vec(number(), 0..40),
        1 => prop::collection::vec((0..500_u64).prop_map(f64::from_bits), 0..40),
        1 => (number(), 0..40_usize).prop_map(|(x, d)| vec![x; d]),
        1 => prop::collection::vec(odd_number(), 0..40),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_decoded_is_what_was_compressed(x in vector(), round in 0..1000_u64) {
        for (name, codec) in all() {
            let q = compressed(&*codec, &x, round);
            prop_assert_eq!(bits(&q), bits(&compressed(&*codec, &x, round)), "{} is not pure", name);
            let bytes = encoded(&*codec, &q);
            prop_assert_eq!(bytes.len(), codec.bytes(x.len()), "{}", name);
            let mut heard = vec![f64::NAN; x.len()];
            codec.decode(&bytes, &mut heard).unwrap();
            prop_assert_eq!(bits(&heard), bits(&q), "{}: {:?} became {:?}", name, x, q);
        }
    }

    #[test]
    fn finite_stays_finite_and_what_is_not_is_seen(x in vector(), round in 0..1000_u64) {
        for (name, codec) in all().into_iter().filter(|(name, _)| !name.contains("random-k")) {
            let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
            prop_assert_eq!(finite(&compressed(&*codec, &x, round)), finite(&x), "{}: {:?}", name, x);
        }
    }

    #[test]
    fn deterministic_codecs_change_nothing_the_second_time(x in vector()) {
        for (name, codec) in all() {
            let random = ["random", "quantise", "natural"].iter().any(|random| name.contains(random));
            if !random || name.contains("log-quantise") {
                let once = compressed(&*codec, &x, 0);
                prop_assert_eq!(bits(&once), bits(&compressed(&*codec, &once, 1)), "{}: {:?}", name, x);
            }
        }
    }

    #[test]
    fn powers_of_two_stay_in_natural_compression(x in vector(), round in 0..1000_u64) {
        let natural = codec("natural").unwrap().codec([]).unwrap();
        let once = compressed(&*natural, &x, round);
        prop_assert_eq!(bits(&once), bits(&compressed(&*natural, &once, round + 1)));
    }

    #[test]
    fn bytes_are_refused_or_have_one_spelling(bytes in prop::collection::vec(any::<u8>(), 0..100), d in 0..12_usize) {
        for (name, codec) in all() {
            let mut fitting = bytes.clone();
            fitting.resize(codec.bytes(d), 0);
            for bytes in [&bytes, &fitting] {
                check_spelling(&name, &*codec, bytes, d);
            }
        }
    }

    #[test]
    fn changed_messages_are_refused_or_have_one_spelling(
        x in vector(), at in any::<prop::sample::Index>(), by in 1..=255_u8, length in 0..3_usize,
    ) {
        for (name, codec) in all() {
            let mut bytes = encoded(&*codec, &compressed(&*codec, &x, 0));
            if let Some(byte) = (!bytes.is_empty()).then(|| at.index(bytes.len())).and_then(|at| bytes.get_mut(at)) {
                *byte ^= by;
            }
            check_spelling(&name, &*codec, &bytes, x.len());
            bytes.resize((bytes.len() + length).saturating_sub(1), 0);
            check_spelling(&name, &*codec, &bytes, x.len());
        }
    }

    #[test]
    fn deterministic_errors_are_within_what_is_claimed(x in prop::collection::vec(-1e3..1e3_f64, 1..60)) {
        for (name, codec) in plain() {
            let q = compressed(&*codec, &x, 0);
            match codec.quality(x.len()) {
                Quality::Contractive { δ } if !name.contains("random") => {
                    let limit = (1.0 - δ) * norm_sq(x.iter().copied());
                    prop_assert!(error_sq(&q, &x) <= limit * (1.0 + 1e-12), "{}: {:?}", name, x);
                }
                Quality::Absolute { error, range } => {
                    for (q, x) in q.iter().zip(&x) {
                        let limit = if x.abs() <= range { error } else { x.abs() - range };
                        prop_assert!((q - x).abs() <= limit * (1.0 + 1e-12) + 1e-12, "{}: {} became {}", name, x, q);
                    }
                }
                _ => {}
            }
        }
    }

    #[test]
    fn sector_bounds_hold_for_each_number(x in prop::collection::vec(-1e3..1e3_f64, 1..60), round in 0..1000_u64) {
        for (name, codec) in plain() {
            let Some([κ, most]) = codec.sector() else { continue };
            for (q, x) in compressed(&*codec, &x, round).iter().zip(&x) {
                prop_assert!(q * x >= 0.0, "{}: {} became {}", name, x, q);
                let [low, high] = [κ * (1.0 - 1e-15), most * (1.0 + 1e-15)].map(|factor| factor * x.abs());
                prop_assert!(low <= q.abs() && q.abs() <= high, "{}: {} became {}", name, x, q);
            }
        }
    }
}

/// If these bytes are read, then encoding what was read gives them back.
fn check_spelling(name: &str, codec: &dyn Codec, bytes: &[u8], d: usize) {
    let mut q = vec![0.0; d];
    match codec.decode(bytes, &mut q) {
        Ok(()) => assert_eq!(encoded(codec, &q), bytes, "{name} read {q:?}"),
        Err(error) => {
            let text = error.to_string();
            assert!(text.starts_with("these bytes are no vector encoded by "), "{name}: {text}");
        }
    }
}

/// Vectors of ordinary numbers: even, uneven, and one number alone.
fn ordinary(d: usize) -> Vec<Vec<f64>> {
    let mut draws = Draws::new(9, Purpose::Problem, d, 0);
    let even: Vec<f64> = (0..d).map(|_| draws.normal()).collect();
    let uneven = even.iter().map(|x| x * x * x * 1e-3).collect();
    let alone = (0..d).map(|i| if i == d / 2 { -0.7 } else { 0.0 }).collect();
    vec![even, uneven, alone]
}

#[test]
fn random_codecs_err_as_they_claim_and_unbiased_ones_have_the_right_mean() {
    const MESSAGES: u64 = 3000;
    for (name, codec) in plain() {
        for x in [1, 2, 9, 50].into_iter().flat_map(ordinary) {
            let limit = match codec.quality(x.len()) {
                Quality::Contractive { δ } => 1.0 - δ,
                Quality::Unbiased { ω } => ω,
                Quality::Absolute { .. } => continue,
            } * norm_sq(x.iter().copied());
            let (mut mean, mut second) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            let (mut error, mut jump) = (0.0, 0.0_f64);
            for round in 0..MESSAGES {
                let q = compressed(&*codec, &x, round);
                error += error_sq(&q, &x) / MESSAGES as f64;
                for (i, (q, x)) in q.iter().zip(&x).enumerate() {
                    mean[i] += (q - x) / MESSAGES as f64;
                    second[i] += (q - x).powi(2) / MESSAGES as f64;
                    jump = jump.max((q - x).abs());
                }
            }
            // the mean of this many squared errors scatters by a few per cent; random-k's errors are the
            // widest
            assert!(error <= limit * 1.15 + 1e-25, "{name}: {error} > {limit}, d = {}", x.len());
            assert_eq!(codec.unbiased(), matches!(codec.quality(x.len()), Quality::Unbiased { .. }));
            for (i, (mean, second)) in mean.iter().zip(&second).enumerate().filter(|_| codec.unbiased()) {
                let deviation = (second / MESSAGES as f64).sqrt();
                // jumps that are too rare to be seen, as Bernstein's inequality has them; then those of
                // rounded units
                let rare = 10.0 * jump / MESSAGES as f64 + 1e-12 * norm_sq(x.iter().copied()).sqrt();
                assert!(mean.abs() <= 4.5 * deviation + rare, "{name}: x_{i} = {} is {mean} off", x[i]);
            }
        }
    }
}

#[test]
fn claims_are_not_idle() {
    let quality = |name: &str, given: &[(&str, f64)], d: usize| {
        codec(name).unwrap().codec(given.iter().copied()).unwrap().quality(d)
    };
    assert_eq!(quality("top-k", &[("k", 5.0)], 50), Quality::Contractive { δ: 0.1 });
    assert_eq!(quality("random-k", &[("k", 5.0)], 50), Quality::Unbiased { ω: 9.0 });
    assert_eq!(quality("random-k", &[("k", 5.0), ("unbiased", 0.0)], 50), Quality::Contractive { δ: 0.1 });
    assert_eq!(quality("sign", &[], 50), Quality::Contractive { δ: 0.02 });
    let Quality::Unbiased { ω } = quality("quantise", &[("bits", 8.0)], 123) else { unreachable!() };
    assert!((ω / (123.0 / (4.0 * 127.0 * 127.0)) - 1.0).abs() < 1e-12);

    // random-k's error is what it claims, not less, and so is natural's at its worst fraction
    let mut error = [0.0; 2];
    let (x, third) = (&ordinary(50)[0], [4.0 / 3.0; 50]);
    let random = codec("random-k").unwrap().codec([("k", 5.0), ("unbiased", 0.0)]).unwrap();
    let natural = codec("natural").unwrap().codec([]).unwrap();
    for round in 0..4000 {
        error[0] += error_sq(&compressed(&*random, x, round), x) / norm_sq(x.iter().copied()) / 4000.0;
        error[1] += error_sq(&compressed(&*natural, &third, round), &third) / norm_sq(third) / 4000.0;
    }
    assert!((error[0] - 0.9).abs() < 0.005 && (error[1] - 0.125).abs() < 0.001, "{error:?}");
}

#[test]
fn a_message_with_nan_is_seen_as_such_by_all() {
    let mut x = vec![1.0; 20];
    x[3] = f64::NAN;
    for (name, codec) in all().into_iter().filter(|(name, _)| !name.contains("random-k")) {
        assert!(compressed(&*codec, &x, 0).iter().any(|q| q.is_nan()), "{name}");
    }
}

#[test]
fn compressing_and_decoding_allocate_nothing() {
    let allocations = |work: &mut dyn FnMut()| {
        let before = ALLOCATIONS.get();
        work();
        ALLOCATIONS.get() - before
    };
    assert_eq!(allocations(&mut || drop(std::hint::black_box(vec![1.0; 9]))), 1, "the counter counts");
    for (name, codec) in all() {
        for d in [0, 1, 123, 10_000] {
            let x: Vec<f64> = (0..d).map(|i| ((i * i) as f64).sin()).collect();
            let (mut q, mut draws) = (x.clone(), draws(0));
            assert_eq!(allocations(&mut || codec.compress(&mut q, &mut draws)), 0, "{name} compresses");
            let bytes = encoded(&*codec, &q);
            assert_eq!(allocations(&mut || codec.decode(&bytes, &mut q).unwrap()), 0, "{name} decodes");
            let wrong = vec![0xff; bytes.len()];
            let refused = allocations(&mut || drop(std::hint::black_box(codec.decode(&wrong, &mut q))));
            assert_eq!(refused, 0, "{name} refuses");
        }
    }
}
