//! `oneway inspect`: ask a topology what it can do.
//!
//! A table for each of three questions (who hears whom, how it averages, which steps it bears) and what
//! follows from the answers, in sentences; with `--json` all of it as [`crate::studies::inspect::Inspection`]
//! documents. A network on which no method can run is an answer too: what fails, and the fewest links that
//! repair it.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use oneway::methods;
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::supplies::Supplies;
use serde_json::json;

use crate::cli::args::InspectArgs;
use crate::cli::progress::Bar;
use crate::draw::figure::gallery;
use crate::request;
use crate::studies::inspect::facts::Network;
use crate::studies::inspect::{advice, drawing, table};
use crate::terminal::Screen;

/// Runs the command.
pub(crate) fn inspect(args: &InspectArgs) -> Result<ExitCode> {
    methods::kind("smtpp")?.method([("momentum", args.momentum)])?; // refused before anything is computed
    let methods = crate::studies::inspect::chosen(&args.methods)?;
    let requests =
        request::requests(&args.topologies, args.pull.as_deref().zip(args.push.as_deref()), &args.flags)?;
    let none = Supplies::default();
    let networks =
        requests.into_iter().map(|request| Network::build(request, &none)).collect::<Result<Vec<_>>>()?;
    let folder = args.out.as_deref().map(OutputFolder::prepare).transpose()?;
    let mut all = vec![];
    let mut pictures = vec![];
    let bar = Bar::new(&[("asking", 1)]);
    let part = bar.part(0, networks.len() as u64);
    for (at, network) in networks.iter().enumerate() {
        let mut facts = network.inspect(&methods, args.momentum)?;
        part.advance(1);
        if folder.is_some() {
            pictures.extend(drawing::pictures(network, &mut facts)?.into_iter().map(|picture| (at, picture)));
        }
        all.push(facts);
    }
    if let Some(folder) = &folder {
        let (owners, mut pictures): (Vec<usize>, Vec<_>) = pictures.into_iter().unzip();
        gallery::name_apart(&mut pictures);
        gallery::write(&pictures, folder)?;
        for (owner, picture) in owners.into_iter().zip(&pictures) {
            all[owner].drawings.push(folder.path().join(&picture.file).display().to_string());
        }
    }
    drop(bar);
    let comparison = advice::comparison(&all);
    if args.json {
        let together: Vec<String> = comparison.into_iter().collect();
        writeln!(std::io::stdout(), "{:#}", json!({ "topologies": all, "advice": together }))?;
    } else {
        let mut screen = Screen::stdout();
        table::show(&mut screen, &all, comparison.as_deref());
        for (i, drawing) in all.iter().flat_map(|facts| &facts.drawings).enumerate() {
            if i == 0 {
                screen.gap();
            }
            screen.text(&format!("drawn: {drawing}.svg, .png and .pdf"));
        }
        screen.show()?;
    }
    Ok(ExitCode::SUCCESS)
}
