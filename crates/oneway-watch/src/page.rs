//! The page: one text, with its styles and its program in it.

use std::hash::{BuildHasher, RandomState};

const HTML: &str = include_str!("page/page.html");
const CSS: &str = include_str!("page/page.css");
const PROGRAM: [&str; 7] = [
    include_str!("page/format.js"),
    include_str!("page/stream.js"),
    include_str!("page/chart.js"),
    include_str!("page/network.js"),
    include_str!("page/runs.js"),
    include_str!("page/crew.js"),
    include_str!("page/main.js"),
];

/// The page, and the rule by which browsers run nothing but its own program and ask nobody but us.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) policy: String,
}

impl Page {
    /// Puts the page together, with a fresh word by which its own program and styles are known.
    pub(crate) fn new() -> Self {
        let [a, b] = [0, 1].map(|half| RandomState::new().hash_one(half));
        let word = format!("{a:016x}{b:016x}");
        let program = format!("\"use strict\";\n{{\n{}}}\n", PROGRAM.concat());
        let html = HTML.replace("{{word}}", &word).replace("{{css}}", CSS).replace("{{program}}", &program);
        let policy = format!(
            "default-src 'none'; script-src 'nonce-{word}'; style-src 'nonce-{word}'; img-src data:; \
             connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        Self { html, policy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_page_that_asks_nobody_else() {
        let Page { html, policy } = Page::new();
        assert!(!html.contains("{{"), "everything is filled in");
        for foreign in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!html.replace("http://www.w3.org/", "").contains(foreign), "{foreign}");
        }
        let word = policy.split("nonce-").nth(1).unwrap_or_default().split('\'').next().unwrap_or_default();
        assert_eq!((word.len(), html.matches(word).count()), (32, 2));
        assert_ne!(Page::new().policy, policy, "another word each time");
    }
}
