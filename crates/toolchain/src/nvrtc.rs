//! A minimal binding of NVRTC, opened by path.
//!
//! cudarc's loader takes the first `libnvrtc.so` on the system's search path, and so may pick up
//! another version than the pinned one; it also lacks the call that unpacks the bundled headers.
//! The library is never unloaded: it keeps threads and tables of its own.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CStr, CString, NulError, c_char, c_int, c_uint, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

use crate::toolchain::Toolchain;

/// Results of NVRTC that mean something to this code.
const SUCCESS: c_int = 0;
const OUT_OF_MEMORY: c_int = 1;
const COMPILATION: c_int = 6;

type ProgramHandle = *mut c_void;
type SizeOf = unsafe extern "C" fn(ProgramHandle, *mut usize) -> c_int;
type BytesOf = unsafe extern "C" fn(ProgramHandle, *mut c_char) -> c_int;

/// NVRTC, loaded.
pub(crate) struct Nvrtc {
    calls: Calls,
}

/// NVRTC cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NvrtcError {
    #[error("cannot load the library: {0}")]
    Load(#[from] libloading::Error),
    #[error("the library is version {0}.{1}")]
    Version(c_int, c_int),
    #[error("{call} failed: {reason}")]
    Call { call: &'static str, reason: String },
    #[error("a NUL byte in the input")]
    Nul(#[from] NulError),
}

/// What came of a compile.
pub(crate) enum Outcome {
    Success(Output),
    /// The log says why. The PTX is there where only the assembler refused.
    Refused {
        log: String,
        ptx: Option<String>,
    },
    OutOfMemory,
}

/// A successful compile.
pub(crate) struct Output {
    pub(crate) log: String,
    pub(crate) ptx: String,
    pub(crate) cubin: Vec<u8>,
    /// In the order of the name expressions.
    pub(crate) lowered_names: Vec<String>,
}

/// One compile.
pub(crate) struct Input<'a> {
    pub(crate) source: &'a str,
    /// What the source is called in messages.
    pub(crate) name: &'a str,
    /// Headers by name, which win over files.
    pub(crate) headers: &'a [(&'a str, Cow<'a, str>)],
    pub(crate) name_expressions: &'a [String],
    pub(crate) options: &'a [String],
    /// Only look for errors; the output holds no code.
    pub(crate) syntax_only: bool,
}

macro_rules! calls {
    ($($field:ident: $symbol:literal => $type:ty),+ $(,)?) => {
        struct Calls { $($field: $type),+ }

        impl Calls {
            /// # Safety
            /// `library` must be NVRTC 13.3 or newer and stay loaded.
            unsafe fn of(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: the types are those of the library's own header, version 13.5.
                    $($field: *unsafe { library.get::<$type>($symbol) }?),+
                })
            }
        }
    };
}

calls! {
    version: b"nvrtcVersion\0" => unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    error_string: b"nvrtcGetErrorString\0" => unsafe extern "C" fn(c_int) -> *const c_char,
    create: b"nvrtcCreateProgram\0" => unsafe extern "C" fn(
        *mut ProgramHandle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char,
    ) -> c_int,
    add_name: b"nvrtcAddNameExpression\0" => unsafe extern "C" fn(ProgramHandle, *const c_char) -> c_int,
    compile: b"nvrtcCompileProgram\0" => unsafe extern "C" fn(ProgramHandle, c_int, *const *const c_char) -> c_int,
    lowered_name: b"nvrtcGetLoweredName\0" => unsafe extern "C" fn(
        ProgramHandle, *const c_char, *mut *const c_char,
    ) -> c_int,
    log_size: b"nvrtcGetProgramLogSize\0" => SizeOf,
    log: b"nvrtcGetProgramLog\0" => BytesOf,
    ptx_size: b"nvrtcGetPTXSize\0" => SizeOf,
    ptx: b"nvrtcGetPTX\0" => BytesOf,
    cubin_size: b"nvrtcGetCUBINSize\0" => SizeOf,
    cubin: b"nvrtcGetCUBIN\0" => BytesOf,
    install_headers: b"nvrtcInstallBundledHeaders\0" => unsafe extern "C" fn(
        *const c_char, c_uint, *mut *const c_char,
    ) -> c_int,
}

impl Nvrtc {
    /// Loads the toolchain's library and checks its version.
    pub(crate) fn load(toolchain: &Toolchain) -> Result<Self, NvrtcError> {
        // NVRTC looks for its other half by bare name, which succeeds once that is loaded.
        open(&toolchain.builtins(), RTLD_GLOBAL)?;
        let library = open(&toolchain.nvrtc(), RTLD_LOCAL)?;
        // SAFETY: the pinned library, which `open` keeps loaded.
        let calls = unsafe { Calls::of(library) }?;
        let mut version = (0, 0);
        // SAFETY: pointers to live locals.
        unsafe { (calls.version)(&raw mut version.0, &raw mut version.1) };
        if version != (13, 5) {
            return Err(NvrtcError::Version(version.0, version.1));
        }
        Ok(Self { calls })
    }

    /// Unpacks the headers that the library bundles.
    pub(crate) fn install_headers(&self, to: &Path) -> Result<(), NvrtcError> {
        let path = CString::new(to.as_os_str().as_encoded_bytes())?;
        let mut reason = std::ptr::null();
        // SAFETY: a live NUL-terminated string and a pointer to a live local.
        let result = unsafe { (self.calls.install_headers)(path.as_ptr(), 0, &raw mut reason) };
        if result == SUCCESS {
            return Ok(());
        }
        Err(NvrtcError::Call {
            call: "nvrtcInstallBundledHeaders",
            // SAFETY: on failure the call leaves a string that is valid until the next call.
            reason: unsafe { text(reason) }.unwrap_or_else(|| self.reason(result)),
        })
    }

    /// Compiles one source. The program is leaked on purpose where NVRTC refused the source: what it
    /// holds may be damaged, and the process ends soon.
    pub(crate) fn compile(&self, input: &Input) -> Result<Outcome, NvrtcError> {
        let program = self.create(input)?;
        self.compile_program(program, input)
    }

    fn compile_program(
        &self,
        program: ProgramHandle,
        input: &Input,
    ) -> Result<Outcome, NvrtcError> {
        let names = strings(input.name_expressions)?;
        for name in &names {
            // SAFETY: a live program that is not compiled yet, and a live string.
            let result = unsafe { (self.calls.add_name)(program, name.as_ptr()) };
            self.check("nvrtcAddNameExpression", result)?;
        }
        let check = input.syntax_only.then_some("--fdevice-syntax-only");
        let options = strings(input.options.iter().map(String::as_str).chain(check))?;
        let pointers: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
        let count = count_of(&pointers);
        // SAFETY: a live program and `count` live strings.
        let result = unsafe { (self.calls.compile)(program, count, pointers.as_ptr()) };
        let log = self.bytes(
            "nvrtcGetProgramLog",
            program,
            self.calls.log_size,
            self.calls.log,
        )?;
        let log = into_text(log);
        match result {
            SUCCESS => Ok(Outcome::Success(self.output(program, &names, log)?)),
            OUT_OF_MEMORY => Ok(Outcome::OutOfMemory),
            COMPILATION => Ok(self.refused(program, log)),
            _ if !log.trim().is_empty() => Ok(self.refused(program, log)),
            _ => Err(NvrtcError::Call {
                call: "nvrtcCompileProgram",
                reason: self.reason(result),
            }),
        }
    }

    /// Where the assembler has spoken there was PTX; of anything else nothing more is asked.
    fn refused(&self, program: ProgramHandle, log: String) -> Outcome {
        let assembled = log.lines().any(|line| line.starts_with("ptxas"));
        let ptx = assembled
            .then(|| self.bytes("nvrtcGetPTX", program, self.calls.ptx_size, self.calls.ptx))
            .and_then(Result::ok)
            .map(into_text);
        Outcome::Refused { log, ptx }
    }

    fn create(&self, input: &Input) -> Result<ProgramHandle, NvrtcError> {
        let source = CString::new(input.source)?;
        let name = CString::new(input.name)?;
        let names = strings(input.headers.iter().map(|(name, _)| name))?;
        let bodies = strings(input.headers.iter().map(|(_, body)| body))?;
        let names: Vec<*const c_char> = names.iter().map(|n| n.as_ptr()).collect();
        let body_pointers: Vec<*const c_char> = bodies.iter().map(|b| b.as_ptr()).collect();
        let mut program = std::ptr::null_mut();
        // SAFETY: all pointers are to live strings and arrays of the given length; the call copies
        // them.
        let result = unsafe {
            (self.calls.create)(
                &raw mut program,
                source.as_ptr(),
                name.as_ptr(),
                count_of(&body_pointers),
                body_pointers.as_ptr(),
                names.as_ptr(),
            )
        };
        self.check("nvrtcCreateProgram", result)?;
        Ok(program)
    }

    fn output(
        &self,
        program: ProgramHandle,
        names: &[CString],
        log: String,
    ) -> Result<Output, NvrtcError> {
        let ptx = self.bytes("nvrtcGetPTX", program, self.calls.ptx_size, self.calls.ptx)?;
        let cubin = self.bytes(
            "nvrtcGetCUBIN",
            program,
            self.calls.cubin_size,
            self.calls.cubin,
        )?;
        let mut lowered_names = Vec::with_capacity(names.len());
        for name in names {
            let mut lowered = std::ptr::null();
            // SAFETY: a live compiled program, a live string, a pointer to a live local.
            let result =
                unsafe { (self.calls.lowered_name)(program, name.as_ptr(), &raw mut lowered) };
            self.check("nvrtcGetLoweredName", result)?;
            // SAFETY: on success a string that lives as long as the program.
            lowered_names.push(unsafe { text(lowered) }.unwrap_or_default());
        }
        Ok(Output {
            log,
            ptx: into_text(ptx),
            cubin,
            lowered_names,
        })
    }

    fn bytes(
        &self,
        call: &'static str,
        program: ProgramHandle,
        size_of: SizeOf,
        bytes_of: BytesOf,
    ) -> Result<Vec<u8>, NvrtcError> {
        let mut size = 0;
        // SAFETY: a live program and a pointer to a live local.
        self.check(call, unsafe { size_of(program, &raw mut size) })?;
        let mut bytes = vec![0_u8; size];
        // SAFETY: the buffer has the size that the library asked for.
        self.check(call, unsafe {
            bytes_of(program, bytes.as_mut_ptr().cast())
        })?;
        Ok(bytes)
    }

    fn check(&self, call: &'static str, result: c_int) -> Result<(), NvrtcError> {
        if result == SUCCESS {
            return Ok(());
        }
        Err(NvrtcError::Call {
            call,
            reason: self.reason(result),
        })
    }

    fn reason(&self, result: c_int) -> String {
        // SAFETY: the call answers a static string for every number.
        unsafe { text((self.calls.error_string)(result)) }.unwrap_or_default()
    }
}

/// Loads a library for good.
fn open(path: &Path, visibility: c_int) -> Result<&'static Library, NvrtcError> {
    // SAFETY: the pinned wheel's libraries, whose initialisers do nothing but set up themselves.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | visibility) }?;
    Ok(Box::leak(Box::new(library)))
}

fn strings<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Result<Vec<CString>, NulError> {
    texts
        .into_iter()
        .map(|text| CString::new(text.as_ref()))
        .collect()
}

fn count_of(pointers: &[*const c_char]) -> c_int {
    c_int::try_from(pointers.len()).expect("a few hundred at most")
}

/// # Safety
/// `pointer` is null or a live NUL-terminated string.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: as promised by the caller.
    let text = unsafe { CStr::from_ptr(pointer) };
    Some(text.to_string_lossy().into_owned())
}

/// Text without its NULs: NVRTC counts the terminating one, and separates the assembler's last words
/// from the rest of a log by another.
fn into_text(mut bytes: Vec<u8>) -> String {
    bytes.retain(|&b| b != 0);
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}
