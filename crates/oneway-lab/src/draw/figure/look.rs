//! How a figure is to look on paper: its size, its text, and where the names of lines stand.

use std::str::FromStr;

use clap::ValueEnum;

use super::layout::TEXT;

/// Size and text of a figure, and the place of its names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Look {
    pub(crate) size: Size,
    /// Size of the text, in points of 1/72 inch.
    pub(crate) text: f64,
    pub(crate) labels: Labels,
}

/// Where the names of lines stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Labels {
    /// At the ends of up to seven lines if there is room, else below the plot
    Auto,
    /// At the ends of the lines
    Direct,
    /// Below the plot
    Legend,
    /// Nowhere: the caption in the paper has to name the lines
    None,
}

/// Width and height in cm. Without a height, a figure is about two thirds as high as wide, and a legend
/// makes it higher.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: Option<f64>,
}

impl Look {
    /// Figures that are not asked to have another size: 18 cm wide, which is 680 pixels of the web.
    pub(crate) const SCREEN: Self =
        Self { size: Size { width: 18.0, height: None }, text: 10.5, labels: Labels::Auto };

    /// The length in cm of a unit of the drawing, in which text is [`TEXT`] high.
    pub(crate) fn unit(&self) -> f64 {
        self.text / 72.0 * 2.54 / TEXT
    }

    /// A length in cm, in units of the drawing.
    pub(crate) fn units(&self, cm: f64) -> f64 {
        cm / self.unit()
    }
}

/// The columns of journals and conferences, as their styles set them, and text that fits their captions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// A column of IEEE journals and conferences: 8.89 cm, text of 8 pt
    Ieee,
    /// Both columns: 18.19 cm, 8 pt
    IeeeWide,
    /// The text width of NeurIPS and ICLR: 13.97 cm, 9 pt
    Neurips,
    /// Half of that, for two figures side by side: 6.8 cm, 8 pt
    NeuripsHalf,
    /// A column of ICML: 8.25 cm, 8 pt
    Icml,
    /// Both columns: 17.15 cm, 8 pt
    IcmlWide,
    /// The text width of JMLR: 15.24 cm, 9 pt
    Jmlr,
    /// The text width of Springer's LNCS: 12.2 cm, 8 pt
    Lncs,
    /// A column of Elsevier's journals: 9 cm, 8 pt
    Elsevier,
    /// Half of a slide of 16:9: 16 × 9 cm, 12 pt
    Slide,
}

impl Preset {
    /// Its size, and that of its text in points.
    pub(crate) fn size(self) -> (Size, f64) {
        let (width, height, text) = match self {
            Preset::Ieee => (8.89, None, 8.0),
            Preset::IeeeWide => (18.19, Some(7.0), 8.0),
            Preset::Neurips => (13.97, Some(7.0), 9.0),
            Preset::NeuripsHalf => (6.8, None, 8.0),
            Preset::Icml => (8.25, None, 8.0),
            Preset::IcmlWide => (17.15, Some(7.0), 8.0),
            Preset::Jmlr => (15.24, Some(8.0), 9.0),
            Preset::Lncs => (12.2, Some(7.0), 8.0),
            Preset::Elsevier => (9.0, None, 8.0),
            Preset::Slide => (16.0, Some(9.0), 12.0),
        };
        (Size { width, height }, text)
    }
}

impl FromStr for Size {
    type Err = String;

    /// `8.5x6cm`, `3.5x2.5in`, `85x60mm`, or a width alone: `8.5cm`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is no size: write 8.5x6cm (width by height) or 8.5cm, also in mm or in");
        let plain = text.trim().to_lowercase();
        let (numbers, cm) = [("cm", 1.0), ("mm", 0.1), ("in", 2.54)]
            .into_iter()
            .find_map(|(unit, cm)| Some((plain.strip_suffix(unit)?.trim(), cm)))
            .ok_or_else(wrong)?;
        let length = |number: &str| -> Result<f64, String> {
            let cm = cm * number.trim().parse::<f64>().map_err(|_| wrong())?;
            match (2.0..=100.0).contains(&cm) {
                true => Ok(cm),
                false => Err(format!("{text:?}: a figure is from 2 to 100 cm wide and high")),
            }
        };
        match numbers.split_once(['x', '×']) {
            Some((width, height)) => Ok(Self { width: length(width)?, height: Some(length(height)?) }),
            None => Ok(Self { width: length(numbers)?, height: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_three_units() {
        let size = |text: &str| text.parse::<Size>().map(|size| (size.width, size.height));
        assert_eq!(size("8.5x6cm"), Ok((8.5, Some(6.0))));
        assert_eq!(size(" 85 x 60 mm"), Ok((8.5, Some(6.0))));
        assert_eq!(size("8.5cm"), Ok((8.5, None)));
        assert_eq!(size("3.5x2in"), Ok((3.5 * 2.54, Some(5.08))));
        for wrong in
            ["", "8.5", "8.5x6", "cm", "axbcm", "8x6x4cm", "nan cm", "infcm", "1x6cm", "8x600cm", "-8cm"]
        {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_unit_is_a_pixel_where_nothing_else_is_asked_for() {
        assert!((Look::SCREEN.units(18.0) - 680.3).abs() < 0.1);
        let look = Look { text: 8.0, ..Look::SCREEN };
        assert!((look.units(look.text / 72.0 * 2.54) - TEXT).abs() < 1e-12, "text of 8 pt is TEXT high");
    }
}
