#!/usr/bin/env bash
# What the emulated device counts beside what the hardware counted: the kernels of the device crate's example
# `counted`, run here and profiled by ncu. Needs that example built, ncu and a toolchain folder. Instructions
# differ, since the GPU runs machine code and the emulated device PTX; requests, sectors, wavefronts and
# operations are the same thing.
#
#   COUNTED=path/to/counted LIGHTSPEED_TOOLCHAIN=path tests/gpu/counters.sh [FOLDER]
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
counted=${COUNTED:-$root/target/release/examples/counted}
folder=${1:-$(mktemp -d)}
. "$root/tests/gpu/needs_gpu.sh"
needs_gpu "GPU 0" "nothing was profiled"
ncu=$(command -v ncu || echo /usr/local/cuda/bin/ncu)
if [ ! -x "$ncu" ]; then
    echo "SKIPPED: ncu (Nsight Compute) is neither in PATH nor in /usr/local/cuda/bin; nothing was profiled"
    exit 0
fi
mkdir -p "$folder"
"$counted" emulated >"$folder/emulated.tsv" || exit
metrics=$(python3 "$root/tests/gpu/counters.py" --metrics)
"$ncu" --csv --print-units base --metrics "$metrics" --log-file "$folder/counters.csv" "$counted" gpu || {
    echo "ncu failed:"
    tail -n 5 "$folder/counters.csv"
    exit 1
}
python3 "$root/tests/gpu/counters.py" "$folder/emulated.tsv" "$folder/counters.csv"
