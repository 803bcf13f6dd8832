//! The map as a picture, claims by readings, and the paper's two figures under the reading that suits it best.

use super::rules::Graph;
use super::verdicts::Verdict;
use super::{Map, Summary};
use crate::draw::figure::from_curves;
use crate::draw::figure::gallery::{Art, Picture};
use crate::draw::figure::matrix::{self, Matrix};
use crate::draw::figure::quantity::{Against, Quantity};
use crate::draw::figure::render::Theme;

/// The matrix, and F and ‖∇F‖² on both graphs under the best reading and under the paper's words.
pub(crate) fn pictures(map: &Map, summary: &Summary) -> Vec<Picture> {
    let mut pictures = vec![whole(map)];
    for (name, reading) in [("best", &summary.best), ("words", &summary.words)] {
        let curves = map.curves(reading.reading);
        for graph in Graph::BOTH {
            for quantity in [Quantity::Loss, Quantity::Gradient] {
                let mut chart = from_curves::chart(&curves, graph.name(), quantity, Against::Iterations);
                chart.title = format!("{} ({})", chart.title, reading.named);
                pictures.push(Picture {
                    file: format!("{name}-{}-{}", graph.name(), quantity.key()),
                    topology: graph.name().to_owned(),
                    caption: format!("{}, under: {}", quantity.title(), reading.named),
                    art: Art::Chart(chart),
                });
            }
        }
    }
    pictures
}

/// Claims by readings: those in which most holds on the left, claims that hold most often on top.
fn whole(map: &Map) -> Picture {
    let views = map.views.len() as f64;
    let held = |reading: usize| (0..map.views.len()).map(|view| map.held(reading, view)).sum::<usize>();
    let mut readings: Vec<usize> = (0..map.len()).collect();
    readings.sort_by_key(|&reading| (std::cmp::Reverse(held(reading)), reading));
    let shares = |claim: usize, reading: usize| {
        let count = |wanted| {
            map.verdicts[reading].iter().filter(|claims| claims[claim] == wanted).count() as f64 / views
        };
        [count(Verdict::Holds), count(Verdict::Fails)]
    };
    let mut rows: Vec<(String, Vec<[f64; 2]>)> = map
        .question
        .rules
        .claims
        .iter()
        .enumerate()
        .map(|(at, claim)| {
            (claim.words.clone(), readings.iter().map(|&reading| shares(at, reading)).collect())
        })
        .collect();
    let total = |row: &[[f64; 2]]| row.iter().map(|[held, _]| held).sum::<f64>();
    rows.sort_by(|a, b| total(&b.1).total_cmp(&total(&a.1)));
    let matrix = Matrix {
        title: format!("Where each claim holds: {} readings, {} views of each", map.len(), map.views.len()),
        x_label: "a column a reading, most true on the left; blue from below: the share of views in which it holds, orange from above: in which it fails"
            .to_owned(),
        rows,
    };
    let drawn = |theme| matrix::svg(&matrix, theme);
    Picture {
        file: "map".to_owned(),
        topology: "map".to_owned(),
        caption: matrix.title.clone(),
        art: Art::Drawing { light: drawn(Theme::Light), css: drawn(Theme::Css) },
    }
}
