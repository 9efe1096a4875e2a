//! The readers of NVRTC's words, given words that NVRTC never said. Runs for a second;
//! `LIGHTSPEED_FUZZ_S` says for how many.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::hint::Hints;
use crate::listing::Listing;
use crate::log::{self, Reader};
use crate::{source, usage};

const HEADERS: &str = "/opt/toolchain/headers";

const LOGS: [&str; 2] = [
    "submission.cu(3): error: identifier \"y\" is undefined\n  __global__ void q(){ int x = y; }\n                               ^\n\n\
     /opt/toolchain/headers/cccl/cuda/std/climits(42): warning #47-D: incompatible redefinition of macro \"SHRT_MIN\" (declared at line 15 of limits.h)\n\
     \x20         detected during instantiation of \"void k<N>(float *) [with N=4]\" at line 12 of submission.cu\n\
     __nv_name_map(2): error: Name expression cannot form address. Input name expression was: \"k<4>\"\n\
     At end of source: error: expected a \"}\"\n1 error detected in the compilation of \"submission.cu\".\n",
    "ptxas info    : 4798 bytes gmem, 12 bytes cmem[3]\nptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'\n\
     ptxas info    : Function properties for _Z1kPf\nptxas         .     0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n\
     ptxas info    : Used 14 registers, used 1 barriers, 44 bytes smem, 400 bytes cmem[0]\n\
     ptxas application ptx input, line 23; error   : Entry function '_ZN2ns1kILi4EEvPf' uses too much shared data (0x13880 bytes, 0xc000 max)\n\
     ptxas fatal   : Ptx assembly aborted due to errors\n",
];
const PTX: &str = ".visible .entry _Z1kPf(\n\t.param .u64 _Z1kPf_param_0\n)\n.maxntid 256, 1, 1\n{\n\t.shared .align 4 .b8 s[44];\n\t.reg .b32 %r<4>;\n\tret;\n}\n";

const WORDS: [&str; 24] = [
    "\n",
    "(",
    ")",
    ": ",
    "error",
    "warning #",
    "-D",
    "submission.cu(",
    "18446744073709551616",
    "\"",
    "'",
    "^",
    "  ^",
    "ptxas ",
    "; ",
    "_Z",
    "_ZN99999999999999999999k",
    "_Z5k",
    "bytes",
    "cmem[",
    "at line ",
    "\u{fc}",
    "\0",
    ".entry ",
];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % end.max(1) as u64) as usize
    }

    fn broken(&mut self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..1 + self.below(10) {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(20)).min(bytes.len());
            match self.below(4) {
                0 => drop(bytes.drain(at.min(end)..end)),
                1 => {
                    let word = WORDS[self.below(WORDS.len())];
                    bytes.splice(at..at, word.bytes());
                }
                2 => {
                    let piece = bytes[at.min(end)..end].repeat(1 + self.below(50));
                    bytes.splice(at..at, piece);
                }
                _ => {
                    if let Some(slot) = bytes.get_mut(at) {
                        *slot = self.below(256) as u8;
                    }
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[test]
fn no_log_breaks_its_readers() {
    let seconds = std::env::var("LIGHTSPEED_FUZZ_S");
    let seconds = seconds.ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = Random(20_261_130);
    let start = Instant::now();
    let mut cases = 0_u64;
    while start.elapsed() < Duration::from_secs(seconds) {
        let sample = LOGS[random.below(LOGS.len())];
        let words = random.broken(sample);
        let ptx = random.broken(PTX);
        let listing = Listing::of_ptx(&ptx);
        let reader = Reader {
            headers: Path::new(HEADERS),
            hints: &Hints::new(&words),
            ptx: Some(&listing),
        };
        let _ = log::read(&words, &reader);
        let _ = listing.with_source(&words);
        let _ = Listing::of_sass(&words).with_source(&ptx);
        usage::read(&words, &ptx, 0);
        source::prepare(&words);
        cases += 1;
    }
    println!("{cases} logs in {seconds} s");
}
