"""A tiny BERT as a Hugging Face folder: random weights, a vocabulary of letters and a few words."""

import json
import os
import random
import struct

HIDDEN, INNER, LAYERS, POSITIONS = 16, 24, 2, 16
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(chr(c) for c in range(ord("a"), ord("z") + 1)),
         *(f"##{chr(c)}" for c in range(ord("a"), ord("z") + 1)), "the", "cat", "sat", "on", "mat", "dog", "ran", "."]


def shapes():
    tensors = {"embeddings.word_embeddings.weight": [len(WORDS), HIDDEN],
               "embeddings.position_embeddings.weight": [POSITIONS, HIDDEN],
               "embeddings.token_type_embeddings.weight": [2, HIDDEN]}

    def linear(name, outputs, inputs):
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = [outputs, inputs], [outputs]

    def norm(name):
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = [HIDDEN], [HIDDEN]

    norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            linear(f"{layer}.attention.self.{part}", HIDDEN, HIDDEN)
        linear(f"{layer}.attention.output.dense", HIDDEN, HIDDEN)
        norm(f"{layer}.attention.output.LayerNorm")
        linear(f"{layer}.intermediate.dense", INNER, HIDDEN)
        linear(f"{layer}.output.dense", HIDDEN, INNER)
        norm(f"{layer}.output.LayerNorm")
    return tensors


def write(folder, **config):
    os.makedirs(folder)
    generator = random.Random(7)
    header, data = {}, b""
    for name, shape in shapes().items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        middle = 1.0 if "LayerNorm.weight" in name else 0.0
        values = struct.pack(f"<{count}f", *(middle + generator.uniform(-0.5, 0.5) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    files = {
        "config.json": json.dumps({
            "model_type": "bert", "vocab_size": len(WORDS), "hidden_size": HIDDEN, "intermediate_size": INNER,
            "num_hidden_layers": LAYERS, "num_attention_heads": 2, "max_position_embeddings": POSITIONS,
            "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0, **config}),
        "tokenizer_config.json": json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": True,
                                             "model_max_length": 512}),
        "vocab.txt": "\n".join(WORDS) + "\n"}
    for name, content in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
