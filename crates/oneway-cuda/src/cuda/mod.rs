//! An NVIDIA GPU, by its driver and its compiler of kernels, both found when they are asked for.

mod cache;
mod lent;

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{
    self, CUdevice_attribute_enum as Attribute, CUfunction_attribute_enum as FunctionAttribute,
    CUgraphInstantiate_flags_enum as Flags, CUstreamCaptureMode_enum as Capture,
};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaModule, CudaSlice, CudaStream, DriverError, result,
};
use cudarc::nvrtc::{self, CompileError, CompileOptions, Ptx};
use oneway::problem::{Lent, Memory};

use crate::device::{Buffer, Device, Launch, Program, Recording};
use crate::error::{Error, Result};
use cache::Cache;
use lent::CudaLent;

/// A GPU.
#[derive(Debug)]
pub struct Cuda {
    context: Arc<CudaContext>,
    name: String,
    architecture: String,
    threads: u64,
    shared: usize,
    cache: Option<Cache>,
    /// What was compiled in this process.
    modules: Mutex<HashMap<String, Arc<CudaModule>>>,
}

/// The first GPU of this machine. The error says what is missing: the driver, the compiler, or a GPU.
pub fn open() -> Result<Cuda> {
    let none = |what: &str| Err(Error::NoDevice(what.to_owned()));
    // SAFETY: loads the library if there is one, which is NVIDIA's driver by its name
    #[allow(unsafe_code)]
    let driver = unsafe { sys::is_culib_present() };
    if !driver {
        return none(
            "no CUDA here: NVIDIA's driver (libcuda) was not found; leave out `--device cuda`, or install it",
        );
    }
    if !has_compiler() {
        return none(
            "no CUDA here: NVIDIA's compiler of kernels (libnvrtc) was not found; it comes with the CUDA toolkit, \
             or by `pip install nvidia-cuda-nvrtc` with its folder in LD_LIBRARY_PATH",
        );
    }
    let unusable = |error: DriverError| {
        Error::NoDevice(match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                "the GPU has no memory left to begin with: another program holds it".to_owned()
            }
            _ => format!("no CUDA here: {}", words(error)),
        })
    };
    let context = CudaContext::new(0).map_err(unusable)?;
    // every program has a stream and memory of its own, and is used by one thread at a time
    // SAFETY: no buffer is used on two streams
    #[allow(unsafe_code)]
    unsafe {
        context.disable_event_tracking();
    }
    let (major, minor) = context.compute_capability().map_err(unusable)?;
    let attribute =
        |attribute| context.attribute(attribute).map(|value| value.max(1) as u64).map_err(unusable);
    let processors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let on_each = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?;
    let shared = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize;
    Ok(Cuda {
        shared,
        name: context.name().map_err(unusable)?,
        architecture: format!("compute_{major}{minor}"),
        threads: processors * on_each * 8,
        context,
        cache: Cache::in_home(),
        modules: Mutex::default(),
    })
}

/// A driver's error in words.
fn words(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    match (error.0, text) {
        (sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY, _) => {
            "the GPU has not enough memory for this run: fewer agents, fewer dimensions or `precision` = \"f32\" take less"
                .to_owned()
        }
        (code, Ok(text)) => format!("the GPU's driver says: {text} ({code:?})"),
        (code, Err(_)) => format!("the GPU's driver says {code:?}"),
    }
}

fn failed(error: DriverError) -> Error {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::NoMemory(words(error)),
        _ => Error::Failed(words(error)),
    }
}

impl Cuda {
    fn module(&self, source: &str) -> Result<Arc<CudaModule>> {
        let modules = || self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules().get(source) {
            return Ok(Arc::clone(module));
        }
        let key = Cache::key(source, &options(&self.architecture), compiler_version());
        let kept = self.cache.as_ref().and_then(|cache| cache.get(&key));
        let loaded = kept.and_then(|ptx| self.context.load_module(Ptx::from_src(ptx)).ok());
        let module = match loaded {
            Some(module) => module,
            None => {
                let ptx = compile(source, &self.architecture)?;
                if let Some(cache) = &self.cache {
                    cache.put(&key, &ptx);
                }
                self.context.load_module(Ptx::from_src(ptx)).map_err(failed)?
            }
        };
        modules().insert(source.to_owned(), Arc::clone(&module));
        Ok(module)
    }
}

/// Whether NVIDIA's compiler of kernels can be loaded. It needs no GPU.
pub fn has_compiler() -> bool {
    // SAFETY: loads the library if there is one, which is NVIDIA's compiler by its name
    #[allow(unsafe_code)]
    unsafe {
        nvrtc::sys::is_culib_present()
    }
}

/// The version of the compiler, which is there; (0, 0) if it does not say.
fn compiler_version() -> (i32, i32) {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: writes two numbers, whose places it is given
    #[allow(unsafe_code)]
    let said = unsafe { nvrtc::sys::nvrtcVersion(&mut major, &mut minor) };
    if said == nvrtc::sys::nvrtcResult::NVRTC_SUCCESS { (major, minor) } else { (0, 0) }
}

/// No contraction, and every operation as IEEE 754 has it: the CPU's bits.
fn options(architecture: &str) -> Vec<String> {
    let architecture = format!("--gpu-architecture={architecture}");
    let fixed = ["--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"];
    fixed.iter().map(ToString::to_string).chain([architecture]).collect()
}

/// From CUDA C to PTX for an architecture such as `compute_90`.
pub fn compile(source: &str, architecture: &str) -> Result<String> {
    if !has_compiler() {
        return Err(Error::NoDevice("libnvrtc was not found".to_owned())); // cudarc would panic
    }
    let options = options(architecture);
    let options = CompileOptions { options, name: Some("oneway.cu".to_owned()), ..CompileOptions::default() };
    let ptx = nvrtc::compile_ptx_with_opts(source, options).map_err(|error| match error {
        CompileError::CompileError { log, .. } => {
            let log: String = log.to_string_lossy().chars().take(2000).collect();
            Error::Failed(format!("a kernel was not compiled: {log}"))
        }
        other => Error::Failed(format!("a kernel was not compiled: {other}")),
    })?;
    Ok(ptx.to_src())
}

impl Device for Cuda {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn threads(&self) -> u64 {
        self.threads
    }

    fn shared(&self) -> usize {
        self.shared
    }

    fn memory(&self) -> Memory {
        Memory::Cuda(self.context.ordinal() as i32)
    }

    fn load(&self, source: &str) -> Result<Box<dyn Program>> {
        let module = self.module(source)?;
        let stream = self.context.new_stream().map_err(failed)?;
        Ok(Box::new(CudaProgram {
            stream,
            module,
            functions: HashMap::new(),
            memory: vec![],
            graphs: vec![],
            held: VecDeque::new(),
        }))
    }
}

/// Kernels on a GPU, on a stream of their own.
#[derive(Debug)]
struct CudaProgram {
    // in this order: what was begun is done before its memory is given back
    graphs: Vec<Graph>,
    held: VecDeque<(CudaEvent, Box<dyn Any + Send>)>,
    memory: Vec<CudaSlice<u8>>,
    functions: HashMap<&'static str, CudaFunction>,
    module: Arc<CudaModule>,
    stream: Arc<CudaStream>,
}

/// Launches that the driver keeps.
struct Graph(CudaGraph);

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Graph")
    }
}

// SAFETY: a graph is launched by whoever has its program, one thread at a time, with the context bound to it
#[allow(unsafe_code)]
unsafe impl Send for Graph {}

impl Program for CudaProgram {
    fn allocate(&mut self, bytes: usize) -> Result<Buffer> {
        self.memory.push(self.stream.alloc_zeros::<u8>(bytes.max(8)).map_err(failed)?);
        Ok(Buffer(self.memory.len() - 1))
    }

    fn address(&self, buffer: Buffer) -> u64 {
        use cudarc::driver::DevicePtr;
        self.memory[buffer.0].device_ptr(&self.stream).0
    }

    fn write_at(&mut self, buffer: Buffer, from: usize, bytes: &[u8]) -> Result<()> {
        let mut place = self.memory[buffer.0].slice_mut(from..from + bytes.len());
        self.stream.memcpy_htod(bytes, &mut place).map_err(failed)
    }

    fn read_at(&mut self, buffer: Buffer, from: usize, bytes: &mut [u8]) -> Result<()> {
        let place = self.memory[buffer.0].slice(from..from + bytes.len());
        self.stream.memcpy_dtoh(&place, bytes).map_err(failed)?;
        self.stream.synchronize().map_err(failed)
    }

    #[allow(unsafe_code)]
    fn launch(&mut self, launch: &Launch) -> Result<()> {
        let function = match self.functions.get(launch.kernel) {
            Some(function) => function,
            None => {
                let function = self.module.load_function(launch.kernel).map_err(failed)?;
                if launch.shared > 0 {
                    // more than a kernel gets unasked; the launches of a program all want the same
                    let most = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                    function.set_attribute(most, launch.shared as i32).map_err(failed)?;
                }
                self.functions.entry(launch.kernel).or_insert(function)
            }
        };
        let mut arguments = [
            launch.run.as_ptr() as *mut c_void,
            launch.problem.as_ptr() as *mut c_void,
            launch.turn.as_ptr() as *mut c_void,
        ];
        self.stream.context().bind_to_thread().map_err(failed)?;
        // SAFETY: every kernel takes these three structures by value, of as many words as are handed over:
        // the same text on a host compares them (`kernels/host_launch.cu`); their pointers are into
        // `self.memory`, which lives as long as the stream has work
        unsafe {
            result::launch_kernel(
                function.cu_function(),
                (launch.blocks, 1, 1),
                (launch.threads, 1, 1),
                launch.shared,
                self.stream.cu_stream(),
                &mut arguments,
            )
        }
        .map_err(failed)
    }

    fn record(&mut self, launches: &[Launch]) -> Result<Recording> {
        self.stream.synchronize().map_err(failed)?;
        self.stream.begin_capture(Capture::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).map_err(failed)?;
        let begun = launches.iter().try_for_each(|launch| self.launch(launch));
        let graph =
            self.stream.end_capture(Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH).map_err(failed);
        begun?;
        let graph = graph?.ok_or_else(|| Error::Failed("the GPU's driver recorded nothing".to_owned()))?;
        self.graphs.push(Graph(graph));
        Ok(Recording(self.graphs.len() - 1))
    }

    fn replay(&mut self, recording: Recording) -> Result<()> {
        self.graphs[recording.0].0.launch().map_err(failed)
    }

    fn allocate_lent(&mut self, bytes: usize) -> Result<(u64, Arc<dyn Lent>)> {
        let lent = CudaLent::new(&self.stream, bytes).map_err(failed)?;
        Ok((lent.address(), Arc::new(lent)))
    }

    fn stream(&self) -> Option<u64> {
        Some(self.stream.cu_stream() as u64)
    }

    fn hold(&mut self, kept: Box<dyn Any + Send>) -> Result<()> {
        /// Nobody runs further ahead than this: memory of so many gradients waits at most.
        const MOST: usize = 2;
        let begun = self.stream.record_event(None).map_err(failed)?;
        self.held.push_back((begun, kept));
        while let Some((begun, _)) = self.held.front() {
            if self.held.len() > MOST {
                begun.synchronize().map_err(failed)?;
            } else if !begun.is_complete() {
                break;
            }
            self.held.pop_front();
        }
        Ok(())
    }
}

impl Drop for CudaProgram {
    fn drop(&mut self) {
        let _ = self.stream.synchronize(); // if the device is lost there is nothing to wait for
    }
}
