#!/usr/bin/env python3
"""Writes tiny_infini_expected.json: logits of a tiny random model with Infini-attention.

The reference is this file: the formulas of Infini-attention (Munkhdalai et al. 2024, with the delta rule) and of
IDEAL's query-focused form in float64, one token, head and key at a time, no step shared with the program. The model is a
case of tiny_llama_expected.json with low-rank adapters on q, k and v. Its weights, the adapters "LAYER.lora_A" and
"LAYER.lora_B" (scale 0.5) and each layer's "layers.N.beta", "layers.N.w_g" and "layers.N.b_g" (scales 2, 1 and 1) are
what tiny_models.py makes of their names. Sequences are read in segments, then `stepped` tokens one at a time.

Needs: numpy, torch (for tiny_models.py). Usage: make_tiny_infini_expected.py [OUT.json]
"""

import json
import pathlib
import sys

import numpy as np

import tiny_models

HERE = pathlib.Path(__file__).resolve().parent
MODEL = "grouped, head_dim is not hidden / heads"
IDS = [7, 21, 37, 15, 35, 17, 1, 27, 15, 5, 38, 31, 27, 25, 24, 2, 30, 36, 5, 16, 27, 3]
RANK = 2
CASES = [
    {"name": "linear", "rule": "linear", "segment": 5, "stepped": 0},
    {"name": "delta", "rule": "delta", "segment": 5, "stepped": 0},
    {"name": "linear, generated", "rule": "linear", "segment": 4, "stepped": 11},
    {"name": "delta, generated", "rule": "delta", "segment": 6, "stepped": 9},
    {"name": "query-focused as written", "rule": "linear", "segment": 5, "stepped": 4, "relevance": "model",
     "bias": False, "instruction": [1, 3]},
    {"name": "query-focused as released", "rule": "delta", "segment": 5, "stepped": 4, "relevance": "head",
     "bias": True, "instruction": [1, 3]},
    {"name": "query-focused, one segment", "rule": "delta", "segment": 40, "stepped": 3, "relevance": "head",
     "bias": True, "instruction": [0, 2]},
]


def made(name, shape, scale, offset=0.0):
    return tiny_models.values(name, shape, scale, offset).numpy().astype(np.float64)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def sigma(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def norm(x, weight, eps):
    return x / np.sqrt((x * x).mean() + eps) * weight


def rotated(x, position, theta):
    half = len(x) // 2
    angle = position / theta ** (2 * np.arange(half) / len(x))
    first, second = x[:half], x[half:]
    return np.concatenate([first * np.cos(angle) - second * np.sin(angle),
                           second * np.cos(angle) + first * np.sin(angle)])


class Head:
    """Memory of one query head in one layer."""

    def __init__(self, dim):
        self.dim = dim
        self.all = self.asked = self.z = None

    def write(self, rule, keys, values, alphas):
        before = (self.all, self.asked, self.z)
        for matrix in ("all", "asked"):
            old = getattr(self, matrix)
            new = np.zeros((self.dim, self.dim)) if old is None else old.copy()
            for key, value, alpha in zip(keys, values, alphas):
                written = value * (alpha if matrix == "asked" else 1)
                if rule == "delta" and old is not None:
                    written = written - sigma(key) @ old / (sigma(key) @ before[2])
                new += np.outer(sigma(key), written)
            setattr(self, matrix, new)
        self.z = (0 if self.z is None else self.z) + sum(sigma(key) for key in keys)

    def read(self, query):
        below = sigma(query) @ self.z
        return sigma(query) @ self.all / below, sigma(query) @ self.asked / below


class Layer:
    def __init__(self, model, index, case):
        self.model, self.index, self.case = model, index, case
        self.window = []  # (position, key of each head, value of each head)
        self.heads = [Head(model.dim) for _ in range(model.heads)]
        self.beta = made(f"layers.{index}.beta", [model.heads], 2.0)
        self.w_g = made(f"layers.{index}.w_g", [model.dim], 1.0)
        self.b_g = made(f"layers.{index}.b_g", [1], 1.0)[0] if case.get("bias") else 0.0
        self.asking = None

    def project(self, part, x, adapted=True):
        name = f"model.layers.{self.index}.self_attn.{part}_proj"
        weight = self.model.weights[name + ".weight"]
        y = weight @ x
        if adapted:
            down = made(name + ".lora_A", [RANK, weight.shape[1]], 0.5)
            y = y + made(name + ".lora_B", [weight.shape[0], RANK], 0.5) @ (down @ x)
        return y.reshape(-1, self.model.dim)

    def segment(self, first, reads):
        """reads: normed inputs of a segment's tokens; outputs before the output projection."""
        model, case = self.model, self.case
        shared = model.heads // model.kv_heads
        if "instruction" in case and self.asking is None:
            begin, count = case["instruction"]
            queries = [self.project("q", x, adapted=False) for x in reads[begin:begin + count]]
            self.asking = sum(queries) / count
        own = []
        for i, x in enumerate(reads):
            key, value = self.project("k", x), self.project("v", x)
            own.append((first + i, np.repeat(key, shared, 0), np.repeat(value, shared, 0)))
        leaving = max(0, len(self.window) + len(own) - case["segment"])
        for h, head in enumerate(self.heads):
            left = self.window[:leaving]
            if not left:
                continue
            alphas = [1.0] * len(left)
            if self.asking is not None:
                divisor = np.sqrt(model.dim if case["relevance"] == "head" else model.hidden)
                alphas = [logistic(self.asking[h] @ key[h] / divisor) for _, key, _ in left]
            head.write(case["rule"], [key[h] for _, key, _ in left], [value[h] for _, _, value in left], alphas)
        self.window = self.window[leaving:]
        outputs = []
        for i, x in enumerate(reads):
            query = self.project("q", x)
            seen = self.window + own[:i + 1]
            parts = []
            for h, head in enumerate(self.heads):
                turned = rotated(query[h], first + i, model.theta)
                scores = np.array([turned @ rotated(key[h], position, model.theta) for position, key, _ in seen])
                scores = np.exp(scores / np.sqrt(model.dim))
                out = sum(s * value[h] for s, (_, _, value) in zip(scores, seen)) / scores.sum()
                if head.all is not None:
                    everything, asked = head.read(query[h])
                    past = everything
                    if self.asking is not None:
                        gamma = logistic(self.w_g @ asked + self.b_g)
                        past = gamma * asked + (1 - gamma) * everything
                    share = logistic(self.beta[h])
                    out = share * past + (1 - share) * out
                parts.append(out)
            outputs.append(np.concatenate(parts))
        self.window += own
        return outputs


class Model:
    def __init__(self, description):
        config = description["config"]
        self.hidden, self.heads = config["hidden_size"], config["num_attention_heads"]
        self.kv_heads, self.dim = config["num_key_value_heads"], config["head_dim"]
        self.layers, self.eps = config["num_hidden_layers"], config["rms_norm_eps"]
        self.theta = config["rope_theta"]
        self.weights = {t["name"]: made(t["name"], t["shape"], t["scale"], t["offset"])
                        for t in description["tensors"]}

    def logits(self, case):
        layers = [Layer(self, i, case) for i in range(self.layers)]
        lengths = []
        left = len(IDS) - case["stepped"]
        while left > 0:
            lengths.append(min(left, case["segment"]))
            left -= lengths[-1]
        lengths += [1] * case["stepped"]
        rows, first = [], 0
        for length in lengths:
            stream = [self.weights["model.embed_tokens.weight"][i] for i in IDS[first:first + length]]
            for i, layer in enumerate(layers):
                def weight(name):
                    return self.weights[f"model.layers.{i}.{name}.weight"]
                reads = [norm(x, weight("input_layernorm"), self.eps) for x in stream]
                attended = layer.segment(first, reads)
                stream = [x + weight("self_attn.o_proj") @ a for x, a in zip(stream, attended)]
                for t, x in enumerate(stream):
                    read = norm(x, weight("post_attention_layernorm"), self.eps)
                    gate = weight("mlp.gate_proj") @ read
                    stream[t] = x + weight("mlp.down_proj") @ (gate * logistic(gate) * (weight("mlp.up_proj") @ read))
            rows += [self.weights["lm_head.weight"] @ norm(x, self.weights["model.norm.weight"], self.eps)
                     for x in stream]
            first += length
        return rows


def main():
    descriptions = json.loads((HERE / "tiny_llama_expected.json").read_text())["cases"]
    model = Model(next(d for d in descriptions if d["name"] == MODEL))
    cases = [dict(case, logits=[[round(float(v), 7) for v in row] for row in model.logits(case)]) for case in CASES]
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "tiny_infini_expected.json"
    out.write_text(json.dumps({"model": MODEL, "rank": RANK, "ids": IDS, "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
