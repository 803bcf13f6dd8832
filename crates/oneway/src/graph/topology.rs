//! A topology: which (R, C) mixes round k, as a pure function of k.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use crate::graph::mixing::{Link, Mixing, Stochastic};
use crate::graph::perron::{self, period};
use crate::graph::{self, Digraph, Tree, weights};
use crate::{Error, Result};

/// Which links of a digraph a method uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subgraph {
    /// All of them.
    Full,
    /// Two breadth-first spanning trees with one root, weight 1: π_R = π_C = e_root, c_π = n.
    Trees,
    /// The same trees with self-weight ½ everywhere: ½I + ½·tree.
    LazyTrees,
}

impl Subgraph {
    /// All of them, with their names in an experiment file.
    pub const NAMED: [(&'static str, Subgraph); 3] =
        [("full", Subgraph::Full), ("trees", Subgraph::Trees), ("lazy-trees", Subgraph::LazyTrees)];

    /// Its name in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Subgraph::Full => "full",
            Subgraph::Trees => "trees",
            Subgraph::LazyTrees => "lazy-trees",
        }
    }
}

/// How the weights of a full digraph are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// R_ij = 1/(1 + indeg i), C_ij = 1/(1 + outdeg j).
    Uniform,
    /// R = C = W with W_ij = 1/(1 + max(deg i, deg j)); symmetric graphs only.
    Metropolis,
}

/// The two mixing matrices of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// R, row-stochastic: models are pulled.
    pub pull: Mixing,
    /// C, column-stochastic: trackers and push-sum rows are pushed.
    pub push: Mixing,
}

/// Which of the two graphs of a topology a message travels on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Graph {
    /// Models, mixed by R: the receiver multiplies by R_ij.
    Pull,
    /// Trackers and push-sum rows, mixed by C: the sender multiplies by its C_ij.
    Push,
}

impl Graph {
    /// Both.
    pub const BOTH: [Graph; 2] = [Graph::Pull, Graph::Push];

    /// Its name in keys and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Graph::Pull => "pull",
            Graph::Push => "push",
        }
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The stationary vectors of a topology at one round of its period.
#[derive(Debug, Clone, PartialEq)]
pub struct Stationary {
    /// π_R: x̄ = π_RᵀX.
    pub pull: Vec<f64>,
    /// π_C: where pushed mass ends up.
    pub push: Vec<f64>,
    /// c_π = n π_Rᵀπ_C: the step that the average takes is η·c_π.
    pub c_pi: f64,
}

/// (R, C) for every round: one pair for a fixed network, several in turn for a time-varying one.
#[derive(Debug)]
pub struct Topology {
    period: Vec<Pair>,
    stationary: OnceLock<Vec<Stationary>>,
}

impl Topology {
    /// Pairs used in turn: round k mixes with pair k mod period. All must have the same number of agents.
    pub fn cyclic(period: Vec<Pair>) -> Result<Self> {
        let agents = period.first().map_or(0, |pair| pair.pull.agents());
        if agents == 0 {
            return Err(Error::parameter("topology", "agents", 0, "there must be at least one agent"));
        }
        for pair in &period {
            pair.pull.check(Stochastic::Rows)?;
            pair.push.check(Stochastic::Columns)?;
            for (right, mixing) in [("pull graph of a later round", &pair.pull), ("push graph", &pair.push)] {
                if mixing.agents() != agents {
                    let (left_size, right_size) = (agents, mixing.agents());
                    return Err(Error::Mismatch {
                        left: "pull graph",
                        left_size,
                        right,
                        right_size,
                        unit: "agents",
                    });
                }
            }
        }
        Ok(Self { period, stationary: OnceLock::new() })
    }

    /// The same R and C in every round.
    pub fn fixed(pull: Mixing, push: Mixing) -> Result<Self> {
        Self::cyclic(vec![Pair { pull, push }])
    }

    /// Everyone hears everyone: R = C = 11ᵀ/n.
    pub fn complete(agents: usize) -> Result<Self> {
        Self::fixed(Mixing::complete(agents), Mixing::complete(agents))
    }

    /// The topology that a method gets on a digraph (several: one for each round of the period).
    ///
    /// Trees are cut from a fixed digraph only.
    pub fn from_digraphs(
        digraphs: &[Digraph],
        subgraph: Subgraph,
        weights: Weights,
        root: usize,
    ) -> Result<Self> {
        if subgraph == Subgraph::Full {
            let pairs = digraphs.iter().map(|digraph| match weights {
                Weights::Uniform => Ok(Pair {
                    pull: weights::uniform_rows(digraph)?,
                    push: weights::uniform_columns(digraph)?,
                }),
                Weights::Metropolis => {
                    let both = weights::metropolis(digraph)?;
                    Ok(Pair { pull: both.clone(), push: both })
                }
            });
            return Self::cyclic(pairs.collect::<Result<_>>()?);
        }
        let [digraph] = digraphs else {
            let expected = "spanning trees are cut from a fixed digraph; this one changes with the round";
            return Err(Error::parameter("method", "graph", subgraph.name(), expected));
        };
        let lazy = subgraph == Subgraph::LazyTrees;
        let pull = weights::pull_tree(&Tree::pull(digraph, root)?, lazy)?;
        let push = weights::push_tree(&Tree::push(digraph, root)?, lazy)?;
        Self::fixed(pull, push)
    }

    /// Number of agents, n.
    pub fn agents(&self) -> usize {
        self.period[0].pull.agents()
    }

    /// The pair that mixes round k.
    #[inline]
    pub fn at(&self, k: u64) -> &Pair {
        &self.period[(k % self.period.len() as u64) as usize]
    }

    /// All pairs of the period, from round 0.
    pub fn period(&self) -> &[Pair] {
        &self.period
    }

    /// A period as one pair on p·n nodes: node k·n + i is agent i as round k begins, and round k leads from
    /// there to round k + 1. Sparse, where the product of the period's matrices is not.
    fn unrolled(&self) -> Result<Cow<'_, Pair>> {
        let (p, n) = (self.period.len(), self.agents());
        if let [only] = &self.period[..] {
            return Ok(Cow::Borrowed(only));
        }
        let unroll = |of: fn(&Pair) -> &Mixing, stochastic| {
            let links = self.period.iter().enumerate().flat_map(|(k, pair)| {
                of(pair).iter().map(move |link| Link {
                    from: k * n + link.from,
                    to: (k + 1) % p * n + link.to,
                    weight: link.weight,
                })
            });
            Mixing::new(p * n, stochastic, links)
        };
        let pull = unroll(|pair| &pair.pull, Stochastic::Rows)?;
        Ok(Cow::Owned(Pair { pull, push: unroll(|pair| &pair.push, Stochastic::Columns)? }))
    }

    /// π_R, π_C and c_π as round k begins; computed at the first call and kept.
    ///
    /// For a time-varying topology these move with the round: φ_{k+1}ᵀR_k = φ_kᵀ and C_kψ_k = ψ_{k+1}, which
    /// makes them together the stationary vectors of the unrolled period.
    pub fn stationary(&self, k: u64) -> Result<&Stationary> {
        let all = match self.stationary.get() {
            Some(all) => all,
            None => {
                let of_rounds = self.stationary_vectors()?;
                let computed = of_rounds.into_iter().map(|(pull, push)| {
                    let c_pi = perron::c_pi(&pull, &push);
                    Stationary { pull, push, c_pi }
                });
                let computed = computed.collect();
                self.stationary.get_or_init(|| computed)
            }
        };
        Ok(&all[(k % all.len() as u64) as usize])
    }

    /// π_R and π_C of every round of the period.
    fn stationary_vectors(&self) -> Result<Vec<(Vec<f64>, Vec<f64>)>> {
        let (p, n) = (self.period.len(), self.agents());
        if period::suits(&self.period, n) {
            return Ok(period::left(&self.period)?.into_iter().zip(period::right(&self.period)?).collect());
        }
        let unrolled = self.unrolled()?;
        let (left, right) = (perron::left(&unrolled.pull)?, perron::right(&unrolled.push)?);
        let at = |all: &[f64], k: usize| -> Vec<f64> {
            all[k * n..(k + 1) * n].iter().map(|weight| weight * p as f64).collect()
        };
        Ok((0..p).map(|k| (at(&left, k), at(&right, k))).collect())
    }

    /// c_π, averaged over the period: the factor between a raw step and the step that the average takes.
    pub fn c_pi(&self) -> Result<f64> {
        let p = self.period.len();
        let sum = (0..p as u64).map(|k| Ok(self.stationary(k)?.c_pi)).sum::<Result<f64>>()?;
        Ok(sum / p as f64)
    }

    /// What a step size given as *effective* is divided by, for methods of this kind that descend along their
    /// tracker: c_π for push-pull methods, n for pull-only ones (what they follow is the sum of all
    /// gradients, not the mean), 1 for all others. A method may know better:
    /// [`Method::step_divisor`](crate::method::Method::step_divisor).
    pub fn step_divisor(&self, network: Network) -> Result<f64> {
        match network {
            Network::PushPull => self.c_pi(),
            Network::PullOnly => Ok(self.agents() as f64),
            _ => Ok(1.0),
        }
    }

    /// Whether a method made for this kind of network can run here; the error says what is missing, and
    /// between whom.
    pub fn check(&self, network: Network) -> Result<()> {
        match network {
            Network::PushPull => self.check_common_root().map(drop),
            Network::PushSum => self.check_strongly_connected(),
            Network::PullOnly => self.check_pulls_everywhere(),
            Network::Balanced | Network::Undirected => {
                self.check_one_matrix(network == Network::Undirected)?;
                self.check_strongly_connected()
            }
            Network::Central => match self.period.iter().all(|pair| pair.push.has_one_row()) {
                true => Ok(()),
                false => Err(Error::NotCentral),
            },
        }
    }

    /// Assumption 1 (corrected): over a period, the pull graph and the reversed push graph each have a
    /// spanning tree, and the two share a root. Returns the common roots, as round 0 begins.
    pub fn check_common_root(&self) -> Result<Vec<usize>> {
        let (p, n) = (self.period.len(), self.agents());
        let unrolled = self.unrolled()?;
        let roots = graph::common_roots(&unrolled.pull, &unrolled.push, p)
            .map_err(|error| self.over_a_period(error))?;
        Ok(roots.into_iter().filter(|&root| root < n).collect())
    }

    /// What push-sum needs: over a period, everyone's mass reaches everyone.
    pub fn check_strongly_connected(&self) -> Result<()> {
        graph::strongly_connected(&self.unrolled()?.push, self.period.len())
            .map_err(|error| self.over_a_period(error))
    }

    /// What row-stochastic methods need: over a period, everyone's model reaches everyone; everyone gives
    /// itself a weight; and π_R does not move with the round, for it is learnt once.
    fn check_pulls_everywhere(&self) -> Result<()> {
        graph::strongly_connected(&self.unrolled()?.pull, self.period.len())
            .map_err(|error| self.over_a_period(error))?;
        for pair in &self.period {
            if let Some(agent) = (0..self.agents()).find(|&i| pair.pull.weight(i, i) == 0.0) {
                return Err(Error::NoSelfWeight { agent });
            }
        }
        for k in 1..self.period.len() {
            let (first, now) = (&self.stationary(0)?.pull, &self.stationary(k as u64)?.pull);
            let moved = |i: &usize| (first[*i] - now[*i]).abs() > 1e-9 * first[*i];
            if let Some(agent) = (0..self.agents()).find(moved) {
                return Err(Error::MovingAverage { agent, first: first[agent], round: k, now: now[agent] });
            }
        }
        Ok(())
    }

    /// Whether R = C in every round, doubly stochastic; symmetric too, if it must be.
    fn check_one_matrix(&self, symmetric: bool) -> Result<()> {
        for Pair { pull, push } in &self.period {
            pull.check(Stochastic::Columns).map_err(|error| Error::NotBalanced(error.to_string()))?;
            if pull != push {
                return Err(Error::NotBalanced("R and C are not the same matrix".to_owned()));
            }
            let lone = pull
                .iter()
                .find(|link| symmetric && (pull.weight(link.from, link.to) - link.weight).abs() > 1e-12);
            if let Some(Link { from, to, .. }) = lone {
                return Err(Error::NotUndirected { from, to });
            }
        }
        Ok(())
    }

    /// Agents of an unrolled period have ids of their own, which would mean nothing to a reader.
    fn over_a_period(&self, error: Error) -> Error {
        let p = self.period.len();
        match error {
            Error::NoCommonRoot(_) if p > 1 => Error::NoCommonRoot(format!(
                "over the period of {p} rounds there is no agent whose models reach all others and whom all trackers reach"
            )),
            Error::NotStronglyConnected { from, .. } if p > 1 => Error::NotStronglyConnected {
                from: from % self.agents(),
                unreachable: format!("every other agent over the period of {p} rounds"),
            },
            other => other,
        }
    }
}

/// The kind of network a method is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// R on the pull graph, C on the push graph, with a common root. x̄ = π_RᵀX.
    PushPull,
    /// C only, on a strongly connected digraph. x̄ is the mean of the conserved variable.
    PushSum,
    /// R only, with self-weights and one π_R for all rounds, on a strongly connected digraph. x̄ = π_RᵀX.
    PullOnly,
    /// One doubly stochastic W = R = C on a strongly connected digraph. x̄ is the mean.
    Balanced,
    /// One symmetric W = R = C on a connected undirected graph. x̄ is the mean.
    Undirected,
    /// Everyone hears everyone, C = 11ᵀ/n: not decentralised at all, but the bound to compare with.
    Central,
}

impl Network {
    /// What it is, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Network::PushPull => "push-pull: R and C with a common root",
            Network::PushSum => "push-sum: C on a strongly connected digraph",
            Network::PullOnly => "pull-only: R on a strongly connected digraph",
            Network::Balanced => "balanced: one doubly stochastic W on a strongly connected digraph",
            Network::Undirected => "undirected: one symmetric W on a connected graph",
            Network::Central => "centralised: everyone hears everyone",
        }
    }
}
