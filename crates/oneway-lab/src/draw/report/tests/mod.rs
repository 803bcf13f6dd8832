//! The page as a whole.

mod sample;

use super::*;
use sample::sample;
use serde_json::json;

/// Elements that have no end.
const VOID: [&str; 5] = ["meta", "link", "input", "br", "hr"];

/// Checks that every element that begins also ends, in order.
fn assert_balanced(page: &str) {
    let mut open: Vec<&str> = vec![];
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if rest.starts_with('!') {
            continue;
        }
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split_whitespace().next().expect("a tag has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "before {:?}", rest.get(..40));
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            assert!(tag.matches(" class=\"").count() <= 1, "two classes: {tag}");
            open.push(name);
            if matches!(name, "script" | "style") {
                let close = format!("</{name}>");
                rest = &rest[rest.find(&close).expect("a raw element ends")..];
            }
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

/// The numbers of the figures, as the page's script reads them.
fn figure_data(page: &str) -> Value {
    let start = page.find(r#"<script id="figure-data" type="application/json">"#).unwrap();
    let json = page[start..].split_once('>').unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(json).unwrap()
}

#[test]
fn everything_appears() {
    let report = sample();
    let page = page(&report);
    assert_balanced(&page);
    let shown = |text: &str| {
        let escaped = html! { (text) }.into_string();
        assert!(page.contains(&escaped), "{escaped} is not in the page");
    };
    shown(&report.title);
    shown(&report.summary);
    report.notes.iter().for_each(|note| shown(note));
    shown(&report.settings);
    for row in &report.verdicts {
        [&row.claim, &row.source, &row.measure, &row.verdict, &row.because]
            .into_iter()
            .for_each(|text| shown(text));
        row.numbers.iter().for_each(|(name, _)| shown(name));
    }
    for figure in &report.figures {
        assert!(page.contains(&figure.svg));
        shown(&figure.caption);
        shown(&figure.group);
    }
    for drawing in &report.networks {
        assert!(page.contains(&drawing.svg));
        shown(&drawing.caption);
    }
    for table in &report.tables {
        shown(&table.caption);
        table.header.iter().chain(table.rows.iter().flatten()).for_each(|cell| shown(cell));
    }
    for (name, value) in &report.facts {
        shown(name);
        shown(value);
    }
    assert_eq!(figure_data(&page).as_array().unwrap().len(), report.figures.len());
    for figure in &report.figures {
        assert!(page.contains(&figure.data.to_string()), "the numbers of {}", figure.id);
    }
}

#[test]
fn verdicts_are_counted_and_come_first() {
    let page = page(&sample());
    for count in [
        "<b>5</b> <span>hold</span>",
        "<b>2</b> <span>hold only if …</span>",
        "<b>1</b> <span>does not hold</span>",
        "<b>1</b> <span>undecided</span>",
    ] {
        assert!(page.contains(count), "{count}");
    }
    let place = |id: &str| page.find(&format!(r#"<section id="{id}""#)).unwrap();
    let order = ["verdicts", "figures", "tables", "notes", "networks", "settings", "facts"].map(place);
    assert!(order.is_sorted());
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(page(&sample()), page(&sample()));
}

#[test]
fn an_empty_report_is_still_a_page() {
    let page = page(&Report::default());
    assert_balanced(&page);
    assert!(!page.contains("<section"));
}

#[test]
fn nothing_is_fetched() {
    let page = page(&sample());
    for address in ["src=", "@import", "url(", "href=\"http", "//cdn"] {
        assert!(!page.contains(address), "{address}");
    }
}

#[test]
fn hostile_text_stays_text() {
    let hostile =
        "\"'></script></style></title><script>alert(1)</script><img src=x onerror=alert(1)>&amp;<!--";
    let text = || hostile.to_owned();
    let series = json!({
        "name": hostile, "color_light": hostile, "color_dark": hostile, "dash": hostile, "x": [0], "y": [1],
    });
    let axis =
        |label: String| json!({ "label": label, "scale": "linear", "min": 0, "max": 1, "px0": 0, "px1": 1 });
    let figure = |label: &str| Figure {
        id: text(),
        caption: text(),
        group: text(),
        svg: r#"<svg class="chart" viewBox="0 0 1 1"></svg>"#.to_owned(),
        data: json!({ "x": axis(text() + label), "y": axis(text()), "series": [series] }),
    };
    let page = page(&Report {
        title: text(),
        summary: text(),
        verdicts: vec![VerdictRow {
            claim: text(),
            source: text(),
            measure: text(),
            numbers: vec![(text(), f64::NAN)],
            verdict: text(),
            shared: String::new(),
            because: text(),
        }],
        readings: Some(readings::Walk {
            said: text(),
            map: "<svg></svg>".to_owned(),
            questions: vec![(text(), vec![text(), text()])],
            readings: 1,
            data: json!({ "claims": [text()] }),
        }),
        figures: vec![figure("1"), figure("2")],
        networks: vec![Drawing { caption: text(), svg: "<svg></svg>".to_owned() }],
        tables: vec![TableBlock {
            caption: text(),
            header: vec![text(); 2],
            rows: vec![vec![text(), text()], vec![text(); 5], vec![]],
            heat: true,
        }],
        results: vec![TableBlock {
            caption: text(),
            header: vec![text()],
            rows: vec![vec![text()]],
            heat: false,
        }],
        notes: vec![text()],
        settings: text(),
        facts: vec![(text(), text())],
    });
    assert_balanced(&page);
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<img"));
    assert!(!page.contains("<!--"));
    assert_eq!(
        page.matches("</script").count(),
        4,
        "the scripts of the page and of its walk, and their numbers"
    );
    assert_eq!(page.matches("</style").count(), 3, "light, dark, and the walk's");
    assert_eq!(figure_data(&page)[0]["series"][0]["name"], hostile);
}

#[test]
fn figures_over_other_axes_are_alternatives() {
    let mut report = sample();
    let with = page(&report);
    assert_eq!(with.matches(r#"name="axis""#).count(), 2);
    assert_eq!(with.matches("data-axis=\"iteration\"").count(), 4);
    report.figures.retain(|figure| figure.data["x"]["label"] == "iteration");
    let without = page(&report);
    assert!(!without.contains(r#"name="axis""#) && !without.contains("data-axis=\""));
}
