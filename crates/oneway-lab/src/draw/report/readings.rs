//! A walk through the readings of a map: a choice for each question, a slider, the verdicts and the numbers.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::maths;

/// What is walked through.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    /// A sentence or two.
    pub(crate) said: String,
    /// The whole map, drawn for pages.
    pub(crate) map: String,
    /// Each question with its answers, as choices; the last two are the views.
    pub(crate) questions: Vec<(String, Vec<String>)>,
    pub(crate) readings: usize,
    /// `{questions, places, claims, readings}`, as `readings.js` reads it.
    pub(crate) data: Value,
}

const CSS: &str = ".walk-choices{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.75rem 1.25rem;margin:1.5rem 0}\
.walk-choices label{display:block;font-size:.875rem;color:var(--muted)}\
.walk-choices select,.walk-choices input{display:block;width:100%;margin-top:.2rem;font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--rule);border-radius:.3rem;padding:.25rem}\
.walk-map{overflow-x:auto}.walk-map svg{width:100%;min-width:44rem;height:auto}\
#walk tbody th{white-space:normal}.walk-h{color:var(--holds);font-weight:600}.walk-f{color:var(--fails);font-weight:600}.walk-o{color:var(--muted)}";
const JS: &str = include_str!("readings.js");

/// The section.
pub(super) fn walk(walk: &Walk) -> Markup {
    // no text of the data can end the element that it stands in
    let data = walk.data.to_string().replace('<', "\\u003c");
    html! {
        style { (PreEscaped(CSS)) }
        p { (maths::set(&walk.said)) }
        div.walk-map tabindex="0" role="group" aria-label="The map" { (PreEscaped(&walk.map)) }
        div #walk {
            div.walk-choices {
                label { "from most that holds to least"
                    input #walk-slider type="range" min="0" max=(walk.readings.saturating_sub(1)) value="0";
                }
                @for (at, (question, answers)) in walk.questions.iter().enumerate() {
                    label { (question)
                        select data-question=(at) {
                            @for (level, answer) in answers.iter().enumerate() { option value=(level) { (answer) } }
                        }
                    }
                }
            }
            p #walk-said aria-live="polite" {}
            div.scroll tabindex="0" role="group" aria-label="Verdicts in this reading" {
                table {
                    thead { tr { th scope="col" { "the paper says" } th scope="col" { "in this reading" } th scope="col" { "by algebra" } } }
                    tbody #walk-verdicts {}
                }
            }
            div.scroll tabindex="0" role="group" aria-label="Means in this reading" {
                table {
                    thead { tr {
                        th scope="col" { "method" }
                        @for graph in ["Multi-Sub-Ring", "exponential"] {
                            th.number scope="col" { "F, " (graph) } th.number scope="col" { "‖∇F‖², " (graph) }
                        }
                    } }
                    tbody #walk-values {}
                }
            }
        }
        script #walk-data type="application/json" { (PreEscaped(data)) }
        script { (PreEscaped(JS)) }
    }
}
