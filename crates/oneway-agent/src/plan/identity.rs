//! The identity of an agent: what neighbours compare before they accept each other's rows.

use oneway::numeric::Precision;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The longest identity that is read, in bytes.
const LONGEST: usize = 64 << 10;

/// All that a run's answer depends on, and which agent says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Version of the [protocol](crate::wire).
    pub protocol: u8,
    /// Fingerprint of the code that results depend on.
    pub code: String,
    /// The run's name: the hash of all that its result depends on.
    pub run: String,
    /// How many agents there are.
    pub agents: usize,
    /// Hash of R and C over the whole period.
    pub topology: String,
    /// Hash of the problem: its data and how they are split.
    pub problem: String,
    /// The method with its parameters, and the steps.
    pub method: String,
    /// Seed of the sampling, as text: TOML's numbers end at 2⁶³.
    #[serde(with = "as_text")]
    pub seed: u64,
    /// Rounds to be done.
    pub rounds: u64,
    /// The precision of states and rows.
    #[serde(with = "as_name", default)]
    pub precision: Precision,
    /// The agent's number.
    pub agent: usize,
}

impl Identity {
    /// SHA-256 of all of it but the agent's number.
    pub fn fingerprint(&self) -> [u8; 32] {
        let Self {
            protocol,
            code,
            run,
            agents,
            topology,
            problem,
            method,
            seed,
            rounds,
            precision,
            agent: _,
        } = self;
        let fields = format!(
            "{protocol}\n{code}\n{run}\n{agents}\n{topology}\n{problem}\n{method}\n{seed}\n{rounds}\n{precision}"
        );
        Sha256::digest(fields).into()
    }

    /// The first eight bytes of the fingerprint, which are in every frame.
    pub fn run_id(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.fingerprint();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The run's name in keys.
    pub fn key(&self) -> String {
        format!("{:016x}", self.run_id())
    }

    /// How a peer that should be agent `expected` differs; nothing if it belongs to the same run.
    pub fn difference(&self, peer: &Identity, expected: usize) -> Option<String> {
        let differs = |what: &str, mine: &dyn ToString, theirs: &dyn ToString| {
            let (mine, theirs) = (mine.to_string(), theirs.to_string());
            (mine != theirs).then(|| format!("{what} is {}, here {}", short(&theirs), short(&mine)))
        };
        [
            differs("its protocol version", &self.protocol, &peer.protocol),
            differs("its code", &self.code, &peer.code),
            differs("its number of agents", &self.agents, &peer.agents),
            differs("its topology", &self.topology, &peer.topology),
            differs("its problem", &self.problem, &peer.problem),
            differs("its method", &self.method, &peer.method),
            differs("its seed", &self.seed, &peer.seed),
            differs("its number of rounds", &self.rounds, &peer.rounds),
            differs("its precision", &self.precision, &peer.precision),
            differs("its run", &self.run, &peer.run),
            (peer.agent != expected).then(|| format!("it is agent {}, not agent {expected}", peer.agent)),
        ]
        .into_iter()
        .flatten()
        .next()
    }

    /// As it is sent under `hello`.
    pub fn to_json(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// From bytes that may be anything; nothing if they are not an identity, or too long.
    pub fn from_json(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= LONGEST).then(|| serde_json::from_slice(bytes).ok())?
    }

    /// The code of this program, as far as bits depend on it.
    pub fn code() -> String {
        format!("{}-{}", oneway_experiment::code(), env!("ONEWAY_AGENT_CODE"))
    }

    /// The version of the [protocol](crate::wire) that this program speaks. An agent of another version is
    /// refused.
    pub const PROTOCOL: u8 = 2;
}

/// A precision by its name.
pub(crate) mod as_name {
    use oneway::numeric::Precision;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(precision: &Precision, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(precision.name())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Precision, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = [Precision::F64, Precision::F32].into_iter().find(|precision| precision.name() == name);
        found.ok_or_else(|| {
            D::Error::custom(format!(
                "`precision` = \"{name}\" is not possible: it must be \"f64\" or \"f32\""
            ))
        })
    }
}

/// A number as text.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|_| D::Error::custom(format!("\"{text}\" is not a whole number from 0 to 2⁶⁴ − 1")))
    }
}

/// The beginning of a hash, enough to tell it from others; other text as it is.
fn short(value: &str) -> String {
    let is_hash = value.len() >= 32 && value.chars().all(|c| c.is_ascii_hexdigit());
    if is_hash { format!("{}…", &value[..12]) } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            protocol: 1,
            code: "c0de".to_owned(),
            run: "ab".repeat(32),
            agents: 8,
            topology: "12".repeat(32),
            problem: "34".repeat(32),
            method: "Smtpp".to_owned(),
            seed: 1,
            rounds: 500,
            precision: Precision::F64,
            agent: 3,
        }
    }

    #[test]
    fn a_peer_of_the_same_run_is_welcome_and_a_stranger_is_told_why_not() {
        let here = identity();
        assert_eq!(here.difference(&Identity { agent: 5, ..identity() }, 5), None);
        for (peer, words) in [
            (Identity { protocol: 2, ..identity() }, "its protocol version is 2, here 1"),
            (Identity { agents: 9, ..identity() }, "its number of agents is 9, here 8"),
            (
                Identity { topology: "56".repeat(32), ..identity() },
                "its topology is 565656565656…, here 121212121212…",
            ),
            (Identity { seed: 2, ..identity() }, "its seed is 2, here 1"),
            (Identity { precision: Precision::F32, ..identity() }, "its precision is f32, here f64"),
            (identity(), "it is agent 3, not agent 5"),
        ] {
            assert_eq!(here.difference(&peer, 5).unwrap(), words);
        }
    }

    #[test]
    fn it_comes_back_from_json_and_nothing_else_is_believed() {
        let json = identity().to_json().unwrap();
        assert_eq!(Identity::from_json(json.as_bytes()), Some(identity()));
        let single = Identity { precision: Precision::F32, ..identity() };
        assert_eq!(Identity::from_json(single.to_json().unwrap().as_bytes()), Some(single));
        for damaged in [
            json.replace("f64", "f16"),
            json.replace("500", "-1"),
            json.replace("\"seed\"", "\"sead\""),
            json[1..].to_owned(),
            json[..json.len() - 1].to_owned(),
            format!("{json}{}", " ".repeat(LONGEST)),
        ] {
            assert_eq!(Identity::from_json(damaged.as_bytes()), None);
        }
        assert_eq!(Identity::from_json(&[0xff; 99]), None);
    }

    #[test]
    fn all_agents_of_a_run_have_one_fingerprint_and_no_other_run_has_it() {
        let here = identity();
        assert_eq!(here.run_id(), Identity { agent: 0, ..identity() }.run_id());
        let others = [
            Identity { protocol: 2, ..identity() },
            Identity { run: String::new(), ..identity() },
            Identity { method: "Sgp".to_owned(), ..identity() },
            Identity { rounds: 501, ..identity() },
            Identity { precision: Precision::F32, ..identity() },
        ];
        assert!(others.iter().all(|other| other.run_id() != here.run_id()));
    }
}
