//! What README and docs/reproduction.md say of the map, made of its summary: blocks that stand there word for word.

use serde_json::Value;

/// The width that pages are broken at.
const WIDTH: usize = 112;

/// Blocks by name, each with its lines.
pub(crate) fn blocks(summary: &Value) -> Vec<(&'static str, String)> {
    vec![
        ("ran", ran(summary)),
        ("claims", claims(summary)),
        ("told", told(summary)),
        ("alone", alone(summary)),
        ("algebra", algebra(summary)),
        ("readme", readme(summary)),
    ]
}

/// All blocks in one file, between the marks that they have in pages.
pub(crate) fn file(summary: &Value) -> String {
    blocks(summary).into_iter().map(|(name, block)| marked(name, &block) + "\n").collect()
}

/// A block with its marks.
pub(crate) fn marked(name: &str, block: &str) -> String {
    format!("<!-- map: {name} -->\n{block}<!-- map: end -->\n")
}

fn ran(summary: &Value) -> String {
    let [readings, sampled, views] = ["readings", "sampled", "views"].map(|key| count(&summary[key]));
    broken(&format!(
        "The second ran {readings} readings, {sampled} of them sampled over the whole space by a balanced design, the others near the paper's words or on the way to the best reading. Each was looked at in {views} views: {} verdicts a claim. Rules `{}…`, readings `{}…`, seed {}.",
        readings * views,
        short(&summary["rules_sha256"]),
        short(&summary["readings_sha256"]),
        count(&summary["seed"])
    ))
}

fn claims(summary: &Value) -> String {
    let mut lines =
        "| the paper says | holds in | fails in | by algebra holds, fails | runs agree | what decides most |\n|---|---|---|---|---|---|\n".to_owned();
    for claim in list(&summary["claims"]) {
        let theory = &claim["theory"];
        let [by_algebra, agree] = match theory.is_null() {
            true => ["–".to_owned(), "–".to_owned()],
            false => [
                format!("{}, {}", percent(&theory["holds"]), percent(&theory["fails"])),
                format!("{} of {}", count(&theory["agree"]), count(&theory["both"])),
            ],
        };
        lines += &format!(
            "| {} | {} | {} | {by_algebra} | {agree} | {} |\n",
            text(&claim["words"]),
            share(&claim["holds"]),
            share(&claim["fails"]),
            super::show::decides(&claim["effects"])
        );
    }
    lines
}

fn told(summary: &Value) -> String {
    let all = list(&summary["claims"]).len();
    let named = |wanted: &dyn Fn(&Value) -> bool| {
        let names = list(&summary["claims"]).iter().filter(|claim| wanted(claim));
        let names: Vec<&str> = names.map(|claim| text(&claim["words"])).collect();
        if names.is_empty() { "none".to_owned() } else { names.join("; ") }
    };
    let above = |key: &'static str| move |claim: &Value| number(&claim[key]["low"]) > 0.5;
    let rarely = |claim: &Value| number(&claim["holds"]["high"]) < 0.1;
    let counts = |one: &Value| format!("{} of {all} hold, {}", count(&one["held"]), fail(&one["failed"]));
    let (words, best) = (&summary["words"], &summary["best"]);
    let mut items = vec![
        format!("**Holds in surely more than half of the readings:** {}.", named(&above("holds"))),
        format!("**Fails in surely more than half:** {}.", named(&above("fails"))),
        format!("**Holds in surely less than a tenth:** {}.", named(&rarely)),
        format!(
            "**With the paper's words** (four petals, data in file order, steps of 0.1 and 0.2, SMTPP on trees) {} at {} is {}: {}.",
            text(&words["quantity"]),
            count(&words["place"]),
            losses(words),
            counts(words)
        ),
    ];
    for look in list(&summary["looks"]) {
        let (name, one) = (text(&look[0]), &look[1]);
        items.push(format!(
            "**{}{}:** {} at {} is {}: {}.",
            name[..1].to_uppercase(),
            &name[1..],
            text(&one["quantity"]),
            count(&one["place"]),
            losses(one),
            counts(one)
        ));
    }
    items.push(format!(
        "**The best reading found** ({}; {} at {}): {}.",
        text(&best["named"]),
        text(&best["quantity"]),
        count(&best["place"]),
        counts(best)
    ));
    items.iter().map(|item| format!("- {}", broken(item).trim_end().replace('\n', "\n  ")) + "\n").collect()
}

fn alone(summary: &Value) -> String {
    let mut lines =
        "| question | pairs of readings | verdicts that change | from holds to fails or back |\n|---|---|---|---|\n"
            .to_owned();
    for one in list(&summary["alone"]) {
        let [pairs, all, changed, turned] =
            ["pairs", "verdicts", "changed", "turned"].map(|key| count(&one[key]));
        let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64);
        lines +=
            &format!("| {} | {pairs} | {} | {} |\n", text(&one["factor"]), share(changed), share(turned));
    }
    lines
}

/// Mean F on Multi-Sub-Ring at the place, method by method.
fn losses(one: &Value) -> String {
    let places = [300, 600, 900];
    let at = places.iter().position(|place| *place == count(&one["place"])).unwrap_or_default();
    let of = |method: &&str| match one["loss"]["multi-sub-ring"][method][at].as_f64() {
        Some(loss) => format!("{loss:.4} for {method}"),
        None => format!("lost for {method}"),
    };
    super::rules::METHODS.iter().map(of).collect::<Vec<_>>().join(", ")
}

fn algebra(summary: &Value) -> String {
    let mut lines = "| the paper's words | η·h | largest stable η·h | errors a round | ‖∇F(x̄)‖² in the long run | of the runs at 300 |\n|---|---|---|---|---|---|\n".to_owned();
    let words = &summary["words"];
    for (graph, name) in [("multi-sub-ring", "Multi-Sub-Ring"), ("exponential", "exponential")] {
        for method in super::rules::METHODS {
            let exact = &words["exact"][graph][method];
            lines += &format!(
                "| {method}, {name} | {:.4} | {:.4} | × {:.4} | {} | {} |\n",
                number(&exact["step"]),
                number(&exact["limit"]),
                number(&exact["rate"]),
                exact["gradient"].as_f64().map_or("–".to_owned(), |floor| format!("{floor:.5}")),
                words["gradient"][graph][method][0].as_f64().map_or("–".to_owned(), |x| format!("{x:.5}"))
            );
        }
    }
    lines
}

fn readme(summary: &Value) -> String {
    let (words, best) = (&summary["words"], &summary["best"]);
    broken(&format!(
        "Much hangs on what the paper leaves open: `oneway claims map` puts {} sentences of its §IV to {} readings of it. Under the paper's own words {} hold and {}; under the best reading {} hold and {}.",
        list(&summary["claims"]).len(),
        count(&summary["readings"]),
        count(&words["held"]),
        fail(&words["failed"]),
        count(&best["held"]),
        fail(&best["failed"])
    ))
}

/// A paragraph in lines.
fn broken(paragraph: &str) -> String {
    let (mut lines, mut length) = (String::new(), 0);
    for word in paragraph.split(' ') {
        let wide = word.chars().count();
        if length > 0 && length + 1 + wide > WIDTH {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += wide;
    }
    lines + "\n"
}

/// "1 fails", "2 fail".
fn fail(number: &Value) -> String {
    let number = count(number);
    format!("{number} fail{}", if number == 1 { "s" } else { "" })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn short(hash: &Value) -> &str {
    text(hash).get(..16).unwrap_or_default()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn percent(value: &Value) -> String {
    format!("{:.0} %", 100.0 * number(value))
}

fn share(of: &Value) -> String {
    let [share, low, high] = ["share", "low", "high"].map(|key| number(&of[key]));
    super::show::percent(super::verdicts::Share { share, low, high })
}
