#!/usr/bin/env python3
"""Writes tiny_llama_expected.json: logits of tiny random models of the LLaMA family.

Reference: transformers 5.23.0, float32, CPU, eager attention. Weights as tiny_models.py makes them. Per case: the
config.json, the tensors, token ids and the logits after every position.

Needs: transformers 5.23.0, torch 2.11.0, numpy. Usage: make_tiny_llama_expected.py [OUT.json]
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

BASE = {"model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 56,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
        "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "tie_word_embeddings": False, "hidden_act": "silu", "torch_dtype": "float32"}

CASES = {
    "llama": {},
    "tied": {"tie_word_embeddings": True},
    "grouped, head_dim is not hidden / heads": {"num_key_value_heads": 2, "head_dim": 12, "rope_theta": 500000.0},
    "one key head, all biases": {"num_key_value_heads": 1, "attention_bias": True, "mlp_bias": True},
    "linear": {"rope_scaling": {"type": "linear", "factor": 4.0}},
    "dynamic below its length": {"rope_scaling": {"type": "dynamic", "factor": 2.0}},
    "llama3": {"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                "high_freq_factor": 4.0, "original_max_position_embeddings": 16}},
    "llama3 as transformers 5 writes it": {
        "rope_theta": None,
        "rope_parameters": {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
                            "high_freq_factor": 4.0, "original_max_position_embeddings": 32}},
    "yarn": {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}},
    "yarn with an attention factor": {
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
                         "attention_factor": 0.7, "beta_fast": 16.0, "beta_slow": 2.0}},
    "yarn with scales of its attention factor": {
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16,
                         "mscale": 0.707, "mscale_all_dim": 1.4}},
    "yarn between fractions of dimensions": {
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "truncate": False}},
    "qwen2": {"model_type": "qwen2", "num_key_value_heads": 2, "rope_theta": 1000000.0,
              "use_sliding_window": False, "sliding_window": 8, "tie_word_embeddings": True},
    "mistral below its window": {"model_type": "mistral", "num_key_value_heads": 2, "sliding_window": 32},
    "bfloat16 in two shards": {"num_key_value_heads": 2, "torch_dtype": "bfloat16"},
}


@torch.no_grad()
def run(name, changes):
    config = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    arguments = {key: value for key, value in config.items() if key not in ("model_type", "torch_dtype")}
    parsed = transformers.AutoConfig.for_model(config["model_type"], **arguments)
    parsed._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(parsed).float().eval()
    half = config["torch_dtype"] == "bfloat16"
    skip = ("lm_head.weight",) if config["tie_word_embeddings"] else ()
    tensors = tiny_models.fill(model, exact=half, skip=skip)
    logits = model(input_ids=torch.tensor([IDS])).logits[0]
    return {"name": name, "config": config, "dtype": "BF16" if half else "F32", "shards": 2 if half else 1,
            "tensors": tensors, "ids": IDS, "logits": [tiny_models.rounded(row) for row in logits[::3]]}


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "tiny_llama_expected.json")
    torch.set_num_threads(1)
    cases = [run(name, changes) for name, changes in CASES.items()]
    out.write_text(json.dumps({"made_by": "make_tiny_llama_expected.py", "transformers": transformers.__version__,
                               "every": 3, "cases": cases}, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
