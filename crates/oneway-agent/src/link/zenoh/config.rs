//! How an agent's Zenoh session is set up.

use oneway::graph::Graph;
use serde_json::{Value, json};

use super::keys::Keys;
use super::secure::id;
use crate::plan::endpoints::{OBSERVER, common_name};
use crate::plan::ties::Ties;

/// Where a Zenoh session listens and whom it dials, as endpoints.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) listen: Vec<String>,
    pub(super) connect: Vec<String>,
    /// Its Zenoh id, where peers must know it.
    pub(super) id: Option<String>,
}

impl Session {
    /// The settings of a session: peers with explicit endpoints, no discovery of any kind. A message is at
    /// most as long as a frame.
    pub(super) fn settings(&self, longest_frame: usize) -> Value {
        let Self { listen, connect, id } = self;
        let wait_before_close_micros = 60_000_000u64;
        let mut settings = json!({
            "mode": "peer",
            "listen": { "endpoints": listen, "timeout_ms": 10_000, "exit_on_failure": true,
                "retry": { "period_init_ms": 100, "period_max_ms": 1000, "period_increase_factor": 2 } },
            "connect": { "endpoints": connect, "timeout_ms": -1, "exit_on_failure": false,
                "retry": { "period_init_ms": 50, "period_max_ms": 200, "period_increase_factor": 2 } },
            "open": { "return_conditions": { "connect_scouted": false, "declares": false } },
            "scouting": {
                "multicast": { "enabled": false },
                "gossip": { "enabled": false },
            },
            "transport": {
                "unicast": { "max_links": 1 },
                "link": {
                    "tx": { "queue": { "congestion_control": {
                        "block": { "wait_before_close": wait_before_close_micros } } } },
                    // a row, and room for other messages
                    "rx": { "max_message_size": longest_frame + (1 << 16) },
                },
                "shared_memory": { "enabled": false },
            },
        });
        if let Some(id) = id {
            settings["id"] = json!(id);
        }
        settings
    }
}

/// Access control: each neighbour may use the keys of its own links, and no others. An observer may subscribe
/// to estimates and tokens, and send nothing. Peers are known by their Zenoh ids, which
/// [tunnels](super::secure) compare with certificates.
pub(super) fn access(keys: &Keys, ties: &Ties, observed: bool) -> Value {
    let me = ties.agent;
    let mut rules = vec![json!({
        "id": "out",
        "permission": "allow",
        "flows": ["egress"],
        "messages": ["put", "delete", "declare_subscriber", "query", "reply", "declare_queryable",
            "liveliness_token", "liveliness_query", "declare_liveliness_subscriber"],
        "key_exprs": ["oneway/**"],
    })];
    let (mut subjects, mut policies) = (vec![], vec![]);
    for who in ties.neighbours() {
        let heard = Graph::BOTH.into_iter().filter(|&graph| ties.heard(graph).contains(&who));
        let hears = Graph::BOTH.into_iter().filter(|&graph| ties.hearers(graph).contains(&who));
        let said: Vec<String> = heard.clone().map(|graph| keys.rows(graph, who, me)).collect();
        let answers = heard.map(|graph| keys.again(graph, who, me)).chain([Keys::hello(who)]);
        let listens: Vec<String> = hears.clone().map(|graph| keys.rows(graph, me, who)).collect();
        let asks = hears.map(|graph| keys.again(graph, me, who)).chain([Keys::hello(me)]);
        let tokens = |of| vec![keys.alive(of), keys.any_done(of)];
        let mut names = vec![];
        let all: [(&str, Vec<&str>, Vec<String>); 6] = [
            ("says", vec!["put"], said),
            ("listens", vec!["declare_subscriber"], listens),
            ("answers", vec!["reply", "declare_queryable"], answers.collect()),
            ("asks", vec!["query"], asks.collect()),
            ("lives", vec!["liveliness_token"], tokens(who)),
            ("watches", vec!["liveliness_query", "declare_liveliness_subscriber"], tokens(me)),
        ];
        for (does, messages, key_exprs) in all.into_iter().filter(|(_, _, keys)| !keys.is_empty()) {
            let id = format!("{who} {does}");
            rules.push(json!({
                "id": id, "permission": "allow", "flows": ["ingress"],
                "messages": messages, "key_exprs": key_exprs,
            }));
            names.push(id);
        }
        if observed {
            // every peer that is not a neighbour is an observer; a neighbour is not one
            let id = format!("{who} does not observe");
            rules.push(json!({
                "id": id, "permission": "deny", "flows": ["ingress"],
                "messages": ["declare_subscriber"], "key_exprs": [keys.estimate(me)],
            }));
            names.push(id);
        }
        let subject = common_name(who);
        subjects.push(json!({ "id": subject, "zids": [id::agent(who)] }));
        policies.push(json!({ "rules": names, "subjects": [subject] }));
    }
    let mut anyone = vec!["out"];
    if observed {
        rules.push(json!({
            "id": OBSERVER, "permission": "allow", "flows": ["ingress"],
            "messages": ["declare_subscriber"], "key_exprs": [keys.estimate(me)],
        }));
        rules.push(json!({
            "id": "observer watches", "permission": "allow", "flows": ["ingress"],
            "messages": ["liveliness_query", "declare_liveliness_subscriber"],
            "key_exprs": [keys.alive(me), keys.any_done(me)],
        }));
        anyone.extend([OBSERVER, "observer watches"]);
    }
    subjects.push(json!({ "id": "anyone" }));
    policies.push(json!({ "rules": anyone, "subjects": ["anyone"] }));
    json!({
        "enabled": true, "default_permission": "deny",
        "rules": rules, "subjects": subjects, "policies": policies,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway::graph::families;
    use oneway::graph::topology::{Subgraph, Topology, Weights};

    #[test]
    fn zenoh_takes_the_settings_with_and_without_access_control() {
        let topology =
            Topology::from_digraphs(&[families::ring(4).unwrap()], Subgraph::Full, Weights::Uniform, 0)
                .unwrap();
        let ties = Ties::from_topology(&topology, 1);
        for id in [None, Some(id::agent(1))] {
            let session = Session { listen: vec!["tcp/127.0.0.1:0".to_owned()], id, ..Session::default() };
            let mut settings = session.settings(1000);
            if session.id.is_some() {
                settings["access_control"] = access(&Keys::new("abc"), &ties, true);
            }
            zenoh::Config::from_json5(&settings.to_string()).unwrap();
        }
    }

    #[test]
    fn a_neighbour_may_speak_on_its_own_links_only() {
        let topology =
            Topology::from_digraphs(&[families::ring(4).unwrap()], Subgraph::Full, Weights::Uniform, 0)
                .unwrap();
        let access = access(&Keys::new("abc"), &Ties::from_topology(&topology, 1), true);
        let keys_of = |id: &str| {
            let rule = access["rules"].as_array().unwrap().iter().find(|rule| rule["id"] == id)?;
            Some(rule["key_exprs"].as_array()?.iter().filter_map(Value::as_str).collect::<Vec<_>>())
        };
        assert_eq!(keys_of("0 says").unwrap(), ["oneway/abc/pull/0/1", "oneway/abc/push/0/1"]);
        assert_eq!(keys_of("2 says"), None, "2 hears 1, and has nothing to say to it");
        assert_eq!(keys_of("2 listens").unwrap(), ["oneway/abc/pull/1/2", "oneway/abc/push/1/2"]);
        assert_eq!(keys_of("3 listens"), None, "no neighbour at all");
        assert_eq!(keys_of("observer").unwrap(), ["oneway/abc/estimate/1"]);
    }
}
