"""Random texts that Python and C++ make alike: SplitMix64 (Steele, Lea & Flood 2014) over the pieces of
rouge_texts.json, the Python half of tests/support/random_texts.h. Used by the scripts beside it.
"""

import json
import pathlib

TEXTS = json.loads((pathlib.Path(__file__).resolve().parent / "rouge_texts.json").read_text(encoding="utf-8"))
MASK = (1 << 64) - 1


class SplitMix64:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, bound):
        return self.next() % bound


def random_text(rng, words):
    """One text; `words` limits the vocabulary, so that few words repeat often."""
    kind = rng.below(16)
    if kind == 0:
        return ""
    length = 1 + rng.below(12 if kind < 8 else 40 if kind < 15 else 150)
    text = ""
    for _ in range(length):
        text += TEXTS["words"][rng.below(words)] + TEXTS["separators"][rng.below(len(TEXTS["separators"]))]
    return text


def random_pair(rng):
    """(reference, candidate)"""
    words = [5, 20, len(TEXTS["words"])][rng.below(3)]
    reference = random_text(rng, words)
    return reference, random_text(rng, words)
