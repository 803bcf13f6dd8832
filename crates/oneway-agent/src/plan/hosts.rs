//! `hosts.toml`: where the agents of a plan are.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Where agents are, one for each.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// `address:port` of each agent, as others see it.
    pub addresses: Vec<String>,
    /// Where each listens, if that differs. Agents beyond the end have none.
    pub binds: Vec<Option<String>>,
    /// `address:port` of each agent's page for Prometheus, or none.
    pub metrics: Vec<String>,
    /// The folder of keys and certificates, if links use TLS: `authority.pem`, `agent-<number>.pem` and
    /// `.key`.
    pub keys: Option<PathBuf>,
    /// Whether addresses are not known yet: agents find them when they are started as one job.
    pub meets: bool,
}

/// A port of this machine, on all of its addresses, at which nobody listens now.
pub fn free_port() -> Result<u16> {
    let address = free("0.0.0.0", 1)?.remove(0);
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    port.context("an address has a port")
}

/// Addresses on this machine at which nobody listens now, for agents that are started here.
pub fn free_addresses(count: usize) -> Result<Vec<String>> {
    free("127.0.0.1", count)
}

/// Addresses of this host at which nobody listens now.
///
/// Their ports are below those that the system gives to outgoing connections: a port of those may be taken by
/// a neighbour that dials before its agent has come to listen.
fn free(host: &str, count: usize) -> Result<Vec<String>> {
    const FIRST: u32 = 10_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let ports = outgoing_from().saturating_sub(FIRST).max(1);
    let start = std::process::id().wrapping_mul(2_654_435_761); // processes begin far from each other
    let mut free = vec![];
    for _ in 0..ports {
        if free.len() == count {
            break;
        }
        let port = FIRST + start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % ports;
        let address = format!("{host}:{port}");
        if TcpListener::bind(&address).is_ok() {
            free.push(address);
        }
    }
    if free.len() < count {
        bail!("this machine has {} free ports from {FIRST} on, and {count} are needed", free.len());
    }
    Ok(free)
}

/// The first port that the system gives to outgoing connections.
fn outgoing_from() -> u32 {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(32_768)
}

/// `hosts.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostsFile {
    /// One for each agent, in order.
    agent: Vec<HostEntry>,
}

/// One `[[agent]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostEntry {
    /// `host:port` where its neighbours find it.
    address: String,
    /// `host:port` that it listens at, where that differs.
    bind: Option<String>,
    /// `host:port` of its metrics pages.
    metrics: Option<String>,
}

/// Reads `hosts.toml`.
pub fn read_hosts(path: &Path, keys: Option<PathBuf>) -> Result<Hosts> {
    let read = || {
        let text = std::fs::read_to_string(path)?;
        let HostsFile { agent } = toml::from_str(&text)?;
        for (number, HostEntry { address, bind, metrics }) in agent.iter().enumerate() {
            for given in metrics.iter().chain(bind).chain([address]) {
                host_of(given).with_context(|| format!("agent {number}"))?;
            }
            if let Some(other) = agent[..number].iter().position(|other| other.address == *address) {
                bail!("agents {other} and {number} have the same address {address}");
            }
        }
        let with = agent.iter().filter(|agent| agent.metrics.is_some()).count();
        if with != 0 && with != agent.len() {
            bail!("give `metrics` for all agents or for none");
        }
        let mut hosts = Hosts { keys, ..Hosts::default() };
        for HostEntry { address, bind, metrics } in agent {
            hosts.addresses.push(address);
            hosts.binds.push(bind);
            hosts.metrics.extend(metrics);
        }
        anyhow::Ok(hosts)
    };
    read().with_context(|| path.display().to_string())
}

/// The host of `host:port`.
pub fn host_of(address: &str) -> Result<String> {
    let parts =
        address.rsplit_once(':').filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    match parts {
        Some((host, _)) => Ok(host.trim_start_matches('[').trim_end_matches(']').to_owned()),
        None => bail!("\"{address}\" is no address: give host:port, as in 10.0.0.1:7450"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Result<Hosts, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts.toml");
        std::fs::write(&path, text).unwrap();
        read_hosts(&path, None).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn hosts_are_read_strictly() {
        let good = hosts("[[agent]]\naddress = \"10.0.0.1:1\"\n[[agent]]\naddress = \"[::1]:2\"").unwrap();
        assert_eq!(good.addresses, ["10.0.0.1:1", "[::1]:2"]);
        assert_eq!(host_of("[::1]:2").unwrap(), "::1");
        for (text, words) in [
            ("", "missing field `agent`"),
            ("[[agent]]\naddress = \"a\"", "agent 0: \"a\" is no address: give host:port"),
            ("[[agent]]\naddress = \"a:1\"\nport = 2", "unknown field `port`"),
            (
                "[[agent]]\naddress = \"a:1\"\n[[agent]]\naddress = \"a:1\"",
                "agents 0 and 1 have the same address a:1",
            ),
            (
                "[[agent]]\naddress = \"a:1\"\n[[agent]]\naddress = \"a:2\"\nmetrics = \"a:3\"",
                "give `metrics` for all agents or for none",
            ),
        ] {
            let error = hosts(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
