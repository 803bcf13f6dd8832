//! The map as files: `map.json` with all that a check needs, `map.csv` a line for each reading, view and claim.

use serde_json::{Value, json};

use super::Map;
use super::space::Quantity;

/// `reading,quantity,place,claim,p_holds,p_fails,verdict`, numbers in shortest round-trip form.
pub(crate) fn csv(map: &Map) -> String {
    let mut text = "reading,quantity,place,claim,p_holds,p_fails,verdict\n".to_owned();
    for (reading, (evidence, verdicts)) in map.evidence.iter().zip(&map.verdicts).enumerate() {
        for (view, (evidence, verdicts)) in map.views.iter().zip(evidence.iter().zip(verdicts)) {
            let claims = map.question.rules.claims.iter().zip(evidence.iter().zip(verdicts));
            for (claim, (evidence, verdict)) in claims {
                text += &format!(
                    "{reading},{},{},{},{},{},{}\n",
                    view.quantity.name(),
                    view.place,
                    claim.id,
                    evidence.holds,
                    evidence.fails,
                    verdict.letter()
                );
            }
        }
    }
    text
}

/// Questions, answers, readings with the keys of their cells, verdicts by view.
pub(crate) fn json(map: &Map) -> String {
    let question = &map.question;
    let factor = |factor: &super::space::Factor| {
        json!({
            "name": factor.name,
            "question": factor.question,
            "levels": factor.levels.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        })
    };
    let views = map.views.iter().map(|view| json!({"quantity": view.quantity.name(), "place": view.place}));
    let claims = question.rules.claims.iter();
    let claims = claims.map(|claim| json!({"id": claim.id, "source": claim.source, "words": claim.words}));
    let whole = json!({
        "rules_sha256": question.rules.sha256,
        "readings_sha256": question.readings_sha256,
        "seed": question.seed,
        "confirms": question.confirms,
        "factors": question.space.factors.iter().map(factor).collect::<Vec<_>>(),
        "views": views.collect::<Vec<_>>(),
        "claims": claims.collect::<Vec<_>>(),
        "sampled": question.sampled,
        "readings": (0..map.len()).map(|at| reading(map, at)).collect::<Vec<_>>(),
    });
    // as above
    serde_json::to_string(&whole).unwrap_or_default() + "\n"
}

fn reading(map: &Map, at: usize) -> Value {
    let letters = |claims: &Vec<super::Verdict>| claims.iter().map(|v| v.letter()).collect::<String>();
    let by_graph = |keys: &super::Keys| {
        let mut cells = serde_json::Map::new();
        for (graph, method, keys) in keys {
            let of_graph = cells.entry(graph.name()).or_insert_with(|| json!({}));
            of_graph[method] = json!(keys);
        }
        cells
    };
    json!({
        "answers": map.question.readings[at],
        "optimum": map.ran[at].optimum,
        "verdicts": map.verdicts[at].iter().map(letters).collect::<Vec<_>>(),
        "theory": map.theory_letters(at),
        "exact": map.exact(at),
        "loss": map.means(at, Quantity::Loss),
        "gradient": map.means(at, Quantity::Gradient),
        "cells": by_graph(&map.cells[at].judged),
        "tried": by_graph(&map.cells[at].tried),
    })
}
