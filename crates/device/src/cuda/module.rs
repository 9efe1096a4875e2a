//! Loaded CUBINs: functions with their parameter layouts, and module-scope variables.
//!
//! Invariant: the handles in `functions` belong to the load that `handle` names. [`Module::reload`]
//! drops them and unloads; whoever kept an address of a variable must ask again.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::rc::Rc;

use cudarc::driver::sys::{self, CUfunction_attribute as Attribute, CUresult};

use super::context::Context;
use super::driver::{DriverError, cu};
use super::launch::Slot;
use crate::{BufferId, DeviceError, ModuleImage};

pub(super) struct Module {
    context: Rc<Context>,
    cubin: Vec<u8>,
    handle: sys::CUmodule,
    /// Memory of its variables.
    global_bytes: u64,
    may_trap: bool,
    functions: BTreeMap<String, Function>,
    /// Variables that were asked for, by mangled name.
    pub(super) symbols: BTreeMap<String, BufferId>,
}

/// A kernel of a loaded module.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) handle: sys::CUfunction,
    pub(super) parameters: Vec<Slot>,
    pub(super) static_shared_bytes: u32,
}

impl Module {
    pub(super) fn load(context: &Rc<Context>, image: ModuleImage<'_>) -> Result<Self, DeviceError> {
        let global_bytes = crate::cubin::global_bytes(image.cubin)
            .ok_or_else(|| DeviceError::Internal("the code is no CUBIN".to_owned()))?;
        let handle = context.told(load(image.cubin))?;
        Ok(Self {
            context: Rc::clone(context),
            cubin: image.cubin.to_vec(),
            handle,
            global_bytes,
            may_trap: crate::cubin::may_trap(image.ptx),
            functions: BTreeMap::new(),
            symbols: BTreeMap::new(),
        })
    }

    pub(super) fn has_globals(&self) -> bool {
        self.global_bytes > 0
    }

    pub(super) fn global_bytes(&self) -> u64 {
        self.global_bytes
    }

    /// Whether its code contains a trap instruction.
    pub(super) fn may_trap(&self) -> bool {
        self.may_trap
    }

    /// Gives every variable, those without external names too, its initial contents.
    pub(super) fn reload(&mut self) -> Result<(), DeviceError> {
        self.context.alive()?;
        self.functions.clear();
        let stale = std::mem::replace(&mut self.handle, std::ptr::null_mut());
        // SAFETY: loaded once and unloaded once; nothing is queued that uses it, because operations
        // are waited for.
        self.context.told(unsafe { cu!(cuModuleUnload(stale)) })?;
        self.handle = self.context.told(load(&self.cubin))?;
        Ok(())
    }

    /// Address and size of a variable.
    pub(super) fn global(&self, name: &str) -> Option<(u64, u64)> {
        let name = CString::new(name).ok()?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, the name ends in a zero, and both pointers are valid.
        let found = unsafe {
            cu!(cuModuleGetGlobal_v2(
                &raw mut address,
                &raw mut bytes,
                self.handle,
                name.as_ptr()
            ))
        };
        self.context
            .told(found)
            .ok()
            .map(|()| (address, bytes as u64))
    }

    /// A kernel, from the cache if it was asked for before.
    pub(super) fn function(&mut self, name: &str) -> Result<Function, DeviceError> {
        if let Some(known) = self.functions.get(name) {
            return Ok(known.clone());
        }
        let found = self.look_up(name)?;
        self.functions.insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// A kernel. Its code is on the device afterwards, whatever the process's loading mode.
    pub(super) fn look_up(&self, name: &str) -> Result<Function, DeviceError> {
        self.context.alive()?;
        let missing = || DeviceError::Internal(format!("the module has no kernel `{name}`"));
        let c_name = CString::new(name).map_err(|_| missing())?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the module is loaded, the name ends in a zero, and the pointer is valid.
        let found = unsafe {
            cu!(cuModuleGetFunction(
                &raw mut handle,
                self.handle,
                c_name.as_ptr()
            ))
        };
        if let Err(DriverError::Call {
            code: CUresult::CUDA_ERROR_NOT_FOUND,
            ..
        }) = found
        {
            return Err(missing());
        }
        self.context.told(found)?;
        self.context.told(examine(handle))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if !self.handle.is_null() && !self.context.is_lost() {
            // SAFETY: loaded once and unloaded once; nothing is queued that uses it.
            let _unloaded = unsafe { cu!(cuModuleUnload(self.handle)) };
        }
    }
}

fn load(cubin: &[u8]) -> Result<sys::CUmodule, DriverError> {
    let mut handle = std::ptr::null_mut();
    // SAFETY: a context is current, the pointer is valid, and the image is an ELF file with all its
    // sections (`Module::load` has walked them), whose header tells the driver how long it is.
    unsafe { cu!(cuModuleLoadData(&raw mut handle, cubin.as_ptr().cast())) }?;
    Ok(handle)
}

fn examine(handle: sys::CUfunction) -> Result<Function, DriverError> {
    let mut shared = 0;
    // SAFETY: the function is of a loaded module, and the pointer is valid.
    unsafe {
        cu!(cuFuncLoad(handle))?;
        cu!(cuFuncGetAttribute(
            &raw mut shared,
            Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            handle
        ))?;
    }
    Ok(Function {
        handle,
        parameters: parameters(handle)?,
        static_shared_bytes: u32::try_from(shared).unwrap_or(0),
    })
}

/// The driver answers for one parameter after the other until there is none.
fn parameters(handle: sys::CUfunction) -> Result<Vec<Slot>, DriverError> {
    let mut slots = Vec::new();
    loop {
        let (mut offset_bytes, mut bytes) = (0, 0);
        // SAFETY: the function is of a loaded module, and both pointers are valid.
        let asked = unsafe {
            cu!(cuFuncGetParamInfo(
                handle,
                slots.len(),
                &raw mut offset_bytes,
                &raw mut bytes
            ))
        };
        match asked {
            Ok(()) => slots.push(Slot {
                offset_bytes,
                bytes,
            }),
            Err(DriverError::Call {
                code: CUresult::CUDA_ERROR_INVALID_VALUE,
                ..
            }) => return Ok(slots),
            Err(other) => return Err(other),
        }
    }
}
