//! Links with certificates: the same bits, and nobody speaks in another's name.
#![allow(clippy::unwrap_used)]

mod crew;

use std::time::Duration;

use crew::{Crew, Place, RING, SMTPP, agent, complaint, quadratic};

/// Makes keys for three agents on loopback.
fn keys(place: &Place, name: &str) -> std::path::PathBuf {
    let hosts = place.path("hosts-for-keys.toml");
    std::fs::write(&hosts, crew::hosts_file(3)).unwrap();
    let folder = place.path(name);
    let made = agent().arg("keys").arg("--hosts").arg(hosts).arg("--out").arg(&folder).output().unwrap();
    assert!(made.status.success(), "{}", complaint(&made));
    folder
}

fn plan(place: &Place, patience: &str) -> Crew {
    let keys = keys(place, "keys");
    Crew::plan(place, 3, &["--keys", keys.to_str().unwrap(), "--patience", patience])
}

#[test]
fn agents_with_certificates_have_the_simulators_bits() {
    let place = Place::new(&quadratic(3, 200, &format!("{RING}{SMTPP}")));
    let mut crew = plan(&place, "60");
    crew.start_all();
    crew.assert_simulated(&place, Duration::from_secs(300));
}

/// Agent 2 with the certificate of agent 1, with one of another authority, and with none: agent 0 hears nothing.
#[test]
fn nobody_speaks_in_anothers_name() {
    let place = Place::new(&quadratic(3, 200, &format!("{RING}{SMTPP}")));
    let foreign = keys(&place, "foreign");
    let mut crew = plan(&place, "6.5");
    let whole = std::fs::read_to_string(crew.config(2)).unwrap();
    let own = place.path("keys");
    for (from, to) in
        [("agent-2.pem", "agent-1.pem"), (own.to_str().unwrap(), foreign.to_str().unwrap()), ("tls/", "tcp/")]
    {
        let mut changed = whole.replace(from, to);
        if from == "agent-2.pem" {
            changed = changed.replace("agent-2.key", "agent-1.key");
        }
        std::fs::write(crew.config(2), changed).unwrap();
        (0..3).for_each(|agent| crew.start(agent));
        let before = crew.log(0).len();
        let status = crew.wait(0, Duration::from_secs(60));
        assert_eq!(status.code(), Some(75), "{to}: {}", crew.log(0));
        let said = &crew.log(0)[before..];
        assert!(said.contains("agent 2 is away: waited for its pull row of round 0"), "{to}: {said}");
        (0..3).for_each(|agent| crew.kill(agent));
    }
    std::fs::write(crew.config(2), whole).unwrap();
    (0..3).for_each(|agent| crew.edit(agent, "patience = 6.5", "patience = 300.0"));
    crew.start_all();
    crew.assert_simulated(&place, Duration::from_secs(300));
}
