//! A problem as a registry knows it.

use crate::Result;
use crate::parameters::{Parameter, Parameters, entry};
use crate::problem::Problem;

/// A problem that experiment files can name, made of parameters alone.
///
/// ```
/// use oneway::parameters::Parameter;
/// use oneway::problems::{FromFn, ProblemKind};
///
/// /// Agent i wants to be at `spacing`·i.
/// static POSTS: ProblemKind = ProblemKind {
///     name: "posts",
///     about: "½(x − spacing·i)², one coordinate",
///     version: "1",
///     parameters: &[Parameter::number("spacing", "how far posts are apart", 1.0)],
///     build: |given, agents, _seed| {
///         let spacing = given.real("spacing")?;
///         Ok(Box::new(FromFn::new(agents, 1, move |agent, x, g| {
///             g[0] = x[0] - spacing * agent as f64;
///             0.5 * g[0] * g[0]
///         })))
///     },
/// };
/// assert_eq!(POSTS.problem([("spacing", 2.0)], 5, 1).unwrap().agents(), 5);
/// ```
#[derive(Debug)]
pub struct ProblemKind {
    /// Its name in an experiment file.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// A text that changes whenever the problem does: results of another version are not used again.
    pub version: &'static str,
    /// Its parameters besides the number of agents and the seed.
    pub parameters: &'static [Parameter],
    /// Makes it, of parameters, the number of agents and a seed.
    pub build: fn(&Parameters, usize, u64) -> Result<Box<dyn Problem>>,
}

impl ProblemKind {
    /// The problem with these parameters; defaults fill the gaps.
    pub fn problem<'a>(
        &self,
        given: impl IntoIterator<Item = (&'a str, f64)>,
        agents: usize,
        seed: u64,
    ) -> Result<Box<dyn Problem>> {
        let given = given.into_iter().map(|(name, value)| (name.to_owned(), value));
        (self.build)(&Parameters::new(self.name, self.parameters, given)?, agents, seed)
    }
}

entry!(ProblemKind, "problem");
