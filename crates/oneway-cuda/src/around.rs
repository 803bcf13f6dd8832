//! What is put around a rule: more exchanges in place of one, and rounds with oneself after them.

use oneway::method::{Ask, Method, Repeats, Trace};

use crate::error::{Error, Result};

/// How much more than once a round does what its rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Around {
    /// How often what arrived is sent on, before the rule looks at it.
    pub(crate) relays: u64,
    /// Rounds with oneself after the last exchange.
    pub(crate) alone: u64,
}

impl Around {
    /// What is around a method's rule, and the method inside: the method itself where nothing is around it, or
    /// something that is not known here.
    pub(crate) fn of(method: &dyn Method) -> (Self, &dyn Method) {
        let (mut around, mut inside) = (Self::default(), method);
        if let (Some(Repeats::Steps(steps)), Some(inner)) = (inside.repeats(), inside.inner()) {
            (around.alone, inside) = (steps.saturating_sub(1) as u64, inner);
        }
        if let (Some(Repeats::Exchanges(exchanges)), Some(inner)) = (inside.repeats(), inside.inner()) {
            (around.relays, inside) = (u64::from(exchanges.saturating_sub(1)), inner);
        }
        (around, inside)
    }

    /// Pairs of rows that an agent holds behind its state: what it sends on, and what it sent to itself.
    pub(crate) fn held(self) -> usize {
        usize::from(self.relays > 0) + usize::from(self.alone > 0)
    }

    /// Kernels count what is drawn after an exchange with 32 bits.
    pub(crate) fn check_draws(self, trace: &Trace, numbers_a_call: u64) -> Result<()> {
        let calls = |asks: &mut dyn Iterator<Item = Ask>| asks.map(samples_of).sum::<u64>();
        let a_round = calls(&mut trace.exchanges.iter().map(|exchange| exchange.ask));
        let most = a_round.saturating_mul(self.alone + 1).saturating_mul(numbers_a_call);
        if most >= 1 << 32 {
            let why = "an agent draws 2³² numbers or more after an exchange";
            return Err(Error::Unsupported(why.to_owned()));
        }
        Ok(())
    }
}

/// Samples that gradients take.
pub(crate) fn samples_of(ask: Ask) -> u64 {
    match ask {
        Ask::Samples(count) => count as u64,
        Ask::BothPoints => 1,
        Ask::Nothing | Ask::Component | Ask::AllComponents => 0,
    }
}
