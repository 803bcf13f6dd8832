//! Memory of a GPU that other programs see.

use std::sync::Arc;

use cudarc::driver::sys::CUevent_wait_flags_enum::CU_EVENT_WAIT_DEFAULT;
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DevicePtr, DriverError, result};
use oneway::problem::{Lent, Memory};

use super::failed;

/// Memory of a program's stream. It outlives the program where others hold it.
#[derive(Debug)]
pub(super) struct CudaLent {
    memory: CudaSlice<u8>,
    begun: CudaEvent,
    stream: Arc<CudaStream>,
}

impl CudaLent {
    pub(super) fn new(stream: &Arc<CudaStream>, bytes: usize) -> Result<Self, DriverError> {
        let memory = stream.alloc_zeros::<u8>(bytes.max(8))?;
        Ok(Self { memory, begun: stream.context().new_event(None)?, stream: Arc::clone(stream) })
    }

    pub(super) fn address(&self) -> u64 {
        self.memory.device_ptr(&self.stream).0
    }
}

impl Lent for CudaLent {
    fn memory(&self) -> Memory {
        Memory::Cuda(self.stream.context().ordinal() as i32)
    }

    #[allow(unsafe_code)]
    fn order_before(&self, stream: u64) -> oneway::Result<()> {
        let begun = self.begun.record(&self.stream); // which binds the context to this thread
        // SAFETY: the event is our own, and the stream the driver's handle of one that its owner has just named, as
        // DLPack has it
        let ordered = begun.and_then(|()| unsafe {
            result::stream::wait_event(stream as *mut _, self.begun.cu_event(), CU_EVENT_WAIT_DEFAULT)
        });
        Ok(ordered.map_err(failed)?)
    }
}

impl Drop for CudaLent {
    fn drop(&mut self) {
        let _ = self.stream.context().synchronize(); // streams that we do not know may still read
    }
}
