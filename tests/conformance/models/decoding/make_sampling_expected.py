#!/usr/bin/env python3
"""Writes sampling_expected.json: the distribution that temperature, top-k and top-p leave of given logits.

Reference: the logits warpers of transformers 5.23.0 in the order of generate(), then softmax. The rule "exceeds" is
computed here from its definition: tokens sorted by falling probability; one is dropped when the mass before it is
above top_p. Logits: 6 * k / 128 with k as tiny_models.py makes them.

Needs: transformers 5.23.0, torch 2.11.0, numpy. Usage: make_sampling_expected.py [OUT.json]
"""

import json
import pathlib
import sys

import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "architectures"))
import tiny_models  # noqa: E402

OPTIONS = [
    {"temperature": 1.0},
    {"temperature": 0.3},
    {"temperature": 2.5, "top_k": 3},
    {"temperature": 1.0, "top_k": 1},
    {"temperature": 0.7, "top_p": 0.9},
    {"temperature": 0.1, "top_p": 0.75, "nucleus": "exceeds"},
    {"temperature": 1.3, "top_k": 12, "top_p": 0.6},
    {"temperature": 1.0, "top_p": 0.5, "nucleus": "exceeds"},
    {"temperature": 1.0, "top_p": 0.000001},
]


def logits_of(row):
    logits = tiny_models.values(f"logits {row}", [30], 6.0, 0.0)
    logits[7] = logits[4]  # ties
    return logits


def warped(logits, options):
    scores = logits[None] / options["temperature"]
    if "top_k" in options:
        scores = transformers.TopKLogitsWarper(options["top_k"])(None, scores)
    if options.get("nucleus") == "exceeds":
        probabilities, order = torch.sort(torch.softmax(scores.double(), -1), descending=True, stable=True)
        before = probabilities.cumsum(-1) - probabilities
        probabilities[before > options["top_p"]] = 0
        kept = torch.zeros_like(probabilities)
        kept[0, order[0]] = probabilities[0]
        return (kept / kept.sum())[0]
    if "top_p" in options:
        scores = transformers.TopPLogitsWarper(options["top_p"])(None, scores)
    return torch.softmax(scores.double(), -1)[0]


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "sampling_expected.json")
    rows = []
    for row in (0, 2, 3):  # whose largest logit is one alone
        logits = logits_of(row)
        for options in OPTIONS:
            probabilities = warped(logits, options)
            rows.append({"logits": row, "options": options,
                         "probabilities": [round(float(value), 9) for value in probabilities]})
    out.write_text(json.dumps({"made_by": "make_sampling_expected.py", "transformers": transformers.__version__,
                               "size": 30, "rows": rows}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
