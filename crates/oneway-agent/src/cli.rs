//! What the command `oneway-agent` does.
//!
//! Exit codes: 0 done; 1 the run cannot continue (a neighbour's row failed validation, or a neighbour no
//! longer has what is needed); 2 the input is wrong, and nothing was begun; 75 stopped, or a neighbour is
//! away or not done yet: start the agent again to continue; 130 interrupted. `carry` ends with the code of
//! its program.

mod carry_args;
mod run_args;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use oneway::registry::Registry;
use oneway_mpi::model::command::{Model, model};
use oneway_watch::hub::Hub;
use oneway_watch::server::Server;
use tracing_subscriber::EnvFilter;

use crate::gather::gather_all;
use crate::launch::{Failed, Launch, launch, say};
use crate::link::zenoh::observer::Observer;
use crate::plan::authority;
use crate::plan::hosts::{Hosts, host_of, read_hosts};
use crate::plan::layout::{Behaviour, plan};
use crate::watch::observe::{Observed, Seen};
use crate::watch::top;
use crate::watch::web::Web;
use carry_args::CarryArgs;
use run_args::RunArgs;

/// Agents on real links, with the simulator's bits.
#[derive(Debug, Parser)]
#[command(name = "oneway-agent", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Write logs as JSON, one object a line
    #[arg(long, global = true)]
    json_logs: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a whole experiment as processes on this machine
    Launch(LaunchArgs),
    /// Write one config for each agent, for your own machines
    Plan(PlanArgs),
    /// Make curves and hashes from the records of a plan's agents, in the simulator's formats
    Gather {
        /// The experiment
        file: PathBuf,
        /// The folder that `plan` wrote, with the folders of all agents in it
        #[arg(long)]
        plan: PathBuf,
        /// The same settings as for `plan`
        #[arg(long = "set", value_name = "PATH=VALUE")]
        overrides: Vec<String>,
        /// Folder for the results
        #[arg(long)]
        out: PathBuf,
    },
    /// Make a certificate authority, and a certificate for each agent
    Keys {
        /// File with the agents' addresses: an `[[agent]]` with `address = "host:port"` for each
        #[arg(long)]
        hosts: PathBuf,
        /// Folder for the keys, which must not exist yet
        #[arg(long)]
        out: PathBuf,
        /// Days for which the certificates are valid
        #[arg(long, default_value_t = 730, value_parser = clap::value_parser!(u32).range(1..=36_500))]
        days: u32,
    },
    /// Show all agents of a run: round, lag, loss, and which agents they wait for
    Top {
        /// Folder of the agents' configs
        folder: PathBuf,
        /// Show it once, without refreshing every second
        #[arg(long)]
        once: bool,
        /// Show it on a local page: curves, the network, who waits for whom, bytes on each link
        #[arg(long, conflicts_with = "once")]
        web: bool,
        /// Port of that page on 127.0.0.1 [default: a free one]
        #[arg(long, requires = "web", value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
        /// Folder of the keys, as for `observe`, if the agents use TLS and publish their estimates
        #[arg(long, requires = "web")]
        keys: Option<PathBuf>,
    },
    /// Follow a run from its agents' estimates: round, loss and consensus error
    Observe {
        /// Folder of the agents' configs and their shares of the data, made by `plan --observe`
        folder: PathBuf,
        /// Folder of the keys `authority.pem`, `observer.pem` and `observer.key`, if the agents use TLS
        #[arg(long)]
        keys: Option<PathBuf>,
    },
    /// Run an experiment on the processes of an MPI job, by starting `oneway-mpi`: see docs/clusters.md
    Mpi {
        /// Arguments for `oneway-mpi`: the experiment and options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        words: Vec<std::ffi::OsString>,
    },
    /// Predict rounds per second on a cluster that you do not have yet: see docs/clusters.md
    Model(Model),
    /// Start a program of your own as an agent: its rows travel over these links, see docs/neural.md
    Carry(CarryArgs),
    /// Run one agent from its config, or, as a process of a job, its agent from `plan.toml`
    Run(RunArgs),
}

#[derive(Debug, Args)]
struct LaunchArgs {
    /// The experiment
    file: PathBuf,
    /// Number of agents, in place of the file's
    #[arg(long)]
    agents: Option<u64>,
    /// A setting in place of the file's, as `path=value`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<String>,
    /// Folder for the results [default: out/NAME-agents for NAME.toml]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Number of times to kill a random agent and start it again; results must not change
    #[arg(long, default_value_t = 0)]
    kill: u64,
    /// Seed that chooses which agents are killed, and when
    #[arg(long, default_value_t = 1)]
    kill_seed: u64,
    /// Use TLS with certificates on both sides, as with `plan --keys`
    #[arg(long)]
    secure: bool,
    #[command(flatten)]
    behaviour: BehaviourArgs,
}

#[derive(Debug, Args)]
struct PlanArgs {
    /// The experiment
    file: PathBuf,
    /// File with the agents' addresses: an `[[agent]]` with `address = "host:port"` for each [default: agents
    /// find each other when `plan.toml` is run as a job]
    #[arg(long)]
    hosts: Option<PathBuf>,
    /// A setting in place of the file's, as `path=value`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<String>,
    /// Folder for the configs
    #[arg(long)]
    out: PathBuf,
    /// Folder of the keys on the agents' machines; links then use TLS, and agents prove who they are by
    /// certificates
    #[arg(long)]
    keys: Option<PathBuf>,
    #[command(flatten)]
    behaviour: BehaviourArgs,
}

#[derive(Debug, Args)]
struct BehaviourArgs {
    /// Rounds between checkpoints, 0 for none [default: up to 100, fewer where rows are long]
    #[arg(long)]
    checkpoint_every: Option<u64>,
    /// Refuse rows with NaN, ∞ or a number larger than this
    #[arg(long)]
    guard: Option<f64>,
    /// Seconds to wait for a silent neighbour before giving up
    #[arg(long, default_value_t = 600.0)]
    patience: f64,
    /// Agents publish their estimates, for `oneway-agent observe`
    #[arg(long)]
    observe: bool,
}

impl BehaviourArgs {
    fn behaviour(&self) -> Behaviour {
        let Self { checkpoint_every, guard, patience, observe } = *self;
        Behaviour { checkpoint_every, guard, patience, linger: patience, observed: observe }
    }
}

/// The command `oneway-agent` for a program of your own: experiments and configs may name the methods,
/// codecs, topologies and problems of `registry`, which is [installed](Registry::install) here.
///
/// ```no_run
/// use oneway::registry::Registry;
///
/// fn main() -> Result<std::process::ExitCode, oneway::Error> {
///     let registry = Registry::builtin(); // .with_problem(&MINE)?
///     Ok(oneway_agent::main_with(registry))
/// }
/// ```
pub fn main_with(registry: Registry) -> ExitCode {
    let cli = Cli::parse();
    start_logs(cli.json_logs);
    match registry.install().map_err(Into::into).and_then(|()| command(cli.command)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("oneway-agent: {error:#}");
            ExitCode::from(error.downcast_ref::<Failed>().map_or(2, |failed| failed.code))
        }
    }
}

fn command(command: Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) => args.run(),
        Command::Carry(args) => args.run(),
        Command::Mpi { words } => mpi(&words),
        Command::Model(asked) => {
            write!(std::io::stdout(), "{}", model(&asked)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Plan(args) => {
            let hosts = match &args.hosts {
                Some(hosts) => read_hosts(hosts, args.keys)?,
                None => Hosts { keys: args.keys, meets: true, ..Hosts::default() },
            };
            let mut behaviour = args.behaviour.behaviour();
            behaviour.guard = behaviour.guard.or(Some(1e100)); // other people's agents may send anything
            say(&plan(&args.file, &args.overrides, &hosts, behaviour, &args.out)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Gather { file, plan, overrides, out } => {
            say(&gather_all(&file, &overrides, &plan, &out)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Keys { hosts, out, days } => {
            let hosts = read_hosts(&hosts, None)?.addresses;
            let hosts = hosts.iter().map(|address| host_of(address)).collect::<Result<Vec<_>>>()?;
            say(&authority::make(&hosts, days, &out)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Top { folder, web: true, port, keys, .. } => web(&folder, port, keys.as_deref()),
        Command::Top { folder, once, .. } => {
            let addresses = top::addresses(&folder)?;
            loop {
                let clear = if once { "" } else { "\x1b[2J\x1b[H" };
                write!(std::io::stdout(), "{clear}{}", top::look(&addresses, top::width()))?;
                if once {
                    return Ok(ExitCode::SUCCESS);
                }
                std::thread::sleep(Duration::from_secs(1));
            }
        }
        Command::Observe { folder, keys } => {
            let interrupted = interruption()?;
            let observed = Observed::read(&folder, keys.as_deref())?;
            let (identity, dim) = (observed.identity(), observed.dim());
            let observer = Observer::open(&observed.endpoints(), identity, dim, observed.tls.as_ref())?;
            observed.follow(&observer, &mut std::io::stdout(), &interrupted)?;
            observer.close();
            Ok(ExitCode::SUCCESS)
        }
        Command::Launch(args) => {
            let stem = args.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let out = args.out.clone().unwrap_or_else(|| PathBuf::from("out").join(format!("{stem}-agents")));
            let agents = args.agents.map(|agents| format!("run.agents={agents}"));
            let interrupted = interruption()?;
            let what = Launch {
                file: args.file,
                overrides: args.overrides.into_iter().chain(agents).collect(),
                out,
                behaviour: args.behaviour.behaviour(),
                kills: args.kill,
                kill_seed: args.kill_seed,
                secure: args.secure,
            };
            match launch(&what, &interrupted)? {
                Some(written) => say(&written).map(|()| ExitCode::SUCCESS),
                None => Ok(ExitCode::from(130)),
            }
        }
    }
}

/// Becomes `oneway-mpi`, which lies beside this program or is on the path. It is a program of its own because
/// it needs an MPI library to be built.
fn mpi(words: &[std::ffi::OsString]) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name("oneway-mpi"));
    let program = beside.filter(|program| program.exists()).unwrap_or_else(|| "oneway-mpi".into());
    let error = std::process::Command::new(&program).args(words).exec(); // returns only if it fails
    Err(error).context(
        "cannot start oneway-mpi: build it where MPI is, `cargo build --release -p oneway-mpi --features mpi`",
    )
}

/// Shows all agents on a local page, until Ctrl-C; where they publish estimates, also what is made of those.
fn web(folder: &Path, port: Option<u16>, keys: Option<&Path>) -> Result<ExitCode> {
    const EVERY: Duration = Duration::from_millis(500);
    let mut web = Web::read(folder)?;
    let observed = Observed::is_possible(folder)?.then(|| Observed::read(folder, keys)).transpose()?;
    let hub = Arc::new(Hub::default());
    let server = Server::start(port, Arc::clone(&hub)).with_context(|| match port {
        Some(port) => format!("cannot listen on 127.0.0.1:{port}: give another --port"),
        None => "cannot listen on 127.0.0.1".to_owned(),
    })?;
    let interrupted = interruption()?;
    let seen = Mutex::new(None);
    writeln!(std::io::stdout(), "{}", server.address())?;
    std::io::stdout().flush()?;
    std::thread::scope(|scope| {
        if let Some(observed) = &observed {
            let (seen, interrupted) = (&seen, &interrupted);
            scope.spawn(move || {
                // agents that are started later, or again, are found by another observer
                while !interrupted.load(Ordering::Relaxed) {
                    if let Err(error) = look_on(observed, seen, interrupted) {
                        tracing::warn!("estimates cannot be seen: {error:#}");
                    }
                    std::thread::sleep(EVERY);
                }
            });
        }
        while !interrupted.load(Ordering::Relaxed) {
            let reports = web.ask();
            let now = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
            web.publish(reports, now.as_ref(), &hub);
            std::thread::sleep(EVERY);
        }
    });
    Ok(ExitCode::SUCCESS)
}

/// Keeps what is seen of the last complete round, until all agents are done or away.
fn look_on(observed: &Observed, seen: &Mutex<Option<Seen>>, interrupted: &AtomicBool) -> Result<()> {
    let (identity, dim) = (observed.identity(), observed.dim());
    let observer = Observer::open(&observed.endpoints(), identity, dim, observed.tls.as_ref())?;
    let ended = observed.each_round(&observer, interrupted, |round| {
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(round);
        Ok(())
    });
    observer.close();
    ended
}

/// Becomes true on Ctrl-C.
fn interruption() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot listen for Ctrl-C")?;
    Ok(interrupted)
}

/// Logs to standard error: warnings, and agents' information, unless `RUST_LOG` says otherwise. Zenoh's logs
/// are off.
fn start_logs(json: bool) {
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("warn,oneway_agent=info,zenoh=off"));
    let logs =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
    if json { logs.json().init() } else { logs.with_target(false).init() }
}
