#!/usr/bin/env bash
# Host code that only a GPU runs to its end: clusters, cooperative launches, tensor maps, captured graphs and
# the driver's launches, each an answer to vector_add under tests/gpu/host_code/. Judged one by one; the first
# line of each says the verdict. Needs a built `lightspeed` and a toolchain; tests/tests/host_code.rs judges
# the same files on the emulated device.
#
#   LIGHTSPEED=path/to/lightspeed LIGHTSPEED_TOOLCHAIN=path tests/gpu/host_code.sh h200
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
lightspeed=${LIGHTSPEED:-$root/target/release/lightspeed}
export LIGHTSPEED_PROBLEMS=${LIGHTSPEED_PROBLEMS:-$root/problems}
device=${1:?usage: host_code.sh DEVICE, e.g. h200}
. "$root/tests/gpu/needs_gpu.sh"
needs_gpu "$device" "nothing of tests/gpu/host_code was judged"
failed=0
for file in "$root"/tests/gpu/host_code/*.cu; do
    # Every GPU is expected to do what an H200 does.
    wanted=$(head -1 "$file" | python3 -c '
import sys
word = "emulated" if sys.argv[1] == "emulated" else "h200"
pairs = (pair.split() for pair in sys.stdin.read().split(":", 1)[1].split(","))
print(dict(pairs)[word])' "$device")
    report=$("$lightspeed" judge vector_add "$file" --device "$device" --mode practice --json --quiet 2>/dev/null)
    found=$(printf %s "$report" | python3 -c '
import json, sys
report = json.load(sys.stdin)
print("/".join(word for word in (report["verdict"], report.get("kind")) if word))')
    if [ "$found" = "$wanted" ]; then
        echo "ok      $(basename "$file"): $found"
    else
        failed=1
        echo "FAILED  $(basename "$file"): $found instead of $wanted"
        printf '%s\n' "$report" | python3 -c 'import json, sys; print("        " + str(json.load(sys.stdin).get("message")))'
    fi
done
exit $failed
