//! The text of a run's kernels: a rule's functions, a problem's gradients, and the kernels around them.

use oneway::method::{Ask, COMMON_INPUTS, Carries, Method, Trace};
use oneway::numeric::{Instruction, Precision};
use oneway::problem::{Description, Problem};

use crate::around::Around;
use crate::error::{Error, Result};
use crate::{print, problem};

const NUMBERS: &str = include_str!("../kernels/numbers.cu");
const RUN: &str = include_str!("../kernels/run.cu");
const WIDE: &str = include_str!("../kernels/wide.cu");
const FUSED: &str = include_str!("../kernels/fused.cu");
const CELL: &str = include_str!("../kernels/cell.cu");
const APART: &str = include_str!("../kernels/apart.cu");
const COLUMNS: &str = include_str!("../kernels/columns.cu");
const FEW: &str = include_str!("../kernels/few.cu");

/// The kernels of a method on a problem, and the hyper-parameters that they are given.
#[derive(Debug, Clone)]
pub struct Source {
    /// CUDA C.
    pub text: String,
    pub(crate) parameters: Vec<f64>,
    pub(crate) trace: Trace,
    /// What is put around the rule.
    pub(crate) around: Around,
    /// Whether there is a kernel for whole rounds.
    pub(crate) fuses: bool,
    /// Whether a coordinate of a gradient needs no other coordinate.
    pub(crate) by_coordinate: bool,
    /// Whether one gradient is asked for in a round.
    pub(crate) asks_once: bool,
}

impl Source {
    /// Prints the kernels; the error says why a method or a problem cannot run on a device.
    pub fn new(method: &dyn Method, problem: &dyn Problem, precision: Precision) -> Result<Self> {
        let of_problem = problem::text(problem)?;
        let mut source = Self::with(method, problem, precision, &of_problem)?;
        source.text = [&source.text, FUSED, APART, CELL].join("\n");
        Ok(source)
    }

    /// The same around gradients that another program makes: one kernel for each part of an exchange.
    pub fn of_foreign(method: &dyn Method, problem: &dyn Problem, precision: Precision) -> Result<Self> {
        Self::with(method, problem, precision, problem::FOREIGN)
    }

    fn with(
        method: &dyn Method,
        problem: &dyn Problem,
        precision: Precision,
        of_problem: &str,
    ) -> Result<Self> {
        let (trace, around) = rule_of(method, problem)?;
        around.check_draws(&trace, problem::drawn_a_call(problem))?;
        let print::Printed { text: of_rule, parameters } = print::print(&trace);
        let (n, d) = (problem.agents() as u64, problem.dim() as u64);
        let real = if precision == Precision::F32 { "float" } else { "double" };
        // whole numbers of 32 bits are divided faster; a stride beyond the last is counted too
        let index = if n.saturating_mul(d) < 1 << 31 { "unsigned int" } else { "unsigned long long" };
        let [pulls, pushes] = trace.sends;
        let carries = match trace.carries {
            Carries::Nothing => 0,
            Carries::Weight => 1,
            Carries::Eigenvector => 2,
        };
        let (asks, both) = match trace.exchanges[0].ask {
            Ask::Samples(count) => (count, 0),
            Ask::BothPoints => (0, 1),
            _ => (0, 0),
        };
        let defines = [
            ("DIM", d as usize),
            ("KEPT", trace.names.len()),
            ("PULLS", pulls),
            ("PUSHES", pushes),
            ("CARRIES", carries),
            ("EXCHANGES", trace.exchanges.len()),
            ("HELD", around.held()),
            ("ASKS", asks),
            ("BOTH", both),
            ("PACK", pack(n.saturating_mul(d), d, precision)),
            ("READ", read_of(&trace, both > 0)),
        ];
        let defines: String =
            defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
        let head = format!("typedef {real} real;\ntypedef {index} coordinate;\n{defines}");
        let text = [&head, NUMBERS, RUN, &of_rule, of_problem, WIDE].join("\n");
        // as `FUSES` in `kernels/fused.cu`
        let by_coordinate = matches!(problem.describe(), Some(Description::Quadratic { .. }));
        let one_exchange = trace.exchanges.len() == 1 && trace.carries != Carries::Eigenvector;
        let fuses = around.held() == 0 && one_exchange && (by_coordinate || (asks <= 1 && both == 0));
        let asks_once = asks == 1 && both == 0;
        Ok(Self { text, parameters, trace, around, fuses, by_coordinate, asks_once })
    }

    /// Numbers that an agent of n carries besides coordinates.
    pub(crate) fn carried(&self, n: usize) -> usize {
        match self.trace.carries {
            Carries::Nothing => 0,
            Carries::Weight => 1,
            Carries::Eigenvector => n,
        }
    }

    /// The text for one network of few agents, which is printed here.
    pub(crate) fn with_few(&self, network: &str) -> String {
        self.around(network, FEW)
    }

    /// The text for many small runs of the network that is printed here.
    pub(crate) fn with_columns(&self, network: &str) -> String {
        self.around(network, COLUMNS)
    }

    /// The text with kernels for one network in place of those for any.
    fn around(&self, network: &str, kernels: &str) -> String {
        [&self.text.replacen(CELL, "", 1), network, kernels].concat()
    }
}

/// How many neighbouring coordinates are a thread's: 16 bytes of a row, where there are threads enough.
fn pack(numbers: u64, d: u64, precision: Precision) -> usize {
    /// Fewer numbers than this keep a device busy only if each has a thread.
    const MANY: u64 = 1 << 18;
    let widest = 16 / precision.bytes() as u64;
    match numbers {
        0..MANY => 1,
        _ if d.is_multiple_of(widest) => widest as usize,
        _ if d.is_multiple_of(2) => 2,
        _ => 1,
    }
}

/// A bit for each vector of the state that a round reads, once what is sent has been made of it.
fn read_of(trace: &Trace, both: bool) -> usize {
    let mut bits = 0;
    for exchange in &trace.exchanges {
        // where the last gradient was taken is asked for only where there is another there
        let points = if both { 2 } else { 1 };
        for (program, results) in [(&exchange.points, points), (&exchange.update, usize::MAX)] {
            let mut live = vec![false; program.instructions.len()];
            program.results.iter().take(results).for_each(|symbol| live[symbol.index()] = true);
            for (at, instruction) in program.instructions.iter().enumerate().rev() {
                if live[at] {
                    instruction.operands().for_each(|symbol| live[symbol.index()] = true);
                }
            }
            let inputs = program.instructions.iter().zip(&live);
            let inputs = inputs.filter(|(instruction, _)| matches!(instruction, Instruction::Input(_)));
            let state = inputs.skip(COMMON_INPUTS).take(trace.names.len()).enumerate();
            bits = state.filter(|(_, (_, live))| **live).fold(bits, |bits, (v, _)| bits | 1 << v);
        }
    }
    bits
}

/// The programs of a method's rule and what is around it, if it is one coordinate's arithmetic and nothing else.
fn rule_of(method: &dyn Method, problem: &dyn Problem) -> Result<(Trace, Around)> {
    let unsupported = |why: &str| Err(Error::Unsupported(why.to_owned()));
    let (around, inside) = Around::of(method);
    let Some(trace) = inside.trace() else {
        return unsupported(match method.profile_on(problem).wire {
            Some(_) => "its messages are encoded, and a code looks at whole vectors",
            None if inside.inner().is_some() => "what is put around its rule has no kernels",
            None => "it is not one coordinate's arithmetic",
        });
    };
    let profile = inside.profile_on(problem);
    let asks = profile.exchanges.iter().map(|exchange| &exchange.turns[..]);
    let known = |ask: &Ask| matches!(ask, Ask::Nothing | Ask::Samples(_) | Ask::BothPoints);
    if !asks.into_iter().all(|turns| matches!(turns, [ask] if known(ask))) || !known(&profile.start) {
        return unsupported("it asks for components of a sum, which have no kernels");
    }
    Ok((trace, around))
}
