//! From straight-line programs to CUDA C: what a rule does to one coordinate, as device functions.
//!
//! An operation of a program is one operation of the text, in the program's order. Constants stand there by
//! their bits. Hyper-parameters are not part of the text but arguments, so that a rule is compiled once for
//! all of them.

use std::fmt::Write;

use oneway::method::{COMMON_INPUTS, Trace};
use oneway::numeric::{Instruction, Program, Symbol};

/// A rule's functions, and the hyper-parameters that they take, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// `rule_start`, `rule_send`, `rule_points` and `rule_update`.
    pub text: String,
    /// What stands in the run's table of parameters.
    pub parameters: Vec<f64>,
}

/// Prints a rule.
///
/// ```
/// use oneway::method::Method;
/// let trace = oneway::methods::Smtpp::new(0.1)?.trace().expect("SMTPP is a rule");
/// let printed = oneway_cuda::print::print(&trace);
/// assert!(printed.parameters.contains(&0.1)); // λ
/// assert!(printed.text.contains("const real t0 = at.number[0];")); // η
/// # Ok::<(), oneway::Error>(())
/// ```
pub fn print(trace: &Trace) -> Printed {
    let mut printer = Printer { text: String::new(), parameters: vec![] };
    let common: Vec<String> = (0..COMMON_INPUTS).map(|i| format!("at.number[{i}]")).collect();
    let numbered = |name: &str, count: usize| (0..count).map(|i| format!("{name}[{i}]")).collect::<Vec<_>>();
    let kept = trace.names.len();
    let sent: usize = trace.sends.iter().sum();
    let inputs = |parts: &[Vec<String>]| [&common[..], &parts.concat()].concat();
    let [state, heard, g] =
        [("state", kept), ("heard", sent), ("g", 2)].map(|(name, count)| numbered(name, count));

    printer.line("__device__ inline void rule_start(const Run &run, const At &at, real x, const real *g, real *state) {");
    printer.body(&trace.start, &inputs(&[vec!["x".to_owned()], g.clone()]), "state");
    printer.line("}\n");
    let programs = [
        ("send", "const real *state, real *sent", inputs(std::slice::from_ref(&state)), "sent"),
        (
            "points",
            "const real *state, const real *heard, real *points",
            inputs(&[state.clone(), heard.clone()]),
            "points",
        ),
        (
            "update",
            "const real *state, const real *heard, const real *g, real *next",
            inputs(&[state, heard, g]),
            "next",
        ),
    ];
    for (name, arguments, inputs, results) in programs {
        printer.line(&format!(
            "__device__ inline void rule_{name}(const Run &run, u32 phase, const At &at, {arguments}) {{"
        ));
        for (phase, exchange) in trace.exchanges.iter().enumerate() {
            let program = match name {
                "send" => &exchange.send,
                "points" => &exchange.points,
                _ => &exchange.update,
            };
            let several = trace.exchanges.len() > 1;
            if several {
                printer.line(&format!("    if (phase == {phase}) {{"));
            }
            printer.body(program, &inputs, results);
            if several {
                printer.line("    }");
            }
        }
        printer.line("}\n");
    }
    Printed { text: printer.text, parameters: printer.parameters }
}

struct Printer {
    text: String,
    parameters: Vec<f64>,
}

impl Printer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The steps of a program, and its results into `results[0]`, `results[1]`, ….
    fn body(&mut self, program: &Program, inputs: &[String], results: &str) {
        let program = program.reduced();
        let mut needed = vec![false; program.instructions.len()];
        let used = program
            .instructions
            .iter()
            .flat_map(Instruction::operands)
            .chain(program.results.iter().copied());
        used.for_each(|symbol| needed[symbol.index()] = true);
        let mut input = 0;
        let name = |symbol: Symbol| format!("t{}", symbol.index());
        for (at, instruction) in program.instructions.iter().enumerate() {
            let value = match *instruction {
                Instruction::Input(_) => {
                    input += 1;
                    inputs.get(input - 1).cloned().unwrap_or_else(|| "(real)0".to_owned())
                }
                Instruction::Constant(value) => format!("(real)number({:#018x}ull)", value.to_bits()),
                Instruction::Parameter(_, value) => {
                    self.parameters.push(value);
                    format!("(real)run.parameters[{}]", self.parameters.len() - 1)
                }
                Instruction::Add(a, b) => format!("{} + {}", name(a), name(b)),
                Instruction::Sub(a, b) => format!("{} - {}", name(a), name(b)),
                Instruction::Mul(a, b) => format!("{} * {}", name(a), name(b)),
                Instruction::Div(a, b) => format!("{} / {}", name(a), name(b)),
                Instruction::Sqrt(a) => format!("root({})", name(a)),
                Instruction::IfPositive(a, b, c) => {
                    format!("{} > (real)0 ? {} : {}", name(a), name(b), name(c))
                }
            };
            if needed[at] {
                let _ = writeln!(self.text, "    const real t{at} = {value};"); // a string takes all
            }
        }
        for (at, symbol) in program.results.iter().enumerate() {
            let _ = writeln!(self.text, "    {results}[{at}] = {};", name(*symbol));
        }
    }
}
