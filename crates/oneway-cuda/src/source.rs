//! The text of a run's kernels: a rule's functions, a problem's gradients, and the kernels around them.

use oneway::method::{Ask, Carries, Method, Profile, Trace};
use oneway::numeric::Precision;
use oneway::problem::Problem;

use crate::error::{Error, Result};
use crate::{print, problem};

const NUMBERS: &str = include_str!("../kernels/numbers.cu");
const RUN: &str = include_str!("../kernels/run.cu");
const WIDE: &str = include_str!("../kernels/wide.cu");

/// The kernels of a method on a problem, and the hyper-parameters that they are given.
#[derive(Debug, Clone)]
pub struct Source {
    /// CUDA C.
    pub text: String,
    pub(crate) parameters: Vec<f64>,
    pub(crate) trace: Trace,
}

impl Source {
    /// Prints the kernels; the error says why a method or a problem cannot run on a device.
    pub fn new(method: &dyn Method, problem: &dyn Problem, precision: Precision) -> Result<Self> {
        let profile = method.profile_on(problem);
        let trace = rule_of(method, &profile)?;
        let of_problem = problem::text(problem)?;
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
        let kept = trace.names.len();
        let head = format!(
            "typedef {real} real;\ntypedef {index} index;\n\
             #define DIM {d}\n#define KEPT {kept}\n#define PULLS {pulls}\n#define PUSHES {pushes}\n\
             #define CARRIES {carries}\n#define EXCHANGES {}\n",
            trace.exchanges.len()
        );
        let text = [&head, NUMBERS, RUN, &of_rule, &of_problem, WIDE].join("\n");
        Ok(Self { text, parameters, trace })
    }
}

/// A method's programs, if it is one coordinate's arithmetic and nothing else.
fn rule_of(method: &dyn Method, profile: &Profile) -> Result<Trace> {
    let unsupported = |why: &str| Err(Error::Unsupported(why.to_owned()));
    let Some(trace) = method.trace() else {
        return unsupported(match (&profile.wire, method.inner()) {
            (Some(_), _) => "its messages are encoded, and a code looks at whole vectors",
            (None, Some(_)) => {
                "what is put around its rule (local steps, several exchanges) has no kernels yet"
            }
            (None, None) => "it is not one coordinate's arithmetic",
        });
    };
    let asks = profile.exchanges.iter().map(|exchange| &exchange.turns[..]);
    let known = |ask: &Ask| matches!(ask, Ask::Nothing | Ask::Samples(_) | Ask::BothPoints);
    if !asks.into_iter().all(|turns| matches!(turns, [ask] if known(ask))) || !known(&profile.start) {
        return unsupported("it asks for components of a sum, which have no kernels");
    }
    Ok(trace)
}
