//! `oneway inspect`: a topology is asked what it can do, and what is wrong with one that can do nothing.
#![allow(clippy::unwrap_used)]

use serde_json::Value;

use crate::common::{self, Lab, stderr, stdout};

#[track_caller]
fn text_of(lab: &Lab, arguments: &[&str]) -> String {
    let output = lab.oneway(&[&["inspect"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    assert_eq!(stderr(&output), "", "{arguments:?}");
    stdout(&output)
}

#[track_caller]
fn json_of(lab: &Lab, arguments: &[&str]) -> Value {
    serde_json::from_str(&text_of(lab, &[arguments, &["--json"]].concat())).unwrap()
}

/// The only topology of an inspection.
#[track_caller]
fn only(lab: &Lab, arguments: &[&str]) -> Value {
    let json = json_of(lab, arguments);
    assert_eq!(json["topologies"].as_array().unwrap().len(), 1);
    json["topologies"][0].clone()
}

fn subgraph<'a>(topology: &'a Value, graph: &str) -> &'a Value {
    topology["subgraphs"].as_array().unwrap().iter().find(|facts| facts["graph"] == graph).unwrap()
}

fn limit<'a>(topology: &'a Value, method: &str, graph: &str) -> &'a Value {
    let limits = topology["limits"].as_array().unwrap();
    limits.iter().find(|facts| facts["method"] == method && facts["graph"] == graph).unwrap()
}

#[track_caller]
fn assert_near(value: &Value, expected: f64, share: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() <= share * expected.abs(), "{value} is not {expected}");
}

#[test]
fn the_flower_of_the_paper_is_described_in_full() {
    let flower = only(&Lab::new(), &["flower", "--agents", "20", "--petals", "4"]);
    assert_eq!(flower["agents"], 20);
    assert_eq!(flower["parameters"]["petals"], 4.0);
    assert_eq!(flower["weights"], "uniform");
    let graph = &flower["graphs"][0];
    assert_eq!(
        (&graph["graph"], &graph["links"], &graph["diameter"]),
        (&"both".into(), &23.into(), &10.into())
    );
    assert_eq!((&graph["strongly_connected"], &graph["components"]), (&true.into(), &1.into()));
    assert_eq!((&graph["in_degree"]["min"], &graph["out_degree"]["max"]), (&1.into(), &4.into()));
    assert_eq!(flower["assumption_1"]["holds"], true);
    assert_eq!(flower["assumption_1"]["roots"].as_array().unwrap().len(), 20);

    let full = subgraph(&flower, "full");
    let sum: f64 = full["pi_r"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-12);
    assert_near(&full["c_pi"], 1.0925, 1e-3);
    let rho = full["rho_r"].as_f64().unwrap();
    assert_near(&full["mixing_rounds_r"], -1.0 / rho.ln(), 1e-12);
    let trees = subgraph(&flower, "trees");
    assert_eq!((&trees["c_pi"], &trees["rho_r"], &trees["rho_c"]), (&20.0.into(), &0.0.into(), &0.0.into()));
    assert_eq!((&trees["pull_depth"], &trees["push_depth"]), (&5.into(), &5.into()));
    assert_eq!(trees["mixing_rounds_r"], Value::Null);
    assert_eq!(subgraph(&flower, "lazy-trees")["rho_c"], 0.5);

    // the values that two independent computations gave
    for (method, graph, expected) in [
        ("smtpp", "full", 2.87),
        ("smtpp", "trees", 0.237),
        ("push-pull", "full", 0.182),
        ("push-pull", "trees", 0.320),
        ("stpp", "trees", 0.320),
        ("csgdm", "complete", 38.0),
    ] {
        assert_near(&limit(&flower, method, graph)["effective"], expected, 0.01);
    }
    let smtpp = limit(&flower, "smtpp", "trees");
    assert_near(&smtpp["raw"], smtpp["effective"].as_f64().unwrap() / 20.0, 1e-12);
    assert_eq!(smtpp["momentum"], 0.1);
    assert_eq!(limit(&flower, "push-pull", "full")["momentum"], Value::Null);
    let advice = flower["advice"].to_string();
    for words in [
        "c_π = 20: give steps as effective",
        "on the full digraph allows 15.7",
        "Momentum costs on weight-1 trees",
    ] {
        assert!(advice.contains(words), "{words}: {advice}");
    }
}

#[test]
fn the_table_says_what_the_json_says() {
    let text = text_of(&Lab::new(), &["flower", "--agents", "20", "--petals", "4"]);
    for words in ["petals 4", "23", "every agent", "1, 1.15, 4", "all at 0", "5, then exact", "2.86", "• "]
    {
        assert!(text.contains(words), "{words}:\n{text}");
    }
}

#[test]
fn every_method_of_the_registry_has_a_limit_or_a_reason() {
    // a directed ring has doubly stochastic weights, but not symmetric ones
    let ring = only(&Lab::new(), &["ring", "--agents", "5", "--methods", "all"]);
    for kind in oneway::methods::KINDS {
        let limits = ring["limits"].as_array().unwrap().iter();
        let own: Vec<&Value> = limits.filter(|facts| facts["method"] == kind.name).collect();
        assert_eq!(own.len(), kind.graphs.len(), "{}", kind.name);
        for facts in own {
            match facts["reason"].as_str() {
                None => assert!(facts["effective"].as_f64().unwrap() > 0.0, "{facts}"),
                Some(reason) => {
                    assert!(facts["effective"].is_null() && !reason.is_empty(), "{facts}");
                }
            }
        }
    }
    for method in ["push-pull-hb", "r-fast", "add-opt", "frost", "accelerated-ab", "gt"] {
        assert!(limit(&ring, method, "full")["reason"].is_null(), "{method}");
    }
    for (method, words) in [("ab-saga", "no finite sum"), ("push-saga", "no finite sum")] {
        let reason = limit(&ring, method, "full")["reason"].as_str().unwrap();
        assert!(reason.contains(words), "{method}: {reason}");
    }
    let flower = only(&Lab::new(), &["flower", "--agents", "5", "--petals", "2", "--methods", "gt,smtpp"]);
    let reason = limit(&flower, "gt", "full")["reason"].as_str().unwrap();
    assert!(reason.contains("doubly stochastic"), "{reason}");
    assert!(flower["advice"].to_string().contains("No limit for gt (full): the method needs one doubly"));
    assert_eq!(flower["limits"].as_array().unwrap().len(), 1 + 3);
}

#[test]
fn methods_are_chosen_by_name() {
    let lab = Lab::new();
    let named = |arguments: &[&str]| -> Vec<String> {
        let ring = only(&lab, &[&["ring", "--agents", "4"], arguments].concat());
        let mut names: Vec<String> = vec![];
        for facts in ring["limits"].as_array().unwrap() {
            let name = facts["method"].as_str().unwrap().to_owned();
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
        names
    };
    assert_eq!(named(&[]), ["smtpp", "push-pull", "stpp", "sgp", "push-diging", "csgdm"]);
    assert_eq!(named(&["--methods", "frost,smtpp"]), ["smtpp", "frost"], "as the registry lists them");
    assert_eq!(named(&["--methods", "all"]).len(), oneway::methods::KINDS.len());
    let before = lab.listing();
    let output = lab.oneway(&["inspect", "ring", "--agents", "4", "--methods", "smtpp,smttp"]);
    common::assert_refused(&lab, &before, &output, &["unknown method `smttp`", "did you mean `smtpp`?"]);
}

#[test]
fn momentum_is_a_parameter() {
    let lab = Lab::new();
    let plain = only(&lab, &["ring", "--agents", "4", "--momentum", "1"]);
    // SMTPP without momentum is Push-Pull, a round late
    let push_pull = limit(&plain, "push-pull", "full")["effective"].as_f64().unwrap();
    assert_near(&limit(&plain, "smtpp", "full")["effective"], push_pull, 1e-4);
    assert_near(&limit(&plain, "csgdm", "complete")["effective"], 2.0, 1e-4);
}

#[test]
fn several_topologies_stand_side_by_side() {
    let lab = Lab::new();
    let arguments =
        ["flower:petals=2", "flower:agents=8,petals=3", "exponential", "--agents", "6", "--petals", "1"];
    let json = json_of(&lab, &arguments);
    let all = json["topologies"].as_array().unwrap();
    let told: Vec<(&Value, &Value)> =
        all.iter().map(|one| (&one["agents"], &one["parameters"]["petals"])).collect();
    let expected = [(6.into(), 2.0.into()), (8.into(), 3.0.into()), (6.into(), Value::Null)];
    assert_eq!(told, expected.each_ref().map(|(agents, petals)| (agents, petals)));
    assert!(json["advice"][0].as_str().unwrap().contains("exponential allows the largest"));
    let text = text_of(&lab, &arguments);
    for name in ["flower:petals=2", "flower:agents=8,petals=3", "exponential"] {
        assert!(text.matches(name).count() >= 3, "{name}:\n{text}");
    }
    // a flag that only one of them has
    let json = json_of(&lab, &["flower", "ring", "--agents", "6", "--petals", "2"]);
    assert_eq!(json["topologies"][0]["parameters"]["petals"], 2.0);
}

#[test]
fn roots_seeds_and_weights_are_heeded() {
    let lab = Lab::new();
    let ring = only(&lab, &["ring", "--agents", "5", "--root", "3"]);
    assert_eq!(subgraph(&ring, "trees")["pi_r"], Value::from(vec![0.0, 0.0, 0.0, 1.0, 0.0]));
    let star = only(&lab, &["star", "--agents", "5", "--weights", "metropolis"]);
    assert_eq!(
        (&star["weights"], &subgraph(&star, "full")["doubly_stochastic"]),
        (&"metropolis".into(), &true.into())
    );
    let degree =
        |seed| only(&lab, &["erdos-renyi", "--agents", "12", "--seed", seed])["graphs"][0]["links"].clone();
    assert_eq!(degree("1"), degree("1"));
    assert_ne!(degree("1"), degree("2"));
}

#[test]
fn an_edge_list_knows_its_agents() {
    let lab = Lab::new();
    lab.write("links.txt", "0 1\n1 2\n2 0\n");
    let links = only(&lab, &["links.txt"]);
    assert_eq!((&links["agents"], &links["weights"]), (&3.into(), &"uniform".into()));
    assert_eq!(links["subgraphs"].as_array().unwrap().len(), 3);
    assert_eq!(only(&lab, &["links.txt:root=2"])["agents"], 3);
    let more = only(&lab, &["links.txt", "--agents", "4"]);
    assert_eq!((&more["agents"], &more["assumption_1"]["holds"]), (&4.into(), &false.into()));
}

#[test]
fn links_that_change_with_the_round_have_limits_but_no_trees() {
    let one_peer = only(&Lab::new(), &["one-peer-exponential", "--agents", "8"]);
    assert_eq!((&one_peer["period"], &one_peer["graphs"][0]["links"]), (&3.into(), &24.into()));
    assert_eq!(one_peer["subgraphs"].as_array().unwrap().len(), 1);
    assert_eq!(subgraph(&one_peer, "full")["rho_r"], Value::Null);
    assert!(one_peer["skipped"].to_string().contains("the links change with the round"));
    assert!(limit(&one_peer, "smtpp", "full")["effective"].as_f64().unwrap() > 0.0);
}

#[test]
fn limits_are_listed_as_the_registry_lists_methods() {
    let text = text_of(&Lab::new(), &["one-peer-exponential", "flower", "--agents", "8"]);
    let table = text.split("Largest stable step").nth(1).unwrap();
    let first = |line: &str| line.trim_matches(['│', ' ']).split([' ', ',']).next().map(str::to_owned);
    let six = ["smtpp", "push-pull", "stpp", "sgp", "push-diging", "csgdm"];
    let place = |name: String| six.iter().position(|known| *known == name);
    let listed: Vec<usize> = table.lines().filter_map(first).filter_map(place).collect();
    assert_eq!(listed, [0, 1, 2, 3, 4, 5], "{text}");
    assert!(
        oneway::methods::KINDS.iter().filter(|kind| six.contains(&kind.name)).map(|kind| kind.name).eq(six)
    );
}

#[test]
fn one_agent_is_gradient_descent() {
    let alone = only(&Lab::new(), &["ring", "--agents", "1"]);
    assert_eq!(
        (&alone["graphs"][0]["diameter"], &subgraph(&alone, "full")["c_pi"]),
        (&0.into(), &1.0.into())
    );
    for method in ["push-pull", "sgp", "push-diging"] {
        assert_near(&limit(&alone, method, "full")["effective"], 2.0, 1e-4);
    }
    assert!(alone["advice"].to_string().contains("One agent alone"));
}

#[test]
fn a_digraph_that_falls_apart_is_answered_with_the_fewest_links() {
    let lab = Lab::new();
    lab.write("links.txt", "0 1\n1 2\n3 4\n4 3\n");
    let apart = only(&lab, &["links.txt"]);
    assert_eq!(
        (&apart["graphs"][0]["components"], &apart["graphs"][0]["diameter"]),
        (&4.into(), &Value::Null)
    );
    let assumption = &apart["assumption_1"];
    assert_eq!(assumption["holds"], false);
    assert!(assumption["failure"].as_str().unwrap().contains("the pull graph has no spanning tree"));
    let repair = &assumption["repair"];
    assert_eq!((&repair["shared"], &repair["count"]), (&true.into(), &2.into()));
    assert_eq!(repair["pull"], repair["push"]);
    for empty in ["subgraphs", "limits"] {
        assert_eq!(apart[empty].as_array().unwrap().len(), 0);
    }
    let links = repair["pull"].as_array().unwrap().iter().map(|link| format!("{} {}\n", link[0], link[1]));
    lab.write("repaired.txt", format!("0 1\n1 2\n3 4\n4 3\n{}", links.collect::<String>()));
    assert_eq!(only(&lab, &["repaired.txt"])["assumption_1"]["holds"], true);
    let text = text_of(&lab, &["links.txt"]);
    for words in ["no: 4 components, the largest of 2", "Assumption 1 fails", "2 more links repair it"] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    // side by side with one that does not
    let both = json_of(&lab, &["links.txt", "repaired.txt"]);
    assert_eq!(both["topologies"][1]["assumption_1"]["holds"], true);
}

#[test]
fn matrices_given_apart_need_less_than_strong_connectivity() {
    let lab = Lab::new();
    lab.write("down.txt", "0 0 1\n0 1 .5\n1 1 .5\n1 2 1\n");
    lab.write("up.txt", "0 0 1\n1 0 .5\n1 1 .5\n2 1 1\n");
    lab.write("away.txt", "0 0 .5\n0 1 .5\n1 2 1\n2 2 1\n");
    let pair = only(&lab, &["--pull", "down.txt", "--push", "up.txt"]);
    assert_eq!(pair["assumption_1"]["roots"], Value::from(vec![0]));
    assert_eq!((&pair["graphs"][0]["graph"], &pair["graphs"][1]["graph"]), (&"pull".into(), &"push".into()));
    assert_eq!(subgraph(&pair, "full")["c_pi"], 3.0);
    assert!(limit(&pair, "push-pull", "full")["effective"].as_f64().unwrap() > 0.0);
    let sgp = limit(&pair, "sgp", "full");
    assert!(sgp["reason"].as_str().unwrap().contains("not strongly connected"), "{sgp}");
    assert!(sgp["effective"].is_null());
    let failing = only(&lab, &["--pull", "down.txt", "--push", "away.txt"]);
    let repair = &failing["assumption_1"]["repair"];
    assert_eq!((&repair["shared"], &repair["count"], &repair["root"]), (&false.into(), &1.into(), &0.into()));
    assert_eq!(repair["push"].to_string(), "[[2,0]]");
}

#[test]
fn weights_that_go_round_want_a_self_weight() {
    let lab = Lab::new();
    lab.write("cycle.txt", "0 1 1\n1 2 1\n2 0 1\n");
    let cycle = only(&lab, &["cycle.txt"]);
    let assumption = &cycle["assumption_1"];
    assert!(assumption["failure"].as_str().unwrap().contains("periodic"), "{assumption}");
    let repair = &assumption["repair"];
    assert_eq!((&repair["count"], &repair["pull_self_weight"]), (&0.into(), &true.into()));
    assert!(cycle["advice"][1].as_str().unwrap().contains("give agent 0 a self-weight in R and in C"));
}

#[test]
fn drawings_are_made_on_request_only() {
    let lab = Lab::new();
    let before = lab.listing();
    text_of(&lab, &["flower", "--agents", "9"]);
    assert_eq!(lab.listing(), before);
    lab.write("links.txt", "0 1\n2 3\n");
    let arguments = ["flower", "flower:petals=2", "links.txt", "--agents", "9", "--out", "drawn"];
    let json = json_of(&lab, &arguments);
    let drawings: Vec<&str> = (0..3)
        .flat_map(|at| json["topologies"][at]["drawings"].as_array().unwrap())
        .map(|file| file.as_str().unwrap())
        .collect();
    assert_eq!(drawings.len(), 2 + 2 + 1);
    for file in &drawings {
        let svg = std::fs::read_to_string(lab.path(&format!("{file}.svg"))).unwrap();
        assert_eq!(svg.matches("class=\"agent\"").count(), 2 * 9, "{file}");
        assert_eq!(svg.contains("∝ π"), !file.contains("links"), "{file}: discs for π where there is one");
        assert_eq!(
            svg.contains("spanning trees, or lazy-trees, with root 0"),
            file.contains("trees"),
            "{file}"
        );
        assert!(std::fs::read(lab.path(&format!("{file}.png"))).unwrap().starts_with(b"\x89PNG"));
    }
    let repaired = std::fs::read_to_string(lab.path(&format!("{}.svg", drawings[4]))).unwrap();
    assert!(repaired.contains("in grey the fewest that repair it") && repaired.contains("class=\"unused\""));
    let again = json_of(&lab, &arguments);
    assert_eq!(again, json, "the same words for the same question");
    let many = only(&lab, &["ring", "--agents", "101", "--out", "drawn"]);
    assert!(many["skipped"].to_string().contains("a drawing: there are more than 100 agents"));
}

#[test]
fn large_networks_leave_out_what_is_dear_and_say_so() {
    let ring = only(&Lab::new(), &["star", "--agents", "100000"]);
    let full = subgraph(&ring, "full");
    assert_eq!(full["pi_r"].as_array().unwrap().len(), 100_000);
    assert_eq!(full["rho_r"], Value::Null);
    assert_eq!(subgraph(&ring, "trees")["rho_r"], 0.0);
    let skipped = ring["skipped"].to_string();
    for words in ["the diameter", "ρ_R and ρ_C of the full digraph", "the steps that methods bear"] {
        assert!(skipped.contains(words), "{words}: {skipped}");
    }
    let huge = only(&Lab::new(), &["ring", "--agents", "200000"]);
    assert!(huge["skipped"].to_string().contains("π_R, π_C and c_π: there are more than 100000 agents"));
}

#[test]
fn help_names_the_parameters_of_all_families() {
    // lines may be broken anywhere, as wide as the terminal is
    let text = text_of(&Lab::new(), &["--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    for family in oneway::graph::families::FAMILIES {
        for parameter in family.parameters {
            assert!(text.contains(&format!("--{} ", parameter.name)), "{}", parameter.name);
            assert!(text.contains(parameter.about), "{}", parameter.about);
        }
    }
    let mut examples =
        text.split_whitespace().filter_map(|word| word.trim_end_matches(',').strip_prefix("NAME:"));
    let example = examples.next().unwrap();
    assert_eq!(only(&Lab::new(), &[&format!("flower:{example}")])["agents"], 20);
    assert_eq!(examples.next(), None);
}
