//! What this machine can do: how fast it copies, reads rows here and there, multiplies and adds.
//!
//! Every figure is the best of several tries, as a limit should be. Bytes are those that move between a core
//! and the level that holds the arrays. A copy moves three bytes for each one copied: the engine writes by
//! plain stores, which read a line before they own it (write-allocate), and so does the copy here. A C
//! library's `memcpy` may go round that.
#![allow(dead_code, unsafe_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::hint::black_box;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A try takes at least this long, so that starting threads counts for nothing.
const TRY: Duration = Duration::from_millis(10);
/// There are five tries, or three where five would take longer than this.
const ENOUGH: Duration = Duration::from_millis(300);

/// Bytes a second that a copy moves when both arrays together have `bytes` bytes.
pub fn copy(bytes: usize, threads: usize) -> f64 {
    let numbers = (bytes / 16 / threads).max(16);
    let parts = (0..threads).map(|_| (vec![1.0; numbers], vec![1.0; numbers])).collect();
    let seconds = best(parts, |(to, from): &mut (Vec<f64>, Vec<f64>)| scale(to, black_box(from)));
    (3 * 8 * numbers * threads) as f64 / seconds
}

/// `to = from / 2`: a loop that is only a copy would become a call of `memcpy`.
fn scale(to: &mut [f64], from: &[f64]) {
    widest(
        #[inline(always)]
        || to.iter_mut().zip(from).for_each(|(to, from)| *to = 0.5 * from),
    );
}

/// Rows to be read: those of `rows` that are `width` numbers wide and listed in `picks`.
#[derive(Debug, Clone, Copy)]
pub struct Picks<'a> {
    pub picks: &'a [u32],
    pub rows: &'a [f64],
    pub width: usize,
}

impl Picks<'_> {
    /// The part of thread `t`.
    fn share(self, t: usize, threads: usize) -> Self {
        let cut = |t: usize| self.picks.len() * t / threads;
        Self { picks: &self.picks[cut(t)..cut(t + 1)], ..self }
    }
}

/// Seconds to read all picked rows, and do nothing with them, each thread taking an equal share of each list.
///
/// The limit of mixing: the bits are only XORed. Asking for rows ahead helps where they lie far apart and
/// hinders where they do not; the better of the two counts.
pub fn gather(lists: &[Picks<'_>], threads: usize) -> f64 {
    let read_by = |read: fn(&Picks<'_>)| {
        best((0..threads).collect(), |&mut t| lists.iter().for_each(|list| read(&list.share(t, threads))))
    };
    let readers: &[fn(&Picks<'_>)] = match lists[0].width {
        10 => &[read::<10, 0>, read::<10, 16>, read::<10, 48>],
        123 => &[read::<123, 0>, read::<123, 4>, read::<123, 16>],
        width => panic!(
            "no loop here reads rows of {width} numbers: add one, its width must be known to the compiler"
        ),
    };
    readers.iter().map(|&read| read_by(read)).fold(f64::INFINITY, f64::min)
}

/// Rows of W numbers, prefetched AHEAD picks before they are used.
fn read<const W: usize, const AHEAD: usize>(list: &Picks<'_>) {
    let (picks, rows) = (list.picks, list.rows.as_chunks::<W>().0);
    widest(
        #[inline(always)]
        || {
            let mut seen = [[0_u64; 8]; 4];
            for (at, &pick) in picks.iter().enumerate() {
                if AHEAD > 0 {
                    prefetch(&rows[picks[(at + AHEAD).min(picks.len() - 1)] as usize]);
                }
                let row = &rows[pick as usize];
                for (i, block) in row.as_chunks().0.iter().enumerate() {
                    see(&mut seen[i % 4], block);
                }
                see(&mut seen[3], row.last_chunk().unwrap());
            }
            black_box(seen);
        },
    );
}

#[inline(always)]
fn see(seen: &mut [u64; 8], block: &[f64; 8]) {
    for (seen, x) in seen.iter_mut().zip(block) {
        *seen ^= x.to_bits();
    }
}

/// Asks for the first lines of a row; the processor goes on by itself where a row is long.
#[inline(always)]
fn prefetch(row: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    for line in row.chunks(8).take(4) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, and the address lies in the row
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}

/// Operations a second when a multiplication is followed by an addition, each rounded by itself. The bit
/// contract asks for this: a fused one would have other bits. This is the engine's peak.
pub fn unfused_peak(threads: usize) -> f64 {
    peak::<false>(threads)
}

/// The same with both in one instruction.
pub fn fused_peak(threads: usize) -> f64 {
    peak::<true>(threads)
}

fn peak<const FUSED: bool>(threads: usize) -> f64 {
    const CHAINS: usize = 16;
    const STEPS: usize = 10_000;
    let (a, b) = (black_box(0.999), black_box(0.001));
    let seconds = best(vec![(); threads], |_| {
        widest(
            #[inline(always)]
            || {
                let mut chains = black_box([[1.0_f64; 8]; CHAINS]);
                for _ in 0..STEPS {
                    for x in chains.as_flattened_mut() {
                        *x = if FUSED { x.mul_add(a, b) } else { *x * a + b };
                    }
                }
                black_box(chains);
            },
        );
    });
    (2 * 8 * CHAINS * STEPS * threads) as f64 / seconds
}

/// Seconds of one `sweep` over every part, a thread for each.
pub fn best<P: Send>(parts: Vec<P>, sweep: impl Fn(&mut P) + Sync) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(parts.len()).build().unwrap();
    let parts: Vec<Mutex<P>> = parts.into_iter().map(Mutex::new).collect();
    let sweeps = |times: u32| {
        let started = Instant::now();
        pool.broadcast(|thread| {
            let part = &mut *parts[thread.index()].lock().unwrap();
            (0..times).for_each(|_| sweep(black_box(part)));
        });
        started.elapsed()
    };
    sweeps(1); // touches the pages
    let mut times = 1;
    while sweeps(times) < TRY {
        times *= 2;
    }
    let started = Instant::now();
    let more = |&tries: &usize| tries < 3 || started.elapsed() < ENOUGH;
    let tries = (0..5).take_while(more).map(|_| sweeps(times).as_secs_f64() / f64::from(times));
    tries.fold(f64::INFINITY, f64::min)
}

/// Runs `work` as the engine runs its passes: compiled for the widest vectors that there are. The library
/// keeps its own `widest` to itself, and has no use for fused operations, whose peak is measured here.
#[inline(always)]
pub fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor has the features that `avx512` is compiled for
            return unsafe { avx512(work) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the same for `avx2`
            return unsafe { avx2(work) };
        }
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Random picks among `rows` rows, as the senders of a k-out graph are.
pub fn random_picks(rows: usize, count: usize) -> Vec<u32> {
    use oneway::numeric::sample::{Draws, Purpose};
    let mut draws = Draws::new(7, Purpose::Graph, 0, 0);
    (0..count).map(|_| draws.below(rows) as u32).collect()
}

const MIB: usize = 1 << 20;

/// A few lines about the machine, for the head of a table.
pub fn print() {
    let gigabytes = |bytes_per_second: f64| format!("{:7.1}", bytes_per_second / 1e9);
    println!("{:<52}{:>10}{:>11}", "this machine", "1 thread", "2 threads");
    let copies = [("256 KiB, L2", MIB / 4), ("8 MiB, L3", 8 * MIB), ("512 MiB, memory", 512 * MIB)];
    for (size, bytes) in copies {
        let [one, two] = [1, 2].map(|threads| gigabytes(copy(bytes * threads, threads)));
        println!("{:<52}{one:>10}{two:>11}", format!("copy, write-allocate counted, {size} (GB/s)"));
    }
    for (width, rows) in [(10, 1 << 20), (123, 1 << 19)] {
        let (table, picks) = (vec![1.0; rows * width], random_picks(rows, 1 << 20));
        let bytes = (picks.len() * width * 8) as f64;
        let list = [Picks { picks: &picks, rows: &table, width }];
        let [one, two] = [1, 2].map(|threads| gigabytes(bytes / gather(&list, threads)));
        let what =
            format!("random rows of {} bytes out of {} MB (GB/s)", 8 * width, rows * width * 8 / 1_000_000);
        println!("{what:<52}{one:>10}{two:>11}");
    }
    for (what, peak) in [
        ("multiply, then add: the engine's peak (Gflop/s)", unfused_peak as fn(usize) -> f64),
        ("fused multiply-add, which changes bits (Gflop/s)", fused_peak),
    ] {
        let [one, two] = [1, 2].map(|threads| gigabytes(peak(threads)));
        println!("{what:<52}{one:>10}{two:>11}");
    }
}
