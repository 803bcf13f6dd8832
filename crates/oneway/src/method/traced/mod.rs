//! A method that is data: a rule given as straight-line programs, which runs nearly as fast as one that was
//! compiled.
//!
//! Programs come from a rule ([`Traced::from_method`]), or from another language whose numbers write down what is done
//! to them ([`Expressions`]). All of it is checked when a method is made, so that running it cannot go wrong.

mod check;
mod code;
mod definition;
mod expressions;
mod input;
mod lowering;
mod names;
mod run;
mod shapes;
mod strips;

pub use definition::{DefinedExchange, Definition};
pub use expressions::{Expression, Expressions};
pub use input::Input;

use std::fmt;

use self::code::{Code, Place, Space};
use self::run::{Job, Who};
use self::strips::{Table, Tables};
use super::carried::{keep_carried, send_carried, start_carried};
use super::{
    Agents, Ask, Carries, Gradient, Gradients, Heard, Hearing, Kernel, Method, Network, Point, Points,
    Profile, Round, Rows, RowsMut, Sending, Sizes, Trace, TracedExchange,
};
use crate::graph::Topology;
use crate::numeric::Float;
use crate::numeric::registers::Wide;
use crate::numeric::row::Width;
use crate::{Error, Result};

/// A method that is data: programs and what a profile says, owned and checked.
///
/// Its arithmetic is that of its programs, operation by operation, in double and in single precision. Made
/// [of a rule](Self::from_method), it has the rule's bits in every engine.
///
/// ```
/// use oneway::method::{Method, Traced};
/// use oneway::methods::Smtpp;
///
/// let smtpp = Traced::from_method("my-smtpp", &Smtpp::new(0.1)?)?;
/// assert_eq!(smtpp.name(), "my-smtpp");
/// assert_eq!(smtpp.trace().unwrap().equations()[0], "x⁺ = R(x − ηv)");
/// # Ok::<(), oneway::Error>(())
/// ```
#[derive(Clone)]
pub struct Traced {
    name: &'static str,
    definition: Definition,
    trace: Trace,
    profile: Profile,
    double: Codes<f64>,
    single: Codes<f32>,
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traced").field("name", &self.definition.name).finish_non_exhaustive()
    }
}

impl PartialEq for Traced {
    fn eq(&self, other: &Self) -> bool {
        self.definition == other.definition
    }
}

/// The programs of a method, made ready for one precision.
#[derive(Debug, Clone)]
struct Codes<T> {
    start: Code<T>,
    exchanges: Vec<ExchangeCodes<T>>,
}

#[derive(Debug, Clone)]
struct ExchangeCodes<T> {
    send: Code<T>,
    next_point: Code<T>,
    both_points: Code<T>,
    update: Code<T>,
}

impl<T: Float> Codes<T> {
    /// Of valid programs.
    fn new(trace: &Trace) -> Self {
        let weighs = trace.carries != Carries::Nothing;
        let state = || Place::all(Space::State, trace.names.len());
        let vectors = |spaces: [(Space, usize); 2]| {
            spaces.into_iter().flat_map(|(space, count)| Place::all(space, count))
        };
        let heard: Vec<Place> = state()
            .chain(vectors([(Space::Pulled, trace.sends[0]), (Space::Pushed, trace.sends[1])]))
            .collect();
        let gradients = || vectors([(Space::Gradient, 1), (Space::Other, 1)]);
        let (kept, all): (Vec<Place>, Vec<Place>) =
            (state().collect(), heard.iter().copied().chain(gradients()).collect());
        let sent: Vec<Place> =
            vectors([(Space::Pull, trace.sends[0]), (Space::Push, trace.sends[1])]).collect();
        let points: Vec<Place> = vectors([(Space::Next, 1), (Space::Last, 1)]).collect();
        let first: Vec<Place> = Place::all(Space::Start, 1).chain(gradients()).collect();
        let exchange = |exchange: &TracedExchange| ExchangeCodes {
            send: Code::new(&exchange.send, &kept, &sent, false),
            next_point: Code::new(&exchange.points, &heard, &points[..1], weighs),
            both_points: Code::new(&exchange.points, &heard, &points, weighs),
            update: Code::new(&exchange.update, &all, &kept, weighs),
        };
        Self {
            start: Code::new(&trace.start, &first, &kept, false),
            exchanges: trace.exchanges.iter().map(exchange).collect(),
        }
    }
}

impl Traced {
    /// The method that a definition says; the error names what is wrong with it, and where.
    pub fn new(definition: Definition) -> Result<Self> {
        let (name, trace) = check::checked(&definition)?;
        let profile = definition.profile(&trace);
        let (double, single) = (Codes::new(&trace), Codes::new(&trace));
        Ok(Self { name, definition, trace, profile, double, single })
    }

    /// A rule as data, under a name.
    ///
    /// What a rule says of networks and steps in code of its own
    /// ([`Rule::check_network`](super::Rule::check_network),
    /// [`Rule::step_divisor`](super::Rule::step_divisor)) is not part of it.
    pub fn from_method(name: &str, method: &dyn Method) -> Result<Self> {
        let definition = Definition::from_method(name, method).ok_or_else(|| Error::Definition {
            method: name.to_owned(),
            place: "the method".to_owned(),
            fault: "it is not coordinate by coordinate, so it has no programs".to_owned(),
        })?;
        Self::new(definition)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The same, for as long as the process lives.
    pub(crate) fn stored_name(&self) -> &'static str {
        self.name
    }

    /// All that it is.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }
}

impl Method for Traced {
    fn profile(&self, sizes: Sizes) -> Profile {
        let scalars = match self.trace.carries {
            Carries::Nothing => [0, 0, 0],
            Carries::Weight => [1, 0, 1],
            Carries::Eigenvector => [sizes.agents, sizes.agents, 0],
        };
        let vectors = [self.trace.names.len(), self.trace.sends[0], self.trace.sends[1]];
        let [state, pull, push] = [0, 1, 2].map(|i| Width::vectors(vectors[i]).and_scalars(scalars[i]));
        Profile { state, pull, push, ..self.profile.clone() }
    }

    /// A method that only pulls and does not divide by [y⁺]_i moves its average by η itself.
    fn step_divisor(&self, topology: &Topology) -> Result<f64> {
        match (self.trace.network, self.trace.carries) {
            (Network::PullOnly, Carries::Nothing | Carries::Weight) => Ok(1.0),
            (network, _) => topology.step_divisor(network),
        }
    }

    fn trace(&self) -> Option<Trace> {
        Some(self.trace.clone())
    }

    fn single_precision(&self) -> Option<&dyn Kernel<f32>> {
        Some(self)
    }
}

/// A float that methods are made ready for.
trait Ready: Wide {
    fn codes(method: &Traced) -> &Codes<Self>;
}

impl Ready for f64 {
    fn codes(method: &Traced) -> &Codes<f64> {
        &method.double
    }
}

impl Ready for f32 {
    fn codes(method: &Traced) -> &Codes<f32> {
        &method.single
    }
}

/// The most lanes of a vector.
const MOST_LANES: usize = 8;

/// Rows of a gradient, or zeros where it was not asked for.
fn given<T: Ready>(rows: Rows<'_, T>, agents: usize, d: usize, zeros: &mut [T; MOST_LANES]) -> Table<T> {
    match rows.width() {
        0 => Table::everywhere(zeros.as_mut_ptr()),
        _ => readable(rows, agents, 1, d),
    }
}

/// Rows that are read only.
fn readable<T: Ready>(rows: Rows<'_, T>, agents: usize, vectors: usize, d: usize) -> Table<T> {
    let (first, stride) = rows.vectors(agents, vectors, d).table();
    Table::vectors((first.cast_mut(), stride), d)
}

fn writable<T: Ready>(rows: &mut RowsMut<'_, T>, agents: usize, vectors: usize, d: usize) -> Table<T> {
    Table::vectors(rows.vectors(agents, vectors, d).table(), d)
}

/// The tables with these in their spaces.
fn tables<T: Copy, const N: usize>(known: [(Space, Table<T>); N]) -> Tables<T> {
    let mut tables = [Table::NONE; code::SPACES];
    known.into_iter().for_each(|(space, table)| tables[space as usize] = table);
    tables
}

impl Traced {
    fn kept(&self) -> usize {
        self.trace.names.len()
    }

    fn start_rows<T: Ready>(&self, at: Round<'_>, x: &[T], gradient: Gradient<'_, T>, state: &mut [T]) {
        let (d, mut zeros) = (at.d, [T::default(); MOST_LANES]);
        let mut rows = RowsMut::one(&mut *state);
        let mut row = |row: &[T]| given(Rows::one(row), 1, d, &mut zeros);
        let mut tables = tables([
            (Space::Gradient, row(gradient.next)),
            (Space::Other, row(gradient.other)),
            (Space::Start, readable(Rows::one(x), 1, 1, d)),
            (Space::State, writable(&mut rows, 1, self.kept(), d)),
        ]);
        let heard = [Rows::one(&[]); 2];
        let (code, agents, carries) = (&T::codes(self).start, Agents::one(at.agent), Carries::Nothing);
        let constants = self.trace.constants;
        let who = Who { round: at, constants, agents, first: None, carries, heard };
        T::in_vectors(d, Job { code, who, tables: &mut tables });
        start_carried(self.trace.carries, at, state);
    }

    fn send_rows<T: Ready>(&self, at: Round<'_>, block: &mut Sending<'_, T>) {
        let (d, n, [pulls, pushes]) = (at.d, block.agents.len(), self.trace.sends);
        let mut tables = tables([
            (Space::State, writable(&mut block.states, n, self.kept(), d)),
            (Space::Pull, writable(&mut block.pulls, n, pulls, d)),
            (Space::Push, writable(&mut block.pushes, n, pushes, d)),
        ]);
        let heard = [Rows::one(&[]); 2];
        let (code, agents) = (&T::codes(self).exchanges[at.phase as usize].send, block.agents);
        let (constants, carries) = (self.trace.constants, Carries::Nothing);
        let who = Who { round: at, constants, agents, first: None, carries, heard };
        T::in_vectors(d, Job { code, who, tables: &mut tables });
        send_carried(self.trace.carries, at.agents, block);
    }

    /// What agents keep and have heard.
    fn known<T: Ready>(&self, d: usize, block: &mut Hearing<'_, T>) -> [(Space, Table<T>); 3] {
        let (n, rows, [pulls, pushes]) =
            (block.agents.len(), block.agents.rows_from(block.first), self.trace.sends);
        [
            (Space::State, writable(&mut block.states, rows, self.kept(), d)),
            (Space::Pulled, readable(block.pulled, n, pulls, d)),
            (Space::Pushed, readable(block.pushed, n, pushes, d)),
        ]
    }

    /// Agents that have heard.
    fn who<'j, T: Ready>(&self, round: Round<'j>, block: &Hearing<'j, T>) -> Who<'j, T> {
        let (carries, constants) = (self.trace.carries, self.trace.constants);
        let (agents, first, heard) = (block.agents, Some(block.first), [block.pulled, block.pushed]);
        Who { round, constants, agents, first, carries, heard }
    }

    fn point_rows<T: Ready>(&self, at: Round<'_>, block: &mut Hearing<'_, T>, points: &mut Points<'_, T>) {
        if points.next.width() == 0 {
            return;
        }
        let (d, n, codes) = (at.d, block.agents.len(), &T::codes(self).exchanges[at.phase as usize]);
        let mut tables = tables(self.known(d, block));
        tables[Space::Next as usize] = writable(&mut points.next, n, 1, d);
        let both = points.last.width() > 0;
        if both {
            tables[Space::Last as usize] = writable(&mut points.last, n, 1, d);
        }
        let code = if both { &codes.both_points } else { &codes.next_point };
        T::in_vectors(d, Job { code, who: self.who(at, block), tables: &mut tables });
    }

    fn update_rows<T: Ready>(
        &self,
        at: Round<'_>,
        block: &mut Hearing<'_, T>,
        gradients: &mut Gradients<'_, T>,
    ) {
        let (d, n, mut zeros) = (at.d, block.agents.len(), [T::default(); MOST_LANES]);
        let mut tables = tables(self.known(d, block));
        tables[Space::Gradient as usize] = given(gradients.next.as_rows(), n, d, &mut zeros);
        tables[Space::Other as usize] = given(gradients.other.as_rows(), n, d, &mut zeros);
        let code = &T::codes(self).exchanges[at.phase as usize].update;
        T::in_vectors(d, Job { code, who: self.who(at, block), tables: &mut tables });
        keep_carried(self.trace.carries, at.agents, block);
    }
}

macro_rules! kernel {
    ($($float:ty),*) => {
        $(
            impl Kernel<$float> for Traced {
                fn start(
                    &self,
                    at: Round<'_>,
                    x: &[$float],
                    gradient: Gradient<'_, $float>,
                    state: &mut [$float],
                ) {
                    self.start_rows(at, x, gradient, state);
                }

                fn send(
                    &self,
                    at: Round<'_>,
                    state: &mut [$float],
                    pull: &mut [$float],
                    push: &mut [$float],
                ) {
                    let [states, pulls, pushes] = [state, pull, push].map(RowsMut::one);
                    let agents = Agents::one(at.agent);
                    self.send_rows(at, &mut Sending { agents, states, pulls, pushes });
                }

                fn point(&self, at: Round<'_>, heard: Heard<'_, $float>, point: Point<'_, $float>) {
                    let [next, last] = [point.next, point.last].map(RowsMut::one);
                    self.point_rows(at, &mut Hearing::one(at.agent, heard), &mut Points { next, last });
                }

                fn update(&self, at: Round<'_>, heard: Heard<'_, $float>, gradient: Gradient<'_, $float>) {
                    let [next, other] = [gradient.next, gradient.other].map(RowsMut::one);
                    let gradients = &mut Gradients { next, other, samples: &[] };
                    self.update_rows(at, &mut Hearing::one(at.agent, heard), gradients);
                }

                fn send_block(&self, at: Round<'_>, block: &mut Sending<'_, $float>) {
                    self.send_rows(at, block);
                }

                fn point_block(
                    &self,
                    at: Round<'_>,
                    block: &mut Hearing<'_, $float>,
                    points: &mut Points<'_, $float>,
                ) {
                    self.point_rows(at, block, points);
                }

                fn update_block(
                    &self,
                    at: Round<'_>,
                    block: &mut Hearing<'_, $float>,
                    gradients: &mut Gradients<'_, $float>,
                ) {
                    self.update_rows(at, block, gradients);
                }
            }
        )*
    };
}

kernel!(f64, f32);

/// Whether an ask is one that a rule can have.
fn can_be_asked(ask: Ask) -> bool {
    matches!(ask, Ask::Nothing | Ask::Samples(1..=check::MOST_SAMPLES) | Ask::BothPoints)
}
