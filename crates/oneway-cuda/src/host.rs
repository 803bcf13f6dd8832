//! A host in place of a device: the same text, compiled by a C++ compiler, block by block. For tests of
//! kernels' bits where there is no GPU; it is slow.

use std::any::Any;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;
use oneway::problem::{Lent, Memory};

use crate::device::{Buffer, Device, Launch, Program, Recording};
use crate::error::{Error, Result};

const BEFORE: &str = include_str!("../kernels/host.h");
const BEHIND: &str = include_str!("../kernels/host_launch.cu");

/// A host with a C++ compiler.
#[derive(Debug)]
pub struct Host {
    compiler: PathBuf,
    /// Threads of each block.
    threads: u32,
    folder: tempfile::TempDir,
    compiled: Mutex<HashMap<String, Arc<Compiled>>>,
}

/// Kernels. What a block's threads share is there once, so that one launch is made at a time.
#[derive(Debug)]
struct Compiled {
    library: Library,
    busy: Mutex<()>,
}

impl Host {
    /// A host whose compiler is called `c++`, or what `CXX` says, with `threads` real threads for a block. One
    /// does all of a block's work by itself.
    pub fn new(threads: u32) -> Result<Self> {
        let compiler = std::env::var_os("CXX").map_or_else(|| "c++".into(), PathBuf::from);
        let found = Command::new(&compiler).arg("--version").output();
        if !found.is_ok_and(|found| found.status.success()) {
            return Err(Error::NoDevice(format!("there is no C++ compiler `{}` here", compiler.display())));
        }
        let folder = tempfile::tempdir().map_err(|error| Error::Failed(error.to_string()))?;
        Ok(Self { compiler, threads, folder, compiled: Mutex::default() })
    }

    fn library(&self, source: &str) -> Result<Arc<Compiled>> {
        let known = self.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(source).cloned();
        if let Some(library) = known {
            return Ok(library);
        }
        let failed = |error: String| Error::Failed(format!("{}: {error}", self.compiler.display()));
        let folder = tempfile::tempdir_in(self.folder.path()).map_err(|error| failed(error.to_string()))?;
        let [text, made] = ["kernels.cpp", "kernels.so"].map(|name| folder.path().join(name));
        let whole = [BEFORE, source, BEHIND].join("\n");
        std::fs::write(&text, whole).map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(&self.compiler);
        command.args(["-std=c++17", "-O0", "-ffp-contract=off", "-fPIC", "-shared", "-w", "-o"]);
        let done = command.arg(&made).arg(&text).output().map_err(|error| failed(error.to_string()))?;
        if !done.status.success() {
            return Err(failed(String::from_utf8_lossy(&done.stderr).chars().take(2000).collect()));
        }
        // SAFETY: it was made just now of our own text, which does nothing when it is loaded
        #[allow(unsafe_code)]
        let library = unsafe { Library::new(&made) }.map_err(|error| failed(error.to_string()))?;
        let library = Arc::new(Compiled { library, busy: Mutex::default() });
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        compiled.insert(source.to_owned(), Arc::clone(&library));
        Ok(library)
    }
}

impl Device for Host {
    fn name(&self) -> String {
        format!("this host, by {}", self.compiler.display())
    }

    fn threads(&self) -> u64 {
        256 // two blocks, so that strides over blocks are taken
    }

    fn shared(&self) -> usize {
        1 << 18 // as `kernels/cell.cu` has it for a host
    }

    fn memory(&self) -> Memory {
        Memory::Host
    }

    fn load(&self, source: &str) -> Result<Box<dyn Program>> {
        let library = self.library(source)?;
        Ok(Box::new(HostProgram { library, threads: self.threads, memory: vec![], recordings: vec![] }))
    }
}

/// Memory that kernels write to by its address while others read it.
struct HostLent(Vec<AtomicU64>);

impl std::fmt::Debug for HostLent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostLent of {} words", self.0.len())
    }
}

impl Lent for HostLent {
    fn memory(&self) -> Memory {
        Memory::Host
    }

    fn order_before(&self, _stream: u64) -> oneway::Result<()> {
        Ok(()) // what was begun is done
    }
}

/// Kernels on the host.
struct HostProgram {
    library: Arc<Compiled>,
    threads: u32,
    /// In words, so that every number is aligned.
    memory: Vec<Vec<u64>>,
    recordings: Vec<Vec<Launch>>,
}

impl std::fmt::Debug for HostProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostProgram with {} buffers", self.memory.len())
    }
}

type Words = *const u64;
type Kernel = unsafe extern "C" fn();
type OnHost = unsafe extern "C" fn(Kernel, Words, Words, Words, u32, u32, u32);

impl Program for HostProgram {
    fn allocate(&mut self, bytes: usize) -> Result<Buffer> {
        self.memory.push(vec![0; bytes.div_ceil(8)]);
        Ok(Buffer(self.memory.len() - 1))
    }

    fn address(&self, buffer: Buffer) -> u64 {
        self.memory[buffer.0].as_ptr() as u64
    }

    fn write_at(&mut self, buffer: Buffer, from: usize, bytes: &[u8]) -> Result<()> {
        bytemuck::cast_slice_mut(&mut self.memory[buffer.0])[from..from + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read_at(&mut self, buffer: Buffer, from: usize, bytes: &mut [u8]) -> Result<()> {
        let all = bytemuck::cast_slice(&self.memory[buffer.0]);
        bytes.copy_from_slice(&all[from..from + bytes.len()]);
        Ok(())
    }

    /// Refused where the words handed over are not as many as the text's structures have.
    #[allow(unsafe_code)]
    fn launch(&mut self, launch: &Launch) -> Result<()> {
        let missing = |error: libloading::Error| Error::Failed(error.to_string());
        let mut sizes = [0u64; 3];
        let _alone = self.library.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let library = &self.library.library;
        // SAFETY: these are the functions of `kernels/host_launch.cu` and of `kernels/wide.cu`, with these
        // arguments; the sizes of the structures are compared before they are read
        unsafe {
            let of = library.get::<unsafe extern "C" fn(*mut u64)>(b"oneway_sizes\0").map_err(missing)?;
            of(sizes.as_mut_ptr());
            let given =
                [launch.run.len(), launch.problem.len(), launch.turn.len()].map(|words| 8 * words as u64);
            if given != sizes {
                return Err(Error::Failed(format!("kernels take {sizes:?} bytes and were handed {given:?}")));
            }
            let kernel = *library.get::<Kernel>(launch.kernel.as_bytes()).map_err(missing)?;
            let run = *library.get::<OnHost>(b"oneway_on_host\0").map_err(missing)?;
            let (threads, launch) = (self.threads, launch);
            let one = move |thread: u32| {
                let Launch { run: words, problem, turn, blocks, .. } = launch;
                run(kernel, words.as_ptr(), problem.as_ptr(), turn.as_ptr(), *blocks, threads, thread);
            };
            std::thread::scope(|scope| {
                (1..threads).for_each(|thread| drop(scope.spawn(move || one(thread))));
                one(0);
            });
        }
        Ok(())
    }

    fn record(&mut self, launches: &[Launch]) -> Result<Recording> {
        self.recordings.push(launches.to_vec());
        Ok(Recording(self.recordings.len() - 1))
    }

    fn replay(&mut self, recording: Recording) -> Result<()> {
        let launches = std::mem::take(&mut self.recordings[recording.0]);
        let done = launches.iter().try_for_each(|launch| self.launch(launch));
        self.recordings[recording.0] = launches;
        done
    }

    fn allocate_lent(&mut self, bytes: usize) -> Result<(u64, Arc<dyn Lent>)> {
        let lent = HostLent((0..bytes.div_ceil(8)).map(|_| AtomicU64::new(0)).collect());
        Ok((lent.0.as_ptr() as u64, Arc::new(lent)))
    }

    fn hold(&mut self, _kept: Box<dyn Any + Send>) -> Result<()> {
        Ok(()) // what was begun is done
    }
}
