#!/usr/bin/env python3
"""BERTScore with all-MiniLM-L6-v2, layer 6, beside bert_score 0.3.13; float32, CPU, equal threads.

Needs: bert-score 0.3.13, transformers 5.23.0, torch 2.11.0 in the Python that runs this; a release build; the folder
that ./bootstrap.sh minilm prints.
Usage: bertscore_vs_peer.py --bench build/release/bin/qfs-bench --model FOLDER [--rounds 7] [--threads 2] [--pairs 500]

Pairs are 60 words each side out of the model's own vocabulary, new ones every round; rounds are interleaved, their
order rotates. Ours is the whole program, file in, scores out. bert_score is timed twice: as a program, too, and for
score() alone in a process that keeps its model loaded. Then one pair from a cold start, both as new processes with
files in the page cache.
Printed: medians, the ratio of the medians with a 95 % bootstrap interval, the largest difference of a value, and each
side's share of what the machine's limits allow for encoding all texts once, without padding: where a loaded bert_score
comes near it, nobody is much faster in float32.
Bars: program against program 1.5 times as fast; one pair in 0.8 s.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from interleaved import ratio_interval
from limits import Limits

WORDS = 60
THEIR_PROGRAM = """
import json, sys, torch, bert_score
torch.set_num_threads(int(sys.argv[2]))
rows = [json.loads(line) for line in open(sys.argv[3], encoding="utf-8")]
candidates, references = [row["prediction"] for row in rows], [row["references"][0] for row in rows]
f = bert_score.score(candidates, references, model_type=sys.argv[1], num_layers=6, device="cpu")[2]
json.dump(f.tolist(), sys.stdout)
"""


def make_pairs(seed, count, words):
    generator = random.Random(seed)
    return [[" ".join(generator.choices(words, k=WORDS)) for _ in range(2)] for _ in range(count)]


def write_pairs(path, pairs):
    path.write_text("".join(json.dumps({"id": str(i), "prediction": c, "references": [r]}) + "\n"
                            for i, (c, r) in enumerate(pairs)), encoding="utf-8")


class Ours:
    def __init__(self, bench, model, threads, folder):
        self.command = [bench, "score", "--metric", f"bertscore:model={model},layer=6", "--resamples", "0"]
        self.threads, self.folder = ["--threads", str(threads)], pathlib.Path(folder)
        self.environment = {**os.environ, "QFS_CACHE_DIR": folder}

    def __call__(self, pairs):
        texts, rows = self.folder / "texts.jsonl", self.folder / "rows.jsonl"
        write_pairs(texts, pairs)
        start = time.perf_counter()
        subprocess.run([*self.command, *self.threads, str(texts), "--per-example", str(rows)], check=True,
                       capture_output=True, env=self.environment)
        seconds = time.perf_counter() - start
        values = [next(iter(json.loads(line)["scores"].values())) for line in rows.read_text().splitlines()]
        return seconds, [value["bertscore.f"] for value in values]


class TheirProgram:
    def __init__(self, model, threads, folder):
        self.texts = pathlib.Path(folder) / "theirs.jsonl"
        self.command = [sys.executable, "-c", THEIR_PROGRAM, model, str(threads), str(self.texts)]

    def __call__(self, pairs):
        write_pairs(self.texts, pairs)
        start = time.perf_counter()
        answer = subprocess.run(self.command, check=True, capture_output=True, text=True).stdout
        return time.perf_counter() - start, json.loads(answer[answer.rindex("["):])


class TheirFunction:
    def __init__(self, model, threads):
        import bert_score
        import torch

        torch.set_num_threads(threads)
        self.scorer = bert_score.BERTScorer(model_type=model, num_layers=6, device="cpu")

    def __call__(self, pairs):
        candidates, references = zip(*pairs)
        start = time.perf_counter()
        f = self.scorer.score(list(candidates), list(references))[2]
        return time.perf_counter() - start, f.tolist()


def most_pairs(bench, model, threads, pairs, words):
    """Pairs a second that the machine's limits allow: the encoder over texts of the mean length."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    texts = [text for pair in make_pairs(1, min(pairs, 100), words) for text in pair]
    tokens = round(statistics.mean(len(ids) for ids in tokenizer(texts).input_ids))
    limits = Limits(bench, model, threads, prompt_tokens=[tokens])
    print(limits.text(), flush=True)
    return limits.most(phase="prefill") / (2 * tokens)


def report(name, peer, ours, theirs, bar, done=None):
    ratio = statistics.median(theirs) / statistics.median(ours)
    low, high = ratio_interval(ours, theirs)
    rate = f"  {done / statistics.median(ours):6.1f} against {done / statistics.median(theirs):6.1f} pairs/s" if done else ""
    print(f"{name:22} ours {statistics.median(ours):6.2f} s ({min(ours):.2f}-{max(ours):.2f})  {peer} "
          f"{statistics.median(theirs):6.2f} s ({min(theirs):.2f}-{max(theirs):.2f}){rate}  ratio {ratio:.2f} "
          f"[{low:.2f}, {high:.2f}]  {bar}", flush=True)
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=500)
    options = parser.parse_args()
    model = os.path.abspath(options.model)
    words = [word for word in (pathlib.Path(model) / "vocab.txt").read_text(encoding="utf-8").split("\n") if word.isalpha()]
    with tempfile.TemporaryDirectory(prefix="qfs_bench_") as folder:
        programs = {"ours": Ours(os.path.abspath(options.bench), model, options.threads, folder),
                    "bert_score, a program": TheirProgram(model, options.threads, folder),
                    "bert_score, loaded": TheirFunction(model, options.threads)}
        one = make_pairs(0, 1, words)
        for program in programs.values():  # files into the page cache, digests into ours
            program(one)
        seconds, largest, order = {name: [] for name in programs}, 0.0, list(programs)
        for number in range(options.rounds):
            pairs, values = make_pairs(number + 1, options.pairs, words), {}
            order = order[1:] + order[:1]
            for name in order:
                taken, values[name] = programs[name](pairs)
                seconds[name].append(taken)
            largest = max(largest, *(abs(a - b) for name in order for a, b in zip(values["ours"], values[name])))
        ratios = {peer: report(f"{options.pairs} pairs", peer, seconds["ours"], seconds[peer], bar, options.pairs)
                  for peer, bar in (("bert_score, a program", "bar 1.5"), ("bert_score, loaded", ""))}
        most = most_pairs(os.path.abspath(options.bench), model, options.threads, options.pairs, words)
        share = ", ".join(f"{name} {options.pairs / statistics.median(taken) / most:.0%}"
                          for name, taken in seconds.items())
        print(f"{'':22} limit {most:.1f} pairs/s: {share}")
        print(f"{'':22} load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, largest difference of F {largest:.1e}")
        cold = {name: [] for name in order if name != "bert_score, loaded"}
        for _ in range(max(options.rounds // 2, 1)):
            for name, times in cold.items():
                times.append(programs[name](one)[0])
        report("one pair, cold start", "bert_score", cold["ours"], cold["bert_score, a program"], "bar 0.8 s")
    met = ratios["bert_score, a program"] >= 1.5 and statistics.median(cold["ours"]) <= 0.8 and largest <= 2e-5
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
