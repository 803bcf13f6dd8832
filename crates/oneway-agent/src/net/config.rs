//! How an agent's Zenoh session is set up.

use std::path::PathBuf;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::keys::Keys;
use super::observer::OBSERVER;
use super::secure::id;
use crate::frame::Graph;
use crate::ties::Ties;

/// Where an agent listens, whom it dials, and how it shows who it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoints {
    /// Where others find it, as `tcp/host:port`, or `tls/host:port` with keys.
    pub listen: String,
    /// `host:port` to listen at where that is another: all addresses of a machine, say, or one behind a translation of addresses.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bind: Option<String>,
    /// Where it finds those neighbours that it dials. Of two neighbours the one with the higher number dials: two connections
    /// between the same two would be one too many.
    pub connect: Vec<Dial>,
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
        let protocol = if self.tls.is_some() { "tls" } else { "tcp" };
        let dialled = self.connect.iter().map(|dial| &dial.address);
        for endpoint in dialled.chain([&self.listen]) {
            let address = endpoint.strip_prefix(protocol).and_then(|rest| rest.strip_prefix('/'));
            let port = address.and_then(|address| address.rsplit_once(':')?.1.parse::<u16>().ok());
            if port.is_none() || endpoint.parse::<zenoh::config::EndPoint>().is_err() {
                let keys = if self.tls.is_some() { "with" } else { "without" };
                anyhow::bail!(
                    "`{endpoint}` is not an endpoint such as {protocol}/10.0.0.1:7450, for links {keys} keys"
                );
            }
        }
        if let Some(bind) = &self.bind
            && bind
                .rsplit_once(':')
                .is_none_or(|(host, port)| host.is_empty() || port.parse::<u16>().is_err())
        {
            anyhow::bail!("`bind` = \"{bind}\" is not an address such as 0.0.0.0:7450");
        }
        for file in
            self.tls.iter().flat_map(|Tls { authority, certificate, key }| [authority, certificate, key])
        {
            std::fs::File::open(file).with_context(|| file.display().to_string())?;
        }
        Ok(())
    }
}

impl Endpoints {
    /// Where it listens, as an endpoint.
    pub(super) fn listens_at(&self) -> String {
        let protocol = if self.tls.is_some() { "tls" } else { "tcp" };
        self.bind.as_ref().map_or_else(|| self.listen.clone(), |bind| format!("{protocol}/{bind}"))
    }
}

fn is_false(given: &bool) -> bool {
    !given
}

/// A neighbour that is dialled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dial {
    /// Its number.
    pub agent: usize,
    /// Where it is found, as `tcp/host:port` or `tls/host:port`.
    pub address: String,
}

/// Files with keys and certificates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate of the authority that signed those of all agents.
    pub authority: PathBuf,
    /// The agent's own, for the [name](common_name) `agent-<number>`.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// The name in an agent's certificate.
pub fn common_name(agent: usize) -> String {
    format!("agent-{agent}")
}

/// Where a Zenoh session listens and whom it dials, as endpoints of its own.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) listen: Vec<String>,
    pub(super) connect: Vec<String>,
    /// Its Zenoh id, where that is to be known beforehand.
    pub(super) id: Option<String>,
}

impl Session {
    /// The settings of a session: peers with explicit endpoints, no discovery of any kind. A message is at most as long as a frame.
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
                    // a row, and room for small talk
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

/// Who may say what to this agent: each neighbour on its own links, and nobody anything else. An observer may listen to estimates and
/// see who is there, and say nothing. Peers are known by their Zenoh ids, which [tunnels](super::secure) hold against certificates.
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
            // whoever comes in and is no neighbour is an observer, and a neighbour is none
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
            Topology::of(&[families::ring(4).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
        let ties = Ties::of(&topology, 1);
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
    fn endpoints_are_those_of_links_with_or_without_keys() {
        let check = |listen: &str, bind: Option<&str>, tls: bool| {
            let files = Tls { authority: "a".into(), certificate: "b".into(), key: "c".into() };
            let (listen, bind) = (listen.to_owned(), bind.map(str::to_owned));
            let dial = Dial { agent: 0, address: listen.clone() };
            let tls = tls.then_some(files);
            let checked = Endpoints { listen, bind, connect: vec![dial], tls, observed: false }.check();
            format!("{:#}", checked.err().unwrap_or_else(|| anyhow::anyhow!("good")))
        };
        assert_eq!(check("tcp/10.0.0.1:7450", Some("0.0.0.0:7450"), false), "good");
        for (listen, tls) in
            [("tls/a:1", false), ("tcp/a:1", true), ("quic/a:1", true), ("tcp/a", false), ("a:1", false)]
        {
            assert!(check(listen, None, tls).contains("is not an endpoint such as"), "{listen}");
        }
        assert!(check("tcp/a:1", Some("a"), false).contains("`bind`"));
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
