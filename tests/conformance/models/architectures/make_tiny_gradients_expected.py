#!/usr/bin/env python3
"""Writes tiny_gradients_expected.json: losses and gradients of tiny random models.

Reference: transformers 5.23.0 with autograd of torch 2.11.0, float32, CPU, eager attention. The models are those of
tiny_llama_expected.json, tiny_gpt2_expected.json, tiny_seq2seq_expected.json and tiny_encoders_expected.json, named as
there. Per model: what it read, labels (-100: none), the loss, and of every parameter's gradient its L2 norm and its
product with the values that tiny_models.py makes for "NAME#gradient" (scale 1). An encoder's loss is the product of its
last states with the values for "states". Tables that one checkpoint tensor stands for are added up under its name.
Matrices are [outputs, inputs], also those that a checkpoint holds transposed (GPT-2's Conv1D).

Needs: transformers 5.23.0, torch 2.11.0, numpy. Usage: make_tiny_gradients_expected.py [OUT.json]
"""

import json
import pathlib
import sys

import torch
import transformers

import make_tiny_encoders_expected as encoders
import make_tiny_gpt2_expected as gpt2
import make_tiny_llama_expected as llama
import tiny_models
import tiny_seq2seq

HERE = pathlib.Path(__file__).resolve().parent
TABLES = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


def built(config, factory):
    arguments = {key: value for key, value in config.items() if key not in ("model_type", "torch_dtype")}
    parsed = transformers.AutoConfig.for_model(config["model_type"], **arguments)
    parsed._attn_implementation = "eager"
    return factory.from_config(parsed).float().eval()


def digits(value):
    return float(f"{float(value.detach()):.8g}")


def gradients(model, loss, prefixes=()):
    loss.backward()
    sums = {}
    transposed = {f"{name}.weight" for name, module in model.named_modules()
                  if isinstance(module, transformers.pytorch_utils.Conv1D)}
    for name, parameter in model.named_parameters():
        if parameter.grad is None:
            continue
        gradient = parameter.grad.t() if name in transposed else parameter.grad
        for prefix in prefixes:
            name = name.removeprefix(prefix)
        name = "shared.weight" if name in TABLES and prefixes else name
        sums[name] = sums.get(name, 0) + gradient
    rows = []
    for name, gradient in sorted(sums.items()):
        probe = tiny_models.values(name + "#gradient", list(gradient.shape), 1.0, 0.0)
        rows.append({"name": name, "norm": digits(gradient.norm()), "product": digits((gradient * probe).sum())})
    return rows


def decoder_case(name, model, ids):
    labels = [-100 if i < 5 or i == 11 else token for i, token in enumerate(ids)]
    loss = model(input_ids=torch.tensor([ids]), labels=torch.tensor([labels])).loss
    # transformers shifts: the logits after a token are held against the next label.
    return {"name": name, "ids": ids, "labels": labels[1:] + [-100], "loss": digits(loss),
            "gradients": gradients(model, loss)}


def llama_case(name, changes):
    config = {key: value for key, value in {**llama.BASE, **changes}.items() if value is not None}
    model = built(config, transformers.AutoModelForCausalLM)
    tiny_models.fill(model, exact=config["torch_dtype"] == "bfloat16",
                     skip=("lm_head.weight",) if config["tie_word_embeddings"] else ())
    return decoder_case(name, model, llama.IDS)


def seq2seq_case(name, config, options):
    model, _ = tiny_seq2seq.build(config, options)
    length, positions = options.get("inputs", tiny_seq2seq.INPUTS)[-1]
    ids, begun = tiny_seq2seq.some_ids(length), tiny_seq2seq.some_ids(7)
    labels = [-100 if i == 2 else token for i, token in enumerate(tiny_seq2seq.some_ids(8)[1:])]
    arguments = {"input_ids": torch.tensor([ids])}
    if config["model_type"] == "led":
        arguments["global_attention_mask"] = torch.zeros((1, length), dtype=torch.long)
        arguments["global_attention_mask"][0, positions] = 1
    logits = model(**arguments, decoder_input_ids=torch.tensor([begun]), use_cache=False).logits[0]
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(labels))
    return {"name": name, "ids": ids, "global": positions if config["model_type"] == "led" else [],
            "decoder_ids": begun, "labels": labels, "loss": digits(loss),
            "gradients": gradients(model, loss, ("model.", "led."))}


def encoder_case(name, config, kind):
    model = built(config, getattr(transformers, kind))
    tied = {"bart": ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "model.encoder.embed_tokens.weight",
                     "model.decoder.embed_tokens.weight", "lm_head.weight"),
            "bert": ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias")}.get(config["model_type"], ())
    tiny_models.fill(model, exact=config.get("torch_dtype") == "bfloat16", skip=tied)
    text = encoders.texts_of(name, config)[1]  # without a padding id, whose rows torch.nn.Embedding does not train
    inputs = {"input_ids": torch.tensor([text["ids"]])}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    if text["segments"]:
        inputs["token_type_ids"] = torch.tensor([text["segments"]])
    encoder = model.get_encoder() if config["model_type"] == "bart" else model
    states = encoder(**inputs, output_hidden_states=True).hidden_states[-1][0]
    loss = (states * tiny_models.values("states", list(states.shape), 1.0, 0.0)).sum()
    prefix = "model." if config["model_type"] == "bart" else config["model_type"] + "."
    return {"name": name, **text, "loss": digits(loss), "gradients": gradients(model, loss, (prefix,))}


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "tiny_gradients_expected.json")
    torch.set_num_threads(1)
    cases = {
        "llama": [llama_case(name, changes) for name, changes in llama.CASES.items()],
        "gpt2": [decoder_case(name, gpt2.filled(changes)[1], gpt2.IDS) for name, changes in gpt2.CASES.items()
                 if "prefix" not in changes],
        "seq2seq": [seq2seq_case(name, config, options) for name, (config, options) in tiny_seq2seq.CASES.items()
                    if not options.get("native")],
        "encoders": [encoder_case(name, config, kind) for name, (config, kind) in encoders.CASES.items()],
    }
    out.write_text(json.dumps({"made_by": "make_tiny_gradients_expected.py", "transformers": transformers.__version__,
                               "torch": torch.__version__.split("+")[0], **cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
