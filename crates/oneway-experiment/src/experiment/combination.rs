//! What is put around a method: `estimator`, `gossip`, `local_steps` and `compress`.

use anyhow::{Context, Result};
use oneway::methods::Kind;
use oneway::methods::combine::{Compression, Recipe};
use oneway::methods::estimator::EstimatorKind;
use oneway::parameters::{Parameter, Parameters};
use oneway::registry;
use toml::Value;

use super::fields::Fields;

/// The keys of a method that put something around it, read.
#[derive(Debug)]
pub(crate) struct Combination {
    estimator: Option<(&'static EstimatorKind, Parameters)>,
    gossip: Option<u64>,
    local_steps: Option<u64>,
    compression: Option<Compression>,
}

impl Combination {
    /// Reads the keys; a method with a parameter of such a name keeps it for itself.
    pub(crate) fn read(fields: &mut Fields, kind: &Kind) -> Result<Self> {
        let own = |name: &str| kind.parameters.iter().any(|parameter| parameter.name == name);
        let count = |fields: &mut Fields, name: &str| match own(name) {
            true => Ok(None),
            false => fields.count(name),
        };
        Ok(Self {
            estimator: read_estimator(fields)?,
            gossip: count(fields, "gossip")?,
            local_steps: count(fields, "local_steps")?,
            compression: read_compression(fields)?,
        })
    }

    /// The method with all of it.
    pub(crate) fn around(&self, recipe: Recipe) -> Recipe {
        let count =
            |given: Option<u64>| given.map_or(1, |count| usize::try_from(count).unwrap_or(usize::MAX));
        Recipe {
            estimator: self.estimator.clone(),
            gossip: count(self.gossip),
            local_steps: count(self.local_steps),
            compression: self.compression.clone(),
            ..recipe
        }
    }
}

/// Takes a value that is a name, or a table with the name under `named` and parameters beside it.
fn named(fields: &mut Fields, key: &str, named: &str) -> Result<Option<(String, Option<Fields>)>> {
    match fields.value(key) {
        None => Ok(None),
        Some(Value::String(name)) => Ok(Some((name, None))),
        Some(Value::Table(table)) => {
            let mut inner = fields.inner(key, table);
            let name = inner.string(named)?;
            Ok(Some((inner.required(named, name)?, Some(inner))))
        }
        Some(other) => fields.wrong(key, &other, &format!("a name, or {{ {named} = \"…\", … }}")),
    }
}

/// The parameters of a table that has been read but for them; those of a bare name are none.
fn given(fields: Option<Fields>, declared: &[Parameter]) -> Result<Vec<(String, f64)>> {
    let Some(mut fields) = fields else { return Ok(vec![]) };
    let given = fields.parameters(declared)?;
    fields.finish()?;
    Ok(given)
}

fn read_estimator(fields: &mut Fields) -> Result<Option<(&'static EstimatorKind, Parameters)>> {
    let Some((name, inner)) = named(fields, "estimator", "kind")? else { return Ok(None) };
    let place = || fields.path().to_owned();
    let kind = registry::installed().estimator(&name).with_context(place)?;
    let given = given(inner, kind.parameters)?;
    Ok(Some((kind, Parameters::new(kind.name, kind.parameters, given).with_context(place)?)))
}

fn read_compression(fields: &mut Fields) -> Result<Option<Compression>> {
    let Some((name, mut inner)) = named(fields, "compress", "codec")? else { return Ok(None) };
    let place = || fields.path().to_owned();
    let codec = registry::installed().codec(&name).with_context(place)?;
    let [γ, α] = match &mut inner {
        Some(inner) => [inner.real("gamma")?, inner.real("alpha")?],
        None => [None; 2],
    };
    let mut compression = Compression::new(codec, given(inner, codec.parameters)?).with_context(place)?;
    (compression.damping.γ, compression.damping.α) = (γ, α);
    Ok(Some(compression))
}
