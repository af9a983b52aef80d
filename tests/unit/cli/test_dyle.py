"""DYLE through the whole program on tiny folders: one sweep trains and writes, its folder serves another cell that reads
fewer snippets, and what does not fit is refused when a plan is made.

Usage: test_dyle.py QFS_BENCH
"""

import contextlib
import glob
import json
import os
import sqlite3
import unittest

import tiny_bert
from tiny_model import ModelTest

tiny_bert.POSITIONS = 512
DYLE = {
    "method": "dyle", "label": "dyle", "backbone": "./tiny", "backbones": {"extractor": "./bert"}, "prompt": "{snippet}",
    "k": 2, "snippet_tokens": 24, "label_tokens": 8, "max_new_tokens": 4, "rank": 2, "steps": 3, "extractor_steps": 1,
    "train_batch": 2, "train_chunks": 1, "chunk_tokens": 256, "evaluate_every": 0, "checkpoint_every": 1,
    "training": {"train": {"name": "mini-meetings", "split": "train", "sample": 4}}}
TRAINING = ("label_tokens", "rank", "steps", "extractor_steps", "train_batch", "train_chunks", "evaluate_every",
            "checkpoint_every", "training")


class Dyle(ModelTest):
    def setUp(self):
        super().setUp()
        self.write_model(max_position_embeddings=4096)
        tiny_bert.write(self.path("bert"))

    def write_sweep(self, name, *methods):
        self.write(name + ".json", json.dumps(
            {"name": name, "datasets": [{"name": "mini-meetings", "split": "test", "sample": 3}], "methods": list(methods),
             "metrics": ["rouge"], "report": {"rows": ["method"], "values": ["rouge1.f"]}}))
        return name + ".json"

    def run_sweep(self, name, *methods):
        result = self.run_bench("sweep", self.write_sweep(name, *methods), "--threads", "1",
                                environment={"OMP_NUM_THREADS": "1"})
        self.assert_succeeds(result)
        return result

    def plan_fails(self, text, **changes):
        row = {key: value for key, value in {**DYLE, **changes}.items() if value is not None}
        self.assert_fails(2, self.run_bench("plan", self.write_sweep("refused", row)), text)

    def facts(self, name):
        with contextlib.closing(sqlite3.connect(self.path(name + ".sqlite"))) as store:
            return [json.loads(row[0]) for row in store.execute("SELECT extra FROM output ORDER BY ordinal")]

    def test_a_trained_file_may_read_other_numbers_of_snippets(self):
        first = self.run_sweep("first", DYLE)
        self.assertNotIn("was trained with", first.stderr)
        self.assertEqual([len(facts["snippets"]) for facts in self.facts("first")], [2, 2, 2])
        file, = glob.glob(self.path("first.artifacts/*/dyle.safetensors"))
        folder = os.path.relpath(os.path.dirname(file), self.path(""))
        row = {key: value for key, value in DYLE.items() if key not in TRAINING}
        other = self.run_sweep("other", {**row, "k": 1, "artifact": folder})
        self.assertEqual([len(facts["snippets"]) for facts in self.facts("other")], [1, 1, 1])
        self.assertRegex(other.stderr, r"'dyle': 'k' is 1, but '.*dyle.safetensors' was trained with 2")
        self.plan_fails("'chunk_tokens' is 128, but", chunk_tokens=128, artifact=folder, **dict.fromkeys(TRAINING))
        self.plan_fails("the file holds low-rank matrices", trained="weights", artifact=folder,
                        **dict.fromkeys(TRAINING))

    def test_what_does_not_fit_is_refused_when_a_plan_is_made(self):
        self.plan_fails("bert' reads 512 at once", chunk_tokens=513)
        self.plan_fails("'extractor_steps' is 3 of 3 steps", extractor_steps=3)
        self.plan_fails("nothing would be learned", lambda_generation=0, lambda_oracle=0, lambda_consistency=0)
        self.plan_fails("'rank' is of low-rank matrices", trained="weights")

    def test_what_has_no_effect_makes_no_other_training(self):
        fixed = {**DYLE, "prior": "static"}
        rows = [fixed, {**fixed, "label": "weighted", "lambda_consistency": 5}]
        plan = json.loads(self.assert_succeeds(self.run_bench("plan", self.write_sweep("static", *rows), "--json")))
        self.assertEqual(len(plan["trainings"]), 1)


if __name__ == "__main__":
    unittest.main()
