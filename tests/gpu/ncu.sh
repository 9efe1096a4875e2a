#!/usr/bin/env bash
# The profiler as a third opinion: the same kernels under CUPTI and under ncu, and how far they are apart.
# Needs ncu, a built `lightspeed`, and a toolchain folder with CUPTI. The first run fills the cache of
# compiled kernels, so that the second starts no child under the profiler.
#
#   LIGHTSPEED=path/to/lightspeed LIGHTSPEED_TOOLCHAIN=path LIGHTSPEED_STATE=path tests/gpu/ncu.sh [GPU [FOLDER]]
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
lightspeed=${LIGHTSPEED:-$root/target/release/lightspeed}
gpu=${1:-0}
folder=${2:-$(mktemp -d)}
. "$root/tests/gpu/needs_gpu.sh"
needs_gpu "GPU $gpu" "nothing was profiled"
ncu=$(command -v ncu || echo /usr/local/cuda/bin/ncu)
if [ ! -x "$ncu" ]; then
    echo "SKIPPED: ncu (Nsight Compute) is neither in PATH nor in /usr/local/cuda/bin; nothing was profiled"
    exit 0
fi
mkdir -p "$folder"

"$lightspeed" __measure ncu --gpu "$gpu" --json >"$folder/cupti.json" || exit
# Caches and clocks are left as the run itself brings them about.
"$ncu" --csv --print-units base --target-processes all --kernel-name regex:^measured_ \
    --metrics gpu__time_duration.sum --cache-control none --clock-control none \
    --log-file "$folder/ncu.csv" \
    "$lightspeed" __measure ncu --gpu "$gpu" --json --here --without-cupti >"$folder/under-ncu.json" || {
    echo "ncu failed:"
    tail -n 5 "$folder/ncu.csv"
    exit 1
}
python3 "$root/tests/gpu/ncu.py" "$folder/cupti.json" "$folder/ncu.csv"
