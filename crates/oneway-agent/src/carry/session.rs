//! The run of a program: its link, which stays open to answer neighbours until all that hear it are done.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use oneway::numeric::Precision;

use super::words::{Hello, Request, answer, complain, read_row};
use crate::exchange::{Mixed, exchange};
use crate::link::zenoh::{ZenohLink, ZenohOptions};
use crate::plan::hosts::Hosts;
use crate::plan::identity::Identity;
use crate::plan::layout::{HISTORY, endpoints};
use crate::plan::limits::{Guard, Patience};
use crate::plan::ties::Ties;
use crate::watch::status::Status;
use crate::wire::Number;
use crate::wire::frame::Moment;
use crate::wire::history::{History, Sent};
use crate::wire::rows::Rows;

/// Where a program is, and how it behaves.
#[derive(Debug)]
pub(super) struct Place {
    /// Who.
    pub(super) agent: usize,
    /// Where all agents are.
    pub(super) hosts: Hosts,
    /// For how long others are waited for.
    pub(super) patience: Duration,
    /// Rounds whose rows are kept for neighbours that were started again.
    pub(super) keep: Option<u64>,
}

/// A run, in the precision of its rows.
#[derive(Debug)]
pub(super) enum Session {
    /// Double.
    Double(Run<f64>),
    /// Single.
    Single(Run<f32>),
}

/// The run of a program.
#[derive(Debug)]
pub(super) struct Run<T: Number> {
    ties: Ties,
    rows: Rows,
    history: Arc<History<T>>,
    status: Arc<Status>,
    link: ZenohLink<T>,
    /// Rounds of which all exchanges are done.
    done: u64,
    patience: Duration,
}

impl Session {
    /// Opens the link that a program asks for.
    pub(super) fn open(hello: &Hello, place: &Place) -> Result<Self> {
        Ok(match hello.precision {
            Precision::F64 => Self::Double(Run::open(hello, place)?),
            Precision::F32 => Self::Single(Run::open(hello, place)?),
        })
    }

    /// Carries rows until the program closes the connection.
    pub(super) fn serve(&mut self, stream: &mut UnixStream) -> Result<()> {
        match self {
            Self::Double(run) => run.serve(stream),
            Self::Single(run) => run.serve(stream),
        }
    }

    /// By which another thread can end an exchange that waits.
    pub(super) fn stopper(&self) -> Box<dyn Fn() + Send + Sync> {
        match self {
            Self::Double(run) => Box::new(run.link.stopper()),
            Self::Single(run) => Box::new(run.link.stopper()),
        }
    }

    /// Leaves at once.
    pub(super) fn leave(self) {
        match self {
            Self::Double(run) => run.link.close(),
            Self::Single(run) => run.link.close(),
        }
    }

    /// Leaves when all that hear this agent are done too; whether they are.
    pub(super) fn linger(self) -> Result<bool> {
        match self {
            Self::Double(run) => run.linger(),
            Self::Single(run) => run.linger(),
        }
    }
}

/// What neighbours compare.
fn identity(hello: &Hello, place: &Place) -> Identity {
    let Hello { run, topology, method, precision, widths: [pull, push], exchanges, .. } = hello;
    Identity {
        protocol: Identity::PROTOCOL,
        code: Identity::code(),
        run: run.clone(),
        agents: place.hosts.addresses.len(),
        topology: topology.clone(),
        problem: format!("a program's, with rows of {pull} and {push} numbers, {exchanges} times a round"),
        method: method.clone(),
        seed: 0,
        rounds: u64::MAX, // as many as the program does
        precision: *precision,
        agent: place.agent,
    }
}

impl<T: Number> Run<T> {
    fn open(hello: &Hello, place: &Place) -> Result<Self> {
        let Place { agent, hosts, patience, keep } = place;
        let ties = hello.ties(*agent, hosts.addresses.len())?;
        let identity = identity(hello, place);
        let rows = Rows { widths: hello.widths, phases: hello.exchanges, wire: None };
        let bytes = hello.widths.iter().sum::<usize>() as u64 * size_of::<T>() as u64;
        let fit = HISTORY / (bytes * u64::from(hello.exchanges)).max(1);
        let keep = keep.unwrap_or(fit).max(ties.lag + 1);
        let history = Arc::new(History::new(identity.run_id(), ties.clone(), keep, rows.phases));
        let status = Arc::new(Status::new(&ties, 0));
        let endpoints = endpoints(&ties, hosts, false);
        endpoints.check()?;
        let link = ZenohLink::open(ZenohOptions {
            endpoints: &endpoints,
            identity,
            ties: &ties,
            rows: rows.clone(),
            history: Arc::clone(&history),
            status: Arc::clone(&status),
            patience: Patience { limit: *patience, ..Patience::default() },
            guard: Guard::Off, // a training that diverges is the program's to notice
            ends_file: None,
        })
        .with_context(|| format!("listening at {}", endpoints.listens_at()))?;
        Ok(Self { ties, rows, history, status, link, done: 0, patience: *patience })
    }

    fn serve(&mut self, stream: &mut UnixStream) -> Result<()> {
        answer::<T>(stream, &[])?;
        let zeros = |width: usize| vec![T::default(); width];
        let [mut pulled, mut pushed] = self.rows.widths.map(zeros);
        let mut heard = self.rows.widths.map(zeros);
        while let Some(Request { at, sends }) = Request::read(stream)? {
            let [mut pull, mut push] = self.history.buffers(at, self.rows.widths);
            for (row, _) in [&mut pull, &mut push].into_iter().zip(sends).filter(|(_, sends)| *sends) {
                read_row(stream, row)?;
            }
            if at.phase >= self.rows.phases {
                bail!("{at} is not possible: there are {} exchanges in a round", self.rows.phases);
            }
            let (pull, push) = (Arc::new(pull), Arc::new(push));
            self.history.keep(Sent { at, pull: Arc::clone(&pull), push: Arc::clone(&push) });
            let mixed = Mixed { pulled: &mut pulled, pushed: &mut pushed, heard: &mut heard };
            exchange(&mut self.link, &self.ties, at, sends, [&pull, &push], mixed)?;
            self.note(at);
            let rows: [&[T]; 2] = [&pulled, &pushed];
            let said: Vec<&[T]> =
                rows.into_iter().zip(sends).filter(|(_, s)| *s).map(|(row, _)| row).collect();
            answer(stream, &said)?;
        }
        Ok(())
    }

    fn note(&mut self, at: Moment) {
        if at.phase + 1 == self.rows.phases {
            self.done = at.round + 1;
            self.status.reach(self.done, Duration::ZERO);
        }
    }

    fn linger(self) -> Result<bool> {
        let done = self.link.linger(&self.ties, self.done, self.patience)?;
        self.link.close();
        Ok(done)
    }
}

/// Serves a program that has just connected. Its link stays open afterwards, to answer neighbours.
pub(super) fn greet(
    stream: &mut UnixStream,
    place: &Place,
    session: &mut Option<Session>,
    opened: impl FnOnce(&Session),
) -> Result<()> {
    let Some(hello) = Hello::read(stream)? else { return Ok(()) };
    if session.is_some() {
        bail!("this program has had its run: start one for each");
    }
    let session = session.insert(Session::open(&hello, place)?);
    opened(session);
    session.serve(stream)
}

/// Tells a program why its connection ends; it may have gone.
pub(super) fn refuse(stream: &mut UnixStream, error: &anyhow::Error) {
    let _ = complain(stream, &format!("{error:#}"));
}
