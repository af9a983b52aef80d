"""Tests of methods that rank the turns of mini-meetings with a tiny BERT beside a tiny language model."""

import contextlib
import json
import sqlite3

import tiny_bert
from tiny_model import ModelTest

tiny_bert.POSITIONS = 512


class RankingTest(ModelTest):
    values = ("rouge1.f",)

    def setUp(self):
        super().setUp()
        self.write_model(max_position_embeddings=4096)
        tiny_bert.write(self.path("bert"))

    def write_sweep(self, name, *methods):
        self.write(name + ".json", json.dumps(
            {"name": name, "datasets": [{"name": "mini-meetings", "split": "test", "sample": 3}], "tokenizer": "words",
             "methods": list(methods), "metrics": ["rouge"], "report": {"rows": ["method"], "values": list(self.values)}}))
        return name + ".json"

    def run_sweep(self, name, *methods):
        run = self.run_bench("sweep", self.write_sweep(name, *methods), "--threads", "1",
                             environment={"OMP_NUM_THREADS": "1"})
        self.assert_succeeds(run)
        return run

    def plan_fails(self, code, text, *methods):
        self.assert_fails(code, self.run_bench("plan", self.write_sweep("refused", *methods)), text)

    def rows(self, name, query):
        with contextlib.closing(sqlite3.connect(self.path(name + ".sqlite"))) as store:
            return [row[0] for row in store.execute(query)]
