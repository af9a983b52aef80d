"""`finetune` through the whole program, on tiny folders of every kind: the sweep trains, the kept folder is a model like
the one it began with, and what it writes as a plain backbone is what the method wrote.

Usage: test_finetune.py QFS_BENCH
"""

import contextlib
import glob
import json
import math
import os
import sqlite3
import struct
import unittest

from tiny_model import GPT2, LED, ModelTest, gpt2_shapes, led_shapes, shapes


def tensors_of(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"]) for name, entry in header.items()}


class Finetune(ModelTest):
    def sweep(self, name, *methods):
        self.write(name + ".json", json.dumps(
            {"name": name, "datasets": [{"name": "mini-meetings", "split": "test", "sample": 4}],
             "tokenizer": "words", "methods": list(methods), "metrics": ["rouge"],
             "report": {"rows": ["method"], "values": ["rouge1.f", "trainable_parameters"]}}))
        return self.assert_succeeds(self.run_bench("sweep", name + ".json", "--threads", "1",
                                                   environment={"OMP_NUM_THREADS": "1"}))

    def outputs(self, name):
        with contextlib.closing(sqlite3.connect(self.path(name + ".sqlite"))) as store:
            return [row[0] for row in store.execute("SELECT text FROM output ORDER BY ordinal")]

    def check(self, tensors, **config):
        self.write_model(tensors, **config)
        # Without queries, which alone are longer than these windows.
        text = {"source": "{document}"} if config.get("model_type") == "led" else {"prompt": "{document}", "chat": False}
        reading = {"local_context": 6, "max_new_tokens": 6, **text}
        table = self.sweep("train", {
            "method": "finetune", "backbone": "./tiny", **reading, "steps": 8, "train_batch": 2, "train_tokens": 60,
            "label_tokens": 12, "learning_rate": 0.1, "evaluate_every": 0,
            "training": {"train": {"name": "mini-meetings", "split": "train", "sample": 4}}})
        parameters = sum(math.prod(shape) for shape in tensors.values())
        self.assertRegex(table, rf"\| finetune *\|[^|]*\| *{parameters} \|")
        file, = glob.glob(self.path("train.artifacts/*/model.safetensors"))
        folder = os.path.dirname(file)
        self.assertEqual(tensors_of(file), tensors_of(self.path("tiny/model.safetensors")))
        self.assertTrue(os.path.exists(os.path.join(folder, "tokenizer.json")))
        self.sweep("read", {"method": "zero_shot", "backbone": folder, **reading})
        self.assertEqual(self.outputs("read"), self.outputs("train"))
        self.sweep("before", {"method": "zero_shot", "backbone": "./tiny", **reading})
        self.assertNotEqual(self.outputs("before"), self.outputs("train"))
        plan = json.loads(self.assert_succeeds(self.run_bench("plan", "train.json", "--store", "fresh.sqlite", "--json")))
        self.assertGreater(plan["trainings"][0]["seconds"], 0)
        self.assertAlmostEqual(plan["seconds"], plan["trainings"][0]["seconds"] + plan["cells"][0]["seconds"])

    def test_llama(self):
        self.check(shapes(), max_position_embeddings=128)

    def test_gpt2(self):
        self.check(gpt2_shapes(), **GPT2)

    def test_led(self):
        self.check(led_shapes(), **LED)


if __name__ == "__main__":
    unittest.main()
