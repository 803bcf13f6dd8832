//! What messages cost here, for the model of a round's time: `just fit-model`.
//!
//! Under mpirun with the name of a CSV file: eight agents, or as many as are asked for, on rings, exponential
//! digraphs and the complete graph, with rows of many lengths; the seconds of an exchange by our links, without
//! the round, and of whole rounds go into a line each. Alone, with `fit`, that file and a place for the result:
//! the costs that the exchanges of the file tell, and what is then predicted of its rounds, which were not used
//! for it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use mpi::traits::CommunicatorCollectives as _;
use oneway::engine::part::{Carrier, Moment, Part, Slab, stride};
use oneway_experiment::networked::Networked;
use oneway_mpi::blocks::block;
use oneway_mpi::links::Links;
use oneway_mpi::model::fit::{Sample, fit};
use oneway_mpi::model::load::{loads, row_sizes};
use oneway_mpi::model::{Cluster, predict, work};
use oneway_mpi::world::World;
use oneway_mpi::world::job::Job;

const RING: &str = "experiments/agents/ring.toml";

/// Seconds for each line, about.
const SECONDS: f64 = 0.4;

/// Topology, agents and d of what is measured.
const ALL: [(&str, usize, usize); 13] = [
    ("ring", 8, 16),
    ("ring", 8, 123),
    ("ring", 8, 1_000),
    ("ring", 8, 10_000),
    ("ring", 8, 100_000),
    ("ring", 8, 1_000_000),
    ("exponential", 8, 123),
    ("exponential", 8, 10_000),
    ("complete", 8, 123),
    ("complete", 8, 10_000),
    ("ring", 128, 123),
    ("exponential", 128, 123),
    ("ring", 10_000, 123),
];

fn experiment((kind, agents, d): (&str, usize, usize)) -> Networked {
    let set =
        [format!("topology.ring.kind={kind}"), format!("run.agents={agents}"), format!("problem.dim={d}")];
    Networked::read(Path::new(RING), &set).unwrap()
}

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["fit", measured, costs] => report(measured, costs),
        [measured] => measure(measured),
        _ => panic!("under mpirun: a CSV file; alone: fit, that file, and a file for the costs"),
    }
}

fn measure(csv: &str) {
    let job = Job::join().unwrap();
    for what in ALL {
        let experiment = experiment(what);
        let setup = experiment.cells()[0].setup();
        let (n, d) = (setup.problem.agents(), setup.problem.dim());
        let own = block(n, job.size(), job.rank());
        let (mut part, mut links) = (Part::<f64>::new(setup, own.clone()).unwrap(), Links::new(&job, setup));
        let stride = stride::<f64>(d);
        let mut slabs = [vec![0.0; n * stride], vec![0.0; n * stride]];
        // pages that nobody has written are one page of zeros, which costs nothing to read
        slabs.iter_mut().for_each(|rows| rows[own.start * stride..own.end * stride].fill(1.0));
        let exchange = seconds(&job, &mut || {
            let rows = slabs.each_mut().map(|numbers| Slab { numbers: &mut numbers[..], stride });
            links.carry(Moment { k: 0, phase: 0 }, rows, &mut |_| false).unwrap();
        });
        let round = seconds(&job, &mut || part.round(&mut links).unwrap());
        if job.rank() == 0 {
            let (kind, agents, d) = what;
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(csv).unwrap();
            writeln!(file, "{kind},{agents},{d},{},{exchange:e},{round:e}", job.size()).unwrap();
        }
    }
}

/// Seconds of some work that all processes do together: the median of seven short runs.
fn seconds(job: &Job, work: &mut dyn FnMut()) -> f64 {
    let mut run = |times: usize| {
        job.communicator().barrier();
        let began = Instant::now();
        (0..times).for_each(|_| work());
        let [slowest] = job.max([began.elapsed().as_secs_f64() / times as f64]);
        slowest
    };
    let pace = run(2).min(run(2)).max(1e-9);
    let times = ((SECONDS / 8.0 / pace) as usize).clamp(1, 5_000);
    let mut runs: Vec<f64> = (0..7).map(|_| run(times)).collect();
    runs.sort_by(f64::total_cmp);
    runs[3]
}

fn report(measured: &str, costs_file: &str) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = std::fs::read_to_string(measured).unwrap();
    let mut lines = vec![];
    for line in text.lines() {
        let words: Vec<&str> = line.split(',').collect();
        let [kind, agents, d, processes, exchange, round] = words[..] else { panic!("{measured}: {line}") };
        let number = |word: &str| word.parse::<usize>().unwrap();
        let what = (kind.to_owned(), number(agents), number(d));
        lines.push((
            what,
            number(processes),
            exchange.parse::<f64>().unwrap(),
            round.parse::<f64>().unwrap(),
        ));
    }
    let (mut all_loads, mut samples) = (vec![], vec![]);
    for ((kind, agents, d), processes, exchange, _) in &lines {
        let experiment = experiment((kind, *agents, *d));
        let setup = experiment.cells()[0].setup();
        let of_round = loads(setup.topology, &row_sizes::<f64>(setup), *d, [*processes, *processes]);
        samples.push(Sample { loads: of_round[0][0].clone(), cores, seconds: *exchange });
        all_loads.push(of_round);
    }
    let costs = fit(&samples).expect("the file tells the costs");
    std::fs::write(costs_file, serde_json::to_string(&costs).unwrap()).unwrap();
    println!("{costs:?}\n");
    println!("| network | agents | d | processes | exchanges/s | predicted | rounds/s | predicted | ratio |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (((kind, agents, d), processes, exchange, round), loads) in lines.into_iter().zip(all_loads) {
        let experiment = experiment((&kind, agents, d));
        let cell = &experiment.cells()[0];
        let host = Cluster { latency: 0.0, bandwidth: f64::INFINITY, per_host: processes, cores };
        let work =
            |agents| work::measure(cell.setup(), cell.precision(), agents, cores.min(processes)).unwrap();
        let messages = predict(&host, &costs, &loads, &|_| 0.0).seconds;
        // all numbers of agents are multiples of all numbers of processes
        let here = work(agents / cores.min(processes));
        let said = predict(&host, &costs, &loads, &|_| here).seconds;
        println!(
            "| {kind} | {agents} | {d} | {processes} | {:.0} | {:.0} | {:.1} | {:.1} | {:.2} |",
            1.0 / exchange,
            1.0 / messages,
            1.0 / round,
            1.0 / said,
            round / said,
        );
    }
}
