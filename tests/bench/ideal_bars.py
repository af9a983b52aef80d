"""IDEAL's bars of speed, each a ratio of what took turns in one process: generation and a training step beside LoRA's,
a token with the query-focused memory beside one of full attention. Medians of the rounds' ratios, with 95 % bootstrap
intervals.

Usage: ideal_bars.py BUILD/bin [--model smollm2-135m] [--threads N] [--rounds 15] [--window 512] [--tokens 1024]

Needs -DQFS_BENCHMARKS=ON and a quiet machine: beside other work a ratio says little, and the load is printed. Ends
with 1 where a bar is not met.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

from interleaved import percentiles

BARS = {"generation": 1.05, "step": 1.1, "qf_infini": 1.1}
NAMES = {"generation": "IDEAL generation / LoRA's", "step": "IDEAL training step / LoRA's",
         "qf_infini": "query-focused token / full attention's"}


def measured(program, *arguments):
    # A short spin: beside a busy neighbour the default makes two threads wait for each other.
    run = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=True,
                         env={**os.environ, "GOMP_SPINCOUNT": "10000"})
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--window", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=1024)
    given = parser.parse_args()
    before = os.getloadavg()[0]
    ideal = measured(given.bin / "qfs_bench_ideal", given.model, given.threads, "bfloat16", given.tokens, given.rounds)
    infini = measured(given.bin / "qfs_bench_infini", given.model, given.threads, given.window, given.rounds)
    times = {"generation": (ideal["generation_s"]["ideal"], ideal["generation_s"]["lora"]),
             "step": (ideal["step_s"]["ideal"], ideal["step_s"]["lora"]),
             "qf_infini": (infini["qf_infini_ms"], infini["full_ms"])}
    missed = False
    for name, bar in BARS.items():
        ratios = [own / other for own, other in zip(*times[name])]
        median = statistics.median(ratios)
        low, high = percentiles(ratios, statistics.median)
        missed |= median > bar
        print(f"{NAMES[name]:42} {median:.3f} [{low:.3f}, {high:.3f}]   bar {bar:.2f}: {'NOT met' if median > bar else 'met'}")
    print(f"medians of {given.rounds} rounds, {given.threads} threads; load before and after: {before:.1f}, "
          f"{os.getloadavg()[0]:.1f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
