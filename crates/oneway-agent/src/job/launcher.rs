//! What the program that started this process says of it: its number, how many there are, and where the first
//! one is.

use anyhow::{Context, Result, bail};
use oneway_experiment::networked::sha256;

use crate::job::node_list::first_host;
use crate::plan::hosts::host_of;

/// The variables of one launcher.
struct Launcher {
    number: &'static str,
    sizes: &'static [&'static str],
    /// How many processes are on this process's machine.
    local: &'static str,
    /// What tells this start from others in the same allocation.
    start: &'static str,
}

/// In this order: `mpirun` inside an allocation of Slurm hands Slurm's variables on, and those are then not of
/// this process.
const LAUNCHERS: [Launcher; 4] = [
    Launcher {
        number: "OMPI_COMM_WORLD_RANK",
        sizes: &["OMPI_COMM_WORLD_SIZE"],
        local: "OMPI_COMM_WORLD_LOCAL_SIZE",
        start: "PMIX_NAMESPACE",
    },
    Launcher { number: "PMI_RANK", sizes: &["PMI_SIZE"], local: "MPI_LOCALNRANKS", start: "" },
    Launcher {
        number: "SLURM_PROCID",
        sizes: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        local: "",
        start: "SLURM_STEP_ID",
    },
    Launcher { number: "RANK", sizes: &["WORLD_SIZE"], local: "LOCAL_WORLD_SIZE", start: "" },
];

/// Ports at which a job's first process waits for the others, unless it is said where.
const PORTS: std::ops::Range<u32> = 10_000..30_000;

/// A process of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Its number, from 0.
    pub(super) number: usize,
    /// How many processes there are, and which variable says so.
    pub(super) size: Option<(usize, &'static str)>,
    /// What tells this start of the job from every other one.
    pub(super) start: Option<String>,
    /// `host:port` at the first process.
    pub(super) rendezvous: Option<String>,
}

impl Member {
    /// From the user's words, or from variables.
    pub(super) fn find(
        number: Option<usize>,
        rendezvous: Option<String>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        if let Some(place) = &rendezvous {
            host_of(place).context("--rendezvous")?;
        }
        if let Some(number) = number {
            return Ok(Self { number, size: None, start: None, rendezvous });
        }
        let value = |name: &str| variable(name).filter(|value| !name.is_empty() && !value.is_empty());
        let count = |name: &'static str| -> Result<Option<usize>> {
            let Some(text) = value(name) else { return Ok(None) };
            match text.parse() {
                Ok(count) => Ok(Some(count)),
                Err(_) => bail!("{name}=\"{}\" is not a number", text.chars().take(40).collect::<String>()),
            }
        };
        let Some(launcher) = LAUNCHERS.iter().find(|launcher| value(launcher.number).is_some()) else {
            let names: Vec<&str> = LAUNCHERS.iter().map(|launcher| launcher.number).collect();
            bail!("which agent is this? Give --agent, or start it by what sets one of {}", names.join(", "));
        };
        let number = count(launcher.number)?.unwrap_or_default();
        let mut size = None;
        for name in launcher.sizes {
            size = size.or(count(name)?.map(|size| (size, *name)));
        }
        if let Some((size, name)) = size.filter(|(size, _)| number >= *size) {
            bail!("{}={number} is not possible with {name}={size}", launcher.number);
        }
        let allocation = ["SLURM_JOB_ID", "SLURM_RESTART_COUNT"].map(|name| value(name).unwrap_or_default());
        let start = value(launcher.start).map(|start| format!("{}.{start} {}", allocation[0], allocation[1]));
        let rendezvous = match rendezvous {
            Some(place) => Some(place),
            None => {
                let local = count(launcher.local)?;
                let is_alone = local.is_some() && local == size.map(|(size, _)| size);
                first(launcher, is_alone, &value)?
            }
        };
        Ok(Self { number, size, start, rendezvous })
    }
}

/// Where the first process is, as `host:port`; nothing if nobody says so.
fn first(
    launcher: &Launcher,
    is_alone: bool,
    value: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<String>> {
    // the same on all processes, and another one for every job, so that two jobs on a machine do not meet
    let job = [value("SLURM_JOB_ID"), value(launcher.start)].map(Option::unwrap_or_default).join(" ");
    let hash = sha256(job);
    let spread = u32::from_str_radix(&hash[..7], 16).unwrap_or_default();
    let port = PORTS.start + spread % (PORTS.end - PORTS.start);
    let list = || {
        ["SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"].into_iter().find_map(|name| Some((name, value(name)?)))
    };
    let host = if let Some(master) = value("MASTER_ADDR").filter(|_| launcher.number == "RANK") {
        let place = format!("{master}:{}", value("MASTER_PORT").unwrap_or_else(|| port.to_string()));
        host_of(&place).context("MASTER_ADDR and MASTER_PORT")?;
        return Ok(Some(place));
    } else if is_alone {
        "127.0.0.1".to_owned()
    } else if let Some((name, list)) = list() {
        first_host(&list).context(name)?
    } else {
        return Ok(None);
    };
    Ok(Some(format!("{host}:{port}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Result<Member> {
        let variable = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        Member::find(None, None, &variable)
    }

    #[test]
    fn launchers_say_number_size_and_place() {
        let slurm = [
            ("SLURM_JOB_ID", "77"),
            ("SLURM_STEP_ID", "3"),
            ("SLURM_PROCID", "5"),
            ("SLURM_NTASKS", "16"),
            ("SLURM_JOB_NODELIST", "node[01-04]"),
        ];
        let found = find(&slurm).unwrap();
        assert_eq!((found.number, found.size), (5, Some((16, "SLURM_NTASKS"))));
        assert_eq!(found.start.as_deref(), Some("77.3 "));
        let place = found.rendezvous.unwrap();
        let port: u32 = place.strip_prefix("node01:").unwrap().parse().unwrap();
        assert!(PORTS.contains(&port));
        let other = find(&[&slurm[1..], &[("SLURM_JOB_ID", "78")]].concat()).unwrap();
        assert_ne!(other.rendezvous.unwrap(), place, "of another job");
        let again = find(&[&slurm[..], &[("SLURM_RESTART_COUNT", "1")]].concat()).unwrap();
        assert_eq!(again.start.as_deref(), Some("77.3 1"));
        let step = [("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_STEP_NODELIST", "gpu7")];
        let step = find(&[&slurm[..], &step].concat()).unwrap();
        assert_eq!(step.size, Some((8, "SLURM_STEP_NUM_TASKS")));
        assert!(step.rendezvous.unwrap().starts_with("gpu7:"));

        let ompi = [
            ("OMPI_COMM_WORLD_RANK", "2"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
            ("PMIX_NAMESPACE", "123"),
        ];
        let found = find(&[&slurm[..], &ompi].concat()).unwrap();
        assert_eq!((found.number, found.size), (2, Some((4, "OMPI_COMM_WORLD_SIZE"))), "the inner launcher");
        assert_eq!(found.start.as_deref(), Some("77.123 "));
        assert!(found.rendezvous.unwrap().starts_with("127.0.0.1:"), "all are on one machine");

        let torch = [("RANK", "1"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "a.b"), ("MASTER_PORT", "7000")];
        assert_eq!(
            find(&torch).unwrap(),
            Member {
                number: 1,
                size: Some((2, "WORLD_SIZE")),
                start: None,
                rendezvous: Some("a.b:7000".to_owned())
            }
        );
        assert_eq!(find(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]).unwrap().rendezvous, None);
    }

    #[test]
    fn words_go_before_variables() {
        let variable = |name: &str| (name == "RANK").then(|| "1".to_owned());
        let place = Some("[::1]:80".to_owned());
        let found = Member::find(Some(7), place.clone(), &variable).unwrap();
        assert_eq!(found, Member { number: 7, size: None, start: None, rendezvous: place.clone() });
        assert_eq!(Member::find(None, place.clone(), &variable).unwrap().rendezvous, place);
        let error = Member::find(None, Some("a".to_owned()), &variable).unwrap_err();
        assert!(format!("{error:#}").contains("--rendezvous: \"a\" is no address"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (variables, words) in [
            (
                &[][..],
                "which agent is this? Give --agent, or start it by what sets one of OMPI_COMM_WORLD_RANK",
            ),
            (&[("RANK", "-1")], "RANK=\"-1\" is not a number"),
            (&[("RANK", "x"), ("WORLD_SIZE", "2")], "RANK=\"x\" is not a number"),
            (&[("RANK", "1"), ("WORLD_SIZE", "two")], "WORLD_SIZE=\"two\" is not a number"),
            (&[("RANK", "2"), ("WORLD_SIZE", "2")], "RANK=2 is not possible with WORLD_SIZE=2"),
            (&[("RANK", "1"), ("MASTER_ADDR", "a"), ("MASTER_PORT", "b")], "\"a:b\" is no address"),
            (
                &[("SLURM_PROCID", "0"), ("SLURM_JOB_NODELIST", "n[1-")],
                "SLURM_JOB_NODELIST: \"n[1-\" is not a list",
            ),
        ] {
            let error = format!("{:#}", find(variables).unwrap_err());
            assert!(error.contains(words), "{error}");
        }
    }
}
