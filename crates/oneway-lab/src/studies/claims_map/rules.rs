//! The rules by which a sentence of the paper is judged in a reading, fixed in a file before anything runs.

use anyhow::{Context, Result, bail, ensure};
use oneway_experiment::sha256;
use serde::Deserialize;

/// The methods that run, by name.
pub(crate) const METHODS: [&str; 5] = ["SMTPP", "STPP", "SGP", "Push-DIGing", "CSGDM"];

/// The graphs of the paper's two figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Graph {
    #[default]
    MultiSubRing,
    Exponential,
}

impl Graph {
    /// Both.
    pub(crate) const BOTH: [Self; 2] = [Self::MultiSubRing, Self::Exponential];

    /// Its name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MultiSubRing => "multi-sub-ring",
            Self::Exponential => "exponential",
        }
    }
}

/// All rules.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) level: f64,
    pub(crate) seed: u64,
    pub(crate) margin_loss: f64,
    pub(crate) margin: f64,
    pub(crate) from: u64,
    pub(crate) window: u64,
    pub(crate) claims: Vec<Claim>,
    /// SHA-256 of the file.
    pub(crate) sha256: String,
}

/// A sentence of the paper, and what it comes to.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) id: String,
    pub(crate) source: String,
    pub(crate) words: String,
    pub(crate) rule: Rule,
}

/// What is compared; methods by name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rule {
    /// Each of these is below each of those.
    Lower { these: Vec<String>, than: Vec<String>, on: Graph },
    /// Each of these varies less than each of those before the place.
    Smoother { these: Vec<String>, than: Vec<String>, on: Graph },
    /// The two are within the margin at the place.
    Close { pair: [String; 2], on: Graph },
    /// The two are within the margin on average up to the place.
    Overlap { pair: [String; 2], on: Graph },
    /// Each is lower on the exponential graph than on Multi-Sub-Ring.
    LowerOnExponential { these: Vec<String> },
    /// Each of these sends fewer bytes a round than each of those.
    SendsLess { these: Vec<String>, than: Vec<String>, on: Graph },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    level: f64,
    seed: u64,
    margin_loss: f64,
    margin: f64,
    from: u64,
    window: u64,
    claim: Vec<ClaimTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimTable {
    id: String,
    source: String,
    words: String,
    rule: RuleTable,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RuleTable {
    lower: Option<Vec<String>>,
    smoother: Option<Vec<String>>,
    close: Option<Vec<String>>,
    overlap: Option<Vec<String>>,
    lower_on_exponential: Option<Vec<String>>,
    sends_less: Option<Vec<String>>,
    than: Option<Vec<String>>,
    on: Graph,
}

impl Rules {
    /// Reads a file of rules, strictly.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let File { level, seed, margin_loss, margin, from, window, claim } = toml::from_str(text)?;
        ensure!(
            level > 0.0 && level < 0.5,
            "`level` = {level} is not possible: it must be above 0 and below 0.5"
        );
        for (name, margin) in [("margin", margin), ("margin_loss", margin_loss)] {
            ensure!(
                margin > 0.0 && margin.is_finite(),
                "`{name}` = {margin} is not possible: it must be positive"
            );
        }
        ensure!(window > 0, "`window` = 0 is not possible");
        let mut claims: Vec<Claim> = vec![];
        for ClaimTable { id, source, words, rule } in claim {
            ensure!(claims.iter().all(|other| other.id != id), "claim \"{id}\": the id is taken already");
            let rule = rule.read().with_context(|| format!("claim \"{id}\""))?;
            claims.push(Claim { id, source, words, rule });
        }
        ensure!(!claims.is_empty(), "there is no [[claim]]");
        Ok(Self { level, seed, margin_loss, margin, from, window, claims, sha256: sha256(text) })
    }

    /// The seed of the runs that decide: 48 bits of a hash of both files' hashes, so that whoever changes a rule or the
    /// space after a look is judged on other samples.
    pub(crate) fn confirming_seed(&self, readings_sha256: &str) -> u64 {
        let both = sha256(format!("{} {readings_sha256}", self.sha256));
        u64::from_str_radix(&both[..12], 16).unwrap_or(self.seed)
    }
}

impl RuleTable {
    fn read(self) -> Result<Rule> {
        let Self { lower, smoother, close, overlap, lower_on_exponential, sends_less, than, on } = self;
        let given = [&lower, &smoother, &close, &overlap, &lower_on_exponential, &sends_less];
        ensure!(
            given.iter().filter(|rule| rule.is_some()).count() == 1,
            "its rule must have one of `lower`, `smoother`, `close`, `overlap`, `lower_on_exponential` and `sends_less`"
        );
        for method in given.into_iter().chain([&than]).flatten().flatten() {
            ensure!(
                METHODS.contains(&&**method),
                "no method is called \"{method}\" (there are: {})",
                METHODS.join(", ")
            );
        }
        let others = |than: Option<Vec<String>>| than.context("its rule must say `than` whom");
        Ok(match (lower, smoother, sends_less, close, overlap, lower_on_exponential) {
            (Some(these), ..) => Rule::Lower { these, than: others(than)?, on },
            (_, Some(these), ..) => Rule::Smoother { these, than: others(than)?, on },
            (_, _, Some(these), ..) => Rule::SendsLess { these, than: others(than)?, on },
            (.., Some(pair), _, _) => Rule::Close { pair: two(pair)?, on },
            (.., Some(pair), _) => Rule::Overlap { pair: two(pair)?, on },
            (.., Some(these)) => Rule::LowerOnExponential { these },
            _ => bail!("its rule says nothing"),
        })
    }
}

fn two(methods: Vec<String>) -> Result<[String; 2]> {
    <[String; 2]>::try_from(methods)
        .map_err(|_| anyhow::anyhow!("two methods are compared, no more and no fewer"))
}
