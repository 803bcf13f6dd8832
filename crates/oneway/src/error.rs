//! Everything that can be wrong with what a user gives us.
//!
//! A message names the file, line, field, agent or edge and says what would be right. Numerical outcomes (a
//! run that diverges) are not errors: they are a [`Status`](crate::engine::Status) in the result.

mod fault;
mod words;

use std::path::PathBuf;

pub use fault::Fault;
pub use words::shown;
pub(crate) use words::some_agents;
use words::{brief, did_you_mean, wrong_sum};

/// Shorthand for a result with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with an input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that no registry knows.
    #[error("unknown {what} `{name}`{}", did_you_mean(.suggestion.as_deref(), .known))]
    UnknownName {
        /// What kind of thing was looked up: "method", "topology", "parameter of flower".
        what: String,
        /// What the user wrote.
        name: String,
        /// The nearest known name, if one is near.
        suggestion: Option<String>,
        /// All known names, for the message.
        known: String,
    },

    /// A number outside its range.
    #[error("{owner}: `{name}` = {value} is not possible: {expected}")]
    Parameter {
        /// Whose parameter: a method, a topology, the problem.
        owner: String,
        /// The parameter.
        name: String,
        /// What was given.
        value: String,
        /// What would be right.
        expected: String,
    },

    /// A parameter that has no default was not given.
    #[error("{owner}: `{name}` is missing: {about}")]
    MissingParameter {
        /// Whose parameter.
        owner: String,
        /// The parameter.
        name: String,
        /// What it means.
        about: String,
    },

    /// An edge that names an agent that does not exist.
    #[error("edge {from} -> {to} names an agent beyond the last one: with {agents} agents the ids are 0 to {}", agents.saturating_sub(1))]
    Edge {
        /// Sender.
        from: usize,
        /// Receiver.
        to: usize,
        /// Number of agents.
        agents: usize,
    },

    /// A mixing weight that is not a positive finite number.
    #[error("weight {weight} on edge {from} -> {to} is not a positive finite number")]
    Weight {
        /// Sender.
        from: usize,
        /// Receiver.
        to: usize,
        /// The weight.
        weight: f64,
    },

    /// A mixing matrix with a row (pull) or column (push) that does not sum to one.
    #[error("{axis} {index} of the mixing weights {}: {axis}s must sum to 1", wrong_sum(axis, *index, *sum))]
    NotStochastic {
        /// "row" or "column".
        axis: &'static str,
        /// Which one.
        index: usize,
        /// Its sum.
        sum: f64,
    },

    /// Assumption 1 fails: no agent is a root of both the pull graph and the reversed push graph.
    #[error("no common root: {0}")]
    NoCommonRoot(String),

    /// Weights under which values go round for ever and never agree.
    #[error(
        "the {graph} weights are periodic: all cycles among the roots have lengths divisible by {period}, so values go \
round and never agree; give at least one of these agents a self-weight"
    )]
    Periodic {
        /// "pull" or "push".
        graph: &'static str,
        /// The common divisor of all cycle lengths.
        period: usize,
    },

    /// A centralised method on a network where not everyone hears everyone.
    #[error("centralised methods need everyone to hear everyone with one weight: Topology::complete")]
    NotCentral,

    /// A method that cannot do without a message, on a network that loses some.
    #[error("the method cannot run where messages are lost or late, or agents leave: {0}")]
    NeedsEveryMessage(&'static str),

    /// A method for one doubly stochastic matrix on a network that has none.
    #[error(
        "the method needs one doubly stochastic matrix for both graphs, and {0}: give `weights = \"metropolis\"` on a symmetric graph, or a graph whose in- and out-degrees are all equal"
    )]
    NotBalanced(String),

    /// A method for undirected graphs on a link that has no way back.
    #[error(
        "the method needs symmetric weights: the link from agent {from} to agent {to} has no equal way back"
    )]
    NotUndirected {
        /// Who is heard.
        from: usize,
        /// Who hears.
        to: usize,
    },

    /// A method that remembers what mixing did meets other weights in the next round.
    #[error(
        "the method needs the same weights in every round: with {rounds} of them in turn its iterates can grow without bound"
    )]
    WeightsChange {
        /// The period.
        rounds: usize,
    },

    /// W has an eigenvalue that is too low for a method that does not soften it.
    #[error(
        "the method needs weights with eigenvalues of −1/3 or more, and W has one of {least:.3}: take weights with more for oneself, or exact-diffusion"
    )]
    EigenvalueTooLow {
        /// The least eigenvalue, or a little more.
        least: f64,
    },

    /// A method that keeps copies of what its neighbours hold, on a network that changes.
    #[error(
        "the method keeps copies of what its neighbours hold, so it needs the same links in every round: this network changes with a period of {rounds} rounds"
    )]
    CopiesGoStale {
        /// Rounds after which the network is the same again.
        rounds: usize,
    },

    /// A gradient that a problem could not make.
    #[error("the gradient{} could not be made: {reason}", .agent.map_or(String::new(), |agent| format!(" of agent {agent}")))]
    Gradient {
        /// Whose, where one agent's was asked for by itself.
        agent: Option<usize>,
        /// What the problem said.
        reason: String,
    },

    /// A device that engines compute on, or what was asked of it.
    #[error("{0}")]
    Device(String),

    /// A method that is defined on double precision only.
    #[error(
        "this method has no single precision: SAGA's table and codecs are kept in f64: run it in double precision"
    )]
    NoSinglePrecision,

    /// A push-sum method on a digraph that is not strongly connected.
    #[error(
        "the digraph is not strongly connected, as the method needs: from agent {from} there is no path to {unreachable}"
    )]
    NotStronglyConnected {
        /// An agent.
        from: usize,
        /// Whom it cannot reach.
        unreachable: String,
    },

    /// A pull-only method on weights that leave an agent out of its own mean.
    #[error(
        "pull-only methods divide by how much of itself an agent hears, and agent {agent} gives itself no weight in R"
    )]
    NoSelfWeight {
        /// The agent.
        agent: usize,
    },

    /// A pull-only method on links that change, and π_R with them.
    #[error(
        "pull-only methods learn one π_R for all rounds, but it moves with the links: agent {agent} has {first} in round 0 and {now} in round {round}"
    )]
    MovingAverage {
        /// An agent.
        agent: usize,
        /// Its entry of π_R as round 0 begins.
        first: f64,
        /// A round in which it differs.
        round: usize,
        /// Its entry then.
        now: f64,
    },

    /// A method on a problem that it cannot work on.
    #[error("the method does not fit the problem: {0}")]
    Unfit(String),

    /// Metropolis weights on a digraph with a one-way edge.
    #[error("Metropolis weights need a symmetric graph, but {from} -> {to} has no edge back")]
    NotSymmetric {
        /// Sender.
        from: usize,
        /// Receiver.
        to: usize,
    },

    /// A spanning tree was asked for from a node that does not reach all others.
    #[error("no spanning tree from root {root}: {reason}")]
    NoSpanningTree {
        /// The chosen root.
        root: usize,
        /// Who cannot be reached, or what else is wrong.
        reason: String,
    },

    /// A Perron vector did not converge (ill-conditioned and too large to eliminate).
    #[error("the Perron vector did not converge: after {iterations} iterations it still moves by {change:e}")]
    PerronNotConverged {
        /// Iterations done.
        iterations: usize,
        /// Last change in the 1-norm.
        change: f64,
    },

    /// A mixing whose chain has two or more closed classes: every mixture of their Perron vectors is one too.
    #[error(
        "the Perron vector is not unique: agents {first} and {second} belong to two groups that {closed}"
    )]
    PerronNotUnique {
        /// An agent of one closed class.
        first: usize,
        /// An agent of another.
        second: usize,
        /// What closes them: "hear no one outside" (pull) or "send to no one outside" (push).
        closed: &'static str,
    },

    /// A question that the theory has no answer to.
    #[error("theory has no answer here: {0}")]
    NoTheory(String),

    /// An inequality of the theory that does not hold for the numbers given.
    #[error("not certified: {0}")]
    Uncertified(String),

    /// A method or a network that cannot run without rounds in step.
    #[error("cannot run asynchronously: {0}")]
    NotAsynchronous(String),

    /// A log of arrivals that is damaged, or belongs to another run.
    #[error("log of arrivals: {0}")]
    Log(String),

    /// More agents than rows of data.
    #[error("{agents} agents cannot share {rows} rows of data: give at most {rows} agents")]
    TooFewRows {
        /// Agents asked for.
        agents: usize,
        /// Rows there are.
        rows: usize,
    },

    /// A line of a text file that cannot be read.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column (in characters), from 1.
        column: usize,
        /// What is wrong, and what would be right.
        message: String,
    },

    /// A file as a whole is not usable (empty, a directory, too large).
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },

    /// Reading or writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },

    /// Bytes that are no encoded vector.
    #[error("these bytes are no vector encoded by {codec}: {fault}")]
    Encoding {
        /// The codec that was to read them.
        codec: &'static str,
        /// What is wrong with them.
        fault: Fault,
    },

    /// A method that is given as data, in which something is wrong.
    #[error("method `{method}`: {place}: {fault}")]
    Definition {
        /// Its name.
        method: String,
        /// Which part of it: a program, the roles.
        place: String,
        /// What is wrong, and what would be right.
        fault: String,
    },

    /// Two parts of a run disagree about a size.
    #[error("the {left} has {left_size} {unit}, the {right} {right_size}")]
    Mismatch {
        /// One part.
        left: &'static str,
        /// Its size.
        left_size: usize,
        /// The other part.
        right: &'static str,
        /// Its size.
        right_size: usize,
        /// What is counted.
        unit: &'static str,
    },
}

impl Error {
    /// An unknown name, with the nearest of the known ones as a suggestion.
    ///
    /// ```
    /// let error = oneway::Error::unknown("method", "smtp", ["smtpp", "sgp"]);
    /// assert_eq!(error.to_string(), "unknown method `smtp`: did you mean `smtpp`? (known: smtpp, sgp)");
    /// ```
    pub fn unknown<'a>(
        what: impl Into<String>,
        name: impl Into<String>,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Error {
        let name = shown(&name.into()); // a few characters tell which it is
        let known: Vec<&str> = known.into_iter().collect();
        let suggestion = known
            .iter()
            .map(|candidate| (likeness(candidate, &name), *candidate))
            .filter(|(similarity, _)| *similarity > 0.75)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, candidate)| candidate.to_owned());
        Error::UnknownName { what: what.into(), name, suggestion, known: known.join(", ") }
    }

    /// A parameter out of range.
    pub fn parameter(
        owner: impl Into<String>,
        name: impl Into<String>,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Error {
        Error::Parameter {
            owner: owner.into(),
            name: name.into(),
            value: brief(value.to_string()),
            expected: expected.into(),
        }
    }
}

/// How alike two names are, from 0 to 1, whatever is written in capitals.
fn likeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase())
}
