//! DLPack: memory of one library as an array of another, without a copy. <https://dmlc.github.io/dlpack/latest>
//!
//! The structures stand here, with a check of every field before it is believed. The crate dlpark has such structures too;
//! whether it could take their place was not tried.

use std::ffi::{CStr, c_void};
use std::sync::Arc;

use oneway::numeric::Precision;
use oneway::problem::{Lent, Memory};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use pyo3::{ffi, intern};

/// Names of capsules: with a version in front and without, and each once its tensor is somebody else's.
const VERSIONED: [&CStr; 2] = [c"dltensor_versioned", c"used_dltensor_versioned"];
const PLAIN: [&CStr; 2] = [c"dltensor", c"used_dltensor"];

/// The version that is spoken here.
const VERSION: (u32, u32) = (1, 0);

const FLOAT: u8 = 2;
const READ_ONLY: u64 = 1;

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Plain {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Plain)>,
}

#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

fn device_of(memory: Memory) -> Device {
    match memory {
        Memory::Host => Device { kind: 1, id: 0 },
        Memory::Cuda(id) => Device { kind: 2, id },
    }
}

fn dtype_of(precision: Precision) -> DataType {
    DataType { code: FLOAT, bits: 8 * precision.bytes() as u8, lanes: 1 }
}

/// A device in words.
fn named(Device { kind, id }: Device) -> String {
    match kind {
        1 => "the CPU".to_owned(),
        2 => format!("cuda:{id}"),
        _ => format!("device {id} of DLPack's kind {kind}"),
    }
}

/// An array of (m, d) numbers, row by row, in memory of a device.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) memory: Memory,
    pub(crate) precision: Precision,
    pub(crate) shape: [usize; 2],
}

impl Layout {
    /// What the protocol calls the device.
    pub(crate) fn device(&self) -> (i32, i32) {
        let Device { kind, id } = device_of(self.memory);
        (kind, id)
    }

    /// What NumPy calls the numbers.
    pub(crate) fn dtype(&self) -> &'static str {
        match self.precision {
            Precision::F64 => "float64",
            Precision::F32 => "float32",
        }
    }

    fn numbers(&self) -> [i64; 2] {
        self.shape.map(|count| count as i64)
    }
}

/// What an exported tensor needs for as long as it is there.
struct Exported {
    shape: [i64; 2],
    strides: [i64; 2],
    _lent: Arc<dyn Lent>,
}

/// A capsule of an array at an address of lent memory, which it keeps; nobody who asks is to write to it.
#[allow(unsafe_code)]
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    layout: &Layout,
    address: u64,
    lent: &Arc<dyn Lent>,
    versioned: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = layout.numbers();
    let exported = Exported { shape, strides: [shape[1], 1], _lent: Arc::clone(lent) };
    let exported = Box::into_raw(Box::new(exported));
    // SAFETY: it was made just now, and is given back by a deleter only
    let (shape, strides) = unsafe { (&raw mut (*exported).shape, &raw mut (*exported).strides) };
    let tensor = Tensor {
        data: address as *mut c_void,
        device: device_of(layout.memory),
        ndim: 2,
        dtype: dtype_of(layout.precision),
        shape: shape.cast(),
        strides: strides.cast(),
        byte_offset: 0,
    };
    let context = exported.cast();
    let (pointer, name, destructor): (*mut c_void, _, ffi::PyCapsule_Destructor) = if versioned {
        let version = [VERSION.0, VERSION.1];
        let deleter = Some(delete_versioned as _);
        let made = Versioned { version, context, deleter, flags: READ_ONLY, tensor };
        (Box::into_raw(Box::new(made)).cast(), VERSIONED[0], destroy_versioned)
    } else {
        let made = Plain { tensor, context, deleter: Some(delete_plain) };
        (Box::into_raw(Box::new(made)).cast(), PLAIN[0], destroy_plain)
    };
    // SAFETY: the pointer is not null, the name lives for ever, and Python is held
    unsafe {
        let made = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destructor));
        Bound::from_owned_ptr_or_err(py, made) // without memory for a capsule, its few bytes are lost too
    }
}

// What was exported is given back: called once, by whoever has taken it, or else by its capsule.
#[allow(unsafe_code)]
unsafe extern "C" fn delete_plain(made: *mut Plain) {
    // SAFETY: both were boxed by `capsule`
    unsafe {
        let made = Box::from_raw(made);
        drop(Box::from_raw(made.context.cast::<Exported>()));
    }
}

#[allow(unsafe_code)]
unsafe extern "C" fn delete_versioned(made: *mut Versioned) {
    // SAFETY: both were boxed by `capsule`
    unsafe {
        let made = Box::from_raw(made);
        drop(Box::from_raw(made.context.cast::<Exported>()));
    }
}

// A capsule that nobody has taken has its first name still.
#[allow(unsafe_code)]
unsafe extern "C" fn destroy_plain(capsule: *mut ffi::PyObject) {
    // SAFETY: Python gives the capsule, and the name says what is in it
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN[0].as_ptr()) == 1 {
            delete_plain(ffi::PyCapsule_GetPointer(capsule, PLAIN[0].as_ptr()).cast());
        }
    }
}

#[allow(unsafe_code)]
unsafe extern "C" fn destroy_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: Python gives the capsule, and the name says what is in it
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED[0].as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED[0].as_ptr()).cast());
        }
    }
}

/// A tensor that was somebody else's; it is given back when this is dropped.
enum Taken {
    Plain(*mut Plain),
    Versioned(*mut Versioned),
}

// SAFETY: it is given back on any thread, with Python held
#[allow(unsafe_code)]
unsafe impl Send for Taken {}

impl Drop for Taken {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // a deleter may need Python; where that has ended, memory is given back with the process
        let _ = Python::try_attach(|_| {
            // SAFETY: it was taken from a capsule, whose maker says how it is given back, and is not used again
            unsafe {
                match *self {
                    Taken::Plain(made) => (*made).deleter.into_iter().for_each(|delete| delete(made)),
                    Taken::Versioned(made) => (*made).deleter.into_iter().for_each(|delete| delete(made)),
                }
            }
        });
    }
}

impl Taken {
    /// Takes a tensor out of its capsule.
    #[allow(unsafe_code)]
    fn from(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        let strange = || PyTypeError::new_err("gradient: __dlpack__ has returned no capsule with a tensor");
        let capsule = capsule.cast::<PyCapsule>().map_err(|_| strange())?.as_ptr();
        let renamed = |[name, taken]: [&CStr; 2]| {
            // SAFETY: it is a capsule, and who renames it owns its tensor
            unsafe {
                if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) != 1 {
                    return None;
                }
                let tensor = ffi::PyCapsule_GetPointer(capsule, name.as_ptr());
                (ffi::PyCapsule_SetName(capsule, taken.as_ptr()) == 0).then_some(tensor)
            }
        };
        let versioned = renamed(VERSIONED).map(|tensor| Taken::Versioned(tensor.cast()));
        versioned.or_else(|| renamed(PLAIN).map(|tensor| Taken::Plain(tensor.cast()))).ok_or_else(strange)
    }

    #[allow(unsafe_code)]
    fn tensor(&self) -> PyResult<&Tensor> {
        // SAFETY: it is there until it is given back; after another major version other fields may follow
        unsafe {
            match *self {
                Taken::Plain(made) => Ok(&(*made).tensor),
                Taken::Versioned(made) if (*made).version[0] == VERSION.0 => Ok(&(*made).tensor),
                Taken::Versioned(made) => {
                    let [major, minor] = (*made).version;
                    Err(PyBufferError::new_err(format!("gradient: DLPack {major}.{minor} is not known here")))
                }
            }
        }
    }
}

/// Takes the array that a gradient function has returned, where it lies: its address, and what keeps it. Whatever
/// makes it is put in order before `stream`.
pub(crate) fn taken(
    given: &Bound<'_, PyAny>,
    asked: &Layout,
    stream: Option<u64>,
) -> PyResult<(u64, Box<dyn std::any::Any + Send>)> {
    let py = given.py();
    let shape = asked.shape;
    if !given.hasattr(intern!(py, "__dlpack__"))? || !given.hasattr(intern!(py, "__dlpack_device__"))? {
        let what = given.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "gradient has returned a {what}: an array of shape ({}, {}) that has __dlpack__ is asked for",
            shape[0], shape[1]
        )));
    }
    let device = given.call_method0(intern!(py, "__dlpack_device__"))?;
    let (kind, id) = device.extract::<(i32, i32)>().map_err(|_| {
        PyTypeError::new_err("gradient: __dlpack_device__ has returned what is no pair of numbers")
    })?;
    on_device(Device { kind, id }, asked)?;
    let words = PyDict::new(py);
    words.set_item("stream", stream)?;
    words.set_item("max_version", VERSION)?;
    let capsule = match given.call_method(intern!(py, "__dlpack__"), (), Some(&words)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            words.del_item("max_version")?; // older libraries do not know it
            given.call_method(intern!(py, "__dlpack__"), (), Some(&words))?
        }
        other => other?,
    };
    let taken = Taken::from(&capsule)?;
    let address = checked(taken.tensor()?, asked)?;
    Ok((address, Box::new(taken)))
}

fn on_device(found: Device, asked: &Layout) -> PyResult<()> {
    let wanted = device_of(asked.memory);
    if found == wanted {
        return Ok(());
    }
    let (found, wanted) = (named(found), named(wanted));
    Err(PyValueError::new_err(format!("gradient has returned an array on {found}: x is on {wanted}")))
}

/// The address of the first number of a tensor, if it is what was asked for: nothing that it says is believed.
#[allow(unsafe_code)]
fn checked(tensor: &Tensor, asked: &Layout) -> PyResult<u64> {
    let refused = |found: String, wanted: &str| {
        Err(PyValueError::new_err(format!("gradient has returned {found}, and {wanted} is asked for")))
    };
    on_device(tensor.device, asked)?;
    if tensor.dtype != dtype_of(asked.precision) {
        let DataType { code, bits, lanes } = tensor.dtype;
        let found = match code {
            FLOAT if lanes == 1 => format!("numbers of type float{bits}"),
            _ => format!("numbers of DLPack's type {code} with {bits} bits"),
        };
        return refused(found, asked.dtype());
    }
    let [n, d] = asked.numbers();
    let wanted = format!("shape ({n}, {d})");
    if tensor.ndim != 2 || tensor.shape.is_null() {
        return refused(format!("an array of {} dimensions", tensor.ndim), &wanted);
    }
    // SAFETY: there are as many as dimensions
    let shape = unsafe { [*tensor.shape, *tensor.shape.add(1)] };
    if shape != [n, d] {
        return refused(format!("shape ({}, {})", shape[0], shape[1]), &wanted);
    }
    if !tensor.strides.is_null() {
        // SAFETY: there are as many as dimensions
        let strides = unsafe { [*tensor.strides, *tensor.strides.add(1)] };
        let in_order = (n == 1 || strides[0] == d) && (d == 1 || strides[1] == 1);
        if !in_order {
            let found = format!("an array that is not contiguous (strides {}, {})", strides[0], strides[1]);
            return refused(found, "one row after another");
        }
    }
    let bytes = asked.precision.bytes() as u64;
    let address = (tensor.data as u64).checked_add(tensor.byte_offset);
    match address.filter(|address| *address != 0 && address.is_multiple_of(bytes)) {
        Some(address) => Ok(address),
        None => refused("an array at no address, or one that cuts numbers".to_owned(), "one in memory"),
    }
}
