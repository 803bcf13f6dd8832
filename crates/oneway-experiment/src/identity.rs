//! What a thing is, as named values: the text that keys of finished cells, hashes of problems and what agents
//! compare are made of.
//!
//! `cell 1; rounds=900; step.size=3fb999999999999a; problem="…"`. The names stand here and beside what they
//! name, not in the code's own identifiers, and numbers are written bit by bit. So a field may be renamed,
//! and a `Debug` text may change: the identity stays. Where what is written changes, its version goes up.

use std::fmt::Write as _;

use oneway::data::partition::Partition;
use oneway::data::{Split, Synthetic};
use oneway::engine::asynchronous::{Clock, Times};
use oneway::engine::schedule::{Schedule, Shape};
use oneway::engine::unreliable::{Absence, Churn, Faults, Missing};
use oneway::methods::combine::{Compression, Damping, Recipe};
use oneway::parameters::Parameters;
use oneway::problems::{Batch, QuadraticShape, Regulariser, RobustLoss};

use crate::hash::sha256;

/// Named values, in the order in which they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    text: String,
    /// Before each name: `step.`, say.
    prefix: String,
}

/// What has an identity.
pub(crate) trait Identify {
    /// Writes its named values.
    fn identify(&self, to: &mut Identity);
}

impl Identity {
    /// Begins with what it is of, and the version of its names.
    pub(crate) fn new(of: &str, version: u32) -> Self {
        Self { text: format!("{of} {version}"), prefix: String::new() }
    }

    fn write(&mut self, name: &str, value: &str) {
        let _ = write!(self.text, "; {}{name}={value}", self.prefix); // a string takes all
    }

    /// A word, a hash, a path: anything, in quotes.
    pub(crate) fn text(&mut self, name: &str, value: impl AsRef<[u8]>) {
        self.write(name, &format!("\"{}\"", value.as_ref().escape_ascii()));
    }

    /// A whole number.
    pub(crate) fn count(&mut self, name: &str, value: u64) {
        self.write(name, &value.to_string());
    }

    /// True or false.
    pub(crate) fn flag(&mut self, name: &str, value: bool) {
        self.write(name, if value { "true" } else { "false" });
    }

    /// A number, by its bits.
    pub(crate) fn real(&mut self, name: &str, value: f64) {
        self.write(name, &format!("{:016x}", value.to_bits()));
    }

    /// Numbers, by their bits.
    pub(crate) fn reals(&mut self, name: &str, values: &[f64]) {
        let values: Vec<String> = values.iter().map(|value| format!("{:016x}", value.to_bits())).collect();
        self.write(name, &format!("[{}]", values.join(" ")));
    }

    /// The named values of a part, each under the part's name.
    pub(crate) fn part(&mut self, name: &str, part: &dyn Identify) {
        let outer = self.prefix.len();
        self.prefix += name;
        self.prefix.push('.');
        part.identify(self);
        self.prefix.truncate(outer);
    }

    /// All of it.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// SHA-256 of all of it.
    pub(crate) fn sha256(&self) -> String {
        sha256(&self.text)
    }
}

impl Identify for Parameters {
    fn identify(&self, to: &mut Identity) {
        self.iter().for_each(|(name, value)| to.real(name, value)); // by name
    }
}

impl Identify for Recipe {
    fn identify(&self, to: &mut Identity) {
        let Self { kind, parameters, estimator, gossip, local_steps, compression } = self;
        to.text("kind", kind.name);
        to.part("parameter", parameters);
        if let Some((kind, parameters)) = estimator {
            to.text("estimator", kind.name);
            to.part("estimator", parameters);
        }
        to.count("gossip", *gossip as u64);
        to.count("local_steps", *local_steps as u64);
        if let Some(Compression { codec, parameters, damping: Damping { γ, α } }) = compression {
            to.text("codec", codec.name);
            to.part("codec", parameters);
            for (name, given) in [("gamma", γ), ("alpha", α)] {
                if let Some(value) = given {
                    to.real(name, *value);
                }
            }
        }
    }
}

impl Identify for Schedule {
    fn identify(&self, to: &mut Identity) {
        let (size, shape, warmup) = self.parts();
        to.real("size", size);
        to.count("warmup", warmup);
        match shape {
            Shape::Constant => to.text("shape", "constant"),
            Shape::Decay { factor, every } => {
                to.text("shape", "decay");
                to.real("factor", factor);
                to.count("every", every);
            }
            Shape::InverseSqrt => to.text("shape", "inverse-sqrt"),
            Shape::Cosine { rounds } => {
                to.text("shape", "cosine");
                to.count("rounds", rounds);
            }
        }
    }
}

impl Identify for Faults {
    fn identify(&self, to: &mut Identity) {
        let Self { loss, delay, missing, churn } = self;
        to.real("loss", *loss);
        to.count("delay", u64::from(*delay));
        to.text(
            "missing",
            match missing {
                Missing::Renormalise => "renormalise",
                Missing::Latest => "latest",
            },
        );
        match churn {
            Churn::None => to.text("churn", "none"),
            Churn::Drawn { up, down } => to.reals("churn", &[*up, *down]),
            Churn::Listed(absences) => {
                to.text("churn", "listed");
                for Absence { agent, from, to: until } in absences {
                    to.count("agent", *agent as u64);
                    to.count("from", *from);
                    to.count("to", *until);
                }
            }
        }
    }
}

impl Identify for Clock {
    fn identify(&self, to: &mut Identity) {
        let Self { step, spread, slow_share, slow_factor, latency, journey, loss } = self;
        to.part("step", step);
        to.real("spread", *spread);
        to.real("slow_share", *slow_share);
        to.real("slow_factor", *slow_factor);
        to.real("latency", *latency);
        to.part("journey", journey);
        to.real("loss", *loss);
    }
}

impl Identify for Times {
    fn identify(&self, to: &mut Identity) {
        match *self {
            Times::Constant => to.text("times", "constant"),
            Times::Exponential => to.text("times", "exponential"),
            Times::Uniform { spread } => {
                to.text("times", "uniform");
                to.real("spread", spread);
            }
            Times::LogNormal { sigma } => {
                to.text("times", "log-normal");
                to.real("sigma", sigma);
            }
        }
    }
}

impl Identify for Partition {
    fn identify(&self, to: &mut Identity) {
        match *self {
            Partition::Even => to.text("rule", "even"),
            Partition::Shuffled => to.text("rule", "shuffled"),
            Partition::ByLabel => to.text("rule", "by-label"),
            Partition::Dirichlet(concentration) => to.real("dirichlet", concentration),
        }
    }
}

impl Identify for Batch {
    fn identify(&self, to: &mut Identity) {
        match *self {
            Batch::Sampled(size) => to.count("sampled", size as u64),
            Batch::Reshuffled(size) => to.count("reshuffled", size as u64),
            Batch::Full => to.text("rows", "all"),
        }
    }
}

impl Identify for Regulariser {
    fn identify(&self, to: &mut Identity) {
        match *self {
            Regulariser::Ridge(alpha) => to.real("ridge", alpha),
            Regulariser::NonConvex(alpha) => to.real("non-convex", alpha),
        }
    }
}

impl Identify for QuadraticShape {
    fn identify(&self, to: &mut Identity) {
        let Self { dim, curvature, heterogeneity, noise } = self;
        to.count("dim", *dim as u64);
        to.reals("curvature", curvature);
        to.real("heterogeneity", *heterogeneity);
        to.real("noise", *noise);
    }
}

impl Identify for Synthetic {
    fn identify(&self, to: &mut Identity) {
        let Self { rows, features, noise, outliers, heterogeneity } = self;
        to.count("rows", *rows as u64);
        to.count("features", *features as u64);
        to.real("noise", *noise);
        to.real("outliers", *outliers);
        to.real("heterogeneity", *heterogeneity);
    }
}

impl Identify for Split {
    fn identify(&self, to: &mut Identity) {
        to.text(
            "split",
            match self {
                Split::Train => "train",
                Split::Test => "test",
            },
        );
    }
}

impl Identify for RobustLoss {
    fn identify(&self, to: &mut Identity) {
        to.text(
            "loss",
            match self {
                RobustLoss::Welsch => "welsch",
                RobustLoss::Cauchy => "cauchy",
            },
        );
    }
}
