#!/usr/bin/env python3
"""Writes tiny_bluelm_expected.json: logits of a tiny random model with a normalised embedding layer.

BlueLM-7B comes with code of its own, which is not on PyPI; its body is LLaMA's and its `use_stable_embedding` is that
of Open-Llama, which transformers 4.30.2 has: a LayerNorm (epsilon 1e-5) behind the embedding. Reference: that class,
float32, CPU, with the head apart. Weights as tiny_models.py makes them; written as in tiny_llama_expected.json.

Needs: transformers 4.30.2, torch 2.11.0, numpy. Usage: make_tiny_bluelm_expected.py [OUT.json]
"""

import json
import pathlib
import sys

import torch
import transformers

import tiny_models

HERE = pathlib.Path(__file__).resolve().parent
IDS = [(7 + 13 * i + i * i) % 40 for i in range(24)]
SHAPE = {"vocab_size": 40, "hidden_size": 32, "intermediate_size": 56, "num_hidden_layers": 2,
         "num_attention_heads": 4, "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "hidden_act": "silu"}


@torch.no_grad()
def run(name, stable):
    model = transformers.OpenLlamaForCausalLM(transformers.OpenLlamaConfig(
        **SHAPE, use_stable_embedding=stable, shared_input_output_embedding=False, hidden_dropout_prob=0.0,
        attention_dropout_prob=0.0, use_memory_efficient_attention=False)).float().eval()
    tensors = tiny_models.fill(model)
    logits = model(input_ids=torch.tensor([IDS])).logits[0]
    config = {"model_type": "BlueLM", **SHAPE, "use_stable_embedding": stable, "tie_word_embeddings": False,
              "torch_dtype": "float32"}
    return {"name": name, "config": config, "dtype": "F32", "shards": 1, "tensors": tensors, "ids": IDS,
            "logits": [tiny_models.rounded(row) for row in logits[::3]]}


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "tiny_bluelm_expected.json")
    torch.set_num_threads(1)
    cases = [run("bluelm", True), run("bluelm without the norm", False)]
    out.write_text(json.dumps({"made_by": "make_tiny_bluelm_expected.py", "transformers": transformers.__version__,
                               "every": 3, "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
