//! Doctored curves turn every rule over; corrections and shares do what they say.

use std::sync::Arc;

use oneway::engine::metrics::Measurement;

use super::judge::{Evidence, Ran, Runs, evidence};
use super::rules::{Graph, METHODS, Rules};
use super::space::{Quantity, View};
use super::verdicts::{Rows, Share, Tree, Verdict, corrected, effects, tree};
use super::{Cells, Known, Map, Question, READINGS, RULES};

/// How a method's curves are made.
#[derive(Clone, Copy)]
struct Made {
    /// F − F* at the end.
    floor: f64,
    /// How much it goes up and down.
    swing: f64,
    bytes: u64,
    /// The round from which on nothing is finite.
    diverges: u64,
}

const GOOD: Made = Made { floor: 0.005, swing: 0.0, bytes: 10, diverges: u64::MAX };
const POOR: Made = Made { floor: 0.02, swing: 0.3, bytes: 100, diverges: u64::MAX };
const OPTIMUM: f64 = 0.38;

fn curve(made: Made, repetition: u64, method: usize) -> Arc<[Measurement]> {
    // noise that does not cancel between methods
    let sign = [1.0, -0.5, 0.7, -1.0, -0.2][(repetition as usize * (method + 1) + method) % 5];
    let point = |at: u64| {
        let swing = if at % 2 == 1 { made.swing } else { 0.0 };
        let gap = (made.floor + 0.3 * (-(at as f64) / 2.0).exp()) * (1e-4 * sign + swing).exp();
        let gap = if 20 * at >= made.diverges { f64::INFINITY } else { gap };
        Measurement {
            iteration: 20 * at,
            loss: OPTIMUM + gap,
            grad_norm_sq: 0.1 * gap,
            consensus_error: 0.0,
            tracking_error: None,
            momentum_error: None,
            conservation_error: None,
            test_accuracy: None,
            bytes_sent: Some(made.bytes * 20 * at),
            time: None,
            loss_gap: None,
            agents_grad_norm_sq: None,
            distance_sq: None,
        }
    };
    (0..=45).map(point).collect()
}

/// All methods on both graphs, in the order of [`METHODS`].
fn world(sparse: [Made; 5], dense: [Made; 5]) -> Ran {
    let on = |graph, made: [Made; 5]| {
        METHODS.iter().zip(made).enumerate().map(move |(at, (method, made))| {
            // on the two graphs noise is not the same either
            let order = at + if graph == Graph::Exponential { 2 } else { 0 };
            let curves = (0..5).map(|repetition| curve(made, repetition, order)).collect();
            Runs { graph, method: (*method).to_owned(), curves }
        })
    };
    let runs = on(Graph::MultiSubRing, sparse).chain(on(Graph::Exponential, dense)).collect();
    Ran { runs, optimum: OPTIMUM }
}

/// SMTPP as good as CSGDM, STPP between them and the others: as the paper prints it.
fn right() -> Ran {
    let stpp = Made { floor: 0.01, ..POOR };
    let better = |made: Made| Made { floor: 0.8 * made.floor, ..made };
    let sparse = [GOOD, stpp, POOR, POOR, GOOD];
    let dense = [better(GOOD), better(stpp), POOR, better(POOR), better(GOOD)];
    world(sparse, dense)
}

/// SMTPP the worst of all, CSGDM rough, and the dense graph no help.
fn wrong() -> Ran {
    let smtpp = Made { floor: 0.05, swing: 0.5, bytes: 1000, ..GOOD };
    let stpp = Made { floor: 0.021, ..GOOD };
    let sgp = Made { floor: 0.004, ..GOOD };
    let csgdm = Made { floor: 0.03, swing: 0.2, ..GOOD };
    let more = |made: Made| Made { floor: 1.3 * made.floor, ..made };
    let sparse = [smtpp, stpp, sgp, sgp, csgdm];
    world(sparse, sparse.map(more))
}

const VIEWS: [View; 4] = [
    View { quantity: Quantity::Loss, place: 900 },
    View { quantity: Quantity::Gap, place: 600 },
    View { quantity: Quantity::Gradient, place: 300 },
    View { quantity: Quantity::LeastGradient, place: 900 },
];

fn rules() -> Rules {
    Rules::parse(RULES).unwrap()
}

fn of(id: &str, ran: &Ran, view: View) -> Evidence {
    let rules = rules();
    let at = rules.claims.iter().position(|claim| claim.id == id).unwrap();
    evidence(&rules, ran, view)[at]
}

#[test]
fn every_claim_holds_in_one_world_and_fails_in_another() {
    let rules = rules();
    for view in VIEWS {
        // the least so far goes down only: what goes up and down does not show
        let hides = |id: &str| view.quantity == Quantity::LeastGradient && id.contains("oscillat");
        for (claim, found) in rules.claims.iter().zip(evidence(&rules, &right(), view)) {
            let sure = found.holds < 1e-3 && found.fails > 0.9;
            assert!(sure || hides(&claim.id), "{} {view:?}: {found:?}", claim.id);
        }
        for (claim, found) in rules.claims.iter().zip(evidence(&rules, &wrong(), view)) {
            let sure = found.fails < 1e-3 && found.holds > 0.9;
            assert!(sure || hides(&claim.id), "{} {view:?}: {found:?}", claim.id);
        }
    }
}

#[test]
fn each_rule_turns_over_with_the_curve_that_it_is_about() {
    let view = VIEWS[1];
    let changed = |graph: Graph, method: &str, made: Made| {
        let mut ran = right();
        let own = ran.runs.iter_mut().find(|runs| runs.graph == graph && runs.method == method).unwrap();
        own.curves = (0..5).map(|repetition| curve(made, repetition, 3)).collect();
        ran
    };
    let (sparse, dense) = (Graph::MultiSubRing, Graph::Exponential);
    let far = Made { floor: 0.1, ..GOOD };
    for (id, graph, method, made) in [
        ("sgp-slow", sparse, "SGP", GOOD),
        ("push-diging-slow", sparse, "Push-DIGing", GOOD),
        ("stpp-oscillates", sparse, "CSGDM", Made { swing: 0.9, ..GOOD }),
        ("stpp-gap-sparse", sparse, "CSGDM", far),
        ("better-than-stpp", sparse, "SMTPP", far),
        ("better-than-sgp", sparse, "SMTPP", far),
        ("better-than-push-diging", sparse, "Push-DIGing", Made { floor: 1e-3, ..GOOD }),
        ("damped-oscillations", sparse, "SMTPP", Made { swing: 0.9, ..GOOD }),
        ("comparable-multi-sub-ring", sparse, "SMTPP", Made { floor: 0.0067, ..GOOD }),
        ("comparable-multi-sub-ring", sparse, "SMTPP", Made { floor: 0.0037, ..GOOD }),
        ("dense-helps", dense, "STPP", far),
        ("stpp-gap-exponential", dense, "STPP", Made { floor: 0.001, ..GOOD }),
        ("overlap-exponential", dense, "SMTPP", Made { floor: 0.0055, ..GOOD }),
        ("fewer-links", sparse, "SGP", Made { bytes: 9, ..POOR }),
    ] {
        assert!(of(id, &right(), view).holds < 1e-3, "{id}");
        let found = of(id, &changed(graph, method, made), view);
        assert!(found.fails < 0.01 && found.holds > 0.9, "{id} with another {method}: {found:?}");
    }
    // what is within the margin stays
    let near = changed(sparse, "SMTPP", Made { floor: 0.0055, ..GOOD });
    assert!(of("comparable-multi-sub-ring", &near, view).holds < 1e-3);
}

#[test]
fn what_diverges_is_above_all_that_does_not() {
    let lost = |method: &str| {
        let mut ran = right();
        for runs in ran.runs.iter_mut().filter(|runs| runs.method == method) {
            runs.curves = vec![curve(Made { diverges: 400, ..GOOD }, 0, 0); 5];
        }
        ran
    };
    let late = VIEWS[1];
    let sure = |id, ran: &Ran, view| of(id, ran, view) == Evidence { holds: 0.0, fails: 1.0 };
    let not_so = |id, ran: &Ran, view| of(id, ran, view) == Evidence { holds: 1.0, fails: 0.0 };
    assert!(sure("better-than-sgp", &lost("SGP"), late) && sure("damped-oscillations", &lost("STPP"), late));
    for id in ["better-than-sgp", "comparable-multi-sub-ring", "overlap-exponential", "damped-oscillations"] {
        assert!(not_so(id, &lost("SMTPP"), late), "{id}");
    }
    // before it does, it is as any other
    assert!(!not_so("better-than-sgp", &lost("SMTPP"), VIEWS[2]));
    // two that diverge say nothing
    let mut both = lost("SMTPP");
    both.runs.iter_mut().filter(|runs| runs.method == "SGP").for_each(|runs| runs.curves[2] = Arc::new([]));
    assert_eq!(of("better-than-sgp", &both, late), Evidence { holds: 1.0, fails: 1.0 });
}

#[test]
fn curves_that_do_not_move_are_not_compared_by_how_they_vary() {
    // the least so far has not gone down for the whole window, in any method
    let flat = Made { floor: 0.005, swing: 0.0, bytes: 1, diverges: u64::MAX };
    let mut ran = world([flat; 5], [flat; 5]);
    let lowest = |points: &Arc<[Measurement]>| -> Arc<[Measurement]> {
        points.iter().map(|point| Measurement { grad_norm_sq: 1e-3, ..*point }).collect()
    };
    ran.runs.iter_mut().for_each(|runs| runs.curves = runs.curves.iter().map(lowest).collect());
    assert_eq!(of("damped-oscillations", &ran, VIEWS[3]), Evidence { holds: 1.0, fails: 1.0 });
}

#[test]
fn corrections_keep_chance_out_and_let_the_sure_in() {
    // of p values spread evenly, as chance makes them, none counts; of many that are small all do
    let chance: Vec<Evidence> = (1..=1000)
        .map(|i| (f64::from(i) - 0.5) / 1000.0)
        .map(|p| Evidence { holds: p, fails: 1.0 - p })
        .collect();
    assert!(corrected(&chance, 0.05).iter().all(|verdict| *verdict == Verdict::Open));
    let mut some = chance;
    some.extend(vec![Evidence { holds: 1e-6, fails: 1.0 }; 500]);
    let found = corrected(&some, 0.05);
    assert!(found[1000..].iter().all(|verdict| *verdict == Verdict::Holds));
    let mistaken = found[..1000].iter().filter(|verdict| **verdict == Verdict::Holds).count();
    assert!(mistaken > 0 && mistaken < 50, "{mistaken}");
    let sure = [Evidence { holds: 0.0, fails: 1.0 }, Evidence { holds: 1.0, fails: 0.0 }];
    assert_eq!(corrected(&sure, 0.05), [Verdict::Holds, Verdict::Fails]);
}

#[test]
fn shares_have_wilsons_interval() {
    // Wilson's for 1 of 10 at z = 1.96: 0.0179 to 0.4042
    let mut shares = vec![0.0; 10];
    shares[3] = 1.0;
    let found = Share::of(&shares, 1.959964);
    assert!((found.low - 0.01788).abs() < 1e-4 && (found.high - 0.40415).abs() < 1e-4, "{found:?}");
    let none = Share::of(&[0.0; 50], 2.0);
    assert!(none.low == 0.0 && none.high > 0.05 && none.high < 0.1, "{none:?}");
}

#[test]
fn the_question_that_decides_comes_first_and_the_tree_asks_it() {
    let questions = [("a", 3), ("b", 2), ("c", 4)].map(|(name, levels)| {
        (name.to_owned(), (0..levels).map(|level| format!("{name}{level}")).collect::<Vec<_>>())
    });
    let answers: Vec<Vec<usize>> = (0..480).map(|i| vec![i % 3, (i / 3) % 2, (i / 6) % 4]).collect();
    // holds with c2 or c3 if b is b0
    let holds: Vec<bool> = answers.iter().map(|row| row[2] >= 2 && row[1] == 0).collect();
    let rows = Rows { questions: &questions, answers: &answers };
    let found = effects(&rows, &holds);
    assert_eq!(found[2].factor, "a");
    assert!((found[0].range - 0.5).abs() < 1e-12 && found[2].range.abs() < 1e-12);
    let leaf = |share, readings| Box::new(Tree::Leaf { share, readings });
    let Tree::Split { factor, with, without, .. } = tree(&rows, &holds) else { panic!("it asks nothing") };
    assert!(factor == "b" || factor == "c");
    assert_eq!(without, leaf(0.0, 240));
    let Tree::Split { with, without, .. } = *with else { panic!("it asks one question only") };
    assert_eq!((with, without), (leaf(1.0, 120), leaf(0.0, 120)));
}

#[test]
fn every_reading_of_the_design_can_be_planned_and_shares_its_cells() {
    let question = Question::new(READINGS, RULES, false).unwrap();
    let plans = question.plans(0, &mut Known::default()).unwrap();
    assert_eq!(plans.len(), question.readings.len());
    for super::Planned { plan, .. } in &plans {
        let names = |graph: Graph| {
            let own =
                plan.entries.iter().filter(|e| super::experiment::graph_of(&e.topology_name) == Some(graph));
            own.map(|entry| &*entry.method_name).collect::<Vec<_>>()
        };
        for graph in Graph::BOTH {
            let found = names(graph);
            assert!(
                METHODS.iter().all(|method| {
                    let own: Vec<&&str> =
                        found.iter().filter(|name| super::experiment::method_of(name).0 == *method).collect();
                    own.len() == 1 || (own.len() == 5 && own.iter().all(|name| name.contains(" at ")))
                }),
                "{found:?}"
            );
        }
    }
    let confirming = Question::new(READINGS, RULES, true).unwrap();
    assert_ne!(confirming.seed, question.seed);
    let wider = READINGS.replace("sampled = 320", "sampled = 321");
    assert_ne!(
        Question::new(&wider, RULES, true).unwrap().seed,
        confirming.seed,
        "another space, other samples"
    );
    let other = RULES.replace("level = 0.05", "level = 0.04");
    assert_ne!(
        Question::new(READINGS, &other, true).unwrap().seed,
        confirming.seed,
        "another rule, other samples"
    );
}

#[test]
fn a_map_of_made_curves_says_which_reading_is_best() {
    let readings = READINGS.replace("sampled = 320", "sampled = 4").replace("near = 2", "near = 1");
    let question = Question::new(&readings, RULES, false).unwrap();
    let count = question.readings.len();
    let mut ran: Vec<Ran> = vec![wrong(); count];
    ran[5] = right();
    let map = Map::judged(question, ran, vec![Cells::default(); count]);
    let summary = map.summary();
    assert_eq!((summary.best.reading, summary.words.held), (5, 0));
    assert_eq!(summary.best.held, summary.claims.len());
    assert_eq!(summary.near.len(), 2);
    // the best has neighbours that have not run; once they have, and are worse, there is nowhere to climb
    let climbed = map.climbed().unwrap();
    let more = climbed.readings.len() - count;
    assert!(more > 10 && climbed.sampled == map.question.sampled);
    let mut ran = map.ran.clone();
    ran.extend(vec![wrong(); more]);
    let all = Map::judged(climbed, ran, vec![Cells::default(); count + more]);
    assert!(all.climbed().is_none() && all.summary().best.reading == 5);
    let counts = summary.claims.iter().find(|claim| claim.id == "better-than-sgp").unwrap().counts;
    assert_eq!(counts, [12, 12 * (count - 1), 0]);
    // reading 5 differs in all verdicts from the words and from other answers to its question, and they not at all
    let of = &map.question.readings[5];
    let asked = of.iter().position(|level| *level > 0).unwrap();
    for one in &summary.alone {
        let factor = &map.question.space.factors[asked];
        let pairs = if one.factor == factor.name { factor.levels.len() - 1 } else { 0 };
        let most = pairs * 12 * summary.claims.len();
        assert!(
            one.changed <= most && (pairs == 0) == (one.changed == 0) && one.turned <= one.changed,
            "{one:?}"
        );
        assert!(one.pairs > 0 && one.verdicts == one.pairs * 12 * summary.claims.len());
    }
    let csv = super::csv(&map);
    assert_eq!(csv.lines().count(), 1 + count * 12 * summary.claims.len());
}

#[test]
fn pages_say_word_for_word_what_the_stored_summary_makes() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let (readme, reproduction) = (read("README.md"), read("docs/reproduction.md"));
    let summary: serde_json::Value = serde_json::from_str(super::STORED).unwrap();
    for (name, block) in super::pages::blocks(&summary) {
        let page = if name == "readme" { &readme } else { &reproduction };
        let marked = super::pages::marked(name, &block);
        assert!(
            page.contains(&marked),
            "scripts/map-pages brings the pages up to date; block {name}:\n{marked}"
        );
    }
    // what `reproduce` says of a claim is what the page says
    let stored = super::Stored::read().unwrap();
    for claim in summary["claims"].as_array().unwrap() {
        let [holds, fails] = ["holds", "fails"].map(|key| 100.0 * claim[key]["share"].as_f64().unwrap());
        let said = stored.said_of(claim["id"].as_str().unwrap()).unwrap();
        assert_eq!(said, format!("holds {holds:.0} %, fails {fails:.0} %"));
        assert!(
            reproduction.contains(&format!("| {holds:.0} % ("))
                && reproduction.contains(&format!("| {fails:.0} % ("))
        );
    }
    assert!(
        stored.said_of("push-sum-slow").unwrap().contains(" and ") && stored.said_of("lemma-2").is_none()
    );
    // of the files as they are, and of the runs that decide
    let question = Question::new(READINGS, RULES, true).unwrap();
    assert_eq!(summary["rules_sha256"], question.rules.sha256);
    assert_eq!(summary["readings_sha256"], question.readings_sha256);
    assert_eq!((&summary["seed"], &summary["confirms"]), (&question.seed.into(), &true.into()));
}

#[test]
fn files_that_make_no_sense_are_refused_with_their_place() {
    let readings = |from: &str, to: &str| {
        format!("{:#}", Question::new(&READINGS.replace(from, to), RULES, false).unwrap_err())
    };
    let rules = |from: &str, to: &str| {
        format!("{:#}", Question::new(READINGS, &RULES.replace(from, to), false).unwrap_err())
    };
    for (said, expected) in [
        (readings("\"ring\" = { kind = \"ring\" }", "\"ring\" = { kinds = \"ring\" }"), "kinds"),
        (readings("levels = [900, 600, 300]", "levels = [900, 601]"), "601 is not among the states"),
        (readings("\"F\", \"F − F*\"", "\"G\""), "is not one of its levels"),
        (readings("{ root = 0 }", "{ momentum = 0.5 }"), "settled by another question"),
        (readings("repetitions = 5", "repetitions = 1"), "without two"),
        (readings("sampled = 320", "sampled = 100000000"), "too many"),
        (readings("[design]", "[designs]"), "designs"),
        (rules("level = 0.05", "level = 0.7"), "`level` = 0.7"),
        (rules("\"SGP\", \"Push-DIGing\"", "\"SPG\""), "no method is called \"SPG\""),
        (rules("{ close = [\"SMTPP\", \"CSGDM\"] }", "{ close = [\"SMTPP\"] }"), "two methods"),
        (rules("id = \"sgp-slow\"", "id = \"push-diging-slow\""), "taken already"),
        (
            rules("rule = { lower = [\"STPP\"], than = [\"SGP\"] }", "rule = { lower = [\"STPP\"] }"),
            "`than` whom",
        ),
    ] {
        assert!(said.contains(expected), "{said}");
    }
}
