//! The registry of codecs: name → constructor from parameters.

use super::{
    Codec, Identity, Kept, LogQuantise, Natural, Norm, Quantise, RandomK, Rounding, Saturate, Sign, TopK,
    Uniform,
};
use crate::Result;
use crate::parameters::{Parameter, Parameters, entry, find};

/// A codec as the registry knows it.
#[derive(Debug)]
pub struct CodecKind {
    /// Its name in an experiment file.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What it makes of x, in a line.
    pub rule: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes it.
    pub build: fn(&Parameters) -> Result<Box<dyn Codec>>,
}

entry!(CodecKind, "codec");

impl CodecKind {
    /// The codec with these parameters; defaults fill the gaps.
    ///
    /// ```
    /// let codec = oneway::codec::codec("quantise").unwrap().codec([("bits", 4.0)]).unwrap();
    /// assert_eq!(codec.bytes(123), 8 + 62);
    /// ```
    pub fn codec<'a>(&self, given: impl IntoIterator<Item = (&'a str, f64)>) -> Result<Box<dyn Codec>> {
        let given = given.into_iter().map(|(name, value)| (name.to_owned(), value));
        (self.build)(&Parameters::new(self.name, self.parameters, given)?)
    }
}

impl CodecKind {
    /// Whether these parameters go with vectors of d numbers: of fewer than k no k can be sent.
    ///
    /// ```
    /// use oneway::{codec::codec, parameters::Parameters};
    /// let top_k = codec("top-k").unwrap();
    /// let given = Parameters::new(top_k.name, top_k.parameters, [("k".to_owned(), 9.0)]).unwrap();
    /// assert!(top_k.check(&given, 9).is_ok() && top_k.check(&given, 8).is_err());
    /// ```
    pub fn check(&self, given: &Parameters, d: usize) -> Result<()> {
        let k = self.parameters.iter().find(|parameter| parameter.name == K.name);
        match k.map(|k| given.count(k.name)).transpose()? {
            Some(k) if k > d => {
                Err(given
                    .invalid(K.name, format!("a vector of this problem has {d} numbers: give at most {d}")))
            }
            _ => Ok(()),
        }
    }
}

/// The codec called `name`; the error suggests the nearest name.
///
/// ```
/// use oneway::codec::codec;
/// assert_eq!(codec("top-k").unwrap().parameters[0].name, "fraction");
/// assert!(codec("topk").unwrap_err().to_string().contains("did you mean `top-k`?"));
/// ```
pub fn codec(name: &str) -> Result<&'static CodecKind> {
    find(CODECS, name)
}

/// Every codec there is. ([`Scaled`](super::Scaled) is made of one of these.)
pub static CODECS: &[CodecKind] = &[
    CodecKind {
        name: "identity",
        about: "no compression: every number whole",
        rule: "𝒞(x) = x",
        parameters: &[],
        build: |_| Ok(Box::new(Identity)),
    },
    CodecKind {
        name: "top-k",
        about: "the k largest magnitudes and their positions",
        rule: "𝒞(x)_i = x_i if |x_i| is among the k largest, else 0",
        parameters: &[FRACTION, K],
        build: |given| Ok(Box::new(TopK::new(kept(given)?)?)),
    },
    CodecKind {
        name: "random-k",
        about: "k numbers at random and their positions",
        rule: "𝒞(x)_i = (d/k)·x_i for k positions i drawn without replacement, else 0",
        parameters: &[
            FRACTION,
            K,
            Parameter::flag("unbiased", "true to send (d/k)·x_i, false to send x_i as it is", true),
        ],
        build: |given| Ok(Box::new(RandomK::new(kept(given)?, given.flag("unbiased")?)?)),
    },
    CodecKind {
        name: "quantise",
        about: "random rounding to s = 2^(bits−1) − 1 levels of a norm (QSGD)",
        rule: "𝒞(x)_i = sgn(x_i)·u·ℓ_i, u = ‖x‖/s, ℓ_i = ⌊|x_i|/u⌋ or one more, E ℓ_i = |x_i|/u",
        parameters: &[
            BITS,
            Parameter::flag("euclidean", "true for ‖x‖₂ as in QSGD, false for the largest magnitude", false),
        ],
        build: |given| {
            let norm = if given.flag("euclidean")? { Norm::Euclidean } else { Norm::Largest };
            Ok(Box::new(Quantise::new(given.count("bits")?, norm)?))
        },
    },
    CodecKind {
        name: "sign",
        about: "signs and the mean magnitude",
        rule: "𝒞(x)_i = (‖x‖₁/d)·sgn(x_i)",
        parameters: &[],
        build: |_| Ok(Box::new(Sign)),
    },
    CodecKind {
        name: "natural",
        about: "random rounding to a power of two (natural compression)",
        rule: "𝒞(x)_i = sgn(x_i)·2^e or sgn(x_i)·2^(e+1), e = ⌊log₂|x_i|⌋, E 𝒞(x)_i = x_i",
        parameters: &[],
        build: |_| Ok(Box::new(Natural)),
    },
    CodecKind {
        name: "log-quantise",
        about: "the nearest level of a geometric sequence, a sector-bound map",
        rule: "𝒞(x)_i = sgn(x_i)·(1+ρ)^[log|x_i|/log(1+ρ)], 1+ρ = 2^(1/steps)",
        parameters: &[Parameter::whole("steps", "levels an octave, 1 to 1024", 8)],
        build: |given| Ok(Box::new(LogQuantise::new(given.count("steps")?)?)),
    },
    CodecKind {
        name: "saturate",
        about: "clipped, else whole: a sector-bound map",
        rule: "𝒞(x)_i = min(c, max(−c, x_i))",
        parameters: &[Parameter::number("limit", "c, the largest magnitude that is sent", 1.0)],
        build: |given| Ok(Box::new(Saturate::new(given.real("limit")?)?)),
    },
    CodecKind {
        name: "uniform",
        about: "multiples of a fixed step, clipped: the error is absolute",
        rule: "𝒞(x)_i = Δ·[x_i/Δ], clipped to ±(2^(bits−1) − 1)Δ",
        parameters: &[
            Parameter::number("step", "Δ, the distance of levels", 0.01),
            BITS,
            Parameter::flag(
                "random",
                "true to round at random with the right mean, false to the nearest",
                false,
            ),
        ],
        build: |given| {
            let rounding = if given.flag("random")? { Rounding::Random } else { Rounding::Nearest };
            Ok(Box::new(Uniform::new(given.real("step")?, given.count("bits")?, rounding)?))
        },
    },
];

const FRACTION: Parameter =
    Parameter::number("fraction", "share of the numbers that is sent, in (0, 1]", 0.1);
const K: Parameter = Parameter::whole("k", "how many numbers are sent; 0 to go by the fraction", 0);
const BITS: Parameter = Parameter::whole("bits", "bits a number, 2 to 32", 8);

fn kept(given: &Parameters) -> Result<Kept> {
    Ok(match given.count("k")? {
        0 => Kept::Fraction(given.real("fraction")?),
        k => Kept::Count(k),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_kebab_case_and_defaults_build() {
        for (i, kind) in CODECS.iter().enumerate() {
            assert!(kind.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", kind.name);
            assert!(CODECS[..i].iter().all(|other| other.name != kind.name), "{}", kind.name);
            kind.codec([]).unwrap();
        }
    }

    #[test]
    fn bad_parameters_are_named_with_what_would_be_right() {
        for (name, parameter, value, expected) in [
            ("top-k", "fraction", 0.0, "it must be in (0, 1]"),
            ("top-k", "fraction", 1.5, "it must be in (0, 1]"),
            ("top-k", "k", 2.5, "it must be a whole number, 0 or more"),
            ("random-k", "unbiased", 2.0, "it must be true or false"),
            ("quantise", "bits", 1.0, "a number takes from 2 to 32 bits"),
            ("quantise", "bits", 33.0, "a number takes from 2 to 32 bits"),
            ("quantise", "euclidean", 0.5, "it must be true or false"),
            ("log-quantise", "steps", 0.0, "there are 1 to 1024 levels an octave"),
            ("saturate", "limit", -1.0, "it must be from 1e-100 to 1e100"),
            ("uniform", "step", 0.0, "it must be from 1e-100 to 1e100"),
            ("uniform", "bits", 64.0, "a number takes from 2 to 32 bits"),
        ] {
            let error = codec(name).unwrap().codec([(parameter, value)]).unwrap_err().to_string();
            assert_eq!(error, format!("{name}: `{parameter}` = {value} is not possible: {expected}"));
        }
        let error = codec("sign").unwrap().codec([("bits", 1.0)]).unwrap_err().to_string();
        assert_eq!(error, "unknown parameter of sign `bits` (there is none)");
    }
}
