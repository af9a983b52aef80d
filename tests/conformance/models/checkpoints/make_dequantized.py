"""Writes dequantized.json: float32 bits of random blocks of ggml's formats.

Reference: gguf.quants.dequantize. Scales are ordinary float16 numbers, everything else is random.

Needs: gguf 0.19.0, numpy. Usage: make_dequantized.py OUTPUT.json
"""

import json
import pathlib
import sys

import gguf
import numpy as np

# type -> (bytes of a block, offsets of its float16 numbers)
FORMATS = {
    "Q4_0": (18, [0]),
    "Q4_1": (20, [0, 2]),
    "Q8_0": (34, [0]),
    "Q4_K": (144, [0, 2]),
    "Q6_K": (210, [208]),
    "BF16": (64, []),
    "F16": (64, []),
}
BLOCKS = 3


def packed_blocks(random: np.random.Generator, size: int, halves: list[int]) -> np.ndarray:
    blocks = random.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
    for offset in halves:
        scale = random.normal(0, 0.1, BLOCKS).astype(np.float16)
        blocks[:, offset : offset + 2] = scale.view(np.uint8).reshape(BLOCKS, 2)
    return blocks


def main() -> None:
    random = np.random.default_rng(20261121)
    cases = []
    for name, (size, halves) in FORMATS.items():
        blocks = packed_blocks(random, size, halves)
        if not halves:
            blocks[:, 1::2] &= 0x3F  # no infinities and NaNs: their bits are compared elsewhere
        values = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[name]).astype(np.float32)
        cases.append({"type": name, "number": int(gguf.GGMLQuantizationType[name]), "packed": blocks.tobytes().hex(),
                      "bits": [int(b) for b in values.ravel().view(np.uint32)]})
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    pathlib.Path(sys.argv[1]).write_text(f'{{"reference": "gguf 0.19.0", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
