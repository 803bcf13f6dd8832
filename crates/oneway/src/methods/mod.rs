//! The methods, and their registry: name → constructor from parameters.

mod ab;
mod adamdos;
mod central;
pub mod combine;
mod dsgd;
mod dsmt;
pub mod estimator;
mod exact_diffusion;
mod frost;
mod global_momentum;
mod momentum_tracking;
mod push_diging;
mod push_pull_hb;
mod r_fast;
mod sgp;
mod tracking;

pub use ab::{Ab, AcceleratedAb};
pub use adamdos::AdaMdos;
pub use central::{Adam, AdamDescent, Central, Csgdm, Descent, MomentumDescent, Plain};
pub use dsgd::Dsgd;
pub use dsmt::{Begun, Dsmt};
pub use exact_diffusion::ExactDiffusion;
pub use frost::Frost;
pub use global_momentum::GlobalMomentum;
pub use push_diging::{PUSH_DIGING, PushDiging};
pub use push_pull_hb::PushPullHb;
pub use r_fast::RFast;
pub use sgp::{SGP, Sgp};
pub use tracking::{PUSH_PULL, PushPull, Smtpp, Tracking};

use crate::graph::Subgraph;
use crate::method::{Method, Network};
use crate::methods::estimator::AnyEstimator;
use crate::numeric::Real;
use crate::parameters::{Parameter, Parameters, entry, find};
use crate::{Error, Result};

/// A method as the registry knows it.
#[derive(Debug)]
pub struct Kind {
    /// Its name in an experiment file.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What it does to the equations of the method inside it, in a line; none for a rule, whose own equations
    /// are printed from its code ([`Trace::equations`](crate::method::Trace::equations)).
    pub alters: Option<&'static str>,
    /// Whose method it is.
    pub reference: &'static str,
    /// How sure the rule is.
    pub trust: Trust,
    /// The subgraphs of a topology that it may use; the first is the default.
    pub graphs: &'static [Subgraph],
    /// Its parameters besides the step size.
    pub parameters: &'static [Parameter],
    /// Makes it.
    pub build: fn(&Parameters) -> Result<Box<dyn Method>>,
    /// Makes it with another estimator in place of its gradients, where it has room for one.
    pub with_estimator: Option<WithEstimator>,
}

/// A constructor of a method around an estimator.
pub type WithEstimator = fn(&Parameters, AnyEstimator) -> Result<Box<dyn Method>>;

/// Where a method's rule was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// In the authors' code or text, the start included.
    A,
    /// In a standard form, the same in several sources; or in the authors' code, except for something that
    /// its documentation names.
    B,
    /// From memory: its identities hold, and its documentation says what was not verified.
    C,
}

entry!(Kind, "method");

impl Kind {
    /// An entry with a name, a line about it and a constructor. It uses all links of a topology, has no
    /// parameters and no room for an estimator, its rule is from memory and nobody's; other fields say
    /// otherwise:
    ///
    /// ```
    /// use oneway::prelude::*;
    /// static MINE: Kind = Kind {
    ///     reference: "me, 2026",
    ///     ..Kind::new("mine", "SMTPP by another name", |_| Ok(Box::new(methods::Smtpp::new(0.2)?)))
    /// };
    /// assert_eq!(MINE.method([]).unwrap().network(), Network::PushPull);
    /// ```
    pub const fn new(
        name: &'static str,
        about: &'static str,
        build: fn(&Parameters) -> Result<Box<dyn Method>>,
    ) -> Self {
        Kind {
            name,
            about,
            alters: None,
            reference: "",
            trust: Trust::C,
            graphs: &[Subgraph::Full],
            parameters: &[],
            build,
            with_estimator: None,
        }
    }

    /// The method with these parameters; defaults fill the gaps.
    ///
    /// ```
    /// let method = oneway::methods::kind("smtpp").unwrap().method([("momentum", 0.2)]).unwrap();
    /// assert_eq!(format!("{method:?}"), "Tracking { estimator: Momentum { λ: 0.2 }, network: PushPull }");
    /// ```
    pub fn method<'a>(&self, given: impl IntoIterator<Item = (&'a str, f64)>) -> Result<Box<dyn Method>> {
        let given = given.into_iter().map(|(name, value)| (name.to_owned(), value));
        (self.build)(&Parameters::new(self.name, self.parameters, given)?)
    }

    /// The kind of network it runs on.
    pub fn network(&self) -> Network {
        let method = self.method([]).expect("every method can be made of its defaults");
        method.network()
    }
}

const MOMENTUM: Parameter =
    Parameter::number("momentum", "λ in (0, 1], the weight of the newest gradient", 0.1);

const HEAVY_BALL: Parameter =
    Parameter::number("heavy_ball", "β in [0, 1), the weight of the last move", 0.5);

/// Every method there is.
// No constant: every crate that names one compiles the closures in it again, and with them all rules.
pub static KINDS: &[Kind] = &[
    tracking::SMTPP,
    tracking::PUSH_PULL_KIND,
    tracking::STPP,
    tracking::STORM,
    push_pull_hb::KIND,
    r_fast::KIND,
    sgp::KIND,
    sgp::MOMENTUM,
    push_diging::KIND,
    push_diging::ADD_OPT,
    push_diging::PUSH_SAGA,
    frost::KIND,
    ab::AB,
    ab::ABM,
    ab::ACCELERATED,
    ab::AB_SAGA,
    ab::GT,
    tracking::DSGT,
    dsgd::KIND,
    dsmt::PLAIN,
    dsmt::ACCELERATED,
    exact_diffusion::EXACT_DIFFUSION,
    exact_diffusion::D2,
    momentum_tracking::KIND,
    global_momentum::QG_DSGDM,
    global_momentum::DECENTLAM,
    adamdos::KIND,
    combine::MULTI_GOSSIP,
    combine::LOCAL_SMTPP,
    combine::LOCAL_DSMT,
    combine::PD_SGDM,
    combine::COMPRESSED_SMTPP.kind,
    combine::CPP.kind,
    combine::RCPP.kind,
    combine::C_GT.kind,
    combine::BEER.kind,
    combine::MOTEF.kind,
    combine::HB_SECTOR.kind,
    central::CSGDM,
    central::SGD,
    central::STORM,
    central::ADAM,
];

/// The method called `name`; the error suggests the nearest name.
///
/// ```
/// assert_eq!(oneway::methods::kind("smtpp").unwrap().parameters[0].name, "momentum");
/// assert!(oneway::methods::kind("smttp").unwrap_err().to_string().contains("did you mean `smtpp`?"));
/// assert!(oneway::methods::kind("lmt").unwrap_err().to_string().contains("did you mean `local-dsmt`?"));
/// ```
pub fn kind(name: &str) -> Result<&'static Kind> {
    find(KINDS, name).map_err(|unknown| renamed(name, unknown))
}

/// The error that a name is unknown, with what the method is called now if it had that name once.
pub(crate) fn renamed(name: &str, unknown: Error) -> Error {
    match (RENAMED.iter().find(|(old, _)| *old == name), unknown) {
        (Some((_, now)), Error::UnknownName { what, name, known, .. }) => {
            Error::UnknownName { what, name, suggestion: Some((*now).to_owned()), known }
        }
        (_, unknown) => unknown,
    }
}

/// What methods were called once, and what they are called now.
const RENAMED: &[(&str, &str)] = &[("lmt", "local-dsmt")];

/// λ, if it is in (0, 1].
pub(crate) fn momentum_coefficient(method: &str, λ: f64) -> Result<f64> {
    let possible = λ > 0.0 && λ <= 1.0;
    possible
        .then_some(λ)
        .ok_or_else(|| Error::parameter(method, "momentum", λ, "the coefficient λ must be in (0, 1]"))
}

/// β, if it is in [0, 1).
pub(crate) fn heavy_ball_coefficient(method: &str, β: f64) -> Result<f64> {
    let possible = (0.0..1.0).contains(&β);
    possible
        .then_some(β)
        .ok_or_else(|| Error::parameter(method, "heavy_ball", β, "the coefficient β must be in [0, 1)"))
}

/// (x − x⁺)/η, the slope that a step of η took; `unknown` where there was no step.
#[inline(always)]
fn slope<S: Real>(x: S, x_next: S, η: S, unknown: S) -> S {
    η.if_positive((x - x_next) / η, unknown)
}
