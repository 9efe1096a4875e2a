"""CUPTI's spans beside the profiler's: tests/gpu/ncu.sh calls it.

    python3 tests/gpu/ncu.py cupti.json ncu.csv

The experiment launches each row's kernel `n` times in the table's order; ncu lists its launches in that
order too, so that rows are matched by counting.
"""

import csv
import json
import statistics
import sys

METRIC = "gpu__time_duration.sum"
NANOSECONDS = {"ns": 1, "nsecond": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9}


def launches(path):
    """(kernel, microseconds) of every launch, in order."""
    with open(path, newline="") as file:
        # Messages of ncu stand before the header.
        lines = [line for line in file if line.startswith('"')]
    found = {}
    for row in csv.DictReader(lines):
        if row.get("Metric Name") == METRIC:
            value = float(row["Metric Value"].replace(",", ""))
            name = row["Kernel Name"].split("(")[0].strip()
            found[int(row["ID"])] = (name, value * NANOSECONDS[row["Metric Unit"]] / 1e3)
    return [found[number] for number in sorted(found)]


def quartiles(values):
    first, _, third = statistics.quantiles(values, n=4)
    return (third - first) / statistics.median(values) * 100


experiment = json.load(open(sys.argv[1]))[0]
if experiment["failed"]:
    sys.exit(f"the run without the profiler failed: {experiment['failed']}")
profiled = launches(sys.argv[2])
print("| kernel | CUPTI us | quartiles % | ncu us | quartiles % | n | CUPTI - ncu us | % | within 2 % or 0.2 us |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
at, apart = 0, 0
for name, kernel, n, span_us, spread in experiment["table"]["rows"]:
    n = int(n)
    mine = profiled[at : at + n]
    at += n
    if len(mine) < n or any(found != kernel for found, _ in mine):
        sys.exit(f"{name}: ncu lists {[found for found, _ in mine]} where {n} times {kernel} was launched")
    times = [time_us for _, time_us in mine]
    ncu_us = statistics.median(times)
    difference = span_us - ncu_us
    agrees = abs(difference) <= max(0.02 * ncu_us, 0.2)
    apart += not agrees
    print(
        f"| {name} | {span_us:.3f} | {spread:.2f} | {ncu_us:.3f} | {quartiles(times):.2f} | {n} "
        f"| {difference:+.3f} | {100 * difference / ncu_us:+.2f} | {'yes' if agrees else 'NO'} |"
    )
if at != len(profiled):
    print(f"\n{len(profiled) - at} more launches were profiled than matched")
print(f"\n{apart} rows are apart")
