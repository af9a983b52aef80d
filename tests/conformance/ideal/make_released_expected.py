"""Expected logits, loss and gradients where IDEAL's release (arXiv 2407.10486) reads segments its own way, in float64.

Model, adapters and memory are those of a case of ../models/peft/make_ideal_expected.py. Needs Python alone.
- readings: prompts of a batch are read in segments as far as the shortest has tokens (and the instruction reaches), and
  on from there token by token, as outputs are.
- drawn: in training each segment has dropout of its own in the hypernetwork, which reads the first segment for all of
  them. Numbers are those of harness/core/rng.h: what one below the rate falls on is dropped.

Usage: make_released_expected.py > released_expected.json
"""

import hashlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models/peft"))
import make_ideal_expected as ideal  # noqa: E402

ADAPTER = "ideal_lora_memory_as_released"
MASK = (1 << 64) - 1
RATE = 0.05
SEED, TRAINING_STEP = 174, 3  # by which no two segments lose the same, as is asserted


def numbers(seed, purpose, index):
    """Uniform in [0, 1): xoshiro256** (Blackman & Vigna 2018) begun by SplitMix64 at a hash."""
    hashed = hashlib.sha256(f"{seed}/{purpose}/{index}".encode()).digest()
    start = int.from_bytes(hashed[:8], "big")
    words = []
    for i in range(1, 5):
        z = (start + i * 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        words.append(z ^ (z >> 31))

    def turned(word, bits):
        return ((word << bits) | (word >> (64 - bits))) & MASK

    a, b, c, d = words
    while True:
        yield ((turned(b * 5 & MASK, 7) * 9 & MASK) >> 11) / (1 << 53)
        a, b, c, d = a ^ b ^ d, a ^ b ^ c, a ^ c ^ (b << 17 & MASK), turned(b ^ d, 45)


class Reading(ideal.Case):
    """A prompt beside a shorter one."""

    def __init__(self, shortest, *rest, **named):
        super().__init__(*rest, **named)
        self.shortest = shortest

    def segments(self):
        length, shared = self.memory["segment"], max(self.shortest, sum(ideal.QUERY))
        blocks = [(first, min(length, shared - first)) for first in range(0, shared, length)]
        return blocks + [(position, 1) for position in range(shared, len(ideal.IDS))]

    def expected(self):
        return {"shortest": self.shortest, "logits": [[round(v, 6) for v in row] for row in self.logits()]}


class Drawn(ideal.Case):
    """A sequence that is learned: the last segment is filled up."""

    def begin(self, segment):
        self.made, self.known = {}, {}
        self.factors = self.draws[segment]

    def dropped(self, vector, first):
        pairs = list(zip(vector, self.factors[first:]))
        self.lost.setdefault(first, set()).add(tuple(v != 0 and f == 0 for v, f in pairs))
        return [v * f for v, f in pairs]

    def expected(self):
        self.draws, self.lost = [], {}
        for segment in range(len(self.segments())):
            uniform = numbers(SEED, f"dropout.{segment}" if segment else "dropout", TRAINING_STEP)
            self.draws.append([0 if next(uniform) < RATE else 1 / (1 - RATE)
                               for _ in range(ideal.HIDDEN + self.generated * ideal.BOTTLENECK)])
        all_of_it = super().expected()
        assert all(len(lost) == len(self.draws) for lost in self.lost.values())
        return {"seed": SEED, "step": TRAINING_STEP, **{key: all_of_it[key] for key in ("logits", "loss", "gradients")}}


if __name__ == "__main__":
    memory = next(case.memory for case in ideal.CASES if case.name == ADAPTER)
    json.dump({"made_by": "make_released_expected.py", "adapter": ADAPTER,
               "readings": [Reading(shortest, ADAPTER, "lora", 2, 2, memory=memory).expected() for shortest in (9, 4)],
               "drawn": Drawn(ADAPTER, "lora", 2, 2, memory={**memory, "filled": True}).expected()}, sys.stdout)
    print()
