//! What an audit leaves behind: `audit.json`, `slack.csv`, a page, and a table on the terminal.

use std::fmt::Write;

use anyhow::Result;
use oneway::theory::audit::{Check, Form, Kind, LEVEL, Point, Verdict};
use oneway_experiment::plan::Plan;
use serde_json::{Value, json};

use super::{Audited, Skipped, because, by_rule, tightest, title, verdict};
use crate::draw::figure::gallery::Picture;
use crate::draw::report::{Report, TableBlock, VerdictRow};
use crate::number::{counted, short};
use crate::terminal::{Cell, NOTHING, Style, Table, column};

/// The columns of `slack.csv`.
const COLUMNS: &str = "topology,method,lemma,form,k,left,right,half_interval,slack,violated";

/// One line for each inequality and each k; what is not a number stays empty.
pub(crate) fn csv(audited: &[Audited]) -> String {
    let number = |value: f64| if value.is_finite() { format!("{value:?}") } else { String::new() };
    let mut text = format!("{COLUMNS}\n");
    for one in audited {
        for check in &one.audit.checks {
            let (lemma, form) = (check.rule.lemma.replace(',', ""), check.rule.form.name());
            for point in &check.points {
                let Point { k, left, right, half, .. } = *point;
                let [left, right, half, slack] = [left, right, half, point.slack].map(number);
                let violated = u8::from(point.is_violated());
                let names = format!("{},{}", one.topology, one.method);
                // writing to a string does not fail
                let _ = writeln!(text, "{names},{lemma},{form},{k},{left},{right},{half},{slack},{violated}");
            }
        }
    }
    text
}

/// Everything but the rounds.
pub(crate) fn json(audited: &[Audited], skipped: &[Skipped]) -> Result<String> {
    let entries: Vec<Value> = audited.iter().map(entry).collect();
    let skipped = skipped
        .iter()
        .map(|one| json!({"topology": one.topology, "method": one.method, "because": one.because}))
        .collect::<Vec<Value>>();
    let all = json!({
        "oneway": env!("CARGO_PKG_VERSION"),
        "family_wise_level": LEVEL,
        "entries": entries,
        "skipped": skipped,
    });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

fn entry(one: &Audited) -> Value {
    let constants = one.audit.certificate.constants();
    let [needed, given] = one.audit.tracking_constants;
    json!({
        "topology": one.topology,
        "method": one.method,
        "graph": one.graph,
        "agents": constants.agents,
        "c_pi": constants.c_pi,
        "momentum": one.momentum,
        "step": one.step,
        "step_is_certified": one.audit.certified,
        "largest_certified_step": one.audit.largest,
        "smoothness": one.assumptions.smoothness,
        "variance": one.assumptions.variance,
        "variance_is": one.variance_source,
        "optimum": one.assumptions.optimum,
        "runs": one.audit.runs,
        "rounds": one.audit.rounds,
        "runs_diverged": one.audit.diverged,
        "tests": one.audit.tests,
        "rho_pull": constants.pull_rho,
        "rho_push": constants.push_rho,
        "delta_pull": constants.pull_delta_sq.sqrt(),
        "delta_push": constants.push_delta_sq.sqrt(),
        "lemma_5_constant_needed": needed,
        "lemma_5_constant_of_appendix": given,
        "checks": one.audit.checks.iter().map(check).collect::<Vec<Value>>(),
    })
}

fn check(check: &Check) -> Value {
    let tightest = check.tightest();
    let (verdict, first, rounds, reason) = match &check.verdict {
        Verdict::Holds => ("holds", None, 0, None),
        Verdict::Open => ("open", None, 0, None),
        Verdict::Violated { first, rounds } => ("violated", Some(*first), *rounds, None),
        Verdict::NotStated(reason) => ("not stated", None, 0, Some(reason)),
        Verdict::Unchecked(reason) => ("not checked", None, 0, Some(reason)),
    };
    json!({
        "lemma": check.rule.lemma,
        "form": check.rule.form.name(),
        "statement": check.rule.statement,
        "speaks_of": match check.rule.kind { Kind::Pathwise => "every run", Kind::Expected => "expectations" },
        "verdict": verdict,
        "because": reason,
        "first_violated_at": first,
        "rounds_violated": rounds,
        "rounds_checked": check.points.len(),
        "smallest_slack": tightest.map(|point| point.slack),
        "smallest_slack_at": tightest.map(|point| point.k),
    })
}

/// One line for each inequality.
pub(crate) fn table(audited: &[Audited]) -> Table {
    let mut table = Table::new([
        column("inequality"),
        column("form"),
        column("smallest slack")
            .about("right side / left side, the least of all rounds; below 1 it is violated"),
        column("where").prose().minor(),
        column("verdict").prose(),
    ]);
    for checks in by_rule(audited) {
        let Some((_, first)) = checks.first() else { continue };
        let tightest = tightest(&checks);
        let place = tightest.map_or(String::new(), |(one, k, _)| format!("{}, k = {k}", one.name()));
        let violated = |(_, check): &&(&Audited, &Check)| matches!(check.verdict, Verdict::Violated { .. });
        let (verdict, style) = match checks.iter().filter(violated).count() {
            0 => (verdict(&checks), if all_hold(&checks) { Style::Good } else { Style::Open }),
            some => (format!("VIOLATED on {some} of {}", checks.len()), Style::Bad),
        };
        let slack = tightest.map(|(_, _, slack)| slack);
        let verdict = verdict.split(';').next().unwrap_or_default().to_owned();
        table.row([
            Cell::from(first.rule.lemma),
            first.rule.form.name().into(),
            slack.map_or(NOTHING.to_owned(), short).into(),
            place.into(),
            Cell::new(verdict, style),
        ]);
    }
    table
}

fn all_hold(checks: &[(&Audited, &Check)]) -> bool {
    checks.iter().all(|(_, check)| matches!(check.verdict, Verdict::Holds))
}

/// How it ended, in a line.
pub(crate) fn summary(audited: &[Audited]) -> String {
    let rules = by_rule(audited);
    let is_violated = |(_, check): &(&Audited, &Check)| matches!(check.verdict, Verdict::Violated { .. });
    let violated = |checks: &&Vec<(&Audited, &Check)>| checks.iter().any(is_violated);
    let [violated, hold] =
        [rules.iter().filter(violated).count(), rules.iter().filter(|checks| all_hold(checks)).count()];
    format!(
        "{} of {} inequalities hold, {violated} violated, {} open or not checked; {} audited",
        hold,
        rules.len(),
        rules.len() - hold - violated,
        counted(audited.len() as u64, "method"),
    )
}

/// What a reader of the table should know.
pub(crate) fn notes(audited: &[Audited], skipped: &[Skipped]) -> String {
    let mut notes = vec![format!(
        "a violation is beyond rounding and beyond chance ({LEVEL} for all tests of an entry together)"
    )];
    for one in audited {
        let [needed, given] = one.audit.tracking_constants;
        let certified = if one.audit.certified { "certified" } else { "not certified" };
        let constants = match given.is_finite() {
            true => format!(
                "; main text of Lemma 5 needs C_v ≥ {}, the appendix gives {}",
                short(needed),
                short(given)
            ),
            false => String::new(),
        };
        notes.push(format!(
            "{}: η = {} is {certified} (largest {}); {} of {}{constants}",
            one.name(),
            short(one.step),
            short(one.audit.largest),
            counted(one.audit.runs as u64, "run"),
            counted(one.audit.rounds, "round"),
        ));
        notes.extend(one.divergence().map(|diverged| format!("{}: {diverged}", one.name())));
    }
    notes.extend(skipped.iter().map(|one| format!("skipped: {one}")));
    notes.join("\n")
}

/// The page.
pub(crate) fn report(
    plan: &Plan,
    audited: &[Audited],
    skipped: &[Skipped],
    pictures: Vec<Picture>,
) -> Result<Report> {
    let mut report = Report {
        title: "The theory of SMTPP, audited".to_owned(),
        summary: format!(
            "Every inequality of the convergence analysis, put to runs: both sides, round by round. Inequalities that speak of \
             expectations are judged by means over runs, with intervals that err once in {:.0} audits of a method on a topology. Where the paper \
             prints something else than what its proof gives, both forms are shown.",
            1.0 / LEVEL
        ),
        verdicts: by_rule(audited).iter().filter_map(|checks| verdict_row(checks)).collect(),
        tables: vec![settings_table(audited)],
        settings: toml::to_string(&plan.settings)?,
        facts: skipped
            .iter()
            .map(|one| ("skipped".to_owned(), one.to_string()))
            .chain(audited.iter().filter_map(|one| Some((one.name(), one.divergence()?))))
            .chain([("made by".to_owned(), format!("oneway {}", env!("CARGO_PKG_VERSION")))])
            .collect(),
        ..Report::default()
    };
    for picture in pictures {
        report.add(picture);
    }
    Ok(report)
}

fn verdict_row(checks: &[(&Audited, &Check)]) -> Option<VerdictRow> {
    let (_, first) = checks.first()?;
    let rule = first.rule;
    let numbers = checks.iter().filter_map(|(one, check)| {
        check.tightest().map(|point| (format!("smallest slack on {}", one.name()), point.slack))
    });
    Some(VerdictRow {
        claim: format!("{}: {}", title(rule.lemma, rule.form), rule.statement),
        source: match rule.form {
            Form::AsPrinted => "printed, and sound".to_owned(),
            Form::Corrected => "what the proof gives".to_owned(),
            Form::Printed => "as the paper prints it".to_owned(),
        },
        measure: match rule.kind {
            Kind::Pathwise => "In every run and round, up to rounding.".to_owned(),
            Kind::Expected => {
                "The mean over runs of right side − left side, with its interval, in every round.".to_owned()
            }
        },
        numbers: numbers.collect(),
        verdict: verdict(checks),
        shared: String::new(),
        because: because(checks),
    })
}

/// What was audited, with which numbers.
fn settings_table(audited: &[Audited]) -> TableBlock {
    let header = [
        "topology, method",
        "graph",
        "λ",
        "η",
        "largest certified η",
        "L",
        "σ²",
        "ρ_R",
        "ρ_C",
        "δ_R",
        "δ_C",
        "C_v needed by Lemma 5's main text",
        "C_v of its appendix",
    ];
    let row = |one: &Audited| {
        let constants = one.audit.certificate.constants();
        let [needed, given] = one.audit.tracking_constants;
        let numbers = [
            one.momentum,
            one.step,
            one.audit.largest,
            one.assumptions.smoothness,
            one.assumptions.variance,
            constants.pull_rho,
            constants.push_rho,
            constants.pull_delta_sq.sqrt(),
            constants.push_delta_sq.sqrt(),
            needed,
            given,
        ];
        [one.name(), one.graph.to_owned()].into_iter().chain(numbers.map(short)).collect()
    };
    TableBlock {
        caption: "What was audited. The norms of Definition 1 are those of the certificate for the step, or for the largest \
                  certified step where the step has none."
            .to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows: audited.iter().map(row).collect(),
        heat: false,
    }
}
