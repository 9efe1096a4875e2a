"""Spread over judgings of one submission: reports, one a line, on standard input.

    lightspeed judge vector_add baseline.cu --batch --repeat 10 --json | python3 tests/gpu/repeatability.py
"""

import json
import statistics
import sys


def spread(values):
    """(max - min) / median, in percent."""
    return 100 * (max(values) - min(values)) / statistics.median(values)


reports = [json.loads(line) for line in sys.stdin if line.strip()]
verdicts = sorted({report["verdict"] for report in reports})
print(f"{len(reports)} judgings, verdicts {verdicts}")
scores = [report["score"]["value"] for report in reports if report["score"]]
if scores:
    print(f"score: median {statistics.median(scores):.4f}, spread {spread(scores):.3f} %")
for shapes in zip(*(report["shapes"] for report in reports)):
    times = [shape["t_s"] for shape in shapes if shape.get("t_s")]
    if times:
        median_us = 1e6 * statistics.median(times)
        print(f"  {shapes[0]['id']:28} median {median_us:10.3f} us, spread {spread(times):.3f} %")
        timings = [shape["timing"] for shape in shapes]
        for name in ["slope_s", "slope_by_timer_s"]:
            slopes = [1e6 * timing[name] for timing in timings if timing and timing[name]]
            if slopes:
                print(f"    {name:26} {min(slopes):10.3f} to {max(slopes):.3f} us")
        differ = sum(timing["timers_agree"] is False for timing in timings if timing)
        if differ:
            print(f"    two timers differ in {differ} of {len(timings)}")
for phase in ["total", "compile", "execute", "check", "time", "overhead"]:
    seconds = [report["phases_s"][phase] or 0.0 for report in reports]
    print(f"{phase} of a judging: median {statistics.median(seconds):.2f} s")
