"""Tiny random models of the BART family for make_tiny_seq2seq_expected.py and make_tiny_generation_expected.py."""

import torch
import transformers

import tiny_models

VOCABULARY = 40

BART = {"model_type": "bart", "vocab_size": VOCABULARY, "d_model": 12, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 3, "decoder_attention_heads": 2, "encoder_ffn_dim": 20, "decoder_ffn_dim": 28,
        "max_position_embeddings": 48, "activation_function": "gelu", "pad_token_id": 1, "bos_token_id": 0,
        "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": 2}
LED = {"model_type": "led", "vocab_size": VOCABULARY, "d_model": 12, "encoder_layers": 2, "decoder_layers": 1,
       "encoder_attention_heads": 3, "decoder_attention_heads": 3, "encoder_ffn_dim": 20, "decoder_ffn_dim": 20,
       "max_encoder_position_embeddings": 520, "max_decoder_position_embeddings": 24, "attention_window": [4, 4],
       "activation_function": "gelu", "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
       "decoder_start_token_id": 2}
MBART = {**BART, "model_type": "mbart", "decoder_attention_heads": 3, "scale_embedding": True}
PEGASUS = {**BART, "model_type": "pegasus", "scale_embedding": True, "activation_function": "relu",
           "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1, "forced_eos_token_id": 1}
NATIVE = {**BART, "encoder_layers": 2, "max_encoder_position_embeddings": 520, "max_decoder_position_embeddings": 24,
          "attention_window": [2, 2], "attention_mode": "sliding_chunks", "decoder_attention_heads": 3,
          "decoder_ffn_dim": 20, "decoder_layers": 1}

# Lengths with global positions: below, at and above multiples of the windows.
INPUTS = [(9, [0]), (4, []), (1, [0]), (16, [0, 1, 2, 3])]
WINDOWED = INPUTS + [(3, []), (17, [4, 5, 11]), (8, list(range(8))), (300, [0, 127, 128, 256, 299])]

CASES = {
    "bart": (BART, {}),
    "bart, scaled embeddings and an own head": ({**BART, "scale_embedding": True, "tie_word_embeddings": False}, {}),
    "bart in bfloat16 and three shards, relu": ({**BART, "activation_function": "relu"}, {"dtype": "BF16", "shards": 3,
                                                                                           "inputs": INPUTS[:2]}),
    "bart with a head's bias, gelu_new": ({**BART, "activation_function": "gelu_new"}, {"bias": True, "inputs": INPUTS[:2]}),
    "mbart": (MBART, {"inputs": INPUTS[:1]}),
    "pegasus": (PEGASUS, {"inputs": INPUTS[:1]}),
    "pegasus without its position tables": (PEGASUS, {"without": "embed_positions", "inputs": INPUTS[:1]}),
    "led": (LED, {"inputs": WINDOWED}),
    "led, windows that differ": ({**LED, "attention_window": [4, 12]}, {"inputs": WINDOWED}),
    "led, a long window": ({**LED, "attention_window": 256}, {"inputs": WINDOWED}),
    "led as its authors' code saves it": (LED, {"native": True, "saved_config": NATIVE}),
}

TIED = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "led.encoder.embed_tokens.weight",
        "led.decoder.embed_tokens.weight")


def some_ids(length):
    return [3 + (5 + 11 * i + i * i) % (VOCABULARY - 3) for i in range(length)]


def native_name(name):
    return name.replace("led.", "model.", 1) if name.startswith("led.") else name


def build(config, options):
    """The model and the tensors of its checkpoint, as tiny_models.fill lists them."""
    arguments = {key: value for key, value in config.items() if key != "model_type"}
    parsed = transformers.AutoConfig.for_model(config["model_type"], **arguments)
    parsed._attn_implementation = "eager"
    model = transformers.AutoModelForSeq2SeqLM.from_config(parsed).float().eval()
    tied = TIED + (() if config.get("tie_word_embeddings") is False else ("lm_head.weight",))
    own = tuple(name for name, _ in model.named_parameters() if options.get("without", "-") in name)
    tensors = tiny_models.fill(model, exact=options.get("dtype") == "BF16", skip=tied + own)
    if config.get("tie_word_embeddings") is False:  # the two other tables are not in the checkpoint
        with torch.no_grad():
            model.model.encoder.embed_tokens.weight.copy_(model.model.shared.weight)
            model.model.decoder.embed_tokens.weight.copy_(model.model.shared.weight)
    if options.get("bias"):
        name, shape = "final_logits_bias", [1, VOCABULARY]
        model.final_logits_bias.copy_(tiny_models.values(name, shape, 0.5, 0.0))
        tensors.append({"name": name, "shape": shape, "scale": 0.5, "offset": 0.0})
    if options.get("native"):
        parameters = dict(model.named_parameters())
        for tensor in tensors:
            name, tensor["name"] = tensor["name"], native_name(tensor["name"])
            skipped = 2 if "embed_positions" in name else 0
            tensor["shape"][0] += skipped
            with torch.no_grad():
                parameters[name].copy_(tiny_models.values(tensor["name"], tensor["shape"], tensor["scale"],
                                                          tensor["offset"])[skipped:])
    return model, tensors
