"""Pairs of references of one question, as the benchmarks beside this file score them.

Sentences are on lines: two references joined for the long pairs (about 230 words), first sentences for the
short ones (20-65 words). Of SQuALITY's JSON lines, or of the bundled stories.
"""

import json
import pathlib
import random
import re

BUNDLED = pathlib.Path(__file__).parents[2] / "datasets/mini/stories"


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
