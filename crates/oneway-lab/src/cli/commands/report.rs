//! `oneway report`: draws the figures of a results folder again and writes its page, without running
//! anything.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::plan::Plan;
use oneway_experiment::problem::Problems;
use oneway_experiment::results::curves::Curve;
use oneway_experiment::results::folder::{OutputFolder, PAGE};
use oneway_experiment::results::manifest::{Manifest, Purpose};
use oneway_experiment::results::stored::Stored;
use serde::Deserialize;

use crate::cli::args::ReportArgs;
use crate::cli::progress::Bar;
use crate::draw::figure::gallery::{self, Picture};
use crate::draw::report::final_values::final_values;
use crate::draw::report::{Report, TableBlock, VerdictRow, page};
use crate::studies::claims_map;
use crate::studies::sensitivity::Sensitivity;
use crate::terminal::{Screen, warn};

/// The verdicts, in the folder of a reproduction.
pub(crate) const CLAIMS: &str = "claims.json";

/// Runs the command.
pub(crate) fn report(args: &ReportArgs) -> Result<ExitCode> {
    let bar = Bar::new(&[("drawing", 1)]);
    bar.part(0, 0);
    let written = write(&args.dir, args.all, &mut Problems::default())?;
    drop(bar);
    let mut screen = Screen::stdout();
    screen.file(&written);
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}

/// Draws all figures of a results folder, or of a folder of them, and writes `report.html`; returns where.
/// The quantities that are always worth a look, or every one if `all`. `problems` saves building those that
/// are known already.
pub(crate) fn write(dir: &Path, all: bool, problems: &mut Problems) -> Result<PathBuf> {
    let parts = parts(dir)?;
    let folder = OutputFolder::prepare(dir)?;
    let figures = folder.inside("figures")?;
    let mut report = Report { verdicts: verdicts(dir)?, ..Report::default() };
    let mut pictures = vec![];
    for part in &parts {
        report.facts.extend(facts(part));
        report.settings += &format!("# {}\n\n{}\n", part.name, toml::to_string(&part.manifest.settings)?);
        match part.manifest.purpose {
            Purpose::Figures => {}
            Purpose::Verdicts => continue,
            Purpose::Sensitivity => {
                report.tables.push(sensitivity(&part.curves));
                continue;
            }
        }
        report.results.extend(final_values(&part.name, &part.manifest, &part.curves));
        // curves alone make charts; the settings add notes and networks, but may name files that have moved
        let (drawn, notes) = part.drawn();
        report.notes.extend(notes);
        match self::pictures(part, &drawn, all, problems) {
            Ok(drawn) => pictures.extend(drawn),
            Err(error) => {
                warn(&format!("{}: no networks and no notes in its figures: {error:#}", part.name));
                pictures.extend(gallery::charts(&drawn, &[], all));
            }
        }
    }
    gallery::name_apart(&mut pictures);
    gallery::write(&pictures, &figures)?;
    for picture in pictures {
        report.add(picture);
    }
    (report.title, report.summary) = title(dir, &report);
    if !report.verdicts.is_empty() && parts.iter().flat_map(|part| &part.curves).all(|c| c.repetition < 2) {
        report.summary += " Two repetitions: a look, not a verdict.";
    }
    let written = folder.write("report.html", page(&report))?;
    folder.settle(PAGE)?;
    Ok(written)
}

/// The folder itself, or all results folders in it.
fn parts(dir: &Path) -> Result<Vec<Stored>> {
    let mut parts = Stored::read_all(dir)?;
    parts.reverse(); // Multi-Sub-Ring before exponential, as in the paper
    Ok(parts)
}

/// Draws ‖∇F‖² of a results folder into `figures`, as [`write`] will draw it again with all the others;
/// returns where.
pub(crate) fn first_figure(dir: &Path, figures: &OutputFolder) -> Result<Option<PathBuf>> {
    let part = Stored::read(dir)?;
    let experiment = Experiment::new(part.manifest.settings.clone(), Path::new(&part.manifest.folder))?;
    let mut pictures = gallery::charts(&part.drawn().0, &experiment.variants, false);
    pictures.retain(|picture| picture.file.ends_with("-gradient"));
    pictures.truncate(1);
    gallery::write(&pictures, figures)?;
    Ok(pictures.first().map(|picture| figures.path().join(format!("{}.png", picture.file))))
}

fn pictures(part: &Stored, drawn: &[Curve], all: bool, problems: &mut Problems) -> Result<Vec<Picture>> {
    let experiment = Experiment::new(part.manifest.settings.clone(), Path::new(&part.manifest.folder))?;
    let mut pictures = gallery::charts(drawn, &experiment.variants, all);
    pictures.extend(gallery::networks(&Plan::sharing(&experiment, problems)?, &experiment.variants)?);
    Ok(pictures)
}

fn facts(part: &Stored) -> Vec<(String, String)> {
    let Manifest { oneway, cells, cells_planned, curves_sha256, .. } = &part.manifest;
    let sum = |of: fn(&oneway_experiment::results::cells::End) -> f64| {
        cells.iter().map(|cell| of(&cell.end)).sum::<f64>()
    };
    let rounds: u64 = cells.iter().map(|cell| cell.end.rounds).sum();
    let (stepping, observing) = (sum(|end| end.seconds_stepping), sum(|end| end.seconds_observing));
    let fact = |what: &str, value: String| (format!("{}: {what}", part.name), value);
    vec![
        fact("runs", format!("{} of {cells_planned}, {rounds} rounds", cells.len())),
        fact(
            "time in rounds",
            format!("{stepping:.2} s, {:.1} µs a round", 1e6 * stepping / rounds.max(1) as f64),
        ),
        fact("time waiting for measurements", format!("{observing:.2} s")),
        fact("SHA-256 of curves.csv", curves_sha256.clone()),
        fact("made by", format!("oneway {oneway}, {} {}", std::env::consts::OS, std::env::consts::ARCH)),
    ]
}

/// A claim as `claims.json` has it.
#[derive(Deserialize)]
struct ClaimRecord {
    #[serde(default)]
    id: String,
    claim: String,
    source: String,
    measure: String,
    numbers: Vec<(String, Option<f64>)>,
    verdict: String,
    because: String,
}

/// The verdicts of a reproduction; none in other folders.
fn verdicts(dir: &Path) -> Result<Vec<VerdictRow>> {
    let path = dir.join(CLAIMS);
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(vec![]) };
    let claims: Vec<ClaimRecord> = serde_json::from_str(&text)
        .with_context(|| format!("{} is not what oneway wrote", path.display()))?;
    let map = claims_map::Stored::read();
    let row = |record: ClaimRecord| VerdictRow {
        shared: map.as_ref().and_then(|map| map.said_of(&record.id)).unwrap_or_default(),
        claim: capitalised(&record.claim),
        source: record.source,
        measure: record.measure,
        numbers: record.numbers.into_iter().map(|(name, value)| (name, value.unwrap_or(f64::NAN))).collect(),
        verdict: record.verdict,
        because: record.because,
    };
    Ok(claims.into_iter().map(row).collect())
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

fn sensitivity(curves: &[Curve]) -> TableBlock {
    let sensitivity = Sensitivity::new(curves);
    let rows = sensitivity.rows_as_text().map(|(name, ratios)| std::iter::once(name).chain(ratios).collect());
    TableBlock {
        caption: "What the paper leaves open: ‖∇F(x̄)‖² of SMTPP over that of CSGDM on the same data, at the end of each \
                  plateau of the step size. 1 is as good as the centralised bound."
            .to_owned(),
        header: std::iter::once("reconstruction, partition".to_owned()).chain(sensitivity.header.clone()).collect(),
        rows: rows.collect(),
        heat: true,
    }
}

fn title(dir: &Path, report: &Report) -> (String, String) {
    if report.verdicts.is_empty() {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return (name, "Measured by oneway; every run can be made again to the last bit.".to_owned());
    }
    let summary = "The two experiments of “Stochastic Momentum Tracking Push-Pull for Decentralized Optimization over \
                   Directed Graphs”, run again on the real a9a, and every claim of the paper put to a measurement.";
    ("SMTPP, reproduced".to_owned(), summary.to_owned())
}
