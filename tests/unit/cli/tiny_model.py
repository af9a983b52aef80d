"""A tiny Hugging Face folder with random weights, and the test class whose tests run it.

Used by the test files beside this one.
"""

import json
import os
import random
import struct

from driver import DriverTest

HIDDEN, INNER, HEADS, LAYERS, VOCABULARY = 16, 24, 2, 2, 258


def byte_alphabet():
    """The printable stand-ins of bytes in byte-level vocabularies (GPT-2)."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in kept]
    table = {byte: chr(byte) for byte in kept}
    table.update({byte: chr(256 + i) for i, byte in enumerate(others)})
    return [table[byte] for byte in range(256)]


def tokenizer():
    vocabulary = {character: i for i, character in enumerate(byte_alphabet())}
    vocabulary.update({"<s>": 256, "</s>": 257})
    marks = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for text, i in (("<s>", 256), ("</s>", 257))]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": marks, "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None,
            "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": vocabulary, "merges": []}}


def shapes():
    tensors = {"model.embed_tokens.weight": [VOCABULARY, HIDDEN], "model.norm.weight": [HIDDEN],
               "lm_head.weight": [VOCABULARY, HIDDEN]}
    for i in range(LAYERS):
        prefix = f"model.layers.{i}."
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            tensors[f"{prefix}self_attn.{name}.weight"] = [HIDDEN, HIDDEN]
        for name in ("gate_proj", "up_proj"):
            tensors[f"{prefix}mlp.{name}.weight"] = [INNER, HIDDEN]
        tensors[f"{prefix}mlp.down_proj.weight"] = [HIDDEN, INNER]
        for name in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"{prefix}{name}.weight"] = [HIDDEN]
    return tensors


def led_shapes():
    tensors = {"led.shared.weight": [VOCABULARY, HIDDEN], "led.encoder.embed_positions.weight": [64, HIDDEN],
               "led.decoder.embed_positions.weight": [32, HIDDEN]}

    def linear(name, outputs=HIDDEN, inputs=HIDDEN):
        tensors.update({f"{name}.weight": [outputs, inputs], f"{name}.bias": [outputs]})

    def norm(name):
        tensors.update({f"{name}.weight": [HIDDEN], f"{name}.bias": [HIDDEN]})

    for side in ("encoder", "decoder"):
        norm(f"led.{side}.layernorm_embedding")
        for name in ("self_attn_layer_norm", "final_layer_norm"):
            norm(f"led.{side}.layers.0.{name}")
        linear(f"led.{side}.layers.0.fc1", INNER, HIDDEN)
        linear(f"led.{side}.layers.0.fc2", HIDDEN, INNER)
    for part in ("query", "key", "value", "query_global", "key_global", "value_global"):
        linear(f"led.encoder.layers.0.self_attn.longformer_self_attn.{part}")
    linear("led.encoder.layers.0.self_attn.output")
    norm("led.decoder.layers.0.encoder_attn_layer_norm")
    for block in ("self_attn", "encoder_attn"):
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            linear(f"led.decoder.layers.0.{block}.{part}")
    return tensors


LED = {"model_type": "led", "d_model": HIDDEN, "encoder_layers": 1, "decoder_layers": 1,
       "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "encoder_ffn_dim": INNER,
       "decoder_ffn_dim": INNER, "attention_window": 4, "max_encoder_position_embeddings": 64,
       "max_decoder_position_embeddings": 32, "eos_token_id": 257, "decoder_start_token_id": 257,
       "tie_word_embeddings": True}


def gpt2_shapes():
    tensors = {"transformer.wte.weight": [VOCABULARY, HIDDEN], "transformer.wpe.weight": [64, HIDDEN]}

    def norm(name):
        tensors.update({f"transformer.{name}.weight": [HIDDEN], f"transformer.{name}.bias": [HIDDEN]})

    norm("ln_f")
    for i in range(LAYERS):
        norm(f"h.{i}.ln_1")
        norm(f"h.{i}.ln_2")
        for name, inputs, outputs in (("attn.c_attn", HIDDEN, 3 * HIDDEN), ("attn.c_proj", HIDDEN, HIDDEN),
                                      ("mlp.c_fc", HIDDEN, INNER), ("mlp.c_proj", INNER, HIDDEN)):
            tensors.update({f"transformer.h.{i}.{name}.weight": [inputs, outputs],
                            f"transformer.h.{i}.{name}.bias": [outputs]})
    return tensors


GPT2 = {"model_type": "gpt2", "n_embd": HIDDEN, "n_inner": INNER, "n_layer": LAYERS, "n_head": HEADS,
        "n_positions": 64, "eos_token_id": 257, "tie_word_embeddings": True}


def safetensors(tensors):
    generator = random.Random(5)
    header, data = {}, b""
    for name, shape in tensors.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = struct.pack(f"<{count}f", *(generator.uniform(-1, 1) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


class ModelTest(DriverTest):
    """Runs the program on the folder ./tiny."""

    def write_model(self, tensors=None, **config):
        os.makedirs(self.path("tiny"), exist_ok=True)
        values = {"model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": INNER,
                  "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "vocab_size": VOCABULARY,
                  "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "tie_word_embeddings": False, **config}
        self.write("tiny/config.json", json.dumps(values))
        self.write("tiny/tokenizer.json", json.dumps(tokenizer()))
        self.write("tiny/tokenizer_config.json", json.dumps({"eos_token": "</s>", "model_max_length": int(1e30)}))
        self.write_bytes("tiny/model.safetensors", safetensors(tensors or shapes()))

    def ask(self, *arguments):
        return json.loads(self.assert_succeeds(self.run_bench("model", *arguments, "--json")))
