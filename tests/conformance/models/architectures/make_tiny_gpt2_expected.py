#!/usr/bin/env python3
"""Writes tiny_gpt2_expected.json: logits of tiny random GPT-2 models.

Reference: transformers 5.23.0, float32, CPU, eager attention. Weights as tiny_models.py makes them. Per case: the
config.json, the tensors under the names that the file has (with and without the prefix "transformer."), token ids and
the logits after every third position.

Needs: transformers 5.23.0, torch 2.11.0, numpy. Usage: make_tiny_gpt2_expected.py [OUT.json]
"""

import json
import pathlib
import sys

import torch
import transformers

import tiny_models

HERE = pathlib.Path(__file__).resolve().parent
VOCABULARY = 40
IDS = [(7 + 13 * i + i * i) % VOCABULARY for i in range(24)]
PREFIX = "transformer."

BASE = {"model_type": "gpt2", "vocab_size": VOCABULARY, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4,
        "torch_dtype": "float32"}

CASES = {
    "gpt2": {},
    "head of its own": {"tie_word_embeddings": False},
    "no prefix": {"prefix": ""},
    "n_inner, other epsilon, gelu": {"n_inner": 56, "layer_norm_epsilon": 0.01, "activation_function": "gelu"},
    "relu, one head": {"n_head": 1, "activation_function": "relu"},
    "all positions": {"n_positions": len(IDS)},
    "bfloat16 in two shards": {"torch_dtype": "bfloat16", "n_layer": 3},
}


def build(config):
    """The model of a configuration, with attention that is computed as written."""
    arguments = {key: value for key, value in config.items() if key not in ("model_type", "torch_dtype")}
    parsed = transformers.GPT2Config(**arguments)
    parsed._attn_implementation = "eager"
    return transformers.GPT2LMHeadModel(parsed).float().eval()


def filled(changes):
    """(config, model, tensors) of a case; the tensors' names are those of the model."""
    config = {key: value for key, value in {**BASE, **changes}.items() if key != "prefix"}
    model = build(config)
    skip = ("lm_head.weight",) if config.get("tie_word_embeddings", True) else ()
    return config, model, tiny_models.fill(model, exact=config["torch_dtype"] == "bfloat16", skip=skip)


@torch.no_grad()
def run(name, changes):
    config, model, tensors = filled(changes)
    parameters = dict(model.named_parameters())
    for tensor in tensors:
        # Values follow from the name that the file has.
        parameter = parameters[tensor["name"]]
        if tensor["name"].startswith(PREFIX):
            tensor["name"] = changes.get("prefix", PREFIX) + tensor["name"].removeprefix(PREFIX)
        parameter.copy_(tiny_models.values(tensor["name"], tensor["shape"], tensor["scale"], tensor["offset"]))
    logits = model(input_ids=torch.tensor([IDS])).logits[0]
    half = config["torch_dtype"] == "bfloat16"
    return {"name": name, "config": config, "dtype": "BF16" if half else "F32", "shards": 2 if half else 1,
            "tensors": tensors, "ids": IDS, "logits": [tiny_models.rounded(row) for row in logits[::3]]}


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "tiny_gpt2_expected.json")
    torch.set_num_threads(1)
    cases = [run(name, changes) for name, changes in CASES.items()]
    out.write_text(json.dumps({"made_by": "make_tiny_gpt2_expected.py", "transformers": transformers.__version__,
                               "every": 3, "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
