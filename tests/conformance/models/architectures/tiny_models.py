"""Weights of tiny models that Python and C++ make alike, so that no checkpoint is committed.

A tensor's element i is offset + scale * k / 128 with k in -128..127 from the top byte of SplitMix64, seeded
with FNV-1a of the tensor's name: exact in float32, and in bfloat16 where scale is a power of two and offset
is 0, or both are 1. The C++ half is tests/support/tiny_checkpoint.cpp.
"""

import numpy as np
import torch

GAMMA = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def values(name, shape, scale, offset):
    count = int(np.prod(shape)) if shape else 1
    with np.errstate(over="ignore"):
        z = np.uint64(fnv1a(name)) + (np.arange(1, count + 1, dtype=np.uint64)) * np.uint64(GAMMA)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    k = (z >> np.uint64(56)).astype(np.int64) - 128
    data = np.float32(offset) + np.float32(scale) * (k.astype(np.float32) / np.float32(128))
    return torch.from_numpy(data.reshape(shape))


def spread(name, exact):
    """(scale, offset) of a tensor; `exact`: representable in bfloat16."""
    if ("norm" in name.lower() or "ln_" in name) and name.endswith("weight"):
        return (1.0, 1.0) if exact else (0.5, 1.0)
    return (0.25, 0.0) if name.endswith("weight") else (0.5, 0.0)


def fill(model, exact=False, skip=()):
    """Sets all parameters of `model` but those in `skip`, which are tied to others; returns the tensors."""
    tensors = []
    parameters = dict(model.named_parameters(remove_duplicate=False))
    for name in sorted(parameters):
        if name in skip:
            continue
        scale, offset = spread(name, exact)
        shape = list(parameters[name].shape)
        with torch.no_grad():
            parameters[name].copy_(values(name, shape, scale, offset))
        tensors.append({"name": name, "shape": shape, "scale": scale, "offset": offset})
    return tensors


def rounded(tensor, digits=6):
    return [round(float(value), digits) for value in tensor.flatten()]
