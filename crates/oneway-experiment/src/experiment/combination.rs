//! What is put around a method: `estimator`, `gossip`, `local_steps` and `compress`. And a method with all of
//! it, read and written in the words of `[[method]]`.

use anyhow::{Context, Result};
use oneway::methods::Kind;
use oneway::methods::combine::{Compression, Damping, Recipe};
use oneway::methods::estimator::EstimatorKind;
use oneway::parameters::{Parameter, Parameters};
use oneway::registry;
use toml::{Table, Value};

use super::fields::{Fields, written};

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

/// A method from the keys of `[[method]]` that say what is built; those that say how it is run (`step`,
/// `graph`) are not among them.
pub fn read_recipe(settings: Table) -> Result<Recipe> {
    let mut fields = Fields::new("method", settings);
    let kind = fields.string("kind")?;
    let kind = fields.required("kind", kind)?;
    let kind = registry::installed().method(&kind).with_context(|| fields.path().to_owned())?;
    let given = fields.parameters(kind.parameters)?;
    let combination = Combination::read(&mut fields, kind)?;
    fields.finish()?;
    Ok(combination.around(Recipe::new(kind, given)?))
}

/// The keys that [`read_recipe`] makes the same method of. Every parameter is written, also where it is the
/// default.
pub fn write_recipe(recipe: &Recipe) -> Result<Table> {
    let Recipe { kind, parameters, estimator, gossip, local_steps, compression } = recipe;
    let mut settings = Table::new();
    settings.insert("kind".to_owned(), kind.name.into());
    put_all(&mut settings, written(kind.parameters, parameters));
    for (name, count) in [("gossip", *gossip), ("local_steps", *local_steps)] {
        if count != 1 {
            let count = i64::try_from(count).with_context(|| format!("`{name}` is too large for a file"))?;
            settings.insert(name.to_owned(), count.into());
        }
    }
    if let Some((kind, parameters)) = estimator {
        let mut inner = Table::from_iter([("kind".to_owned(), kind.name.into())]);
        put_all(&mut inner, written(kind.parameters, parameters));
        settings.insert("estimator".to_owned(), inner.into());
    }
    if let Some(Compression { codec, parameters, damping: Damping { γ, α } }) = compression {
        let mut inner = Table::from_iter([("codec".to_owned(), codec.name.into())]);
        let damping = [("gamma", γ), ("alpha", α)].into_iter();
        put_all(&mut inner, damping.filter_map(|(name, given)| given.map(|value| (name, value.into()))));
        put_all(&mut inner, written(codec.parameters, parameters));
        settings.insert("compress".to_owned(), inner.into());
    }
    Ok(settings)
}

fn put_all<'a>(table: &mut Table, entries: impl Iterator<Item = (&'a str, Value)>) {
    table.extend(entries.map(|(name, value)| (name.to_owned(), value)));
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

/// The parameters of a table that has been read except for them; those of a bare name are none.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{Identify, Identity};

    fn identity(recipe: &Recipe) -> String {
        let mut identity = Identity::new("method", 1);
        recipe.identify(&mut identity);
        identity.into_text()
    }

    /// Agents build what the simulator built: through the text of a config.
    #[test]
    fn methods_that_are_written_are_read_as_the_same_methods() {
        for text in [
            "kind = \"smtpp\"",
            "kind = \"smtpp\"\nmomentum = 0.1\ngossip = 3\nlocal_steps = 2",
            "kind = \"push-pull\"\nestimator = { kind = \"storm\", momentum = 0.25 }",
            "kind = \"ab\"\nestimator = \"momentum\"\ncompress = { codec = \"top-k\", fraction = 0.3, gamma = 0.5 }",
            "kind = \"sgp\"\ncompress = { codec = \"quantise\", alpha = 0.125 }",
        ] {
            let recipe = read_recipe(toml::from_str(text).unwrap()).unwrap();
            let text = toml::to_string(&write_recipe(&recipe).unwrap()).unwrap();
            let again = read_recipe(toml::from_str(&text).unwrap()).unwrap();
            assert_eq!(identity(&again), identity(&recipe), "{text}");
        }
        let kinds = registry::installed().methods().iter().map(|kind| Recipe::new(kind, []).unwrap());
        for recipe in kinds {
            let again = read_recipe(write_recipe(&recipe).unwrap()).unwrap();
            assert_eq!(identity(&again), identity(&recipe));
        }
        let error = read_recipe(toml::from_str("kind = \"smtpp\"\nmomentun = 1").unwrap()).unwrap_err();
        assert!(format!("{error:#}").contains("did you mean `momentum`?"), "{error:#}");
    }
}
