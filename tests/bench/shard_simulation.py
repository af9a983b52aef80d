#!/usr/bin/env python3
"""Sharding simulated over measured costs, and checked against real runs with 1 and 2 workers.

A program that waits stands for a method, so that other work on the machine does not change what is measured: of each
cell as long as its parameter says, which the cost estimate cannot know. Measured are what a cell takes in the store's
own words, how long a worker, `merge` and the `sweep` at the end take beside that, and how these grow with the number of
cells. A run with W workers then is

    wall = worker(cells) + program + the longest shard + W * merge + merged * cells + sweep(cells)

where `program` is what starting the method's own program takes, out of a sweep in a single process.

The simulation draws cells from the measured ones and cuts them as `plan --shards` does (longest first, to the worker
with least), once blind (all estimates equal) and once with known costs (what `plan` has after a first run).

Usage: tests/bench/shard_simulation.py [--bin build/release/bin/qfs-bench] [--rounds 3]
"""

import argparse
import datetime
import heapq
import json
import os
import random
import sqlite3
import statistics
import subprocess
import tempfile
import time

SLEEPER = '''
import time
import qfs_method

def summarize(example, params):
    time.sleep(params["milliseconds"] / 1000)
    return example.text

qfs_method.serve(summarize, name="sleeper", version=1, params=[qfs_method.Param("milliseconds", "integer", default=1)])
'''


class Bench:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        with open(os.path.join(folder, "sleeper.py"), "w", encoding="utf-8") as file:
            file.write(SLEEPER)
        with open(os.path.join(folder, "data.jsonl"), "w", encoding="utf-8") as data:
            for i in range(4):
                data.write(json.dumps({"id": f"e{i}", "document": f"Item {i}.", "references": [f"Item {i}."]}) + "\n")

    def sweep(self, name, milliseconds, method=None):
        sleeper = {"method": "external", "label": "sleeper", "command": ["python3", "sleeper.py"], "fingerprint": ["sleeper.py"]}
        fields = {"id": "id", "document": "document", "query": "", "references": "references"}
        grid = {"milliseconds": milliseconds} if method is None else {"local_context": milliseconds}
        with open(os.path.join(self.folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump({"name": name, "tokenizer": "words", "datasets": [{"path": "data.jsonl", "fields": fields}],
                       "metrics": ["rouge"], "methods": [method or sleeper], "grid": grid}, file)
        return name + ".json"

    def seconds(self, *command, program=None):
        environment = {**os.environ, "QFS_BENCH": self.binary}
        start = time.perf_counter()
        done = subprocess.run([program or self.binary, *command], cwd=self.folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        return time.perf_counter() - start

    def cell_seconds(self, store):
        def at(text):
            return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
        db = sqlite3.connect(os.path.join(self.folder, store))
        rows = db.execute("SELECT started_at, ended_at FROM attempt").fetchall()
        db.close()
        spans = sorted((at(end), at(start)) for start, end in rows)
        ends = [end for end, _ in spans]
        # From end to end: what opens a cell's session comes before its attempt.
        return [ends[0] - spans[0][1]] + [end - before for before, end in zip(ends, ends[1:])]


def longest_shard(estimates, costs, workers):
    loads = [(0.0, w) for w in range(workers)]
    spent = [0.0] * workers
    for i in sorted(range(len(costs)), key=lambda i: (-estimates[i], i)):
        load, worker = heapq.heappop(loads)
        spent[worker] += costs[i]
        heapq.heappush(loads, (load + estimates[i], worker))
    return max(spent)


class Costs:
    """What a run takes beside its cells, in seconds, of `cells` cells: a constant and a part for each."""

    def __init__(self, bench, rounds):
        few, many = 10, 1000
        self.worker, self.end, self.merge = {}, {}, {}
        self.program = 0.0
        for cells in (few, many):
            file = bench.sweep(f"light{cells}", [k + 1 for k in range(cells)], {"method": "lead"})
            store = f"light{cells}.sqlite"
            bench.seconds("worker", file, "--shard", "1/1", "--store", store)
            self.worker[cells] = statistics.median(
                bench.seconds("worker", file, "--shard", "1/1", "--store", store) for _ in range(rounds))
            self.merge[cells] = bench.seconds("merge", f"merged{cells}.sqlite", store)
            self.end[cells] = statistics.median(
                bench.seconds("sweep", file, "--store", f"merged{cells}.sqlite") for _ in range(rounds))

    def of(self, table, cells):
        (few, at_few), (many, at_many) = sorted(table.items())
        slope = max(0.0, (at_many - at_few) / (many - few))
        return max(0.0, at_few - slope * few) + slope * cells

    def wall(self, cells, workers, longest):
        each = self.of(self.merge, 0)
        merged = self.of(self.merge, cells) - each
        return self.of(self.worker, cells) + self.program + longest + workers * each + merged + self.of(self.end, cells)


def check(bench, costs, rounds):
    """Real runs of the shell's script beside what the model says of them."""
    waits = [round(20 * 1.18 ** k) for k in range(20)]  # 20 ms to 0.46 s an example
    file = bench.sweep("waits", waits)
    whole = bench.seconds("sweep", file, "--allow-external", "--store", "one.sqlite")
    cells = bench.cell_seconds("one.sqlite")
    again = bench.seconds("sweep", file, "--allow-external", "--store", "one.sqlite")
    worker = bench.seconds("worker", file, "--allow-external", "--shard", "1/1", "--store", "one.sqlite")
    costs.program = max(0.0, whole - again - sum(cells)) + max(0.0, again - costs.of(costs.end, len(cells))) + max(
        0.0, worker - costs.of(costs.worker, len(cells)))
    print(f"starting a program: {costs.program:.2f} s", flush=True)
    for workers in (1, 2):
        walls = []
        for i in range(rounds):
            store = f"run{workers}-{i}.sqlite"
            bench.seconds("plan", file, "--allow-external", "--shards", str(workers), "--emit", "shell", "--store", store,
                          "--output", "run.sh")
            walls.append(bench.seconds("run.sh", program="sh"))
        # The program's own cut, as its manifest has it; estimates are equal, so cells go round.
        longest = longest_shard([1.0] * len(cells), cells, workers)
        model = costs.wall(len(cells), workers, longest)
        wall = statistics.median(walls)
        print(f"{len(cells)} cells, {workers} worker(s): {wall:.2f} s measured ({min(walls):.2f}–{max(walls):.2f}),"
              f" {model:.2f} s by the model ({100 * (model / wall - 1):+.0f} %)", flush=True)
    return cells


def simulate(costs, measured):
    draw = random.Random(12345)
    print("| cells | workers | longest/mean, blind | longest/mean, known costs | beside the cells, s | efficiency |")
    print("|---|---|---|---|---|---|")
    for cells in (10, 1000, 100_000):
        drawn = [draw.choice(measured) for _ in range(cells)]
        for workers in (2, 8, 64):
            if workers > cells:
                continue
            mean = sum(drawn) / workers
            blind = longest_shard([1.0] * cells, drawn, workers)
            known = longest_shard(drawn, drawn, workers)
            wall = costs.wall(cells, workers, known)
            print(f"| {cells:,} | {workers} | {blind / mean:.3f} | {known / mean:.3f} | {wall - known:.1f} | {mean / wall:.2f} |",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin/qfs-bench")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="qfs_simulation_") as folder:
        bench = Bench(os.path.abspath(options.bin), folder)
        costs = Costs(bench, options.rounds)
        for name in ("worker", "merge", "end"):
            table = getattr(costs, name)
            print(f"{name}: " + ", ".join(f"{seconds:.2f} s of {cells} cells" for cells, seconds in table.items()), flush=True)
        simulate(costs, check(bench, costs, options.rounds))


if __name__ == "__main__":
    main()
