"""Speed of our LLaMA forward pass against transformers (SDPA) on the same GGUF file, float32, CPU.

Both programs stay loaded and take turns in every round (order alternating), same threads, same token
ids. Bars: prefill at least as fast, decoding at least 1.8 times as fast. Printed: medians, the ratio of
the medians with a 95 % bootstrap interval, and whether the greedy tokens agree; with --driver also what
the machine's limits allow (ours: packed weights as they are; transformers: float32) and each side's share.

transformers decodes by a plain loop over its forward pass (faster than generate()); a batch has rows of
equal length, which suits it best.

Needs torch 2.11.0, transformers 5.23.0, gguf, accelerate.
Usage: llama_vs_transformers.py --bench build/release/bin/qfs_bench_llama --model MODEL.gguf
       [--driver build/release/bin/qfs-bench] [--rounds 7] [--threads 2] [--only decode] [--json OUT.json]
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

from limits import Limits

TASKS = [
    ("prefill 512", {"tokens": 512, "batch": 1, "steps": 0}, 512, 1.0),
    ("prefill 2048", {"tokens": 2048, "batch": 1, "steps": 0}, 2048, 1.0),
    ("decode batch 1", {"tokens": 512, "batch": 1, "steps": 24}, 24, 1.8),
    ("decode batch 8", {"tokens": 128, "batch": 8, "steps": 12}, 96, 1.8),
]


def serve_transformers(model_path: str, threads: int) -> None:
    import torch
    import transformers

    torch.set_num_threads(threads)
    path = pathlib.Path(model_path)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name, dtype=torch.float32, attn_implementation="sdpa"
    ).eval()

    def prompt(tokens: int, row: int) -> list[int]:
        return [(i * 7919 + row * 104729 + i * i % 1009) % 40000 + 100 for i in range(tokens)]

    def run(tokens: int, batch: int, steps: int) -> dict:
        ids = torch.tensor([prompt(tokens, row) for row in range(batch)])
        cache = transformers.DynamicCache(config=model.config)
        begin = time.perf_counter()
        logits = model(input_ids=ids, past_key_values=cache, logits_to_keep=1).logits
        following = logits[:, -1].argmax(-1, keepdim=True)
        greedy = [int(following[0])]
        if steps > 0:
            begin = time.perf_counter()
        for _ in range(steps):
            logits = model(input_ids=following, past_key_values=cache, logits_to_keep=1).logits
            following = logits[:, -1].argmax(-1, keepdim=True)
            greedy.append(int(following[0]))
        return {"seconds": time.perf_counter() - begin, "ids": greedy}

    with torch.inference_mode():
        for line in sys.stdin:
            print(json.dumps(run(**json.loads(line))), flush=True)


def most_of(limits: dict[int, Limits], task: dict) -> dict:
    """Tokens a second at most, of either side."""
    if task["steps"] == 0:
        wanted = {"phase": "prefill", "tokens": task["tokens"]}
    else:
        wanted = {"phase": "decode", "batch": task["batch"]}
    here = limits[task["tokens"] if task["steps"] else 512]
    return {"ours": here.most(**wanted), "theirs": here.most(weights="float32", **wanted)}


class Child:
    def __init__(self, command: list[str]):
        # A short spin: beside a busy neighbour the default makes two threads wait for each other.
        environment = {**os.environ, "GOMP_SPINCOUNT": "10000", "TQDM_DISABLE": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(self, task: dict) -> dict:
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"a child ended: {self.process.args[0]}")
        return json.loads(line)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def ratio_interval(ours: list[float], theirs: list[float]) -> tuple[float, float]:
    """Percentile bootstrap of median(theirs) / median(ours), rounds resampled in pairs."""
    generator = random.Random(7)
    count = len(ours)
    ratios = []
    for _ in range(2000):
        picks = [generator.randrange(count) for _ in range(count)]
        ratios.append(
            statistics.median(theirs[i] for i in picks) / statistics.median(ours[i] for i in picks)
        )
    ratios.sort()
    return ratios[50], ratios[1949]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bench")
    parser.add_argument("--driver", help="qfs-bench, for the machine's limits")
    parser.add_argument("--model", required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--only", default="", help="run tasks whose name contains this")
    parser.add_argument("--serve-transformers", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_transformers:
        serve_transformers(options.model, options.threads)
        return

    ours = Child([options.bench, options.model, str(options.threads)])
    theirs = Child([sys.executable, __file__, "--serve-transformers", "--model", options.model,
                    "--threads", str(options.threads)])
    limits = {}
    if options.driver:
        limits = {context: Limits(options.driver, options.model, options.threads, context=context)
                  for context in (512, 128)}
        print(limits[512].text(), flush=True)
    rows, failed = [], False
    for name, task, tokens, bar in [entry for entry in TASKS if options.only in entry[0]]:
        seconds = {"ours": [], "theirs": []}
        agree = ours.run(task)["ids"] == theirs.run(task)["ids"]  # also the warm-up
        for number in range(options.rounds):
            order = [("ours", ours), ("theirs", theirs)]
            for key, child in order if number % 2 == 0 else reversed(order):
                seconds[key].append(child.run(task)["seconds"])
        low, high = ratio_interval(seconds["ours"], seconds["theirs"])
        median = {key: statistics.median(values) for key, values in seconds.items()}
        ratio = median["theirs"] / median["ours"]
        failed = failed or ratio < bar
        rows.append({"task": name, "tokens_per_second": {k: tokens / v for k, v in median.items()},
                     "best": {k: tokens / min(v) for k, v in seconds.items()},
                     "ratio": ratio, "low": low, "high": high, "bar": bar, "same_tokens": agree,
                     "seconds": seconds})
        print(f"{name:15} ours {tokens / median['ours']:7.1f}/s (best {tokens / min(seconds['ours']):7.1f})"
              f"  transformers {tokens / median['theirs']:7.1f}/s (best {tokens / min(seconds['theirs']):7.1f})"
              f"  ratio {ratio:5.2f} [{low:.2f}, {high:.2f}]  bar {bar}  "
              f"{'met' if ratio >= bar else 'MISSED'}  tokens {'equal' if agree else 'DIFFER'}", flush=True)
        if limits:
            most = most_of(limits, task)
            rows[-1]["most"] = most
            share = {key: tokens / median[key] / most[key] for key in most}
            print(f"{'':15} of the limit: ours {share['ours']:.0%} of {most['ours']:.1f}/s, transformers "
                  f"{share['theirs']:.0%} of {most['theirs']:.1f}/s", flush=True)
    ours.close()
    theirs.close()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
