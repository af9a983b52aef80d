"""Vectors and matrices as lists of floats, for references that need Python alone."""

import math

MASK = (1 << 64) - 1


def values(name, count, scale, offset=0.0):
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) & MASK
    result = []
    for i in range(1, count + 1):
        z = (seed + i * 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        result.append(offset + scale * (((z >> 56) - 128) / 128))
    return result


def matrix(flat, rows):
    width = len(flat) // rows
    return [flat[i * width:(i + 1) * width] for i in range(rows)]


def times(weight, x):
    return [sum(w * v for w, v in zip(row, x)) for row in weight]


def plus(*vectors):
    return [sum(parts) for parts in zip(*vectors)]


def silu(x):
    return x / (1 + math.exp(-x))


def softmax(scores):
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    return [p / sum(powers) for p in powers]


def rms_norm(x, scale, eps=1e-5):
    inverse = 1 / math.sqrt(sum(v * v for v in x) / len(x) + eps)
    return [v * inverse * s for v, s in zip(x, scale)]


def sigma(x):
    return [v + 1 if v > 0 else math.exp(v) for v in x]


def logistic(x):
    return 1 / (1 + math.exp(-x))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))
