#!/usr/bin/env python3
"""Values that tests of harness/core pin, computed without the program (Python standard library only).

Run: python3 tests/conformance/core/reference_values.py; the output is what the tests hold.
"""
import hashlib
import itertools
import json

MASK = (1 << 64) - 1


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def split_mix(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def rotl(x, k):
    return ((x << k) | (x >> (64 - k))) & MASK


def xoshiro(seed):
    s = list(itertools.islice(split_mix(seed), 4))
    while True:
        yield (rotl((s[1] * 5) & MASK, 7) * 9) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)


def derived(seed, purpose, index):
    digest = hashlib.sha256(f"{seed}/{purpose}/{index}".encode()).digest()
    return xoshiro(int.from_bytes(digest[:8], "big"))


def below(stream, bound):
    """Lemire 2019, algorithm 5."""
    while True:
        product = next(stream) * bound
        if product & MASK >= (-bound & MASK) % bound:
            return product >> 64


def canonical(value) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def show_random():
    for seed in (0, 1, 42, MASK):
        print(f"xoshiro256**({seed}):", *(f"0x{x:016x}" for x in itertools.islice(xoshiro(seed), 4)))
    print("derived(7, 'sample', 3):",
          *(f"0x{x:016x}" for x in itertools.islice(derived(7, "sample", 3), 4)))
    stream = xoshiro(42)
    print("below(10) x 12, seed 42:", *(below(stream, 10) for _ in range(12)))
    stream = xoshiro(42)
    bound = (1 << 63) + 1
    print("below(2^63 + 1) x 4, seed 42:", *(f"0x{below(stream, bound):016x}" for _ in range(4)))
    stream = xoshiro(42)
    print("uniform x 3, seed 42:", *((next(stream) >> 11) * 2.0**-53 for _ in range(3)))
    stream, items = xoshiro(42), list(range(10))
    for i in range(len(items), 1, -1):
        j = below(stream, i)
        items[i - 1], items[j] = items[j], items[i - 1]
    print("shuffle 0..9, seed 42:", *items)


def show_identities():
    cell = {"method": "lead", "version": 1, "layers": [], "seed": 0, "params": {"max_words": 100,
            "ratio": "0.1"}, "dataset": "d" * 64, "query": "caf\u00e9 \u65e5\u672c\n\"\\\x01\x7f"}
    print("canonical:", canonical(cell))
    for kind in ("dataset", "cell", "numerics", "score"):
        text = canonical(cell) if kind == "cell" else "{}"
        print(f"{kind} id:", sha256(f"qfs-bench/1/{kind}\n{text}".encode()))


def repair(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode("utf-8")


def show_utf8():
    """Digest over the repaired form of every sequence, each followed by a newline."""
    pairs = hashlib.sha256()
    for a in range(256):
        for b in range(256):
            pairs.update(repair(bytes((a, b))) + b"\n")
    print("repaired pairs:", pairs.hexdigest())
    # Every byte at which table 3-7 of the Unicode standard changes its mind, and neighbours.
    edges = bytes.fromhex("00417f80818f909fa0bfc0c1c2dfe0e1ecedeeeff0f1f3f4f5ff")
    quads = hashlib.sha256()
    for sequence in itertools.product(edges, repeat=4):
        quads.update(repair(bytes(sequence)) + b"\n")
    print("repaired quads:", quads.hexdigest())
    for text in ("80", "c3", "c328", "c0af", "e28281", "e282", "e28228", "eda080", "f09f9880", "f09f98",
                 "f4908080", "fc8080", "41f0905a", "efbbbf41", "f0808041", "e0809f"):
        print(f'{{"{text}", "{repair(bytes.fromhex(text)).hex()}"}},')


if __name__ == "__main__":
    show_random()
    show_identities()
    show_utf8()
