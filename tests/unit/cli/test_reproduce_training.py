"""`reproduce` of a published number whose method has to be trained first: planned, trained, run and judged, each once,
with a tiny model on bundled data.

Usage: test_reproduce_training.py QFS_BENCH
"""

import json
import os
import unittest

from tiny_model import ModelTest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")

LORA = {"method": "lora", "backbone": "tiny", "rank": 2, "steps": 2, "train_batch": 2, "train_tokens": 400,
        "label_tokens": 16, "evaluate_every": 1, "chat": False, "prompt": "{document}\n{query}", "local_context": 8,
        "max_new_tokens": 2, "batch_size": 8}


class ReproduceTraining(ModelTest):
    def setUp(self):
        super().setUp()
        self.write_model(max_position_embeddings=512)
        for folder in ("experiments/claims", "reports/tables"):
            os.makedirs(self.path("data/" + folder))
        os.symlink(os.path.join(ROOT, "datasets"), self.path("data/datasets"))
        self.write_claims()
        self.write("data/reports/tables/demo.json", json.dumps(
            {"tables": [{"id": "demo.table1", "title": "Results", "from": [{"table": "demo.table1"}]}]}))

    def write_claims(self):
        self.write("data/experiments/claims/labels.json", json.dumps({"demo": {"LoRA": LORA}}))
        self.write("data/experiments/claims/demo.json", json.dumps(
            {"paper": "demo", "title": "Demo", "source": "nowhere",
             "tables": [{"id": "demo.table1", "title": "Results", "dataset": {"name": "mini-meetings"},
                         "columns": [{"name": "R-1", "metric": "rouge", "column": "rouge1.f"}],
                         "rows": [{"label": "LoRA", "printed": ["99.0"]}]}]}))

    def reproduce(self, *arguments):
        return self.run_bench("reproduce", "demo.table1", "--with", "tiny=tiny", "--threads", "1", *arguments,
                              environment={"QFS_DATA_DIR": self.path("data"), "OMP_NUM_THREADS": "1"})

    def test_trains_once_runs_and_judges(self):
        dry = self.reproduce("--dry-run")
        self.assertIn("train#", self.assert_succeeds(dry))
        self.assertFalse(os.path.exists(self.path("claims.sqlite")))
        first = self.reproduce("--json")
        claim, = json.loads(self.assert_succeeds(first))["claims"]
        self.assertEqual(claim["state"], "differs", "random weights")
        self.assertGreaterEqual(claim["measured"], 0)
        table = json.loads(self.assert_succeeds(
            self.run_bench("report", "--store", "claims.sqlite", "--values", "train_tokens,trainable_parameters", "--json")))
        cell, = table["rows"][0]["cells"]
        self.assertGreater(cell["values"]["train_tokens"]["value"], 100)
        # Rank 2 on q, k, v, o (16 x 16) and the MLP's up projection (16 x 24) of two layers.
        self.assertEqual(cell["values"]["trainable_parameters"]["value"], 2 * 2 * (4 * (16 + 16) + 16 + 24))
        again = self.reproduce("--json")
        self.assertEqual(json.loads(self.assert_succeeds(again))["claims"], [claim])
        self.assertIn("0 to run", again.stderr)

    def test_says_what_stands_in_the_way(self):
        run = self.run_bench("reproduce", "demo.table1", environment={"QFS_DATA_DIR": self.path("data")})
        self.assertIn("--with tiny=PATH names them", self.assert_succeeds(run) + run.stderr)


if __name__ == "__main__":
    unittest.main()
