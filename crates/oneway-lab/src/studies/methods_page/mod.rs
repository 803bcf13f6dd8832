//! `docs/methods.md`, made from the registry: every method with its equations, its network, what it sends,
//! its parameters, its reference, and a picture of how it behaves.

mod behaviour;
mod facts;
mod miniature;

use std::fmt::Write as _;

use anyhow::Result;
use oneway::method::Network;
use oneway::methods::Kind;
use oneway::parameters::Parameter;
use oneway::registry::{self, Registry};
use oneway_experiment::results::folder::OutputFolder;
use rayon::prelude::*;

use behaviour::{AGENTS, Behaviour, FEATURES, ROUNDS, ROWS, STEPS};
pub(crate) use facts::Facts;

/// The page's name, and where its pictures are beside it.
pub(crate) const FILE: &str = "methods.md";
const IMAGES: &str = "images/methods";

/// The networks, in the order of the page, with a heading each.
const GROUPS: [(Network, &str); 6] = [
    (Network::PushPull, "Digraphs, with a matrix for models and one for trackers"),
    (Network::PushSum, "Digraphs, by push-sum"),
    (Network::PullOnly, "Digraphs, with a row-stochastic matrix only"),
    (Network::Balanced, "Balanced digraphs and undirected graphs"),
    (Network::Undirected, "Undirected graphs"),
    (Network::Central, "Centralised bounds"),
];

/// Writes the page and its pictures, of all that the process's registry has.
pub(crate) fn write(folder: &OutputFolder) -> Result<()> {
    let registry = registry::installed();
    let pictures = registry.methods().par_iter().map(|kind| {
        let behaviour = Behaviour::new(kind)?;
        Ok((kind, behaviour))
    });
    let behaviours = pictures.collect::<oneway::Result<Vec<_>>>()?;
    OutputFolder::prepare(&folder.path().join(IMAGES))?;
    for (kind, behaviour) in &behaviours {
        folder.write(&format!("{IMAGES}/{}.svg", kind.name), miniature::svg(kind.name, behaviour))?;
    }
    let steps = behaviours.iter().map(|(_, behaviour)| behaviour.step).collect::<Vec<_>>();
    folder.write(FILE, text(registry, &steps)?)?;
    Ok(())
}

/// The page; `steps` are those that the pictures were made with, method by method.
fn text(registry: &Registry, steps: &[f64]) -> Result<String> {
    let mut page = format!(
        "# Methods\n\n\
         Every method of the registry. This page is made from it: `just methods-page`. `oneway methods` prints the same \
         for the version at hand.\n\n\
         The equations are printed from the code that runs. A letter stands for the vectors of all agents, stacked: row i \
         of Rx is Σ_j R_ij x_j. ⁺ marks the next round, ₀ the start, ⁻ the round before, ′ what is between two \
         exchanges, and a bar the mean of all agents. F(x; ξ) is each agent's own loss on a fresh sample ξ. R is row-stochastic \
         (models are pulled), C column-stochastic (trackers are pushed), W doubly stochastic. What is sent is counted on \
         one link in one round; operations on one coordinate of one agent in one round, without mixing and gradients.\n\n\
         The pictures show ‖∇F(x̄)‖² over {ROUNDS} rounds of least squares on synthetic rows: {AGENTS} agents on the \
         exponential digraph (its links both ways for methods that need it; its trees for STPP), {ROWS} rows of \
         {FEATURES} features each, every agent with weights of its own. Blue: exact gradients. Orange: one row a \
         gradient. Both have one step: of {STEPS} from 4/L on, each half of the one before, and of these only those with which \
         samples get somewhere, the one that ends lowest with exact gradients. It is no comparison: a method's best step with \
         samples is another, and parameters are the defaults.\n\n\
         Trust: **A**, read in the authors' code or text, its start too; **B**, in a standard form that several \
         sources share, or in the authors' code except for what its documentation names; **C**, from memory: its identities are \
         tested, and its documentation says what was not verified.\n"
    );
    for (network, heading) in GROUPS {
        write!(page, "\n## {heading}\n\n{}.\n", capital(network.about()))?;
        let methods = registry.methods().iter().zip(steps);
        for (kind, step) in methods.filter(|(kind, _)| kind.network() == network) {
            page += &section(kind, *step)?;
        }
    }
    page += "\n## Estimators\n\n\
             What an agent makes of its stochastic gradients before it shares it: `estimator = \"storm\"` in a method that \
             has room for one.\n\n";
    page += "| name | what it is | rule | parameters |\n|---|---|---|---|\n";
    for kind in registry.estimators() {
        let parameters = parameters(kind.parameters).join("; ");
        writeln!(page, "| `{}` | {} | {} | {parameters} |", kind.name, kind.about, cell(kind.rule))?;
    }
    page += "\n## Codecs\n\nLossy codes for messages: `compress = \"sign\"` in any method.\n\n";
    page += "| name | what it is | rule | parameters |\n|---|---|---|---|\n";
    for kind in registry.codecs() {
        let parameters = parameters(kind.parameters).join("; ");
        writeln!(page, "| `{}` | {} | {} | {parameters} |", kind.name, kind.about, cell(kind.rule))?;
    }
    Ok(page)
}

fn section(kind: &Kind, step: f64) -> Result<String> {
    let facts = Facts::new(kind)?;
    let graphs: Vec<String> = kind.graphs.iter().map(|graph| format!("`{}`", graph.name())).collect();
    let mut text = format!("\n### `{}`\n\n{}.\n\n", kind.name, capital(kind.about));
    for line in facts.lines() {
        writeln!(text, "    {line}")?;
    }
    writeln!(text, "\n![{0} on the standard problem]({IMAGES}/{0}.svg)\n", kind.name)?;
    writeln!(text, "- {} (trust {})", kind.reference, facts.trust)?;
    if let Some(sends) = &facts.sends {
        writeln!(text, "- sends {sends}")?;
    }
    writeln!(text, "- operations: {}", facts.operations)?;
    if kind.graphs.len() > 1 {
        writeln!(text, "- graph: {}", graphs.join(", "))?;
    }
    for parameter in parameters(kind.parameters) {
        writeln!(text, "- {parameter}")?;
    }
    if kind.with_estimator.is_some() {
        writeln!(text, "- takes an `estimator`")?;
    }
    match step > 0.0 {
        true => writeln!(text, "- pictured with a step of {step}/L")?,
        false => writeln!(text, "- no step that was tried converges on the standard problem")?,
    }
    Ok(text)
}

fn parameters(declared: &[Parameter]) -> Vec<String> {
    let one = |p: &Parameter| format!("`{}`: {} ({})", p.name, p.about, p.summary());
    declared.iter().map(one).collect()
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_docs_is_that_of_the_registry() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/methods.md");
        let written = std::fs::read_to_string(page).unwrap();
        let step = |kind: &Kind| {
            let section = written.split("\n### ").find(|part| part.starts_with(&format!("`{}`", kind.name)));
            let pictured = section.and_then(|section| section.split("a step of ").nth(1));
            pictured.and_then(|text| text.split("/L").next()?.parse().ok()).unwrap_or(0.0)
        };
        let registry = Registry::builtin();
        let steps: Vec<f64> = registry.methods().iter().map(|kind| step(kind)).collect();
        assert!(
            text(&registry, &steps).unwrap() == written,
            "docs/methods.md is not up to date: run `just methods-page`"
        );
    }
}
