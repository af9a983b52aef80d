#!/usr/bin/env python3
"""Our segmenters beside Python's jieba, one thread, the same lines, interleaved rounds (bar: 20x).

Needs: jieba 0.42.1 in the Python that runs this; qfs_bench_jieba built with -DQFS_BENCHMARKS=ON.
Usage: tests/bench/segmenters_vs_jieba.py TEXT_FILE [--bin build/release/bin/qfs_bench_jieba] [--rounds 5]
Each round of ours is a new process; dictionaries are loaded before the clock starts on both sides.
"""

import argparse
import collections
import json
import logging
import os
import statistics
import subprocess
import time

import jieba


def python_round(lines):
    start = time.perf_counter()
    words = sum(len(jieba.lcut(line)) for line in lines)
    return words, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text")
    parser.add_argument("--bin", default="build/release/bin/qfs_bench_jieba")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    jieba.setLogLevel(logging.ERROR)
    jieba.initialize()
    with open(options.text, encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")
    megabytes = os.path.getsize(options.text) / 1e6
    environment = dict(os.environ, QFS_JIEBA_DIR=os.path.dirname(jieba.__file__))
    seconds = collections.defaultdict(list)
    words = {}
    for _ in range(options.rounds):
        words["python jieba"], spent = python_round(lines)
        seconds["python jieba"].append(spent)
        out = subprocess.run([options.bin, options.text, "1"], check=True, capture_output=True,
                             env=environment).stdout
        for row in map(json.loads, out.splitlines()):
            words[row["segmenter"]] = row["words"]
            seconds[row["segmenter"]].append(row["seconds"])
    base = statistics.median(seconds["python jieba"])
    for name, values in seconds.items():
        middle = statistics.median(values)
        rate = "" if name.startswith("load") else f"{megabytes / middle:8.1f} MB/s {base / middle:8.1f}x"
        print(f"{name:60} {words[name]:8} words {middle * 1e3:9.1f} ms "
              f"({min(values) * 1e3:.1f}-{max(values) * 1e3:.1f}) {rate}")


if __name__ == "__main__":
    main()
