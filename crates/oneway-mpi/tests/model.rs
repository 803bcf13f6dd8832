//! What is predicted of rounds on a cluster: laws, and the bytes that links really send.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::path::{Path, PathBuf};

use clap::Parser;
use oneway::engine::part::{Moment, Part};
use oneway::numeric::Precision;
use oneway::numeric::sample::{Draws, Purpose};
use oneway_experiment::networked::{Networked, NetworkedCell};
use oneway_mpi::blocks::block;
use oneway_mpi::links::Links;
use oneway_mpi::model::command::{Model, model};
use oneway_mpi::model::load::{Load, loads, row_sizes};
use oneway_mpi::model::{Cluster, Costs, predict};
use oneway_mpi::world::threads::{Thread, worlds};
use oneway_mpi::world::{Item, Message, Row, World};

#[derive(Debug, Parser)]
struct Command {
    #[command(flatten)]
    model: Model,
}

fn file(folder: &Path, agents: usize, more: &str) -> PathBuf {
    let text = format!(
        "[problem]\nkind = \"quadratic\"\ndim = 70\nnoise = 0.1\n[run]\nagents = {agents}\niterations = 4\n{more}"
    );
    let file = folder.join("experiment.toml");
    std::fs::write(&file, text).unwrap();
    file
}

/// Networks with one and with several rounds in their period, methods with one and with several exchanges, a
/// codec, both precisions.
const KINDS: [&str; 4] = [
    "[[topology]]\nkind = \"ring\"\n[[topology]]\nkind = \"exponential\"\n[[topology]]\nkind = \"complete\"\n\
     [[method]]\nkind = \"smtpp\"\nstep = 0.01\n[[method]]\nkind = \"sgp\"\nstep = 0.01\n",
    "[[topology]]\nkind = \"one-peer-exponential\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n",
    "[[topology]]\nkind = \"exponential\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n\
     compress = { codec = \"top-k\", k = 7 }\n\
     [[method]]\nname = \"gossip\"\nkind = \"smtpp\"\nstep = 0.01\ngossip = 3\n",
    "precision = \"f32\"\n[[topology]]\nkind = \"ring\"\n[[method]]\nkind = \"push-pull\"\nstep = 0.01\n",
];

/// Threads that count what they send of rows: messages, and bytes in them.
struct Counting {
    world: Thread,
    sent: Cell<[usize; 2]>,
}

impl World for Counting {
    fn rank(&self) -> usize {
        self.world.rank()
    }

    fn size(&self) -> usize {
        self.world.size()
    }

    fn exchange_beside<T: Item>(
        &self,
        sends: Vec<Message<&[T]>>,
        receives: Vec<Message<&mut [T]>>,
        meanwhile: &mut dyn FnMut() -> bool,
    ) {
        let bytes: usize = sends.iter().map(|message| size_of_val(message.items)).sum();
        let [messages, before] = self.sent.get();
        self.sent.set([messages + sends.len(), before + bytes]);
        self.world.exchange_beside(sends, receives, meanwhile);
    }

    fn abort(&self, code: i32) -> ! {
        self.world.abort(code)
    }
}

/// Messages and bytes that all processes send in some rounds, and what their links say of them.
fn counted<T: Row>(cell: &NetworkedCell<'_>, ranks: usize, rounds: u64) -> [[usize; 2]; 2] {
    let (setup, phases) = (cell.setup(), row_sizes::<T>(cell.setup()).len() as u32);
    let on = |world: Thread| {
        let world = Counting { world, sent: Cell::default() };
        let own = block(setup.problem.agents(), ranks, world.rank());
        let (mut part, mut links) = (Part::<T>::new(setup, own).unwrap(), Links::new(&world, setup));
        (0..rounds).for_each(|_| part.round(&mut links).unwrap());
        let moments = (0..rounds).flat_map(|k| (0..phases).map(move |phase| Moment { k, phase }));
        let said = moments.fold([0, 0], |sum, at| added(sum, links.sent(at)));
        [world.sent.get(), said]
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = worlds(ranks).into_iter().map(|world| scope.spawn(move || on(world))).collect();
        let all = all.into_iter().map(|one| one.join().unwrap());
        all.fold([[0, 0]; 2], |[a, b], [c, d]| [added(a, c), added(b, d)])
    })
}

fn added([a, b]: [usize; 2], [c, d]: [usize; 2]) -> [usize; 2] {
    [a + c, b + d]
}

#[test]
fn messages_and_bytes_are_those_that_links_send() {
    let folder = tempfile::tempdir().unwrap();
    for kind in KINDS {
        let experiment = Networked::read(&file(folder.path(), 11, kind), &[]).unwrap();
        for cell in experiment.cells() {
            let period = cell.setup().topology.period().len() as u64;
            for ranks in [1, 2, 3, 11] {
                let (found, rows) = match cell.precision() {
                    Precision::F64 => (counted::<f64>(&cell, ranks, period), row_sizes::<f64>(cell.setup())),
                    Precision::F32 => (counted::<f32>(&cell, ranks, period), row_sizes::<f32>(cell.setup())),
                };
                let loads = loads(cell.setup().topology, &rows, 70, [ranks, 2]);
                let all = || loads.iter().flatten().flatten();
                let sum = |of: fn(&Load) -> usize| all().map(of).sum::<usize>();
                let said = [sum(|load| load.sent), sum(|load| load.bytes_sent)];
                assert_eq!(found, [said, said], "{:?} on {ranks}", cell.names());
                assert_eq!(sum(|load| load.bytes), 2 * said[1], "what is sent is received");
                assert_eq!(sum(|load| load.far_out), sum(|load| load.far_in));
                assert!(sum(|load| load.far_out) <= said[1] && (ranks > 2 || sum(|load| load.far_out) == 0));
                assert_eq!(all().any(|load| load.is_far), sum(|load| load.far_out) > 0);
            }
        }
    }
}

#[test]
fn a_codecs_rows_travel_as_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let of = |codec: &str| {
        let kind =
            format!("[[topology]]\nkind = \"ring\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n{codec}");
        let experiment = Networked::read(&file(folder.path(), 6, &kind), &[]).unwrap();
        let [[messages, bytes], _] = counted::<f64>(&experiment.cells()[0], 3, 1);
        (messages, bytes)
    };
    let (messages, bytes) = of("");
    let (coded, code_bytes) = of("compress = { codec = \"top-k\", k = 7 }\n");
    assert_eq!(messages, coded);
    assert!(code_bytes * 5 < bytes, "{code_bytes} of {bytes}");
}

/// Some clusters, costs and works of all sizes.
fn drawn(draws: &mut Draws) -> (Cluster, Costs, f64) {
    let mut size = |least: f64, most: f64| least * (most / least).powf(draws.unit());
    let (latency, bandwidth, work) = (size(1e-8, 1e-1), size(1e3, 1e12), size(1e-9, 1e-2));
    let (message, long, turn) = (size(1e-9, 1e-5), size(1e-9, 1e-5), size(1e-8, 1e-4));
    let costs = Costs { message, long, byte: size(1e-12, 1e-8), far_byte: size(1e-12, 1e-8), turn };
    let per_host = 1 + draws.below(5);
    let cores = 1 + draws.below(per_host);
    (Cluster { latency, bandwidth, per_host, cores }, costs, work)
}

#[test]
fn slower_networks_and_dearer_messages_never_make_rounds_faster() {
    let folder = tempfile::tempdir().unwrap();
    for kind in KINDS {
        let experiment = Networked::read(&file(folder.path(), 12, kind), &[]).unwrap();
        let cell = &experiment.cells()[0];
        let rows = row_sizes::<f64>(cell.setup());
        let mut draws = Draws::new(1, Purpose::Problem, 0, 0);
        for _ in 0..200 {
            let (cluster, costs, work) = drawn(&mut draws);
            let ranks = 1 + draws.below(12);
            let loads = loads(cell.setup().topology, &rows, 70, [ranks, cluster.per_host]);
            let time = |cluster: &Cluster, costs: &Costs, work: f64| {
                let said = predict(cluster, costs, &loads, &|agents| work * agents);
                assert!(said.seconds.is_finite() && said.seconds > 0.0, "{said:?}");
                assert!((0.0..=1.0).contains(&said.messages), "{said:?}");
                said.seconds
            };
            let now = time(&cluster, &costs, work);
            let worse = 1.0 + 9.0 * draws.unit();
            let far = Cluster { latency: cluster.latency * worse, ..cluster };
            let narrow = Cluster { bandwidth: cluster.bandwidth / worse, ..cluster };
            assert!(time(&far, &costs, work) >= now && time(&narrow, &costs, work) >= now);
            assert!(time(&cluster, &Costs { message: costs.message * worse, ..costs }, work) >= now);
            assert!(time(&cluster, &Costs { long: costs.long * worse, ..costs }, work) >= now);
            assert!(time(&cluster, &Costs { far_byte: costs.far_byte * worse, ..costs }, work) >= now);
            assert!(time(&cluster, &Costs { byte: costs.byte * worse, ..costs }, work) >= now);
            assert!(time(&cluster, &Costs { turn: costs.turn * worse, ..costs }, work) >= now);
            assert!(time(&Cluster { cores: 1, ..cluster }, &costs, work) >= now);
            assert!(time(&cluster, &costs, work * worse) >= now);
            if ranks == 1 {
                assert_eq!((time(&far, &costs, work), time(&narrow, &costs, work)), (now, now));
                assert!((now / (work * 12.0) - 1.0).abs() < 1e-12, "one process does nothing but work");
            }
        }
    }
}

/// The command with these words after the file.
fn said(file: &Path, words: &[&str]) -> Result<String, String> {
    let network = ["model", file.to_str().unwrap(), "--latency", "2us", "--bandwidth", "1GB/s"];
    let parsed = Command::try_parse_from(network.iter().chain(words)).map_err(|error| error.to_string())?;
    model(&parsed.model).map_err(|error| format!("{error:#}"))
}

const RING: &str = "[[topology]]\nkind = \"ring\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.01\n";

#[test]
fn the_table_says_what_the_formula_does() {
    let folder = tempfile::tempdir().unwrap();
    let (ring, costs) = (file(folder.path(), 8, RING), folder.path().join("costs.json"));
    std::fs::write(&costs, "{\"message\": 1e-6, \"long\": 1, \"byte\": 1e-9, \"far_byte\": 1, \"turn\": 0}")
        .unwrap();
    let words = ["--agents", "100", "--processes", "1,4", "--agent-time", "10us", "--costs"];
    let told = said(&ring, &[&words[..], &[costs.to_str().unwrap()]].concat()).unwrap();
    // a row of 70 numbers is as long as one of 72: 576 bytes, on two graphs, from each process to the next
    let lines: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0].join(" "), "smtpp on ring, d = 70, f64: rows of 576 and 576 bytes (pull, push)");
    assert_eq!(lines[2], ["8", "1", "1", "0", "0", "0%", "12500"]);
    // 4 messages and 2304 bytes: 6.304 µs; 2 µs + 1152 bytes of 1 GB/s: 3.152 µs; 2 agents: 20 µs, of which one
    // need not wait, but is not worth a pass
    assert_eq!(lines[3], ["8", "4", "4", "8", "4608", "32%", "33949"]);
    assert_eq!(lines[4], ["100", "1", "1", "0", "0", "0%", "1000"]);
    assert_eq!(lines.len(), 6, "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
}

#[test]
fn work_is_measured_where_nobody_says_how_long_it_is() {
    let folder = tempfile::tempdir().unwrap();
    for more in [RING.to_owned(), format!("precision = \"f32\"\n{RING}")] {
        let told = said(&file(folder.path(), 8, &more), &["--agents", "1000", "--processes", "1"]).unwrap();
        let rates: Vec<f64> = told
            .lines()
            .skip(2)
            .map(|line| line.split_whitespace().last().unwrap().parse().unwrap())
            .collect();
        let [eight, thousand] = rates[..] else { unreachable!("{told}") };
        assert!((eight / thousand / 125.0 - 1.0).abs() < 0.05, "work grows with agents: {told}");
    }
}

#[test]
fn what_cannot_be_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let ring = file(folder.path(), 8, RING);
    let costs = folder.path().join("costs.json");
    let with_costs = |text: &str| {
        std::fs::write(&costs, text).unwrap();
        said(&ring, &["--costs", costs.to_str().unwrap()]).unwrap_err()
    };
    for text in ["", "{}", "{\"message\": 1, \"byte\": 1, \"turn\": 1}", "{\"more\": 1}", "[]"] {
        assert!(with_costs(text).contains("not the costs that `just fit-model` writes"), "{text}");
    }
    assert!(
        with_costs("{\"message\": -1, \"long\": 1, \"byte\": 1, \"far_byte\": 1, \"turn\": 1}")
            .contains("0 or more")
    );
    for (words, expected) in [
        (&["--processes", "0"][..], "0 processes: 1 to 16384 are possible"),
        (&["--processes", "99999"], "99999 processes"),
        (&["--processes", "x"], "invalid value 'x'"),
        (&["--agents", "0"], "0 agents"),
        (&["--agents", "99999999999"], "99999999999 agents"),
        (&["--per-host", "0"], "at least one process and one core"),
        (&["--cores", "0"], "at least one process and one core"),
        (&["--agent-time", "5"], "a time with its unit is needed"),
        (&["--costs", "nowhere.json"], "nowhere.json"),
        (&["--set", "run.iterations=-1"], "iterations"),
    ] {
        let error = said(&ring, words).unwrap_err();
        assert!(error.contains(expected), "{words:?}: {error}");
    }
    for (latency, bandwidth, expected) in [
        ("2", "1GB/s", "a time with its unit"),
        ("2us", "0GB/s", "a rate above 0"),
        ("2us", "12", "a rate above 0"),
    ] {
        let words = ["model", "x.toml", "--latency", latency, "--bandwidth", bandwidth];
        let error = Command::try_parse_from(words).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(said(&folder.path().join("nowhere.toml"), &[]).unwrap_err().contains("nowhere.toml"));
    // a network of a file has the agents that it has
    std::fs::write(folder.path().join("links.txt"), "0 1\n1 2\n2 0\n").unwrap();
    let given =
        file(folder.path(), 3, &RING.replace("kind = \"ring\"", "name = \"given\"\nfile = \"links.txt\""));
    let told = said(&given, &["--agents", "2", "--processes", "1,3", "--agent-time", "1us"]).unwrap();
    assert!(told.contains("not possible") && told.lines().count() == 5, "{told}");
}
