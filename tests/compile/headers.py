"""What large headers cost NVRTC, and what the judge's ways of making them smaller save.

    python3 tests/compile/headers.py read SET [STEPS]
    setarch -R python3 tests/compile/headers.py create SET STEPS FILE
    setarch -R python3 tests/compile/headers.py use SET STEPS FILE

LIGHTSPEED_TOOLCHAIN names the compiler's folder. STEPS are letters: u (type lists are unrolled less), a (the
shim of <cuda/atomic>), f (no types of less than 32 bits, for CUB alone); all of them if left out, `-` for the headers as
NVIDIA ships them. `create` and `use` precompile, which the judge does not. Prints user and system time of whole processes,
least and median of RUNS (5), of which Python and an empty kernel (`read empty`) are 0.13 s, and the most memory.
"""

import ctypes
import os
import re
import sys
from pathlib import Path

ROOT = os.environ["LIGHTSPEED_TOOLCHAIN"]
RUNS = int(os.environ.get("RUNS", "5"))
CRATE = Path(__file__).resolve().parents[2] / "crates/toolchain"
BLOCKS = ["load", "store", "radix_sort", "exchange", "discontinuity", "histogram", "shuffle", "merge_sort"]
FOUR = [f"cub/{name}.cuh" for name in ["block/block_reduce", "block/block_scan", "warp/warp_reduce", "warp/warp_scan"]]
STD = ["array", "cmath", "limits", "tuple", "complex", "functional"]
SETS = {
    "empty": [],
    "block_reduce": FOUR[:1],
    # What stands for cub/cub.cuh where the source tells nothing.
    "cub.cuh": FOUR + [f"cub/block/block_{name}.cuh" for name in BLOCKS[:5]] + ["thrust/functional.h"],
    "four": FOUR,
    "twelve": FOUR + [f"cub/block/block_{name}.cuh" for name in BLOCKS],
    "std": [f"cuda/std/{name}" for name in STD],
    "barrier": ["cuda/barrier"],
    "pipeline": ["cuda/pipeline"],
    "groups": ["cooperative_groups.h", "cooperative_groups/reduce.h", "cooperative_groups/scan.h"],
} | {name: [f"cub/{name.split('_')[0]}/{name}.cuh"] for name in
     ["block_scan", "warp_reduce", "warp_scan"] + [f"block_{name}" for name in BLOCKS]}
SUM = """__global__ void k(float* c) {
    typedef cub::BlockReduce<float, 256> R;
    __shared__ typename R::TempStorage t;
    float s = R(t).Sum(c[threadIdx.x]);
    if (threadIdx.x == 0) c[0] = s;
}
"""
PLAIN = "__global__ void k(float* c) { c[0] = 1; }\n"
UNROLL = re.compile(r"^#define _CCCL_META_UNROLL_LIMIT .*\n", re.M)
BEFORE = '#include <lightspeed/large.h>\n#pragma nv_hdrstop\n#line 1 "submission.cu"\n'
HEAP = 512 << 20


def shims():
    """Names and texts of crates/toolchain/src/headers.rs."""
    text = (CRATE / "src/headers.rs").read_text()
    text = text[text.index("\nheaders! {") :]
    for body, file, names in re.findall(r'(shim!\("([^"]+)"\)|""|domain::\w+) => \[(.*?)\]', text, re.S):
        path = CRATE / "shims" / file if file else CRATE.parent / "domain/src/predefined.h"
        content = path.read_text() if body != '""' else ""
        for name in re.findall(r'"([^"]+)"', names):
            yield name, content


def judge_headers(name, steps):
    headers = dict(shims())
    if "u" not in steps:
        headers["lightspeed/prelude.h"] = UNROLL.sub("", headers["lightspeed/prelude.h"])
    if "a" not in steps or name in ["pipeline", "groups"]:
        del headers["cuda/atomic"]
    if name == "groups":  # the toolkit's own
        headers = {known: text for known, text in headers.items() if "cooperative_groups" not in known}
    return headers


def compile_source(nvrtc, source, more, headers):
    options = f"""--gpu-architecture=sm_90a --std=c++17 --device-as-default-execution-space --generate-line-info
        --device-int128 --pre-include=lightspeed/prelude.h --include-path={ROOT}/headers
        --include-path={ROOT}/headers/cccl --no-cache --ptxas-options=-v {more}""".split()
    strings = lambda texts: (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])
    program = ctypes.c_void_p()
    names, bodies = strings(list(headers)), strings(list(headers.values()))
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"submission.cu", len(headers), bodies, names)
    result = nvrtc.nvrtcCompileProgram(program, len(options), strings(options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    return result, log.value.decode()


def one(mode, name, steps, file):
    ctypes.CDLL(f"{ROOT}/nvidia/cu13/lib/libnvrtc-builtins.so.13.5", mode=ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(f"{ROOT}/nvidia/cu13/lib/libnvrtc.so.13")
    nvrtc.nvrtcSetPCHHeapSize.argtypes = [ctypes.c_size_t]
    headers = judge_headers(name, steps)
    includes = "".join(f"#include <{header}>\n" for header in SETS[name])
    source = includes + (SUM if "cub/block/block_reduce.cuh" in SETS[name] or name == "cub.cuh" else PLAIN)
    only_cub = all(header.startswith(("cub/", "thrust/")) for header in SETS[name])
    more = "--define-macro=CCCL_DISABLE_FP16_SUPPORT" if "f" in steps and only_cub else ""
    if mode != "read":
        nvrtc.nvrtcSetPCHHeapSize(HEAP)
        headers["lightspeed/large.h"] = includes
        source, more = BEFORE + source, f"{more} --{mode}-pch={file}"
    result, log = compile_source(nvrtc, source, more, headers)
    if result or (mode == "use" and "using precompiled" not in log):
        sys.exit(log)


def main(mode, name, steps="uaf", file=""):
    times, memory = [], 0
    for _ in range(1 if mode == "create" else RUNS):
        child = os.fork()
        if not child:
            one(mode, name, steps, file)
            os._exit(0)
        _, status, used = os.wait4(child, 0)
        if status:
            sys.exit(status)
        times.append(used.ru_utime + used.ru_stime)
        memory = max(memory, used.ru_maxrss >> 10)
    times.sort()
    size = f", file {os.path.getsize(file) >> 20} MiB" if file else ""
    print(f"{mode} {name} {steps}: least {times[0]:.2f} s, median {times[len(times) // 2]:.2f} s, {memory} MiB{size}")


main(*sys.argv[1:])
