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
import statistics
import subprocess
import sys
import tempfile

os.environ["RAYON_NUM_THREADS"] = "1"  # read when rouge_score_rs first starts its threads

import rouge_score.rouge_scorer  # noqa: E402
import rouge_score_rs  # noqa: E402

import qfs_bench  # noqa: E402
from interleaved import compare  # noqa: E402
from pairs import make_pairs, references  # noqa: E402
from qfs_bench.compat import rouge_scorer as compat  # noqa: E402

TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
SLOW_SHARE = 50  # rouge_score scores one pair in so many


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
        compare(f"{title}, in memory, {len(pairs)} pairs", pairs,
                {"qfs_bench.score": (ours, len(pairs)), "on two threads": (ours_on_two_threads, len(pairs)),
                 "qfs_bench.compat": (ours_drop_in, len(pairs)),
                 "rouge-score-rs 0.2.1": (rust, len(pairs)),
                 "rouge_score 0.1.2": (python, len(pairs[::SLOW_SHARE]))}, options.rounds)
        compare(f"{title}, in memory, no stemming, {len(pairs)} pairs", pairs,
                {"qfs_bench.score": (ours_unstemmed, len(pairs)),
                 "rouge-score-rs 0.2.1, 1/2/L only": (rust_unstemmed, len(pairs))}, options.rounds)
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            for copy in range(10):
                for i, (target, prediction) in enumerate(pairs):
                    file.write(json.dumps({"id": f"{copy}-{i}", "prediction": prediction,
                                           "references": [target]}) + "\n")
            file.flush()
            compare(f"{title}, file in and scores out, {10 * len(pairs)} pairs", file.name,
                    {"qfs-bench score": (ours_file, 10 * len(pairs)),
                     "with intervals of 1,000 resamples": (ours_file_with_intervals, 10 * len(pairs)),
                     "rouge-score-rs 0.2.1 in a script": (rust_file, 10 * len(pairs))}, options.rounds)


if __name__ == "__main__":
    main()
