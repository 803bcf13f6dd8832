//! Where agents are: addresses, and the files that prove who they are.

use std::path::PathBuf;

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// Where an agent listens, whom it dials, and how it proves who it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoints {
    /// Where others find it, as `tcp/host:port`, or `tls/host:port` with keys.
    pub listen: String,
    /// `host:port` to listen at, where that differs: all addresses of a machine, or one behind address
    /// translation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bind: Option<String>,
    /// The neighbours that it dials. Of two neighbours the one with the higher number dials, so that there is
    /// one connection.
    pub connect: Vec<Dial>,
    /// Keys and certificates; none for links without TLS.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tls: Option<Tls>,
    /// Whose addresses these are, where the processes of a job find each other: [`NOT_YET`], or the start of the
    /// job that found them. None if they were given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub met: Option<String>,
    /// The first and the last agent of its process, where a process of a job has several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub block: Option<(usize, usize)>,
    /// Whether it publishes its estimates, for observers.
    #[serde(skip_serializing_if = "is_false", default)]
    pub observed: bool,
}

impl Endpoints {
    /// Refuses what cannot work on any network.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.met.as_deref() == Some(NOT_YET) {
            anyhow::bail!(
                "this agent has no addresses yet: start `oneway-agent run plan.toml` as a job of all agents"
            );
        }
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

    /// Where it listens, as an endpoint.
    pub fn listens_at(&self) -> String {
        let protocol = if self.tls.is_some() { "tls" } else { "tcp" };
        self.bind.as_ref().map_or_else(|| self.listen.clone(), |bind| format!("{protocol}/{bind}"))
    }
}

/// No job has found the addresses.
pub const NOT_YET: &str = "not yet";

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
    /// The agent's certificate, for the [name](common_name) `agent-<number>`.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// The common name in an observer's certificate.
pub const OBSERVER: &str = "observer";

/// The name in an agent's certificate.
pub fn common_name(agent: usize) -> String {
    format!("agent-{agent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_those_of_links_with_or_without_keys() {
        let check = |listen: &str, bind: Option<&str>, tls: bool| {
            let files = Tls { authority: "a".into(), certificate: "b".into(), key: "c".into() };
            let (listen, bind) = (listen.to_owned(), bind.map(str::to_owned));
            let dial = Dial { agent: 0, address: listen.clone() };
            let tls = tls.then_some(files);
            let checked =
                Endpoints { listen, bind, connect: vec![dial], tls, met: None, block: None, observed: false }
                    .check();
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
}
