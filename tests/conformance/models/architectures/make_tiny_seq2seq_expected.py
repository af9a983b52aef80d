#!/usr/bin/env python3
"""Writes tiny_seq2seq_expected.json: encoder states and decoder logits of tiny random BART and LED models.

Reference: transformers 5.23.0, float32, CPU, eager attention. Weights as tiny_models.py makes them. Per case: the
config.json, the tensors, and inputs with their ids, global positions and decoder ids; the encoder's last states at
the positions `shown` and the logits after every third decoder id.

Needs: transformers 5.23.0, torch 2.11.0, numpy. Usage: make_tiny_seq2seq_expected.py [OUT.json]
"""

import json
import pathlib
import sys

import torch
import transformers

import tiny_models
import tiny_seq2seq

HERE = pathlib.Path(__file__).resolve().parent


@torch.no_grad()
def run(name, config, options):
    model, tensors = tiny_seq2seq.build(config, options)
    rows = []
    for length, positions in options.get("inputs", tiny_seq2seq.INPUTS):
        ids = tiny_seq2seq.some_ids(length)
        begun = tiny_seq2seq.some_ids(7)
        arguments = {"input_ids": torch.tensor([ids])}
        if config["model_type"] == "led":
            arguments["global_attention_mask"] = torch.zeros((1, length), dtype=torch.long)
            arguments["global_attention_mask"][0, positions] = 1
        output = model(**arguments, decoder_input_ids=torch.tensor([begun]), use_cache=False)
        shown = [i for i in range(length) if length < 20 or i % 41 == 0 or i in positions]
        rows.append({"ids": ids, "global": positions if config["model_type"] == "led" else [], "decoder_ids": begun,
                     "shown": shown, "states": tiny_models.rounded(output.encoder_last_hidden_state[0, shown]),
                     "logits": [tiny_models.rounded(row, 5) for row in output.logits[0][::3]]})
    return {"name": name, "config": options.get("saved_config", config), "dtype": options.get("dtype", "F32"),
            "shards": options.get("shards", 1), "tensors": tensors, "inputs": rows}


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "tiny_seq2seq_expected.json")
    torch.set_num_threads(1)
    cases = [run(name, config, options) for name, (config, options) in tiny_seq2seq.CASES.items()]
    out.write_text(json.dumps({"made_by": "make_tiny_seq2seq_expected.py", "transformers": transformers.__version__,
                               "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
