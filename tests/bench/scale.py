#!/usr/bin/env python3
"""Planning at scale (bars: `plan` of 100,000 cells under 5 s and 1 GiB; what is missing among 10 million stored
rows under 1 s; merging, exporting and importing beside them).

--cells N plans a sweep of N cells (lead, lengths and seeds) with and without a store. --rows N plans 100 cells
whose N outputs are in a store: one that the program made with one example a cell is filled by SQL, which takes
minutes, so --store names a file that is kept. Wall time and peak memory of each command, --rounds times.

Usage: tests/bench/scale.py [--bin build/release/bin/qfs-bench] [--cells 100000] [--rows 10000000] [--store rows.sqlite]
"""

import argparse
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import tempfile
import time


def write_sweep(folder, name, examples, **members):
    with open(os.path.join(folder, "data.jsonl"), "w", encoding="utf-8") as data:
        for i in range(examples):
            data.write(json.dumps({"id": f"e{i}", "document": f"Item {i} is on shelf {i % 9}.\nNothing else.",
                                   "query": f"Where is item {i}?", "references": [f"Shelf {i % 9}."]}) + "\n")
    fields = {"id": "id", "document": "document", "query": "query", "references": "references"}
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": name, "tokenizer": "words", "datasets": [{"path": "data.jsonl", "fields": fields}],
                   "metrics": ["rouge"], **members}, file)
    return path


def run(command, cwd):
    """(seconds, processor seconds, peak MiB of all children so far)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd)
    _, err = process.communicate()
    spent = time.perf_counter() - start
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}\n{err.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, cpu, after.ru_maxrss / 1024


def show(name, command, cwd, rounds, bar=None):
    runs = [run(command, cwd) for _ in range(rounds)]
    median = statistics.median(spent for spent, _, _ in runs)
    cpu = statistics.median(cpu for _, cpu, _ in runs)
    verdict = "" if bar is None else f"  (bar {bar} s)  {'ok' if median < bar else 'MISSED'}"
    print(f"{name:<46} {median:7.2f} s, {cpu:.2f} s of processor time, peak {max(run[2] for run in runs):.0f} MiB{verdict}",
          flush=True)


def plan_cells(binary, cells, rounds):
    with tempfile.TemporaryDirectory(prefix="qfs_scale_") as folder:
        sweep = write_sweep(folder, "wide", 4, methods=[{"method": "random"}],
                            grid={"local_context": [k + 1 for k in range(cells // 100)]}, seeds=list(range(100)))
        show(f"plan of {cells:,} cells, no store", [binary, "plan", sweep], folder, rounds, 5)
        show("plan --shards 64 --emit shell", [binary, "plan", sweep, "--shards", "64", "--emit", "shell"], folder, rounds, 5)


def fill(store, rows):
    """Each result gets its cell's whole ordinals; outputs are copies of its first one."""
    db = sqlite3.connect(store)
    db.execute("PRAGMA synchronous=OFF")
    results = db.execute("SELECT result_id, attempt_id, output_sha256, text, finish, tokens_in, tokens_out, repaired_bytes,"
                         " truncation, prompt_sha256, extra FROM output GROUP BY result_id").fetchall()
    each = rows // len(results)
    for result, attempt, *rest in results:
        db.executemany("INSERT OR IGNORE INTO output (result_id, ordinal, attempt_id, output_sha256, text, finish, tokens_in,"
                       " tokens_out, repaired_bytes, truncation, prompt_sha256, extra) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                       ((result, ordinal, attempt, *rest) for ordinal in range(each)))
        db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def find_missing(binary, rows, store, rounds):
    """The sweep that is planned is one among those whose rows fill the store."""
    with tempfile.TemporaryDirectory(prefix="qfs_scale_") as folder:
        sweep = write_sweep(folder, "tall", 20, methods=[{"method": "lead"}, {"method": "random"}],
                            grid={"local_context": [k + 1 for k in range(50)]})
        if not os.path.exists(store):
            run([binary, "sweep", sweep, "--store", store], folder)
            fill(store, rows)
            print(f"made {store}: {os.path.getsize(store) / 2**30:.1f} GiB", flush=True)
        show(f"what is missing among {rows:,} rows", [binary, "plan", sweep, "--store", store], folder, rounds, 1)
        show("the same, one cell", [binary, "plan", sweep, "--store", store, "--filter", "method=lead,local_context=16"],
             folder, rounds, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin/qfs-bench")
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--store", default="rows.sqlite")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    binary = os.path.abspath(options.bin)
    if options.cells:
        plan_cells(binary, options.cells, options.rounds)
    if options.rows:
        find_missing(binary, options.rows, os.path.abspath(options.store), options.rounds)


if __name__ == "__main__":
    main()
