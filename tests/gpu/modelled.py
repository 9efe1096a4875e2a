"""How well modelled times rank kernels: reports of the same files from a GPU and from the emulated device.

    lightspeed judge PROBLEM FILES --device h200 --batch --json >> measured.jsonl
    lightspeed judge PROBLEM FILES --device emulated --batch --json >> modelled.jsonl
    python3 tests/gpu/modelled.py measured.jsonl modelled.jsonl

A line is a report with its `file`, as --batch prints it; a file judged several times counts with its median.
Scores are compared, not times: the emulated device runs shapes of its own, and each score is against the
limit of the shapes that it is of. Prints a table and Spearman's rank correlation, within each problem and
over all; the mean within problems is what matters, since nobody ranks kernels of two problems.
"""

import json
import os
import statistics
import sys


def scores(path, metric):
    """Median score by problem and file, and why others have none."""
    found, without = {}, {}
    with open(path, encoding="utf-8") as lines:
        for report in map(json.loads, filter(str.strip, lines)):
            key = (report["problem"]["slug"], os.path.basename(report["file"]))
            score = report["score"]
            if score and score["metric"] == metric and score["value"]:
                found.setdefault(key, []).append(score["value"])
            else:
                why = [w for w in report["warnings"] if w.startswith("no score")]
                without[key] = why[0] if why else report["verdict"]
    return {key: statistics.median(values) for key, values in found.items()}, without


def ranks(values):
    """From 1; equal values share the mean of their places."""
    order = sorted(values)
    place = {v: order.index(v) + (order.count(v) + 1) / 2 for v in order}
    return [place[v] for v in values]


def spearman(pairs):
    """Pearson's correlation of the ranks; None where one side is all alike."""
    a, b = (ranks(side) for side in zip(*pairs))
    if len(set(a)) == 1 or len(set(b)) == 1:
        return None
    return statistics.correlation(a, b)


def main(measured_path, modelled_path):
    measured, unmeasured = scores(measured_path, "sol")
    modelled, unmodelled = scores(modelled_path, "modelled_sol")
    both = sorted(measured.keys() & modelled.keys(), key=lambda key: (key[0], -measured[key]))
    if not both:
        sys.exit("no file has both a measured and a modelled score")
    print("| problem | file | measured | modelled | modelled / measured |")
    print("| --- | --- | --- | --- | --- |")
    for key in both:
        a, b = measured[key], modelled[key]
        print(f"| {key[0]} | {key[1]} | {a:.4f} | ~{b:.4f} | {b / a:.2f} |")
    print()
    print("| problem | files | Spearman |")
    print("| --- | --- | --- |")
    within = []
    for slug in sorted({key[0] for key in both}):
        pairs = [(measured[key], modelled[key]) for key in both if key[0] == slug]
        found = spearman(pairs) if len(pairs) > 1 else None
        if found is not None:
            within.append((len(pairs), found))
        print(f"| {slug} | {len(pairs)} | {'' if found is None else f'{found:.3f}'} |")
    whole = spearman([(measured[key], modelled[key]) for key in both])
    if within:
        mean = sum(n * found for n, found in within) / sum(n for n, _ in within)
        print(f"| mean within problems, by files | {sum(n for n, _ in within)} | {mean:.3f} |")
    print(f"| all together | {len(both)} | {'' if whole is None else f'{whole:.3f}'} |")
    for key in sorted(set(unmeasured) | set(unmodelled) - set(both)):
        why = unmeasured.get(key) or unmodelled.get(key)
        print(f"left out: {key[0]} {key[1]}: {why}")


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
