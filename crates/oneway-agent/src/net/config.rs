//! How an agent's Zenoh session is set up.

use std::path::PathBuf;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::keys::Keys;
use super::observer::OBSERVER;
use crate::frame::Graph;
use crate::ties::Ties;

/// Where an agent listens, whom it dials, and how it shows who it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoints {
    /// Where others find it, as `tcp/address:port` or `tls/address:port`.
    pub listen: String,
    /// Where it finds those neighbours that it dials. Of two neighbours the one with the higher number dials: two connections
    /// between the same two would be one too many.
    pub connect: Vec<String>,
    /// Keys and certificates; none for links without TLS.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tls: Option<Tls>,
    /// Whether it publishes its estimates, for whoever looks on.
    #[serde(skip_serializing_if = "is_false", default)]
    pub observed: bool,
}

impl Endpoints {
    /// What is wrong with it, whatever the network is like.
    pub fn check(&self) -> anyhow::Result<()> {
        for endpoint in self.connect.iter().chain([&self.listen]) {
            if endpoint.parse::<zenoh::config::EndPoint>().is_err() {
                anyhow::bail!("`{endpoint}` is not an endpoint such as tcp/10.0.0.1:7450");
            }
        }
        for file in
            self.tls.iter().flat_map(|Tls { authority, certificate, key }| [authority, certificate, key])
        {
            std::fs::File::open(file).with_context(|| file.display().to_string())?;
        }
        Ok(())
    }
}

fn is_false(given: &bool) -> bool {
    !given
}

/// Files with keys and certificates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate of the authority that signed those of all agents.
    pub authority: PathBuf,
    /// The agent's own, for the name `agent-<number>`.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// The common name in an agent's certificate.
pub fn common_name(agent: usize) -> String {
    format!("agent-{agent}")
}

/// The settings of the session: peers with explicit endpoints, no discovery of any kind.
pub fn settings(endpoints: &Endpoints, keys: &Keys, ties: &Ties, longest_frame: usize) -> Value {
    let wait_before_close_micros = 60_000_000u64;
    let mut settings = json!({
        "mode": "peer",
        "listen": { "endpoints": [endpoints.listen], "timeout_ms": 10_000, "exit_on_failure": true,
            "retry": { "period_init_ms": 100, "period_max_ms": 1000, "period_increase_factor": 2 } },
        "connect": { "endpoints": endpoints.connect, "timeout_ms": -1, "exit_on_failure": false,
            "retry": { "period_init_ms": 50, "period_max_ms": 200, "period_increase_factor": 2 } },
        "open": { "return_conditions": { "connect_scouted": false, "declares": false } },
        "scouting": {
            "multicast": { "enabled": false },
            "gossip": { "enabled": false },
        },
        "transport": {
            "unicast": { "max_links": 1 },
            "link": {
                "tx": { "queue": { "congestion_control": { "block": { "wait_before_close": wait_before_close_micros } } } },
                // a row, and room for small talk
                "rx": { "max_message_size": longest_frame + (1 << 16) },
            },
            "shared_memory": { "enabled": false },
        },
    });
    if let Some(Tls { authority, certificate, key }) = &endpoints.tls {
        settings["transport"]["link"]["tls"] = json!({
            "root_ca_certificate": authority,
            "listen_certificate": certificate,
            "listen_private_key": key,
            "connect_certificate": certificate,
            "connect_private_key": key,
            "enable_mtls": true,
            "verify_name_on_connect": true,
        });
        settings["access_control"] = access(keys, ties, endpoints.observed);
    }
    settings
}

/// Who may say what to this agent: each neighbour on its own links, and nobody anything else. An observer may listen to estimates and
/// see who is there, and say nothing.
fn access(keys: &Keys, ties: &Ties, observed: bool) -> Value {
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
        let subject = common_name(who);
        subjects.push(json!({ "id": subject, "cert_common_names": [subject] }));
        policies.push(json!({ "rules": names, "subjects": [subject] }));
    }
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
        subjects.push(json!({ "id": OBSERVER, "cert_common_names": [OBSERVER] }));
        policies.push(json!({ "rules": [OBSERVER, "observer watches"], "subjects": [OBSERVER] }));
    }
    subjects.push(json!({ "id": "anyone" }));
    policies.push(json!({ "rules": ["out"], "subjects": ["anyone"] }));
    json!({
        "enabled": true, "default_permission": "deny",
        "rules": rules, "subjects": subjects, "policies": policies,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway::graph::families;
    use oneway::topology::{Subgraph, Topology, Weights};

    fn endpoints(tls: Option<Tls>) -> Endpoints {
        Endpoints { listen: "tcp/127.0.0.1:0".to_owned(), connect: vec![], tls, observed: true }
    }

    #[test]
    fn zenoh_takes_the_settings_with_and_without_tls() {
        let topology =
            Topology::of(&[families::ring(4).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
        let ties = Ties::of(&topology, 1);
        let files = Tls { authority: "ca.pem".into(), certificate: "1.pem".into(), key: "1.key".into() };
        for tls in [None, Some(files)] {
            let settings = settings(&endpoints(tls), &Keys::new("abc"), &ties, 1000);
            zenoh::Config::from_json5(&settings.to_string()).unwrap();
        }
    }

    #[test]
    fn a_neighbour_may_speak_on_its_own_links_only() {
        let topology =
            Topology::of(&[families::ring(4).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
        let access = access(&Keys::new("abc"), &Ties::of(&topology, 1), true);
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
