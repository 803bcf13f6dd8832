//! A method with all that is put around it, from what an experiment file says.

use super::{Compressed, Damping, LocalUpdates, MultiGossip, coded};
use crate::codec::{Codec, CodecKind};
use crate::method::{Method, Network};
use crate::methods::estimator::EstimatorKind;
use crate::methods::{KINDS, Kind};
use crate::parameters::Parameters;
use crate::{Error, Result};

/// A method of the registry, and what is combined with it. From the inside: the estimator, the exchanges of a
/// round, local steps, compression. So local steps are not encoded, and each exchange of a round is.
///
/// ```
/// use oneway::codec;
/// use oneway::methods::{combine::{Compression, Recipe}, kind};
/// # fn main() -> oneway::Result<()> {
/// let mut recipe = Recipe::new(kind("push-pull")?, [])?;
/// recipe.local_steps = 5;
/// recipe.compression = Some(Compression::new(codec::codec("top-k")?, [("fraction".to_owned(), 0.1)])?);
/// let method = recipe.build()?; // Push-Pull + local steps + top-k
/// assert!(method.keeps_copies());
///
/// let error = Recipe { gossip: 2, ..Recipe::new(kind("csgdm")?, [])? }.build().unwrap_err().to_string();
/// assert!(error.contains("heard everyone after one exchange"), "{error}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Recipe {
    /// The method.
    pub kind: &'static Kind,
    /// Its parameters.
    pub parameters: Parameters,
    /// What takes the place of its gradients, with parameters.
    pub estimator: Option<(&'static EstimatorKind, Parameters)>,
    /// Exchanges in place of one, K.
    pub gossip: usize,
    /// Steps for each exchange, Q.
    pub local_steps: usize,
    /// What is done to its messages.
    pub compression: Option<Compression>,
}

/// A codec and how far it is trusted.
#[derive(Debug, Clone)]
pub struct Compression {
    /// The codec.
    pub codec: &'static CodecKind,
    /// Its parameters.
    pub parameters: Parameters,
    /// γ and α, on both graphs.
    pub damping: Damping,
}

impl Compression {
    /// With this codec, γ and α as its quality suggests.
    pub fn new(codec: &'static CodecKind, given: impl IntoIterator<Item = (String, f64)>) -> Result<Self> {
        let parameters = Parameters::new(codec.name, codec.parameters, given)?;
        Ok(Self { codec, parameters, damping: Damping::BY_QUALITY })
    }

    fn codec(&self) -> Result<Box<dyn Codec>> {
        (self.codec.build)(&self.parameters)
    }
}

impl Recipe {
    /// The method alone.
    pub fn new(kind: &'static Kind, given: impl IntoIterator<Item = (String, f64)>) -> Result<Self> {
        let parameters = Parameters::new(kind.name, kind.parameters, given)?;
        Ok(Self { kind, parameters, estimator: None, gossip: 1, local_steps: 1, compression: None })
    }

    /// Whether the method is as the registry has it.
    pub fn is_plain(&self) -> bool {
        self.estimator.is_none() && self.gossip == 1 && self.local_steps == 1 && self.compression.is_none()
    }

    /// Puts it together; the error says what does not fit.
    pub fn build(&self) -> Result<Box<dyn Method>> {
        let owner = self.kind.name;
        let estimator = self.estimator.as_ref().map(|(kind, given)| (kind.build)(given)).transpose()?;
        if let Some(coded) = coded(owner) {
            self.check_alone()?;
            let codec = self.compression.as_ref().map(|compression| {
                match compression.damping == Damping::BY_QUALITY {
                    true => compression.codec(),
                    false => {
                        let expected = "this method has them itself: give them beside `kind`";
                        Err(Error::parameter(owner, "compress", "with gamma or alpha", expected))
                    }
                }
            });
            if estimator.is_some() {
                self.with_estimator()?;
            }
            return coded.method(&self.parameters, estimator, codec.transpose()?);
        }
        let method = match estimator {
            None => (self.kind.build)(&self.parameters)?,
            Some(estimator) => self.with_estimator()?(&self.parameters, estimator)?,
        };
        self.around(method)
    }

    /// Puts exchanges, local steps and compression around a method, which need not be the recipe's own.
    pub fn around(&self, mut method: Box<dyn Method>) -> Result<Box<dyn Method>> {
        let owner = self.kind.name;
        if self.gossip != 1 {
            method = Box::new(MultiGossip::new(owner, method, self.gossip)?);
        }
        if self.local_steps != 1 {
            method = Box::new(LocalUpdates::new(owner, method, self.local_steps)?);
        }
        if let Some(compression) = &self.compression {
            let dampings = [compression.damping; 2];
            method = Box::new(Compressed::new(owner, method, compression.codec()?, dampings)?);
        }
        Ok(method)
    }

    /// The constructor around an estimator, or who else has one.
    fn with_estimator(&self) -> Result<crate::methods::WithEstimator> {
        self.kind.with_estimator.ok_or_else(|| {
            let name = self.estimator.as_ref().map_or("", |(kind, _)| kind.name);
            let able: Vec<&str> =
                KINDS.iter().filter(|kind| kind.with_estimator.is_some()).map(|kind| kind.name).collect();
            let expected = format!("it has no place for one (those that have: {})", able.join(", "));
            Error::parameter(self.kind.name, "estimator", name, expected)
        })
    }

    /// A method that is compressed by definition takes another codec, and nothing else around its messages.
    fn check_alone(&self) -> Result<()> {
        for (name, count) in [("gossip", self.gossip), ("local_steps", self.local_steps)] {
            if count != 1 {
                let instead = match self.kind.network() {
                    Network::PushPull => "push-pull or smtpp",
                    _ => "gt",
                };
                let expected = format!(
                    "it is compressed by definition, and what is around the code would not be: give it to {instead}, with `compress`"
                );
                return Err(Error::parameter(self.kind.name, name, count, expected));
            }
        }
        Ok(())
    }
}
