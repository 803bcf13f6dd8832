//! From a figure to SVG, and from SVG to PNG and PDF. Same figure, same bytes.

use anyhow::{Context, Result, anyhow, ensure};
use resvg::usvg::{Options, Tree};
use resvg::{tiny_skia, usvg};

use super::chart::Chart;
use super::palette::Color;
use super::{draw, font, pdf, physical};

/// More would be a mistake in the scale, and gigabytes of memory.
const MOST_PIXELS: u64 = 100_000_000;

/// Who chooses the colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Dark lines on white paper.
    Light,
    /// Light lines on dark paper.
    Dark,
    /// The page that the figure is in, by CSS custom properties; without them, as [`Theme::Light`].
    Css,
}

impl Theme {
    /// A colour as an attribute's value.
    pub(crate) fn paint(self, color: Color) -> String {
        match self {
            Theme::Light => color.light.to_owned(),
            Theme::Dark => color.dark.to_owned(),
            Theme::Css => format!("var(--{},{})", color.name, color.light),
        }
    }
}

/// A chart as SVG.
pub(crate) fn svg(chart: &Chart, theme: Theme) -> String {
    draw::chart(chart, theme)
}

/// An SVG in pixels, `scale` of them for each of its own.
pub(crate) fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    let tree = tree(svg)?;
    let size = tree.size().to_int_size().scale_by(scale).context("a figure must have a size")?;
    let count = u64::from(size.width()) * u64::from(size.height());
    ensure!(count <= MOST_PIXELS, "an image of {} × {} pixels is too large", size.width(), size.height());
    let mut pixels =
        tiny_skia::Pixmap::new(size.width(), size.height()).context("a figure must have a size")?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().context("cannot write the figure as PNG")
}

/// An SVG with a size on paper as a PNG of `dpi` pixels an inch, which the file says.
pub(crate) fn png_of_dpi(svg: &str, dpi: f64) -> Result<Vec<u8>> {
    let png = png(svg, (dpi / 96.0) as f32)?;
    physical::with_density(&png, dpi).context("cannot say the size of the figure in its PNG")
}

/// An SVG with its text as outlines.
pub(crate) fn outlines(svg: &str) -> Result<String> {
    let plain =
        tree(svg)?.to_string(&usvg::WriteOptions { preserve_text: false, ..usvg::WriteOptions::default() });
    // the size in cm that it had, in place of pixels
    let attribute = |text: &str, name: &str| {
        let from = text.find(&format!(" {name}=\""))? + name.len() + 3;
        Some((from, from + text.get(from..)?.find('"')?))
    };
    let mut out = plain;
    for name in ["width", "height"] {
        if let (Some((a, b)), Some((from, to))) = (attribute(svg, name), attribute(&out, name)) {
            out.replace_range(from..to, &svg[a..b]);
        }
    }
    let size = tree(svg)?.size();
    let view = format!("<svg viewBox=\"0 0 {} {}\" ", size.width(), size.height());
    Ok(if out.contains("viewBox") { out } else { out.replacen("<svg ", &view, 1) })
}

/// An SVG as a PDF of one page, fonts embedded.
pub(crate) fn pdf(svg: &str) -> Result<Vec<u8>> {
    // 72 units of an SVG are an inch in a PDF by default; CSS says 96.
    let page = svg2pdf::PageOptions { dpi: 96.0 };
    let pdf = svg2pdf::to_pdf(&tree(svg)?, svg2pdf::ConversionOptions::default(), page)
        .map_err(|error| anyhow!("cannot write the figure as PDF: {error}"))?;
    pdf::canonical(&pdf).context("cannot put the objects of the figure's PDF in order")
}

fn tree(svg: &str) -> Result<Tree> {
    let options = Options {
        font_family: "Inter".to_owned(),
        fontdb: font::DATABASE.clone(),
        // No picture, and so no file, is ever read.
        image_href_resolver: usvg::ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    };
    Tree::from_str(svg, &options).context("the figure is not SVG")
}
