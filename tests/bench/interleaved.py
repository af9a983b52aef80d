"""Rounds of several programs, interleaved, as the benchmarks beside this file print them."""

import json
import os
import random
import statistics
import subprocess
import sys
import time

RESAMPLES = 2000


class Child:
    """A program that stays loaded: a line of JSON in, a line of JSON out."""

    def __init__(self, command):
        # A short spin: beside a busy neighbour the default makes two threads wait for each other.
        environment = {**os.environ, "GOMP_SPINCOUNT": "10000", "TQDM_DISABLE": "1"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)

    def run(self, task):
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"a child ended: {self.process.args[0]}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def seconds(call, argument):
    start = time.perf_counter()
    call(argument)
    return time.perf_counter() - start


def percentiles(rounds, statistic):
    """95 % percentile bootstrap of a statistic of the rounds."""
    generator = random.Random(11)
    values = sorted(statistic(generator.choices(rounds, k=len(rounds))) for _ in range(RESAMPLES))
    return values[int(0.025 * RESAMPLES)], values[int(0.975 * RESAMPLES) - 1]


def ratio_interval(ours, theirs):
    """Of median(theirs) / median(ours), for times of the same rounds."""
    def ratio(rounds):
        own, other = zip(*rounds)
        return statistics.median(other) / statistics.median(own)

    return percentiles(list(zip(ours, theirs)), ratio)


def compare(title, argument, calls, rounds, unit="pairs"):
    """calls: name -> (function, units that it does); the first one is ours."""
    rates = {name: [] for name in calls}
    for _ in range(rounds):
        for name, (call, done) in calls.items():
            rates[name].append(done / seconds(call, argument))
    print(title)
    first = next(iter(calls))
    for name, values in rates.items():
        text = f"  {name:34} {statistics.median(values):10.0f} {unit}/s ({min(values):.0f}-{max(values):.0f})"
        if name != first:
            ratios = [a / b for a, b in zip(rates[first], values)]
            low, high = percentiles(ratios, statistics.median)
            text += f"   ours / this: {statistics.median(ratios):.1f} [{low:.1f}, {high:.1f}]"
        print(text, flush=True)
