//! One instruction in one form: what it reads, what it writes, how closely devices must agree.

/// What an operand holds, which decides its register and its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    B16,
    B32,
    B64,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    F32,
    F64,
    /// A number of bits, in 32: 0 to 40 and a few far beyond.
    Count,
}

impl Class {
    pub const ALL: [Self; 10] = [
        Self::B16,
        Self::B32,
        Self::B64,
        Self::F16,
        Self::Bf16,
        Self::F16x2,
        Self::Bf16x2,
        Self::F32,
        Self::F64,
        Self::Count,
    ];

    pub fn bits(self) -> u32 {
        match self {
            Self::B16 | Self::F16 | Self::Bf16 => 16,
            Self::B64 | Self::F64 => 64,
            _ => 32,
        }
    }

    /// The letter of inline assembly, the C type, and how its bits become one.
    pub fn register(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::B16 | Self::F16 | Self::Bf16 => ("h", "unsigned short", "(unsigned short)"),
            Self::B64 => ("l", "unsigned long long", "(unsigned long long)"),
            Self::F32 => ("f", "float", "__uint_as_float"),
            Self::F64 => ("d", "double", "__longlong_as_double"),
            _ => ("r", "unsigned", "(unsigned)"),
        }
    }
}

/// Memory of each thread's own, for forms that need some.
pub const SCRATCH_BYTES: usize = 64;

/// The word for an address in a form's code, its letter in inline assembly, and the C expression for it.
const PLACES: [(&str, &str, &str); 4] = [
    ("GLOBAL", "l", "__cvta_generic_to_global(outside)"),
    ("GENERIC", "l", "outside"),
    ("SHARED", "r", "(unsigned)__cvta_generic_to_shared(inside)"),
    ("LOCAL", "l", "__cvta_generic_to_local(own)"),
];

/// How closely two devices must agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// Bit for bit.
    Exact,
    /// Bit for bit, or both results within this relative error of the exact one: the error that the PTX ISA
    /// documents. Twice as far from each other, then.
    Relative(f64),
    /// The same where either the relative or the absolute error is this small.
    Either(f64),
    /// The same for an absolute error, for first operands up to a magnitude; nothing is promised beyond.
    Absolute { error: f64, up_to: f64 },
}

/// An instruction form.
#[derive(Clone, Debug)]
pub struct Form {
    /// As PTX spells it; unique.
    pub name: String,
    /// Inline assembly: `%0` is written, `%1` to `%3` are read. `GLOBAL`, `GENERIC`, `SHARED` and `LOCAL` stand for
    /// the address of the thread's own [`SCRATCH_BYTES`] there.
    pub code: String,
    pub result: Class,
    pub operands: Vec<Class>,
    pub agreement: Agreement,
}

impl Form {
    /// `NAME %0, %1, ...;`
    pub fn plain(name: impl Into<String>, result: Class, operands: &[Class]) -> Self {
        let name = name.into();
        let numbers = (1..=operands.len()).map(|at| format!(", %{at}"));
        let code = format!("{name} %0{};", numbers.collect::<String>());
        Self::of(name, code, result, operands)
    }

    pub fn of(name: impl Into<String>, code: String, result: Class, operands: &[Class]) -> Self {
        Self {
            name: name.into(),
            code,
            result,
            operands: operands.to_vec(),
            agreement: Agreement::Exact,
        }
    }

    /// A predicate, as 0 or 1.
    pub fn predicate(name: impl Into<String>, operands: &[Class]) -> Self {
        let name = name.into();
        let numbers = (1..=operands.len()).map(|at| format!(", %{at}"));
        let numbers = numbers.collect::<String>();
        let code = format!("{{ .reg .pred p; {name} p{numbers}; selp.u32 %0, 1, 0, p; }}");
        Self::of(name, code, Class::B32, operands)
    }

    pub fn within(mut self, agreement: Agreement) -> Self {
        self.agreement = agreement;
        self
    }

    /// A kernel over arrays of 64-bit words, one element a thread.
    pub fn kernel(&self, symbol: &str) -> String {
        let (letter, ty, _) = self.result.register();
        let operand = |(at, class): (usize, &Class)| {
            let (letter, _, from) = class.register();
            format!("\"{letter}\"({from}({}[i]))", ["a", "b", "c"][at])
        };
        let mut operands: Vec<_> = self.operands.iter().enumerate().map(operand).collect();
        let mut code = self.code.clone();
        for (word, letter, address) in PLACES {
            if code.contains(word) {
                code = code.replace(word, &format!("%{}", operands.len() + 1));
                operands.push(format!("\"{letter}\"({address})"));
            }
        }
        let back = match self.result {
            Class::F32 => "__float_as_uint(r)",
            Class::F64 => "__double_as_longlong(r)",
            _ => "r",
        };
        let memory = self.memory();
        format!(
            "extern \"C\" __global__ void {symbol}(const unsigned long long* a, const unsigned long long* b, \
             const unsigned long long* c, unsigned long long* d) {{\n\
             \x20   unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n\
             {memory}\
             \x20   {ty} r;\n\
             \x20   asm volatile(\"{code}\" : \"={letter}\"(r) : {} : \"memory\");\n\
             \x20   d[i] = (unsigned long long){back};\n}}\n",
            operands.join(", ")
        )
    }

    /// Declarations of the memory that the code uses: what is outside of the block lies behind the results.
    fn memory(&self) -> String {
        let has = |words: &[&str]| words.iter().any(|word| self.code.contains(word));
        let mut text = String::new();
        if has(&["GLOBAL", "GENERIC"]) {
            text += "    unsigned long long* outside = d + gridDim.x * blockDim.x + 8 * i;\n";
        }
        if has(&["SHARED"]) {
            text += "    __shared__ alignas(128) unsigned char scratch[128 * 64];\n\
                     \x20   unsigned char* inside = scratch + 64 * threadIdx.x;\n";
        }
        if has(&["LOCAL"]) {
            text += "    alignas(16) unsigned char own[64];\n";
        }
        text
    }
}
