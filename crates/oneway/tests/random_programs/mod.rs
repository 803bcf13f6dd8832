//! Any programs: run on strips, they have the bits of the interpreter.
#![allow(clippy::unwrap_used)]

use oneway::method::{
    Ask, Carries, DefinedExchange, Definition, Gradient, Heard, Kept, Kernel, Network, OfRound, Point,
    Reliance, Roles, Round, Traced,
};
use oneway::numeric::{Float, Instruction, Program, Symbol, Tape};
use proptest::prelude::*;

/// A step by chance: operation, three operands (as shares of what is there) and a constant.
pub(crate) type Chosen = (u8, [u16; 3], f64);

/// A program with these numbers of inputs and results.
fn program(inputs: usize, steps: &[Chosen], results: &[u16], count: usize) -> Program {
    let mut symbols: Vec<Symbol> = vec![];
    let mut instructions = vec![];
    let probe = Tape::record(|| (0..inputs + steps.len()).map(|_| Symbol::input("")).collect());
    let at = |step: usize| probe.results[step];
    for i in 0..inputs {
        symbols.push(at(i));
        instructions.push(Instruction::Input("u"));
    }
    for (operation, operands, number) in steps {
        let [a, b, c] = operands.map(|share| symbols[usize::from(share) % symbols.len()]);
        let new = at(instructions.len());
        instructions.push(match operation % 9 {
            0 | 7 => Instruction::Add(a, b),
            1 => Instruction::Sub(a, b),
            2 | 8 => Instruction::Mul(a, b),
            3 => Instruction::Div(a, b),
            4 => Instruction::Sqrt(a),
            5 => Instruction::IfPositive(a, b, c),
            _ => Instruction::Constant(*number),
        });
        symbols.push(new);
    }
    let results =
        (0..count).map(|i| symbols[usize::from(results[i % results.len()]) % symbols.len()]).collect();
    Program { instructions, results }
}

const KEPT: usize = 3;

pub(crate) fn definition(steps: &[Chosen], results: &[u16], carries: Carries) -> Definition {
    let sends = [2, 1];
    let program = |inputs: usize, count: usize| program(5 + inputs, steps, results, count);
    Definition {
        name: "by chance".to_owned(),
        network: Network::PushPull,
        carries,
        names: ["x", "y", "z"].map(str::to_owned).to_vec(),
        sends,
        roles: Roles::default(),
        reliance: Reliance::Nothing,
        constants: [OfRound::Count, OfRound::Power(0.9)],
        start_ask: Ask::ONE,
        start: program(3, KEPT),
        exchanges: vec![DefinedExchange {
            sends: [true; 2],
            ask: Ask::BothPoints,
            send: program(KEPT, 3),
            points: program(KEPT + 3, 2),
            update: program(KEPT + 5, KEPT),
        }],
    }
}

/// The numbers, with all NaNs as one: which of two NaNs comes through is nobody's promise.
fn bits<T: Float>(numbers: impl IntoIterator<Item = T>) -> Vec<u64> {
    let of = |x: f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
    numbers.into_iter().map(|x| of(x.to_f64())).collect()
}

fn rows<T: Float>(vectors: usize, d: usize, seed: f64) -> Vec<T> {
    (0..vectors * d).map(|i| T::from_f64((seed + 1.7 * i as f64).sin() * 3.0)).collect()
}

/// Start, messages, points and update of one agent, by the kernel and by the programs.
fn agrees<T: Float>(traced: &Traced, kernel: &dyn Kernel<T>, d: usize) -> Result<(), TestCaseError> {
    let Definition { carries, start, exchanges, constants, .. } = traced.definition();
    let DefinedExchange { send, points, update, .. } = &exchanges[0];
    let at =
        Round { k: 4, phase: 0, turn: 0, η: 0.3, agent: 1, agents: 3, d, seed: 1, kept: Kept::Share(0.375) };
    let scalars = usize::from(*carries == Carries::Weight);
    let common = |w: T| {
        let [first, second] = constants.map(|constant| T::from_f64(constant.at(4)));
        vec![T::from_f64(0.3), w, T::from_f64(0.375), first, second]
    };
    let one = T::from_f64(1.0);
    let inputs = |w: T, c: usize, rows: &[&[T]]| {
        let numbers = rows.iter().flat_map(|row| row.chunks_exact(d).map(move |vector| vector[c]));
        common(w).into_iter().chain(numbers).collect::<Vec<T>>()
    };
    let same = |what: &str, program: &Program, w: T, given: &[&[T]], found: &[T]| {
        for c in 0..d {
            let found = found.chunks_exact(d).map(|vector| vector[c]).collect::<Vec<_>>();
            prop_assert_eq!(bits(program.run(&inputs(w, c, given))), bits(found), "{} {} of {}", what, c, d);
        }
        Ok(())
    };
    let (x, g, other) = (rows::<T>(1, d, 0.1), rows::<T>(1, d, 0.2), rows::<T>(1, d, 0.3));
    let mut state = vec![T::default(); KEPT * d + scalars];
    let (mut next, mut second) = (g.clone(), other.clone());
    kernel.start(at, &x, Gradient { next: &mut next, other: &mut second, sample: 0 }, &mut state);
    same("start", start, one, &[&x, &g, &other], &state[..KEPT * d])?;

    let before = rows::<T>(KEPT, d, 0.4);
    let mut state = [before.clone(), vec![T::from_f64(0.7); scalars]].concat();
    let (mut pull, mut push) = (vec![T::default(); 2 * d], vec![T::default(); d + scalars]);
    kernel.send(at, &mut state, &mut pull, &mut push);
    same("send", send, one, &[&before], &[&pull[..], &push[..d]].concat())?;

    let (pulled, heard) = (rows::<T>(2, d, 0.5), rows::<T>(1, d, 0.6));
    let w = if scalars > 0 { T::from_f64(0.8) } else { one };
    let pushed = [heard.clone(), vec![w; scalars]].concat();
    let (mut next, mut last) = (vec![T::default(); d], vec![T::default(); d]);
    let given = Heard { state: &mut state, pulled: &pulled, pushed: &pushed };
    kernel.point(at, given, Point { next: &mut next, last: &mut last });
    same("points", points, w, &[&before, &pulled, &heard], &[&next[..], &last[..]].concat())?;

    let (mut next, mut second) = (g.clone(), other.clone());
    let given = Heard { state: &mut state, pulled: &pulled, pushed: &pushed };
    kernel.update(at, given, Gradient { next: &mut next, other: &mut second, sample: 0 });
    same("update", update, w, &[&before, &pulled, &heard, &g, &other], &state[..KEPT * d])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_programs_have_the_bits_of_the_interpreter(
        steps in prop::collection::vec((any::<u8>(), any::<[u16; 3]>(), -2.0..2.0), 0..40),
        results in prop::collection::vec(any::<u16>(), 1..6),
        d in prop_oneof![1..40usize, 500..1100usize],
        weighs in any::<bool>(),
    ) {
        let carries = if weighs { Carries::Weight } else { Carries::Nothing };
        let traced = Traced::new(definition(&steps, &results, carries)).unwrap();
        agrees::<f64>(&traced, &traced, d)?;
        agrees::<f32>(&traced, &traced, d)?;
    }

    /// As many steps as there may be, with many numbers that wait for others.
    #[test]
    fn long_programs_have_the_bits_of_the_interpreter(
        steps in prop::collection::vec((any::<u8>(), any::<[u16; 3]>(), -2.0..2.0), 200..240),
        results in prop::collection::vec(any::<u16>(), 3..6),
    ) {
        let traced = Traced::new(definition(&steps, &results, Carries::Weight)).unwrap();
        agrees::<f64>(&traced, &traced, 130)?;
        agrees::<f32>(&traced, &traced, 600)?;
    }
}
