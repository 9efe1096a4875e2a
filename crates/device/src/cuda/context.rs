//! One GPU and its primary context.
//!
//! A context is current on the thread that opened it and used on no other. Once it is lost (a sticky
//! error, or kernels that do not end) nothing is asked of the driver any more, not even to free: such a
//! call could wait for a kernel that never ends. The process is to be ended then.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::rc::Rc;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUlimit, CUresult};
use domain::TargetLimits;

use super::driver::{self, DriverError, Version, cu};
use super::{fault, files, names};
use crate::{DeviceError, GpuInfo};

/// What kernels may print between two waits before the rest is lost.
const PRINT_BYTES: usize = 1 << 20;

/// Every GPU that the driver lets this process use. Initialises the driver but makes no context.
pub(crate) fn list_gpus() -> Result<Vec<GpuInfo>, DeviceError> {
    list().map_err(|error| DeviceError::Internal(error.to_string()))
}

fn list() -> Result<Vec<GpuInfo>, DriverError> {
    driver::load()?;
    let mut count = 0;
    // SAFETY: the driver is loaded, and the pointer is valid.
    unsafe { cu!(cuDeviceGetCount(&raw mut count)) }?;
    (0..u32::try_from(count).unwrap_or(0))
        .map(|ordinal| {
            let gpu = describe(ordinal, device(ordinal)?)?;
            Ok(GpuInfo {
                minor: files::minor(&gpu.uuid),
                ..gpu
            })
        })
        .collect()
}

fn device(ordinal: u32) -> Result<sys::CUdevice, DriverError> {
    let mut device = 0;
    let ordinal = i32::try_from(ordinal).unwrap_or(i32::MAX);
    // SAFETY: the driver is loaded, and the pointer is valid.
    unsafe { cu!(cuDeviceGet(&raw mut device, ordinal)) }?;
    Ok(device)
}

fn describe(ordinal: u32, device: sys::CUdevice) -> Result<GpuInfo, DriverError> {
    let mut name: [c_char; 256] = [0; 256];
    let mut uuid = sys::CUuuid { bytes: [0; 16] };
    let mut memory_bytes = 0;
    // SAFETY: the driver is loaded, the device is one it named, and each pointer is valid for what the
    // call writes; the name is written with its terminating zero.
    let name = unsafe {
        cu!(cuDeviceGetName(name.as_mut_ptr(), 256, device))?;
        cu!(cuDeviceGetUuid_v2(&raw mut uuid, device))?;
        cu!(cuDeviceTotalMem_v2(&raw mut memory_bytes, device))?;
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
    };
    Ok(GpuInfo {
        ordinal,
        device: names::device_name(&name),
        name,
        uuid: names::uuid_text(uuid.bytes.map(|byte| byte as u8)),
        memory_bytes: memory_bytes as u64,
        minor: None,
    })
}

/// A primary context, current on the thread that opened it.
pub(super) struct Context {
    device: sys::CUdevice,
    version: Version,
    gpu: GpuInfo,
    is_lost: Cell<bool>,
    may_trap: Cell<bool>,
}

impl Context {
    pub(super) fn open(ordinal: u32) -> Result<Rc<Self>, DriverError> {
        let version = driver::load()?;
        let device = device(ordinal)?;
        let gpu = describe(ordinal, device)?;
        let mut context = std::ptr::null_mut();
        let spin = sys::CUctx_flags::CU_CTX_SCHED_SPIN as u32;
        // SAFETY: the driver is loaded and the device is one it named; the context is retained until
        // `drop`, and becomes current on this thread alone (`Rc` keeps the value on it).
        unsafe {
            cu!(cuDevicePrimaryCtxSetFlags_v2(device, spin))?;
            cu!(cuDevicePrimaryCtxRetain(&raw mut context, device))?;
        }
        let opened = Rc::new(Self {
            device,
            version,
            gpu,
            is_lost: Cell::new(false),
            may_trap: Cell::new(false),
        });
        // SAFETY: as above; from here on `drop` releases the context if a call fails.
        unsafe {
            cu!(cuCtxSetCurrent(context))?;
            cu!(cuCtxSetLimit(
                CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE,
                PRINT_BYTES
            ))?;
        }
        Ok(opened)
    }

    pub(super) fn gpu(&self) -> &GpuInfo {
        &self.gpu
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.get()
    }

    /// Declares that the driver must not be asked for anything any more.
    pub(super) fn lose(&self) {
        self.is_lost.set(true);
    }

    /// Whether what is put on the device next may trap: a fault does not say which module's kernel it was.
    pub(super) fn note_trap(&self, may_trap: bool) {
        self.may_trap.set(may_trap);
    }

    /// Refuses work on a lost context.
    pub(super) fn alive(&self) -> Result<(), DeviceError> {
        if self.is_lost() {
            return Err(DeviceError::Internal("the device was lost".to_owned()));
        }
        Ok(())
    }

    /// The outcome of a call, told as what it means to a judging; a sticky error loses the context.
    pub(super) fn told<T>(&self, outcome: Result<T, DriverError>) -> Result<T, DeviceError> {
        outcome.map_err(|error| {
            if let DriverError::Call { code, .. } = error
                && fault::is_sticky(code)
            {
                self.lose();
            }
            fault::device_error(&error, self.may_trap.get())
        })
    }

    /// Whether kernels can follow any pointer of this process.
    pub(super) fn reaches_host_memory(&self) -> bool {
        let pageable = Attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
        // What cannot be ruled out counts.
        self.attribute(pageable) != Ok(0)
    }

    /// Free device memory.
    pub(super) fn free_bytes(&self) -> Result<u64, DriverError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the context is current, and both pointers are valid.
        unsafe { cu!(cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
        Ok(free as u64)
    }

    /// What launches may ask for, from the device's own attributes.
    pub(super) fn limits(&self) -> Result<TargetLimits, DriverError> {
        use Attribute as A;
        let get = |attribute| self.attribute(attribute);
        let (major, minor) = (
            get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            get(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        Ok(TargetLimits {
            arch: names::architecture(major, minor),
            name: self.gpu.name.clone(),
            compute_major: major,
            compute_minor: minor,
            multiprocessors: get(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            max_threads_per_block: get(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            max_threads_per_multiprocessor: get(
                A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
            )?,
            max_blocks_per_multiprocessor: get(
                A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
            )?,
            max_block: [
                get(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                get(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                get(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            max_grid: [
                get(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                get(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                get(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            shared_memory_per_block_bytes: get(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_memory_per_block_optin_bytes: get(
                A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            shared_memory_per_multiprocessor_bytes: get(
                A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            )?,
            registers_per_multiprocessor: get(
                A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
            )?,
            global_memory_bytes: self.gpu.memory_bytes,
            l2_bytes: u64::from(get(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
            constant_memory_bytes: u64::from(get(A::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY)?),
            warp_size: get(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            clock_hz: u64::from(get(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?) * 1000,
            memory_bus_bits: get(A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
        })
    }

    fn attribute(&self, attribute: Attribute) -> Result<u32, DriverError> {
        let mut value = 0;
        // SAFETY: the driver is loaded, the device is one it named, and the pointer is valid.
        unsafe { cu!(cuDeviceGetAttribute(&raw mut value, attribute, self.device)) }?;
        u32::try_from(value).map_err(|_| DriverError::Call {
            call: "cuDeviceGetAttribute",
            code: CUresult::CUDA_ERROR_INVALID_VALUE,
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.is_lost() {
            // SAFETY: `open` retained it once. What fails here goes with the process.
            let _released = unsafe { cu!(cuDevicePrimaryCtxRelease_v2(self.device)) };
        }
    }
}
