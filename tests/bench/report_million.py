#!/usr/bin/env python3
"""`report` over a store of a million example rows (bar: under 1 s with --filter).

Makes the store with the program itself: 100 cells (lead and random, 50 lengths) of 10,000 examples each,
ROUGE and all. That takes minutes, so --store names a file that is kept and used again. Each command is run
--rounds times in turn; medians with the range. A first read by the page cache is not in the rounds.

Usage: tests/bench/report_million.py [--bin build/release/bin/qfs-bench] [--store million.sqlite] [--rounds 7]
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

EXAMPLES = 10_000
LENGTHS = 50

COMMANDS = [
    ("report --filter, one cell", ["--filter", "method=lead,local_context=16"], 1),
    ("report --filter, half of the cells", ["--filter", "method=lead"], 1),
    ("the same, values as columns, LaTeX", ["--filter", "method=lead", "--columns", "values", "--format", "latex"], 1),
    ("report", [], None),
    ("report --coverage --filter, one cell", ["--coverage", "--filter", "method=lead,local_context=16"], None),
]


def write_sweep(folder):
    with open(os.path.join(folder, "data.jsonl"), "w", encoding="utf-8") as data:
        for i in range(EXAMPLES):
            data.write(json.dumps({
                "id": f"e{i}", "document": "\n".join(f"Item {i * 7 + j} is on shelf {j % 9}." for j in range(12)),
                "query": f"Where is item {i * 7 + 3}?", "references": [f"Item {i * 7 + 3} is on shelf 3."]}) + "\n")
    sweep = os.path.join(folder, "million.json")
    with open(sweep, "w", encoding="utf-8") as file:
        json.dump({
            "name": "million", "tokenizer": "words", "methods": [{"method": "lead"}, {"method": "random"}],
            "datasets": [{"path": "data.jsonl", "fields": {"id": "id", "document": "document", "query": "query",
                                                           "references": "references"}}],
            "grid": {"local_context": [k + 1 for k in range(LENGTHS)]}, "metrics": ["rouge"],
            "report": {"rows": ["method"], "columns": ["local_context"],
                       "values": ["rouge1.f", "rougeL.f"]}}, file)
    return sweep


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin/qfs-bench")
    parser.add_argument("--store", default="million.sqlite")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    binary = os.path.abspath(options.bin)
    if not os.path.exists(options.store):
        with tempfile.TemporaryDirectory(prefix="qfs_million_") as folder:
            spent = seconds([binary, "sweep", write_sweep(folder), "--store", options.store, "--quiet"])
        print(f"made {options.store} in {spent:.0f} s, {os.path.getsize(options.store) / 2**20:.0f} MiB")
    commands = [(name, [binary, "report", "--store", options.store, *words], bar) for name, words, bar in COMMANDS]
    times = {name: [] for name, _, _ in commands}
    for i in range(options.rounds + 1):
        for name, command, _ in commands:
            spent = seconds(command)
            if i > 0:
                times[name].append(spent)
    for name, _, bar in commands:
        median = statistics.median(times[name])
        verdict = "" if bar is None else f"  (bar {bar} s)  {'ok' if median < bar else 'MISSED'}"
        print(f"{name:<40} {median:7.3f} s  [{min(times[name]):.3f}, {max(times[name]):.3f}]{verdict}")


if __name__ == "__main__":
    main()
