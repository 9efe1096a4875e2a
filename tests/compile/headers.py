"""What large headers cost NVRTC, with and without a precompiled header.

    python3 tests/compile/headers.py plain SET
    setarch -R python3 tests/compile/headers.py create SET FILE
    setarch -R python3 tests/compile/headers.py use SET FILE [SET_OF_THE_SOURCE]

LIGHTSPEED_TOOLCHAIN names the compiler's folder. Prints wall time of the compile, and user and system
time of the whole process, of which Python and an empty kernel (`plain empty`) are 0.17 s.
"""

import ctypes
import os
import re
import resource
import sys
import time
from pathlib import Path

ROOT = os.environ["LIGHTSPEED_TOOLCHAIN"]
CRATE = Path(__file__).resolve().parents[2] / "crates/toolchain"
CUB = ["block/block_reduce", "block/block_scan", "warp/warp_reduce", "warp/warp_scan"]
MORE = ["load", "store", "radix_sort", "exchange", "discontinuity", "histogram", "shuffle", "merge_sort"]
SETS = {
    "empty": [],
    "reduce": ["cub/block/block_reduce.cuh"],
    "four": [f"cub/{name}.cuh" for name in CUB],
    "cub": [f"cub/{name}.cuh" for name in CUB] + [f"cub/block/block_{name}.cuh" for name in MORE],
    "std": [f"cuda/std/{name}" for name in ["array", "cmath", "limits", "tuple", "complex", "functional"]],
    "barrier": ["cuda/barrier", "cuda/pipeline"],
}
SETS["all"] = SETS["cub"] + SETS["std"] + SETS["barrier"] + ["cuda/atomic"]
SUM = """__global__ void k(float* c) {
    typedef cub::BlockReduce<float, 256> R;
    __shared__ typename R::TempStorage t;
    float s = R(t).Sum(c[threadIdx.x]);
    if (threadIdx.x == 0) c[0] = s;
}
"""
BODIES = {
    "empty": "__global__ void k(float* c) { c[0] = 1; }\n",
    "std": "__global__ void k(float* c) { cuda::std::array<float, 2> a{1, 2}; c[0] = a[threadIdx.x & 1]; }\n",
    "barrier": "__global__ void k() { __shared__ cuda::barrier<cuda::thread_scope_block> b; b.arrive_and_wait(); }\n",
}
HEAP = 512 << 20


def includes(name):
    return "".join(f"#include <{header}>\n" for header in SETS[name])


def shims():
    """Names and texts of crates/toolchain/src/headers.rs."""
    text = (CRATE / "src/headers.rs").read_text()
    text = text[text.index("\nheaders! {") :]
    for body, file, names in re.findall(r'(shim!\("([^"]+)"\)|"") => \[(.*?)\]', text, re.S):
        content = (CRATE / "shims" / file).read_text() if file else ""
        for name in re.findall(r'"([^"]+)"', names):
            yield name, content


def compile_source(nvrtc, source, option, headers):
    options = f"""--gpu-architecture=sm_90a --std=c++17 --device-as-default-execution-space --generate-line-info
        --device-int128 --pre-include=lightspeed/prelude.h --include-path={ROOT}/headers
        --include-path={ROOT}/headers/cccl --no-cache --ptxas-options=-v {option}""".split()
    strings = lambda texts: (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])
    program = ctypes.c_void_p()
    names, bodies = strings(list(headers)), strings(list(headers.values()))
    start = time.time()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"submission.cu", len(headers), bodies, names)
    result = nvrtc.nvrtcCompileProgram(program, len(options), strings(options))
    wall = time.time() - start
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    return result, wall, log.value.decode()


def main(mode, name, file="", of="" ):
    ctypes.CDLL(f"{ROOT}/nvidia/cu13/lib/libnvrtc-builtins.so.13.5", mode=ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(f"{ROOT}/nvidia/cu13/lib/libnvrtc.so.13")
    nvrtc.nvrtcSetPCHHeapSize.argtypes = [ctypes.c_size_t]
    headers = dict(shims())
    source = includes(of or name) + BODIES.get(of or name, SUM)
    option = ""
    if mode != "plain":
        nvrtc.nvrtcSetPCHHeapSize(HEAP)
        headers["lightspeed/large.h"] = includes(name)
        source = '#include <lightspeed/large.h>\n#pragma nv_hdrstop\n#line 1 "submission.cu"\n' + source
        option = f"--{mode}-pch={file}"
    result, wall, log = compile_source(nvrtc, source, option, headers)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{mode} {name} {of}: result {result}, wall {wall:.2f} s, user {used.ru_utime:.2f} s, system {used.ru_stime:.2f} s,"
          f" file {os.path.getsize(file) >> 20 if file else 0} MiB, {'precompiled' if 'using precompiled' in log else 'read'}")


main(*sys.argv[1:])
