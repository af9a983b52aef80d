#!/usr/bin/env python3
"""ROUGE-1/2/L/Lsum with stemming, P/R/F an item, beside rouge-score-rs and rouge_score; one thread, one process.

Needs: rouge-score-rs 0.2.1, rouge_score 0.1.2 and our wheel (./bootstrap.sh wheel) in the Python that runs this.
Usage: tests/bench/rouge_vs_peers.py [--data SQUALITY.jsonl] [--pairs 2000] [--rounds 7]

Pairs are references of one question, sentences on lines: two joined for the long ones (about 230 words), the
first sentences for the short ones (20-65 words). Every round makes new scorers, so that caches begin empty;
rounds are interleaved. Printed: pairs/s (median, range) and our ratio to each peer with a 95 % interval over rounds.
Bars: 10x rouge-score-rs on long pairs, 5x on short ones; 1,000x and 500x rouge_score; faster than
rouge-score-rs where it is best (ROUGE-1/2/L without stemming, where ours computes Lsum too).
"""

import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["RAYON_NUM_THREADS"] = "1"  # read when rouge_score_rs first starts its threads

import rouge_score.rouge_scorer  # noqa: E402
import rouge_score_rs  # noqa: E402

import qfs_bench  # noqa: E402
from qfs_bench.compat import rouge_scorer as compat  # noqa: E402

TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
BUNDLED = pathlib.Path(__file__).parents[2] / "datasets/mini/stories"
RESAMPLES = 2000
SLOW_SHARE = 50  # rouge_score scores one pair in so many


def references(path):
    """Lists of the references of one question."""
    files = [pathlib.Path(path)] if path else sorted(BUNDLED.glob("*.jsonl"))
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            for question in json.loads(line)["questions"]:
                yield [r["response_text"] for r in question["responses"]]


def on_lines(text):
    return "\n".join(re.split(r"(?<=[.!?]) +", " ".join(text.split())))


def shortened(text, words):
    lines, count = [], 0
    for line in on_lines(text).split("\n"):
        if lines and count + len(line.split()) > words:
            break
        lines.append(line)
        count += len(line.split())
    return "\n".join(lines)


def make_pairs(groups, count, long):
    generator = random.Random(7)
    pairs = []
    while len(pairs) < count:
        a, b = generator.sample(generator.choice(groups), 2)
        if long:
            c, d = generator.sample(generator.choice(groups), 2)
            pairs.append((on_lines(a + " " + c), on_lines(b + " " + d)))
        else:
            pairs.append((shortened(a, 60), shortened(b, 60)))
    return pairs


def ours(pairs, profile="rouge_score", threads=1):
    scores = qfs_bench.score([p for _, p in pairs], [t for t, _ in pairs], profile, threads=threads, resamples=0)
    return [scores.per_item[column] for column in scores]


def ours_unstemmed(pairs):
    return ours(pairs, "rouge:stem=off")


def ours_on_two_threads(pairs):
    return ours(pairs, threads=2)


def ours_drop_in(pairs):
    scorer = compat.RougeScorer(TYPES, use_stemmer=True)
    for target, prediction in pairs:
        scorer.score(target, prediction)


def rust(pairs):
    scorer = rouge_score_rs.RougeScorer(TYPES, use_stemmer=True)
    scorer.score_batch([t for t, _ in pairs], [p for _, p in pairs])


def rust_unstemmed(pairs):
    scorer = rouge_score_rs.RougeScorer(TYPES[:3], use_stemmer=False)
    scorer.score_batch([t for t, _ in pairs], [p for _, p in pairs])


def python(pairs):
    scorer = rouge_score.rouge_scorer.RougeScorer(TYPES, use_stemmer=True)
    for target, prediction in pairs[::SLOW_SHARE]:
        scorer.score(target, prediction)


def ours_file(path, resamples=0):
    program = pathlib.Path(sys.executable).parent / "qfs-bench"
    subprocess.run([program, "score", "--profile", "rouge_score", path, "--threads", "1", "--json",
                    "--resamples", str(resamples)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ours_file_with_intervals(path):
    ours_file(path, 1000)


RUST_FILE = """
import json, sys, rouge_score_rs
records = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
scorer = rouge_score_rs.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=True)
scores = scorer.score_batch([r["references"][0] for r in records], [r["prediction"] for r in records])
print(json.dumps({k: sum(s[k].fmeasure for s in scores) / len(scores) for k in scores[0]}))
"""


def rust_file(path):
    subprocess.run([sys.executable, "-c", RUST_FILE, path], check=True, stdout=subprocess.DEVNULL)


def seconds(call, argument):
    start = time.perf_counter()
    call(argument)
    return time.perf_counter() - start


def interval(ratios):
    """Percentile bootstrap of the median."""
    generator = random.Random(11)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]


def compare(title, argument, count, calls, rounds):
    """calls: name -> (function, pairs that it scores); the first one is ours."""
    rates = {name: [] for name in calls}
    for _ in range(rounds):
        for name, (call, scored) in calls.items():
            rates[name].append(scored / seconds(call, argument))
    print(f"{title}, {count} pairs")
    first = next(iter(calls))
    for name, values in rates.items():
        text = f"  {name:34} {statistics.median(values):10.0f} pairs/s ({min(values):.0f}-{max(values):.0f})"
        if name != first:
            ratios = [a / b for a, b in zip(rates[first], values)]
            low, high = interval(ratios)
            text += f"   ours / this: {statistics.median(ratios):.1f} [{low:.1f}, {high:.1f}]"
        print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    groups = [group for group in references(options.data) if len(group) > 1]
    for long in (True, False):
        pairs = make_pairs(groups, options.pairs, long)
        words = statistics.mean(len(t.split()) for pair in pairs for t in pair)
        lines = statistics.mean(t.count("\n") + 1 for pair in pairs for t in pair)
        title = f"{words:.0f} words in {lines:.1f} sentences"
        compare(title + ", in memory", pairs, len(pairs),
                {"qfs_bench.score": (ours, len(pairs)), "on two threads": (ours_on_two_threads, len(pairs)),
                 "qfs_bench.compat": (ours_drop_in, len(pairs)),
                 "rouge-score-rs 0.2.1": (rust, len(pairs)),
                 "rouge_score 0.1.2": (python, len(pairs[::SLOW_SHARE]))}, options.rounds)
        compare(title + ", in memory, no stemming", pairs, len(pairs),
                {"qfs_bench.score": (ours_unstemmed, len(pairs)),
                 "rouge-score-rs 0.2.1, 1/2/L only": (rust_unstemmed, len(pairs))}, options.rounds)
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            for copy in range(10):
                for i, (target, prediction) in enumerate(pairs):
                    file.write(json.dumps({"id": f"{copy}-{i}", "prediction": prediction,
                                           "references": [target]}) + "\n")
            file.flush()
            compare(title + ", file in and scores out", file.name, 10 * len(pairs),
                    {"qfs-bench score": (ours_file, 10 * len(pairs)),
                     "with intervals of 1,000 resamples": (ours_file_with_intervals, 10 * len(pairs)),
                     "rouge-score-rs 0.2.1 in a script": (rust_file, 10 * len(pairs))}, options.rounds)


if __name__ == "__main__":
    main()
