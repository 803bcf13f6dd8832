//! What is known of a method: its equations, from its code, and what a round costs.

use anyhow::{Result, bail};
use oneway::method::{Method, Network};
use oneway::methods::{Kind, Trust};
use oneway::numeric::{Operations, Precision};
use oneway::problems::{Quadratic, QuadraticShape};

use super::behaviour::AGENTS;

/// A method as its code has it.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Its equations, or those of the rule inside it.
    pub(crate) equations: Vec<String>,
    /// Where it starts.
    pub(crate) start: Vec<String>,
    /// What it does to those equations, if it is around a rule.
    pub(crate) alters: Option<&'static str>,
    /// The operations of one coordinate in a round; those of the rule inside it.
    pub(crate) operations: Operations,
    /// What one link carries in a round; nothing for a centralised method.
    pub(crate) sends: Option<String>,
    /// How sure the rule is, by its letter.
    pub(crate) trust: char,
}

impl Facts {
    /// Those of a method with its default parameters.
    pub(crate) fn new(kind: &Kind) -> Result<Self> {
        let method = kind.method([])?;
        let Some(trace) = method.trace_inside() else { bail!("{} has no equations", kind.name) };
        Ok(Self {
            equations: trace.equations(),
            start: trace.start_equations(),
            alters: kind.alters,
            operations: trace.operations(),
            sends: match kind.network() {
                Network::Central => None,
                _ => Some(sends(&*method)?),
            },
            trust: match kind.trust {
                Trust::A => 'A',
                Trust::B => 'B',
                Trust::C => 'C',
            },
        })
    }

    /// Equations, start and what is done to them, one a line.
    pub(crate) fn lines(&self) -> Vec<String> {
        let start = (!self.start.is_empty()).then(|| format!("from {}", self.start.join("; ")));
        let alters = self.alters.map(str::to_owned);
        self.equations.iter().cloned().chain(start).chain(alters).collect()
    }
}

/// What one link carries in one round, on both graphs: a number of numbers where it is one, else bytes.
fn sends(method: &dyn Method) -> Result<String> {
    let bytes = |agents: usize, dim: usize| {
        let shape = QuadraticShape { dim, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
        let problem = Quadratic::new(shape, agents, 1)?;
        let profile = method.profile_on(&problem);
        let phases = (0..profile.phases()).map(|phase| profile.bytes(phase, dim, Precision::F64));
        oneway::Result::Ok(phases.fold([0, 0], |sum, bytes| [sum[0] + bytes[0], sum[1] + bytes[1]]))
    };
    // linear in d and n, if it is: three places tell
    let (here, wider, more) = (bytes(AGENTS, 1000)?, bytes(AGENTS, 2000)?, bytes(AGENTS + 1, 1000)?);
    let of = |graph: usize| {
        let (here, wider, more) = (here[graph], wider[graph], more[graph]);
        let (per_d, per_n) = ((wider - here) / 8000, (more - here) / 8);
        let rest = (here / 8).checked_sub(per_d * 1000 + per_n * AGENTS);
        match rest {
            _ if here == 0 => None,
            Some(rest) if here % 8 == 0 && per_d * 8000 == wider - here => {
                let times = |count: usize, name: &str| match count {
                    0 => None,
                    1 => Some(name.to_owned()),
                    count => Some(format!("{count}{name}")),
                };
                let rest = (rest > 0).then(|| rest.to_string());
                let terms: Vec<String> =
                    [times(per_d, "d"), times(per_n, "n"), rest].into_iter().flatten().collect();
                Some(format!("{} numbers", terms.join(" + ")))
            }
            _ => Some(format!("{here} bytes at d = 1000 with its default codec")),
        }
    };
    let pull = of(0).map(|numbers| format!("{numbers} on the pull graph"));
    let push = of(1).map(|numbers| format!("{numbers} on the push graph"));
    let both: Vec<String> = pull.into_iter().chain(push).collect();
    let phases = match method.phases() {
        1 => String::new(),
        phases => format!(", in {phases} exchanges"),
    };
    Ok(format!("{}{phases}", both.join(", ")))
}
