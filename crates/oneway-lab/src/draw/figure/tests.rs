//! Figures from end to end: any numbers, well-formed files, same bytes.

use resvg::usvg;

use super::axis::{Axis, Scale};
use super::chart::{Chart, Series};
use super::data::chart_data;
use super::layout::{LINE, Layout};
use super::network::{self, Network};
use super::palette::Palette;
use super::render::{Theme, pdf, png, svg};
use super::{places, svg::Svg};
use oneway::graph::families;
use oneway::graph::topology::{Subgraph, Topology, Weights};

fn chart(scale: Scale, lines: &[(&str, &[f64])]) -> Chart {
    let palette = Palette::new(lines.iter().map(|(name, _)| *name));
    let series = lines.iter().map(|&(name, y)| Series {
        name: name.to_owned(),
        style: palette.style(name),
        x: (0..y.len()).map(|i| 10.0 * i as f64).collect(),
        y: y.to_vec(),
        low: y.iter().map(|y| 0.9 * y).collect(),
        high: y.iter().map(|y| 1.1 * y).collect(),
    });
    Chart {
        title: "Loss <on> \"ring\" & more".to_owned(),
        x: Axis { label: "iteration".to_owned(), scale: Scale::Linear, limit: None },
        y: Axis { label: "‖∇F(x\u{304})‖²".to_owned(), scale, limit: None },
        series: series.collect(),
        markers: vec![(10.0, "η/10".to_owned()), (f64::NAN, "nowhere".to_owned())],
        notes: vec!["A note.".to_owned()],
    }
}

fn parse(svg: &str) -> usvg::Tree {
    usvg::Tree::from_str(svg, &usvg::Options::default()).unwrap_or_else(|error| panic!("{error}\n{svg}"))
}

#[test]
fn no_numbers_break_a_chart() {
    let lines: [&[f64]; 12] = [
        &[],
        &[1.0],
        &[0.0, 0.0, 0.0],
        &[-1.0, -2.0],
        &[f64::NAN; 3],
        &[f64::INFINITY, 1.0, f64::NEG_INFINITY],
        &[1.0, f64::NAN, 2.0, f64::NAN],
        &[1e308, -1e308],
        &[5e-324, 1e-320],
        &[1e-300, 1e300],
        &[7.0, 7.0],
        &[1e16, 1e16 + 2.0],
    ];
    for scale in [Scale::Linear, Scale::Log] {
        for x_scale in [Scale::Linear, Scale::Log] {
            for limit in [None, Some(1.5), Some(f64::NAN), Some(-1.0)] {
                for a in lines {
                    let mut chart = chart(scale, &[("SMTPP", a), ("STPP", &[1.0, 0.5, 0.2])]);
                    chart.x.scale = x_scale;
                    chart.y.limit = limit;
                    for theme in [Theme::Light, Theme::Dark] {
                        let svg = svg(&chart, theme);
                        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                        parse(&svg);
                    }
                    assert!(chart_data(&chart).to_string().len() > 100);
                }
            }
        }
    }
    parse(&svg(&chart(Scale::Log, &[]), Theme::Light));
}

#[test]
fn lists_of_unequal_lengths_are_cut() {
    let mut chart = chart(Scale::Linear, &[("SMTPP", &[1.0, 2.0, 3.0])]);
    chart.series[0].x.pop();
    chart.series[0].high.clear();
    parse(&svg(&chart, Theme::Light));
    assert_eq!(chart_data(&chart)["series"][0]["y"], serde_json::json!([1, 2]));
    assert_eq!(chart_data(&chart)["series"][0]["high"], serde_json::json!([]));
}

#[test]
fn names_at_line_ends_do_not_overlap_and_many_go_below() {
    let lines: Vec<(String, [f64; 2])> = (0..12).map(|i| (format!("method {i}"), [1.0, 0.5])).collect();
    for count in 1..=12 {
        let lines: Vec<(&str, &[f64])> = lines[..count].iter().map(|(name, y)| (&**name, &y[..])).collect();
        let layout = Layout::new(&chart(Scale::Linear, &lines));
        assert_eq!(layout.labels.len(), count);
        let direct = layout.labels.iter().all(|label| label.from.is_some());
        assert_eq!(direct, count <= 7);
        for (i, a) in layout.labels.iter().enumerate() {
            assert!(a.x < layout.width && a.y > 0.0 && a.y + 0.4 * LINE < layout.height, "{a:?}");
            for b in &layout.labels[..i] {
                assert!((a.y - b.y).abs() >= LINE - 1e-9 || (a.x - b.x).abs() > 50.0, "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn a_page_finds_its_way_in_the_svg() {
    let chart = chart(Scale::Log, &[("SMTPP (trees)", &[1.0, 0.1]), ("a\"b<c", &[1.0, 0.2])]);
    let (svg, data) = (svg(&chart, Theme::Css), chart_data(&chart));
    let id = data["id"].as_str().unwrap();
    assert!(svg.starts_with(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" data-figure=\"{id}\" viewBox="
    )));
    assert!(svg.contains("<g class=\"series\" data-series=\"SMTPP (trees)\">"));
    assert!(svg.contains("data-series=\"a&quot;b&lt;c\""));
    assert!(svg.contains("var(--ink,") && svg.contains("var(--series-blue-2,"));
    // The ends of the axes are where the plot is: y upwards.
    assert!(data["y"]["px0"].as_f64() > data["y"]["px1"].as_f64());
    assert!(data["x"]["px0"].as_f64() < data["x"]["px1"].as_f64());
    assert_eq!((data["y"]["scale"].as_str(), data["x"]["min"].as_f64()), (Some("log"), Some(0.0)));
}

#[test]
fn a_long_curve_makes_a_small_file() {
    let y: Vec<f64> = (0..200_000).map(|i| (f64::from(i) * 0.01).sin() + 2.0).collect();
    let chart = chart(Scale::Linear, &[("SMTPP", &y)]);
    assert!(svg(&chart, Theme::Light).len() < 300_000);
    let data = chart_data(&chart);
    assert!(data.to_string().len() < 40_000);
    assert_eq!(data["series"][0]["x"].as_array().unwrap().last().unwrap(), 2_000_000);
}

#[test]
fn files_have_the_right_size_and_the_same_bytes_again() {
    let chart = chart(Scale::Log, &[("SMTPP", &[1.0, 0.1, 0.02]), ("CSGDM", &[1.0, 0.1, 0.02])]);
    let light = svg(&chart, Theme::Light);
    assert_eq!(light, svg(&chart.clone(), Theme::Light));
    let layout = Layout::new(&chart);
    let image = png(&light, 2.0).unwrap();
    assert_eq!(image, png(&light, 2.0).unwrap());
    let side = |at: usize| u32::from_be_bytes(image[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (2 * layout.width as u32, 2 * layout.height as u32));
    assert!(image.starts_with(b"\x89PNG") && image.len() > 10_000);
    let document = pdf(&light).unwrap();
    assert_eq!(document, pdf(&light).unwrap());
    assert!(document.starts_with(b"%PDF-") && document.len() > 5_000);
    assert!(png("no svg", 1.0).is_err());
    assert!(pdf("no svg").is_err());
    assert!(png(&light, 0.0).is_err());
    assert!(png(&light, 1e4).is_err());
}

#[test]
fn every_family_can_be_drawn() {
    for family in families::FAMILIES {
        for (agents, subgraph) in
            [(1, Subgraph::Full), (2, Subgraph::Full), (20, Subgraph::Full), (20, Subgraph::Trees)]
        {
            let Ok(graphs) = family.digraphs(agents, [], 1) else { continue };
            let Ok(topology) = Topology::from_digraphs(&graphs, subgraph, Weights::Uniform, 0) else {
                continue;
            };
            let Ok(stationary) = topology.stationary(0) else { continue };
            let network = Network {
                title: format!("{} of {agents}", family.name),
                full: &graphs[0],
                pair: topology.at(0),
                stationary,
                root: Some(0),
                places: places::tidy(&graphs[0]),
            };
            let drawn = network::svg(&network, Theme::Light);
            parse(&drawn);
            assert_eq!(drawn.matches("class=\"agent\"").count(), 2 * agents, "{}", family.name);
            assert_eq!(drawn, network::svg(&network, Theme::Light));
        }
    }
}

/// The numbers of an attribute of all circles that are badges.
fn badges(svg: &str, attribute: &str) -> Vec<f64> {
    let number = |circle: &str| {
        circle.split(&format!(" {attribute}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    svg.split("class=\"agent\"").skip(1).map(|agent| number(agent.split("<circle").nth(1).unwrap())).collect()
}

#[test]
fn no_agent_covers_another_however_many_there_are() {
    for family in families::FAMILIES {
        for agents in [20, 60, 100] {
            let Ok(graphs) = family.digraphs(agents, [], 1) else { continue };
            let Ok(topology) = Topology::from_digraphs(&graphs, Subgraph::Full, Weights::Uniform, 0) else {
                continue;
            };
            let Ok(stationary) = topology.stationary(0) else { continue };
            let places = places::tidy(&graphs[0]);
            let (full, pair) = (&graphs[0], topology.at(0));
            let network = Network { title: String::new(), full, pair, stationary, root: None, places };
            let drawn = network::svg(&network, Theme::Light);
            let [x, y, r] = ["cx", "cy", "r"].map(|attribute| badges(&drawn, attribute));
            assert_eq!(x.len(), 2 * agents);
            for i in 0..agents {
                for j in 0..i {
                    let apart = (x[i] - x[j]).hypot(y[i] - y[j]);
                    assert!(apart > r[i] + r[j], "{} of {agents}: {i} and {j}", family.name);
                }
            }
        }
    }
}

#[test]
fn an_unfinished_drawing_is_closed() {
    let mut svg = Svg::default();
    svg.element("svg").set("xmlns", "http://www.w3.org/2000/svg").open();
    svg.element("g").open();
    parse(&svg.finish());
}
