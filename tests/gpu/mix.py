"""Judgings per hour and shares of the time, from reports on standard input, one a line (see mix.sh)."""

import collections
import datetime
import json
import sys

reports = [json.loads(line) for line in sys.stdin if line.strip()]
seconds = collections.Counter()
for report in reports:
    phases = {name: value or 0.0 for name, value in report["phases_s"].items()}
    timed = sum(
        sum(trial["samples_s"])
        for shape in report["shapes"]
        for trial in (shape.get("timing") or {}).get("trials", [])
    )
    seconds["timed spans"] += timed
    seconds["generating, settling, verifying, warming up"] += phases["time"] - timed
    seconds["checks: runs, reference, comparison"] += phases["check"] + phases["execute"]
    seconds["waiting for the compiler"] += phases["compile"] + phases["plan"]
    seconds["everything else"] += phases["overhead"]
total = sum(seconds.values())
# Phases overlap where there is no card to wait for; the clock does not.
moment = datetime.datetime.fromisoformat
wall = sum((moment(r["finished_at"]) - moment(r["started_at"])).total_seconds() for r in reports)
print(f"{len(reports)} judgings in {wall:.0f} s: {3600 * len(reports) / wall:.0f} an hour")
for verdict, count in collections.Counter(report["verdict"] for report in reports).most_common():
    print(f"  {count:3} {verdict}")
for name, value in seconds.most_common():
    print(f"  {100 * value / total:5.1f} % {name}")
