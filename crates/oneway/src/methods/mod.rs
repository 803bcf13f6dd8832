//! The methods, and their registry: name → constructor from parameters.

mod csgdm;
mod push_diging;
mod push_pull;
mod sgp;
mod smtpp;

pub use csgdm::Csgdm;
pub use push_diging::PushDiging;
pub use push_pull::PushPull;
pub use sgp::Sgp;
pub use smtpp::Smtpp;

use crate::method::{Method, Network};
use crate::parameters::{Parameter, Parameters};
use crate::topology::Subgraph;
use crate::{Error, Result};

/// A method as the registry knows it.
#[derive(Debug)]
pub struct Kind {
    /// Its name in an experiment file.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Its update rule, in a line.
    pub rule: &'static str,
    /// The kind of network it runs on.
    pub network: Network,
    /// The subgraphs of a topology that it may use; the first is the default.
    pub graphs: &'static [Subgraph],
    /// Its parameters besides the step size.
    pub parameters: &'static [Parameter],
    /// Makes it.
    pub build: fn(&Parameters) -> Result<Box<dyn Method>>,
}

impl Kind {
    /// The method with these parameters; defaults fill the gaps.
    ///
    /// ```
    /// let method = oneway::methods::kind("smtpp").unwrap().method([("momentum", 0.2)]).unwrap();
    /// assert_eq!(format!("{method:?}"), "Smtpp { λ: 0.2 }");
    /// ```
    pub fn method<'a>(&self, given: impl IntoIterator<Item = (&'a str, f64)>) -> Result<Box<dyn Method>> {
        let given = given.into_iter().map(|(name, value)| (name.to_owned(), value));
        (self.build)(&Parameters::new(self.name, self.parameters, given)?)
    }
}

const MOMENTUM: Parameter = Parameter {
    name: "momentum",
    about: "λ in (0, 1], the weight of the newest gradient",
    default: Some(0.1),
};

/// Every method there is.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "smtpp",
        about: "Stochastic Momentum Tracking Push-Pull: tracks momentum on the push graph, pulls models",
        rule: "X⁺ = R(X − ηV); M⁺ = (1−λ)M + λG⁺; V⁺ = CV + M⁺ − M",
        network: Network::PushPull,
        graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
        parameters: &[MOMENTUM],
        build: Smtpp::from_parameters,
    },
    Kind {
        name: "push-pull",
        about: "(Stochastic) Push-Pull: tracks gradients on the push graph, pulls models",
        rule: "X⁺ = R(X − ηY); Y⁺ = CY + G⁺ − G",
        network: Network::PushPull,
        graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
        parameters: &[],
        build: |_| Ok(Box::new(PushPull)),
    },
    Kind {
        name: "stpp",
        about: "Stochastic Tree Push-Pull: Push-Pull on two spanning trees with one root",
        rule: "X⁺ = R(X − ηY); Y⁺ = CY + G⁺ − G on weight-1 trees",
        network: Network::PushPull,
        graphs: &[Subgraph::Trees, Subgraph::LazyTrees],
        parameters: &[],
        build: |_| Ok(Box::new(PushPull)),
    },
    Kind {
        name: "sgp",
        about: "Stochastic Gradient Push: SGD through push-sum",
        rule: "z = x/w; x⁺ = C(x − ηg(z)); w⁺ = Cw",
        network: Network::PushSum,
        graphs: &[Subgraph::Full],
        parameters: &[],
        build: |_| Ok(Box::new(Sgp)),
    },
    Kind {
        name: "push-diging",
        about: "Push-DIGing: gradient tracking through push-sum",
        rule: "u⁺ = C(u − ηy); w⁺ = Cw; x⁺ = u⁺/w⁺; y⁺ = Cy + g(x⁺) − g(x)",
        network: Network::PushSum,
        graphs: &[Subgraph::Full],
        parameters: &[],
        build: |_| Ok(Box::new(PushDiging)),
    },
    Kind {
        name: "csgdm",
        about: "centralised SGD with momentum: the bound, as if everyone heard everyone",
        rule: "m⁺ = (1−λ)m + λḡ; x⁺ = x − ηm⁺",
        network: Network::Central,
        graphs: &[Subgraph::Full],
        parameters: &[MOMENTUM],
        build: Csgdm::from_parameters,
    },
];

/// The method called `name`; the error suggests the nearest name.
///
/// ```
/// assert_eq!(oneway::methods::kind("smtpp").unwrap().parameters[0].name, "momentum");
/// assert!(oneway::methods::kind("smttp").unwrap_err().to_string().contains("did you mean `smtpp`?"));
/// ```
pub fn kind(name: &str) -> Result<&'static Kind> {
    KINDS
        .iter()
        .find(|kind| kind.name == name)
        .ok_or_else(|| Error::unknown("method", name, KINDS.iter().map(|kind| kind.name)))
}

/// λ, if it is in (0, 1].
pub(crate) fn momentum_coefficient(method: &str, λ: f64) -> Result<f64> {
    let possible = λ > 0.0 && λ <= 1.0;
    possible
        .then_some(λ)
        .ok_or_else(|| Error::parameter(method, "momentum", λ, "the coefficient λ must be in (0, 1]"))
}

/// Dynamic average tracking: y ← pushed + g⁺ − g, and g⁺ is kept in place of g. Σy − Σg does not change.
#[inline(always)]
fn track(y: &mut [f64], pushed: &[f64], g: &mut [f64], g_next: &[f64]) {
    for (((y, c_y), g), g_next) in y.iter_mut().zip(pushed).zip(g).zip(g_next) {
        *y = c_y + (g_next - *g);
        *g = *g_next;
    }
}
