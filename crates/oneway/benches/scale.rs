//! A round of SMTPP from 20 agents to a million, against what the machine allows. `just bench-scale`.
//!
//! Each size runs in a process of its own, so that its peak of memory is its own. What is counted, and why,
//! stands in `case/mod.rs`; how the machine is measured, in `machine/mod.rs`. Arguments: any of `d=10`,
//! `n=1000000`, `family=k-out`, `problem=quadratic` keeps only these; `--large` adds d = 123 at a million
//! agents (6 GB); `--append` keeps the lines that `out/bench-scale.csv` has.
#![allow(clippy::unwrap_used)]

mod case;
mod machine;
mod memory;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use case::{COLUMNS, Case};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

const AGENTS: [usize; 6] = [20, 100, 1_000, 10_000, 100_000, 1_000_000];
/// a9a has 32,561 rows to share out.
const LOGISTIC_AGENTS: [usize; 5] = [20, 100, 1_000, 10_000, 16_000];
const FAMILIES: [&str; 3] = ["ring", "exponential", "k-out"];

fn main() {
    let (by_cargo_bench, arguments): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument == "--bench");
    if let [only, problem, family, d, n] = &arguments[..]
        && only == "one"
    {
        let case = Case {
            problem: problem.clone(),
            family: family.clone(),
            d: d.parse().unwrap(),
            n: n.parse().unwrap(),
        };
        return case.measure().iter().for_each(|line| println!("{line}"));
    }
    if by_cargo_bench.is_empty() {
        return println!("run by `just bench-scale`; it takes two minutes");
    }

    machine::print();
    println!("{LEGEND}");
    let mut csv = String::new();
    let mut problem_and_d = (String::new(), 0);
    for case in cases(&arguments) {
        if problem_and_d != (case.problem.clone(), case.d) {
            problem_and_d = (case.problem.clone(), case.d);
            heading(&case);
        }
        match in_own_process(&case) {
            Ok(lines) => {
                print(&case, &lines.lines().map(Line::new).collect::<Vec<_>>());
                csv += &lines;
            }
            Err(why) => println!("{:<11}{:>9} | {why}", case.family, case.n),
        }
    }
    save(csv, arguments.iter().any(|argument| argument == "--append"));
}

/// All sizes that the arguments leave.
fn cases(arguments: &[String]) -> Vec<Case> {
    let large = arguments.iter().any(|argument| argument == "--large");
    let mut cases = Vec::new();
    for (problem, d, sizes) in
        [("quadratic", 10, &AGENTS[..]), ("quadratic", 123, &AGENTS), ("logistic", 123, &LOGISTIC_AGENTS)]
    {
        for family in FAMILIES {
            let case = |&n| Case { problem: problem.to_owned(), family: family.to_owned(), d, n };
            cases.extend(sizes.iter().filter(|&&n| large || n * d <= 20_000_000).map(case));
        }
    }
    cases.retain(|case| {
        let (d, n) = (case.d.to_string(), case.n.to_string());
        let facts = [("problem", &case.problem), ("family", &case.family), ("d", &d), ("n", &n)];
        facts.iter().all(|(name, value)| {
            let mut wanted =
                arguments.iter().filter_map(|argument| argument.strip_prefix(name)?.strip_prefix('='));
            let first = wanted.next();
            first.is_none() || first == Some(value) || wanted.any(|wanted| wanted == *value)
        })
    });
    cases
}

/// Runs a case in a new process; the error says why it was not run.
fn in_own_process(case: &Case) -> Result<String, String> {
    let matrices = 5 * case.n * case.d * 8;
    if matrices > memory_of_the_machine() / 10 * 6 {
        return Err(format!("left out: {:.1} GB of states and messages", matrices as f64 / 1e9));
    }
    let (d, n) = (case.d.to_string(), case.n.to_string());
    let arguments = ["one", &case.problem, &case.family, &d, &n];
    let output = Command::new(std::env::current_exe().unwrap()).args(arguments).output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ")),
    }
}

fn memory_of_the_machine() -> usize {
    let all = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = all.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<usize>().ok());
    kibibytes.map_or(usize::MAX, |kibibytes| kibibytes * 1024)
}

/// One line of the table of numbers, by name.
struct Line<'a>(HashMap<&'static str, &'a str>);

impl<'a> Line<'a> {
    fn new(line: &'a str) -> Self {
        Self(COLUMNS.split(',').zip(line.split(',')).collect())
    }

    fn at(&self, column: &str) -> f64 {
        self.0[column].parse().unwrap()
    }
}

const LEGEND: &str = "
ns       nanoseconds of a round per agent and coordinate
GB/s     the least bytes that a round must move, over its time
copy     that rate as a share of the bandwidth of a copy of this size
roof     the least time, by the machine's bandwidth, gathers and peak, as a share of the round's
flops    operations as a share of the peak of multiply, then add
×        speed-up over one thread
build    seconds to make the digraph, the matrices R and C, the problem, the simulator: in rounds of one thread
memory   bytes per agent of engine and matrices; as a multiple of states and messages: the same, the peak while building,
         and the peak of the whole process, problem and program included";

fn heading(case: &Case) {
    println!("\n{}, d = {}", case.problem, case.d);
    println!("{:<20} |{:^44} |{:^38} |{:^27} | memory", "", "1 thread", "2 threads", "build");
    let one = format!("{:>10}{:>8}{:>7}{:>6}{:>6}{:>7}", "rounds/s", "ns", "GB/s", "copy", "roof", "flops");
    let two = format!("{:>10}{:>8}{:>7}{:>6}{:>7}", "rounds/s", "ns", "GB/s", "roof", "×");
    let build = format!("{:>6}{:>6}{:>8}{:>7}", "graph", "R, C", "problem", "start");
    let memory = format!("{:>7}{:>8}{:>9}{:>9}", "B/agent", "engine", "building", "process");
    println!("{:<11}{:>9} |{one} |{two} |{build} |{memory}", "", "agents");
}

/// Building is given in rounds of one thread, memory in sizes of the state and message matrices.
fn print(case: &Case, lines: &[Line<'_>]) {
    let numbers = (case.n * case.d) as f64;
    let mut text = format!("{:<11}{:>9} |", case.family, case.n);
    for line in lines {
        let round = line.at("round_s");
        let rate = (line.at("streamed_bytes") + line.at("gathered_bytes")) / round;
        let per_number = round / numbers * 1e9;
        write!(text, "{:>10.1}{per_number:>8.3}{:>7.1}", 1.0 / round, rate / 1e9).unwrap();
        if line.at("threads") == 1.0 {
            write!(text, "{:>5.0}%", 100.0 * rate / line.at("copy_bytes_per_s")).unwrap();
        }
        write!(text, "{:>5.0}%", 100.0 * line.at("roofline_s") / round).unwrap();
        if line.at("threads") == 1.0 {
            write!(text, "{:>6.1}% |", 100.0 * line.at("flops") / round / line.at("flops_per_s")).unwrap();
        } else {
            write!(text, "{:>7.2} |", lines[0].at("round_s") / round).unwrap();
        }
    }
    let line = &lines[0];
    let rounds = |column: &str| line.at(column) / line.at("round_s");
    let [graph, topology, problem] = ["graph_s", "topology_s", "problem_s"].map(rounds);
    write!(text, "{graph:>6.1}{topology:>6.1}{problem:>8.1}{:>7.1} |", rounds("simulator_s")).unwrap();
    let matrices = line.at("matrices_bytes");
    let engine = line.at("topology_bytes") + line.at("simulator_bytes");
    let [building, process] = ["building_bytes", "process_bytes"].map(|column| line.at(column) / matrices);
    let per_agent = engine / case.n as f64;
    println!("{text}{per_agent:>7.0}{:>7.2}×{building:>8.2}×{process:>8.2}×", engine / matrices);
}

/// Writes `out/bench-scale.csv` at the root of the repository.
fn save(lines: String, append: bool) {
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "out"].iter().collect();
    std::fs::create_dir_all(&root).unwrap();
    let path = root.join("bench-scale.csv");
    let kept = std::fs::read_to_string(&path).ok().filter(|_| append);
    let kept = kept.unwrap_or_else(|| format!("{COLUMNS}\n"));
    std::fs::write(&path, kept + &lines).unwrap();
    println!("\nout/bench-scale.csv has all numbers");
}
