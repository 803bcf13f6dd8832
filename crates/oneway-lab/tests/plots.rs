//! `oneway plot` and `oneway table`: what is drawn is what was measured, in every format and size.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;

use crate::common::{self, EXPERIMENT, Lab, changed, stderr, stdout};

/// Two topologies, two methods, five repetitions.
fn experiment() -> String {
    let text = changed(EXPERIMENT, "repetitions = 2", "repetitions = 5");
    let text = changed(&text, "record_every = 10", "record_every = 5");
    let text = changed(
        &text,
        "[[method]]",
        "[[topology]]\nname = \"all_to & 9%\"\nkind = \"complete\"\n\n[[method]]",
    );
    text + "\n[[method]]\nname = \"SGP\"\nkind = \"sgp\"\nstep = 0.1\n"
}

fn lab(experiment: &str) -> Lab {
    let lab = Lab::new();
    let output = lab.run(experiment, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    lab
}

/// What must succeed; returns what it printed.
fn done(lab: &Lab, arguments: &[&str]) -> String {
    let output = lab.oneway(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

fn read(lab: &Lab, name: &str) -> String {
    fs::read_to_string(lab.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The values of a column of curves.csv by method and iteration, on one topology.
fn measured(lab: &Lab, topology: &str, column: &str) -> BTreeMap<(String, u64), Vec<f64>> {
    let csv = read(lab, "results/curves.csv");
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let at = header.iter().position(|name| *name == column).unwrap();
    let mut values: BTreeMap<(String, u64), Vec<f64>> = BTreeMap::new();
    for line in csv.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] == topology {
            let place = (cells[1].to_owned(), cells[3].parse().unwrap());
            values.entry(place).or_default().push(cells[at].parse().unwrap());
        }
    }
    values
}

fn mean(values: &[f64]) -> f64 {
    values.iter().map(|value| value / values.len() as f64).sum()
}

fn error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    (values.iter().map(|value| (value - mean(values)).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt()
}

/// Series, x, mean, and lower and upper where there is a band.
type Point = (String, f64, f64, Option<(f64, f64)>);

/// Lines of a file of points.
fn points(csv: &str) -> Vec<Point> {
    assert_eq!(csv.lines().next(), Some("series,x,mean,lower,upper"));
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>();
        (cells[0].to_owned(), number(1).unwrap(), number(2).unwrap(), number(3).ok().zip(number(4).ok()))
    };
    csv.lines().skip(1).map(line).collect()
}

#[test]
fn points_are_those_of_the_curves_and_bands_are_what_the_caption_says() {
    let lab = lab(&experiment());
    let values = measured(&lab, "loop", "grad_norm_sq");
    let ends = |band: &str, all: &[f64]| match band {
        "minmax" => {
            Some((all.iter().copied().fold(f64::MAX, f64::min), all.iter().copied().fold(0.0, f64::max)))
        }
        "se" => Some((mean(all) - error(all), mean(all) + error(all))),
        "quantiles" => {
            let mut sorted = all.to_vec();
            sorted.sort_by(f64::total_cmp);
            Some((sorted[1], sorted[3])) // of five
        }
        _ => None,
    };
    for (band, said) in [
        ("minmax", "from their lowest to their highest"),
        ("se", "± one standard error"),
        ("quantiles", "lower to their upper quartile"),
        ("none", "Lines: means of 5 repetitions."),
    ] {
        let printed = done(
            &lab,
            &["plot", "results", "--topologies", "loop", "--band", band, "--format", "csv", "--out", band],
        );
        let caption = read(&lab, &format!("{band}/loop-gradient.caption.txt"));
        assert!(caption.contains(said) && printed.contains(caption.trim()), "{caption}");
        let drawn = points(&read(&lab, &format!("{band}/loop-gradient.csv")));
        assert_eq!(drawn.len(), values.len(), "every recorded state of every method");
        for (series, x, y, own) in drawn {
            let all = &values[&(series, x as u64)];
            assert_eq!(y, mean(all));
            assert_eq!(own, ends(band, all), "{band} at {x}");
        }
    }
}

/// The coordinates after the comment that names a line, up to its end.
fn pgf_points(pgf: &str, series: &str) -> Vec<(f64, f64)> {
    let rest = pgf.split_once(&format!("% {series}\n")).unwrap().1;
    let body = rest.split_once("coordinates {").unwrap().1.split_once('}').unwrap().0;
    let point = |pair: &str| {
        let (x, y) = pair.trim_matches(['(', ')']).split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    body.split_whitespace().map(point).collect()
}

#[test]
fn every_format_has_the_same_data_and_the_size_that_was_asked_for() {
    let lab = lab(&experiment());
    let all = ["--format", "svg,png,pdf,pgf,csv", "--size", "8.5x6cm", "--dpi", "254", "--out", "drawn"];
    done(&lab, &[&["plot", "results", "--topologies", "loop"][..], &all].concat());
    let file = |ending: &str| format!("drawn/loop-gradient.{ending}");
    let drawn = points(&read(&lab, &file("csv")));
    let pgf = read(&lab, &file("pgf"));
    let svg = read(&lab, &file("svg"));
    for series in ["SMTPP", "SGP"] {
        let own: Vec<(f64, f64)> =
            drawn.iter().filter(|point| point.0 == series).map(|p| (p.1, p.2)).collect();
        assert_eq!(pgf_points(&pgf, series), own);
        // as many corners in the drawing, and higher where values are larger
        let group = svg.split_once(&format!("data-series=\"{series}\"")).unwrap().1;
        let path = group.split_once("class=\"line\" d=\"").unwrap().1.split_once('"').unwrap().0;
        let corners: Vec<(f64, f64)> = path
            .split(['M', 'L'])
            .skip(1)
            .map(|corner| corner.split_once(' ').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        assert_eq!(corners.len(), own.len());
        for (a, b) in (1..own.len()).map(|i| (i - 1, i)) {
            assert!(corners[b].0 > corners[a].0, "{corners:?}");
            let (value, pixel) = (own[b].1.ln() - own[a].1.ln(), corners[a].1 - corners[b].1);
            assert!(value * pixel >= 0.0 || value.abs() < 0.01, "{value} {pixel}");
        }
    }
    assert!(svg.contains("width=\"8.5cm\" height=\"6cm\""), "{}", &svg[..300]);
    assert!(pgf.contains("\\useasboundingbox"));
    let pdf = String::from_utf8_lossy(&fs::read(lab.path(&file("pdf"))).unwrap()).into_owned();
    let page = pdf.split_once("/MediaBox [").unwrap().1.split_once(']').unwrap().0;
    let page: Vec<f64> = page.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert!(
        (page[2] - 8.5 / 2.54 * 72.0).abs() < 0.1 && (page[3] - 6.0 / 2.54 * 72.0).abs() < 0.1,
        "{page:?}"
    );
    let png = fs::read(lab.path(&file("png"))).unwrap();
    let word = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert!(word(16).abs_diff(850) <= 1 && word(20).abs_diff(600) <= 1, "254 pixels an inch are 100 a cm");
    assert_eq!((&png[37..41], word(41)), (&b"pHYs"[..], 10_000));
}

/// Where text stands in an SVG of ours, and how wide the drawing is.
#[test]
fn text_stays_inside_at_every_width() {
    let lab = lab(&experiment());
    for (preset, width) in
        [("ieee", 8.89), ("neurips", 13.97), ("neurips-half", 6.8), ("slide", 16.0), ("icml-wide", 17.15)]
    {
        for labels in ["direct", "legend", "none", "auto"] {
            for title in ["--no-title", "--title"] {
                let arguments =
                    ["plot", "results", "--preset", preset, "--labels", labels, title, "--out", "drawn"];
                let output = lab.oneway(&[&arguments[..], &["--format", "svg,png", "--dpi", "100"]].concat());
                assert!(output.status.success(), "{preset} {labels}: {}", stderr(&output));
                let svg = read(&lab, "drawn/loop-gradient.svg");
                assert!(svg.contains(&format!("width=\"{width}cm\"")), "{preset}");
                assert_eq!(svg.contains(">Squared gradient norm on loop</text>"), title == "--title");
                assert_eq!(svg.matches("class=\"sample\"").count(), if labels == "none" { 0 } else { 2 });
                assert!(
                    edges_are_blank(&fs::read(lab.path("drawn/loop-gradient.png")).unwrap()),
                    "{preset} {labels}"
                );
            }
        }
    }
}

/// Whether the outermost pixels of a picture are white: what is cut off reaches them.
fn edges_are_blank(png: &[u8]) -> bool {
    let picture = resvg::tiny_skia::Pixmap::decode_png(png).unwrap();
    let (width, height) = (picture.width(), picture.height());
    let white = |x: u32, y: u32| {
        let pixel = picture.pixel(x, y).unwrap().demultiply(); // the last row may be covered in part
        pixel.red() > 250 && pixel.green() > 250 && pixel.blue() > 250
    };
    (0..width).all(|x| white(x, 0) && white(x, height - 1))
        && (0..height).all(|y| white(0, y) && white(width - 1, y))
}

#[test]
fn text_can_be_outlines() {
    let lab = lab(&experiment());
    done(
        &lab,
        &["plot", "results", "--topologies", "loop", "--fonts", "paths", "--format", "svg", "--size", "9cm"],
    );
    let svg = read(&lab, "results/plots/loop-gradient.svg");
    assert!(!svg.contains("<text") && !svg.contains("@font-face"), "{svg}");
    assert!(svg.contains("width=\"9cm\"") && svg.contains("viewBox="), "{}", &svg[..200]);
}

#[test]
fn what_is_wrong_is_refused_with_what_there_is_and_nothing_is_written() {
    let lab = lab(&experiment());
    fs::create_dir(lab.path("empty")).unwrap();
    fs::create_dir(lab.path("several")).unwrap();
    let copy = |to: &str| {
        fs::create_dir(lab.path(to)).unwrap();
        for name in ["curves.csv", "summary.json"] {
            fs::copy(lab.path("results").join(name), lab.path(to).join(name)).unwrap();
        }
    };
    copy("several/one");
    copy("broken");
    lab.write("broken/curves.csv", "topology\n");
    copy("hole");
    let csv = read(&lab, "results/curves.csv").lines().next().unwrap().to_owned() + "\n";
    lab.write("hole/curves.csv", &csv);
    let before = lab.listing();
    let results_before = common::Results::read(&lab.path("results")).csv;
    for (arguments, words) in [
        (&["plot", "nowhere"][..], &["nowhere"][..]),
        (&["plot", "empty"], &["empty is not a results folder"]),
        (&["plot", "several"], &["name one of", "several/one"]),
        (&["plot", "broken"], &["broken/curves.csv", "header"]),
        (&["plot", "hole"], &["hole", "not measured"]),
        (&["plot", "results", "./results"], &["given twice"]),
        (&["plot", "results", "--methods", "SMTP"], &["unknown method `SMTP`", "SMTPP", "SGP"]),
        (&["plot", "results", "--methods", "SGP,SGP"], &["twice"]),
        (&["plot", "results", "--topologies", "ring"], &["unknown topology `ring`", "loop"]),
        (&["plot", "results", "--y", "losss"], &["unknown quantity `losss`", "gradient"]),
        (&["plot", "results", "--y", "distance"], &["x* is not measured", "consensus"]),
        (&["plot", "results", "--y", "accuracy"], &["accuracy was not measured", "no test data", "loss"]),
        (&["plot", "results", "--x", "time"], &["time was not measured", "clock", "iteration, bytes"]),
        (&["plot", "results", "--from", "1000"], &["between 1000 and the end"]),
        (&["plot", "results", "--from", "5", "--to", "5"], &["nothing between"]),
        (&["plot", "results", "--size", "3x2cm"], &["no room"]),
        (&["plot", "results", "--size", "5x5cm", "--labels", "direct", "--font-size", "14"], &["no room"]),
        (&["plot", "results", "--against", "method.momentum"], &["nothing was swept"]),
        (&["plot", "results", "--name", "a"], &["there are 2 figures"]),
        (&["plot", "results", "--topologies", "loop", "--name", "../a"], &["without folders"]),
        (&["table", "results", "--y", "accuracy"], &["was not measured"]),
        (&["table", "results", "--last", "100"], &["--last 100", "6 recorded states"]),
        (&["table", "results", "--against", "x"], &["nothing was swept"]),
        (&["table", "empty"], &["not a results folder"]),
    ] {
        let output = lab.soon(arguments);
        common::assert_refused(&lab, &before, &output, words);
        assert!(!lab.path("results/plots").exists() && !lab.path("out").exists(), "{arguments:?}");
    }
    for arguments in [
        &["plot", "results", "--size", "8"][..],
        &["plot", "results", "--font-size", "100"],
        &["plot", "results", "--band", "wide"],
        &["plot", "results", "--log-x", "--linear-x"],
        &["plot", "results", "--title=a", "--no-title"],
        &["plot", "results", "--dpi", "1000000"],
        &["plot", "results", "--last", "0", "--against", "a"],
        &["plot"],
        &["table", "results", "--format", "word"],
    ] {
        let output = lab.soon(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(lab.listing(), before);
    }
    assert_eq!(common::Results::read(&lab.path("results")).csv, results_before);
}

#[test]
fn one_repetition_has_no_band_and_what_diverged_is_said() {
    let method =
        |name: &str, step: &str| format!("[[method]]\nname = \"{name}\"\nkind = \"smtpp\"\nstep = {step}\n");
    let run =
        "[problem]\nkind = \"quadratic\"\ndim = 3\n[run]\nagents = 4\niterations = 25\nrepetitions = 1\n";
    let topology = "[[topology]]\nname = \"loop\"\nkind = \"ring\"\n";
    let lab = lab(&[run, topology, &method("tame", "0.05"), &method("wild", "1e9")].concat());
    let printed = done(&lab, &["plot", "results", "--format", "csv,svg,pgf"]);
    assert!(printed.contains("One repetition, so there is no band."), "{printed}");
    assert!(printed.contains("wild: no repetition completed"), "{printed}");
    let drawn = points(&read(&lab, "results/plots/loop-gradient.csv"));
    assert!(drawn.iter().all(|point| point.3.is_none()));
    assert!(!read(&lab, "results/plots/loop-gradient.svg").contains("class=\"band\""));
    let table = done(&lab, &["table", "results"]);
    assert!(table.contains("nothing is tested") && table.contains('–'), "{table}");
    assert!(table.contains("wild on loop: 1 diverged"), "{table}");
}

#[test]
fn a_swept_setting_is_an_axis_and_two_are_a_map() {
    let text = changed(EXPERIMENT, "repetitions = 2", "repetitions = 3")
        + "\n[[method]]\nname = \"SGP\"\nkind = \"sgp\"\nstep = 0.1\n\n[sweep]\nmethod.SMTPP.momentum = [0.1, 0.5, 1.0]\n\
           method.SMTPP.step.size = [0.05, 0.1]\nproblem.partition = [\"even\", \"by-label\"]\n";
    let lab = lab(&text);
    let values = measured(&lab, "loop [problem.partition=even]", "loss");
    let end = |method: &str| &values[&(method.to_owned(), 25)];
    let topology =
        ["--topologies", "loop [problem.partition=even]", "--y", "loss", "--format", "csv,svg,pgf,pdf"];
    for name in ["method.momentum", "method.SMTPP.momentum", "method.smtpp.momentum"] {
        let against = ["plot", "results", "--against", name, "--out", "drawn", "--name", "line"];
        let printed = done(&lab, &[&against[..], &topology].concat());
        assert!(printed.contains("at the last recorded state"), "{printed}");
        assert!(printed.contains("level: SGP"), "{printed}");
        let drawn = points(&read(&lab, "drawn/line.csv"));
        assert_eq!(drawn.len(), 2 * 3 + 2, "a line for each step, and a level one");
        for (series, x, y, band) in drawn {
            let method = match &*series {
                "SGP" => "SGP".to_owned(),
                "SMTPP [step.size=0.05]" => format!("SMTPP [momentum={x:?}; step.size=0.05]"),
                "SMTPP [step.size=0.1]" => format!("SMTPP [momentum={x:?}; step.size=0.1]"),
                other => panic!("{other}"),
            };
            let all = end(&method);
            assert_eq!(y, mean(all));
            assert!(band.is_some_and(|(low, high)| all.contains(&low) && all.contains(&high)));
        }
    }
    let both =
        ["plot", "results", "--against", "method.momentum", "--against", "method.step.size", "--out", "map"];
    done(&lab, &[&both[..], &topology].concat());
    let name =
        fs::read_dir(lab.path("map")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let name = name.into_iter().find(|name| name.ends_with(".csv")).unwrap();
    let csv = read(&lab, &format!("map/{name}"));
    assert_eq!(csv.lines().count(), 1 + 6, "{csv}");
    for line in csv.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let all = end(&format!("SMTPP [momentum={}; step.size={}]", cells[0], cells[1]));
        assert_eq!(cells[2].parse::<f64>().unwrap(), mean(all));
    }
    let before = lab.listing();
    for (arguments, words) in [
        (
            &["--against", "problem.partition"][..],
            &["no numbers", "oneway table --against problem.partition"][..],
        ),
        (&["--against", "method.step"], &["unknown swept setting `method.step`", "method.momentum"]),
        (&["--against", "method.momentum", "--methods", "SGP"], &["none of what is chosen"]),
        (
            &["--against", "method.momentum", "--against", "method.SMTPP.momentum"],
            &["two different settings"],
        ),
        (&["--against", "a", "--against", "b", "--against", "c"], &["given 3 times"]),
    ] {
        let output = lab.oneway(&[&["plot", "results", "--out", "none"][..], arguments].concat());
        common::assert_refused(&lab, &before, &output, words);
    }
    let table = done(
        &lab,
        &["table", "results", "--against", "problem.partition", "--methods", "SGP", "--format", "csv"],
    );
    assert_eq!(table.lines().count(), 1 + 2, "{table}");
    let rows =
        ["table", "results", "--against", "method.momentum", "--topologies", "loop [problem.partition=even]"];
    let rows = done(&lab, &[&rows[..], &["--format", "markdown"]].concat());
    assert_eq!(rows.matches("**").count(), 2 * 2, "the best value of each row: {rows}");
    assert!(rows.contains("best of its row"), "{rows}");
}

#[test]
fn folders_are_told_apart_and_those_with_nothing_in_common_are_refused() {
    let lab = lab(&experiment());
    let other = changed(EXPERIMENT, "seed = 1", "seed = 2");
    assert!(lab.run(&other, &["--out", "other"]).status.success());
    let apart = changed(EXPERIMENT, "name = \"loop\"", "name = \"circle\"");
    assert!(lab.run(&apart, &["--out", "apart"]).status.success());
    let printed = done(&lab, &["plot", "results", "other", "--format", "csv"]);
    assert!(printed.starts_with("out/plots/loop-gradient.csv\n"), "{printed}");
    let drawn = points(&read(&lab, "out/plots/loop-gradient.csv"));
    let mut names: Vec<String> = drawn.into_iter().map(|(name, ..)| name).collect();
    names.dedup();
    assert_eq!(names, ["SMTPP (results)", "SMTPP (other)", "SGP"]);
    let before = lab.listing();
    let output = lab.oneway(&["plot", "results", "apart", "--out", "none"]);
    common::assert_refused(&lab, &before, &output, &["no topology in common", "apart has circle"]);
}

#[test]
fn tables_have_the_same_numbers_in_every_format() {
    let lab = lab(&experiment());
    let csv = done(&lab, &["table", "results", "--format", "csv"]);
    let mut cells = vec![];
    for line in csv.lines().skip(1) {
        let parts: Vec<&str> = line.split(',').collect();
        let all = &measured(&lab, parts[1], "grad_norm_sq")[&(parts[4].to_owned(), 25)];
        let number = |at: usize| parts[at].parse::<f64>().unwrap();
        assert_eq!(number(5), mean(all));
        assert!((number(6) / error(all) - 1.0).abs() < 1e-12);
        assert_eq!(parts[7], "5");
        cells.push((number(5), parts[8] == "1", parts[10] == "1"));
    }
    assert_eq!(cells.len(), 4);
    for pair in [[0, 2], [1, 3]].map(|rows| rows.map(|row| cells[row])) {
        let best = pair[0].0.min(pair[1].0);
        assert!(pair.iter().all(|cell| cell.1 == (cell.0 == best)), "{csv}");
    }
    let differ = cells.iter().filter(|cell| cell.2).count();
    let text = done(&lab, &["table", "results"]);
    let markdown = done(&lab, &["table", "results", "--format", "markdown"]);
    let latex = done(&lab, &["table", "results", "--format", "latex", "--out", "t.tex"]);
    assert_eq!(latex, "t.tex\n");
    let latex = read(&lab, "t.tex");
    let table = markdown.split_once("\n\n").unwrap().0;
    assert_eq!((table.matches("**").count(), table.matches("\\*").count()), (4, differ), "{markdown}");
    assert!(latex.contains("loop & all\\_to \\& 9\\% \\\\") && latex.contains("\\toprule"), "{latex}");
    assert_eq!((latex.matches("\\boldmath").count(), latex.matches("^{*}").count()), (2, differ), "{latex}");
    for said in ["Welch", "Holm", "5 %", "standard errors over 5 repetitions"] {
        assert!(text.contains(said) && markdown.contains(said), "{text}");
    }
    // the same digits everywhere
    let numbers = |text: &str| text.matches(" ± ").count();
    assert_eq!(numbers(table), 4);
    assert_eq!(latex.matches("\\pm").count(), 5, "four, and one in the caption");
}
