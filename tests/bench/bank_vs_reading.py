#!/usr/bin/env python3
"""What SelfCP's memory saves on SmolLM2-135M, as sweeps measure it on a CPU: demonstrations out of a bank beside reading
them, and segments that are compressed in a batch beside reading as many tokens.

Each round is a sweep of the same cells into a store of its own, whose timed hosts follow one another; the bank is made
once, of plain generated texts, by the connector that the repository carries. What the memory says does not matter here.
Printed: medians of the rounds, ratios of medians with 95 % bootstrap intervals, the load before and after.
Bars: the first token behind 32 demonstrations comes at least 5 times sooner, and what the prompt keeps of them takes at
most a quarter of the memory; 8 segments compressed at once cost at most what reading their tokens costs.

Memory is what a process has at its peak beyond that of the same cell without demonstrations.
Usage: bank_vs_reading.py BUILD/bin/qfs-bench [--model smollm2-135m] [--rounds 5] [--examples 2]
"""

import argparse
import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import tempfile

from interleaved import ratio_interval
from lingua_vs_tool import text_of

SHOTS, WINDOW, SEGMENTS = 32, 512, 8
DEMONSTRATION_TOKENS = 128
ARTIFACT = pathlib.Path(__file__).resolve().parents[2] / "experiments/artifacts/selfcp_qmsum/adapter.safetensors"


def write_examples(path, count, words, first):
    with open(path, "w", encoding="utf-8") as out:
        for i in range(first, first + count):
            out.write(json.dumps({"id": f"e{i}", "document": text_of(words, 31 * i), "query": f"What was said of item {i}?",
                                  "references": [text_of(12, i)]}) + "\n")


def write_sweep(folder, model, examples):
    fields = {"id": "id", "document": "document", "query": "query", "references": "references"}
    long, learned = ({"path": str(folder / name), "fields": fields} for name in ("long.jsonl", "learned.jsonl"))
    reading = {"backbone": model, "local_context": WINDOW, "max_new_tokens": 16}
    compressing = {"method": "selfcp", "ratio": 12, **reading}
    sweep = {
        "name": "bank", "tokenizer": model, "datasets": [long], "metrics": ["rouge"],
        "methods": [
            {"label": "bank", **compressing, "input_tokens": WINDOW, "bank": SHOTS, "shots": SHOTS, "demonstrations": "fixed", "objective": "bank",
             "demonstration_tokens": DEMONSTRATION_TOKENS, "training": {"train": learned, "init": {"adapter": str(ARTIFACT)}}},
            {"like": "bank", "label": "read", "shots_as": "tokens"},
            {"label": "none", **compressing, "artifact": {"adapter": str(ARTIFACT)}, "input_tokens": WINDOW},
            {"like": "none", "label": "segments", "input_tokens": WINDOW * (SEGMENTS + 1), "segment_batch": SEGMENTS},
            {"method": "zero_shot", "label": "whole", **reading, "local_context": WINDOW * SEGMENTS}],
        "measure": {"examples": examples, "warmup": 1, "repetitions": 1},
        "report": {"rows": ["method"], "values": ["first_token_ms", "peak_memory"]}}
    (folder / "bank.json").write_text(json.dumps(sweep), encoding="utf-8")


def run(program, command, folder, store):
    done = subprocess.run([program, command, folder / "bank.json", "--store", store, "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"qfs-bench ended with {done.returncode}:\n{done.stderr}")


def measured(store):
    """label -> nanoseconds a unit by phase, "peak" bytes."""
    found = {}
    with sqlite3.connect(store) as database:
        labels = dict(database.execute(
            "SELECT result_id, label FROM result JOIN sweep_cell USING (cell_id) WHERE kind = 'measure'"))
        for result, phase, ns in database.execute("SELECT result_id, phase, AVG(ns) FROM measurement GROUP BY 1, 2"):
            found.setdefault(labels[result], {})[phase] = ns
        for result, peak in database.execute("SELECT result_id, MAX(bytes) FROM memory WHERE kind = 'host_peak' GROUP BY 1"):
            found[labels[result]]["peak"] = peak
    return found


def say(name, ours, theirs, bar):
    low, high = ratio_interval(ours, theirs)
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(f"{name:52} {ratio:6.2f} [{low:.2f}, {high:.2f}]   bar {bar:g}: {'met' if ratio >= bar else 'NOT met'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--examples", type=int, default=2)
    given = parser.parse_args()
    before = os.getloadavg()[0]
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_examples(folder / "long.jsonl", given.examples, WINDOW * (SEGMENTS + 1), 0)
        write_examples(folder / "learned.jsonl", SHOTS, DEMONSTRATION_TOKENS, 1000)
        write_sweep(folder, given.model, given.examples)
        run(given.program, "train", folder, folder / "made.sqlite")
        for i in range(given.rounds):
            store = folder / f"round{i}.sqlite"
            shutil.copy(folder / "made.sqlite", store)
            shutil.copytree(folder / "made.artifacts", folder / f"round{i}.artifacts")
            run(given.program, "sweep", folder, store)
            rounds.append(measured(store))
            print(f"round {i + 1} of {given.rounds}", flush=True)

    def column(label, phase):
        return [found[label][phase] for found in rounds]

    def beyond(label):
        return [found[label]["peak"] - found["none"]["peak"] for found in rounds]

    say(f"first token behind {SHOTS} demonstrations, read / bank", column("bank", "first_token"), column("read", "first_token"), 5)
    say("memory of the demonstrations, read / bank", beyond("bank"), beyond("read"), 4)
    say(f"reading {SEGMENTS} segments' tokens / compressing them", column("segments", "compress"), column("whole", "prefill"), 1)
    print(f"medians of {given.rounds} rounds; load before and after: {before:.1f}, {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
