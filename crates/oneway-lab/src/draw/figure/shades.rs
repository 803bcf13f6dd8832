//! Shades of the hues of methods, for settings that take several values: on white from pale to dark, on black
//! from deep to pale, in even steps of OKLCH's lightness, so that the order of the values is the order of the
//! shades.

use super::palette::{Color, color};

/// The number of shades that can be told apart.
pub(super) const COUNT: usize = 6;

/// For each hue, in the order of [`super::palette`].
pub(super) const SHADES: [[Color; COUNT]; 7] = [
    [
        color("series-blue-shade-1", "#3f9add", "#1289c8"),
        color("series-blue-shade-2", "#2384c5", "#459ed8"),
        color("series-blue-shade-3", "#016eab", "#68b4e8"),
        color("series-blue-shade-4", "#01588b", "#88c9f8"),
        color("series-blue-shade-5", "#01446d", "#b2defe"),
        color("series-blue-shade-6", "#01314f", "#e0f1fe"),
    ],
    [
        color("series-vermilion-shade-1", "#e97025", "#c86001"),
        color("series-vermilion-shade-2", "#cc5a02", "#dc7834"),
        color("series-vermilion-shade-3", "#ab4a00", "#ed9259"),
        color("series-vermilion-shade-4", "#8a3b02", "#fdac7b"),
        color("series-vermilion-shade-5", "#6b2c01", "#ffcbae"),
        color("series-vermilion-shade-6", "#4d1d00", "#ffeade"),
    ],
    [
        color("series-green-shade-1", "#1ba77b", "#099770"),
        color("series-green-shade-2", "#079069", "#24ae84"),
        color("series-green-shade-3", "#037857", "#57c29b"),
        color("series-green-shade-4", "#016246", "#7cd6b3"),
        color("series-green-shade-5", "#044c36", "#9feacb"),
        color("series-green-shade-6", "#023726", "#c1ffe4"),
    ],
    [
        color("series-pink-shade-1", "#d871ac", "#b56394"),
        color("series-pink-shade-2", "#be5a95", "#c77ba7"),
        color("series-pink-shade-3", "#a4427d", "#d993bb"),
        color("series-pink-shade-4", "#8b2b67", "#ebaccf"),
        color("series-pink-shade-5", "#730f51", "#fcc5e3"),
        color("series-pink-shade-6", "#55013b", "#ffe7f3"),
    ],
    [
        color("series-violet-shade-1", "#a37cfe", "#9858fb"),
        color("series-violet-shade-2", "#9252ff", "#a879ff"),
        color("series-violet-shade-3", "#7c35e5", "#b898fe"),
        color("series-violet-shade-4", "#680bca", "#cab5fe"),
        color("series-violet-shade-5", "#50029f", "#dcd0ff"),
        color("series-violet-shade-6", "#390075", "#f0ebfe"),
    ],
    [
        color("series-brown-shade-1", "#bf8841", "#9d7a31"),
        color("series-brown-shade-2", "#a77228", "#b09052"),
        color("series-brown-shade-3", "#905c06", "#c4a770"),
        color("series-brown-shade-4", "#754a00", "#d7bd8d"),
        color("series-brown-shade-5", "#5b3801", "#ebd5ab"),
        color("series-brown-shade-6", "#412701", "#ffeccb"),
    ],
    [
        color("series-crimson-shade-1", "#e96986", "#e8385a"),
        color("series-crimson-shade-2", "#ce516f", "#f85c72"),
        color("series-crimson-shade-3", "#b43959", "#ff838e"),
        color("series-crimson-shade-4", "#991d44", "#ffa8ad"),
        color("series-crimson-shade-5", "#7c0231", "#fec9cb"),
        color("series-crimson-shade-6", "#5a0021", "#fee9e9"),
    ],
];
