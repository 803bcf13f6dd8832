//! A topology: which (R, C) mixes round k, as a pure function of k.

use std::sync::OnceLock;

use crate::graph::{self, Digraph, Tree, weights};
use crate::mixing::{Mixing, Stochastic};
use crate::theory::perron;
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

/// The stationary vectors of a topology at one round of its period.
#[derive(Debug, Clone, PartialEq)]
pub struct Stationary {
    /// π_R: x̄ = π_RᵀX.
    pub pull: Vec<f64>,
    /// π_C: where pushed mass ends up.
    pub push: Vec<f64>,
    /// c_π = n π_Rᵀπ_C: the step that the average takes is η·c_π.
    pub c_π: f64,
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
    pub fn of(digraphs: &[Digraph], subgraph: Subgraph, weights: Weights, root: usize) -> Result<Self> {
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

    /// The period's matrices multiplied into one pair, from round k on: R_{k+p−1}⋯R_k and C_{k+p−1}⋯C_k.
    fn product_from(&self, k: usize) -> Result<Pair> {
        let p = self.period.len();
        let mut product = self.period[k % p].clone();
        for step in 1..p {
            let next = &self.period[(k + step) % p];
            product.pull = next.pull.times(&product.pull, Stochastic::Rows)?;
            product.push = next.push.times(&product.push, Stochastic::Columns)?;
        }
        Ok(product)
    }

    /// π_R, π_C and c_π as round k begins; computed at the first call and kept.
    ///
    /// For a time-varying topology these are the vectors of the period's product: φ_k with φ_kᵀ R_{k+p−1}⋯R_k = φ_kᵀ,
    /// so that φ_{k+1}ᵀR_k = φ_kᵀ, and likewise for C.
    pub fn stationary(&self, k: u64) -> Result<&Stationary> {
        let all = match self.stationary.get() {
            Some(all) => all,
            None => {
                let computed = (0..self.period.len()).map(|k| {
                    let Pair { pull, push } = self.product_from(k)?;
                    let (pull, push) = (perron::left(&pull)?, perron::right(&push)?);
                    let c_π = perron::c_pi(&pull, &push);
                    Ok(Stationary { pull, push, c_π })
                });
                let computed = computed.collect::<Result<Vec<_>>>()?;
                self.stationary.get_or_init(|| computed)
            }
        };
        Ok(&all[(k % all.len() as u64) as usize])
    }

    /// c_π, averaged over the period: the factor between a raw step and the step that the average takes.
    pub fn c_π(&self) -> Result<f64> {
        let p = self.period.len();
        let sum = (0..p as u64).map(|k| Ok(self.stationary(k)?.c_π)).sum::<Result<f64>>()?;
        Ok(sum / p as f64)
    }

    /// Assumption 1 (corrected): the graphs of R and of Cᵀ, multiplied over a period, each have a spanning tree, and a
    /// common root. Returns the common roots.
    pub fn check_common_root(&self) -> Result<Vec<usize>> {
        let Pair { pull, push } = self.product_from(0)?;
        graph::check_common_root(&pull, &push)
    }

    /// What push-sum needs: everyone's mass reaches everyone over a period.
    pub fn check_strongly_connected(&self) -> Result<()> {
        graph::check_strongly_connected(&self.product_from(0)?.push)
    }
}
