//! DSGD, decentralised SGD (Lian et al. 2017): step and average with the neighbours, nothing else.
//!
//! X⁺ = W(X − ηM), adapt then combine; or X⁺ = WX − ηM, combine then adapt. M⁺ is the estimator's: gradients make DSGD, a
//! heavy ball M⁺ = μM + G⁺ makes the rounds of PD-SGDM (Gao & Huang 2020) that exchange. One doubly stochastic W is all that
//! is asked for: it keeps the mean, so that x̄⁺ = x̄ − ηm̄ on any balanced digraph. No bias is corrected: where data differ,
//! agents stop an O(η) apart.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient};
use crate::methods::{Kind, Trust};
use crate::parameters::{Parameter, Parameters};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// Steps and averages; state is (x, m), x⁺ while it is worked out if it combines first, and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Dsgd<E> {
    estimator: E,
    combine_first: bool,
}

impl<E: Estimator> Dsgd<E> {
    /// Adapt then combine: X⁺ = W(X − ηM).
    pub fn new(estimator: E) -> Self {
        Self { estimator, combine_first: false }
    }

    /// Combine then adapt: X⁺ = WX − ηM.
    pub fn combine_first(self) -> Self {
        Self { combine_first: true, ..self }
    }

    fn of(parameters: &Parameters, estimator: E) -> Result<Self> {
        match parameters.count("combine_first")? {
            0 => Ok(Self::new(estimator)),
            1 => Ok(Self::new(estimator).combine_first()),
            _ => Err(parameters.invalid("combine_first", "it must be 0 or 1")),
        }
    }
}

impl<E: Estimator> Method for Dsgd<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let own = 2 + usize::from(self.combine_first);
        let state = Width::vectors(own + self.estimator.memory(problem));
        Layout { state, pull: Width::vectors(1), push: Width::NONE }
    }

    fn network(&self) -> Network {
        Network::Balanced
    }

    fn roles(&self) -> Roles {
        Roles { momentum: self.estimator.averages().then_some(1), ..Roles::default() }
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.estimator.check(problem)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let d = local.problem().dim();
        let ([x, m], rest) = row::split_head_mut(state, d);
        let memory = if self.combine_first { &mut rest[d..] } else { rest };
        local.start(x);
        self.estimator.first(x, m, memory, local);
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], _push: &mut [f64]) {
        let ([x, m], _) = row::split_head_mut(state, pull.len());
        let η = if self.combine_first { 0.0 } else { at.η };
        row::descend(pull, x, η, m); // x − ηm, or x
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], _pushed: &[f64], local: &mut Local<'_>) {
        let ([x, m], rest) = row::split_head_mut(state, pulled.len());
        if self.combine_first {
            let ([x_next], memory) = row::split_head_mut(rest, pulled.len());
            row::descend(x_next, pulled, at.η, m); //                  x⁺ = Σ_j W_ij x_j − η m
            m.copy_from_slice(self.estimator.next(x, x_next, m, memory, local));
            x.copy_from_slice(x_next);
        } else {
            m.copy_from_slice(self.estimator.next(x, pulled, m, rest, local)); // m⁺ at x⁺
            x.copy_from_slice(pulled); //                              x⁺ = Σ_j W_ij (x_j − η m_j)
        }
    }
}

const COMBINE_FIRST: Parameter = Parameter {
    name: "combine_first",
    about: "1 averages first and then steps, X⁺ = WX − ηG; 0 steps first",
    default: Some(0.0),
};

pub(super) const KIND: Kind = Kind {
    name: "dsgd",
    about: "decentralised SGD: step, and average with the neighbours",
    rule: "X⁺ = W(X − ηG), or X⁺ = WX − ηG",
    reference: "Lian, Zhang, Zhang, Hsieh, Zhang & Liu 2017",
    trust: Trust::A,
    network: Network::Balanced,
    graphs: &[Subgraph::Full],
    parameters: &[COMBINE_FIRST],
    build: |parameters| Ok(Box::new(Dsgd::of(parameters, Gradient)?)),
    with_estimator: Some(|parameters, estimator| Ok(Box::new(Dsgd::of(parameters, estimator)?))),
};
