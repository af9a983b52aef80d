"""`reproduce` of a published number whose method has to be trained first: planned, trained, run and judged, each once,
with a tiny model on bundled data.

Usage: test_reproduce_training.py QFS_BENCH
"""

import json
import os
import sqlite3
import unittest

from tiny_model import ModelTest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")

LORA = {"method": "lora", "backbone": "tiny", "rank": 2, "steps": 2, "train_batch": 2, "train_tokens": 400,
        "label_tokens": 16, "evaluate_every": 1, "chat": False, "prompt": "{document}\n{query}", "local_context": 8,
        "max_new_tokens": 2, "batch_size": 8}

SERVED = {"method": "endpoint", "model": "m", "revision": "live", "base_url": "http://127.0.0.1:9/v1"}


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

    def write_claims(self, table={}, *rows):
        self.write("data/experiments/claims/labels.json", json.dumps(
            {"demo": {"LoRA": LORA, "Lead": {"method": "lead", "local_context": 8}, "Served": SERVED}}))
        self.write("data/experiments/claims/demo.json", json.dumps(
            {"paper": "demo", "title": "Demo", "source": "nowhere",
             "tables": [{"id": "demo.table1", "title": "Results", "dataset": {"name": "mini-meetings"}, **table,
                         "columns": [{"name": "R-1", "metric": "rouge", "column": "rouge1.f"}],
                         "rows": rows or [{"label": "LoRA", "printed": ["99.0"]}]}]}))

    def reproduce(self, *arguments, **variables):
        return self.run_bench("reproduce", "demo.table1", "--with", "tiny=tiny", "--threads", "1", *arguments,
                              environment={"QFS_DATA_DIR": self.path("data"), "OMP_NUM_THREADS": "1", **variables})

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

    def test_a_method_that_cannot_be_planned_leaves_the_others(self):
        for folder in ("docs/D0701A", "models"):
            os.makedirs(self.path("sets/duc-2007/" + folder))
        self.write("sets/duc-2007/topics.sgml",
                   "<topic>\n<num>D0701A</num>\n<title>Rain</title>\n<narr>Why?</narr>\n</topic>\n")
        self.write("sets/duc-2007/docs/D0701A/APW1", "<DOC><TEXT>\nClouds and wind.\n\nRain.\n</TEXT></DOC>")
        self.write("sets/duc-2007/models/D0701.M.250.A.B", "It rains.\n")
        self.write_claims({"dataset": {"name": "duc-2007"}}, {"label": "LoRA", "printed": ["99.0"]},
                          {"label": "LoRA", "as": "Lead", "printed": ["99.0"]})
        run = self.reproduce("--json", QFS_DATASETS_DIR=self.path("sets"))
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("'lora' of claims-duc-2007-test-whole-raw is left out: method 'lora' trains: ", run.stderr)
        claims = json.loads(run.stdout)["claims"]
        self.assertEqual([claim["state"] for claim in claims], ["not run", "differs"])

    def test_a_server_is_asked_with_consent_alone(self):
        self.write_claims({}, {"label": "Served", "printed": ["99.0"]})
        run = self.run_bench("reproduce", "demo.table1", "--json", "--store", "new.sqlite",
                             environment={"QFS_DATA_DIR": self.path("data")})
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("'endpoint' of claims-mini-meetings-test-whole-raw is left out: ", run.stderr)
        self.assertEqual([claim["state"] for claim in json.loads(run.stdout)["claims"]], ["not run"])
        planned = self.run_bench("reproduce", "demo.table1", "--dry-run", "--allow-external",
                                 environment={"QFS_DATA_DIR": self.path("data")})
        self.assertRegex(self.assert_succeeds(planned), r"  endpoint +\d+ ")

    def test_few_examples_are_another_training_than_all(self):
        self.write_claims({"with": {"num_beams": 1, "batch_size": 4}},
                          {"label": "LoRA", "printed": ["99.0"]},
                          {"label": "LoRA", "with": {"train_examples": 3}, "printed": ["99.0"]},
                          {"label": "LoRA", "as": "Lead", "with": {"train_examples": 0}, "printed": ["99.0"]})
        dry = self.assert_succeeds(self.reproduce("--dry-run"))
        self.assertRegex(dry, r"train#\w+ +lora +\d+ of mini-meetings")
        self.assertRegex(dry, r"train#\w+ +lora-2 +3 of mini-meetings")
        claims = json.loads(self.assert_succeeds(self.reproduce("--json")))["claims"]
        self.assertEqual([claim["state"] for claim in claims], ["differs"] * 3)
        self.assertEqual(len({claim["cell_id"] for claim in claims}), 3)
        with sqlite3.connect(self.path("claims.sqlite")) as store:
            recipes = [json.loads(text) for text, in store.execute("SELECT identity FROM cell WHERE training = 1")]
        self.assertEqual(sorted(recipe["selection"].get("sample", 0) for recipe in recipes), [0, 3])
        # A training of few examples does not answer for one of all.
        os.remove(self.path("claims.sqlite"))
        self.write_claims({}, {"label": "LoRA", "with": {"train_examples": 3}, "printed": ["99.0"]})
        self.assert_succeeds(self.reproduce("--json"))
        self.write_claims({}, {"label": "LoRA", "printed": ["99.0"]})
        report = self.run_bench("report", "--table", "demo.table1", "--store", "claims.sqlite", "--with", "tiny=tiny",
                                environment={"QFS_DATA_DIR": self.path("data")})
        self.assertIn("not run: no run in the store", self.assert_succeeds(report))

    def test_a_training_that_began_with_another_answers_for_none_from_scratch(self):
        def state_of(store, *rows):
            self.write("sweep.json", json.dumps({"name": "begun", "datasets": [{"name": "mini-meetings", "split": "test"}],
                                                 "tokenizer": "tiny", "methods": list(rows), "metrics": ["rouge"]}))
            self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--store", store, "--threads", "1",
                                                "--filter", "label=" + rows[-1]["label"],
                                                environment={"OMP_NUM_THREADS": "1"}))
            report = self.run_bench("report", "--table", "demo.table1", "--store", store, "--with", "tiny=tiny", "--json",
                                    environment={"QFS_DATA_DIR": self.path("data")})
            claim, = json.loads(self.assert_succeeds(report))["claims"]
            return claim["state"]

        row = {**LORA, "backbone": self.path("tiny"), "label": "scratch",
               "training": {"train": {"name": "mini-meetings", "split": "train"},
                            "development": {"name": "mini-meetings", "split": "val"}}}
        begun = {**row, "label": "begun", "training": {**row["training"], "init": {"adapter": {"row": "scratch"}}}}
        self.assertEqual(state_of("scratch.sqlite", row), "differs")
        self.assertEqual(state_of("begun.sqlite", row, begun), "not run")

    def test_says_what_stands_in_the_way(self):
        run = self.run_bench("reproduce", "demo.table1", environment={"QFS_DATA_DIR": self.path("data")})
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("--with tiny=PATH names them", run.stdout)


if __name__ == "__main__":
    unittest.main()
