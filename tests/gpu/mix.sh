#!/usr/bin/env bash
# What a card does in an hour: every solution of every package, right and wrong, each judged once and
# ranked, back to back. Prints judgings per hour and where the time goes.
#
# FIRST=5 takes the first five solutions of each package only.
#
#   LIGHTSPEED=path/to/lightspeed LIGHTSPEED_TOOLCHAIN=path LIGHTSPEED_STATE=path tests/gpu/mix.sh h200
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
lightspeed=${LIGHTSPEED:-$root/target/release/lightspeed}
export LIGHTSPEED_PROBLEMS=${LIGHTSPEED_PROBLEMS:-$root/problems}
device=${1:?usage: mix.sh DEVICE, e.g. h200}
. "$root/tests/gpu/needs_gpu.sh"
needs_gpu "$device" "no solution was judged"

# Baselines are measured and references compiled once for a card: not part of a queue under way.
for package in "$LIGHTSPEED_PROBLEMS"/*/; do
    "$lightspeed" judge "$(basename "$package")" "$package"/baseline.cu --device "$device" --quiet >/dev/null
done
for package in "$LIGHTSPEED_PROBLEMS"/*/; do
    solutions=("$package"/solutions/*.cu)
    "$lightspeed" judge "$(basename "$package")" "${solutions[@]:0:${FIRST:-1000}}" --device "$device" \
        --batch --json --quiet
done | python3 "$root/tests/gpu/mix.py"
