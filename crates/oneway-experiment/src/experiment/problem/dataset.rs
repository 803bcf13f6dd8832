//! `dataset` and `test`: where rows come from.

use std::collections::HashMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use oneway::Error;
use oneway::data::{Dataset, Split, Synthetic, a9a, digits, idx};
use oneway_data::{Expected, LabelKind, Layout, Loaded};
use sha2::{Digest, Sha256};

use crate::identity::{Identify, Identity};

/// Where rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum DatasetSpec {
    /// A split of one that has a name.
    Named(Named, Split),
    /// A file of any format, or a folder of IDX files, of which a split is taken.
    Path {
        /// Where it is.
        path: PathBuf,
        /// How many features it has, if that is given.
        features: Option<usize>,
        /// What it does not say of itself.
        layout: Layout,
        /// Which of its rows.
        split: Split,
    },
    /// Drawn at random.
    Synthetic {
        /// How many rows, of what kind.
        shape: Synthetic,
        /// For how many agents.
        agents: usize,
        /// What they are drawn from.
        seed: u64,
    },
    /// Given in memory: `supplied:name`.
    Supplied {
        /// Under this name.
        name: String,
        /// The rows, once they were given.
        rows: Option<Arc<Dataset>>,
    },
}

/// Datasets with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// `a9a`.
    A9a,
    /// `digits`.
    Digits,
    /// `fashion-mnist`.
    FashionMnist,
}

/// The name of rows that are drawn.
pub(super) const SYNTHETIC: &str = "synthetic";

/// What stands before the name of rows that are given in memory.
const SUPPLIED: &str = "supplied:";

impl Named {
    /// All of them.
    const ALL: [Named; 3] = [Named::A9a, Named::Digits, Named::FashionMnist];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Named::A9a => "a9a",
            Named::Digits => "digits",
            Named::FashionMnist => "fashion-mnist",
        }
    }

    /// What it is, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Named::A9a => "UCI Adult (Becker & Kohavi 1996, CC BY 4.0), binarised",
            Named::Digits => {
                "UCI Optical Recognition of Handwritten Digits (Alpaydin & Kaynak 1998, CC BY 4.0), 8×8 pixels"
            }
            Named::FashionMnist => "Fashion-MNIST (Xiao, Rasul & Vollgraf 2017, MIT), 28×28 pixels",
        }
    }

    fn features(self) -> usize {
        match self {
            Named::A9a => a9a::FEATURES,
            Named::Digits => digits::FEATURES,
            Named::FashionMnist => 28 * 28,
        }
    }

    /// Reads a split.
    pub fn load(self, split: Split) -> oneway::Result<Dataset> {
        match self {
            Named::A9a => Ok(a9a::a9a(split)),
            Named::Digits => Ok(digits::digits(split)),
            Named::FashionMnist => idx::fashion_mnist(split),
        }
    }
}

impl fmt::Display for DatasetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatasetSpec::Named(named, _) => f.write_str(named.name()),
            DatasetSpec::Path { path, .. } => write!(f, "{}", path.display()),
            DatasetSpec::Synthetic { .. } => f.write_str(SYNTHETIC),
            DatasetSpec::Supplied { name, .. } => write!(f, "{SUPPLIED}{name}"),
        }
    }
}

impl Identify for DatasetSpec {
    fn identify(&self, to: &mut Identity) {
        match self {
            DatasetSpec::Named(named, split) => {
                to.text("name", named.name());
                split.identify(to);
            }
            DatasetSpec::Path { path, features, layout, split } => {
                to.text("path", path.as_os_str().as_encoded_bytes());
                if let Some(features) = features {
                    to.count("features", *features as u64);
                }
                layout.identify(to);
                split.identify(to);
            }
            DatasetSpec::Synthetic { shape, agents, seed } => {
                to.part("drawn", shape);
                to.count("agents", *agents as u64);
                to.count("seed", *seed);
            }
            DatasetSpec::Supplied { name, rows } => {
                to.text("supplied", name);
                to.text("rows", rows.as_deref().map(hash).unwrap_or_default());
            }
        }
    }
}

/// Whether a dataset's name is no path.
pub fn is_name(dataset: &str) -> bool {
    dataset == SYNTHETIC
        || dataset.starts_with(SUPPLIED)
        || Named::ALL.iter().any(|named| named.name() == dataset)
}

impl DatasetSpec {
    /// A dataset's name, of which `split` is taken, or a path relative to `folder`.
    pub fn new(
        name: &str,
        folder: &Path,
        features: Option<usize>,
        layout: Layout,
        split: Split,
    ) -> Result<Self> {
        if name.is_empty() {
            bail!("the dataset has no name: give the path of a file, or a name such as \"a9a\"");
        }
        if name == SYNTHETIC {
            bail!(
                "synthetic rows have real targets: they are for the kinds \"least-squares\" and \"robust\""
            );
        }
        if let Some(name) = name.strip_prefix(SUPPLIED) {
            return Ok(DatasetSpec::Supplied { name: name.to_owned(), rows: None });
        }
        let Some(named) = Named::ALL.into_iter().find(|named| named.name() == name) else {
            return Ok(DatasetSpec::Path { path: folder.join(name), features, layout, split });
        };
        if layout != Layout::default() {
            bail!(
                "{name}: `label`, `header`, `separator`, `drop` and `array` are for files, and this is none"
            );
        }
        match features {
            Some(features) if features != named.features() => {
                bail!("{name}: `features` = {features} is not possible: it has {}", named.features())
            }
            _ => Ok(DatasetSpec::Named(named, split)),
        }
    }

    /// Reads the rows. What labels are is asked of files; other sources have their own. `words` are those of
    /// the training rows' labels, where these are held out.
    pub fn load(&self, labels: LabelKind, words: Option<&[String]>) -> oneway::Result<Loaded> {
        let of = |format: &str, data| Loaded { data, words: None, format: format.to_owned() };
        match self {
            DatasetSpec::Named(named, split) => Ok(of(named.name(), named.load(*split)?)),
            DatasetSpec::Path { path, features, split, layout: _ } if idx::is_there(path) => {
                let data = idx::read(path, *split)?;
                match features {
                    Some(features) if *features != data.features => {
                        let expected = format!("its images have {} pixels", data.features);
                        let owner = path.display().to_string();
                        Err(Error::parameter(owner, "features", features, expected))
                    }
                    _ => Ok(of("IDX", data)),
                }
            }
            DatasetSpec::Path { path, features, layout, split } => {
                let expected = Expected { labels, features: *features, split: *split, words };
                oneway_data::read(path, layout, expected).map_err(|error| match error {
                    Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => missing(path, *split),
                    other => other,
                })
            }
            DatasetSpec::Synthetic { shape, agents, seed } => Ok(of("drawn", shape.draw(*agents, *seed)?)),
            DatasetSpec::Supplied { name, rows } => match rows {
                Some(rows) => Ok(of("in memory", Dataset::clone(rows))),
                None => {
                    let expected =
                        "only the program that has these rows can run it again, for they are in no file";
                    Err(Error::parameter("problem", "dataset", format!("{SUPPLIED}{name}"), expected))
                }
            },
        }
    }

    /// What is held out of these rows if nothing else is asked for.
    pub(super) fn held_out(&self) -> Option<Self> {
        match self {
            DatasetSpec::Named(named, _) => Some(DatasetSpec::Named(*named, Split::Test)),
            DatasetSpec::Path { path, features, layout, .. } if idx::is_there(path) => {
                Some(DatasetSpec::Path {
                    path: path.clone(),
                    features: *features,
                    layout: layout.clone(),
                    split: Split::Test,
                })
            }
            DatasetSpec::Path { .. } | DatasetSpec::Synthetic { .. } | DatasetSpec::Supplied { .. } => None,
        }
    }

    /// Takes the rows that are given in memory under its name, if it has one.
    pub(super) fn supply(&mut self, given: &HashMap<String, Arc<Dataset>>) {
        if let DatasetSpec::Supplied { name, rows } = self {
            *rows = given.get(name).cloned();
        }
    }

    /// The same with the number of features of the training data, which a test split may not show.
    pub(super) fn with_features(self, known: usize) -> Self {
        match self {
            DatasetSpec::Path { path, layout, split, features: _ } => {
                DatasetSpec::Path { path, features: Some(known), layout, split }
            }
            other => other,
        }
    }
}

/// The error that says where a file was looked for, and what would be found without one.
fn missing(path: &Path, split: Split) -> Error {
    let key = match split {
        Split::Train => "dataset",
        Split::Test => "test",
    };
    let names: Vec<&str> = Named::ALL.iter().map(|named| named.name()).chain([SYNTHETIC]).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let near = match Error::unknown(key, &*name, names.iter().copied()) {
        Error::UnknownName { suggestion: Some(near), .. } => format!("did you mean \"{near}\"? "),
        _ => String::new(),
    };
    Error::File {
        path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        message: format!(
            "No such file: {near}`{key}` must be the path of a file, or one of {}",
            names.join(", ")
        ),
    }
}

/// A hash of all that a dataset is, entry by entry: the text of large ones would not fit into memory.
pub(super) fn hash(data: &Dataset) -> String {
    let mut hash = Sha256::new();
    hash.update((data.features as u64).to_le_bytes());
    for (r, label) in data.labels.iter().enumerate() {
        hash.update(label.to_bits().to_le_bytes());
        for (column, value) in data.rows.row(r) {
            hash.update(column.to_le_bytes());
            hash.update(value.to_bits().to_le_bytes());
        }
        hash.update(u32::MAX.to_le_bytes()); // no column: a row ends
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
