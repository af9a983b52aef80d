#!/usr/bin/env python3
"""Writes tiny_encoders_expected.json: hidden states of tiny random BERT, RoBERTa, DistilBERT and BART encoders.

Reference: transformers 5.23.0, float32, CPU, eager attention. Weights as tiny_models.py makes them. Per case: the
config.json, the tensors, texts of ids and segments, and the states of the padded batch after every layer, at the
positions that are not padding.

Needs: transformers 5.23.0, torch 2.11.0, numpy. Usage: make_tiny_encoders_expected.py [OUT.json]
"""

import json
import pathlib
import sys

import torch
import transformers

import tiny_models

HERE = pathlib.Path(__file__).resolve().parent
VOCABULARY = 30
LENGTHS = [9, 4, 1]

BERT = {"model_type": "bert", "vocab_size": VOCABULARY, "hidden_size": 12, "intermediate_size": 20,
        "num_hidden_layers": 2, "num_attention_heads": 3, "max_position_embeddings": 16, "type_vocab_size": 2,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0}
BART = {"model_type": "bart", "vocab_size": VOCABULARY, "d_model": 12, "encoder_layers": 2, "decoder_layers": 1,
        "encoder_attention_heads": 3, "decoder_attention_heads": 3, "encoder_ffn_dim": 20, "decoder_ffn_dim": 20,
        "max_position_embeddings": 16, "activation_function": "gelu", "pad_token_id": 1, "bos_token_id": 0,
        "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": 2}

CASES = {
    "bert": (BERT, "AutoModel"),
    "bert with a head and gelu_new": ({**BERT, "hidden_act": "gelu_new"}, "AutoModelForMaskedLM"),
    "bert in bfloat16 and two shards": ({**BERT, "torch_dtype": "bfloat16"}, "AutoModel"),
    "roberta": ({**BERT, "model_type": "roberta", "pad_token_id": 1, "type_vocab_size": 1, "layer_norm_eps": 1e-5,
                 "max_position_embeddings": 18}, "AutoModel"),
    "roberta for sequences": ({**BERT, "model_type": "roberta", "pad_token_id": 1, "type_vocab_size": 1,
                               "layer_norm_eps": 1e-5, "hidden_act": "relu"}, "AutoModelForSequenceClassification"),
    "distilbert": ({"model_type": "distilbert", "vocab_size": VOCABULARY, "dim": 12, "hidden_dim": 20, "n_layers": 2,
                    "n_heads": 3, "max_position_embeddings": 16, "activation": "gelu", "pad_token_id": 0}, "AutoModel"),
    "bart": (BART, "AutoModel"),
    "bart for generation, scaled embeddings": ({**BART, "scale_embedding": True}, "AutoModelForSeq2SeqLM"),
    "bart whose encoder has a table of its own": ({**BART, "tie_word_embeddings": False}, "AutoModel"),
}


def texts_of(name, config):
    rows = []
    for row, length in enumerate(LENGTHS):
        ids = [3 + (5 + 7 * row + 11 * i + i * i) % (VOCABULARY - 3) for i in range(length)]
        segments = [int(i >= length // 2) for i in range(length)] if config.get("type_vocab_size") == 2 else []
        rows.append({"ids": ids, "segments": segments})
    if config["model_type"] == "roberta":
        rows[0]["ids"][4] = config["pad_token_id"]  # a padding id inside a text has no position of its own
    return rows


@torch.no_grad()
def run(name, config, kind):
    arguments = {key: value for key, value in config.items() if key not in ("model_type", "torch_dtype")}
    parsed = transformers.AutoConfig.for_model(config["model_type"], **arguments)
    parsed._attn_implementation = "eager"
    model = getattr(transformers, kind).from_config(parsed).float().eval()
    half = config.get("torch_dtype") == "bfloat16"
    tied = {"bart": ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "model.encoder.embed_tokens.weight",
                     "model.decoder.embed_tokens.weight", "lm_head.weight"),
            "bert": ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")}.get(config["model_type"], ())
    if config.get("tie_word_embeddings") is False:
        tied = ()
    tensors = tiny_models.fill(model, exact=half, skip=tied)
    texts = texts_of(name, config)
    longest = max(LENGTHS)
    ids = torch.full((len(texts), longest), config["pad_token_id"])
    mask = torch.zeros((len(texts), longest), dtype=torch.long)
    segments = torch.zeros((len(texts), longest), dtype=torch.long)
    for row, text in enumerate(texts):
        ids[row, : len(text["ids"])] = torch.tensor(text["ids"])
        mask[row, : len(text["ids"])] = 1
        if text["segments"]:
            segments[row, : len(text["ids"])] = torch.tensor(text["segments"])
    inputs = {"input_ids": ids, "attention_mask": mask}
    if config["model_type"] == "bert":
        inputs["token_type_ids"] = segments
    encoder = model.get_encoder() if config["model_type"] == "bart" else model
    states = encoder(**inputs, output_hidden_states=True).hidden_states
    return {"name": name, "config": config, "dtype": "BF16" if half else "F32", "shards": 2 if half else 1,
            "tensors": tensors, "texts": texts,
            "states": [[tiny_models.rounded(layer[row, : len(text["ids"])]) for row, text in enumerate(texts)]
                       for layer in states]}


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "tiny_encoders_expected.json")
    torch.set_num_threads(1)
    cases = [run(name, config, kind) for name, (config, kind) in CASES.items()]
    out.write_text(json.dumps({"made_by": "make_tiny_encoders_expected.py", "transformers": transformers.__version__,
                               "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
