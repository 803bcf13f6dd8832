//! `oneway plot`: figures for a paper, from results folders.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use oneway_experiment::results::folder::OutputFolder;
use rayon::prelude::*;

use crate::cli::paper_args::{PlotArgs, scale};
use crate::draw::figure::export::{self, Export, Format};
use crate::draw::figure::look::Look;
use crate::draw::latex;
use crate::draw::paper::question::{Paper, Question, Title, quantity};
use crate::draw::paper::sources::{Choice, Sources};
use crate::draw::paper::{curves, swept};

/// Runs the command.
pub(crate) fn plot(args: &PlotArgs) -> Result<ExitCode> {
    let mut out = std::io::stdout();
    for (files, caption) in write(args)? {
        for file in files {
            writeln!(out, "{}", file.display())?;
        }
        writeln!(out, "{caption}\n")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws all figures and writes their files; returns for each figure where they are, and its caption. What is
/// wrong is refused before anything is written.
pub(crate) fn write(args: &PlotArgs) -> Result<Vec<(Vec<PathBuf>, String)>> {
    let question = question(args)?;
    let sources = Sources::read(&args.dirs)?;
    let choice = Choice { methods: &args.choice.methods, topologies: &args.choice.topologies };
    let found = sources.found(choice)?;
    let papers = match &args.against[..] {
        [] => curves::figures(&sources, &found, &question)?,
        [_] | [_, _] => swept::figures(&sources, &found, &question, &args.against)?,
        more => bail!("--against is given {} times: give one setting, or two for a map", more.len()),
    };
    let papers = named(papers, args.name.as_deref())?;
    let export = Export { look: look(args), fonts: args.fonts, dpi: f64::from(args.dpi) };
    let drawn =
        papers.par_iter().map(|paper| files(paper, &export, &args.format)).collect::<Result<Vec<_>>>()?;
    warn(drawn.iter().flatten());
    let folder = OutputFolder::prepare(&folder(args))?;
    let mut written = vec![];
    for (paper, files) in papers.into_iter().zip(drawn) {
        let paths = files.into_iter().map(|file| folder.write(&file.name, file.bytes));
        written.push((paths.collect::<Result<Vec<_>>>()?, paper.caption));
    }
    Ok(written)
}

fn question(args: &PlotArgs) -> Result<Question> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from.partial_cmp(&to) != Some(std::cmp::Ordering::Less)
    {
        bail!("--from {from} --to {to}: there is nothing between them");
    }
    let title = match &args.title {
        Some(own) if !own.is_empty() => Title::Own(own.clone()),
        Some(_) => Title::Usual,
        None if args.no_title || args.size.is_some() || args.preset.is_some() => Title::None,
        None => Title::Usual,
    };
    Ok(Question {
        quantities: args.y.iter().map(|name| quantity(name)).collect::<Result<_>>()?,
        against: args.x.into(),
        band: args.band,
        colours: args.palette,
        title,
        x_label: args.x_label.clone(),
        y_label: args.y_label.clone(),
        x_scale: scale(args.log_x, args.linear_x),
        y_scale: scale(args.log_y, args.linear_y),
        window: (args.from, args.to),
        last: args.last as usize,
    })
}

fn look(args: &PlotArgs) -> Look {
    let (size, text) = match args.preset {
        Some(preset) => preset.size(),
        None => (Look::SCREEN.size, if args.size.is_some() { 8.0 } else { Look::SCREEN.text }),
    };
    Look { size: args.size.unwrap_or(size), text: args.font_size.unwrap_or(text), labels: args.labels }
}

fn folder(args: &PlotArgs) -> PathBuf {
    match (&args.out, &args.dirs[..]) {
        (Some(out), _) => out.clone(),
        (None, [dir]) => dir.join("plots"),
        (None, _) => Path::new("out").join("plots"),
    }
}

/// Figures with names that differ, or with the name that was given.
fn named(mut papers: Vec<Paper>, name: Option<&str>) -> Result<Vec<Paper>> {
    if let Some(name) = name {
        let [paper] = &mut papers[..] else {
            let files: Vec<&str> = papers.iter().map(|paper| &*paper.file).collect();
            bail!("--name {name}: there are {} figures: {}", papers.len(), files.join(", "));
        };
        if name.is_empty() || name.starts_with(['.', '-']) || name.contains(['/', '\\', '\0']) {
            bail!("--name {name:?}: give the name of a file without ending and without folders");
        }
        name.clone_into(&mut paper.file);
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for paper in &mut papers {
        let plain = paper.file.clone();
        let mut number = 1;
        while !taken.insert(paper.file.to_lowercase()) {
            number += 1;
            paper.file = format!("{plain}-{number}");
        }
    }
    Ok(papers)
}

/// A file to be written.
struct File {
    name: String,
    bytes: Vec<u8>,
    format: Option<Format>,
    /// Characters that could not be written into it.
    missing: BTreeSet<char>,
}

/// The files of a figure, and its caption: as text, and for LaTeX with PGF.
fn files(paper: &Paper, export: &Export, formats: &[Format]) -> Result<Vec<File>> {
    let mut files = vec![];
    for (place, &format) in formats.iter().enumerate() {
        if formats[..place].contains(&format) {
            continue;
        }
        let (bytes, missing) = export.file(&paper.figure, format)?;
        let name = format!("{}.{}", paper.file, format.ending());
        files.push(File { name, bytes, format: Some(format), missing });
    }
    let caption = |ending: &str, text: String| File {
        name: format!("{}.caption.{ending}", paper.file),
        bytes: (text + "\n").into_bytes(),
        format: None,
        missing: BTreeSet::new(),
    };
    files.push(caption("txt", paper.caption.clone()));
    if formats.contains(&Format::Pgf) {
        files.push(caption("tex", latex::text(&paper.caption)));
    }
    Ok(files)
}

/// Says once which characters were replaced, and where.
fn warn<'a>(files: impl Iterator<Item = &'a File>) {
    let (mut drawn, mut set) = (BTreeSet::new(), BTreeSet::new());
    for file in files {
        let missing = if file.format == Some(Format::Pgf) { &mut set } else { &mut drawn };
        missing.extend(&file.missing);
    }
    for (missing, what) in
        [(drawn, "the fonts of the figures lack"), (set, "LaTeX has no letters of its own for")]
    {
        if !missing.is_empty() {
            crate::terminal::warn(&format!(
                "{what} {}: a \"?\" stands in its place",
                export::named(&missing)
            ));
        }
    }
}
