#!/usr/bin/env bash
# Every figure of docs/measurement.md, on a machine with a GPU: needs a built `lightspeed`, the problem
# packages and a toolchain folder with CUPTI (LIGHTSPEED_TOOLCHAIN); neither Rust, Postgres nor network.
# The calibration's and the experiments' tables are kept in FOLDER, as Markdown and as JSON.
#
#   LIGHTSPEED=path/to/lightspeed LIGHTSPEED_TOOLCHAIN=path LIGHTSPEED_STATE=path tests/gpu/figures.sh h200 [FOLDER]
#
# ONLY=card leaves the judgings out, ONLY=judgings the card.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
lightspeed=${LIGHTSPEED:-$root/target/release/lightspeed}
export LIGHTSPEED_PROBLEMS=${LIGHTSPEED_PROBLEMS:-$root/problems}
device=${1:?usage: figures.sh DEVICE [FOLDER], e.g. h200}
folder=${2:-figures}
only=${ONLY:-all}
. "$root/tests/gpu/needs_gpu.sh"
needs_gpu "$device" "nothing was measured"
mkdir -p "$folder"

# `keep FILE COMMAND...`: what a command that fails has printed takes the place of no earlier record.
keep() {
    local file=$1
    shift
    "$@" >"$file.new" && mv "$file.new" "$file"
}

if [ "$only" != judgings ]; then
    echo "== what the card reaches"
    "$lightspeed" calibrate | tee "$folder/calibration.txt"
    keep "$folder/calibration.json" "$lightspeed" calibrate --json --quiet
    echo "== experiments"
    for experiment in timers flush evict_last warm_up sample_cost cupti_overhead; do
        # JSON is the record; the table is read while the next one runs.
        keep "$folder/$experiment.json" "$lightspeed" __measure "$experiment" --json --quiet || continue
        python3 "$root/tests/gpu/tables.py" "$folder/$experiment.json" | tee "$folder/$experiment.md"
    done
    keep "$folder/no_cupti.json" "$lightspeed" __measure cupti_overhead --without-cupti --json --quiet &&
        python3 "$root/tests/gpu/tables.py" "$folder/no_cupti.json" | tee "$folder/no_cupti.md"
    echo "== the profiler as a third opinion"
    "$root/tests/gpu/ncu.sh" 0 "$folder" | tee "$folder/ncu.md"
fi
[ "$only" = card ] && exit

echo "== every solution of every package comes to its verdict"
for package in "$LIGHTSPEED_PROBLEMS"/*/; do
    "$lightspeed" problem verify "$package" --device "$device"
done
echo "== host code that only a GPU runs to its end"
LIGHTSPEED=$lightspeed "$root/tests/gpu/host_code.sh" "$device"
echo "== one submission judged ten times, back to back and with pauses"
baseline=$LIGHTSPEED_PROBLEMS/vector_add/baseline.cu
for pause in 0 30; do
    echo "-- $pause s between two"
    "$lightspeed" judge vector_add "$baseline" --device "$device" --batch --repeat 10 \
        --pause-s "$pause" --json 2>/dev/null | python3 "$root/tests/gpu/repeatability.py"
done
echo "== a queue"
FIRST=${FIRST:-5} LIGHTSPEED=$lightspeed "$root/tests/gpu/mix.sh" "$device"
echo "== submit to verdict, practice"
for slug in vector_add softmax_1d fused_add_rms_norm; do
    "$lightspeed" judge "$slug" "$LIGHTSPEED_PROBLEMS/$slug/baseline.cu" --device "$device" --mode practice \
        --batch --repeat 9 --pause-s 1.5 --json 2>/dev/null | python3 "$root/tests/gpu/repeatability.py"
done
