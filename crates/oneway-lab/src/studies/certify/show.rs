//! The findings as a table on the terminal, and as figures and a page.

use std::path::{Path, PathBuf};

use anyhow::Result;
use oneway_experiment::plan::Plan;
use oneway_experiment::results::folder::OutputFolder;

use super::region::Outcome;
use super::{Facts, Findings, Floor, Region, Row};
use crate::draw::figure::axis::{Axis, Scale};
use crate::draw::figure::chart::{Chart, Series};
use crate::draw::figure::gallery::{self, Art, Picture};
use crate::draw::figure::palette::{INK, MUTED, Mark, Palette, Style};
use crate::draw::report::{Report, TableBlock, page as html};
use crate::number::{counted, short, short_with_error};
use crate::terminal::{NOTHING, Screen, Table, column};

/// What the columns of the table mean.
const COLUMNS: [(&str, &str); 11] = [
    ("topology", ""),
    ("method", ""),
    ("c_π", "what turns a raw step η into the step that the average takes"),
    ("step", "the given effective step η·c_π, first and last"),
    ("limit", "the largest stable effective step with curvature L in every direction"),
    ("rate", "the factor by which errors shrink in a round there, at the given step; above 1 they grow"),
    ("certified", "the largest effective step for which the theorem holds"),
    (
        "floor",
        "‖∇F(x̄)‖² predicted in the long run at the last step; in brackets how much of it is there without noise, because agents \
         differ",
    ),
    ("measured", "its mean over the last part of the runs"),
    (
        "bound",
        "the theorem's bound on the mean of ‖∇F(x̄)‖² over the run, at the given step or the best certified one, with a σ² \
         that holds everywhere",
    ),
    ("average", "that mean as measured, at the given step"),
];

/// The table, what it begins with, and why some of it is missing.
pub(crate) fn text(screen: &mut Screen, findings: &Findings) {
    // the topology stands above its rows
    let mut table = Table::new(COLUMNS[1..].iter().map(|&(name, about)| match MINOR.contains(&name) {
        true => column(name).about(about).minor(),
        false => column(name).about(about),
    }));
    for row in &findings.rows {
        table.group(&row.topology);
        table.row(cells(row).into_iter().skip(1));
    }
    screen.table(&table);
    let lines = findings.problems.iter().map(about);
    let lines = lines.chain(reasons(findings)).chain(unsettled(findings));
    let regions = findings.regions.iter().filter(|region| !region.runs.is_empty());
    lines.chain(regions.map(agreement)).for_each(|line| screen.text(&line));
}

/// Columns that stand aside on a narrow terminal.
const MINOR: [&str; 5] = ["c_π", "rate", "floor", "bound", "average"];

/// How it ended, in a line.
pub(crate) fn summary(findings: &Findings) -> String {
    let count = |of: &dyn Fn(&&Row) -> bool| findings.rows.iter().filter(of).count();
    let stable = count(&|row| row.stability.known().is_some_and(|stability| stability.stable));
    let limited = count(&|row| row.stability.known().is_some());
    let certified = count(&|row| row.certificate.known().is_some_and(|proven| proven.given));
    format!(
        "{}: {stable} of the {limited} given steps with a known limit are stable, {certified} certified",
        counted(findings.rows.len() as u64, "row"),
    )
}

/// One row in words.
fn cells(row: &Row) -> Vec<String> {
    let (first, last) = (row.step.largest.effective, row.step.last.effective);
    let stability = row.stability.known();
    let limit = stability.map(|stability| {
        format!("{}{}", short(stability.limit.effective), if stability.stable { "" } else { " exceeded" })
    });
    let certificate = row.certificate.known();
    let certified = certificate.map(|proven| {
        format!("{}{}", short(proven.largest.effective), if proven.given { " given" } else { "" })
    });
    let measured = row.measured.known();
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
    vec![
        row.topology.clone(),
        row.method.clone(),
        short(row.c_pi),
        if first == last { short(first) } else { format!("{} … {}", short(first), short(last)) },
        or_nothing(limit),
        or_nothing(stability.and_then(|stability| Some(short(stability.rate?)))),
        or_nothing(certified),
        or_nothing(row.floor.known().map(floor_in_words)),
        or_nothing(measured.map(|measured| short_with_error(measured.last_part, measured.standard_error))),
        or_nothing(certificate.map(|proven| short(proven.bound))),
        or_nothing(measured.map(|measured| short(measured.average))),
    ]
}

fn floor_in_words(floor: &Floor) -> String {
    match floor.bias > 0.0 {
        true => format!("{} (bias {})", short(floor.total), short(floor.bias)),
        false => short(floor.total),
    }
}

/// A problem in a line.
fn about(facts: &Facts) -> String {
    let in_theorem = facts.noise.in_theorem;
    let bound = match facts.noise.standard_error {
        Some(_) => format!("; the theorem's bound takes {}, {}", short(in_theorem.variance), in_theorem.is),
        None => String::new(),
    };
    format!(
        "L = {}; σ² = {} ({}{bound}); F(x₀) − F* = {}",
        short(facts.smoothness),
        short_with_error(facts.noise.variance, facts.noise.standard_error),
        facts.noise.how,
        short(facts.loss_at_start - facts.lowest_loss),
    )
}

/// Each reason for an empty place once, with those it is for.
fn reasons(findings: &Findings) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = vec![];
    for row in &findings.rows {
        let given = [
            ("stability", row.stability.reason()),
            ("certificate", row.certificate.reason()),
            ("floor", row.floor.reason()),
            ("measured", row.measured.reason()),
        ];
        for (what, reason) in given {
            let Some(reason) = reason else { continue };
            let (text, who) = (format!("no {what}: {reason}"), format!("{} on {}", row.method, row.topology));
            match reasons.iter_mut().find(|(known, _)| *known == text) {
                Some((_, all)) => all.push(who),
                None => reasons.push((text, vec![who])),
            }
        }
    }
    reasons.into_iter().map(|(text, who)| format!("{text} ({})", who.join(", "))).collect()
}

/// Who has not had the time to come down to a floor.
fn unsettled(findings: &Findings) -> Option<String> {
    let who: Vec<String> = findings
        .rows
        .iter()
        .filter(|row| row.floor.known().is_some())
        .filter_map(|row| {
            let (had, needed) = (row.step.last_for, short(row.rounds_missing()?));
            Some(format!("{} on {} ({had} of {needed})", row.method, row.topology))
        })
        .collect();
    (!who.is_empty()).then(|| {
        let flat = "rounds with the last step, of about 1/(η·c_π·h) in the flattest direction";
        format!("too short to come down to the floor: {} ({flat})", who.join(", "))
    })
}

/// How often runs and the stability limit agree.
fn agreement(region: &Region) -> String {
    let limit = |momentum: f64| region.lines.iter().find(|line| line.momentum == momentum)?.stable;
    let count = |outcome: Outcome, below: bool| {
        let judged =
            region.runs.iter().filter_map(|run| Some((run.outcome, run.step < limit(run.momentum)?)));
        judged.filter(|one| *one == (outcome, below)).count()
    };
    let agree = count(Outcome::Stable, true) + count(Outcome::Diverged, false);
    let (beyond, below) = (count(Outcome::Stable, false), count(Outcome::Diverged, true));
    let [worse_below, worse_beyond] = [true, false].map(|below| count(Outcome::Worse, below));
    let was = |count: usize| if count == 1 { "was" } else { "were" };
    format!(
        "{} ({}): {} of {}; {agree} {} as the stability limit says, {beyond} {} stable beyond it, {below} diverged \
         below it; worse than at the start, but not growing, {} {worse_below} below it and {worse_beyond} beyond",
        region.topology,
        region.graph,
        counted(region.runs.len() as u64, "run"),
        counted(region.rounds, "round"),
        if agree == 1 { "ends" } else { "end" },
        was(beyond),
        was(worse_below),
    )
}

/// Writes the figures and `report.html`; returns where the page is.
pub(crate) fn page(folder: &OutputFolder, file: &Path, plan: &Plan, findings: &Findings) -> Result<PathBuf> {
    let figures = folder.inside("figures")?;
    let mut pictures: Vec<Picture> = findings
        .regions
        .iter()
        .map(|region| Picture {
            file: gallery::file_name(&format!("{}-{}-region", region.topology, region.graph)),
            topology: region.topology.clone(),
            caption: format!(
                "Steps that work for SMTPP on the links \"{}\". {}. A run counts as diverged if its numbers leave all \
                 bounds, or if over its last quarter its loss above F*, or the distance between its agents, is more than four \
                 times what it was in the first half. One whose loss ends above that at the start without growing is worse than \
                 its start: noise does that to a stable run that begins close to the minimum, and a step that is too large where \
                 gradients are bounded.",
                region.graph,
                agreement(region)
            ),
            art: Art::Chart(region.chart()),
        })
        .collect();
    pictures.extend(floors(findings));
    gallery::name_apart(&mut pictures);
    gallery::write(&pictures, &figures)?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut report = Report {
        title: format!("{name}: certified and measured"),
        summary:
            "What theory says of each method on each topology, beside what runs of the same experiment show."
                .to_owned(),
        tables: vec![table(findings)],
        notes: notes(findings),
        settings: toml::to_string(&plan.settings)?,
        ..Report::default()
    };
    for picture in pictures {
        report.add(picture);
    }
    folder.write("report.html", html(&report))
}

fn table(findings: &Findings) -> TableBlock {
    let about_columns: Vec<String> = COLUMNS
        .iter()
        .filter(|(_, about)| !about.is_empty())
        .map(|(name, about)| format!("{name}: {about}"))
        .collect();
    TableBlock {
        caption: format!("{}.", about_columns.join("; ")),
        header: COLUMNS.map(|(name, _)| name.to_owned()).to_vec(),
        rows: findings.rows.iter().map(cells).collect(),
        heat: false,
    }
}

/// What the numbers begin with, and why some are missing.
fn notes(findings: &Findings) -> Vec<String> {
    let model = "The floor is exact for quadratics; for other problems it is a model: curvature and noise are those at the \
                 lowest point of F, and the same for all agents; their gradients there are their own."
        .to_owned();
    let notes = findings.problems.iter().map(about).chain(reasons(findings)).chain(unsettled(findings));
    notes.chain([model]).collect()
}

/// Predicted floors over measured ones, a picture for each topology. Runs that were too short say nothing of
/// their floor.
fn floors(findings: &Findings) -> Vec<Picture> {
    let palette = Palette::new(findings.rows.iter().map(|row| &*row.method));
    let mut topologies: Vec<&str> = findings.rows.iter().map(|row| &*row.topology).collect();
    topologies.dedup();
    let picture = |topology: &str| {
        let here =
            findings.rows.iter().filter(|row| row.topology == topology && row.rounds_missing().is_none());
        let points: Vec<(&Row, f64, f64)> = here
            .filter_map(|row| Some((row, row.measured.known()?.last_part, row.floor.known()?.total)))
            .filter(|(_, measured, floor)| *measured > 0.0 && *floor > 0.0)
            .collect();
        let all = || points.iter().flat_map(|(_, measured, floor)| [*measured, *floor]);
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        (high > 0.0).then(|| {
            let ends = vec![low / 1.5, high * 1.5];
            let mut all = vec![Series::new("as predicted", Style::line(MUTED, Some("2.5 2.5")), ends.clone(), ends)];
            all.extend(points.iter().map(|(row, measured, floor)| {
                let style = palette.style(&row.method);
                let mark = if style.color == INK { Mark::Cross } else { Mark::Disc };
                Series::new(&*row.method, Style::marks(style.color, mark), vec![*measured], vec![*floor])
            }));
            Picture {
                file: gallery::file_name(&format!("{topology}-floor")),
                topology: topology.to_owned(),
                caption: "Predicted floor against what was measured over the last part of the runs. Methods whose runs were too \
                          short to come down to their floor are left out."
                    .to_owned(),
                art: Art::Chart(Chart {
                    title: format!("Predicted and measured floor on {topology}"),
                    x: axis("measured ‖\u{200a}∇F(x\u{304})‖², last part of the runs"),
                    y: axis("predicted floor of ‖\u{200a}∇F(x\u{304})‖²"),
                    series: all,
                    markers: vec![],
                    notes: vec![],
                }),
            }
        })
    };
    topologies.into_iter().filter_map(picture).collect()
}

fn axis(label: &str) -> Axis {
    Axis { label: label.to_owned(), scale: Scale::Log, limit: None }
}
