//! Formulas in plain text, set: `c_x1η²E_v` with its indices below the line.

use maud::{Markup, html};

use crate::draw::maths::{self, Part};

/// A text with the [indices](maths::parts) of its symbols as subscripts.
pub(super) fn set(text: &str) -> Markup {
    html! {
        @for part in maths::parts(text) {
            @match part { Part::Plain(plain) => (plain), Part::Index(index) => sub { (index) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_go_below_the_line() {
        for (text, html) in [
            ("c_x1η²E_v", "c<sub>x1</sub>η²E<sub>v</sub>"),
            ("‖V‖_F² ≤ 2E_v", "‖V‖<sub>F</sub>² ≤ 2E<sub>v</sub>"),
            ("(C_m3n²‖π_C‖²η²/λ)‖m̄_{k−1}‖²", "(C<sub>m3</sub>n²‖π<sub>C</sub>‖²η²/λ)‖m̄<sub>k−1</sub>‖²"),
            ("12C_tr L²", "12C<sub>tr</sub> L²"),
            ("η·c_π·h", "η·c<sub>π</sub>·h"),
        ] {
            assert_eq!(set(text).into_string(), html);
        }
    }

    #[test]
    fn names_are_left_alone_and_text_is_escaped() {
        for text in ["record_every", "grad_norm_sq", "a_b_c", "_x", "x_", "E_{v", "30_000", ""] {
            assert_eq!(set(text).into_string(), text);
        }
        assert_eq!(set("E_v < <b>").into_string(), "E<sub>v</sub> &lt; &lt;b&gt;");
        assert_eq!(set("x_{<b>}").into_string(), "x<sub>&lt;b&gt;</sub>");
    }
}
