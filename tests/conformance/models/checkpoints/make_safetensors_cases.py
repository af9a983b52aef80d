"""Writes safetensors_cases.json: small files, whole and damaged, and whether the reference reads them.

Reference: safetensors.deserialize (the Rust reader). Damage: another number in the header, another
length, cut or added bytes. Where the reference reads a file, names, types and shapes are stored.

Needs: safetensors 0.8.0, numpy. Usage: make_safetensors_cases.py OUTPUT.json
"""

import base64
import json
import pathlib
import random
import re
import sys

import numpy as np
import safetensors
from safetensors.numpy import save

TYPES = [np.float64, np.float32, np.float16, np.int64, np.int32, np.uint8, np.bool_, np.int8]


def whole_file(rng: random.Random) -> bytes:
    tensors = {}
    for i in range(rng.randint(0, 4)):
        shape = [rng.randint(0, 3) for _ in range(rng.randint(0, 3))]
        tensors[f"layer.{i}.{rng.choice(['weight', 'bias', 'α'])}"] = np.zeros(shape, rng.choice(TYPES))
    metadata = {"format": "pt"} if rng.random() < 0.5 else None
    return save(tensors, metadata)


def damage(data: bytes, rng: random.Random) -> bytes:
    length = int.from_bytes(data[:8], "little")
    kind = rng.randrange(6)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    if kind == 1:
        return data + bytes(rng.randint(1, 9))
    if kind == 2:
        return (length + rng.choice([-1, 1, 2, 1 << 40])).to_bytes(8, "little") + data[8:]
    header = data[8 : 8 + length].decode()
    numbers = list(re.finditer(r"(?<!layer\.)\d+", header))  # names stay distinct: the reference takes the last of two
    if kind < 5 and numbers:
        match = rng.choice(numbers)
        number = str(max(0, int(match.group()) + rng.choice([-1, 1, 8, 1 << 62])))
        header = header[: match.start()] + number + header[match.end() :]
    else:
        header = header.replace("F32", "F33").replace("shape", "shapes", rng.randint(0, 1))
    encoded = header.encode()
    return len(encoded).to_bytes(8, "little") + encoded + data[8 + length :]


def main() -> None:
    rng = random.Random(20261121)
    cases = []
    for number in range(240):
        data = whole_file(rng)
        if number % 4:
            data = damage(data, rng)
        case = {"file": base64.b64encode(data).decode()}
        try:
            read = safetensors.deserialize(data)
            case["tensors"] = sorted([name, info["dtype"], list(info["shape"])] for name, info in read)
        except safetensors.SafetensorError:
            pass
        cases.append(case)
    lines = ",\n".join(json.dumps(case, ensure_ascii=True, separators=(",", ":")) for case in cases)
    pathlib.Path(sys.argv[1]).write_text(f'{{"reference": "safetensors {safetensors.__version__}", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
