//! Where methods ended, and the settings that were swept.

use anyhow::{Result, bail};
use oneway::Error;

use super::sources::Found;
use crate::draw::figure::quantity::Quantity;
use crate::number::counted;

/// A setting that was swept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    /// Its column of `curves.csv`: `method.momentum`.
    pub(crate) column: String,
    /// The method or topology whose setting it is, if it was named.
    owner: Option<String>,
}

impl Parameter {
    /// The setting of this name: as the column is called, `method.momentum`, or as the experiment has it,
    /// `method.SMTPP.momentum`, which is that of one method alone.
    pub(crate) fn named(name: &str, found: &[Found<'_>]) -> Result<Self> {
        let mut columns: Vec<&String> = vec![];
        for column in found.iter().flat_map(|found| found.source.stored.swept.names()) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        if columns.is_empty() {
            bail!("nothing was swept here: the experiment has no [sweep], so there is no {name:?}");
        }
        if let Some(column) = columns.iter().find(|column| **column == name) {
            return Ok(Self { column: (*column).clone(), owner: None });
        }
        for one in found {
            for (section, full) in [("method", &one.record.method), ("topology", &one.record.topology)] {
                let owner = full.split_once(" [").map_or(&**full, |(owner, _)| owner);
                let rest = name.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'));
                let rest = rest.filter(|rest| rest.len() > owner.len() && rest.is_char_boundary(owner.len()));
                let Some((named, key)) = rest.map(|rest| rest.split_at(owner.len())) else { continue };
                let column = format!("{section}{key}");
                let values = one.source.stored.swept.of(&one.record.topology, &one.record.method);
                let has = values.iter().any(|(name, _)| *name == column);
                if named.eq_ignore_ascii_case(owner) && has {
                    return Ok(Self { column, owner: Some(owner.to_owned()) });
                }
            }
        }
        Err(Error::unknown("swept setting", name, columns.iter().map(|column| column.as_str())).into())
    }

    /// Its value in an entry, if it is swept there.
    pub(crate) fn of<'a>(&self, one: &Found<'a>) -> Option<&'a str> {
        let record = one.record;
        let owned = self.owner.as_ref().is_none_or(|owner| {
            [&record.method, &record.topology]
                .iter()
                .any(|name| oneway_experiment::sweep::is_called(name, owner))
        });
        let values = one.source.stored.swept.of(&record.topology, &record.method);
        values.into_iter().find(|(name, _)| owned && *name == self.column).map(|(_, value)| value)
    }

    /// The key as names have it: `momentum` of `method.momentum`, `problem.alpha` of itself.
    pub(crate) fn key(&self) -> &str {
        ["method.", "topology."]
            .iter()
            .find_map(|section| self.column.strip_prefix(section))
            .unwrap_or(&self.column)
    }

    /// For an axis.
    pub(crate) fn label(&self) -> String {
        match self.key() {
            "momentum" => "momentum coefficient λ".to_owned(),
            "step" | "step.size" => "step size η".to_owned(),
            key => key.to_owned(),
        }
    }

    /// A name without the value that this setting has in it: `SMTPP [step=1]` of `SMTPP [step=1; momentum=2]`.
    pub(crate) fn without(&self, name: &str, value: &str) -> String {
        let own = format!("{}={value}", self.key());
        let mut groups = name.split(" [");
        let plain = groups.next().unwrap_or_default().to_owned();
        groups.fold(plain, |name, group| {
            let values = group.trim_end_matches(']').split("; ");
            let rest: Vec<&str> = values.filter(|pair| *pair != own).collect();
            if rest.is_empty() { name } else { format!("{name} [{}]", rest.join("; ")) }
        })
    }
}

/// Where a method ended on a topology, at one value of each setting.
#[derive(Debug, Clone)]
pub(crate) struct End {
    /// Without the values of the settings.
    pub(crate) topology: String,
    pub(crate) method: String,
    /// The value of each setting, if it is swept there.
    pub(crate) at: Vec<Option<String>>,
    /// Where each repetition ended that came to its end.
    pub(crate) values: Vec<f64>,
    /// What became of the repetitions.
    pub(crate) status: String,
}

/// Where all that was found ended.
pub(crate) fn ends(
    found: &[Found<'_>],
    quantity: Quantity,
    last: usize,
    of: &[Parameter],
) -> Result<Vec<End>> {
    let mut ends = vec![];
    for one in found {
        let repetitions = one.source.stored.repetitions(one.record);
        let values =
            repetitions.over_last(last, |point| quantity.of(point).filter(|value| value.is_finite()));
        let at_end = repetitions.at_end(|point| Some(point.iteration as f64));
        if values.is_empty() && !at_end.is_empty() && last > 1 {
            let states = one.source.stored.curves.iter().map(|curve| curve.points.len()).max().unwrap_or(0);
            if states < last {
                bail!("--last {last}: a run has {} only", counted(states as u64, "recorded state"));
            }
        }
        let at: Vec<Option<String>> =
            of.iter().map(|parameter| parameter.of(one).map(str::to_owned)).collect();
        let bare = |name: &str| {
            let chosen =
                of.iter().zip(&at).filter_map(|(parameter, value)| Some((parameter, value.as_deref()?)));
            chosen.fold(name.to_owned(), |name, (parameter, value)| parameter.without(&name, value))
        };
        ends.push(End {
            topology: bare(&one.record.topology),
            method: bare(&one.method),
            at,
            values: values.into_iter().map(|(_, value)| value).collect(),
            status: repetitions.status(),
        });
    }
    Ok(ends)
}

/// What the value of a run is, for captions.
pub(crate) fn at_the_end(last: usize) -> String {
    match last {
        1 => "at the last recorded state".to_owned(),
        many => format!("mean over the last {many} recorded states"),
    }
}

/// Names in order of appearance, each once.
pub(crate) fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.fold(vec![], |mut unique, name| {
        if !unique.contains(&name) {
            unique.push(name);
        }
        unique
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_leaves_a_name() {
        let parameter = |column: &str| Parameter { column: column.to_owned(), owner: None };
        let momentum = parameter("method.momentum");
        assert_eq!(momentum.without("SMTPP [momentum=0.1; step=2]", "0.1"), "SMTPP [step=2]");
        assert_eq!(momentum.without("SMTPP [momentum=0.1]", "0.1"), "SMTPP");
        assert_eq!(momentum.without("SMTPP [momentum=0.1]", "0.2"), "SMTPP [momentum=0.1]");
        assert_eq!(momentum.without("CSGDM", "0.1"), "CSGDM");
        let alpha = parameter("problem.alpha");
        assert_eq!(alpha.without("ring [petals=2] [problem.alpha=0.1]", "0.1"), "ring [petals=2]");
        assert_eq!(alpha.without("ring [problem.alpha=0.1; run.seed=3]", "0.1"), "ring [run.seed=3]");
    }
}
