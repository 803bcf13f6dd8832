//! Where the time of a round goes on a ring, beside a bare loop of the same messages, in one job:
//! `just bench-mpi`.
//!
//! Words: an experiment whose first cell is a method with a row of d numbers for each graph on a ring, then
//! settings as for `--set`. Four loops of as many rounds, three times:
//!
//! - *bare*: nothing but MPI, two rows to the next process and two from the one before, all under way at once
//!   (`MPI_Isend`, `MPI_Irecv`, `MPI_Waitall`);
//! - *messages*: what a round sends, by our links, without the round;
//! - *update*: a round without messages: the method's and the problem's own work;
//! - *round*: all of it, and the share of it that is spent with messages, waiting included, but not what is done
//!   meanwhile.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::Instant;

use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use oneway::engine::Part;
use oneway::engine::part::{Carrier, Moment, Slab};
use oneway_experiment::networked::Networked;
use oneway_mpi::blocks::block;
use oneway_mpi::links::Links;
use oneway_mpi::model::work::Silence;
use oneway_mpi::world::World;
use oneway_mpi::world::job::Job;

/// Rows of one length to the next process and from the one before, one for each graph.
struct Bare {
    world: SimpleCommunicator,
    rows: [Vec<f64>; 2],
    heard: [Vec<f64>; 2],
}

impl Bare {
    fn round(&mut self) {
        let (rank, size) = (self.world.rank(), self.world.size());
        let (to, from) = ((rank + 1) % size, (rank + size - 1) % size);
        let (to, from) = (self.world.process_at_rank(to), self.world.process_at_rank(from));
        mpi::request::multiple_scope(4, |scope, open| {
            for (kind, heard) in (0..).zip(&mut self.heard) {
                open.add(from.immediate_receive_into_with_tag(scope, &mut heard[..], kind));
            }
            for (kind, row) in (0..).zip(&self.rows) {
                open.add(to.immediate_send_with_tag(scope, &row[..], kind));
            }
            open.wait_all(&mut vec![]);
        });
    }
}

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let (file, overrides) = words.split_first().unwrap();
    let experiment = Networked::read(Path::new(file), overrides).unwrap();
    let cell = &experiment.cells()[0];
    let (setup, rounds) = (cell.setup(), cell.rounds());
    let job = Job::join().unwrap();
    let world = job.communicator();
    let (n, d) = (setup.problem.agents(), setup.problem.dim());
    let own = block(n, job.size(), job.rank());
    let mut part = Part::<f64>::new(setup, own.clone()).unwrap();
    let mut links = Links::new(&job, setup);
    let stride = d.next_multiple_of(8); // rows begin at lines of the cache, for us and for the bare loop
    let row = || vec![1.0; stride];
    let mut bare = Bare { world: world.duplicate(), rows: [row(), row()], heard: [row(), row()] };
    // where the rows of a part lie: all agents' places, of which own ones and the heard are touched
    let mut slabs = [vec![0.0; n * stride], vec![0.0; n * stride]];
    // pages that nobody has written are one page of zeros, which costs nothing to read
    slabs.iter_mut().for_each(|rows| rows[own.start * stride..own.end * stride].fill(1.0));
    let mut silence = Silence::around(own.clone());
    let rate = |work: &mut dyn FnMut()| {
        world.barrier();
        let began = Instant::now();
        (0..rounds).for_each(|_| work());
        world.barrier();
        rounds as f64 / began.elapsed().as_secs_f64()
    };
    for _ in 0..3 {
        let alone = rate(&mut || bare.round());
        let messages = rate(&mut || {
            let rows = slabs.each_mut().map(|numbers| Slab { numbers: &mut numbers[..], stride });
            links.carry(Moment { k: 0, phase: 0 }, rows, &mut |_| false).unwrap();
        });
        let update = rate(&mut || part.round(&mut silence).unwrap());
        let before = links.seconds();
        let began = Instant::now();
        let whole = rate(&mut || part.round(&mut links).unwrap());
        let [share] = job.max([(links.seconds() - before) / began.elapsed().as_secs_f64()]);
        if job.rank() == 0 {
            let possible = 1.0 / (1.0 / alone + 1.0 / update);
            println!(
                "{n} agents, {} processes, d = {d}: rounds/s: bare {alone:.0}; messages {messages:.0} ({:.2} of bare); \
                 update {update:.0}; round {whole:.0} ({:.2} of bare, {:.2} of bare and update one after the other), \
                 {:.0} % of it with messages",
                job.size(),
                messages / alone,
                whole / alone,
                whole / possible,
                100.0 * share,
            );
        }
    }
}
