//! `oneway methods` and `oneway topologies`: what there is.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use oneway::graph::families::FAMILIES;
use oneway::method::Network;
use oneway::methods::KINDS;
use oneway::parameters::Parameter;
use serde_json::{Value, json};

use crate::args::{ListArgs, MethodsArgs};
use crate::methods_page;
use crate::results::folder::OutputFolder;

/// `oneway methods`.
pub(crate) fn methods(args: &MethodsArgs) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if let Some(folder) = &args.page {
        let folder = OutputFolder::prepare(folder)?;
        methods_page::write(&folder)?;
        writeln!(out, "{}", folder.path().join(methods_page::FILE).display())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.list.json {
        let list = KINDS.iter().map(|kind| {
            json!({
                "name": kind.name,
                "about": kind.about,
                "rule": kind.rule,
                "network": kind.network.about(),
                "graphs": kind.graphs.iter().map(|graph| graph.name()).collect::<Vec<_>>(),
                "parameters": parameters(kind.parameters),
            })
        });
        writeln!(out, "{:#}", list.collect::<Value>())?;
        return Ok(ExitCode::SUCCESS);
    }
    for kind in KINDS {
        let graphs: Vec<&str> = kind.graphs.iter().map(|graph| graph.name()).collect();
        writeln!(out, "{}\n    {}\n    rule     {}", kind.name, kind.about, kind.rule)?;
        write!(out, "    network  {}", kind.network.about())?;
        match kind.network {
            Network::Central => writeln!(out)?,
            _ => writeln!(out, "; graph = {}", graphs.join(" | "))?,
        }
        print_parameters(&mut out, kind.parameters)?;
    }
    writeln!(
        out,
        "\nEvery method also takes `step`: a number, or {{ size, scaling, decay, every, schedule, warmup }}."
    )?;
    Ok(ExitCode::SUCCESS)
}

/// `oneway topologies`.
pub(crate) fn topologies(args: &ListArgs) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if args.json {
        let list = FAMILIES.iter().map(|family| {
            json!({
                "name": family.name,
                "about": family.about,
                "random": family.random,
                "time_varying": family.time_varying,
                "parameters": parameters(family.parameters),
            })
        });
        writeln!(out, "{:#}", list.collect::<Value>())?;
        return Ok(ExitCode::SUCCESS);
    }
    for family in FAMILIES {
        let random = if family.random { " (random, by `seed`)" } else { "" };
        let varying = if family.time_varying { " (time-varying)" } else { "" };
        writeln!(out, "{}\n    {}{random}{varying}", family.name, family.about)?;
        print_parameters(&mut out, family.parameters)?;
    }
    writeln!(out, "\nEvery topology also takes `root`, `weights` (uniform | metropolis) and `seed`.")?;
    writeln!(
        out,
        "In place of `kind`: `file` (an edge list), or `pull` and `push` (weighted edge lists, R and C)."
    )?;
    Ok(ExitCode::SUCCESS)
}

fn parameters(declared: &[Parameter]) -> Value {
    declared.iter().map(|p| json!({ "name": p.name, "about": p.about, "default": p.default })).collect()
}

fn print_parameters(out: &mut impl Write, declared: &[Parameter]) -> std::io::Result<()> {
    for Parameter { name, about, default } in declared {
        let default = default.map_or("must be given".to_owned(), |default| format!("default {default}"));
        writeln!(out, "    {name:<8} {about} ({default})")?;
    }
    Ok(())
}
