//! What the user typed, as topologies of an experiment: the same keys, read by the same reader.
//!
//! A topology is `NAME`, `NAME:KEY=VALUE,KEY=VALUE`, or the path of an edge list, with keys after a colon as
//! well. A flag holds for every topology that has such a key and does not say otherwise itself.

mod flags;
mod parameters;

use std::path::Path;

use anyhow::{Context, Result, bail};
use oneway::Error;
use oneway::graph::families::Family;
use oneway::registry;
use oneway_experiment::fields::Fields;
use oneway_experiment::set;
use oneway_experiment::spec::{LinksSpec, TopologySpec};
use toml::{Table, Value};

pub(crate) use flags::{TopologyFlags, whole};

/// A topology to look at.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) spec: TopologySpec,
    /// How many agents; a file may leave it open.
    pub(crate) agents: Option<usize>,
}

/// Keys that every topology has, besides the parameters of its family.
const KEYS: [&str; 4] = ["agents", "root", "weights", "seed"];

/// Keys of files, besides.
const FILE_KEYS: [&str; 3] = ["normalise", "base", "names"];

/// A topology in messages, as experiments call it.
pub(crate) fn called(name: &str) -> String {
    format!("topology \"{name}\"")
}

/// All topologies that are named, in their order; the files of R and C, if they are given apart, come last.
pub(crate) fn requests(
    topologies: &[String],
    matrices: Option<(&Path, &Path)>,
    flags: &TopologyFlags,
) -> Result<Vec<Request>> {
    let mut requests = vec![];
    for text in topologies {
        requests.push(Request::parse(text, flags)?);
    }
    if let Some((pull, push)) = matrices {
        let name = format!("{} and {}", pull.display(), push.display());
        requests.push(Request::new(&name, &Source::Matrices { pull, push }, flags)?);
    }
    if requests.is_empty() {
        let names: Vec<&str> = registry::installed().families().iter().map(|family| family.name).collect();
        bail!(
            "say which topology: one of {}; the path of an edge list; or --pull and --push",
            names.join(", ")
        );
    }
    check_flags(&requests, flags)?;
    Ok(requests)
}

/// Refuses flags for parameters that none of the topologies has.
pub(crate) fn check_flags(requests: &[Request], flags: &TopologyFlags) -> Result<()> {
    for (parameter, _) in &flags.parameters.0 {
        let has = |request: &Request| parameters_of(&request.spec).contains(parameter);
        if !requests.iter().any(has) {
            let names: Vec<&str> = requests.iter().map(|request| &*request.spec.name).collect();
            let known = requests.iter().flat_map(|request| parameters_of(&request.spec));
            let what = format!("parameter of {}", names.join(", "));
            return Err(Error::unknown(what, format!("--{parameter}"), known).into());
        }
    }
    Ok(())
}

impl TopologyFlags {
    /// Whether a flag says what `key` is.
    pub(crate) fn has(&self, key: &str) -> bool {
        by_key(self).iter().any(|(known, _)| *known == key)
    }
}

fn parameters_of(spec: &TopologySpec) -> Vec<&'static str> {
    match &spec.links {
        LinksSpec::Family { family, .. } => names(family),
        LinksSpec::Files(_) | LinksSpec::Matrices { .. } | LinksSpec::Supplied(_) => vec![],
    }
}

fn names(family: &Family) -> Vec<&'static str> {
    family.parameters.iter().map(|parameter| parameter.name).collect()
}

/// Where the links come from, and what follows the colon.
enum Source<'a> {
    Family { family: &'static Family, keys: &'a str },
    File { path: &'a str, keys: &'a str },
    Matrices { pull: &'a Path, push: &'a Path },
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Result<Self> {
        let (name, keys) = text.split_once(':').unwrap_or((text, ""));
        if let Ok(family) = registry::installed().family(name) {
            return Ok(Source::Family { family, keys });
        }
        // a path may hold colons itself: what it says of keys is behind the last, with an equals sign
        let (path, keys) = match text.rsplit_once(':') {
            Some((path, keys)) if keys.contains('=') => (path, keys),
            _ => (text, ""),
        };
        let looks_like_a_path = path.contains(['/', '\\', '.']);
        if looks_like_a_path || Path::new(path).exists() {
            return Ok(Source::File { path, keys });
        }
        let unknown = registry::installed().family(name).err();
        let unknown = unknown.map_or_else(String::new, |error| error.to_string());
        bail!("{unknown}; nor is there a file of that name")
    }
}

impl Request {
    /// A topology as one argument says it, with what the flags add.
    pub(crate) fn parse(text: &str, flags: &TopologyFlags) -> Result<Self> {
        Self::new(text, &Source::new(text)?, flags)
    }

    fn new(text: &str, source: &Source<'_>, flags: &TopologyFlags) -> Result<Self> {
        let mut table = Table::new();
        let (known, keys) = match source {
            Source::Family { family, keys } => {
                table.insert("kind".to_owned(), Value::String(family.name.to_owned()));
                (names(family), *keys)
            }
            Source::File { path, keys } => {
                table.insert("file".to_owned(), Value::String((*path).to_owned()));
                (FILE_KEYS.to_vec(), *keys)
            }
            Source::Matrices { pull, push } => {
                for (key, path) in [("pull", pull), ("push", push)] {
                    let path =
                        path.to_str().with_context(|| format!("{}: not a name in UTF-8", path.display()))?;
                    table.insert(key.to_owned(), Value::String(path.to_owned()));
                }
                (FILE_KEYS.to_vec(), "")
            }
        };
        let known: Vec<&str> = known.into_iter().chain(KEYS).collect();
        for (key, value) in own_keys(text, keys)? {
            if !known.contains(&key) {
                return Err(Error::unknown("key", key, known)).with_context(|| called(text));
            }
            if table.insert(key.to_owned(), value).is_some() {
                bail!("{}: `{key}` is given twice", called(text));
            }
        }
        for (key, value) in by_key(flags) {
            if known.contains(&key) {
                table.entry(key).or_insert(value);
            }
        }
        let mut fields = Fields::new(called(text), table);
        let agents = fields.count("agents")?.map(|agents| usize::try_from(agents).unwrap_or(usize::MAX));
        let kind = fields.string("kind")?;
        let spec = TopologySpec::named(text.to_owned(), kind, fields, Path::new(""), (agents, 1))?;
        Ok(Self { spec, agents })
    }
}

/// The keys behind a topology's colon.
fn own_keys<'a>(text: &str, keys: &'a str) -> Result<Vec<(&'a str, Value)>> {
    if keys.is_empty() {
        if text.ends_with(':') {
            bail!("{}: keys are missing behind the colon: write them as petals=4,root=2", called(text));
        }
        return Ok(vec![]);
    }
    let pairs = keys.split(',').map(|assignment| match assignment.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim(), set::value(value))),
        _ => bail!("{}: `{assignment}` is not KEY=VALUE, such as petals=4", called(text)),
    });
    pairs.collect()
}

/// What the flags say, by key.
fn by_key(flags: &TopologyFlags) -> Vec<(&'static str, Value)> {
    let number = |key, value: Option<u64>| value.map(|value| (key, set::value(&value.to_string())));
    let word = flags.weights.clone().map(|weights| ("weights", Value::String(weights)));
    let normalise = flags.normalise.then_some(("normalise", Value::Boolean(true)));
    let [agents, root, seed] = [("agents", flags.agents), ("root", flags.root), ("seed", flags.seed)]
        .map(|(key, value)| number(key, value));
    let (base, names) = (number("base", flags.base), flags.names.then_some(("names", Value::Boolean(true))));
    let common = [agents, root, seed, word, normalise, base, names];
    let parameters = flags.parameters.0.iter().map(|(key, text)| (*key, set::value(text)));
    common.into_iter().flatten().chain(parameters).collect()
}
