//! The names that experiment files use: methods, estimators, codecs, topologies and problems, those of this
//! library and yours.
//!
//! A [`Registry`] begins with [what is built in](Registry::builtin), and a crate adds its own entries to it:
//!
//! ```
//! use oneway::methods::{KINDS, Kind, kind};
//! use oneway::registry::Registry;
//!
//! // a method of your own; here the first of the known ones, under another name
//! static MINE: Kind = Kind { name: "my-method", ..KINDS[0] };
//!
//! let registry = Registry::builtin().with_method(&MINE)?;
//! assert_eq!(registry.method("my-method")?.name, "my-method");
//! assert!(kind("my-method").is_err()); // it is not built in
//!
//! let twice = registry.with_method(&MINE).unwrap_err();
//! assert!(twice.to_string().contains("there is a method of this name already"));
//! # Ok::<(), oneway::Error>(())
//! ```
//!
//! A program [installs](Registry::install) one registry before it reads anything; what reads files asks
//! [`installed`]. So the names of a process are the same wherever they are read. The command line does it for
//! you: `oneway_lab::main_with(registry)`.

use std::sync::OnceLock;

use crate::codec::{CODECS, CodecKind};
use crate::graph::families::{FAMILIES, Family};
use crate::methods::estimator::{ESTIMATORS, EstimatorKind};
use crate::methods::{self, KINDS, Kind};
use crate::parameters::{Entry, find};
use crate::problems::ProblemKind;
use crate::{Error, Result};

/// All that can be named.
#[derive(Debug, Clone)]
pub struct Registry {
    methods: Vec<&'static Kind>,
    estimators: Vec<&'static EstimatorKind>,
    codecs: Vec<&'static CodecKind>,
    families: Vec<&'static Family>,
    problems: Vec<&'static ProblemKind>,
}

/// The problems that experiment files know without a registry, since they read more than parameters: no other
/// has their names.
pub const BUILT_IN_PROBLEMS: [&str; 6] =
    ["logistic", "quadratic", "softmax", "least-squares", "two-layer", "robust"];

impl Registry {
    /// What this library has.
    pub fn builtin() -> Self {
        Self {
            methods: KINDS.iter().collect(),
            estimators: ESTIMATORS.iter().collect(),
            codecs: CODECS.iter().collect(),
            families: FAMILIES.iter().collect(),
            problems: vec![],
        }
    }

    /// With one more method, which can be made of its defaults.
    pub fn with_method(mut self, kind: &'static Kind) -> Result<Self> {
        add(&mut self.methods, kind)?;
        kind.method([])?;
        if kind.graphs.is_empty() {
            return Err(Error::parameter(kind.name, "graphs", "none", "a method runs on some subgraph"));
        }
        Ok(self)
    }

    /// With one more estimator, which can be made of its defaults.
    pub fn with_estimator(mut self, kind: &'static EstimatorKind) -> Result<Self> {
        add(&mut self.estimators, kind)?;
        (kind.build)(&kind.defaults()?)?;
        Ok(self)
    }

    /// With one more codec, which can be made of its defaults.
    pub fn with_codec(mut self, kind: &'static CodecKind) -> Result<Self> {
        add(&mut self.codecs, kind)?;
        kind.codec([])?;
        Ok(self)
    }

    /// With one more family of topologies.
    pub fn with_family(mut self, family: &'static Family) -> Result<Self> {
        add(&mut self.families, family)?;
        Ok(self)
    }

    /// With one more problem.
    pub fn with_problem(mut self, kind: &'static ProblemKind) -> Result<Self> {
        if BUILT_IN_PROBLEMS.contains(&kind.name) {
            return Err(taken(kind));
        }
        add(&mut self.problems, kind)?;
        Ok(self)
    }

    /// All methods, those of this library first.
    pub fn methods(&self) -> &[&'static Kind] {
        &self.methods
    }

    /// All estimators.
    pub fn estimators(&self) -> &[&'static EstimatorKind] {
        &self.estimators
    }

    /// All codecs.
    pub fn codecs(&self) -> &[&'static CodecKind] {
        &self.codecs
    }

    /// All families of topologies.
    pub fn families(&self) -> &[&'static Family] {
        &self.families
    }

    /// All problems that were added.
    pub fn problems(&self) -> &[&'static ProblemKind] {
        &self.problems
    }

    /// The method of this name; the error suggests the nearest.
    pub fn method(&self, name: &str) -> Result<&'static Kind> {
        find(self.methods.iter().copied(), name).map_err(|unknown| methods::renamed(name, unknown))
    }

    /// The estimator of this name; the error suggests the nearest.
    pub fn estimator(&self, name: &str) -> Result<&'static EstimatorKind> {
        find(self.estimators.iter().copied(), name)
    }

    /// The codec of this name; the error suggests the nearest.
    pub fn codec(&self, name: &str) -> Result<&'static CodecKind> {
        find(self.codecs.iter().copied(), name)
    }

    /// The family of topologies of this name; the error suggests the nearest.
    pub fn family(&self, name: &str) -> Result<&'static Family> {
        find(self.families.iter().copied(), name)
    }

    /// Makes this the registry of the process. Once, and before anything is read: an error says that there is
    /// one already.
    pub fn install(self) -> Result<()> {
        let expected = "there is one in this process already: install yours first, and once";
        INSTALLED.set(self).map_err(|_| Error::parameter("registry", "install", "a second one", expected))
    }
}

static INSTALLED: OnceLock<Registry> = OnceLock::new();

/// The registry of the process: the one that was [installed](Registry::install), or what is built in.
pub fn installed() -> &'static Registry {
    INSTALLED.get_or_init(Registry::builtin)
}

/// Adds an entry, if its name is free and could stand in a file.
fn add<T: Entry>(entries: &mut Vec<&'static T>, entry: &'static T) -> Result<()> {
    let name = entry.name();
    let kebab = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if name.is_empty() || !name.chars().all(kebab) {
        let expected = "write it in small letters, digits and `-`, as in `my-method`";
        return Err(Error::parameter("registry", T::WHAT, format!("{name:?}"), expected));
    }
    if entries.iter().any(|known| known.name() == name) {
        return Err(taken(entry));
    }
    entries.push(entry);
    Ok(())
}

fn taken<T: Entry>(entry: &T) -> Error {
    let expected = format!("there is a {} of this name already: give yours another", T::WHAT);
    Error::parameter("registry", T::WHAT, entry.name(), expected)
}
