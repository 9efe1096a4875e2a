//! A minimal binding of CUPTI's activity interface, opened by path.
//!
//! The library is opened by path for the reason that NVRTC is: a loader that goes by name may take
//! another version that happens to lie on the search path, and two of them in one process disturb each
//! other. It is never unloaded: it hooks the driver.
//!
//! Invariant: [`start`] comes before the context is made, once a process. Records arrive on the thread
//! that flushes or on one of CUPTI's own, so they are gathered behind a lock.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::activity::{self, Activity, KINDS, PREFIX_BYTES, SpanError};

type Code = c_int;
const SUCCESS: Code = 0;
/// Also hands out buffers with records that have no end yet.
const FORCED: u32 = 1;
/// Room for a few thousand records.
const BUFFER_BYTES: usize = 1 << 20;
/// Records of finished work arrive well within this.
const PATIENCE: Duration = Duration::from_secs(1);

type RequestBuffer = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type TakeBuffer = unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

/// Why there is no CUPTI.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CuptiError {
    #[error("CUPTI cannot be loaded: {0}")]
    Load(String),
    #[error("CUPTI: {call} failed: {reason}")]
    Call { call: &'static str, reason: String },
    #[error("CUPTI: {0}")]
    Span(#[from] SpanError),
}

#[derive(Clone, Copy)]
struct Calls {
    version: unsafe extern "C" fn(*mut u32) -> Code,
    result_string: unsafe extern "C" fn(Code, *mut *const c_char) -> Code,
    register: unsafe extern "C" fn(RequestBuffer, TakeBuffer) -> Code,
    enable: unsafe extern "C" fn(u32) -> Code,
    disable: unsafe extern "C" fn(u32) -> Code,
    flush: unsafe extern "C" fn(u32) -> Code,
    next_record: unsafe extern "C" fn(*mut u8, usize, *mut *mut u8) -> Code,
    dropped: unsafe extern "C" fn(*mut c_void, u32, *mut usize) -> Code,
}

static STARTED: OnceLock<Result<Cupti, CuptiError>> = OnceLock::new();
/// Whether CUPTI gathers nothing at present; of the process, as CUPTI is.
static IS_SUSPENDED: AtomicBool = AtomicBool::new(false);
static GATHERED: Mutex<Gathered> = Mutex::new(Gathered {
    activities: Vec::new(),
    dropped: 0,
    is_wanted: false,
});

struct Gathered {
    activities: Vec<Activity>,
    dropped: usize,
    is_wanted: bool,
}

/// CUPTI, gathering activity records of the whole process.
#[derive(Clone, Copy)]
pub(super) struct Cupti {
    calls: Calls,
    version: u32,
}

/// Loads CUPTI and lets it gather. The first call decides for the process.
pub(super) fn start(library: &Path) -> Result<Cupti, CuptiError> {
    STARTED.get_or_init(|| Cupti::open(library)).clone()
}

impl Cupti {
    fn open(path: &Path) -> Result<Self, CuptiError> {
        let load = |error: libloading::Error| CuptiError::Load(error.to_string());
        // SAFETY: NVIDIA's library from the pinned wheel; its initialisers have no demands.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map_err(load)?;
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the types are those of the library's own headers; it stays loaded.
        let calls = unsafe { Calls::of(library) }.map_err(load)?;
        let mut version = 0;
        // SAFETY: the pointer is valid.
        calls.check("cuptiGetVersion", unsafe {
            (calls.version)(&raw mut version)
        })?;
        // Callbacks find the calls here; none comes before the registration below.
        CALLS.get_or_init(|| calls);
        // SAFETY: both functions have the signatures that CUPTI asks for and live for ever.
        calls.check("cuptiActivityRegisterCallbacks", unsafe {
            (calls.register)(request_buffer, take_buffer)
        })?;
        let cupti = Self { calls, version };
        cupti.resume()?;
        Ok(cupti)
    }

    /// Version of the interface, as CUPTI counts it.
    pub(super) fn version(&self) -> u32 {
        self.version
    }

    /// Stops gathering: what is put on the device from now on is not instrumented. Graphs made before
    /// may be. All streams must be empty.
    pub(super) fn suspend(&self) -> Result<(), CuptiError> {
        self.flush(FORCED)?;
        IS_SUSPENDED.store(true, Ordering::Relaxed);
        for kind in KINDS {
            // SAFETY: no pointers are passed.
            let code = unsafe { (self.calls.disable)(kind) };
            self.calls.check("cuptiActivityDisable", code)?;
        }
        Ok(())
    }

    /// Gathers again.
    pub(super) fn resume(&self) -> Result<(), CuptiError> {
        for kind in KINDS {
            // SAFETY: no pointers are passed.
            let code = unsafe { (self.calls.enable)(kind) };
            self.calls.check("cuptiActivityEnable", code)?;
        }
        IS_SUSPENDED.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Whether [`Cupti::suspend`] was called last.
    pub(super) fn is_suspended(&self) -> bool {
        IS_SUSPENDED.load(Ordering::Relaxed)
    }

    /// Forgets what was gathered; what happens from now on is kept. All streams must be empty.
    pub(super) fn begin(&self) -> Result<(), CuptiError> {
        gathered(|g| g.is_wanted = false);
        self.flush(FORCED)?;
        gathered(|g| {
            g.activities.clear();
            g.dropped = 0;
            g.is_wanted = true;
        });
        Ok(())
    }

    /// The span of all that happened since [`Cupti::begin`]. All streams must be empty.
    pub(super) fn end(&self, expected: usize) -> Result<Duration, CuptiError> {
        let begin = Instant::now();
        let mut flag = 0;
        loop {
            self.flush(flag)?;
            let is_complete = gathered(|g| g.activities.len() >= expected);
            if is_complete || begin.elapsed() > PATIENCE {
                break;
            }
            flag = FORCED;
            std::thread::sleep(Duration::from_micros(50));
        }
        let (activities, dropped) = gathered(|g| {
            g.is_wanted = false;
            (std::mem::take(&mut g.activities), g.dropped)
        });
        if dropped > 0 {
            return Err(SpanError::Dropped(dropped).into());
        }
        Ok(activity::span(&activities, expected)?)
    }

    fn flush(&self, flag: u32) -> Result<(), CuptiError> {
        // SAFETY: no pointers are passed.
        self.calls
            .check("cuptiActivityFlushAll", unsafe { (self.calls.flush)(flag) })
    }
}

static CALLS: OnceLock<Calls> = OnceLock::new();

impl Calls {
    /// # Safety
    /// `library` must be CUPTI 11 or newer and stay loaded.
    unsafe fn of(library: &Library) -> Result<Self, libloading::Error> {
        // SAFETY: the types are those of the library's own headers.
        unsafe {
            Ok(Self {
                version: *library.get(b"cuptiGetVersion\0")?,
                result_string: *library.get(b"cuptiGetResultString\0")?,
                register: *library.get(b"cuptiActivityRegisterCallbacks\0")?,
                enable: *library.get(b"cuptiActivityEnable\0")?,
                disable: *library.get(b"cuptiActivityDisable\0")?,
                flush: *library.get(b"cuptiActivityFlushAll\0")?,
                next_record: *library.get(b"cuptiActivityGetNextRecord\0")?,
                dropped: *library.get(b"cuptiActivityGetNumDroppedRecords\0")?,
            })
        }
    }

    fn check(&self, call: &'static str, code: Code) -> Result<(), CuptiError> {
        if code == SUCCESS {
            return Ok(());
        }
        let mut text = std::ptr::null();
        // SAFETY: the pointer is valid; a successful call leaves a constant string in it.
        let reason = unsafe {
            if (self.result_string)(code, &raw mut text) == SUCCESS && !text.is_null() {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            } else {
                format!("code {code}")
            }
        };
        Err(CuptiError::Call { call, reason })
    }
}

fn gathered<T>(act: impl FnOnce(&mut Gathered) -> T) -> T {
    act(&mut GATHERED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Records want an alignment of 8.
fn buffer_layout() -> Layout {
    Layout::from_size_align(BUFFER_BYTES, 8).expect("the size is a multiple of the alignment")
}

/// CUPTI asks for room.
///
/// # Safety
/// Called by CUPTI with valid pointers.
unsafe extern "C" fn request_buffer(buffer: *mut *mut u8, size: *mut usize, records: *mut usize) {
    // SAFETY: the layout has a size; CUPTI's pointers are valid. Without memory it gets a null pointer
    // and drops records, which the next span notices.
    unsafe {
        let memory = alloc(buffer_layout());
        *buffer = memory;
        *size = if memory.is_null() { 0 } else { BUFFER_BYTES };
        *records = 0; // as many as fit
    }
}

/// CUPTI gives a buffer back.
///
/// # Safety
/// Called by CUPTI with a buffer of [`request_buffer`], of which `valid` bytes are records.
unsafe extern "C" fn take_buffer(
    context: *mut c_void,
    stream: u32,
    buffer: *mut u8,
    _size: usize,
    valid: usize,
) {
    if buffer.is_null() {
        return;
    }
    if let Some(calls) = CALLS.get() {
        // SAFETY: as promised by the caller.
        unsafe { read_records(calls, context, stream, buffer, valid) };
    }
    // SAFETY: from `request_buffer`, given back once.
    unsafe { dealloc(buffer, buffer_layout()) };
}

/// # Safety
/// `buffer` holds `valid` bytes of records.
unsafe fn read_records(
    calls: &Calls,
    context: *mut c_void,
    stream: u32,
    buffer: *mut u8,
    valid: usize,
) {
    let mut found = Vec::new();
    let mut record = std::ptr::null_mut::<u8>();
    // SAFETY: the calls walk the records of this very buffer; each record of the kinds asked for is
    // longer than the prefix, and a shorter one at the end of the buffer is left alone.
    unsafe {
        while (calls.next_record)(buffer, valid, &raw mut record) == SUCCESS {
            let at = record.offset_from(buffer);
            if usize::try_from(at).is_ok_and(|at| at + PREFIX_BYTES <= valid) {
                let prefix = record.cast::<[u8; PREFIX_BYTES]>().read_unaligned();
                found.extend(Activity::of(&prefix));
            }
        }
    }
    let mut dropped = 0;
    // SAFETY: the pointer is valid; context and stream are what CUPTI gave.
    let asked = unsafe { (calls.dropped)(context, stream, &raw mut dropped) };
    gathered(|g| {
        if g.is_wanted {
            g.activities.append(&mut found);
            if asked == SUCCESS {
                g.dropped += dropped;
            }
        }
    });
}
