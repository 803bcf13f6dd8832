//! `--petals 4` and the like: a flag for each parameter that a family declares.

use clap::{Arg, ArgMatches, Command, Error, FromArgMatches};
use oneway::registry;

/// The parameters given as flags, as typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct FamilyParameters(pub(crate) Vec<(&'static str, String)>);

/// Every parameter that some family has, once, and who has it with which meaning.
fn declared() -> Vec<(&'static str, String)> {
    let mut all: Vec<(&'static str, Vec<&str>, &str)> = vec![];
    for family in registry::installed().families() {
        for parameter in family.parameters {
            match all.iter_mut().find(|(name, _, about)| (*name, *about) == (parameter.name, parameter.about))
            {
                Some((_, families, _)) => families.push(family.name),
                None => all.push((parameter.name, vec![family.name], parameter.about)),
            }
        }
    }
    let mut merged: Vec<(&'static str, String)> = vec![];
    for (name, families, about) in all {
        let about = format!("{}: {about}", families.join(", "));
        match merged.iter_mut().find(|(known, _)| *known == name) {
            Some((_, abouts)) => *abouts += &format!("; {about}"),
            None => merged.push((name, about)),
        }
    }
    merged
}

impl clap::Args for FamilyParameters {
    fn augment_args(command: Command) -> Command {
        command.args(declared().into_iter().map(|(name, about)| {
            Arg::new(name)
                .long(name)
                .value_name("VALUE")
                .help(about)
                .help_heading("Parameters of families")
                .allow_negative_numbers(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FamilyParameters {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = declared().into_iter().filter_map(|(name, _)| {
            let value: &String = matches.get_one(name)?;
            Some((name, value.clone()))
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
