//! Texts and bytes, broken at random: what every fuzzing of this crate shares.

use super::dice::Dice;

/// Words that steer into rarer code than bytes do.
pub const WORDS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "<<<",
    ">>>",
    ";",
    ",",
    "*",
    "&",
    "::",
    "->",
    "...",
    "[",
    "]",
    "=",
    "?",
    ":",
    "-",
    "<<",
    "%",
    "0",
    "1",
    "-1",
    "2147483647",
    "18446744073709551615ull",
    "1e30f",
    "0x",
    "'a'",
    "nullptr",
    "sizeof",
    "decltype",
    "int",
    "float*",
    "auto",
    "auto&",
    "dim3",
    "struct S",
    "class",
    "union",
    "enum",
    "template <typename T>",
    "template <int... N>",
    "void",
    "const",
    "constexpr",
    "static",
    "extern \"C\"",
    "__global__",
    "__device__",
    "__host__",
    "__shared__",
    "__constant__",
    "return",
    "for (;;)",
    "for (auto x : v)",
    "while (1)",
    "do",
    "switch (N)",
    "case 1:",
    "if (N)",
    "else",
    "break",
    "continue",
    "goto",
    "new float[N]",
    "delete[]",
    "operator",
    "using",
    "typedef",
    "namespace n",
    "friend",
    "[&](int i)",
    "[=]",
    "std::vector<float>",
    "std::min",
    "std::swap",
    "cudaMalloc(&p, N)",
    "cudaMemcpy(",
    "cudaMemset(C, 0, 4)",
    "cudaFuncSetAttribute(",
    "cudaStream_t",
    "cudaDeviceSynchronize()",
    "#define Q(a, b) a##b",
    "#define R(...) __VA_ARGS__",
    "#undef",
    "#if",
    "#ifdef X",
    "#elif 1",
    "#else",
    "#endif",
    "#include <cub/cub.cuh>",
    "#pragma unroll",
    "\\\n",
    "\n",
    "\"",
    "R\"(",
    "/*",
    "*/",
    "//",
    "%:",
    "\u{feff}",
    "\u{fc}",
    "\r\n",
    "4294967296",
    "mutable",
    "typename... Ts",
    "sizeof...(Ts)",
    "(Ts(1) + ...)",
    "if constexpr (N)",
    "auto [x, y]",
    "std::array<int, 4>",
    "std::pair<int, float>",
    "std::function<int(int)>",
    "std::accumulate(v.begin(), v.end(), 0)",
    "v.resize(1 << 17)",
    "v.push_back(v)",
    "std::vector<std::vector<int>>",
    "CUtensorMap",
    "cuTensorMapEncodeTiled(&m, ",
    "cudaMemcpyDeviceToHost",
    "cudaMemcpyAsync(&h, d, 4, cudaMemcpyDeviceToHost, s)",
    "cudaLaunchConfig_t",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor(",
    "static_assert(",
    "default:",
    "calloc(N, 8)",
    "memset(p, 0, N)",
    "int x[1 << 20]",
    "template <typename T, int N>",
    "template <>",
    "this->",
    "operator()",
    "~S()",
    "virtual",
    "__VA_OPT__(x)",
    "??/",
    "<::",
    "\u{202e}",
    "#line 7 \"x\"",
    "#embed \"x\"",
    "_Pragma(\"unroll\")",
    "[&]",
    "struct P",
    "template <class T>",
    "std::vector<",
    "std::array<int, 1 << 30>",
    "Cfg<",
    "::T",
    "P p;",
    "1e9",
];

/// Some words and nothing else.
pub fn any_words(dice: &mut Dice, most: usize) -> String {
    let count = dice.roll(most);
    let words: Vec<&str> = (0..count).map(|_| word(dice)).collect();
    words.join(" ")
}

/// Some bytes and nothing else.
pub fn any_bytes(dice: &mut Dice, most: usize) -> Vec<u8> {
    (0..dice.roll(most)).map(|_| dice.byte()).collect()
}

/// Breaks a text in one place; `others` are texts that pieces come from.
pub fn break_text(dice: &mut Dice, others: &[&str], bytes: &mut Vec<u8>) {
    match dice.roll(4) {
        0 => {
            let word = word(dice);
            insert(dice, bytes, word.as_bytes());
        }
        1 => {
            // In the place of something.
            let (from, end) = stretch(dice, bytes, 12);
            let word = word(dice);
            bytes.splice(from..end, word.bytes());
        }
        2 => {
            // Many times the same: nesting, long lists, long expressions.
            let word = word(dice).repeat(1 + dice.roll(300));
            insert(dice, bytes, word.as_bytes());
        }
        _ => break_bytes(dice, others, bytes),
    }
}

/// The same without a word of the language.
pub fn break_bytes<T: AsRef<[u8]>>(dice: &mut Dice, others: &[T], bytes: &mut Vec<u8>) {
    match dice.roll(5) {
        0 => {
            let (from, end) = stretch(dice, bytes, 40);
            bytes.drain(from..end);
        }
        1 => {
            let (from, end) = stretch(dice, bytes, 80);
            let piece = bytes[from..end].to_vec();
            insert(dice, bytes, &piece);
        }
        2 => {
            let other = others[dice.roll(others.len())].as_ref();
            let (from, end) = stretch(dice, other, 200);
            insert(dice, bytes, &other[from..end]);
        }
        3 => {
            let at = dice.roll(bytes.len() + 1);
            let bit = 1 << dice.roll(8);
            if let Some(slot) = bytes.get_mut(at) {
                *slot ^= bit;
            }
        }
        _ => {
            let at = dice.roll(bytes.len() + 1);
            let byte = dice.byte();
            if let Some(slot) = bytes.get_mut(at) {
                *slot = byte;
            }
        }
    }
}

fn word(dice: &mut Dice) -> &'static str {
    WORDS[dice.roll(WORDS.len())]
}

fn insert(dice: &mut Dice, bytes: &mut Vec<u8>, piece: &[u8]) {
    let at = dice.roll(bytes.len() + 1);
    bytes.splice(at..at, piece.iter().copied());
}

/// From where to where, within `bytes`.
fn stretch(dice: &mut Dice, bytes: &[u8], longest: usize) -> (usize, usize) {
    let from = dice.roll(bytes.len() + 1);
    (
        from,
        (from + 1 + dice.roll(longest)).min(bytes.len()).max(from),
    )
}
