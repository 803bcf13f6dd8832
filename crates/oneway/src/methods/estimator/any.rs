//! Estimators that are chosen when the program runs.
//!
//! A choice in the middle of a rule costs next to nothing, since it is the same for all coordinates; a rule
//! compiled for every estimator would cost minutes of building. What differs in what it keeps is apart.

use super::{Estimator, Gradient, HeavyBall, MeanGradient, Momentum, Saga, Storm};
use crate::Result;
use crate::method::{Ask, Method};
use crate::numeric::Real;

/// Any estimator of the registry.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyEstimator {
    /// One that keeps nothing but m.
    Simple(Simple),
    /// One that keeps a second gradient.
    Corrected(Corrected),
    /// SAGA's table, which is not coordinate by coordinate.
    Saga,
}

/// An estimator that keeps nothing but m.
#[derive(Debug, Clone, PartialEq)]
pub enum Simple {
    /// The newest gradient.
    Gradient(Gradient),
    /// What a table has made of the newest gradient; see [`Saga`].
    FromTable,
    /// An exponential mean.
    Momentum(Momentum),
    /// A fading sum.
    HeavyBall(HeavyBall),
}

/// An estimator that keeps a second gradient.
#[derive(Debug, Clone, PartialEq)]
pub enum Corrected {
    /// STORM.
    Storm(Storm),
    /// A mean of several.
    Mean(MeanGradient),
}

macro_rules! each {
    ($any:expr, $estimator:ident => $work:expr; $($variant:path),*) => {
        match $any {
            $($variant($estimator) => $work,)*
        }
    };
}

impl Estimator for Simple {
    type Memory<S: Real> = ();

    fn averages(&self) -> bool {
        match self {
            Simple::FromTable => true,
            Simple::Gradient(gradient) => gradient.averages(),
            Simple::Momentum(momentum) => momentum.averages(),
            Simple::HeavyBall(ball) => ball.averages(),
        }
    }

    fn asks(&self) -> [Ask; 2] {
        match self {
            Simple::Momentum(momentum) => momentum.asks(),
            _ => [Ask::ONE; 2],
        }
    }

    #[inline(always)]
    fn first<S: Real>(&self, x: S, g: [S; 2]) -> (S, ()) {
        match self {
            Simple::Gradient(_) | Simple::FromTable => Gradient.first(x, g),
            Simple::Momentum(momentum) => momentum.first(x, g),
            Simple::HeavyBall(ball) => ball.first(x, g),
        }
    }

    #[inline(always)]
    fn next<S: Real>(&self, x: S, m: S, memory: (), g: [S; 2]) -> (S, ()) {
        match self {
            Simple::Gradient(_) | Simple::FromTable => Gradient.next(x, m, memory, g),
            Simple::Momentum(momentum) => momentum.next(x, m, memory, g),
            Simple::HeavyBall(ball) => ball.next(x, m, memory, g),
        }
    }
}

impl Estimator for Corrected {
    type Memory<S: Real> = S;

    fn averages(&self) -> bool {
        each!(self, estimator => estimator.averages(); Corrected::Storm, Corrected::Mean)
    }

    fn asks(&self) -> [Ask; 2] {
        each!(self, estimator => estimator.asks(); Corrected::Storm, Corrected::Mean)
    }

    #[inline(always)]
    fn first<S: Real>(&self, x: S, g: [S; 2]) -> (S, S) {
        each!(self, estimator => estimator.first(x, g); Corrected::Storm, Corrected::Mean)
    }

    #[inline(always)]
    fn next<S: Real>(&self, x: S, m: S, memory: S, g: [S; 2]) -> (S, S) {
        each!(self, estimator => estimator.next(x, m, memory, g); Corrected::Storm, Corrected::Mean)
    }
}

macro_rules! into_any {
    ($($estimator:ident => $outer:ident::$inner:ident),*) => {
        $(
            impl From<$estimator> for AnyEstimator {
                fn from(estimator: $estimator) -> Self {
                    AnyEstimator::$outer($outer::$inner(estimator))
                }
            }
        )*
    };
}

into_any!(
    Gradient => Simple::Gradient,
    Momentum => Simple::Momentum,
    HeavyBall => Simple::HeavyBall,
    Storm => Corrected::Storm,
    MeanGradient => Corrected::Mean
);

/// A method with room for an estimator.
pub(in crate::methods) trait Skeleton {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>>;
}

/// A skeleton around an estimator that was chosen at run time.
pub(in crate::methods) fn with_any(
    estimator: AnyEstimator,
    skeleton: impl Skeleton,
) -> Result<Box<dyn Method>> {
    match estimator {
        AnyEstimator::Simple(simple) => skeleton.around(simple),
        AnyEstimator::Corrected(corrected) => skeleton.around(corrected),
        AnyEstimator::Saga => Ok(Box::new(Saga::feeding(skeleton.around(Simple::FromTable)?))),
    }
}
