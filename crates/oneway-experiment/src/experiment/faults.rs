//! What a `[[topology]]` says of changes and failures: `redraw`, `loss`, `delay`, `pull_loss` and `churn`.
//!
//! ```toml
//! redraw = { probability = 0.5, period = 100 } # each link is there in a round with this probability
//! loss = 0.05                                  # each message is lost with this probability
//! delay = 3                                    # … or takes 0 to 3 rounds
//! pull_loss = "renormalise"                    # or "latest": the newest row that has arrived, however old
//! churn = { up = 200, down = 20 }              # mean rounds; or [{ agent = 3, from = 100, to = 200 }]
//! ```

use anyhow::{Context, Result};
use oneway::engine::unreliable::{Absence, Churn, Faults, Missing};
use toml::Value;

use super::fields::Fields;

/// Rounds that are drawn unless said otherwise.
const PERIOD: u64 = 100;

/// `redraw`: links of a fixed digraph that come and go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Redraw {
    pub(crate) probability: f64,
    pub(crate) period: usize,
}

impl Redraw {
    /// Takes `redraw`, if it is there.
    pub(crate) fn read(fields: &mut Fields) -> Result<Option<Self>> {
        let mut inner = match fields.value("redraw") {
            None => return Ok(None),
            Some(Value::Table(table)) => fields.inner("redraw", table),
            Some(other) => {
                return fields.wrong("redraw", &other, "a table, as in { probability = 0.5, period = 100 }");
            }
        };
        let (probability, period) = (inner.real("probability")?, inner.count("period")?);
        let redraw = Self {
            probability: inner.required("probability", probability)?,
            period: usize::try_from(period.unwrap_or(PERIOD)).unwrap_or(usize::MAX),
        };
        inner.finish()?;
        Ok(Some(redraw))
    }
}

/// Takes all keys that say how a network fails, and checks them.
pub(crate) fn read(fields: &mut Fields, agents: Option<usize>) -> Result<Faults> {
    let (loss, delay) = (fields.real("loss")?, fields.count("delay")?);
    let faults = Faults {
        loss: loss.unwrap_or(0.0),
        delay: u32::try_from(delay.unwrap_or(0)).unwrap_or(u32::MAX),
        missing: fields.choice("pull_loss", &Missing::NAMED)?.unwrap_or_default(),
        churn: churn(fields)?,
    };
    faults.check(agents.unwrap_or(usize::MAX)).with_context(|| fields.path().to_owned())?;
    Ok(faults)
}

fn churn(fields: &mut Fields) -> Result<Churn> {
    const EXPECTED: &str = "{ up = 200, down = 20 }, or absences as in [{ agent = 3, from = 100, to = 200 }]";
    match fields.value("churn") {
        None => Ok(Churn::None),
        Some(Value::Table(table)) => {
            let mut inner = fields.inner("churn", table);
            let (up, down) = (inner.real("up")?, inner.real("down")?);
            let churn = Churn::Drawn { up: inner.required("up", up)?, down: inner.required("down", down)? };
            inner.finish()?;
            Ok(churn)
        }
        Some(Value::Array(absences)) => {
            let listed = absences.into_iter().zip(1..).map(|(absence, number)| match absence {
                Value::Table(table) => listed(fields.inner(&format!("churn {number}"), table)),
                other => fields.wrong("churn", &other, EXPECTED),
            });
            Ok(Churn::Listed(listed.collect::<Result<_>>()?))
        }
        Some(other) => fields.wrong("churn", &other, EXPECTED),
    }
}

fn listed(mut fields: Fields) -> Result<Absence> {
    let [agent, from, to] = ["agent", "from", "to"].map(|key| fields.count(key));
    let (agent, from, to) = (agent?, from?, to?);
    let absence = Absence {
        agent: usize::try_from(fields.required("agent", agent)?).unwrap_or(usize::MAX),
        from: fields.required("from", from)?,
        to: fields.required("to", to)?,
    };
    fields.finish()?;
    Ok(absence)
}
