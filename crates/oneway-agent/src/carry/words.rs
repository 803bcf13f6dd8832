//! What a program and the process that carries its rows say to each other, over a socket of Unix.
//!
//! Numbers are in the machine's own order: both are on one machine. First the program says once who it is,
//! and is answered; then it sends its rows of an exchange, and is answered with what they became, again and
//! again. A program has one run, and so one connection.
//!
//! | who | bytes | |
//! |---|---|---|
//! | program | 4 | the length of what follows |
//! | | … | a [`Hello`], as JSON |
//! | carrier | 4 | 0; or the length of a text that follows, which says what is wrong: then the connection ends |
//! | program | 8 | round |
//! | | 4 | exchange within the round, from 0 |
//! | | 4 | graphs on which rows are sent: 1 pull, 2 push, 3 both |
//! | | … | its pull row, if that is sent; then its push row, if that is |
//! | carrier | 4 | as above |
//! | | … | Σ_j R_ij·x_j, if there was a pull row; then Σ_j C_ij·v_j, if there was a push row |

use std::io::{self, Read, Write};

use anyhow::{Context, Result, bail};
use oneway::numeric::Precision;
use serde::{Deserialize, Serialize};

use crate::plan::identity::as_name;
use crate::plan::ties::{Links, Ties};
use crate::wire::Number;
use crate::wire::frame::Moment;

/// The version of what is said here.
const VERSION: u32 = 1;

/// The longest greeting, in bytes: the links of a period may be many.
const LONGEST: usize = 64 << 20;

/// The most numbers in a row: a frame says its length in four bytes.
const WIDEST: usize = u32::MAX as usize / 8;

/// What a program says first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hello {
    /// [`VERSION`].
    pub(super) version: u32,
    /// The run's name: rows of another are refused.
    pub(super) run: String,
    /// Digest of R and C.
    pub(super) topology: String,
    /// The method, and all else that every agent must have alike.
    pub(super) method: String,
    /// Of the numbers.
    #[serde(with = "as_name")]
    pub(super) precision: Precision,
    /// Numbers in a pull row and in a push row.
    pub(super) widths: [usize; 2],
    /// Exchanges in a round.
    pub(super) exchanges: u32,
    /// The agent's links in every round of the period.
    pub(super) links: Vec<Links>,
}

impl Hello {
    /// Reads it. `None` if the program has gone without a word.
    pub(super) fn read(from: &mut impl Read) -> Result<Option<Self>> {
        let Some(length) = read_start(from)?.map(u32::from_ne_bytes) else { return Ok(None) };
        if length as usize > LONGEST {
            bail!("a greeting of {length} bytes is too long");
        }
        let mut bytes = vec![0; length as usize];
        from.read_exact(&mut bytes)?;
        Ok(Some(serde_json::from_slice(&bytes).context("the greeting")?))
    }

    /// Its links as those of an agent of a network of n; or what is wrong with them.
    pub(super) fn ties(&self, agent: usize, agents: usize) -> Result<Ties> {
        let Self { version, widths, exchanges, links, .. } = self;
        if *version != VERSION {
            bail!("the program speaks version {version} of the link, and oneway-agent version {VERSION}");
        }
        if *exchanges == 0 || links.is_empty() || widths.iter().any(|width| *width > WIDEST) {
            bail!(
                "{exchanges} exchanges of rows of {widths:?} numbers on {} networks are not possible",
                links.len()
            );
        }
        let named = |links: &Links| {
            let Links { pulls, pulled_by, pushes, pushed_by } = links;
            let weighed = pulls.iter().chain(pushes).map(|(who, _)| *who);
            weighed.chain(pulled_by.iter().chain(pushed_by).copied()).max()
        };
        if let Some(who) = links.iter().filter_map(named).max().filter(|who| *who >= agents) {
            bail!("the network of the program has an agent {who}, and there are {agents} agents here");
        }
        // nobody can be ahead of another by more than the longest path, of n − 1 links that are there once a period
        let lag = (agents as u64 - 1) * links.len() as u64;
        let ties = Ties { agent, agents, period: links.clone(), lag };
        ties.check()?;
        Ok(ties)
    }
}

/// The head of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// Of which moment the rows are.
    pub(super) at: Moment,
    /// Whether there is a pull row, and a push row.
    pub(super) sends: [bool; 2],
}

impl Request {
    /// Reads it. `None` if the program has closed its end between two requests.
    pub(super) fn read(from: &mut impl Read) -> Result<Option<Self>> {
        let Some(round) = read_start(from)? else { return Ok(None) };
        let (mut phase, mut graphs) = ([0; 4], [0; 4]);
        from.read_exact(&mut phase)?;
        from.read_exact(&mut graphs)?;
        let at = Moment { round: u64::from_ne_bytes(round), phase: u32::from_ne_bytes(phase) };
        match u32::from_ne_bytes(graphs) {
            graphs @ 1..=3 => Ok(Some(Self { at, sends: [graphs & 1 > 0, graphs & 2 > 0] })),
            graphs => bail!("the graphs {graphs} are not 1, 2 or 3"),
        }
    }
}

/// The first bytes of something; `None` if there is nothing more.
fn read_start<const BYTES: usize>(from: &mut impl Read) -> io::Result<Option<[u8; BYTES]>> {
    let mut bytes = [0; BYTES];
    let mut filled = 0;
    while filled < BYTES {
        match from.read(&mut bytes[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(bytes))
}

/// Reads the numbers of a row.
pub(super) fn read_row<T: Number>(from: &mut impl Read, row: &mut [T]) -> io::Result<()> {
    from.read_exact(bytemuck::cast_slice_mut(row))
}

/// Says that all is well, and what the rows became.
pub(super) fn answer<T: Number>(to: &mut impl Write, rows: &[&[T]]) -> io::Result<()> {
    to.write_all(&0u32.to_ne_bytes())?;
    rows.iter().try_for_each(|row| to.write_all(bytemuck::cast_slice(row)))
}

/// Says what is wrong.
pub(super) fn complain(to: &mut impl Write, why: &str) -> io::Result<()> {
    to.write_all(&(why.len() as u32).to_ne_bytes())?;
    to.write_all(why.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let links = Links {
            pulls: vec![(0, 0.5), (1, 0.5)],
            pulled_by: vec![0, 1],
            pushes: vec![(0, 0.5), (1, 0.5)],
            pushed_by: vec![0, 1],
        };
        Hello {
            version: VERSION,
            run: "1".to_owned(),
            topology: "ring".to_owned(),
            method: "smtpp".to_owned(),
            precision: Precision::F32,
            widths: [3, 4],
            exchanges: 1,
            links: vec![links],
        }
    }

    fn said(text: &str) -> Vec<u8> {
        [&(text.len() as u32).to_ne_bytes(), text.as_bytes()].concat()
    }

    #[test]
    fn a_greeting_is_read_strictly() {
        let text = serde_json::to_string(&hello()).unwrap();
        assert_eq!(Hello::read(&mut &said(&text)[..]).unwrap(), Some(hello()));
        assert_eq!(Hello::read(&mut &[][..]).unwrap(), None);
        for damaged in [text.replace("f32", "f16"), text.replace("links", "lines"), text[1..].to_owned()] {
            Hello::read(&mut &said(&damaged)[..]).unwrap_err();
        }
        Hello::read(&mut &said(&text)[..9]).unwrap_err();
        Hello::read(&mut &u32::MAX.to_ne_bytes()[..]).unwrap_err();
    }

    #[test]
    fn links_are_those_of_the_network() {
        assert_eq!(hello().ties(1, 2).unwrap().lag, 1);
        let refused = |change: &dyn Fn(&mut Hello), agents: usize| {
            let mut changed = hello();
            change(&mut changed);
            format!("{:#}", changed.ties(0, agents).unwrap_err())
        };
        assert!(refused(&|_| (), 1).contains("has an agent 1, and there are 1 agents here"));
        assert!(refused(&|hello| hello.version = 9, 2).contains("speaks version 9"));
        assert!(refused(&|hello| hello.exchanges = 0, 2).contains("0 exchanges"));
        assert!(refused(&|hello| hello.widths[1] = usize::MAX, 2).contains("are not possible"));
        assert!(refused(&|hello| hello.links[0].pulls[0].1 = 0.4, 2).contains("sums to"));
    }

    #[test]
    fn requests_end_between_two_and_nowhere_else() {
        let bytes = [&7u64.to_ne_bytes()[..], &1u32.to_ne_bytes(), &3u32.to_ne_bytes()].concat();
        let found = Request::read(&mut &bytes[..]).unwrap();
        assert_eq!(found, Some(Request { at: Moment { round: 7, phase: 1 }, sends: [true, true] }));
        assert_eq!(Request::read(&mut &[][..]).unwrap(), None);
        (1..bytes.len()).for_each(|cut| assert!(Request::read(&mut &bytes[..cut]).is_err()));
        let graphs = [&bytes[..12], &4u32.to_ne_bytes()].concat();
        assert!(Request::read(&mut &graphs[..]).unwrap_err().to_string().contains("not 1, 2 or 3"));
    }

    #[test]
    fn numbers_come_back() {
        let mut sent = vec![];
        answer(&mut sent, &[&[1.5f32, f32::NAN], &[-0.0]]).unwrap();
        let mut row = [0.0f32; 3];
        read_row(&mut &sent[4..], &mut row).unwrap();
        assert!(row[0] == 1.5 && row[1].is_nan() && row[2].is_sign_negative());
        read_row(&mut &sent[5..], &mut row).unwrap_err();
    }
}
