//! `oneway-agent carry`: a program of your own is an agent. It computes, in whatever language; its rows travel
//! over these links, with their keys, and are asked for again when they were lost.
//!
//! The program finds the [socket](words) to which it speaks in the variable `ONEWAY_LINK`, its number in
//! `ONEWAY_AGENT`, and how many agents there are in `ONEWAY_AGENTS`. `oneway.torch.Optimizer` does the rest.

mod session;
mod words;

use std::ffi::OsString;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::plan::hosts::Hosts;
use session::{Place, Session, greet, refuse};

/// A program, and where its rows go.
#[derive(Debug)]
pub(crate) struct Carry {
    /// Which agent it is.
    pub(crate) agent: usize,
    /// Where all agents are.
    pub(crate) hosts: Hosts,
    /// For how long others are waited for.
    pub(crate) patience: Duration,
    /// Rounds whose rows are kept for neighbours that were started again.
    pub(crate) keep: Option<u64>,
    /// The program and its arguments.
    pub(crate) program: Vec<OsString>,
}

/// What happens to a program.
enum Event {
    Called(UnixStream),
    Ended(std::io::Result<ExitStatus>),
}

/// How a program ended, once nobody needs its rows any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With this code.
    Code(u8),
    /// Well, but some that hear it are not done.
    Needed,
    /// Somebody asked this process to stop.
    Stopped,
}

type Stopper = Arc<Mutex<Option<Box<dyn Fn() + Send + Sync>>>>;

/// Starts the program, and carries its rows to its end and to that of all that hear it.
pub(crate) fn carry(carry: Carry) -> Result<Ended> {
    let Carry { agent, hosts, patience, keep, program } = carry;
    let agents = hosts.addresses.len();
    if agent >= agents {
        bail!("there is no agent {agent}: there are {agents}, from 0");
    }
    let folder = tempfile::tempdir().context("a folder for the socket")?;
    let path = folder.path().join("link");
    let listener = UnixListener::bind(&path).with_context(|| path.display().to_string())?;
    let Some((name, arguments)) = program.split_first() else { bail!("there is no program to start") };
    let child = Command::new(name)
        .args(arguments)
        .env("ONEWAY_LINK", &path)
        .env("ONEWAY_AGENT", agent.to_string())
        .env("ONEWAY_AGENTS", agents.to_string())
        .spawn()
        .with_context(|| format!("cannot start {}", name.display()))?;

    let (stop, stopped) = (Stopper::default(), Arc::new(AtomicBool::new(false)));
    let (by_signal, asked) = (Arc::clone(&stop), Arc::clone(&stopped));
    ctrlc::set_handler(move || {
        asked.store(true, Ordering::Relaxed);
        end(&by_signal);
    })
    .context("cannot listen for signals")?;
    let events = watch(child, listener, Arc::clone(&stop))?;
    let place = Place { agent, hosts, patience, keep };
    let mut session = None;
    loop {
        match events.recv().context("nobody watches the program")? {
            Event::Called(mut stream) => {
                let opened = |session: &Session| {
                    *stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.stopper());
                    if stopped.load(Ordering::Relaxed) {
                        session.stopper()();
                    }
                };
                if let Err(error) = greet(&mut stream, &place, &mut session, opened) {
                    tracing::error!("{error:#}");
                    refuse(&mut stream, &error);
                }
            }
            Event::Ended(status) => {
                let status = status.context("waiting for the program")?;
                return leave(status, session, stopped.load(Ordering::Relaxed));
            }
        }
    }
}

/// What is left to do when the program has ended.
fn leave(status: ExitStatus, session: Option<Session>, stopped: bool) -> Result<Ended> {
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(match session {
        Some(session) if code == 0 => match session.linger()? {
            true => Ended::Code(0),
            false => Ended::Needed,
        },
        Some(session) => {
            session.leave();
            if stopped { Ended::Stopped } else { Ended::Code(code) }
        }
        None => Ended::Code(code),
    })
}

/// Wakes up an exchange that waits.
fn end(stop: &Stopper) {
    if let Some(stop) = &*stop.lock().unwrap_or_else(PoisonError::into_inner) {
        stop();
    }
}

/// Reports connections and the end of the program, each from a thread of its own. A program that fails in the
/// middle of an exchange ends the wait for it.
fn watch(mut child: Child, listener: UnixListener, stop: Stopper) -> Result<mpsc::Receiver<Event>> {
    let (calls, events) = mpsc::channel();
    let ends = calls.clone();
    std::thread::Builder::new().name("calls".to_owned()).spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            if calls.send(Event::Called(stream)).is_err() {
                return;
            }
        }
    })?;
    std::thread::Builder::new().name("program".to_owned()).spawn(move || {
        let status = child.wait();
        if !status.as_ref().is_ok_and(ExitStatus::success) {
            end(&stop);
        }
        let _ = ends.send(Event::Ended(status));
    })?;
    Ok(events)
}

/// Starts this program once for each agent of this machine, with these words after `--agent N`; the first code
/// that is not 0, with which the others are ended.
pub(crate) fn carry_all(agents: usize, words: impl Fn(usize) -> Vec<OsString>) -> Result<u8> {
    let own = std::env::current_exe().context("cannot find this program")?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot listen for signals")?;
    let mut children = Children(vec![]);
    for agent in 0..agents {
        let child = Command::new(&own).args(words(agent)).stdin(Stdio::null()).spawn();
        children.0.push(child.with_context(|| format!("cannot start agent {agent}"))?);
    }
    let mut left: Vec<usize> = (0..agents).collect();
    while !left.is_empty() {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(130);
        }
        let mut still = vec![];
        for agent in left {
            match children.0[agent].try_wait()? {
                None => still.push(agent),
                Some(status) if status.success() => {}
                Some(status) => {
                    tracing::error!("agent {agent} has ended: {status}");
                    return Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
                }
            }
        }
        left = still;
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(0)
}

/// The processes of this machine's agents. They end with this one.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            if child.try_wait().is_ok_and(|status| status.is_none()) {
                let _ = child.kill();
            }
            let _ = child.wait();
        }
    }
}
