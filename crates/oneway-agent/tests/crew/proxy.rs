//! A link that can be cut or slowed down: it forwards bytes both ways between a port of its own and an
//! address.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use oneway::numeric::sample::{Draws, Purpose};

pub struct Proxy {
    /// Where it listens.
    pub address: String,
    mood: Arc<Mood>,
}

#[derive(Default)]
struct Mood {
    cut: AtomicBool,
    /// The longest delay, in microseconds.
    delay: AtomicU64,
}

impl Proxy {
    pub fn to(to: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mood = Arc::new(Mood::default());
        let shared = Arc::clone(&mood);
        std::thread::spawn(move || {
            for (number, from) in (0..).zip(listener.incoming().flatten()) {
                let Ok(other) = TcpStream::connect(&to) else { continue };
                let (back, forth) = (from.try_clone().unwrap(), other.try_clone().unwrap());
                let [a, b] =
                    [0, 1].map(|way| (Arc::clone(&shared), Draws::new(9, Purpose::Problem, number, way)));
                std::thread::spawn(move || pump(from, other, &a.0, a.1));
                std::thread::spawn(move || pump(forth, back, &b.0, b.1));
            }
        });
        Self { address, mood }
    }

    /// Nothing passes while it is cut; nothing is lost either.
    pub fn cut(&self, cut: bool) {
        self.mood.cut.store(cut, Ordering::Relaxed);
    }

    /// From now on bytes pass in pieces of any length, each after a pause of any length up to this.
    pub fn delay(&self, at_most: Duration) {
        self.mood.delay.store(at_most.as_micros() as u64, Ordering::Relaxed);
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, mood: &Mood, mut draws: Draws) {
    to.set_nodelay(true).unwrap();
    let mut buffer = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let mut bytes = &buffer[..read];
        while !bytes.is_empty() {
            while mood.cut.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(10));
            }
            let piece = match mood.delay.load(Ordering::Relaxed) {
                0 => bytes.len(),
                delay => {
                    std::thread::sleep(Duration::from_micros(draws.bits() % delay));
                    1 + draws.below(bytes.len())
                }
            };
            if to.write_all(&bytes[..piece]).is_err() {
                let _ = from.shutdown(Shutdown::Both);
                return;
            }
            bytes = &bytes[piece..];
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
