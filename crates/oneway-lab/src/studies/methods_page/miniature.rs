//! A method's behaviour as a small picture: two lines over a scale of powers of ten.

use super::behaviour::{Behaviour, Curve, ROUNDS};
use crate::draw::figure::chart;
use crate::draw::figure::palette::{Color, INK, MUTED, PULL, PUSH};
use crate::draw::figure::pen::Pen;
use crate::draw::figure::render::Theme;
use crate::draw::figure::svg::{Svg, path};

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 128.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 24.0;
const SIZE: f64 = 11.0;
/// Powers of ten at the top, between, and at the bottom.
const DECADES: [i32; 4] = [2, -6, -14, -22];

/// Draws it.
pub(super) fn svg(name: &str, behaviour: &Behaviour) -> String {
    let (top, bottom) = (f64::from(DECADES[0]), f64::from(DECADES[3]));
    let x = |k: u64| LEFT + (WIDTH - LEFT - RIGHT) * k as f64 / ROUNDS as f64;
    let y = |power: f64| {
        let share = (top - power.clamp(bottom, top)) / (top - bottom);
        TOP + (HEIGHT - TOP - BOTTOM) * share
    };
    let mut pen = Pen { svg: Svg::default(), theme: Theme::Light };
    pen.root("miniature", &chart::id(&format!("{name} {behaviour:?}")), WIDTH, HEIGHT);
    pen.svg.element("title").text(&format!("‖∇F(x̄)‖² of {name} over {ROUNDS} rounds"));
    pen.paper(WIDTH, HEIGHT);
    for power in DECADES {
        let at = y(f64::from(power));
        line(&mut pen, &[(LEFT, at), (WIDTH - RIGHT, at)], MUTED, 0.5);
        pen.text((LEFT - 6.0, at + 0.36 * SIZE), "end", MUTED, SIZE, &format!("1e{power}"));
    }
    for k in [0, ROUNDS / 2, ROUNDS] {
        let anchor = if k == ROUNDS { "end" } else { "middle" };
        pen.text((x(k), HEIGHT - 8.0), anchor, MUTED, SIZE, &k.to_string());
    }
    let points = |curve: &Curve| {
        let shown = curve.iter().map(|&(k, gradient)| (x(k), y(gradient.max(1e-300).log10())));
        shown.collect::<Vec<_>>()
    };
    line(&mut pen, &points(&behaviour.sampled), PUSH, 1.4);
    line(&mut pen, &points(&behaviour.exact), PULL, 1.8);
    if behaviour.exact.is_empty() {
        pen.text((0.5 * WIDTH, 0.5 * HEIGHT), "middle", INK, SIZE, "no step that was tried converges");
    }
    pen.svg.finish()
}

fn line(pen: &mut Pen, points: &[(f64, f64)], color: Color, width: f64) {
    let paint = pen.theme.paint(color);
    let line = pen.svg.element("path").set("d", path(points)).set("fill", "none");
    line.set("stroke", paint).set("stroke-width", width).set("stroke-linejoin", "round").empty();
}
