//! `report.html`: one file that opens anywhere, asks the network for nothing, and shows what was found.
//!
//! The verdicts come first, then the results, the figures with their switches, tables, networks, settings and
//! facts. [`page`] is a pure function: same report, same bytes. All text is escaped; the SVG of figures and
//! drawings is taken as it is.

mod figures;
pub(crate) mod final_values;
mod maths;
mod palette;
pub(crate) mod readings;
mod tables;
#[cfg(test)]
mod tests;
mod verdicts;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

/// What a report shows. An empty part is left out of the page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    pub(crate) title: String,
    /// One or two sentences under the title.
    pub(crate) summary: String,
    pub(crate) verdicts: Vec<VerdictRow>,
    /// Where each run ended.
    pub(crate) results: Vec<TableBlock>,
    /// A walk through the readings of a map.
    pub(crate) readings: Option<readings::Walk>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) networks: Vec<Drawing>,
    pub(crate) tables: Vec<TableBlock>,
    /// Sentences that the tables call for.
    pub(crate) notes: Vec<String>,
    /// The experiment as TOML, shown folded.
    pub(crate) settings: String,
    /// Timings, environment, versions, hashes: (name, value).
    pub(crate) facts: Vec<(String, String)>,
}

/// One claim and what the measurements say of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct VerdictRow {
    pub(crate) claim: String,
    /// Where the claim is made.
    pub(crate) source: String,
    /// How it was measured.
    pub(crate) measure: String,
    pub(crate) numbers: Vec<(String, f64)>,
    /// `holds`, `holds for …; undecided for …`, `holds only if …`, `does not hold` or `undecided`. Other
    /// words are shown and counted as undecided.
    pub(crate) verdict: String,
    pub(crate) because: String,
    /// In how many readings of the map it holds and fails, where the map has it.
    pub(crate) shared: String,
}

/// A chart and the numbers behind it.
///
/// `svg` is `<svg class="chart" data-figure="ID" viewBox="0 0 W H">` with each series in
/// `<g class="series" data-series="NAME">`. It paints with `var(--ink)`, `var(--muted)`, `var(--grid)`,
/// `var(--link)`, `var(--paper)` and, for a series, one of the figures' own custom properties.
///
/// `data` is `{x: AXIS, y: AXIS, series: [{name, color_light, color_dark, dash, x: [], y: [], low: [], high:
/// []}]}`, an AXIS `{label, scale: "linear" | "log", min, max, px0, px1}` with px0 and px1 the places of min
/// and max in the viewBox. Two figures of a group with the same y label and different x labels are
/// alternatives: the page shows one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figure {
    pub(crate) id: String,
    pub(crate) caption: String,
    /// Figures of a group stand side by side under its name: the topology, say.
    pub(crate) group: String,
    pub(crate) svg: String,
    pub(crate) data: Value,
}

/// A network, drawn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Drawing {
    pub(crate) caption: String,
    pub(crate) svg: String,
}

/// A table; the first column names its rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableBlock {
    pub(crate) caption: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Whether cells that are numbers are coloured by how far they are from 1.
    pub(crate) heat: bool,
}

const CSS: &str = include_str!("page.css");
const DARK_CSS: &str = include_str!("dark.css");
const JS: &str = include_str!("page.js");

/// Nothing is fetched from anywhere, whatever a drawing may contain.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
img-src data:; font-src data:; base-uri 'none'; form-action 'none'";

/// Three agents on one-way links.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cpath \
d='M16 6 26 25H6z' fill='none' stroke='%230b5cad' stroke-width='3'/%3E%3Cg fill='%230b5cad'%3E%3Ccircle cx='16' cy='6' \
r='5'/%3E%3Ccircle cx='26' cy='25' r='5'/%3E%3Ccircle cx='6' cy='25' r='5'/%3E%3C/g%3E%3C/svg%3E";

/// The whole page.
pub(crate) fn page(report: &Report) -> String {
    let palette = palette::Palette::new(&report.figures);
    let sections = sections(report, &palette);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (report.title) }
                link rel="icon" href=(ICON);
                style { (PreEscaped(palette.light())) (PreEscaped(CSS)) }
                // The page is dark when this sheet applies: by the reader's system, or by the switch. Never
                // on paper.
                style #dark media="screen and (prefers-color-scheme: dark)" {
                    (PreEscaped(palette.dark())) (PreEscaped(DARK_CSS))
                }
                script { (PreEscaped(JS)) }
            }
            body {
                (verdicts::shapes())
                a.skip href="#main" { "Skip to the findings" }
                header.top {
                    nav aria-label="Sections" {
                        @for (id, name, _) in &sections {
                            a href={ "#" (id) } { (name) }
                        }
                    }
                    button #theme.quiet type="button" aria-label="Dark colours" aria-pressed="false" {
                        (theme_symbol())
                    }
                }
                main #main {
                    h1 { (report.title) }
                    p.lede { (report.summary) }
                    @for (id, name, content) in &sections {
                        section id=(id) aria-labelledby={ (id) "-title" } {
                            h2 id={ (id) "-title" } { (name) }
                            (content)
                        }
                    }
                }
                footer { p { "Made by " b { "oneway" } ". This file is complete in itself: it can be kept, sent and printed." } }
            }
        }
    };
    page.into_string()
}

/// The parts that have something to show: anchor, heading, content.
fn sections(report: &Report, palette: &palette::Palette) -> Vec<(&'static str, &'static str, Markup)> {
    let mut sections = vec![];
    if !report.verdicts.is_empty() {
        sections.push(("verdicts", "Verdicts", verdicts::verdicts(&report.verdicts)));
    }
    if !report.results.is_empty() {
        sections.push(("results", "Results", tables::tables(&report.results)));
    }
    if let Some(walk) = &report.readings {
        sections.push(("readings", "Readings", readings::walk(walk)));
    }
    if !report.figures.is_empty() {
        sections.push(("figures", "Figures", figures::figures(&report.figures, palette)));
    }
    if !report.tables.is_empty() {
        sections.push(("tables", "Tables", tables::tables(&report.tables)));
    }
    if !report.notes.is_empty() {
        sections.push(("notes", "Notes", notes(&report.notes)));
    }
    if !report.networks.is_empty() {
        sections.push(("networks", "Networks", figures::networks(&report.networks)));
    }
    if !report.settings.is_empty() {
        sections.push(("settings", "Settings", settings(&report.settings)));
    }
    if !report.facts.is_empty() {
        sections.push(("facts", "Facts", facts(&report.facts)));
    }
    sections
}

/// One after another.
fn notes(notes: &[String]) -> Markup {
    html! { ul { @for note in notes { li { (maths::set(note)) } } } }
}

/// The experiment, folded.
fn settings(toml: &str) -> Markup {
    html! {
        details.fold {
            summary { "The experiment, as a file" span.note { (toml.lines().count()) " lines of TOML" } }
            pre tabindex="0" aria-label="Settings as TOML" { code { (toml) } }
        }
    }
}

/// Names and values.
fn facts(facts: &[(String, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// A disc, half of it dark.
fn theme_symbol() -> Markup {
    html! {
        svg viewBox="0 0 20 20" aria-hidden="true" {
            circle cx="10" cy="10" r="7" fill="none" stroke="currentColor" stroke-width="1.6" {}
            path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor" {}
        }
    }
}
