"""A locator and what reads with it, through the whole program on tiny folders: one sweep trains and reads, the file
gives the same, and what does not fit is refused when a plan is made.

Usage: test_locator.py QFS_BENCH
"""

import glob
import json
import os
import unittest

from ranking_sweeps import RankingTest

FINDER = {
    "method": "locator", "label": "finder", "backbones": {"locator": "./bert"}, "local_context": 12, "rank": 2, "steps": 3,
    "train_batch": 2, "train_chunks": 1, "chunk_tokens": 256, "evaluate_every": 2, "checkpoint_every": 1,
    "training": {"train": {"name": "mini-meetings", "split": "train", "sample": 4},
                 "development": {"name": "mini-meetings", "split": "val", "sample": 2}}}
READER = {
    "method": "retrieve_generate", "label": "reader", "backbone": "./tiny", "backbones": {"locator": "./bert"},
    "retriever": "locator", "unit": "turn", "local_context": 24, "max_new_tokens": 4, "prompt": "{document}", "chat": False,
    "artifact": {"locator": {"row": "finder"}}}


class Locator(RankingTest):
    values = ("rouge1.f", "evidence_cut", "trainable_parameters")

    def cells(self, name):
        return set(self.rows(name, "SELECT cell_id FROM cell WHERE method = 'retrieve_generate'"))

    def outputs(self, name):
        return self.rows(name, "SELECT text FROM output JOIN result USING (result_id) JOIN cell USING (cell_id) "
                               "WHERE method = 'retrieve_generate' ORDER BY ordinal")

    def test_one_sweep_trains_and_reads(self):
        plan = json.loads(self.assert_succeeds(
            self.run_bench("plan", self.write_sweep("both", READER, FINDER), "--json")))
        self.assertEqual(len(plan["trainings"]), 1)
        self.assertEqual({cell["training"] for cell in plan["cells"]}, {plan["trainings"][0]["cell_id"]})
        table = self.run_sweep("both", READER, FINDER).stdout
        for row in ("reader", "finder"):
            self.assertRegex(table, rf"\| {row} ")
        written = self.outputs("both")
        self.assertEqual(len(written), 3)
        again = self.run_sweep("both", READER, FINDER).stdout
        self.assertEqual(self.outputs("both"), written)
        self.assertEqual(again.splitlines()[-1:], table.splitlines()[-1:])

        file, = glob.glob(self.path("both.artifacts/*/locator.safetensors"))
        self.run_sweep("file", {**READER, "artifact": {"locator": os.path.relpath(file, self.path(""))}})
        self.assertEqual(self.outputs("file"), written)
        self.assertEqual(self.cells("file"), self.cells("both"))

        self.assert_succeeds(self.run_bench("doctor", "--store", "both.sqlite"))

        # Each is one file of its own method's.
        self.plan_fails(2, "trained by the method 'locator', not by 'retrieve_generate'",
                        {**READER, "adapter": "lora", "artifact": {"adapter": file, "locator": file}})

    def test_what_does_not_fit_is_refused_when_a_plan_is_made(self):
        self.plan_fails(2, "reads with what 'locator' trained", FINDER,
                        {key: value for key, value in READER.items() if key != "artifact"})
        self.plan_fails(2, "no cell is of a row 'nobody'", FINDER, {**READER, "artifact": {"locator": {"row": "nobody"}}})
        self.plan_fails(2, "on this data set (did you mean 'finder'?)", FINDER,
                        {**READER, "artifact": {"locator": {"row": "findr"}}})
        spans = {**READER, "spans": "<s> query </s> text\n"}
        self.plan_fails(2, "'unit' has no effect with 'spans'", FINDER, spans)
        del spans["unit"]
        self.plan_fails(2, "reads no model as 'locator'", FINDER, spans)
        del spans["backbones"]
        self.plan_fails(2, "takes no trained file", FINDER, spans)
        del spans["artifact"]
        self.write("spans.txt", "<s> query </s> text\n<s> query\n")
        self.plan_fails(5, "spans.txt:2: expected \"<s> query </s> text\"", {**spans, "spans": {"file": "spans.txt"}})
        self.plan_fails(5, "refused.json#/methods/0/spans: line 1: expected", {**spans, "spans": "query\n"})
        self.plan_fails(2, "or a trained locator, which ranks turns", {**READER, "unit": "sentence"})
        self.plan_fails(5, "is of type llama; 'locator' may be of bert, roberta",
                        {**FINDER, "backbones": {"locator": "./tiny"}})
        self.plan_fails(2, "'local_context' is left out",
                        {key: value for key, value in FINDER.items() if key != "local_context"})


if __name__ == "__main__":
    unittest.main()
