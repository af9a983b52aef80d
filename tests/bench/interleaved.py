"""Rounds of several programs, interleaved, as the benchmarks beside this file print them."""

import random
import statistics
import time

RESAMPLES = 2000


def seconds(call, argument):
    start = time.perf_counter()
    call(argument)
    return time.perf_counter() - start


def interval(ratios):
    """Percentile bootstrap of the median."""
    generator = random.Random(11)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]


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
            low, high = interval(ratios)
            text += f"   ours / this: {statistics.median(ratios):.1f} [{low:.1f}, {high:.1f}]"
        print(text, flush=True)
