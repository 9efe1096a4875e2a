"""Experiments' JSON as Markdown: `lightspeed __measure NAME --json > x.json; python3 tests/gpu/tables.py x.json`."""

import json
import sys


def text(cell, digits):
    if cell is None:
        return "-"
    return f"{cell:.{digits}f}" if isinstance(cell, (int, float)) else cell


for experiment in json.load(open(sys.argv[1])):
    print(f"## {experiment['name']}\n\n{experiment['question']}\n")
    if experiment["failed"]:
        print(f"FAILED: {experiment['failed']}\n")
        continue
    table = experiment["table"]
    print("| " + " | ".join(column["name"] for column in table["columns"]) + " |")
    print("|" + " --- |" * len(table["columns"]))
    for row in table["rows"]:
        cells = zip(row, table["columns"])
        print("| " + " | ".join(text(cell, column["digits"]) for cell, column in cells) + " |")
    for note in table["notes"]:
        print(f"\n{note}")
    print()
