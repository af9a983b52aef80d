#!/usr/bin/env python3
"""Writes generation_expected.json, or with transformers 4.30.2 generation_scorer_expected.json: what tiny random
models generate greedily and by beam search.

Reference: GenerationMixin.generate, float32, CPU, one input at a time. Models and weights as
../backbones/tiny_seq2seq.py and tiny_models.py make them. Per case: config.json, tensors, inputs, and for every set of
options the produced ids (without what the sequence began with, padding and the end token) and the score of a beam
search. The model's own generation defaults are cleared, so that options say everything.

transformers 4.30.2 is the last generation but one whose beam search is BeamSearchScorer (BeamRules::scorer); it runs
the BART and LLaMA cases of the same options.

Needs: transformers 5.23.0 or 4.30.2, torch 2.11.0, numpy. Usage: make_generation_expected.py [OUT.json]
"""

import json
import pathlib
import sys

import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "architectures"))
import tiny_models  # noqa: E402
import tiny_seq2seq  # noqa: E402

NEW = transformers.__version__.startswith("5.")
LLAMA = {"model_type": "llama", "vocab_size": 40, "hidden_size": 32, "intermediate_size": 56, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 4, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
         "rope_theta": 10000.0, "tie_word_embeddings": False, "hidden_act": "silu", "pad_token_id": 1,
         "bos_token_id": 0, "eos_token_id": 2}
GPT2 = {"model_type": "gpt2", "vocab_size": 40, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4,
        "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
END = 2

# Produced tokens are counted without what the sequence began with.
OPTIONS = [
    {"max_new_tokens": 14},
    {"max_new_tokens": 14, "no_repeat_ngram": 2},
    {"max_new_tokens": 12, "no_repeat_ngram": 3, "min_new_tokens": 6, "forced_first": 0, "forced_last": 2},
    {"max_new_tokens": 12, "beams": 2},
    {"max_new_tokens": 12, "beams": 3, "length_penalty": 0.0},
    {"max_new_tokens": 12, "beams": 4, "length_penalty": 2.0, "early_stopping": "yes"},
    {"max_new_tokens": 12, "beams": 4, "length_penalty": -1.0},
    {"max_new_tokens": 12, "beams": 4, "length_penalty": 1.6, "early_stopping": "never"},
    {"max_new_tokens": 12, "beams": 4, "no_repeat_ngram": 2, "min_new_tokens": 5, "early_stopping": "yes"},
    {"max_new_tokens": 10, "beams": 3, "no_repeat_ngram": 3, "forced_first": 0, "forced_last": 2},
    {"max_new_tokens": 10, "beams": 4, "length_penalty": 2.0, "forced_last": 2, "early_stopping": "yes"},
    {"max_new_tokens": 5, "beams": 6, "length_penalty": 0.5},
    {"max_new_tokens": 1, "beams": 3},
]

INPUTS = [(9, [0]), (4, []), (16, [0, 1, 2])]
# Some weights are larger than tiny_models.py makes them, so that outputs depend on the input, and the end token is
# likelier in some cases, so that beams end at different lengths.
LARGER = {"shared.weight": 1.0, "encoder_attn.v_proj.weight": 2.0, "encoder_attn.out_proj.weight": 1.0,
          "decoder.embed_positions.weight": 1.0}
CASES = {
    "bart": (tiny_seq2seq.BART, {}),
    "bart that may end": (tiny_seq2seq.BART, {"end_bias": 1.0}),
    "bart that ends early": (tiny_seq2seq.BART, {"end_bias": 2.5}),
    "led": (tiny_seq2seq.LED, {"end_bias": 1.5}),
    "llama": (LLAMA, {}),
    "gpt2": (GPT2, {}),
}


def is_seq2seq(config):
    return config["model_type"] in ("bart", "led")


def build(config, options):
    if not is_seq2seq(config):
        arguments = {key: value for key, value in config.items() if key != "model_type"}
        parsed = transformers.AutoConfig.for_model(config["model_type"], **arguments)
        model = transformers.AutoModelForCausalLM.from_config(parsed).float().eval()
        return model, tiny_models.fill(model, skip=("lm_head.weight",) if parsed.tie_word_embeddings else ())
    model, tensors = tiny_seq2seq.build(config, {})
    parameters = dict(model.named_parameters())
    for tensor in tensors:
        for ending, scale in LARGER.items():
            if tensor["name"].endswith(ending):
                tensor["scale"] = scale
                parameters[tensor["name"]].copy_(tiny_models.values(tensor["name"], tensor["shape"], scale, 0.0))
    model.final_logits_bias[0, END] = options.get("end_bias", 0.0)
    return model, tensors


def generate(model, config, options, ids, positions):
    prompt = torch.tensor([ids])
    decoder = is_seq2seq(config)
    begun = 1 if decoder else len(ids)
    settings = {"max_length": begun + options["max_new_tokens"], "num_beams": options.get("beams", 1),
                "do_sample": False, "eos_token_id": END, "pad_token_id": 1, "bos_token_id": 0, "use_cache": True,
                "no_repeat_ngram_size": options.get("no_repeat_ngram", 0),
                "min_length": begun + options["min_new_tokens"] if "min_new_tokens" in options else 0}
    if decoder:
        settings["decoder_start_token_id"] = 2
    if "beams" in options:
        settings["length_penalty"] = options.get("length_penalty", 1.0)
        settings["early_stopping"] = {"yes": True, "no": False, "never": "never"}[options.get("early_stopping", "no")]
    if "forced_first" in options:
        settings["forced_bos_token_id"] = options["forced_first"]
    if "forced_last" in options:
        settings["forced_eos_token_id"] = options["forced_last"]
    arguments = {"attention_mask": torch.ones_like(prompt)}
    if config["model_type"] == "led":
        arguments["global_attention_mask"] = torch.zeros_like(prompt)
        arguments["global_attention_mask"][0, positions] = 1
    model.generation_config = transformers.GenerationConfig()
    output = model.generate(prompt, generation_config=transformers.GenerationConfig(**settings),
                            return_dict_in_generate=True, output_scores=True, **arguments)
    produced = output.sequences[0, begun:].tolist()
    if END in produced:
        produced = produced[: produced.index(END)]
    row = {"ids": produced}
    if "beams" in options:
        row["score"] = round(float(output.sequences_scores[0]), 6)
    return row


@torch.no_grad()
def run(name, config, options):
    model, tensors = build(config, options)
    inputs = [{"ids": tiny_seq2seq.some_ids(length), "global": positions if config["model_type"] == "led" else []}
              for length, positions in INPUTS]
    # A forced first token only concerns decoders of encoder-decoders.
    sets = [one for one in OPTIONS if is_seq2seq(config) or "forced_first" not in one]
    outputs = [[generate(model, config, one, row["ids"], row["global"]) for row in inputs] for one in sets]
    return {"name": name, "config": config, "tensors": tensors, "end_bias": options.get("end_bias", 0.0),
            "inputs": inputs, "options": sets, "outputs": outputs}


def main():
    name = "generation_expected.json" if NEW else "generation_scorer_expected.json"
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / name)
    torch.set_num_threads(1)
    cases = [run(name, config, options) for name, (config, options) in CASES.items()
             if NEW or config["model_type"] in ("bart", "llama")]
    out.write_text(json.dumps({"made_by": "make_generation_expected.py", "transformers": transformers.__version__,
                               "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
