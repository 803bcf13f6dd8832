//! A made-up report in the shape of the real one. Its numbers mean nothing.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::draw::report::{Drawing, Figure, Report, TableBlock, VerdictRow};

const METHODS: [(&str, &str, &str, &str); 6] = [
    ("SMTPP", "#0068a8", "#5fb3ec", ""),
    ("SMTPP (trees)", "#b5480a", "#f0955c", "7 3"),
    ("STPP", "#00795a", "#4fc9a0", "2 2.5"),
    ("SGP", "#9a3f7d", "#e292c8", "9 3 2 3"),
    ("Push-DIGing", "#7d6608", "#d9c152", "4 2"),
    ("CSGDM", "#2b2f36", "#dfe3e8", ""),
];

/// 9 verdicts, 2 groups of 4 figures (two quantities over two axes), a network, two tables.
pub(super) fn sample() -> Report {
    let mut figures = vec![];
    for (place, group) in ["Multi-Sub-Ring", "Exponential"].into_iter().enumerate() {
        for (quantity, label) in [("loss", "F(x̄)"), ("gradient", "‖∇F(x̄)‖²")] {
            for (axis, per_round) in [("iteration", 1.0), ("bytes sent", 4920.0)] {
                figures.push(figure(place, group, quantity, label, axis, per_round));
            }
        }
    }
    Report {
        title: "Momentum tracking over one-way links: what holds".to_owned(),
        summary: "Both experiments of the paper on a9a, five repetitions each, and a verdict on each of its claims. \
                  This is a sample: its numbers are made up."
            .to_owned(),
        verdicts: verdicts(),
        figures,
        readings: None,
        results: vec![],
        networks: vec![network("Multi-Sub-Ring, n = 20", 20, 5), network("Exponential, n = 16", 16, 4)],
        tables: tables(),
        notes: vec!["The floor is a model: curvature & noise are those at the lowest point.".to_owned()],
        settings: "[problem]\nkind = \"logistic\"\ndataset = \"a9a\"\nalpha = 0.01\n\n[run]\nagents = 20\n\
                   iterations = 900\nrepetitions = 5\nseed = 1\n\n[[method]]\nname = \"SMTPP\"\nkind = \"smtpp\"\n\
                   momentum = 0.1\nstep = { size = 0.1, scaling = \"effective\", decay = 0.1, every = 300 }\n"
            .to_owned(),
        facts: [
            ("run time", "3.42 s on 2 threads"),
            ("cells", "60, of which 0 from the cache"),
            ("oneway", "0.1.0"),
            ("system", "Linux, x86-64"),
            ("data", "sha256 88c1d4f7e53d0d4ee1a9a4b8c7a6f1de20adf0f1b2a5b0f2c8a6b1a0a5b8c11e"),
            ("curves", "sha256 1f2e3d4c5b6a79880123456789abcdef1f2e3d4c5b6a79880123456789abcdef"),
            ("seed", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
    }
}

fn verdicts() -> Vec<VerdictRow> {
    let numbers =
        |list: &[(&str, f64)]| list.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    [
        ("SMTPP overlaps with centralised SGD with momentum on the exponential graph", "§IV, Fig. 3", "holds"),
        (
            "SMTPP comes near the centralised method on Multi-Sub-Ring",
            "§IV, Fig. 2",
            "holds only if it runs on the full digraph",
        ),
        ("SMTPP ends below SGP, Push-DIGing and STPP on Multi-Sub-Ring", "§IV, Fig. 2", "holds"),
        ("Tracking the momentum damps oscillation", "Abstract, §IV", "holds"),
        ("The error floor shrinks in proportion to λ", "§III, Theorem 1", "does not hold"),
        (
            "Larger steps are tolerated on sparse graphs",
            "§III, Remark 2",
            "holds only if λ is at most 0.3 and the root of the trees lies on the longest cycle",
        ),
        ("The schedule of the corollary gives the rate 1/√(nT)", "§III, Corollary 1", "undecided"),
        ("Twice the agents, half the variance", "§III", "holds"),
        ("The mean of the trackers is the mean of the momenta", "Lemma 2", "holds"),
    ]
    .map(|(claim, source, verdict)| VerdictRow {
        claim: claim.to_owned(),
        source: source.to_owned(),
        measure: "the mean over five repetitions of ‖∇F(x̄)‖² over the last tenth of each plateau of the step size, \
                  as a ratio to CSGDM; bands from the smallest to the largest repetition"
            .to_owned(),
        numbers: numbers(&[
            ("ratio to CSGDM", 1.0132),
            ("smallest", 0.871),
            ("largest", 1.207),
            ("threshold", 1.25),
            ("residual", 3.1e-16),
        ]),
        verdict: verdict.to_owned(),
        shared: String::new(),
        because: "The ratio stays under its threshold in every repetition and on each of the three plateaus.".to_owned(),
    })
    .to_vec()
}

fn tables() -> Vec<TableBlock> {
    let cells = |row: &[&str]| row.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    vec![
        TableBlock {
            caption: "Error on the last plateau relative to CSGDM".to_owned(),
            header: cells(&["graph", "partition", "SMTPP", "SMTPP (trees)", "STPP", "SGP", "Push-DIGing"]),
            rows: vec![
                cells(&["flower, K = 2", "even", "1.02", "3.71", "6.40", "1.88", "9.25"]),
                cells(&["flower, K = 4", "even", "0.98", "2.96", "4.13", "1.42", "7.02"]),
                cells(&["flower, K = 4", "by label", "1.31", "12.8", "5.77", "0.74", "11.9"]),
                cells(&["ring of rings", "Dirichlet 0.1", "1.11", "21.4", "8.30", "0.52", "—"]),
            ],
            heat: true,
        },
        TableBlock {
            caption: "Final values, mean of five repetitions".to_owned(),
            header: cells(&["method", "graph", "loss", "‖∇F‖²", "status"]),
            rows: vec![
                cells(&["SMTPP", "full", "0.3391", "2.1e-5", "finished"]),
                cells(&["Push-DIGing", "full", "0.3518", "4.0e-4", "finished"]),
            ],
            heat: false,
        },
    ]
}

/// A curve and a chart of six of them, drawn by hand to the contract of [`Figure`].
fn figure(place: usize, group: &str, quantity: &str, label: &str, axis: &str, per_round: f64) -> Figure {
    let id = format!("{group}-{quantity}-{axis}").to_lowercase().replace(' ', "-");
    let (left, right, top, bottom) = (64.0, 506.0, 16.0, 276.0);
    let (least, most) = (1e-5, 1.0);
    let x_max = 900.0 * per_round;
    let to_x = |x: f64| left + x / x_max * (right - left);
    let to_y = |y: f64| bottom + (f64::log10(y) - f64::log10(least)) / 5.0 * (top - bottom);
    let mut svg = format!(
        r#"<svg class="chart" data-figure="{id}" viewBox="0 0 520 326" font-size="13" font-family="inherit" fill="none">"#
    );
    for power in -5..=0 {
        let y = to_y(10_f64.powi(power));
        let _ = write!(
            svg,
            r#"<path d="M{left} {y:.1}H{right}" stroke="var(--grid)"/><text x="56" y="{:.1}" text-anchor="end" fill="var(--ink)">{}</text>"#,
            y + 4.5,
            ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "0.1", "1"][usize::try_from(power + 5).unwrap()],
        );
    }
    for tick in 0..=3 {
        let x = f64::from(tick) * 300.0 * per_round;
        let _ = write!(
            svg,
            r#"<text x="{:.1}" y="295" text-anchor="middle" fill="var(--ink)">{x}</text>"#,
            to_x(x).min(490.0)
        );
    }
    let _ = write!(
        svg,
        r#"<path d="M{left} {bottom}H{right}" stroke="var(--ink)"/><text x="{}" y="317" text-anchor="middle" fill="var(--ink)">{axis}</text><text x="{}" y="{}" fill="var(--ink)" font-weight="600">{label}</text>"#,
        (left + right) / 2.0,
        right - 90.0,
        top + 10.0,
    );
    let mut series: Vec<Value> = vec![];
    for (k, (name, light, dark, dash)) in METHODS.into_iter().enumerate() {
        let xs: Vec<f64> = (0..=90).map(|step| f64::from(step) * 10.0 * per_round).collect();
        let ys: Vec<f64> = (0..=90).map(|step| curve(step, k, place, quantity)).collect();
        let low: Vec<f64> = ys.iter().map(|y| y / 1.25).collect();
        let high: Vec<f64> = ys.iter().map(|y| y * 1.25).collect();
        let path = |ys: &[f64]| -> Vec<String> {
            xs.iter()
                .zip(ys)
                .map(|(&x, &y)| format!("{:.1} {:.1}", to_x(x), to_y(y).clamp(top, bottom)))
                .collect()
        };
        let mut edge = path(&low);
        edge.extend(path(&high).into_iter().rev());
        let (colour, band, line) = (k, edge.join("L"), path(&ys).join("L"));
        let _ = write!(
            svg,
            r#"<g class="series" data-series="{name}"><path d="M{band}Z" fill="var(--series-{colour})" fill-opacity="0.14"/><path d="M{line}" stroke="var(--series-{colour})" stroke-width="1.8" stroke-dasharray="{dash}"/></g>"#
        );
        series.push(json!({
            "name": name, "color_light": light, "color_dark": dark, "dash": dash,
            "x": xs, "y": ys, "low": low, "high": high,
        }));
    }
    svg.push_str("</svg>");
    let data = json!({
        "id": id,
        "x": { "label": axis, "scale": "linear", "min": 0, "max": x_max, "px0": left, "px1": right },
        "y": { "label": label, "scale": "log", "min": least, "max": most, "px0": bottom, "px1": top },
        "series": series,
    });
    let caption = format!("{label} at the mean of the agents over {axis}; the band spans five repetitions.");
    Figure { id, caption, group: group.to_owned(), svg, data }
}

fn curve(step: i32, method: usize, place: usize, quantity: &str) -> f64 {
    let (k, m) = (f64::from(step), method as f64);
    let floor = 10_f64.powf(-4.4 + if place == 0 { m.min(4.0) * 0.35 } else { m * 0.05 });
    let wave = 1.0 + 0.25 * (k * 0.9 + m).sin() * (m * 0.2).min(0.8);
    let decay = (-k / if quantity == "loss" { 14.0 + m } else { 8.0 + m }).exp();
    (0.7 * decay + floor * wave * if step > 60 { 0.4 } else { 1.0 }).min(0.95)
}

fn network(caption: &str, n: i32, step: i32) -> Drawing {
    let at = |node: i32| {
        let angle = std::f64::consts::TAU * f64::from(node) / f64::from(n);
        (150.0 + 125.0 * angle.sin(), 150.0 - 125.0 * angle.cos())
    };
    let mut svg = r#"<svg viewBox="0 0 300 300" role="img" aria-label="network" fill="none">"#.to_owned();
    for node in 0..n {
        for next in [node + 1, node + step] {
            let ((x, y), (p, q)) = (at(node), at(next));
            let _ = write!(svg, r#"<path d="M{x:.1} {y:.1}L{p:.1} {q:.1}" stroke="var(--muted)"/>"#);
        }
    }
    for node in 0..n {
        let (x, y) = at(node);
        let _ =
            write!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="7" fill="var(--ink)" stroke="var(--paper)"/>"#);
    }
    svg.push_str("</svg>");
    Drawing { caption: caption.to_owned(), svg }
}
