#!/usr/bin/env bash
# Modelled scores against measured ones: baseline and accepted solutions of every package, and the slow
# kernels in tests/gpu/slow, judged on DEVICE and on the emulated device. Keeps both sides in FOLDER and prints
# a table with the rank correlation (modelled.py).
#
# SIDE=measured or SIDE=modelled judges one side only, so that they may come from two machines; the table
# is printed once both are there.
#
#   LIGHTSPEED=path/to/lightspeed LIGHTSPEED_TOOLCHAIN=path LIGHTSPEED_STATE=path tests/gpu/modelled.sh h200 [FOLDER]
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
lightspeed=${LIGHTSPEED:-$root/target/release/lightspeed}
export LIGHTSPEED_PROBLEMS=${LIGHTSPEED_PROBLEMS:-$root/problems}
device=${1:?usage: modelled.sh DEVICE [FOLDER], e.g. h200}
folder=${2:-modelled}
side=${SIDE:-both}
. "$root/tests/gpu/needs_gpu.sh"
mkdir -p "$folder"

judge_all() {
    local on=$1 into=$2
    for package in "$LIGHTSPEED_PROBLEMS"/*/; do
        local slug files
        slug=$(basename "$package")
        mapfile -t files < <(grep -lE '^// expect: accepted' "$package"solutions/*.cu)
        for file in "$package"baseline.cu "$root/tests/gpu/slow/$slug"/*.cu; do
            [ -f "$file" ] && files+=("$file")
        done
        "$lightspeed" judge "$slug" "${files[@]}" --device "$on" --batch --json --quiet
    done >"$into"
}

if [ "$side" != measured ]; then
    judge_all emulated "$folder/modelled.jsonl"
fi
if [ "$side" != modelled ]; then
    needs_gpu "$device" "nothing was compared"
    judge_all "$device" "$folder/measured.jsonl"
fi
if [ -s "$folder/measured.jsonl" ] && [ -s "$folder/modelled.jsonl" ]; then
    python3 "$root/tests/gpu/modelled.py" "$folder/measured.jsonl" "$folder/modelled.jsonl" | tee "$folder/modelled.md"
fi
