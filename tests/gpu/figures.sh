#!/usr/bin/env bash
# Every figure of docs/measurement.md, on a machine with a GPU: needs a built `lightspeed`, the problem
# packages and a toolchain folder with CUPTI (LIGHTSPEED_TOOLCHAIN); neither Rust, Postgres nor network.
#
#   LIGHTSPEED=path/to/lightspeed LIGHTSPEED_TOOLCHAIN=path LIGHTSPEED_STATE=path tests/gpu/figures.sh h200
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
lightspeed=${LIGHTSPEED:-$root/target/release/lightspeed}
export LIGHTSPEED_PROBLEMS=${LIGHTSPEED_PROBLEMS:-$root/problems}
device=${1:?usage: figures.sh DEVICE, e.g. h200}

echo "== every solution of every package comes to its verdict"
for package in "$LIGHTSPEED_PROBLEMS"/*/; do
    "$lightspeed" problem verify "$package" --device "$device"
done
echo "== one submission judged ten times, back to back and with pauses"
baseline=$LIGHTSPEED_PROBLEMS/vector_add/baseline.cu
for pause in 0 30; do
    echo "-- $pause s between two"
    "$lightspeed" judge vector_add "$baseline" --device "$device" --batch --repeat 10 \
        --pause-s "$pause" --json 2>/dev/null | python3 "$root/tests/gpu/repeatability.py"
done
echo "== submit to verdict, practice"
"$lightspeed" judge vector_add "$baseline" --device "$device" --mode practice --batch --repeat 20 \
    --json 2>/dev/null | python3 "$root/tests/gpu/repeatability.py"
