#!/usr/bin/env python3
"""What the driver costs beside the methods' work.

Measures, as medians of interleaved rounds with the range:
  start          qfs-bench --version (bar: under 20 ms)
  cell           an extractive cell of one example beside its work (bar: under 50 ms)
  example        a `lead` cell of 1,000 examples, per example, store on tmpfs (bar: under 0.5 ms), and
                 the same with the store on the disk: the difference is the cost of fsync

Usage: tests/bench/driver_overhead.py [--bin build/release/bin/qfs-bench] [--rounds 7]
Absolute times mean little on a shared machine; compare the rows of one run.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

EXAMPLES = 1000


def sentence(i, j):
    return f"Sentence {j} of text {i} says that item {i * 7 + j} was moved to shelf {j % 9}."


def write_data(path, examples):
    with open(path, "w", encoding="utf-8") as data:
        for i in range(examples):
            data.write(json.dumps({
                "id": f"e{i}", "document": "\n".join(sentence(i, j) for j in range(15)),
                "query": f"Where was item {i * 7 + 3} moved?", "references": [sentence(i, 3)]}) + "\n")


def write_sweep(path, data, cells):
    contexts = [16 * (k + 1) for k in range(cells)]
    with open(path, "w", encoding="utf-8") as sweep:
        json.dump({
            "name": "overhead", "tokenizer": "words", "methods": [{"method": "lead"}],
            "datasets": [{"path": data, "fields": {"id": "id", "document": "document",
                                                   "query": "query", "references": "references"}}],
            "grid": {"local_context": contexts}, "metrics": ["rouge"],
            "report": {"rows": ["method"], "columns": ["local_context"], "values": ["rouge1.f"]}}, sweep)


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


class Bench:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.runs = 0

    def sweep(self, sweep, store_folder):
        self.runs += 1
        store = os.path.join(store_folder, f"store-{self.runs}.sqlite")
        return seconds([self.binary, "sweep", sweep, "--store", store, "--quiet"])

    def file(self, name, examples, cells):
        data = os.path.join(self.folder, name + ".jsonl")
        path = os.path.join(self.folder, name + ".json")
        write_data(data, examples)
        write_sweep(path, data, cells)
        return path


def line(name, samples, unit_s, unit, bar=None):
    values = sorted(s / unit_s for s in samples)
    verdict = "" if bar is None else ("  ok" if statistics.median(values) < bar else "  MISSED")
    limit = "" if bar is None else f"  (bar {bar} {unit})"
    print(f"{name:<44} {statistics.median(values):9.3f} {unit}"
          f"  [{values[0]:.3f}, {values[-1]:.3f}]{limit}{verdict}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin/qfs-bench")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="qfs_overhead_")
    tmpfs = tempfile.mkdtemp(prefix="qfs_overhead_", dir="/dev/shm")
    try:
        bench = Bench(os.path.abspath(options.bin), folder)
        one, eleven = bench.file("one", 1, 1), bench.file("eleven", 1, 11)
        many = bench.file("many", EXAMPLES, 1)
        start, cell, memory, disk = [], [], [], []
        for _ in range(options.rounds):
            start.append(seconds([bench.binary, "--version"]))
            cell.append((bench.sweep(eleven, folder) - bench.sweep(one, folder)) / 10)
            memory.append((bench.sweep(many, tmpfs) - bench.sweep(one, tmpfs)) / EXAMPLES)
            disk.append((bench.sweep(many, folder) - bench.sweep(one, folder)) / EXAMPLES)
        line("qfs-bench --version", start, 1e-3, "ms", 20)
        line("one more extractive cell, store on disk", cell, 1e-3, "ms", 50)
        line("one more example, store on tmpfs", memory, 1e-3, "ms", 0.5)
        line("one more example, store on disk", disk, 1e-3, "ms")
        line("cost of fsync an example", [d - m for d, m in zip(disk, memory)], 1e-3, "ms")
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(tmpfs)


if __name__ == "__main__":
    main()
