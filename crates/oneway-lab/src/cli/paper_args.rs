//! What the user typed after `plot` and `table`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::values::output;
use crate::draw::figure::axis::Scale;
use crate::draw::figure::band::Band;
use crate::draw::figure::colours::Colours;
use crate::draw::figure::export::{Fonts, Format};
use crate::draw::figure::look::{Labels, Preset, Size};
use crate::draw::figure::quantity::Against;
use crate::draw::paper::written::TableFormat;

/// The quantities, for the help of `--y`.
const QUANTITIES: &str = "loss F(x̄), gap F(x̄) − F*, gradient ‖∇F(x̄)‖², agents-gradient (1/n) Σ ‖∇F(x_i)‖², \
distance ‖x̄ − x*‖², consensus (1/n) Σ ‖x_i − x̄‖², accuracy of tests, tracking, momentum and conservation errors; or the name of a column \
of curves.csv";

#[derive(Debug, clap::Args)]
pub(crate) struct PlotArgs {
    /// Results folders; with several, topologies that all of them have are drawn, and a method that is in
    /// several is named with its folder
    #[arg(required = true, value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// Quantities to draw, one figure each:
    #[arg(long, value_name = "QUANTITY", value_delimiter = ',', default_value = "gradient", help = format!("Quantities to draw, one figure each: {QUANTITIES}"))]
    pub(crate) y: Vec<String>,
    /// The x axis: iterations, bytes sent over all links, virtual time (where there is a clock), or seconds
    /// spent in rounds
    #[arg(long, value_enum, default_value_t = XArg::Iteration, conflicts_with = "against")]
    pub(crate) x: XArg,
    /// Draw final values against a setting that was swept, such as method.SMTPP.momentum; given twice, a map
    /// of two settings
    #[arg(long, value_name = "SETTING")]
    pub(crate) against: Vec<String>,
    /// With --against: draw the mean of the last N recorded states of each run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), requires = "against")]
    pub(crate) last: u32,
    /// The band around a line; the caption says what it shows
    #[arg(long, value_enum, default_value_t = Band::Minmax)]
    pub(crate) band: Band,
    /// Width and height, as in 8.5x6cm, or a width alone [default: 18cm, or the width of the preset]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Size>,
    /// Width and text for a journal or conference
    #[arg(long, value_enum)]
    pub(crate) preset: Option<Preset>,
    /// Size of the text in points [default: that of the preset; 8 with --size, else 10.5]
    #[arg(long, value_name = "PT", value_parser = points)]
    pub(crate) font_size: Option<f64>,
    /// Draw a title: the usual one, or your own with --title=TEXT [default: the usual one; none with --size
    /// or --preset, because papers have captions]
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) title: Option<String>,
    /// Draw no title
    #[arg(long, conflicts_with = "title")]
    pub(crate) no_title: bool,
    /// Label of the x axis in place of the usual one; write an index after an underscore: c_π
    #[arg(long, value_name = "TEXT")]
    pub(crate) x_label: Option<String>,
    /// Label of the y axis in place of the usual one
    #[arg(long, value_name = "TEXT")]
    pub(crate) y_label: Option<String>,
    /// Colours and dashes
    #[arg(long, value_enum, default_value_t = Colours::Oneway)]
    pub(crate) palette: Colours,
    /// Where to write the names of lines
    #[arg(long, value_enum, default_value_t = Labels::Auto)]
    pub(crate) labels: Labels,
    /// A logarithmic x axis [default: where it helps]
    #[arg(long, conflicts_with = "linear_x")]
    pub(crate) log_x: bool,
    /// A linear x axis
    #[arg(long)]
    pub(crate) linear_x: bool,
    /// A logarithmic y axis [default: for errors]
    #[arg(long, conflicts_with = "linear_y")]
    pub(crate) log_y: bool,
    /// A linear y axis
    #[arg(long)]
    pub(crate) linear_y: bool,
    /// Draw only from this x on
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) from: Option<f64>,
    /// Draw only up to this x
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) to: Option<f64>,
    /// Files to write
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Format::Svg, Format::Png, Format::Pdf])]
    pub(crate) format: Vec<Format>,
    /// How to write text in SVG files
    #[arg(long, value_enum, default_value_t = Fonts::Embedded)]
    pub(crate) fonts: Fonts,
    /// Pixels per inch in PNG files
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(20..=2400))]
    pub(crate) dpi: u32,
    /// Folder for the files [default: plots/ in the results folder; with several, out/plots]
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
    /// Name of the files without their ending, if there is only one figure [default: topology and quantity]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChoiceArgs {
    /// Methods to show, in this order, by their names in the experiment [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Topologies to show, by their names in the experiment [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) topologies: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// The results folder
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// Quantities to show, one table each:
    #[arg(long, value_name = "QUANTITY", value_delimiter = ',', default_value = "gradient", help = format!("Quantities to show, one table each: {QUANTITIES}"))]
    pub(crate) y: Vec<String>,
    /// A setting that was swept, such as method.SMTPP.momentum: its values are the columns, in a table for
    /// each topology [default: topologies are the columns]
    #[arg(long, value_name = "SETTING")]
    pub(crate) against: Option<String>,
    /// Show the mean of the last N recorded states of each run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) last: u32,
    /// Format of the table
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    /// File to write the table to [default: standard output]
    #[arg(long, value_name = "FILE", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
}

/// What quantities are drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum XArg {
    Iteration,
    Bytes,
    Time,
    Seconds,
}

impl From<XArg> for Against {
    fn from(x: XArg) -> Self {
        match x {
            XArg::Iteration => Against::Iterations,
            XArg::Bytes => Against::BytesSent,
            XArg::Time => Against::Time,
            XArg::Seconds => Against::Seconds,
        }
    }
}

/// The scale that flags ask for.
pub(crate) fn scale(log: bool, linear: bool) -> Option<Scale> {
    match (log, linear) {
        (true, _) => Some(Scale::Log),
        (_, true) => Some(Scale::Linear),
        _ => None,
    }
}

/// A size of text.
fn points(text: &str) -> Result<f64, String> {
    let size =
        text.trim_end_matches("pt").trim().parse::<f64>().ok().filter(|size| (4.0..=40.0).contains(size));
    size.ok_or_else(|| "give points from 4 to 40".to_owned())
}
