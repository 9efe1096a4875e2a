"""The emulated device's counters beside a profiler's: tests/gpu/counters.sh calls it.

    python3 tests/gpu/counters.py --metrics
    python3 tests/gpu/counters.py emulated.tsv ncu.csv
"""

import csv
import sys

L1 = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
OPERATIONS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
# Each counter as a sum of metrics, each with its weight.
COUNTERS = {
    "global_requests": {L1.format("requests", op): 1 for op in ("ld", "st", "atom", "red")},
    "global_load_sectors": {L1.format("sectors", "ld"): 1},
    "global_store_sectors": {L1.format("sectors", op): 1 for op in ("st", "atom", "red")},
    # Not the total over all operations: that has exchanges between lanes, and one a warp of a kernel without any.
    "shared_wavefronts": {WAVEFRONTS.format(op): 1 for op in ("ld", "st", "atom")},
    "flop_f32": {OPERATIONS.format(op): weight for op, weight in (("fadd", 1), ("fmul", 1), ("ffma", 2))},
    "flop_f64": {OPERATIONS.format(op): weight for op, weight in (("dadd", 1), ("dmul", 1), ("dfma", 2))},
    "warp_instructions": {"smsp__inst_executed.sum": 1},
    "thread_instructions": {"smsp__thread_inst_executed.sum": 1},
}
DIFFERENT = ("warp_instructions", "thread_instructions")


def profiled(path):
    """{kernel: {metric: value}}"""
    with open(path, newline="") as file:
        # Messages of ncu stand before the header.
        lines = [line for line in file if line.startswith('"')]
    found = {}
    for row in csv.DictReader(lines):
        kernel = row["Kernel Name"].split("(")[0].strip()
        found.setdefault(kernel, {})[row["Metric Name"]] = float(row["Metric Value"].replace(",", "") or "nan")
    return found


def emulated(path):
    found = {}
    for line in open(path):
        kernel, counter, value = line.rstrip("\n").split("\t")
        found.setdefault(kernel, {})[counter] = int(value)
    return found


def main():
    if sys.argv[1:] == ["--metrics"]:
        print(",".join(metric for metrics in COUNTERS.values() for metric in metrics))
        return 0
    ours, theirs = emulated(sys.argv[1]), profiled(sys.argv[2])
    missing = ours.keys() - theirs.keys()
    if missing:
        print("not profiled:", ", ".join(sorted(missing)))
    print("| kernel | counter | emulated | hardware | emulated / hardware |")
    print("| --- | --- | ---: | ---: | ---: |")
    equal = compared = 0
    for kernel, counters in ours.items():
        for counter, metrics in COUNTERS.items():
            if kernel not in theirs:
                continue
            hardware = sum(weight * theirs[kernel][metric] for metric, weight in metrics.items())
            counted = counters[counter]
            if not counted and not hardware:
                continue
            if counter not in DIFFERENT:
                compared += 1
                equal += counted == hardware
            ratio = f"{counted / hardware:.3f}" if hardware else "-"
            print(f"| {kernel} | {counter} | {counted} | {hardware:.0f} | {ratio} |")
    print(f"\n{equal} of {compared} counters equal, instructions left out")
    return 0 if not missing else 1


sys.exit(main())
