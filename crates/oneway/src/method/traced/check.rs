//! Whether a definition is one that can be run.

use super::can_be_asked;
use super::definition::{DefinedExchange, Definition, Section};
use super::names::{self, stored};
use crate::method::{Ask, COMMON_INPUTS, Carries, Network, OfRound, Trace, TracedExchange};
use crate::numeric::{Instruction, Program};
use crate::{Error, Result};

/// Numbers that an agent keeps of a coordinate, at most.
pub(super) const MOST_KEPT: usize = 32;

/// Numbers that go onto one graph, at most.
pub(super) const MOST_SENT: usize = 8;

/// Exchanges of a round, at most.
const MOST_EXCHANGES: usize = 16;

/// Steps of a program, at most, without those that no result needs.
pub(super) const MOST_STEPS: usize = 256;

/// Steps of a program as it is given, at most.
const MOST_GIVEN_STEPS: usize = 1 << 16;

/// Samples that are asked for at once, at most.
pub(super) const MOST_SAMPLES: usize = 1 << 20;

/// Where something is wrong.
struct Place<'d> {
    method: &'d str,
    place: String,
}

impl Place<'_> {
    fn wrong<T>(&self, fault: impl Into<String>) -> Result<T> {
        let method = self.method.chars().take(names::LONGEST).collect();
        Err(Error::Definition { method, place: self.place.clone(), fault: fault.into() })
    }

    fn must(&self, holds: bool, fault: impl FnOnce() -> String) -> Result<()> {
        if holds { Ok(()) } else { self.wrong(fault()) }
    }

    fn stored(&self, name: &str) -> Result<&'static str> {
        stored(name).or_else(|fault| self.wrong(fault))
    }
}

/// The name and the trace of a definition in which nothing is wrong.
pub(super) fn checked(definition: &Definition) -> Result<(&'static str, Trace)> {
    let at = |place: &str| Place { method: &definition.name, place: place.to_owned() };
    at("name").must(!definition.name.trim().is_empty(), || "a method has a name".to_owned())?;
    let name = at("name").stored(&definition.name)?;
    let (kept, [pulls, pushes]) = (definition.names.len(), definition.sends);
    at("state").must((1..=MOST_KEPT).contains(&kept), || {
        format!("an agent keeps 1 to {MOST_KEPT} numbers of a coordinate, not {kept}")
    })?;
    at("sends").must(pulls <= MOST_SENT && pushes <= MOST_SENT, || {
        format!("at most {MOST_SENT} numbers of a coordinate go onto a graph, not {}", pulls.max(pushes))
    })?;
    check_network(definition, &at("network"))?;
    check_roles(definition, &at("roles"))?;
    for constant in definition.constants {
        if let OfRound::Power(β) | OfRound::OneMinusPower(β) = constant {
            at("constants").must(β.is_finite(), || format!("the power of {β} is no number"))?;
        }
    }
    check_ask(definition.start_ask, &at("start"))?;
    let exchanges = definition.exchanges.len();
    at("exchanges").must((1..=MOST_EXCHANGES).contains(&exchanges), || {
        format!("a round has 1 to {MOST_EXCHANGES} exchanges, not {exchanges}")
    })?;
    let names = definition.names.iter().enumerate();
    let names = names.map(|(i, name)| at(&format!("state, number {i}")).stored(name));
    let program = |section: Section, program: &Program, phase: Option<usize>| {
        let place = match phase.filter(|_| exchanges > 1) {
            Some(phase) => format!("{} of exchange {phase}", section.name()),
            None => section.name().to_owned(),
        };
        check_program(program, section, definition, &at(&place))
    };
    let exchange = |(phase, exchange): (usize, &DefinedExchange)| {
        let DefinedExchange { ask, send, points, update, .. } = exchange;
        check_ask(*ask, &at(&format!("exchange {phase}")))?;
        Ok(TracedExchange {
            send: program(Section::Send, send, Some(phase))?,
            points: program(Section::Points, points, Some(phase))?,
            update: program(Section::Update, update, Some(phase))?,
            ask: *ask,
        })
    };
    let trace = Trace {
        network: definition.network,
        carries: definition.carries,
        names: names.collect::<Result<_>>()?,
        sends: definition.sends,
        start: program(Section::Start, &definition.start, None)?,
        start_ask: definition.start_ask,
        constants: definition.constants,
        exchanges: definition.exchanges.iter().enumerate().map(exchange).collect::<Result<_>>()?,
    };
    Ok((name, trace))
}

fn check_ask(ask: Ask, at: &Place<'_>) -> Result<()> {
    at.must(can_be_asked(ask), || match ask {
        Ask::Samples(count) => format!("1 to {MOST_SAMPLES} samples can be asked for, not {count}"),
        _ => "a method that is coordinate by coordinate cannot ask for components".to_owned(),
    })
}

fn check_network(definition: &Definition, at: &Place<'_>) -> Result<()> {
    let (network, carries, [pulls, pushes]) = (definition.network, definition.carries, definition.sends);
    let no_pull = matches!(network, Network::PushSum | Network::Central);
    at.must(!(no_pull && pulls > 0), || "on this network nothing is pulled: R is not there".to_owned())?;
    at.must(!(network == Network::PullOnly && pushes > 0), || {
        "on a pull-only network nothing is pushed: C is not there".to_owned()
    })?;
    at.must(!(carries == Carries::Weight && network == Network::PullOnly), || {
        "push-sum's weight is pushed, and on a pull-only network nothing is".to_owned()
    })?;
    at.must(!(carries == Carries::Eigenvector && network != Network::PullOnly), || {
        "rows of Rᵏ are carried by methods for pull-only networks".to_owned()
    })
}

fn check_roles(definition: &Definition, at: &Place<'_>) -> Result<()> {
    let (roles, kept, pushes) = (definition.roles, definition.names.len(), definition.sends[1]);
    let of_state = [
        ("conserved", roles.conserved),
        ("tracker", roles.tracker),
        ("tracked", roles.tracked),
        ("momentum", roles.momentum),
    ];
    for (role, number) in of_state {
        at.must(number.is_none_or(|number| number < kept), || {
            format!("`{role}` is number {} of a state that has {kept}", number.unwrap_or(0))
        })?;
    }
    for (role, number) in [("tracker_sent", roles.tracker_sent), ("conserved_sent", roles.conserved_sent)] {
        at.must(number.is_none_or(|number| number < pushes), || {
            format!("`{role}` is number {} of a push row that has {pushes}", number.unwrap_or(0))
        })?;
    }
    at.must(roles.tracker.is_some() == roles.tracked.is_some(), || {
        "`tracker` and `tracked` belong together: one has the mean of the other".to_owned()
    })?;
    let weighs = definition.carries == Carries::Weight;
    at.must(roles.weight.is_none_or(|weight| weight == 0 && weighs), || {
        "`weight` is scalar 0 of methods that carry push-sum's weight, and of no others".to_owned()
    })
}

/// A valid program, without the steps that no result needs.
fn check_program(
    program: &Program,
    section: Section,
    definition: &Definition,
    at: &Place<'_>,
) -> Result<Program> {
    let Program { instructions, results } = program;
    let (kept, sends) = (definition.names.len(), definition.sends);
    at.must(instructions.len() <= MOST_GIVEN_STEPS, || {
        format!("a program has at most {MOST_GIVEN_STEPS} steps, not {}", instructions.len())
    })?;
    for (step, instruction) in instructions.iter().enumerate() {
        for operand in instruction.operands() {
            let operand = operand.index();
            at.must(operand < step, || {
                format!("step {step} uses step {operand}: steps use those before them")
            })?;
        }
        let value = match *instruction {
            Instruction::Constant(value) => value,
            Instruction::Parameter(name, value) => {
                at.stored(name)?;
                value
            }
            _ => continue,
        };
        at.must(value.is_finite(), || format!("step {step}: {value} is no number to compute with"))?;
    }
    let (given, expected) = (program.inputs().count(), COMMON_INPUTS + section.inputs(kept, sends).len());
    at.must(given == expected, || {
        format!("it has {expected} inputs, of which {COMMON_INPUTS} are common to all programs, not {given}")
    })?;
    let (given, expected) = (results.len(), section.results(kept, sends));
    at.must(given == expected, || format!("it makes {expected} numbers, not {given}"))?;
    for (number, result) in results.iter().enumerate() {
        let (step, steps) = (result.index(), instructions.len());
        at.must(step < steps, || format!("result {number} is step {step} of a program that has {steps}"))?;
    }
    let needed = program.reduced().instructions.len();
    at.must(needed <= MOST_STEPS, || {
        format!("results need at most {MOST_STEPS} steps, inputs included, not {needed}")
    })?;
    Ok(program.clone())
}
