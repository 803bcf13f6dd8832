//! `[clock]`: how long steps and messages take, and which methods wait for them.
//!
//! ```toml
//! [clock]
//! step = "exponential"                    # or "constant", { uniform = 0.5 }, { log-normal = 1.0 }
//! spread = 0.2
//! slow = { share = 0.25, factor = 5.0 }
//! latency = { mean = 0.5, times = "exponential" }
//! loss = 0.1
//!
//! [[method]]
//! kind = "push-pull"
//! asynchronous = true
//! ```

use anyhow::{Context, Result, bail};
use oneway::engine::Simulator;
use oneway::engine::asynchronous::{Asynchronous, Clock, Synchronous, Times};
use oneway::engine::{Engine, Setup};
use oneway::numeric::Precision;
use toml::Value;

use super::fields::{Fields, real};
use crate::identity::{Identify, Identity};

/// How a method goes through time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timing {
    /// In rounds; nothing takes time.
    Rounds,
    /// In rounds, and everyone waits for whom it hears.
    Synchronous(Clock),
    /// Nobody waits.
    Asynchronous(Clock),
}

impl Timing {
    /// Reads `asynchronous` of a method.
    pub(crate) fn read(fields: &mut Fields) -> Result<bool> {
        Ok(fields.flag("asynchronous")?.unwrap_or(false))
    }

    /// What the clock and a method's wish come to.
    pub(crate) fn new(clock: Option<Clock>, asynchronous: bool) -> Result<Self> {
        match (clock, asynchronous) {
            (None, false) => Ok(Timing::Rounds),
            (Some(clock), false) => Ok(Timing::Synchronous(clock)),
            (Some(clock), true) => Ok(Timing::Asynchronous(clock)),
            (None, true) => {
                bail!("`asynchronous` = true needs a [clock] that says how long steps and messages take")
            }
        }
    }

    /// Whether nobody waits.
    pub fn is_asynchronous(self) -> bool {
        matches!(self, Timing::Asynchronous(_))
    }

    /// Its name in `summary.json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Timing::Rounds => "rounds",
            Timing::Synchronous(_) => "synchronous",
            Timing::Asynchronous(_) => "asynchronous",
        }
    }

    /// Whether a method can run so, without setting up anything.
    pub(crate) fn check(self, setup: &Setup<'_>) -> oneway::Result<()> {
        match self {
            Timing::Asynchronous(_) => Asynchronous::check(setup),
            Timing::Rounds | Timing::Synchronous(_) => Ok(()),
        }
    }

    /// What runs it.
    pub(crate) fn engine<'a>(
        self,
        setup: Setup<'a>,
        precision: Precision,
    ) -> oneway::Result<Box<dyn Engine<'a> + Send + 'a>> {
        let simulator = || -> oneway::Result<Box<dyn Engine<'a> + Send + 'a>> {
            Ok(match precision {
                Precision::F64 => Box::new(Simulator::new(setup)?),
                Precision::F32 => Box::new(Simulator::<f32>::with_precision(setup)?),
            })
        };
        Ok(match self {
            Timing::Rounds => simulator()?,
            Timing::Synchronous(clock) => Box::new(Synchronous::new(simulator()?, clock)?),
            Timing::Asynchronous(clock) => Box::new(Asynchronous::new(setup, clock)?),
        })
    }
}

impl Identify for Timing {
    fn identify(&self, to: &mut Identity) {
        to.text("kind", self.name());
        if let Timing::Synchronous(clock) | Timing::Asynchronous(clock) = self {
            to.part("clock", clock);
        }
    }
}

/// Reads `[clock]`, if it is there.
pub(crate) fn read(top: &mut Fields) -> Result<Option<Clock>> {
    let mut fields = match top.value("clock") {
        None => return Ok(None),
        Some(Value::Table(table)) => Fields::new("clock", table),
        Some(other) => return top.wrong("clock", &other, "a [clock] table"),
    };
    let (slow_share, slow_factor) = slow(&mut fields)?;
    let (latency, journey) = latency(&mut fields)?;
    let clock = Clock {
        step: times(&mut fields, "step")?,
        spread: fields.real("spread")?.unwrap_or(Clock::EVEN.spread),
        slow_share,
        slow_factor,
        latency,
        journey,
        loss: fields.real("loss")?.unwrap_or(Clock::EVEN.loss),
    };
    fields.finish()?;
    clock.check()?;
    Ok(Some(clock))
}

/// `slow = { share = …, factor = … }`.
fn slow(fields: &mut Fields) -> Result<(f64, f64)> {
    let mut slow = match fields.value("slow") {
        None => return Ok((Clock::EVEN.slow_share, Clock::EVEN.slow_factor)),
        Some(Value::Table(table)) => fields.inner("slow", table),
        Some(other) => return fields.wrong("slow", &other, "{ share = …, factor = … }"),
    };
    let (share, factor) = (slow.real("share")?, slow.real("factor")?);
    let given = (slow.required("share", share)?, slow.required("factor", factor)?);
    slow.finish()?;
    Ok(given)
}

/// `latency = 0.5`, or `{ mean = 0.5, times = … }`.
fn latency(fields: &mut Fields) -> Result<(f64, Times)> {
    let mut latency = match fields.value("latency") {
        None => return Ok((Clock::EVEN.latency, Clock::EVEN.journey)),
        Some(Value::Table(table)) => fields.inner("latency", table),
        Some(value) => match real(&value) {
            Some(mean) => return Ok((mean, Times::Constant)),
            None => return fields.wrong("latency", &value, "a number, or { mean = …, times = … }"),
        },
    };
    let (mean, times) = (latency.real("mean")?, times(&mut latency, "times")?);
    let given = (latency.required("mean", mean)?, times);
    latency.finish()?;
    Ok(given)
}

/// `"constant"`, `"exponential"`, `{ uniform = spread }` or `{ log-normal = σ }`.
fn times(fields: &mut Fields, key: &str) -> Result<Times> {
    const WORDS: [(&str, Times); 2] = [("constant", Times::Constant), ("exponential", Times::Exponential)];
    match fields.value(key) {
        None => Ok(Times::Constant),
        Some(word @ Value::String(_)) => fields.word(key, &word, &WORDS),
        Some(Value::Table(table)) => {
            let mut table = fields.inner(key, table);
            let (spread, sigma) = (table.real("uniform")?, table.real("log-normal")?);
            let given = match (spread, sigma) {
                (Some(spread), None) => Times::Uniform { spread },
                (None, Some(sigma)) => Times::LogNormal { sigma },
                _ => {
                    let path = table.path().to_owned();
                    table.finish()?; // a misspelt key is the better message
                    return Err(anyhow::anyhow!("give one of `uniform` and `log-normal`")).context(path);
                }
            };
            table.finish()?;
            Ok(given)
        }
        Some(other) => {
            let expected = "\"constant\", \"exponential\", { uniform = … } or { log-normal = … }";
            fields.wrong(key, &other, expected)
        }
    }
}
