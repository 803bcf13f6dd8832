//! Text for LaTeX: what has a meaning there is escaped, signs are set as maths, known formulas as such.

use super::figure::quantity::Quantity;
use super::maths::{self, Part};

/// What stands for a character that LaTeX has no letter for without further packages.
pub(crate) const REPLACEMENT: char = '?';

/// A name, as it is: `my_method & 10%` has no formulas in it.
pub(crate) fn name(text: &str) -> String {
    let mut set = Setter::default();
    text.chars().for_each(|c| set.character(c));
    set.finish()
}

/// A sentence or a label: formulas of quantities are set as such, and indices go below the line.
pub(crate) fn text(text: &str) -> String {
    let plain = &*text.replace('\u{200a}', ""); // a hair of space is for drawings
    let mut formulas: Vec<(String, &str)> =
        Quantity::ALL.map(|q| (q.label().replace('\u{200a}', ""), q.latex())).to_vec();
    formulas.retain(|(label, latex)| label != latex);
    formulas.push(("F*".to_owned(), "$F^*$"));
    formulas.push(("x\u{304}".to_owned(), r"$\bar x$"));
    let text = plain;
    formulas.sort_by_key(|(label, _)| std::cmp::Reverse(label.len()));
    let (mut out, mut plain, mut at) = (String::new(), 0, 0);
    while at < text.len() {
        match formulas.iter().find(|(label, _)| text[at..].starts_with(&**label)) {
            Some((label, latex)) => {
                out += &with_indices(&text[plain..at]);
                out += latex;
                at += label.len();
                plain = at;
            }
            None => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    out + &with_indices(&text[plain..])
}

fn with_indices(text: &str) -> String {
    let mut set = Setter::default();
    for part in maths::parts(text) {
        match part {
            Part::Plain(plain) => plain.chars().for_each(|c| set.character(c)),
            Part::Index(index) => {
                let mut inner = Setter::default();
                index.chars().for_each(|c| inner.character(c));
                let is_word = index.len() > 1 && index.chars().all(|c| c.is_ascii_alphanumeric());
                let index = if is_word { format!(r"\mathrm{{{index}}}") } else { inner.inside() };
                set.base_as_maths();
                set.maths(&format!("_{{{index}}}"));
            }
        }
    }
    set.finish()
}

/// A number, or a mean and its error, as [`crate::number`] writes them, as maths: `$0.34 \pm 0.01$`. Without
/// the dollars, for use inside maths.
pub(crate) fn number(text: &str) -> String {
    let mut set = Setter::default();
    for c in text.chars() {
        match c {
            '0'..='9' | '.' | '(' | ')' | ' ' => set.maths(&c.to_string()),
            '-' => set.maths("-"),
            'e' => set.maths(r"\mathrm{e}"),
            other => set.character(other),
        }
    }
    set.inside().replace(r"\mathrm{e}-", r"\mathrm{e}{-}") // no space about the sign
}

/// The characters that LaTeX cannot set without further packages.
pub(crate) fn unknown(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|&c| matches!(letter(c), Letter::Unknown))
}

/// How a character is set.
enum Letter {
    /// As it is.
    Plain,
    Text(&'static str),
    Maths(&'static str),
    /// In maths, above the line.
    Superior(&'static str),
    Inferior(&'static str),
    /// Put over the letter before it.
    Bar,
    /// Nothing: what only moves letters apart.
    Nothing,
    Unknown,
}

/// Text under construction: signs that follow each other share their dollars.
#[derive(Default)]
struct Setter {
    /// Finished text and maths; maths stand in dollars.
    out: String,
    /// Maths that are not finished.
    open: String,
}

impl Setter {
    fn character(&mut self, c: char) {
        match letter(c) {
            Letter::Plain => self.text(c.encode_utf8(&mut [0; 4])),
            Letter::Text(text) => self.text(text),
            Letter::Maths(sign) => self.maths(sign),
            Letter::Superior(sign) => self.attached('^', sign),
            Letter::Inferior(sign) => self.attached('_', sign),
            Letter::Bar => self.bar(),
            Letter::Nothing => {}
            Letter::Unknown => self.text(REPLACEMENT.encode_utf8(&mut [0; 4])),
        }
    }

    fn text(&mut self, text: &str) {
        self.close();
        self.out += text;
    }

    fn maths(&mut self, sign: &str) {
        // a command must not run into a letter
        let runs_on = self.open.ends_with(|c: char| c.is_ascii_alphabetic())
            && self.open.contains('\\')
            && sign.starts_with(|c: char| c.is_ascii_alphabetic());
        if runs_on {
            self.open.push(' ');
        }
        self.open += sign;
    }

    /// Above or below the line: those that follow each other share it.
    fn attached(&mut self, where_to: char, sign: &str) {
        let begun = self.open.ends_with('}')
            && self.open.rfind('{').is_some_and(|at| self.open[..at].ends_with(where_to));
        if begun {
            self.open.pop();
            self.open += sign;
            self.open.push('}');
        } else {
            self.open += &format!("{where_to}{{{sign}}}");
        }
    }

    fn bar(&mut self) {
        if let Some(letter) = self.last_letter() {
            self.maths(&format!(r"\bar {letter}"));
        }
    }

    /// The letter before an index becomes a symbol.
    fn base_as_maths(&mut self) {
        if let Some(letter) = self.last_letter() {
            self.maths(&letter.to_string());
        }
    }

    /// Takes back the last letter of the text, and goes on with the maths before it, if there are any.
    fn last_letter(&mut self) -> Option<char> {
        let last =
            self.out.chars().next_back().filter(|c| c.is_ascii_alphabetic() && self.open.is_empty())?;
        self.out.pop();
        if self.out.ends_with('$') && !self.out.ends_with(r"\$") {
            self.out.pop();
            let from = self.out.rfind('$').unwrap_or(0);
            self.open = self.out.split_off(from).trim_start_matches('$').to_owned();
        }
        Some(last)
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            let open = std::mem::take(&mut self.open);
            self.out += &format!("${open}$");
        }
    }

    fn finish(mut self) -> String {
        self.close();
        self.out
    }

    /// For use inside maths.
    fn inside(self) -> String {
        self.finish().replace('$', "")
    }
}

fn letter(c: char) -> Letter {
    match c {
        '&' => Letter::Text(r"\&"),
        '%' => Letter::Text(r"\%"),
        '$' => Letter::Text(r"\$"),
        '#' => Letter::Text(r"\#"),
        '_' => Letter::Text(r"\_"),
        '{' => Letter::Text(r"\{"),
        '}' => Letter::Text(r"\}"),
        '~' => Letter::Text(r"\textasciitilde{}"),
        '^' => Letter::Text(r"\textasciicircum{}"),
        '\\' => Letter::Text(r"\textbackslash{}"),
        '<' => Letter::Maths("<"),
        '>' => Letter::Maths(">"),
        '|' => Letter::Maths("|"),
        '"' => Letter::Text("''"),
        '–' => Letter::Text("--"),
        '—' => Letter::Text("---"),
        '…' => Letter::Text(r"\ldots{}"),
        '“' => Letter::Text("``"),
        '”' => Letter::Text("''"),
        '‘' => Letter::Text("`"),
        '’' | '′' => Letter::Text("'"),
        '\u{304}' => Letter::Bar,
        '\u{200a}' | '\u{200b}' => Letter::Nothing,
        '\u{a0}' | '\u{2009}' => Letter::Text("~"),
        '²' => Letter::Superior("2"),
        '³' => Letter::Superior("3"),
        '¹' => Letter::Superior("1"),
        '⁰' => Letter::Superior("0"),
        '⁴' => Letter::Superior("4"),
        '⁵' => Letter::Superior("5"),
        '⁶' => Letter::Superior("6"),
        '⁷' => Letter::Superior("7"),
        '⁸' => Letter::Superior("8"),
        '⁹' => Letter::Superior("9"),
        '⁻' => Letter::Superior("-"),
        'ᵀ' => Letter::Superior("T"),
        'ᵏ' => Letter::Superior("k"),
        '₀' => Letter::Inferior("0"),
        '₁' => Letter::Inferior("1"),
        '₂' => Letter::Inferior("2"),
        '₃' => Letter::Inferior("3"),
        '₄' => Letter::Inferior("4"),
        '₅' => Letter::Inferior("5"),
        '₆' => Letter::Inferior("6"),
        '₇' => Letter::Inferior("7"),
        '₈' => Letter::Inferior("8"),
        '₉' => Letter::Inferior("9"),
        'ᵢ' => Letter::Inferior("i"),
        'ⱼ' => Letter::Inferior("j"),
        'ₖ' => Letter::Inferior("k"),
        c if c.is_ascii_graphic() || c == ' ' => Letter::Plain,
        // the letters of Latin-1 and Latin Extended-A, which LaTeX sets by itself
        'À'..='ſ' if !matches!(c, '×' | '÷') => Letter::Plain,
        c => sign(c).map_or(Letter::Unknown, Letter::Maths),
    }
}

/// Greek letters and signs of maths.
fn sign(c: char) -> Option<&'static str> {
    const SIGNS: [(char, &str); 62] = [
        ('−', "-"),
        ('±', r"\pm "),
        ('×', r"\times "),
        ('÷', r"\div "),
        ('·', r"\cdot "),
        ('√', r"\surd "),
        ('≤', r"\le "),
        ('≥', r"\ge "),
        ('≠', r"\ne "),
        ('≈', r"\approx "),
        ('→', r"\to "),
        ('∞', r"\infty "),
        ('∇', r"\nabla "),
        ('∂', r"\partial "),
        ('‖', r"\|"),
        ('∑', r"\sum "),
        ('∈', r"\in "),
        ('∝', r"\propto "),
        ('½', r"\frac{1}{2}"),
        ('¬', r"\neg "),
        ('°', r"^\circ "),
        ('µ', r"\mu "),
        ('∗', "*"),
        ('⁺', "^+"),
        ('α', r"\alpha "),
        ('β', r"\beta "),
        ('γ', r"\gamma "),
        ('δ', r"\delta "),
        ('ε', r"\varepsilon "),
        ('ζ', r"\zeta "),
        ('η', r"\eta "),
        ('θ', r"\theta "),
        ('ι', r"\iota "),
        ('κ', r"\kappa "),
        ('λ', r"\lambda "),
        ('μ', r"\mu "),
        ('ν', r"\nu "),
        ('ξ', r"\xi "),
        ('π', r"\pi "),
        ('ρ', r"\rho "),
        ('σ', r"\sigma "),
        ('τ', r"\tau "),
        ('υ', r"\upsilon "),
        ('φ', r"\varphi "),
        ('χ', r"\chi "),
        ('ψ', r"\psi "),
        ('ω', r"\omega "),
        ('Γ', r"\Gamma "),
        ('Δ', r"\Delta "),
        ('Θ', r"\Theta "),
        ('Λ', r"\Lambda "),
        ('Ξ', r"\Xi "),
        ('Π', r"\Pi "),
        ('Σ', r"\sum "),
        ('Φ', r"\Phi "),
        ('Ψ', r"\Psi "),
        ('Ω', r"\Omega "),
        ('ℓ', r"\ell "),
        ('∪', r"\cup "),
        ('∩', r"\cap "),
        ('⊤', r"\top "),
        ('⟂', r"\perp "),
    ];
    SIGNS.iter().find(|(known, _)| *known == c).map(|&(_, latex)| latex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_latex_gives_a_meaning_is_escaped() {
        for (plain, latex) in [
            ("my_method & 10% #1", r"my\_method \& 10\% \#1"),
            (r"a\b{c}$d~e^f", r"a\textbackslash{}b\{c\}\$d\textasciitilde{}e\textasciicircum{}f"),
            ("SMTPP (λ = 0.1)", r"SMTPP ($\lambda $ = 0.1)"),
            ("café – “x”", "café -- ``x''"),
            ("環 1", "? 1"),
            ("a < b", "a $<$ b"),
            ("x\u{304}", r"$\bar x$"),
        ] {
            assert_eq!(name(plain), latex);
        }
        assert_eq!(unknown("環 λ é 🙂").collect::<String>(), "環🙂");
    }

    #[test]
    fn formulas_are_maths() {
        for quantity in Quantity::ALL {
            assert_eq!(text(quantity.label()), quantity.latex());
            assert_eq!(
                text(&format!("Here: {} 5%.", quantity.label())),
                format!(r"Here: {} 5\%.", quantity.latex())
            );
        }
        assert_eq!(text("effective step η·c_π"), r"effective step $\eta \cdot c_{\pi }$");
        assert_eq!(text("E_tr and x_i"), r"$E_{\mathrm{tr}}$ and $x_{i}$");
        assert_eq!(text("x_{k−1} above F*"), r"$x_{k-1}$ above $F^*$");
    }

    #[test]
    fn numbers_are_maths() {
        for (plain, latex) in [
            ("0.34000 ± 0.00058", r"0.34000 \pm  0.00058"),
            ("(1.100 ± 0.058) × 10⁻⁸", r"(1.100 \pm  0.058) \times  10^{-8}"),
            ("−3.5", "-3.5"),
            ("2.4e−3", r"2.4\mathrm{e}{-}3"),
            ("1.25 × 10⁻⁵", r"1.25 \times  10^{-5}"),
        ] {
            assert_eq!(number(plain), latex);
        }
    }

    /// Whatever a name is: dollars and braces are in pairs.
    #[test]
    fn nothing_is_left_open() {
        proptest::proptest!(|(plain in "\\PC{0,40}")| {
            for set in [name(&plain), text(&plain)] {
                let bare = set.replace(r"\$", "").replace(r"\{", "").replace(r"\}", "").replace(r"\\", "");
                assert_eq!(bare.matches('$').count() % 2, 0, "{plain:?} {set}");
                assert_eq!(bare.matches('{').count(), bare.matches('}').count(), "{plain:?} {set}");
            }
        });
    }
}
