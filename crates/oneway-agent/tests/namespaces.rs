//! Agents on a network of their own: each in a namespace with one cable to a switch, which is pulled out, or
//! made bad. Needs root and a kernel that has these; elsewhere it is [left out](crew::leave_out).
#![allow(clippy::unwrap_used)]

mod crew;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crew::{Crew, Place, RING, a9a, soon};

const AGENTS: usize = 3;

/// Runs `ip` with these words; what it complained of.
fn ip(words: &str) -> Result<(), String> {
    let said = Command::new("ip").args(words.split_whitespace()).output();
    let said = said.map_err(|error| format!("ip: {error}"))?;
    let complaint = || format!("ip {words}: {}", String::from_utf8_lossy(&said.stderr).trim());
    if said.status.success() { Ok(()) } else { Err(complaint()) }
}

/// A switch in a namespace, and a namespace with a cable to it for each agent; gone afterwards, whatever
/// happens.
struct Net {
    name: String,
}

impl Net {
    fn new() -> Result<Self, String> {
        static NETS: AtomicUsize = AtomicUsize::new(0);
        let number = NETS.fetch_add(1, Ordering::Relaxed);
        let net = Self { name: format!("oneway-{}-{number}", std::process::id()) };
        let switch = net.switch();
        ip(&format!("netns add {switch}"))?;
        ip(&format!("-n {switch} link add switch type bridge"))?;
        ip(&format!("-n {switch} link set switch up"))?;
        for agent in 0..AGENTS {
            let (space, address) = (net.space(agent), Self::address(agent));
            ip(&format!("netns add {space}"))?;
            ip(&format!("-n {switch} link add port{agent} type veth peer name cable netns {space}"))?;
            ip(&format!("-n {switch} link set port{agent} master switch up"))?;
            ip(&format!("-n {space} address add {address}/24 dev cable"))?;
            ip(&format!("-n {space} link set cable up"))?;
            ip(&format!("-n {space} link set lo up"))?;
        }
        ip(&format!("netns exec {} true", net.space(0)))?;
        Ok(net)
    }

    /// One, or the reason why there is none here.
    fn or_reason() -> Option<Self> {
        Self::new().map_err(|why| crew::leave_out("namespaces", &why)).ok()
    }

    fn switch(&self) -> String {
        format!("{}-switch", self.name)
    }

    fn space(&self, agent: usize) -> String {
        format!("{}-{agent}", self.name)
    }

    fn address(agent: usize) -> String {
        format!("10.213.7.{}", agent + 1)
    }

    /// Pulls an agent's cable out of the switch, or puts it in.
    fn plug(&self, agent: usize, into: bool) {
        let way = if into { "up" } else { "down" };
        ip(&format!("-n {} link set port{agent} {way}", self.switch())).unwrap();
    }

    fn plan(place: &Place, options: &[&str]) -> Crew {
        let host = |agent| format!("[[agent]]\naddress = \"{}:7450\"\n", Self::address(agent));
        Crew::plan_on(place, &(0..AGENTS).map(host).collect::<String>(), AGENTS, options)
    }

    fn start_all(&self, crew: &mut Crew) {
        for agent in 0..AGENTS {
            let mut command = Command::new("ip"); // which becomes the agent: signals go to it
            command.args(["netns", "exec", &self.space(agent), env!("CARGO_BIN_EXE_oneway-agent")]);
            crew.start_by(agent, command, &[]);
        }
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for space in (0..AGENTS).map(|agent| self.space(agent)).chain([self.switch()]) {
            let _ = ip(&format!("netns delete {space}"));
        }
    }
}

/// Pulls out the cable of agent 1 for five seconds.
fn pull_out_for_five_seconds(options: &[&str]) {
    let Some(net) = Net::or_reason() else { return };
    let place = Place::new(&a9a(AGENTS, 4000, RING));
    let mut crew = Net::plan(&place, options);
    net.start_all(&mut crew);
    crew.wait_for_states(1, 20_000, soon());
    net.plug(1, false);
    std::thread::sleep(Duration::from_secs(5));
    crew.wait_for_any_words("waiting for the", soon());
    assert!(crew.children.iter_mut().flatten().all(|child| child.try_wait().unwrap().is_none()));
    net.plug(1, true);
    crew.assert_simulated(&place, soon());
}

/// Neighbours keep all rows, so that a question that was on its way for five seconds still has an answer.
#[test]
fn a_cable_that_is_pulled_out_for_five_seconds_changes_nothing() {
    pull_out_for_five_seconds(&["--checkpoint-every", "3000"]);
}

/// A question that was held up is answered "gone" when its row has long come, and that is no reason to stop.
#[test]
fn a_cable_that_is_pulled_out_for_five_seconds_changes_nothing_where_rows_are_soon_forgotten() {
    pull_out_for_five_seconds(&[]);
}

/// So long that the connections are given up, and made anew.
#[test]
fn a_cable_that_is_pulled_out_until_all_give_it_up_changes_nothing() {
    let Some(net) = Net::or_reason() else { return };
    let place = Place::new(&a9a(AGENTS, 4000, RING));
    let mut crew = Net::plan(&place, &[]);
    net.start_all(&mut crew);
    crew.wait_for_words(1, "agent 0 is there", soon());
    std::thread::sleep(Duration::from_millis(200));
    net.plug(1, false);
    crew.wait_for_words(0, "agent 1 is away", soon());
    crew.wait_for_words(1, "agent 2 is away", soon());
    net.plug(1, true);
    crew.assert_simulated(&place, soon());
}

#[test]
fn packets_that_are_lost_and_late_change_nothing() {
    let Some(net) = Net::or_reason() else { return };
    for agent in 0..AGENTS {
        let bad = "delay 3ms 2ms loss 1% duplicate 1% reorder 5%";
        let netem = format!("netns exec {} tc qdisc add dev cable root netem {bad}", net.space(agent));
        if let Err(why) = ip(&netem) {
            return crew::leave_out("netem", &why);
        }
    }
    let place = Place::new(&a9a(AGENTS, 300, RING));
    let mut crew = Net::plan(&place, &[]);
    net.start_all(&mut crew);
    crew.assert_simulated(&place, soon());
}
